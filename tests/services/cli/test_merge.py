"""`benchfill merge` and `benchfill diff` as a user runs them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import benchfill as bf
from benchfill_services.cli import app
from benchfill_services.review.desk import ReviewDesk
from support.merge_world import ADA, NO, approve, base_files, case_of_files, write_files

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result
    from redis.asyncio import Redis

HOSTILE = "new <script>\u202e\x1b[31m [bold]x[/bold]"


def run(*words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--engine", "map"])


def merge(out: str, *more: str) -> Result:
    return run(
        "merge",
        "--items",
        "old/items.jsonl",
        "--responses",
        "old/responses.csv",
        "--out",
        out,
        *more,
    )


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def reviewed(in_store, tmp_path: Path) -> Any:
    """Files, two approved candidates, one that waits."""
    files = base_files()
    write_files(tmp_path / "old", files)

    async def judge(redis: Redis) -> list[str]:
        desk = ReviewDesk(redis)
        first = await approve(desk, case_of_files(files, "new-1"))
        await approve(desk, case_of_files(files, HOSTILE))
        waiting = case_of_files(files, "waiting")
        await desk.reviews.open(waiting)
        await desk.decide(waiting.id, ADA, NO)
        return [first, waiting.id]

    return in_store(judge)


def test_a_new_version_is_written_beside_the_old_one(reviewed, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in (tmp_path / "old").iterdir()}
    done = merge("new", "--json")
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["command"] == "merge"
    assert document["entered"] == ["new-1", HOSTILE]
    assert (document["pending"], document["rejected"], document["left_out"]) == (1, 0, [])
    assert {path: path.read_bytes() for path in (tmp_path / "old").iterdir()} == before
    new = tmp_path / "new"
    assert {path.name for path in new.iterdir()} == {
        "items.jsonl", "responses.csv", "provenance.jsonl", "diagnosis.json",
        "report.html", "report.json", "rulers.png",
    }  # fmt: skip
    items = bf.read_items(new / "items.jsonl")
    assert [one.id for one in items[-2:]] == ["new-1", HOSTILE]
    assert bf.read_responses(new / "responses.csv").items[-2:] == ("new-1", HOSTILE)
    assert len((new / "provenance.jsonl").read_text().splitlines()) == 2
    diagnosis = json.loads((new / "diagnosis.json").read_text())
    assert diagnosis["items"] == document["diff"]["items_after"] == 42
    added = document["diff"]["added"][0]
    assert added["provenance"]["candidate"] == reviewed[0]
    assert added["measured"]["z"] == pytest.approx(added["refitted"]["z"], abs=0.05)
    assert json.loads((new / "report.json").read_text()) == document
    page = (new / "report.html").read_text()
    assert "<script>" not in page
    assert "\u202e" not in page
    measures = document["diff"]["measures"]
    assert measures["max_gap"]["after"]["value"] < measures["max_gap"]["before"]["value"]
    assert measures["widest"]["closed"] is True


def test_the_terminal_says_what_entered_and_what_it_did(reviewed) -> None:
    done = merge("new")
    told = flat(done.stdout)
    assert "2 approved items enter. Left out: 1 pending, 0 in disagreement" in told
    assert "The mismatch (DDM) goes from" in told
    assert "The widest gap, from" in told
    assert "is closed: 2 items lie in it now" in told
    assert not {"\x1b", "\u202e"} & set(done.stdout)
    assert "x[/bold]" in told
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_second_run_never_writes_over_a_version(reviewed, tmp_path: Path) -> None:
    assert merge("new").exit_code == 0
    before = (tmp_path / "new/items.jsonl").read_bytes()
    again = merge("new")
    assert again.exit_code == 2
    assert "new: exists and is not empty" in again.stderr
    assert len(again.stderr.strip().splitlines()) == 1
    assert merge("same").exit_code == 0
    assert (tmp_path / "same/items.jsonl").read_bytes() == before
    assert (tmp_path / "same/responses.csv").read_bytes() == (
        tmp_path / "new/responses.csv"
    ).read_bytes()
    onto = run(
        "merge", "--items", "new/items.jsonl", "--responses", "new/responses.csv", "--out", "third"
    )
    assert onto.exit_code == 2
    assert "there is nothing new to merge: every approved item is in this version" in onto.stderr
    assert not (tmp_path / "third").exists()


def test_one_fill_can_be_named(reviewed) -> None:
    job = reviewed[0].split(".")[0]
    done = merge("new", "--job", job, "--json")
    assert json.loads(done.stdout)["entered"] == ["new-1"]
    none = merge("none", "--job", "0" * 32)
    assert none.exit_code == 2
    assert "no candidate of these files is approved (0 pending" in flat(none.stderr)


def test_an_empty_store_and_wrong_files_are_one_sentence(in_store, tmp_path: Path) -> None:
    write_files(tmp_path / "old", base_files())
    nothing = merge("new")
    assert (nothing.exit_code, nothing.stdout) == (2, "")
    assert nothing.stderr.startswith("Error: there is nothing to merge")
    (tmp_path / "old/items.jsonl").write_text('{"id": "a", "question": 3}\n')
    wrong = merge("new")
    assert wrong.exit_code == 2
    assert "items.jsonl, line 1, question" in wrong.stderr
    (tmp_path / "old/items.jsonl").unlink()
    missing = merge("new")
    assert missing.exit_code == 2
    assert "items.jsonl: cannot be read" in missing.stderr
    assert not (tmp_path / "new").exists()


def test_ctrl_c_leaves_nothing_half_written(
    reviewed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("benchfill_services.cli.version_sides.kept_fit", interrupted)
    done = merge("new")
    assert done.exit_code == 130
    assert done.stderr.strip().startswith("Interrupted:")
    assert not (tmp_path / "new").exists()


def test_versions_are_compared_as_folders_and_as_files(reviewed, tmp_path: Path) -> None:
    assert merge("new").exit_code == 0
    folders = run("diff", "old", "new", "--json", "--out", "report")
    assert folders.exit_code == 0, folders.stderr
    document = json.loads(folders.stdout)
    assert [one["id"] for one in document["added"]] == ["new-1", HOSTILE]
    assert (document["removed"], document["changed"]) == ([], [])
    assert document["responses"]["cells_added"] == 24
    assert document["measures"]["engine"] == "map"
    assert {one.name for one in (tmp_path / "report").iterdir()} == {
        "report.html", "report.json", "rulers.png",
    }  # fmt: skip
    files = ("--items", "old/items.jsonl", "new/items.jsonl")
    more = ("--responses", "old/responses.csv", "new/responses.csv")
    pairs = run("diff", *files, *more, "--json")
    same = json.loads(pairs.stdout)
    assert {key: same[key] for key in ("added", "measures")} == {
        key: document[key] for key in ("added", "measures")
    }
    told = run("diff", "old", "new")
    assert "40 items before, 42 after: 2 items new, 0 gone, 0 changed; 24 cells" in flat(
        told.stdout
    )
    none = run("diff", "old", "old")
    assert none.exit_code == 0, none.stderr
    assert "is still open" in flat(none.stdout)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name two folders, A and B"),
        (("old",), "name two folders, A and B"),
        (("old", "none"), "none: holds no items.jsonl"),
        (("--items", "a", "b"), "name two folders, A and B"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(in_store, tmp_path, words, said) -> None:
    write_files(tmp_path / "old", base_files())
    done = run("diff", *words)
    assert done.exit_code == 2
    assert said in flat(done.stderr)
    assert len(done.stderr.strip().splitlines()) == 1
