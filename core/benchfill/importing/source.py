"""The files that an import is given: from disk, from ZIP, or gzip-ed, all behind one face."""

from __future__ import annotations

import gzip
import io
import lzma
import posixpath
import zipfile
import zlib
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from ..errors import InputError
from .archive import FREE_SIZE, HIGHEST_RATIO, Archive, reason
from .json_stream import read_array, read_lines
from .partial_json import partial_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

HEAD = 1 << 18
Kind = Literal["empty", "json", "jsonl", "text", "zip", "parquet", "arrow", "binary"]
_MAGIC: dict[bytes, Kind] = {b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"PAR1": "parquet"}
_GZIP = b"\x1f\x8b"
_LINES = (".jsonl", ".jsonlines", ".ndjson")
_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError)


class InputFile:
    """A file to import from.

    Parameters
    ----------
    name
        What errors and the report call it; ``logs.zip/run.json`` for a file in an archive.
    path
        Where it stands: its name and its folders' names often say what is in it.
    opener
        Opens its bytes, unpacked.
    lookup
        Finds another file by its path relative to this one's folder.
    on_disk
        Its path if it is a plain file, for libraries that want one.
    """

    def __init__(
        self,
        name: str,
        path: PurePosixPath,
        opener: Callable[[], BinaryIO],
        lookup: Callable[[str], InputFile | None],
        on_disk: Path | None = None,
    ) -> None:
        self.name, self.path, self.on_disk = name, path, on_disk
        self._opener, self.beside = opener, lookup

    def open(self) -> BinaryIO:
        """Open it; what goes wrong while reading becomes an InputError that names it."""
        return io.BufferedReader(_Guarded(self._opener(), self.name), 1 << 16)

    @cached_property
    def head(self) -> bytes:
        """Its first bytes."""
        with self.open() as stream:
            return stream.read(HEAD)

    @cached_property
    def head_text(self) -> str:
        """Its first characters."""
        return self.head.decode("utf-8-sig", errors="replace")

    @cached_property
    def shape(self) -> Any:
        """The JSON value that it begins with, as far as its head goes; None for other files."""
        return partial_json(self.head_text)

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first object in it: of a list or lines the first row, whole; of one its head."""
        if self.kind not in {"json", "jsonl"}:
            return {}
        one = self.shape[0] if isinstance(self.shape, list) and self.shape else self.shape
        if not isinstance(one, dict):
            return {}
        return self._first_row() or one if self._first_row_is_cut else one

    @property
    def _first_row_is_cut(self) -> bool:
        if self.is_list:
            cut = len(self.shape) < 2
        else:
            cut = self.kind == "jsonl" and b"\n" not in self.head
        return cut and len(self.head) == HEAD

    def _first_row(self) -> dict[str, Any]:
        """Read the first row; empty if it cannot be read, which whoever reads on will say."""
        try:
            row = next(read_array(self) if self.is_list else read_lines(self)).value
        except InputError:
            return {}
        return row if isinstance(row, dict) else {}

    @property
    def is_list(self) -> bool:
        """Whether it is a JSON document that is a list."""
        return self.kind == "json" and isinstance(self.shape, list)

    @property
    def is_object(self) -> bool:
        """Whether it is a JSON document that is an object."""
        return self.kind == "json" and isinstance(self.shape, dict)

    @cached_property
    def kind(self) -> Kind:
        """What sort of file it is, by its content."""
        for magic, kind in _MAGIC.items():
            if self.head.startswith(magic):
                return kind
        if self.head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
            return "arrow"
        if b"\0" in self.head:
            return "binary"
        text = self.head_text.lstrip()
        if not text:
            return "empty"
        if text[0] == "{" and (self._by_lines or self.path.suffix in _LINES):
            return "jsonl"
        return "json" if text[0] in "{[" and self.shape is not None else "text"

    @cached_property
    def _by_lines(self) -> bool:
        # not splitlines(): texts may hold other characters that it takes for the end of a line
        lines = [line for line in self.head_text.split("\n", 20)[:20] if line.strip()]
        return (
            len(lines) > 1
            and lines[0].rstrip().endswith("}")
            and lines[1].startswith("{")
            and self.shape is not None
        )

    @cached_property
    def archive(self) -> Archive | None:
        """Its members, if it is a ZIP file on the disk."""
        if self.kind != "zip" or self.on_disk is None:
            return None
        if _is_gzip(self.on_disk):
            raise self.error("is a ZIP file within a gzip file; unpack the gzip file first.")
        return Archive(self.on_disk)

    def error(
        self, message: str, *, line: int | None = None, field: str | None = None
    ) -> InputError:
        """Make an error about this file."""
        return InputError(message, source=self.name, line=line, field=field)

    @property
    def parent(self) -> str:
        """Name of the folder that it stands in, empty if there is none."""
        return self.path.parent.name

    def stem(self, *endings: str) -> str:
        """Return its name without the first of these endings that it has, or without suffix."""
        name = self.path.name.removesuffix(".gz")
        for ending in endings:
            if name.endswith(ending) and name != ending:
                return name.removesuffix(ending)
        return PurePosixPath(name).stem


class _Guarded(io.RawIOBase):
    """A stream whose failures are sentences."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer)
        try:
            data = self._stream.read(len(view))
        except _BROKEN as error:
            raise InputError(
                f"cannot be read ({reason(error)}); is the file cut off?", source=self._name
            ) from None
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


class _Unpacking(io.RawIOBase):
    """A gzip stream that stops where it grows beyond all measure."""

    def __init__(self, path: Path) -> None:
        self._stream = gzip.open(path)  # noqa: SIM115 - closed by whoever closes this one
        self._left = max(FREE_SIZE, HIGHEST_RATIO * path.stat().st_size)
        self._name = str(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer)
        data = self._stream.read(len(view))
        self._left -= len(data)
        if self._left < 0:
            raise InputError(
                f"unpacks to more than {HIGHEST_RATIO} times its size; such a gzip file is not "
                "read: unpack it yourself if you trust it.",
                source=self._name,
            )
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as plain:
        return plain.read(2) == _GZIP


def disk_file(path: Path) -> InputFile:
    """Return a file on the disk; a gzip-ed one reads as what is in it."""

    def opener() -> BinaryIO:
        try:
            plain = path.open("rb")
        except OSError as error:
            raise InputError(f"cannot be read ({reason(error)}).", source=str(path)) from None
        if plain.read(2) != _GZIP:
            plain.seek(0)
            return plain
        plain.close()
        return io.BufferedReader(_Unpacking(path))

    def lookup(relative: str) -> InputFile | None:
        place = path.parent / relative
        packed = place.with_name(f"{place.name}.gz")
        return next((disk_file(one) for one in (place, packed) if one.is_file()), None)

    where = PurePosixPath(path.absolute().as_posix().removesuffix(".gz"))
    return InputFile(str(path), where, opener, lookup, path)


def member_files(archive: Archive, path: Path) -> tuple[InputFile, ...]:
    """Return the files in an archive, but for what operating systems leave there."""
    names = frozenset(archive.names)

    def member(name: str) -> InputFile:
        def lookup(relative: str) -> InputFile | None:
            place = posixpath.normpath(posixpath.join(posixpath.dirname(name), relative))
            return member(place) if place in names else None

        where = PurePosixPath(path.absolute().as_posix()).with_suffix("") / name
        return InputFile(f"{path}/{name}", where, lambda: archive.open(name), lookup)

    return tuple(member(name) for name in archive.names if not _is_litter(name))


def _is_litter(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return "__MACOSX" in parts or any(part.startswith(".") for part in parts)
