"""A table of scores: which models got what on which benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


LARGEST = 1e100  # of a score, so that sums of squares stay finite


class SkippedColumn(NamedTuple):
    """A column of a file that was not taken for a benchmark, and why."""

    column: str
    reason: str


class ScoreTable:
    """Scores of J models on K benchmarks.

    Parameters
    ----------
    models
        Names, each once.
    benchmarks
        Names, each once.
    scores
        Shape (J, K), NaN where a score is missing; more is better, on any scale.
    skipped
        Columns of the file that are no benchmarks.

    Raises
    ------
    InputError
        A name that stands twice, a score that is infinite, or shapes that do not fit.
    """

    def __init__(
        self,
        models: Sequence[str],
        benchmarks: Sequence[str],
        scores: NDArray[np.float64],
        *,
        skipped: Sequence[SkippedColumn] = (),
    ) -> None:
        self.models, self.benchmarks = tuple(models), tuple(benchmarks)
        self.scores = np.array(scores, dtype=np.float64)
        self.scores.setflags(write=False)
        self.skipped = tuple(skipped)
        for names, what in ((self.models, "model"), (self.benchmarks, "benchmark")):
            if (twice := _twice(names)) is not None:
                raise InputError(f"{what} {twice!r} stands twice; names must be unique.")
        if self.scores.shape != (len(self.models), len(self.benchmarks)):
            raise InputError(
                f"{len(self.models)} models and {len(self.benchmarks)} benchmarks need scores of "
                f"that shape, not {self.scores.shape}."
            )
        if np.isinf(self.scores).any():
            raise InputError("a score is infinite; leave it out.")
        if (np.abs(self.scores) > LARGEST).any():
            j, k = np.argwhere(np.abs(self.scores) > LARGEST)[0]
            raise InputError(
                f"model {self.models[j]!r} scores {self.scores[j, k]:g} on {self.benchmarks[k]!r}; "
                f"the most is {LARGEST:g}."
            )

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Where there is no score, shape (J, K)."""
        return np.isnan(self.scores)

    def select(self, benchmarks: Sequence[str]) -> ScoreTable:
        """Return the table of some of its benchmarks, in the order given.

        Raises
        ------
        InputError
            A name that is not in the table.
        """
        unknown = [name for name in benchmarks if name not in self.benchmarks]
        if unknown:
            raise InputError(f"there is no benchmark {unknown[0]!r} in the scores.")
        columns = [self.benchmarks.index(name) for name in benchmarks]
        return ScoreTable(self.models, benchmarks, self.scores[:, columns], skipped=self.skipped)


def _twice(names: Sequence[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
