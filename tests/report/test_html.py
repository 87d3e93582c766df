"""The HTML report as a file: whole, closed to the network, and inert whatever stands in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from skillassay.report.html_trials import MOST_CASES, MOST_PAGES
from tests.project import Cli, build_small, records, run_folder, small_case, small_rules
from tests.report.hostile import HOSTILE, build_hostile, hostile_page

VOID = {"meta", "br", "line", "circle", "link", "img", "input"}


class Page(HTMLParser):
    """The elements of a page, its texts, and whether each one is closed in its place."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins."""
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """The innermost one ends."""
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """A text."""
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def page(cli: Cli) -> Page:
    """The report on a small run that passed."""
    build_small(cli.root)
    cli("eval")
    return Page(cli("report", "--format", "html").out)


@pytest.fixture
def hostile(cli: Cli) -> Page:
    """The report on answers and criteria that try to be markup."""
    build_hostile(cli.root)
    return Page(hostile_page(cli))


def test_every_element_is_closed_in_its_place(page: Page) -> None:
    """And nothing is left open at the end."""
    assert page.open == []


def test_nothing_is_fetched(page: Page) -> None:
    """One file: no address but places on the page itself."""
    named = [value for _, attributes in page.elements for key, value in attributes.items() if key in {"src", "href"}]
    assert named
    assert all(value is not None and value.startswith("#") for value in named)
    assert not page.all("link")


def test_every_link_leads_somewhere(page: Page) -> None:
    """Each verdict to its trial, each entry of the list of parts to its part; no place has two."""
    places = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(places) == len(set(places))
    assert {attributes["href"] for attributes in page.all("a")} <= {f"#{place}" for place in places}


