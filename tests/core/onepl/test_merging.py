"""Equal columns are merged exactly, whatever their numbers are stored in."""

from __future__ import annotations

import numpy as np
import pytest

from benchfill.onepl.merging import equal_columns


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.float64])
def test_columns_are_merged_as_by_sorting_them(kind: type) -> None:
    rng = np.random.default_rng(0)
    top, low = rng.integers(0, 2, (3, 400)).astype(kind), rng.integers(0, 3, (2, 400)).astype(kind)
    merged = equal_columns([top, low])
    both = np.concatenate([top, low])
    _, counts = np.unique(both, axis=1, return_counts=True)
    np.testing.assert_array_equal(both[:, merged.first][:, merged.row], both)
    assert sorted(merged.copies) == sorted(counts)
    assert len(merged.first) == len(counts)


def test_columns_whose_hashes_collide_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    made = np.random.default_rng

    class Alike:
        """A generator that gives every row the same factor, so that sums of columns collide."""

        def integers(self, high: int, size: int, dtype: type) -> np.ndarray:
            return np.full(size, 3, dtype)

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Alike() if seed == 0 else made(seed))
    merged = equal_columns([np.array([[0, 1, 0, 1], [1, 0, 1, 0]])])
    assert sorted(merged.copies) == [2, 2]
    assert merged.row[0] == merged.row[2] != merged.row[1] == merged.row[3]
