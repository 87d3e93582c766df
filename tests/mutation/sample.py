"""A skill of every part that can be damaged, as its source and as a project."""

from __future__ import annotations

from skillassay.mutation.mutants import Source
from skillassay.mutation.structure import Part

SKILL_MD = """\
---
name: greeter
description: >
  Says hello
  twice.
metadata:
  version: "1.0.0"
---

# Greeting

Say it at most 3 times.

## Steps

1. Run `scripts/hello.py` once.
2. Read [the words](references/words.md).

## Words

| word | times |
| --- | --- |
| hello | 12 |

```sh
scripts/hello.py --times 7
```
"""
WORDS = "# Words\n\n- hello\n- good day\n"
SCRIPT = "print('hello 5')\n"
FILES = {"SKILL.md": SKILL_MD, "references/words.md": WORDS, "scripts/hello.py": SCRIPT, "NOTES.txt": "mine\n"}
SOURCE = Source(
    file="SKILL.md",
    body=8,
    description=Part(start=2, end=5),
    texts=FILES,
    others=frozenset({"assets/logo.png"}),
    scripts=("scripts/hello.py",),
)
