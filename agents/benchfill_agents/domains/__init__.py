"""Domains of items: one file each, with scorer, check and the names of its prompts."""

from .interface import Domain, Extracted
from .registry import DOMAINS, details_of, domain_check, domain_of, first_problem

__all__ = [
    "DOMAINS",
    "Domain",
    "Extracted",
    "details_of",
    "domain_check",
    "domain_of",
    "first_problem",
]
