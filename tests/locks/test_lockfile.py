"""The file skills.lock.json: to the byte when written, strict when read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.findings import Finding
from skillassay.locks.lockfile import (
    BAD_ENTRY,
    NEWER,
    UNREADABLE,
    EvidenceRef,
    Lock,
    LockedSuite,
    LockEntry,
    parse_lock,
    render_lock,
)
from tests.locks.states import entry_of, lock_of, sha, state_of

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "digest"
LOCK = lock_of([state_of("skills/a"), state_of("skills/b")])
HEX = st.text("0123456789abcdef", min_size=64, max_size=64)
NAMES = st.text(min_size=1, max_size=8)
ENTRIES = st.builds(
    LockEntry,
    path=st.just(""),
    name=NAMES,
    version=st.sampled_from(["1.0.0", "0.1.0-rc.1", "10.20.30+build"]),
    digest=HEX,
    files=st.dictionaries(NAMES, HEX, min_size=1, max_size=3),
    evidence=st.one_of(
        st.builds(EvidenceRef, none=NAMES),
        st.builds(EvidenceRef, file=NAMES, sha256=HEX, grade=st.sampled_from(["fixture", "declared", "model"])),
    ),
)
LOCKS = st.builds(
    Lock,
    skills=st.dictionaries(NAMES, ENTRIES, max_size=3).map(lambda d: {k: replace(v, path=k) for k, v in d.items()}),
    suites=st.dictionaries(
        NAMES, st.builds(LockedSuite, version=NAMES, cases=st.dictionaries(NAMES, HEX, max_size=2)), max_size=2
    ),
    ignore=st.lists(NAMES, max_size=2).map(tuple),
    requires=st.sampled_from(["fixture", "declared", "model"]),
)


def refused(data: bytes) -> tuple[Finding, ...]:
    """The findings on bytes that must be no lock."""
    lock, findings = parse_lock(data)
    assert lock is None
    assert findings
    return findings


def changed(change: Callable[[dict[str, Any]], object]) -> tuple[bytes, list[str]]:
    """The lock with its JSON changed, and its lines."""
    value = json.loads(render_lock(LOCK))
    change(value)
    text = json.dumps(value, indent=2, sort_keys=True)
    return text.encode(), text.split("\n")


@given(LOCKS)
def test_a_lock_reads_back(lock: Lock) -> None:
    """Law: what was written is what is read."""
    assert parse_lock(render_lock(lock)) == (lock, ())


@given(LOCKS)
def test_the_bytes_do_not_hang_on_order(lock: Lock) -> None:
    """Law: skills, files, suites and cases in any order make one file."""
    turned = Lock(
        skills={
            k: replace(v, files=dict(reversed(list(v.files.items())))) for k, v in reversed(list(lock.skills.items()))
        },
        suites={
            k: replace(v, cases=dict(reversed(list(v.cases.items())))) for k, v in reversed(list(lock.suites.items()))
        },
        ignore=lock.ignore,
        requires=lock.requires,
    )
    assert render_lock(turned) == render_lock(lock)


def test_the_layout() -> None:
    """Sorted keys, two spaces, LF at the end, one line a file, and no time."""
    text = render_lock(lock_of([state_of("skills/a")])).decode()
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert list(json.loads(text)) == ["ignore", "lockfileVersion", "requires", "skills", "suites"]
    assert set(json.loads(text)["skills"]["skills/a"]) == {"name", "version", "digest", "files", "evidence"}


@pytest.mark.parametrize("around", [b"\xef\xbb\xbf%s", b"%s\r\n\r\n"], ids=["bom", "blank lines"])
def test_crlf_and_a_bom_are_the_same_data(around: bytes) -> None:
    """A Windows checkout reads as any other."""
    data = around % render_lock(LOCK).replace(b"\n", b"\r\n")
    assert parse_lock(data) == (LOCK, ())


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"", 1, "empty, which is not the same as no skills"),
        (b" \r\n", 1, "empty"),
        (b"null", 1, "must be an object, is null"),
        (b"[]", 1, "must be an object, is a list"),
        (b'"x"', 1, "must be an object, is text"),
        (b"{}", 1, "lockfileVersion must be 1, is None"),
        (b'{"lockfileVersion": "1"}', 1, "lockfileVersion must be 1"),
        (b'{"lockfileVersion": true}', 1, "lockfileVersion must be 1"),
        (b'{"lockfileVersion": 0}', 1, "lockfileVersion must be 1"),
        (b'{"lockfileVersion": 1}', 1, "lacks ignore, lacks requires, lacks skills, lacks suites"),
        (b'{\n"lockfileVersion": 1,\n"lockfileVersion": 1}', 3, "duplicate key 'lockfileVersion'"),
        (b'{\n"a": NaN}', 2, "NaN"),
        (b'{\n"a": 1,\n', 3, "not JSON"),
        (b"{} {}", 1, "Extra data"),
        (b'{\n"a": "\xff"}', 2, "not UTF-8"),
        (b"{\n<<<<<<< HEAD\n", 2, "merge conflict marker '<<<<<<<'"),
        (b"{\r\n\r\n=======\r\n", 3, "merge conflict marker '======='"),
        (b"{\n>>>>>>> branch\n", 2, "merge conflict marker"),
        (b"{\n||||||| base\n", 2, "merge conflict marker"),
        (b"[" * 100_000, 1, "nested deeper"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_broken_file_is_an_error_with_its_line(data: bytes, line: int, words: str) -> None:
    """Never an empty lock, and the next step works on a broken file."""
    (finding,) = refused(data)
    assert (finding.code, finding.line, finding.path) == (UNREADABLE, line, "skills.lock.json")
    assert words in finding.message
    assert "--rebuild" in (finding.hint or "")


def test_a_newer_format_is_told_from_a_broken_one() -> None:
    """Whatever else stands in it."""
    (finding,) = refused(b'{"lockfileVersion": 2, "whatever": []}')
    assert (finding.code, finding.hint) == (NEWER, "use a newer skillassay")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ignore", "abc"),
        ("ignore", [1]),
        ("ignore", None),
        ("requires", "gold"),
        ("requires", ["model"]),
        ("skills", []),
        ("suites", None),
        ("extra", 1),
    ],
)
def test_a_head_of_another_shape_is_refused(field: str, value: object) -> None:
    """Fields of another type, and fields that nobody knows."""
    (finding,) = refused(changed(lambda lock: lock.update({field: value}))[0])
    assert finding.code == UNREADABLE
    assert field in finding.message


ENTRY: list[tuple[str, object, str]] = [
    ("digest", "", "digest is missing or empty"),
    ("digest", None, "digest is missing or empty"),
    ("digest", 7, "digest is missing or empty"),
    ("digest", "a" * 63, "is not 64 lowercase hex digits"),
    ("digest", "A" * 64, "is not 64 lowercase hex digits"),
    ("digest", "a" * 64 + "\n", "is not 64 lowercase hex digits"),
    ("digest", "sha256:" + "a" * 64, "is not 64 lowercase hex digits"),
    ("version", "", "version is missing or empty"),
    ("version", "1.0", "version '1.0' is not semver"),
    ("version", 1.0, "version is missing or empty"),
    ("name", "", "name is missing or empty"),
    ("files", {}, "files is missing or empty"),
    ("files", {"SKILL.md": ""}, "the digest of SKILL.md is not"),
    ("files", {"SKILL.md": "a" * 64 + "\r"}, "the digest of SKILL.md is not"),
    ("files", ["SKILL.md"], "files is missing or empty"),
    ("evidence", None, "evidence is missing"),
    ("evidence", {}, "evidence must have file, sha256 and grade"),
    ("evidence", {"none": ""}, "evidence.none must say why"),
    ("evidence", {"none": True}, "evidence.none must say why"),
    ("evidence", {"file": "f", "sha256": "", "grade": "model"}, "evidence.sha256 is not"),
    ("evidence", {"file": "f", "sha256": sha(""), "grade": "gold"}, "evidence.grade must be one of"),
    ("evidence", {"file": "", "sha256": sha(""), "grade": "model"}, "evidence.file is missing"),
    ("evidence", {"file": "f", "sha256": sha(""), "grade": "model", "none": "x"}, "evidence must have"),
    ("surprise", 1, "unknown field 'surprise'"),
]


@pytest.mark.parametrize(("field", "value", "words"), ENTRY, ids=str)
def test_a_broken_entry_is_found_at_its_line(field: str, value: object, words: str) -> None:
    """Missing, empty or malformed: an error that names the entry and the line of the field."""
    data, lines = changed(lambda lock: lock["skills"]["skills/b"].update({field: value}))
    (finding,) = refused(data)
    assert finding.code == BAD_ENTRY
    assert words in finding.message
    assert "'skills/b'" in finding.message
    start = lines.index('    "skills/b": {')
    at = next(n for n, line in enumerate(lines) if n > start and line.startswith(f'      "{field}"'))
    assert finding.line in {at + 1, at + 2}  # a file's digest stands below the line of "files"


@pytest.mark.parametrize("field", ["name", "version", "digest", "files", "evidence"])
def test_a_missing_field_is_found_at_its_entry(field: str) -> None:
    """The nearest place there is."""
    data, lines = changed(lambda lock: lock["skills"]["skills/b"].pop(field))
    (finding,) = refused(data)
    assert finding.line == lines.index('    "skills/b": {') + 1


@pytest.mark.parametrize(
    "suite",
    [None, {}, {"version": 1, "cases": {}}, {"version": "1", "cases": []}, {"version": "1", "cases": {"a": ""}}],
    ids=str,
)
def test_a_broken_suite_is_found(suite: object) -> None:
    """Cases are pinned by digests as skills are."""
    (finding,) = refused(changed(lambda lock: lock["suites"].update({"quality": suite}))[0])
    assert finding.code == BAD_ENTRY
    assert "'quality'" in finding.message
    assert finding.line is not None


def test_every_broken_entry_is_found() -> None:
    """One hides no other."""

    def empty_digests(lock: dict[str, Any]) -> None:
        for entry in lock["skills"].values():
            entry["digest"] = ""

    assert len(refused(changed(empty_digests)[0])) == 2


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("conflict.lock", 4, "merge conflict marker"),
        ("dupkeys.lock", 1, "duplicate key 'demo'"),
        ("empty.lock", 1, "empty"),
        ("nulls.lock", 1, "is null"),
        ("truncated.lock", 1, "not JSON"),
    ],
)
def test_npm_cli_4844(name: str, line: int, words: str) -> None:
    """npm/cli#4844: markers, duplicates, an empty file, null and a cut file are errors with their line."""
    (finding,) = refused((PUBLIC / "npm-cli-4844" / name).read_bytes())
    assert finding.line == line
    assert words in finding.message


