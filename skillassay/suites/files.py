"""The files that come with a query. Owns where they may lie, how large they may be, and what of them is hashed.

A file is named by its path below the suite's folder. A text (UTF-8 without NUL) with CRLF is hashed in its LF form, so
that a Windows checkout has the same digest; a lone CR is content.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skillassay.canonical import sha256_hex

MAX_FILE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFile:
    """A file that comes with the query. ``text`` is None for what is not UTF-8 text."""

    path: str
    sha256: str
    source: Path
    text: str | None


class CaseFileProblem(ValueError):
    """A file of a case that cannot be used. The message goes on from the file's name."""


FileReader = Callable[[str], CaseFile]
"""Gives the file of a suite by its name, or raises :class:`CaseFileProblem`."""


def read_case_file(name: str, folder: Path) -> CaseFile:
    """The file ``name`` of a suite in ``folder``. Raises :class:`CaseFileProblem`."""
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts or "\\" in name:
        raise CaseFileProblem("leaves the suite's folder")
    source = folder / pure
    try:
        real = source.resolve(strict=True)
        if not real.is_relative_to(folder.resolve()):
            raise CaseFileProblem("is a link that leaves the suite's folder")
        data = _read_regular(real)
    except CaseFileProblem:
        raise
    except OSError as error:
        raise CaseFileProblem(f"cannot be read: {error.strerror or error}") from error
    except RuntimeError as error:  # what Python before 3.13 makes of it
        raise CaseFileProblem("is a loop of links") from error
    except ValueError as error:
        raise CaseFileProblem("is no path: it holds a NUL") from error
    text = _text_or_none(data)
    hashed = data if text is None else data.replace(b"\r\n", b"\n")
    return CaseFile(path=str(pure), sha256=sha256_hex(hashed), source=source, text=text)


def read_case_files(
    names: Iterable[str], read_file: FileReader
) -> tuple[tuple[CaseFile, ...], tuple[tuple[int, str], ...]]:
    """The files of one case, and for each that cannot be used its index and what is wrong with it."""
    files: dict[str, CaseFile] = {}
    unusable = []
    for index, name in enumerate(names):
        try:
            file = read_file(name)
            if file.path in files:
                raise CaseFileProblem("is named twice")
            files[file.path] = file
        except CaseFileProblem as problem:
            unusable.append((index, f"file {name!r} {problem}"))
    return tuple(files.values()), tuple(unusable)


def _read_regular(path: Path) -> bytes:
    state = path.stat()
    # Asked before opening: a pipe would wait for a writer for ever.
    if not stat.S_ISREG(state.st_mode):
        raise CaseFileProblem("is not a regular file")
    if state.st_size > MAX_FILE_BYTES:
        raise CaseFileProblem(f"is over {MAX_FILE_BYTES} bytes")
    return path.read_bytes()


def _text_or_none(data: bytes) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
