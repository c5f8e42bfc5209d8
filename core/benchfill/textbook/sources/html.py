"""HTML by Beautiful Soup, whose tags know their line in the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .block import Block, Lines, Parsed, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bs4 import BeautifulSoup, Tag

    from ..chapter import Why
    from .block import Kind

_UNSEEN = ["script", "style", "template", "noscript", "head", "iframe", "object", "svg", "math-ml"]
_AROUND = ["nav", "footer", "form", "button", "aside"]
_BLOCKS = {"h1", "h2", "h3", "h4", "h5", "h6", "p", "pre", "ul", "ol", "dl", "table", "blockquote",
           "figcaption"}  # fmt: skip
_LOOSE = {"div", "section", "article", "main", "body", "td", "li"}
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0*)?\s*(?:;|$)"
    r"|font-size\s*:\s*0|(?:text-indent|left|top)\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
_CLASSES: tuple[tuple[Why, re.Pattern[str]], ...] = (
    ("hidden text", re.compile(r"(?:^|[\s_-])(?:sr-only|visually-hidden|hidden|d-none)(?:$|\s)")),
    ("solution", re.compile(r"(?:^|[\s_-])(?:solutions?|answers?)(?:$|[\s_-])")),
    ("exercise", re.compile(r"(?:^|[\s_-])(?:exercises?|problems?|challenge|quiz)(?:$|[\s_-])")),
    ("table of contents", re.compile(r"(?:^|[\s_-])(?:toc|table-of-contents)(?:$|[\s_-])")),
    ("navigation", re.compile(r"(?:^|[\s_-])(?:navbar|breadcrumbs?|sidebar|pagination|menu)"
                              r"(?:$|[\s_-])")),
    ("licence", re.compile(r"(?:^|[\s_-])(?:licen[cs]e|copyright)(?:$|[\s_-])")),
)  # fmt: skip


def read_html(text: str) -> Parsed:
    """Return the blocks of an HTML file.

    What a browser does not show is left out and told: scripts, comments, hidden elements.
    """
    from bs4 import BeautifulSoup  # noqa: PLC0415 - an extra

    soup = BeautifulSoup(text, "html.parser")
    counted = Lines(text)
    title = soup.title.get_text(" ", strip=True) if soup.title is not None else None
    taken = _take_out(soup, counted)
    found = [block for tag in _outermost(soup) if (block := _block(tag, counted)) is not None]
    order = sorted([*taken, *found], key=lambda one: one.place.char_start or 0)
    return Parsed(order, title or None)


def _take_out(soup: BeautifulSoup, counted: Lines) -> list[Block]:
    """Remove what is not used, and return it."""
    from bs4 import Comment, Declaration, Doctype  # noqa: PLC0415 - an extra

    taken: list[Block] = []
    for comment in soup.find_all(string=lambda one: isinstance(one, Comment)):
        parent = comment.parent
        place = _place(parent, counted) if parent is not None else Place(1, 1, 0)
        if not isinstance(comment, Doctype | Declaration) and comment.strip():
            taken.append(Block("text", str(comment), place, why="hidden text"))
        comment.extract()
    main = soup.select_one("main, [role=main]")
    around = set() if main is None else {id(one) for one in main.parents}
    inside: set[int] = set()
    for tag in soup.find_all(True):
        if tag.decomposed:
            continue
        why = _why(tag)
        if main is not None and (tag is main or id(tag.parent) in inside):
            inside.add(id(tag))
        elif main is not None and why is None and id(tag) not in around:
            why = "navigation"
        if why is not None:
            said = " ".join(tag.get_text(" ", strip=True).split())
            if said:
                what = "" if why == "hidden text" else f"<{tag.name}>"
                taken.append(Block("text", said, _place(tag, counted), why=why, what=what))
            tag.decompose()
    return taken


def _why(tag: Tag) -> Why | None:  # noqa: PLR0911 - one line a reason
    if tag.name in _UNSEEN:
        return "markup"
    style = str(tag.get("style") or "")
    if tag.has_attr("hidden") or _HIDING.search(style):
        return "hidden text"
    if str(tag.get("aria-hidden") or "").lower() == "true":
        return "hidden text"
    if tag.name in _AROUND or tag.get("role") in {"navigation", "search", "contentinfo"}:
        return "navigation"
    if tag.name == "header" and tag.find(["h1", "h2"]) is None:
        return "navigation"
    if tag.name in {"body", "main", "html", "article"}:
        return None
    named = " ".join([*_strings(tag.get("class")), *_strings(tag.get("id"))]).lower()
    return next((why for why, pattern in _CLASSES if pattern.search(named)), None)


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(one) for one in value] if isinstance(value, list) else []


def _outermost(soup: BeautifulSoup) -> Iterator[Tag]:
    """Yield the tags that stand in no block, in their order."""
    inside: set[int] = set()
    for tag in soup.find_all(True):
        parent = tag.parent
        if parent is not None and (id(parent) in inside or parent.name in _BLOCKS):
            inside.add(id(tag))
        else:
            yield tag


def _block(tag: Tag, counted: Lines) -> Block | None:
    if tag.name in _BLOCKS:
        kind, text, level = _content(tag)
    elif tag.name in _LOOSE and not tag.find(list(_BLOCKS | _LOOSE)):
        kind, text, level = "text", " ".join(tag.get_text(" ").split()), 0
    else:
        return None
    return Block(kind, text, _place(tag, counted), level) if text.strip() else None


def _content(tag: Tag) -> tuple[Kind, str, int]:
    if tag.name == "pre":
        return "code", tag.get_text().strip("\n"), 0
    if tag.name in {"ul", "ol"}:
        rows = [f"- {' '.join(one.get_text(' ').split())}" for one in tag.find_all("li")]
        return "text", "\n".join(rows), 0
    if tag.name == "table":
        rows = [
            "| "
            + " | ".join(" ".join(c.get_text(" ").split()) for c in row.find_all(["td", "th"]))
            + " |"
            for row in tag.find_all("tr")
        ]
        return "table", "\n".join(rows), 0
    for code in tag.find_all("code"):
        code.replace_with(f"`{code.get_text()}`")
    text = " ".join(tag.get_text().split())
    if re.fullmatch(r"h[1-6]", tag.name):
        return "heading", text, int(tag.name[1])
    return "text", text, 0


def _place(tag: Tag, counted: Lines) -> Place:
    line = (tag.sourceline or 1) - 1
    try:
        start = counted.start(line) + (tag.sourcepos or 0)
    except IndexError:
        return Place(line + 1, line + 1)
    return Place(line + 1, line + 1 + str(tag).count("\n"), start)