def test_the_policy_names_the_one_style_and_the_one_script(cli: Cli) -> None:
    """By the SHA-256 of what stands between their tags; whatever else came in could not run."""
    build_small(cli.root)
    cli("eval")
    text = cli("report", "--format", "html").out
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    for tag in ("style", "script"):
        (inside,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in policy
    assert policy.startswith("default-src &#39;none&#39;")


def test_each_trial_has_its_page_with_answer_and_evidence(cli: Cli) -> None:
    """Nine trials: nine places, and every kept answer stands on the page."""
    build_small(cli.root)
    cli("eval")
    page = Page(cli("report", "--format", "html").out)
    pages = [attributes for attributes in page.all("details") if attributes.get("class") == "trial"]
    assert {attributes["id"] for attributes in pages} == {f"t-{record['trial_id']}" for record in records(cli.root)}
    assert {record["answer"] for record in records(cli.root)} <= set(page.texts)
    assert "No hello stands there." in page.texts


def test_hostile_texts_stay_texts(hostile: Page) -> None:
    """No element and no attribute of theirs: the page is made of the elements of the template alone."""
    assert hostile.open == []
    assert len(hostile.all("script")) == 1
    assert not any(tag in {"iframe", "img", "base", "link", "animate", "template"} for tag, _ in hostile.elements)
    assert not any(key.startswith("on") for _, attributes in hostile.elements for key in attributes)
    assert {attributes.get("http-equiv") for attributes in hostile.all("meta")} == {None, "Content-Security-Policy"}


def test_hostile_texts_are_shown_in_full(hostile: Page) -> None:
    """What can be seen stands there letter by letter, what cannot is named."""
    shown = "".join(hostile.texts)
    assert all(text in shown for text in HOSTILE[:-1])
    assert r"\u{202e}gnp.exe\u{202c}" in shown
    assert r"\u{1b}[31m red \u{0} \u{7} \u{feff}" in shown
    assert not set("\u202e\u2066\u200b\x1b\x00\ufeff") & set(shown)


def test_no_template_is_filled_by_an_answer(hostile: Page) -> None:
    """An answer in the template's own language is text too."""
    assert "{{ 7*7 }}" in "".join(hostile.texts)
    assert not any(re.search(r"\b49\b", text) for text in hostile.texts if "raw" in text)


def test_a_run_without_texts_has_a_page_and_says_so(cli: Cli) -> None:
    """Under retention hash there are verdicts and no answer."""
    build_small(cli.root, retention="hash")
    cli("eval")
    page = Page(cli("report", "--format", "html").out)
    assert page.texts.count("no answer is kept") == 9
    assert any(text.startswith("retention: hash") for text in page.texts)


def test_a_large_run_says_what_is_left_out(cli: Cli) -> None:
    """The page keeps to a size that a browser likes; trials that failed are not among those left out."""
    names = [f"n{number:04}" for number in range(MOST_CASES + 10)]
    rules = [rule for name in names for rule in small_rules(name, good="good day" if name == names[-1] else "hello")]
    build_small(cli.root, cases=[small_case(name) for name in names], rules=rules)
    cli("eval")
    ran = cli("report", "--format", "html")
    page = Page(ran.out)
    n_trials = 3 * len(names)
    assert sum(one.get("class") == "trial" for one in page.all("details")) == MOST_PAGES
    assert any(f"{n_trials - MOST_PAGES} more trials are not shown" in text for text in page.texts)
    assert any("10 more cases are not shown" in text for text in page.texts)
    failed = {record["trial_id"] for record in records(cli.root) if record["outcome"]["status"] == "FAIL"}
    assert {f"t-{trial}" for trial in failed} <= {one.get("id") for one in page.all("details")}


def test_the_report_is_the_same_each_time(cli: Cli, tmp_path: Path) -> None:
    """It is made from the record alone."""
    build_small(cli.root)
    cli("eval")
    assert cli("report", "--format", "html").out == cli("report", "--format", "html").out


def test_the_lift_shows_its_p_and_the_costs_their_prices(page: Page) -> None:
    """What the table says of both stands on the page too."""
    shown = " ".join(page.texts)
    assert "p: chance of such a difference if both arms were alike" in shown
    assert "cost of the candidate (fixture)" in shown


def test_the_suites_quality_stands_beside_the_run(cli: Cli) -> None:
    """A check that an empty answer passes is found, and named with its case."""
    weak = small_case("one", checks=[{"id": "anything", "type": "not_contains", "text": "curse"}])
    del weak["rubric"]
    build_small(cli.root, cases=[weak, small_case("two"), small_case("three")])
    cli("eval")
    page = Page(cli("report", "--format", "html").out)
    shown = " ".join(page.texts)
    assert "Suite quality" in page.texts
    assert "anything" in shown.partition("Suite quality")[2]


def test_a_project_that_is_broken_since_has_a_report_all_the_same(cli: Cli) -> None:
    """The run stands as it was; nothing is said of suites that cannot be read."""
    build_small(cli.root)
    cli("eval")
    (cli.root / "evals" / "quality.json").write_text("{", encoding="utf-8")
    ran = cli("report", "--format", "html")
    assert ran.code == 0
    assert "Suite quality" not in Page(ran.out).texts


def compared(cli: Cli) -> Page:
    """Two runs of one suite: in the second `two` fails, and `three` passes as before."""
    build_small(cli.root)
    cli("eval")
    fixtures = cli.root / "evals" / "fixtures" / "all.json"
    text = fixtures.read_text("utf-8")
    head, _, tail = text.partition('"Greet two."')
    fixtures.write_text(head + '"Greet two."' + tail.replace("hello hello", "good day", 1), encoding="utf-8")
    cli("eval")
    old, new = sorted(path.name for path in (cli.root / ".skillassay" / "runs").iterdir())
    return Page(cli("compare", old, new, "--format", "html").out)


def test_a_comparison_is_a_page_too(cli: Cli) -> None:
    """What got worse is named with its criterion, a flip is called one, and the verdict stands at the top."""
    page = compared(cli)
    assert page.open == []
    shown = " ".join(" ".join(page.texts).split())
    assert "REGRESSION in progressive" in shown
    assert "quality/two progressive #1 worse, flip PASS 1/1, now FAIL 0/1 now fails: says-hello" in shown


def test_a_transcript_of_another_shape_is_shown_as_it_is(cli: Cli) -> None:
    """A record that something else wrote is no reason to show nothing."""
    build_small(cli.root)
    cli("eval")
    path = run_folder(cli.root) / "trials.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    lines[0]["transcript"] = [{"who": "ModelTurn", "calls": ["odd"]}, 5, {"who": "ToolTurn", "results": {"odd": 1}}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ran = cli("report", "--format", "html")
    assert ran.code == 0
    assert "calls ?" in " ".join(Page(ran.out).texts)
