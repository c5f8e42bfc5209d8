"""A value of somebody's JSON that knows where it stands, so that every refusal names the place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = 60


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value, the file and line it is from, and its key path.

    Every method that asks for a kind of value raises `InputError` where it is another.
    """

    value: Any
    source: str
    line: int | None = None
    path: str = ""

    def error(self, message: str) -> InputError:
        """Make an error about this value."""
        return InputError(message, source=self.source, line=self.line, field=self.path or None)

    def _wrong(self, expected: str) -> InputError:
        return self.error(f"expected {expected}, found {shown(self.value)}.")

    def _below(self, key: str | int, value: Any) -> Node:
        step = f"[{key}]" if isinstance(key, int) else f".{key}" if self.path else shortened(key)
        return Node(value, self.source, self.line, self.path + step)

    def __getitem__(self, key: str | int) -> Node:
        """Return what stands under a key or position; it must be there."""
        if isinstance(key, int):
            values = self._list()
            if key >= len(values):
                raise self.error(f"has {len(values)} entries; expected {key + 1} or more.")
            return self._below(key, values[key])
        inside = self._object()
        if key not in inside:
            raise self.error(f"lacks the field {key!r}.")
        return self._below(key, inside[key])

    def get(self, *keys: str) -> Node | None:
        """Return what stands under the first key that is there and not null."""
        inside = self._object()
        for key in keys:
            if inside.get(key) is not None:
                return self._below(key, inside[key])
        return None

    def has(self, *keys: str) -> bool:
        """Whether this is an object with all these keys."""
        return isinstance(self.value, dict) and all(key in self.value for key in keys)

    def is_a(self, *kinds: type) -> bool:
        """Whether the value is of one of these Python types (a bool is no int)."""
        if isinstance(self.value, bool):
            return bool in kinds
        return isinstance(self.value, kinds)

    def _object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self._wrong("an object")
        return self.value

    def _list(self) -> list[Any]:
        if not isinstance(self.value, list):
            raise self._wrong("a list")
        return self.value

    def elements(self) -> Iterator[Node]:
        """Iterate over a list."""
        return (self._below(k, one) for k, one in enumerate(self._list()))

    def entries(self) -> Iterator[tuple[str, Node]]:
        """Iterate over an object's keys and values."""
        return ((key, self._below(key, one)) for key, one in self._object().items())

    def text(self) -> str:
        """Return a text; what UTF-8 cannot hold in it becomes a question mark."""
        if not isinstance(self.value, str):
            raise self._wrong("a text")
        return clean(self.value)

    def name(self) -> str:
        """Return the name of a model or item: a text that is not blank, or a whole number."""
        if self.is_a(int):
            return self._digits()
        return usable_name(self.text(), self)

    def _digits(self) -> str:
        try:
            return str(self.value)
        except ValueError:
            raise self.error("is too long a number for a name.") from None

    def number(self) -> float:
        """Return a finite number; true and false are 1 and 0."""
        if not isinstance(self.value, int | float):
            raise self._wrong("a number")
        try:
            value = float(self.value)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise self._wrong("a finite number")
        return value

    def whole(self) -> int:
        """Return a whole number, 0 or more."""
        value = self.number()
        if value < 0 or value % 1:
            raise self._wrong("a whole number, 0 or more")
        return int(value)

    def flag(self) -> bool:
        """Return true or false; 1 and 0 too."""
        if self.value not in (True, False, 0, 1) or not isinstance(self.value, int | float):
            raise self._wrong("true or false")
        return bool(self.value)

    def shown_text(self) -> str:
        """Return a text, number or list of them as one text, for an item's answer."""
        if isinstance(self.value, list):
            return ", ".join(one.shown_text() for one in self.elements())
        if isinstance(self.value, dict):
            raise self._wrong("a text")
        return clean(str(self.value)) if self.is_a(float, bool, str) else self.name()


def usable_name(text: str, node: Node) -> str:
    """Return a name that a response matrix can hold, or refuse it."""
    if not text.strip():
        raise node.error("is an empty name.")
    if "\0" in text or "\r" in text:
        raise node.error("is a name with a control character in it.")
    return text


def clean(text: str) -> str:
    """Replace lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def shortened(text: str) -> str:
    """Cut a long text for an error."""
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def shown(value: Any) -> str:
    """Describe a value in an error, in short."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return f"an object with {len(value)} keys"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 200:
        return "an enormous number"
    return clean(shortened(repr(value)))
