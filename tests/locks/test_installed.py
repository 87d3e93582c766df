"""Copies that an installer placed, against the lock: the published vectors, and what stands around them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from skillassay.errors import InputError
from skillassay.locks.installed import DIFFERS, SAME, Installed, verify_installed
from skillassay.locks.installer import INSTALLER_KEYS, reversals
from skillassay.locks.lockfile import EvidenceRef, Lock, LockEntry
from tests.skills.test_digest_vectors import DOCUMENT, build, by_name

VECTORS: list[dict[str, Any]] = DOCUMENT["installed"]


def entry(manifest: str, path: str = "skills/demo") -> LockEntry:
    """The entry of a lock whose skill has this manifest."""
    files = {name: sha256 for sha256, name in (line.split("  ", 1) for line in manifest.splitlines())}
    digest = hashlib.sha256(manifest.encode()).hexdigest()
    none = EvidenceRef(none="of a test")
    return LockEntry(path=path, name="demo", version="1.0.0", digest=digest, files=files, evidence=none)


def lock_of(*entries: LockEntry, ignore: tuple[str, ...] = ()) -> Lock:
    """A lock of these entries."""
    return Lock(skills={one.path: one for one in entries}, suites={}, ignore=ignore)


def verified(folder: Path, lock: Lock, **options: Any) -> Installed:
    """The only result."""
    (one,) = verify_installed(folder, folder.parent / "none.json", lock, **options)
    return one


@by_name(VECTORS)
def test_the_locked_digest_is_that_of_the_source(vector: dict[str, Any]) -> None:
    """Recomputed from the source's files by the definition, with hashlib alone."""
    folded = {path: content["text"].replace("\r\n", "\n").encode() for path, content in vector["files"].items()}
    lines = [f"{hashlib.sha256(folded[path]).hexdigest()}  {path}\n" for path in sorted(folded, key=str.encode)]
    assert "".join(lines) == vector["manifest"]
    assert hashlib.sha256(vector["manifest"].encode()).hexdigest() == vector["digest"]


@by_name(VECTORS)
def test_a_copy_is_what_its_vector_says(vector: dict[str, Any], tmp_path: Path) -> None:
    """The same or not; what was edited, is missing, was added; what is an installer's."""
    folder = build({"files": vector["installed"]}, tmp_path / "demo")
    one = verified(folder, lock_of(entry(vector["manifest"])))
    assert one.status == (SAME if vector["same"] else DIFFERS)
    assert (one.digest == vector["digest"]) == vector["same"]
    assert [list(one.edited), list(one.missing), list(one.added)] == [
        vector[key] for key in ("edited", "missing", "added")
    ]
    if vector["same"]:
        assert {"files": list(one.installer_files), "keys": dict(one.installer_keys)} == vector["installer"]


@pytest.mark.parametrize("name", INSTALLER_KEYS)
def test_each_key_of_an_installer_is_taken_back(name: str) -> None:
    """Exactly its line goes."""
    before = b"---\nname: demo\nmetadata:\n  version: '1'\n---\n\n"
    after = before.replace(b"  version", f"  {name}: value # with words\n  version".encode())
    (only,) = reversals(after)
    assert (only.data, dict(only.keys)) == (before, {name: "value"})


UNTOUCHED = next(vector for vector in VECTORS if vector["name"] == "untouched")


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """An untouched copy."""
    return build(UNTOUCHED, tmp_path / "copies" / "demo")


def test_a_folder_of_another_name_is_told(demo: Path) -> None:
    """The bytes are the same; clients that want the folder to be called like the skill do not find it."""
    one = verified(demo.rename(demo.with_name("renamed")), lock_of(entry(UNTOUCHED["manifest"])))
    assert (one.status, one.renamed_from) == (SAME, "demo")


