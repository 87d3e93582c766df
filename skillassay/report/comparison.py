"""Two runs side by side, as text and as JSON. Owns layout only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skillassay.canonical import Json
from skillassay.errors import Exit
from skillassay.gate.lines import Decision, Status
from skillassay.report.base import rate_text
from skillassay.runs.results import rate_json
from skillassay.scoring.comparison import Change, Comparison

COMPARISON_VERSION = 1


def render_comparison(comparison: Comparison) -> str:
    """The comparison for a terminal: what moved, the rates with their counts, and what it comes to."""
    lines = [f"{comparison.old} (old) and {comparison.new} (new)"]
    lines += [f"  differs: {words}" for words in comparison.differences]
    for side, independent in zip(("old", "new"), comparison.independent, strict=True):
        word = "independent" if independent else "NOT known to be independent"
        lines.append(f"  the judge of the {side} run is {word} of its candidate")
    if comparison.sample is not None:
        sample = comparison.sample
        lines.append(f"  SAMPLE: {sample['n']} of {sample['of']} selected cases, seed {sample['seed']}")
    lines.append("")
    for mode, (old, new) in comparison.rates.items():
        lines.append(f"{mode.value}: {rate_text(old)}, now {rate_text(new)}")
    lines.append("")
    lines += _moved("WORSE", (change for change in comparison.changes if change.is_worse))
    lines += _moved("better", (change for change in comparison.changes if change.is_better))
    lines += _moved("moved", (c for c in comparison.changes if not (c.is_worse or c.is_better)))
    if not comparison.changes:
        lines.append("no trial and no criterion was decided otherwise")
    return "\n".join([*lines, "", *verdict_lines(comparison)]) + "\n"


def render_refusal(old: str, new: str, differences: Sequence[str]) -> str:
    """Why two runs do not compare, with both values of each field that differs."""
    lines = [f"{old} and {new} do not compare; their contracts differ in:", *(f"  {words}" for words in differences)]
    return "\n".join([*lines, "compare runs of one contract on the same cases, or run the older one again"]) + "\n"


def refusal_json(old: str, new: str, differences: Sequence[str]) -> Json:
    """The same as one JSON object."""
    return {
        "comparison": COMPARISON_VERSION,
        "old": old,
        "new": new,
        "compatible": False,
        "differences": list(differences),
        "exit_code": int(Exit.UNDECIDED),
    }


def _moved(word: str, changes: Iterable[Change]) -> list[str]:
    lines = []
    for change in changes:
        place = f"{change.suite}/{change.case_id} [{change.mode.value} #{change.repeat}]"
        old, new = score_words(change)
        parts = [f"{word}  {place}: {old}, now {new}"]
        parts += [f"now fails: {', '.join(change.now_failed)}"] if change.now_failed else []
        parts += [f"now passes: {', '.join(change.now_passed)}"] if change.now_passed else []
        lines.append("; ".join(parts))
    return lines


def score_words(change: Change) -> tuple[str, str]:
    """What a trial came to in the old run and in the new one."""
    return _score(change.old, change.k_old, change.n), _score(change.new, change.k_new, change.n)


def _score(status: str, k: int | None, n: int) -> str:
    return status if k is None else f"{status} {k}/{n}"


def verdict_lines(comparison: Comparison) -> list[str]:
    """What the comparison comes to. That nothing regressed is never said without what the run's own gate said."""
    regressed, decision = comparison.regressions, comparison.decisions[1]
    cases = sorted({f"{change.suite}/{change.case_id}" for change in regressed})
    if regressed:
        lines = [f"REGRESSION in progressive: {_trials(len(regressed))} of {', '.join(cases)}, whatever the average"]
    elif comparison.undecided:
        lines = [f"undecided: {_trials(len(comparison.undecided))} in progressive with a score in one run alone"]
    else:
        lines = ["no regression in progressive"]
    if decision.status is Status.PASSED:
        return [*lines, f"the new run's own {decision.gate} passed"]
    failed = ", ".join(refused_by(decision))
    word = f"{decision.gate} is {decision.status.value} ({failed})"
    return [*lines, f"the new run's own {word}: nothing here qualifies it"]


def _trials(n: int) -> str:
    return f"{n} trial{'' if n == 1 else 's'}"


def refused_by(decision: Decision) -> tuple[str, ...]:
    """The lines for which a decision is not passed."""
    return tuple(line.name for line in decision.lines if line.status in {Status.FAILED, Status.UNDECIDED})


def comparison_json(comparison: Comparison) -> Json:
    """The comparison as one JSON object, ``"comparison": 1``."""
    return {
        "comparison": COMPARISON_VERSION,
        "old": comparison.old,
        "new": comparison.new,
        "compatible": True,
        "allowed_differences": list(comparison.differences),
        "independent": dict(zip(("old", "new"), comparison.independent, strict=True)),
        **({"sample": dict(comparison.sample)} if comparison.sample is not None else {}),
        "rates": {
            mode.value: {"old": rate_json(old), "new": rate_json(new)} for mode, (old, new) in comparison.rates.items()
        },
        "changes": [_change_json(change) for change in comparison.changes],
        "regressions": len(comparison.regressions),
        "undecided": len(comparison.undecided),
        "decisions": {
            side: {"gate": one.gate, "status": one.status.value, "refused_by": list(refused_by(one))}
            for side, one in zip(("old", "new"), comparison.decisions, strict=True)
        },
        "exit_code": int(comparison.exit_code),
    }


def _change_json(change: Change) -> Json:
    return {
        "suite": change.suite,
        "case": change.case_id,
        "mode": change.mode.value,
        "repeat": change.repeat,
        "old": {"status": change.old, "k": change.k_old},
        "new": {"status": change.new, "k": change.k_new},
        "n": change.n,
        "direction": "worse" if change.is_worse else "better" if change.is_better else "moved",
        "flip": change.is_flip,
        "now_failed": list(change.now_failed),
        "now_passed": list(change.now_passed),
    }
