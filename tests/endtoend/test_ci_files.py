"""What other programs start us by: the action, the hooks of pre-commit, the workflows of the guide.

Validated by the schemas that GitHub's users validate with, and run for real as far as that goes without a network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.project import REPOSITORY, Cli, build_small, edit, environment, git

BIN = Path(sys.executable).parent
ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text("utf-8"))
STEPS = {step.get("id") or step.get("name"): step for step in ACTION["runs"]["steps"]}
GUIDE = (REPOSITORY / "docs/guides/ci.md").read_text("utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", GUIDE, flags=re.DOTALL)
WORKFLOWS = [block for block in BLOCKS if block.startswith("name: ")]
HOOKS: list[dict[str, Any]] = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text("utf-8"))
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
"""How the service starts a step whose shell is bash."""


def tool(name: str, *arguments: str, cwd: Path = REPOSITORY, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a program of this environment."""
    env = environment(PATH=f"{BIN}{os.pathsep}{os.environ['PATH']}", **settings)
    return subprocess.run([BIN / name, *arguments], cwd=cwd, env=env, capture_output=True, text=True, timeout=120)


def test_the_action_is_one() -> None:
    """By the schema of actions."""
    done = tool("check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_our_own_schemas_are_schemas_to_another_reader() -> None:
    """By the meta-schema that each names."""
    schemas = [str(path) for path in sorted((REPOSITORY / "skillassay/schemas").glob("*.json"))]
    done = tool("check-jsonschema", "--check-metaschema", *schemas)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("number", range(2))
def test_a_workflow_of_the_guide_is_one(number: int, tmp_path: Path) -> None:
    """By the schema of workflows; each fetches the whole history, without which a base may be missing."""
    assert len(WORKFLOWS) == 2
    (tmp_path / "skills.yml").write_text(WORKFLOWS[number], encoding="utf-8")
    done = tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(tmp_path / "skills.yml"))
    assert done.returncode == 0, done.stdout + done.stderr
    steps = yaml.safe_load(WORKFLOWS[number])["jobs"]["skills"]["steps"]
    assert steps[0]["with"]["fetch-depth"] == 0


def test_the_guide_names_the_inputs_that_there_are() -> None:
    """And the output."""
    used = {name for block in WORKFLOWS for name in _with(block)}
    assert used <= set(ACTION["inputs"])
    assert all(f"`{name}`" in GUIDE for name in (*ACTION["inputs"], *ACTION["outputs"]))


def _with(block: str) -> Iterator[str]:
    for step in yaml.safe_load(block)["jobs"]["skills"]["steps"]:
        yield from step.get("with", ()) if "skillassay@" in step.get("uses", "") else ()


def test_no_expression_stands_in_a_script() -> None:
    """What an input holds reaches bash as a variable, never as text of the script."""
    assert not [name for name, step in STEPS.items() if "${{" in step.get("run", "")]


@pytest.fixture
def project(cli: Cli) -> Path:
    """A locked project in git."""
    build_small(cli.root, lock={"requires": "fixture", "require_evidence": "ratchet"})
    assert cli("lock", "--no-evidence").code == 0
    git(cli.root, "init", "-q")
    git(cli.root, "add", ".")
    git(cli.root, "commit", "-qm", "one")
    return cli.root


def step(script: str, root: Path, **settings: str) -> tuple[int, str, dict[str, str], str]:
    """Exit code and output of a step's script in a project, what it set, and its summary."""
    runner = root.parent / "runner"
    shutil.rmtree(runner, ignore_errors=True)
    runner.mkdir()
    inputs = {name.upper(): str(body["default"]) for name, body in ACTION["inputs"].items() if "-" not in name}
    env = environment(
        **inputs
        | {
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "RUNNER_TEMP": str(runner),
            "GITHUB_OUTPUT": str(runner / "output"),
            "GITHUB_STEP_SUMMARY": str(runner / "summary"),
        }
        | settings
    )
    done = subprocess.run([*BASH, "-c", script], cwd=root, env=env, capture_output=True, text=True, timeout=120)
    read = {
        name: (runner / name).read_text("utf-8") if (runner / name).exists() else "" for name in ("output", "summary")
    }
    outputs = dict(line.split("=", 1) for line in read["output"].splitlines())
    return done.returncode, done.stdout + done.stderr, outputs, read["summary"]


