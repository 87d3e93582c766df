"""The cache gives back what a model answered whole, to the same question alone."""

from __future__ import annotations

import json
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from skillassay.errors import Stage, TrialError
from skillassay.models.base import ModelRequest
from skillassay.models.caching import CachingModel
from skillassay.models.gemini import GeminiModel
from skillassay.models.reply_store import CACHE_PATH, ReplyStore
from skillassay.transcript import UserTurn
from tests.models.cached import PUBLIC, SLOT, USED, Steady, cached, n_asked, request
from tests.models.wire_server import KEY, Canned, WireServer, refusal, reply

TURN = json.loads((PUBLIC.parent / "api" / "js-genai-1275" / "turn1.json").read_bytes())


def test_the_second_run_asks_nothing(tmp_path: Path, warnings: list[str]) -> None:
    """The same request of the same trial is answered from the file, as it was and marked as such."""
    with cached(tmp_path, warnings, reply({"text": "ok"}, usageMetadata=USED, modelVersion="x-1")) as (model, _):
        first = model.generate(request())
    with cached(tmp_path, warnings, reply({"text": "other"})) as (model, server):
        second = model.generate(request())
    assert server.seen == []
    assert (first.cached, second.cached) == (False, True)
    assert replace(second, cached=False) == first
    assert warnings == []


