"""The card of a Hugging Face data set. No text of an item stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .text import yaml_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..diagnosis import Diagnosis
    from .benchmark import Benchmark

_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))
_BANDS = 5
_GAPS = 5


def card(benchmark: Benchmark, *, data: str, picture: str | None) -> bytes:
    """Return README.md: front matter, columns, difficulties, gaps."""
    lines = [f"# {benchmark.name}", "", *_contents(benchmark), *_columns(benchmark)]
    if benchmark.diagnosis is not None:
        lines += _difficulty(benchmark, benchmark.diagnosis, picture)
    front = yaml_bytes(_front(benchmark, data))
    return b"---\n" + front + b"---\n\n" + "\n".join([*lines, ""]).encode()


def _front(benchmark: Benchmark, data: str) -> dict[str, Any]:
    kinds = [
        "multiple-choice" if part.multiple_choice else "question-answering"
        for part in benchmark.parts()
    ]
    count = len(benchmark.items)
    size = next((name for below, name in _SIZES if count < below), "n>1M")
    split = {"split": "test", "path": data}
    return {
        "pretty_name": benchmark.name,
        "task_categories": kinds,
        "size_categories": [size],
        "tags": ["benchfill", "evaluation"],
        "configs": [{"config_name": "default", "data_files": [split]}],
    }


def _contents(benchmark: Benchmark) -> Iterator[str]:
    choices = sum(bool(item.choices) for item in benchmark.items)
    yield (
        f"{len(benchmark.items):,} items for the evaluation of language models, {choices:,} of "
        "them multiple choice. Do not train on them."
    )
    yield ""
    merged = sum(item.id in benchmark.provenance for item in benchmark.items)
    if merged:
        yield (
            f"{merged:,} of them were written to fill gaps in difficulty; where each came from "
            "stands in its metadata under `benchfill.provenance`."
        )
        yield ""


def _columns(benchmark: Benchmark) -> Iterator[str]:
    rows = [
        ("`id`", "unique"),
        ("`question`", "what is asked"),
        ("`answer`", "the reference answer; of multiple choice the text of the right choice"),
        ("`choices`", "the options in order; empty where there are none"),
        ("`metadata`", "JSON: what the benchmark keeps beside an item, and `benchfill`"),
    ]
    if benchmark.diagnosis is not None:
        rows.append(("`difficulty`", "z: 0 is the easiest item, 1 the hardest; null: not measured"))
        rows.append(("`difficulty_sd`", "its standard deviation in logits"))
    yield from _table(("column", "what it holds"), rows)


def _difficulty(benchmark: Benchmark, diagnosis: Diagnosis, picture: str | None) -> Iterator[str]:
    yield "## Difficulty"
    yield ""
    yield (
        f"Measured on {diagnosis.models:,} models by a one-parameter logistic model (1PL). "
        "z is 0 for the easiest item and 1 for the hardest."
    )
    yield ""
    known = {item.id for item in benchmark.items}
    places = [one.z for one in diagnosis.difficulties if one.item in known]
    counts = [0] * _BANDS
    for z in places:
        counts[min(max(int(z * _BANDS), 0), _BANDS - 1)] += 1
    bands = [
        (f"{k / _BANDS:.1f} to {(k + 1) / _BANDS:.1f}", f"{count:,}")
        for k, count in enumerate(counts)
    ]
    yield from _table(("difficulty z", "items"), bands)
    if picture is not None:
        yield f"![The difficulties of the items on a ruler, with the widest gaps]({picture})"
        yield ""
    gaps = [
        (f"{gap.z_left:.3f}", f"{gap.z_right:.3f}", f"{gap.width:.3f}", gap.verdict)
        for gap in diagnosis.gaps[:_GAPS]
    ]
    yield "The widest stretches without an item:"
    yield ""
    yield from _table(("from", "to", "width", "verdict"), gaps)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
