"""Whether the 1PL describes the responses: model comparison, misfit, copies."""

from .fit_check import check_fit
from .result import FitCheck

__all__ = ["FitCheck", "check_fit"]
