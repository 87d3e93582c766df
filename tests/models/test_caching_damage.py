"""A file of the cache that is damaged, or not ours, is a miss and one warning."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillassay.models import caching
from skillassay.models.reply_store import APPLICATION_ID, CACHE_PATH
from tests.models.cached import cached, n_asked, request, said
from tests.models.wire_server import reply
from tests.project import git


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
        values += [json.dumps(_changed(json.loads(caching._text(said("no"))), *change)) for change in WRONG]
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
