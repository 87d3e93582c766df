"""A run behind the cache: nothing is asked twice, nothing is billed twice, and the report says both."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillassay.canonical import Json
from skillassay.fixture.rules import load_rules
from skillassay.fixture.server import FixtureServer
from skillassay.models.reply_store import CACHE_PATH
from tests.project import Cli, Ran, build_small, edit, git, small_case

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "cache"
NAMES = ("one", "two", "three")
N_CALLS = 3 * len(NAMES) * 2
TOKENS = json.loads((PUBLIC / "remnic-1591" / "cached.json").read_bytes())["usage"]["total"]


class Service(FixtureServer):
    """Answers by the rules of a project, counts what it is asked, and tells 900 tokens for each answer."""

    n_asked = 0
    break_verdicts = False
    model: str | None = None

    def __init__(self, root: Path) -> None:
        rules, _ = load_rules(sorted(root.glob("evals/fixtures/*.json")))
        assert rules is not None
        super().__init__(rules)
        self._lock = threading.Lock()

    def answer(self, body: bytes) -> tuple[int, Json]:
        """HTTP status and JSON for one request body."""
        with self._lock:
            self.n_asked += 1
        status, reply = super().answer(body)
        if self.break_verdicts and b"responseJsonSchema" in body:
            reply["candidates"][0]["content"]["parts"][0]["text"] = '{"criteria": ['
        usage = {"promptTokenCount": TOKENS - 100, "candidatesTokenCount": 100, "totalTokenCount": TOKENS}
        named = {} if self.model is None else {"modelVersion": self.model}
        return status, {**reply, **named, "usageMetadata": usage}


@pytest.fixture
def service(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A small project and a service for it."""
    build_small(cli.root, cases=[small_case(name) for name in NAMES])
    monkeypatch.setenv("GEMINI_API_KEY", "k-cache")
    with Service(cli.root) as service:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", service.base_url)
        yield service


def run(cli: Cli, *more: str) -> tuple[Ran, dict[str, Any]]:
    """One cached run, and its canonical result."""
    ran = cli("eval", "--model", "gemini:live", "--cache", *more)
    newest = max((cli.root / ".skillassay" / "runs").iterdir())
    return ran, json.loads((newest / "result.json").read_text("utf-8"))


def table(out: str) -> list[str]:
    """The report without what names the run and what it was billed for, down to the gate."""
    above = out.split("complete: ", maxsplit=1)[0]
    above = re.sub(r"^cost of the .*\n(?: .*\n)*", "", above, flags=re.MULTILINE)
    return [line for line in above.split("\n") if not line.startswith("record: ") and "from the cache" not in line]


def decided(result: dict[str, Any]) -> list[tuple[str, str]]:
    """What each line of the gate said but the comparison with an earlier run, which the first one has not."""
    lines = result["decision"]["lines"]
    return [(line["name"], line["status"]) for line in lines if line["name"] != "no_regression"]


def test_remnic_1591_a_second_run_bills_nothing(cli: Cli, service: Service) -> None:
    """joshuaswarren/remnic#1591: what a trial takes is shown as before, what was billed now is told apart and is 0;
    the stored latency is nobody's.
    """
    first_ran, first = run(cli)
    assert service.n_asked == N_CALLS
    assert first["metrics"]["cache"] == {"calls": N_CALLS, "cached_calls": 0, "tokens_not_billed": 0}
    assert "from the cache" not in first_ran.out
    ran, second = run(cli)
    assert service.n_asked == N_CALLS
    assert f"\n{N_CALLS} of {N_CALLS} calls from the cache, {N_CALLS * TOKENS} tokens not billed\n" in ran.out
    cache = {"calls": N_CALLS, "cached_calls": N_CALLS, "tokens_not_billed": N_CALLS * TOKENS}
    assert second["metrics"]["cache"] == cache
    assert table(ran.out) == table(first_ran.out)
    billed = [sum(one["cost"][side]["tokens"] for side in ("candidate", "judge")) for one in (first, second)]
    assert billed == [N_CALLS * TOKENS, 0]
    assert decided(second) == decided(first)
    assert second["metrics"]["modes"] == first["metrics"]["modes"]
    assert second["content_digest"] == first["content_digest"]
    assert "from the cache" in cli("report", "--format", "markdown").out


def test_a_run_without_the_option_asks(cli: Cli, service: Service) -> None:
    """The cache answers nobody who did not ask for it."""
    run(cli)
    cli("eval", "--model", "gemini:live")
    assert service.n_asked == 2 * N_CALLS


def test_a_changed_skill_is_asked_about_in_every_mode(cli: Cli, service: Service) -> None:
    """An answer belongs to the bytes of the skill that it is about, also where the prompt did not change."""
    run(cli)
    edit(cli.root / "skills/greeter/SKILL.md", "Say hello twice", "Say hello three times")
    run(cli)
    assert service.n_asked == 2 * N_CALLS


