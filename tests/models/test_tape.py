"""The tape's bytes: what stands where, what is stored once, and what a reader refuses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillassay.canonical import digest_of
from skillassay.errors import InputError, Reason, Stage, TrialError
from skillassay.models import tape as tapes
from skillassay.models.base import ModelIdentity, ModelReply, ModelRequest, request_json
from skillassay.models.stored_reply import model_turn_from_json, model_turn_json
from skillassay.models.tape import Tape, TapeBuilder, load_tape
from skillassay.transcript import ModelTurn, Tool, ToolCall, ToolResult, ToolTurn, Turn, Usage, UserTurn

RAW = {
    "role": "model",
    "parts": [{"thoughtSignature": "c2ln", "functionCall": {"name": "f", "args": {"b": 1, "a": "é\u2028"}}}],
}
CALLED = ModelTurn(text="", calls=(ToolCall(name="f", args={"b": 1, "a": "é\u2028"}, id="c1"),), raw=RAW)
TOOL = Tool(name="f", description="Does f.", parameters={"type": "object"})
USAGE = Usage(input_tokens=7, output_tokens=None, n_calls=1)
LIVE = ModelIdentity(provider="gemini", name="x", endpoint="https://e.invalid", is_fixture=False)
MODELS = {"candidate": LIVE, "judge": LIVE}


def request(*turns: Turn, slot: str = "q/one/none/1", **fields: Any) -> ModelRequest:
    """A request with a system instruction and a tool."""
    given: dict[str, Any] = {"system": "S" * 2000, "turns": turns or (UserTurn(text="Hi"),), "tools": (TOOL,)}
    return ModelRequest(slot=slot, **(given | fields))


def answer(turn: ModelTurn, n_attempts: int = 1) -> ModelReply:
    """A reply of this turn."""
    return ModelReply(turn=turn, usage=USAGE, model="x-001", n_attempts=n_attempts)


def conversation() -> TapeBuilder:
    """Two calls of a candidate and one of a judge, which failed."""
    builder = TapeBuilder()
    first, result = UserTurn(text="Hi"), ToolTurn(results=(ToolResult(name="f", response={"ok": 1}, id="c1"),))
    builder.add("candidate", request(first), answer(CALLED))
    builder.add("candidate", request(first, CALLED, result), answer(ModelTurn(text="Bye"), n_attempts=3))
    error = TrialError("cut", reason=Reason.TRUNCATED, stage=Stage.JUDGE, kind="max_tokens", n_attempts=2, usage=USAGE)
    builder.add("judge", request(stage=Stage.JUDGE, temperature=0.5, seed=3), error)
    return builder


def rendered(builder: TapeBuilder) -> bytes:
    """Its bytes."""
    return builder.render(MODELS, recorded_on="2026-01-02")


def read(data: bytes, folder: Path) -> Tape:
    """A tape from these bytes."""
    (folder / "t.jsonl").write_bytes(data)
    return load_tape(folder / "t.jsonl", shown_as="t.jsonl")


def lines(data: bytes) -> list[dict[str, Any]]:
    """The lines as JSON."""
    return [json.loads(line) for line in data.decode().split("\n")[:-1]]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """Requests, replies and errors come back as they were told, in the order slot, side, call."""
    calls = read(rendered(conversation()), tmp_path).calls
    first, second, third = calls
    assert [(call.side, call.slot) for call in calls] == [("candidate", "q/one/none/1")] * 2 + [
        ("judge", "q/one/none/1")
    ]
    assert (first.reply, first.failure) == (answer(CALLED), None)
    assert second.reply == answer(ModelTurn(text="Bye"), n_attempts=3)
    asked = request(stage=Stage.JUDGE, temperature=0.5, seed=3)
    assert dict(third.request) == json.loads(json.dumps(request_json(asked)))
    assert third.failure is not None
    error = third.failure.error()
    told = (error.message, error.reason, error.stage, error.kind, error.n_attempts, error.usage)
    assert told == ("cut", Reason.TRUNCATED, Stage.JUDGE, "max_tokens", 2, USAGE)


def test_a_signed_content_comes_back_byte_for_byte(tmp_path: Path) -> None:
    """Signatures and the order of keys stay, so that the content could be sent again as it came."""
    reply = read(rendered(conversation()), tmp_path).calls[0].reply
    assert reply is not None
    assert json.dumps(reply.turn.raw) == json.dumps(RAW)


def test_the_documented_format(tmp_path: Path) -> None:
    """Each line has the documented keys in their order; keys and digests are SHA-256 of the canonical form."""
    data = rendered(conversation())
    header, *rest = lines(data)
    assert list(header) == ["tape", "skillassay", "recorded_on", "models", "sha256"]
    model = {"label": "gemini:x", "provider": "gemini", "name": "x", "endpoint": "https://e.invalid"}
    assert header["models"] == {"candidate": {**model, "is_fixture": False}, "judge": {**model, "is_fixture": False}}
    assert header["sha256"] == hashlib.sha256(data.partition(b"\n")[2]).hexdigest()
    calls = [line for line in rest if "call" in line]
    assert [list(call) for call in calls] == [["call", "side", "slot", "request", "reply"]] * 2 + [
        ["call", "side", "slot", "request", "error"]
    ]
    assert list(calls[0]["reply"]) == ["turn", "usage", "model", "n_attempts"]
    assert list(calls[2]["error"]) == ["reason", "stage", "kind", "message", "n_attempts", "usage"]
    pieces = {line["piece"]: line["value"] for line in rest if "piece" in line}
    for name, value in pieces.items():
        canonical = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
        assert name == hashlib.sha256(canonical).hexdigest()
    told = calls[1]["request"]
    whole = {name: pieces.get(value, value) if isinstance(value, str) else value for name, value in told.items()}
    whole["turns"] = [pieces[name] for name in told["turns"]]
    canonical = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    assert calls[1]["call"] == hashlib.sha256(canonical).hexdigest()


def test_a_piece_stands_once_and_before_its_first_use() -> None:
    """A long text that every call repeats is in the file once; reading needs no look ahead."""
    data = rendered(conversation())
    assert data.count(b"S" * 2000) == 1
    seen: set[str] = set()
    for line in lines(data)[1:]:
        if "piece" in line:
            assert line["piece"] not in seen
            seen.add(line["piece"])
        else:
            used = [value for value in line["request"].values() if isinstance(value, str)] + line["request"]["turns"]
            assert {name for name in used if name is not None} <= seen


def test_bytes_do_not_depend_on_who_was_first() -> None:
    """Calls of other trials in between, in whatever order, make the same file."""
    slots = [f"q/{name}/none/{repeat}" for name in ("a", "b") for repeat in (1, 2)]
    made = []
    for order in (slots, slots[::-1], [slots[1], slots[3], slots[0], slots[2]]):
        builder = TapeBuilder()
        for slot in order:
            builder.add("candidate", request(slot=slot), answer(ModelTurn(text=f"first {slot}")))
        for slot in order[::-1]:
            builder.add("judge", request(slot=slot), answer(ModelTurn(text=f"judged {slot}")))
            builder.add("candidate", request(slot=slot), answer(ModelTurn(text=f"second {slot}")))
        made.append(rendered(builder))
    assert made[0] == made[1] == made[2]


def test_a_windows_checkout_is_read(tmp_path: Path) -> None:
    """CRLF at the ends of lines is what git may make of them; a CR of a text is an escape and stays."""
    builder = TapeBuilder()
    builder.add("candidate", request(UserTurn(text="a\r\nb")), answer(ModelTurn(text="c\r\nd")))
    reply = read(rendered(builder).replace(b"\n", b"\r\n"), tmp_path).calls[0].reply
    assert reply is not None
    assert reply.turn.text == "c\r\nd"


def test_lines_are_split_on_lf_alone(tmp_path: Path) -> None:
    """A text with U+2028, U+0085 or a form feed ends no line (PrimeIntellect-ai/verifiers#1644)."""
    text = "one\u2028two\u0085three\x0cfour"
    builder = TapeBuilder()
    builder.add("candidate", request(UserTurn(text=text)), answer(ModelTurn(text=text)))
    reply = read(rendered(builder), tmp_path).calls[0].reply
    assert reply is not None
    assert reply.turn.text == text


def _edit_header(**fields: Any) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        head, _, rest = data.partition(b"\n")
        return json.dumps({**json.loads(head), **fields}).encode() + b"\n" + rest

    return edit


def _drop_line(number: int) -> Callable[[bytes], bytes]:
    def drop(data: bytes) -> bytes:
        kept = data.split(b"\n")
        del kept[number]
        return b"\n".join(kept)

    return drop


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "it is empty"),
    "cut inside a line": (lambda data: data[:-5], "has no end, so the file was cut"),
    "cut between lines": (_drop_line(-2), "a line was lost, added or changed"),
    "another count": (lambda data: data.replace(b'"n_attempts":3', b'"n_attempts":1'), "a line was lost, added or ch"),
    "a lost piece": (_drop_line(1), "is no piece and no call"),
    "another text": (lambda data: data.replace(b"Bye", b"Hello"), "is not what its digest says"),
    "another setting": (lambda data: data.replace(b'"temperature":0.5', b'"temperature":0.6'), "is no piece and no"),
    "another reason": (lambda data: data.replace(b'"truncated"', b'"tired"'), "is no piece and no call"),
    "merge markers": (lambda data: b"<<<<<<< HEAD\n" + data, "line 1: not JSON"),
    "not UTF-8": (lambda data: data.replace(b"Bye", b"\xff\xfe\xff"), "codec can't decode"),
    "a newer format": (_edit_header(tape=2), "it has format 2, newer than 1"),
    "a format that is no number": (_edit_header(tape=True), "its first line is not that of a recording"),
    "no models": (_edit_header(models={}), "its first line lacks a field"),
    "something else": (lambda _: b'{"record": 1}\n', "its first line is not that of a recording"),
    "a list": (lambda _: b"[]\n", "line 1 is no object"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_tape_is_refused(tmp_path: Path, name: str) -> None:
    """Whatever was done to it, the error names the file, the cause and a next step."""
    damage, words = DAMAGE[name]
    data = rendered(conversation())
    assert damage(data) != data
    with pytest.raises(InputError) as caught:
        read(damage(data), tmp_path)
    assert "t.jsonl" in caught.value.message
    assert words in caught.value.message
    assert caught.value.hint


@given(at=st.integers(min_value=0), byte=st.integers(0, 255))
def test_no_single_byte_changes_an_answer(tmp_path_factory: pytest.TempPathFactory, at: int, byte: int) -> None:
    """One byte overwritten anywhere: the tape is refused, or every call says what it said."""
    data = bytearray(rendered(conversation()))
    calls = read(bytes(data), tmp_path_factory.getbasetemp()).calls
    data[at % len(data)] = byte
    try:
        changed = read(bytes(data), tmp_path_factory.getbasetemp()).calls
    except InputError:
        return
    assert changed == calls


def test_what_is_missing_or_no_file_is_told(tmp_path: Path) -> None:
    """No file, and a folder in its place: an error with the name, never a traceback."""
    with pytest.raises(InputError, match="there is no recording gone"):
        load_tape(tmp_path / "gone", shown_as="gone")
    with pytest.raises(InputError, match="cannot be read: is not a regular file"):
        load_tape(tmp_path, shown_as="folder")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(raw=JSON, args=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON, max_size=3))
