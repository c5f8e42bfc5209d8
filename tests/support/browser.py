"""Debian's Chromium, driven by Playwright; it is offline but for the service under test."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from typing import Any

    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser. Playwright gives it a new user data folder."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium; apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class Visitor:
    """One person's window, and what went wrong in it."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.page, self._base = context.new_page(), base
        self.context = context
        self.troubles: list[str] = []
        self.watch(self.page)

    def watch(self, page: Page) -> None:
        """Note errors of the console, of scripts, and requests that leave the service."""
        page.set_default_timeout(20_000)
        page.on(
            "console",
            lambda said: self.troubles.append(said.text) if said.type == "error" else None,
        )
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((self._base, "data:"))
                else self.troubles.append(f"outside: {request.url}")
            ),
        )

    def tab(self) -> Page:
        """Open another tab of the same person."""
        page = self.context.new_page()
        self.watch(page)
        return page

    def sign_in(self, key: str) -> Page:
        """Exchange a key for a session by keyboard alone."""
        page = self.page
        page.goto("/review")
        page.wait_for_selector("#key:focus")  # the page gives it, a moment after it has loaded
        page.keyboard.type(key)
        page.keyboard.press("Enter")
        page.wait_for_selector("h1:has-text('Candidates')")
        return page


@contextlib.contextmanager
def visitor(browser: Browser, base: str, **options: object) -> Iterator[Visitor]:
    """Open a context of its own for one person; fails when anything went wrong in it."""
    context = browser.new_context(base_url=base, **options)  # type: ignore[arg-type]
    made = Visitor(context, base)
    try:
        yield made
    finally:
        context.close()
    assert not made.troubles, made.troubles


def apart(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run something asynchronous in a thread: this one's loop is Playwright's."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(work())).result()
