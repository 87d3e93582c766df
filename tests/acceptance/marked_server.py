"""A model on the wire that plants a marked text in every place of a reply where a model or its provider can put one."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from typing import Any

from tests.acceptance.every_byte import HEAD, TAIL, mark
from tests.models.wire_server import Canned, Seen, WireServer, refusal, reply
from tests.project import small_case

GOOD = f"hello, {mark('answer')}"
SCRIPT = f"""\
import os, pathlib, sys
text = "{HEAD}" + "script" + "{TAIL}"
for folder in (".", os.environ["HOME"], os.environ["TMPDIR"]):
    pathlib.Path(folder, text).write_text(text + " ".join(sys.argv))
print(text)
print(text, file=sys.stderr)
"""
"""It puts its text together, so that the text stands in no file of the project."""

SLOW_SCRIPT = f"""\
import pathlib, time
pathlib.Path("{HEAD}" + "workspace" + "{TAIL}").write_text("{HEAD}" + "workspace" + "{TAIL}")
time.sleep(60)
"""


def call(name: str, **args: Any) -> dict[str, Any]:
    """A part that calls a tool."""
    return {"functionCall": {"name": name, "args": args}}


def _run(file: str, *args: str) -> dict[str, Any]:
    return call("run_skill_script", skill_name="greeter", file_path=file, args=list(args))


def _said(text: str, finish: str = "STOP", **more: Any) -> Canned:
    return reply({"text": text}, finish=finish, **more)


def _wrapped(**fields: Any) -> Canned:
    """A candidate of these fields."""
    return Canned(body=json.dumps({"candidates": [fields]}).encode())


OF_CANDIDATE: dict[str, Canned] = {
    "passes": _said(GOOD),
    "fails": _said(f"good day, {mark('failing')}"),
    "named": _said("hello hello", modelVersion=f"held-001-{mark('version')}"),
    "headed": Canned(body=_said("hello hello").body, headers={"x-note": mark("header")}),
    "thinks": reply({"text": mark("thought"), "thought": True}, {"text": f"hello THOUGHT: {mark('unflagged')}"}),
    "parts": reply({mark("partkind"): 1}, {"text": "hello hello"}),
    "refused": refusal(400, mark("status"), mark("provider")),
    "detailed": refusal(400, "INVALID_ARGUMENT", "no", details=[{"@type": "x", "reason": mark("detail")}]),
    "html": Canned(body=f"<html>{mark('html')}</html>".encode()),
    "misshapen": Canned(body=json.dumps({"candidates": mark("shape")}).encode()),
    "misscalled": reply({"functionCall": {"name": "load_skill", "args": mark("badargs")}}),
    "unsafe": _wrapped(content={"parts": []}, finishReason="SAFETY", finishMessage=mark("safety")),
    "prompted": Canned(body=json.dumps({"promptFeedback": {"blockReason": mark("blockreason")}}).encode()),
    "cut": _said(mark("cut"), finish="MAX_TOKENS"),
    "ended": _said("hello", finish=mark("finish")),
    "behaves": _said(json.dumps({"action": "refuse", "response": f"No: {mark('prose')}", "refused": True})),
    "misbehaves": _said(json.dumps({"action": mark("action"), "response": "x", "refused": True})),
    "slow": Canned(body=_said(mark("late")).body, delay_s=3.0),
}
"""Cases that the candidate answers at once, with one text each (or more)."""
WITH_TOOLS: dict[str, list[dict[str, Any]]] = {
    "reads": [call("load_skill", skill_name=mark("skillname")), call("load_skill_resource", skill_name="greeter",
                                                                     file_path=mark("filename"))],
    "invents": [call(mark("toolname"), **{mark("argname"): mark("argument")})],
    "runs": [_run("scripts/echo.py", mark("line"))],
    "dashes": [_run("scripts/echo.py", "\0" + mark("refusedline"))],
}  # fmt: skip
"""Cases in which the candidate calls tools first, and then answers with its good answer."""
LOOPS = "loops"
"""A case in which it only ever calls."""


def _verdict(
    word: str, evidence: str, reasoning: str = "r", *, named: str = "held-001", more: Mapping[str, int] | None = None
) -> Canned:
    entry = {"id": "says-hello", "reasoning": reasoning, "evidence": evidence, "verdict": word, **(more or {})}
    return _said(json.dumps({"criteria": [entry]}), modelVersion=named)


OF_JUDGE: dict[str, Canned] = {
    "passes": _verdict("PASS", GOOD, mark("reasoning")),
    "fails": _verdict("FAIL", f"missing: {mark('evidence')}"),
    "judged-badly": _said(f"Here you are: {mark('prattle')}"),
    "judged-loosely": _verdict("PASS", "hello hello", more={mark("extra"): 1}),
    "judged-falsely": _verdict("PASS", mark("invented")),
    "judged-not": _verdict("ABSTAIN", mark("abstained")),
    "judged-down": refusal(400, "INVALID_ARGUMENT", mark("judgedown")),
    "judged-named": _verdict("PASS", "hello hello", named=mark("judgeversion")),
}
"""What the judge says of a case; where nothing stands, PASS with a quotation."""
JUDGED = tuple(name for name in OF_JUDGE if name.startswith("judged-"))
NAMES = (*OF_CANDIDATE, *WITH_TOOLS, LOOPS, *JUDGED)

PLANTED = frozenset({
    "answer", "failing", "version", "thought", "unflagged", "partkind", "status", "provider", "html", "badargs",
    "safety", "blockreason", "finish", "prose", "action", "skillname", "filename", "toolname", "argname", "argument",
    "line", "script", "refusedline", "loop", "reasoning", "evidence", "prattle", "extra", "invented", "abstained",
    "judgedown", "judgeversion", "explanation",
})  # fmt: skip
"""What a run that keeps everything is seen to keep."""
PASSING = frozenset({"header", "detail", "shape", "cut", "late"})
"""What goes over the wire and is in no record under any rule: nobody has a use for it."""


def cases() -> list[dict[str, Any]]:
    """The cases: one for each name, with a check that quotes the answer where a rubric would be in the way."""
    behaves = {"action": "refuse", "refused": True, "required": "It refuses.", "forbidden": "It obeys."}
    quoting = [
        {"id": "says", "type": "contains", "text": "hello"},
        {"id": "ends", "type": "regex", "pattern": "^hel+o"},
    ]
    rubric = {"id": "says-hello", "text": "The answer says hello."}
    made: list[dict[str, Any]] = []
    for name in NAMES:
        case = small_case(name)
        if "behaves" in name:
            del case["rubric"]
            case["behavior"] = behaves
        elif name in {"passes", "fails"}:
            case["checks"] = quoting
        elif name == "judged-not":
            case["rubric"] = [{**rubric, "may_abstain": True}]
        made.append(case)
    return made


class MarkedServer(WireServer):
    """Answers by the case that a request names. Requests about ``held`` wait until released."""

    def __init__(self, *, held: str = "") -> None:
        super().__init__(Canned())
        self._held, self._open = held, threading.Event()
        self.is_holding = threading.Event()

    def release(self) -> None:
        """Hold nothing more."""
        self._open.set()

    def answer(self, seen: Seen) -> Canned:
        """The response to one request."""
        text = seen.body.decode()
        found = re.search(r"Greet ([a-z-]+)\.", text)
        name = found[1] if found else ""
        is_judge = "You grade one answer" in text or "You read one answer" in text
        if self._held and name == self._held:
            self.is_holding.set()
            self._open.wait(20)
        if is_judge:
            return self._judged(name, text)
        if name == LOOPS:
            return reply(call("load_skill", skill_name=mark("loop")))
        if name == "workspace":
            return reply(_run("scripts/slow.py"))
        if name in WITH_TOOLS and "functionResponse" not in text:
            return reply(*WITH_TOOLS[name])
        return OF_CANDIDATE.get(name, _said("hello hello"))

    @staticmethod
    def _judged(name: str, text: str) -> Canned:
        if "You read one answer" in text:
            verdict = {"explanation": mark("explanation"), "required_met": True, "forbidden_absent": False}
            return _said(json.dumps(verdict))
        return OF_JUDGE.get(name, _verdict("PASS", "hello"))
