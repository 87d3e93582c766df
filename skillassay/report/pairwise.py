"""A comparison of pairs, in a terminal, as Markdown and as JSON. Owns layout and wording; computes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tabulate import tabulate

from skillassay.calibration.pin import pin_json
from skillassay.canonical import Json
from skillassay.models.naming import FIXTURE
from skillassay.printable import markdown_cell, one_line
from skillassay.report.base import interval_text
from skillassay.report.layout import wrap
from skillassay.runs.pair_record import Said
from skillassay.runs.pairing import PairwiseResult
from skillassay.runs.pairs import Side
from skillassay.scoring.pairing import JudgedPair, PairOutcome, PairTotals, Share, WinShare, Word, by_skill, pair_totals
from skillassay.statistics.interval import Interval

PAIRWISE_FORMAT = 1
NO_GATE = "This is no part of any gate: it changes no decision, no evidence and no lock."
FIXTURE_NOTICE = "FIXTURE JUDGE: authored rules compared the answers; no model was asked."
MAX_SHOWN = 20

_Row = tuple[str, ...]


def pairwise_json(result: PairwiseResult) -> dict[str, Json]:
    """Everything, with each share's counts and its interval."""
    compared, comparison = result.compared, result.comparison
    totals = pair_totals(result.judged)
    return {
        "pairwise_format": PAIRWISE_FORMAT,
        "id": compared.id,
        "record": compared.path,
        "a": _side_json(comparison.a),
        "b": _side_json(comparison.b),
        "judge": pin_json(replace(compared.pin, answered=result.answered)),
        "fixture": compared.fixture,
        "independent": compared.independent,
        "seed": compared.seed,
        "asked_now": result.n_asked,
        "from_record": result.n_kept,
        "totals": _totals_json(totals),
        "skills": {path: _totals_json(part) for path, part in by_skill(result.judged).items()},
        "pairs": [_pair_json(pair, result.said) for pair in result.judged],
        "left_out": {
            "cases": {reason: list(names) for reason, names in comparison.left_out.items()},
            "n_hidden": comparison.n_hidden,
            "n_trials_without_partner": comparison.n_repeats,
        },
        "verdict": totals.win.word.value,
        "changes_gate": False,
    }


def _side_json(side: Side) -> Json:
    return {"run": side.run, "mode": side.mode.value, "candidate": side.candidate["label"]}


def _totals_json(totals: PairTotals) -> dict[str, Json]:
    win = totals.win
    return {
        "planned": totals.n_planned,
        "a": totals.outcomes[PairOutcome.A],
        "b": totals.outcomes[PairOutcome.B],
        "ties": totals.outcomes[PairOutcome.TIE],
        "equal_answers": totals.n_same,
        "inconsistent": totals.outcomes[PairOutcome.INCONSISTENT],
        "unscored": totals.outcomes[PairOutcome.UNSCORED],
        "consistency": _share_json(totals.consistency),
        "first_in_both_orders": _share_json(totals.both_first),
        "second_in_both_orders": _share_json(totals.both_second),
        "longer_won": _share_json(totals.longer),
        "win_share": {
            "mean": None if win.mean is None else round(float(win.mean), 6),
            "n_cases": win.n_cases,
            "n_planned_cases": win.n_planned,
            "interval": _interval_json(win.interval),
            "verdict": win.word.value,
        },
    }


def _share_json(share: Share) -> Json:
    return {"k": share.k, "n": share.n, "interval": _interval_json(share.interval)}


def _interval_json(interval: Interval | None) -> Json:
    return None if interval is None else [round(interval.low, 6), round(interval.high, 6)]


def _pair_json(pair: JudgedPair, said: Mapping[str, Sequence[Said]]) -> Json:
    heard = said.get(f"{pair.suite}/{pair.case_id}/{pair.repeat}", ())
    return {
        "suite": pair.suite,
        "case": pair.case_id,
        "skill": pair.skill_path,
        "repeat": pair.repeat,
        "outcome": pair.outcome.value,
        "why": pair.why,
        "equal_answers": pair.same,
        "n_chars": {"a": pair.n_chars_a, "b": pair.n_chars_b},
        "orders": [
            {
                "order": one.key.order,
                "winner": one.winner,
                "evidence_first": one.evidence_first,
                "evidence_second": one.evidence_second,
                "unscored": None if one.unscored is None else one.unscored.value,
                "detail": one.detail,
            }
            for one in heard
        ],
    }


