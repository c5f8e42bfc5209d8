"""Suggesting a panel: the choice, what it is worth, and how stable difficulties are with fewer."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from ..errors import FitError, InputError
from ..fitted import fit_facts
from ..gaps import find_gaps
from ..measure import DifficultyScale
from .choosing import choose_models, evenly_placed, item_information
from .result import Over, PanelModel, PanelPoint, PanelSuggestion, Spread
from .stability import spread_of, stability_curve

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ..onepl import Fit1PL

ROLLOUTS = 16  # of each model on a new item, where standard errors are told
FEWEST_MODELS = 3
_GAPS = 5  # the widest, where none is surely empty
_RANDOM = 200  # panels, for the standard error


def suggest_panel(  # noqa: PLR0913 - keyword-only but for two
    fit: Fit1PL,
    size: int = 12,
    *,
    over: Over = "range",
    enough: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> PanelSuggestion:
    """Choose the models that tell difficulties apart best, and see how many suffice.

    The criterion is Fisher information about an item's difficulty, evenly along theta: the mean of
    its logarithm over the range of interest (see `choosing`). How many suffice is judged by
    leave-out stability: the difficulties are fitted again with the panel of each size alone, and
    compared with those from all models.

    Parameters
    ----------
    fit
        A fit of at least three models.
    size
        Number of models; all of them where there are fewer.
    over
        ``range``: from the easiest to the hardest item that some rollouts solved and some did not;
        ``gaps``: the gaps that are surely empty, else the five widest.
    enough
        Rank correlation with the difficulties from all models that counts as enough.
    seed
        Seed of the random panels.
    progress
        Called with the fits made and those to come in all.

    Raises
    ------
    InputError
        `size` is less than 1, `over` is unknown, or `enough` is not in (0, 1].
    FitError
        Fewer than three models, or no two items of different difficulty.
    """
    if size < 1 or not 0 < enough <= 1 or over not in get_args(Over):
        raise InputError(
            f"size must be 1 or more, enough in (0, 1] and over one of {get_args(Over)}; not "
            f"{size}, {enough} and {over!r}."
        )
    if len(fit.theta) < FEWEST_MODELS:
        raise FitError(
            f"the responses have {len(fit.theta)} models, too few to choose from; it takes "
            f"{FEWEST_MODELS}."
        )
    size = min(size, len(fit.theta))
    intervals = _intervals(fit, over)
    information = item_information(
        fit.theta, evenly_placed(intervals), float(np.median(fit.guessing))
    )
    chosen = choose_models(information, size)
    rng = np.random.default_rng(seed)
    errors = _standard_errors(information[chosen])
    curve = stability_curve(
        fit, lambda count: choose_models(information, count), rng, size, progress
    )
    share = information[chosen].sum(0) / information.sum(0)
    return PanelSuggestion(
        **fit_facts(fit),
        chosen=tuple(_model(fit, j) for j in sorted(chosen, key=lambda j: fit.theta[j])),
        over=over,
        intervals=tuple(intervals),
        relative_information=float(np.exp(np.log(share).mean())),
        se_median=float(np.median(errors)),
        se_worst=float(errors.max()),
        random_se_worst=_random_worst(information, size, rng),
        enough=enough,
        suffice=_first_from_which(curve, lambda one: one.spearman >= enough),
        random_suffice=_first_from_which(
            curve, lambda one: one.random_spearman is not None and one.random_spearman.q05 >= enough
        ),
        curve=curve,
    )


def _intervals(fit: Fit1PL, over: Over) -> list[tuple[float, float]]:
    """Return where difficulties are to be told apart, logits."""
    if over == "range":
        told = fit.b[~fit.responses.extreme_items]
        if len(told) < 2:
            raise FitError(
                "fewer than two items are solved by some rollouts and not by others, so there is "
                "no range in which models could be compared."
            )
        scale = DifficultyScale.of(told)
        return [(scale.low, scale.high)]
    gaps = find_gaps(fit)
    empty = [gap for gap in gaps if gap.verdict == "empty"] or list(gaps[:_GAPS])
    scale = DifficultyScale.of(fit.b)
    borders = (scale.to_b([gap.z_left, gap.z_right]) for gap in empty)
    return sorted((float(left), float(right)) for left, right in borders)


def _standard_errors(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return those of a new item's difficulty at each place, logits, shape (G,)."""
    return np.asarray(1 / np.sqrt(ROLLOUTS * information.sum(0)))


def _random_worst(information: NDArray[np.float64], size: int, rng: np.random.Generator) -> Spread:
    panels = (rng.choice(len(information), size, replace=False) for _ in range(_RANDOM))
    return spread_of([float(_standard_errors(information[panel]).max()) for panel in panels])


def _model(fit: Fit1PL, j: int) -> PanelModel:
    return PanelModel(
        model=fit.responses.models[j],
        theta=float(fit.theta[j]),
        theta_sd=float(fit.theta_sd[j]),
        rate=float(fit.responses.model_rates[j]),
    )


def _first_from_which(
    curve: tuple[PanelPoint, ...], holds: Callable[[PanelPoint], bool]
) -> int | None:
    """Return the size from which on it holds at all sizes of the curve."""
    first = None
    for point in reversed(curve):
        if not holds(point):
            break
        first = point.size
    return first
