"""CSV: a row an item, choices and metadata as JSON in their cells."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from ..interface import ExportFormat
from ..rows import loaded_row
from ..text import json_text

if TYPE_CHECKING:
    from ..benchmark import Benchmark


class CsvTable(ExportFormat):
    """A table of items."""

    name = "csv"
    title = "CSV"
    writes = "`{name}.csv`: `id`, `question`, `answer`, `choices`, `metadata`"
    run = ""
    scores = False

    def files(self, benchmark: Benchmark) -> dict[str, bytes]:
        """Return the table."""
        text = io.StringIO(newline="")
        rows = [loaded_row(benchmark, item) for item in benchmark.items]
        # every text in quotes: a carriage return alone would end the row
        writer = csv.DictWriter(
            text, fieldnames=list(rows[0]), lineterminator="\n", quoting=csv.QUOTE_ALL
        )
        writer.writeheader()
        for row in rows:
            choices = json_text(row["choices"]) if row["choices"] else ""
            writer.writerow(row | {"choices": choices})
        return {f"{benchmark.name}.csv": text.getvalue().encode()}


FORMAT = CsvTable()
