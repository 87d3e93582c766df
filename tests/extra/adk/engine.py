"""A project, a server and Google's ADK between them: what the tests of the subject are made of."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skillassay.contract.contract import CandidateTerms
from skillassay.isolation.levels import Isolation, Limits
from skillassay.isolation.process import probe_isolation
from skillassay.models.gemini import GeminiModel
from skillassay.project import load_project
from skillassay.prompts import Offered
from skillassay.runs.plan import Mode
from skillassay.runs.snapshot import Snapshot, take_snapshot
from skillassay.subjects.base import InputFile, Subject, SubjectRequest, SubjectResult
from skillassay.subjects.offering import Offering
from skillassay.subjects.opening import SubjectParts, open_subject
from skillassay.tools import ScriptPolicy
from tests.models.wire_server import KEY, Canned, Clock, WireServer, policy, reply
from tests.project import build_small

FAST = CandidateTerms(instructions="Be brief.", turn_limit=6, timeout_s=20.0)
ALLOWED = ScriptPolicy(allowed=True, why="a test")
LIMITS = Limits()
SCRIPT = "skills/greeter/scripts/hello.py"
PRINTS = 'import sys\nprint("hello", *sys.argv[1:])\n'


def call(name: str, **args: Any) -> dict[str, Any]:
    """A part that calls a tool."""
    return {"functionCall": {"name": name, "args": args}}


LOAD = call("load_skill", skill_name="greeter")
RUN = call("run_skill_script", skill_name="greeter", file_path="scripts/hello.py", args=["twice"])
DONE = reply({"text": "hello hello"}, usageMetadata={"promptTokenCount": 7, "candidatesTokenCount": 3})


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """An open subject and the server that its model asks."""

    subject: Subject
    server: WireServer
    snapshot: Snapshot

    def ask(self, mode: Mode = Mode.PROGRESSIVE, *, query: str = "Greet one.", **more: Any) -> SubjectResult:
        """One answer in a workspace of its own."""
        with tempfile.TemporaryDirectory() as folder:
            request = SubjectRequest(query=query, files=(), mode=mode, skill_path="skills/greeter")
            return self.subject.answer(replace(request, **more), Path(folder))

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The bodies that the server got."""
        return [json.loads(seen.body) for seen in self.server.seen]


@contextmanager
def engine(
    root: Path,
    *canned: Canned,
    files: Mapping[str, str] | None = None,
    terms: CandidateTerms = FAST,
    eager_scope: str = "catalog",
    policy_of_scripts: ScriptPolicy = ALLOWED,
    limits: Limits = LIMITS,
    isolation: Isolation | None = None,
    older: Callable[[Snapshot], Mapping[str, Offered]] = lambda _: {},
) -> Iterator[Engine]:
    """ADK over the project at ``root`` (a small one, made when there is none) and a server of canned replies."""
    if not (root / "skills").exists():
        build_small(root, files=files)
    project = load_project(root)
    with take_snapshot(project.usable, ()) as snapshot, WireServer(*canned) as server:
        model = GeminiModel(name="gemini-x", api_key=KEY, base_url=server.base_url, retry=policy(Clock()))
        parts = SubjectParts(
            model=model,
            direct=model,
            terms=terms,
            offering=Offering(
                catalog=snapshot.catalog,
                prompt_skills=snapshot.prompt_skills,
                eager_scope=eager_scope,
                previous=older(snapshot),
            ),
            isolation=isolation or probe_isolation().level,
            policy=policy_of_scripts,
            limits=limits,
        )
        with open_subject("adk", parts) as subject:
            yield Engine(subject=subject, server=server, snapshot=snapshot)


def input_file(path: Path, text: str) -> InputFile:
    """A file of the user."""
    path.write_text(text, encoding="utf-8")
    return InputFile(name=path.name, source=path, text=text)
