"""The review page in a real browser: two people, keys, tabs, hostile items, and every screen."""

from __future__ import annotations

import os
import re
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from redis import Redis

from benchfill_services.store.embedded import client_of
from benchfill_services.store.reviews import RedisReviews
from support.browser import apart, chromium, visitor
from support.rest_service import serving, settings_of
from support.review_cases import make_case
from support.review_world import world_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from benchfill_services.review.case import Case
    from support.browser import Visitor
    from support.rest_service import RestService
    from support.review_world import ReviewWorld

pytestmark = pytest.mark.timeout(240)
LIGHT = {"color_scheme": "light"}
SCREENS = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "narrow": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}


@pytest.fixture(scope="module")
def world(valkey_socket: Path) -> ReviewWorld:
    with Redis(unix_socket_path=str(valkey_socket)) as redis:
        redis.config_set("appendfsync", "no")
        redis.flushall()
    return world_at(valkey_socket)


@pytest.fixture(scope="module")
def service(
    world: ReviewWorld, valkey_socket: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RestService]:
    with serving(settings_of(valkey_socket, tmp_path_factory.mktemp("rest"))) as started:
        yield started


@pytest.fixture(scope="module")
def browser(service: RestService) -> Iterator[Browser]:
    with chromium() as started:
        yield started


def put(valkey_socket: Path, *cases: Case) -> None:
    """Put cases up for review."""

    async def opened() -> None:
        async with client_of(valkey_socket) as redis:
            for case in cases:
                await RedisReviews(redis).open(case)

    apart(opened)


@pytest.fixture
def fresh(valkey_socket: Path) -> str:
    """The path of a candidate that nobody has looked at."""
    case = make_case()
    put(valkey_socket, case)
    return f"/review/c/{case.id}"


@pytest.fixture
def ada(browser: Browser, service: RestService, world: ReviewWorld) -> Iterator[Visitor]:
    with visitor(browser, service.base, **LIGHT) as who:
        who.sign_in(world.keys["Ada"])
        yield who


@pytest.fixture
def bob(browser: Browser, service: RestService, world: ReviewWorld) -> Iterator[Visitor]:
    with visitor(browser, service.base, **LIGHT) as who:
        who.sign_in(world.keys["Bob"])
        yield who


def status(page: Page) -> str:
    return page.locator("#case-status").inner_text()


def test_a_disagreement_and_its_adjudication(  # noqa: PLR0917 - fixtures
    ada: Visitor,
    bob: Visitor,
    browser: Browser,
    service: RestService,
    world: ReviewWorld,
    fresh: str,
) -> None:
    for who in (ada, bob):
        who.page.goto(fresh)
        expect(who.page.locator("#case-status")).to_have_text("needs your verdict")
    ada.page.click("#reject > summary")
    ada.page.check("text=Ambiguous")
    ada.page.fill("#reject-text", "Is it $12$ or $13$?")
    ada.page.click("#reject button.danger")
    expect(ada.page.locator("#desk-title")).to_have_text("You are done here")
    bob.page.reload()
    assert "Ada" not in bob.page.content()
    assert "12$ or" not in bob.page.content()
    bob.page.click("#approve")
    expect(bob.page.locator("#desk-title")).to_have_text("Reviewers disagree")
    expect(bob.page.locator(".verdicts")).to_contain_text("Ada")
    # Ada's page learns it from its stream
    expect(ada.page.locator("#desk-title")).to_have_text("Reviewers disagree")
    assert ada.page.locator("#undo").count() == 0
    with visitor(browser, service.base, **LIGHT) as olu:
        page = olu.sign_in(world.keys["Olu"])
        page.click("text=Disagreements")
        page.locator(".row-title").first.click()
        page.click("#approve")
        expect(page.locator("#desk-title")).to_have_text("Approved")
        expect(page.locator(".verdicts")).to_contain_text("as adjudicator")
    expect(ada.page.locator("#case-status")).to_contain_text(re.compile("approved", re.IGNORECASE))


