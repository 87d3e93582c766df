"""A folder that an export fills. Owns that nothing but an export's own files is replaced or removed.

``skillassay-export.json`` in it names the run, the format and every file that was written. A folder that holds anything
and has no such file is somebody else's and is refused. Written again, what the last export wrote and this one does not
is removed, where nobody has changed it since; what somebody put there stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skillassay.canonical import Json, JsonProblem, parse_json, pretty_text, sha256_hex
from skillassay.errors import InputError, StoreError
from skillassay.inside import refuse_links, write_inside

MARKER = "skillassay-export.json"
EXPORT_VERSION = 1


def write_folder(folder: Path, files: Mapping[str, bytes], *, form: str, run: str, notes: Sequence[str]) -> None:
    """Write ``files`` below ``folder``. Raises :class:`InputError` for somebody else's folder."""
    before = _last_export(folder)
    marker: dict[str, Json] = {
        "export": EXPORT_VERSION,
        "format": form,
        "run": run,
        "notes": list(notes),
        "files": {path: sha256_hex(data) for path, data in files.items()},
    }
    folder = folder.absolute()
    try:
        for path in sorted(set(before) - set(files)):
            _remove(folder, path, before[path])
        # Named before they are there: what a kill leaves behind is known for this export's own.
        write_inside(folder, MARKER, pretty_text(marker).encode())
        for path, data in files.items():
            write_inside(folder, path, data)
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error.strerror or error}") from error


def _last_export(folder: Path) -> Mapping[str, Any]:
    """The files that the last export wrote there; none where there is nothing."""
    if folder.is_dir() and not any(folder.iterdir()):
        return {}
    if not folder.exists():
        return {}
    refusal = InputError(f"{folder} holds something that no export wrote", hint="name a new or an empty folder")
    try:
        value = parse_json((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, JsonProblem) as error:
        raise refusal from error
    files = value.get("files") if isinstance(value, dict) and value.get("export") == EXPORT_VERSION else None
    if not isinstance(files, dict):
        raise refusal
    return files


def _remove(folder: Path, name: str, sha256: str) -> None:
    """Remove a file of the last export, if it is what that one wrote."""
    path = folder / name
    refuse_links(folder, path)
    if path.is_file() and sha256_hex(path.read_bytes()) == sha256:
        path.unlink()
        for parent in path.parents:
            if parent == folder or any(parent.iterdir()):
                break
            parent.rmdir()
