"""What changed between two versions: items, cells, and what became of the gaps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import benchfill as bf
from benchfill.items import Item
from benchfill_services.review.diff import VersionSide, diff_of
from support.fills import gapped_fit


def item(name: str, **changes: object) -> Item:
    return Item.model_validate({"id": name, "question": f"{name}?", "answer": "1"} | changes)


def matrix(models: list[str], items: list[str], n: object, correct: object) -> bf.ResponseMatrix:
    return bf.ResponseMatrix(tuple(models), tuple(items), np.array(correct), np.array(n))


def test_items_and_cells_are_told_apart() -> None:
    before = VersionSide(
        [item("a"), item("b"), item("c"), item("d")],
        matrix(["m", "n"], ["a", "b", "c"], [[2, 2, 2], [0, 2, 2]], [[1, 1, 1], [0, 2, 2]]),
    )
    after = VersionSide(
        [
            item("d"), item("b", answer="2", metadata={"x": 1}), item("c", metadata={"x": 1}),
            item("e"),
        ],
        matrix(["n", "o"], ["c", "e", "b"], [[2, 4, 0], [1, 0, 3]], [[1, 4, 0], [1, 0, 3]]),
    )  # fmt: skip
    found = diff_of(before, after)
    assert [one.id for one in found.added] == ["e"]
    assert found.removed == ("a",)
    changed = {one.id: (one.fields, one.content) for one in found.changed}
    assert changed == {"b": (("answer", "metadata"), True), "c": (("metadata",), False)}
    assert found.measures is None
    cells = found.responses
    assert (cells.models_added, cells.models_removed) == (("o",), ("m",))
    # kept: (n, c), with another count; gone: m's three and (n, b); new: (n, e), (o, c), (o, b)
    assert (cells.cells_added, cells.cells_removed, cells.cells_changed) == (3, 4, 1)
    assert (cells.rollouts_before, cells.rollouts_after) == (10, 10)


@pytest.fixture(scope="module")
def gapped() -> tuple[VersionSide, VersionSide]:
    """A benchmark with a hole, and the same with an item in the middle of it."""
    fit = gapped_fit()
    data = fit.responses
    gap = bf.diagnose(fit).gaps[0]
    b = fit.b[[data.items.index(one) for one in (gap.left_item, gap.right_item)]].mean()
    n = np.full(len(data.models), 96)
    correct = np.round(n / (1 + np.exp(b - fit.theta))).astype(int)
    longer = bf.ResponseMatrix(
        data.models,
        (*data.items, "new"),
        np.column_stack([data.correct, correct]),
        np.column_stack([data.n, n]),
    )
    sides = []
    for one in (data, longer):
        found = bf.diagnose(bf.fit_1pl(one, engine="map"))
        sides.append(VersionSide([item(name) for name in one.items], one, (), found))
    return sides[0], sides[1]


def test_a_closed_gap_is_seen(gapped) -> None:
    found = diff_of(*gapped).measures
    gap = gapped[0].diagnosis.gaps[0]
    assert (found.widest.left_item, found.widest.right_item) == (gap.left_item, gap.right_item)
    assert found.widest.closed is True
    assert found.widest.inside == ("new",)
    assert found.widest.open_share == pytest.approx(0.5, abs=0.1)
    assert found.max_gap.after.value < found.max_gap.before.value
    assert found.ddm.after.value < found.ddm.before.value
    assert found.top_k_sum.before == bf.diagnosis.Estimate(
        **gapped[0].diagnosis.top_k_sum.model_dump(exclude={"k"})
    )
    assert len(found.empty_before) == sum(
        one.verdict == "empty" for one in gapped[0].diagnosis.gaps
    )
    (new,) = diff_of(*gapped).added
    assert new.refitted.q05 < new.refitted.z < new.refitted.q95
    assert gap.z_left < new.refitted.z < gap.z_right
    assert new.measured is None


def test_the_other_way_round_it_is_open(gapped) -> None:
    same = diff_of(gapped[0], gapped[0]).measures
    assert (same.widest.closed, same.widest.inside, same.widest.open_share) == (False, (), 1)
    assert same.same_ends


def test_a_gap_whose_border_is_gone_cannot_be_judged(gapped) -> None:
    before, after = gapped
    gone = before.diagnosis.gaps[0].left_item
    rest = tuple(one for one in after.diagnosis.difficulties if one.item != gone)
    without = replace(after, diagnosis=after.diagnosis.model_copy(update={"difficulties": rest}))
    found = diff_of(before, without).measures.widest
    assert (found.closed, found.open_share, found.inside) == (None, None, ())


IDS = st.lists(st.sampled_from("abcdef"), min_size=1, unique=True)


@given(IDS, IDS, st.sets(st.sampled_from("abcdef")))
def test_what_is_added_one_way_is_removed_the_other(old, new, reworded) -> None:
    def side(names: list[str], words: str) -> VersionSide:
        cells = [[1] * len(names)]
        asked = [item(one, question=words if one in reworded else "?") for one in names]
        return VersionSide(asked, matrix(["m"], names, cells, cells))

    one, two = side(old, "this?"), side(new, "that?")
    there, back = diff_of(one, two), diff_of(two, one)
    assert {a.id for a in there.added} == set(back.removed) == set(new) - set(old)
    assert {a.id for a in back.added} == set(there.removed)
    assert {c.id for c in there.changed} == {c.id for c in back.changed}
    assert {c.id for c in there.changed} == set(old) & set(new) & reworded
    assert there.responses.cells_added == back.responses.cells_removed == len(set(new) - set(old))
    assert diff_of(one, one).model_dump(include={"added", "removed", "changed"}) == {
        "added": (), "removed": (), "changed": (),
    }  # fmt: skip
