"""Editing a version: only its characters change, and what cannot be edited safely is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skillassay.errors import InputError
from skillassay.skills.bump import apply_bump, apply_init, bump_version, init_version
from skillassay.skills.skill import Skill, parse_skill
from skillassay.versions import Part, is_semver

HEAD = "---\nname: demo\ndescription: d # a comment: kept\n"
TAIL = "---\n\nThe version: 1.2.3 of the text stays.\n"
FORMS = ["\n", "\r\n"]


def document(inner: str, *, newline: str = "\n", bom: bool = False) -> bytes:
    """A SKILL.md with lines of frontmatter put in."""
    return (b"\xef\xbb\xbf" if bom else b"") + (HEAD + inner + TAIL).replace("\n", newline).encode()


def parse(data: bytes) -> Skill:
    """The skill in some bytes."""
    skill, _ = parse_skill(data, path="skills/demo", folder_name="demo")
    assert skill is not None
    return skill


@pytest.mark.parametrize("newline", FORMS)
@pytest.mark.parametrize("bom", [False, True])
@pytest.mark.parametrize(
    "inner",
    [
        'metadata:\n  version: "1.2.3"\n',
        "metadata:\n  version: '1.2.3' # 1.2.3 here too\n",
        "metadata:\n  author: 1.2.3\n  version:   1.2.3\n",
        'metadata: {author: me, version: "1.2.3"}\n',
        "metadata:\n    # version: 0.0.1\n    version: 1.2.3\n    since: 2026-01-02\n",
        'metadata:\n  "version": 1.2.3\n',
        "version: 1.2.3\n",
    ],
)
def test_only_the_version_changes(inner: str, bom: bool, newline: str) -> None:
    """Quotes, comments, order, line ends and byte-order mark stay; the same text elsewhere too."""
    before = document(inner, newline=newline, bom=bom)
    after, old, new = bump_version(before, part=Part.MINOR, path="SKILL.md")
    assert (old, new, parse(after).version) == ("1.2.3", "1.3.0", "1.3.0")
    places = [index for index in range(len(before)) if before[index : index + 5] == b"1.2.3"]
    assert after in {before[:at] + b"1.3.0" + before[at + 5 :] for at in places}


def test_both_places_of_one_version_are_raised() -> None:
    """They must not come to disagree."""
    after, _, _ = bump_version(document('version: 1.2.3\nmetadata:\n  version: "1.2.3"\n'), part=Part.PATCH, path="x")
    assert after == document('version: 1.2.4\nmetadata:\n  version: "1.2.4"\n')


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ("", "has no version"),
        ("metadata:\n  version: 1.0\n", "is not SemVer"),
        ("metadata:\n  version: [1]\n", "is not text"),
        ('metadata:\n  version: "1.2\\x2e3"\n', "with escapes"),
        ("metadata:\n  version: >-\n    1.2.3\n", "over several lines"),
        ("version: 1.2.4\nmetadata:\n  version: 1.2.3\n", "disagree"),
        ("name: other\n", "duplicate key"),
        ("metadata: &a\n  version: 1.2.3\n", "anchor"),
    ],
)
def test_what_cannot_be_bumped_is_refused(inner: str, words: str) -> None:
    """With the reason, and a hint."""
    with pytest.raises(InputError, match=words) as caught:
        bump_version(document(inner), part=Part.PATCH, path="skills/demo/SKILL.md")
    assert caught.value.hint
    assert "skills/demo/SKILL.md" in caught.value.message


@pytest.mark.parametrize("newline", FORMS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'metadata:\n  version: "0.1.0"\n'),
        ("metadata:\n", 'metadata:\n  version: "0.1.0"\n'),
        ("metadata: # c\n", 'metadata: # c\n  version: "0.1.0"\n'),
        ("metadata:\n  version:\n", 'metadata:\n  version: "0.1.0"\n'),
        ("metadata:\n  version: ~ # c\n", 'metadata:\n  version: "0.1.0" # c\n'),
        ("metadata: {}\n", 'metadata: {version: "0.1.0"}\n'),
        ("metadata: {a: b}\n", 'metadata: {version: "0.1.0", a: b}\n'),
        ("metadata:\n    a: b\n", 'metadata:\n    version: "0.1.0"\n    a: b\n'),
        ("metadata:\n  # c\n  a: b\nlicense: x\n", 'metadata:\n  # c\n  version: "0.1.0"\n  a: b\nlicense: x\n'),
        ("license: |+\n  x\n\n", 'license: |+\n  x\n\nmetadata:\n  version: "0.1.0"\n'),
        ('metadata:\n  version: "1.0"\n', 'metadata:\n  version: "1.0.0"\n'),
        ("metadata:\n  version: v1 # c\n", "metadata:\n  version: 1.0.0 # c\n"),
        ("version: 1.2.3\n", 'version: 1.2.3\nmetadata:\n  version: "1.2.3"\n'),
        ("version: 1.0\n", 'version: 1.0.0\nmetadata:\n  version: "1.0.0"\n'),
        ("metadata:\n  version: 2.0.0-rc.1\n", "metadata:\n  version: 2.0.0-rc.1\n"),
    ],
)
def test_a_skill_is_given_a_version(before: str, after: str, newline: str) -> None:
    """In the smallest edit, in the file's own indent and line ends; a good file is returned as it is."""
    edit = init_version(document(before, newline=newline), path="SKILL.md")
    assert edit.data == document(after, newline=newline)
    assert parse(edit.data).version == edit.new


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"---\nname: x\n---", b'---\nname: x\nmetadata:\n  version: "0.1.0"\n---'),
        (b"---\n  name: x\n---\n", b'---\n  name: x\n  metadata:\n    version: "0.1.0"\n---\n'),
        (b"---\n{name: x}\n---\n", b'---\n{metadata: {version: "0.1.0"}, name: x}\n---\n'),
        (b"\n---  \r\nname: x\r\n---\n", b'\n---  \r\nname: x\r\nmetadata:\r\n  version: "0.1.0"\r\n---\n'),
    ],
)
def test_other_layouts(before: bytes, after: bytes) -> None:
    """Indented keys, one flow mapping, mixed line ends (those of the opening fence are used)."""
    assert init_version(before, path="SKILL.md").data == after


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ("metadata:\n  version: latest\n", "no SemVer reading"),
        ("metadata: ~\n", "cannot be added to"),
        ("metadata: text\n", "cannot be added to"),
        ("metadata: [a]\n", "cannot be added to"),
        ("...\n", "cannot be edited safely"),
        ("version: 1.0\nmetadata:\n  version: 1.1\n", "disagree"),
    ],
)
def test_what_cannot_be_given_a_version_is_refused(inner: str, words: str) -> None:
    """With the reason and what to do by hand."""
    with pytest.raises(InputError, match=words) as caught:
        init_version(document(inner), path="SKILL.md")
    assert caught.value.hint


