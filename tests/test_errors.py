"""The error tree: what each class means to the shell."""

from __future__ import annotations

import pytest

from skillassay import errors
from skillassay.errors import Exit, InputError, Reason, SkillassayError, Stage, TrialError
from skillassay.findings import Finding, Severity


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("SkillassayError", 70),
        ("UsageError", 2),
        ("InputError", 3),
        ("EnvironmentFault", 3),
        ("StoreError", 3),
        ("TrialError", 3),
    ],
)
def test_the_class_owns_the_exit_code(name: str, code: int) -> None:
    """The tree drawn at the top of the module is the tree."""
    assert getattr(errors, name).exit_code == code
    assert issubclass(getattr(errors, name), SkillassayError)


def test_exit_codes() -> None:
    """The seven codes that shells may rely on."""
    assert [int(code) for code in Exit] == [0, 1, 2, 3, 70, 130, 141]


def test_an_input_error_carries_every_finding() -> None:
    """Findings are kept in the order given."""
    finding = Finding(code="x", severity=Severity.ERROR, path="p", message="m")
    assert InputError("no", hint="do", findings=[finding, finding]).findings == (finding, finding)


def test_a_trial_error_names_reason_and_stage() -> None:
    """It becomes UNSCORED(reason) at that stage."""
    error = TrialError("m", reason=Reason.TIMEOUT, stage=Stage.JUDGE, kind="connection", n_attempts=4)
    assert (error.reason, error.stage, error.kind, error.n_attempts) == ("timeout", "judge", "connection", 4)