OTHERS: dict[str, tuple[ModelRequest, dict[str, str]]] = {
    "text": (request("Autre ?"), {}),
    "system": (request(system="Be long."), {}),
    "output limit": (request(max_output_tokens=4000), {}),
    "temperature": (request(temperature=0.5), {}),
    "seed": (request(seed=1), {}),
    "schema": (request(response_schema={"type": "object"}), {}),
    "bytes of case or skill": (request(), {"trial": "t2"}),
    "side": (request(), {"side": "judge"}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_question_is_asked(tmp_path: Path, warnings: list[str], name: str) -> None:
    """All that can change an answer is in the key."""
    assert n_asked(tmp_path, warnings, request()) == 1
    asked, how = OTHERS[name]
    assert n_asked(tmp_path, warnings, asked, **how) == 1
    assert n_asked(tmp_path, warnings, asked, **how) == 0


@pytest.mark.parametrize("field", ["provider", "name", "endpoint"])
def test_another_model_is_asked(tmp_path: Path, warnings: list[str], field: str) -> None:
    """A reply belongs to one model at one address."""
    for value, wanted in (("a", 1), ("b", 1), ("a", 0)):
        with cached(tmp_path, warnings, reply({"text": "ok"})) as (model, server):
            assert isinstance(model.model, Steady)
            model.model.identity = replace(model.model.identity, **{field: value})  # type: ignore[arg-type]
            model.generate(request())
            assert len(server.seen) == wanted


def test_another_version_asks_anew(tmp_path: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version may put a request into other words on the wire."""
    assert n_asked(tmp_path, warnings, request()) == 1
    monkeypatch.setattr("skillassay.__version__", "99.0.0")
    assert n_asked(tmp_path, warnings, request()) == 1


def test_a_request_of_no_trial_is_not_kept(tmp_path: Path, warnings: list[str]) -> None:
    """Without a trial nobody knows which bytes the answer is about."""
    for _ in range(2):
        assert n_asked(tmp_path, warnings, request(slot="elsewhere")) == 1


ERRORS = [
    refusal(400, "INVALID_ARGUMENT"),
    refusal(429, "RESOURCE_EXHAUSTED"),
    reply({"text": "half"}, finish="MAX_TOKENS"),
    reply(finish="SAFETY"),
    reply(finish="MALFORMED_FUNCTION_CALL"),
    Canned(body=b"<html>"),
    Canned(drop=True),
]


@pytest.mark.parametrize("canned", ERRORS)
def test_an_error_is_never_kept(tmp_path: Path, warnings: list[str], canned: Canned) -> None:
    """The next run asks again, and gets its answer."""
    with cached(tmp_path, warnings, canned) as (model, _), pytest.raises(TrialError):
        model.generate(request())
    assert n_asked(tmp_path, warnings, request()) == 1


def test_what_its_reader_refuses_is_not_kept(tmp_path: Path, warnings: list[str]) -> None:
    """An answer that came whole and is of no use is asked for again, and is not served to anybody else."""
    asked = request(is_valid=lambda got: got.turn.text == "fine")
    with cached(tmp_path, warnings, reply({"text": "ok"}), reply({"text": "fine"})) as (model, server):
        assert [model.generate(asked).turn.text for _ in range(3)] == ["ok", "fine", "fine"]
        assert len(server.seen) == 2


def test_what_a_stricter_reader_refuses_is_not_served(tmp_path: Path, warnings: list[str]) -> None:
    """A kept reply is read by the rule of today: it is taken out, and the new one takes its place."""
    assert n_asked(tmp_path, warnings, request()) == 1
    strict = request(is_valid=lambda got: got.turn.text == "fine")
    with cached(tmp_path, warnings, reply({"text": "fine"})) as (model, server):
        assert [model.generate(strict).turn.text for _ in range(2)] == ["fine", "fine"]
        assert len(server.seen) == 1


@pytest.mark.parametrize("finish", ["MAX_TOKENS", "STOP"])
def test_mailfathom_2056_a_cut_verdict_is_not_served_again(tmp_path: Path, warnings: list[str], finish: str) -> None:
    """Krzysztof318/MailFathom#2056: cut at 800 tokens, told as cut or passed off as whole; the judge is asked again,
    with the same limit and with 4000, and each time gives its own answer.
    """
    was = json.loads((PUBLIC / "mailfathom-2056" / "cached.json").read_bytes())
    now = json.loads((PUBLIC / "mailfathom-2056" / "request.json").read_bytes())
    asked = request(max_output_tokens=was["max_output_tokens"], is_valid=lambda got: got.turn.text.endswith("}"))
    with cached(tmp_path, warnings, reply({"text": was["reply"]}, finish=finish)) as (model, _), suppress(TrialError):
        model.generate(asked)
    for limit in (was["max_output_tokens"], now["max_output_tokens"]):
        with cached(tmp_path, warnings, reply({"text": f"{{{limit}}}"})) as (model, server):
            got = model.generate(replace(asked, max_output_tokens=limit))
        assert (got.cached, got.turn.text, len(server.seen)) == (False, f"{{{limit}}}", 1)


def test_js_genai_1275_a_signed_content_comes_back_as_it_was(tmp_path: Path, warnings: list[str]) -> None:
    """googleapis/js-genai#1275: from the cache, too, the content goes back to the provider untouched."""
    with cached(tmp_path, warnings, reply(*TURN["parts"])) as (model, _):
        model.generate(request())
    with cached(tmp_path, warnings, reply({"text": "done"})) as (model, server):
        kept = model.generate(request())
        assert kept.cached
        assert json.dumps(kept.turn.raw) == json.dumps({"role": "model", "parts": TURN["parts"]})
        model.generate(request(turns=(UserTurn(text="Combien ?"), kept.turn, UserTurn(text="Et ?"))))
    sent = json.loads(server.seen[0].body)["contents"][1]
    assert sent == TURN


def test_no_key_is_in_the_file(tmp_path: Path, warnings: list[str]) -> None:
    """The file holds what models said, never what opened the door."""
    with cached(tmp_path, warnings, reply({"text": "ok"})) as (model, server):
        model.generate(request())
        assert server.seen[0].headers["x-goog-api-key"] == KEY
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert (tmp_path / CACHE_PATH) in files
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


def test_git_does_not_see_the_file(tmp_path: Path, warnings: list[str]) -> None:
    """Its folder tells git so itself, also where no run was made yet."""
    n_asked(tmp_path, warnings, request())
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    told = subprocess.run(["git", "status", "--porcelain", "-uall"], cwd=tmp_path, capture_output=True, check=True)
    assert told.stdout == b""


def test_a_stage_is_not_part_of_a_question(tmp_path: Path, warnings: list[str]) -> None:
    """Time-outs and accounts are not sent, so they do not make another question."""
    n_asked(tmp_path, warnings, request())
    assert n_asked(tmp_path, warnings, request(stage=Stage.JUDGE, timeout_s=3.0)) == 0


ADDRESSES = ["", "?deployment=small", "?deployment=large", "//one@", "//two@", "//one:pw@", "//one:other@"]


def test_another_user_or_query_is_another_question(tmp_path: Path, warnings: list[str]) -> None:
    """A gateway chooses the model by what a record does not show; each address asks for itself, and once."""
    for _ in range(2):
        with WireServer(reply({"text": "ok"})) as server:
            for address in ADDRESSES:
                store = ReplyStore(tmp_path, warn=warnings.append)
                base = "https://e.invalid" + address if address.startswith("?") else "https://e.invalid"
                url = base.replace("//", address) if address.startswith("//") else base
                named = GeminiModel(name="m", api_key=KEY, base_url=url).identity
                model = GeminiModel(name="m", api_key=KEY, base_url=server.base_url)
                steady = Steady(model.generate, named)
                CachingModel(model=steady, side="candidate", store=store, trials={SLOT: "t1"}).generate(request())
                model.close()
                store.close()
            asked = len(server.seen)
        assert asked in {len(ADDRESSES), 0}
    assert asked == 0
    assert warnings == []
