"""Signing in and out, forms of other sites, and sessions that end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
import pytest

from benchfill_services.review.page import sign_in_limits
from benchfill_services.review.page.routes_session import local
from benchfill_services.review.page.sessions import IDLE_SECONDS, LONGEST_SECONDS
from benchfill_services.store.api_keys import RedisApiKeys
from support.rest_service import serving, settings_of
from support.review_visitor import field

if TYPE_CHECKING:
    from pathlib import Path

    from redis.asyncio import Redis

    from benchfill_services.review.case import Case
    from support.rest_service import RestService

COOKIE = "benchfill_review"


async def sessions(valkey: Redis) -> list[str]:
    return [str(one) async for one in valkey.scan_iter("benchfill:review:session:*")]


async def test_a_key_becomes_a_cookie_that_no_script_reads(visitor, valkey, people) -> None:
    ada = visitor("Ada")
    page = ada.get("/review")
    assert page.status_code == 200
    assert "Ada" in page.text
    secret = people["Ada"][1]
    assert secret not in page.text
    reply = visitor().client.get("/review", follow_redirects=False)
    assert reply.status_code == 303
    assert reply.headers["location"] == "/review/sign-in?next=%2Freview"
    header = reply.headers["set-cookie"]
    assert re.search(r"HttpOnly; Path=/review; SameSite=lax", header)
    token = ada.client.cookies[COOKIE]
    (name,) = await sessions(valkey)
    assert token not in name
    assert token not in str(await valkey.get(name))
    assert 0 < await valkey.ttl(name) <= IDLE_SECONDS


async def test_signing_in_renews_the_token_and_out_ends_it(visitor, valkey, people) -> None:
    ada = visitor("Ada")
    first = ada.client.cookies[COOKIE]
    ada.sign_in(people["Ada"][1])
    second = ada.client.cookies[COOKIE]
    assert first != second
    assert len(await sessions(valkey)) == 1
    csrf = field(ada.get("/review").text, "csrf")
    gone = ada.client.post("/review/sign-out", data={"csrf": csrf})
    assert gone.url.path == "/review/sign-in"
    assert await sessions(valkey) == []
    ada.client.cookies.set(COOKIE, second, path="/review")
    assert ada.get("/review").url.path == "/review/sign-in"


async def test_a_revoked_key_ends_its_sessions_at_once(visitor, valkey, people) -> None:
    ada = visitor("Ada")
    await RedisApiKeys(valkey).revoke(people["Ada"][0].id)
    assert ada.get("/review").url.path == "/review/sign-in"
    assert await sessions(valkey) == []


async def test_a_session_ends_after_its_longest_time(visitor, valkey) -> None:
    ada = visitor("Ada")
    (name,) = await sessions(valkey)
    kept = str(await valkey.get(name))
    began = float(re.search(r'"began":([0-9.]+)', kept)[1])  # type: ignore[index]
    older = kept.replace(str(began), str(began - LONGEST_SECONDS + 60))
    await valkey.set(name, older, ex=IDLE_SECONDS)
    assert ada.get("/review").url.path == "/review"
    assert await valkey.ttl(name) <= 60
    await valkey.set(name, kept.replace(str(began), str(began - LONGEST_SECONDS - 1)))
    assert ada.get("/review").url.path == "/review/sign-in"


@pytest.mark.parametrize("key", ["", "bf_", "x" * 5000, "bf_000000000000_" + "a" * 43, "é"])
def test_a_wrong_key_opens_nothing(visitor, key: str) -> None:
    stranger = visitor()
    reply = stranger.sign_in(key)
    assert reply.status_code == 401
    assert "unknown or revoked" in reply.text
    assert key[:40] not in reply.text or len(key) < 4
    assert stranger.get("/review").url.path == "/review/sign-in"


def test_an_office_behind_one_address_may_sign_in(visitor, people) -> None:
    for _ in range(sign_in_limits.PER_ADDRESS + 5):
        assert visitor().sign_in(people["Ada"][1]).url.path == "/review"


def test_wrong_keys_are_limited(visitor, people) -> None:
    stranger = visitor()
    for _ in range(sign_in_limits.PER_ADDRESS):
        assert stranger.sign_in("bf_wrong").status_code == 401
    reply = stranger.sign_in(people["Ada"][1])
    assert reply.status_code == 429
    assert reply.headers["retry-after"] == "60"
    assert "wait a minute" in reply.text


@pytest.mark.parametrize(
    "forged",
    [
        {"csrf": "0" * 64},
        {"csrf": ""},
        {"csrf": "é"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=str,
)
async def test_forms_of_other_sites_do_nothing(visitor, case: Case, desk, people, forged) -> None:
    ada = visitor("Ada")
    page = ada.get(f"/review/c/{case.id}").text
    fields = {name: field(page, name) for name in ("csrf", "seen", "shown")}
    headers = {name: value for name, value in forged.items() if name != "csrf"}
    fields |= {"verdict": "approve"} | {"csrf": forged.get("csrf", fields["csrf"])}
    for htmx in ({}, {"hx-request": "true"}):
        reply = ada.client.post(f"/review/c/{case.id}/verdict", data=fields, headers=headers | htmx)
        assert reply.status_code == 403
    assert (await desk.look(case.id, people["Ada"][0])).status == "pending"


def test_a_form_of_an_earlier_session_keeps_what_was_typed(visitor, case: Case, people) -> None:
    ada = visitor("Ada")
    page = ada.get(f"/review/c/{case.id}").text
    ada.sign_in(people["Ada"][1])
    typed = {"verdict": "reject", "reasons": "other", "text": "Typed <b>before</b>."}
    plain = ada.send(case.id, "verdict", page=page, **typed)
    assert plain.status_code == 403
    assert "Typed &lt;b&gt;before&lt;/b&gt;." in plain.text
    put = ada.send(case.id, "verdict", page=page, htmx=True, **typed)
    assert put.status_code == 403
    assert put.headers["hx-retarget"] == "#notice"
    token = re.search(r'"review:csrf": "([0-9a-f]{64})"', put.headers["hx-trigger"])
    assert token is not None
    again = page.replace(field(page, "csrf"), token[1])
    assert ada.send(case.id, "verdict", page=again, htmx=True, **typed).status_code == 200


def test_signed_out_people_keep_what_they_typed(visitor, case: Case) -> None:
    ada = visitor("Ada")
    page = ada.get(f"/review/c/{case.id}").text
    csrf = field(page, "csrf")
    cookie = ada.client.cookies[COOKIE]
    ada.client.post("/review/sign-out", data={"csrf": csrf})
    ada.client.cookies.set(COOKIE, cookie, path="/review")
    reply = ada.send(case.id, "verdict", page=page, verdict="reject", text="My words.")
    assert reply.status_code == 401
    assert "My words." in reply.text
    put = ada.send(case.id, "verdict", page=page, htmx=True, verdict="reject", text="x")
    assert put.status_code == 401
    assert "Sign in in a new tab" in put.text


@pytest.mark.parametrize(
    ("address", "goes_to"),
    [
        ("/review", "/review"),
        ("/review/c/x?at=f1-0", "/review/c/x?at=f1-0"),
        ("/review?shelf=decided&benchmark=a", "/review?shelf=decided&benchmark=a"),
        ("//evil.example", "/review"),
        ("https://evil.example/review", "/review"),
        ("/reviewer", "/review"),
        ("/review/../v1/fills", "/review"),
        ("/review/%2e%2e/v1", "/review"),
        ("/review\\evil", "/review"),
        ("/review/\r\nSet-Cookie: a=b", "/review"),
        ("javascript:alert(1)", "/review"),
        ("", "/review"),
    ],
)
def test_signing_in_leads_to_the_page_only(address: str, goes_to: str) -> None:
    assert local(address) == goes_to


def test_signing_in_leads_back(visitor, case: Case, people) -> None:
    stranger = visitor()
    asked = stranger.get(f"/review/c/{case.id}?at=f1-0")
    assert asked.url.path == "/review/sign-in"
    reply = stranger.sign_in(people["Bob"][1], field(asked.text, "next"))
    assert reply.url.path == f"/review/c/{case.id}"


async def test_a_key_that_asks_too_often_is_told(visitor, valkey) -> None:
    _, secret = await RedisApiKeys(valkey).create("reader", rate_per_minute=2)
    slow = visitor(key=secret.get_secret_value())
    assert slow.get("/review").status_code == 200
    reply = slow.get("/review")
    assert reply.status_code == 429
    assert "may ask 2 times a minute" in reply.text
    assert "retry-after" in reply.headers


@pytest.fixture
def open_service(valkey_socket: Path, tmp_path: Path, valkey):
    with serving(settings_of(valkey_socket, tmp_path), anonymous=True) as started:
        yield started


def test_without_keys_everybody_is_one(open_service, visitor, case: Case) -> None:
    somebody = visitor(base=open_service.base)
    page = somebody.get(f"/review/c/{case.id}")
    assert page.status_code == 200
    assert "nobody can review blind" in page.text
    assert "2 people with a key each" in page.text
    assert somebody.get("/review/sign-in").url.path == "/review"
    forged = somebody.client.post(
        f"/review/c/{case.id}/verdict", data={"verdict": "approve", "csrf": "0" * 64}
    )
    assert forged.status_code == 403
    given = somebody.send(case.id, "verdict", verdict="approve")
    assert given.status_code == 200
    assert "You are done here" in given.text


def test_without_keys_only_this_machine_is_answered(open_service) -> None:
    reply = httpx.get(f"{open_service.base}/review", headers={"Host": "rebound.example"})
    assert reply.status_code == 403
    assert "localhost" in reply.text


@pytest.mark.parametrize("path", ["/review", "/review/sign-in", "/review/nothing"])
def test_every_page_has_the_policy(visitor, path: str) -> None:
    reply = visitor("Ada").get(path)
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cache-control"] == "no-store"
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son[a-z]+=", reply.text)


def test_files_are_kept_by_browsers(service: RestService, people) -> None:
    with httpx.Client(base_url=service.base) as client:
        page = client.get("/review/sign-in").text
        for address in re.findall(r'(?:src|href)="(/review/static/[^"]+)"', page):
            reply = client.get(address)
            assert reply.status_code == 200
            assert "immutable" in reply.headers["cache-control"]
            assert "set-cookie" not in reply.headers
            again = client.get(address, headers={"If-None-Match": reply.headers["etag"]})
            assert again.status_code == 304
        font = client.get("/review/static/vendor/katex/fonts/KaTeX_Main-Regular.woff2")
        assert font.headers["content-type"] == "font/woff2"
        for missing in ("x.js", "../routes.py", "%2e%2e/routes.py", "vendor/VENDORED.md"):
            assert client.get(f"/review/static/{missing}").status_code == 404
