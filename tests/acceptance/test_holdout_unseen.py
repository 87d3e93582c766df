"""A holdout stays unseen: no byte of it, and no word on where it lies, is written, shown or kept."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillassay.canonical import canonical_bytes
from tests.acceptance.every_byte import found_everywhere, mark
from tests.acceptance.hidden import KEY, MARKS, QUERY, Hidden, build_hidden, hidden_case
from tests.endtoend.test_cache import Service
from tests.project import Cli


def test_the_committed_file_holds_keyed_digests_and_no_text(hidden: Hidden) -> None:
    """Each digest is HMAC-SHA-256 of the case's normal form under the key, and no mark of the suite stands there."""
    normal = {
        "id": "h-ferry",
        "skill": "greeter",
        "query": QUERY,
        "oracle_type": None,
        "acceptable_variants": [f"hello in another way {mark('variant')}"],
        "files": [
            {
                "path": "guests.txt",
                "sha256": hashlib.sha256((hidden.suite.parent / "guests.txt").read_bytes()).hexdigest(),
            }
        ],
        "checks": hidden_case("h-ferry")["checks"],
        "rubric": [
            hidden_case("h-ferry")["rubric"][0]
            | {"critical": False, "explains": None, "may_abstain": False, "absence": False}
        ],
    }
    del normal["oracle_type"]
    expected = hmac.new(KEY.encode(), canonical_bytes(normal), hashlib.sha256).hexdigest()
    assert hidden.sealed()["cases"] == {"h-ferry": {"digest": expected, "skill": "skills/greeter", "criteria": 2}}
    assert set(hidden.sealed()) == {"holdout", "suite", "version", "key", "cases", "voided"}
    assert found_everywhere([hidden.root], {}, MARKS) == {}


@pytest.mark.parametrize("retention", ["full", "hash"])
def test_no_byte_of_the_holdout_is_written_or_shown(
    cli: Cli,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    retention: str,
) -> None:
    """After an evaluation and every way to show it, no text of a hidden case, and nothing that a model said about one,
    stands in a file of the project, in a temporary file, or in an output.
    """
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    hidden = build_hidden(cli, tmp_path_factory.mktemp("outside"), monkeypatch, retention=retention)
    commands = [
        ("eval",),
        ("eval", "--format", "json"),
        *(("report", "--format", form) for form in ("table", "markdown", "json")),
        ("gate", "--format", "json"),
        ("review",),
        ("suite", "show", "--at", "first"),
        ("suite", "show", "--format", "json"),
        ("holdout", "check"),
        ("lock",),
        ("check", "--notes"),
    ]
    outputs = {}
    for command in commands:
        ran = hidden.cli(*(hidden.runs()[0] if word == "first" else word for word in command))
        assert ran.code == 0, (command, ran)
        outputs[" ".join(command)] = (ran.out + ran.err).encode()
    assert found_everywhere([hidden.root, temporary], outputs, MARKS) == {}
    assert set(found_everywhere([hidden.suite.parent], {}, MARKS)) == set(MARKS)  # the search does find them
    records = hidden.records(hidden.runs()[0])
    assert {(r["mode"], r["outcome"]["status"], len(r["marks"])) for r in records} == {
        ("progressive", "PASS", 2),
        ("none", "FAIL", 2),
        ("eager", "PASS", 2),
    }
    assert {record["answer"] for record in records} == {None}


def test_a_run_with_a_holdout_is_not_recorded(hidden: Hidden) -> None:
    """A recording keeps whole requests: refused before a model is called, with the option that leaves the suite out."""
    ran = hidden.cli("record", "--model", "gemini:live")
    assert (ran.code, "--no-holdout" in ran.err) == (2, True)


@pytest.fixture
def service(hidden: Hidden, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A live service that answers by the project's rules."""
    monkeypatch.setenv("GEMINI_API_KEY", "k-hidden")
    with Service(hidden.root) as service:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", service.base_url)
        yield service


def test_the_cache_keeps_nothing_of_the_holdout(hidden: Hidden, service: Service) -> None:
    """The visible trials are answered from the cache the second time, the hidden ones are asked again."""
    arguments = ("eval", "--model", "gemini:live", "--cache", "--format", "json")
    hidden.cli(*arguments)
    n_first = service.n_asked
    second = hidden.cli(*arguments).json
    assert service.n_asked - n_first == 6  # three modes, candidate and judge
    assert second["metrics"]["cache"]["cached_calls"] == n_first - 6
    assert (hidden.root / ".skillassay/cache.sqlite").exists()
    assert found_everywhere([hidden.root], {}, MARKS) == {}


def test_a_key_is_made_once_and_for_its_owner_alone(hidden: Hidden, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--new-key` writes 64 hex digits that only the owner reads, and never over a key that is there."""
    monkeypatch.delenv("SKILLASSAY_HOLDOUT_KEY")
    hidden.write(hidden_case("h-ferry"), version="1.1.0")
    path = hidden.suite.with_name("holdout.json.key")
    assert hidden.cli("holdout", "seal", "--new-key").code == 0
    first = path.read_text("utf-8")
    assert (len(first.strip()), path.stat().st_mode & 0o777) == (64, 0o600)
    assert hidden.cli("holdout", "seal", "--new-key").code == 0
    assert path.read_text("utf-8") == first
    assert first.strip() not in (hidden.root / "evals/holdout.json").read_text("utf-8")


def paths_shown(text: str, *paths: Path) -> bool:
    """Whether one of the paths stands in a text."""
    return any(str(path) in text for path in paths)


def test_no_output_and_no_file_tells_where_the_holdout_lies(hidden: Hidden) -> None:
    """The machine's path to the suite is in no output and no file of the project."""
    ran = hidden.cli("eval", "--format", "json")
    assert not paths_shown(ran.out + ran.err, hidden.suite)
    for path in hidden.root.rglob("*"):
        assert path.is_dir() or str(hidden.suite).encode() not in path.read_bytes()
