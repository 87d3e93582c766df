"""A recorder writes down what the run is told, and lies over nothing good."""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from skillassay.errors import Reason, Stage, StoreError, TrialError
from skillassay.models.base import Model, ModelIdentity, ModelReply, ModelRequest
from skillassay.models.recording import Kept, Recorder, RecordingModel
from skillassay.models.replay import load_replay
from skillassay.transcript import Turn, UserTurn
from tests.models.wire_server import KEY, OK, Canned, refusal, reply, talking

SLOT = "q/one/none/1"
SIGNED = {"functionCall": {"name": "load_skill", "args": {"name": "a"}}, "thoughtSignature": "c2ln"}


def request(text: str = "Combien ?", *, slot: str = SLOT, turns: tuple[Turn, ...] = ()) -> ModelRequest:
    """One request of a trial."""
    return ModelRequest(system="Be brief.", turns=turns or (UserTurn(text=text),), slot=slot)


@pytest.fixture
def recorder() -> Recorder:
    """An empty recording."""
    return Recorder()


def save(recorder: Recorder, model: Model, root: Path, name: str = "t.jsonl") -> str:
    """Write the recording of this model on both sides."""
    models = {"candidate": model.identity, "judge": model.identity}
    return recorder.save(root, name, models, recorded_on="2026-01-02")


def recorded(root: Path, recorder: Recorder, *canned: Canned, n: int = 1) -> list[ModelReply | TrialError]:
    """What ``n`` requests of one trial came to over the wire; the recording is saved."""
    told: list[ModelReply | TrialError] = []
    with talking(*canned) as (model, _):
        watched = RecordingModel(model=model, side="candidate", recorder=recorder)
        for number in range(n):
            try:
                told.append(watched.generate(request(str(number))))
            except TrialError as error:
                told.append(error)
        save(recorder, model, root)
    return told


def test_a_recorder_answers_as_the_model_does(tmp_path: Path, recorder: Recorder) -> None:
    """The reply is the model's own, and what a replay gives later is the same, attempts and usage included."""
    usage = {"promptTokenCount": 7, "totalTokenCount": 9}
    canned = [refusal(503, "UNAVAILABLE"), reply(SIGNED, usageMetadata=usage, modelVersion="x-001")]
    (told,) = recorded(tmp_path, recorder, *canned)
    assert isinstance(told, ModelReply)
    assert (told.n_attempts, told.model, told.usage.input_tokens) == (2, "x-001", 7)
    again = load_replay(tmp_path / "t.jsonl", side="candidate").generate(request("0"))
    assert (again.turn, again.usage, again.model, again.n_attempts) == (
        told.turn,
        told.usage,
        told.model,
        told.n_attempts,
    )
    assert again.turn.raw == {"role": "model", "parts": [SIGNED]}


ERRORS = [
    refusal(400, "INVALID_ARGUMENT", "no such model"),
    refusal(403, "PERMISSION_DENIED", f"bad key {KEY}"),
    refusal(429, "RESOURCE_EXHAUSTED", "slow down"),
    reply({"text": "half an ans"}, finish="MAX_TOKENS", usageMetadata={"promptTokenCount": 7}),
    reply(finish="SAFETY"),
    Canned(body=b"<html>"),
    Canned(drop=True),
]


@pytest.mark.parametrize("canned", ERRORS)
def test_an_error_comes_again_as_it_was(tmp_path: Path, recorder: Recorder, canned: Canned) -> None:
    """Reason, stage, kind, message, attempts and what it cost; the key is in none of it."""
    (told,) = recorded(tmp_path, recorder, canned)
    assert isinstance(told, TrialError)
    with pytest.raises(TrialError) as caught:
        load_replay(tmp_path / "t.jsonl", side="candidate").generate(request("0"))
    fields = ("message", "reason", "stage", "kind", "n_attempts", "usage")
    assert [getattr(caught.value, name) for name in fields] == [getattr(told, name) for name in fields]
    assert KEY.encode() not in (tmp_path / "t.jsonl").read_bytes()


def test_the_tape_names_the_model_and_no_secret_of_its_address(tmp_path: Path, recorder: Recorder) -> None:
    """Provider, name and bare endpoint are in the first line; user, password and key are nowhere."""
    with talking(OK) as (model, server):
        model.base_url = server.base_url.replace("//", "//user:canary@")
        watched = RecordingModel(model=model, side="candidate", recorder=recorder)
        watched.generate(request())
        save(recorder, watched, tmp_path)
    replayed = load_replay(tmp_path / "t.jsonl", side="candidate").identity.recorded
    assert replayed is not None
    assert (replayed.label, replayed.endpoint, replayed.recorded_on) == (
        "gemini:gemini-x",
        server.base_url,
        "2026-01-02",
    )
    data = (tmp_path / "t.jsonl").read_bytes()
    assert b"canary" not in data
    assert KEY.encode() not in data


