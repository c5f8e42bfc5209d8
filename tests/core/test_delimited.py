"""Response files: what can be read is read exactly, all else is one clear sentence."""

from __future__ import annotations

import gzip
import io
import zipfile
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from benchfill import InputError, ResponseMatrix, read_responses, write_responses

if TYPE_CHECKING:
    from pathlib import Path

LONG = "model,item,correct"
COUNTS = "model,item,correct,n"


def parquet_bytes() -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table({"model": ["a"], "item": ["x"], "correct": [1]}), sink)
    return sink.getvalue()


def zip_bytes() -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("a.csv", "model,item,correct\n")
    return sink.getvalue()


# name: (content, line, words that the sentence must hold)
BAD: dict[str, tuple[str | bytes, int | None, tuple[str, ...]]] = {
    # long
    "duplicate": (f"{LONG}\na,x,1\nb,x,1\na,x,0\n", 4, ("'a'", "'x'", "n")),
    "duplicate after a quoted line break": (
        f'{LONG}\n"a\nb",x,1\n"a\nb",y,1\nc,x,1\nc,x,0\n',
        7,
        ("'c'", "'x'"),
    ),
    "duplicate after blank lines": (f"{LONG}\n\na,x,1\n\n\na,x,0\n", 6, ("'a'", "'x'")),
    "unknown column": (f"{LONG},score\na,x,1,1\n", 1, ("'score'", "n")),
    "score that is no 0 or 1": (f"{LONG}\na,x,1\na,y,0.5\n", 3, ("correct", "0.5", "threshold")),
    "score of 2": (f"{LONG}\na,x,2\n", 2, ("correct", "2", "n")),
    "score of -1": (f"{LONG}\na,x,-1\n", 2, ("correct", "-1")),
    "word": (f"{LONG}\na,x,1\na,y,yes\n", 3, ("correct", "'yes'")),
    "infinite": (f"{LONG}\na,x,inf\n", 2, ("correct", "'inf'")),
    "more right than tried": (f"{COUNTS}\na,x,1,2\na,y,3,2\n", 3, ("correct", "3", "n")),
    "negative n": (f"{COUNTS}\na,x,0,-2\n", 2, ("n", "-2")),
    "negative correct": (f"{COUNTS}\na,x,-1,2\n", 2, ("correct", "-1")),
    "fraction of a rollout": (f"{COUNTS}\na,x,1.5,2\n", 2, ("correct", "1.5")),
    "fraction of n": (f"{COUNTS}\na,x,1,2.5\n", 2, ("n", "2.5")),
    "short line": (f"{LONG}\na,x,1\na,y\n", 3, ("2 fields", "3")),
    "long line": (f"{LONG}\na,x,1\na,y,1,9\n", 3, ("4 fields", "3")),
    "ragged after a quoted line break": (f'{LONG}\n"a\n\nb",x,1\na,y\n', 5, ("2 fields",)),
    "no model": (f"{LONG}\n,x,1\n", 2, ("model",)),
    "no item": (f"{LONG}\na,x,1\na, ,1\n", 3, ("item",)),
    "header twice": ("model,item,correct,correct\na,x,1,1\n", 1, ("'correct'", "twice")),
    "unnamed column": ("model,item,correct,\na,x,1,\n", 1, ("column 4", "no name")),
    "header only": (f"{LONG}\n", None, ("no data",)),
    "header without line end": (LONG, None, ("no data",)),
    "correct beyond 64 bits": (f"{COUNTS}\na,x,1,{10**30}\n", 2, ("n",)),
    "correct beyond 53 bits": (f"{COUNTS}\na,x,1,{2**60}\n", 2, ("n",)),
    # wide
    "wide score": ("model,x,y\na,1,0\nb,0.5,1\n", 3, ("'x'", "0.5", "threshold")),
    "wide counts": ("model,x,y\na,1,0\nb,3,1\n", 3, ("'x'", "3")),
    "wide word": ("item,a,b\nx,1,0\ny,0,no\n", 3, ("'b'", "'no'")),
    "wide duplicate model": ("model,x\na,1\nb,1\na,0\n", 4, ("'a'",)),
    "wide duplicate item": ("item,a\nx,1\nx,0\n", 3, ("'x'",)),
    "wide header twice": ("model,x,y,x\na,1,0,1\n", 1, ("'x'", "twice")),
    "wide unnamed column": ("model,x,,y\na,1,0,1\n", 1, ("column 3", "no name")),
    "wide unnamed model": ("model,x\n,1\n", 2, ("model",)),
    "wide without cells": ("model\na\n", 1, ("model, item, correct",)),
    "wide header only": ("model,x,y\n", None, ("no data",)),
    "wide short line": ("model,x,y\na,1\n", 2, ("2 fields", "3")),
    "wide long line": ("model,x,y\na,1,1\nb,1,1,1\n", 3, ("4 fields", "3")),
    "first column not named": ("name,x,y\na,1,0\n", 1, ("'name'", "model")),
    # no table at all
    "empty": ("", None, ("empty",)),
    "blank": ("\n \n\t\n", None, ("empty",)),
    "prose": ("Dear reader,\nthis is a letter.\n", 1, ("column 2", "no name")),
    "one line of prose": ("Dear reader\n", 1, ("'Dear reader'", "model, item, correct")),
    "binary": (bytes(range(256)) * 8, None, ("binary",)),
    "gzip": (gzip.compress(f"{LONG}\na,x,1\n".encode()), None, ("gzip",)),
    "zip": (zip_bytes(), None, ("ZIP",)),
    "parquet": (parquet_bytes(), None, ("Parquet",)),
    "UTF-16": (f"{LONG}\na,x,1\n".encode("utf-16"), None, ("UTF-16",)),
    "Latin-1 name": (f"{LONG}\nm\u00fcller,x,1\n".encode("latin-1"), 2, ("UTF-8",)),
    "Latin-1 header": ("model,\u00fc\na,1\n".encode("latin-1"), 1, ("UTF-8",)),
    "NUL far inside": (f"{LONG}\n".encode() + b"a,x,1\n" * 0 + b"a,x\0,1\n", None, ("binary",)),
}


