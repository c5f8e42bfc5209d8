"""YAML read strictly, with the line of every value, so that an error can name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from benchfill.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

MAX_FILE_BYTES = 1_000_000
Place = tuple[int | str, ...]


@dataclass(frozen=True)
class LinedYaml:
    """What a file says, and the 1-based line on which each value stands, by its path."""

    data: Any
    lines: dict[Place, int]

    def line_of(self, place: Place) -> int | None:
        """Return the line of a value; of what holds it when it is missing."""
        for end in range(len(place), -1, -1):
            if place[:end] in self.lines:
                return self.lines[place[:end]]
        return None


def read_yaml(path: Path) -> LinedYaml:
    """Read a file; repeated keys and aliases are refused.

    Raises
    ------
    InputError
        The file cannot be read or is no such YAML; names the line where there is one.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError("is larger than 1 MB; this is no file of jobs.", source=str(path))
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise InputError(f"cannot be read ({reason}).", source=str(path)) from None
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8.", source=str(path)) from None
    try:
        return _parsed(text)
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


def _parsed(text: str) -> LinedYaml:
    loader = _StrictLoader(text)
    try:
        node = loader.get_single_node()
        lines: dict[Place, int] = {}
        if node is None:
            return LinedYaml(None, lines)
        _note_lines(node, (), lines)
        return LinedYaml(loader.construct_document(node), lines)
    finally:
        loader.dispose()


class _StrictLoader(yaml.SafeLoader):
    """YAML's safe loader without aliases, which can blow up."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(
                problem="aliases are not supported; write the values out",
                problem_mark=self.peek_event().start_mark,  # type: ignore[no-untyped-call]
            )
        return super().compose_node(parent, index)


def _note_lines(node: yaml.Node, place: Place, lines: dict[Place, int]) -> None:
    lines.setdefault(place, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        for number, one in enumerate(node.value):
            _note_lines(one, (*place, number), lines)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(
                    problem="a key must be a word", problem_mark=key.start_mark
                )
            inner = (*place, key.value)
            if inner in lines:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} stands twice", problem_mark=key.start_mark
                )
            # a value may begin lines after its key, which is what one looks for
            lines[inner] = key.start_mark.line + 1
            _note_lines(value, inner, lines)
