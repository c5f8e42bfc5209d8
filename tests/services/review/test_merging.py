"""Merging: only what experts approved, behind files that stay as they are, once."""

from __future__ import annotations

import csv
import importlib.metadata
import io
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import benchfill as bf
from benchfill.formats.appending import Cell, with_cells
from benchfill_services.review.desk import ReviewDesk
from benchfill_services.review.merging import Candidates, NothingToMergeError, candidates_for, merge
from benchfill_services.review.provenance import read_provenance
from benchfill_services.review.state import CaseState
from benchfill_services.store.benchmark_files import VersionFiles, checked_files
from support.fills import make_fill
from support.merge_world import (
    ADA,
    BOB,
    NO,
    OPS,
    YES,
    approve,
    base_files,
    case_of_files,
    content_of_files,
)

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from benchfill_services.review.merging import Merged


@pytest.fixture
def desk(valkey: Redis) -> ReviewDesk:
    return ReviewDesk(valkey)


async def merged(desk: ReviewDesk, files: VersionFiles, *older: VersionFiles) -> Merged:
    contents = {content_of_files(one) for one in (files, *older)}
    found = await candidates_for(desk, contents)
    return await merge(desk, files, content_of_files(files), found)


def read(files: VersionFiles, folder: Path) -> tuple[tuple[bf.Item, ...], bf.ResponseMatrix]:
    (folder / "i").write_bytes(files.items)
    (folder / "r").write_bytes(files.responses)
    return bf.read_items(folder / "i"), bf.read_responses(folder / "r")


async def test_only_what_was_approved_enters(desk, tmp_path) -> None:
    files = base_files()
    await approve(desk, case_of_files(files, "new-1"))
    for verdicts in ((NO, NO), (YES, NO), (YES,), ()):
        case = case_of_files(files, f"not-{len(verdicts)}-{verdicts[:1]}")
        await desk.reviews.open(case)
        for person, verdict in zip((ADA, BOB), verdicts, strict=False):
            await desk.decide(case.id, person, verdict)
    done = await merged(desk, files)
    assert done.merging.model_dump() == {
        "entered": ("new-1",), "already": (), "left_out": (),
        "pending": 2, "disagreements": 1, "rejected": 1,
    }  # fmt: skip
    items, matrix = read(done.files, tmp_path)
    before = make_fill().fit.responses
    assert [one.id for one in items] == [*before.items, "new-1"]
    assert matrix.items == (*before.items, "new-1")
    assert matrix.models == before.models
    np.testing.assert_array_equal(matrix.correct[:, :-1], before.correct)
    np.testing.assert_array_equal(matrix.n[:, :-1], before.n)
    assert done.files.items.startswith(files.items)
    assert done.files.responses.startswith(files.responses)
    checked_files(done.files.items, done.files.responses)
    counts = {one.model: (one.correct, one.n) for one in done.added[0].counts}
    for j, model in enumerate(matrix.models):
        assert counts[model] == (matrix.correct[j, -1], matrix.n[j, -1])


async def test_every_step_of_an_item_is_on_record(desk) -> None:
    files = base_files()
    case = case_of_files(files, "new-1", seed=7)
    await desk.reviews.open(case)
    await desk.decide(case.id, ADA, YES)
    await desk.decide(case.id, BOB, NO)
    await desk.adjudicate(case.id, OPS, YES)
    done = await merged(desk, files)
    (line,) = [json.loads(one) for one in done.files.provenance.splitlines()]
    measured = case.first.calibration
    assert line["candidate"] == case.id
    assert (line["z"], line["q05"], line["q95"]) == (measured.z, measured.q05, measured.q95)
    assert line["rollouts"] == sum(one["n"] for one in line["counts"]) == measured.rollouts
    assert (line["parent"], line["target_z"]) == (case.parent.id, case.target.z)
    assert line["prompts"] == {"rewrite": "ef" * 32}
    assert (line["revision"], line["adjudicated"], line["seed"]) == (1, True, 7)
    assert line["made_for"] == line["merged_into"] == content_of_files(files).model_dump()
    said = [(one["verdict"], one["adjudication"]) for one in line["reviews"]]
    assert said == [("approve", False), ("reject", False), ("approve", True)]
    assert {one["reviewer"] for one in line["reviews"]} == {"R1", "R2", "R3"}
    for secret in ("Ada", "Bob", "Ops", ADA.id, BOB.id, OPS.id, "12 or 13"):
        assert secret.encode() not in done.files.provenance
    assert line["fill_version"] == line["merge_version"] == importlib.metadata.version("benchfill")
    assert read_provenance(done.files.provenance) == done.added


