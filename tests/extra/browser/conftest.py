"""A real Chromium, the system's, driven by Playwright; a page is opened from a file, without any network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

QUIET = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests. Without the program each test fails and says what is missing."""
    program = shutil.which("chromium")
    assert program is not None, "chromium is needed: apt install chromium"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=list(QUIET))
        yield running
        running.close()
