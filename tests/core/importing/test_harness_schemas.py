"""Rarer forms of lm-evaluation-harness, Inspect and HELM: smallest files of their schemas."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from benchfill import InputError
from support.import_files import imported, lines, scores, written

if TYPE_CHECKING:
    from pathlib import Path


# lm-evaluation-harness


def lm_eval_rows(*, with_filter: bool) -> list[dict[str, Any]]:
    verdicts = {"strict-match": (0.0, 1.0), "flexible-extract": (1.0, 1.0)}
    return [
        {
            "doc_id": doc,
            "doc": {"question": f"q{doc}"},
            "target": f"#### {doc}",
            "arguments": [["prompt", {}]],
            "resps": [["a", "b"]],
            "filtered_resps": ["a"],
            "exact_match": right[doc],
            **({"filter": name, "metrics": ["exact_match"]} if with_filter else {}),
        }
        for name, right in verdicts.items()
        for doc in (0, 1)
    ]


RESULTS = {
    "results": {
        "gsm8k": {
            "alias": "gsm8k",
            "exact_match,strict-match": 0.5,
            "exact_match_stderr,strict-match": 0.1,
            "exact_match,flexible-extract": 1.0,
        }
    },
    "versions": {"gsm8k": 3.0},
    "config": {"model_args": "pretrained=org/model,dtype=float"},
}


@pytest.mark.parametrize("with_filter", [True, False], ids=["2026", "2024"])
def test_lm_eval_with_several_filters(tmp_path: Path, with_filter: bool) -> None:
    folder = tmp_path / "org__model"
    time = "2024-08-01T10-00-00.123456"
    written(folder / f"results_{time}.json", RESULTS)
    path = lines(folder / f"samples_gsm8k_{time}.jsonl", lm_eval_rows(with_filter=with_filter))
    strict = imported(path)
    assert strict.responses.models == ("org/model",)
    assert scores(strict) == {"0": (0, 1), "1": (1, 1)}
    file = strict.report.files[0]
    assert file.dropped == {"row of another filter": 2}
    assert [(one.name, one.stated, one.same) for one in file.totals] == [
        ("exact_match,strict-match", 0.5, True)
    ]
    made = {one.option: (one.value, one.by_default) for one in file.choices}
    assert made["--filter"] == ("strict-match", True)
    flexible = imported(path, filter="flexible-extract")
    assert scores(flexible) == {"0": (1, 1), "1": (1, 1)}
    assert flexible.report.files[0].totals[0].same


def test_lm_eval_multiple_choice_without_results(tmp_path: Path) -> None:
    rows = [
        {
            "doc_id": 7,
            "doc": {"ctx": "A man", "endings": ["runs", "sits"]},
            "target": 1,
            "arguments": [["A man", " runs"], ["A man", " sits"]],
            "resps": [[[-3.0, False]], [[-2.0, False]]],
            "filtered_resps": [[-3.0, False], [-2.0, False]],
            "acc": 1.0,
            "acc_norm": 0.0,
        }
    ]
    path = lines(
        tmp_path / "EleutherAI__pythia-14m/samples_hellaswag_2024-01-01T00-00-00.jsonl", rows
    )
    found = imported(path)
    assert found.responses.models == ("EleutherAI__pythia-14m",)
    assert scores(found) == {"7": (1, 1)}
    (item,) = found.items
    assert (item.question, item.answer, item.choices) == ("A man", "sits", ("runs", "sits"))
    assert scores(imported(path, metric="acc_norm")) == {"7": (0, 1)}
    with pytest.raises(InputError, match="choose among acc, acc_norm"):
        imported(path, metric="f1")


# Inspect


def inspect_log(samples: list[dict[str, Any]]) -> dict[str, Any]:
    run = {
        "task": "t",
        "task_id": "one",
        "dataset": {},
        "config": {},
        "model": "m",
        "created": "2026-01-01T00:00:00+00:00",
    }
    return {"version": 2, "status": "success", "eval": run, "plan": {}, "samples": samples}


def sample(number: int, value: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "epoch": 1,
        "input": f"question {number}",
        "target": "x",
        "scores": {} if value is None else {"match": {"value": value}},
        **more,
    }


@pytest.mark.parametrize(
    ("value", "right"),
    [
        *(("C", 1), ("I", 0), ("N", 0), ("P", 0), (1, 1), (0, 0), (0.5, 0), (True, 1)),
        *((False, 0), ("yes", 1), ("no", 0), ("1.0", 1), ({"a": 1, "b": 0}, 1)),
    ],
)
def test_inspect_values(tmp_path: Path, value: Any, right: int) -> None:
    found = imported(written(tmp_path / "log.json", inspect_log([sample(1, value)])))
    assert scores(found) == {"1": (right, 1)}


def test_inspect_choices(tmp_path: Path) -> None:
    samples = [
        sample(1, {"a": 1, "b": 0}),
        sample(2, {"a": 0, "b": 1}),
        sample(3, None, error={"message": "boom"}),
        sample(4, float("nan")),
    ]
    samples[0]["scores"]["judge"] = {"value": "N"}
    path = written(tmp_path / "log.json", inspect_log(samples))
    found = imported(path)
    assert scores(found) == {"1": (1, 1), "2": (0, 1)}
    assert found.report.files[0].missing == {
        "sample broke off with an error": 1,
        "a score without a value": 1,
    }
    assert scores(imported(path, metric="b")) == {"1": (0, 1), "2": (1, 1)}
    assert scores(imported(path, incomplete="wrong"))["3"] == (0, 1)
    judged = imported(path, scorer="judge", null="wrong")
    assert scores(judged) == {"1": (0, 1)}
    assert judged.report.files[0].missing["not scored by judge"] == 2
    with pytest.raises(InputError, match="no scored answer"):
        imported(path, scorer="judge", null="missing")
    with pytest.raises(InputError, match=r"--null: there is no 'skip' here; choose among wrong"):
        imported(path, scorer="judge", null="skip")


def test_inspect_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    path = written(tmp_path / "log.json", inspect_log([sample(1, "good")]))
    with pytest.raises(InputError, match=r"samples\[0\].scores.match.value: 'good' is no score"):
        imported(path)


def test_inspect_epochs_messages_and_attachments(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "attachment://abc"}]},
    ]
    more = {"input": messages, "attachments": {"abc": "How many?"}, "target": ["3", "three"]}
    log = inspect_log([sample(1, "C", **more), sample(1, "I", **more | {"epoch": 2})])
    found = imported(written(tmp_path / "log.json", log))
    assert scores(found) == {"1": (1, 2)}
    assert (found.items[0].question, found.items[0].answer) == ("How many?", "3, three")
    log["samples"][0]["attachments"] = {}
    with pytest.raises(InputError, match="attachment that the log does not hold"):
        imported(written(tmp_path / "log.json", log))


def test_an_interrupted_inspect_log_and_its_retry(tmp_path: Path) -> None:
    """The journal names the run; a retry keeps the task's id, and its samples count."""
    run = inspect_log([])["eval"]
    with zipfile.ZipFile(tmp_path / "first.eval", "w") as log:
        log.writestr("_journal/start.json", json.dumps({"version": 2, "eval": run, "plan": {}}))
        log.writestr("samples/1_epoch_1.json", json.dumps(sample(1, "I")))
    found = imported(tmp_path / "first.eval")
    assert scores(found) == {"1": (0, 1)}
    assert any("interrupted" in note for note in found.report.files[0].notes)
    retry = inspect_log([sample(1, "C"), sample(2, "C")])
    retry["eval"] |= {"created": "2026-01-02T00:00:00+00:00"}
    written(tmp_path / "retry.json", retry)
    assert scores(imported(tmp_path)) == {"1": (1, 1), "2": (1, 1)}


