"""The table of the exercise on the shipped suite, as people and programs get it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable

import pytest

from skillassay.printable import width
from tests.conftest import Evaluated

Show = Callable[[str], str]

TABLE = {
    "cr-ouverture-annecy": {"progressive": (5, 5), "none": (3, 5), "eager": (5, 5)},
    "frais-lille": {"progressive": (6, 6), "none": (4, 6), "eager": (6, 6)},
    "tri-sav": {"progressive": (5, 5), "none": (4, 5), "eager": (5, 5)},
}


def test_the_shipped_suite_passes_its_gate(evaluated: Evaluated) -> None:
    """The evaluation on authored answers exits 0."""
    assert evaluated.code == 0


def test_the_three_cases_have_the_scores_of_the_exercise(shown: Show) -> None:
    """k/n in progressive, none and eager, for each of the three cases."""
    trials = json.loads(shown("json"))["trials"]
    for case, modes in TABLE.items():
        assert {t["mode"]: (t["k"], t["n"]) for t in trials if t["case"] == case} == modes


@pytest.mark.parametrize("case", TABLE)
@pytest.mark.parametrize("mode", ["progressive", "none", "eager"])
def test_the_table_prints_them(shown: Show, case: str, mode: str) -> None:
    """One line a case and mode, with the score."""
    k, n = TABLE[case][mode]
    assert re.search(rf"^{case} +{mode} +{k}/{n} ", shown("table"), re.MULTILINE)


def test_the_three_cases_have_a_subtotal(shown: Show) -> None:
    """The slice of the three: 16, 11 and 16 of 16, in table and result."""
    assert "slice socle (3 cases): progressive 16/16, none 11/16, eager 16/16" in shown("table")
    slices = json.loads(shown("json"))["metrics"]["slices"]["socle"]
    assert {mode: (t["k"], t["n"]) for mode, t in slices.items()} == {
        "progressive": (16, 16),
        "none": (11, 16),
        "eager": (16, 16),
    }


def test_the_behaviour_cases_need_their_skill(shown: Show) -> None:
    """Eight of eight in progressive and eager; without the rules one, which common sense answers as well."""
    trials = json.loads(shown("json"))["trials"]
    passed = {mode: {t["case"] for t in trials if (t["mode"], t["k"]) == (mode, t["n"])} for mode in TABLE["tri-sav"]}
    orvalle = {t["case"] for t in trials if t["suite"] == "comportements-support"}
    assert len(orvalle) == 8
    assert orvalle <= passed["progressive"] & passed["eager"]
    assert orvalle & passed["none"] == {"orvalle-fond-de-cire"}


def test_exactly_two_criteria_fail_without_the_expense_skill(shown: Show) -> None:
    """The cap and the manager's decision fail; the total, right by another way, does not."""
    (trial,) = [t for t in json.loads(shown("json"))["trials"] if (t["case"], t["mode"]) == ("frais-lille", "none")]
    assert {m["id"] for m in trial["marks"] if m["verdict"] == "FAIL"} == {"plafond-hotel", "decision-manager"}
    assert trial["lucky"] == [{"check": "total-exact", "criterion": "plafond-hotel"}]


def test_the_lucky_pass_is_named(shown: Show) -> None:
    """The table says which check passed for the wrong reason, and where."""
    flat = " ".join(shown("table").split())
    assert "lucky pass: frais-lille [none]: total-exact passed, plafond-hotel failed" in flat
    assert flat.count("lucky pass:") == 1


def test_every_lift_has_an_interval_and_its_word(shown: Show) -> None:
    """A skill of three or four cases can show nothing and says so; one of eight, and the five together, help."""
    lift = " ".join(shown("table").partition("lift (")[2].partition("lucky pass")[0].split())
    parts = re.split(r" (?=skills/|all \d)", lift.partition(": ")[2])
    assert len(parts) == 6
    words = {}
    for part in parts:
        found = re.match(
            r"(\S+|all 5 skills): \+\d\.\d\d 95 % \[(-?\d\.\d\d), (-?\d\.\d\d)\]: (\w+); .* (\d+) cases; p ", part
        )
        assert found, part
        assert (float(found[2]) > 0) == (found[4] == "helps")
        words[int(found[5])] = found[4]
    assert words == {3: "inconclusive", 4: "inconclusive", 8: "helps", 21: "helps"}


def test_p_values_stand_beside_the_intervals_and_say_what_they_test(shown: Show) -> None:
    """Adjusted over the five skills (Holm: the k-th smallest of m times m - k + 1), and no contradiction."""
    lifts = json.loads(shown("json"))["metrics"]["lift"]
    running, expected = 0.0, {}
    for rank, (path, lift) in enumerate(sorted(lifts.items(), key=lambda item: item[1]["p_value"])):
        running = max(running, min(1.0, (len(lifts) - rank) * lift["p_value"]))
        expected[path] = running
    assert {path: lift["p_adjusted"] for path, lift in lifts.items()} == pytest.approx(expected, abs=1e-5)
    for form in ("table", "markdown"):
        flat = " ".join(html.unescape(shown(form)).split())
        assert "p: chance of such a difference if both arms were alike" in flat
        assert flat.count("(Holm ") == 5
        for path, lift in lifts.items():
            assert f"p {lift['p_value']:.3f} (Holm {expected[path]:.3f})" in flat


def test_authored_answers_are_marked(shown: Show) -> None:
    """Table and Markdown begin by saying so; the gate's name says it, and the result has it as a field."""
    assert shown("table").startswith("FIXTURE RUN")
    assert "> FIXTURE RUN" in shown("markdown").partition("\n|")[0]
    result = json.loads(shown("json"))
    assert result["subject"]["is_fixture"] is True
    assert result["decision"]["gate"] == "fixture_gate"
    assert "model_gate" not in shown("table") + shown("markdown") + shown("json")


def test_estimated_tokens_are_marked(shown: Show) -> None:
    """Every token count of the fixture has a tilde."""
    lines = [line for line in shown("table").splitlines() if re.search(r" (progressive|none|eager) ", f"{line} ")]
    counts = [line.split()[-1] for line in lines if re.search(r"\d/\d", line) and not line.startswith(("slice", " "))]
    assert len(counts) >= 63
    assert all(re.fullmatch(r"~\d+", count) for count in counts if not count.endswith(("]", ":")))


def test_no_line_is_wider_than_a_terminal(shown: Show) -> None:
    """80 columns, but for a word that is longer by itself."""
    assert [line for line in shown("table").splitlines() if width(line) > 80] == []


def test_counts_add_up_in_every_format(shown: Show) -> None:
    """passed + failed + unscored is what was planned."""
    result = json.loads(shown("json"))
    for counts in (result["counts"], *(m["trials"] for m in result["metrics"]["modes"].values())):
        assert counts["passed"] + counts["failed"] + counts["unscored"] == counts["planned"]
    assert result["counts"]["planned"] == 63 == len(result["trials"])
    assert shown("table").count("of 21 planned") == 3
    assert sum("of 21 planned" in line for line in shown("markdown").splitlines()) == 3
