"""The tools answer as ADK's do, and no call reaches past the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from skillassay.errors import InputError, Reason, Stage, TrialError
from skillassay.isolation.process import Isolation, Limits, probe_isolation
from skillassay.tools import (
    CONTENT_BYTES,
    Catalog,
    CatalogSkill,
    ScriptPolicy,
    ToolBox,
    ToolFile,
    ToolSet,
    script_policy,
    tool_declarations,
)

FILES: dict[str, bytes] = {
    "SKILL.md": b"---\nname: demo\n---\nBody.\n",
    "references/ok.md": b"fine\n",
    "references/windows.md": b"a\r\nb\r\n",
    "assets/logo.bin": b"\x89PNG\0\xff",
    "assets/latin.txt": b"caf\xe9",
    "scripts/ok.py": b'print("ok")\n',
    "scripts/data.json": b"{}",
    "scripts/deep/x.sh": b"echo deep\n",
}
ALLOWED = ScriptPolicy(allowed=True, why="a test")
SECRET = "TOP-SECRET"


def skill_of(folder: Path, files: Mapping[str, bytes], name: str = "demo") -> CatalogSkill:
    """A skill on disk, with its manifest."""
    manifest = {}
    for path, data in files.items():
        target = folder / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        manifest[path] = ToolFile(source=target, size=len(data))
    return CatalogSkill(
        name=name,
        path=f"skills/{name}",
        description="Does.",
        frontmatter={"name": name},
        instructions="Body.\n",
        files=manifest,
    )


def box_of(folder: Path, *skills: CatalogSkill, tools: ToolSet = ToolSet.PROGRESSIVE) -> ToolBox:
    """A tool box over these skills, with a workspace and files that no call may reach."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    for path in ("secret.txt", "evil.py", "demo/evals/answers.md", "demo/.git/config"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f'print("{SECRET}")')
    return ToolBox(
        catalog=Catalog(skills=skills),
        tools=tools,
        workspace=workspace,
        isolation=probe_isolation().level,
        policy=ALLOWED,
        limits=Limits(timeout_s=5),
    )


@pytest.fixture
def box(tmp_path: Path) -> ToolBox:
    """One skill with a file of every kind."""
    return box_of(tmp_path, skill_of(tmp_path, FILES))


def resource(box: ToolBox, path: object) -> dict[str, Any]:
    """Load a resource of the demo skill."""
    return box.call("load_skill_resource", {"skill_name": "demo", "file_path": path})


def run(box: ToolBox, path: object, **more: object) -> dict[str, Any]:
    """Run a script of the demo skill."""
    return box.call("run_skill_script", {"skill_name": "demo", "file_path": path, **more})


def test_load_skill_gives_body_and_frontmatter(box: ToolBox) -> None:
    """The shape is ADK's: the body without its frontmatter, which stands apart."""
    answer = box.call("load_skill", {"skill_name": "demo"})
    assert answer == {"skill_name": "demo", "instructions": "Body.\n", "frontmatter": {"name": "demo"}}


def test_activation_is_noted_once_and_in_order(tmp_path: Path) -> None:
    """Loading twice is one activation; a failed load is none."""
    box = box_of(tmp_path, skill_of(tmp_path, FILES), skill_of(tmp_path, FILES, "other"))
    for name in ("other", "demo", "other", "nope"):
        box.call("load_skill", {"skill_name": name})
    assert box.activated == ["other", "demo"]


@pytest.mark.parametrize(("call", "kind"), [(resource, "RESOURCE"), (run, "SCRIPT")])
def test_second_miss_is_fatal(box: ToolBox, call: Any, kind: str) -> None:
    """Guessing is stopped: the second missing file of a kind says not to try another; a hit does not reset it."""
    codes = [call(box, path).get("error_code") for path in ("no", "scripts/ok.py", "nope", "no")]
    assert codes == [f"{kind}_NOT_FOUND", None, f"{kind}_NOT_FOUND_FATAL", f"{kind}_NOT_FOUND_FATAL"]


