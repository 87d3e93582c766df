"""Asking the judge about pairs: each in both orders, what was said before first. Owns who is asked when, and resuming.

Which order comes first is drawn for each pair from the seed and the pair's name, so that it does not depend on what
else is compared. Both are separate requests; a failure of one is recorded and the rest goes on. On Ctrl-C no further
request is sent and those under way are recorded; a second one drops them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skillassay.calibration.pin import JudgePin
from skillassay.canonical import digest_of
from skillassay.contract.terms import JudgeTerms
from skillassay.errors import TrialError
from skillassay.judging.pairwise import pair_request, parse_pair_verdict, prompt_digest, require_grounded
from skillassay.models.base import Model, ModelIdentity, ModelRequest, request_json
from skillassay.runs.pair_record import A_FIRST, ORDERS, Compared, OrderKey, Said, begin, keep
from skillassay.runs.pairs import Comparison, Pair
from skillassay.scoring.pairing import JudgedPair
from skillassay.transcript import Usage

BOTH_ORDERS = "both orders"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseResult:
    """A comparison as far as it got. ``answered`` are the names that the judge answered under; ``n_asked`` requests
    were sent now, ``n_kept`` were in the record already."""

    comparison: Comparison
    compared: Compared
    judged: tuple[JudgedPair, ...]
    said: Mapping[str, Sequence[Said]]
    answered: tuple[str, ...]
    n_asked: int
    n_kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who is asked, how, about what, and below which root it is kept; ``jobs`` requests at the same time."""

    root: Path
    judge: Model
    terms: JudgeTerms
    compared: Compared
    jobs: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """One request that is to be sent."""

    key: OrderKey
    asked: int
    request: ModelRequest
    first: str
    second: str


def describe_comparison(
    comparison: Comparison, judge: ModelIdentity, terms: JudgeTerms, *, seed: int, fixture: str | None
) -> Compared:
    """What is compared by whom, as the record names it."""
    pin = JudgePin(
        model=judge.label,
        answered=(),
        endpoint=_endpoint(judge),
        address=judge.address,
        prompt=prompt_digest(),
        max_output_tokens=terms.max_output_tokens,
        order=BOTH_ORDERS,
    )
    a, b = comparison.a, comparison.b
    return Compared(
        a=(a.run, a.mode.value),
        b=(b.run, b.mode.value),
        pin=pin,
        fixture=fixture,
        seed=seed,
        independent=all(_is_independent(side.candidate, judge) for side in (a, b)),
    )


def _endpoint(identity: ModelIdentity) -> str | None:
    return "embedded" if identity.is_fixture else identity.endpoint


def _is_independent(candidate: Mapping[str, Any], judge: ModelIdentity) -> bool:
    """Whether neither model nor endpoint is shared with who answered, as a run's header says it."""
    if candidate.get("own_model"):
        return False  # nobody here knows which model that was
    answered = candidate.get("recorded") or candidate
    if judge.recorded is not None:
        other = (judge.recorded.provider, judge.recorded.name, judge.recorded.endpoint)
    else:
        other = (judge.provider, judge.name, _endpoint(judge))
    provider, name, endpoint = other
    is_shared = answered["name"] == name or answered["endpoint"] == endpoint
    return not (answered["provider"] == provider and is_shared)


def judge_pairs(asking: Asking, comparison: Comparison, *, tell: Callable[[int, int], None]) -> PairwiseResult:
    """Ask the judge about every pair in both orders, but for what the record says already.

    ``tell`` hears how many requests are done of all. Raises :class:`StoreError` where the record cannot be written.
    """
    root, compared = asking.root, asking.compared
    orders = {pair.slot: _orders(pair, asking.terms, compared.seed) for pair in comparison.pairs}
    before = begin(root, compared)
    found = {key: said for key, said in before.items() if said.stands}
    todo = [order for pair in orders.values() for order in pair if order.key not in found]
    n_all = sum(map(len, orders.values()))
    n_kept = n_all - len(todo)
    for n_done, said in enumerate(_asked(asking.judge, todo, asking.jobs), start=n_kept + 1):
        keep(root, compared, said)
        found[said.key] = said
        tell(n_done, n_all)
    heard = {slot: [found[order.key] for order in pair] for slot, pair in orders.items()}
    return PairwiseResult(
        comparison=comparison,
        compared=compared,
        judged=tuple(judged_pair(pair, heard[pair.slot]) for pair in comparison.pairs),
        said=heard,
        answered=tuple(sorted({one.answered for pair in heard.values() for one in pair if one.answered is not None})),
        n_asked=len(todo),
        n_kept=n_kept,
    )