def test_a_recorder_closes_its_model_and_writes_nothing_by_itself(tmp_path: Path, recorder: Recorder) -> None:
    """Only ``save`` writes, so a run that fell over leaves no file."""
    with talking(OK) as (model, _):
        watched = RecordingModel(model=model, side="candidate", recorder=recorder)
        watched.generate(request())
        watched.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("canned", "lies_beside"), [(OK, False), (refusal(403, "PERMISSION_DENIED"), True)])
def test_only_an_unfailed_recording_replaces_another(
    tmp_path: Path, recorder: Recorder, canned: Canned, *, lies_beside: bool
) -> None:
    """One in whose run the provider failed is written beside it."""
    (tmp_path / "t.jsonl").write_bytes(b"good")
    recorded(tmp_path, recorder, canned)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.failed.jsonl", "t.jsonl"][not lies_beside :]
    assert ((tmp_path / "t.jsonl").read_bytes() == b"good") is lies_beside


def test_what_the_model_did_wrong_is_part_of_a_good_recording(tmp_path: Path, recorder: Recorder) -> None:
    """A blocked or truncated answer is an outcome of the candidate, not a failure to record."""
    (tmp_path / "t.jsonl").write_bytes(b"old")
    recorded(tmp_path, recorder, reply(finish="SAFETY"), reply({"text": "x"}, finish="MAX_TOKENS"), n=2)
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]
    assert (tmp_path / "t.jsonl").read_bytes() != b"old"


WHO = ModelIdentity(provider="gemini", name="x", endpoint=None, is_fixture=False)


@dataclass(frozen=True, kw_only=True)
class Falling:
    """A model that falls over in one way."""

    error: Exception
    identity: ModelIdentity = WHO

    def generate(self, request: ModelRequest) -> ModelReply:
        """Fall over."""
        assert request.slot
        raise self.error

    def close(self) -> None:
        """Nothing to release."""


FALLS = [
    ZeroDivisionError(),
    TrialError("no key", reason=Reason.MISSING_CAPABILITY, stage=Stage.JUDGE),
    TrialError("late", reason=Reason.TIMEOUT, stage=Stage.JUDGE),
]


@pytest.mark.parametrize("error", FALLS)
def test_a_call_that_never_came_back_fails_the_recording(recorder: Recorder, error: Exception) -> None:
    """A bug, a model out of reach, a time-out: the run is told, and the recording is none to replace another with."""
    with pytest.raises(type(error)):
        RecordingModel(model=Falling(error=error), side="judge", recorder=recorder).generate(request())
    assert recorder.n_failed == 1


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A file where a folder is needed: nothing can be written below it, by root neither."""
    (tmp_path / "sub").write_bytes(b"")
    yield tmp_path
    assert (tmp_path / "sub").read_bytes() == b""


def test_a_place_that_cannot_be_written_is_an_error_of_the_store(read_only: Path, recorder: Recorder) -> None:
    """The error names the recording, and nothing half-written stays."""
    with talking(OK) as (model, _), pytest.raises(StoreError, match="the recording sub/t\\.jsonl cannot be written"):
        save(recorder, model, read_only, "sub/t.jsonl")


def test_the_file_is_an_ordinary_one(tmp_path: Path, recorder: Recorder) -> None:
    """To be committed and read by others: the mode is what the umask says, and no temporary file is left."""
    recorded(tmp_path, recorder, OK)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "t.jsonl").stat().st_mode) == 0o666 & ~umask
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


def test_failures_of_many_threads_are_all_counted(recorder: Recorder) -> None:
    """One that was lost could let a bad recording take the place of a good one."""
    n_threads, n_each = 8, 500
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def fail() -> None:
        for _ in range(n_each):
            recorder.count_failure()

    try:
        threads = [threading.Thread(target=fail) for _ in range(n_threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switch)
    assert recorder.n_failed == n_threads * n_each


def test_what_cannot_be_written_is_kept_elsewhere_or_told(read_only: Path, recorder: Recorder) -> None:
    """In the other place with the reason; nowhere, with both, where that fails too."""
    with talking(OK) as (model, _):
        models = {"candidate": model.identity, "judge": model.identity}

        def kept(otherwise: str) -> Kept:
            return recorder.keep(read_only, "sub/t.jsonl", models, recorded_on="2026-01-02", otherwise=otherwise)

        assert kept("sub/u.jsonl").path is None
        assert "sub/u.jsonl cannot be written" in str(kept("sub/u.jsonl").why)
        elsewhere = kept("t.jsonl")
    assert (elsewhere.path, (read_only / "t.jsonl").is_file()) == ("t.jsonl", True)
    assert "sub/t.jsonl cannot be written" in str(elsewhere.why)
