"""The hashes of ``retention: hash`` and their key: made once, for its owner alone, and gone with the run's end."""

from __future__ import annotations

import hashlib
import hmac
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from skillassay.errors import StoreError
from skillassay.runs.record import (
    content_digest,
)
from skillassay.runs.retention import (
    HASH,
    KEY_FILE,
    Retention,
    drop_key,
    load_key,
)
from tests.runs.spoken import HIDING, KEY, spoken


def test_a_hash_is_keyed() -> None:
    """HMAC-SHA-256 of the UTF-8 text under the run's key."""
    hashes = HIDING.keep(spoken("yes")).hashes
    assert hashes is not None
    assert hashes.answer == hmac.new(KEY, b"yes", hashlib.sha256).hexdigest()
    assert len(hashes.evidence) == 2
    assert len(hashes.turns) == 5


def test_equal_texts_of_a_run_have_equal_hashes_and_of_two_runs_others() -> None:
    """What a run's hashes are for, and what they are not."""
    other = replace(HIDING, key=bytes(32))
    first, again, elsewhere = (rule.keep(spoken("yes")).hashes for rule in (HIDING, HIDING, other))
    assert first == again
    assert first is not None
    assert elsewhere is not None
    assert first.answer != elsewhere.answer


def test_without_a_key_nothing_is_hashed() -> None:
    """A plain hash of a short answer is the answer."""
    with pytest.raises(ValueError, match="key"):
        Retention(rule=HASH).keep(spoken("yes"))


def test_the_content_digest_covers_what_is_kept_and_no_hash() -> None:
    """Equal results under two keys have one digest; another verdict has another."""
    record = HIDING.keep(spoken("yes"))
    elsewhere = replace(HIDING, key=bytes(32)).keep(spoken("yes"))
    assert record.hashes != elsewhere.hashes
    assert content_digest([record]) == content_digest([elsewhere])
    marks = (replace(record.marks[0], verdict="PASS"), record.marks[1])
    assert content_digest([record]) != content_digest([replace(record, marks=marks)])


def test_a_key_is_made_once_for_its_owner_alone_and_can_be_dropped(tmp_path: Path) -> None:
    """Read again while the run goes on; a new one is another one."""
    key = load_key(tmp_path)
    assert len(key) == 32
    assert load_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]
    drop_key(tmp_path)
    drop_key(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert load_key(tmp_path) != key


def test_a_damaged_key_is_refused(tmp_path: Path) -> None:
    """A short one would make hashes that can be guessed."""
    (tmp_path / KEY_FILE).write_bytes(b"short")
    with pytest.raises(StoreError):
        load_key(tmp_path)


def test_a_key_is_no_part_of_what_is_shown_of_a_rule() -> None:
    """It stands in no message and in no traceback with its values."""
    assert "\\x01\\x02" not in repr(HIDING)
    assert "key" not in repr(HIDING)
