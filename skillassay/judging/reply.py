"""Strict reading of a model's structured reply. Owns the rule that a reply is one JSON object and nothing around it.

Nothing is repaired: a Markdown fence, a second object, an unknown field, a null or a NaN is a ``contract_error`` at the
stage that asked. A leading byte order mark is an encoding signature (RFC 8259, 8.1) and is ignored.
"""

from __future__ import annotations

from typing import Any

from skillassay.canonical import JsonProblem, parse_json
from skillassay.errors import Reason, Stage, TrialError
from skillassay.schema import pointer, schema_problems


def strict_object(reply: str, schema: dict[str, Any], *, stage: Stage) -> dict[str, Any]:
    """One JSON object under ``schema`` as the whole reply. Raises ``contract_error`` at ``stage`` naming the places."""
    try:
        value = parse_json(reply.removeprefix("\ufeff"))
    except JsonProblem as problem:
        raise contract_error(f"the {stage.value}'s reply is {_shown(problem)}", stage) from problem
    problems = schema_problems(value, schema)
    if problems:
        listed = "; ".join(f"{pointer(where)}: {message}" for where, message in problems[:5])
        raise contract_error(f"the {stage.value}'s reply does not fit its schema: {listed}", stage)
    result: dict[str, Any] = value
    return result


def _shown(problem: JsonProblem) -> str:
    text = str(problem)
    return text if text.startswith("not JSON") else f"not strict JSON: {text}"


def contract_error(message: str, stage: Stage) -> TrialError:
    """A ``contract_error`` at ``stage``."""
    return TrialError(message, reason=Reason.CONTRACT_ERROR, stage=stage)
