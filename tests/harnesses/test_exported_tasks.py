"""Exported tasks, really run by the harnesses they are for, and their logs imported again.

Two of five open items have the answer that the local model gives: asked here first, as the harness
asks it. Counts are made from the logs as the harness wrote them, without the importer.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from benchfill import Item, read_items
from benchfill_agents.pool.local import local_server
from support.harnesses import harness, run_harness, said_by

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

Counts = dict[str, tuple[int, int]]
"""(right, rollouts) by item."""

QUESTIONS = ("Say a word.", "Name a colour.", "4 + 3 =", "What is {{braces}}?", "Ω ≠ 数学?")
UNSAID = "no model says this 8461"
METADATA = {"topic": {"deep": [1, None, "é"]}}
CHOICES = [
    Item(
        id=f"choice {k}",
        question=question,
        answer=("yes", "B", "7", "A", "no")[k],
        choices=("B", "A", "yes", "no", "7"),
        metadata=METADATA,
    )
    for k, question in enumerate(QUESTIONS)
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[str]:
    """The address of the local pool, one call at a time, so that it says the same again."""
    async with local_server(1) as url:
        yield url


def open_items(said: Iterable[str]) -> list[Item]:
    """Return an item for each question: two have the answer that is said, the others do not."""
    answers = [text if text.strip() else UNSAID for text in said]
    known = [k for k, answer in enumerate(answers) if answer != UNSAID][:2]
    return [
        Item(
            id=f"open {k}",
            question=question,
            answer=answers[k] if k in known else UNSAID,
            metadata=METADATA,
        )
        for k, question in enumerate(QUESTIONS)
    ]


def exported(folder: Path, items: list[Item], to: str) -> Path:
    """Run `benchfill export`."""
    path = folder / "items.jsonl"
    path.write_text("".join(f"{item.model_dump_json()}\n" for item in items), encoding="utf-8")
    benchfill("export", "--items", path, "--to", to, "--out", folder / "task", "--name", "bench")
    return folder / "task"


def imported(logs: Path, items: list[Item]) -> Counts:
    """Run `benchfill import`; the items must come back as they were."""
    out = logs.parent / f"imported from {logs.name}"
    benchfill("import", logs, "--out", out)
    task = {"task": "bench"}
    wanted = [item.model_copy(update={"metadata": item.metadata | task}) for item in items]
    found = {item.id: item for item in read_items(out / "items.jsonl")}
    assert found == {item.id: item for item in wanted}
    with (out / "responses.csv").open(encoding="utf-8") as file:
        return {row["item"]: (int(row["correct"]), int(row["n"])) for row in csv.DictReader(file)}


def benchfill(*words: str | Path) -> None:
    program = Path(sys.executable).with_name("benchfill")
    done = subprocess.run(
        [program, *map(str, words)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr


def told(harness_name: str, counts: Counts) -> None:
    right = sum(one for one, _ in counts.values())
    said = f"{harness_name}: {right} of {sum(n for _, n in counts.values())} right in both counts"
    sys.stdout.write(f"\n{said}\n")


# Inspect


def run_inspect(task: Path, url: str, log_format: str, *more: str) -> Path:
    program = harness("inspect")
    words = ["eval", "bench.py", "--model", "openai-api/local/smollm2", "--display", "plain"]
    words += ["--log-format", log_format, "--log-dir", f"logs-{log_format}"]
    words += ["--max-connections", "1", "--temperature", "0", "--max-tokens", "24", *more]
    settings = {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": url}
    run_harness(program, *words, folder=task, **settings)
    (log,) = (task / f"logs-{log_format}").glob(f"*.{log_format}")
    return log


def inspect_counts(log: Path) -> Counts:
    """Count by Inspect's own `inspect log dump`, which reads both formats."""
    dumped = run_harness(harness("inspect"), "log", "dump", str(log), folder=log.parent)
    document = json.loads(dumped[dumped.index("{") :])
    counts: Counts = {}
    for sample in document["samples"]:
        (score,) = sample["scores"].values()
        right, n = counts.get(sample["id"], (0, 0))
        counts[sample["id"]] = (right + {"C": 1, "I": 0}[score["value"]], n + 1)
    return counts


