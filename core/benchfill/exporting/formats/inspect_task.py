"""Inspect AI: JSON Lines, and a task file that reads the lines beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..interface import ExportFormat
from ..text import jsonl, letter

if TYPE_CHECKING:
    from ...items import Item
    from ..benchmark import Benchmark

# The programs are the same for all benchmarks: the name is the file's own.
_MULTIPLE_CHOICE = b'''\
"""Multiple-choice items for Inspect AI, read from the JSON Lines beside this file."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice

HERE = Path(__file__).resolve()


@task
def benchmark():
    return Task(
        name=HERE.stem,
        dataset=json_dataset(str(HERE.with_suffix(".jsonl")), name=HERE.stem),
        solver=multiple_choice(),
        scorer=choice(),
    )
'''
_OPEN = b'''\
"""Items for Inspect AI, read from the JSON Lines beside this file."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import match
from inspect_ai.solver import generate

HERE = Path(__file__).resolve()


@task
def benchmark():
    return Task(
        name=HERE.stem,
        dataset=json_dataset(str(HERE.with_suffix(".jsonl")), name=HERE.stem),
        solver=generate(),
        scorer=match(),  # the answer stands at the end of what the model says
    )
'''


class InspectTask(ExportFormat):
    """Tasks of Inspect AI."""

    name = "inspect"
    title = "Inspect AI"
    writes = (
        "`{name}.py`, a task file; `{name}.jsonl`: `id`, `input`, `choices`, "
        "`target` (a letter), `answer`, `metadata`"
    )
    run = "inspect eval {name}.py --model MODEL"
    by_part = True
    letters = True

    def files(self, benchmark: Benchmark) -> dict[str, bytes]:
        """Return a program and its data for each part."""
        found: dict[str, bytes] = {}
        for part in benchmark.parts():
            found[f"{part.name}.py"] = _MULTIPLE_CHOICE if part.multiple_choice else _OPEN
            found[f"{part.name}.jsonl"] = jsonl(_row(benchmark, item) for item in part.items)
        return found


def _row(benchmark: Benchmark, item: Item) -> dict[str, Any]:
    asked: dict[str, Any] = {"id": item.id, "input": item.question}
    if item.choices:
        # Inspect ignores the answer; a letter alone could be the text of another choice
        asked |= {"choices": list(item.choices), "target": letter(item), "answer": item.answer}
    else:
        asked["target"] = item.answer
    return asked | {"metadata": benchmark.metadata(item)}


FORMAT = InspectTask()
