"""The gate's line against the baseline: no regression beyond noise, and no critical case worse. Pure."""

from __future__ import annotations

from skillassay.gate.lines import GateLine, Status, decimal_text
from skillassay.scoring.regression import Regression

LINE = "no_regression"
NOISE = "inconclusive_noise"
MAX_NAMES = 5


def regression_line(found: Regression | None) -> list[GateLine]:
    """No line where the run has no baseline. What was removed, edited or added is listed and never a pass.

    The comparison of one suite, by its own threshold, is the line ``no_regression:SUITE``.
    """
    if found is None:
        return []
    status = Status.FAILED if found.regressed else Status.PASSED if found.n else Status.NOT_APPLICABLE
    if found.other_judge and status is Status.PASSED:
        status = Status.UNDECIDED
    return [
        GateLine(
            name=LINE if found.suite is None else f"{LINE}:{found.suite}",
            status=status,
            number=_number(found),
            limit=f"no drop over {decimal_text(found.threshold)} beyond noise, no critical case worse",
            detail=(*_regressed_words(found), *_listed(found)),
            counts={
                "passed": found.new_passed,
                "passed_before": found.old_passed,
                "compared": found.n,
                "worse": len(found.worse),
                "critical_worse": len(found.critical),
                "noise": int(found.is_noise),
            },
        )
    ]


def is_regression_line(name: str) -> bool:
    """Whether a line of a decision compares with the baseline: the whole run, or one suite of it."""
    return name == LINE or name.startswith(f"{LINE}:")


def _number(found: Regression) -> str:
    whose = f"{'pinned ' if found.pinned else ''}baseline {found.baseline}"
    interval = found.interval
    if interval is None:
        return f"nothing to compare with the {whose}"
    difference = f"{float(-found.drop):+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"
    return f"{found.new_passed} of {found.n} cases pass, {found.old_passed} of {found.n} in the {whose}: {difference}"


def _regressed_words(found: Regression) -> tuple[str, ...]:
    words = []
    if found.other_judge:
        before, now = (", ".join(names) for names in found.judges)
        words.append(f"the judge answered as {now}, in the baseline as {before}: another judge may read otherwise")
    if found.rate_fell:
        words.append(f"eval_regression: {found.old_passed - found.new_passed} of {found.n} cases, beyond noise")
    if found.is_noise:
        words.append(f"{NOISE}: the share fell by {float(found.drop):.3f}, and the interval of the difference holds 0")
    for was, is_ in found.worse:
        if is_.name in found.critical:
            words.append(f"eval_regression: critical case {is_.name}: {is_.k}/{is_.n}, {was.k}/{was.n} before")
    return tuple(words)


def _listed(found: Regression) -> tuple[str, ...]:
    words = [
        f"worse, not critical: {is_.name}: {is_.k}/{is_.n}, {was.k}/{was.n} before"
        for was, is_ in found.worse
        if is_.name not in found.critical
    ]
    listed = (
        ("removed since", found.removed),
        ("edited since", found.edited),
        ("added since, or without a score there", found.added),
        ("asked another number of times there", found.repeated),
    )
    for what, names in listed:
        if names:
            more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
            words.append(f"{what}, not compared: {', '.join(names[:MAX_NAMES])}{more}")
    if found.flaky:
        words.append(f"flaky in the baseline, not passed there: {', '.join(found.flaky[:MAX_NAMES])}")
    return tuple(words)
