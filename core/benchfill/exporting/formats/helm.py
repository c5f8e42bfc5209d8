"""HELM: instances for its scenario `custom_mcqa`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..interface import ExportFormat
from ..text import jsonl

if TYPE_CHECKING:
    from ...items import Item
    from ..benchmark import Benchmark


class Helm(ExportFormat):
    """Instances of HELM."""

    name = "helm"
    title = "HELM, scenario `custom_mcqa`"
    writes = "`{name}.jsonl`: instances with `input`, `references`, `split`, `id`, `extra_data`"
    run = (
        'helm-run --run-entries "custom_mcqa:path=$PWD/{name}.jsonl,model=MODEL" --suite SUITE'
        " --max-eval-instances N"
    )
    letters = True
    multiple_choice_only = True

    def files(self, benchmark: Benchmark) -> dict[str, bytes]:
        """Return the instances."""
        rows = (_instance(benchmark, item) for item in benchmark.items)
        return {f"{benchmark.name}.jsonl": jsonl(rows)}


def _instance(benchmark: Benchmark, item: Item) -> dict[str, Any]:
    references = [
        {"output": {"text": choice}, "tags": ["correct"] if choice == item.answer else []}
        for choice in item.choices
    ]
    return {
        "input": {"text": item.question},
        "references": references,
        "split": "test",
        "id": item.id,
        "extra_data": benchmark.metadata(item),
    }


FORMAT = Helm()
