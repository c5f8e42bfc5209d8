"""The smallest files of each format, where the format's example command looks for them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

from .import_files import lines, written, zipped

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def evalperf(folder: Path) -> None:
    document = {"config": {"n_samples": 10}, "eval": {"t/1": {"pass@1": 50.0}}}
    written(folder / "m_evalperf_results.brief.json", document)


def evalplus(folder: Path) -> None:
    solution = {"task_id": "H/0", "base_status": "pass", "plus_status": "fail"}
    written(folder / "m_eval_results.json", {"date": "", "hash": "", "eval": {"H/0": [solution]}})


def helm(folder: Path) -> None:
    run = folder / "benchmark_output/runs/v1/mmlu:subject=x,model=org_m"
    name = {"name": "exact_match", "split": "test"}
    stats = [{"name": name, "count": 1, "mean": 1.0}]
    written(run / "per_instance_stats.json", [{"instance_id": "id1", "stats": stats}])
    spec = {"adapter_spec": {"model": "org/m", "method": "generation"}, "scenario_spec": {}}
    written(run / "run_spec.json", spec)


def helm_instances(folder: Path) -> None:
    references = [{"output": {"text": "a"}, "tags": ["correct"]}, {"output": {"text": "b"}}]
    row = {"id": "q", "input": {"text": "Which?"}, "references": references}
    lines(folder / "bench.jsonl", [row])
    (folder / "answers.csv").write_text("model,item,correct\nm,q,1\n", encoding="utf-8")


def inspect(folder: Path) -> None:
    header = {"eval": {"task": "t", "model": "m", "dataset": {}}, "plan": {}}
    sample = {"id": 1, "epoch": 1, "input": "1+1?", "target": "2"}
    sample["scores"] = {"match": {"value": "C"}}
    members = {"header.json": header, "samples/1_epoch_1.json": sample}
    (folder / "logs").mkdir()
    packed = {name: json.dumps(one).encode() for name, one in members.items()}
    zipped(folder / "logs/run.eval", packed)


def lighteval(folder: Path) -> None:
    doc = {"query": "1+1?", "choices": ["2"], "gold_index": [0], "id": "0", "task_name": "t|0"}
    row = {"doc": doc, "metric": {"em": 1, "f1": 0.5}, "model_response": {"text": ["2"]}}
    run = folder / "out/details/m/2026-11-30T17-15-57"
    run.mkdir(parents=True)
    parquet.write_table(pa.Table.from_pylist([row]), run / "details_t|0_2026.parquet")


def livebench(folder: Path) -> None:
    row = {"question_id": "q", "model": "m", "score": 0.5, "tstamp": 1.0, "task": "t"}
    lines(folder / "data/live_bench/model_judgment/ground_truth_judgment.jsonl", [row])


def livecodebench(folder: Path) -> None:
    row = {"question_id": "q", "question_content": "Sort.", "graded_list": [True]}
    written(folder / "output/GPT-X/Scenario.codegeneration_1_0.2_eval_all.json", [row])


def lm_eval(folder: Path) -> None:
    time = "2026-01-01T00-00-00"
    row = {"doc_id": 0, "doc": {"question": "1+1?"}, "target": "2", "resps": [["2"]]}
    row |= {"filtered_resps": ["2"], "metrics": ["exact_match"]}
    rows = [
        row | {"filter": name, "exact_match": right}
        for name, right in (("flexible-extract", 0.0), ("strict-match", 1.0))
    ]
    lines(folder / f"results/org__m/samples_gsm8k_{time}.jsonl", rows)


def mmlu_pro(folder: Path) -> None:
    row = {"question_id": 1, "question": "?", "options": ["x", "y"], "answer": "A", "pred": "A"}
    (folder / "eval_results").mkdir()
    unanswered = row | {"question_id": 2, "pred": None}
    member = {"model_outputs_m.json": json.dumps([row, unanswered]).encode()}
    zipped(folder / "eval_results/model_outputs_m.zip", member)


def openai_evals(folder: Path) -> None:
    spec = {"spec": {"completion_fns": ["m"], "eval_name": "e"}}
    event = {"sample_id": "e.0", "type": "match", "data": {"correct": True, "expected": "2"}}
    lines(folder / "evallogs/run.jsonl", [spec, event])


def py_irt(folder: Path) -> None:
    lines(folder / "minitest.jsonlines", [{"subject_id": "m", "responses": {"q": 1}}])


def simple_evals(folder: Path) -> None:
    page = (
        '<h1>Examples</h1><h3>Prompt conversation</h3><div class="message user">'
        '<div class="role">user</div><div class="content"><pre>1+1?</pre></div></div>'
        "<h3>Results</h3><p>Correct Answer: 2</p><p>Score: 1.0</p><hr>"
    )
    text = f"<!DOCTYPE html><html><body>{page}</body></html>"
    (folder / "mmlu_gpt-4o.html").write_text(text, encoding="utf-8")


def swebench_details(folder: Path) -> None:
    written(folder / "per_instance_details.json", {"m": {"q": {"resolved": True, "cost": 0.1}}})


def swebench_pro(folder: Path) -> None:
    written(folder / "traj/m/eval_results.json", {"instance_a__b-1": True})


def swebench_report(folder: Path) -> None:
    report = {"total_instances": 2, "resolved_ids": ["a"], "unresolved_ids": []}
    written(folder / "reports/m.json", report | {"incomplete_ids": ["b"], "completed_ids": ["a"]})


def tau_bench(folder: Path) -> None:
    row = {"task_id": 0, "trial": 0, "reward": 1.0, "info": {"task": {"instruction": "Do."}}}
    written(folder / "historical_trajectories/gpt-4o-airline.json", [row | {"traj": []}])


def terminal_bench(folder: Path) -> None:
    trial = {"trial_name": "a.1-of-1.r", "task_id": "a", "instruction": "Do.", "is_resolved": True}
    broken = trial | {"trial_name": "b.1-of-1.r", "task_id": "b", "is_resolved": None}
    written(folder / "runs/agent/results.json", {"results": [trial, broken], "accuracy": 0.5})


def zeroeval(folder: Path) -> None:
    row = {"session_id": "gsm-0", "generator": "m", "output": ["18"], "answer": "# 18"}
    written(folder / "result_dirs/gsm/m.json", [row])


def rows(folder: Path) -> None:
    table = pa.table({"llm": ["m"], "qid": ["q"], "ok": [1]})
    parquet.write_table(table, folder / "answers.parquet")


def wide(folder: Path) -> None:
    (folder / "matrix.csv").write_text(",m,k\nq,1,0\nr,1,1\n", encoding="utf-8")


EXAMPLES: dict[str, Callable[[Path], None]] = {
    one.__name__.replace("_", "-"): one
    for one in (
        *(
            evalperf,
            evalplus,
            helm,
            helm_instances,
            inspect,
            lighteval,
            livebench,
            livecodebench,
            lm_eval,
        ),
        *(mmlu_pro, openai_evals, py_irt, simple_evals, swebench_details, swebench_pro),
        *(swebench_report, tau_bench, terminal_bench, zeroeval, rows, wide),
    )
}
RIGHT = dict.fromkeys(EXAMPLES, 1) | {"evalperf": 5, "wide": 3}
"""Right answers in each of them, by the options of the example command."""
REFUSED = {"zeroeval": "stores answers but no score"}
