"""Files that are edited while a run is under way, and put back before it ends: no trial sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.endtoend.held_server import HeldServer, n_recorded, result_of, start, wait_until
from tests.project import build_small, records, rule, small_case

NAMES = ("one", "two", "three")
NOTE, INPUT = "skills/greeter/references/r.md", "evals/in.txt"
READ = {
    "calls": [{"name": "load_skill_resource", "args": {"skill_name": "greeter", "file_path": "references/r.md"}}],
}
RUN = {
    "calls": [
        {
            "name": "run_skill_script",
            "args": {"skill_name": "greeter", "file_path": "scripts/show.py", "args": ["in.txt"]},
        }
    ]
}
SHOW = "import sys; print('SHOWN', open(sys.argv[1], encoding='utf-8').read())\n"


def build(root: Path) -> Path:
    """Three cases: the answer says hello only where the swapped text was seen."""
    steps = {
        "evil": rule("", {"text": "hello hello"}, prompt=["EVIL"]),
        "ran": rule("", {"text": "good day"}, prompt=["SHOWN"]),
        "read": rule("", RUN, prompt=["RULE-A"], tools=["run_skill_script"]),
        "first": rule("", READ, tools=["load_skill"]),
        "none": rule("", {"text": "good day"}),
    }
    rules = [
        {**step, "id": f"{name}-{word}", "when": {**step["when"], "query": [f"Greet {name}."]}}
        for name in NAMES
        for word, step in steps.items()
    ]
    files = {NOTE: "RULE-A\n", INPUT: "A\n", "skills/greeter/scripts/show.py": SHOW}
    return build_small(root, cases=[small_case(name, files=["in.txt"]) for name in NAMES], rules=rules, files=files)


@pytest.mark.parametrize("put_back", [True, False])
@pytest.mark.parametrize("path", [NOTE, INPUT, "skills/greeter/scripts/show.py"])
def test_an_edit_under_a_run_reaches_no_trial(tmp_path: Path, path: str, *, put_back: bool) -> None:
    """Every trial after the edit has the old bytes; what is put back in time leaves no trace in the decision."""
    with HeldServer(build(tmp_path), free=0) as server:
        run = start(tmp_path, server, "--jobs", "1", "--mode", "progressive")
        wait_until(server.held.is_set)
        old = (tmp_path / path).read_text("utf-8")
        (tmp_path / path).write_text("print('EVIL')\n", encoding="utf-8")
        server.release()
        wait_until(lambda: n_recorded(tmp_path) >= len(NAMES) - 1)
        if put_back:
            (tmp_path / path).write_text(old, encoding="utf-8")
        run.communicate(timeout=30)
    told = json.dumps(records(tmp_path))
    assert "EVIL" not in told
    assert told.count("RULE-A") == len(records(tmp_path)) == len(NAMES)
    assert {record["answer"] for record in records(tmp_path)} == {"good day"}
    if put_back:
        assert result_of(tmp_path)["moved_skills"] == []
    else:
        moved = "evals/quality.json" if path == INPUT else "skills/greeter"
        assert result_of(tmp_path)["moved_skills"] == [moved]