async def test_merging_again_adds_nothing_and_later_approvals_enter(desk, tmp_path) -> None:
    first = base_files()
    await approve(desk, case_of_files(first, "new-1"))
    second = (await merged(desk, first)).files
    with pytest.raises(NothingToMergeError, match="nothing new to merge"):
        await merged(desk, second, first)
    await approve(desk, case_of_files(first, "new-2"))
    await approve(desk, case_of_files(second, "new-3"))
    third = await merged(desk, second, first)
    assert third.merging.entered == ("new-2", "new-3")
    assert third.merging.already == ("new-1",)
    assert third.files.provenance.startswith(second.provenance)
    made_for = {one.id: one.made_for for one in read_provenance(third.files.provenance)}
    assert made_for["new-2"] == content_of_files(first)
    assert made_for["new-3"] == content_of_files(second)
    items, matrix = read(third.files, tmp_path)
    assert [one.id for one in items][-3:] == ["new-1", "new-2", "new-3"]
    assert matrix.items[-3:] == ("new-1", "new-2", "new-3")


async def test_what_may_not_enter_is_named(desk) -> None:
    files = base_files()
    taken = make_fill().fit.responses.items[0]
    clash = await approve(desk, case_of_files(files, taken))
    twin = case_of_files(files, "twice")
    other = case_of_files(files, "twice")
    revision = other.first
    reworded = revision.item.model_copy(update={"question": "Something else?"})
    other = other.model_copy(update={"first": revision.model_copy(update={"item": reworded})})
    await approve(desk, twin)
    second = await approve(desk, other)
    renamed = case_of_files(
        files, "renamed", matrix_names={make_fill().fit.responses.models[0]: "x"}
    )
    strange_model = await approve(desk, renamed)
    unmeasured = case_of_files(files, "unmeasured")
    bare = unmeasured.first.model_copy(update={"calibration": None})
    not_measured = await approve(desk, unmeasured.model_copy(update={"first": bare}))
    done = await merged(desk, files)
    assert done.merging.entered == ("twice",)
    why = {one.candidate: one.why for one in done.merging.left_out}
    assert "already" in why[clash]
    assert "already" in why[second]
    assert "'x'" not in why[strange_model]
    assert "in no line of the responses" in why[strange_model]
    assert "not measured" in why[not_measured]
    assert len(why) == 4


async def test_candidates_of_another_content_do_not_enter(desk) -> None:
    files = base_files()
    other = VersionFiles(files.items + b"\n", files.responses)
    stranger = await approve(desk, case_of_files(other, "new-1"))
    found = await candidates_for(desk, {content_of_files(files)}, benchmark="sums")
    with pytest.raises(NothingToMergeError) as caught:
        await merge(desk, files, content_of_files(files), found)
    assert stranger in caught.value.message
    assert "does not descend" in caught.value.message
    assert (await merged(desk, files, other)).merging.entered == ("new-1",)


async def test_a_fill_can_be_named(desk) -> None:
    files = base_files()
    one, two = (case_of_files(files, name) for name in ("new-1", "new-2"))
    for case in (one, two):
        await approve(desk, case)
    found = await candidates_for(desk, {content_of_files(files)}, job=two.job)
    assert [state.case.id for state in found.approved] == [two.id]


# ---- for any files

