"""The first thing that is wrong with a file's content, in words for who wrote the file."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

Place: TypeAlias = "tuple[int | str, ...]"
_MOST_KEYS = 12
_WORDS = {
    "missing": "is missing",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "dict_type": "must be a mapping",
    "string_type": "must be a text",
    "too_short": "is empty; one entry or more is needed",
}


def first_problem(error: ValidationError, model: type[BaseModel]) -> tuple[Place, str]:
    """Return the place and the words, without a full stop, of what to mend first.

    A key that does not exist comes before one that is missing: it is mostly that one, misspelt.
    """
    found = error.errors(include_url=False, include_input=False)
    strange = next((one for one in found if one["type"] == "extra_forbidden"), None)
    first = strange or found[0]
    place = first["loc"]
    if strange is not None:
        known = _keys_at(model, place[:-1])
        close = get_close_matches(str(place[-1]), known, n=1)
        meant = f"perhaps {close[0]!r} is meant" if close else _those(known)
        return place, f"is no key here; {meant}"
    message = _WORDS.get(first["type"], first["msg"].removeprefix("Value error, "))
    return place, f"{message[0].lower()}{message[1:]}".removesuffix(".")


def _those(known: list[str]) -> str:
    more = ", ..." if len(known) > _MOST_KEYS else ""
    return f"the keys are {', '.join(known[:_MOST_KEYS])}{more}"


def _keys_at(model: type[BaseModel], place: Place) -> list[str]:
    """Return the keys that a mapping at a place of the model's files may have."""
    schema = model.model_json_schema()
    node: Any = schema
    for part in place:
        node = _resolved(node, schema)
        below = node.get("items") if isinstance(part, int) else node.get("properties", {}).get(part)
        node = below or {}
    return list(_resolved(node, schema).get("properties", {}))


def _resolved(node: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """Follow references, and take what may also be null as what it is otherwise."""
    for option in node.get("anyOf", ()):
        if option.get("type") != "null":
            return _resolved(option, schema)
    name = node.get("$ref", "").removeprefix("#/$defs/")
    return dict(schema["$defs"][name]) if name else dict(node)