def read(folder: Path, content: str | bytes, **options: float) -> ResponseMatrix:
    path = folder / "r.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_responses(path, **options)


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_one_sentence_with_file_line_and_cell(tmp_path: Path, name: str) -> None:
    content, line, words = BAD[name]
    with pytest.raises(InputError) as caught:
        read(tmp_path, content)
    message = caught.value.message
    assert message.startswith(str(tmp_path / "r.csv"))
    assert "\n" not in message
    assert message.endswith(".")
    assert caught.value.line == line, message
    told = message.removeprefix(str(tmp_path))
    assert all(word in told for word in words), message


@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("form", ["long", "model", "item"])
def test_a_threshold_makes_scores_binary_and_refuses_those_outside(
    tmp_path: Path, threshold: float, form: str
) -> None:
    scores = np.array([[0.0, 0.49, 0.5], [0.51, 1.0, 0.0]])
    if form == "long":
        lines = [f"{m},{i},{scores[j, k]}" for j, m in enumerate("ab") for k, i in enumerate("xyz")]
        text = "\n".join([LONG, *lines])
    elif form == "model":
        text = "model,x,y,z\n" + "\n".join(
            f"{m}," + ",".join(map(str, scores[j])) for j, m in enumerate("ab")
        )
    else:
        text = "item,a,b\n" + "\n".join(
            f"{i}," + ",".join(map(str, scores[:, k])) for k, i in enumerate("xyz")
        )
    matrix = read(tmp_path, text, threshold=threshold)
    assert (matrix.models, matrix.items) == (("a", "b"), ("x", "y", "z"))
    np.testing.assert_array_equal(matrix.correct, scores >= threshold)
    assert (matrix.n == 1).all()
    with pytest.raises(InputError, match=r"1.5 is outside \[0, 1\]"):
        read(tmp_path, text.replace("0.51", "1.5"), threshold=threshold)


@pytest.mark.parametrize("threshold", [float("nan"), -0.1, 1.5])
def test_a_threshold_that_is_no_score_is_refused(tmp_path: Path, threshold: float) -> None:
    with pytest.raises(InputError, match="threshold"):
        read(tmp_path, f"{LONG}\na,x,1\n", threshold=threshold)


