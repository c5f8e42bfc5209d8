"""lighteval: a data folder, and a custom task file that reads the folder beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..interface import ExportFormat
from ..rows import loaded_jsonl, loaded_row
from ..text import gold

if TYPE_CHECKING:
    from ...items import Item
    from ..benchmark import Benchmark

# The programs are the same for all benchmarks: the name is the file's own. Data are in a folder,
# since lighteval 0.13 takes no names of files.
_MULTIPLE_CHOICE = b'''\
"""Multiple-choice items for lighteval, read from the folder of this name beside this file."""

from pathlib import Path

from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

HERE = Path(__file__).resolve()
# details name an item by its position; these bring it back
KEPT = ("id", "question", "answer", "choices", "metadata")


def prompt(line, task_name=None):
    return Doc(
        task_name=task_name,
        query="Question: " + line["question"] + "\\nAnswer:",
        choices=[" " + choice for choice in line["choices"]],
        gold_index=line["gold"],
        specific={name: line[name] for name in KEPT},
    )


TASKS_TABLE = [
    LightevalTaskConfig(
        name=HERE.stem,
        prompt_function=prompt,
        hf_repo=str(HERE.with_suffix("")),
        hf_subset="default",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=[Metrics.loglikelihood_acc],
        generation_size=1,
        stop_sequence=["\\n"],
    )
]
'''
_OPEN = b'''\
"""Items for lighteval, read from the folder of this name beside this file."""

from pathlib import Path

from lighteval.metrics.metrics import Metrics
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc

HERE = Path(__file__).resolve()
# details name an item by its position; these bring it back
KEPT = ("id", "question", "answer", "choices", "metadata")


def prompt(line, task_name=None):
    return Doc(
        task_name=task_name,
        query="Question: " + line["question"] + "\\nAnswer:",
        choices=[line["answer"]],
        gold_index=0,
        specific={name: line[name] for name in KEPT},
    )


TASKS_TABLE = [
    LightevalTaskConfig(
        name=HERE.stem,
        prompt_function=prompt,
        hf_repo=str(HERE.with_suffix("")),
        hf_subset="default",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=[Metrics.exact_match],
        generation_size=256,
        stop_sequence=["\\n\\n", "Question:"],
    )
]
'''


class Lighteval(ExportFormat):
    """Custom tasks of lighteval."""

    name = "lighteval"
    title = "lighteval"
    writes = "`{name}.py`, a custom task; `{name}/test.jsonl` as for lm-eval"
    run = (
        'lighteval accelerate "model_name=MODEL" "{name}|0" --custom-tasks {name}.py'
        " --output-dir out --save-details"
    )
    by_part = True

    def files(self, benchmark: Benchmark) -> dict[str, bytes]:
        """Return a program and its data for each part."""
        found: dict[str, bytes] = {}
        for part in benchmark.parts():
            found[f"{part.name}.py"] = _MULTIPLE_CHOICE if part.multiple_choice else _OPEN
            found[f"{part.name}/test.jsonl"] = loaded_jsonl(
                _row(benchmark, item) for item in part.items
            )
        return found


def _row(benchmark: Benchmark, item: Item) -> dict[str, Any]:
    return loaded_row(benchmark, item) | ({"gold": gold(item)} if item.choices else {})


FORMAT = Lighteval()
