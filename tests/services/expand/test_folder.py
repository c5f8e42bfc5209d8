"""The folder of an expansion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchfill.errors import InputError
from benchfill_services.expand.folder import ExpansionFolder, VersionPlace
from benchfill_services.expand.record import Round, Spent
from benchfill_services.review.provenance import Content
from benchfill_services.store.benchmark_files import VersionFiles
from support.fills import make_fill

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = Content(items_sha256="a" * 64, responses_sha256="b" * 64)
FILES = VersionFiles(b"items", b"responses", b"")


@pytest.fixture
def given(tmp_path: Path) -> VersionPlace:
    for name in ("items", "responses"):
        (tmp_path / name).write_bytes(b"old")
    return VersionPlace(tmp_path / "items", tmp_path / "responses", None)


def a_round(number: int, *entered: str) -> Round:
    return Round(number=number, job="c" * 32, gaps=(), entered=entered, spent=Spent())


def test_rounds_and_versions_are_found_again(given: VersionPlace, tmp_path: Path) -> None:
    with ExpansionFolder(tmp_path / "out", given, unreviewed=False) as folder:
        folder.begin(CONTENT, {})
        assert folder.rounds() == []
        assert folder.version([]) == given
        assert folder.show_version([]) is None
        folder.keep_round(a_round(1, "new"), FILES)
        folder.keep_round(a_round(2), None)
    with ExpansionFolder(tmp_path / "out", given, unreviewed=False) as folder:
        folder.begin(CONTENT, {})
        rounds = folder.rounds()
        assert [one.number for one in rounds] == [1, 2]
        assert folder.version(rounds).read() == FILES
        shown = folder.show_version(rounds)
        assert shown is not None
        assert shown.items == tmp_path / "out/items.jsonl"
        assert shown.responses.read_bytes() == b"responses"
    assert given.items.read_bytes() == b"old"


def test_files_of_unreviewed_items_are_named_so(given: VersionPlace, tmp_path: Path) -> None:
    with ExpansionFolder(tmp_path / "out", given, unreviewed=True) as folder:
        folder.begin(CONTENT, {})
        folder.keep_round(a_round(1, "new"), FILES)
        folder.show_version(folder.rounds())
    written = {path.name for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {name for name in written if name.endswith((".jsonl", ".csv"))} == {
        "items.unreviewed.jsonl",
        "responses.unreviewed.csv",
        "provenance.unreviewed.jsonl",
    }
    round_file = tmp_path / "out/rounds/01/round.json"
    assert '"unreviewed": true' in round_file.read_text()


def test_a_folder_serves_one_expansion(given: VersionPlace, tmp_path: Path) -> None:
    with ExpansionFolder(tmp_path / "out", given, unreviewed=False) as folder:
        folder.begin(CONTENT, {})
        with (
            pytest.raises(InputError, match="another expansion is at work"),
            ExpansionFolder(tmp_path / "out", given, unreviewed=False),
        ):
            pass
    other = CONTENT.model_copy(update={"items_sha256": "d" * 64})
    for content, unreviewed, said in ((other, False, "other files"), (CONTENT, True, "accept")):
        with (
            ExpansionFolder(tmp_path / "out", given, unreviewed=unreviewed) as folder,
            pytest.raises(InputError, match=said),
        ):
            folder.begin(content, {})


def test_a_damaged_record_is_named(given: VersionPlace, tmp_path: Path) -> None:
    with ExpansionFolder(tmp_path / "out", given, unreviewed=False) as folder:
        folder.keep_fill(1, "c" * 32, make_fill().report)
        assert folder.kept_fill(1, "c" * 32) == make_fill().report
        assert folder.kept_fill(1, "d" * 32) is None  # of other options
        path = tmp_path / "out/rounds/01/fill.json"
        path.write_text("{")
        with pytest.raises(InputError, match="damaged") as caught:
            folder.kept_fill(1, "c" * 32)
        assert caught.value.source == str(path)
