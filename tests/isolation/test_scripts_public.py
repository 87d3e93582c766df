"""Public reports on scripts and paths, each with its own files, through the tools a model gets.

The names are the reports' labels. Links are made here: some refuse a repository with a link that leaves it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillassay.findings import Severity
from skillassay.isolation.process import Limits, probe_isolation
from skillassay.isolation.script import STDOUT_BYTES
from skillassay.skills.discovery import Discovery, discover, load_package
from skillassay.tools import Catalog, CatalogSkill, ScriptPolicy, ToolBox, ToolFile, ToolSet, tool_declarations
from tests.project import Cli, build_small

PUBLIC = Path(__file__).parents[1] / "data" / "public"
ALLOWED = ScriptPolicy(allowed=True, why="a test")


def skill_of(folder: Path) -> CatalogSkill:
    """The skill in a folder, as a run offers it."""
    package = load_package(str(folder), path=f"skills/{folder.name}")
    assert package is not None
    assert package.skill is not None
    assert package.files is not None
    files = {entry.path: ToolFile(source=Path(entry.source), size=entry.size) for entry in package.files.entries}
    return CatalogSkill(
        name=package.skill.name,
        path=package.path,
        description=package.skill.description,
        frontmatter=package.skill.frontmatter,
        instructions=package.skill.body,
        files=files,
    )


def box_of(folder: Path, workspace: Path, *, timeout_s: float = 10) -> ToolBox:
    """The tools over one skill."""
    return ToolBox(
        catalog=Catalog(skills=(skill_of(folder),)),
        tools=ToolSet.PROGRESSIVE,
        workspace=workspace,
        isolation=probe_isolation().level,
        policy=ALLOWED,
        limits=replace(Limits(), timeout_s=timeout_s),
    )


def run(report: str, script: str, workspace: Path, *, timeout_s: float = 10, kind: str = "script") -> dict[str, Any]:
    """Run one script of a report's skill."""
    box = box_of(PUBLIC / kind / report / "demo", workspace, timeout_s=timeout_s)
    return box.call("run_skill_script", {"skill_name": "demo", "file_path": script})


def test_adk_5079_one_limit_for_every_kind_of_script(tmp_path: Path) -> None:
    """google/adk-python#5079: the hanging Python script is stopped, with what it said; a prompt fails at once."""
    started = time.monotonic()
    hung = run("adk-5079", "hang.py", tmp_path, timeout_s=1)
    assert (hung["stdout"], hung["stderr"]) == ("start\n", "Timed out after 1 s.")
    asked = run("adk-5079", "stdin.py", tmp_path, timeout_s=20)
    assert "EOFError" in asked["stderr"]
    assert time.monotonic() - started < 15


def test_adk_6281_no_script_no_tool(tmp_path: Path) -> None:
    """google/adk-python#6281: a skill without scripts offers nothing to run, and a call of it ends the guessing."""
    box = box_of(PUBLIC / "script" / "adk-6281" / "noscripts", tmp_path)
    names = [tool.name for tool in tool_declarations(box.catalog, mode_tools=ToolSet.PROGRESSIVE)]
    assert names == ["load_skill", "load_skill_resource"]
    answer = box.call("run_skill_script", {"skill_name": "noscripts", "file_path": "main.py"})
    assert answer["error"] == "There is no tool 'run_skill_script'. The tools are: load_skill, load_skill_resource."


def test_agent_os_2403_output_is_utf_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """use-agent-os/agent-os#2403: whatever the harness's own locale is."""
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    answer = run("agent-os-2403", "p.py", tmp_path)
    assert (answer["status"], answer["stdout"]) == ("success", "naïve ✓ 日本\n")


def test_argent_977_windows_line_ends_are_a_finding_before_running(tmp_path: Path) -> None:
    """software-mansion/argent#977: an error of `check` names each script, and running one says so in words."""
    package = load_package(str(PUBLIC / "script" / "argent-977" / "demo"), path="skills/demo")
    assert package is not None
    found = {(one.code, one.path): one for one in package.findings if one.code == "digest.script-crlf"}
    assert [path for _, path in found] == ["skills/demo/scripts/out.sh", "skills/demo/scripts/she.sh"]
    assert {one.severity for one in found.values()} == {Severity.ERROR}
    answer = run("argent-977", "she.sh", tmp_path)
    assert "line endings" in answer["error"]
    assert list(tmp_path.iterdir()) == []


