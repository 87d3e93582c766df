"""Every file that is kept has a JSON Schema, and what commands really write fits it."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import skillassay
from skillassay.schema import load_schema, schema_problems
from tests.acceptance.governed import gate as gate_with_waivers
from tests.acceptance.judged import OPEN, Judged, verdict
from tests.acceptance.live import LiveServer
from tests.acceptance.paired import ASK as ASK_PAIRS
from tests.acceptance.paired import PairServer
from tests.acceptance.paired import evaluated as evaluated_pairs
from tests.acceptance.priced import PricedServer, build_priced, limit
from tests.acceptance.reading import typed
from tests.acceptance.stored import LINES, WHOLE, met_schemas
from tests.acceptance.test_approval import approve
from tests.acceptance.test_judge_gate import ASK, GREETINGS, MODELS, REFERENCES, behaving, label
from tests.conftest import Evaluated
from tests.endtoend.faulty_server import FaultyServer
from tests.people.waivers import fitting, write_waivers
from tests.project import REPOSITORY, Cli, build_small, run_folder, small_case, write_json

PACKAGE = Path(skillassay.__file__).parent

FORMATS = {
    "suites.kept": "cases",
    "suites.looks": "look",
    "models.tape": "recording",
    "models.spending": "spending",
    "models.prices": "prices",
    "calibration.certificate": "calibration",
    "calibration.verdicts_read": "verdict-read",
    "calibration.references": "reference",
    "calibration.labels": "label",
    "holdout.sealed": "holdout",
    "runs.record": "record",
    "runs.pair_record": "pairwise",
    "runs.baseline": "baseline",
    "runs.store": "run",
    "locks.evidence": "evidence",
    "locks.lockfile": "lock",
    "people.adjudication": "adjudication",
    "people.approval": "approval",
    "people.audit": "audit",
}
"""Modules that own a stored format, each with its schema."""
NOT_JSON = {
    "models.reply_store": "a database, whose tables its module describes",
    "calibration.rubrics": "hashed, and never stored",
    "contract.contract": "a version of the code that scores",
    "mutation.session": "a run's header with the part `mutation`; docs/reference/mutate.md",
    "interop.export_folder": "another tool's format, with a word on who wrote it",
    "runs.results": "printed: gate.schema.json",
}


def versioned() -> set[str]:
    """Modules outside report and cli that have the version of a format."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.parse(path.read_text("utf-8")).body:
            value = node.value if isinstance(node, ast.Assign) else None
            is_number = isinstance(value, ast.Constant) and isinstance(value.value, int)
            targets = node.targets if isinstance(node, ast.Assign) and is_number else []
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            if any(one.endswith(("_VERSION", "_FORMAT")) for one in names) and not name.startswith(("report.", "cli.")):
                found.add(name)
    return found


def test_every_stored_format_has_a_schema() -> None:
    """A module with the version of a format names its schema here, or why there is none."""
    assert versioned() == {*FORMATS, *NOT_JSON}
    assert {*FORMATS.values(), "result"} <= {*LINES.values(), *WHOLE.values(), "prices"}
    for schema in FORMATS.values():
        assert load_schema(schema)["$schema"] == "http://json-schema.org/draft-07/schema#"