def _orders(pair: Pair, terms: JudgeTerms, seed: int) -> tuple[_Order, ...]:
    """Both requests of a pair, in the order in which they are sent; none where there is nothing to ask."""
    if pair.a is None or pair.b is None or pair.is_same:
        return ()
    names = list(ORDERS)
    random.Random(f"{seed} {pair.slot}").shuffle(names)  # noqa: S311 - an order, not a secret
    orders = []
    for number, name in enumerate(names, start=1):
        first, second = (pair.a, pair.b) if name == A_FIRST else (pair.b, pair.a)
        # The slot tells both requests apart, and no judge is ever sent it.
        request = pair_request(pair.question, first, second, terms, slot=f"{pair.slot}/{name}")
        key = OrderKey(
            suite=pair.case.suite,
            case_id=pair.case.id,
            repeat=pair.repeat,
            order=name,
            request=digest_of(request_json(request)),
        )
        orders.append(_Order(key=key, asked=number, request=request, first=first, second=second))
    return tuple(orders)


def _asked(judge: Model, orders: Sequence[_Order], jobs: int) -> Iterator[Said]:
    threads = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="pair")
    futures = [threads.submit(_ask, judge, order) for order in orders]
    waiting: set[Future[Said]] = set(futures)
    try:
        for future in as_completed(futures):
            waiting.discard(future)
            yield future.result()
    except KeyboardInterrupt:
        threads.shutdown(wait=False, cancel_futures=True)
        under_way = [future for future in waiting if not future.cancelled()]
        yield from (future.result() for future in as_completed(under_way))
        raise
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _ask(judge: Model, order: _Order) -> Said:
    """One request to its record. Whatever the judge does about it, there is one."""
    answered: str | None = None
    n_attempts, waited_s, usage = 0, 0.0, Usage()
    try:
        reply = judge.generate(order.request)
        answered, n_attempts, waited_s, usage = reply.model, reply.n_attempts, reply.waited_s, reply.usage
        verdict = parse_pair_verdict(reply.turn.text)
        require_grounded(verdict, order.first, order.second)
    except TrialError as error:
        return Said(
            key=order.key,
            asked=order.asked,
            unscored=error.reason,
            kind=error.kind,
            detail=error.message,
            answered=answered,
            n_attempts=n_attempts or error.n_attempts,
            waited_s=round(waited_s or error.waited_s, 3),
            usage=error.usage or usage,
        )
    return Said(
        key=order.key,
        asked=order.asked,
        winner=verdict.winner,
        evidence_first=verdict.evidence_first,
        evidence_second=verdict.evidence_second,
        answered=answered,
        n_attempts=n_attempts,
        waited_s=round(waited_s, 3),
        usage=usage,
    )


def judged_pair(pair: Pair, said: Sequence[Said]) -> JudgedPair:
    """A pair with what was said of it. An order without a verdict says why."""
    by_order = {one.key.order: one for one in said}
    a_first, b_first = (by_order[order].winner if order in by_order else None for order in ORDERS)
    reasons = {_reason(one) for one in said if one.unscored is not None}
    return JudgedPair(
        suite=pair.case.suite,
        case_id=pair.case.id,
        skill_path=pair.skill_path,
        repeat=pair.repeat,
        n_chars_a=None if pair.a is None else len(pair.a),
        n_chars_b=None if pair.b is None else len(pair.b),
        a_first=a_first,
        b_first=b_first,
        same=pair.is_same,
        why=pair.why or ", ".join(sorted(reasons)) or None,
    )


def _reason(said: Said) -> str:
    assert said.unscored is not None
    return f"judge {said.unscored.value}" + ("" if said.kind is None else f" ({said.kind})")
