"""JSON documents and JSON Lines, read piece by piece: memory holds one row, not one file.

The standard library decodes; here is only what it lacks, to begin in the middle of a document.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .node import Node

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from .source import InputFile

LARGEST_VALUE = 1 << 28  # characters of one value, and bytes of one line
_BLOCK = 1 << 20
_SPACE = " \t\r\n"
_TOO_LARGE = f"is one JSON value of more than {LARGEST_VALUE >> 20} MB, too large to be read"


def read_lines(file: InputFile) -> Iterator[Node]:
    """Iterate over the objects of a JSON Lines file, blank lines left out."""
    with file.open() as stream:
        line = 0
        while data := stream.readline(LARGEST_VALUE):
            line += 1
            if len(data) == LARGEST_VALUE:
                raise InputError(f"{_TOO_LARGE}.", source=file.name, line=line)
            text = _decoded(data.removeprefix(b"\xef\xbb\xbf"), file, line)
            if text.strip():
                yield Node(_loaded(text, file, line), file.name, line)


def _decoded(data: bytes, file: InputFile, line: int) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text.", source=file.name, line=line) from None


def _loaded(text: str, file: InputFile, line: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"is no JSON ({_reason(error)}); is the file cut off?", source=file.name, line=line
        ) from None


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return error.msg.lower() if isinstance(error, json.JSONDecodeError) else "a number is too long"


def read_document(file: InputFile) -> Node:
    """Read a whole JSON document."""
    stream = JsonStream(file)
    try:
        value = stream.value()
        stream.finish()
    finally:
        stream.close()
    return Node(value, file.name)


def read_array(file: InputFile) -> Iterator[Node]:
    """Iterate over the elements of a document that is one array."""
    stream = JsonStream(file)
    try:
        for position, value in stream.elements():
            yield Node(value, file.name, None, f"[{position}]")
        stream.finish()
    finally:
        stream.close()


def read_object(file: InputFile, piecewise: Collection[str]) -> Iterator[tuple[str, Node]]:
    """Iterate over key and value of a document that is one object.

    A list under a key of ``piecewise`` comes as one pair for each of its elements.
    """
    stream = JsonStream(file)
    try:
        for key in stream.object_keys():
            if key in piecewise and stream.peek() == "[":
                for position, value in stream.elements():
                    yield key, Node(value, file.name, None, f"{key}[{position}]")
            else:
                yield key, Node(stream.value(), file.name, None, key)
        stream.finish()
    finally:
        stream.close()


class JsonStream:
    """A cursor in a JSON text of any length."""

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self._raw = file.open()
        self._text = io.TextIOWrapper(self._raw, encoding="utf-8-sig", newline="")
        self._decode = json.JSONDecoder().raw_decode
        self._buffer, self._at, self._line, self._ended = "", 0, 1, False

    def close(self) -> None:
        """Close the file."""
        self._text.close()

    def error(self, message: str) -> InputError:
        """Make an error about where the cursor is."""
        line = self._line + self._buffer.count("\n", 0, self._at)
        return InputError(message, source=self.file.name, line=line)

    def _more(self, size: int = _BLOCK) -> bool:
        """Read on; False at the end of the text."""
        if self._ended:
            return False
        try:
            block = self._text.read(size)
        except UnicodeDecodeError:
            raise self.error("is not UTF-8 text.") from None
        self._ended = not block
        self._line += self._buffer.count("\n", 0, self._at)
        self._buffer, self._at = self._buffer[self._at :] + block, 0
        return not self._ended

    def peek(self) -> str:
        """Return the next character that is no space, empty at the end."""
        while True:
            while self._at < len(self._buffer):
                if self._buffer[self._at] not in _SPACE:
                    return self._buffer[self._at]
                self._at += 1
            if not self._more():
                return ""

    def _take(self, *marks: str) -> str:
        found = self.peek()
        if found not in marks:
            raise self._unexpected(" or ".join(repr(mark) for mark in marks), found)
        self._at += 1
        return found

    def _unexpected(self, expected: str, found: str) -> InputError:
        if not found:
            return self.error("ends in the middle of the JSON; the file is cut off.")
        return self.error(f"is no JSON: expected {expected}, found {found!r}.")

    def value(self) -> Any:
        """Return the next value, whole."""
        first = self.peek()
        if not first:
            raise self._unexpected("a value", "")
        size = _BLOCK
        while True:
            try:
                value, end = self._decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                # a broken value and one that goes on look alike until the text ends
                self._read_on(size, error)
            except (ValueError, RecursionError) as error:
                raise self.error(f"is no JSON ({_reason(error)}).") from None
            else:
                if end < len(self._buffer):
                    self._at = end
                    return value
                # a number may go on where the buffer ends: read on, and decode again
                if not self._more(size):
                    self._at = len(self._buffer)
                    return value
            size = min(2 * size, LARGEST_VALUE)

    def _read_on(self, size: int, error: json.JSONDecodeError) -> None:
        if len(self._buffer) - self._at > LARGEST_VALUE:
            raise self.error(f"{_TOO_LARGE}.") from None
        if not self._more(size):
            self._at = min(error.pos, len(self._buffer))
            if self._at >= len(self._buffer.rstrip()) or "Unterminated" in error.msg:
                raise self.error("ends in the middle of the JSON; the file is cut off.") from None
            raise self.error(f"is no JSON ({error.msg.lower()}).") from None

    def elements(self) -> Iterator[tuple[int, Any]]:
        """Iterate over position and value of the array that comes next."""
        self._take("[")
        position = 0
        if self.peek() == "]":
            self._take("]")
            return
        while True:
            yield position, self.value()
            position += 1
            if self._take(",", "]") == "]":
                return

    def object_keys(self) -> Iterator[str]:
        """Iterate over the keys of the object that comes next; the caller takes each value."""
        self._take("{")
        if self.peek() == "}":
            self._take("}")
            return
        while True:
            if self.peek() != '"':
                raise self._unexpected("a key", self.peek())
            key = self.value()
            self._take(":")
            yield key
            if self._take(",", "}") == "}":
                return

    def finish(self) -> None:
        """Refuse what stands behind the document."""
        if self.peek():
            raise self.error("has more text behind the end of its JSON.")