def assayed(root: Path, **settings: str) -> tuple[int, str, dict[str, str], str]:
    """The step of the action that checks."""
    return step(STEPS["assay"]["run"], root, **settings)


def test_the_inputs_of_the_step_are_those_of_the_action() -> None:
    """Each variable comes from the input of its name, as the tests set it."""
    wanted = {name.upper(): f"${{{{ inputs.{name} }}}}" for name in ("root", "base", "strict", "lock")}
    assert STEPS["assay"]["env"] == wanted


def test_a_sound_project_passes(project: Path) -> None:
    """Exit 0, with both commands in the summary."""
    code, told, outputs, summary = assayed(project)
    assert (code, outputs) == (0, {"exit-code": "0"}), told
    assert summary.startswith("### skillassay: passed\n")
    assert "1 skill, 3 quality cases" in summary
    assert "::error" not in told


def test_an_edit_fails(project: Path) -> None:
    """Exit 1 with an annotation at the file; no command of the service stands in the summary."""
    edit(project / "skills/greeter/SKILL.md", "hello twice", "hello thrice")
    code, told, outputs, summary = assayed(project)
    assert (code, outputs) == (1, {"exit-code": "1"})
    assert re.search(r"^::error file=skills/greeter/SKILL\.md", told, flags=re.MULTILINE)
    assert "::error title=skillassay::failed (exit code 1)" in told
    assert summary.startswith("### skillassay: failed\n")
    assert not re.search(r"^::", summary, flags=re.MULTILINE)


def test_a_missing_base_is_told_apart(project: Path) -> None:
    """Exit 3: nothing was found wrong, and nothing can be said; an edit beside it is still a failure."""
    code, told, outputs, summary = assayed(project, BASE="origin/main")
    assert (code, outputs) == (3, {"exit-code": "3"})
    assert "check out with full history" in told
    assert summary.startswith("### skillassay: cannot decide\n")
    edit(project / "skills/greeter/SKILL.md", "hello twice", "hello thrice")
    assert assayed(project, BASE="origin/main")[0] == 1
    assert assayed(project, BASE="origin/main", LOCK="false")[0] == 3


def test_warnings_fail_where_they_are_asked_to(project: Path) -> None:
    """A skill that was never evaluated is a warning under ratchet."""
    assert assayed(project)[0] == 0
    assert assayed(project, STRICT="true")[0] == 1


def test_the_base_is_compared_with(project: Path, cli: Cli) -> None:
    """An edit that was locked again under its old version is seen by the history alone."""
    edit(project / "skills/greeter/SKILL.md", "hello twice", "hello thrice")
    lock = project / "skills.lock.json"
    lock.unlink()
    assert cli("lock", "--no-evidence").code == 0
    assert assayed(project)[0] == 0
    assert assayed(project, BASE="HEAD")[0] == 1


def test_foreign_words_stay_words_in_the_summary(project: Path) -> None:
    """Markup in a name is escaped."""
    (project / "skills/greeter/<b>x.md").write_text("x", encoding="utf-8")
    _, told, _, summary = assayed(project)
    assert "<b>x.md" in told
    assert "<b>" not in summary
    assert "&lt;b&gt;x.md" in summary


def test_a_root_with_blanks_is_one_argument(project: Path) -> None:
    """The folder's name is no script."""
    moved = project.parent / "my project; exit 5"
    project.rename(moved)
    try:
        assert assayed(moved, ROOT=f"../{moved.name}")[0] == 0
    finally:
        moved.rename(project)


