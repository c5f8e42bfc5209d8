"""Which models and benchmarks an analysis rests on: whole rows or not, the frontier, no constants.

docs/suite: the frontier is the share of models with the highest overall score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .scores import ScoreTable

Missing = Literal["complete", "pairwise"]
OverallBy = Literal["mean score", "mean score in percent", "mean z-score"]
LEAST_MODELS, LEAST_BENCHMARKS = 3, 2
MOST_BENCHMARKS = 200
_SAME = 1e-9  # of a column's own size: below this its scores do not differ


@dataclass(frozen=True)
class ModelsInUse:
    """Models and benchmarks that are used, and what was left out on the way.

    Parameters
    ----------
    models, benchmarks
        Names of the n models and k benchmarks.
    scores
        Shape (n, k), as given; NaN where missing.
    everybody
        Scores of all usable models, not of the frontier alone, shape (N, k).
    overall_by
        What the frontier was chosen by.
    constant
        Benchmarks that were left out since the models in use all score the same.
    incomplete
        Models that were left out for a missing score.
    """

    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    scores: NDArray[np.float64]
    everybody: NDArray[np.float64]
    overall_by: OverallBy
    constant: tuple[str, ...]
    incomplete: int

    @property
    def z(self) -> NDArray[np.float64]:
        """Scores standardised over the models in use, shape (n, k)."""
        return standardise(self.scores)

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Models in use that have every score, shape (n,)."""
        return np.asarray(~np.isnan(self.scores).any(1))


def standardise(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns with mean 0 and standard deviation 1 (divisor n); NaN stays."""
    centred = scores - np.nanmean(scores, axis=0)
    centred = centred / np.nanmax(np.abs(centred), axis=0)  # squares of 1e-200 would be 0
    return np.asarray(centred / np.sqrt(np.nanmean(centred**2, axis=0)))


def models_in_use(table: ScoreTable, *, frontier: float, missing: Missing) -> ModelsInUse:
    """Choose the models and benchmarks that an analysis rests on.

    Parameters
    ----------
    table
        Scores of J models on K benchmarks.
    frontier
        Share of the models to keep, best first, above 0 and at most 1. Models that tie with the
        last of them stay too.
    missing
        ``complete`` leaves out every model with a missing score, ``pairwise`` only those with fewer
        than two scores.

    Raises
    ------
    InputError
        A share that is none, or fewer than three models or two benchmarks are left.
    """
    if not 0 < frontier <= 1:
        raise InputError(
            f"{frontier:g} is no share of the models; give one above 0 and at most 1.",
            field="--frontier",
        )
    _refuse_sizes(table)
    everybody = _settled(table, np.arange(len(table.models)), missing)
    overall, by = overall_scores(everybody.of(table.scores))
    best = everybody.rows[overall >= np.quantile(overall, 1 - frontier)]
    if len(best) < LEAST_MODELS:
        raise InputError(
            f"leaves {len(best)} of {len(everybody.rows):,} models, and an analysis needs "
            f"{LEAST_MODELS}; give a larger share.",
            field="--frontier",
        )
    used = _settled(table, best, missing)
    names = [table.benchmarks[k] for k in used.columns]
    return ModelsInUse(
        models=tuple(table.models[j] for j in used.rows),
        benchmarks=tuple(names),
        scores=used.of(table.scores),
        everybody=_Part(everybody.rows, used.columns).of(table.scores),
        overall_by=by,
        constant=tuple(name for name in table.benchmarks if name not in set(names)),
        incomplete=len(table.models) - len(everybody.rows),
    )


class _Part(NamedTuple):
    """Rows and columns of a table."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    def of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(scores[np.ix_(self.rows, self.columns)])


def _settled(table: ScoreTable, rows: NDArray[np.int64], missing: Missing) -> _Part:
    """Leave out columns that do not vary and rows that lack scores, until neither is left.

    A column may vary only by a row that goes, and a row may lack only a column that goes.
    """
    scores, columns = table.scores, np.arange(len(table.benchmarks))
    while True:
        before = len(rows), len(columns)
        columns = columns[_varying(scores[np.ix_(rows, columns)])]
        _refuse_few_benchmarks(len(columns), table)
        rows = rows[_usable(scores[np.ix_(rows, columns)], missing)]
        if len(rows) < LEAST_MODELS:
            raise _too_few(len(rows), missing, table)
        if (len(rows), len(columns)) == before:
            return _Part(rows, columns)


def overall_scores(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], OverallBy]:
    """Return each model's overall score, shape (J,), and what it is the mean of.

    Means of raw scores where all lie within [0, 1], or all within [0, 100]; where columns in
    [0, 1] stand beside columns in [0, 100], the former count in percent. On any other scale, and
    where a score is missing (who skipped the hard benchmark would look better), the mean of the
    z-scores that there are.
    """
    low, high = np.nanmin(scores, axis=0), np.nanmax(scores, axis=0)
    if np.isnan(scores).any() or low.min() < 0 or high.max() > 100:
        return np.nanmean(standardise(scores), axis=1), "mean z-score"
    fractions = high <= 1
    if fractions.all() or not fractions.any():
        return scores.mean(1), "mean score"
    return (scores * np.where(fractions, 100, 1)).mean(1), "mean score in percent"


