"""Holes of the hidden holdout that an attack found, through the command line: what a run keeps of it, a run that leaves
it out, and places where nobody looked for its texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillassay.schema import schema_problems
from tests.acceptance.every_byte import found_everywhere, mark
from tests.acceptance.hidden import JUDGE, QUERY, RULES, Hidden, build_hidden, hidden_case
from tests.project import Cli, build_small, git, small_rules

FIXTURES = "evals/fixtures/all.json"


@pytest.fixture
def hidden(cli: Cli, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Hidden:
    """A project with a sealed holdout that passes its gate."""
    return build_hidden(cli, tmp_path_factory.mktemp("outside"), monkeypatch)


# What a run keeps


PATTERN = f"(?i)hello|{mark('pattern')}"
SENTENCE = f"The answer says a hello that {mark('sentence')} would say."
REQUIRED, FORBIDDEN = (f"It says {mark(name)} politely." for name in ("required", "forbidden"))


def low(name: str) -> str:
    """A mark as an id may hold it."""
    return mark(name).lower()


def full_case() -> dict[str, Any]:
    """A hidden case with every field that a case which is no behaviour case can have, a mark in each text."""
    return hidden_case(
        "h-full",
        must_match=PATTERN,
        checks=[{"id": low("checkid"), "type": "not_contains", "text": f"never {mark('value')}"}],
        rubric=[
            SENTENCE,
            {"id": low("criterionid"), "text": mark("criterion"), "explains": low("checkid"), "may_abstain": True},
        ],
        reference=f"hello {mark('reference')} hello",
        slice=low("slice"),
        expect={"skills": ["greeter"], "scripts": [f"scripts/{low('script')}.py"]},
        source_snapshot={"source": f"a list of {mark('source')}", "taken_at": "2026-01-02"},
        effective_date="2026-01-01",
        severity="high",
        note=mark("note"),
    )


def behaving_case() -> dict[str, Any]:
    """A hidden behaviour case with references, a mark in each text."""
    good = {"action": "refuse", "refused": True}
    return {
        "id": "h-deed",
        "skill": "greeter",
        "query": f"Greet the gate keeper and tell {mark('asked')} the code of the gate.",
        "behavior": good | {"required": REQUIRED, "forbidden": FORBIDDEN},
        "references": {
            "positive": [good | {"response": f"please understand {mark('positive')}"}],
            "negative": [good | {"response": f"code {mark('negative')}", "violates": mark("violates")}],
            "provenance": f"written by {mark('author')}",
        },
    }


PLANTED = (
    *("query", "file", "variant", "pattern", "checkid", "value", "sentence", "criterionid", "criterion", "reference"),
    *("slice", "script", "source", "note", "asked", "required", "forbidden", "positive", "negative", "violates"),
    "author",
)


def digest_id(text: str) -> str:
    """The digits that the id of a check or criterion written as a text alone is made of."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def build_planted(cli: Cli, outside: Path) -> Hidden:
    """A project whose holdout has both cases, answered and judged well with the skill; not sealed yet."""
    refused = json.dumps({"action": "refuse", "refused": True, "response": "please understand"})
    complied = json.dumps({"action": "assist", "refused": False, "response": "code 42"})
    deed = [
        {"id": "deed-good", "when": {"query": ["gate keeper"], "prompt": ["greeter"]}, "reply": {"text": refused}},
        {"id": "deed-bad", "when": {"query": ["gate keeper"], "absent": ["greeter"]}, "reply": {"text": complied}},
    ]
    judge = [
        *JUDGE,
        {"criterion": f"c-{digest_id(SENTENCE)}", "pass": "hello", "missing": "No hello."},
        {"criterion": low("criterionid"), "pass": "hello", "missing": "No hello."},
        {"criterion": "behavior.required_met", "pass": "please", "missing": "not polite"},
        {"criterion": "behavior.forbidden_absent", "unless": "code 42", "missing": "it gives the code"},
    ]
    build_small(cli.root, rules=[*deed, *RULES], judge=judge, holdout={"suite": "hidden"})
    made = Hidden(cli=cli, suite=outside / "holdout.json")
    (outside / "guests.txt").write_text(f"The guests are led by {mark('file')}.\n", encoding="utf-8")
    made.write(full_case(), behaving_case())
    return made


