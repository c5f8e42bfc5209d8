"""The Validator: checks in order, cheapest first; the first failure stops a child."""

from .checks import Finding, Validator, Verdict, normalised

__all__ = ["Finding", "Validator", "Verdict", "normalised"]
