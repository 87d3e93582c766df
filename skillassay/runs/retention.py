"""What a run keeps of what its models said: all of it, or hashes and fixed words. Owns that rule, its words, its key.

``full``   records hold answers, transcripts and judge replies as they came
``hash``   records hold of each text a keyed hash (HMAC-SHA-256), and beside it words of this program and of authors

Short answers can be guessed, so a plain hash of one is the answer to whoever tries a list. The key is a run's own,
random, and lies in ``hash.key`` of its folder for as long as the run can go on; then it is removed, and what is left
says which texts of the run were equal and nothing else. Numbers, outcomes, verdicts, ids and authored texts stay.

A record is made so in one place (:meth:`Retention.keep`), and the store looks again by another way
(:meth:`Retention.refuse_text`): not for what was put in place of a text, but for anything that is no known word.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from skillassay.canonical import Json
from skillassay.errors import REPLAY_MISS, SCRIPT_REFUSED, Reason, Stage, StoreError
from skillassay.judging.samples import WORDS
from skillassay.models.gemini_wire import BLOCKED_WORDS, CONTRACT_WORDS
from skillassay.runs.record import ACTIONS, Arm, Hashes, Mark, Observed, Outcome, Said, Sample, Spent, TrialRecord
from skillassay.transcript import Usage

FULL, HASH = "full", "hash"
KEY_FILE = "hash.key"
KEY_BYTES = 32

HIDDEN = "hidden under retention hash"
OTHER, OTHER_MODEL = "another name", "another model's name"
WHY = {
    Reason.CONTRACT_ERROR: "the reply broke its contract",
    Reason.PROVIDER_ERROR: "the provider gave no usable reply",
    Reason.BLOCKED: "the provider blocked the request or the reply",
    Reason.TRUNCATED: "the reply was cut",
    Reason.TIMEOUT: "no whole reply came in time",
    Reason.CHECK_ERROR: "a check could not decide",
    Reason.HARNESS_ERROR: "a fault of skillassay or of the disk",
    Reason.UNGROUNDED: "the judge passed a criterion on words that do not stand in the answer",
    Reason.JUDGE_ABSTAINED: "the judge abstained",
    Reason.JUDGE_DISAGREED: "the judge's samples, or its judges, do not agree",
    Reason.MISSING_CAPABILITY: "this machine could not do what was asked",
}
"""What stands in the place of an error's message, by its reason; other reasons are their own word."""
TURN_LIMIT = "turn_limit: no answer within the turn limit"
KINDS = frozenset({
    "quota", "quota_day", "auth", "connection", "server", "request", "non_json", "too_large", "empty", "finish",
    "other_model", "fixture_miss", REPLAY_MISS, SCRIPT_REFUSED, "prompt", "max_tokens", "content_filter",
    "malformed_function_call", "unexpected_tool_call", "turn_limit", "image_other", "agent",
    "tokens", "money", "tokens_per_day", "money_per_day", "budget_unreadable",
    *(word.lower() for word in BLOCKED_WORDS | CONTRACT_WORDS),
})  # fmt: skip
CODES = frozenset({
    "INVALID_ARGUMENTS", "SKILL_NOT_FOUND", "RESOURCE_NOT_FOUND", "RESOURCE_NOT_FOUND_FATAL", "SCRIPT_NOT_FOUND",
    "SCRIPT_NOT_FOUND_FATAL", "UNSUPPORTED_SCRIPT_TYPE", "EXECUTION_ERROR",
})  # fmt: skip
STATUSES = frozenset({"success", "warning", "error"})
_DONE = "done"
_TURNS = frozenset({"UserTurn", "ModelTurn", "ToolTurn"})
_REVISION = re.compile(r"(?:[-@](?:\d{1,8}|preview|exp|latest))*")
_TOOL = re.compile(r"tool-[0-9a-f]{16}")
_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """The rule of one run. ``names`` are those that a record may hold wherever a model could have written one: skills,
    scripts, tools, and the models as requested.
    """

    rule: str = FULL
    names: frozenset[str] = frozenset()
    key: bytes = field(default=b"", repr=False)

    @property
    def hides(self) -> bool:
        """Whether texts are not kept."""
        return self.rule == HASH

    def hash(self, text: str) -> str:
        """The keyed hash of a text, in hex. Raises ``ValueError`` without a key: such a hash could be guessed."""
        if len(self.key) != KEY_BYTES:
            raise ValueError("a hash without the run's key")
        return hmac.new(self.key, text.encode("utf-8", "surrogatepass"), sha256).hexdigest()

    def keep(self, record: TrialRecord) -> TrialRecord:
        """What of a record is written: all of it, or the same record without a text of a model. Once is enough."""
        if not self.hides or record.hashes is not None:
            return record
        turns = _turns(record.transcript)
        hashes = Hashes(
            answer=None if record.answer is None else self.hash(record.answer),
            judge_reply=None if record.judge_reply is None else self.hash(record.judge_reply),
            evidence=tuple(self.hash(mark.evidence) for mark in record.marks),
            turns=tuple(self.hash(repr(turn)) for turn in turns),
        )
        return replace(
            record,
            outcome=kept_outcome(record.outcome),
            marks=tuple(replace(mark, evidence=HIDDEN) for mark in record.marks),
            answer=None,
            judge_reply=None,
            transcript=None if record.transcript is None else [self._turn(turn) for turn in turns],
            activated=self.known(record.activated),
            scripts=self.known(record.scripts),
            candidate=self._spent(record.candidate),
            judge=self._spent(record.judge),
            samples=tuple(map(_kept_sample, record.samples)),
            second=None if record.second is None else self._spent(record.second),
            arm=self._arm(record.arm),
            hashes=hashes,
        )

    def known(self, words: Sequence[str]) -> tuple[str, ...]:
        """The words, those that nobody is known to have chosen put as one that says so."""
        return tuple(word if word in self.names else OTHER for word in words)

    def refuse_text(self, record: TrialRecord) -> None:
        """Raise :class:`StoreError` for a record that may hold a text which is not to be kept. Names the place only."""
        if not self.hides:
            return
        for place, word in _leaves(asdict(record)):
            if place not in _AUTHORED and not self._is_word(place, word):
                raise StoreError(f"a record was not written: its {'.'.join(place)} may hold a text, and none is kept")

    def _is_word(self, place: tuple[str, ...], word: str) -> bool:
        if place[0] == "hashes":
            return _HEX.fullmatch(word) is not None
        if place[-1] in {"model", "models"}:
            return word == OTHER_MODEL or self._is_model(word)
        return word in _WORDS or word in self.names or (place == ("arm", "tools") and bool(_TOOL.fullmatch(word)))

    def _turn(self, turn: Mapping[str, Any]) -> dict[str, Json]:
        """Who spoke, which tools were called, and how each call ended, by its error code or a status."""
        who = turn.get("who")
        kept: dict[str, Json] = {"who": who if who in _TURNS else OTHER}
        if calls := turn.get("calls"):
            kept["calls"] = list(self.known([str(call.get("name")) for call in calls]))
        if results := turn.get("results"):
            kept["results"] = [_ending(result.get("response") or {}) for result in results]
        return kept

    def _spent(self, spent: Spent) -> Spent:
        model, models = self._model(spent.model), tuple(map(self._model, spent.models))
        return spent if (model, models) == (spent.model, spent.models) else replace(spent, model=model, models=models)

    def _model(self, told: str | None) -> str | None:
        return told if told is None or self._is_model(told) else OTHER_MODEL

    def _is_model(self, told: str) -> bool:
        """Whether a model answered under a name that was asked for, or under a revision of it made of known words."""
        told = told.removeprefix("models/")
        asked = (name.removeprefix("models/") for name in self.names)
        return any(told.startswith(name) and _REVISION.fullmatch(told[len(name) :]) for name in asked if name)

    def _arm(self, arm: Arm | None) -> Arm | None:
        """Arms are compared by their tools, so that one which only the agent knows stays apart from others."""
        if arm is None:
            return None
        tools = (name if name in self.names else _tool_word(name) for name in arm.tools)
        return replace(arm, tools=tuple(tools), skill_tools=self.known(arm.skill_tools))