def _varying(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns hold two scores that differ, shape (K,)."""
    known = ~np.isnan(scores)
    low = np.min(scores, axis=0, where=known, initial=np.inf)
    high = np.max(scores, axis=0, where=known, initial=-np.inf)
    size = np.maximum(
        np.abs(np.where(known.any(0), high, 0)), np.abs(np.where(known.any(0), low, 0))
    )
    return np.asarray(high - low > _SAME * size)


def _usable(scores: NDArray[np.float64], missing: Missing) -> NDArray[np.bool_]:
    there = (~np.isnan(scores)).sum(1)
    return np.asarray(there == scores.shape[1] if missing == "complete" else there >= 2)


def _refuse_sizes(table: ScoreTable) -> None:
    if len(table.models) < LEAST_MODELS:
        raise InputError(
            f"the scores are of {_count(len(table.models), 'model')}; how benchmarks go together "
            f"shows only over {LEAST_MODELS} or more."
        )
    if len(table.benchmarks) > MOST_BENCHMARKS:
        raise InputError(
            f"the scores have {len(table.benchmarks):,} benchmarks and {MOST_BENCHMARKS} is the "
            "most; name those of interest.",
            field="--columns",
        )


def _refuse_few_benchmarks(left: int, table: ScoreTable) -> None:
    if len(table.benchmarks) < LEAST_BENCHMARKS:
        raise InputError(
            f"the scores are of {_count(len(table.benchmarks), 'benchmark')}; a suite needs "
            f"{LEAST_BENCHMARKS}, each a column of numbers."
        )
    if left < LEAST_BENCHMARKS:
        raise InputError(
            f"only {left} of {_count(len(table.benchmarks), 'benchmark')} tells the models in use "
            f"apart, and a suite needs {LEAST_BENCHMARKS}; all others are constant or empty."
            if left
            else f"{_count(len(table.benchmarks), 'benchmark')} and none of them tells the models "
            f"in use apart: all are constant or empty; a suite needs {LEAST_BENCHMARKS}."
        )


def _too_few(usable: int, missing: Missing, table: ScoreTable) -> InputError:
    holes = table.missing.sum(0)
    worst = table.benchmarks[int(np.argmax(holes))]
    what = "all scores" if missing == "complete" else "two scores"
    other = "--missing pairwise, or " if missing == "complete" else ""
    return InputError(
        f"{_count(usable, 'model')} of {len(table.models):,} {'has' if usable == 1 else 'have'} "
        f"{what}, and an analysis needs {LEAST_MODELS}; take {other}--columns without {worst!r}, "
        f"which lacks {int(holes.max()):,} scores."
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