def test_misses_of_both_kinds_are_counted_apart(box: ToolBox) -> None:
    """A missing resource does not make the first missing script fatal."""
    resource(box, "no")
    assert run(box, "no")["error_code"] == "SCRIPT_NOT_FOUND"


def test_text_is_folded_to_lf(box: ToolBox) -> None:
    """A Windows checkout shows the model the same bytes."""
    assert resource(box, "references/windows.md")["content"] == "a\nb\n"


@pytest.mark.parametrize("path", ["assets/logo.bin", "assets/latin.txt"])
def test_binary_is_named_not_shown(box: ToolBox, path: str) -> None:
    """What is not UTF-8 text comes as a note."""
    answer = resource(box, path)
    assert answer["status"].startswith("Binary file detected")
    assert "content" not in answer


@pytest.mark.parametrize(("extra", "truncated"), [(0, None), (1, True)])
def test_long_text_is_cut_and_says_so(tmp_path: Path, extra: int, truncated: bool | None) -> None:
    """At the cap a file is whole; beyond it the answer carries a flag."""
    box = box_of(tmp_path, skill_of(tmp_path, {"big.md": b"x" * (CONTENT_BYTES + extra)}))
    answer = resource(box, "big.md")
    assert (len(answer["content"]), answer.get("truncated")) == (CONTENT_BYTES, truncated)


def test_unknown_kind_of_script_is_refused(box: ToolBox) -> None:
    """A file below scripts/ without an interpreter has its own code."""
    assert run(box, "data.json")["error_code"] == "UNSUPPORTED_SCRIPT_TYPE"


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("no_such_tool", {}),
        ("", {}),
        ("load_skill", None),
        ("load_skill", []),
        ("load_skill", "demo"),
        ("load_skill", {}),
        ("load_skill", {"skill_name": None}),
        ("load_skill", {"skill_name": ["demo"]}),
        ("load_skill", {"name": "demo"}),
        ("load_skill_resource", {"skill_name": "demo"}),
        ("load_skill_resource", {"skill_name": "demo", "file_path": ""}),
        ("load_skill_resource", {"skill_name": "demo", "file_path": {}}),
        ("run_skill_script", {"skill_name": "demo", "file_path": 1}),
        ("run_skill_script", {"skill_name": "demo", "file_path": "ok.py", "args": "a b"}),
    ],
)
def test_mistakes_of_a_model_are_answers(box: ToolBox, name: str, args: object) -> None:
    """Wrong tools, types and missing arguments are told in words and noted."""
    answer = box.call(name, args)
    assert answer["error_code"] == "INVALID_ARGUMENTS"
    assert answer["error"]
    assert [event.error_code for event in box.events] == ["INVALID_ARGUMENTS"]


def test_events_hold_no_word_of_the_model(box: ToolBox) -> None:
    """Names are the catalog's, arguments a digest: an event may be stored under any retention rule."""
    box.call("hello", {"x": SECRET})
    resource(box, f"references/{SECRET}")
    run(box, "ok.py", args={SECRET: float("nan")})
    assert SECRET not in repr(box.events)
    told = [(event.name, event.skill, event.file, event.status, event.error_code) for event in box.events]
    assert told == [
        ("unknown", None, None, None, "INVALID_ARGUMENTS"),
        ("load_skill_resource", None, None, None, "RESOURCE_NOT_FOUND"),
        ("run_skill_script", "demo", "scripts/ok.py", "success", None),
    ]


def test_scripts_are_noted_each_time(box: ToolBox) -> None:
    """Runs are listed in order, repeats too."""
    for path in ("deep/x.sh", "ok.py", "deep/x.sh"):
        run(box, path)
    assert box.scripts == ["demo/scripts/deep/x.sh", "demo/scripts/ok.py", "demo/scripts/deep/x.sh"]