def test_the_page_lists_every_schema() -> None:
    """docs/reference/schemas.md names each that ships, and no other."""
    page = (REPOSITORY / "docs/reference/schemas.md").read_text("utf-8")
    cells = [line.split("|")[2] for line in page.splitlines() if line.startswith("| ") and "---" not in line][1:]
    named = {name for cell in cells for name in re.findall(r"`([a-z-]+)`", cell)}
    assert named == {path.name.removesuffix(".schema.json") for path in (PACKAGE / "schemas").glob("*.json")}


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Where live models are, with a key in the environment."""

    def at(base_url: str) -> None:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", base_url)
        monkeypatch.setenv("GEMINI_API_KEY", "k")

    return at


@pytest.fixture
def server(key: Callable[[str], None]) -> Iterator[LiveServer]:
    """Live models."""
    with LiveServer() as server:
        key(server.base_url)
        yield server


def test_the_shipped_project_and_its_run(evaluated: Evaluated) -> None:
    """Header, records, result, kept cases, events; the lock and all evidence."""
    assert met_schemas(evaluated.root) >= {"run", "record", "result", "cases", "event", "lock", "evidence", "routing"}
    assert met_schemas(REPOSITORY) >= {"lock", "evidence", "suite"}


def test_a_run_under_retention_hash(cli: Cli) -> None:
    """Without texts the same files fit."""
    build_small(cli.root, retention="hash")
    assert cli("eval").code == 0
    assert met_schemas(cli.root) >= {"run", "record", "result", "cases"}


def test_a_live_judge_with_labels_references_and_an_approval(cli: Cli, server: LiveServer) -> None:
    """What people said, what the judge said of it, and what was approved."""
    build_small(cli.root, cases=behaving(REFERENCES))
    cli("eval", *MODELS)
    label(cli, about=GREETINGS[:2])
    assert cli(*ASK).code in {0, 1}
    assert approve(cli).code in {0, 1}
    assert met_schemas(cli.root) >= {"label", "calibration", "reference", "approval"}


def test_verdicts_that_somebody_read(cli: Cli, server: LiveServer) -> None:
    """One line for each, and one that was taken back."""
    build_small(cli.root)
    cli("eval", *MODELS)
    typed(cli.root, "rbwuq")
    assert "verdict-read" in met_schemas(cli.root)


def test_an_adjudication(cli: Cli, key: Callable[[str], None]) -> None:
    """A named person on a trial that the judge left open."""
    build_small(cli.root, cases=[small_case("one"), small_case("two", rubric=[OPEN]), small_case("three")])
    with FaultyServer(cli.root) as server:
        key(server.base_url)
        judged = Judged(cli, server)
        judged.always = verdict("ABSTAIN")
        judged.eval()
        assert judged.say("pass").code == 0
    assert "adjudication" in met_schemas(cli.root)


def test_pairs(cli: Cli, key: Callable[[str], None]) -> None:
    """The head of a comparison, and each request."""
    with PairServer() as server:
        key(server.base_url)
        assert cli("pairwise", evaluated_pairs(cli), *ASK_PAIRS).code == 0
    assert "pairwise" in met_schemas(cli.root)


def test_a_budget(cli: Cli, key: Callable[[str], None]) -> None:
    """Reserved and settled."""
    build_priced(cli.root)
    limit(cli.root, tokens=10**6, money="1.00")
    with PricedServer() as server:
        key(server.base_url)
        cli("eval", *MODELS)
    assert "spending" in met_schemas(cli.root)


def test_a_waiver_and_a_baseline(failed: Cli) -> None:
    """The trail of a use."""
    write_waivers(failed.root, fitting(failed.root, "one"))
    assert gate_with_waivers(failed).code == 0
    assert failed("baseline", "--pin", run_folder(failed.root).name).code == 0
    assert met_schemas(failed.root) >= {"audit", "baseline"}


def test_a_recording(cli: Cli, server: LiveServer) -> None:
    """Head, pieces and calls."""
    build_small(cli.root)
    cli("record", *MODELS, "--mode", "progressive", "--mode", "none")
    assert "recording" in met_schemas(cli.root)


TRIGGERS: dict[str, Any] = {
    "triggers": 1,
    "suite": "greetings",
    "version": "1.0.0",
    "skill": "greeter",
    "cases": [{"id": "one", "query": "Greet one.", "should_trigger": False, "split": "validation"}],
}


def test_triggers_and_their_report(cli: Cli) -> None:
    """The suite, the look, and what is printed."""
    build_small(cli.root)
    write_json(cli.root / "evals/triggers.json", TRIGGERS)
    shown = cli("triggers", "--split", "validation", "--format", "json")
    assert shown.code == 0
    assert schema_problems(shown.json, "trigger-report") == []
    assert met_schemas(cli.root) >= {"triggers", "look"}


def test_what_check_prints(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Its findings; and of an installed copy, the same and edited."""
    build_small(cli.root)
    assert cli("lock", "--no-evidence").code == 0
    assert schema_problems(cli("check", "--format", "json").json, "check") == []
    copy = tmp_path_factory.mktemp("copy") / "greeter"
    shutil.copytree(cli.root / "skills/greeter", copy)
    for text in ("", "more"):
        with (copy / "SKILL.md").open("a", encoding="utf-8") as file:
            file.write(text)
        shown = cli("check", "--installed", str(copy), "--format", "json").json
        assert schema_problems(shown, "installed") == []
        assert shown["exit_code"] == bool(text)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ("lock", {"lockfileVersion": 1, "ignore": [], "requires": "fixture", "skills": {}, "suites": {}, "more": 1}),
        ("lock", {"lockfileVersion": 2, "ignore": [], "requires": "fixture", "skills": {}, "suites": {}}),
        ("label", {"labels": 1, "at": "t", "by": "A B", "origin": "made up", "label": "0" * 64, "criterion": "c"}),
        ("triggers", TRIGGERS | {"cases": []}),
        ("look", {"look": 1, "at": "yesterday"}),
    ],
)
def test_another_shape_does_not_fit(schema: str, value: dict[str, Any]) -> None:
    """A schema that lets everything through would be none."""
    assert schema_problems(value, schema) != []
