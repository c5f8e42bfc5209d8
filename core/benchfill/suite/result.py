"""What `analyse_suite` returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ..diagnosis import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

Verdict = Literal["kept", "adds nothing", "adds little", "adds something"]
Prior = Literal["isotropic", "empirical", "1/i", "1/i^2", "Pareto 1.5", "one direction"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Resampled(_Frozen):
    """A figure with its 95% percentile interval; None where too few resamples could be used."""

    value: float
    q025: float | None
    q975: float | None

    @classmethod
    def of(cls, value: float, drawn: NDArray[np.float64]) -> Resampled:
        """Return the figure with the percentiles of its resamples, at least 20 of them."""
        if len(drawn) < 20:
            return cls(value=value, q025=None, q975=None)
        low, high = np.quantile(drawn, [0.025, 0.975])
        return cls(value=value, q025=float(low), q975=float(high))


class LeftOut(_Frozen):
    """A column of the scores, or a benchmark, that the analysis does not use."""

    name: str
    reason: str


class Data(_Frozen):
    """What the analysis rests on."""

    models: int = Field(description="models in use: the frontier")
    models_usable: int = Field(description="models that could be used, frontier or not")
    models_given: int
    benchmarks: int
    frontier: float = Field(description="share of the models, best first")
    overall_by: str = Field(description="what the frontier was chosen by")
    missing: Literal["complete", "pairwise"]
    missing_cells: int
    models_incomplete: int = Field(description="left out for missing scores")
    d_eff_complete: float | None = Field(
        description="d_eff of the frontier by complete rows; None: too few"
    )
    d_eff_pairwise: float | None = Field(
        description="d_eff by pairwise correlations, repaired; None: a pair shares too few models"
    )
    smallest_eigenvalue: float | None = Field(
        description="of the pairwise correlations before repair; None where nothing is missing"
    )
    repair: float = Field(description="Frobenius norm of what the repair changed; 0: no repair")
    left_out: tuple[LeftOut, ...] = Field(description="columns and benchmarks that are not used")
    reversed: tuple[str, ...] = Field(
        description="benchmarks that fall where all others rise; never turned round here"
    )
    duplicates: tuple[tuple[str, str], ...] = Field(
        description="pairs of benchmarks that order and space the models alike (|r| > .9999)"
    )


class Spectrum(_Frozen):
    """Eigenvalues of the correlations between benchmarks, and how many of them are no noise."""

    models: int
    benchmarks: int
    eigenvalues: tuple[float, ...] = Field(description="largest first; their sum is `benchmarks`")
    d_eff: Resampled = Field(description="participation ratio (sum l)^2 / sum l^2")
    d_eff_spearman: Resampled = Field(description="the same of rank correlations")
    d_eff_independent: float = Field(
        description="its null: mean d_eff after permuting each benchmark by itself"
    )
    mp_edge: float = Field(description="Marchenko-Pastur edge (1 + sqrt(k / n))^2")
    above_mp: int = Field(description="eigenvalues above it")
    d_eff_corrected: Resampled = Field(
        description="participation ratio of those alone; 0 when there is none"
    )
    above_kaiser: int = Field(description="eigenvalues above 1")
    permutation_edge: float = Field(
        description="95% quantile of the largest eigenvalue after permuting (parallel analysis)"
    )
    above_permutation: int
    leading: int = Field(description="components that count as leading: d_eff, rounded up")


class ModelPlace(_Frozen):
    """A model in use."""

    model: str
    overall: float = Field(description="mean z-score")
    first: float = Field(description="score on the first component, unit variance")
    second: float = Field(description="score on the second")


class Component(_Frozen):
    """A leading component."""

    share: float = Field(description="of the variance of all benchmarks")
    loadings: tuple[float, ...] = Field(description="correlation with each benchmark, in order")


class Linearity(_Frozen):
    """How well a benchmark is a linear function of the leading components of the others."""

    benchmark: str
    r2: float
    r2_by_chance: float = Field(description="expected R^2 of a benchmark of noise")
    quadratic_gain: float | None = Field(
        description="R^2 with squares and products, less R^2; None: too few models"
    )
    quadratic_by_chance: float | None = Field(
        description="expected gain when the benchmark is linear"
    )
    quadratic_p: float | None = Field(description="F test of that gain")


class Weight(_Frozen):
    """A benchmark's part in a direction."""

    benchmark: str
    weight: float = Field(description="in the mixture of z-scores that measures the direction")
    cosine: float = Field(description="of the angle between benchmark and direction")


