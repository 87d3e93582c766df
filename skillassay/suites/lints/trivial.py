"""Answers that say nothing, held against the checks of a case. Owns which these are and how much each of them means.

Five of them: nothing, white space, a refusal in general terms, the query again, the body of the skill. A check that
forbids something passes on nothing by its nature, and is no finding alone; a case whose checks *all* pass is one, a
note where they all forbid beside a rubric. The query again passes on an option that it lists: that is no finding. A
check of a file of the workspace is never passed by an answer alone. What a judge would say cannot be asked here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillassay.checks import evaluate
from skillassay.checks.base import Check, CheckFault, Verdict
from skillassay.findings import Severity, register
from skillassay.suites.lints.base import FORBIDDING, Doubt, LintedCase, SkillTexts, doubt, listed
from skillassay.suites.lints.expected import options_in_query

CHECK_PASSES = register("suite.check-passes-idly", "A check passes on an answer that says nothing.")
CASE_PASSES = register("suite.case-passes-idly", "All code checks of a case pass on an answer that says nothing.")
UNDECIDED = register("suite.check-undecided", "A check meets its time limit on an answer that says nothing.")

EMPTY, BLANK, REFUSAL, QUERY, SKILL = "empty", "blank", "refusal", "query", "skill"
REFUSAL_TEXT = "I'm sorry, I can't help with that."
WORDS = {
    EMPTY: "an empty answer",
    BLANK: "white space",
    REFUSAL: "a refusal in general terms",
    QUERY: "the query said again",
    SKILL: "the skill's own text",
}
_WHATEVER = frozenset({REFUSAL, QUERY, SKILL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """On which idle answers one check of a case passes, and on which it could not decide."""

    check: Check
    passes: tuple[str, ...]
    undecided: Mapping[str, str]


def idle_answers(linted: LintedCase, skill: SkillTexts | None) -> dict[str, str]:
    """The idle answers to a case by name; without the skill's where it has no text."""
    answers = {EMPTY: "", BLANK: " \n\n ", REFUSAL: REFUSAL_TEXT, QUERY: linted.case.query}
    if skill is not None and skill.body.strip():
        answers[SKILL] = skill.body
    return answers


def probe_case(linted: LintedCase, skill: SkillTexts | None) -> tuple[Idle, ...]:
    """Every check of a case on every idle answer; a check of a file gets them as the file's text."""
    answers = idle_answers(linted, skill)
    return tuple(_probe(check, answers) for check in linted.checks)


def _probe(check: Check, answers: Mapping[str, str]) -> Idle:
    passes, undecided = [], {}
    for name, text in answers.items():
        try:
            result = evaluate(check, text)
        except CheckFault as fault:
            undecided[name] = str(fault)
            if "ran over" in str(fault):
                break  # a pattern that backtracks would cost the same second on every further text
            continue
        if result.verdict is Verdict.PASS:
            passes.append(name)
    return Idle(check=check, passes=tuple(passes), undecided=undecided)


def trivial_doubts(
    linted: LintedCase, idle: Sequence[Idle], told: Collection[tuple[str | None, str]] = ()
) -> Iterator[Doubt]:
    """The checks of a case that ask for nothing, and the case itself where none of its checks asks for anything.

    ``told`` are check and idle answer of what another lint says already: the value itself stands there.
    """
    options = options_in_query(linted.case)
    whole = [name for name in _passing_all(linted, idle) if not (options and name == QUERY)]
    for one in idle:
        for name, why in one.undecided.items():
            message = f"on {WORDS[name]} the check has no verdict: {why}"
            hint = "write a pattern that does not backtrack: the trials would be unscored"
            yield doubt(UNDECIDED, Severity.WARNING, linted, message, hint=hint, item=one.check.check_id)
        # A case is told once: what is said of it as a whole is not said again of a lone check.
        said = set(whole) if len(idle) == 1 else set()
        if one.check.check_id in options:
            said.add(QUERY)
        passes = [name for name in one.passes if name not in said and (one.check.check_id, name) not in told]
        if passes and one.check.type not in FORBIDDING:
            yield _check_doubt(linted, one, passes)
    if whole:
        yield _case_doubt(linted, whole)


def _check_doubt(linted: LintedCase, one: Idle, passes: list[str]) -> Doubt:
    is_whatever = set(one.passes) >= _WHATEVER
    what = "whatever is said" if is_whatever else listed([WORDS[name] for name in passes])
    subject = "a file that holds " if one.check.file is not None else ""
    message = f"the check passes on {subject}{what}"
    severity = Severity.WARNING if is_whatever else Severity.NOTE
    hint = "ask for what only a right answer says"
    return doubt(CHECK_PASSES, severity, linted, message, hint=hint, item=one.check.check_id)


def _passing_all(linted: LintedCase, idle: Sequence[Idle]) -> list[str]:
    """The idle answers on which every check passes: none without checks, or where code compares a behaviour."""
    if not idle or linted.case.behavior is not None or any(one.check.file is not None for one in idle):
        return []
    return [name for name in WORDS if all(name in one.passes for one in idle)]


def _case_doubt(linted: LintedCase, whole: list[str]) -> Doubt:
    n_checks = len(linted.checks)
    checks = "the only check passes" if n_checks == 1 else f"all {n_checks} checks pass"
    on = listed([WORDS[name] for name in whole])
    is_skill_alone = whole == [SKILL]
    if linted.case.rubric:
        message = f"{checks} on {on}: the judge alone stands before it"
        # Guards are there to forbid; that the judge asks for the rest is how such a case is meant.
        is_guarded = all(one["type"] in FORBIDDING for one in linted.case.checks)
        severity = Severity.NOTE if is_skill_alone or is_guarded else Severity.WARNING
        hint = "add a check that only a right answer passes, so that code decides something of this case"
    else:
        message = f"{checks} on {on}, and there is no rubric: the case passes"
        severity = Severity.WARNING if is_skill_alone else Severity.ERROR
        hint = "add a check that only a right answer passes, or a rubric"
    return doubt(CASE_PASSES, severity, linted, message, hint=hint)
