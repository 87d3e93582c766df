"""What a candidate is told in each mode. Pure text; owns that ``none`` holds no trace of a skill.

The user turn is the same bytes in every mode. The system instruction begins with the contract's general instructions,
then, by mode, the catalog or the whole skills; stable parts come first, so that a provider's prefix cache can hit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from skillassay.canonical import digest_of
from skillassay.runs.plan import BY_TOOLS, Mode
from skillassay.tools import Catalog

CATALOG_INTRO = """\
Skills are at hand for special kinds of requests. Each is listed with its name and what it is for. When a skill fits the
request, call load_skill with its name before you do anything else and follow the instructions it returns step by step.
Read a file that these instructions mention with load_skill_resource, and run a script that they mention with
run_skill_script. When no skill fits, answer directly. Loading a skill does not end your turn: always finish with an
answer to the user."""

EAGER_INTRO = """\
The following skills are at hand, each with its instructions and its files. When one fits the request, follow its
instructions step by step, and run a script that they mention with run_skill_script. When no skill fits, answer
directly. Always finish with an answer to the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSkill:
    """What a prompt shows of a skill. ``texts`` maps paths of its text files (scripts left out) to their content."""

    name: str
    path: str
    description: str
    instructions: str
    texts: Mapping[str, str]
    scripts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """The skills that one trial offers or shows, and their texts for a prompt."""

    catalog: Catalog
    prompt_skills: tuple[PromptSkill, ...]


def system_instruction(
    mode: Mode, *, general: str, skills: Sequence[PromptSkill], eager_scope: str, skill_path: str
) -> str:
    """The system instruction of a trial. Skills come in the order of their names."""
    ordered = sorted(skills, key=lambda skill: (skill.name, skill.path))
    if mode is Mode.NONE:
        return general
    if mode in BY_TOOLS:
        return f"{general}\n\n{CATALOG_INTRO}\n\n{render_catalog(ordered)}"
    if eager_scope == "skill":
        ordered = [skill for skill in ordered if skill.path == skill_path]
    return f"{general}\n\n{EAGER_INTRO}\n\n" + "\n\n".join(render_whole(skill) for skill in ordered)


def prompt_digest() -> str:
    """Digest of the fixed texts above: other words to the candidate make another experiment."""
    return digest_of([CATALOG_INTRO, EAGER_INTRO])


def render_catalog(skills: Sequence[PromptSkill]) -> str:
    """The catalog: name and description of every skill, in the element names that agents have settled on."""
    lines = ["<available_skills>"]
    for skill in skills:
        lines += [
            "<skill>",
            f"<name>{escape(skill.name, quote=False)}</name>",
            f"<description>{escape(skill.description, quote=False)}</description>",
            "</skill>",
        ]
    return "\n".join([*lines, "</available_skills>"])


def render_whole(skill: PromptSkill) -> str:
    """A skill with its body and its text files; of its scripts the paths."""
    parts = [
        f'<skill name="{escape(skill.name)}">',
        "<instructions>",
        skill.instructions.strip("\n"),
        "</instructions>",
    ]
    for path, text in sorted(skill.texts.items()):
        parts += [f'<file path="{escape(path)}">', text.strip("\n"), "</file>"]
    parts += [f'<script path="{escape(path)}"/>' for path in skill.scripts]
    return "\n".join([*parts, "</skill>"])


def user_text(query: str, files: Sequence[tuple[str, str | None]]) -> str:
    """The user turn: the query, then each file with its name; a file that is not text is named only."""
    if not files:
        return query
    blocks = [
        f'<file name="{escape(name)}"/>' if text is None else f'<file name="{escape(name)}">\n{text}\n</file>'
        for name, text in files
    ]
    return "\n\n".join([query, *blocks])
