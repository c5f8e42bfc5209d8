"""Inspect logs as inspect_ai 0.3.2xx writes them: ZIP files packed with Zstandard."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchfill import InputError
from benchfill.importing import import_results
from benchfill.importing.archive import Archive
from support.import_files import is_a_sentence, zipped

METHOD = 93  # of PKWARE's APPNOTE, section 4.4.5


def packed(path: Path, members: dict[str, bytes]) -> Path:
    """Write a ZIP file packed with Zstandard: stored first, then told to be what it is."""
    frames = {
        name: bytes(pa.compress(data, "zstd", asbytes=True)) for name, data in members.items()
    }
    zipped(path, frames, zipfile.ZIP_STORED)
    whole = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        local = {one.filename: one.header_offset for one in archive.infolist()}
    at = whole.index(b"PK\x01\x02")
    for name, data in members.items():
        for place, method, size in ((local[name], 8, 22), (at, 10, 24)):
            struct.pack_into("<H", whole, place + method, METHOD)
            struct.pack_into("<L", whole, place + method + 6, zlib.crc32(data))
            struct.pack_into("<L", whole, place + size, len(data))
        at = whole.find(b"PK\x01\x02", at + 4)
    path.write_bytes(whole)
    return path


@pytest.fixture(params=["log_formats", "mmlu-summary-choices"])
def log(request: pytest.FixtureRequest, shared_data: Path) -> Path:
    return shared_data / f"raw/inspect_ai/{request.param}.eval"


def members_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_log_reads_as_the_same_log_packed_otherwise(log: Path, tmp_path: Path) -> None:
    again = packed(tmp_path / "again.eval", members_of(log))
    found, wanted = import_results([again]), import_results([log])
    np.testing.assert_array_equal(found.responses.correct, wanted.responses.correct)
    assert found.items == wanted.items
    assert found.responses.models == wanted.responses.models


def test_a_log_in_pieces_of_many_megabytes(log: Path, tmp_path: Path) -> None:
    members = members_of(log)
    (name,) = [name for name in members if name.startswith("samples/")]
    members[name] = members[name].rstrip()[:-1] + b',"padding":"' + b"ab" * 4_000_000 + b'"}'
    found = import_results([packed(tmp_path / "large.eval", members)])
    assert found.responses.n.sum() == 1


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_changed_byte_is_told_by_one_sentence(
    shared_data: Path, tmp_path: Path, data: st.DataObject
) -> None:
    members = members_of(shared_data / "raw/inspect_ai/log_formats.eval")
    path = packed(tmp_path / "broken.eval", members)
    whole = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(whole)
    try:
        found = import_results([path])
    except InputError as error:
        is_a_sentence(error, path)
    else:
        assert found.responses.n.sum() == 1  # a byte that says nothing of the content


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed in /proc")
def test_no_file_stays_open_that_could_not_be_read(log: Path, tmp_path: Path) -> None:
    path = packed(tmp_path / "moved.eval", members_of(log))
    path.write_bytes(path.read_bytes().replace(b"PK\x03\x04", b"PK\x03\x05"))
    archive = Archive(path)
    with pytest.raises(InputError) as caught:
        archive.open(archive.names[0])
    open_files = [os.path.realpath(one) for one in Path("/proc/self/fd").iterdir()]
    assert open_files.count(str(path)) == 1, caught  # the archive's own


@pytest.mark.parametrize(("more", "said"), [(1, "its size"), (-1, "its size")])
def test_a_list_that_lies_about_a_size(log: Path, tmp_path: Path, more: int, said: str) -> None:
    members = members_of(log)
    path = packed(tmp_path / "liar.eval", members)
    whole = bytearray(path.read_bytes())
    at = whole.index(b"PK\x01\x02")
    while at != -1:
        (size,) = struct.unpack_from("<L", whole, at + 24)
        struct.pack_into("<L", whole, at + 24, size + more)
        at = whole.find(b"PK\x01\x02", at + 4)
    path.write_bytes(whole)
    with pytest.raises(InputError, match=said) as caught:
        import_results([path])
    is_a_sentence(caught.value, path)
