"""What a lift is made of, and what it costs. Pure.

The lift over no skill at all is the sum of two effects over the same cases: what the body does once it is in sight
(eager minus none), and what is lost or won on the way to it (progressive minus eager): a skill that helps in the prompt
and is never loaded has a good body and a bad description. The normalized gain is the share of what was missing that the
skill brought, (p - b) / (1 - b): R. R. Hake, "Interactive-engagement versus traditional methods", American Journal of
Physics 66 (1998). It is undefined where nothing was missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from skillassay.runs.plan import NOISE_MODES, Mode, Plan
from skillassay.scoring.scores import Lift, ModeTotal, Row, Scores, lift_of, mean_shares
from skillassay.statistics.multiple import holm

ACTIVATION, BODY = "activation", "body"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The two parts of a lift, of one skill or of all ("")."""

    skill_path: str
    activation: Lift
    body: Lift


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What one more criterion costs in a mode: ``tokens`` more than in ``none``, for ``criteria`` more that passed.

    ``each`` is None where no criterion more passed, or a number of tokens is not known.
    """

    mode: Mode
    tokens: int | None
    criteria: int

    @property
    def each(self) -> Fraction | None:
        """Tokens for each criterion more."""
        return None if self.tokens is None or self.criteria <= 0 else Fraction(self.tokens, self.criteria)


def build_effects(scores: Scores, plan: Plan) -> tuple[Effects, ...]:
    """By skill, and over all where there are several; none where a mode was not planned."""
    if not {Mode.PROGRESSIVE, Mode.EAGER, Mode.NONE} <= set(plan.modes):
        return ()
    paths: list[str | None] = [*plan.skills, *([None] if len(plan.skills) > 1 else [])]
    return tuple(
        Effects(
            skill_path=path or "",
            activation=lift_of(scores.counted, path, against=Mode.EAGER),
            body=lift_of(scores.counted, path, of=Mode.EAGER),
        )
        for path in paths
    )


def adjusted_p(lifts: Sequence[Lift]) -> Mapping[str, float]:
    """The p-value of each skill's lift adjusted over all of these (Holm); a lift without one counts for none.

    It decides nothing: the more skills are looked at, the sooner one of them has a small p-value by chance alone.
    """
    told = {lift.skill_path: lift.difference.p_value for lift in lifts if lift.difference.p_value is not None}
    return {path: float(p) for path, p in zip(told, holm(tuple(told.values())), strict=True)}


def exact_lift(rows: Sequence[Row], skill_path: str) -> Fraction | None:
    """The mean difference as an exact fraction, for the gate's point rule; None when no case has both arms scored."""
    rows = [row for row in rows if row.planned.skill_path == skill_path and row.n_answer > 0]
    progressive, none = mean_shares(rows, Mode.PROGRESSIVE), mean_shares(rows, Mode.NONE)
    differences = [progressive[case] - none[case] for case in progressive if case in none]
    return sum(differences, Fraction(0)) / len(differences) if differences else None


def normalized_gain(rows: Sequence[Row], skill_path: str | None) -> Fraction | None:
    """Hake's gain over the cases that both modes scored whole, from the means over cases; None where undefined."""
    rows = [row for row in rows if skill_path in {None, row.planned.skill_path} and row.n_answer > 0]
    with_skill, without = mean_shares(rows, Mode.PROGRESSIVE), mean_shares(rows, Mode.NONE)
    both = [case for case in with_skill if case in without]
    if not both:
        return None
    p, b = (sum((arm[case] for case in both), Fraction(0)) / len(both) for arm in (with_skill, without))
    return None if b == 1 else (p - b) / (1 - b)


def prices(totals: Sequence[ModeTotal]) -> tuple[Price, ...]:
    """What each mode costs more than ``none``; nothing where either was not scored whole: fewer trials are others."""
    by_mode = {total.mode: total for total in totals}
    base = by_mode.get(Mode.NONE)
    if base is None or not base.n or base.n != base.n_planned:
        return ()
    return tuple(
        Price(mode=total.mode, tokens=_difference(_tokens(total), _tokens(base)), criteria=total.k - base.k)
        for total in totals
        if total.mode not in {Mode.NONE, *NOISE_MODES} and (total.n, total.n_planned) == (base.n, base.n_planned)
    )


def _tokens(total: ModeTotal) -> int | None:
    usage = total.usage
    if usage.total_tokens is not None:
        return usage.total_tokens
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


def _difference(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one - other