NAME = st.text(min_size=1, max_size=6).filter(
    lambda text: text.strip() and text == text.strip() and text.isprintable()
)
FORMS = st.sampled_from(["long", "long without n", "wide", "wide, items first"])


@st.composite
def responses_files(draw: st.DrawFn) -> tuple[bytes, list[str], list[str]]:
    """A file of responses in one of the forms, its models and items."""
    models = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    items = draw(st.lists(NAME, min_size=2, max_size=5, unique=True))
    form = draw(FORMS)
    delimiter = draw(st.sampled_from(",;\t"))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, lineterminator=end)
    cells = {(m, i): draw(st.sampled_from(["0", "1", ""])) for m in models for i in items}
    if form.startswith("long"):
        columns = draw(st.permutations(["model", "item", "correct", "n"]))
        columns = [c for c in columns if c != "n" or form == "long"]
        writer.writerow(columns)
        for (model, item), cell in cells.items():
            row = {"model": model, "item": item, "correct": cell, "n": "3" if cell else ""}
            writer.writerow([row[c] for c in columns])
    else:
        rows, across = (items, models) if "items first" in form else (models, items)
        writer.writerow(["item" if "items first" in form else "model", *across])
        for one in rows:
            pairs = [(one, two) if rows is models else (two, one) for two in across]
            writer.writerow([one, *(cells[pair] for pair in pairs)])
    text = buffer.getvalue()
    if draw(st.booleans()):
        text = text.removesuffix(end)
    return text.encode(), models, items


@settings(max_examples=150, deadline=None)
@given(responses_files(), st.data())
def test_any_file_keeps_its_cells_when_further_ones_come_behind(made, data) -> None:
    content, models, _ = made
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.csv")
        path.write_bytes(content)
        try:
            before = bf.read_responses(path)
        except bf.InputError:
            return  # such a file is no version of a benchmark
        names = data.draw(st.lists(NAME, min_size=1, max_size=2, unique=True))
        new = [name for name in names if name not in before.items]
        cells = [
            Cell(model, name, data.draw(st.integers(0, 4)), 4) for name in new for model in models
        ]
        path.write_bytes(with_cells(path, cells))
        after = bf.read_responses(path)
    assert after.models == before.models
    assert after.items == (*before.items, *new)
    size = len(before.items)
    np.testing.assert_array_equal(after.correct[:, :size], before.correct)
    np.testing.assert_array_equal(after.n[:, :size], before.n)
    for cell in cells:
        place = after.models.index(cell.model), after.items.index(cell.item)
        assert (after.correct[place], after.n[place]) == (cell.correct, cell.n)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(NAME, min_size=1, max_size=4, unique=True), st.booleans(), st.data())
async def test_old_lines_stay_and_twice_is_once(desk, names, ended, data) -> None:
    files = base_files()
    if not ended:
        files = VersionFiles(files.items.removesuffix(b"\n"), files.responses.removesuffix(b"\n"))
    question = st.text(min_size=1, max_size=20, alphabet=st.characters(exclude_categories=["Cs"]))
    states = []
    for name in names:
        case = case_of_files(files, f"new-{name}")
        item = case.first.item.model_copy(update={"question": data.draw(question)})
        case = case.model_copy(update={"first": case.first.model_copy(update={"item": item})})
        await approve(desk, case)
        states.append(await desk.state(case.id))
    into = content_of_files(files)
    done = await merge(desk, files, into, Candidates(approved=list(states)))
    assert done.files.items.startswith(files.items)
    assert done.files.responses.startswith(files.responses)
    with tempfile.TemporaryDirectory() as folder:
        items, matrix = read(done.files, Path(folder))
    assert items[-len(names) :] == tuple(one.latest.revision.item for one in states)
    for state, column in zip(states, matrix.n[:, -len(names) :].T, strict=True):
        assert column.sum() == state.latest.revision.calibration.rollouts
    again = Candidates(approved=[CaseState(one.case, one.events, 2) for one in states])
    with pytest.raises(NothingToMergeError, match="nothing new"):
        await merge(desk, done.files, into, again)
