"""Who may stand for a decision: a person with a name. Owns what is no such name, and when two names may be one person.

Whoever can write a file can write any name into it: nobody is known here, and nothing is proved. What is refused is
what could not be asked about it later: nothing, a role, a team, a program.

Two questions are asked of two names, and each errs on its own side. *Must this be somebody else?* (``same_person``)
errs towards one person: who shares all telling words with the one who asks is no second opinion. *Does this verdict
replace that one?* (``same_name``) errs towards two: a verdict taken for another person's would silence that.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import permutations

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

TITLES = frozenset(
    (
        *("dr", "doctor", "prof", "professor", "mr", "mrs", "ms", "miss", "mx", "sir", "madam", "mme", "mlle", "herr"),
        *("frau", "monsieur", "madame", "mademoiselle", "senor", "senora", "sra", "srta", "signor", "signora"),
        *("dipl", "ing", "phd", "dphil", "msc", "bsc", "mba", "md", "esq", "san", "sama", "sensei", "kun", "chan"),
        *("さん", "様", "さま", "氏", "先生", "殿", "君"),
    )
)
"""Words before or behind a name that make nobody somebody else. The Japanese ones also stand at its end unspaced."""
_BIRTH = frozenset(("sr", "jr", "junior", "ii", "iii", "iv"))
_LINKS = frozenset(("the", "of", "for", "and", "at", "in"))
_UNSPACED = tuple(title for title in TITLES if not title.isascii())
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
_MOST_PARTS = 4
"""Of how many words one that is written in one piece may be made: `aikomori`, `佐藤美香`."""

_DOMAIN = re.compile(r"@\S*")
_BREAK = re.compile(r"[\W\d_]+")
_JOINING = re.compile("['\u2018\u2019\u02bc`\u2010\u2011-]")
"""Marks inside a name that some people leave out."""
_ACCENTS = re.compile("[\u0300-\u036f]")
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")


def name_problem(text: str) -> str | None:
    """Why ``text`` is no person's name; None when it may be one.

    At least one word must be neither a role nor the word for a program or for nobody, and more than an initial. Of an
    address the part before the @ counts.
    """
    shown, words = repr(text.strip()[:60]), _words(text)
    if not words:
        return f"{shown} names nobody"
    if mixed := [word for word in words if len(_alphabets(word)) > 1]:
        return f"{shown} mixes letters of several alphabets in {mixed[0]!r}, so it looks like a name that it is not"
    if not any(not _is_initial(word) and word not in NOBODY | ROLES | TITLES for word in words):
        what = "a role" if any(word in ROLES for word in words) else "no person"
        return f"{shown} is {what}: write the name of the one who decided"
    return None


def same_person(one: str, other: str) -> bool:
    """Whether two names may be one person's: all telling words of one are among the other's, in whatever order.

    Not telling are roles, titles, initials, accents, case, width, punctuation, and the host of an address. Names with
    no other word are compared as they are written.
    """
    first, second = (_telling(name) for name in (one, other))
    if not first or not second:
        return _folded(one) == _folded(other)
    if first <= second or second <= first or _in_one_piece(first, second) or _in_one_piece(second, first):
        return True
    joined = [_telling(_JOINING.sub("", name)) for name in (one, other)]
    return any(a <= b or b <= a for a in (first, joined[0]) for b in (second, joined[1]) if a and b)


def same_name(one: str, other: str) -> bool:
    """Whether two names are surely one: as written, or alike in two telling words and all initials and numerals."""
    if _folded(one) == _folded(other):
        return True
    first, second = (_plain(name) - ROLES - TITLES - _LINKS for name in (one, other))
    return first == second and len(_telling(one)) > 1


def _telling(name: str) -> frozenset[str]:
    """The words of a name that say who it is."""
    words = _plain(name) - ROLES - TITLES - _BIRTH - _LINKS
    return frozenset(word for word in words if not _is_initial(word))


def _is_initial(word: str) -> bool:
    """Whether a word is one letter of a script that has capitals; one of another may be a whole name."""
    return len(word) == 1 and word.upper() != word.lower()


def _in_one_piece(single: frozenset[str], parts: frozenset[str]) -> bool:
    """Whether a name of one word is the other's words written together, in any order."""
    if len(single) != 1 or not 1 < len(parts) <= _MOST_PARTS:
        return False
    return any("".join(order) in single for order in permutations(parts))


def _plain(name: str) -> frozenset[str]:
    """The words of a name without accents, and without a Japanese title at the end of one."""
    return frozenset(_untitled(_ACCENTS.sub("", unicodedata.normalize("NFKD", word))) for word in _words(name))


def _untitled(word: str) -> str:
    plain = unicodedata.normalize("NFC", word).translate(_LETTERS)
    title = next((title for title in _UNSPACED if plain.endswith(title) and len(plain) > len(title) + 1), "")
    return plain.removesuffix(title)


def _words(name: str) -> list[str]:
    return [word for word in _BREAK.split(_folded(_DOMAIN.sub(" ", name))) if word]


def _alphabets(word: str) -> set[str]:
    names = (unicodedata.name(letter, "").partition(" ")[0] for letter in word)
    return {name for name in names if name in _ALPHABETS}


def _folded(text: str) -> str:
    # Characters of format (a zero-width space) are not seen, and would cut a word in two.
    seen = "".join(sign for sign in unicodedata.normalize("NFKC", text) if unicodedata.category(sign) != "Cf")
    return " ".join(seen.casefold().split())
