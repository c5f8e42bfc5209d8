"""The export: items are checked first, since a harness would score a wrong key without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InputError
from .registry import export_named
from .text import LETTERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..items import Item
    from .benchmark import Benchmark
    from .interface import ExportFormat


def export_items(benchmark: Benchmark, to: str, *, source: str | None = None) -> dict[str, bytes]:
    """Return the files of a benchmark in a format.

    Parameters
    ----------
    benchmark
        Items and what is known of them.
    to
        Name of a format, one of `all_exports`.
    source
        The items' file, for errors.

    Returns
    -------
    dict
        Contents by path within the folder, with slashes.

    Raises
    ------
    InputError
        There is no such format, no item, or an item that the format cannot hold.
    """
    check_items(benchmark.items, to, source=source)
    return export_named(to).files(benchmark)


def check_items(items: Sequence[Item], to: str, *, source: str | None = None) -> None:
    """Refuse items that a format cannot hold.

    Raises
    ------
    InputError
        There is no such format, no item, or an item that the format cannot hold.
    """
    wanted = export_named(to)
    if not items:
        raise InputError("holds no item; there is nothing to export.", source=source)
    for item in items:
        problem = _problem(item, wanted)
        if problem is not None:
            raise InputError(problem, source=source, field=f"item {item.id[:60]!r}")


def _problem(item: Item, wanted: ExportFormat) -> str | None:
    return _key_problem(item, wanted) if item.choices else _open_problem(item, wanted)


def _open_problem(item: Item, wanted: ExportFormat) -> str | None:
    if wanted.multiple_choice_only:
        return f"has no choices, and {wanted.name} takes multiple choice only; leave it out."
    if wanted.scores and not item.answer.strip():
        return "has no answer to score by; give it one, or export as csv or hf."
    return None


def _key_problem(item: Item, wanted: ExportFormat) -> str | None:
    times = item.choices.count(item.answer)
    if not times:
        return "has an answer that is not among its choices; write it exactly as the choice."
    if times > 1:
        return "has its answer twice among the choices, so that two letters are right; mend them."
    if len(item.choices) == 1:
        return "has one choice only; give it others, or none."
    if wanted.letters and len(item.choices) > len(LETTERS):
        return f"has {len(item.choices)} choices, and {wanted.name} names them by 26 letters."
    return None
