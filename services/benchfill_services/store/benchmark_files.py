"""The two files of a benchmark, checked before they are kept: whatever is kept can be fitted."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import benchfill as bf
from benchfill.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

ITEMS, RESPONSES = "items.jsonl", "responses.csv"
LONGEST_ID = 512
"""Characters an item's or a model's id may have: ids stand in keys, file names and pages."""


@dataclass(frozen=True)
class VersionFiles:
    """Items (JSONL) and responses (CSV) of a version, byte for byte as they were given.

    A version that was made by merging has the provenance (JSONL) of its merged items too.
    """

    items: bytes
    responses: bytes
    provenance: bytes | None = None


@dataclass(frozen=True)
class CheckedFiles:
    """Files that can be read and fit together."""

    files: VersionFiles
    items_sha256: str
    responses_sha256: str
    n_items: int
    n_models: int
    provenance_sha256: str | None = None


def checked_files(items: bytes, responses: bytes, provenance: bytes | None = None) -> CheckedFiles:
    """Read both files as every command reads them; blocks for as long as that takes.

    `provenance` is kept as it is: only merging writes one.

    Raises
    ------
    InputError
        Names `items` or `responses`, the line and the field of what cannot be used.
    """
    with tempfile.TemporaryDirectory(prefix="benchfill-") as folder:
        items_path, responses_path = Path(folder, ITEMS), Path(folder, RESPONSES)
        items_path.write_bytes(items)
        responses_path.write_bytes(responses)
        try:
            read = bf.read_items(items_path)
        except InputError as error:
            raise _of(error, "items") from None
        try:
            matrix = bf.read_responses(responses_path)
        except InputError as error:
            raise _of(error, "responses") from None
    _refuse_long_ids((item.id for item in read), "items")
    _refuse_long_ids((*matrix.items, *matrix.models), "responses")
    if not {item.id for item in read} & set(matrix.items):
        raise InputError(
            "none of its items stands in the responses; the ids must be the same.", source="items"
        )
    return CheckedFiles(
        files=VersionFiles(items, responses, provenance),
        items_sha256=hashlib.sha256(items).hexdigest(),
        responses_sha256=hashlib.sha256(responses).hexdigest(),
        n_items=len(read),
        n_models=len(matrix.models),
        provenance_sha256=None if provenance is None else hashlib.sha256(provenance).hexdigest(),
    )


def _of(error: InputError, source: str) -> InputError:
    """Name the field of the request instead of our temporary file."""
    place = [str(error.source)] if error.source else []
    if error.line is not None:
        place.append(f"line {error.line}")
    if error.field is not None:
        place.append(error.field)
    message = error.message.removeprefix(f"{', '.join(place)}: ")
    return InputError(message, source=source, line=error.line, field=error.field)


def _refuse_long_ids(ids: Iterable[str], source: str) -> None:
    for one in ids:
        if len(one) > LONGEST_ID:
            raise InputError(
                f"the id {one[:20]!r}... has {len(one)} characters; {LONGEST_ID} is the most.",
                source=source,
            )
