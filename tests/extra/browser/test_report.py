"""The HTML report as people meet it: at three widths, dark and light, by keyboard, on paper, with hostile answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.project import Cli, build_small, small_case, small_rules
from tests.report.hostile import MARK, build_hostile, hostile_page

WIDTHS = (360, 768, 1280)


@pytest.fixture
def opened(browser: Browser) -> Iterator[Any]:
    """Opens a text as a file; what the page complains of or asks the network for is kept in ``said``."""
    contexts = []

    def open_(path: Path, text: str, **settings: Any) -> tuple[Page, list[str]]:
        path.write_text(text, encoding="utf-8")
        context = browser.new_context(**settings)
        contexts.append(context)
        page, said = context.new_page(), []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        return page, said

    yield open_
    for context in contexts:
        context.close()


def report(cli: Cli) -> str:
    """A run of four cases, one of which fails, with a skill's tools called."""
    names = ("one", "two", "three", "four")
    rules = [rule for name in names for rule in small_rules(name, good="good day" if name == "four" else "hello hello")]
    build_small(cli.root, cases=[small_case(name) for name in names], rules=rules)
    cli("eval")
    return cli("report", "--format", "html").out


def open_all(page: Page) -> None:
    """Unfold everything."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_and_nothing_runs_over(
    cli: Cli, opened: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    """Contrast, labels, roles, all folded parts open; no sideways scrolling of the page; no word on the console."""
    page, said = opened(tmp_path / "r.html", report(cli), viewport={"width": width, "height": 900}, color_scheme=scheme)
    open_all(page)
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []


@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_in_a_comparison(cli: Cli, opened: Any, tmp_path: Path, width: int) -> None:
    """The page of two runs, one of them worse."""
    report(cli)
    cli("eval")
    old, new = sorted(path.name for path in (cli.root / ".skillassay" / "runs").iterdir())
    text = cli("compare", old, new, "--format", "html").out
    page, said = opened(tmp_path / "c.html", text, viewport={"width": width, "height": 900}, color_scheme="dark")
    assert [one["id"] for one in Axe().run(page).response["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []


def test_a_verdict_leads_to_its_evidence_by_keyboard(cli: Cli, opened: Any, tmp_path: Path) -> None:
    """Focus on a FAIL, Enter: its trial is open, in sight and has the focus."""
    page, _ = opened(tmp_path / "r.html", report(cli))
    link = page.locator(".matrix a", has_text="FAIL").last
    link.focus()
    page.keyboard.press("Enter")
    trial = page.locator("details.trial[open]")
    trial.wait_for()
    assert f"#{trial.get_attribute('id')}" == link.get_attribute("href")
    assert trial.locator("td", has_text="No hello stands there.").is_visible()
    assert page.evaluate("document.activeElement.closest('details').id") == trial.get_attribute("id")


def test_tab_reaches_the_report_first(cli: Cli, opened: Any, tmp_path: Path) -> None:
    """The first stop skips what stands before the report."""
    page, _ = opened(tmp_path / "r.html", report(cli))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"


def test_on_paper_everything_is_open(cli: Cli, opened: Any, tmp_path: Path) -> None:
    """What is folded cannot be opened there; the PDF holds the answer of a passing trial, which was folded."""
    page, _ = opened(tmp_path / "r.html", report(cli))
    assert page.locator("details.trial[open]").count() == 0
    assert page.pdf().startswith(b"%PDF")
    assert page.locator("details:not([open])").count() == 0
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()


def test_hostile_answers_do_nothing(cli: Cli, opened: Any, tmp_path: Path) -> None:
    """Scripts, handlers, frames, styles, redirects: none acts, none is asked for, and the page stays readable."""
    build_hostile(cli.root)
    page, said = opened(tmp_path / "r.html", hostile_page(cli))
    open_all(page)
    for link in page.locator("details.trial summary").all()[:3]:
        link.hover()
    assert page.evaluate(f"document.documentElement.dataset.{MARK}") is None
    assert page.url == (tmp_path / "r.html").as_uri()
    assert page.locator("h1").is_visible()
    assert page.locator("#record").is_visible()
    assert said == []


def test_an_injected_script_is_stopped_by_the_policy(cli: Cli, opened: Any, tmp_path: Path) -> None:
    """The second wall: even with the escape broken on purpose nothing of an answer runs."""
    text = report(cli)
    act = f"<script>document.documentElement.dataset.{MARK}=1</script><img src=x onerror='alert(1)'>"
    page, said = opened(tmp_path / "r.html", text.replace("</main>", f"{act}</main>"))
    assert page.evaluate(f"document.documentElement.dataset.{MARK}") is None
    assert any("Content Security Policy" in message for message in said)
