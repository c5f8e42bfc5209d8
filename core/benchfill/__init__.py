"""BenchFill: a benchmark as an empirical measure over difficulty.

NumPy, SciPy and PyMC alone: no agent, no network, no Redis, no web.

>>> import benchfill as bf
>>> fit = bf.fit_1pl(bf.read_responses("responses.csv"), engine="map")  # doctest: +SKIP
>>> bf.diagnose(fit).gaps[0].verdict  # doctest: +SKIP
'empty'
"""

from __future__ import annotations

import importlib
import typing

if typing.TYPE_CHECKING:
    from .agreement import Kappa, cohen_kappa, rater_agreement
    from .chance import widest_by_chance
    from .check import FitCheck, check_fit
    from .child import ChildPosterior, MaximumLikelihood, child_mle, child_posterior
    from .children import ChildSummaries, child_summaries
    from .diagnosis import Diagnosis, diagnose
    from .errors import (
        BenchFillError,
        BudgetExhaustedError,
        FitError,
        InputError,
        InterruptedRunError,
        ProviderError,
    )
    from .formats import read_responses
    from .formats.delimited import write_responses
    from .formats.score_table import read_score_table
    from .formats.scores import read_scores
    from .gaps import Gap, find_gaps
    from .items import Item, Slot, Template, read_items
    from .measure import DifficultyScale, max_gap, spacings, top_k_sum
    from .onepl import Check, Draws, Fit1PL, checks, fit_1pl
    from .onepl.conditional import ConditionalFit, fit_conditional
    from .onepl.marginal import MarginalFit, fit_marginal
    from .panel import PanelSuggestion, suggest_panel
    from .plan import Plan, PlanRequest, make_plan
    from .progress import (
        PowerMap,
        PowerSettings,
        Progress,
        ProgressTest,
        measure_progress,
        placing_models,
        pooled_responses,
        power_map,
    )
    from .pruning import Pruning, prune
    from .ranking import Ranking, rank_models
    from .reference import ReferenceAgreement, reference_agreement
    from .responses import ResponseMatrix
    from .suite.analysis import SuiteRequest, analyse_suite
    from .suite.result import SuiteAnalysis
    from .suite.scores import ScoreTable
    from .targets import Beta, Empirical, Target, Uniform, parse_target
    from .weights import target_weights

__all__ = [
    "BenchFillError",
    "Beta",
    "BudgetExhaustedError",
    "Check",
    "ChildPosterior",
    "ChildSummaries",
    "ConditionalFit",
    "Diagnosis",
    "DifficultyScale",
    "Draws",
    "Empirical",
    "Fit1PL",
    "FitCheck",
    "FitError",
    "Gap",
    "InputError",
    "InterruptedRunError",
    "Item",
    "Kappa",
    "MarginalFit",
    "MaximumLikelihood",
    "PanelSuggestion",
    "Plan",
    "PlanRequest",
    "PowerMap",
    "PowerSettings",
    "Progress",
    "ProgressTest",
    "ProviderError",
    "Pruning",
    "Ranking",
    "ReferenceAgreement",
    "ResponseMatrix",
    "ScoreTable",
    "Slot",
    "SuiteAnalysis",
    "SuiteRequest",
    "Target",
    "Template",
    "Uniform",
    "analyse_suite",
    "check_fit",
    "checks",
    "child_mle",
    "child_posterior",
    "child_summaries",
    "cohen_kappa",
    "diagnose",
    "find_gaps",
    "fit_1pl",
    "fit_conditional",
    "fit_marginal",
    "make_plan",
    "max_gap",
    "measure_progress",
    "parse_target",
    "placing_models",
    "pooled_responses",
    "power_map",
    "prune",
    "rank_models",
    "rater_agreement",
    "read_items",
    "read_responses",
    "read_score_table",
    "read_scores",
    "reference_agreement",
    "spacings",
    "suggest_panel",
    "target_weights",
    "top_k_sum",
    "widest_by_chance",
    "write_responses",
]

# A name is imported when it is first asked for: all together take two seconds, mostly for parts of
# SciPy that a diagnosis has no use for.
_NAMES_IN = {
    "agreement": ("Kappa", "cohen_kappa", "rater_agreement"),
    "chance": ("widest_by_chance",),
    "check": ("FitCheck", "check_fit"),
    "child": ("ChildPosterior", "MaximumLikelihood", "child_mle", "child_posterior"),
    "children": ("ChildSummaries", "child_summaries"),
    "diagnosis": ("Diagnosis", "diagnose"),
    "errors": (
        "BenchFillError",
        "BudgetExhaustedError",
        "FitError",
        "InputError",
        "InterruptedRunError",
        "ProviderError",
    ),
    "formats": ("read_responses",),
    "formats.delimited": ("write_responses",),
    "formats.score_table": ("read_score_table",),
    "formats.scores": ("read_scores",),
    "gaps": ("Gap", "find_gaps"),
    "items": ("Item", "Slot", "Template", "read_items"),
    "measure": ("DifficultyScale", "max_gap", "spacings", "top_k_sum"),
    "onepl": ("Check", "Draws", "Fit1PL", "checks", "fit_1pl"),
    "onepl.conditional": ("ConditionalFit", "fit_conditional"),
    "onepl.marginal": ("MarginalFit", "fit_marginal"),
    "panel": ("PanelSuggestion", "suggest_panel"),
    "plan": ("Plan", "PlanRequest", "make_plan"),
    "progress": (
        "PowerMap",
        "PowerSettings",
        "Progress",
        "ProgressTest",
        "measure_progress",
        "placing_models",
        "pooled_responses",
        "power_map",
    ),
    "pruning": ("Pruning", "prune"),
    "ranking": ("Ranking", "rank_models"),
    "reference": ("ReferenceAgreement", "reference_agreement"),
    "responses": ("ResponseMatrix",),
    "suite.analysis": ("SuiteRequest", "analyse_suite"),
    "suite.result": ("SuiteAnalysis",),
    "suite.scores": ("ScoreTable",),
    "targets": ("Beta", "Empirical", "Target", "Uniform", "parse_target"),
    "weights": ("target_weights",),
}
_MODULES = {module.split(".")[0] for module in _NAMES_IN}
_HOME = {name: module for module, names in _NAMES_IN.items() for name in names}

if not typing.TYPE_CHECKING:  # type checkers would take any name for granted

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return importlib.import_module(f".{name}", __name__)
        home = _HOME.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{home}", __name__), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*globals(), *(name for name in __all__ if name not in globals())]
