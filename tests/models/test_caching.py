"""The cache gives back what a model answered whole, to the same question alone; no trouble with it stops a run."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillassay.errors import Stage, TrialError
from skillassay.isolation.process import Isolation, detect_isolation
from skillassay.models import caching, reply_store
from skillassay.models.base import ModelIdentity, ModelReply, ModelRequest
from skillassay.models.caching import CachingModel
from skillassay.models.gemini import GeminiModel
from skillassay.models.reply_store import APPLICATION_ID, CACHE_PATH, ReplyStore
from skillassay.transcript import ModelTurn, Usage, UserTurn
from tests.models.wire_server import KEY, Canned, WireServer, refusal, reply, talking
from tests.project import git

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "cache"
SLOT = "q/one/none/1"
USED = {"promptTokenCount": 700, "candidatesTokenCount": 200, "totalTokenCount": 900}
TURN = json.loads((PUBLIC.parent / "api" / "js-genai-1275" / "turn1.json").read_bytes())


def request(text: str = "Combien ?", **fields: Any) -> ModelRequest:
    """One request of a trial."""
    given: dict[str, Any] = {"system": "Be brief.", "turns": (UserTurn(text=text),), "slot": SLOT}
    return ModelRequest(**(given | fields))


@pytest.fixture
def warnings() -> list[str]:
    """What the cache told."""
    return []


@contextmanager
def cached(
    root: Path, warnings: list[str], *canned: Canned, side: str = "candidate", trial: str = "t1"
) -> Iterator[tuple[CachingModel, WireServer]]:
    """A model on the wire behind the cache of a project."""
    store = ReplyStore(root, warn=warnings.append)
    try:
        with talking(*canned) as (model, server):
            # The port is another one in every run; a service has one address.
            identity = replace(model.identity, endpoint="https://e.invalid")
            steady = _Steady(model.generate, identity)
            yield CachingModel(model=steady, side=side, store=store, trials={SLOT: trial}), server
    finally:
        store.close()


class _Steady:
    """A model under a fixed address."""

    def __init__(self, generate: Callable[[ModelRequest], ModelReply], identity: ModelIdentity) -> None:
        self.generate = generate
        self.identity = identity

    def close(self) -> None:
        """The test's server closes the model."""


def n_asked(root: Path, warnings: list[str], asked: ModelRequest, **how: Any) -> int:
    """How many requests reach the wire for this one, in a run of its own that answers ``ok``."""
    with cached(root, warnings, reply({"text": "ok"}), **how) as (model, server):
        model.generate(asked)
        return len(server.seen)


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
            assert isinstance(model.model, _Steady)
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


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is no database " * 4000)


