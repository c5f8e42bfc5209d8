"""Markdown by markdown-it-py, with front matter and fenced divs (Pandoc, the Carpentries)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.front_matter import front_matter_plugin

from .block import Block, Lines, Parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

    from ..chapter import Why
    from .block import Kind

_DIV = re.compile(r"^\s{0,3}:{3,}\s*(?:\{[^}]*?\.(?P<classed>[\w-]+)[^}]*\}|(?P<named>[\w-]+))?")
_DIVS: dict[str, Why] = {
    "objectives": "front matter",
    "questions": "front matter",
    "challenge": "exercise",
    "exercise": "exercise",
    "discussion": "exercise",
    "problem": "exercise",
    "quiz": "exercise",
    "solution": "solution",
    "answer": "solution",
    "hint": "solution",
    "keypoints": "summary",
    "instructor": "front matter",
    "toc": "table of contents",
    "references": "references",
    "refs": "references",
}
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ATTRIBUTES = re.compile(r"\{(?:[.#][\w-]+|[\w-]+=(?:\"[^\"]*\"|'[^']*'|\S+))[^{}\n]*\}")
_OUTPUTS = {"output", "error", "out", "result", "text"}


def read_markdown(text: str) -> Parsed:
    """Return the blocks of a Markdown file. Never raises for what a file may hold."""
    lines = text.split("\n")
    divs = _Divs(lines)
    counted = Lines(text)
    parser = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
    tokens = parser.parse("\n".join(divs.lines))
    parsed = Parsed([])
    for first, end, inside in _top_level(tokens):
        opener = inside[0]
        place = counted.place(first, end)
        if opener.type == "front_matter":
            parsed.title = _title(opener.content)
            parsed.blocks.append(
                Block("text", opener.content, place, why="front matter", what="YAML front matter")
            )
            continue
        content, kind = _content(inside)
        why, what = divs.of(first)
        if opener.type == "html_block":
            hidden = opener.content.lstrip().startswith("<!--")
            why = why or ("hidden text" if hidden else "markup")
            content = opener.content
        level = int(opener.tag[1]) if kind == "heading" else 0
        if content.strip() or why is not None:
            parsed.blocks.append(Block(kind, content, place, level, why, what))
        parsed.blocks += [
            Block("text", comment, place, why="hidden text") for comment in _comments(inside)
        ]
    return parsed


class _Divs:
    """The fenced divs of a file: its lines without their marks, and what each line is in."""

    def __init__(self, lines: list[str]) -> None:
        self.lines: list[str] = []
        self._inside: list[tuple[str, int] | None] = []
        stack: list[tuple[str, int]] = []
        fence: str | None = None
        for number, line in enumerate(lines):
            mark = re.match(r"\s{0,3}(```+|~~~+)", line)
            if mark is not None and (fence is None or line.strip().startswith(fence)):
                fence = mark[1] if fence is None else None
            div = _DIV.match(line) if fence is None else None
            if div is None:
                self.lines.append(line)
            else:
                self.lines.append("")
                name = div["classed"] or div["named"]
                if name is not None:
                    stack.append((name.lower(), number))
                elif stack:
                    stack.pop()
            self._inside.append(next((one for one in stack if one[0] in _DIVS), None))

    def of(self, line: int) -> tuple[Why | None, str]:
        """Return why a line is left out, and as part of what."""
        found = self._inside[line] if line < len(self._inside) else None
        return (
            (None, "") if found is None else (_DIVS[found[0]], f"{found[0]}, line {found[1] + 1}")
        )


def _top_level(tokens: list[Token]) -> Iterator[tuple[int, int, list[Token]]]:
    """Yield each block of the top level with its lines and its tokens."""
    start = 0
    depth = 0
    for number, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            inside = tokens[start : number + 1]
            if inside[0].map is not None:
                yield inside[0].map[0], inside[0].map[1], inside
            start = number + 1


def _content(tokens: list[Token]) -> tuple[str, Kind]:
    opener = tokens[0]
    if opener.type == "fence":
        language = opener.info.strip().split(" ")[0].strip("{}.").lower()
        return opener.content.rstrip("\n"), "output" if language in _OUTPUTS else "code"
    if opener.type == "code_block":
        return opener.content.rstrip("\n"), "code"
    if opener.type == "heading_open":
        return _inline(tokens[1]), "heading"
    if opener.type == "table_open":
        return _table(tokens), "table"
    return _prose(tokens), "text"


def _prose(tokens: list[Token]) -> str:
    """Return paragraphs and lists as text, one line a paragraph or entry."""
    parts: list[str] = []
    marks: list[str] = []
    pending = ""
    for token in tokens:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                marks.append("-" if token.type == "bullet_list_open" else "1.")
            case "bullet_list_close" | "ordered_list_close":
                marks.pop()
            case "list_item_open":
                mark = f"{token.info}." if token.info else marks[-1]
                pending = f"{'  ' * (len(marks) - 1)}{mark} "
            case "inline":
                text = _inline(token)
                if text:
                    parts.append(f"{pending}{text}")
                    pending = " " * len(pending)
            case "fence" | "code_block":
                parts.append(token.content.rstrip("\n"))
    return "\n".join(parts)


def _table(tokens: list[Token]) -> str:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_inline(token))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _inline(token: Token) -> str:
    """Return a text without its links' targets, pictures, tags and attributes."""
    parts: list[str] = []
    for child in token.children or []:
        match child.type:
            case "text" | "text_special":
                parts.append(child.content)
            case "code_inline":
                parts.append(f"`{child.content}`")
            case "softbreak" | "hardbreak":
                parts.append(" ")
    return " ".join(_ATTRIBUTES.sub("", "".join(parts)).split())


def _comments(tokens: list[Token]) -> list[str]:
    return [
        child.content
        for token in tokens
        for child in token.children or []
        if child.type == "html_inline" and _COMMENT.match(child.content)
    ]


def _title(front_matter: str) -> str | None:
    try:
        data = yaml.safe_load(front_matter)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    title = data.get("title") if isinstance(data, dict) else None
    return title.strip() if isinstance(title, str) and title.strip() else None
