"""HTML from the templates beside this file: everything that is put in is escaped."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from .text import cut, one_line, visible
from .words import OUTCOMES, check_words, probability

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

MOST_ROWS = 400
MOST_CHARACTERS = 4000
UNKNOWN = "–"


@dataclass(frozen=True)
class Rows(Generic[T]):
    """The rows of a long table that are shown: its first and its last ones."""

    first: tuple[T, ...]
    left_out: int
    last: tuple[T, ...]


def rows_of(rows: Sequence[T], limit: int = MOST_ROWS) -> Rows[T]:
    """Leave out the middle of a table that is longer than `limit`."""
    if len(rows) <= limit:
        return Rows(tuple(rows), 0, ())
    half = limit // 2
    return Rows(tuple(rows[:half]), len(rows) - 2 * half, tuple(rows[-half:]))


def render(template: str, **context: Any) -> bytes:
    """Render a template of this folder as UTF-8."""
    environment = _environment()
    css = resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    # the style sheet is a file of ours; nothing of an item or a model ever gets into it
    page = environment.get_template(template).render(css=Markup(css), **context)  # noqa: S704
    return page.encode()


def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        finalize=_shown,
        loader=PackageLoader("benchfill_services", "report"),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "figure": _figure,
        "cut": cut,
        "line": one_line,
        "count": _count,
        "probability": probability,
    }
    environment.globals |= {
        "MOST_CHARACTERS": MOST_CHARACTERS,
        "OUTCOMES": OUTCOMES,
        "check_words": check_words,
        "rows_of": rows_of,
    }
    return environment


def _shown(value: Any) -> Any:
    """Show what hides in text, and what is not known; markup of our own stays as it is."""
    if value is None:
        return UNKNOWN
    return visible(value) if type(value) is str else value


def _figure(value: float | None, digits: int = 3) -> str | None:
    return None if value is None else f"{value:,.{digits}f}"


def _count(value: int | None) -> str | None:
    return None if value is None else f"{value:,}"
