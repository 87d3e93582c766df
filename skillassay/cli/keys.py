"""One key at a time from whoever sits before the program: a terminal's single key, or a line of what is piped in."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from skillassay.cli.output import say

QUIT = "q"


def ask_key(prompt: str, keys: Sequence[str]) -> str:
    """One of the keys; q, which is one of them, at the end of the input."""
    while True:
        say(prompt)
        if sys.stdin.isatty():
            given = str(click.getchar()).lower()
        else:
            line = sys.stdin.readline()
            given = line.strip().lower() if line else QUIT
        if given in keys:
            return given
        say(f"{given[:20]!r} is none of {', '.join(keys)}")