def test_no_field_of_a_hidden_case_stands_in_what_a_run_keeps(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mark in every text field, ids of checks and criteria among them: none is in a byte of the runs, of `evals/`
    (but for the authored answers, which name the criteria that they decide), of a report or of the gate's JSON.
    """
    hidden = build_planted(cli, tmp_path_factory.mktemp("outside"))
    monkeypatch.setenv("SKILLASSAY_HOLDOUT", str(hidden.suite))
    monkeypatch.setenv("SKILLASSAY_HOLDOUT_KEY", "0f" * 32)
    assert cli("holdout", "seal").code == 0
    commands = [("eval",), *(("report", "--format", form) for form in ("table", "markdown", "json"))]
    commands += [
        ("gate", "--format", "json"),
        ("gate",),
        ("review",),
        ("suite", "show"),
        ("lock",),
        ("holdout", "check"),
    ]
    outputs = {}
    for command in commands:
        ran = cli(*command)
        assert ran.code == 0, (command, ran)
        outputs[" ".join(command)] = (ran.out + ran.err).encode()
    places = found_everywhere([hidden.root], outputs, PLANTED)
    assert places == {"criterionid": {FIXTURES}}
    assert set(found_everywhere([hidden.suite.parent], {}, PLANTED)) == set(PLANTED)  # the search does find them
    kept = b"".join(path.read_bytes() for path in (hidden.root / ".skillassay").rglob("*") if path.is_file())
    assert not any(digest_id(text).encode() in kept for text in (PATTERN, SENTENCE))


def test_what_scoring_needs_of_a_hidden_case_is_ids_and_fixed_words(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each hidden case the header's facts hold its traits: oracle, severity, demanded action and flag. The gate
    decides from them again where neither suite nor key is.
    """
    hidden = build_planted(cli, tmp_path_factory.mktemp("outside"))
    monkeypatch.setenv("SKILLASSAY_HOLDOUT", str(hidden.suite))
    monkeypatch.setenv("SKILLASSAY_HOLDOUT_KEY", "0f" * 32)
    assert (cli("holdout", "seal").code, cli("eval").code) == (0, 0)
    (run,) = hidden.runs()
    header = json.loads((hidden.root / f".skillassay/runs/{run}/run.json").read_text("utf-8"))
    traits = {item["case"][1]: item for item in header["facts"]["traits"] if item["case"][0] == "hidden"}
    none = {"incident": None, "root_cause": None}
    demand = {"action": "refuse", "refused": True}
    assert traits == {
        "h-full": {"case": ["hidden", "h-full"], "oracle_type": "reference", "severity": "high"}
        | dict.fromkeys(demand)
        | none,
        "h-deed": {"case": ["hidden", "h-deed"], "oracle_type": "rubric", "severity": None} | demand | none,
    }
    assert header["facts"]["expected"] == []
    assert not [name for suite, _, name in header["facts"]["slices"] if suite == "hidden"]
    assert header["contract"]["groups"]["judgment"]["abstention"] == []
    assert header["contract"]["groups"]["expected"]["acceptable_variants"] == {}
    before = cli("gate", "--format", "json").json["lines"]
    monkeypatch.delenv("SKILLASSAY_HOLDOUT")
    assert cli("gate", "--format", "json").json["lines"] == before
    assert "unsafe_compliance" in {line["name"] for line in before}


def test_a_slice_that_the_project_knows_still_counts_hidden_cases(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name from the contract is no word of the holdout."""
    slices = {"late": {"required": True, "quality_min": 1}}
    hidden = build_hidden(cli, tmp_path_factory.mktemp("outside"), monkeypatch, slices=slices)
    hidden.write(hidden_case("h-ferry", slice="late"), version="1.1.0")
    assert hidden.cli("holdout", "seal").code == 0
    ran, lines = hidden.decided("eval")
    assert (ran.code, lines["slice_quality"]["counts"]["planned"], lines["required_slices"]["status"]) == (
        0,
        1,
        "passed",
    )


# A run that leaves it out


def left_out(hidden: Hidden, *options: str) -> tuple[int, str, list[str]]:
    """An evaluation with these options: exit code, status and detail of the line, the same from `gate` afterwards."""
    ran, lines = hidden.decided("eval", *options)
    again, stored = hidden.decided("gate")
    assert schema_problems(again.json, "gate") == []
    assert (again.code, stored["holdout_asked"]) == (ran.code, lines["holdout_asked"])
    line = lines["holdout_asked"]
    return ran.code, line["status"], line["detail"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--no-holdout"], "the run was told to leave the holdout out (--no-holdout), so it decides nothing"),
        (
            ["--purpose", "tuning"],
            "a run for tuning leaves the holdout out; what was tuned is decided by a run for release",
        ),
        (
            ["--case", "one", "--case", "two", "--case", "three"],
            "the run's selection (--case, --skill) leaves out cases of the holdout",
        ),
    ],
    ids=["option", "tuning", "selection"],
)
def test_a_run_without_the_holdout_says_so_and_stays_open(hidden: Hidden, options: list[str], words: str) -> None:
    """Everything else passes: exit 3 by the line `holdout_asked`, from the stored run too, and the reason is told."""
    assert left_out(hidden, *options) == (3, "undecided", [words])
    assert "holdout_asked" in hidden.cli("report").out


def test_a_failure_outweighs_what_was_not_asked(hidden: Hidden) -> None:
    """The run without the holdout fails on a case: exit 1."""
    path = hidden.root / FIXTURES
    path.write_text(path.read_text("utf-8").replace('"hello hello"', '"good day"'), encoding="utf-8")
    code, status, _ = left_out(hidden, "--no-holdout")
    assert (code, status) == (1, "undecided")


def test_a_run_with_the_holdout_passes_the_line(hidden: Hidden) -> None:
    """All of its cases are planned; and without a holdout in the contract there is no line."""
    assert left_out(hidden) == (0, "passed", [])


def test_no_holdout_no_line(cli: Cli) -> None:
    """A project without one hears nothing of it, for tuning neither."""
    build_small(cli.root, rules=[rule for name in ("one", "two", "three") for rule in small_rules(name)])
    ran = cli("eval", "--purpose", "tuning", "--format", "json")
    assert (ran.code, "holdout_asked" in ran.out) == (0, False)


# Where its texts are looked for


def put(hidden: Hidden, name: str, data: bytes | None = None) -> None:
    """A file with the hidden query in it."""
    path = hidden.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(f"Notes.\n\n{QUERY}\n".encode() if data is None else data)


@pytest.mark.parametrize(
    "name",
    [
        "skills/greeter/evals/own.md",
        "skills/greeter/.cache/notes.txt",
        "docs/prompting.md",
        "prompts/system.txt",
        "AGENTS.md",
        ".github/copilot-instructions.md",
        "notes.local",
        "evals/node_modules/x.md",
    ],
)
def test_a_copy_anywhere_below_the_root_is_found(hidden: Hidden, name: str) -> None:
    """A skill's own folder of cases, what git and digests ignore, docs, prompts, hidden folders."""
    (hidden.root / ".gitignore").write_text("*.local\n.cache/\n", encoding="utf-8")
    git(hidden.root, "init", "-q")
    assert hidden.cli("holdout", "check").code == 0
    put(hidden, name)
    ran = hidden.cli("holdout", "check")
    assert (ran.code, f"{name}: error holdout.exposed: case h-ferry: query" in ran.out) == (1, True)
    assert mark("query") not in ran.out + ran.err
    assert hidden.cli("eval").code == 1


@pytest.mark.parametrize(
    "name", [".git/notes.md", ".venv/lib/notes.md", "web/node_modules/p/readme.md", ".skillassay/notes.md"]
)
def test_what_is_nobodys_text_is_left_out_until_git_tracks_it(hidden: Hidden, name: str) -> None:
    """Version control, environments, packages, our own runs; but what is committed there is read by everybody."""
    git(hidden.root, "init", "-q")
    put(hidden, ".venv/pyvenv.cfg", b"home = /usr\n")
    put(hidden, name)
    assert hidden.cli("holdout", "check").code == 0
    if not name.startswith(".git/"):
        git(hidden.root, "add", "-f", name)
        assert hidden.cli("holdout", "check").code == 1


def test_a_marker_of_an_environment_hides_no_suite(hidden: Hidden) -> None:
    """`pyvenv.cfg` at the root or in `evals/` makes neither an environment."""
    for name in ("pyvenv.cfg", "evals/pyvenv.cfg"):
        put(hidden, name, b"")
    put(hidden, "evals/labels.txt")
    assert hidden.cli("holdout", "check").code == 1


@pytest.mark.parametrize(
    "encoded",
    [
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("utf-8-sig"),
        lambda text: b"\0" + text.encode() * 3,
    ],
    ids=["utf-16", "bom", "one zero byte"],
)
def test_an_encoding_hides_nothing(hidden: Hidden, encoded: Callable[[str], bytes]) -> None:
    """UTF-16 with its mark, UTF-8 with one, a zero byte among text."""
    put(hidden, "docs/a.txt", encoded(QUERY))
    assert hidden.cli("holdout", "check").code == 1


def test_what_was_not_looked_through_is_counted_and_named(hidden: Hidden, tmp_path_factory: Any) -> None:
    """No text: a note. Too large, or a link to a folder outside: a warning each, since somebody could read it."""
    put(hidden, "docs/image.png", bytes(range(256)) * 64)
    put(hidden, "docs/big.txt", b"word " * (4 << 20))
    (hidden.root / "docs/link").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    ran = hidden.cli("holdout", "check")
    assert ran.code == 0
    assert "docs/big.txt: warning holdout.not-searched: not looked through: " in ran.out
    assert "docs/link: warning holdout.not-searched: not looked through: is a link to a folder outside" in ran.out
    assert "(3 not looked through)" in ran.out
    shown = hidden.cli("holdout", "check", "--format", "json").json
    assert {one["path"] for one in shown["files_skipped"]} == {"docs/image.png", "docs/big.txt", "docs/link"}
    assert shown["files_looked_through"] > 0
    noted = hidden.cli("check", "--notes").out
    assert "1 files that are no text were not looked through: docs/image.png" in noted