def test_any_turn_survives(raw: Any, args: dict[str, Any]) -> None:
    """Every JSON value that a provider may send comes back equal."""
    turn = ModelTurn(text="t", calls=(ToolCall(name="f", args=args),), raw=raw, notes=("n",))
    assert model_turn_from_json(json.loads(json.dumps(model_turn_json(turn)))) == turn


def test_the_key_is_of_the_whole_request() -> None:
    """Every field that can change an answer changes the key; what is not sent does not."""
    plain = request()
    key = digest_of(request_json(plain))
    others = [
        request(UserTurn(text="Hi!")),
        request(system="T"),
        request(tools=()),
        request(response_schema={}),
        request(temperature=None),
        request(max_output_tokens=1),
        request(seed=0),
    ]
    assert len({key, *(digest_of(request_json(other)) for other in others)}) == len(others) + 1
    same = [request(slot="other"), request(timeout_s=1.0), request(stage=Stage.JUDGE)]
    assert {digest_of(request_json(other)) for other in same} == {key}


def test_the_module_documents_its_version() -> None:
    """The docstring, which is the format, speaks of the version that is written."""
    assert f"``tape: {tapes.TAPE_VERSION}``" in (tapes.__doc__ or "")


WRONG: list[tuple[str, tuple[str, ...], Any]] = [
    ("reply", ("usage", "input_tokens"), "5 million"),
    ("reply", ("usage", "output_tokens"), -5),
    ("reply", ("usage", "total_tokens"), 10**12),
    ("reply", ("usage", "estimated"), "no"),
    ("reply", ("usage", "n_calls"), -1),
    ("reply", ("n_attempts",), -7),
    ("reply", ("n_attempts",), 0),
    ("reply", ("n_attempts",), 1.5),
    ("reply", ("model",), ["x"]),
    ("error", ("usage", "input_tokens"), "5 million"),
    ("error", ("n_attempts",), -7),
    ("error", ("message",), ["x"]),
    ("error", ("kind",), 3),
    ("header", ("models", "judge", "is_fixture"), "no"),
    ("header", ("models", "judge", "name"), 5),
    ("header", ("recorded_on",), 5),
]


@pytest.mark.parametrize(("part", "path", "new"), WRONG, ids=[f"{p}.{'.'.join(path)}={n!r}" for p, path, n in WRONG])
def test_a_value_that_no_model_could_have_told_is_damage(
    tmp_path: Path, part: str, path: tuple[str, ...], new: Any
) -> None:
    """Though every digest is right: whoever writes a tape can write those too."""
    header, *rest = lines(rendered(conversation()))
    changed = header if part == "header" else next(line[part] for line in rest if part in line)
    for name in path[:-1]:
        changed = changed[name]
    assert path[-1] in changed
    changed[path[-1]] = new
    body = b"".join(tapes._line(line) for line in rest)
    header["sha256"] = hashlib.sha256(body).hexdigest()
    with pytest.raises(InputError, match=r"the recording t\.jsonl cannot be used"):
        read(tapes._line(header) + body, tmp_path)
