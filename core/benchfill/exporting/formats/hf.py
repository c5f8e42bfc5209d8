"""A Hugging Face data set: JSON Lines, and a card that says how hard the items are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..card import card
from ..interface import ExportFormat
from ..rows import loaded_jsonl, loaded_row

if TYPE_CHECKING:
    from collections.abc import Container

    from ...diagnosis import Diagnosis
    from ...items import Item
    from ..benchmark import Benchmark

DATA, README, RULER = "test.jsonl", "README.md", "gap_ruler.png"


class HuggingFace(ExportFormat):
    """A data set folder."""

    name = "hf"
    title = "Hugging Face data set"
    writes = "`test.jsonl`, `README.md` (the card), and with responses `gap_ruler.png`"
    run = "python -c \"import datasets; print(datasets.load_dataset('.'))\""
    scores = False

    def files(self, benchmark: Benchmark) -> dict[str, bytes]:
        """Return data and card, and with a diagnosis the picture of the gaps."""
        files = {DATA: loaded_jsonl(_row(benchmark, item) for item in benchmark.items)}
        if benchmark.diagnosis is not None:
            files[RULER] = _ruler(benchmark.diagnosis, benchmark.provenance)
        picture = RULER if RULER in files else None
        files[README] = card(benchmark, data=DATA, picture=picture)
        return files


def _row(benchmark: Benchmark, item: Item) -> dict[str, Any]:
    row = loaded_row(benchmark, item)
    if benchmark.diagnosis is not None:
        measured = benchmark.difficulties.get(item.id)
        row["difficulty"] = None if measured is None else measured.z
        row["difficulty_sd"] = None if measured is None else measured.sd
    return row


def _ruler(diagnosis: Diagnosis, merged: Container[str]) -> bytes:
    # Matplotlib takes its time
    from ...plots import difficulty_distribution, png_of  # noqa: PLC0415
    from ...targets import Uniform  # noqa: PLC0415

    places = [one.z for one in diagnosis.difficulties]
    new = [one.z for one in diagnosis.difficulties if one.item in merged]
    return png_of(difficulty_distribution(places, Uniform(), diagnosis.gaps, chosen=new))


FORMAT = HuggingFace()
