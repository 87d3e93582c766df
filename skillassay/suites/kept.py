"""The cases as a run had them, ``cases.json`` in its folder. Owns that file: what is kept, and that it is what it was.

    {
      "cases": 1,
      "suites": [{"suite", "version", "digest", "cases": [{"id", "digest", "case": normal form}]}],
      "files": {SHA-256: {"text"} | {"base64"}}
    }

The suites of which a case was planned, whole and in file order. The run's header has the SHA-256 of the file, and every
digest in it is that of what stands beside it. Of a hidden holdout, and under retention ``hash`` of every case, there is
id and digest alone.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillassay.canonical import Json, JsonProblem, digest_of, parse_json, pretty_text, sha256_hex
from skillassay.errors import InputError, StoreError
from skillassay.suites.case import Case, Suite

CASES_FILE = "cases.json"
KEPT_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCase:
    """A case by its digest; ``normal`` is None where nothing of its text was kept."""

    id: str
    digest: str
    normal: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSuite:
    """A suite as it was planned."""

    name: str
    version: str
    digest: str
    cases: tuple[KeptCase, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCases:
    """All suites of a run, and the files of their cases by SHA-256."""

    suites: tuple[KeptSuite, ...]
    files: Mapping[str, bytes]


def keep_suites(suites: Iterable[Suite], *, with_texts: bool) -> KeptCases:
    """The suites as they are now. Raises :class:`InputError` when a file of a case is no longer what was planned."""
    kept = []
    files: dict[str, bytes] = {}
    for suite in suites:
        cases = [
            KeptCase(id=case.id, digest=case.digest, normal=case.normal if with_texts and case.normal else None)
            for case in suite.cases
        ]
        for case, kept_case in zip(suite.cases, cases, strict=True):
            files |= _file_bytes(case) if kept_case.normal is not None else {}
        kept.append(KeptSuite(name=suite.name, version=suite.version, digest=suite.digest, cases=tuple(cases)))
    return KeptCases(suites=tuple(kept), files=files)


def _file_bytes(case: Case) -> dict[str, bytes]:
    files = {}
    for file in case.files:
        data = file.source.read_bytes()
        data = data if file.text is None else data.replace(b"\r\n", b"\n")
        if sha256_hex(data) != file.sha256:
            message = f"{file.path} of case {case.id} changed while the run was being prepared"
            raise InputError(message, hint="no model was called; run again when nobody edits it")
        files[file.sha256] = data
    return files


def kept_json(kept: KeptCases) -> dict[str, Json]:
    """The JSON object of the file."""
    return {
        "cases": KEPT_VERSION,
        "suites": [
            {
                "suite": suite.name,
                "version": suite.version,
                "digest": suite.digest,
                "cases": [
                    {"id": case.id, "digest": case.digest, **({"case": case.normal} if case.normal is not None else {})}
                    for case in suite.cases
                ],
            }
            for suite in kept.suites
        ],
        "files": {sha256: _file_json(data) for sha256, data in sorted(kept.files.items())},
    }


def _file_json(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def kept_bytes(kept: KeptCases) -> bytes:
    """The bytes of the file."""
    return pretty_text(kept_json(kept)).encode()


def load_kept(folder: Path, header: Mapping[str, Any]) -> KeptCases:
    """The cases of a stored run. Raises :class:`StoreError` where they were not kept or are not what they were."""
    wanted = header.get("cases_file")
    if wanted is None:
        hint = "its digests are in run.json under `cases`"
        raise StoreError(f"run {header['id']} was made before runs kept their cases", hint=hint)
    path = folder / CASES_FILE
    try:
        data = path.read_bytes()
        value = parse_json(data.decode("utf-8"))
    except (OSError, UnicodeDecodeError, JsonProblem) as error:
        raise StoreError(f"{path} cannot be read: {error}", hint="the run was damaged; run again") from error
    if sha256_hex(data) != wanted:
        raise StoreError(f"{path} is not what the run wrote: its SHA-256 is another one", hint="run again")
    try:
        return _parse(value, header)
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise StoreError(f"{path} does not hold what it says: {error}", hint="run again") from error


def _parse(value: Any, header: Mapping[str, Any]) -> KeptCases:
    if value["cases"] > KEPT_VERSION:
        raise StoreError(f"{CASES_FILE} has format {value['cases']}, newer than {KEPT_VERSION}")
    suites = tuple(
        KeptSuite(
            name=suite["suite"],
            version=suite["version"],
            digest=suite["digest"],
            cases=tuple(KeptCase(id=c["id"], digest=c["digest"], normal=c.get("case")) for c in suite["cases"]),
        )
        for suite in value["suites"]
    )
    files = {sha256: _bytes_of(file) for sha256, file in value["files"].items()}
    for sha256, data in files.items():
        if sha256_hex(data) != sha256:
            raise ValueError(f"the file {sha256[:12]} has another digest")
    for suite in suites:
        for case in suite.cases:
            name = f"{suite.name}/{case.id}"
            if header["cases"].get(name) != case.digest:
                raise ValueError(f"case {name} has another digest in the header")
            if case.normal is not None and digest_of(case.normal) != case.digest:
                raise ValueError(f"case {name} has another digest")
    return KeptCases(suites=suites, files=files)


def _bytes_of(file: Mapping[str, str]) -> bytes:
    return file["text"].encode() if "text" in file else base64.b64decode(file["base64"], validate=True)
