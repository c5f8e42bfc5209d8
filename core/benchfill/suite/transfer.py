"""Whether benchmarks that were chosen at one date still serve at a later one.

docs/suite; ``f_later(T_now) / f_later(T_later)``, with random subsets as its null: a suite whose
benchmarks resemble one another is covered well by almost any of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from .correlation import correlations
from .coverage import coverage, greedy_coverage
from .models_in_use import LEAST_BENCHMARKS, models_in_use
from .resampling import draw_models, resampled_correlations
from .result import Resampled, Transfer
from .spectrum import eigenvalues_of, participation_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .models_in_use import Missing, ModelsInUse
    from .scores import ScoreTable

RANDOM_SUBSETS = 500


def transfer_of(
    now: ModelsInUse,
    later: ScoreTable,
    size: int,
    *,
    how: tuple[float, Missing, int],
    rng: np.random.Generator,
) -> Transfer:
    """Choose by greedy on f at both dates, and compare on the later one.

    Parameters
    ----------
    now
        Models and benchmarks of the first date.
    later
        Scores of the later date.
    size
        How many benchmarks are chosen; fewer where the dates share fewer.
    how
        The frontier's share and what is done about missing scores, as at the first date, and the
        number of resamples of the models of both dates.
    rng
        For resamples and random subsets.

    Raises
    ------
    InputError
        The dates share fewer than two benchmarks, or the later scores cannot be used.
    """
    shared = [name for name in now.benchmarks if name in later.benchmarks]
    if len(shared) < LEAST_BENCHMARKS:
        raise InputError(
            f"has {len(shared)} of the {len(now.benchmarks)} benchmarks of the first scores by "
            f"exact name; {LEAST_BENCHMARKS} are needed.",
            field="--later",
        )
    try:
        then = models_in_use(later.select(shared), frontier=how[0], missing=how[1])
    except InputError as error:
        raise InputError(error.message, field="--later") from None
    common = [name for name in shared if name in then.benchmarks]
    if len(common) < LEAST_BENCHMARKS:
        raise InputError("has too few benchmarks that vary.", field="--later")
    size = min(size, len(common))
    columns = [now.benchmarks.index(name) for name in common]
    z = (now.z[:, columns], then.z)
    matrices = tuple(correlations(one, tuple(common)).matrix for one in z)
    chosen = [greedy_coverage(one[None], size)[0][0] for one in matrices]
    transferred, own = (coverage(matrices[1], list(one)) for one in chosen)
    random = np.array(
        [
            coverage(matrices[1], rng.permutation(len(common))[:size].tolist()) / own
            for _ in range(RANDOM_SUBSETS)
        ]
    )
    return Transfer(
        benchmarks=len(common),
        only_now=tuple(name for name in now.benchmarks if name not in common),
        only_later=tuple(name for name in later.benchmarks if name not in common),
        size=size,
        models_later=len(then.models),
        chosen_now=tuple(common[j] for j in chosen[0]),
        chosen_later=tuple(common[j] for j in chosen[1]),
        f_transferred=transferred,
        f_own=own,
        ratio=Resampled.of(transferred / own, _resampled(z, size, how[2], rng)),
        ratio_random=Resampled.of(float(random.mean()), random),
        d_eff_later=float(participation_ratio(eigenvalues_of(matrices[1]))),
    )


def _resampled(
    z: tuple[NDArray[np.float64], NDArray[np.float64]],
    size: int,
    replicates: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the ratio in resamples of both dates' models, shape (B,)."""
    now, then = (resampled_correlations(one, draw_models(len(one), replicates, rng)) for one in z)
    count = min(len(now), len(then))
    if not count:
        return np.empty(0)
    now, then = now[:count], then[:count]
    chosen, _ = greedy_coverage(now, size)
    _, transferred = greedy_coverage(then, size, order=chosen)
    _, own = greedy_coverage(then, size)
    return np.asarray(transferred[:, -1] / own[:, -1])
