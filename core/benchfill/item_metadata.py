"""What an item takes along in its metadata, and how that becomes an item's fields again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from .items import Item

OURS = "benchfill"
"""The metadata key under which all stands that BenchFill adds to an item."""

DEEPEST = 100
"""How deep metadata may be nested; pydantic reads items that are up to 200 deep."""


_ELSEWHERE = {"id", "question", "answer", "choices", "metadata"}
_FIELDS = set(Item.model_fields) - _ELSEWHERE
"""Fields of an item that no other harness knows, such as its template."""


def packed(item: Item, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item's metadata, and under `OURS` its own fields and what else is known.

    What `OURS` holds already stays, but for what is known anew.
    """
    added = item.model_dump(mode="json", include=_FIELDS, exclude_defaults=True)
    kept: dict[str, Any] = as_json(item.metadata)
    before = kept.get(OURS)
    whole = (before if isinstance(before, dict) else {}) | added | dict(known)
    return kept | {OURS: whole} if whole else kept


def unpacked(metadata: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return metadata without an item's own fields, and these fields, as `packed` put them there.

    Where one of them is not what such a field holds, all stay where they are.
    """
    kept, own = dict(metadata), metadata.get(OURS)
    fields = {name: own[name] for name in _FIELDS & set(own)} if isinstance(own, dict) else {}
    if not isinstance(own, dict) or not fields:
        return kept, {}
    try:
        Item.model_validate({"id": "any", "question": "any", "answer": "", **fields})
    except ValidationError:
        return kept, {}
    rest = {name: value for name, value in own.items() if name not in fields}
    if rest:
        return kept | {OURS: rest}, fields
    del kept[OURS]
    return kept, fields


def as_json(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON has it: tuples are lists, and null is what JSON lacks, such as NaN.

    Lone surrogates, which no file can hold, become question marks.

    Raises
    ------
    RecursionError
        It is nested more than `DEEPEST` deep.
    """
    if depth > DEEPEST:
        raise RecursionError
    if isinstance(value, Mapping):
        return {_text(str(key)): as_json(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(one, depth + 1) for one in value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, bool | int) else None


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
