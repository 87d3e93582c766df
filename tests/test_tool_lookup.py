"""No name and no path of a model reaches past the manifest."""

from __future__ import annotations

import json
import posixpath
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillassay.isolation.process import Limits, probe_isolation
from skillassay.tools import Catalog, CatalogSkill, ScriptPolicy, ToolBox, ToolFile, ToolSet

FILES: dict[str, bytes] = {
    "SKILL.md": b"---\nname: demo\n---\nBody.\n",
    "references/ok.md": b"fine\n",
    "references/caf\u00e9.md": b"x",
    "scripts/ok.py": b'print("ok")\n',
}
SECRET = "TOP-SECRET"


@pytest.fixture
def skill(tmp_path: Path) -> CatalogSkill:
    """A skill on disk, beside and among files that are not in its manifest."""
    files = {}
    for path, data in FILES.items():
        target = tmp_path / "demo" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        files[path] = ToolFile(source=target, size=len(data))
    for path in ("secret.txt", "evil.py", "demo/evals/answers.md", "demo/.git/config", "demo/scripts/ignored.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f'print("{SECRET}")')
    words = {"name": "demo", "path": "skills/demo", "description": "Does.", "instructions": "Body.\n"}
    return CatalogSkill(**words, frontmatter={}, files=files)


@pytest.fixture
def box(tmp_path: Path, skill: CatalogSkill) -> ToolBox:
    """All tools over that skill."""
    (tmp_path / "workspace").mkdir()
    return ToolBox(
        catalog=Catalog(skills=(skill,)),
        tools=ToolSet.PROGRESSIVE,
        workspace=tmp_path / "workspace",
        isolation=probe_isolation().level,
        policy=ScriptPolicy(allowed=True, why="a test"),
        limits=Limits(timeout_s=5),
    )


def resource(box: ToolBox, path: object) -> dict[str, Any]:
    """Load a resource of the demo skill."""
    return box.call("load_skill_resource", {"skill_name": "demo", "file_path": path})


def run(box: ToolBox, path: object, **more: object) -> dict[str, Any]:
    """Run a script of the demo skill."""
    return box.call("run_skill_script", {"skill_name": "demo", "file_path": path, **more})


@pytest.mark.parametrize(
    "path", ["references/ok.md", "./references/ok.md", "references/../references/ok.md", "references//ok.md"]
)
def test_spellings_of_a_path_in_the_manifest_are_read(box: ToolBox, path: str) -> None:
    """[google/adk-java#1311] Dots that stay inside are only another spelling."""
    assert resource(box, path) == {"skill_name": "demo", "file_path": "references/ok.md", "content": "fine\n"}


DENIED_PATHS = [
    "references/../../secret.txt",
    "references/../../../../etc/passwd",
    "../secret.txt",
    "/etc/passwd",
    "references/ok.md/../../../secret.txt",
    "references\\..\\..\\secret.txt",
    "references/%2e%2e/%2e%2e/secret.txt",
    "references/ok.md\0.png",
    ".",
    "references",
    "C:\\Windows\\win.ini",
    "file:///etc/passwd",
    "~/.ssh/id_rsa",
    "evals/answers.md",
    ".git/config",
    "references/OK.md",
    "references/ok.md\ud800",
]


@pytest.mark.parametrize("path", DENIED_PATHS)
def test_forbidden_and_missing_paths_get_the_same_answer(box: ToolBox, path: str) -> None:
    """[google/adk-java#1311] Nothing tells a file that exists outside from one that does not."""
    answer = resource(box, path)
    assert answer["error_code"] == "RESOURCE_NOT_FOUND"
    assert answer["error"] == f"Resource {path!r} not found in skill 'demo'."
    json.dumps(answer, ensure_ascii=False).encode()


@pytest.mark.parametrize("path", ["ok.py", "scripts/ok.py", "./scripts/ok.py", "scripts/./ok.py"])
def test_script_is_found_with_and_without_its_folder(box: ToolBox, path: str) -> None:
    """[bojieli/ai-agent-book#75] Both spellings run the same file."""
    told = {"stdout": "ok\n", "stderr": "", "status": "success"}
    assert run(box, path) == {"skill_name": "demo", "file_path": "scripts/ok.py", **told}
    assert box.scripts == ["demo/scripts/ok.py"]


@pytest.mark.parametrize(
    "path",
    [
        *("/tmp/evil.py", "../../evil.py", "../evil.py", "scripts/../../evil.py", "../SKILL.md", "SKILL.md"),
        *("ok.py; echo x", "$(echo x)", "references/ok.md", "evals/answers.md", "ok.py\0", "scripts", "ignored.py"),
    ],
)
def test_only_scripts_of_the_skill_run(box: ToolBox, path: str) -> None:
    """[bojieli/ai-agent-book#75] Running looks paths up as reading does, and below scripts/ only."""
    answer = run(box, path)
    assert answer["error_code"] == "SCRIPT_NOT_FOUND"
    assert SECRET not in json.dumps(answer)
    assert box.scripts == []


@pytest.mark.parametrize(
    "name", ["../outside", "/abs/outside", "demo/../../outside", "demo/", "DEMO", "demo\n", " demo", ".", ".."]
)
@pytest.mark.parametrize("tool", ["load_skill", "load_skill_resource", "run_skill_script"])
def test_skill_names_are_looked_up(box: ToolBox, tool: str, name: str) -> None:
    """[BaseIntelligence/bounty-challenge#9271] A name is one of the catalog's to the letter, or nothing."""
    answer = box.call(tool, {"skill_name": name, "file_path": "references/ok.md"})
    assert answer["error_code"] == "SKILL_NOT_FOUND"
    assert box.activated == []


def test_decomposed_names_are_found(box: ToolBox) -> None:
    """A model may spell é as two characters; the manifest has it as one."""
    assert resource(box, "references/cafe\u0301.md")["content"] == "x"


@pytest.mark.parametrize("path", ["../x", "/x", "a/../b", "./a", "", ".", "..", "a//b"])
def test_manifest_that_leaves_the_skill_is_a_bug(skill: CatalogSkill, tmp_path: Path, path: str) -> None:
    """A path that is not plain and relative cannot enter a catalog."""
    with pytest.raises(ValueError, match="not a path inside"):
        replace(skill, files={path: ToolFile(source=tmp_path, size=0)})


PIECES = ["..", ".", "", "~", "secret.txt", "evil.py", "evals", "answers.md", ".git", "config", "demo", "scripts"]
paths = st.lists(st.sampled_from([*PIECES, "references", "ok.md", "etc", "passwd"]) | st.text(max_size=5), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(paths.map("/".join) | st.text())
def test_no_path_reads_past_the_manifest(box: ToolBox, path: str) -> None:
    """Whatever the path, an answer holds the content of the manifest's file it names, or an error."""
    answer = resource(box, path)
    if "error_code" in answer:
        assert SECRET not in json.dumps(answer)
        return
    assert answer["file_path"] == posixpath.normpath(path)
    data = FILES[answer["file_path"]]
    assert answer.get("content", "") in data.decode()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(paths.map("/".join) | st.text())
def test_no_path_runs_past_the_manifest(skill: CatalogSkill, path: str) -> None:
    """Whatever the path, what would run is the manifest's, below scripts/."""
    assert skill.find_script(path) in {None, "scripts/ok.py"}