# HELM


def test_helm_leaves_perturbed_copies_out_and_counts_trials(tmp_path: Path) -> None:
    def stat(value: float | None, **name: Any) -> dict[str, Any]:
        known = {"count": 0} if value is None else {"count": 1, "mean": value}
        return {"name": {"name": "exact_match", "split": "test"} | name, **known}

    def row(item: str, trial: int, *stats: Any, **more: Any) -> dict[str, Any]:
        return {"instance_id": item, "train_trial_index": trial, "stats": [*stats], **more}

    typos = {"name": "typos"}
    rows = [
        row("id1", 0, stat(1.0)),
        row("id1", 1, stat(0.0)),
        row("id1", 0, stat(0.0, perturbation=typos), perturbation=typos),
        row("id2", 0, stat(None)),
        row("id3", 0, stat(0.0, perturbation=typos)),
    ]
    path = written(tmp_path / "boolq:model=org_m,data=x/per_instance_stats.json", rows)
    whole = [stat(0.5), stat(0.1, perturbation=typos), stat(0.9, split="valid")]
    written(path.with_name("stats.json"), whole)
    found = imported(path)
    assert found.responses.models == ("org_m",)
    (total,) = found.report.files[0].totals
    assert (total.stated, total.imported, total.same) == (0.5, 0.5, True)
    assert scores(found) == {"id1": (1, 2)}
    file = found.report.files[0]
    assert file.dropped == {"perturbed copy of an instance": 2}
    assert file.missing == {"no value of exact_match": 1}
