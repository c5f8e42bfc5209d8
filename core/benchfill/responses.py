"""The response matrix: how often each model answered each item correctly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ResponseMatrix:
    """Successes and rollouts of models on items.

    Parameters
    ----------
    models
        Names of the J models, unique, non-empty.
    items
        Ids of the I items, unique, non-empty.
    correct
        Successes ``y[j, i]``, shape (J, I), integers, ``0 <= y <= n``.
    n
        Rollouts ``n[j, i]``, shape (J, I), integers; 0 marks a missing cell.

    Raises
    ------
    InputError
        Shapes that do not fit, repeated names, counts out of range.

    Notes
    -----
    docs/method, section 1. Arrays are made read-only.
    """

    models: tuple[str, ...]
    items: tuple[str, ...]
    correct: NDArray[np.integer[Any]]
    n: NDArray[np.integer[Any]]

    def __post_init__(self) -> None:
        shape = (len(self.models), len(self.items))
        if 0 in shape:
            raise InputError("a response matrix needs at least one model and one item.")
        if self.correct.shape != shape or self.n.shape != shape:
            raise InputError(
                f"correct {self.correct.shape} and n {self.n.shape} must both have the shape "
                f"(models, items) = {shape}."
            )
        for kind, names in (("model", self.models), ("item", self.items)):
            if len(set(names)) < len(names):
                twice = next(name for k, name in enumerate(names) if name in names[:k])
                raise InputError(f"{kind} {twice!r} stands twice; names must be unique.")
        bad = np.argwhere((self.correct < 0) | (self.correct > self.n))
        if len(bad):
            j, i = bad[0]
            raise InputError(
                f"{self.correct[j, i]} successes of {self.n[j, i]} rollouts cannot be; "
                "expected 0 <= correct <= n.",
                field=f"model {self.models[j]!r}, item {self.items[i]!r}",
            )
        for array in (self.correct, self.n):
            array.flags.writeable = False

    @property
    def missing_cells(self) -> int:
        """Number of cells without a rollout."""
        return int(np.count_nonzero(self.n == 0))

    @property
    def model_rates(self) -> NDArray[np.float64]:
        """Share of successes of each model over its rollouts, shape (J,); NaN without any."""
        return _ratio(self.correct.sum(1, dtype=np.int64), self.n.sum(1, dtype=np.int64))

    @property
    def item_rates(self) -> NDArray[np.float64]:
        """Share of successes on each item over its rollouts, shape (I,); NaN without any."""
        return _ratio(self.correct.sum(0, dtype=np.int64), self.n.sum(0, dtype=np.int64))

    @property
    def extreme_items(self) -> NDArray[np.bool_]:
        """Items that every rollout solved or none did, shape (I,); without rollouts too."""
        total, trials = self.correct.sum(0, dtype=np.int64), self.n.sum(0, dtype=np.int64)
        return np.asarray((total == 0) | (total == trials))

    def select(
        self, *, models: Sequence[int] | None = None, items: Sequence[int] | None = None
    ) -> ResponseMatrix:
        """Return the matrix of the given model and item positions, in that order."""
        rows = list(range(len(self.models))) if models is None else list(models)
        columns = list(range(len(self.items))) if items is None else list(items)
        return ResponseMatrix(
            models=tuple(self.models[j] for j in rows),
            items=tuple(self.items[i] for i in columns),
            correct=self.correct[np.ix_(rows, columns)],
            n=self.n[np.ix_(rows, columns)],
        )


def _ratio(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
