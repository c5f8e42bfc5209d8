"""ZIP files of strangers: looked at before anything is unpacked, and never unpacked to the disk."""

from __future__ import annotations

import re
import zipfile
from typing import TYPE_CHECKING, BinaryIO

from ..errors import InputError
from .zstd_member import ZSTANDARD, open_zstd_member

if TYPE_CHECKING:
    import io
    from pathlib import Path

MOST_MEMBERS = 200_000
LARGEST_TOTAL = 1 << 36  # bytes, unpacked
HIGHEST_RATIO = 300
FREE_SIZE = 1 << 26  # bytes that may be unpacked whatever the ratio
_ESCAPES = re.compile(r"^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)|\0")


class Archive:
    """A ZIP file whose list of members was found harmless.

    Raises
    ------
    InputError
        It is broken, locked, a bomb, or names files outside of itself.
    """

    def __init__(self, path: Path) -> None:
        self.name, self._path = str(path), path
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as error:
            raise self._error(f"is no whole ZIP file ({reason(error)}); is it cut off?") from None
        members = self._zip.infolist()
        self._refuse_bomb(members, path.stat().st_size)
        self._members = {one.filename: one for one in members if not one.is_dir()}
        for name in self._members:
            if _ESCAPES.search(name):
                raise self._error(
                    f"names a file outside of itself ({name[:60]!r}); such a ZIP file is not read."
                )

    def _error(self, message: str) -> InputError:
        return InputError(message, source=self.name)

    def _refuse_bomb(self, members: list[zipfile.ZipInfo], packed: int) -> None:
        total = sum(one.file_size for one in members)
        if len(members) > MOST_MEMBERS:
            raise self._error(f"holds {len(members):,} files, more than {MOST_MEMBERS:,}.")
        if total > LARGEST_TOTAL or total > max(FREE_SIZE, HIGHEST_RATIO * packed):
            raise self._error(
                f"would unpack to {total:,} bytes from {packed:,}; a ZIP file that grows so much "
                "is not read: unpack it yourself if you trust it."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The files in it, in the order of their names."""
        return tuple(sorted(self._members))

    def size(self, name: str) -> int:
        """Return the unpacked bytes of a file in it."""
        return self._members[name].file_size

    def open(self, name: str) -> BinaryIO:
        """Open a file in it; its stream yields no more bytes than the list of members says."""
        member = self._members[name]
        if member.flag_bits & 1:
            raise self._error(f"{name} is locked by a password; unpack it first.")
        try:
            if member.compress_type == ZSTANDARD:
                return self._open_zstd(member)  # type: ignore[return-value]
            return self._zip.open(member)  # type: ignore[return-value]
        except NotImplementedError:
            raise self._error(
                f"{name} is packed by a method that is not known here (number "
                f"{member.compress_type}); pack it with deflate, or, if it is an Inspect log, "
                "install benchfill[inspect]."
            ) from None
        except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, EOFError) as error:
            raise self._error(f"{name} cannot be unpacked ({reason(error)}).") from None

    def _open_zstd(self, member: zipfile.ZipInfo) -> io.RawIOBase:
        archive = self._path.open("rb")
        try:
            return open_zstd_member(archive, member)
        except BaseException:
            archive.close()
            raise


def reason(error: Exception) -> str:
    """Say what a library said, on one line."""
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(said).split())[:120].rstrip(".").lower()
