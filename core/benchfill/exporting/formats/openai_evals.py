"""OpenAI evals: a registry folder with samples and their YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..interface import ExportFormat
from ..text import LETTERS, jsonl, letter, yaml_bytes

if TYPE_CHECKING:
    from ...items import Item
    from ..benchmark import Benchmark

# Match looks at the beginning of what the model says
_LETTER = "Answer with the letter of the right option and nothing else."
_ANSWER = "Give the answer and nothing else."


class OpenAiEvals(ExportFormat):
    """Evals of the class `Match`."""

    name = "openai-evals"
    title = "OpenAI evals"
    writes = (
        "`evals/{name}.yaml`; `data/{name}/samples.jsonl`: `input` (messages), "
        "`ideal`, and the item"
    )
    run = "oaieval --registry_path . MODEL {name}"
    letters = True

    def files(self, benchmark: Benchmark) -> dict[str, bytes]:
        """Return the samples and the registry's entry."""
        name = benchmark.name
        version = f"{name}.test.v0"
        entry = {
            name: {"id": version, "metrics": ["accuracy"]},
            version: {
                "class": "evals.elsuite.basic.match:Match",
                "args": {"samples_jsonl": f"{name}/samples.jsonl"},
            },
        }
        samples = (_sample(benchmark, item) for item in benchmark.items)
        return {
            f"evals/{name}.yaml": yaml_bytes(entry),
            f"data/{name}/samples.jsonl": jsonl(samples),
        }


def _sample(benchmark: Benchmark, item: Item) -> dict[str, Any]:
    options = [f"{name}) {text}" for name, text in zip(LETTERS, item.choices, strict=False)]
    asked = "\n\n".join([item.question, *(["\n".join(options)] if options else [])])
    return {
        "input": [
            {"role": "system", "content": _LETTER if options else _ANSWER},
            {"role": "user", "content": asked},
        ],
        "ideal": letter(item) if options else item.answer,
        # evals ignores the rest
        "id": item.id,
        "question": item.question,
        "answer": item.answer,
        "choices": list(item.choices),
        "metadata": benchmark.metadata(item),
    }


FORMAT = OpenAiEvals()
