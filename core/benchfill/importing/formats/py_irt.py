"""py-irt: JSON lines with a subject and its responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from ..interface import ItemText, Reading, Recognised, Response, ResultFormat, key_name
from ..json_stream import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..source import InputFile


class PyIrt(ResultFormat):
    """Data sets of py-irt."""

    name = "py-irt"
    example = "benchfill import minitest.jsonlines"
    title = "py-irt JSON lines"
    recognised_by = "JSON lines with `subject_id` and `responses`"

    def recognise(self, file: InputFile) -> Recognised | None:
        """Know it by its keys."""
        known = isinstance(file.first.get("responses"), dict) and "subject_id" in file.first
        return Recognised("keys subject_id and responses") if known and not file.is_list else None

    @override
    def read(self, file: InputFile, reading: Reading) -> Iterator[Response | ItemText]:
        """Yield every response."""
        for row in read_lines(file):
            model = row["subject_id"].name()
            for item, one in row["responses"].entries():
                score = None if one.value is None else one.number()
                yield Response(model, key_name(item, one), score, why="null", line=row.line)


FORMATS = (PyIrt(),)
