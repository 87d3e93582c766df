"""What the tests of an agent as the candidate share: the probe with a skill, asked in one mode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.agents.described import load_described
from skillassay.contract.contract import CandidateTerms
from skillassay.isolation.process import Isolation, probe_isolation
from skillassay.models.gemini import GeminiModel
from skillassay.prompts import Offered, PromptSkill
from skillassay.runs.plan import Mode
from skillassay.subjects.agent import AgentSubject, reach_agent
from skillassay.subjects.base import SubjectRequest, SubjectResult
from skillassay.subjects.offering import Offering
from skillassay.tools import Catalog, CatalogSkill, ToolFile
from tests.agents.probe import write_probe

KEY = "AIza-canary/key+3141"

BODY = "Say hello twice."

SKILL = f"---\nname: greeter\ndescription: Says hello.\n---\n\n{BODY}\n"

INSTRUCTIONS = "Answer with care."

NEEDS_NAMESPACES = pytest.mark.skipif(probe_isolation().level is not Isolation.NAMESPACES, reason="no namespaces here")


def catalog(tmp_path: Path, body: str = BODY) -> Offered:
    """A catalog with the skill `greeter` (a script beside its text), and its texts for a prompt."""
    folder = tmp_path / f"skill-{len(body)}"
    folder.mkdir(exist_ok=True)
    files = {"SKILL.md": SKILL.replace(BODY, body), "scripts/greet.py": "print('hello from a script')\n"}
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    skill = CatalogSkill(
        name="greeter", path="skills/greeter", description="Says hello.", frontmatter={}, instructions=body,
        files={name: ToolFile(source=folder / name, size=len(text)) for name, text in files.items()},
    )  # fmt: skip
    prompt = PromptSkill(
        name="greeter", path="skills/greeter", description="Says hello.", instructions=body, texts={},
        scripts=("scripts/greet.py",),
    )  # fmt: skip
    return Offered(catalog=Catalog(skills=(skill,)), prompt_skills=(prompt,))


def subject(tmp_path: Path, **fields: Any) -> AgentSubject:
    """The probe as the candidate of a run on `gemini:m`."""
    now = catalog(tmp_path)
    model = GeminiModel(name="m", api_key=KEY, base_url="http://127.0.0.1:9")
    values: dict[str, Any] = {
        "reached": reach_agent(load_described(write_probe(tmp_path, secret=tmp_path / "secret")), model),
        "terms": CandidateTerms(instructions=INSTRUCTIONS),
        "isolation": probe_isolation().level,
    }
    offering: dict[str, Any] = {"catalog": now.catalog, "prompt_skills": now.prompt_skills, "eager_scope": "catalog"}
    offering |= {name: fields.pop(name) for name in (*offering, "previous", "placebo") if name in fields}
    return AgentSubject(**{"offering": Offering(**offering), **values, **fields})


def ask(
    asked: AgentSubject, tmp_path: Path, query: str = "PROBE", mode: Mode = Mode.PROGRESSIVE, **more: Any
) -> SubjectResult:
    """One answer in a fresh workspace."""
    workspace = tmp_path / f"workspace-{mode.value}"
    workspace.mkdir()
    request = SubjectRequest(**{"query": query, "files": (), "mode": mode, "skill_path": "skills/greeter", **more})
    return asked.answer(request, workspace)


def seen(result: SubjectResult) -> Any:
    """What the probe told."""
    assert result.error is None, result.error
    assert result.answer is not None
    return json.loads(result.answer)
