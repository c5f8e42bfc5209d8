"""Files in a ZIP file that are packed with Zstandard, as new Inspect logs are.

`zipfile` learns that in Python 3.14; the codec is Arrow's, which is here anyway.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

if TYPE_CHECKING:
    from typing_extensions import Buffer

ZSTANDARD = 93
"""The method's number in a ZIP file."""

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_MARK = b"PK\x03\x04"


def open_zstd_member(archive: BinaryIO, member: zipfile.ZipInfo) -> io.RawIOBase:
    """Open a file in a ZIP file that is its caller's to lend, and closed with what this returns.

    Raises
    ------
    zipfile.BadZipFile
        There is no such file where the list of members says so; while reading also if its size or
        checksum is another one.
    """
    archive.seek(member.header_offset)
    header = archive.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size or not header.startswith(_MARK):
        raise zipfile.BadZipFile("a file is not where the list of files says")
    *_, name_length, extra_length = _LOCAL_HEADER.unpack(header)
    archive.seek(name_length + extra_length, io.SEEK_CUR)
    return _Unpacked(_Slice(archive, member.compress_size), member)


class _Slice(io.RawIOBase):
    """The next bytes of a stream, so many and no more."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._left = stream, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer)
        data = self._stream.read(min(len(view), self._left))
        self._left -= len(data)
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _Unpacked(io.RawIOBase):
    """What is packed in a slice: as many bytes as the list of members says, and these ones."""

    def __init__(self, packed: _Slice, member: zipfile.ZipInfo) -> None:
        self._packed, self._member = packed, member
        self._stream = pa.CompressedInputStream(packed, "zstd")
        self._left, self._checksum = member.file_size, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer)
        # one byte more than there should be would be a lie of the list
        data = self._stream.read(min(len(view), self._left + 1))
        self._left -= len(data)
        self._checksum = zlib.crc32(data, self._checksum)
        if self._left < 0 or (not data and self._left):
            raise zipfile.BadZipFile("its size is not what the list of files says")
        if not data and self._checksum != self._member.CRC:
            raise zipfile.BadZipFile("its checksum is wrong")
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            try:
                self._stream.close()
            finally:
                self._packed.close()
        super().close()
