"""The Validator: checks in order, cheapest first; the first failure stops a child."""

from .checks import normalised
from .findings import Finding, Verdict
from .validator import Validator

__all__ = ["Finding", "Validator", "Verdict", "normalised"]