def test_what_was_done_is_said() -> None:
    """One sentence for each kind of edit."""
    said = [
        init_version(document(inner), path="x").says for inner in ("", "version: 1.0\n", "metadata: {version: 1.0.0}\n")
    ]
    assert said == [
        "added metadata.version 0.1.0",
        "rewrote version '1.0' as 1.0.0 and added metadata.version 1.0.0, as the top-level `version` says",
        "nothing to do: metadata.version is 1.0.0",
    ]


def test_a_first_version_can_be_chosen_and_must_be_semver() -> None:
    """``version`` is used as given or refused."""
    assert init_version(document(""), path="x", version="2.0.0").new == "2.0.0"
    with pytest.raises(InputError, match="no SemVer reading"):
        init_version(document(""), path="x", version="two")


def test_the_file_on_disk(tmp_path: Path) -> None:
    """First a version, then the next; the mode of the file stays."""
    file = tmp_path / "skills" / "demo" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(document(""))
    file.chmod(0o640)
    skill = parse(file.read_bytes())
    assert apply_init(tmp_path, skill).new == "0.1.0"
    assert apply_bump(tmp_path, skill, part=Part.MAJOR).says == "0.1.0 is now 1.0.0"
    assert file.read_bytes() == document('metadata:\n  version: "1.0.0"\n')
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_linked_skill_md_stays_a_link(tmp_path: Path) -> None:
    """The edit goes to the file it leads to."""
    folder = tmp_path / "skills" / "demo"
    folder.mkdir(parents=True)
    (folder / "AGENTS.md").write_bytes(document("version: 1.2.3\n"))
    (folder / "SKILL.md").symlink_to("AGENTS.md")
    apply_bump(tmp_path, parse((folder / "SKILL.md").read_bytes()), part=Part.PATCH)
    assert (folder / "SKILL.md").is_symlink()
    assert parse((folder / "AGENTS.md").read_bytes()).version == "1.2.4"


