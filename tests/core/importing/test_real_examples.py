"""Real result files, against counts made here from the files themselves, without the importer."""

from __future__ import annotations

import csv
import importlib.util
import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchfill import InputError, read_responses
from benchfill.importing import Imported, ImportOptions, import_results
from benchfill.importing.formats import inspect_log

if TYPE_CHECKING:
    from pathlib import Path

LM_EVAL = "lm_eval_harness/samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl"
MMLU = "helm/mmlu-subject=philosophy,method=multiple_choice_joint,model=openai_gpt2"
NARRATIVE = "helm/narrative_qa-model=openai_gpt2"
JUDGED = "livebench/ground_truth_judgment.AMPS_Hard.first9.jsonl"


@pytest.fixture(scope="module")
def raw(shared_data: Path) -> Path:
    return shared_data / "raw"


def imported(path: Path, **options: Any) -> Imported:
    return import_results([path], ImportOptions(**options))


def loaded(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def cells(found: Imported) -> dict[tuple[str, str], tuple[int, int]]:
    matrix = found.responses
    return {
        (matrix.models[j], matrix.items[i]): (int(matrix.correct[j, i]), int(matrix.n[j, i]))
        for j, i in np.argwhere(matrix.n > 0)
    }


def choice(found: Imported, option: str) -> str:
    return next(
        one.value for file in found.report.files for one in file.choices if one.option == option
    )


def test_lm_eval_samples(raw: Path) -> None:
    found = imported(raw / LM_EVAL)
    rows = lines(raw / LM_EVAL)
    model = "RylanSchaeffer/mem_Qwen3-93M_minerva_math_rep_0_sbst_1.0000_epch_1_ot_1"
    assert cells(found) == {
        (model, str(row["doc_id"])): (int(row["exact_match"]), 1) for row in rows
    }
    (file,) = found.report.files
    (total,) = file.totals
    assert (total.name, total.stated, total.same) == ("exact_match,none", 0.0, True)
    for item, row in zip(found.items, rows, strict=True):
        assert (item.question, item.answer) == (row["doc"]["problem"], row["target"])
        assert item.metadata["level"] == row["doc"]["level"]
        assert item.metadata["task"] == "math_perturbed_full"
    assert (choice(found, "--filter"), choice(found, "--metric")) == ("none", "exact_match")


def test_lm_eval_totals_alone_are_no_results(raw: Path, tmp_path: Path) -> None:
    (results,) = (raw / "lm_eval_harness").glob("results*.json")
    path = tmp_path / results.name
    path.write_bytes(results.read_bytes())
    with pytest.raises(InputError, match="holds only totals"):
        imported(path)


@pytest.mark.parametrize("name", ["arc_qwen", "arc_sonnet", "pubmedqa_gpt4o_mini"])
def test_inspect_json(raw: Path, name: str) -> None:
    path = raw / f"inspect_ai/data_{name}.json"
    found, log = imported(path), loaded(path)
    right = {"C": 1, "I": 0}
    assert cells(found) == {
        (log["eval"]["model"], str(one["id"])): (right[one["scores"]["choice"]["value"]], 1)
        for one in log["samples"]
    }
    assert found.report.accuracy == log["results"]["scores"][0]["metrics"]["accuracy"]["value"]
    assert found.report.files[0].totals[0].same
    for item, one in zip(found.items, log["samples"], strict=True):
        assert (item.question, list(item.choices)) == (one["input"], one["choices"])
        # the answer is an option, not its letter
        assert item.answer == one["choices"][ord(one["target"]) - ord("A")]


@pytest.mark.parametrize("name", ["log_formats", "mmlu-summary-choices"])
def test_inspect_eval(raw: Path, name: str) -> None:
    path = raw / f"inspect_ai/{name}.eval"
    found = imported(path)
    with zipfile.ZipFile(path) as log:
        header = json.loads(log.read("header.json"))
        (summary,) = json.loads(log.read("summaries.json"))
        (reduction,) = json.loads(log.read("reductions.json"))[0]["samples"]
    assert cells(found) == {(header["eval"]["model"], str(summary["id"])): (reduction["value"], 1)}
    assert found.items[0].question == summary["input"]
    assert found.report.files[0].totals[0].same


def test_inspect_logs_that_hold_no_score(raw: Path) -> None:
    (unscored,) = (raw / "inspect_ai").glob("*popularity*.eval")
    with pytest.raises(InputError, match=r"no scored answer \(10 rows: not scored"):
        imported(unscored)
    with pytest.raises(InputError, match="the log speaks of 1,000 samples and holds 0"):
        imported(raw / "inspect_ai/data_with_llm_scoring.json")


def test_a_log_and_its_conversion_are_one_run(raw: Path) -> None:
    both = [raw / "inspect_ai/log_formats.json", raw / "inspect_ai/log_formats.eval"]
    assert loaded(both[0])["eval"]["task_id"]
    found = import_results(both)
    assert found.responses.n.tolist() == [[1]]
    assert [one.superseded for one in found.report.files] == [0, 1]


def helm_means(folder: Path, metric: str, split: str) -> dict[str, float]:
    return {
        row["instance_id"]: stat["mean"]
        for row in loaded(folder / "per_instance_stats.json")
        for stat in row["stats"]
        if stat["name"]["name"] == metric and stat["name"]["split"] == split
    }


def test_helm_multiple_choice(raw: Path) -> None:
    found = imported(raw / MMLU)
    means = helm_means(raw / MMLU, "exact_match", "test")
    assert len(means) == 9
    assert cells(found) == {("openai/gpt2", item): (int(one), 1) for item, one in means.items()}
    assert found.report.files[0].dropped == {"instance of the split valid (--split)": 1}
    states = loaded(raw / MMLU / "scenario_state.json")["request_states"]
    texts = {one["instance"]["id"]: one["instance"] for one in states}
    for item in found.items:
        references = texts[item.id]["references"]
        assert item.question == texts[item.id]["input"]["text"]
        assert list(item.choices) == [one["output"]["text"] for one in references]
        assert [item.answer] == [
            o["output"]["text"] for o in references if o["tags"] == ["correct"]
        ]


def test_helm_splits_and_metrics_are_a_choice(raw: Path) -> None:
    both = imported(raw / MMLU, chosen={"split": "all"})
    assert both.report.items == 10
    (right,) = helm_means(raw / MMLU, "exact_match", "valid").values()
    assert imported(raw / MMLU, chosen={"split": "valid"}).report.accuracy == right
    with pytest.raises(InputError, match=r"--metric: there is no 'bleu'.*choose among"):
        imported(raw / MMLU, chosen={"metric": "bleu"})


def test_helm_partial_scores(raw: Path) -> None:
    means = helm_means(raw / NARRATIVE, "f1_score", "test")
    found = imported(raw / NARRATIVE)
    assert choice(found, "--metric") == "f1_score"
    file = found.report.files[0]
    assert file.mean_score == pytest.approx(np.mean([*means.values()]))
    assert file.partial.count == sum(0 < one < 1 for one in means.values()) > 0
    assert found.responses.correct.sum() == sum(one == 1 for one in means.values())
    low = imported(raw / NARRATIVE, threshold=0.1)
    assert low.responses.correct.sum() == sum(one >= 0.1 for one in means.values()) > 0
    assert "2 scores lie between wrong and right" in low.report.warnings[0]
    assert all(not item.choices for item in found.items)


def test_evalperf_percents_are_counts(raw: Path) -> None:
    (path,) = (raw / "evalplus_evalperf").iterdir()
    found, brief = imported(path), loaded(path)
    assert found.responses.models == ("gpt-4o-mini_evalperf.brief.first6",)
    assert {item: pair for (_, item), pair in cells(found).items()} == {
        task: (round(one["pass@1"]), 100) for task, one in brief["eval"].items()
    }


def test_evalperf_as_published(shared_data: Path) -> None:
    """The excerpt's six tasks, as the prepared matrix of all has them."""
    (path,) = (shared_data / "raw/evalplus_evalperf").iterdir()
    found = imported(path)
    with (shared_data / "evalperf_100rollouts/responses.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["item"] in found.responses.items]
    mine = [row for row in rows if row["model"].startswith("gpt-4o-mini")]
    assert {row["item"]: (int(row["correct"]), int(row["n"])) for row in mine} == {
        item: pair for (_, item), pair in cells(found).items()
    }


def test_livebench(raw: Path) -> None:
    found, rows = imported(raw / JUDGED), lines(raw / JUDGED)
    assert cells(found) == {
        (row["model"], row["question_id"]): (int(row["score"]), 1) for row in rows
    }
    assert found.report.accuracy == pytest.approx(np.mean([row["score"] for row in rows]))


def test_livebench_judged_again(raw: Path, tmp_path: Path) -> None:
    """Of two judgements the later one counts, wherever it stands."""
    rows = lines(raw / JUDGED)
    later = [row | {"score": 1 - row["score"], "tstamp": row["tstamp"] + 1} for row in rows[:4]]
    earlier = [row | {"score": 1 - row["score"], "tstamp": row["tstamp"] - 1} for row in rows[4:]]
    path = tmp_path / "ground_truth_judgment.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in [*rows, *later, *earlier]))
    found = imported(path)
    assert {item: right for (_, item), (right, _) in cells(found).items()} == {
        row["question_id"]: row["score"] for row in [*later, *rows[4:]]
    }
    file = found.report.files[0]
    assert (file.superseded, file.rows_read, file.rows_used) == (9, 18, 9)


def test_mmlu_pro(raw: Path) -> None:
    (path,) = (raw / "mmlu_pro").iterdir()
    found, rows = imported(path), loaded(path)
    assert cells(found) == {
        ("gemini-1.5-pro-002.first10", str(row["question_id"])): (row["pred"] == row["answer"], 1)
        for row in rows
    }
    for item, row in zip(found.items, rows, strict=True):
        assert (item.question, list(item.choices)) == (row["question"], row["options"])
        assert item.answer == row["options"][row["answer_index"]]
        assert item.metadata["category"] == row["category"]


def test_mmlu_pro_without_predictions(raw: Path, tmp_path: Path) -> None:
    (source,) = (raw / "mmlu_pro").iterdir()
    rows = loaded(source)
    rows[0]["pred"] = rows[1]["pred"] = None
    path = tmp_path / "model_outputs_gemini_5shots.json"
    path.write_text(json.dumps([*rows, "a bare text"]))
    wrong = imported(path)
    assert wrong.responses.models == ("gemini_5shots",)
    assert (wrong.responses.correct.sum(), wrong.responses.n.sum()) == (5, 10)
    assert wrong.report.files[0].dropped == {"a bare text instead of a row": 1}
    guessed = sum(1 / len(row["options"]) for row in rows[:2])
    assert f"get {guessed:.1f} of them right" in wrong.report.files[0].notes[0]
    missing = imported(path, chosen={"null": "missing"})
    assert (missing.responses.correct.sum(), missing.responses.n.sum()) == (5, 8)
    assert missing.report.files[0].missing == {"no prediction": 2}


def test_swebench_pro(raw: Path, shared_data: Path) -> None:
    found = imported(raw / "swebench_pro")
    verdicts = {
        name: loaded(raw / f"swebench_pro/{name}_eval_results.json")
        for name in ("gpt-4o-paper", "gpt-5")
    }
    assert cells(found) == {
        (model, item): (int(right), 1)
        for model, one in verdicts.items()
        for item, right in one.items()
    }
    union = set().union(*verdicts.values())
    assert found.report.items == len(union)
    assert found.report.missing_cells == 2 * len(union) - sum(map(len, verdicts.values())) > 0


def test_tau_bench(raw: Path) -> None:
    (path,) = (raw / "tau_bench").iterdir()
    found, rows = imported(path), loaded(path)
    assert cells(found) == {
        ("gpt-4o-airline.trajtrimmed.first20", str(row["task_id"])): (int(row["reward"]), 1)
        for row in rows
    }
    assert found.items[3].question == rows[3]["info"]["task"]["instruction"]
    assert found.report.items_without_answer == 20


def test_tau_bench_trials_are_rollouts_or_subjects(raw: Path, tmp_path: Path) -> None:
    (source,) = (raw / "tau_bench").iterdir()
    rows = loaded(source)
    again = [row | {"trial": 1, "reward": 1.0} for row in rows[:10]]
    path = tmp_path / "agent-airline.json"
    path.write_text(json.dumps([*rows, *again]))
    found = imported(path)
    assert found.responses.n.tolist() == [[2] * 10 + [1] * 10]
    assert found.responses.correct.sum() == sum(row["reward"] for row in rows) + 10
    apart = imported(path, repeat="subjects")
    assert apart.responses.models == ("agent-airline #1", "agent-airline #2")
    assert apart.responses.n.sum(1).tolist() == [20, 10]


def test_items_x_models_without_a_corner(raw: Path) -> None:
    path = raw / "matrix_items_x_models.first20.csv"
    with path.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    found = imported(path)
    assert found.responses.models == tuple(header[1:])
    assert found.responses.items == tuple(row[0] for row in rows)
    expected = np.array([[float(cell) for cell in row[1:]] for row in rows]).T
    np.testing.assert_array_equal(found.responses.correct, expected)
    assert choice(found, "--rows") == "items"


def test_py_irt(raw: Path) -> None:
    (path,) = (raw / "py_irt").iterdir()
    assert cells(imported(path)) == {
        (row["subject_id"], item): (right, 1)
        for row in lines(path)
        for item, right in row["responses"].items()
    }


def test_prepared_matrices_are_wide_and_long_tables(shared_data: Path) -> None:
    for name in ("swebench_pro/matrix.csv", "tau_bench_airline/responses.csv"):
        whole, found = read_responses(shared_data / name), imported(shared_data / name).responses
        answered = np.flatnonzero(whole.n.any(0))
        assert found.models == whole.models
        assert found.items == tuple(whole.items[i] for i in answered)
        np.testing.assert_array_equal(found.correct, whole.correct[:, answered])
        np.testing.assert_array_equal(found.n, whole.n[:, answered])


def test_all_of_them_at_once(raw: Path) -> None:
    found = imported(raw)
    report = found.report
    assert len(report.files) == 19
    counted = sum(
        file.rows_used + sum(file.dropped.values()) + sum(file.missing.values()) + file.superseded
        for file in report.files
    )
    assert report.rows_read == counted
    assert report.rollouts == sum(
        100 * file.rows_used if file.format == "evalperf" else file.rows_used
        for file in report.files
    )


if importlib.util.find_spec("inspect_ai"):  # where the extra is installed, and no skip elsewhere

    @pytest.mark.filterwarnings("default")
    def test_both_readers_of_inspect_logs_agree(raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        read = 0
        for path in sorted((raw / "inspect_ai").iterdir()):
            try:
                theirs = imported(path)
            except InputError:
                continue
            with monkeypatch.context() as patch:
                patch.setattr(inspect_log, "_through_inspect", inspect_log._through_us)
                ours = imported(path)
            assert "Read by inspect_ai's own reader." in theirs.report.files[0].notes
            assert cells(ours) == cells(theirs)
            assert ours.items == theirs.items
            read += 1
        assert read == 6