def _kept_sample(sample: Sample) -> Sample:
    kind = sample.kind if sample.kind is None or sample.kind in KINDS else OTHER
    return replace(sample, kind=kind, words=tuple(replace(one, evidence=HIDDEN) for one in sample.words))


def kept_outcome(outcome: Outcome) -> Outcome:
    """The outcome in fixed words."""
    kind = outcome.kind if outcome.kind is None or outcome.kind in KINDS else OTHER
    detail = TURN_LIMIT if outcome.kind == "turn_limit" else None
    if outcome.reason is not None:
        detail = why_words(outcome.reason, kind)
    return replace(outcome, kind=kind, detail=detail)


def why_words(reason: Reason, kind: str | None = None) -> str:
    """A reason and its kind in words that hold nothing else."""
    words = WHY.get(reason, reason.value)
    return words if kind is None or kind not in KINDS else f"{words} ({kind})"


def _turns(transcript: Json) -> list[dict[str, Any]]:
    return [turn for turn in transcript if isinstance(turn, dict)] if isinstance(transcript, list) else []


def _ending(response: Mapping[str, Any]) -> str:
    """How a call ended. What a tool says in these fields is a word of ours, unless a script or an agent wrote it."""
    code, status = response.get("error_code"), response.get("status")
    if isinstance(code, str):
        return code if code in CODES else OTHER
    return status if isinstance(status, str) and status in STATUSES else _DONE