def test_sbt_lock_39() -> None:
    """tkawachi/sbt-lock#39: LF and CRLF are one file (the report's own are of another tool, and refused alike)."""
    lf, crlf = ((PUBLIC / "sbt-lock-39" / name).read_bytes() for name in ("lf.lock", "crlf.lock"))
    assert b"\r\n" in crlf
    assert refused(lf) == refused(crlf)
    ours = render_lock(LOCK)
    assert parse_lock(ours.replace(b"\n", b"\r\n")) == parse_lock(ours)


def test_vercel_skills_471() -> None:
    """vercel-labs/skills#471: an empty stored hash is an error, not an entry to pass over."""
    theirs = json.loads((PUBLIC / "vercel-skills-471/skills.lock").read_bytes())["skills"]["demo"]
    (finding,) = refused(changed(lambda lock: lock["skills"]["skills/b"].update({"digest": theirs["sha256"]}))[0])
    assert (finding.code, "digest is missing or empty" in finding.message) == (BAD_ENTRY, True)


def test_the_entry_of_a_path_is_under_that_path() -> None:
    """Keyed by folder, with the folder's entry."""
    lock, _ = parse_lock(render_lock(LOCK))
    assert lock is not None
    assert lock.skills["skills/a"] == entry_of(state_of("skills/a"))
