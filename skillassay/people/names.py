"""Who may stand for a decision: a person with a name. Owns what is no such name; knows nobody and proves nothing.

Whoever can write a file can write any name into it. What is refused is what could not be asked about it later: nothing,
a role, a team, a program.
"""

from __future__ import annotations

import re
import unicodedata

NOBODY = frozenset(
    (
        *("agent", "ai", "all", "and", "anonymous", "any", "anyone", "assistant", "automation", "bot", "build"),
        *("calibrator", "chatbot", "ci", "claude", "codex", "everybody", "everyone", "fixture", "gemini", "gpt"),
        *("judge", "judges", "llm", "machine", "me", "model", "myself", "na", "nobody", "no", "none", "nul"),
        *("null", "of", "one", "openai", "pipeline", "robot", "script", "self", "skillassay", "somebody", "someone"),
        *("system", "tbd", "the", "todo", "tool", "unknown", "us", "user", "we", "xxx"),
        *("flash", "haiku", "mini", "nano", "opus", "preview", "pro", "sonnet"),
    )
)
"""Words that name no person: programs, pronouns, place holders."""
ROLES = frozenset(
    (
        *("admin", "administrator", "approver", "approvers", "architect", "board", "chief", "committee", "compliance"),
        *("council", "cto", "ceo", "ciso", "dev", "developer", "developers", "devops", "director", "engineer"),
        *("engineering", "engineers", "group", "head", "lead", "leader", "legal", "maintainer", "maintainers"),
        *("management", "manager", "managers", "officer", "on", "call", "oncall", "operations", "operator", "ops"),
        *("owner", "owners", "platform", "product", "qa", "quality", "release", "responsible", "reviewer"),
        *("reviewers", "risk", "root", "security", "senior", "sre", "staff", "support", "team", "teams", "tech"),
        *("test", "tester", "testers", "testing"),
    )
)
"""Words for what somebody is, which tell no one who it was. Beside a name they may stand: `Aiko Mori, QA lead`."""

_DOMAIN = re.compile(r"@\S*")
_BREAK = re.compile(r"[\W\d_]+")


def name_problem(text: str) -> str | None:
    """Why ``text`` is no person's name; None when it may be one.

    At least one word must be neither a role nor the word for a program or for nobody, and more than an initial. Of an
    address the part before the @ counts.
    """
    words = [word for word in _BREAK.split(_folded(_DOMAIN.sub(" ", text))) if word]
    if not words:
        return f"{text.strip()[:60]!r} names nobody"
    if not any((len(word) > 1 or not word.isascii()) and word not in NOBODY | ROLES for word in words):
        what = "a role" if any(word in ROLES for word in words) else "no person"
        return f"{text.strip()[:60]!r} is {what}: write the name of the one who decided"
    return None


def same_person(one: str, other: str) -> bool:
    """Whether two names are written alike, apart from case, width and spaces."""
    return _folded(one) == _folded(other)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
