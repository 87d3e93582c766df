"""A mutant as a skill: what the reader of skills makes of its files on disk, and what is not viable."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skillassay.errors import InputError
from skillassay.mutation.mutants import OTHER_DESCRIPTION, Kind, Mutant, derive_mutants
from skillassay.mutation.placing import Placed, mutant_digest, mutated_skill, read_source
from skillassay.mutation.structure import Part
from skillassay.project import ReadySkill
from skillassay.skills.discovery import load_package
from tests.mutation.sample import FILES, SKILL_MD, SOURCE

LOGO = b"\x89PNG\0"


def write(folder: Path, texts: dict[str, str]) -> Path:
    """A skill folder with these texts and a logo."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    (folder / "assets").mkdir(exist_ok=True)
    (folder / "assets" / "logo.png").write_bytes(LOGO)
    return folder


def load(folder: Path) -> ReadySkill:
    """The skill in a folder as the project would load it."""
    package = load_package(str(folder), path="skills/greeter")
    assert package is not None
    assert package.skill is not None
    assert package.files is not None
    assert package.files.digest is not None
    return ReadySkill(path="skills/greeter", skill=package.skill, files=package.files, digest=package.files.digest)


def sources(ready: ReadySkill) -> dict[str, Path]:
    """Where the skill's own bytes lie."""
    return {entry.path: Path(entry.source) for entry in ready.files.entries}


@pytest.fixture
def ready(tmp_path: Path) -> ReadySkill:
    """The sample skill."""
    return load(write(tmp_path / "greeter", FILES))


def test_a_skill_is_read_as_its_source(ready: ReadySkill) -> None:
    """Texts, the line of the body, the lines of the description, the scripts and what is no text."""
    assert read_source(ready) == SOURCE


@pytest.mark.parametrize(
    ("head", "part"),
    [
        ("name: greeter\ndescription: one line", Part(start=2, end=3)),
        ("description: |-\n  two\n\n  lines\nname: greeter", Part(start=1, end=5)),
        ('name: greeter\ndescription: "a\n  b"\nlicense: MIT', Part(start=2, end=4)),
    ],
)
def test_the_description_ends_where_the_next_key_begins(tmp_path: Path, head: str, part: Part) -> None:
    """Whatever the style of its text is."""
    ready = load(write(tmp_path / "greeter", {"SKILL.md": f"---\n{head}\n---\nbody\n"}))
    source = read_source(ready)
    assert source.description == part
    (mutant,) = [one for one in derive_mutants(source).mutants if one.kind is Kind.DESCRIPTION]
    skill = mutated_skill(ready, mutant)
    assert skill is not None
    assert (skill.description, skill.name, skill.body) == (OTHER_DESCRIPTION, "greeter", "body\n")


def test_line_ends_and_a_mark_at_the_beginning_change_nothing(tmp_path: Path) -> None:
    """With CRLF and a byte-order mark the skill has the same mutants by id, and each is viable."""
    text = "\ufeff" + SKILL_MD.replace("\n", "\r\n")
    ready = load(write(tmp_path / "greeter", {**FILES, "SKILL.md": text}))
    mutants = derive_mutants(read_source(ready)).mutants
    assert [one.id for one in mutants] == [one.id for one in derive_mutants(SOURCE).mutants]
    assert all(mutated_skill(ready, one) is not None for one in mutants)


def test_a_placed_mutant_is_what_its_folder_would_be(ready: ReadySkill, tmp_path: Path) -> None:
    """For every mutant: written out by hand, the skill has the digest, the texts and the fields of the placed one."""
    placed = Placed(ready, sources(ready))
    for mutant in derive_mutants(SOURCE).mutants:
        made = placed.build(mutant)
        folder = write(tmp_path / mutant.id, FILES)
        for name, text in mutant.edits.items():
            (folder / name).unlink() if text is None else (folder / name).write_bytes(text.encode())
        wanted = load(folder)
        assert (made.digest, made.skill) == (wanted.digest, wanted.skill), mutant.place
        assert mutant_digest(ready, mutant) == wanted.digest
        there = {one.path: Path(one.source).read_bytes() for one in made.files.entries}
        assert there == {one.path: Path(one.source).read_bytes() for one in wanted.files.entries}
    placed.remove()


def edited(text: str, kind: Kind = Kind.LIST_ITEM) -> Mutant:
    """A mutant with another SKILL.md."""
    return Mutant(id="0" * 12, kind=kind, file="SKILL.md", line=1, text="", edits={"SKILL.md": text})


NOT_VIABLE = {
    "the original": edited(SKILL_MD),
    "no frontmatter": edited("Only words.\n"),
    "broken frontmatter": edited(SKILL_MD.replace("name: greeter", "name: [greeter")),
    "another name": edited(SKILL_MD.replace("name: greeter", "name: keeper")),
    "another description by the way": edited(SKILL_MD.replace("twice.", "thrice.")),
    "another key": edited(SKILL_MD.replace('"1.0.0"', '"1.0.1"')),
    "a description that is the same": edited(SKILL_MD.replace("- ", "* "), Kind.DESCRIPTION),
}


@pytest.mark.parametrize("name", NOT_VIABLE)
def test_what_is_not_viable(ready: ReadySkill, name: str) -> None:
    """What our reader refuses, what is the skill itself, and what changes more of the frontmatter than it says."""
    assert mutated_skill(ready, NOT_VIABLE[name]) is None


def test_a_file_that_changed_since_is_an_error(ready: ReadySkill, tmp_path: Path) -> None:
    """The mutants are made from the bytes that the digest names, or not at all."""
    (tmp_path / "greeter" / "references" / "words.md").write_text("other\n")
    with pytest.raises(InputError, match=r"references/words\.md changed"):
        read_source(ready)
    (tmp_path / "greeter" / "references" / "words.md").unlink()
    with pytest.raises(InputError, match=r"references/words\.md changed"):
        read_source(ready)


def test_the_skill_is_never_written(ready: ReadySkill, tmp_path: Path) -> None:
    """After every mutant was placed the folder has the digest it had."""
    placed = Placed(replace(ready), sources(ready))
    for mutant in derive_mutants(SOURCE).mutants:
        placed.build(mutant)
    placed.remove()
    assert load(tmp_path / "greeter").digest == ready.digest
