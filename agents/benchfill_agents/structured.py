"""JSON out of a model's reply, also where the model put words or a code fence around it."""

from __future__ import annotations

import json
import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

Model = TypeVar("Model", bound=BaseModel)

_MAX_STARTS = 64
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


def parse_structured(text: str, model: type[Model]) -> Model:
    """Return the first JSON object in a reply that fits `model`.

    Raises pydantic's ValidationError, which says what is wrong with the best candidate.
    """
    candidates = [text, *_FENCE.findall(text), *_objects(text)]
    best: ValidationError | None = None
    for candidate in candidates:
        try:
            return model.model_validate_json(candidate)
        except ValidationError as error:
            # A JSON object that does not fit says more than "this is no JSON".
            if best is None or (_is_no_json(best) and not _is_no_json(error)):
                best = error
    if best is None:  # pragma: no cover - the text itself is always a candidate
        raise TypeError("no candidate")
    raise best


def describe(error: ValidationError) -> str:
    """Say in one line what does not fit, without repeating the text that did not."""
    if _is_no_json(error):
        return "it holds no valid JSON object."
    found = error.errors(include_url=False, include_input=False, include_context=False)
    parts = [f"{'.'.join(str(p) for p in e['loc']) or 'object'}: {e['msg']}" for e in found[:5]]
    return "; ".join(parts) + "."


def _is_no_json(error: ValidationError) -> bool:
    return error.errors()[0]["type"] in {"json_invalid", "model_type"}


def _objects(text: str) -> list[str]:
    """Cut out the JSON objects that stand in a text, outermost first."""
    decoder = json.JSONDecoder()
    found: list[str] = []
    start = text.find("{")
    for _ in range(_MAX_STARTS):
        if start < 0:
            break
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            found.append(text[start:end])
        start = text.find("{", end)
    return found
