"""What a script is called with, read from its text."""

from __future__ import annotations

import pytest

from skillassay.skills.arguments import differs_in_comments_alone, is_script, read_arguments


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.py",
            'p.add_argument("f", nargs="?")\np.add_argument("-v", "--verbose")',
            ("argument 1?", "-v?", "--verbose?"),
        ),
        ("a.py", 'p.add_argument("--to", required=True)', ("--to",)),
        ("a.py", '@click.option("--n", required=True)\n@click.argument("f")\ndef m(): ...', ("--n", "argument 1")),
        ("a.py", "import sys\nprint(sys.argv[1])", ("sys.argv[1]",)),
        ("a.py", "import sys\nif len(sys.argv) != 3: raise SystemExit", ("len(sys.argv) != 3",)),
        ("a.py", 'getopt.getopt(sys.argv[1:], "ab:", ["out="])', ("-a?", "-b?", "--out?", "sys.argv[1:]")),
        ("a.sh", 'while getopts "ab:" o; do :; done', ("-a?", "-b?")),
        ("a.sh", 'case "$1" in\n  -q|--quiet) x ;;\n  --to=*) y ;;\nesac', ("-q?", "--quiet?", "--to?", "argument 1")),
        ("a.sh", "echo \"${1:-no}\"\nawk '{print $2}' f", ("argument 1?",)),
        ("run", "#!/bin/sh\ncat $1", ("argument 1",)),
        ("a.js", "const f = process.argv[2]", ("process.argv[2]",)),
        ("a.mjs", "program.requiredOption('-o, --out <f>').option('--dry'); // commander", ("--out", "--dry?")),
        ("a.js", "console.log('--not-an-option')", ()),
    ],
)
def test_what_is_taken(path: str, text: str, expected: tuple[str, ...]) -> None:
    """Each argument by its name; a question mark says here that it may be left out."""
    found = read_arguments(path, text)
    assert found is not None
    assert sorted(f"{name}{'' if must else '?'}" for name, must in found.items()) == sorted(expected)


@pytest.mark.parametrize(("path", "text"), [("a.rb", "ARGV[0]"), ("a.py", "def ("), ("data.bin", "x")])
def test_what_cannot_be_read_is_not_nothing(path: str, text: str) -> None:
    """Another language or a broken program: unknown."""
    assert read_arguments(path, text) is None


@pytest.mark.parametrize(
    ("path", "before", "after", "same"),
    [
        ("a.py", "x = 1  # one\n", "x = 1\n", True),
        ("a.py", 'x = "# one"\n', 'x = "# two"\n', False),
        ("a.sh", "#!/bin/sh\n# one\necho 1\n", "#!/bin/sh\n# two\n\necho 1\n", True),
        ("a.sh", "#!/bin/sh\necho 1\n", "#!/bin/bash\necho 1\n", False),
        ("a.sh", "cat <<E\n# one\nE\n", "cat <<E\n# two\nE\n", False),
        ("a.js", "// one\nf()\n", "f()\n", True),
        ("a.js", "x = `\n// one\n`\n", "x = `\n// two\n`\n", False),
        ("a.go", "// one\n", "// two\n", False),
    ],
)
def test_comments(path: str, before: str, after: str, same: bool) -> None:
    """Only what is certainly a comment is one: never a line of a here-document or a template."""
    assert differs_in_comments_alone(path, before, after) == same


@pytest.mark.parametrize(
    ("path", "data", "expected"),
    [("scripts/x", b"", True), ("tool.py", b"", True), ("run", b"#!/bin/sh", True), ("references/a.md", b"# x", False)],
)
def test_what_is_a_script(path: str, data: bytes, expected: bool) -> None:
    """By folder, ending or first bytes."""
    assert is_script(path, data) == expected