def test_a_broken_verdict_is_asked_for_again(cli: Cli, service: Service) -> None:
    """What the judge broke is not kept, what the candidate said is: the next run asks the judge alone."""
    service.break_verdicts = True
    _, first = run(cli)
    assert first["counts"]["unscored"] == 3 * len(NAMES)
    service.break_verdicts = False
    ran, second = run(cli)
    assert second["counts"]["unscored"] == 0
    assert service.n_asked == N_CALLS + N_CALLS // 2
    assert f"{N_CALLS // 2} of {N_CALLS} calls from the cache" in ran.out


def test_repeats_are_not_answered_by_the_cache(cli: Cli, service: Service) -> None:
    """They are there to show how answers vary: exit 2 before any call."""
    ran = cli("eval", "--model", "gemini:live", "--cache", "--repeats", "2")
    assert ran.code == 2
    assert "--cache with 2 repeats" in ran.err
    assert service.n_asked == 0


def test_what_costs_nothing_is_not_kept(cli: Cli) -> None:
    """Authored answers: a warning, no file, and the run goes on."""
    build_small(cli.root)
    ran = cli("eval", "--cache")
    assert ran.code == 0
    assert "warning: the cache is off" in ran.err
    assert not (cli.root / CACHE_PATH).exists()


def test_of_two_sides_the_live_one_is_kept(cli: Cli, service: Service) -> None:
    """A live candidate under an authored judge: only the candidate's calls are in the file and served."""
    run(cli, "--judge-model", "fixture")
    assert service.n_asked == N_CALLS // 2
    ran, _ = run(cli, "--judge-model", "fixture")
    assert service.n_asked == N_CALLS // 2
    assert f"{N_CALLS // 2} of {N_CALLS} calls from the cache" in ran.out


def test_a_damaged_cache_is_one_warning_and_a_whole_run(cli: Cli, service: Service) -> None:
    """The run is the one it would have been, and says what lies in its way."""
    _, first = run(cli)
    (cli.root / CACHE_PATH).write_bytes(b"garbage" * 3000)
    ran, second = run(cli)
    assert second["content_digest"] == first["content_digest"]
    assert ran.err.count(f"warning: the cache {CACHE_PATH} ") == 1
    assert service.n_asked == 2 * N_CALLS


def evidence_of(cli: Cli) -> dict[str, Any]:
    """What the lock was written on."""
    value: dict[str, Any] = json.loads((cli.root / "evals/evidence/skills/greeter.json").read_text("utf-8"))
    return value


def test_evidence_says_what_a_cache_answered(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """By side, and `lock` shows it: whoever can write the file has chosen these answers. Of none, nothing is said."""
    build_small(cli.root, cases=[small_case(name) for name in NAMES])
    monkeypatch.setenv("GEMINI_API_KEY", "k-cache")
    with Service(cli.root) as service:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", service.base_url)
        contract = yaml.safe_load((cli.root / "evals/contract.yaml").read_text("utf-8"))
        service.model = "live"
        asked = {"model": "gemini:live", "endpoint": service.base_url}
        contract |= {"candidate": asked, "judge": dict(asked), "lock": {"requires": "declared"}}
        (cli.root / "evals/contract.yaml").write_text(yaml.safe_dump(contract), encoding="utf-8")
        cli("eval", "--cache")
        first = cli("lock")
        assert first.code == 0, first.err
        assert "cached" not in first.out
        assert "cached_calls" not in evidence_of(cli)
        cli("eval", "--cache")
    second = cli("lock", "--refresh")
    assert second.code == 0, second.err
    assert f"cached skills/greeter: {N_CALLS} answers of its run came out of a cache" in second.out
    assert evidence_of(cli)["cached_calls"] == {"candidate": N_CALLS // 2, "judge": N_CALLS // 2}


def test_a_cache_that_came_with_the_repository_answers_nothing(cli: Cli, service: Service) -> None:
    """One that git tracks, though its folder tells git to ignore it: every model is asked, and a warning says so."""
    run(cli)
    git(cli.root, "init", "--quiet")
    git(cli.root, "add", "--force", CACHE_PATH)
    ran, _ = run(cli)
    assert service.n_asked == 2 * N_CALLS
    assert "git tracks it, so its answers came with the repository" in ran.err


def test_a_run_does_not_go_on_behind_another_query(cli: Cli, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway's query may choose the model: exit 3, and neither query stands in the record or in the message."""
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", f"{service.base_url}?deployment=small-canary")
    cli("eval", "--model", "gemini:live")
    (folder,) = (cli.root / ".skillassay" / "runs").iterdir()
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", f"{service.base_url}?deployment=large-canary")
    ran = cli("eval", "--resume", folder.name)
    assert ran.code == 3
    assert "cannot be resumed: the candidate (gemini:live on http://127.0.0.1:" in " ".join(ran.err.split())
    assert "canary" not in ran.err + (folder / "run.json").read_text("utf-8")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", f"{service.base_url}?deployment=small-canary")
    assert "cannot be resumed" not in cli("eval", "--resume", folder.name).err
