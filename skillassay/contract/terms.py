"""The parts of an evaluation contract besides the gate: what each says, and what holds where it says nothing.

A field without a default is None until it is written; :mod:`skillassay.contract.groups` says what is not known then.
Where only one value is allowed, the contract states what the program does, and another value is refused instead of
passed over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

READ_MIN = 5
"""How many verdicts under a rubric a person reads at least, unless a contract says more."""

LOOP = "loop"
"""The subject that is our own agent loop."""

NONE_KNOWN, SUSPECTED = "none_known", "suspected"
"""What a contract may say of leakage: whether a candidate may have seen the cases or their answers."""

UNWRITTEN = "TODO"
"""How a text begins that somebody has yet to write: it counts as not stated."""

DEFAULT_INSTRUCTIONS = (
    "You are a careful assistant. Answer the user's request completely, in the language of the request."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityTerms:
    """What is decided, by whom, and how much hangs on it."""

    id: str | None = None
    version: str | None = None
    owner: str | None = None
    purpose: str | None = None
    risk_class: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateTerms:
    """How the candidate is asked. All of it is bound by evidence.

    ``endpoint`` is where its evidence must come from, None the provider's own. It sends nothing anywhere: a run is
    addressed by option or environment, and one that was addressed elsewhere is no evidence.
    """

    model: str = "fixture"
    endpoint: str | None = None
    subject: str = LOOP
    instructions: str = DEFAULT_INSTRUCTIONS
    temperature: float = 0.0
    seed: int | None = None
    max_output_tokens: int = 4096
    turn_limit: int = 12
    timeout_s: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationTerms:
    """What a judge must reach on labels of people before its verdicts certify anything. A contract may only raise it.

    ``min_each`` is the least number of labels of each kind, passed and failed, and of each way of judging that is used.
    ``min_answers`` and ``min_statements`` say over how much they are spread: distinct answers, and distinct criteria of
    cases (all of them where fewer are judged).
    """

    agreement_min: Fraction = Fraction(17, 20)
    kappa_min: Fraction = Fraction(3, 5)
    min_labels: int = 20
    min_each: int = 5
    min_answers: int = 10
    min_statements: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTerms:
    """How the judge is asked. Its temperature is always 0; ``endpoint`` as the candidate's.

    ``order`` is the order of the criteria it is shown, ``human_adjudication`` who decides where it is in doubt. It is
    asked ``samples`` times about each answer, each time anew; ``second`` is another judge, asked as often, which
    decides nothing alone. ``read_min`` of its verdicts are read by a person under each rubric.
    """

    model: str = "fixture"
    endpoint: str | None = None
    max_output_tokens: int = 4096
    timeout_s: float = 120.0
    order: str = "as_written"
    human_adjudication: str = "held for review by a named person"
    samples: int = 1
    second: str | None = None
    read_min: int = READ_MIN
    calibration: CalibrationTerms = field(default_factory=CalibrationTerms)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetTerms:
    """What judges may spend in one run, and in one UTC day over the runs of this project; None is no limit.

    ``prices`` is the list of prices that amounts of money rest on, None the usual place. Nothing of it is bound by
    evidence: it changes no verdict, only whether there is one.
    """

    tokens: int | None = None
    money: Decimal | None = None
    tokens_per_day: int | None = None
    money_per_day: Decimal | None = None
    prices: str | None = None

    @property
    def is_set(self) -> bool:
        """Whether anything is limited."""
        return self.limits_money or self.tokens is not None or self.tokens_per_day is not None

    @property
    def limits_money(self) -> bool:
        """Whether prices must be known."""
        return self.money is not None or self.money_per_day is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetTerms:
    """Where the cases come from. ``snapshot_time`` is when they were; None is when the run copied them."""

    provenance: str | None = None
    license: str | None = None
    snapshot_time: str | None = None
    leakage: str = NONE_KNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedTerms:
    """What an answer is, and when none may be given."""

    artifact: str = "the answer's text, and the files that checks name"
    abstention: str = "where_allowed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringTerms:
    """How verdicts become numbers."""

    metric: str = "criteria_passed"
    error_policy: str = "unscored"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentTerms:
    """Which environment is meant. None is the one as found."""

    id: str | None = None
    locale: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldoutTerms:
    """A suite that lies outside the repository: its name, and the committed file of its cases' keyed digests."""

    suite: str
    digests: str = "evals/holdout.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerTerms:
    """From which share of its runs on a request loads a skill. No evidence rests on it."""

    threshold: Fraction = Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockTerms:
    """What the lock accepts as proof and what it leaves out of digests."""

    requires: str = "declared"
    require_evidence: str = "all"
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models of a run, as their labels; ``second`` is its second judge, if it has one."""

    candidate: str
    judge: str
    second: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """Digests of the fixed texts that candidate and judge are given."""

    candidate: str
    judge: str
