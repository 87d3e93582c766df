"""Public reports on judges and on reports, by the command line. Names are the reports' labels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.live import LiveServer
from tests.acceptance.test_judge_gate import MODELS
from tests.judging.attacks import message_of
from tests.models.wire_server import Canned, Seen, reply
from tests.project import Cli, build_small, records

PUBLIC = Path(__file__).parents[1] / "data" / "public"
RAW = json.loads((PUBLIC / "judge/b-open-io-15/arms.json").read_text(encoding="utf-8"))["with_skill"]["judge_raw"]


class Rambling(LiveServer):
    """A judge whose reply on one case, with the skill, is the reported one."""

    def answer(self, seen: Seen) -> Canned:
        """The raw words, or a verdict."""
        if "models/judge:" in seen.path:
            document = json.loads(message_of(seen.body))
            if (document["query"], document["answer"]) == ("Greet one.", "hello hello"):
                return reply({"text": RAW}, modelVersion=self.judge_name)
        return super().answer(seen)


def evaluate(cli: Cli, monkeypatch: pytest.MonkeyPatch, server: LiveServer, *options: str) -> int:
    """The small project with these models; the exit code."""
    build_small(cli.root)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    return cli("eval", *MODELS, *options).code


def test_b_open_io_prompts_15_an_unread_reply_is_kept_and_fails_nobody(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """b-open-io/prompts#15: the reply is kept as it came, nobody fails for it, its pair counts in neither arm, and the
    run is incomplete: exit 3.
    """
    with Rambling() as server:
        assert evaluate(cli, monkeypatch, server, "--mode", "progressive", "--mode", "none") == 3
    unread = [record for record in records(cli.root) if record["judge_reply"] == RAW]
    ((outcome, marks),) = [(record["outcome"], record["marks"]) for record in unread]
    assert (outcome["status"], outcome["reason"], outcome["stage"]) == ("UNSCORED", "contract_error", "judge")
    assert marks == []
    (lift,) = cli("report", "--format", "json").json["metrics"]["lift"].values()
    assert (lift["cases"], lift["cases_planned"]) == (2, 3)
    assert (lift["progressive"]["n"], lift["none"]["n"]) == (2, 2)


def cells(line: str) -> Iterator[str]:
    """The parts of a line of either table, without markup."""
    plain = re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), line).replace("\u200b", "")
    yield from (cell.strip() for cell in re.split(r"\||  +", plain) if cell.strip())


def test_nvidia_skill_evaluator_61_every_format_tells_the_same_numbers(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NVIDIA/SkillEvaluator#61: criteria met and trials passed of a mode are one pair of numbers in JSON, in the table
    and in Markdown.
    """
    with LiveServer(lambda answer, _: "hello" in answer) as server:
        evaluate(cli, monkeypatch, server)
    modes = cli("report", "--format", "json").json["metrics"]["modes"]
    assert [(modes[name]["k"], modes[name]["n"]) for name in ("progressive", "none")] == [(3, 3), (0, 3)]
    for form in ("table", "markdown"):
        lines = [list(cells(line)) for line in cli("report", "--format", form).out.splitlines()]
        for name in ("progressive", "none"):
            mode, trials = modes[name], modes[name]["trials"]
            scored = trials["passed"] + trials["failed"]
            (total,) = [line for line in lines if line[:1] == [name] and "planned" in " ".join(line)]
            assert total[1] == f"{mode['k']}/{mode['n']}"
            assert total[2].startswith(f"{trials['passed']}/{scored} of {trials['planned']} planned")