class BlindSpot(_Frozen):
    """How far two models that look alike may be apart: eps + C R m^(-1/(d_eff - 1)), z units."""

    leading: int = Field(description="dimension of the space in which directions lie")
    epsilon: float | None = Field(description="largest residual of the linear fits; None: no rows")
    epsilon_q95: float | None
    radius: float | None = Field(description="R: largest norm of a model's z-scores")
    radius_q95: float | None
    omega: float = Field(description="covering radius of the benchmarks' lines, radians")
    omega_signed: float = Field(description="by signed cosines, as in the paper's tables")
    omega_random: Resampled = Field(description="its null: as many random directions")
    constant: float | None = Field(description="C; None when d_eff is 1, where it has no meaning")
    bound: float | None = Field(description="with the largest epsilon and R")
    bound_q95: float | None = Field(description="with their 95th percentiles")
    runner_up_gap: float = Field(description="mean z-score of the best model less the second's")
    gap_noise: float | None = Field(description="its standard error over benchmarks")
    bound_to_gap: float | None
    bound_to_noise: float | None
    times_to_halve: float = Field(
        description="2^(d_eff - 1): by the bound's rate, so many times the benchmarks halve it"
    )
    direction: tuple[Weight, ...] = Field(
        description="the direction farthest from every benchmark, largest weight first"
    )


class Choice(_Frozen):
    """Benchmarks that were chosen greedily, in their order."""

    benchmarks: tuple[str, ...]
    f: float
    log_det: float
    gamma: float | None = Field(
        description="submodularity ratio; None above 15 benchmarks, where it is not worked out"
    )
    guarantee: float | None = Field(
        description="1 - exp(-gamma): the least share of the best value that greedy can have"
    )


class Optimum(_Frozen):
    """The best subset of the same size."""

    benchmarks: tuple[str, ...]
    value: float


class CoveragePoint(_Frozen):
    """Coverage f of so many benchmarks, by each way of choosing."""

    size: int
    greedy_f: float
    greedy_log_det: float = Field(description="f of the benchmarks that greedy on F chooses")
    optimum: float | None = Field(description="None above 16 benchmarks")
    random: float = Field(description="mean over all subsets, or over 200 random ones above 16")
    random_q025: float
    random_q975: float


class Core(_Frozen):
    """How often a benchmark is chosen by greedy on f over resampled models."""

    benchmark: str
    share: float


class Returns(_Frozen):
    """How often f has growing returns, which a submodular measure never has."""

    pairs_growing: int
    pairs: int
    triples_growing: int = Field(
        description="ordered triples (a, b, c) in which c adds more to {a, b} than to {a}"
    )
    triples: int


class Coverage(_Frozen):
    """Which benchmarks to keep, and how much of the suite they tell."""

    size: int
    kept: tuple[str, ...] = Field(description="the best subset by f that is known")
    exact: bool = Field(description="all subsets were looked at")
    f: Resampled = Field(description="tr(P_T C) / tr C of the kept ones")
    foretold: Resampled = Field(
        description="mean R^2 of all benchmarks on the kept ones; never above f, since f projects "
        "on directions that only all benchmarks together tell exactly"
    )
    noise: float = Field(description="s^2 of F = log det(I + C_TT / s^2)")
    greedy_f: Choice
    greedy_log_det: Choice = Field(description="by F: the guarantee 1 - 1/e holds for F")
    gains_worked_out: int = Field(description="by lazy greedy on F, for all sizes")
    gains_without_laziness: int
    optimum_f: Optimum | None = Field(description="None above 16 benchmarks")
    optimum_log_det: Optimum | None
    size_for_90: int = Field(description="benchmarks that greedy needs for 90% of f")
    size_for_90_exact: int | None = Field(description="that the best subset needs")
    core: tuple[Core, ...] = Field(description="oftenest chosen first")
    resamples: int = Field(description="of the models, behind `core` and intervals")
    returns: Returns | None = Field(description="None above 40 benchmarks")
    curve: tuple[CoveragePoint, ...]


class Place(_Frozen):
    """A benchmark's place in the suite."""

    benchmark: str
    verdict: Verdict
    core_share: float | None = Field(description="how often it is chosen over resampled models")
    explained: Resampled | None = Field(
        description="share of its variance that the kept ones explain; None of a kept one"
    )
    gain: float = Field(description="f that is lost without it if kept, that it would add if not")
    nearest: str = Field(description="the benchmark it goes together with most")
    nearest_r: float
    irreplaceability: Resampled = Field(
        description="1 - R^2 on all other benchmarks, 1 / [C^-1]_jj; 0 when they tell it all; "
        "resamples hold models twice, so the interval lies somewhat low where models are few"
    )
    mass_outside: float = Field(
        description="squared eigenvector entries outside the leading ones; (k - d) / k by chance"
    )
    disruption: Resampled | None = Field(
        description="mean change of the models' ranks when it is left out; None: no whole rows"
    )


class Association(_Frozen):
    """Spearman's rank correlation over benchmarks."""

    rho: float | None
    p: float | None = Field(description="two-sided, by Student's t")


