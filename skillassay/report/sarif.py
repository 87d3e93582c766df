"""Findings as SARIF 2.1.0, for code scanning. Owns the shape; a finding has a file and a line, an evaluation has not.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html; which fields GitHub wants:
https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from urllib.parse import quote

from skillassay import __version__
from skillassay.canonical import Json, short_digest
from skillassay.findings import CODES, Finding

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 5_000
"""What GitHub keeps of one run, the most severe first."""
_ORDER = ("error", "warning", "note")


def sarif_json(findings: Sequence[Finding]) -> Json:
    """All findings, the gravest first; a rule for each code that occurs."""
    kept = sorted(findings, key=lambda one: _ORDER.index(one.severity.value))[:MOST_RESULTS]
    codes = sorted({one.code for one in kept})
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "skillassay",
                        "semanticVersion": __version__,
                        "rules": [_rule(code) for code in codes],
                    }
                },
                "automationDetails": {"id": "skillassay/check"},
                "columnKind": "unicodeCodePoints",
                "results": _results(kept, codes),
            }
        ],
    }


def _rule(code: str) -> Json:
    meaning = CODES[code]
    return {
        "id": code,
        "shortDescription": {"text": meaning},
        "fullDescription": {"text": meaning},
        "help": {"text": f"{meaning} Each result says what to do."},
    }


def _results(findings: Sequence[Finding], codes: Sequence[str]) -> list[Json]:
    seen: Counter[str] = Counter()
    results: list[Json] = []
    for one in findings:
        # Not over the line: a finding that moved with the text above it is the same finding.
        print_ = short_digest({"path": one.path, "code": one.code, "message": one.message})
        seen[print_] += 1
        results.append(
            {
                "ruleId": one.code,
                "ruleIndex": codes.index(one.code),
                "level": one.severity.value,
                "message": {"text": one.message if one.hint is None else f"{one.message}\n{one.hint}"},
                "locations": [{"physicalLocation": _place(one)}],
                "partialFingerprints": {"primaryLocationLineHash": f"{print_}:{seen[print_]}"},
            }
        )
    return results


def _place(one: Finding) -> Json:
    line = one.line or 1
    return {
        "artifactLocation": {"uri": quote(one.path), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": line, "startColumn": 1, "endLine": line, "endColumn": 2},
    }
