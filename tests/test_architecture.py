"""The shape of the package: layers, sizes, and what may be used where."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "skillassay"

LEVELS = """
ground       __init__ clock commandline errors folding patterns printable regular tool_arguments transcript versions
.            yaml_causes contract.terms doctor.base isolation.closed_room isolation.control_group isolation.levels
.            isolation.occupancy isolation.own_user mutation.numbers mutation.structure people.names skills.ignore
.            skills.links statistics.interval suites.expectation
foundation   blotting canonical findings checks.base checks.figures gate.lines isolation.process isolation.produced
.            isolation.trampoline judging.samples models.attempt models.breaker models.client models.money
.            models.naming models.retry skills.arguments skills.content skills.wording statistics.bounded
.            statistics.clustered statistics.multiple statistics.passes statistics.rates statistics.signflip
terms        formats inside ledger agents.base calibration.pin contract.groups contract.limits doctor.machine
.            fixture.files interop.written_evals locks.terms models.base models.endpoint models.wire mutation.mutants
.            report.annotations report.layout report.sarif runs.selection scoring.pairing statistics.agreement
.            statistics.correction statistics.paired statistics.power
replies      calibration.labels calibration.verdicts_read models.stored_reply mutation.choosing
formats      documents agents.claude_code agents.codex agents.commands agents.gemini_cli agents.launching
.            calibration.measure checks.json_answer checks.lines checks.numbers checks.pattern checks.text fixture.base
.            interop.exchange interop.export_folder interop.shapes locks.evidence models.calls models.gemini_wire
.            models.openai_wire models.pacing models.tape runs.record skills.adk_lints skills.digest skills.frontmatter
.            skills.git_folder skills.lints suites.facts suites.files suites.scorers suites.terms
kept         calibration.certificate models.spending people.adjudication runs.hushed runs.retention
readers      schema agents.ending checks.__init__ isolation.script locks.lockfile models.gemini models.openai_chat
.            models.recording models.replay runs.store skills.skill suites.normal
lists        agents.described contract.downgrades contract.frozen holdout.sealed interop.drafts models.prices
.            models.reply_store mutation.session people.waiver runs.slim scaffold.editors scaffold.skeletons
.            scoring.code suites.drift suites.shape
rules        tools agents.known contract.contract fixture.judging fixture.rules holdout.voiding interop.collecting
.            judging.reply locks.lock locks.revisions models.budgeted models.caching people.effective report.events
.            skills.bump skills.discovery skills.suggestion suites.case
judgement    agents.about calibration.judged contract.stated fixture.server holdout.leakage holdout.withholding
.            interop.evals interop.scenarios judging.behavior judging.judge locks.base_lock locks.binding models.agent
.            runs.keeping runs.plan scaffold.layout skills.names suites.controls suites.exposure suites.kept
.            suites.lints.base suites.traits suites.triggers
proofs       calibration.coverage calibration.items interop.queries interop.questions interop.stimuli judging.pairwise
.            locks.installer locks.relock runs.attempts runs.identities runs.verdicts scaffold.planning scoring.second
.            suites.lints.expected suites.lints.twins suites.references
project      project prompts calibration.references calibration.rubrics calibration.standing calibration.verdicts
.            interop.importing locks.installed locks.stored_proof models.opening runs.pair_record scoring.scores
.            subjects.adk_model subjects.adk_scripts subjects.adk_skills subjects.base suites.lints.contrary
.            suites.lints.leaking suites.lints.shape suites.lints.trivial
arms         calibration.calibrating calibration.importing calibration.labelling calibration.sampling gate.rows
.            mutation.placing mutation.verdicts people.review report.installed scoring.arms scoring.billing
.            scoring.costs scoring.discrimination scoring.effects scoring.judges scoring.matrices scoring.regression
.            scoring.repeats scoring.since subjects.answers subjects.equipment subjects.offering suites.freshness
.            suites.lint suites.parts suites.trigger_rates
conditions   gate.skills gate.trials holdout.hidden holdout.searching interop.made_answers people.approval
.            people.looked scoring.noise scoring.slices suites.reach
breakdown    doctor.surroundings gate.approval gate.reading holdout.doubts holdout.sealing interop.answer_files
.            people.waiving report.judges scoring.breakdown suites.forecast
themes       gate.asked gate.behavior gate.contract gate.holdout gate.judge gate.regression gate.second gate.slices
.            gate.suites interop.skill_creator_runs people.audit scoring.breakdown_json scoring.facts
decision     gate.decide runs.snapshot runs.trial subjects.adk subjects.agent subjects.loop
execution    locks.locking runs.runner scoring.assessment subjects.opening
earlier      contract.frozen_result runs.baseline runs.pairs scoring.scorecard skills.earlier skills.placebo
preparation  locks.relocking runs.pairing runs.preparation runs.results skills.suggesting
freezing     contract.freeze doctor.naming doctor.project mutation.preparing runs.moving
headers      mutation.baseline people.governed runs.foreseen runs.header runs.rebuild scoring.comparison
views        interop.gradings interop.statement locks.proof report.base runs.elsewhere suites.routing
asking       interop.benchmark report.annotated report.breakdown report.calibration report.comparison report.costs
.            report.effects report.forecast report.forest report.hints report.html_trials report.item report.junit
.            report.noise report.pairwise report.parts report.people report.queue report.spreadsheet report.suite_lint
.            report.suites runs.asking suites.looks
reports      interop.workspace mutation.running report.document report.html report.scorecard report.table
.            report.triggers runs.evaluation suites.triggering
people       people.approving people.reading people.reviewing report.comparison_page report.mutation runs.pooled
.            runs.scorecards
terminal     cli.options cli.output report.mutation_json runs.linted
progress     cli.keys cli.progress
formats_out  cli.show
commands     cli.approve cli.baseline cli.bump cli.calibrate cli.check cli.compare cli.doctor cli.e2e cli.evaluate
.            cli.events cli.export cli.gate cli.holdout cli.import_ cli.init cli.label cli.lock cli.mutate cli.pairwise
.            cli.plan cli.read cli.report cli.review cli.schema cli.score cli.scorecard cli.suite cli.triggers
recording    cli.record
table        cli.main
start        __main__
checkout     launch
"""
"""Every module at its level, lowest first (a point goes on with the level above); an empty __init__ has none."""
ROWS = [line.split() for line in LEVELS.replace("\n. ", " ").strip().splitlines()]
LEVEL = {module: level for level, (_, *modules) in enumerate(ROWS) for module in modules}

LAZY = {
    "models.gemini": "the SDK takes 300 ms, which only a call to a model may cost",
    "models.openai_chat": "as above, and only a run on an OpenAI-compatible endpoint needs its extra",
    "models.opening": "as above: it chooses the provider whose module is loaded",
    "checks.__init__": "the search for plug-ins takes 8 ms, which only a foreign check type may cost",
    "project": "building checks takes 20 ms of imports, which only a project with a suite may pay",
    "locks.locking": "git is started for --base alone",
    "subjects.opening": "ADK takes seconds to import, and is an extra",
    "cli.compare": "as cli.show: the template engine is for an HTML page alone",
    "cli.show": "the template engine takes 40 ms, which only an HTML report may cost",
    "cli.check": "only a project with authored answers needs the reader of their rules",
    "launch": "it makes the environment in which the package can be imported",
}
"""Modules with imports inside functions, and why."""
CLICK = ("cli.", "launch")
ENVIRONMENT = {
    "agents.launching": "an agent gets its key, or its user's login, and its PATH from there",
    "doctor.surroundings": "it says which keys, addresses and proxies are set",
    "holdout.hidden": "the hidden suite and its key are named there, and nowhere in the project",
    "isolation.process": "git runs in the caller's environment without git's own variables",
    "models.opening": "keys come from the environment only",
    "cli.show": "a CI service names the file of its summary there",
}


def modules() -> Iterator[tuple[str, Path, ast.Module]]:
    """Every module of the package that holds code: its name below the package, its file, its tree."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if len(tree.body) > 1 or not path.name.startswith("__"):
            yield ".".join(path.relative_to(PACKAGE).with_suffix("").parts), path, tree