def _tool_word(name: str) -> str:
    return f"tool-{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


_WORDS = frozenset({
    HIDDEN, OTHER, TURN_LIMIT, _DONE, "UNSCORED", "code", "judge", "second", "prose", "rubric", *WORDS, *ACTIONS,
    *KINDS, *CODES, *STATUSES, *_TURNS, *(reason.value for reason in Reason),
    *(why_words(reason, kind) for reason in Reason for kind in (None, *KINDS)),
    *(stage.value for stage in Stage),
})  # fmt: skip
_AUTHORED = frozenset({
    *((name,) for name in ("trial_id", "suite", "case_id", "skill_path", "mode", "started_at")),
    *(("marks", name) for name in ("id", "explains", "text", "file")),
    ("samples", "words", "id"),
    *(("arm", name) for name in ("skills", "files", "prompt")),
})  # fmt: skip
"""Places that no model writes to: ids, names and words of cases, a digest of what was asked, a time."""
_PARTS = (TrialRecord, Outcome, Mark, Spent, Usage, Arm, Observed, Hashes, Sample, Said)
_KEYS = frozenset(part.name for kind in _PARTS for part in fields(kind)) | {"who", "calls", "results"}


def _leaves(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text of a record with where it stands; a key that no record has counts as a text."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item, place)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _KEYS:
                yield (*place, "key"), str(key)
            yield from _leaves(item, (*place, str(key)))


def load_key(folder: Path) -> bytes:
    """The key of the run in ``folder``, which this process owns; a new one where there is none.

    Hashes made before and after a key was removed cannot be compared. Raises :class:`StoreError` for a damaged one.
    """
    path, draft = folder / KEY_FILE, folder / f".{KEY_FILE}.tmp"
    if not path.exists():
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        draft.replace(path)
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise StoreError(f"{path} is no key of a run", hint="remove it, and go on with a new one")
    return key


def drop_key(folder: Path) -> None:
    """Remove the key: from now on nobody can try a text against the run's hashes."""
    (folder / KEY_FILE).unlink(missing_ok=True)