class Removal(_Frozen):
    """Which benchmarks change the order of models when they go."""

    disruption_and_mass: Association
    disruption_and_irreplaceability: Association
    irreplaceability_by_chance: float = Field(
        description="expected of a benchmark of noise: 1 - (k - 1) / (n - 1)"
    )
    mass_by_chance: float = Field(description="expected of eigenvectors that mean nothing")


class SwapRate(_Frozen):
    """What changes between the two halves of a split."""

    another_first: Resampled = Field(description="share of splits with another best model")
    top_changed: Resampled = Field(description="how many of the best ones change, on average")
    changes: tuple[float, ...] = Field(
        description="shares of splits in which 0, 1, 2, ... of the best ones change"
    )


class Swaps(_Frozen):
    """The suite split at random into a visible and a held-out half."""

    splits: int
    visible: int
    held_out: int
    top: int = Field(description="how many of the best models are compared: 5, or fewer")
    observed: SwapRate = Field(description="interval: of the random splits (Monte-Carlo)")
    gaussian: SwapRate = Field(
        description="null: models drawn from a normal distribution of the same correlations"
    )
    single_factor: SwapRate = Field(description="the same with nothing but one common factor")
    p_gaussian: float = Field(
        description="share of Gaussian worlds with at least so many first places that change"
    )


class HiddenSwap(_Frozen):
    """Would abilities that nobody measures swap the best two models, under a prior for them."""

    prior: Prior
    dimension: int = Field(description="D, of all abilities")
    closed_form: float = Field(description="Phi(-Delta2 / (2 s_h)), the paper's")
    simulated: Resampled = Field(
        description="the same with hidden scores of the observed variance; 95% Monte-Carlo interval"
    )


class Novelty(_Frozen):
    """How much an outside benchmark tells that the suite does not."""

    benchmark: str
    models: int
    novelty: Resampled = Field(
        description="share of its variance outside the span of the leading components' scores"
    )
    by_chance: float = Field(description="expected novelty of a benchmark of noise")


class Transfer(_Frozen):
    """Whether benchmarks chosen at one date still serve at another."""

    benchmarks: int = Field(description="that both dates have")
    only_now: tuple[str, ...]
    only_later: tuple[str, ...]
    size: int
    models_later: int
    chosen_now: tuple[str, ...]
    chosen_later: tuple[str, ...]
    f_transferred: float = Field(description="f at the later date of those chosen now")
    f_own: float = Field(description="f at the later date of those chosen later")
    ratio: Resampled = Field(
        description="the one over the other; above 1 where the later greedy choice is not best; "
        "models of both dates resampled"
    )
    ratio_random: Resampled = Field(description="its null: random subsets of the same size")
    d_eff_later: float


class BenchmarkItems(_Frozen):
    """The difficulties of a benchmark's items, beside its place in the suite."""

    benchmark: str
    models: int
    items: int
    ddm: Estimate | None = Field(description="mismatch of the difficulties to uniform ones")
    widest_gap: Estimate | None = Field(description="G")
    gap_left: float | None = Field(description="z of the widest gap's borders")
    gap_right: float | None
    verdict: str | None = Field(description="of the widest gap: empty or unresolved")
    help: float = Field(description="irreplaceability times G: where a new item tells most")
    problem: str | None = Field(description="why its items have no scale, if they have none")


class SuiteAnalysis(_Frozen):
    """A suite of benchmarks: what it measures, what to keep, what nobody measures (docs/suite)."""

    answer: tuple[str, ...] = Field(description="in words")
    cautions: tuple[str, ...] = Field(description="what weakens it, in words")
    benchmarks: tuple[str, ...] = Field(description="in the order of loadings")
    data: Data
    spectrum: Spectrum = Field(description="of the models in use")
    everybody: Spectrum = Field(description="of all usable models")
    correlations: tuple[tuple[float, ...], ...] = Field(
        description="between benchmarks, over the models in use"
    )
    models: tuple[ModelPlace, ...] = Field(description="in use, best first")
    components: tuple[Component, ...] = Field(
        description="the leading ones, largest first; at least two"
    )
    coverage: Coverage
    places: tuple[Place, ...] = Field(description="the kept ones first")
    cluster_order: tuple[str, ...] = Field(description="benchmarks, like beside like")
    removal: Removal
    linearity: tuple[Linearity, ...] = Field(description="empty: too few models with all scores")
    blind_spot: BlindSpot
    swaps: Swaps | None = Field(description="None: too few models with all scores")
    hidden_swaps: tuple[HiddenSwap, ...]
    novelty: tuple[Novelty, ...] = Field(description="of the benchmarks named as outside")
    transfer: Transfer | None
    items: tuple[BenchmarkItems, ...] = Field(description="where a new item helps most, first")
