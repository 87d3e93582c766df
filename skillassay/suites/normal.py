"""The normal form of a case: what its digest covers, and what a run keeps so that its cases can be shown again.

Short forms are written out; notes and samples are left out; files count by content; a field that says its default is a
field left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from skillassay.suites.facts import digested_facts
from skillassay.suites.files import CaseFile

_AS_WRITTEN = ("id", "skill", "query", "behavior")
_FOR_PEOPLE = frozenset({"samples", "note"})


def build_normal(
    body: Mapping[str, Any],
    *,
    checks: Iterable[Mapping[str, Any]],
    rubric: Iterable[Mapping[str, Any]],
    files: Iterable[CaseFile],
) -> dict[str, Any]:
    """The normal form of an authored case; ``checks`` and ``rubric`` with their short forms written out."""
    normal = {key: body[key] for key in _AS_WRITTEN if key in body}
    normal |= {"expect": body["expect"]} if body.get("expect") else {}
    normal |= digested_facts(body)
    normal["files"] = [{"path": file.path, "sha256": file.sha256} for file in files]
    normal["checks"] = [{key: check[key] for key in check if key not in _FOR_PEOPLE} for check in checks]
    normal["rubric"] = list(rubric)
    return normal


def build_routing_normal(body: Mapping[str, Any]) -> dict[str, Any]:
    """The normal form of a routing case."""
    return {key: body[key] for key in ("id", "query", "expect")}
