"""Files of 1 GB in each form that JSON results have: memory is bounded by what is kept.

The peak is the resident memory of a process of its own, Python and Arrow included.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

ROWS = 56_000
SAID = [f"{word} = {number / 7:.3f}\n" for number, word in enumerate(["step", "thus", "é"] * 230)]
ANSWER = "".join(SAID)
"""What a model said, about 10 kB."""

IMPORT = """
import resource, sys
from benchfill.importing import import_results
found = import_results([sys.argv[1]])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
# of children waited for there are none; kilobytes on Linux, bytes on macOS
peak = peak // 1024 if sys.platform == "linux" else peak >> 20
print(len(found.responses.items), int(found.responses.correct.sum()), len(found.items), peak)
"""


def lm_eval(k: int) -> dict[str, Any]:
    return {
        "doc_id": k,
        "doc": {"question": f"question {k}", "answer": "1"},
        "target": "1",
        "resps": [[ANSWER, ANSWER]],
        "filtered_resps": ["1"],
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": float(k % 4 == 0),
    }


def tau(k: int) -> dict[str, Any]:
    steps = [{"role": "user", "content": ANSWER}, {"role": "assistant", "content": ANSWER}]
    task = {"instruction": f"question {k}"}
    return {"task_id": k, "trial": 0, "reward": float(k % 4 == 0), "info": {"task": task}} | {
        "traj": steps
    }


def inspect(k: int) -> dict[str, Any]:
    score = {"value": "I" if k % 4 else "C", "answer": ANSWER, "explanation": float("nan")}
    message = {"role": "assistant", "content": ANSWER}
    sample = {"id": k, "epoch": 1, "input": f"question {k}", "target": "1"}
    return sample | {"messages": [message], "scores": {"match": score}}


def as_lines() -> Iterator[str]:
    return (json.dumps(lm_eval(k), ensure_ascii=False) + "\n" for k in range(ROWS))


def as_list() -> Iterator[str]:
    return ("[,"[k > 0] + json.dumps(tau(k), indent=1) for k in range(ROWS))


def as_object() -> Iterator[str]:
    run = {"task": "t", "model": "m", "dataset": {}, "config": {}}
    yield f'{{"version": 2, "eval": {json.dumps(run)}, "plan": {{}}, "samples": '
    yield from ("[,"[k > 0] + json.dumps(inspect(k)) for k in range(ROWS))


@pytest.mark.parametrize(
    ("name", "pieces", "end"),
    [
        ("samples_big_2026-01-01T00-00-00.jsonl", as_lines, ""),
        ("model-airline.json", as_list, "]"),
        ("log.json", as_object, "]}"),
    ],
    ids=["lines", "list", "object"],
)
def test_a_file_of_one_gigabyte(
    tmp_path: Path, name: str, pieces: Callable[[], Iterator[str]], end: str
) -> None:
    path = tmp_path / name
    with path.open("w", encoding="utf-8") as file:
        file.writelines(pieces())
        file.write(end)
    size = path.stat().st_size
    assert size > 1e9
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, str(path)], capture_output=True, text=True, check=False
    )
    path.unlink()
    assert done.returncode == 0, done.stderr[-1500:]
    items, correct, questions, peak = map(int, done.stdout.split())
    assert (items, correct, questions) == (ROWS, ROWS // 4, ROWS)
    sys.stdout.write(f"\n{path.name}: {size / 1e9:.2f} GB read with a peak of {peak} MB\n")
    assert peak < 300