LATTICE = ("model,x,y\na,1,0\nb,,1\n", [[1, 0], [0, 1]], [[1, 1], [0, 1]])
SAME = {
    "wide": "model,x,y\na,1,0\nb,,1\n",
    "wide by item": "item,a,b\nx,1,\ny,0,1\n",
    "long": f"{LONG}\na,x,1\na,y,0\nb,y,1\n",
    "long with n": f"{COUNTS}\na,x,1,1\na,y,0,1\nb,x,0,0\nb,y,1,1\n",
    "long, columns in another order": "n,correct,item,model\n1,1,x,a\n1,0,y,a\n1,1,y,b\n",
    "empty n": f"{COUNTS}\na,x,1,1\na,y,0,1\nb,x,0,\nb,y,1,1\n",
    "semicolons": f"{LONG}\na,x,1\na,y,0\nb,y,1\n".replace(",", ";"),
    "tabs": f"{LONG}\na,x,1\na,y,0\nb,y,1\n".replace(",", "\t"),
    "BOM": f"\ufeff{LONG}\na,x,1\na,y,0\nb,y,1\n",
    "BOM wide": "\ufeffmodel,x,y\na,1,0\nb,,1\n",
    "CRLF": f"{LONG}\r\na,x,1\r\na,y,0\r\nb,y,1\r\n",
    "CR": f"{LONG}\ra,x,1\ra,y,0\rb,y,1\r",
    "blank lines first": f"\n\n{LONG}\na,x,1\n\na,y,0\nb,y,1\n\n",
    "no last line end": f"{LONG}\na,x,1\na,y,0\nb,y,1",
    "quotes": '"model","item","correct"\n"a","x","1"\n"a","y","0"\n"b","y","1"\n',
    "true and false": f"{LONG}\na,x,true\na,y,False\nb,y,TRUE\n",
    "floats": f"{LONG}\na,x,1.0\na,y,0.0\nb,y,1e0\n",
    "spaces": f"{LONG}\na,x, 1\na,y,0 \nb,y,1\n".replace("item,", " item ,"),
    **{
        f"missing as {word!r}": f"{LONG}\na,x,1\na,y,0\nb,x,{word}\nb,y,1\n"
        for word in ("", "NA", "NaN", "nan", "N/A", "null", "None")
    },
}


@pytest.mark.parametrize("name", SAME)
def test_every_way_to_write_the_same_matrix_is_read_alike(tmp_path: Path, name: str) -> None:
    matrix = read(tmp_path, SAME[name])
    assert (matrix.models, matrix.items) == (("a", "b"), ("x", "y"))
    np.testing.assert_array_equal(matrix.correct, [[1, 0], [0, 1]])
    np.testing.assert_array_equal(matrix.n, [[1, 1], [0, 1]])
    assert matrix.missing_cells == 1


def test_names_are_kept_as_they_are(tmp_path: Path) -> None:
    names = (
        "Q1",
        "q1",
        "\u00e9t\u00e9",
        "\u6570\u5b66",
        'say "hi", you',
        "two\nlines",
        "NA",
        "#1",
        "=1+1",
    )
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    long = read(tmp_path, f"{LONG}\n" + "".join(f"m,{name},1\n" for name in quoted))
    by_item = read(tmp_path, "item,m\n" + "".join(f"{name},1\n" for name in quoted))
    by_model = read(tmp_path, "model," + ",".join(quoted) + "\nm" + ",1" * len(names) + "\n")
    assert long.items == by_item.items == by_model.items == names


def test_a_line_number_counts_line_breaks_in_the_header_too(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, 'model,"x\ny"\na,1\nb,7\n')
    assert caught.value.line == 4


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "none.csv", "no such file"), (tmp_path, "is a directory")):
        with pytest.raises(InputError, match=words) as caught:
            read_responses(path)
        assert caught.value.message.startswith(str(path))


def test_a_very_long_id_is_read_and_is_cut_in_errors(tmp_path: Path) -> None:
    name = "x" * 100_000
    assert read(tmp_path, f"{LONG}\nm,{name},1\n").items == (name,)
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"{LONG}\nm,{name},1\nm,{name},1\n")
    assert len(caught.value.message) < 500
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"model,{name}\nm,7\n")
    assert len(caught.value.message) < 500


def test_a_million_lines_are_read(tmp_path: Path) -> None:
    models, items = 100, 10_000
    body = "".join(f"m{j},i{i},{(j + i) % 2}\n" for j in range(models) for i in range(items))
    matrix = read(tmp_path, f"{LONG}\n{body}")
    assert matrix.correct.shape == (models, items)
    np.testing.assert_array_equal(
        matrix.correct, (np.arange(models)[:, None] + np.arange(items)) % 2
    )
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"{LONG}\n{body}m0,i0,1\n")
    assert caught.value.line == 1_000_002


def test_a_matrix_too_large_to_hold_is_refused_before_it_is_made(tmp_path: Path) -> None:
    body = "".join(f"m{k},i{k},1\n" for k in range(40_000))
    with pytest.raises(InputError, match="40000 models and 40000 items"):
        read(tmp_path, f"{LONG}\n{body}")


NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters='\n,;\t"'), min_size=1
).filter(str.strip)


@st.composite
def matrices(draw: st.DrawFn) -> ResponseMatrix:
    models = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    items = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    shape = (len(models), len(items))
    cells = st.lists(
        st.integers(0, 300), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]
    )
    n = np.array(draw(cells)).reshape(shape)
    correct = np.minimum(np.array(draw(cells)).reshape(shape), n)
    return ResponseMatrix(tuple(models), tuple(items), correct, n)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(matrix=matrices())
def test_what_is_written_is_read_again(tmp_path: Path, matrix: ResponseMatrix) -> None:
    path = tmp_path / "w.csv"
    write_responses(matrix, path)
    if not matrix.n.any():
        with pytest.raises(InputError, match="no data"):
            read_responses(path)
        return
    again = read_responses(path)

    def cells(one: ResponseMatrix) -> set[tuple[str, str, int, int]]:
        return {
            (one.models[j], one.items[i], int(one.correct[j, i]), int(one.n[j, i]))
            for j, i in np.argwhere(one.n > 0)
        }

    assert cells(again) == cells(matrix)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.binary(max_size=200))
@example(b"\xef\xbb\xbf")
@example(b"\xef\xbb")
@example(b"\xef")
@example(b'"')
@example(b'model,"x\n')
@example(b"\r")
@example(b"model,x\n\xff,1\n")
def test_no_bytes_escape_as_another_error(tmp_path: Path, content: bytes) -> None:
    try_to_read(tmp_path, content)


FRAGMENTS = st.sampled_from(
    ["model", "item", "correct", "n", ",", ",", ",", "\n", "\n", "\r\n", "\r", ";", "\t", '"', '""',
     "a", "b", "x", "0", "1", "1", "0.5", "-1", "NaN", "NA", "true", " ", "\ufeff", "\0", "\u2028",
     "\x1c", "\x85", "1e400", "99999999999999999999", "é", "'", "#"]
)  # fmt: skip


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    head=st.sampled_from([f"{LONG}\n", f"{COUNTS}\n", "model,x,y\n", "item,a,b\n", ""]),
    parts=st.lists(FRAGMENTS, max_size=30),
    threshold=st.sampled_from([None, 0.5]),
)
def test_no_mangled_table_escapes_as_another_error(
    tmp_path: Path, head: str, parts: list[str], threshold: float | None
) -> None:
    try_to_read(tmp_path, (head + "".join(parts)).encode(), threshold)


VALID = f"{COUNTS}\na,x,1,4\na,y,0,4\nb,x,4,4\nb,y,2,4\n".encode()


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    edits=st.lists(
        st.tuples(st.integers(0, len(VALID) - 1), st.integers(0, 255), st.booleans()), max_size=6
    )
)
def test_no_damaged_bytes_escape_as_another_error(
    tmp_path: Path, edits: list[tuple[int, int, bool]]
) -> None:
    content = bytearray(VALID)
    for place, value, insert in edits:
        if insert:
            content.insert(place, value)
        else:
            content[place] = value
    try_to_read(tmp_path, bytes(content))


def try_to_read(folder: Path, content: bytes, threshold: float | None = None) -> None:
    path = folder / "fuzz.csv"
    path.write_bytes(content)
    try:
        matrix = read_responses(path, threshold=threshold)
    except InputError as error:
        message = error.message
    else:
        assert ((matrix.correct >= 0) & (matrix.correct <= matrix.n)).all()
        return
    assert message.startswith(str(path))
    assert "\n" not in message


def test_a_long_file_is_read_as_a_short_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, (3, 120_000)).astype(np.int8)
    lines = [
        f"model {j},item with a longer name {i},{one}"
        for j, row in enumerate(y)
        for i, one in enumerate(row)
    ]
    path = tmp_path / "long.csv"
    path.write_text("\n".join([LONG, *lines]), encoding="utf-8")
    assert path.stat().st_size > 1 << 23
    read = read_responses(path)
    assert read.models == ("model 0", "model 1", "model 2")
    assert read.items[-1] == "item with a longer name 119999"
    np.testing.assert_array_equal(read.correct, y)
    path.write_text("\n".join([LONG, *lines, "model 2,item with a longer name 7,1"]))
    with pytest.raises(InputError, match="'model 2' and item 'item with a longer name 7'") as bad:
        read_responses(path)
    assert bad.value.line == len(lines) + 2
