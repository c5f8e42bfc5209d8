"""What the chosen children do to the sum of the three widest gaps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchfill.measure import DifficultyScale, own_scale, top_k_sum
from benchfill.onepl import fit_1pl
from benchfill.responses import ResponseMatrix

from .fill_report import TopThree

if TYPE_CHECKING:
    from benchfill.onepl import Fit1PL

    from .calibrator import Calibration
    from .target import FillTarget

K = 3


class Insertions:
    """The benchmark with the children chosen so far."""

    def __init__(self, fit: Fit1PL) -> None:
        self._guessing = list(fit.guessing)
        self._scale = DifficultyScale.of(fit.b)
        self._z = self._scale.to_z(fit.b)
        self._inserted: list[float] = []
        self._matrix = fit.responses
        self.chosen: set[str] = set()

    def measured_again(self, fit: Fit1PL) -> None:
        """Take over a fit of the same benchmark to further answers; the scale stays frozen."""
        self._z = self._scale.to_z(fit.b)
        known = len(fit.responses.items)
        self._matrix = replace(
            self._matrix,
            correct=np.column_stack([fit.responses.correct, self._matrix.correct[:, known:]]),
            n=np.column_stack([fit.responses.n, self._matrix.n[:, known:]]),
        )

    def with_child(
        self, target: FillTarget, chosen: Calibration | None, matrix_names: dict[str, str]
    ) -> TopThree:
        """Insert the chosen child, if there is one, and compare before, after and oracle.

        `matrix_names` maps the pool's names to those of the response matrix.
        """
        before, oracle = self._sum(), self._sum(target.z)
        if chosen is None:
            return TopThree(before=before, after=before, oracle=oracle, after_refit=None)
        self._inserted.append(chosen.z_mean)
        self.chosen.add(chosen.item)
        self._matrix = _with_item(self._matrix, chosen, matrix_names)
        self._guessing.append(chosen.guessing)
        return TopThree(
            before=before, after=self._sum(), oracle=oracle, after_refit=self._refitted()
        )

    def _sum(self, *more: float) -> float:
        z = np.concatenate([self._z, self._inserted, more])
        return float(top_k_sum(np.sort(np.clip(z, 0, 1)), K))

    def _refitted(self) -> float:
        again = fit_1pl(self._matrix, engine="map", guessing=self._guessing)
        return float(top_k_sum(own_scale(again.b), K))


def _with_item(
    matrix: ResponseMatrix, child: Calibration, matrix_names: dict[str, str]
) -> ResponseMatrix:
    """Append a child's counts as a column; models that did not answer it are missing there."""
    counts = {matrix_names[count.model]: count for count in child.counts}
    column = np.array(
        [
            (counts[name].correct, counts[name].n) if name in counts else (0, 0)
            for name in matrix.models
        ]
    )
    return ResponseMatrix(
        models=matrix.models,
        items=(*matrix.items, child.item),
        correct=np.column_stack([matrix.correct.astype(np.int64), column[:, 0]]),
        n=np.column_stack([matrix.n.astype(np.int64), column[:, 1]]),
    )
