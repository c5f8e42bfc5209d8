"""YAML and JSON files that people edit: safe, without aliases and repeated keys, with places."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from ..errors import InputError
from ..validation_words import first_problem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Model = TypeVar("Model", bound=BaseModel)

MAX_FILE_BYTES = 5_000_000


def read_model(path: Path, model: type[Model]) -> Model:
    """Read a model from a YAML file, or from JSON where the name ends in ``.json``.

    Raises
    ------
    InputError
        Names file, line and field of the first thing that cannot be used.
    """
    text = _text(path)
    tree: yaml.Node | None = None
    if path.suffix.lower() == ".json":
        data = _json(text, path)
    else:
        tree, data = _yaml(text, path)
    if data is None:
        raise InputError("is empty.", source=str(path))
    if not isinstance(data, dict):
        fields = ", ".join(model.model_fields)
        raise InputError(f"must be a mapping with the keys {fields}.", source=str(path))
    try:
        return model.model_validate_json(json.dumps(data, default=str))
    except ValidationError as error:
        place, said = first_problem(error, model)
        raise InputError(
            said if said.endswith("?") else f"{said}.",
            source=str(path),
            line=_line_of(tree, place),
            field=_field(place),
        ) from None


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError("is larger than 5 MB; this is no such file.", source=str(path))
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}).", source=str(path)) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not UTF-8; save the file as UTF-8.", source=str(path)
        ) from None


def _json(text: str, path: Path) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"is not valid JSON ({error.msg}).", source=str(path), line=error.lineno
        ) from None
    except (RecursionError, ValueError):
        raise InputError(
            "is nested too deeply, or has a number too long.", source=str(path)
        ) from None


def _yaml(text: str, path: Path) -> tuple[yaml.Node | None, object]:
    loader = _StrictLoader(text)
    try:
        tree = loader.get_single_node()
        return tree, None if tree is None else loader.construct_document(tree)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise InputError(
            f"is not valid YAML ({error.problem}).", source=str(path), line=line
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"is not valid YAML ({reason}).", source=str(path)) from None
    except RecursionError:
        raise InputError("is nested too deeply.", source=str(path)) from None
    finally:
        loader.dispose()


class _StrictLoader(yaml.SafeLoader):
    """YAML's safe loader without aliases (which can blow up) and without repeated keys."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(
                problem="aliases are not supported; write the values out",
                problem_mark=self.peek_event().start_mark,  # type: ignore[no-untyped-call]
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key {key.value!r} stands twice", problem_mark=key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def _line_of(tree: yaml.Node | None, location: Sequence[int | str]) -> int | None:
    """Return the line of a field, or of the nearest thing above it that is there."""
    node, mark = tree, None if tree is None else tree.start_mark
    for part in location:
        below: yaml.Node | None = None
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            below = node.value[part] if part < len(node.value) else None
            mark = mark if below is None else below.start_mark
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == part:
                    below, mark = value, key.start_mark
        if below is None:
            break
        node = below
    return None if mark is None else mark.line + 1


def _field(location: Sequence[int | str]) -> str | None:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f"{'.' if path else ''}{part}"
    return path or None
