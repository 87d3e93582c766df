"""What a lift is held against, in words: identical arms, the noise floor, the placebo. Computes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from skillassay.report.base import RunView, interval_text, lift_text
from skillassay.runs.plan import Mode
from skillassay.scoring.noise import REPEATS, Noise, build_noise
from skillassay.scoring.scores import Lift

_ARMS = {
    Mode.AGAIN.value: "progressive - again",
    REPEATS: "odd - even repeats of progressive, half the answers on each side",
}


def noise_texts(view: RunView) -> Iterator[str]:
    """A text for each skill's lift against the noise floor, then the figures over all; nothing where none was made."""
    found = build_noise(view.assessment.scores, view.facts.plan)
    for noise in found:
        if noise.word is not None:
            yield _word(noise)
    for noise in found[-1:]:
        if noise.a_a is not None:
            yield f"identical arms ({_ARMS[noise.source]}): {_difference(noise.a_a)}"
        if noise.placebo_effect is not None:
            yield f"placebo effect (placebo - none): {lift_text(noise.placebo_effect)}"
        if noise.over_placebo is not None:
            yield f"lift over placebo (progressive - placebo): {lift_text(noise.over_placebo)}"


def _difference(a_a: Lift) -> str:
    """As a lift, but nothing helps or hurts here: where arms that are alike differ, that is what must be said."""
    difference = a_a.difference
    if difference.mean is None:
        return lift_text(a_a)
    words = f"{difference.mean:+.2f} 95 % {interval_text(difference.interval)}; {a_a.n_cases} of {a_a.n_planned} cases"
    if difference.interval is not None and difference.interval.excludes_zero():
        words += "; they differ by more than chance, so something besides the skill does too"
    return words


def _word(noise: Noise) -> str:
    mean = None if noise.lift is None else noise.lift.difference.mean
    name = noise.skill_path or "all skills"
    if noise.floor is None or mean is None:
        return f"{name}: {noise.word}"
    return f"{name}: lift {mean:+.2f} is {noise.word} ({noise.floor:.2f})"
