"""A small real agent for tests: a Python program that tells what it sees and does what its query says.

PROBE fields…    a JSON object of what it sees, as its answer
EXIT n           an answer, then exit code n
SLEEP            no end
FLOOD            more output than anybody reads
SILENT           nothing
RUN path         the output of a script
"""

from __future__ import annotations

import sys
from pathlib import Path

PROGRAM = """\
#!{python} -E
import json, os, subprocess, sys, time
from pathlib import Path

def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())

def text(path):
    try:
        return Path(path).read_text()
    except OSError:
        return None

query = sys.argv[-1]
word, _, rest = query.partition(" ")
if word == "EXIT":
    print("an answer that must not count")
    sys.exit(int(rest))
elif word == "SLEEP":
    print("an answer that must not count", flush=True)
    time.sleep(600)
elif word == "FLOOD":
    while True:
        print("x" * 100_000)
elif word == "RUN":
    print(subprocess.run([sys.executable, rest], capture_output=True, text=True).stdout)
elif word != "SILENT":
    print(json.dumps({{
        "files": tree("."),
        "context": text("AGENTS.md"),
        "skill": text(".agents/skills/greeter/SKILL.md"),
        "home": tree(os.environ["HOME"]),
        "home_path": os.environ["HOME"],
        "cwd": os.getcwd(),
        "env": dict(os.environ),
        "argv": sys.argv[1:],
        "secret": text({secret!r}),
        "processes": [text(path) for path in Path("/proc").glob("[0-9]*/environ")] if rest == "processes" else [],
    }}))
"""
AGENT = """\
agent: 1
name: probe
argv: [./probe, "--model={model}", "{query}"]
skills_folder: .agents/skills
context_file: AGENTS.md
output: text
key: PROBE_KEY
base_url: PROBE_URL
env: [PROBE_WORD]
reserved: [.probe]
"""


def write_probe(folder: Path, *, secret: Path | None = None) -> Path:
    """Write the program and the file that describes it; the file."""
    program = folder / "probe"
    program.write_text(PROGRAM.format(python=sys.executable, secret=str(secret or folder / "none")), "utf-8")
    program.chmod(0o755)
    described = folder / "probe.yaml"
    described.write_text(AGENT, "utf-8")
    return described
