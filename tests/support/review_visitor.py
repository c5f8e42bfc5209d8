"""Somebody at the review page without a browser: follows links, sends forms, reads the stream."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator


class Elements(HTMLParser):
    """All elements of a page as (name, attributes), in order, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page.encode().decode())  # a plain string: slices of Markup escape
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def ids(self, prefix: str = "") -> list[str]:
        """Return the ids that begin so, in order."""
        named = (attrs.get("id") or "" for _, attrs in self.found)
        return [one for one in named if one and one.startswith(prefix)]


class Visitor:
    """A signed-in person with cookies."""

    def __init__(self, base: str, key: str | None = None) -> None:
        self.client = httpx.Client(base_url=base, timeout=30, follow_redirects=True)
        if key is not None:
            signed_in = self.sign_in(key)
            assert signed_in.status_code == 200, signed_in.text

    def sign_in(self, key: str, address: str = "/review") -> httpx.Response:
        page = self.client.get("/review/sign-in", params={"next": address})
        fields = {"csrf": field(page.text, "csrf"), "next": field(page.text, "next"), "key": key}
        return self.client.post("/review/sign-in", data=fields)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.client.get(path, **options)

    def send(
        self, case: str, form: str, *, htmx: bool = False, page: str = "", **fields: Any
    ) -> httpx.Response:
        """Send a form of a case's page as the page holds it, with these fields filled in."""
        page = page or self.get(f"/review/c/{case}").text
        hidden = {name: field(page, name) for name in ("csrf", "seen", "shown")}
        headers = {"HX-Request": "true"} if htmx else {}
        return self.client.post(f"/review/c/{case}/{form}", data=hidden | fields, headers=headers)

    def stream_of(self, page: str) -> str:
        """Return the address of a page's stream."""
        found = re.search(r'sse-connect="([^"]+)"', page)
        assert found is not None
        return found[1].replace("&amp;", "&")

    def events(self, address: str, seconds: float, last: str = "") -> Iterator[dict[str, str]]:
        """Yield what a stream says until it has been silent for a while."""
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
        wait = httpx.Timeout(10, read=seconds)
        with self.client.stream("GET", address, headers=headers, timeout=wait) as reply:
            assert reply.status_code == 200
            event: dict[str, str] = {}
            try:
                for line in reply.iter_lines():
                    if not line:
                        if event:
                            yield event
                        event = {}
                    elif not line.startswith(":"):
                        name, _, value = line.partition(": ")
                        event[name] = event[name] + "\n" + value if name in event else value
            except httpx.ReadTimeout:
                return

    def close(self) -> None:
        self.client.close()


def field(page: str, name: str) -> str:
    """Return the value of a page's hidden field; empty when it has none."""
    found = re.search(rf'<input type="hidden" name="{name}" value="([^"]*)"', page)
    return found[1] if found else ""