def test_cpython_76116_no_grandchild_delays_the_end_or_outlives_it(tmp_path: Path) -> None:
    """python/cpython#76116: neither the one that a shell waits for, nor the one that a program leaves behind."""
    started = time.monotonic()
    waited = run("cpython-76116", "spawn.sh", tmp_path, timeout_s=1)
    assert (waited["stdout"], waited["stderr"]) == ("started\n", "Timed out after 1 s.")
    left = run("cpython-76116", "daemon.py", tmp_path, timeout_s=20)
    assert (left["status"], left["stdout"]) == ("success", "parent done\n")
    assert time.monotonic() - started < 15
    assert running_in(tmp_path) == []


def running_in(workspace: Path) -> list[Path]:
    """Processes that work in this folder, a moment after their end."""
    time.sleep(0.2)
    found = []
    for path in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            found += [path] if path.samefile(workspace) else []
    return found


def test_hive_3486_output_is_capped_and_no_text_is_told(tmp_path: Path) -> None:
    """aden-hive/hive#3486: the flood keeps head and tail with a mark between; bytes that are no text raise nothing."""
    flood = run("hive-3486", "flood.sh", tmp_path)
    assert (flood["status"], flood["truncated"]) == ("success", True)
    assert len(flood["stdout"].encode()) <= STDOUT_BYTES == 65_536
    assert "bytes left out" in flood["stdout"]
    binary = run("hive-3486", "bin.py", tmp_path)
    assert (binary["status"], binary["stdout"][:5], binary["stdout"][-5:]) == ("success", "head\n", "tail\n")


def test_wegent_299_the_cap_counts_bytes_and_cuts_between_characters(tmp_path: Path) -> None:
    """wecode-ai/Wegent#299: forty thousand characters are more bytes, and none of them is cut in two."""
    answer = run("wegent-299", "wide.py", tmp_path)
    assert answer["truncated"] is True
    assert len(answer["stdout"].encode()) <= 65_536
    assert "\ufffd" not in answer["stdout"]


ADK_JAVA = [
    *("references/../../secret.txt", "references/../../../../etc/passwd", "../secret.txt", "/etc/passwd"),
    *("references/ok.md/../../../secret.txt", "references\\..\\..\\secret.txt", "references/%2e%2e/%2e%2e/secret.txt"),
    *("references/ok.md\0.png", ".", "references", "C:\\Windows\\win.ini", "file:///etc/passwd", "~/.ssh/id_rsa"),
]


@pytest.mark.parametrize("path", ADK_JAVA)
def test_adk_java_1311_no_spelling_leaves_the_skill(tmp_path: Path, path: str) -> None:
    """google/adk-java#1311: what lies outside and what does not exist get one answer, without its content."""
    box = box_of(PUBLIC / "path" / "adk-java-1311" / "demo", tmp_path)
    answer = box.call("load_skill_resource", {"skill_name": "demo", "file_path": path})
    assert answer == {
        "error": f"Resource {path!r} not found in skill 'demo'.",
        "error_code": "RESOURCE_NOT_FOUND",
    }


@pytest.mark.parametrize("path", ["references/ok.md", "references/../references/ok.md", "./references/ok.md"])
def test_adk_java_1311_dots_that_stay_inside_are_a_spelling(tmp_path: Path, path: str) -> None:
    """google/adk-java#1311: the file of the skill is read."""
    box = box_of(PUBLIC / "path" / "adk-java-1311" / "demo", tmp_path)
    answer = box.call("load_skill_resource", {"skill_name": "demo", "file_path": path})
    assert answer["file_path"] == "references/ok.md"


@pytest.mark.parametrize(
    "path", ["/tmp/evil.py", "../../evil.py", "scripts/../../evil.py", "../SKILL.md", "ok.py; echo x", "$(echo x)"]
)
def test_ai_agent_book_75_nothing_outside_runs(tmp_path: Path, path: str) -> None:
    """bojieli/ai-agent-book#75: running looks a path up as reading does."""
    shutil.copytree(PUBLIC / "path" / "ai-agent-book-75", tmp_path, dirs_exist_ok=True)
    (tmp_path / "w").mkdir()
    answer = box_of(tmp_path / "demo", tmp_path / "w").call(
        "run_skill_script", {"skill_name": "demo", "file_path": path}
    )
    assert answer["error_code"] == "SCRIPT_NOT_FOUND"
    assert "EVIL" not in str(answer)


