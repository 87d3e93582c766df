"""Public reports on digests: trees that must be equal, differ, or have none. The names are the reports' labels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from skillassay.findings import Finding
from skillassay.skills.digest import SkillFiles, build_manifest, read_files
from skillassay.skills.discovery import load_package

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "digest"
SKILL = b"---\nname: demo\ndescription: d\n---\n"


def read(folder: Path) -> tuple[SkillFiles, tuple[Finding, ...]]:
    """Read a folder, with a SKILL.md put in where the report has none."""
    if not (folder / "SKILL.md").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_bytes(SKILL)
    files, _, findings = read_files(folder, path="demo")
    assert files is not None
    return files, findings


def test_bazel_diff_362_modes_do_not_count(tmp_path: Path) -> None:
    """Tinder/bazel-diff#362: no mode bit is part of the format, the owner's execute bit neither."""
    digests = set()
    for mode in (0o600, 0o610, 0o601, 0o700):
        script = tmp_path / f"{mode:o}" / "run.sh"
        script.parent.mkdir()
        script.write_bytes(b"echo\n")
        script.chmod(mode)
        digests.add(read(script.parent)[0].digest)
    assert len(digests) == 1
    assert None not in digests


def test_common_skills_41_stray_files_do_not_count(tmp_path: Path) -> None:
    """warpdotdev/common-skills#41: one ignore list for writing and verifying."""
    clean = PUBLIC / "common-skills-41" / "clean"
    stray = shutil.copytree(clean, tmp_path / "skill")
    (stray / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    cache = stray / "scripts" / "__pycache__"
    cache.mkdir()
    (cache / "x.cpython-311.pyc").write_bytes(b"\0x")
    (stray / "scripts" / "y.pyc").write_bytes(b"\0y")
    assert read(stray)[0].digest == read(clean)[0].digest
    assert read(stray)[0].left_out == (".DS_Store", "scripts/__pycache__/", "scripts/y.pyc")


GRAM = ("Z.md", "a.md", "B.md", "ä.md", "_x.md", "i.md", "I.md", "a/b.md", "a-b.md")


def test_gram_2207_paths_are_sorted_by_their_bytes() -> None:
    """speakeasy-api/gram#2207: the published order, independent of any locale."""
    manifest = build_manifest([(path, "0" * 64) for path in GRAM])
    order = [line[66:] for line in manifest.split(b"\n")[:-1]]
    assert order == [b"B.md", b"I.md", b"Z.md", b"_x.md", b"a-b.md", b"a.md", b"a/b.md", b"i.md", "ä.md".encode()]


def test_gram_2207_the_whole_tree_holds_two_names_that_collide(tmp_path: Path) -> None:
    """speakeasy-api/gram#2207: `I.md` and `i.md` cannot both be checked out on macOS or Windows."""
    for path in GRAM:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(f"{path}\n", encoding="utf-8")
    files, findings = read(tmp_path)
    assert files.digest is None
    assert [one.code for one in findings] == ["digest.name-collision"]
    assert "`I.md` and `i.md`" in findings[0].message


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "en_US.UTF-8", "tr_TR.UTF-8"])
@pytest.mark.parametrize("seed", ["0", "1"])
def test_gram_2207_one_digest_under_every_locale_and_hash_seed(locale: str, seed: str, tmp_path: Path) -> None:
    """speakeasy-api/gram#2207: the digest of this process and of one in another locale."""
    for path in GRAM:
        if path != "I.md":
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(f"{path}\n", encoding="utf-8")
    expected = read(tmp_path)[0].digest
    code = (
        "import sys; from skillassay.skills.digest import read_files\n"
        "print(read_files(sys.argv[1], path='x')[0].digest)"
    )
    environment = {
        **os.environ,
        "LC_ALL": locale,
        "PYTHONHASHSEED": seed,
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == expected


def test_uv_20737_a_link_that_leaves(tmp_path: Path) -> None:
    """astral-sh/uv#20737: never silently the content of an outside file."""
    shutil.copytree(PUBLIC / "uv-20737" / "real", tmp_path / "real")
    linked = tmp_path / "linked"
    linked.mkdir()
    shutil.copy(tmp_path / "real" / "SKILL.md", linked)
    (linked / "ref.md").symlink_to("../real/ref.md")
    files, findings = read(linked)
    assert files.digest is None
    assert [(one.code, one.path) for one in findings] == [("digest.link-leaves", "demo/ref.md")]
    assert "../real/ref.md" in findings[0].message


def test_uv_20737_a_cycle_is_named_at_once(tmp_path: Path) -> None:
    """astral-sh/uv#20737: an error naming the link, within a second."""
    (tmp_path / "loop").symlink_to(".")
    start = time.monotonic()
    files, findings = read(tmp_path)
    assert time.monotonic() - start < 20
    assert files.digest is None
    assert [(one.code, one.path) for one in findings] == [("digest.link-loops", "demo/loop")]


def test_uv_20737_links_that_leave_and_come_back(tmp_path: Path) -> None:
    """astral-sh/uv#20737, the same kind: the way counts, not only the end."""
    skill = tmp_path / "skill"
    read(skill)
    (skill / "a.md").write_bytes(b"a")
    (skill / "b.md").symlink_to("../skill/a.md")
    assert [one.code for one in read(skill)[1]] == ["digest.link-leaves"]


def test_uv_20737_links_in_a_row(tmp_path: Path) -> None:
    """astral-sh/uv#20737, the same kind: each step inside is followed, through linked folders too."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_bytes(b"a\n")
    (tmp_path / "b.md").symlink_to("c.md")
    (tmp_path / "c.md").symlink_to("./real/../real/a.md")
    files, findings = read(tmp_path)
    assert findings == ()
    assert files.digest is not None
    by_path = {one.path: one for one in files.entries}
    assert by_path["b.md"].sha256 == by_path["real/a.md"].sha256
    assert by_path["b.md"].source == str(tmp_path / "real" / "a.md")


def test_vercel_skills_1517_lost_files_change_the_digest() -> None:
    """vercel-labs/skills#1517: SKILL.md alone is another skill than SKILL.md with its references."""
    full, stripped = (read(PUBLIC / "vercel-skills-1517" / name)[0] for name in ("full", "stripped"))
    assert full.digest != stripped.digest
    assert {one.path for one in full.entries} - {one.path for one in stripped.entries} == {"references/rules.md"}


def test_vercel_skills_1517_the_dead_link_is_a_finding() -> None:
    """vercel-labs/skills#1517: a relative link without target, with its line."""
    package = load_package(str(PUBLIC / "vercel-skills-1517" / "stripped"), path="skills/demo")
    assert package is not None
    [finding] = [one for one in package.findings if one.code == "skill.dead-link"]
    assert (finding.path, finding.line) == ("skills/demo/SKILL.md", 6)
    assert "references/rules.md" in finding.message


def test_mcp_ts_core_238_every_edit_changes_the_digest() -> None:
    """cyanheads/mcp-ts-core#238: body and version line are both content."""
    names = ("base", "changed", "bumped", "only-bump")
    digests = {read_files(PUBLIC / "mcp-ts-core-238" / name, path=name, ignore=("lock.json",))[0] for name in names}
    assert len({files.digest for files in digests if files is not None}) == 4


def test_vm0_17835_names_with_delimiters_are_refused(tmp_path: Path) -> None:
    """vm0-ai/vm0#17835: two trees never share a manifest."""
    first, second = tmp_path / "m1", tmp_path / "m2"
    for folder in (first, second):
        folder.mkdir()
    (first / "x").write_bytes(b"content A\n")
    (first / "y").write_bytes(b"content B\n")
    (second / "x:ae95b3147662a6250d7bc9e65d8e994a11adc9e02efa0b46a3d85abb61fa6ded\ny").write_bytes(b"content B\n")
    assert read(first)[0].digest is not None
    assert read(second)[0].digest is None
    assert [one.code for one in read(second)[1]] == ["digest.name-control"]
