"""Take the pictures of the HTML report that the README shows, from a run of the shipped suite.

Usage: python scripts/picture.py REPORT.html FOLDER. Needs the driver of `make test-browser` and the program chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

QUIET = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")


def main(report: Path, folder: Path) -> int:
    """The lift with its intervals as one picture, cases with their verdicts as another."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(QUIET))
        page = browser.new_page(viewport={"width": 1000, "height": 700}, reduced_motion="reduce")
        page.goto(report.resolve().as_uri())
        for part in ("lift", "cases"):
            page.evaluate(f"document.getElementById('{part}').scrollIntoView()")
            page.screenshot(path=folder / f"report-{part}.png")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
