"""Options that several commands share, each written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from skillassay.isolation.process import LEVELS

Decorator = Callable[[Any], Any]


def _all(*options: Decorator) -> Decorator:
    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def candidate_options(*forms: str) -> Decorator:
    """Who the candidate is, with the forms of a model that the command takes."""
    return _all(
        click.option("--model", metavar="MODEL", help=f"Candidate: {', '.join(forms)}. Default: contract."),
        click.option("--base-url", metavar="URL", help="Where the candidate is asked. Default: the environment's."),
    )


LIVE_FORMS = ("gemini:NAME", "openai:NAME")
"""Models that answer now, as options name them."""
judge_options = _all(
    click.option(
        "--judge-model", metavar="MODEL", help="Judge; also agent:NAME. Default: --model, else the contract's."
    ),
    click.option("--judge-base-url", metavar="URL", help="Where the judge is asked. Default: the environment's."),
    click.option(
        "--judge-samples",
        metavar="N",
        type=click.IntRange(1, 9),
        help="Ask the judge N times about each answer; may only raise the contract's.",
    ),
    click.option("--second-judge-model", metavar="MODEL", help="A second judge, beside the first. Default: contract."),
    click.option("--second-judge-base-url", metavar="URL", help="Where it is asked. Default: the environment's."),
)
pace_options = _all(
    click.option("--jobs", type=click.IntRange(1, 256), default=4, show_default=True, help="Trials at the same time."),
    click.option("--rpm", type=click.IntRange(1), help="Requests a minute at most, per model and endpoint."),
    click.option(
        "--tpm", type=click.IntRange(1), help="Tokens a minute at most (estimated before), per model and endpoint."
    ),
)
isolation_options = _all(
    click.option(
        "--require-isolation", type=click.Choice(LEVELS), help="Refuse to run skill scripts at a weaker level."
    ),
    click.option(
        "--allow-unisolated", is_flag=True, help="Run scripts without namespaces though a key is set, or as root."
    ),
)
