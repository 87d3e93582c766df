"""JUnit, CSV, annotations and SARIF, each against a golden file, a schema or a reader that is not ours."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml, Skipped, TestSuite

from skillassay.findings import Finding, Severity
from skillassay.report.annotated import decision_annotations
from skillassay.report.annotations import SHOWN, Annotation, finding_annotations, render_annotations
from skillassay.report.base import RunView
from skillassay.report.junit import render_junit
from skillassay.report.sarif import MOST_RESULTS, sarif_json
from skillassay.report.spreadsheet import cell, render_csv
from tests.project import Cli, build_small, edit
from tests.report.seen import build_seen

DATA = Path(__file__).parents[1] / "data"
SARIF = json.loads((DATA / "sarif" / "sarif-2.1.0-rtm.5.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def view() -> RunView:
    """The made-up run."""
    return build_seen()


def suites(text: str) -> dict[str, TestSuite]:
    """What the library junitparser reads."""
    return {suite.name: suite for suite in JUnitXml.fromstring(text.encode())}


def test_junit_trials_are_as_in_the_golden_file(view: RunView) -> None:
    """Failure and error apart, baselines skipped, characters that XML cannot carry named."""
    golden = (DATA / "golden" / "junit-trials.xml").read_text("utf-8").strip()
    assert golden in render_junit(view)


def test_a_junit_reader_counts_what_we_counted(view: RunView) -> None:
    """One failure and one error among the trials, and each open or failed line of the gate as itself."""
    found = suites(render_junit(view))
    kinds = {name: [type(case.result[0]) if case.result else None for case in suite] for name, suite in found.items()}
    for name, suite in found.items():
        assert suite.tests == len(kinds[name])
        assert suite.failures == kinds[name].count(Failure)
        assert suite.errors == kinds[name].count(Error)
        assert suite.skipped == kinds[name].count(Skipped)
    assert kinds["trials"] == [None, Skipped, Failure, Skipped, Error, Skipped]
    assert {case.name: type(case.result[0]) for case in found["gate"] if case.result}["quality_min"] is Failure


def test_junit_names_are_unique(view: RunView) -> None:
    """Of two of one name some readers keep the first alone."""
    for suite in suites(render_junit(view)).values():
        names = [(case.classname, case.name) for case in suite]
        assert len(names) == len(set(names))


def test_csv_is_as_in_the_golden_file(view: RunView) -> None:
    """One row a planned trial; what is not known is empty; no cell is a formula."""
    assert render_csv(view) == (DATA / "golden" / "trials.csv").read_text("utf-8")


@given(st.text())
def test_no_text_becomes_a_formula_and_each_stays_one_cell(text: str) -> None:
    """Whatever stands in it, line ends and quotes included, as Python's own reader sees it."""
    shown = cell(text)
    assert not shown.startswith(("=", "+", "-", "@", "\t", "\r"))
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([shown, "next"])
    assert list(csv.reader(io.StringIO(out.getvalue()))) == [[shown, "next"]]


