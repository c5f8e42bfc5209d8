"""lm-evaluation-harness: a task in YAML, and its JSON Lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..interface import ExportFormat
from ..rows import loaded_jsonl, loaded_row
from ..text import gold, yaml_bytes

if TYPE_CHECKING:
    from ...items import Item
    from ..benchmark import Benchmark, Part


class LmEval(ExportFormat):
    """Tasks of lm-evaluation-harness."""

    name = "lm-eval"
    title = "lm-evaluation-harness"
    writes = (
        "`{name}.yaml`, a task; `{name}.jsonl`: `id`, `question`, `answer`, "
        "`choices`, `metadata`, and `gold` (a position) or `target`"
    )
    run = "lm_eval --include_path . --tasks {name} --model hf --model_args pretrained=MODEL"
    by_part = True

    def files(self, benchmark: Benchmark) -> dict[str, bytes]:
        """Return a task and its data for each part."""
        found: dict[str, bytes] = {}
        for part in benchmark.parts():
            found[f"{part.name}.yaml"] = yaml_bytes(_task(part))
            found[f"{part.name}.jsonl"] = loaded_jsonl(_row(benchmark, item) for item in part.items)
        return found


def _task(part: Part) -> dict[str, Any]:
    task: dict[str, Any] = {
        "task": part.name,
        "dataset_path": "json",
        # lm_eval looks for it where it is started
        "dataset_kwargs": {"data_files": {"test": f"{part.name}.jsonl"}},
        "test_split": "test",
        # what a template inserts is not a template again
        "doc_to_text": "Question: {{question}}\nAnswer:",
    }
    if part.multiple_choice:
        task |= {
            "output_type": "multiple_choice",
            # names of fields are taken as they are: no template sees the choices
            "doc_to_choice": "choices",
            "doc_to_target": "gold",
            "metric_list": [_mean("acc"), _mean("acc_norm")],
        }
    else:
        task |= {
            "output_type": "generate_until",
            "doc_to_target": "target",
            "generation_kwargs": {"until": ["\n\n", "Question:"], "do_sample": False},
            "filter_list": [_stripped()],
            "metric_list": [_mean("exact_match") | {"ignore_case": True}],
        }
    return task | {"metadata": {"version": 1.0}}


def _mean(metric: str) -> dict[str, Any]:
    return {"metric": metric, "aggregation": "mean", "higher_is_better": True}


def _stripped() -> dict[str, Any]:
    """Take the whole answer without the blanks around it."""
    regex = {"function": "regex", "regex_pattern": r"(?s)\S(?:.*\S)?"}
    return {"name": "stripped", "filter": [regex, {"function": "take_first"}]}


def _row(benchmark: Benchmark, item: Item) -> dict[str, Any]:
    scored = {"gold": gold(item)} if item.choices else {"target": item.answer.strip()}
    return loaded_row(benchmark, item) | scored


FORMAT = LmEval()
