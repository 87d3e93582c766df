"""A skill's placebo: the same outside, as many characters inside, and no word of it left."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillassay.errors import InputError
from skillassay.project import Project, load_project
from skillassay.skills.frontmatter import split_document
from skillassay.skills.placebo import SENTENCES, Placebo, filled, placebos_of
from tests.project import REPOSITORY, build_small

HEAD = '---\nname: greeter\ndescription: Says hello the way greeter does.\nmetadata:\n  version: "1.0.0"\n---\n'
BODY = """\

# Greetings, formal

Always bow thrice before the ambassador.

- Whisper **salutations** to ministers.
  - Never mention umbrellas.
1. Serve oolong, then `porcelain`.

```bash
scripts/bow.sh --deep
```

| guest | bow |
| --- | --- |
"""
FILES: Mapping[str, bytes] = {
    "skills/greeter/SKILL.md": (HEAD + BODY).encode(),
    "skills/greeter/references/étiquette.md": "# Étiquette\n\nSaluez l'ambassadrice, sans éventail.\n".encode(),
    "skills/greeter/assets/seal.png": b"\x89PNG\0\0seal",
    "skills/greeter/scripts/bow.sh": b"#!/bin/sh\necho bowed\n",
    "skills/greeter/scripts/bow.py": b"print('bowed')\n",
}


def project(root: Path, files: Mapping[str, bytes] = FILES) -> Project:
    """A project whose only skill has these files."""
    build_small(root)
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return load_project(root)


def placebo_of(root: Path, files: Mapping[str, bytes] = FILES) -> Placebo:
    """The placebo of that skill."""
    return placebos_of(project(root, files), ["skills/greeter"])["skills/greeter"]


def long_words(text: str) -> set[str]:
    """The words of five letters or more, whatever the script."""
    return {word.casefold() for word in re.findall(r"[^\W\d_]+", text) if len(word) >= 5}


def test_what_is_seen_from_outside_stays(tmp_path: Path) -> None:
    """Name, description, and the frontmatter to the byte; the paths of all files."""
    placebo = placebo_of(tmp_path)
    assert (placebo.ready.skill.name, placebo.ready.skill.description) == (
        "greeter",
        "Says hello the way greeter does.",
    )
    assert (placebo.folder.path / "SKILL.md").read_bytes().startswith(HEAD.encode())
    assert [f"skills/greeter/{entry.path}" for entry in placebo.ready.files.entries] == sorted(FILES)


@pytest.mark.parametrize("name", ["SKILL.md", "references/étiquette.md"])
def test_a_text_keeps_its_shape_and_loses_its_words(tmp_path: Path, name: str) -> None:
    """As many characters, line by line; the same marks of headings and lists; no long word of the skill."""
    placebo = placebo_of(tmp_path)
    was = FILES[f"skills/greeter/{name}"].decode().removeprefix(HEAD)
    now = (placebo.folder.path / name).read_text("utf-8").removeprefix(HEAD)
    assert [len(line) for line in now.split("\n")] == [len(line) for line in was.split("\n")]
    marks = re.compile(r"^\s*(?:#+ |- |\d+\. |```)", re.MULTILINE)
    assert marks.findall(now) == marks.findall(was)
    assert long_words(now).isdisjoint(
        long_words(BODY) | long_words(FILES["skills/greeter/references/étiquette.md"].decode())
    )
    assert long_words(now) <= long_words(" ".join(SENTENCES))


def test_the_shipped_skills_have_placebos_of_their_length() -> None:
    """Every text of every skill of this repository, and none of its long words."""
    shipped = load_project(REPOSITORY)
    made = placebos_of(shipped, [ready.path for ready in shipped.usable])
    assert len(made) == 5
    for ready in shipped.usable:
        placebo = made[ready.path].ready
        assert len(placebo.skill.body) == len(ready.skill.body)
        assert long_words(placebo.skill.body).isdisjoint(long_words(ready.skill.body))
        assert placebo.skill.frontmatter == ready.skill.frontmatter


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_text_keeps_its_number_of_characters_and_lines(text: str) -> None:
    """Whatever stands in it."""
    now = filled(text, lambda n_chars: "x" * n_chars)
    assert [len(line) for line in now.split("\n")] == [len(line) for line in text.split("\n")]
    assert not re.findall(r"[^\W\d_]", now.replace("x", ""))


def test_a_script_does_nothing_and_says_nothing(tmp_path: Path) -> None:
    """It is there under its name, exits 0 and prints nothing, run by a real interpreter."""
    placebo = placebo_of(tmp_path)
    for argv in ([sys.executable, "scripts/bow.py"], ["sh", "scripts/bow.sh"]):
        done = subprocess.run(argv, cwd=placebo.folder.path, capture_output=True, timeout=30)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_what_is_no_text_is_as_long_and_still_none(tmp_path: Path) -> None:
    """The tool that reads files says the same of both."""
    placebo = placebo_of(tmp_path)
    data = (placebo.folder.path / "assets/seal.png").read_bytes()
    assert data == b"\0" * len(FILES["skills/greeter/assets/seal.png"])


def test_equal_bytes_have_equal_placebos(tmp_path: Path) -> None:
    """Also elsewhere, and with CRLF in the place of LF; other bytes have another one."""
    first = placebo_of(tmp_path / "a").ready.digest
    crlf = {path: data.replace(b"\n", b"\r\n") if path.endswith(".md") else data for path, data in FILES.items()}
    assert placebo_of(tmp_path / "b", crlf).ready.digest == first
    longer = {**FILES, "skills/greeter/SKILL.md": FILES["skills/greeter/SKILL.md"] + b"Bow again.\n"}
    assert placebo_of(tmp_path / "c", longer).ready.digest != first


def test_the_frontmatter_ends_where_the_reader_says(tmp_path: Path) -> None:
    """A `---` inside a value is not its end."""
    head = HEAD.replace("metadata:", 'license: "a --- b"\nmetadata:')
    placebo = placebo_of(tmp_path, {"skills/greeter/SKILL.md": (head + BODY).encode()})
    now = (placebo.folder.path / "SKILL.md").read_bytes()
    assert now.decode().removesuffix(split_document(now).body) == head


def test_a_sentence_that_shares_a_word_is_left_out(tmp_path: Path) -> None:
    """A skill about herons reads nothing of one."""
    text = HEAD + "\nCount each heron, then file the report on the heronry of the county.\n" * 4
    body = placebo_of(tmp_path, {"skills/greeter/SKILL.md": text.encode()}).ready.skill.body
    assert "heron" not in body.casefold()
    assert "gulls" in body


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "there is no word in it to replace"),
        ("\n" + " ".join(SENTENCES) + "\n", "it shares a word with all but"),
    ],
)
def test_a_skill_that_can_have_none_is_named(tmp_path: Path, body: str, words: str) -> None:
    """One without words, whose placebo would be itself, and one that says what the placebo would."""
    loaded = project(tmp_path, {"skills/greeter/SKILL.md": (HEAD + body).encode()})
    with pytest.raises(InputError, match=f"skills/greeter.*{words}"):
        placebos_of(loaded, ["skills/greeter"])


def test_files_that_changed_in_between_are_refused(tmp_path: Path) -> None:
    """A placebo is of the bytes that were planned."""
    loaded = project(tmp_path)
    (tmp_path / "skills/greeter/references/étiquette.md").write_text("Other words.\n", encoding="utf-8")
    with pytest.raises(InputError, match="changed while the run was being prepared"):
        placebos_of(loaded, ["skills/greeter"])


def test_its_files_are_gone_with_it(tmp_path: Path) -> None:
    """Nothing is left among temporary files."""
    placebo = placebo_of(tmp_path)
    path = placebo.folder.path
    assert path.exists()
    placebo.folder.remove()
    assert not path.exists()


def test_a_long_line_takes_time_in_proportion(tmp_path: Path) -> None:
    """A line of a million characters has some 200,000 words: copying all of them for each would take minutes."""
    started = time.process_time()
    made = placebo_of(tmp_path, {**FILES, "skills/greeter/references/data.json": b"a" * 1_000_000})
    assert (made.folder.path / "references" / "data.json").stat().st_size == 1_000_000
    assert time.process_time() - started < 15
