"""A run that somebody else answered than the contract names proves nothing, and cannot go on elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import skillassay
from skillassay.canonical import Json
from skillassay.fixture.rules import load_rules
from skillassay.fixture.server import FixtureServer
from skillassay.models.endpoint import PUBLIC_ENDPOINTS
from skillassay.models.naming import is_called
from tests.project import Cli, build_small, edit, run_folder, small_case


class NamedServer(FixtureServer):
    """Answers by the rules of a project under the name ``answers_as``, to candidate and judge alike."""

    answers_as = ""

    def answer(self, body: bytes) -> tuple[int, Json]:
        """HTTP status and JSON for one request body."""
        status, reply = super().answer(body)
        return status, {**reply, "modelVersion": self.answers_as} if isinstance(reply, dict) else reply


@pytest.fixture
def server(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[NamedServer]:
    """A live run of a small project, on a server at the provider's own address."""
    cases = [small_case(name) for name in ("one", "two", "three")]
    build_small(cli.root, cases=cases, candidate={"model": "gemini:flash"}, lock={"requires": "declared"})
    contract = cli.root / "evals/contract.yaml"
    contract.write_text(contract.read_text("utf-8") + "judge: {model: gemini:flash}\n", encoding="utf-8")
    rules, _ = load_rules(sorted(cli.root.glob("evals/fixtures/*.json")))
    assert rules is not None
    monkeypatch.setenv("GEMINI_API_KEY", "k-other")
    with NamedServer(rules) as server:
        server.answers_as = "flash-001"
        monkeypatch.setitem(PUBLIC_ENDPOINTS, "gemini", server.base_url)
        yield server


def result_of(root: Path) -> dict[str, Any]:
    """The canonical result of the only run."""
    result: dict[str, Any] = json.loads((run_folder(root) / "result.json").read_text("utf-8"))
    return result


def test_the_providers_own_endpoint_gives_evidence(cli: Cli, server: NamedServer) -> None:
    """A revision of the model requested, at the default address: evidence, with the endpoint in it."""
    cli("eval")
    result = result_of(cli.root)
    assert result["no_evidence"] == {}
    models = result["evidence"]["skills/greeter"]["models"]
    assert models["candidate"]["answered"] == ["flash-001"]
    assert models["candidate"]["endpoint"] == server.base_url


def test_an_endpoint_that_the_contract_names_gives_evidence(
    cli: Cli, server: NamedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a term of the evidence; the address itself came from the environment."""
    monkeypatch.setitem(PUBLIC_ENDPOINTS, "gemini", "https://service.invalid")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
    path = cli.root / "evals/contract.yaml"
    terms = yaml.safe_load(path.read_text("utf-8"))
    for side in ("candidate", "judge"):
        terms[side] = terms.get(side, {}) | {"endpoint": server.base_url}
    path.write_text(yaml.safe_dump(terms), "utf-8")
    cli("eval")
    (evidence,) = result_of(cli.root)["evidence"].values()
    assert evidence["binding"]["terms"]["candidate"]["endpoint"] == server.base_url


def test_another_endpoint_gives_none(cli: Cli, server: NamedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers from an address that the contract does not name: none, and the report says why."""
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
    monkeypatch.setitem(PUBLIC_ENDPOINTS, "gemini", "https://service.invalid")
    ran = cli("eval")
    why = f"its candidate ran on the endpoint {server.base_url}, which the contract does not name"
    assert result_of(cli.root)["evidence"] == {}
    assert result_of(cli.root)["no_evidence"] == {"skills/greeter": why}
    assert why in " ".join(ran.out.split())
    assert cli("lock").code == 1


def test_another_model_gives_none(cli: Cli, server: NamedServer) -> None:
    """Answered under another name: none."""
    server.answers_as = "flash-lite"
    cli("eval")
    assert result_of(cli.root)["no_evidence"] == {"skills/greeter": "its candidate flash answered as flash-lite"}


CALLED = [
    ("gemini-3.5-flash", True),
    ("models/gemini-3.5-flash", True),
    ("gemini-3.5-flash-001", True),
    ("gemini-3.5-flash-preview-09-2026", True),
    ("gemini-3.5-flash-exp-0827", True),
    ("gemini-3.5-flash@20260101", True),
    ("gemini-3.5-flash-lite", False),
    ("gemini-3.5-flash8b", False),
    ("gemini-3.5-pro", False),
    ("gemini-3.5", False),
    ("GEMINI-3.5-flash", False),
    ("", False),
]


@pytest.mark.parametrize(("answered", "same"), CALLED)
def test_a_revision_is_the_model_and_a_variant_is_not(answered: str, *, same: bool) -> None:
    """What a provider appends for a revision is let through, nothing else."""
    assert is_called(answered, "gemini-3.5-flash") is same
    assert is_called(answered, "models/gemini-3.5-flash") is same


def test_a_run_does_not_go_on_at_another_endpoint(
    cli: Cli, server: NamedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a run here and half there is no run: exit 3 with both addresses, and nothing is written."""
    cli("eval")
    folder = run_folder(cli.root)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    ran = cli("eval", "--resume", folder.name)
    assert ran.code == 3
    assert f"the candidate (gemini:flash on {server.base_url}, now gemini:flash on http://127.0.0.1:9/else" in ran.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_run_does_not_go_on_with_another_skillassay(cli: Cli) -> None:
    """Another version may ask, check and score otherwise."""
    build_small(cli.root)
    assert cli("eval").code == 0
    header = run_folder(cli.root) / "run.json"
    edit(header, f'"skillassay": "{skillassay.__version__}"', '"skillassay": "0.0.1"')
    ran = cli("eval", "--resume", run_folder(cli.root).name)
    assert ran.code == 3
    assert f"skillassay (0.0.1, now {skillassay.__version__})" in ran.err