def render_pairwise(result: PairwiseResult, *, columns: int) -> str:
    """The comparison for a terminal."""
    totals = pair_totals(result.judged)
    tables = [
        _table(("outcome", "pairs", ""), _outcomes(totals)),
        _table(("share", "value", "of", "95 %"), _shares(totals)),
        _table(("case", *PairOutcome), _cases(result.judged)),
    ]
    told = [*_skills(result.judged), *_lacking(result)]
    blocks = [_wrapped(_head(result), columns), *tables, _wrapped(told, columns), _wrapped(_verdict(totals), columns)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _wrapped(lines: Iterable[str], columns: int) -> str:
    return "\n".join(part for line in lines for part in wrap(line, columns))


def markdown_pairwise(result: PairwiseResult) -> str:
    """The comparison as Markdown. Nothing in it is a link, a mention or markup of anybody else's."""
    totals = pair_totals(result.judged)
    parts = [
        f"## Pairwise: {totals.win.word.value}",
        *(f"- {markdown_cell(line)}" for line in _head(result)),
        _table(("outcome", "pairs", ""), _outcomes(totals), form="github"),
        _table(("share", "value", "of", "95 %"), _shares(totals), form="github"),
        _table(("case", *PairOutcome), _cases(result.judged), form="github"),
        *(f"- {markdown_cell(line)}" for line in (*_skills(result.judged), *_lacking(result), *_verdict(totals))),
    ]
    lines = []
    for number, part in enumerate(parts):
        is_item = part.startswith("- ") and number > 0 and parts[number - 1].startswith("- ")
        lines += [part] if is_item or number == 0 else ["", part]
    return "\n".join(lines) + "\n"


def _table(headers: Iterable[str], rows: Iterable[_Row], *, form: str = "simple") -> str:
    shown = markdown_cell if form == "github" else one_line
    return tabulate(
        [[shown(cell) for cell in row] for row in rows],
        headers=[str(header) for header in headers],
        tablefmt=form,
        disable_numparse=True,
    )


def _head(result: PairwiseResult) -> list[str]:
    compared, comparison = result.compared, result.comparison
    answered = ", ".join(result.answered) or "no name told"
    independent = "the judge is independent" if compared.independent else "the judge is NOT independent of a candidate"
    lines = [
        f"{name}: {side.mode.value} of {side.run}, candidate {side.candidate['label']}"
        for name, side in (("A", comparison.a), ("B", comparison.b))
    ]
    lines.append(f"judge {compared.pin.model}, answered as {answered}")
    lines.append(f"{independent}; each pair in both orders, seed {compared.seed}")
    if compared.pin.model == FIXTURE:
        lines.append(FIXTURE_NOTICE)
    if len(result.answered) > 1:
        lines.append("the judge answered under several names: these verdicts are not of one model")
    return lines


def _outcomes(totals: PairTotals) -> list[_Row]:
    notes = {
        PairOutcome.TIE: f"{totals.n_same} of equal answers, nobody was asked" if totals.n_same else "",
        PairOutcome.INCONSISTENT: "no winner: the order decided",
        PairOutcome.UNSCORED: "no verdict in one order or in both",
    }
    words = {PairOutcome.A: "A won", PairOutcome.B: "B won"}
    rows = [(words.get(one, one.value), str(n), notes.get(one, "")) for one, n in totals.outcomes.items()]
    return [*rows, ("planned", str(totals.n_planned), "")]


def _shares(totals: PairTotals) -> list[_Row]:
    return [
        _win_row(totals.win),
        _share_row("position consistency", totals.consistency, "pairs judged in both orders"),
        _share_row("first place in both orders", totals.both_first, "inconsistent pairs"),
        _share_row("second place in both orders", totals.both_second, "inconsistent pairs"),
        _share_row("the longer answer won", totals.longer, "won pairs of unlike length"),
    ]


def _win_row(win: WinShare) -> _Row:
    value = "-" if win.mean is None else f"{float(win.mean):.3f}"
    return ("wins of A, by case", value, f"{win.n_cases} of {win.n_planned} cases", interval_text(win.interval))


def _share_row(name: str, share: Share, of: str) -> _Row:
    value = f"{share.k / share.n:.3f}" if share.n else "-"
    return (name, value, f"{share.k} of {share.n} {of}", interval_text(share.interval))


def _cases(pairs: Iterable[JudgedPair]) -> list[_Row]:
    cases: dict[tuple[str, str], dict[PairOutcome, int]] = {}
    for pair in pairs:
        cases.setdefault(pair.case, dict.fromkeys(PairOutcome, 0))[pair.outcome] += 1
    return [("/".join(case), *(str(n) if n else "" for n in counts.values())) for case, counts in cases.items()]


def _skills(pairs: Iterable[JudgedPair]) -> list[str]:
    """One line a skill, where there are several."""
    skills = by_skill(pairs)
    return [
        f"{path}: {' '.join(_win_row(totals.win)[1:])}: {totals.win.word.value}"
        for path, totals in skills.items()
        if len(skills) > 1
    ]


def _lacking(result: PairwiseResult) -> list[str]:
    """Every pair without an outcome with its reason, and everything that is no pair."""
    unscored = [pair for pair in result.judged if pair.outcome is PairOutcome.UNSCORED]
    lines = [
        f"UNSCORED {pair.suite}/{pair.case_id} #{pair.repeat}: {pair.why or 'unknown'}" for pair in unscored[:MAX_SHOWN]
    ]
    if len(unscored) > MAX_SHOWN:
        lines.append(f"and {len(unscored) - MAX_SHOWN} more (--format json)")
    comparison = result.comparison
    lines += [
        f"left out, {reason}: {len(names)} ({', '.join(names[:MAX_SHOWN])}{', …' if len(names) > MAX_SHOWN else ''})"
        for reason, names in comparison.left_out.items()
    ]
    if comparison.n_hidden:
        lines.append(f"left out, of a hidden holdout: {comparison.n_hidden}")
    if comparison.n_repeats:
        lines.append(f"left out, trials of a repeat that the other run does not have: {comparison.n_repeats}")
    return lines


def _verdict(totals: PairTotals) -> list[str]:
    win, n_unscored = totals.win, totals.outcomes[PairOutcome.UNSCORED]
    lines = [f"verdict: {win.word.value}"]
    if win.word is Word.NONE and n_unscored:
        lines[0] += "; unscored pairs count against the side that would win"
    if n_unscored:
        lines.append(f"{n_unscored} of {totals.n_planned} planned pairs are unscored (exit 3)")
    return [*lines, NO_GATE]
