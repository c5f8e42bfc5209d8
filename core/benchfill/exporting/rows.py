"""The row of an item for harnesses that load JSON Lines with Hugging Face `datasets`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .text import json_text

if TYPE_CHECKING:
    from ..items import Item
    from .benchmark import Benchmark


def loaded_row(benchmark: Benchmark, item: Item) -> dict[str, Any]:
    """Return an item with the same types in every row.

    Arrow refuses a column that is a number here and a text there, as metadata may be: they are
    JSON in a text.
    """
    return {
        "id": item.id,
        "question": item.question,
        "answer": item.answer,
        "choices": list(item.choices),
        "metadata": json_text(benchmark.metadata(item)),
    }