def parsed(command: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as the runner reads it: kind, fields, message (actions/runner, ActionCommand.cs)."""

    def unescaped(text: str, *more: tuple[str, str]) -> str:
        for code, char in (*more, ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            text = text.replace(code, char)
        return text

    head, _, message = command.removeprefix("::").partition("::")
    kind, _, fields = head.partition(" ")
    pairs = [field.partition("=") for field in fields.split(",") if field]
    read = {name: unescaped(value, ("%3A", ":"), ("%2C", ",")) for name, _, value in pairs}
    return kind, read, unescaped(message)


@given(message=st.text(min_size=1), title=st.text(min_size=1), path=st.text(alphabet="ab:,/% ", min_size=1))
def test_an_annotation_is_one_command_whatever_it_says(message: str, title: str, path: str) -> None:
    """One line, and the runner reads kind and file as they were given."""
    text = render_annotations([Annotation(kind="error", title=title, message=message, path=path, line=3)])
    assert "\n" not in text
    assert "\r" not in text
    kind, fields, _ = parsed(text)
    assert kind == "error"
    assert fields["file"] == path
    assert fields["line"] == "3"
    assert set(fields) == {"file", "line", "title"}


def test_the_gravest_come_first_and_the_rest_is_counted() -> None:
    """Of twelve errors nine are shown and the tenth place says twelve."""
    notes = [Annotation(kind="notice", title="n", message="n")]
    errors = [Annotation(kind="error", title="e", message=str(number)) for number in range(12)]
    lines = render_annotations([*notes, *errors]).split("\n")
    assert [parsed(line)[0] for line in lines] == ["error"] * (SHOWN + 1) + ["notice"]
    assert parsed(lines[SHOWN])[2].startswith("12 in all")


def test_a_decision_is_annotated_by_line(view: RunView) -> None:
    """What failed is an error at its skill, what is open a warning, what passed nothing."""
    found = {one.title: one for one in decision_annotations(view)}
    assert found["fixture_gate: quality_min"].kind == "error"
    assert found["fixture_gate: quality_min"].path == "skills/x/SKILL.md"
    assert found["fixture_gate: complete"].kind == "warning"
    assert "fixture_gate: graded_cases" not in found


FINDINGS = [
    Finding(
        code="skill.no-version", severity=Severity.ERROR, path="skills/a b/SKILL.md", message="m", hint="h", line=4
    ),
    Finding(code="skill.no-version", severity=Severity.NOTE, path="skills/ü/SKILL.md", message="m"),
]


def test_sarif_fits_the_public_schema(cli: Cli) -> None:
    """What check prints of a project with problems, and of one without."""
    build_small(cli.root)
    jsonschema.validate(cli("check", "--format", "sarif").json, SARIF)
    edit(cli.root / "skills" / "greeter" / "SKILL.md", 'version: "1.0.0"', "version: one")
    ran = cli("check", "--format", "sarif")
    jsonschema.validate(ran.json, SARIF)
    assert ran.code == 1
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results(ran.json)]
    assert "skills/greeter/SKILL.md" in places
    assert results(ran.json)[0]["level"] == "error"


def results(found: Any) -> list[dict[str, Any]]:
    """The results of a log."""
    return list(found["runs"][0]["results"])


def test_a_place_is_an_address_and_a_rule_is_there_for_each_result() -> None:
    """Spaces and letters beyond ASCII are encoded (RFC 3986); a finding without a line is at the first."""
    codes = ["skill.version-missing", "skill.version-missing"]
    findings = [
        Finding(code=code, severity=one.severity, path=one.path, message=one.message, hint=one.hint, line=one.line)
        for code, one in zip(codes, FINDINGS, strict=True)
    ]
    found = sarif_json(findings)
    jsonschema.validate(found, SARIF)
    places = [one["locations"][0]["physicalLocation"] for one in results(found)]
    assert [place["artifactLocation"]["uri"] for place in places] == ["skills/a%20b/SKILL.md", "skills/%C3%BC/SKILL.md"]
    assert [place["region"]["startLine"] for place in places] == [4, 1]


def test_a_finding_that_moved_keeps_its_fingerprint_and_two_alike_differ() -> None:
    """So that an alert that somebody closed stays closed when a line is added above it."""

    def prints(*lines: int) -> list[str]:
        made = [
            Finding(code="skill.version-missing", severity=Severity.ERROR, path="p", message="m", line=line)
            for line in lines
        ]
        return [one["partialFingerprints"]["primaryLocationLineHash"] for one in results(sarif_json(made))]

    assert prints(1) == prints(9)
    assert len(set(prints(1, 2))) == 2


def test_of_too_many_the_gravest_are_kept() -> None:
    """A service keeps five thousand results, and cuts what it likes."""
    notes = [
        Finding(code="skill.version-missing", severity=Severity.NOTE, path="p", message=str(n), line=1)
        for n in range(MOST_RESULTS)
    ]
    error = Finding(code="skill.version-missing", severity=Severity.ERROR, path="p", message="last", line=1)
    kept = results(sarif_json([*notes, error]))
    assert len(kept) == MOST_RESULTS
    assert kept[0]["level"] == "error"


def test_check_annotates_for_github(cli: Cli) -> None:
    """The text as always, in which nothing is a command, and then the commands."""
    build_small(cli.root)
    edit(cli.root / "skills" / "greeter" / "SKILL.md", 'version: "1.0.0"', "version: one")
    ran = cli("check", "--format", "github")
    commands = [line for line in ran.out.splitlines() if line.startswith("::")]
    assert any(parsed(line)[:2][1].get("file") == "skills/greeter/SKILL.md" for line in commands)
    assert finding_annotations(FINDINGS[1:])[0].kind == "notice"


@pytest.mark.parametrize("form", ["table", "markdown", "json", "html", "junit", "csv", "github"])
def test_a_report_goes_into_a_file_whole(cli: Cli, tmp_path: Path, form: str) -> None:
    """Nothing on stdout, one line on stderr that says where it lies."""
    build_small(cli.root)
    cli("eval")
    to = tmp_path / "out" / "report"
    ran = cli("report", "--format", form, "--output", str(to))
    assert (ran.code, ran.out) == (0, "")
    assert str(to) in ran.err
    assert to.read_text("utf-8").endswith("\n")


def test_a_file_that_cannot_be_written_is_named(cli: Cli, tmp_path: Path) -> None:
    """Exit 3, and nothing is there."""
    build_small(cli.root)
    cli("eval")
    (tmp_path / "file").write_text("", encoding="utf-8")
    ran = cli("report", "--output", str(tmp_path / "file" / "below"))
    assert ran.code == 3
    assert "cannot be written" in ran.err
