"""The plain 1PL posterior, sampled by NUTS: the reference that faster engines are tested against.

PyMC model, NUTS by nutpie, PyMC's own sampler where nutpie does not load (docs/method, section 2).
"""

from __future__ import annotations

import importlib.util
import logging
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

with warnings.catch_warnings():
    # ArviZ announces its next version, and PyTensor a missing compiler that nutpie does not need
    warnings.simplefilter("ignore")
    import arviz as az
    import pymc as pm
    import pytensor.tensor as pt

from .model import B_SCALE, MU_SCALE, THETA_SCALE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..responses import ResponseMatrix

CHAINS = 4
TUNE = 1000
DRAWS = 1000
TARGET_ACCEPT = 0.9


@dataclass(frozen=True)
class Sample:
    """Posterior draws, all chains in one: theta (S, J), b (S, I), hyper-parameters (S,)."""

    theta: NDArray[np.float64]
    b: NDArray[np.float64]
    mu_b: NDArray[np.float64]
    s_b: NDArray[np.float64]
    s_theta: NDArray[np.float64]
    max_rhat: float
    min_ess_bulk: float
    divergences: int


def sample_plain(responses: ResponseMatrix, guessing: NDArray[np.float64], seed: int) -> Sample:
    """Sample all abilities, difficulties and hyper-parameters with 4 x (1000 + 1000) draws."""
    model = plain_model(responses, guessing)
    sampler = "nutpie" if importlib.util.find_spec("nutpie") else "pymc"
    # the samplers log to the console and warn about convergence; both are reported in the fit
    logging.getLogger("pymc").setLevel(logging.ERROR)
    with model, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = pm.sample(
            draws=DRAWS,
            tune=TUNE,
            chains=CHAINS,
            random_seed=seed,
            target_accept=TARGET_ACCEPT,
            nuts_sampler=sampler,
            progressbar=False,
            compute_convergence_checks=False,
        )
    return _summarise(trace, len(responses.models))


def plain_model(responses: ResponseMatrix, guessing: NDArray[np.float64]) -> pm.Model:
    """Build the PyMC model of all cells that hold rollouts."""
    j, i = np.nonzero(responses.n)
    correct = responses.correct[j, i].astype(np.float64)
    wrong = responses.n[j, i] - correct
    with pm.Model() as model:
        s_theta = pm.HalfNormal("s_theta", THETA_SCALE)
        if len(responses.models) > 1:
            theta = pm.ZeroSumNormal("theta", sigma=s_theta, shape=len(responses.models))
        else:
            theta = pt.zeros(1)
        mu_b = pm.Normal("mu_b", 0.0, MU_SCALE)
        s_b = pm.HalfNormal("s_b", B_SCALE)
        b = pm.Normal("b", mu_b, s_b, shape=len(responses.items))
        logit = theta[j] - b[i]
        # log P(Y=1) and log P(Y=0), stable far out on both sides
        log_q = np.log1p(-guessing[i]) - pt.softplus(logit)
        log_p = -pt.softplus(-logit)
        if guessing.any():
            log_p = pt.log(guessing[i] + (1 - guessing[i]) * pt.sigmoid(logit))
        pm.Potential("responses", (correct * log_p + wrong * log_q).sum())
    return model


def _summarise(trace: Any, models: int) -> Sample:
    posterior = trace.posterior
    rhat, ess = az.rhat(posterior), az.ess(posterior, method="bulk")
    names = list(posterior.data_vars)

    if posterior.sizes["chain"] * posterior.sizes["draw"] < CHAINS * DRAWS:
        # nutpie answers Ctrl-C with the draws made so far, as if they were all
        raise KeyboardInterrupt

    def flat(name: str) -> NDArray[np.float64]:
        values = posterior[name].to_numpy()
        return np.asarray(values.reshape(-1, *values.shape[2:]), dtype=np.float64)

    b = flat("b")
    return Sample(
        theta=flat("theta") if models > 1 else np.zeros((len(b), 1)),
        b=b,
        mu_b=flat("mu_b"),
        s_b=flat("s_b"),
        s_theta=flat("s_theta"),
        max_rhat=float(max(rhat[name].max() for name in names)),
        min_ess_bulk=float(min(ess[name].min() for name in names)),
        divergences=int(trace.sample_stats["diverging"].sum()),
    )