@pytest.mark.parametrize("path", ["ok.py", "scripts/ok.py"])
def test_ai_agent_book_75_its_own_script_runs(tmp_path: Path, path: str) -> None:
    """bojieli/ai-agent-book#75: with and without the folder's name."""
    assert run("ai-agent-book-75", path, tmp_path, kind="path")["status"] == "success"


@pytest.mark.parametrize(
    "name", ["../outside", "/abs/outside", "demo/../../outside", "demo/", "DEMO", "demo\n", " demo", ".", ".."]
)
def test_bounty_9271_a_skills_name_is_no_path(tmp_path: Path, name: str) -> None:
    """BaseIntelligence/bounty-challenge#9271: it is one of the catalog's to the letter."""
    box = box_of(PUBLIC / "path" / "bounty-9271" / "skills" / "demo", tmp_path)
    assert box.call("load_skill", {"skill_name": name})["error_code"] == "SKILL_NOT_FOUND"
    assert box.call("load_skill", {"skill_name": "demo"})["skill_name"] == "demo"


def project(report: str, root: Path, links: Sequence[tuple[str, str]]) -> Discovery:
    """The skills of a report with its links, discovered."""
    skills = root / "skills"
    shutil.copytree(PUBLIC / "path" / report / "skills", skills)
    for name, target in links:
        (skills / name).parent.mkdir(exist_ok=True)
        (skills / name).unlink(missing_ok=True)
        (skills / name).symlink_to(target)
    return discover(root, globs=["skills/*", "skills/*/*", "skills/*/*/*"])


HERMES = (("demo/demo", "."), ("a/b", "../b"), ("b/a", "../a"))


def test_hermes_104316_each_skill_is_found_once(tmp_path: Path) -> None:
    """NousResearch/hermes-agent#104316: however deep the globs look, in a moment; an error names each loop."""
    started = time.monotonic()
    found = project("hermes-104316", tmp_path, HERMES)
    assert time.monotonic() - started < 2
    assert [package.skill.name for package in found.packages if package.skill is not None] == ["a", "b", "demo"]
    errors = {one.path: (one.code, one.message) for one in found.all_findings if one.severity is Severity.ERROR}
    assert errors == {
        "skills/demo/demo": ("digest.link-loops", "the link to `.` leads to a folder that holds the link"),
        "skills/a/b": ("digest.link-leaves", "the link to `../b` leaves the skill's folder"),
        "skills/b/a": ("digest.link-leaves", "the link to `../a` leaves the skill's folder"),
    }
    for package in found.packages:
        assert package.files is not None
        assert [entry.path for entry in package.files.entries] == ["SKILL.md"]


def test_hermes_104316_no_prompt_is_made_of_a_loop(cli: Cli) -> None:
    """NousResearch/hermes-agent#104316: a run with such a skill is refused before a model is called."""
    build_small(cli.root)
    (cli.root / "skills" / "greeter" / "greeter").symlink_to(".")
    ran = cli("eval")
    assert ran.code == 3
    assert "skills/greeter/greeter" in ran.err
    assert not (cli.root / ".skillassay").exists()


ZEPH = (
    ("alias/SKILL.md", "../real/SKILL.md"),
    ("out/SKILL.md", "/etc/hostname"),
    ("dangling/SKILL.md", "nowhere.md"),
    ("dirlink/SKILL.md", ".."),
)


def test_zeph_5792_five_situations_have_five_answers(tmp_path: Path) -> None:
    """bug-ops/zeph#5792: the skill that is one is read; each of the four links is named, in words of its own."""
    found = project("zeph-5792", tmp_path, ZEPH)
    assert [package.path for package in found.packages if package.skill is not None] == ["skills/real"]
    errors = {one.path: one.message for one in found.all_findings if one.severity is Severity.ERROR}
    assert errors == {
        "skills/alias/SKILL.md": "the link to `../real/SKILL.md` leaves the skill's folder",
        "skills/out/SKILL.md": "the link to `/etc/hostname` is absolute",
        "skills/dangling/SKILL.md": "the link leads to `nowhere.md`, which does not exist",
        "skills/dirlink/SKILL.md": "the link to `..` leads to a folder outside the skill's",
    }


def test_zeph_5792_the_refused_target_is_not_read(tmp_path: Path) -> None:
    """bug-ops/zeph#5792: the check is reached: no package has a byte of what its link leads to."""
    secret = tmp_path / "secret"
    secret.write_text("---\nname: out\ndescription: the-secret\n---\n")
    found = project("zeph-5792", tmp_path / "p", [*ZEPH, ("out/SKILL.md", os.fspath(secret))])
    assert "the-secret" not in repr(found)
