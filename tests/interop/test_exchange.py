"""Reading evals.json of other tools into a suite here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillassay.cli.main import main
from skillassay.errors import InputError
from skillassay.interop.exchange import Imported, merge_cases
from skillassay.interop.importing import read_import
from skillassay.suites.case import load_suite
from tests.project import Cli

GUIDE: dict[str, Any] = {
    "skill_name": "pdf-forms",
    "evals": [
        {
            "id": 1,
            "prompt": "Fill this form for Ada.",
            "expected_output": "Every field is filled.",
            "files": ["evals/files/form.csv"],
            "assertions": ["The name field holds Ada.", "The date field is not empty."],
        },
        {
            "id": "second case",
            "prompt": "Which fields are required?",
            "expectations": [{"text": "Names the signature field."}],
        },
    ],
}


@pytest.fixture
def skill_folder(tmp_path: Path) -> Path:
    """A skill with an evals.json and one of the files it names."""
    folder = tmp_path / "skills" / "pdf-forms"
    (folder / "evals" / "files").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: pdf-forms\ndescription: Fills forms.\n---\nBody\n", encoding="utf-8")
    (folder / "evals" / "files" / "form.csv").write_text("name;date\n", encoding="utf-8")
    (folder / "evals" / "evals.json").write_text(json.dumps(GUIDE), encoding="utf-8")
    return folder


def read(value: Any, folder: Path, skill: str | None = None) -> Imported:
    """The mapping of ``value`` as if it stood in the skill's evals.json."""
    return read_import(value, source=folder / "evals" / "evals.json", skill=skill)


def test_assertions_and_expectations_become_the_rubric(skill_folder: Path) -> None:
    """Both keys are read, as text or as an object with text, word for word."""
    cases = read(GUIDE, skill_folder).cases
    assert [case["rubric"] for case in cases] == [
        ["The name field holds Ada.", "The date field is not empty."],
        ["Names the signature field."],
    ]


def test_expected_output_is_the_judges_reference(skill_folder: Path) -> None:
    """expected_output lands in `reference` and nowhere the candidate could see it."""
    first = read(GUIDE, skill_folder).cases[0]
    assert first["reference"] == "Every field is filled."
    assert first["query"] == "Fill this form for Ada."


def test_ids_hold_skill_and_id(skill_folder: Path) -> None:
    """Numbers and texts become ids of the suite's form."""
    assert [case["id"] for case in read(GUIDE, skill_folder).cases] == ["pdf-forms-1", "pdf-forms-second-case"]


@pytest.mark.parametrize("name", ["evals/files/form.csv", "files/form.csv"])
def test_files_are_found_against_skill_and_evals_folder(skill_folder: Path, name: str) -> None:
    """Public files are written against either folder; both are found, and copied to one place."""
    value = {"skill_name": "s", "evals": [{"id": 1, "prompt": "p", "assertions": ["a"], "files": [name]}]}
    imported = read(value, skill_folder)
    assert imported.lost == ()
    assert [copy.target for copy in imported.files] == [f"files/s/{name}"]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"id": 1, "prompt": "p"}, "neither assertions nor expectations"),
        ({"id": 1, "assertions": ["a"]}, "no prompt"),
        ({"id": 1, "prompt": "p", "assertions": ["a"], "difficulty": "hard"}, "field 'difficulty'"),
        (
            {"id": 1, "prompt": "p", "assertions": ["a"], "expected_output": ["x"]},
            "field 'expected_output', which is no",
        ),
        ({"id": 1, "prompt": "p", "assertions": ["a"], "files": "x.csv"}, "field 'files', which is no list"),
        ({"id": 1, "prompt": "p", "assertions": ["a"], "should_trigger": False}, "statement 'a', since a routing"),
        ({"id": 1, "prompt": "p", "assertions": [{"pattern": "x"}, "a"]}, "an assertion without text"),
        ({"id": 1, "prompt": "p", "assertions": [{"text": "a", "type": "regex"}]}, "the fields type"),
    ],
)
def test_what_cannot_be_carried_is_listed(skill_folder: Path, item: dict[str, Any], words: str) -> None:
    """Nothing is dropped silently."""
    lost = read({"skill_name": "s", "evals": [item]}, skill_folder).lost
    assert len(lost) == 1
    assert words in lost[0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gone.txt", "not carried, its file 'gone.txt' does not exist: add it"),
        ("evals", "'evals' does not exist"),
        ("nul\0", "does not exist"),
        ("../../etc/passwd", "not carried, its file '../../etc/passwd' leaves the skill"),
        ("/etc/hostname", "leaves the skill"),
        (7, "leaves the skill"),
    ],
)
def test_a_case_that_lacks_a_file_is_not_carried(skill_folder: Path, name: object, words: str) -> None:
    """Without it the case would be another question. Its other files are not copied, other cases are carried."""
    names = ["evals/files/form.csv", name]
    items = [
        {"id": 1, "prompt": "p", "assertions": ["a"], "files": names},
        {"id": 2, "prompt": "p", "assertions": ["a"]},
    ]
    imported = read({"skill_name": "s", "evals": items}, skill_folder)
    (lost,) = imported.lost
    assert words in lost
    assert [case["id"] for case in imported.cases] == ["s-2"]
    assert imported.files == ()


