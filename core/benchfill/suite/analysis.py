"""The analysis of a suite: each part called, with one seed, on one choice of models.

docs/suite; paper arXiv 2606.05169.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from ..errors import InputError
from .answer import answer_of, cautions_of
from .blind_spot import Standings, blind_spot_of
from .clusters import cluster_order
from .correlated import CorrelatedBenchmarks
from .correlation import correlations
from .directions import leading_components, loadings
from .hidden import hidden_swaps
from .items import items_of
from .linearity import linearity_of
from .models_in_use import LEAST_MODELS, Missing, models_in_use, standardise
from .novelty import novelty_of
from .places import places_of, removal_of
from .resampling import draw_models
from .result import Component, Data, LeftOut, ModelPlace, SuiteAnalysis
from .selection import Wanted, choose
from .spectrum import eigenvalues_of, participation_ratio, spectrum_of
from .swaps import swaps_of
from .transfer import transfer_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from ..responses import ResponseMatrix
    from .models_in_use import ModelsInUse
    from .result import Novelty
    from .scores import ScoreTable

REPLICATES = 500
RANKED = 300  # of them at most are ranked anew
MOST_REPLICATES, MOST_CONSTANT = 10_000, 1e6
DUPLICATE = 0.9999
_LEAST_ROWS = 5  # with every score, for what needs whole rows


@dataclass(frozen=True)
class SuiteRequest:
    """What is asked of a suite.

    Parameters
    ----------
    frontier
        Share of the models to look at, best first; 1 for all.
    select
        Number of benchmarks to keep.
    coverage
        Share of the suite that the kept ones must tell (f), if no number is given; .9 by default.
    missing
        Missing scores: ``complete`` leaves out models that lack one, ``pairwise`` correlates each
        pair of benchmarks over the models that have both and repairs the matrix.
    outside
        Benchmarks of the table that are not in the suite; their novelty is worked out.
    replicates
        Resamples of the models behind the intervals, 20 to 10,000.
    constant
        C of the blind spot's bound, if it is known: above 0, at most a million.
    seed
        Of all draws.
    """

    frontier: float = 0.5
    select: int | None = None
    coverage: float | None = None
    missing: Missing = "complete"
    outside: tuple[str, ...] = ()
    replicates: int = REPLICATES
    constant: float | None = None
    seed: int = 0


def analyse_suite(
    table: ScoreTable,
    request: SuiteRequest | None = None,
    *,
    later: ScoreTable | None = None,
    responses: Mapping[str, ResponseMatrix] | None = None,
) -> SuiteAnalysis:
    """Say what a suite of benchmarks measures, which of them to keep, and what nobody measures.

    Parameters
    ----------
    table
        Scores of J models on K benchmarks, from `read_score_table` or made.
    request
        What is asked; the defaults if None.
    later
        Scores of a later date: do the benchmarks that are chosen now still serve there?
    responses
        Response matrix by benchmark: the difficulties of its items stand beside its place.

    Returns
    -------
    SuiteAnalysis
        The answer in words, and every figure with its interval or its null.

    Raises
    ------
    InputError
        One sentence: fewer than three models or two benchmarks that vary, an option that cannot be,
        a name that is not in the table.
    """
    asked = request or SuiteRequest()
    _refuse_numbers(asked)
    _refuse_names(table, asked.outside, responses or {})
    suite = table.select([name for name in table.benchmarks if name not in asked.outside])
    used = models_in_use(suite, frontier=asked.frontier, missing=asked.missing)
    wanted = Wanted(asked.select, asked.coverage)
    wanted.refuse_wrong(len(used.benchmarks))
    # thousands of small matrices: the threads of BLAS would wait for one another longer than they
    # work. Whole parts are independent, each with draws of its own, so they go side by side.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(1) as beside:
        return _Analysis(table, suite, used, asked, beside).run(wanted, later, responses)


class _Analysis:
    """What the parts share: the models in use, and generators that do not depend on one another."""

    def __init__(
        self,
        table: ScoreTable,
        suite: ScoreTable,
        used: ModelsInUse,
        asked: SuiteRequest,
        beside: Executor,
    ) -> None:
        self.table, self.suite, self.used, self.asked = table, suite, used, asked
        self.beside = beside
        self.z = used.z
        self.everybody = None
        if len(used.everybody) > len(self.z):
            everybody = standardise(used.everybody)
            self.everybody = beside.submit(self._correlated, everybody, 2, ranked=0)
        self.whole = standardise(used.scores[used.complete]) if self._rows() else self.z[:0]
        self.benchmarks = self._correlated(self.z, 1)
        self.matrix, self.spectrum = self.benchmarks.matrix, self.benchmarks.spectrum

    def run(
        self,
        wanted: Wanted,
        later: ScoreTable | None,
        responses: Mapping[str, ResponseMatrix] | None,
    ) -> SuiteAnalysis:
        names, asked, leading = self.used.benchmarks, self.asked, self.spectrum.leading
        linearity, residuals = (
            linearity_of(self.whole, names, leading) if len(self.whole) else ((), self.whole)
        )
        overall = np.nanmean(self.z, axis=1)
        standings = Standings(overall, self.whole, residuals)
        blind_spot = self.beside.submit(
            blind_spot_of, self.benchmarks, standings, self._rng(4), constant=asked.constant
        )
        swaps = None
        if len(self.whole):
            swaps = self.beside.submit(swaps_of, self.whole, self.matrix, self._rng(5))
        coverage = choose(self.benchmarks, wanted, self._rng(3))
        places = places_of(self.benchmarks, coverage, self.whole)
        transfer = None
        if later is not None:
            transfer = transfer_of(
                self.used,
                later.select([one for one in later.benchmarks if one not in asked.outside]),
                coverage.size,
                how=(asked.frontier, asked.missing, asked.replicates),
                rng=self._rng(6),
            )
        told = SuiteAnalysis(
            answer=(),
            cautions=(),
            benchmarks=names,
            data=self._data(),
            spectrum=self.spectrum,
            everybody=self.everybody.result().spectrum if self.everybody else self.spectrum,
            correlations=tuple(tuple(row) for row in self.matrix.tolist()),
            models=self._models(overall),
            components=self._components(),
            coverage=coverage,
            places=places,
            cluster_order=tuple(names[j] for j in cluster_order(self.matrix)),
            removal=removal_of(places, self.spectrum),
            linearity=linearity,
            blind_spot=blind_spot.result(),
            swaps=swaps.result() if swaps else None,
            hidden_swaps=hidden_swaps(
                standings.runner_up_gap, float(overall.std()), self.spectrum.eigenvalues,
                leading, self._rng(7),
            ),
            novelty=self._novelty(),
            transfer=transfer,
            items=items_of(
                responses or {},
                {one.benchmark: one.irreplaceability.value for one in places},
                seed=asked.seed,
            ),
        )  # fmt: skip
        return told.model_copy(update={"answer": answer_of(told), "cautions": cautions_of(told)})

    def _rng(self, part: int) -> np.random.Generator:
        return np.random.default_rng([self.asked.seed, part])

    def _rows(self) -> bool:
        """Whether enough models have every score, and every benchmark varies over them."""
        scores = self.used.scores[self.used.complete]
        least = LEAST_MODELS if self.used.complete.all() else _LEAST_ROWS
        return len(scores) >= least and bool((np.ptp(scores, axis=0) > 0).all())

    def _correlated(
        self, z: NDArray[np.float64], part: int, *, ranked: int = RANKED
    ) -> CorrelatedBenchmarks:
        names = self.used.benchmarks
        pearson = correlations(z, names)
        spearman = correlations(z, names, spearman=True)
        rng = self._rng(part)
        picks = draw_models(len(z), self.asked.replicates, rng)
        spectrum, resampled = spectrum_of(z, pearson, spearman, (picks, ranked), rng)
        return CorrelatedBenchmarks(names, pearson.matrix, resampled, spectrum)

    def _components(self) -> tuple[Component, ...]:
        count = max(self.spectrum.leading, 2)
        values, _ = leading_components(self.matrix, count)
        columns = loadings(self.matrix, count).T
        return tuple(
            Component(share=float(value / len(self.matrix)), loadings=tuple(column.tolist()))
            for value, column in zip(values, columns, strict=True)
        )

    def _models(self, overall: NDArray[np.float64]) -> tuple[ModelPlace, ...]:
        values, vectors = leading_components(self.matrix, 2)
        scale = np.where(values > 1e-12, 1 / np.sqrt(np.maximum(values, 1e-12)), 0)
        places = np.nan_to_num(self.z) @ (vectors * scale)
        return tuple(
            ModelPlace(
                model=self.used.models[j],
                overall=float(overall[j]),
                first=float(places[j, 0]),
                second=float(places[j, 1]),
            )
            for j in np.argsort(-overall, kind="stable")
        )

    def _novelty(self) -> tuple[Novelty, ...]:
        if not self.asked.outside or not len(self.whole):
            return ()
        rows = [self.table.models.index(name) for name in self.used.models]
        rows = [row for row, whole in zip(rows, self.used.complete, strict=True) if whole]
        picks = draw_models(len(rows), self.asked.replicates, self._rng(9))
        found = []
        for name in self.asked.outside:
            column = self.table.scores[rows, self.table.benchmarks.index(name)]
            one = novelty_of(name, self.whole, column, self.spectrum.leading, picks)
            if one is None:
                raise InputError(
                    f"{name!r} has too few scores that differ on the models in use.",
                    field="--outside",
                )
            found.append(one)
        return tuple(found)

    def _data(self) -> Data:
        used, table = self.used, self.table
        holes = bool(self.suite.missing.any())
        d_eff = self.spectrum.d_eff.value
        pairwise = self._by("pairwise") if holes else (d_eff, None, 0.0)
        complete = self._by("complete")[0] if holes else d_eff
        left = [LeftOut(name=one.column, reason=one.reason) for one in table.skipped]
        left += [
            LeftOut(name=one, reason="is the same for all models in use, or empty")
            for one in used.constant
        ]
        left += [LeftOut(name=one, reason="was named as outside") for one in self.asked.outside]
        reversed_, duplicates = self._oddities()
        return Data(
            models=len(used.models),
            models_usable=len(used.everybody),
            models_given=len(table.models),
            benchmarks=len(used.benchmarks),
            frontier=self.asked.frontier,
            overall_by=used.overall_by,
            missing=self.asked.missing,
            missing_cells=int(self.suite.missing.sum()),
            models_incomplete=used.incomplete,
            d_eff_complete=complete,
            d_eff_pairwise=pairwise[0],
            smallest_eigenvalue=pairwise[1],
            repair=pairwise[2],
            left_out=tuple(left),
            reversed=reversed_,
            duplicates=duplicates,
        )

    def _by(self, missing: Missing) -> tuple[float | None, float | None, float]:
        """Return d_eff by one way of handling missing scores, and what was repaired."""
        try:
            used = models_in_use(self.suite, frontier=self.asked.frontier, missing=missing)
            found = correlations(used.z, used.benchmarks)
        except InputError:
            return None, None, 0.0
        d_eff = float(participation_ratio(eigenvalues_of(found.matrix)))
        return d_eff, found.smallest_before, found.moved

    def _oddities(self) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        """Return benchmarks that fall where all others rise, and pairs that are one."""
        names = self.used.benchmarks
        everybody = correlations(standardise(self.used.everybody), names).matrix
        against = (everybody < 0).sum(1) == len(names) - 1
        if len(names) < 3 or against.sum() > 1:
            against[:] = False
        alike = np.argwhere(np.triu(np.abs(self.matrix) > DUPLICATE, 1))
        return (
            tuple(names[j] for j in np.flatnonzero(against)),
            tuple((names[i], names[j]) for i, j in alike),
        )


def _refuse_numbers(asked: SuiteRequest) -> None:
    if not 20 <= asked.replicates <= MOST_REPLICATES:
        raise InputError(
            f"{asked.replicates:,} resamples cannot be drawn; give 20 to {MOST_REPLICATES:,}.",
            field="--bootstrap",
        )
    if asked.constant is not None and not 0 < asked.constant <= MOST_CONSTANT:
        raise InputError(
            f"{asked.constant:g} cannot be C of the bound; give a number above 0, at most "
            f"{MOST_CONSTANT:g}.",
            field="--constant",
        )


def _refuse_names(
    table: ScoreTable, outside: tuple[str, ...], responses: Mapping[str, ResponseMatrix]
) -> None:
    for names, option in ((outside, "--outside"), (tuple(responses), "--responses")):
        unknown = [name for name in names if name not in table.benchmarks]
        if unknown:
            there = ", ".join(repr(name) for name in table.benchmarks[:6])
            raise InputError(
                f"there is no benchmark {unknown[0]!r} in the scores; there are {there}"
                f"{', ...' if len(table.benchmarks) > 6 else ''}.",
                field=option,
            )
