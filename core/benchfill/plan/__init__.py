"""Designing the difficulty structure of a benchmark: where new items go, what to run again."""

from .planner import make_plan
from .request import PlanRequest
from .result import Plan

__all__ = ["Plan", "PlanRequest", "make_plan"]
