"""``skillassay plan``: what the cases of a project would show, through the command line."""

from __future__ import annotations

import pytest
from scipy.stats import binom

from tests.project import BAD, GOOD, Cli, build_small, rule, small_case, small_rules

N_CASES = 8


def build(cli: Cli, *, n_right: int = 0) -> None:
    """Eight cases, of which so many pass without the skill too."""
    names = [f"c{index}" for index in range(N_CASES)]
    rules = [item for name in names[n_right:] for item in small_rules(name)]
    rules += [rule(name, {"text": GOOD}) for name in names[:n_right]]
    build_small(cli.root, cases=[small_case(name) for name in names], rules=rules, gate={"quality_min": 0.5})
    assert BAD != GOOD


def shown(n_cases: int, lift: float) -> float:
    """From a base rate of nothing: six gains show a lift, so a binomial tail."""
    return float(binom.sf(5, n_cases, lift))


def test_from_nothing_the_figures_are_binomial(cli: Cli) -> None:
    """Least lift and cases needed by scipy, give or take what 1,000 suites leave open."""
    build(cli)
    skill = cli("plan", "--base-rate", "0", "--lift", "0.5", "--format", "json").json["skills"]["skills/greeter"]
    assert (skill["cases"], skill["base_rate"], skill["cases_measured"]) == (N_CASES, 0, 0)
    assert skill["least_possible"] == pytest.approx(40 ** (1 / N_CASES) - 1, abs=1e-6)
    assert shown(N_CASES, skill["least_lift"] - 0.03) < 0.8 < shown(N_CASES, skill["least_lift"] + 0.03)
    (single, three, five) = skill["needed"]
    assert [one["repeats"] for one in (single, three, five)] == [1, 3, 5]
    assert shown(single["cases"] - 2, 0.5) < 0.8 < shown(single["cases"] + 2, 0.5)
    assert single["cases"] > three["cases"] > five["cases"]


def test_a_run_says_how_hard_the_cases_are(cli: Cli) -> None:
    """Two of eight pass without the skill: base 0.25; those two can gain nothing, so that six must gain all."""
    build(cli, n_right=2)
    assert cli("eval").code == 0
    run = cli("plan", "--from", "2", "--format", "json").json
    skill = run["skills"]["skills/greeter"]
    assert run["from"].startswith("2")
    assert (skill["base_rate"], skill["cases_measured"]) == (0.25, N_CASES)
    # At 0.75 the six others gain with certainty; with x of it each of the six gains with chance x.
    least = skill["least_lift_as_measured"]
    assert ((least - 0.03) / 0.75) ** 6 < 0.8 < min(1, (least + 0.03) / 0.75) ** 6
    table = cli("plan", "--from", "2").out
    assert "was: as least, each case as hard as it was in that run" in table


def test_a_run_without_the_skill_leaves_the_base_as_asked(cli: Cli) -> None:
    """And says so with a question mark."""
    build(cli)
    assert cli("eval", "--mode", "progressive").code != 0
    ran = cli("plan", "--from", "2", "--base-rate", "0.3")
    assert ran.code == 0
    assert "0.30?" in ran.out


def test_the_table_fits_a_terminal_and_states_its_model(cli: Cli) -> None:
    """80 columns, the rule in force, what is taken for granted; nothing is written."""
    build(cli)
    ran = cli("plan")
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines())) <= 80
    flat = " ".join(ran.out.split())
    assert "rule point: any mean lift above zero passes" in flat
    assert "model: cases are independent; a repeat passes whole or not at all" in flat
    assert not (cli.root / ".skillassay").exists()


def test_the_rule_in_force_is_named(cli: Cli) -> None:
    """Under bound the interval is what passes."""
    build_small(cli.root, cases=[small_case(f"c{n}") for n in range(6)], gate={"lift_rule": "bound"})
    assert "rule bound: a skill passes where the 95 % interval" in " ".join(cli("plan").out.split())
    assert cli("plan", "--format", "json").json["rule"] == "bound"


def test_a_lift_without_room_is_said_to_be_impossible(cli: Cli) -> None:
    """From 0.9 nothing can gain 0.2."""
    build(cli)
    value = cli("plan", "--base-rate", "0.9", "--lift", "0.2", "--format", "json").json["skills"]["skills/greeter"]
    assert value["lift_is_possible"] is False
    assert {one["cases"] for one in value["needed"]} == {None}
    assert cli("plan", "--base-rate", "0.9", "--lift", "0.2").out.splitlines()[1].split()[-3:] == ["-"] * 3


def test_the_same_question_has_the_same_answer(cli: Cli) -> None:
    """To the byte."""
    build(cli)
    assert cli("plan", "--format", "json").out == cli("plan", "--format", "json").out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--skill", "nobody"), 2, "there is no skill 'nobody'"),
        (("--power", "1"), 2, "--power"),
        (("--lift", "0"), 2, "--lift"),
        (("--from", "9999"), 3, "no run in"),
    ],
)
def test_what_cannot_be_asked(cli: Cli, arguments: tuple[str, ...], code: int, words: str) -> None:
    """Wrong usage is 2, a run that is not there 3; nothing on stdout."""
    build(cli)
    ran = cli("plan", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err


def test_one_skill_by_name_or_path(cli: Cli) -> None:
    """Both name the same."""
    build(cli)
    by_name, by_path = (cli("plan", "--skill", name).out for name in ("greeter", "skills/greeter"))
    assert by_name == by_path
    assert by_name.count("skills/") == 1


def test_a_broken_project_has_no_forecast(cli: Cli) -> None:
    """Exit 3 with what is wrong: a suite that cannot be read has no cases to count."""
    build(cli)
    (cli.root / "evals/quality.json").write_text("{", encoding="utf-8")
    ran = cli("plan")
    assert (ran.code, ran.out) == (3, "")
