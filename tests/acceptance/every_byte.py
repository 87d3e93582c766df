"""Looking for marked texts in every byte below a folder and in outputs, in whatever form a program put them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

HEAD, TAIL = "Zqxv", "vxqZ"
"""Around the name of what was planted. Letters alone: JSON, HTML, Markdown, URLs and shells leave them as they are."""


def mark(name: str) -> str:
    """The text planted under a name of small letters."""
    return f"{HEAD}{name}{TAIL}"


def forms(text: str) -> Iterator[bytes]:
    """The bytes that a text can have become: UTF-8, UTF-16 and UTF-32, hex, and base64 at each of its three offsets."""
    plain = text.encode()
    yield plain
    yield from (text.encode(f"utf-{width}-{end}e") for width in (16, 32) for end in "lb")
    yield plain.hex().encode()
    for offset in range(3):
        packed = base64.b64encode(b"x" * offset + plain)
        yield packed[(offset * 8 + 5) // 6 : len(packed) - 4]  # what depends on neighbours is left out


def found_in(data: bytes, names: Iterable[str]) -> frozenset[str]:
    """The names whose text stands in ``data`` in one of its forms, in whatever case."""
    folded = data.lower()
    # Escaped letters (\u005a, %5a, &#90;, \x5a) and texts that a terminal's width broke.
    unescaped = re.sub(rb"\\u00([0-9a-f]{2})|\\x([0-9a-f]{2})|%([0-9a-f]{2})", _letter, folded)
    joined = re.sub(rb"\s+", b"", folded)
    return frozenset(
        name
        for name in names
        if any(form.lower() in text for form in forms(mark(name)) for text in (folded, unescaped, joined))
    )


def _letter(found: re.Match[bytes]) -> bytes:
    return bytes.fromhex(next(group for group in found.groups() if group).decode()).lower()


def tree_bytes(*folders: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below the folders, names of files and folders included; links are told by where they lead."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder))
            yield f"the name {name}", name.encode("utf-8", "surrogateescape")
            if path.is_symlink():
                yield f"the link {name}", str(path.readlink()).encode()
            elif path.is_file():
                yield name, path.read_bytes()


def found_everywhere(
    folders: Iterable[Path], outputs: Mapping[str, bytes], names: Iterable[str]
) -> dict[str, set[str]]:
    """Where each name was found: files below the folders, and outputs by their names."""
    places: dict[str, set[str]] = {}
    wanted = tuple(names)
    for where, data in (*tree_bytes(*folders), *outputs.items()):
        for name in found_in(data, wanted):
            places.setdefault(name, set()).add(where)
    return places
