"""The same item under several ids, the same model under several names, the same run again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchfill import InputError, ResponseMatrix
from benchfill.importing import Imported, ImportOptions, import_results
from benchfill.importing.matching import read_aliases, suspicions

if TYPE_CHECKING:
    from pathlib import Path


def rows(path: Path, *answers: tuple[str, str, int, str], **more: Any) -> Path:
    """A long table with model, item, score, question."""
    keys = ("model", "item", "correct", "question")
    text = "".join(f"{json.dumps(dict(zip(keys, one, strict=True)) | more)}\n" for one in answers)
    path.write_text(text, encoding="utf-8")
    return path


def imported(*paths: Path, **options: Any) -> Imported:
    return import_results(paths, ImportOptions(**options))


def test_items_with_the_same_text_under_different_ids(tmp_path: Path) -> None:
    one = rows(tmp_path / "a.jsonl", ("m", "id1", 1, "How  many?"), ("m", "id2", 0, "Why?"))
    two = rows(tmp_path / "b.jsonl", ("k", "7", 1, "how many? "), ("k", "8", 1, "Where?"))
    apart = imported(one, two)
    assert apart.report.items == 4
    assert apart.report.same_content == 1
    assert any("--match-items content makes them one" in said for said in apart.report.warnings)
    together = imported(one, two, match_items="content")
    assert together.responses.items == ("id1", "id2", "8")
    assert together.responses.n.tolist() == [[1, 1, 0], [1, 0, 1]]
    assert (together.report.merged_items, together.report.same_content) == (1, 0)
    assert [item.id for item in together.items] == ["id1", "id2", "8"]


def test_options_count_and_their_order_does_not(tmp_path: Path) -> None:
    one = rows(tmp_path / "a.jsonl", ("m", "1", 1, "Which?"), choices=["x", "y"])
    two = rows(tmp_path / "b.jsonl", ("k", "2", 1, "Which?"), choices=["y", "x"])
    three = rows(tmp_path / "c.jsonl", ("j", "3", 1, "Which?"), choices=["x", "z"])
    found = imported(one, two, three, match_items="content")
    assert found.responses.items == ("1", "3")


def test_two_ids_that_one_run_answered_are_two_items(tmp_path: Path) -> None:
    one = rows(tmp_path / "a.jsonl", ("m", "1", 1, "Which?"), ("m", "2", 0, "Which?"))
    two = rows(tmp_path / "b.jsonl", ("k", "3", 1, "Which?"))
    found = imported(one, two, match_items="content")
    assert found.report.items == 3
    assert any("under several ids within one run" in said for said in found.report.warnings)


def test_other_questions_under_the_same_ids_are_another_benchmark(tmp_path: Path) -> None:
    one = rows(tmp_path / "a.jsonl", *(("m", str(k), 1, f"q{k}") for k in range(5)))
    two = rows(tmp_path / "b.jsonl", *(("k", str(k), 1, f"other{k}") for k in range(5)))
    with pytest.raises(InputError, match=r"b\.jsonl, item '0': .* under 5 of 5 ids .*a\.jsonl"):
        imported(one, two)
    nearly = [("k", str(k), 1, "typo" if k == 3 else f"q{k}") for k in range(5)]
    found = imported(one, rows(two, *nearly))
    assert (found.report.conflicting_items, found.report.conflicts) == (1, ("3",))
    assert found.items[3].question == "q3"


def test_several_tasks_prefix_the_ids(tmp_path: Path) -> None:
    for task in ("one", "two"):
        row = {"doc_id": 0, "target": "x", "resps": [], "filtered_resps": [], "acc": 1.0}
        path = tmp_path / f"samples_{task}_2026-01-01T00-00-00.jsonl"
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    found = imported(tmp_path, chosen={"model": "m"})
    assert found.responses.items == ("one/0", "two/0")
    bare = imported(path, chosen={"model": "m"})
    assert bare.responses.items == ("0",)
    assert imported(path, chosen={"model": "m"}, prefix="always").responses.items == ("two/0",)
    merged = imported(tmp_path, chosen={"model": "m"}, prefix="never")
    assert merged.responses.n.tolist() == [[2]]


def test_models_under_several_names(tmp_path: Path) -> None:
    one = rows(tmp_path / "a.jsonl", ("openai/gpt-x", "1", 1, "q"))
    two = rows(tmp_path / "b.jsonl", ("gpt-x", "1", 0, "q"), ("other", "1", 0, "q"))
    apart = imported(one, two)
    (pair,) = apart.report.suspicions
    assert pair.models == ("openai/gpt-x", "gpt-x")
    assert any("--alias makes them one" in said for said in apart.report.warnings)
    path = tmp_path / "names.csv"
    path.write_text("name,alias\ngpt-x,openai/gpt-x\ngpt-x,never-seen\n", encoding="utf-8")
    found = imported(one, two, aliases=read_aliases(path))
    assert found.responses.models == ("gpt-x", "other")
    assert found.responses.n.tolist() == [[2], [1]]
    assert found.report.aliases_used == {"openai/gpt-x": "gpt-x"}
    assert "1 lines of the alias file name no model that was found." in found.report.warnings


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,other\na,b\n", "line 1: lacks the column alias"),
        ("name,alias\na,\n", "line 2, alias: is empty"),
        ("name,alias\na,x\nb,x\n", "line 3: alias 'x' has another name already"),
        ("", "is empty"),
    ],
)
def test_a_bad_alias_file(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "names.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_aliases(path)


def test_repeated_runs(tmp_path: Path) -> None:
    first = rows(tmp_path / "run1.jsonl", ("m", "1", 1, "q1"), ("m", "2", 0, "q2"))
    second = rows(tmp_path / "run2.jsonl", ("m", "2", 1, "q2"), ("m", "3", 1, "q3"))
    rest = rows(tmp_path / "run1-rest.jsonl", ("m", "4", 1, "q4"))
    rollouts = imported(first, second, rest)
    assert rollouts.responses.n.tolist() == [[1, 2, 1, 1]]
    assert rollouts.report.repeated_cells == 1
    subjects = imported(first, second, rest, repeat="subjects")
    # what no run has in common stays with the first
    assert subjects.responses.models == ("m #1", "m #2")
    assert subjects.responses.n.tolist() == [[1, 1, 0, 1], [0, 1, 1, 0]]


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    path = rows(tmp_path / "a.jsonl", ("m", "1", 1, "q"))
    found = imported(path, tmp_path, tmp_path / "*.jsonl")
    assert found.responses.n.tolist() == [[1]]


def test_near_duplicates_are_suspected_and_others_are_not() -> None:
    rng = np.random.default_rng(0)
    base = rng.integers(0, 2, (1, 200))
    near = base ^ (rng.random((1, 200)) < 0.02)
    other = rng.integers(0, 2, (1, 200))
    easy = np.ones((2, 200), int)
    correct = np.concatenate([base, near, other, easy]).astype(np.int64)
    matrix = ResponseMatrix(
        ("a", "b", "c", "d", "e"), tuple(map(str, range(200))), correct, np.ones_like(correct)
    )
    (pair,) = suspicions(matrix)
    assert pair.models == ("a", "b")
    assert pair.common == 200
    assert pair.agreement == pytest.approx(np.mean(correct[0] == correct[1]))


def test_providers_of_the_same_weights_in_real_results(shared_data: Path) -> None:
    found = imported(shared_data / "zeroeval_math_l5/matrix.csv")
    pairs = [one.models for one in found.report.suspicions]
    assert any(all("405B" in name for name in pair) for pair in pairs)
    assert any(all("70B" in name for name in pair) for pair in pairs)
    assert len(pairs) == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [("threshold", 0), ("threshold", 1.5), ("max_score", 0), ("repeat", "x"), ("prefix", "x")],
)
def test_options_out_of_range(name: str, value: Any) -> None:
    with pytest.raises(InputError, match="--" + name.replace("_", "-")):
        ImportOptions(**{name: value})


def test_an_unknown_format_is_named(tmp_path: Path) -> None:
    path = rows(tmp_path / "a.jsonl", ("m", "1", 1, "q"))
    with pytest.raises(InputError, match="--format: 'helmet' is none of evalperf, evalplus, helm"):
        imported(path, format="helmet")


def test_an_option_that_nothing_asked_for_is_said(tmp_path: Path) -> None:
    path = rows(tmp_path / "a.jsonl", ("m", "1", 1, "q"))
    found = imported(path, chosen={"filter": "strict-match"})
    assert "Nothing asked for --filter: no file leaves that choice." in found.report.warnings


def test_items_of_their_own_file_are_found_by_id_if_that_is_clear(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"id": "0", "question": "q", "answer": "a"}\n')
    for task in ("one", "two"):
        row = {"doc_id": 0, "target": "x", "resps": [], "filtered_resps": [], "acc": 1.0}
        path = tmp_path / f"samples_{task}_2026-01-01T00-00-00.jsonl"
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    one = imported(tmp_path / "items.jsonl", path, chosen={"model": "m"})
    assert [(item.id, item.question) for item in one.items] == [("0", "q")]
    # of which task the item 0 is, nobody says
    assert imported(tmp_path, chosen={"model": "m"}).items == ()
    (tmp_path / "items.jsonl").write_text('{"id": "two/0", "question": "q", "answer": "a"}\n')
    found = imported(tmp_path, chosen={"model": "m"})
    assert [(item.id, item.question) for item in found.items] == [("two/0", "q")]