def test_forbidden_script_is_the_machines_fault(box: ToolBox) -> None:
    """Where scripts may not run, a right call leaves the trial without a score; a wrong one is still an answer."""
    box.policy = ScriptPolicy(allowed=False, why="GEMINI_API_KEY is set")
    assert run(box, "nope.py")["error_code"] == "SCRIPT_NOT_FOUND"
    with pytest.raises(TrialError, match="GEMINI_API_KEY is set") as error:
        run(box, "ok.py")
    assert (error.value.reason, error.value.stage) == (Reason.MISSING_CAPABILITY, Stage.HARNESS)
    assert box.scripts == []
    assert box.events[-1].error_code == "missing_required_capability"


@pytest.mark.parametrize(
    ("level", "keys", "allow", "allowed"),
    [
        (Isolation.NAMESPACES, ("KEY",), False, True),
        (Isolation.PROCESS, (), False, True),
        (Isolation.PROCESS, ("KEY",), False, False),
        (Isolation.PROCESS, ("KEY",), True, True),
    ],
)
def test_policy_guards_keys(level: Isolation, keys: tuple[str, ...], allow: bool, allowed: bool) -> None:
    """Below namespaces a set key keeps scripts from running, unless the user allows it; the level is always named."""
    policy = script_policy(level, keys, allow_unisolated=allow)
    assert policy.allowed is allowed
    assert str(level) in policy.why


@pytest.mark.parametrize("level", Isolation)
@pytest.mark.parametrize("allow", [True, False])
def test_policy_keeps_root_from_running_without_a_limit(level: Isolation, allow: bool) -> None:
    """Where the kernel would hold a script to no number of processes, it runs in namespaces or at the user's risk."""
    policy = script_policy(level, (), allow_unisolated=allow, unbounded="its Python is root's alone")
    assert policy.allowed is (allow or level is Isolation.NAMESPACES)
    assert policy.allowed or "no limit on processes: its Python is root's alone" in policy.why


def test_tool_is_not_offered_without_a_script(tmp_path: Path) -> None:
    """[google/adk-python#6281] No script, no tool; a call of it is told what there is instead."""
    skill = skill_of(tmp_path, {"SKILL.md": b"", "references/a.md": b"a\n", "scripts/data.json": b"{}"})
    names = [tool.name for tool in tool_declarations(Catalog(skills=(skill,)), mode_tools=ToolSet.PROGRESSIVE)]
    assert names == ["load_skill", "load_skill_resource"]
    answer = run(box_of(tmp_path, skill), "x.py")
    assert answer["error_code"] == "INVALID_ARGUMENTS"
    assert answer["error"].endswith("The tools are: load_skill, load_skill_resource.")


def test_modes_offer_their_tools(tmp_path: Path) -> None:
    """Eager has the text already and offers scripts only; without skills there is nothing."""
    catalog = Catalog(skills=(skill_of(tmp_path, FILES),))
    eager = tool_declarations(catalog, mode_tools=ToolSet.EAGER)
    assert [tool.name for tool in eager] == ["run_skill_script"]
    assert tool_declarations(Catalog(skills=()), mode_tools=ToolSet.PROGRESSIVE) == ()
    box = box_of(tmp_path, *catalog.skills, tools=ToolSet.EAGER)
    assert box.call("load_skill", {"skill_name": "demo"})["error_code"] == "INVALID_ARGUMENTS"
    assert run(box, "ok.py")["status"] == "success"


def test_declarations_are_schemas_with_the_names_in_order(tmp_path: Path) -> None:
    """Every name is offered in catalog order; a script's call only for skills that have one."""
    skills = (skill_of(tmp_path, {"SKILL.md": b""}, "zeta"), skill_of(tmp_path, FILES))
    tools = tool_declarations(Catalog(skills=skills), mode_tools=ToolSet.PROGRESSIVE)
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
    names = [tool.parameters["properties"]["skill_name"]["enum"] for tool in tools]
    assert names == [["zeta", "demo"], ["zeta", "demo"], ["demo"]]


def test_two_skills_of_one_name_are_refused(tmp_path: Path) -> None:
    """A model could not tell them apart."""
    skill = skill_of(tmp_path, FILES)
    with pytest.raises(InputError, match="'demo'"):
        Catalog(skills=(skill, replace(skill, path="elsewhere/demo")))