def test_the_action_installs_this_checkout(tmp_path: Path) -> None:
    """Its own line, without the network: pip is told so by variables alone."""
    settings = {
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_TARGET": str(tmp_path / "lib"),
    }
    (tmp_path / "project").mkdir()
    script = STEPS["Install skillassay"]["run"]
    code, told, _, _ = step(script, tmp_path / "project", ACTION=str(REPOSITORY), **settings)
    assert code == 0, told
    assert (tmp_path / "lib/skillassay/schemas/triggers.schema.json").is_file()


def test_the_step_of_the_guide_tells_the_codes_apart(project: Path) -> None:
    """The script of the workflow without the action, run as it stands."""
    (script,) = (one["run"] for one in yaml.safe_load(WORKFLOWS[1])["jobs"]["skills"]["steps"] if one.get("name"))
    assert step(script, project, BASE="HEAD")[0] == 0
    code, told, _, _ = step(script, project, BASE="nowhere")
    assert (code, "cannot decide" in told) == (3, True)
    edit(project / "skills/greeter/SKILL.md", "hello twice", "hello thrice")
    code, told, _, _ = step(script, project, BASE="HEAD")
    assert (code, "not as it should be" in told) == (1, True)


def test_the_hooks_are_hooks() -> None:
    """By pre-commit itself."""
    done = tool("pre-commit", "validate-manifest", ".pre-commit-hooks.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [hook["id"] for hook in HOOKS] == ["skillassay-check", "skillassay-lock-check"]
    assert all((hook["language"], hook["pass_filenames"]) == ("python", False) for hook in HOOKS)


def test_the_guides_configuration_names_hooks_that_there_are(tmp_path: Path) -> None:
    """Valid for pre-commit, with our ids."""
    (block,) = (block for block in BLOCKS if block.startswith("repos:"))
    (tmp_path / "config.yaml").write_text(block, encoding="utf-8")
    assert tool("pre-commit", "validate-config", str(tmp_path / "config.yaml")).returncode == 0
    named = [hook["id"] for hook in yaml.safe_load(block)["repos"][0]["hooks"]]
    assert named == [hook["id"] for hook in HOOKS]


@pytest.mark.parametrize(
    ("path", "starts"),
    [
        ("skills/greeter/SKILL.md", True),
        ("skills/greeter/scripts/run.py", True),
        (".claude/skills/greeter/references/a.md", True),
        ("plugins/p/skills/greeter/x", True),
        ("greeter/skill.md", True),
        ("SKILL.md", True),
        ("evals/quality.json", True),
        ("skills.lock.json", True),
        ("README.md", False),
        ("src/skillset.py", False),
        ("docs/my-SKILL.md.txt", False),
    ],
)
def test_which_changes_start_a_hook(path: str, *, starts: bool) -> None:
    """Whatever of a skill or of what it is measured by changed."""
    assert {bool(re.search(hook["files"], path)) for hook in HOOKS} == {starts}


def test_the_real_pre_commit_runs_them(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """From a repository that holds the manifest; the environment is this one, since another needs the network."""
    source = tmp_path_factory.mktemp("hooks")
    shutil.copy(REPOSITORY / ".pre-commit-hooks.yaml", source)
    git(source, "init", "-q")
    git(source, "add", ".")
    git(source, "commit", "-qm", "hooks")
    revision = git(source, "rev-parse", "HEAD").strip()
    hooks = [{"id": hook["id"], "language": "unsupported"} for hook in HOOKS]
    config = {"repos": [{"repo": str(source), "rev": revision, "hooks": hooks}]}
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    git(project, "add", ".")
    home = {"PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("home"))}
    skipped = tool("pre-commit", "run", cwd=project, **home)
    assert skipped.returncode == 0, skipped.stdout + skipped.stderr
    assert skipped.stdout.count("(no files to check)Skipped") == 2
    edit(project / "skills/greeter/SKILL.md", "hello twice", "hello thrice")
    git(project, "add", ".")
    done = tool("pre-commit", "run", cwd=project, **home)
    assert done.returncode == 1
    assert done.stdout.count("Failed") == 2
    assert "lock.edited-without-version" in done.stdout
