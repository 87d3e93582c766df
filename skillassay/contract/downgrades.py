"""Which findings a contract may make warnings of. Owns that list; whatever is not on it stays an error.

Only rules of the specification that keep no skill from being read: a lenient client loads such a skill, and its bytes
have a digest all the same. What hides bytes, suites or the lock from a check can never be waved through.
"""

from __future__ import annotations

from collections.abc import Sequence

from skillassay.documents import Document
from skillassay.findings import Finding, Severity, register
from skillassay.skills import lints as skill_lints
from skillassay.skills import skill

NOT_DOWNGRADABLE = register("contract.not-downgradable", "check.downgrade names a code that must stay an error.")

DOWNGRADABLE = frozenset(
    (
        skill.NAME_CHARSET,
        skill.NAME_HYPHENS,
        skill.NAME_LENGTH,
        skill.NAME_FOLDER,
        skill.DESCRIPTION_LENGTH,
        skill.COMPATIBILITY,
        skill.LICENSE,
        skill.ALLOWED_TOOLS,
        skill.UNKNOWN_KEY,
        skill.METADATA,
        skill.METADATA_VALUE,
        skill.METADATA_TYPED,
        skill.VERSION_TOP_LEVEL,
        skill.BODY_EMPTY,
        skill.BODY_LONG,
        skill_lints.DEAD_LINK,
        skill_lints.DEAD_PATH,
        skill_lints.LINK_LEAVES,
        skill_lints.UNSEEN_FILES,
    )
)


def downgrade_findings(document: Document, codes: Sequence[str]) -> tuple[Finding, ...]:
    """One error for each code of a contract's ``check.downgrade`` that may not stand there, with its line."""
    return tuple(
        Finding(
            code=NOT_DOWNGRADABLE,
            severity=Severity.ERROR,
            path=document.path,
            line=document.line_of(("check", "downgrade", index)),
            message=f"check.downgrade: {code!r} cannot be made a warning",
            hint="remove it; docs/reference/contract.md lists the codes that can",
        )
        for index, code in enumerate(codes)
        if code not in DOWNGRADABLE
    )