def test_undo_until_the_other_has_decided(ada: Visitor, bob: Visitor, fresh: str) -> None:
    ada.page.goto(fresh)
    ada.page.click("#approve")
    ada.page.click("#undo")
    expect(ada.page.locator("#desk-title")).to_have_text("Your verdict")
    ada.page.click("#approve")
    expect(ada.page.locator("#undo")).to_be_visible()
    bob.page.goto(fresh)
    bob.page.click("#approve")
    expect(bob.page.locator("#desk-title")).to_have_text("Approved")
    expect(ada.page.locator("#desk-title")).to_have_text("Approved")
    expect(ada.page.locator("#undo")).to_have_count(0)


def test_the_second_tab_is_told_and_loses_nothing(ada: Visitor, fresh: str) -> None:
    ada.page.goto(fresh)
    # a tab without a stream: it cannot know what the first one does
    second = ada.tab()
    second.route(re.compile(r"/stream\?"), lambda route: route.abort())
    second.goto(fresh)
    ada.page.click("#approve")
    expect(ada.page.locator("#undo")).to_be_visible()
    second.click("#reject > summary")
    second.check("text=Ambiguous")
    second.fill("#reject-text", "My long words")
    second.click("#reject button.danger")
    expect(second.locator("#notice")).to_contain_text("out of date")
    assert "My long words" in second.evaluate("JSON.stringify(sessionStorage)")
    second.close()
    # the browser tells of the stream that was cut and of the answer 409, and of nothing else
    told = ("[object Event]", "409", "ERR_FAILED")
    ada.troubles = [one for one in ada.troubles if not any(word in one for word in told)]


def test_by_keyboard_alone(ada: Visitor, fresh: str) -> None:
    page = ada.page
    page.goto("/review")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.href")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.href") != first
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.href") == first
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    page.keyboard.press("Enter")
    page.wait_for_url("**/review/c/**")
    page.goto(fresh)
    page.keyboard.press("r")
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    # through the reasons to the text, and off
    for _ in range(7):
        page.keyboard.press("Tab")
    page.keyboard.type("aruj? is typed, not pressed")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#desk-title")).to_have_text("You are done here")
    page.keyboard.press("u")
    expect(page.locator("#desk-title")).to_have_text("Your verdict")
    page.keyboard.press("a")
    expect(page.locator("#desk-title")).to_have_text("You are done here")
    where = page.url
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url != where)


def test_hostile_items_run_nothing(ada: Visitor, world: ReviewWorld) -> None:
    page = ada.page
    for name in ("hostile", "100 kB", "right to left", "formulas"):
        for path in (f"/review/c/{world.cases[name].id}", "/review"):
            page.goto(path)
            page.wait_for_load_state("load")
            for summary in page.locator("main details > summary").all()[:12]:
                if summary.is_visible():
                    summary.click()
            page.wait_for_timeout(300)
            assert page.evaluate("window.__probes || 0") == 0
            width, inner = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert width <= inner
            # nothing of an item lies over the desk
            desk = page.locator("#desk")
            if desk.count():
                box = desk.bounding_box()
                top = page.evaluate(
                    "([x, y]) => !!document.elementFromPoint(x, y)?.closest('#desk, header')",
                    [box["x"] + 20, max(1, min(box["y"] + 20, 880))],
                )
                assert top or box["y"] < 0 or box["y"] > 880
            assert len(page.content()) < 1_500_000
    for one in page.locator("a[href]").all():
        assert (one.get_attribute("href") or "").startswith(("/", "#", "http://127", "https:"))


def test_formulas_are_set(ada: Visitor, world: ReviewWorld) -> None:
    ada.page.goto(f"/review/c/{world.cases['formulas'].id}")
    expect(ada.page.locator(".katex").first).to_be_visible()
    assert ada.page.locator(".katex-error").count() == 0
    fonts = ada.page.evaluate("[...document.fonts].filter(f => f.status == 'loaded').length")
    assert fonts > 0


def test_a_reload_in_mid_stream_loses_and_doubles_nothing(
    ada: Visitor, world: ReviewWorld, valkey_socket: Path
) -> None:
    case = world.cases["third"]
    page = ada.page
    page.goto(f"/review/c/{case.id}")
    entries = page.locator("#transcript > li[id^='m-']")
    before = entries.count()
    with Redis(unix_socket_path=str(valkey_socket)) as redis:
        for number in range(40):
            said = (
                '{"author": "Validator", "kind": "answer", "author_kind": "agent", "revision": 1,'
                f'"text": "Streamed {number}.", "at": "2026-11-30T10:00:{number:02d}.000+00:00"}}'
            )
            redis.xadd(f"benchfill:review:thread:{case.id}", {"message": said})
            if number == 20:
                page.reload()
            time.sleep(0.02)
    expect(page.locator("text=Streamed 39.")).to_be_visible()
    texts = page.locator("#transcript").inner_text()
    seen = re.findall(r"Streamed (\d+)\.", texts)
    assert seen == sorted(set(seen), key=int)
    assert seen[-20:] == [str(number) for number in range(20, 40)]
    assert entries.count() >= before