def imported(node: ast.AST) -> list[str]:
    """The absolute names that an import statement asks for; nothing for other nodes."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def at_run_time(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes but those below ``if TYPE_CHECKING``."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            yield from ast.walk(node)


def own(name: str) -> str | None:
    """The module of this package that an imported name is or lies in."""
    inner = "__init__" if name == "skillassay" else name.removeprefix("skillassay.")
    return next(
        (found for found in (inner, f"{inner}.__init__") if found in LEVEL and name.startswith("skillassay")), None
    )


MODULES = list(modules())
each_module = pytest.mark.parametrize(("name", "path", "tree"), MODULES, ids=[name for name, _, _ in MODULES])


def test_every_module_has_one_level() -> None:
    """A new module is put into the table, and the table names no module that is gone."""
    listed = [module for _, *modules in ROWS for module in modules]
    assert sorted(listed) == sorted(name for name, _, _ in MODULES)


@each_module
def test_a_module_imports_lower_levels_only(name: str, path: Path, tree: ast.Module) -> None:
    """No module imports a sibling of its level or anything above it."""
    used = {found for node in at_run_time(tree) for asked in imported(node) if (found := own(asked)) is not None}
    used.discard(name)  # a family's __init__ names itself on the way to its members
    assert sorted(found for found in used if LEVEL[found] >= LEVEL[name]) == []


@each_module
def test_imports_stand_at_the_top(name: str, path: Path, tree: ast.Module) -> None:
    """No import inside a function, except in the modules listed with their reasons, and each of these has one."""
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    inside = any(imported(inner) for node in functions for inner in ast.walk(node))
    assert inside == (name in LAZY)


@each_module
def test_modules_and_functions_are_short(name: str, path: Path, tree: ast.Module) -> None:
    """At most 300 lines a module and 40 a function."""
    assert path.read_text(encoding="utf-8").count("\n") <= 300
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    assert [node.name for node in functions if (node.end_lineno or 0) - node.lineno + 1 > 40] == []


def test_test_modules_are_short() -> None:
    """At most 400 lines a module of tests, support modules among them: who needs more has two themes."""
    lengths = {path: path.read_text(encoding="utf-8").count("\n") for path in (ROOT / "tests").rglob("*.py")}
    assert len(lengths) > 100
    assert [str(path.relative_to(ROOT)) for path, n_lines in sorted(lengths.items()) if n_lines > 400] == []


@each_module
def test_foreign_modules_stay_in_their_place(name: str, path: Path, tree: ast.Module) -> None:
    """subprocess only in process, click only in the command line, the environment only where a reason is written."""
    used = {asked for node in ast.walk(tree) for asked in imported(node)}
    assert "subprocess" not in used or name == "isolation.process"
    assert "click" not in used or name.startswith(CLICK)
    reads = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in {"environ", "environb", "getenv"}]
    assert bool(reads) == (name in ENVIRONMENT)


@each_module
def test_the_core_prints_nothing(name: str, path: Path, tree: ast.Module) -> None:
    """No print outside the command line."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert name.startswith("cli.") or not any(isinstance(func, ast.Name) and func.id == "print" for func in calls)


@pytest.mark.parametrize("arguments", [["check"], ["--help"], ["lock", "--check"]], ids=" ".join)
def test_offline_commands_import_no_model_sdk(arguments: list[str]) -> None:
    """check, lock --check and --help load neither google-genai nor openai."""
    program = (
        "import sys\n"
        "from skillassay.cli.main import main\n"
        f"main({arguments!r})\n"
        "sys.exit(any(name.split('.')[0] in ('google', 'openai') for name in sys.modules) * 99)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stderr
