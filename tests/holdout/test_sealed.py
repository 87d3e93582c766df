"""The committed file of a holdout: what it tells of a key and of a case, and how it is read."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import Any

import pytest

from skillassay.holdout.sealed import Sealed, SealedCase, key_mark, keyed, load_sealed, sealed_bytes, sealed_json
from tests.project import write_json

KEY = b"a key of more than sixteen bytes"
SEALED = Sealed(
    suite="hidden",
    version="1.2.0",
    key=key_mark(KEY),
    cases={"a": SealedCase(digest=keyed(KEY, {"id": "a"}), skill="skills/s", criteria=2)},
    voided={"1.0.0": "it leaked"},
)


def test_digests_are_hmac_sha256_of_the_canonical_form() -> None:
    """Sorted keys, no blanks, UTF-8: what anybody with the key computes."""
    expected = hmac.new(KEY, b'{"a":1,"b":"\xc3\xa9"}', hashlib.sha256).hexdigest()
    assert keyed(KEY, {"b": "é", "a": 1}) == expected


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Byte for byte the same value."""
    (tmp_path / "holdout.json").write_bytes(sealed_bytes(SEALED))
    assert load_sealed(tmp_path, "holdout.json") == (SEALED, ())


def test_voiding_does_not_change_which_holdout_it_is() -> None:
    """Evidence that used it still names it; only other cases make another holdout."""
    bare = Sealed(suite=SEALED.suite, version=SEALED.version, key=SEALED.key, cases=SEALED.cases)
    other = Sealed(suite=SEALED.suite, version="1.3.0", key=SEALED.key, cases=SEALED.cases)
    assert bare.digest == SEALED.digest
    assert other.digest != SEALED.digest


@pytest.mark.parametrize(
    "damage",
    [
        {"holdout": 2},
        {"key": "short"},
        {"cases": {}},
        {"cases": {"A b": {"digest": "0" * 64, "skill": "s", "criteria": 1}}},
        {"cases": {"a": {"digest": "0" * 64, "skill": "s", "criteria": 0}}},
        {"cases": {"a": {"digest": "0" * 64, "skill": "s", "criteria": 1, "query": "text"}}},
        {"voided": {"1.0.0": " "}},
        {"text": "of a case"},
    ],
    ids="-".join,
)
def test_a_broken_file_is_a_finding(tmp_path: Path, damage: dict[str, Any]) -> None:
    """A newer format, a malformed digest, a field that could hold a text: nothing of it is used."""
    write_json(tmp_path / "holdout.json", sealed_json(SEALED) | damage)
    sealed, findings = load_sealed(tmp_path, "holdout.json")
    assert sealed is None
    assert [finding.code for finding in findings] == ["file.schema"]