def test_a_refused_edit_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """Bytes and time of change."""
    file = tmp_path / "skills" / "demo" / "SKILL.md"
    file.parent.mkdir(parents=True)
    data = document('metadata:\n  version: "1.2\\x2e3"\n')
    file.write_bytes(data)
    before = file.stat().st_mtime_ns
    with pytest.raises(InputError):
        apply_bump(tmp_path, parse(data), part=Part.PATCH)
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (data, before)


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    """An error with its path."""
    with pytest.raises(InputError, match=r"skills/demo/SKILL\.md cannot be read"):
        apply_bump(tmp_path, parse(document("version: 1.2.3\n")), part=Part.PATCH)


LINES = st.lists(
    st.sampled_from(
        [
            "license: MIT # 1.2.3\n",
            "# version: 9.9.9\n",
            "compatibility: >\n  folded\n  text\n",
            "x-list: [a, {b: c}]\n",
            "x-text: |\n  version: 0.0.0\n\n",
            "metadata:\n  a: b\n  # c\n  n:\n    version: x\n",
            "metadata: {a: b, n: {version: x}}\n",
            "version: 1.0\n",
            "version: 1.2.3\n",
            "\n",
        ]
    ),
    unique=True,
    max_size=6,
).filter(lambda lines: sum(line.startswith("metadata") for line in lines) < 2)


@given(LINES, st.booleans(), st.booleans(), st.text("a\n-: é", max_size=20))
def test_a_version_once_given_is_read_back(lines: list[str], crlf: bool, bom: bool, body: str) -> None:
    """Law: for any layout, init leaves a SemVer version, every other value and the body; a second init does nothing."""
    assume(sum(line.startswith("version") for line in lines) < 2)
    text = HEAD + "".join(lines) + "---\n" + body
    data = (b"\xef\xbb\xbf" if bom else b"") + (text.replace("\n", "\r\n") if crlf else text).encode()
    edit = init_version(data, path="SKILL.md")
    before, after = parse(data), parse(edit.data)
    assert after.version == edit.new
    assert is_semver(edit.new)
    assert (after.name, after.description, after.body) == (before.name, before.description, before.body)
    assert {k: v for k, v in after.metadata.items() if k != "version"} == before.metadata
    assert init_version(edit.data, path="SKILL.md").data == edit.data


@given(LINES, st.booleans(), st.sampled_from(Part))
def test_a_bump_touches_nothing_but_the_version(lines: list[str], crlf: bool, part: Part) -> None:
    """Law: the bytes before and after the versions are the same; the version is the next one."""
    assume(sum(line.startswith("version") for line in lines) < 2)
    text = HEAD + "".join(lines) + TAIL
    start = init_version((text.replace("\n", "\r\n") if crlf else text).encode(), path="SKILL.md").data
    after, old, new = bump_version(start, part=part, path="SKILL.md")
    assert parse(after).version == new
    kept, edited = start.split(old.encode()), after
    for piece in kept:
        assert piece in edited
    assert len(after) - len(start) in {n * (len(new) - len(old)) for n in (1, 2)}
    assert after.count(b"\r") == start.count(b"\r")
