"""Windows on a common lattice hold what they must and no more."""

from __future__ import annotations

import numpy as np

from benchfill.onepl.lattice import Windows


def test_each_window_holds_its_row_as_finely_as_asked() -> None:
    rng = np.random.default_rng(0)
    left, length = rng.uniform(-9, 9, (3, 50)), rng.uniform(0.5, 20, (3, 50))
    sd = length / rng.uniform(5, 12, (3, 50))
    windows = Windows.covering(np.stack([left, left + length, sd], axis=1), 3.0)
    places = windows.lattice[windows.cells]
    assert (places[:, 0] < left.min(0)).all()
    assert (places[:, -1] > (left + length).max(0)).all()
    assert (windows.step * windows.stride <= sd.min(0) / 3 + 1e-9).all()


def test_one_unsure_row_does_not_make_the_lattice_many_times_as_long() -> None:
    # a sure row and an unsure one, both with mass all over as the abilities change
    seen = np.array([[[-6.0, -6.0], [6.0, 6.0], [0.05, 0.9]]])
    windows = Windows.covering(seen, 2.0)
    assert len(windows.lattice) <= 2 * windows.count