@pytest.mark.parametrize("value", [{}, {"evals": {}}, None, "x", [7], 0])
def test_another_shape_is_refused(skill_folder: Path, value: Any) -> None:
    """A file that is no evals.json is an input error."""
    with pytest.raises(InputError):
        read(value, skill_folder, skill="s")


def test_a_case_that_is_there_word_for_word_is_left() -> None:
    """Merging twice adds nothing."""
    case = {"id": "a", "skill": "s", "query": "q", "rubric": ["r"]}
    once = merge_cases([], [case], shown_as="x")
    again = merge_cases(once.document, [case], shown_as="x")
    assert (once.added, again.added, again.present) == (("a",), (), ("a",))
    assert again.document == once.document


def test_the_same_id_with_another_content_is_refused() -> None:
    """A suite is append-only."""
    own = {"suite": "s", "version": "1", "cases": [{"id": "a", "skill": "s", "query": "q", "rubric": ["r"]}]}
    with pytest.raises(InputError, match="another content"):
        merge_cases(own, [{"id": "a", "skill": "s", "query": "other", "rubric": ["r"]}], shown_as="x")


def test_import_writes_a_suite_that_loads(
    skill_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through the command: the suite is valid, its files lie beside it, and a second import changes no byte."""
    source = str(skill_folder / "evals" / "evals.json")
    assert main(["--root", str(tmp_path), "import", source]) == 0
    suite = load_suite(tmp_path / "evals" / "quality.json", shown_as="evals/quality.json").suite
    assert suite is not None
    assert suite.cases[0].files[0].text == "name;date\n"
    before = (tmp_path / "evals" / "quality.json").read_bytes()
    assert main(["--root", str(tmp_path), "import", source]) == 0
    assert (tmp_path / "evals" / "quality.json").read_bytes() == before
    assert "0 added, 2 already there, 0 things not carried" in capsys.readouterr().out


def test_a_dry_run_writes_nothing(skill_folder: Path, tmp_path: Path) -> None:
    """With --dry-run no file appears."""
    assert main(["--root", str(tmp_path), "import", "--dry-run", str(skill_folder / "evals" / "evals.json")]) == 0
    assert not (tmp_path / "evals").exists()


def test_losses_exit_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A partial import says so by its exit code and lists what is missing."""
    source = tmp_path / "evals.json"
    source.write_text(json.dumps({"skill_name": "s", "evals": [{"id": 1, "prompt": "p"}]}), encoding="utf-8")
    assert main(["--root", str(tmp_path), "import", str(source)]) == 1
    assert "lost " in capsys.readouterr().out


def put(path: Path, *evals: dict[str, Any]) -> Path:
    """An evals.json of the skill `s`; every eval has a prompt and an assertion unless told otherwise."""
    items = [{"prompt": "p", "assertions": ["a"]} | item for item in evals]
    path.write_text(json.dumps({"skill_name": "s", "evals": items}), encoding="utf-8")
    return path


def test_importing_again_takes_up_a_case_whose_file_was_added(cli: Cli) -> None:
    """The first import writes nothing for it, so that its id is free and the second one is complete."""
    source = str(put(cli.root / "evals.json", {"id": 1}, {"id": 2, "files": ["form.csv"]}))
    first = cli("import", source)
    assert (first.code, first.out.splitlines()[-1]) == (
        1,
        "evals/quality.json: 1 added, 0 already there, 1 thing not carried",
    )
    assert not (cli.root / "evals" / "files").exists()
    (cli.root / "form.csv").write_text("name\n", encoding="utf-8")
    assert cli("import", source).code == 0
    suite = load_suite(cli.root / "evals" / "quality.json", shown_as="evals/quality.json").suite
    assert suite is not None
    assert [[file.text for file in case.files] for case in suite.cases] == [[], ["name\n"]]


def test_files_of_one_name_in_two_folders_are_two(cli: Cli) -> None:
    """A file is known by its path; a link inside the skill's folder is followed."""
    for folder in ("x", "y"):
        (cli.root / folder).mkdir()
        (cli.root / folder / "form.csv").write_text(folder, encoding="utf-8")
    (cli.root / "x" / "link.csv").symlink_to("../y/form.csv")
    source = put(
        cli.root / "evals.json", {"id": 1, "files": ["x/form.csv", "y/form.csv", "./y/form.csv", "x/link.csv"]}
    )
    assert cli("import", str(source)).code == 0
    suite = load_suite(cli.root / "evals" / "quality.json", shown_as="evals/quality.json").suite
    assert suite is not None
    assert [file.text for file in suite.cases[0].files] == ["x", "y", "y"]


@pytest.mark.parametrize(
    ("name", "text", "words", "hint"),
    [
        ("nosuch.json", None, "nosuch.json does not exist", "name another tool's file of evals"),
        ("torn.json", '{"evals":\n[', "torn.json:2: not JSON", "mend the file"),
        ("latin.json", b"\xe9", "latin.json is not UTF-8", "save the file as UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_error(
    cli: Cli, name: str, text: str | bytes | None, words: str, hint: str
) -> None:
    """An error with a next step, and no errno."""
    if text is not None:
        (cli.root / name).write_bytes(text.encode() if isinstance(text, str) else text)
    ran = cli("import", str(cli.root / name))
    error, tip = ran.err.splitlines()
    assert (ran.code, ran.out) == (3, "")
    assert words in error
    assert "Errno" not in error
    assert tip.startswith(f"hint: {hint}")


OWN = {"id": "own", "skill": "s", "query": "q", "rubric": ["r"]}


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("[{", ["file.syntax"]),
        (json.dumps({"cases": [OWN]}), ["file.schema"]),
        (json.dumps([OWN, OWN, {"id": "x"}]), ["suite.duplicate-id", "file.schema"]),
        (json.dumps([OWN | {"files": ["gone"]}]), ["suite.bad-file"]),
        ("7", ["file.schema"]),
    ],
)
def test_a_broken_suite_is_left_as_it_is(cli: Cli, text: str, codes: list[str]) -> None:
    """What is wrong with it is said with its codes, nothing is written, exit 3."""
    source = put(cli.root / "evals.json", {"id": 1})
    target = cli.root / "evals" / "quality.json"
    target.parent.mkdir()
    target.write_text(text, encoding="utf-8")
    ran = cli("import", str(source))
    assert (ran.code, ran.out) == (3, "")
    assert [code for code in codes if f"error {code}" not in ran.err] == []
    assert target.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"id": 1, "assertions": ["a" * 2001]}, "longer than 2000"),
        ({"id": 1, "prompt": "p" * 100_001}, "longer than 100000"),
        ({"id": 1, "files": ["large"]}, "is over 4194304 bytes"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_nothing_is_written_that_would_not_load(cli: Cli, item: dict[str, Any], words: str, more: tuple[str]) -> None:
    """The merged suite is read before it is written; a dry run says the same."""
    with (cli.root / "large").open("wb") as stream:
        stream.truncate(4 * 1024 * 1024 + 1)
    source = put(cli.root / "evals.json", item, {"id": 2})
    ran = cli("import", *more, str(source))
    assert (ran.code, ran.out) == (3, "")
    assert words in ran.err
    assert not (cli.root / "evals").exists()


def test_a_file_of_a_case_that_is_there_is_not_overwritten(cli: Cli) -> None:
    """Its case's digest holds its content, and a suite is append-only."""
    (cli.root / "form.csv").write_text("one\n", encoding="utf-8")
    assert cli("import", str(put(cli.root / "evals.json", {"id": 1, "files": ["form.csv"]}))).code == 0
    (cli.root / "form.csv").write_text("two\n", encoding="utf-8")
    ran = cli("import", str(put(cli.root / "evals.json", {"id": 2, "files": ["form.csv"]})))
    assert (ran.code, ran.out) == (3, "")
    assert "files/s/form.csv is there with another content" in ran.err
    assert (cli.root / "evals" / "files" / "s" / "form.csv").read_text(encoding="utf-8") == "one\n"
