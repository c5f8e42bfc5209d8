"""Whatever lies in a folder: an import, or one sentence that names the file; nothing else."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from benchfill import InputError
from benchfill.importing import ImportOptions, import_results
from support.import_files import beside, is_a_sentence, result_files, zipped

if TYPE_CHECKING:
    from pathlib import Path


def refused(path: Path, **options: object) -> InputError:
    with pytest.raises(InputError) as caught:
        import_results([path], ImportOptions(**options))
    return caught.value


def test_every_real_file_cut_at_half(shared_data: Path, tmp_path: Path) -> None:
    complete_lines = []
    for path in result_files(shared_data):
        data = path.read_bytes()
        half = beside(path, tmp_path, data[: len(data) // 2])
        try:
            import_results([half])
        except InputError as error:
            is_a_sentence(error, path)
        else:
            complete_lines.append(path.name)
    # its half ends with a line: that cannot be told from a file of fewer lines
    assert complete_lines == ["minitest.jsonlines"]


@pytest.mark.parametrize("name", ["samples_x.jsonl", "a.json", "b.eval", "c.csv", "d.parquet"])
def test_an_empty_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"")
    error = refused(path)
    is_a_sentence(error, path)
    assert "is empty" in str(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}', "its keys: 'a'"),
        ("[1, 2, 3]", "no known format"),
        ("[]", "no known format"),
        ("{", "no known format"),
        ("{}", "its keys: none"),
        ("hello\nworld\n", "is no JSON"),
        ("\0\1\2", "binary"),
        ("[" * 100_000, "no known format|is no JSON"),
    ],
)
def test_what_is_no_result_file(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "some.json"
    path.write_text(text)
    error = refused(path)
    is_a_sentence(error, path)
    assert any(one in str(error) for one in said.split("|"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('{"subject_id": "m", "responses": {"a": 2}}', "is not from 0 to 1; --max-score"),
        ('{"subject_id": "m", "responses": {"a": -1}}', "is not from 0 to 1"),
        ('{"subject_id": "m", "responses": {"a": "yes"}}', "expected a number, found 'yes'"),
        ('{"subject_id": "m", "responses": {"a": NaN}}', "expected a finite number"),
        ('{"subject_id": "m", "responses": {"a": 1e999}}', "expected a finite number"),
        ('{"subject_id": "m", "responses": {"a": ' + "9" * 5000 + "}}", "a number is too long"),
        ('{"subject_id": " ", "responses": {"a": 1}}', "is an empty name"),
        ('{"subject_id": null, "responses": {"a": 1}}', "expected a text, found null"),
        ('{"subject_id": "m", "responses": {"a\\u0000": 1}}', "control character"),
        ('{"responses": {"a": 1}}', "lacks the field 'subject_id'"),
        ("3", "expected an object, found 3"),
        ('{"subject_id": "m", "resp', "is no JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path: Path, row: str, said: str) -> None:
    path = tmp_path / "rows.jsonlines"
    good = '{"subject_id": "first", "responses": {"a": 1}}'
    path.write_text(f"{good}\n\n{row}\n")
    error = refused(path)
    is_a_sentence(error, path)
    assert said in str(error)
    assert error.line == 3


def test_a_lone_surrogate_in_a_name_and_in_a_text(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    row = '{"model": "m\\ud800", "item": "i\\udfff", "correct": 1, "question": "q\\ud812"}'
    path.write_text(f"{row}\n")
    found = import_results([path])
    assert (found.responses.models, found.responses.items) == (("m?",), ("i?",))
    assert found.items[0].question == "q?"


def test_a_mixed_folder_says_what_it_skipped(shared_data: Path, tmp_path: Path) -> None:
    (tmp_path / "deep/er").mkdir(parents=True)
    minimal = shared_data / "raw/py_irt/minitest.jsonlines"
    (tmp_path / "deep/er/minitest.jsonlines").write_bytes(minimal.read_bytes())
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy/minitest.jsonlines").write_bytes(minimal.read_bytes())
    strange = {
        "README.md": b"# notes\n",
        "photo.png": b"\x89PNG\r\n\x1a\n\0\0",
        "empty.json": b"",
        "half.json": b'{"a": [1, 2',
        "settings.json": b'{"lr": 0.1}',
        "switches.json": b'{"debug": true, "shuffle": false}',
        "curve.csv": b"epoch,accuracy\n1,0.5\n2,0.75\n",
        "zeroeval.json": b'[{"session_id": "1", "generator": "m", "output": ["7"], "answer": "7"}]',
        "percent.csv": b"model,a,b\nx,45.1,88\ny,12,99.5\n",
    }
    for name, data in strange.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / ".hidden.json").write_bytes(b"{}")
    found = import_results([tmp_path])
    skipped = {one.file.rpartition("/")[2]: one.why for one in found.report.skipped}
    assert set(skipped) == {*strange, "minitest.jsonlines"}
    assert "is the same file as" in skipped["minitest.jsonlines"]
    assert "no score" in skipped["zeroeval.json"]
    assert found.responses.n.tolist() == [[1] * 4] * 4


def test_only_unknown_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(InputError, match=r"none of the 1 files holds results.*notes\.txt"):
        import_results([tmp_path])


@pytest.mark.parametrize(
    ("name", "said"),
    [("absent.json", "no such file"), ("*.nothing", "matches no file")],
)
def test_a_path_that_is_not_there(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        import_results([tmp_path / name])


def test_a_device_is_not_read() -> None:
    with pytest.raises(InputError, match="neither a file nor a folder"):
        import_results(["/dev/zero"])


# ZIP files


def test_a_zip_file_is_a_folder(shared_data: Path, tmp_path: Path) -> None:
    (source,) = (shared_data / "raw/mmlu_pro").iterdir()
    members = {
        "outputs/model_outputs_a.json": source.read_bytes(),
        "__MACOSX/._a.json": b"\0\0",
        "outputs/notes.txt": b"hello",
    }
    found = import_results([zipped(tmp_path / "outputs.zip", members)])
    assert found.responses.models == ("a",)
    assert [one.file for one in found.report.skipped] == [
        f"{tmp_path}/outputs.zip/outputs/notes.txt"
    ]


def test_bombs_are_refused_before_they_go_off(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "bomb.zip", {"a.json": b"[" + b" " * 70_000_000 + b"]"})
    assert bomb.stat().st_size < 1 << 20
    tracemalloc.start()
    error = refused(bomb)
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()
    is_a_sentence(error, bomb)
    assert "would unpack to" in str(error)


def test_a_zip_file_that_lies_about_its_sizes(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "liar.zip", {"a.jsonl": b'{"subject_id": "m", "responses": {}}\n' * 99}
    )
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        struct.pack_into("<I", data, data.index(mark) + at, 40)
    path.write_bytes(data)
    is_a_sentence(refused(path), path)


@pytest.mark.parametrize("name", ["../evil.json", "/etc/evil.json", "a/../../e.json", "C:\\e.json"])
def test_names_that_lead_out_of_the_archive(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / "out.zip", {name: b"[]"})
    error = refused(path)
    is_a_sentence(error, path)
    assert "outside of itself" in str(error)


def test_a_gzip_bomb(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    row = b'{"subject_id": "m", "responses": {}}' + b" " * 10_000 + b"\n"
    with gzip.open(path, "wb", compresslevel=6) as file:
        for _ in range(6_800):
            file.write(row)
    error = refused(path)
    is_a_sentence(error, path)
    assert "times its size" in str(error)


def test_a_gzip_file_is_read_and_a_cut_one_refused(shared_data: Path, tmp_path: Path) -> None:
    plain = shared_data / "raw/swebench_pro/gpt-5_eval_results.json"
    path = tmp_path / "gpt-5_eval_results.json.gz"
    packed = gzip.compress(plain.read_bytes())
    path.write_bytes(packed)
    found = import_results([path])
    assert found.responses.models == ("gpt-5",)
    assert found.responses.correct.sum() == import_results([plain]).responses.correct.sum()
    path.write_bytes(packed[: len(packed) // 2])
    is_a_sentence(refused(path), path)


# Large files


@pytest.mark.parametrize("rows", [1_500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_megabytes_of_json_lines_take_little_memory(tmp_path: Path, rows: int) -> None:
    """15 MB, and 100 MB."""
    path = tmp_path / "samples_big_2026-01-01T00-00-00.jsonl"
    filler = "x" * 10_000
    with path.open("w", encoding="utf-8") as file:
        for k in range(rows):
            row = {
                "doc_id": k,
                "doc": {"question": f"question {k}"},
                "target": "1",
                "resps": [[filler]],
                "filter": "none",
                "metrics": ["acc"],
                "acc": k % 2,
            }
            file.write(json.dumps(row) + "\n")
    assert path.stat().st_size > rows * 10_000
    tracemalloc.start()
    found = import_results([path])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.responses.correct.sum() == rows / 2
    assert len(found.items) == rows
    # what is kept, items and answers, is about 2 kB a row; the file has 10 kB a row
    assert peak < path.stat().st_size / 4 + 1_000_000


def test_a_long_json_list_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    with path.open("w", encoding="utf-8") as file:
        for k in range(1_500):
            row = {"task_id": k, "reward": 1.0, "trial": 0, "traj": ["y" * 10_000]}
            file.write(("[" if not k else ",") + json.dumps(row))
        file.write("]")
    tracemalloc.start()
    found = import_results([path])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.responses.correct.sum() == 1_500
    assert peak < 6_500_000


# What the user says of the files


def test_a_folder_without_files_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty/deep").mkdir(parents=True)
    error = refused(tmp_path / "empty")
    is_a_sentence(error, tmp_path / "empty")
    assert "holds no file" in str(error)


@pytest.mark.parametrize("wanted", ["inspect", "lm-eval", "tau-bench", "swebench-pro"])
def test_a_file_is_not_forced_into_another_format(shared_data: Path, wanted: str) -> None:
    path = shared_data / "raw/py_irt/minitest.jsonlines"
    error = refused(path, format=wanted)
    is_a_sentence(error, path)
    assert f"is not of the format {wanted} but py-irt (keys subject_id" in str(error)


def test_a_folder_without_files_of_the_wanted_format(shared_data: Path) -> None:
    folder = shared_data / "raw/py_irt"
    with pytest.raises(InputError, match=r"none of the 1 files is of the format inspect; .*py-irt"):
        import_results([folder], ImportOptions(format="inspect"))


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_a_table_of_unknown_columns_says_how_to_name_them(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(f"llm{mark}qid{mark}ok\nm{mark}q{mark}1\n", encoding="utf-8")
    error = refused(path)
    is_a_sentence(error, path)
    assert "(its columns: 'llm', 'qid', 'ok')" in str(error)
    assert "--format rows --columns model=...,item=...,correct=..." in str(error)


@pytest.mark.skipif(not shutil.which("setpriv"), reason="no setpriv to give up root's rights")
@pytest.mark.parametrize("named", ["locked", "locked/a.csv", "locked/*", "file.csv"])
def test_what_may_not_be_read_is_named(tmp_path: Path, named: str) -> None:
    locked, file = tmp_path / "locked", tmp_path / "file.csv"
    locked.mkdir()
    for path in (locked / "a.csv", file):
        path.write_text("model,item,correct\nm,a,1\n", encoding="utf-8")
    (tmp_path / "good.csv").write_text("model,item,correct\nm,b,1\n", encoding="utf-8")
    locked.chmod(0)
    file.chmod(0)
    code = (
        "import sys; from benchfill import InputError; "
        "from benchfill.importing import import_results\n"
        "try: import_results(sys.argv[1:])\n"
        "except InputError as error: print(error)"
    )
    words = [sys.executable, "-c", code, str(tmp_path / named), str(tmp_path / "good.csv")]
    if os.geteuid() == 0:
        words = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *words]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    locked.chmod(0o700)
    place = tmp_path / named.removesuffix("/*")
    assert said.startswith(f"{place}")
    assert "permission denied" in said or "matches no file" in said
    assert said.count("\n") == 1


def test_links_are_followed_and_loops_are_not(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "elsewhere").mkdir()
    rows = "model,item,correct\nm,a,1\n"
    (tmp_path / "elsewhere/a.csv").write_text(rows, encoding="utf-8")
    (tmp_path / "runs/linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/back").symlink_to(tmp_path / "runs")
    (tmp_path / "runs/nowhere.csv").symlink_to(tmp_path / "gone.csv")
    found = import_results([tmp_path / "runs"])
    assert found.responses.n.tolist() == [[1]]
