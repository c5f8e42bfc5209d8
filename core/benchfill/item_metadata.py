"""What an item takes along in its metadata, and how that becomes an item's fields again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from .items import SlotValue, Template

if TYPE_CHECKING:
    from .items import Item

OURS = "benchfill"
"""The metadata key under which all stands that BenchFill adds to an item."""

DEEPEST = 100
"""How deep metadata may be nested; pydantic reads items that are up to 200 deep."""


class _Fields(BaseModel):
    template: Template | None = None
    values: dict[str, SlotValue] = {}


def packed(item: Item, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item's metadata, and under `OURS` its template, values, and what else is known.

    What `OURS` holds already stays, but for what is known anew.
    """
    added = item.model_dump(mode="json", include={"template", "values"}, exclude_defaults=True)
    kept: dict[str, Any] = as_json(item.metadata)
    before = kept.get(OURS)
    whole = (before if isinstance(before, dict) else {}) | added | dict(known)
    return kept | {OURS: whole} if whole else kept


def unpacked(metadata: Mapping[str, Any]) -> tuple[dict[str, Any], _Fields]:
    """Return metadata without an item's own fields, and these fields, as `packed` put them there.

    What is no template and no values stays where it is.
    """
    kept, own = dict(metadata), metadata.get(OURS)
    if not isinstance(own, dict):
        return kept, _Fields()
    try:
        fields = _Fields.model_validate({name: own[name] for name in _FIELDS if name in own})
    except ValidationError:
        return kept, _Fields()
    rest = {name: value for name, value in own.items() if name not in _FIELDS}
    if rest or not own:
        kept[OURS] = rest
    else:
        del kept[OURS]
    return kept, fields


_FIELDS = tuple(_Fields.model_fields)


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
