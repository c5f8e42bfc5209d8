"""NUTS on the collapsed posterior: the default sampler.

nutpie draws from a density given in NumPy, so that nothing has to be compiled; compiling the same
density as a PyMC graph took 30 to 50 s a process on two cores, sampling it 5 s (docs/decisions).
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import FitError
from .sampled import SampledPosterior

with warnings.catch_warnings():
    # ArviZ announces its next version, and PyTensor a missing compiler that nutpie does not need
    warnings.simplefilter("ignore")
    logging.getLogger("pytensor.configdefaults").setLevel(logging.ERROR)
    import arviz as az
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from .collapsed import Parameters
    from .map import MapEstimate
    from .model import ItemPatterns

_TRIES = 4
_POLL = 0.2  # seconds


class Length(NamedTuple):
    """Chains, and the steps of each: to tune and to keep."""

    chains: int = 4
    tune: int = 400  # the coordinates are whitened already; only the step size is left to find
    draws: int = 500  # in these coordinates worth at least as many independent ones


USUAL = Length()


@dataclass(frozen=True)
class ParameterSample:
    """Draws of abilities and hyper-parameters, all chains in one, and how the chains did."""

    parameters: tuple[Parameters, ...]
    max_rhat: float
    min_ess_bulk: float
    divergences: int


def sample_collapsed(
    patterns: ItemPatterns,
    estimate: MapEstimate,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
    length: Length = USUAL,
) -> ParameterSample:
    """Draw from the collapsed posterior, after tuning.

    Parameters
    ----------
    patterns
        Items with equal data, merged.
    estimate
        The mode, from which the coordinates are made.
    seed
        Seed of all chains.
    progress
        Called with the draws made and those to come in all, tuning included.
    length
        Chains and their lengths.

    Returns
    -------
    ParameterSample
        R-hat and bulk ESS are the worst of theta, mu_b and log s_b.

    Raises
    ------
    FitError
        The draws ran off the lattice again and again.
    """
    posterior = SampledPosterior(patterns, estimate, seed)
    for tried in range(_TRIES):
        trace = _run(posterior, seed, progress, length)
        points = trace.posterior["u"].to_numpy().reshape(length.chains * length.draws, -1)
        parameters = tuple(posterior.parameters(point) for point in points)
        by_scale = np.argsort([at.log_s_b for at in parameters])
        # the outermost draws and a hundred others
        looked_at = {*by_scale[:20], *by_scale[-20:], *range(0, len(points), len(points) // 100)}
        if not posterior.misfits([points[k] for k in looked_at]):
            break
        posterior.fit_windows([points[k] for k in looked_at], spare=0.2 * 2**tried)
    else:
        raise FitError("the sampler ran off its grid of difficulties; use engine 'map' or 'plain'.")
    theta = np.stack([at.theta for at in parameters])
    sampled = [
        *(theta.T if theta.shape[1] > 1 else ()),
        *np.transpose([(at.mu_b, at.log_s_b) for at in parameters]),
    ]
    chains = {"x": np.stack([one.reshape(length.chains, -1) for one in sampled], axis=-1)}
    return ParameterSample(
        parameters=parameters,
        max_rhat=float(az.rhat(chains)["x"].max()),
        min_ess_bulk=float(az.ess(chains, method="bulk")["x"].min()),
        divergences=int(trace.sample_stats["diverging"].sum()),
    )


def _run(
    posterior: SampledPosterior,
    seed: int,
    progress: Callable[[int, int], None] | None,
    length: Length,
) -> Any:
    made = 0
    dimensions = posterior.coordinates.dimensions

    def kept(u: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        nonlocal made
        made += 1
        return {"u": u}

    model = from_pyfunc(
        dimensions,
        lambda: posterior.value_and_gradient,
        lambda *_: kept,
        [np.dtype("float64")],
        [(dimensions,)],
        ["u"],
        make_initial_point_fn=lambda one: np.random.default_rng(one).normal(0, 1, dimensions),
    )
    # in the background: nutpie answers Ctrl-C with the draws made so far, as if they were all
    sampler = nutpie.sample(
        model,
        draws=length.draws,
        tune=length.tune,
        chains=length.chains,
        cores=1,  # the density holds Python's lock; two threads would only fight for it
        seed=seed,
        target_accept=posterior.coordinates.target_accept,
        progress_bar=False,
        blocking=False,
    )
    try:
        while True:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return sampler.wait(timeout=_POLL)
            except TimeoutError:
                if progress is not None:
                    progress(made, length.chains * (length.tune + length.draws))
    except BaseException:
        sampler.cancel()
        raise
