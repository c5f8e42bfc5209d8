"""The response function on arrays of logits, with a guessing probability for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LogCurves(NamedTuple):
    """Log P(Y=1) and log P(Y=0) with their derivatives in the logit."""

    log_p: NDArray[np.float64]
    log_q: NDArray[np.float64]
    d_log_p: NDArray[np.float64]
    d_log_q: NDArray[np.float64]


def log_curves(logit: NDArray[np.float64], guessing: NDArray[np.float64]) -> LogCurves:
    """Evaluate the response function; `guessing` is broadcast.

    expit and logaddexp from one exponential: they are what a fit spends its time on.
    """
    e = np.exp(-np.abs(logit))
    log_q = -np.maximum(logit, 0) - np.log(1 + e)
    s = np.where(logit > 0, 1.0, e) / (1 + e)
    log_p, d_log_p = log_q + logit, 1 - s
    if (guessing > 0).any():
        guesses = np.broadcast_to(guessing > 0, logit.shape)
        p = guessing + (1 - guessing) * s
        log_p = np.where(guesses, np.log(np.where(guesses, p, 1.0)), log_p)
        # without guessing the slope is 1 - s, with no division where P underflows
        d_log_p *= np.divide((1 - guessing) * s, p, out=np.ones_like(p), where=guesses)
        log_q = log_q + np.log1p(-guessing)
    return LogCurves(log_p, log_q, d_log_p, -s)
