"""Formats of which no real file is at hand: the smallest files of the documented schemas.

EvalPlus, the SWE-bench harness, Terminal-Bench, OpenAI evals, LiveCodeBench, ZeroEval,
simple-evals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchfill import InputError
from benchfill.importing import ImportOptions, import_results
from support.import_files import imported, lines, scores, written

if TYPE_CHECKING:
    from pathlib import Path


# EvalPlus: schema of evalplus/evaluate.py


def evalplus(plus: str | None) -> dict[str, Any]:
    def solution(base: str, plus: str | None) -> dict[str, Any]:
        return {"task_id": "HumanEval/0", "base_status": base, "plus_status": plus}

    return {
        "date": "2025-01-01",
        "hash": "x",
        "eval": {
            "HumanEval/0": [solution("pass", plus), solution("pass", "fail" if plus else None)],
            "HumanEval/1": [solution("fail", plus), solution("timeout", plus)],
        },
        "pass_at_k": {"base": {"pass@1": 0.5}, "plus": {"pass@1": 0.25}},
    }


def test_evalplus(tmp_path: Path) -> None:
    path = written(tmp_path / "org--m_vllm_temp_0.8_eval_results.json", evalplus("pass"))
    found = imported(path)
    assert found.responses.models == ("org--m_vllm_temp_0.8",)
    assert scores(found) == {"HumanEval/0": (1, 2), "HumanEval/1": (0, 2)}
    assert found.report.files[0].totals[0].same
    base = imported(path, metric="base")
    assert scores(base) == {"HumanEval/0": (2, 2), "HumanEval/1": (0, 2)}
    assert base.report.files[0].totals[0].same


def test_evalplus_without_extra_tests(tmp_path: Path) -> None:
    found = imported(written(tmp_path / "m_eval_results.json", evalplus(None)))
    assert scores(found) == {"HumanEval/0": (2, 2), "HumanEval/1": (0, 2)}
    assert found.report.files[0].choices[-1].because == "there are no extra tests in this file"


# SWE-bench: reports of swebench/harness/reporting.py, before and after it said resolved_ids


NEW = {
    "total_instances": 8,
    "submitted_instances": 6,
    "resolved_instances": 2,
    "completed_ids": ["a", "b", "c"],
    "incomplete_ids": ["f", "g"],
    "empty_patch_ids": ["d"],
    "submitted_ids": ["a", "b", "c", "d", "e"],
    "resolved_ids": ["a", "b"],
    "unresolved_ids": ["c"],
    "error_ids": ["e"],
    "schema_version": 2,
}
OLD = {
    "total_instances": 3,
    "incomplete": ["c"],
    "resolved": ["a"],
    "unresolved": ["b"],
    "error": [],
}


def test_swebench_report(tmp_path: Path) -> None:
    path = written(tmp_path / "agent.run-1.json", NEW)
    found = imported(path)
    assert found.responses.models == ("agent.run-1",)
    assert {item for item, (right, _) in scores(found).items() if right} == {"a", "b"}
    assert set(scores(found)) == set("abcdefg")
    assert "1 of 8 instances are not named" in found.report.files[0].notes[0]
    attempted = imported(path, incomplete="missing")
    assert set(scores(attempted)) == set("abcde")
    assert attempted.report.files[0].missing == {"not run (incomplete)": 2}
    with pytest.raises(InputError, match="'c' is resolved and not resolved"):
        imported(written(path, NEW | {"resolved_ids": ["a", "b", "c"]}))


def test_swebench_report_of_2024(tmp_path: Path) -> None:
    found = imported(written(tmp_path / "agent.json", OLD))
    assert scores(found) == {"a": (1, 1), "b": (0, 1), "c": (0, 1)}


def test_swebench_experiments_list_only_successes(tmp_path: Path) -> None:
    document = {"no_generation": ["c"], "no_logs": [], "resolved": ["a"]}
    with pytest.raises(InputError, match="lists only what was resolved"):
        imported(written(tmp_path / "results.json", document))


def test_swebench_details(tmp_path: Path) -> None:
    details = {"a": {"resolved": True, "cost": 0.2}, "b": {"resolved": False, "api_calls": 3}}
    both = imported(written(tmp_path / "details.json", {"m1": details, "m2": details}))
    assert both.responses.correct.tolist() == [[1, 0]] * 2
    one = imported(written(tmp_path / "agent/per_instance_details.json", details))
    assert (one.responses.models, scores(one)) == (("agent",), {"a": (1, 1), "b": (0, 1)})


# Terminal-Bench: schema of terminal_bench/harness/models.py


def trial(task: str, number: int, resolved: bool | None) -> dict[str, Any]:
    name = f"{task}.{number}-of-2.run"
    return {
        "trial_name": name,
        "task_id": task,
        "instruction": f"Do {task}.",
        "is_resolved": resolved,
        "failure_mode": "unset",
    }


def test_terminal_bench(tmp_path: Path) -> None:
    trials = [trial("a", 1, True), trial("a", 2, False), trial("b", 1, None), trial("b", 2, True)]
    written(tmp_path / "run/results.json", {"results": trials, "accuracy": 0.5, "n_resolved": 2})
    run = {"run_id": "run", "agent_name": "terminus", "model_name": "org/m"}
    written(tmp_path / "run/run_metadata.json", run)
    written(tmp_path / "run/a/a.1-of-2.run/results.json", trials[0])
    found = imported(tmp_path / "run")
    assert found.responses.models == ("terminus + org/m",)
    assert scores(found) == {"a": (1, 2), "b": (1, 2)}
    assert found.report.files[0].totals[0].same
    assert len(found.report.skipped) == 2
    assert [item.question for item in found.items] == ["Do a.", "Do b."]
    assert scores(imported(tmp_path / "run", null="missing")) == {"a": (1, 2), "b": (1, 1)}


def test_terminal_bench_trials_apart(tmp_path: Path) -> None:
    for one in (trial("a", 1, True), trial("a", 2, False)):
        written(tmp_path / one["trial_name"] / "results.json", one)
    found = import_results([tmp_path], ImportOptions(chosen={"model": "agent"}))
    assert scores(found) == {"a": (1, 2)}


# OpenAI evals: schema of evals/record.py


def test_openai_evals(tmp_path: Path) -> None:
    def event(item: str, kind: str, **data: Any) -> dict[str, Any]:
        return {"run_id": "r", "event_id": 0, "sample_id": item, "type": kind, "data": data}

    prompt = [{"role": "system", "content": "s"}, {"role": "user", "content": "What?"}]
    rows = [
        {"spec": {"completion_fns": ["gpt-x"], "eval_name": "e.dev.v0", "run_id": "r"}},
        {"final_report": {"accuracy": 0.5}},
        event("e.1", "match", correct=False, expected="4", picked=None, sampled="5"),
        event("e.0", "sampling", prompt=prompt, sampled=["3"]),
        event("e.0", "match", correct=True, expected=["3", "three"], picked="3", sampled="3"),
        event("e.1", "sampling", prompt="2 + 2", sampled=["5"]),
        event("e.1", "raw_sample", x=1),
    ]
    found = imported(lines(tmp_path / "run.jsonl", rows))
    assert found.responses.models == ("gpt-x",)
    assert scores(found) == {"e.1": (0, 1), "e.0": (1, 1)}
    assert {one.id: (one.question, one.answer) for one in found.items} == {
        "e.1": ("2 + 2", "4"),
        "e.0": ("What?", "3"),
    }
    file = found.report.files[0]
    assert file.totals[0].same
    assert sum(file.dropped.values()) == 3


def test_openai_evals_that_a_model_graded(tmp_path: Path) -> None:
    spec = {"spec": {"completion_fns": ["m"], "base_eval": "e"}}
    graded = [
        {"sample_id": f"e.{k}", "type": "metrics", "data": {"choice": "B", "score": score, "x": 1}}
        for k, score in enumerate((1.0, 0.2))
    ]
    path = lines(tmp_path / "run.jsonl", [spec, *graded])
    assert scores(imported(path)) == {"e.0": (1, 1), "e.1": (0, 1)}
    assert scores(imported(path, metric="x")) == {"e.0": (1, 1), "e.1": (1, 1)}


# LiveCodeBench: schema of lcb_runner/runner/main.py, and of its leaderboard


def test_livecodebench(tmp_path: Path) -> None:
    rows = [
        {"question_id": "1873_A", "question_content": "Sort.", "graded_list": [True, False, -1]},
        {"question_id": "abc", "question_content": "Add.", "graded_list": [-1, -1]},
    ]
    path = written(tmp_path / "GPT-X/Scenario.codegeneration_3_0.2_eval_all.json", rows)
    found = imported(path)
    assert found.responses.models == ("GPT-X",)
    assert scores(found) == {"1873_A": (1, 3), "abc": (0, 2)}
    assert scores(imported(path, incomplete="missing")) == {"1873_A": (1, 2)}
    assert found.items[0].question == "Sort."


def test_livecodebench_leaderboard(tmp_path: Path) -> None:
    rows = [
        {"question_id": "a", "model": "m", "date": 1, "pass@1": 100.0},
        {"question_id": "b", "model": "m", "date": 1, "pass@1": 40.0},
        {"question_id": "c", "model": "m", "date": 1, "pass@1": -1},
    ]
    found = imported(written(tmp_path / "performances.json", {"performances": rows, "models": []}))
    assert scores(found) == {"a": (1, 1), "b": (0, 1)}
    assert found.report.files[0].partial.count == 1
    assert found.report.files[0].missing == {"not run (-1)": 1}


def test_zeroeval_is_refused_with_a_reason(tmp_path: Path) -> None:
    rows = [{"session_id": "gsm-0", "generator": "m", "output": ["18"], "answer": "# 18"}]
    with pytest.raises(InputError, match="stores answers but no score; grade it"):
        imported(written(tmp_path / "m.json", rows))


def test_livebench_questions_beside_the_judgments(tmp_path: Path) -> None:
    question = {"question_id": "q", "category": "math", "turns": ["1+1?"], "ground_truth": "2"}
    lines(tmp_path / "task/question.jsonl", [question])
    judged = {"question_id": "q", "model": "m", "score": 0.5, "tstamp": 1.0, "task": "t"}
    lines(tmp_path / "task/model_judgment/ground_truth_judgment.jsonl", [judged])
    found = imported(tmp_path / "task/model_judgment")
    assert (found.items[0].question, found.items[0].answer) == ("1+1?", "2")
    assert scores(found) == {"q": (0, 1)}
    half = import_results([tmp_path], ImportOptions(threshold=0.5))
    assert scores(half) == {"q": (1, 1)}


# simple-evals: HTML_JINJA and _report_template of its common.py


def page(*examples: tuple[str, str, str]) -> str:
    parts = [
        f"""<h3>Prompt conversation</h3>