def test_a_folder_of_skills_is_looked_through(demo: Path) -> None:
    """Each copy, and one that no lock has; what is no skill is passed over."""
    build({"files": {"SKILL.md": {"text": "---\nname: other\n---\n"}}}, demo.with_name("other"))
    demo.with_name("notes").mkdir()
    lock = lock_of(entry(UNTOUCHED["manifest"]))
    found = verify_installed(demo.parent, demo.parent / "none.json", lock)
    assert [(Path(one.folder).name, one.status) for one in found] == [("demo", SAME), ("other", "unlocked")]
    assert [one.status for one in verify_installed(demo.parent, demo.parent / "none.json", lock, skills=["demo"])] == [
        SAME
    ]


def test_a_wanted_skill_that_is_not_there_is_told(demo: Path) -> None:
    """It is no success that nothing differs."""
    other = entry("0" * 64 + "  SKILL.md\n", "skills/second")
    found = verify_installed(
        demo.parent, demo.parent / "none.json", lock_of(entry(UNTOUCHED["manifest"]), other), skills=["skills/second"]
    )
    assert [(one.status, one.locked) for one in found] == [("absent", "skills/second")]


def test_two_skills_of_one_name_are_told_apart_by_their_bytes(demo: Path) -> None:
    """And by --skill where neither has them."""
    other = entry("0" * 64 + "  SKILL.md\n", "plugins/demo")
    lock = lock_of(other, entry(UNTOUCHED["manifest"]))
    assert verified(demo, lock).locked == "skills/demo"
    (demo / "SKILL.md").write_text("---\nname: demo\n---\nEdited.\n", encoding="utf-8")
    assert verified(demo, lock).status == "unreadable"
    assert verified(demo, lock, skills=["skills/demo"]).edited == ("SKILL.md",)


def test_the_locks_own_ignore_list_holds(demo: Path) -> None:
    """What the lock leaves out is no difference; it is named, since a client may read it all the same."""
    (demo / "notes.txt").write_text("mine", encoding="utf-8")
    (demo / "evals").mkdir()
    lock = lock_of(entry(UNTOUCHED["manifest"]), ignore=("*.txt",))
    one = verified(demo, lock)
    assert (one.status, one.left_out) == (SAME, ("evals/", "notes.txt"))
    assert verified(demo, lock_of(entry(UNTOUCHED["manifest"]))).added == ("notes.txt",)


def test_a_shell_script_with_crlf_is_edited(tmp_path: Path) -> None:
    """Its digest is the same, and it does not run."""
    text = "#!/bin/sh\necho hi\n"
    files = {"SKILL.md": UNTOUCHED["files"]["SKILL.md"], "scripts/hi.sh": {"text": text}}
    lines = [(hashlib.sha256(content["text"].encode()).hexdigest(), path) for path, content in sorted(files.items())]
    lock = lock_of(entry("".join(f"{sha256}  {path}\n" for sha256, path in lines)))
    folder = build({"files": files}, tmp_path / "demo")
    assert verified(folder, lock).status == SAME
    (folder / "scripts/hi.sh").write_bytes(text.replace("\n", "\r\n").encode())
    one = verified(folder, lock)
    assert (one.status, one.edited) == (DIFFERS, ("scripts/hi.sh",))


def test_a_copy_that_cannot_be_read_whole_is_no_copy(demo: Path) -> None:
    """A link to nothing: nothing is said of the rest."""
    (demo / "more.md").symlink_to("nowhere")
    one = verified(demo, lock_of(entry(UNTOUCHED["manifest"])))
    assert (one.status, one.edited) == ("unreadable", ())
    assert "more.md" in str(one.why)


def test_a_lock_that_was_edited_by_hand_proves_nothing(demo: Path) -> None:
    """Files that do not come to the entry's digest."""
    sound = entry(UNTOUCHED["manifest"])
    forged = LockEntry(
        path=sound.path,
        name=sound.name,
        version=sound.version,
        digest="0" * 64,
        files=sound.files,
        evidence=sound.evidence,
    )
    one = verified(demo, lock_of(forged))
    assert one.status == "unreadable"
    assert "edited by hand" in str(one.why)


def test_a_folder_without_a_skill_is_an_error(tmp_path: Path) -> None:
    """Nothing to compare is no success."""
    with pytest.raises(InputError, match="is no skill and holds none"):
        verify_installed(tmp_path, tmp_path / "none.json", lock_of(entry(UNTOUCHED["manifest"])))
