"""A replay gives what was recorded, to whom it was recorded for, and says where a new request differs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from skillassay.errors import InputError, Reason, Stage, TrialError
from skillassay.models.base import ModelIdentity, ModelReply, ModelRequest
from skillassay.models.opening import Opening, open_model
from skillassay.models.replay import ReplayModel, load_replay
from skillassay.models.tape import TapeBuilder
from skillassay.runs.identities import describe_models
from skillassay.transcript import ModelTurn, Tool, ToolCall, ToolResult, ToolTurn, Turn, Usage, UserTurn

LIVE = ModelIdentity(provider="gemini", name="x", endpoint="https://e.invalid", is_fixture=False)
JUDGE = ModelIdentity(provider="openai", name="j", endpoint="https://j.invalid", is_fixture=False)
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
TOOL = Tool(name="load_skill", description="Loads a skill.", parameters={"type": "object"})
CALLED = ModelTurn(text="", calls=(ToolCall(name="load_skill", args={"skill_name": "a"}, id="c"),), raw={"n": 1})
RESULT = ToolTurn(results=(ToolResult(name="load_skill", response={"instructions": "Do this."}, id="c"),))


def request(*turns: Turn, slot: str = "q/one/none/1", **fields: Any) -> ModelRequest:
    """A request of the candidate."""
    given: dict[str, Any] = {"system": "Be brief and kind.", "turns": turns or (UserTurn(text="Hi"),), "tools": (TOOL,)}
    return ModelRequest(slot=slot, **(given | fields))


def said(text: str) -> ModelReply:
    """A reply of this text."""
    return ModelReply(turn=ModelTurn(text=text), usage=Usage(input_tokens=1, n_calls=1))


Entry = tuple[str, ModelRequest, ModelReply | TrialError]


def replay(folder: Path, *entries: Entry, side: str = "candidate", judge: ModelIdentity = JUDGE) -> ReplayModel:
    """One side of a recording of these calls."""
    builder = TapeBuilder()
    for entry_side, asked, outcome in entries:
        builder.add(entry_side, asked, outcome)
    path = folder / "t.jsonl"
    path.write_bytes(builder.render({"candidate": LIVE, "judge": judge}, recorded_on="2026-01-02"))
    return load_replay(path, side=side, name="t.jsonl")


def texts(model: ReplayModel, *slots: str) -> list[str]:
    """The answers to one request, asked from these slots in turn."""
    return [model.generate(request(slot=slot)).turn.text for slot in slots]


def test_the_same_trial_is_answered_first_and_in_order(tmp_path: Path) -> None:
    """Equal requests: each slot gets its own answers in call order, a stranger the first of the file."""
    slots = ["q/b/none/1", "q/a/none/1", "q/a/none/1", "q/a/none/2"]
    entries = [("candidate", request(slot=slot), said(f"{n} {slot}")) for n, slot in enumerate(slots)]
    model = replay(tmp_path, *entries)
    assert texts(model, "q/a/none/2", "q/a/none/1", "q/b/none/1", "q/a/none/1") == [
        "3 q/a/none/2",
        "1 q/a/none/1",
        "0 q/b/none/1",
        "2 q/a/none/1",
    ]
    # The file is sorted by slot, so a stranger meets the first call of q/a/none/1, however often it asks.
    assert texts(model, "q/new/none/1", "q/new/none/1") == ["1 q/a/none/1"] * 2


def test_what_a_trial_has_used_up_comes_from_the_start_of_the_file(tmp_path: Path) -> None:
    """A trial that asks more often than it did is treated like another trial."""
    model = replay(
        tmp_path,
        ("candidate", request(slot="q/b/none/1"), said("b")),
        ("candidate", request(slot="q/a/none/1"), said("a")),
    )
    assert texts(model, "q/b/none/1", "q/b/none/1") == ["b", "a"]


def test_threads_change_nothing(tmp_path: Path) -> None:
    """64 trials with one and the same request, eight at a time: each gets its own answer."""
    slots = [f"q/c{number}/none/1" for number in range(64)]
    model = replay(tmp_path, *(("candidate", request(slot=slot), said(slot)) for slot in slots))
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda slot: texts(model, slot)[0], slots[::-1])) == slots[::-1]


def test_each_side_has_its_own_part(tmp_path: Path) -> None:
    """What was said to the candidate is no answer for the judge, though the request is the same."""
    entries: list[Entry] = [("candidate", request(), said("candidate")), ("judge", request(), said("judge"))]
    for side in ("candidate", "judge"):
        assert texts(replay(tmp_path, *entries, side=side), "q/one/none/1") == [side]
    with pytest.raises(TrialError, match="no call of the judge was recorded for q/one/none/1"):
        texts(replay(tmp_path, entries[0], side="judge"), "q/one/none/1")


def test_an_error_is_raised_anew_each_time(tmp_path: Path) -> None:
    """Two trials never share one exception, whose traceback they would write into."""
    error = TrialError("busy", reason=Reason.PROVIDER_ERROR, stage=Stage.CANDIDATE, kind="quota", n_attempts=4)
    model = replay(tmp_path, ("candidate", request(), error))
    caught = []
    for _ in range(2):
        with pytest.raises(TrialError) as info:
            model.generate(request())
        caught.append(info.value)
    assert caught[0] is not caught[1]
    assert [(e.message, e.kind, e.n_attempts) for e in caught] == [("busy", "quota", 4)] * 2


def test_its_identity_says_whose_answers_they_are(tmp_path: Path) -> None:
    """Provider replay, the path as name, no endpoint; the recorded model of the side, never called live or fixture."""
    for side, was in (("candidate", LIVE), ("judge", JUDGE)):
        identity = replay(tmp_path, side=side).identity
        assert (identity.label, identity.endpoint) == ("replay:t.jsonl", None)
        assert (identity.is_replay, identity.is_fixture) == (True, False)
        assert identity.recorded is not None
        assert (identity.recorded.label, identity.recorded.endpoint) == (was.label, was.endpoint)


def test_it_is_opened_by_its_name_from_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``replay:FILE`` is a path below the project's folder, wherever the command was started."""
    replay(tmp_path, ("candidate", request(), said("kept")))
    monkeypatch.chdir("/")
    with open_model("replay:t.jsonl", Opening(root=tmp_path)) as model:
        assert model.generate(request()).turn.text == "kept"
        assert model.identity.label == "replay:t.jsonl"
    with pytest.raises(InputError, match=r"there is no recording gone\.jsonl"), open_model("replay:gone.jsonl"):
        pass


