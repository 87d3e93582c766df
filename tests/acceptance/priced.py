"""A project with prices and a budget, and live models that tell what they used, through a real HTTP server."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.acceptance.live import LiveServer
from tests.models.wire_server import Canned, Seen, reply
from tests.project import Cli, build_small

MODELS = ("--model", "gemini:candidate", "--judge-model", "gemini:judge")
JUDGE_USED = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
JUDGE_MONEY = "0.000018"
"""What one such call costs by PRICES: (100 * 0.10 + 20 * 0.40) / 1,000,000."""
CANDIDATE_USED = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}

PRICES = """\
prices: 1
as_of: 2026-11-01
currency: USD
source: made up for the tests
models:
  "gemini:judge": {input_per_million: 0.10, output_per_million: "0.40"}
  "gemini:candidate": {input_per_million: 1, output_per_million: 2}
"""


class PricedServer(LiveServer):
    """Live models that say how many tokens they used; the judge only while it ``tells``. It gives no verdict while it
    ``is_broken``."""

    def __init__(self) -> None:
        super().__init__()
        self.tells = True
        self.is_broken = False

    def answer(self, seen: Seen) -> Canned:
        """The reply with its usage."""
        canned = super().answer(seen)
        if self.is_broken and "models/judge:" in seen.path:
            canned = reply({"text": "I would rather not."})
        is_judge = "models/judge:" in seen.path
        if canned.status != 200 or (is_judge and not self.tells):
            return canned
        body = json.loads(canned.body) | {"usageMetadata": JUDGE_USED if is_judge else CANDIDATE_USED}
        return replace(canned, body=json.dumps(body).encode())

    def n_asked(self, model: str = "judge") -> int:
        """How many requests a model got."""
        return sum(f"models/{model}:" in seen.path for seen in self.seen)


def build_priced(root: Path, *, prices: str | None = PRICES, judge_model: str = "fixture", **more: Any) -> None:
    """The small project with a list of prices; ``more`` as for the small one."""
    build_small(root, **more)
    path = root / "evals/contract.yaml"
    path.write_text(f"{path.read_text(encoding='utf-8')}judge: {{model: '{judge_model}'}}\n", encoding="utf-8")
    if prices is not None:
        (root / "evals/prices.yaml").write_text(prices, encoding="utf-8")


def limit(root: Path, **limits: Any) -> None:
    """Write the budget of the contract, in the place of the one that is there."""
    path = root / "evals/contract.yaml"
    text = path.read_text(encoding="utf-8").partition("\nbudget:")[0].rstrip("\n")
    terms = json.dumps({"judge": limits})
    path.write_text(f"{text}\nbudget: {terms}\n", encoding="utf-8")


def spending(root: Path) -> list[dict[str, Any]]:
    """The lines of the file of spending."""
    path = root / ".skillassay/spending.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def held(root: Path) -> dict[str, int]:
    """The tokens that each attempt holds: used where it was settled, else reserved."""
    return {line["call"]: line["tokens"] for line in spending(root)}


def result(root: Path) -> dict[str, Any]:
    """The result of the newest run."""
    runs = sorted((root / ".skillassay/runs").iterdir())
    found: dict[str, Any] = json.loads((runs[-1] / "result.json").read_text(encoding="utf-8"))
    return found


def complete_details(cli: Cli) -> list[str]:
    """What the gate's line `complete` says of each trial without a score."""
    (line,) = [one for one in cli("gate", "--format", "json").json["lines"] if one["name"] == "complete"]
    return list(line["detail"])
