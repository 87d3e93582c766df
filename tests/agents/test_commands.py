"""Which files a shell command calls: a file that is run, and none that is only spoken of."""

from __future__ import annotations

import pytest

from skillassay.agents.commands import called_paths

CALC = ".gemini/skills/calc/scripts/calc.py"


@pytest.mark.parametrize(
    "command",
    [
        f"python3 {CALC}",
        f"python {CALC} --year 2026",
        f"/usr/bin/python3.11 -u -W ignore {CALC}",
        f"./{CALC}",
        f"bash -e {CALC}",
        f"bash -lc 'python3 {CALC} 3'",
        f"uv run {CALC}",
        f"uv run --with pandas python {CALC}",
        f"YEAR=2026 env -i python3 {CALC}",
        f"timeout 10 python3 {CALC} > out.txt 2>&1",
        f"ls && python3 {CALC}",
        f"python3 {CALC} | tail -1",
        f"echo begin; if true; then node {CALC}; fi",
        f"echo begin\npython3 {CALC}",
        f"echo $(python3 {CALC})",
        f"python3 \\\n  {CALC}",
        f'python3 "{CALC}"',
        f"python3 {CALC} <<EOF\n3\nEOF",
        "cd .gemini/skills/calc && python3 scripts/calc.py",
        "cd .gemini/skills/calc/scripts; ./calc.py",
        "cd .gemini/skills/calc/scripts; uv run calc.py",
    ],
)
def test_what_is_run_is_called(command: str) -> None:
    """As the command word, or as the program of an interpreter, wherever in a list of commands."""
    assert called_paths(command) == (CALC,)


@pytest.mark.parametrize(
    "command",
    [
        f"cat {CALC}",
        f"echo python3 {CALC}",
        f"ls -l {CALC}; head {CALC}",
        f"grep -n python3 {CALC}",
        f"chmod +x {CALC}",
        f"python3 -c 'print(1)' {CALC}",
        f"python3 -m json.tool {CALC}",
        f"python3 - {CALC}",
        f"python3 other.py {CALC}",
        f"wc -l < {CALC}",
        f"echo done > {CALC}",
        f"cat <<EOF\npython3 {CALC}\nEOF",
        f"echo 'python3 {CALC}",
        f'echo "python3 {CALC}"',
        f"# python3 {CALC}",
        f"uv run cat {CALC}",
        "",
    ],
)
def test_what_is_only_named_is_not_called(command: str) -> None:
    """Printed, listed, searched, written, spoken of, or given to another program."""
    assert CALC not in called_paths(command)


def test_a_path_counts_from_where_the_command_was_begun() -> None:
    """A tool may name a folder; an absolute path stays."""
    assert called_paths("python3 scripts/calc.py", folder="skills/calc") == ("skills/calc/scripts/calc.py",)
    assert called_paths(f"python3 /trial/{CALC}", folder="elsewhere") == (f"/trial/{CALC}",)
