"""Which columns of a file are benchmarks, and what is said of cells that are no scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import benchfill as bf

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = "model,A,B,C\nm1,1,2,3\nm2,4,5,9\nm3,7,8,1\n"


@pytest.fixture
def read(tmp_path: Path):
    def reader(text: str | bytes, **options) -> bf.ScoreTable:
        path = tmp_path / "scores.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return bf.read_score_table(path, **options)

    return reader


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        "\ufeff" + PLAIN,
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("model", "name"),  # the first column names the models
        "A,B,C,Model\n1,2,3,m1\n4,5,9,m2\n7,8,1,m3\n",
        PLAIN.replace("m1,1,", "m1, 1 ,"),
    ],
    ids=["plain", "BOM", "semicolons", "tabs", "CRLF", "first", "model last", "blanks"],
)
def test_the_same_table(read, text) -> None:
    table = read(text)
    assert table.models == ("m1", "m2", "m3")
    assert table.benchmarks == ("A", "B", "C")
    np.testing.assert_array_equal(table.scores, [[1, 2, 3], [4, 5, 9], [7, 8, 1]])
    assert table.skipped == ()


def test_cells_that_are_missing(read) -> None:
    table = read("model,A,B\nm1,,2\nm2,NaN,5\nm3,7,NA\nm4,8,-1e1\n")
    assert table.missing.tolist() == [[True, False], [True, False], [False, True], [False, False]]
    assert table.scores[3, 1] == -10


def test_columns_that_are_no_benchmarks_are_told(read) -> None:
    table = read(
        "model,params_b,#Params (B),Release Date,license,moe?,notes,A,B,Average,Mine\n"
        "m1,7,7,2024,mit,True,,1,2,1.5,9\nm2,8,8,2025,apache,False,,4,5,4.5,9.5\n"
        "m3,70,70,2023,mit,True,,7,8,7.5,3\n"
    )
    assert table.benchmarks == ("A", "B", "Mine")
    reasons = {one.column: one.reason for one in table.skipped}
    assert set(reasons) == {
        *("params_b", "#Params (B)", "Release Date", "license", "moe?", "notes", "Average"),
    }
    assert reasons["license"] == "holds text, such as 'mit'"
    assert reasons["moe?"].endswith("average")
    assert reasons["notes"] == "is empty"


def test_a_mean_under_another_name_is_found_by_its_numbers(read) -> None:
    lines = ["model,A,B,C,How good"]
    rng = np.random.default_rng(0)
    for j in range(6):
        row = np.round(rng.uniform(0, 100, 3), 2)
        lines.append(f"m{j},{row[0]},{row[1]},{row[2]},{row.mean():.2f}")
    table = read("\n".join(lines))
    assert table.benchmarks == ("A", "B", "C")
    assert table.skipped == (("How good", "is the mean of the other columns"),)


def test_whole_numbers_may_name_models(read) -> None:
    table = read("id,A,B\n17,1,2\n4,3,1\n9,2,2\n")
    assert table.models == ("17", "4", "9")


def test_small_scores_are_no_means_of_one_another(read) -> None:
    lines = ["model,A,B,C", "m1,.001,.002,.003", "m2,.002,.001,.004", "m3,.003,.003,.001"]
    assert read("\n".join(lines)).benchmarks == ("A", "B", "C")


def test_named_columns_are_taken_as_they_are_named(read) -> None:
    text = "model,year,A,B\nm1,2024,1,2\nm2,2025,4,5\nm3,2023,7,8\n"
    table = read(text, columns=["B", "year"])
    assert table.benchmarks == ("B", "year")
    np.testing.assert_array_equal(table.scores[:, 1], [2024, 2025, 2023])
    assert table.skipped == (("A", "was not asked for"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; expected a header line with model and the names of benchmarks"),
        ("model,A\n", "has a header but no data line"),
        ("model,A,B\nm1,1,x\nm2,2,3\nm3,4,5\n", "line 2, B: 'x' is no number; mend it"),
        ("model,A,B\nm1,1,85%\nm2,2,3\nm3,4,5\n", "line 2, B: '85%' is no number"),
        ("model,A,B\nm1,1,85 %\nm2,2,3%\nm3,4,5%\n", "line 2, B: '85 %' is no number"),
        ("model;A;B\nm1;1;8,5\nm2;2;3,1\nm3;4;5,2\n", "line 2, B: '8,5' is no number"),
        ("A,B,C\n0.5,1,2\n0.25,2,3\n1,0,1\n", "first one, 'A', holds scores and no names"),
        ("model;A;B\nm1;1;8,5\nm2;2;3\nm3;4;5\n", "line 2, B: '8,5' is no number"),
        ("model,A,B\nm1,1,inf\nm2,2,3\nm3,4,5\n", "line 2, B: 'inf' is no number"),
        ("model,A,B\nm1,1_0,1\nm2,2,3\nm3,4,5\n", "line 2, A: '1_0' is no number"),
        ("model,A,B\nm1,1,2\n,2,3\n", "line 3, model: the model has no name"),
        ("model,A,B\nm1,1,2\nm1,2,3\n", "line 3: model 'm1' stands on an earlier line"),
        ("model,A,A\nm1,1,2\n", "column 'A' stands twice"),
        ("model,A,B\nm1,1\n", "line 2: has 2 fields where the header has 3"),
        ("model,type,arch\nm1,x,y\nm2,u,v\n", "has no column of scores"),
        (b"\xff\xfem\0o\0", "is UTF-16 text"),
        (b"PK\x03\x04", "is a ZIP or Excel file"),
    ],
)
def test_what_cannot_be_read_is_named(read, text, said) -> None:
    with pytest.raises(bf.InputError) as error:
        read(text)
    assert said in error.value.message
    assert "scores.csv" in error.value.message


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["A", "D"], "lacks the column 'D'; there are 'A', 'B', 'C'"),
        (["A", "A"], "column 'A' was asked for twice"),
        ([], "has no column of scores"),
    ],
)
def test_columns_that_cannot_be_named(read, columns, said) -> None:
    with pytest.raises(bf.InputError, match=said):
        read(PLAIN, columns=columns)


def test_a_text_column_that_is_named_is_an_error(read) -> None:
    with pytest.raises(bf.InputError, match="line 2, kind: 'x' is no number"):
        read("model,kind,A\nm1,x,1\nm2,y,2\n", columns=["kind", "A"])


def test_tables_from_python_are_checked() -> None:
    for wrong, said in (
        ((("a", "a"), ("X",), np.zeros((2, 1))), "model 'a' stands twice"),
        ((("a", "b"), ("X", "X"), np.zeros((2, 2))), "benchmark 'X' stands twice"),
        ((("a", "b"), ("X",), np.zeros((1, 1))), "need scores of that shape"),
        ((("a", "b"), ("X",), np.full((2, 1), np.inf)), "a score is infinite"),
    ):
        with pytest.raises(bf.InputError, match=said):
            bf.ScoreTable(*wrong)
    table = bf.ScoreTable(("a",), ("X", "Y"), np.array([[1.0, 2.0]]))
    assert table.select(["Y"]).scores.tolist() == [[2.0]]
    with pytest.raises(bf.InputError, match="no benchmark 'Z'"):
        table.select(["Z"])
