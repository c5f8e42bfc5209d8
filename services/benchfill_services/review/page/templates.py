"""The page's templates: whatever is put into them is escaped, and nothing in it stays hidden."""

from __future__ import annotations

import hashlib
from datetime import datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ...report.text import one_line
from ...report.words import probability
from ..case import Reason
from .assets import static_url
from .difference import excerpt, prose
from .invisible import encodable, shown, visible
from .rich_text import rich

UNKNOWN = "–"
REASONS: dict[Reason, str] = {
    "wrong_answer": "The answer is wrong",
    "ambiguous": "Ambiguous: more than one answer could be right",
    "not_self_contained": "Not self-contained: something needed is missing",
    "trivial_rewrite": "A trivial rewrite of its parent",
    "off_topic": "Off-topic for this benchmark",
    "formatting": "Badly formatted",
    "other": "Something else (say what)",
}
_AGENTS = ("Task", "Retriever", "Rewriter", "Validator", "Calibrator", "BenchFill")
_HUES = 8


@cache
def environment() -> Environment:
    """Return the environment of all templates."""
    made = Environment(
        autoescape=True,
        finalize=_finalized,
        loader=PackageLoader("benchfill_services.review.page", "templates"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {
        "avatar": avatar,
        "clock": clock,
        "count": lambda value: f"{value:,}",
        "figure": _figure,
        "duration": _duration,
        "excerpt": excerpt,
        "line": _line,
        "probability": probability,
        "prose": prose,
        "rich": rich,
        "shown": lambda text: shown(encodable(text)),
    }
    made.globals |= {"REASONS": REASONS, "static": static_url}
    return made


def render(template: str, **context: Any) -> str:
    """Render a template."""
    return environment().get_template(f"{template}.html.jinja").render(**context)


def fragment(template: str, name: str, *arguments: Any) -> Markup:
    """Render a macro of a template."""
    module = environment().get_template(f"{template}.html.jinja").module
    return Markup(getattr(module, name)(*arguments))  # noqa: S704 - a template escapes


def _finalized(value: Any) -> Any:
    if value is None:
        return UNKNOWN
    return visible(encodable(value)) if type(value) is str else value


def _figure(value: float | None, digits: int = 3) -> str | None:
    return None if value is None else f"{value + 0.0:.{digits}f}".replace("-", "−")


def _line(text: str, limit: int) -> str:
    return one_line(encodable(text), limit)


def clock(at: str) -> Markup:
    """Return a time as an element that says it to people and to machines."""
    try:
        read = datetime.fromisoformat(at)
    except ValueError:
        return shown(at[:40])
    said = f"{read:%-d %b %Y, %H:%M}"
    return Markup('<time datetime="{}">{} UTC</time>').format(read.isoformat(), said)


def _duration(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    if seconds < 90:
        return f"{seconds:.0f}\u00a0s"
    return f"{seconds / 60:.0f}\u00a0min" if seconds < 5400 else f"{seconds / 3600:.1f}\u00a0h"


def avatar(author: str) -> str:
    """Return the class of an author's colour: agents have their own, people one of eight."""
    if author in _AGENTS:
        return f"of-{author.lower()}"
    return f"hue-{hashlib.sha256(author.encode(errors='replace')).digest()[0] % _HUES}"
