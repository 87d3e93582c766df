"""A mutation test in a terminal and as Markdown. Owns layout and wording; decides nothing about a mutant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from tabulate import tabulate

from skillassay.errors import Exit
from skillassay.mutation.mutants import Mutant
from skillassay.mutation.running import MutationView
from skillassay.mutation.verdicts import Failing, Fate, Score, Unmutated, Verdict, build_score
from skillassay.printable import clip, markdown_cell, one_line
from skillassay.report.base import interval_text
from skillassay.report.layout import reason, wrap

FIXTURE_TOLD = (
    "FIXTURE: authored answers and verdicts. A kill shows what their authors foresaw, and not what a model does."
)
NO_EVIDENCE = "This is no part of any gate, no evidence, and changes no lock."
MOST_TEXT_LINES = 2
_ORDER = (Fate.KILLED, Fate.UNDECIDED, Fate.SURVIVED)


def is_reached(score: Score, share: Fraction) -> bool | None:
    """Whether at least this share of the mutants is killed; None while undecided ones could still change that."""
    n_all = score.decided + score.undecided
    if score.killed + score.undecided < share * n_all:
        return False
    return True if n_all and score.killed >= share * n_all else None


def exit_code(view: MutationView, share: Fraction | None) -> Exit:
    """1 where the share cannot be reached any more, 3 while anything is undecided or left, else 0."""
    score = build_score(verdict for _, verdict in view.verdicts)
    if share is not None and is_reached(score, share) is False:
        return Exit.FAILED
    return Exit.UNDECIDED if score.undecided or view.n_left or view.interrupted else Exit.PASSED


def notices(view: MutationView) -> Iterator[str]:
    """What no result is shown without: whose answers these are, of how many mutants, and what chance can do."""
    models, plan = view.header["models"], view.plan
    sides = [side for side in ("candidate", "judge") if models[side]["is_fixture"]]
    if len(sides) == 2:
        yield FIXTURE_TOLD
    elif sides:
        yield f"FIXTURE {sides[0].upper()}: authored, the other side is a model."
    if not models["candidate"]["is_fixture"] and plan.request.evaluation.repeats == 1:
        yield (
            "A live model and one repeat: it answers otherwise the second time, so chance alone can kill a mutant or "
            "spare one; --repeats shows how often."
        )
    if plan.chosen.is_part:
        yield (
            f"{len(plan.mutants)} of {plan.chosen.n_viable} mutants were run (seed {plan.request.wanted.seed}); "
            "the score is of these alone."
        )


def render_mutation(view: MutationView, share: Fraction | None, *, columns: int) -> str:
    """The test for a terminal: kinds, cases, every mutant by what became of it, the survivors last, the score."""
    blocks = [
        _wrapped(_head(view), columns),
        _table(("kind", "viable", "run", *(fate.value for fate in _ORDER)), _kinds(view), columns),
        _table(("case", "unmutated", "kills"), _cases(view), columns),
    ]
    for fate in _ORDER:
        own = [pair for pair in view.verdicts if pair[1].fate is fate]
        if own:
            told = f"{fate.value}: {len(own)}{_MEANING[fate]}"
            blocks.append("\n".join([*wrap(told, columns, deeper=2), *_mutants(own, columns)]))
    blocks.append(_wrapped([*_score(view, share), NO_EVIDENCE], columns))
    return "\n\n".join(block for block in blocks if block) + "\n"


_MEANING = {
    Fate.KILLED: ", some case noticed",
    Fate.UNDECIDED: ", nobody can tell",
    Fate.SURVIVED: ", no case noticed: what no case tests",
}


def _wrapped(lines: Iterable[str], columns: int) -> str:
    return "\n".join(part for line in lines for part in wrap(line, columns, deeper=2))


def _head(view: MutationView) -> Iterator[str]:
    yield from notices(view)
    plan, models = view.plan, view.header["models"]
    independent = "independent" if models["independent"] else "NOT independent of the candidate"
    yield (
        f"mutation test {view.header['id']} of {plan.ready.path} {plan.ready.skill.version or 'without a version'}: "
        f"candidate {models['candidate']['label']}, judge {models['judge']['label']} ({independent})"
    )
    more = [f"{plan.n_not_viable} not viable"] if plan.n_not_viable else []
    more += [f"{plan.n_same} the same as another"] if plan.n_same else []
    yield f"{len(plan.mutants)} of {plan.chosen.n_viable} mutants{''.join(f', {one}' for one in more)}"


def _kinds(view: MutationView) -> Iterator[tuple[str, ...]]:
    for kind, (n_run, n_viable) in view.plan.chosen.kinds.items():
        fates = [verdict.fate for mutant, verdict in view.verdicts if mutant.kind is kind]
        yield (kind.value, str(n_viable), str(n_run), *(str(fates.count(fate)) for fate in _ORDER))


def _cases(view: MutationView) -> Iterator[tuple[str, ...]]:
    for case in view.cases:
        told = f"{case.passed}/{case.planned} passed"
        if not case.can_kill:
            told += ", cannot kill" + (f" ({', '.join(case.reasons)})" if case.reasons else "")
        yield case.case_id, told, str(n_killed(case, view))


def n_killed(case: Unmutated, view: MutationView) -> int:
    """How many mutants a case killed."""
    key = (case.suite, case.case_id)
    return sum(any((one.suite, one.case_id) == key for one in verdict.kills) for _, verdict in view.verdicts)


def _table(headers: tuple[str, ...], rows: Iterable[tuple[str, ...]], columns: int) -> str:
    shown = [tuple(map(one_line, row)) for row in rows]
    table = tabulate(shown, headers=headers, tablefmt="simple", disable_numparse=True)
    return "\n".join(clip(line.rstrip(), columns) for line in table.split("\n"))


def _mutants(pairs: Sequence[tuple[Mutant, Verdict]], columns: int) -> Iterator[str]:
    n_wide = max(len(mutant.kind.value) for mutant, _ in pairs)
    for mutant, verdict in pairs:
        yield clip(f"  {mutant.id}  {mutant.kind.value:<{n_wide}}  {one_line(mutant.place)}", columns)
        if verdict.fate is Fate.KILLED:
            yield from wrap(_killers(verdict.kills), columns, lead="    by ", deeper=0)
        elif verdict.why is not None:
            yield from wrap(verdict.why, columns, lead="    ", deeper=2)
        else:
            yield from reason(mutant.text, columns, lead="    ", most_lines=MOST_TEXT_LINES)


def _killers(kills: Sequence[Failing]) -> str:
    """``case-a: one, two (2/3); case-b: three``: the share where there are several repeats."""
    by_case: dict[str, list[str]] = {}
    for one in kills:
        share = f" ({one.failed}/{one.scored})" if one.planned > 1 else ""
        by_case.setdefault(one.case_id, []).append(f"{one.mark_id}{share}")
    return "; ".join(f"{case}: {', '.join(marks)}" for case, marks in by_case.items())


def _score(view: MutationView, share: Fraction | None) -> Iterator[str]:
    score = build_score(verdict for _, verdict in view.verdicts)
    if score.decided:
        yield (
            f"score: {score.killed}/{score.decided} decided mutants killed, 95 % {interval_text(score.interval)}; "
            f"{score.undecided} undecided and in no count"
        )
    else:
        yield f"score: none, no mutant is decided; {score.undecided} undecided"
    if view.n_left:
        yield f"not whole: {view.n_left} trials have no record yet"
    if share is not None:
        word = {True: "reached", False: "not reached", None: "open"}[is_reached(score, share)]
        yield f"--min-killed {float(share):g}: {word}"


def markdown_mutation(view: MutationView, share: Fraction | None) -> str:
    """The test as Markdown. Nothing in it is a link, a mention or markup of anybody else's."""
    kinds = [("kind", "viable", "run", *(fate.value for fate in _ORDER)), *_kinds(view)]
    cases = [("case", "unmutated", "kills"), *_cases(view)]
    rows = [
        (mutant.id, mutant.kind.value, mutant.place, verdict.fate.value, _told(mutant, verdict))
        for fate in _ORDER
        for mutant, verdict in view.verdicts
        if verdict.fate is fate
    ]
    parts = [
        f"## Mutation test of {markdown_cell(view.plan.ready.path)}",
        "\n".join(f"- {markdown_cell(line, 500)}" for line in _head(view)),
        _grid(kinds),
        _grid(cases),
        _grid([("mutant", "kind", "place", "outcome", "killed by, why, or what no case tests"), *rows]),
        "\n".join(f"- {markdown_cell(line, 500)}" for line in (*_score(view, share), NO_EVIDENCE)),
    ]
    return "\n\n".join(parts) + "\n"


def _told(mutant: Mutant, verdict: Verdict) -> str:
    return _killers(verdict.kills) if verdict.fate is Fate.KILLED else verdict.why or mutant.text


def _grid(rows: Sequence[tuple[str, ...]]) -> str:
    head, *body = (f"| {' | '.join(map(markdown_cell, row))} |" for row in rows)
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body])
