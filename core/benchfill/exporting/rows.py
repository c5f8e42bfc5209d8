"""The row of an item for harnesses that load JSON Lines with Hugging Face `datasets`."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import json as arrow_json

from ..errors import InputError
from .text import json_text, jsonl

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def loaded_jsonl(rows: Iterable[dict[str, Any]]) -> bytes:
    """Return rows as JSON Lines that `datasets` reads as the texts they are.

    Raises
    ------
    InputError
        A column holds nothing but dates, which Arrow would take for times.
    """
    data = jsonl(rows)
    whole = arrow_json.ReadOptions(block_size=len(data))
    for column in arrow_json.read_json(io.BytesIO(data), read_options=whole).schema:
        kind = column.type.value_type if pa.types.is_list(column.type) else column.type
        if pa.types.is_temporal(kind):
            raise InputError(
                "holds nothing but dates, which Hugging Face `datasets` would turn into times; "
                "export as csv, inspect or openai-evals.",
                field=column.name,
            )
    return data