@pytest.mark.parametrize("log_format", ["eval", "json"])
def test_inspect_runs_open_items(pool: str, tmp_path: Path, log_format: str) -> None:
    harness("inspect")
    asked = [
        said_by(
            pool,
            "chat/completions",
            {"messages": [{"role": "user", "content": question}], "max_tokens": 24},
        )
        for question in QUESTIONS
    ]
    items = open_items(asked)
    log = run_inspect(exported(tmp_path, items, "inspect"), pool, log_format)
    counts = inspect_counts(log)
    assert sum(right for right, _ in counts.values()) == 2
    assert imported(log.parent, items) == counts
    told(f"Inspect, open, .{log_format}", counts)


def test_inspect_runs_multiple_choice_in_epochs(pool: str, tmp_path: Path) -> None:
    log = run_inspect(exported(tmp_path, CHOICES, "inspect"), pool, "eval", "--epochs", "2")
    counts = inspect_counts(log)
    assert [n for _, n in counts.values()] == [2] * 5
    assert imported(log.parent, CHOICES) == counts
    told("Inspect, multiple choice, two epochs", counts)


# lm-evaluation-harness


def run_lm_eval(task: Path, model: str, arguments: str) -> Path:
    words = ["--include_path", ".", "--tasks", "bench", "--model", model, "--log_samples"]
    words += ["--output_path", "out", *(("--model_args", arguments) if arguments else ())]
    run_harness(harness("lm_eval"), *words, folder=task)
    (samples,) = (task / "out").glob("*/samples_bench_*.jsonl")
    return samples


def lm_eval_counts(samples: Path, metric: str) -> Counts:
    """Count by the lines of the samples, and see that the results file says the same."""
    lines = samples.read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    counts = {row["doc"]["id"]: (int(row[metric]), 1) for row in rows}
    (results,) = samples.parent.glob("results_*.json")
    totals = json.loads(results.read_text(encoding="utf-8"))["results"]["bench"]
    (mean,) = [value for key, value in totals.items() if key.split(",")[0] == metric]
    assert mean == pytest.approx(sum(right for right, _ in counts.values()) / len(counts))
    return counts


def test_lm_eval_runs_open_items(pool: str, tmp_path: Path) -> None:
    harness("lm_eval")
    asked = [
        said_by(
            pool,
            "completions",
            {
                "prompt": f"Question: {question}\nAnswer:",
                "max_tokens": 256,
                "stop": ["\n\n", "Question:"],
                "seed": 1234,
            },
        )
        for question in QUESTIONS
    ]
    items = open_items(asked)
    samples = run_lm_eval(
        exported(tmp_path, items, "lm-eval"),
        "local-completions",
        f"model=smollm2,base_url={pool}/completions,tokenizer_backend=None,num_concurrent=1",
    )
    counts = lm_eval_counts(samples, "exact_match")
    assert sum(right for right, _ in counts.values()) == 2
    assert imported(samples.parent, items) == counts
    told("lm_eval, open", counts)


def test_lm_eval_runs_multiple_choice(tmp_path: Path) -> None:
    """Likelihoods need a server that echoes its prompt, which llama.cpp's does not: a dummy's."""
    samples = run_lm_eval(exported(tmp_path, CHOICES, "lm-eval"), "dummy", "")
    counts = lm_eval_counts(samples, "acc")
    assert imported(samples.parent, CHOICES) == counts
    told("lm_eval, multiple choice, random likelihoods", counts)


# Hugging Face datasets, with which lm_eval and lighteval load


@pytest.mark.parametrize("to", ["hf", "lighteval"])
def test_datasets_loads_the_folder(tmp_path: Path, to: str) -> None:
    task = exported(tmp_path, CHOICES, to)
    place = task if to == "hf" else task / "bench"
    code = (
        "import datasets, json, sys; "
        "rows = datasets.load_dataset(sys.argv[1], split='test'); print(json.dumps(list(rows)))"
    )
    said = run_harness(harness("python"), "-c", code, str(place), folder=tmp_path)
    (line,) = [line for line in said.splitlines() if line.startswith("[{")]
    rows = json.loads(line)
    assert [(row["id"], row["question"], row["answer"], tuple(row["choices"])) for row in rows] == [
        (item.id, item.question, item.answer, item.choices) for item in CHOICES
    ]
    assert [json.loads(row["metadata"]) for row in rows] == [item.metadata for item in CHOICES]