def _truncate(path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    path.write_bytes(path.read_bytes()[:5000])


def _overwrite(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xaa" * (len(data) - 4096)
    path.write_bytes(bytes(data))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _newer(path: Path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA user_version=2")
    file.close()


def _other_table(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE replies (x)")
        file.execute("PRAGMA user_version=1")
        file.execute(f"PRAGMA application_id={APPLICATION_ID}")
    file.close()


def _foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE accounts (x)")
    file.close()


def _foreign_of_the_same_version(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE replies (key TEXT PRIMARY KEY, sha256 TEXT NOT NULL, value TEXT NOT NULL)")
        file.execute("PRAGMA user_version=1")
    file.close()


def _linked(path: Path) -> None:
    path.rename(path.parent.parent / "victim.sqlite")
    path.symlink_to("../victim.sqlite")


def _linked_folder(path: Path) -> None:
    path.parent.rename(path.parent.parent / "elsewhere")
    path.parent.symlink_to("elsewhere")


def _linked_log(path: Path) -> None:
    (path.parent / f"{path.name}-journal").symlink_to("../victim")


def _tracked(path: Path) -> None:
    root = path.parent.parent
    git(root, "init", "--quiet")
    git(root, "add", "--force", CACHE_PATH)


DAMAGES = [
    *(_garbage, _truncate, _overwrite, _folder, _pipe, _newer, _other_table, _foreign, _foreign_of_the_same_version),
    *(_linked, _linked_folder, _linked_log, _tracked),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_a_miss_and_one_warning(
    tmp_path: Path, warnings: list[str], damage: Callable[[Path], None]
) -> None:
    """Whatever lies there: every model is asked, every answer is its own, one warning names the file."""
    for text in ("one", "two"):
        n_asked(tmp_path, warnings, request(text * 3000))
    for name in ("-wal", "-shm"):
        (tmp_path / f"{CACHE_PATH}{name}").unlink(missing_ok=True)
    damage(tmp_path / CACHE_PATH)
    with cached(tmp_path, warnings, reply({"text": "asked"})) as (model, server):
        told = [model.generate(request(text * 3000)).turn.text for text in ("one", "two", "three")]
    assert told == ["asked"] * 3
    assert len(server.seen) == 3
    assert len(warnings) == 1
    assert f"the cache {CACHE_PATH} " in warnings[0]


@pytest.mark.parametrize("change", ["value = 'x' || value", "value = NULL || ''", "sha256 = 'x'", "value = x'00ff'"])
def test_a_damaged_entry_is_a_miss_and_is_replaced(tmp_path: Path, warnings: list[str], change: str) -> None:
    """An entry that is not what its digest says is never an answer; the next run has a good one again."""
    n_asked(tmp_path, warnings, request())
    with sqlite3.connect(tmp_path / CACHE_PATH) as file:
        file.execute(f"UPDATE OR IGNORE replies SET {change}")
    file.close()
    changed = change != "value = NULL || ''"  # refused by the table itself
    assert n_asked(tmp_path, warnings, request()) == int(changed)
    assert [("holds a damaged entry" in text) for text in warnings] == [True] * changed
    assert n_asked(tmp_path, warnings, request()) == 0


def test_an_entry_of_another_shape_is_a_miss(tmp_path: Path, warnings: list[str]) -> None:
    """A value with the right digest and the wrong content is no answer either."""
    with cached(tmp_path, warnings, reply({"text": "ok"})) as (model, server):
        key = model._key(request(), "t1")
        values = ["", "null", "{}", '{"turn": 1}', '{"turn": {"who": "UserTurn", "text": "hi"}}']
        values += [json.dumps(_changed(json.loads(caching._text(_said("no"))), *change)) for change in WRONG]
        for value in values:
            model.store.put(key, value)
            assert model.generate(request()).turn.text == "ok"
            model.store.forget(key)
    assert len(server.seen) == len(values)


WRONG: list[tuple[tuple[str, ...], Any]] = [
    (("usage", "input_tokens"), "5 million"),
    (("usage", "output_tokens"), -5),
    (("usage", "total_tokens"), True),
    (("usage", "thought_tokens"), 10**12),
    (("usage", "estimated"), 1),
    (("usage", "n_calls"), 1.0),
    (("n_attempts",), -7),
    (("n_attempts",), 0),
    (("n_attempts",), "3"),
    (("model",), ["x"]),
    (("turn", "text"), 5),
    (("turn", "calls"), {}),
    (("turn", "notes"), [5]),
]


def _changed(value: Any, path: tuple[str, ...], new: Any) -> Any:
    inner = value
    for name in path[:-1]:
        inner = inner[name]
    assert path[-1] in inner
    inner[path[-1]] = new
    return value


PROGRAM = textwrap.dedent("""
    import sys
    from pathlib import Path
    from skillassay.models.reply_store import ReplyStore
    root, name, rounds, size = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    told = []
    sys.stdin.read(1)
    store = ReplyStore(root, warn=told.append)
    for number in range(rounds):
        store.put(f"k{number}", (name * size)[:size])
        value = store.get(f"k{number}")
        assert value is not None and len(value) == size and value == (value[:2] * size)[:size], number
    store.close()
    assert told == [], told
""")


def worker(root: Path, name: str, rounds: int, size: int) -> subprocess.Popen[bytes]:
    """A process that waits at the start, then writes and reads the same keys as all others."""
    argv = [sys.executable, "-c", PROGRAM, str(root), name, str(rounds), str(size)]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE)


def test_copairs_128_many_processes_at_once(tmp_path: Path, warnings: list[str]) -> None:
    """cytomining/copairs#128: 16 processes found one file, write the same keys and read them: values are whole."""
    stress = json.loads((PUBLIC / "copairs-128" / "stress.json").read_bytes())
    size, rounds = stress["payload_kb"] * 1024, stress["rounds"]
    processes = [worker(tmp_path, f"{number:02}", rounds, size) for number in range(stress["workers"])]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"g")
        process.stdin.close()
    for process in processes:
        assert process.stderr is not None
        with process.stderr as stream:
            assert stream.read() == b""
        assert process.wait(60) == 0
    store = ReplyStore(tmp_path, warn=warnings.append)
    values = [store.get(f"k{number}") for number in range(rounds)]
    store.close()
    assert all(value is not None and value == value[:2] * (size // 2) for value in values)
    assert warnings == []


def test_copairs_128_a_killed_writer_leaves_nothing_half(tmp_path: Path, warnings: list[str]) -> None:
    """What a killed process was writing is not there, or is whole; the next one is not disturbed."""
    process = worker(tmp_path, "xy", 100_000, 64 * 1024)
    assert process.stdin is not None
    process.stdin.write(b"g")
    process.stdin.flush()
    path = tmp_path / CACHE_PATH
    while process.poll() is None and not (path.exists() and path.with_name(path.name + "-wal").exists()):
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate()
    store = ReplyStore(tmp_path, warn=warnings.append)
    values = [store.get(f"k{number}") for number in range(2000)]
    store.put("after", "whole")
    assert store.get("after") == "whole"
    store.close()
    assert {value for value in values if value is not None} <= {"xy" * (32 * 1024)}
    assert warnings == []


FULL = textwrap.dedent("""
    import resource, sys
    from pathlib import Path
    from skillassay.models.reply_store import ReplyStore
    told = []
    store = ReplyStore(Path(sys.argv[1]), warn=told.append)
    store.put("small", "kept")
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    for number in range(5):
        store.put(f"k{number}", str(number) * 200_000)
    print([store.get("small"), store.get("k4")])
    store.close()
    print(len(told), told[0])
""")


def test_a_full_disk_does_not_stop_a_run(tmp_path: Path) -> None:
    """When the file can grow no more, what is in it is still served, nothing is half-written, one warning says so."""
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['kept', None]\n1 the cache .skillassay/cache.sqlite cannot be written")


@pytest.mark.skipif(detect_isolation() is not Isolation.NAMESPACES, reason="no namespaces to mount a read-only folder")
def test_a_read_only_folder_does_not_stop_a_run(tmp_path: Path, warnings: list[str]) -> None:
    """What can be read is served, what cannot be written is not kept: one warning, no error."""
    n_asked(tmp_path, warnings, request())
    program = (
        "import sys; from pathlib import Path; from skillassay.models.reply_store import ReplyStore\n"
        "told = []; store = ReplyStore(Path(sys.argv[1]), warn=told.append)\n"
        "store.put('k', 'v'); got = store.get('k'); store.close(); print(got, len(told), told[0])\n"
    )
    (tmp_path / "p.py").write_text(program, encoding="utf-8")
    mount = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" "$1/p.py" "$1"'
    argv = ["unshare", "-rm", "sh", "-c", mount, "sh", str(tmp_path), sys.executable]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, cwd=Path(caching.__file__).parents[2])
    assert done.stdout.startswith("None 1 the cache .skillassay/cache.sqlite cannot be"), done.stderr


def test_a_place_without_a_folder_does_not_stop_a_run(tmp_path: Path, warnings: list[str]) -> None:
    """A file stands where the folder should be: models are asked."""
    (tmp_path / ".skillassay").write_bytes(b"")
    assert n_asked(tmp_path, warnings, request()) == 1
    assert len(warnings) == 1


def test_a_busy_file_is_waited_for_and_then_done_without(
    tmp_path: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process holds the file for writing: reading goes on, the reply is not kept, the run is not stopped."""
    n_asked(tmp_path, warnings, request())
    monkeypatch.setattr(reply_store, "BUSY_S", 0.05)
    other = sqlite3.connect(tmp_path / CACHE_PATH, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert n_asked(tmp_path, warnings, request()) == 0
    assert n_asked(tmp_path, warnings, request("new")) == 1
    other.execute("ROLLBACK")
    other.close()
    assert len(warnings) == 1
    assert "database is locked" in warnings[0]


def test_the_first_reply_of_a_key_stays(tmp_path: Path, warnings: list[str]) -> None:
    """Two runs at once ask twice; both keep their own answer, later ones get the first."""
    with (
        cached(tmp_path, warnings, reply({"text": "first"})) as (one, _),
        cached(tmp_path, warnings, reply({"text": "second"})) as (two, _),
    ):
        one.store.put(one._key(request(), "t1"), caching._text(_said("first")))
        two.store.put(two._key(request(), "t1"), caching._text(_said("second")))
        assert two.generate(request()).turn.text == "first"


def _said(text: str) -> ModelReply:
    return ModelReply(turn=ModelTurn(text=text), usage=Usage())


def test_text_that_no_file_can_hold_is_not_kept(tmp_path: Path, warnings: list[str]) -> None:
    """Half a surrogate pair is no text: it is not kept, and others still are."""
    store = ReplyStore(tmp_path, warn=warnings.append)
    store.put("k", "\ud800")
    store.put("l", "fine")
    assert (store.get("k"), store.get("l")) == (None, "fine")
    store.close()
    assert len(warnings) == 1


def test_a_stage_is_not_part_of_a_question(tmp_path: Path, warnings: list[str]) -> None:
    """Time-outs and accounts are not sent, so they do not make another question."""
    n_asked(tmp_path, warnings, request())
    assert n_asked(tmp_path, warnings, request(stage=Stage.JUDGE, timeout_s=3.0)) == 0


@pytest.mark.parametrize(
    "build", [_foreign, _linked, _linked_folder, _tracked], ids=["foreign", "link", "linked folder", "tracked"]
)
def test_a_file_that_is_not_ours_stays_as_it_is(
    tmp_path: Path, warnings: list[str], build: Callable[[Path], None]
) -> None:
    """Not a byte of it changes, and nothing is put beside it."""
    n_asked(tmp_path, warnings, request())
    build(tmp_path / CACHE_PATH)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and ".git/" not in str(path)}
    n_asked(tmp_path, warnings, request("new"))
    after = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and ".git/" not in str(path)}
    assert after == before


def test_a_link_that_dangles_makes_no_file(tmp_path: Path, warnings: list[str]) -> None:
    """The user's folder has no database that was not there."""
    (tmp_path / "project/.skillassay").mkdir(parents=True)
    (tmp_path / "project" / CACHE_PATH).symlink_to("../../victim.sqlite")
    assert n_asked(tmp_path / "project", warnings, request()) == 1
    assert not (tmp_path / "victim.sqlite").exists()
    assert "is a link" in warnings[0]


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
                steady = _Steady(model.generate, named)
                CachingModel(model=steady, side="candidate", store=store, trials={SLOT: "t1"}).generate(request())
                model.close()
                store.close()
            asked = len(server.seen)
        assert asked in {len(ADDRESSES), 0}
    assert asked == 0
    assert warnings == []
