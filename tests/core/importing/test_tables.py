"""Tables of every container and layout."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from benchfill import InputError
from benchfill.importing import Imported, ImportOptions, import_results

if TYPE_CHECKING:
    from pathlib import Path

    from benchfill import ResponseMatrix


def imported(path: Path, text: str | None = None, **options: Any) -> Imported:
    if text is not None:
        path.write_text(text, encoding="utf-8")
    return import_results([path], ImportOptions(**options))


def table(matrix: ResponseMatrix) -> list[list[str]]:
    """Cells as right/rollouts, a row for each model."""
    return [
        [f"{right}/{n}" for right, n in zip(rights, counts, strict=True)]
        for rights, counts in zip(matrix.correct.tolist(), matrix.n.tolist(), strict=True)
    ]


LONG = {
    "ours": "model,item,correct,n\nm,a,3,4\nm,b,0,4\nk,a,1,2\n",
    "semicolons": "model;item;correct;n\nm;a;3;4\nm;b;0;4\nk;a;1;2\n",
    "tabs": "model\titem\tcorrect\tn\nm\ta\t3\t4\nm\tb\t0\t4\nk\ta\t1\t2\n",
    "Windows, BOM": "\ufeffmodel,item,correct,n\r\nm,a,3,4\r\nm,b,0,4\r\nk,a,1,2\r\n",
    "other names": "llm,question_id,score,n,note\nm,a,3,4,x\nm,b,0,4,\nk,a,1,2,\n",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_long_tables(tmp_path: Path, text: str) -> None:
    found = imported(tmp_path / "t.csv", text)
    assert found.responses.models == ("m", "k")
    assert table(found.responses) == [["3/4", "0/4"], ["1/2", "0/0"]]


def test_columns_can_be_named(tmp_path: Path) -> None:
    text = "who,what,ok,score\nm,a,1,0\nm,b,0,1\n"
    path = tmp_path / "t.csv"
    with pytest.raises(InputError, match="of no known format"):
        imported(path, text)
    with pytest.raises(InputError, match="say which are what by --columns"):
        imported(path, text, format="rows")
    columns = {"columns": "model=who,item=what,correct=ok"}
    found = imported(path, text, format="rows", chosen=columns)
    assert table(found.responses) == [["1/1", "0/1"]]
    with pytest.raises(InputError, match="expected NAME=COLUMN, with a name among model"):
        imported(path, text, format="rows", chosen={"columns": "modell=who"})


def test_which_of_two_score_columns_is_said(tmp_path: Path) -> None:
    text = "model,item,correct,score\nm,a,1,0.3\n"
    found = imported(tmp_path / "t.csv", text)
    assert found.report.files[0].choices[0].value == "model=model,item=item,correct=correct"
    other = imported(tmp_path / "t.csv", text, chosen={"columns": "correct=score"})
    assert other.report.files[0].partial.count == 1


def test_repeated_rows_are_not_guessed_at(tmp_path: Path) -> None:
    text = "model,item,correct\nm,a,1\nm,a,0\n"
    path = tmp_path / "t.csv"
    with pytest.raises(InputError, match=r"line 3, model 'm', item 'a': .* a second time; --dup"):
        imported(path, text)
    assert table(imported(path, duplicates="rollouts").responses) == [["1/2"]]
    assert table(imported(path, duplicates="first").responses) == [["1/1"]]
    last = imported(path, duplicates="last")
    assert table(last.responses) == [["0/1"]]
    assert (last.report.files[0].duplicates, last.report.files[0].rows_used) == (1, 1)


def test_rollouts_have_a_column(tmp_path: Path) -> None:
    text = "model,item,epoch,correct\nm,a,1,1\nm,a,2,0\n"
    assert table(imported(tmp_path / "t.csv", text).responses) == [["1/2"]]


def test_percents_need_a_maximum(tmp_path: Path) -> None:
    text = "model,item,score\nm,a,100\nm,b,40\n"
    with pytest.raises(InputError, match="100 is not from 0 to 1; --max-score"):
        imported(tmp_path / "t.csv", text)
    found = imported(tmp_path / "t.csv", text, max_score=100.0)
    assert table(found.responses) == [["1/1", "0/1"]]


WIDE = {
    "models x items": ("model,a,b,c\nm,1,0,\nk,0,1,1\n", None),
    "items x models": ("item,m,k\na,1,0\nb,0,1\nc,,1\n", None),
    "floats": ("model,a,b,c\nm,1.0,0.0,NA\nk,0.0,1.0,1.0\n", None),
    "true and false": ("model,a,b,c\nm,true,false,null\nk,False,True,TRUE\n", None),
    "subjects": ("subject_id,a,b,c\nm,1,0,\nk,0,1,1\n", None),
    "empty corner, said": (",a,b,c\nm,1,0,\nk,0,1,1\n", "models"),
    "empty corner, said the other way": (",m,k\na,1,0\nb,0,1\nc,,1\n", "items"),
}


@pytest.mark.parametrize(("text", "rows"), WIDE.values(), ids=WIDE)
def test_wide_tables(tmp_path: Path, text: str, rows: str | None) -> None:
    chosen = {} if rows is None else {"rows": rows}
    found = imported(tmp_path / "t.csv", text, chosen=chosen).responses
    assert (found.models, found.items) == (("m", "k"), ("a", "b", "c"))
    assert table(found) == [["1/1", "0/1", "0/0"], ["0/1", "1/1", "1/1"]]


def test_what_rows_are_is_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with pytest.raises(InputError, match="does not say what its rows are; --rows models or"):
        imported(path, ",a,b\nm,1,0\nk,0,1\n")
    numbered = imported(path, ",0,1,2\nm,1,0,1\nk,0,1,1\n")
    assert numbered.responses.models == ("m", "k")
    made = numbered.report.files[0].choices[0]
    assert (made.value, made.because) == ("models", "columns are numbered, rows are named")


def test_a_table_of_anything_is_read_if_asked_for(tmp_path: Path) -> None:
    text = "run,a,b\nm,1,0\nk,0,1\n"
    with pytest.raises(InputError, match="of no known format"):
        imported(tmp_path / "t.csv", text)
    found = imported(tmp_path / "t.csv", text, format="wide", chosen={"rows": "models"})
    assert found.responses.models == ("m", "k")


def test_tables_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    more_items = imported(path, "1,0,1\n0,0,1\n").responses
    assert (more_items.models, more_items.items[0]) == (("model 1", "model 2"), "item 1")
    assert table(more_items) == [["1/1", "0/1", "1/1"], ["0/1", "0/1", "1/1"]]
    turned = imported(path, "1.0,0.0\n0.0,0.0\n1.0,1.0\n").responses
    assert table(turned) == [["1/1", "0/1", "1/1"], ["0/1", "0/1", "1/1"]]
    with pytest.raises(InputError, match="--rows models or --rows items"):
        imported(path, "1,0\n0,1\n")
    square = imported(path, "1,0\n1,1\n", chosen={"rows": "items"})
    assert table(square.responses) == [["1/1", "1/1"], ["0/1", "1/1"]]
    named = imported(path, "gpt,1,0,1\nphi,0,0,1\n", chosen={"rows": "models"}).responses
    assert named.models == ("gpt", "phi")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model,a,b\nm,1\n", "of no known format"),
        ("model,a,b\n" + "m,1,0\n" * 1 + "k,1,0\n" * 30 + "j,1\n", "line 33: has 2 fields"),
        ("model,a,a\nm,1,0\n", "column 'a' stands twice"),
        ("model,a,\nm,1,0\n", "column 3: is an empty name"),
        ("model,a,b\nm,1,0\nm,1,0\n", "line 3, model 'm', item 'a': .* a second time"),
        ("model,a,b\n,1,0\n", "line 2, first column: is an empty name"),
        ("model,a,b\n" + "m,1,0\n" * 1 + "k,1,0\n" * 0 + "j,1,x\n", "of no known format"),
    ],
)
def test_broken_tables(tmp_path: Path, text: str, said: str) -> None:
    numbered = "".join(
        line.replace("k,", f"k{number},") for number, line in enumerate(text.splitlines(True))
    )
    with pytest.raises(InputError, match=said):
        imported(tmp_path / "t.csv", numbered)


def test_a_partial_score_in_a_wide_table(tmp_path: Path) -> None:
    text = "model,a,b\nm,0.5,1\n"
    assert table(imported(tmp_path / "t.csv", text).responses) == [["0/1", "1/1"]]
    half = imported(tmp_path / "t.csv", text, threshold=0.5)
    assert table(half.responses) == [["1/1", "1/1"]]


ANSWERS = {"model": ["m", "m", "k"], "item": [1, 2, 1], "correct": [True, False, None]}
ITEMS = {
    "id": [1, 2],
    "question": ["1+1?", "Capital of Peru?"],
    "choices": [None, {"text": ["Lima", "Cusco"], "label": ["A", "B"]}],
    "answer": ["2", "A"],
    "level": ["easy", "hard"],
}


def test_parquet_and_arrow(tmp_path: Path) -> None:
    parquet.write_table(pa.table(ANSWERS), tmp_path / "a.parquet")
    stream = tmp_path / "b/data-00000-of-00001.arrow"
    stream.parent.mkdir()
    with (
        pa.OSFile(str(stream), "wb") as sink,
        pa.ipc.new_stream(sink, pa.table(ANSWERS).schema) as to,
    ):
        to.write_table(pa.table(ANSWERS))
    for path in (tmp_path / "a.parquet", stream):
        found = imported(path)
        assert table(found.responses) == [["1/1", "0/1"]]
        assert found.report.models_without_response == ("k",)
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
        with pytest.raises(InputError, match=path.name):
            imported(path)


def test_wide_parquet(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"model": ["m"], "a": [1], "b": [0.0]}), tmp_path / "w.parquet")
    assert table(imported(tmp_path / "w.parquet").responses) == [["1/1", "0/1"]]


def test_a_hugging_face_folder_gives_the_items(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    parquet.write_table(pa.table(ITEMS), folder / "test-00000-of-00001.parquet")
    (folder / "dataset_info.json").write_text(json.dumps({"features": {}, "citation": ""}))
    (tmp_path / "answers.csv").write_text("model,item,correct\nm,1,1\nm,2,0\n", encoding="utf-8")
    found = imported(tmp_path)
    first, second = found.items
    assert (first.question, first.answer, first.choices) == ("1+1?", "2", ())
    assert (second.answer, second.choices) == ("Lima", ("Lima", "Cusco"))
    assert second.metadata == {"level": "hard"}
    with pytest.raises(InputError, match="no scored answer"):
        imported(folder)


def test_items_of_ours_are_read_back(tmp_path: Path) -> None:
    row = {"id": "a", "question": "q", "answer": "x", "choices": ["x", "y"], "metadata": {"k": 1}}
    (tmp_path / "items.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (tmp_path / "responses.csv").write_text("model,item,correct,n\nm,a,1,3\n", encoding="utf-8")
    found = imported(tmp_path)
    assert [item.model_dump(exclude_defaults=True) for item in found.items] == [
        row | {"choices": ("x", "y")}
    ]
    assert table(found.responses) == [["1/3"]]


def test_json_rows(tmp_path: Path) -> None:
    rows = [{"model": "m", "question_id": k, "is_correct": k % 2 == 0} for k in range(3)]
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    assert table(imported(tmp_path / "rows.json").responses) == [["1/1", "0/1", "1/1"]]


@pytest.mark.parametrize("name", ["mmlu_pro_categories", "openllm_12", "zeroeval"])
def test_real_tables_of_percents_are_no_responses(shared_data: Path, name: str) -> None:
    with pytest.raises(InputError, match="of no known format"):
        imported(shared_data / f"bench_table_{name}/scores.csv")
