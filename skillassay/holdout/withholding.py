"""What a record of a hidden case keeps: outcome, verdicts by id, counts, keyed digests. Owns that; nothing of a text.

It is what a run without texts keeps (see :mod:`skillassay.runs.retention`), under the holdout's own key, and less: the
words of criteria are the holdout's too, and so are the names of its files. An id of a check or criterion is a word of
their author, or begins with a plain digest of what they ask for; a plain digest of a prompt would confirm a guess.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, replace

from skillassay.holdout.sealed import keyed
from skillassay.runs.record import Arm, TrialRecord
from skillassay.runs.retention import HASH, HIDDEN, Retention
from skillassay.suites.case import BEHAVIOR_MARKS

SEALED_FILE = "a file of the holdout"
_PURPOSE = b"skillassay holdout records"
_ID_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Withholding:
    """The rule for the trials of one holdout. ``names`` are those that a record may hold (see Retention)."""

    suite: str
    key: bytes
    names: frozenset[str]

    def keep(self, record: TrialRecord) -> TrialRecord:
        """What of a record is kept: all of one that is about no hidden case."""
        if record.suite != self.suite:
            return record
        own = hmac.new(self.key, _PURPOSE, hashlib.sha256).digest()
        kept = Retention(rule=HASH, names=self.names, key=own).keep(record)
        marks = tuple(
            replace(
                mark,
                id=self._id(record, mark.id),
                explains=None if mark.explains is None else self._id(record, mark.explains),
                evidence=HIDDEN,
                text=None,
                file=None if mark.file is None else SEALED_FILE,
            )
            for mark in kept.marks
        )
        samples = tuple(
            replace(one, words=tuple(replace(word, id=self._id(record, word.id)) for word in one.words))
            for one in kept.samples
        )
        return replace(kept, marks=marks, samples=samples, arm=None if kept.arm is None else self._arm(kept.arm))

    def _id(self, record: TrialRecord, given: str) -> str:
        """Another id for a verdict, the same in every run under this key; those of a behaviour are in every case."""
        return given if given in BEHAVIOR_MARKS else f"h-{keyed(self.key, [record.case_id, given])[:_ID_DIGITS]}"

    def _arm(self, arm: Arm) -> Arm:
        """Arms of a case stay comparable: equal files and prompts have equal keyed digests."""
        files = tuple((SEALED_FILE, keyed(self.key, [name, sha256])) for name, sha256 in arm.files)
        return replace(arm, files=files, prompt=keyed(self.key, arm.prompt))


Keep = Callable[[TrialRecord], TrialRecord]


def both(first: Withholding | None, rule: Keep) -> Keep:
    """The run's own ``rule``, and for hidden cases the stricter one instead of it."""
    if first is None:
        return rule
    return lambda record: first.keep(record) if record.suite == first.suite else rule(record)
