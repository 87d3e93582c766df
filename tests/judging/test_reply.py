"""A structured reply: one JSON object and nothing around it, or a contract error at the stage that asked."""

from __future__ import annotations

from typing import Any

import pytest

from skillassay.errors import Reason, Stage, TrialError
from skillassay.judging.reply import strict_object

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}, "why": {"type": "string"}},
    "required": ["ok"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "reply", ['{"ok": true}', '\ufeff{"ok": true}\n\n', ' \r\n\t{"ok":true} ', '{"ok": true, "why": ""}']
)
def test_one_object_is_read(reply: str) -> None:
    """White space around it and one byte order mark are encoding, not text."""
    assert strict_object(reply, SCHEMA, stage=Stage.JUDGE)["ok"] is True


@pytest.mark.parametrize("stage", [Stage.JUDGE, Stage.CANDIDATE])
@pytest.mark.parametrize(
    "reply",
    [
        "",
        " ",
        "null",
        "true",
        "[]",
        '[{"ok": true}]',
        '"{\\"ok\\": true}"',
        '```json\n{"ok": true}\n```',
        '`{"ok": true}`',
        'Here: {"ok": true}',
        '{"ok": true} Done.',
        '{"ok": true}{"ok": true}',
        '{"ok": true}\n{"ok": false}',
        '\ufeff\ufeff{"ok": true}',
        '{"ok": "true"}',
        '{"ok": "false"}',
        '{"ok": 1}',
        '{"ok": 0}',
        '{"ok": null}',
        '{"ok": NaN}',
        '{"OK": true}',
        '{"ok ": true}',
        "{}",
        '{"ok": true, "ok": false}',
        '{"ok": true, "score": 1}',
        '{"ok": true, "why": null}',
        "{'ok': True}",
        "{ok: yes}",
        '{"ok": true,}',
        '{"ok": true',
        "\u200b" + '{"ok": true}',
        "[" * 100_000,
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_everything_else_is_a_contract_error(reply: str, stage: Stage) -> None:
    """Nothing is repaired, salvaged or converted; the stage that asked is named."""
    with pytest.raises(TrialError) as caught:
        strict_object(reply, SCHEMA, stage=stage)
    assert (caught.value.reason, caught.value.stage) == (Reason.CONTRACT_ERROR, stage)
    assert stage.value in caught.value.message


def test_the_places_are_named() -> None:
    """The message says which fields do not fit, so that a prompt can be mended."""
    with pytest.raises(TrialError, match=r"ok: must be boolean.*why: must be string"):
        strict_object('{"ok": 1, "why": 2}', SCHEMA, stage=Stage.JUDGE)