<div class="message user"><div class="role">user</div>
<div class="content"><pre>{prompt}</pre></div></div>
<h3>Sampled message</h3>
<div class="message assistant"><div class="content"><pre>Score: 1.0 &lt;h3&gt;</pre></div></div>
<h3>Results</h3>
<p>Correct Answer: {answer}</p>
<p>Extracted Answer: None</p>
<p>Score: {score}</p>
<hr>"""
        for prompt, answer, score in examples
    ]
    return f"<!DOCTYPE html><html><body><h1>Examples</h1>{''.join(parts)}</body></html>"


def test_simple_evals(tmp_path: Path) -> None:
    path = tmp_path / "mmlu_gpt-x.html"
    path.write_text(page(("Is 1 &lt; 2?", "A", "1.0"), ("Why?", "B", "0.0"), ("How?", "C", "None")))
    found = imported(path)
    assert found.responses.models == ("mmlu_gpt-x",)
    assert found.responses.correct.tolist() == [[1, 0]]
    assert [(one.question, one.answer) for one in found.items] == [
        ("Is 1 < 2?", "A"),
        ("Why?", "B"),
    ]
    # another model's page has the same ids
    other = tmp_path / "mmlu_gpt-y.html"
    other.write_text(page(("Why?", "B", "1.0"), ("Is 1 &lt; 2?", "A", "0.0")))
    both = import_results([path, other])
    assert both.responses.correct.tolist() == [[1, 0], [0, 1]]
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    with pytest.raises(InputError, match="ends in the middle of an example"):
        imported(path)
    path.write_text(page(("Why?", "B", "good")))
    with pytest.raises(InputError, match="'good' is no score"):
        imported(path)