def missed(model: ReplayModel, asked: ModelRequest) -> TrialError:
    """The error of a request that was not recorded."""
    with pytest.raises(TrialError) as caught:
        model.generate(asked)
    error = caught.value
    assert (error.reason, error.kind, error.n_attempts) == (Reason.PROVIDER_ERROR, "replay_miss", 0)
    return error


CHANGES: dict[str, tuple[ModelRequest, str]] = {
    "system": (
        request(system="Be brief and rude."),
        'the system instruction differs at character 13: recorded "kind.", now "rude."',
    ),
    "longer system": (
        request(system="Be brief and kind. Always."),
        'the system instruction differs at character 18: recorded the end, now " Always."',
    ),
    "tool's description": (
        request(tools=(Tool(name="load_skill", description="Loads a tool.", parameters={"type": "object"}),)),
        'the description of tool load_skill differs at character 8: recorded "skill.", now "tool."',
    ),
    "tool's parameters": (
        request(tools=(Tool(name="load_skill", description="Loads a skill.", parameters={"type": "null"}),)),
        'parameters.type of tool load_skill differs at character 0: recorded "object", now "null"',
    ),
    "one tool more": (
        request(tools=(TOOL, TOOL)),
        "the number of tools was recorded as 1 and is now 2",
    ),
    "user's text": (
        request(UserTurn(text="Ho")),
        'the user\'s text differs at character 1: recorded "i", now "o"',
    ),
    "schema": (
        request(response_schema=SCHEMA),
        'response_schema was recorded as null and is now "{\\"type\\": \\"object\\", \\"properties\\": …',
    ),
    "temperature": (request(temperature=0.7), "temperature was recorded as 0.0 and is now 0.7"),
    "output limit": (
        request(max_output_tokens=4000),
        "max_output_tokens was recorded as null and is now 4000",
    ),
    "seed": (request(seed=3), "seed was recorded as null and is now 3"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_miss_names_the_first_difference(tmp_path: Path, name: str) -> None:
    """The field, the place in it, what was recorded and what is asked now."""
    asked, words = CHANGES[name]
    message = missed(replay(tmp_path, ("candidate", request(), said("x"))), asked).message
    assert message == f"the recording t.jsonl lacks this call: {words}"


def test_a_miss_compares_with_the_same_turn_of_the_same_trial(tmp_path: Path) -> None:
    """A tool that answers otherwise now: its result is named, not what other trials or turns asked."""
    hi = UserTurn(text="Hi")
    model = replay(
        tmp_path,
        ("candidate", request(UserTurn(text="Other"), CALLED, RESULT, slot="q/a/none/1"), said("x")),
        ("candidate", request(hi), ModelReply(turn=CALLED, usage=Usage())),
        ("candidate", request(hi, CALLED, RESULT), said("done")),
    )
    other = ToolTurn(results=(ToolResult(name="load_skill", response={"instructions": "Do that."}, id="c"),))
    message = missed(model, request(hi, CALLED, other)).message
    assert (
        'instructions of the result of load_skill (turn 2) differs at character 5: recorded "is.", now "at."' in message
    )


def test_a_miss_is_on_the_account_of_who_asked(tmp_path: Path) -> None:
    """The stage is the request's, so that a judge's miss is not booked on the candidate."""
    assert missed(replay(tmp_path, side="judge"), request(stage=Stage.JUDGE)).stage is Stage.JUDGE


def test_a_long_text_is_told_in_an_excerpt(tmp_path: Path) -> None:
    """The message stays short and shows the place, wherever in a text of a megabyte it is."""
    text = "word " * 200_000
    change: Callable[[str], str] = lambda old: old[:500_000] + "!" + old[500_001:]  # noqa: E731 - it is two texts
    model = replay(tmp_path, ("candidate", request(system=text), said("x")))
    message = missed(model, request(system=change(text))).message
    assert "differs at character 500000: recorded" in message
    assert len(message) < 400


@pytest.mark.parametrize(("judge", "independent"), [(JUDGE, True), (LIVE, False)])
def test_independence_is_that_of_the_recorded_models(
    tmp_path: Path, judge: ModelIdentity, *, independent: bool
) -> None:
    """Two sides in one file may be two models, and a live judge may be the one whose answers are replayed."""
    candidate, recorded = (replay(tmp_path, side=side, judge=judge).identity for side in ("candidate", "judge"))
    assert describe_models(candidate, recorded)["independent"] is independent
    assert describe_models(candidate, judge)["independent"] is independent
