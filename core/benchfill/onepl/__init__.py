"""The one-parameter logistic model: difficulties and abilities on one axis."""

from .checks import Check, checks
from .fit import Draws, Engine, Fit1PL, fit_1pl

__all__ = ["Check", "Draws", "Engine", "Fit1PL", "checks", "fit_1pl"]
