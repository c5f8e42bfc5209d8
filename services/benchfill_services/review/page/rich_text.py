"""Text of items and models as HTML: Markdown, mathematics and code, and nothing that runs.

Raw HTML is text, images are words, links lead to the web only and say where. Mathematics is left
as its source in an element that the page's script typesets.
"""

from __future__ import annotations

import html
import re
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from .invisible import encodable, shown, unhidden_in
from .math_brackets import math_brackets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token

_LANGUAGES = (
    *("bash", "c", "cpp", "csharp", "css", "diff", "go", "haskell", "html", "java", "javascript"),
    *("json", "julia", "kotlin", "latex", "lua", "matlab", "perl", "php", "python", "r", "ruby"),
    *("rust", "scala", "sh", "sql", "swift", "tex", "typescript", "xml", "yaml"),
)
_ALIASES = {"py": "python", "js": "javascript", "ts": "typescript", "c++": "cpp", "c#": "csharp"}
_HEADING = {"h1": "h-1", "h2": "h-2"}
_FENCED = re.compile(r"(^ {0,3}```.*?^ {0,3}```[ \t]*$)", re.DOTALL | re.MULTILINE)
_DISPLAYED = re.compile(r"(?<!\\)\\\[(?:(?!\n\s*\n|%|\\\[).)*?\\\]", re.DOTALL)


def rich(text: str) -> Markup:
    """Render untrusted text of bounded length."""
    parts = _FENCED.split(encodable(text))
    # a line of a formula that begins with + or - would begin a list
    parts[::2] = [_DISPLAYED.sub(lambda it: it[0].replace("\n", " "), part) for part in parts[::2]]
    return Markup(_parser().render("".join(parts)))  # noqa: S704 - the parser escapes


@cache
def _parser() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "breaks": True})
    md.enable(["table", "strikethrough"])
    # an underlined line in a question is seldom a heading, an indented one seldom code
    md.disable(["lheading", "code", "html_block", "html_inline"])
    dollarmath_plugin(
        md, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True
    )
    amsmath_plugin(md)
    math_brackets(md)
    md.validateLink = _leads_to_the_web  # type: ignore[method-assign]
    for name, rule in _RULES.items():
        md.add_render_rule(name, rule)
    return md


def _leads_to_the_web(url: str) -> bool:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    if parts.scheme == "mailto":
        return "@" in parts.path
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _text(_: RendererHTML, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    return str(shown(tokens[idx].content))


def _code(_: RendererHTML, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    return f"<code>{shown(tokens[idx].content)}</code>"


def _fence(_: RendererHTML, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    words = tokens[idx].info.lower().split()
    named = re.sub(r"[{}.]", "", words[0]) if words else ""
    language = _ALIASES.get(named, named)
    code = tokens[idx].content
    if language in _LANGUAGES:
        coloured = unhidden_in(highlight(code, get_lexer_by_name(language), _FORMATTER))
    else:
        coloured = str(shown(code))
    label = escape(language if language in _LANGUAGES else "code")
    return (
        f'<pre class="code" tabindex="0" role="group" aria-label="{label}"><code>{coloured}'
        "</code></pre>\n"
    )


def _inline_math(_: RendererHTML, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    return str(math(tokens[idx].content))


def _display_math(_: RendererHTML, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    return str(math(tokens[idx].content, display=True)) + "\n"


def math(source: str, *, display: bool = False) -> Markup:
    """Return an element with the source of a formula, which the page's script typesets."""
    kind = "math display" if display else "math"
    return Markup('<span class="{}">{}</span>').format(kind, shown(source.strip()))


def _link_open(_: RendererHTML, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    href = escape(str(tokens[idx].attrs.get("href", "")))
    return f'<a href="{href}" rel="nofollow noopener noreferrer" target="_blank">'


def _link_close(_: RendererHTML, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    """End a link with where it leads, since its text may say anything."""
    depth, start = 1, idx - 1
    while start > 0:
        depth += {"link_close": 1, "link_open": -1}.get(tokens[start].type, 0)
        if depth == 0:
            break
        start -= 1
    href = str(tokens[start].attrs.get("href", ""))
    parts = urlsplit(href)
    place = parts.path if parts.scheme == "mailto" else parts.hostname or ""
    return f'</a> <span class="leads-to">({shown(place[:120])})</span>'


def _image(_: RendererHTML, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    token = tokens[idx]
    source = html.unescape(str(token.attrs.get("src", "")))
    said = shown(token.content[:300] or "without description")
    return f'<span class="no-image">[image, not loaded: {said} ({shown(source[:200])})]</span>'


def _heading_open(_: RendererHTML, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    # the headings of the page are the page's own
    return f'<p class="{_HEADING.get(tokens[idx].tag, "h-3")}">'


def _heading_close(_: RendererHTML, __: Sequence[Token], ___: int, *____: Any) -> str:
    return "</p>\n"


def _table_open(_: RendererHTML, __: Sequence[Token], ___: int, *____: Any) -> str:
    return '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n'


def _table_close(_: RendererHTML, __: Sequence[Token], ___: int, *____: Any) -> str:
    return "</table></div>\n"


def _cell(_: RendererHTML, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    return f"<{tokens[idx].tag}>"  # alignment would be an inline style, which the page refuses


_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)
_RULES: dict[str, Any] = {
    "text": _text,
    "code_inline": _code,
    "code_block": _fence,
    "fence": _fence,
    "math_inline": _inline_math,
    "math_inline_double": _display_math,
    "math_block": _display_math,
    "amsmath": _display_math,
    "link_open": _link_open,
    "link_close": _link_close,
    "image": _image,
    "heading_open": _heading_open,
    "heading_close": _heading_close,
    "table_open": _table_open,
    "table_close": _table_close,
    "th_open": _cell,
    "td_open": _cell,
}
