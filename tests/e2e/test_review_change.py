"""A change asked for in the browser: real service, real worker, and a scripted provider."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from benchfill_services.settings import Settings
from benchfill_services.store.reviews import RedisReviews
from support.arithmetic_world import answer
from support.asked_world import filled, is_writing, revised
from support.browser import chromium, visitor
from support.job_world import JobWorld, job_world
from support.rest_service import RestService, serving
from support.review_cases import make_person

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.openai_api import Reply, Request

pytestmark = pytest.mark.timeout(300)
PEOPLE = ("Ada", "Bob", "Cyd")


def play(request: Request) -> Reply | str:
    """Play the pool, the Rewriter and the Validator."""
    if not is_writing(request):
        return answer(request)
    if "You are the Validator" in request.body["messages"][0]["content"]:
        return "The answer is right: $30 + 25 = 55$."
    return revised(47, 35)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[JobWorld, str]]:
    """A world with a fill that is done; its candidate's path."""
    with job_world(tmp_path_factory.mktemp("change")) as made:
        fill = asyncio.run(filled(made))

        async def candidate() -> str:
            async with made.store() as redis:
                return next(one for one in await RedisReviews(redis).ids() if one.startswith(fill))

        made.provider.script(play)
        yield made, f"/review/c/{asyncio.run(candidate())}"


@pytest.fixture(scope="module")
def service(world: tuple[JobWorld, str]) -> Iterator[RestService]:
    made, _ = world

    async def keys() -> dict[str, str]:
        async with made.store() as redis:
            return {name: (await make_person(redis, name))[1] for name in PEOPLE}

    secrets = asyncio.run(keys())
    pools: Path = made.folder / "pools"
    with serving(Settings(data_dir=made.data, redis_url=None, pools_dir=pools)) as started:
        started.keys |= secrets
        with made.worker():
            yield started


def test_a_change_becomes_a_revision_that_others_judge(
    world: tuple[JobWorld, str], service: RestService
) -> None:
    _, path = world
    with (
        chromium() as browser,
        visitor(browser, service.base) as ada,
        visitor(browser, service.base) as bob,
        visitor(browser, service.base) as cyd,
    ):
        for name, who in zip(PEOPLE, (ada, bob, cyd), strict=True):
            who.sign_in(service.keys[name])
            who.page.set_default_timeout(90_000)
            who.page.goto(path)
        bob.page.fill("#say-text", "Is the answer right?")
        bob.page.click("#ask")
        expect(bob.page.locator("#transcript")).to_contain_text(
            "The answer is right", timeout=120_000
        )
        ada.page.keyboard.press("c")
        ada.page.keyboard.type("Use larger numbers.")
        ada.page.keyboard.press("Control+Enter")
        expect(ada.page.locator("#desk")).to_contain_text("A revision is being written")
        ada.page.reload()
        expect(ada.page.locator("#transcript")).to_contain_text("Use larger numbers.")
        newer = ada.page.locator("#desk >> text=Look at revision 2")
        expect(newer).to_be_visible(timeout=120_000)
        for words in ("47 + 35", "Rewriter", "Validator", "Calibrator"):
            expect(ada.page.locator("#transcript")).to_contain_text(words)
        assert "Is the answer right?" not in ada.page.content()
        newer.click()
        expect(ada.page.locator("#desk")).to_contain_text("You asked for this wording")
        # the others' pages learn that there is a newer wording, and not who asked for it
        for who in (bob, cyd):
            expect(who.page.locator("#desk")).to_contain_text("Look at revision 2")
            who.page.click("text=Look at revision 2")
            expect(who.page.locator("h1 + *")).to_be_visible()
            assert "Use larger numbers" not in who.page.content()
            assert "Ada" not in who.page.content()
            assert who.page.locator("#approve").is_visible()
        bob.page.click("#approve")
        cyd.page.click("#approve")
        expect(cyd.page.locator("#desk-title")).to_have_text("Approved")
        expect(ada.page.locator("#desk-title")).to_have_text("Approved")