def test_two_thousand_messages_open_at_once(
    ada: Visitor, world: ReviewWorld, valkey_socket: Path
) -> None:
    case = world.cases["second"]
    with Redis(unix_socket_path=str(valkey_socket)) as redis, redis.pipeline() as pipe:
        for number in range(2000):
            said = (
                '{"author": "Validator", "kind": "answer", "author_kind": "agent", "revision": 1,'
                f'"text": "Message {number} with $x^{{{number}}}$ and `code`.",'
                '"at": "2026-11-30T09:00:00.000+00:00"}'
            )
            pipe.xadd(f"benchfill:review:thread:{case.id}", {"message": said})
        pipe.execute()
    page = ada.page
    took = []
    for _ in range(5):
        start = time.perf_counter()
        page.goto(f"/review/c/{case.id}")
        page.locator("text=Message 1999").wait_for()
        took.append(time.perf_counter() - start)
    print(f"2,000 messages open in {statistics.median(took):.2f} s")  # noqa: T201
    assert len(page.content()) < 600_000
    first = page.locator("#transcript > li[id^='m-']").first.get_attribute("id")
    page.click("text=Earlier messages")
    page.wait_for_function(
        "first => document.querySelector(\"#transcript > li[id^='m-']\").id != first", arg=first
    )


def test_many_candidates_page_through(ada: Visitor, valkey_socket: Path) -> None:
    put(valkey_socket, *(make_case(benchmark="many") for _ in range(130)))
    page = ada.page
    page.goto("/review?benchmark=many")
    seen: set[str] = set()
    while True:
        links = [one.get_attribute("href") for one in page.locator(".row-title").all()]
        assert not seen & set(links)
        seen |= set(links)
        older = page.locator("nav.pages [rel=next]")
        if older.count() == 0:
            break
        older.click()
        page.wait_for_load_state("load")
    assert len(seen) == 130


BEYOND = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.querySelectorAll("main *, header *")]
        .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
        .slice(0, 3).map(e => e.outerHTML.slice(0, 200))"""
"""Elements that make the page scroll sideways."""
PAGES = {
    "sign-in": "/review/sign-in",
    "queue": "/review",
    "empty": "/review?shelf=waiting&benchmark=none",
    "plain": "plain",
    "formulas": "formulas",
    "choices": "choices",
    "code": "code",
    "hostile": "hostile",
    "not-found": "/review/c/" + "0" * 32 + ".gap-1." + "0" * 16,
}


@pytest.mark.parametrize("screen", SCREENS)
def test_every_page_is_accessible_and_fits(
    screen: str, browser: Browser, service: RestService, world: ReviewWorld, tmp_path: Path
) -> None:
    options = SCREENS[screen]
    # where to look at them: BENCHFILL_SCREENSHOTS=folder pytest tests/e2e/test_review_browser.py
    folder = Path(os.environ.get("BENCHFILL_SCREENSHOTS", tmp_path))
    with visitor(browser, service.base, **options) as who:
        page = who.page
        for name, path in PAGES.items():
            if name == "queue":
                who.sign_in(world.keys["Ada"])
            page.goto(f"/review/c/{world.cases[path].id}" if path in world.cases else path)
            page.wait_for_load_state("load")
            page.wait_for_timeout(300)
            found = Axe().run(page).response["violations"]
            bad = [one for one in found if one["impact"] in {"serious", "critical"}]
            assert [(one["id"], one["nodes"][0]["html"]) for one in bad] == []
            page.screenshot(path=folder / f"{name}-{screen}.png", full_page=name != "hostile")
            assert (name, page.evaluate(BEYOND)) == (name, [])
        who.troubles = [one for one in who.troubles if "404" not in one]
    assert len(list(folder.glob(f"*-{screen}.png"))) == len(PAGES)
