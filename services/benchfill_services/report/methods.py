"""The methods paragraph that can be pasted into a paper, and its references."""

from __future__ import annotations

import importlib.metadata
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchfill.gaps import MIN_P_HOLE
from benchfill.targets import Beta, Empirical, Uniform

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchfill.diagnosis import Diagnosis
    from benchfill.fitted import FitSummary, FittedResult
    from benchfill.targets import Target
    from benchfill_agents.fill_report import FillReport

MEASURE = (
    "Sun, Y., Yu, N., Gong, J., Shen, J., & Zhang, H. (2026). Your benchmark is an empirical "
    "measure over difficulty. arXiv:2610.29927."
)
RASCH = (
    "Rasch, G. (1960). Probabilistic models for some intelligence and attainment tests. Danish "
    "Institute for Educational Research."
)
NUTS = (
    "Hoffman, M. D., & Gelman, A. (2014). The No-U-Turn sampler: adaptively setting path lengths "
    "in Hamiltonian Monte Carlo. Journal of Machine Learning Research, 15, 1593-1623."
)
RHAT = (
    "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B., & Bürkner, P.-C. (2021). "
    "Rank-normalization, folding, and localization: an improved R-hat for assessing convergence "
    "of MCMC. Bayesian Analysis, 16(2), 667-718. doi:10.1214/20-BA1221."
)
PYMC = (
    "Abril-Pla, O., et al. (2023). PyMC: a modern, and comprehensive probabilistic programming "
    "framework in Python. PeerJ Computer Science, 9, e1516. doi:10.7717/peerj-cs.1516."
)
LAPLACE = (
    "Tierney, L., & Kadane, J. B. (1986). Accurate approximations for posterior moments and "
    "marginal densities. Journal of the American Statistical Association, 81(393), 82-86."
)
AUTOGEN = (
    "Wu, Q., et al. (2023). AutoGen: enabling next-gen LLM applications via multi-agent "
    "conversation. arXiv:2308.08155."
)

_CHAINS = {"mcmc", "plain"}
_SAMPLED = ("numpy", "scipy", "pymc", "nutpie")
_AGENTS = ("autogen-agentchat", "litellm")


@dataclass(frozen=True)
class Methods:
    """A paragraph, its references, and the versions it names."""

    paragraph: str
    references: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]


def methods_of(
    envelope: Mapping[str, Any],
    diagnosis: Diagnosis,
    target: Target,
    report: FillReport | None = None,
) -> Methods:
    """Describe how the figures of a diagnosis or a fill came about."""
    sentences = [_checks(diagnosis), _measure(diagnosis, target)]
    if report is None:
        return fitted_methods(envelope, (diagnosis,), sentences, (MEASURE,))
    return fitted_methods(
        envelope, (diagnosis,), [*sentences, _search(report)], (MEASURE, AUTOGEN), _AGENTS
    )


def fitted_methods(
    envelope: Mapping[str, Any],
    fitted: Sequence[FittedResult],
    sentences: Sequence[str],
    references: Sequence[str],
    packages: Sequence[str] = (),
) -> Methods:
    """Describe a result that rests on fits of the 1PL, or on none: model, fit, then `sentences`.

    `references` and `packages` are those that only the sentences need.
    """
    engines = {one.fit.engine for one in fitted}
    sampled = bool(engines & _CHAINS)
    names = [*(_SAMPLED if sampled else _SAMPLED[:2]), *packages]
    versions = (
        ("benchfill", str(envelope.get("benchfill_version", "unknown"))),
        ("Python", platform.python_version()),
        *((name, importlib.metadata.version(name)) for name in names),
    )
    told = [part for one in fitted for part in (_model(one), _fit(one.fit))]
    cited = {*references, *((RASCH,) if fitted else ())}
    cited |= {NUTS, PYMC, RHAT} if sampled else set()
    cited |= {LAPLACE} if engines - _CHAINS else set()
    paragraph = " ".join([*told, *sentences, _reproduction(envelope, versions)])
    return Methods(paragraph, tuple(sorted(cited)), versions)


def _model(diagnosis: FittedResult) -> str:
    missing = f", {diagnosis.missing_cells:,} cells missing" if diagnosis.missing_cells else ""
    return (
        f"Responses of {diagnosis.models:,} models to {diagnosis.items:,} items{missing} were "
        "described by a Bayesian one-parameter logistic (Rasch) model, "
        "P(correct) = g + (1 - g) / (1 + exp(b - theta)), with the guessing probability g of each "
        "item known, and with the priors theta ~ ZeroSumNormal(s_theta), s_theta ~ HalfNormal(2), "
        "b ~ Normal(mu_b, s_b), mu_b ~ Normal(0, 2.5), s_b ~ HalfNormal(2.5)."
    )


def _fit(fit: FitSummary) -> str:
    if fit.engine in _CHAINS:
        how = (
            "The posterior of abilities and hyper-parameters, with every b integrated out on a "
            "grid, was sampled with NUTS (nutpie), 4 chains of 400 tuning and 500 kept draws; each "
            "b was then drawn from its exact conditional"
            if fit.engine == "mcmc"
            else "The posterior was sampled with NUTS, 4 chains of 1,000 tuning and 1,000 kept "
            "draws"
        )
        return (
            f"{how} (max R-hat {_known(fit.max_rhat, '.3f')}, min bulk ESS "
            f"{_known(fit.min_ess_bulk, ',.0f')}, {_known(fit.divergences, 'd')} divergences)."
        )
    return (
        "Abilities and the hyper-parameters of b were set to the mode of the posterior with b "
        "integrated out, s_theta by empirical Bayes; uncertainty comes from 1,000 draws of a "
        "normal approximation at the mode, with b drawn from its exact conditional "
        f"(engine: {fit.engine})."
    )


def _checks(diagnosis: Diagnosis) -> str:
    judged = [check for check in diagnosis.checks if check.passed is not None]
    failed = [check.name for check in judged if not check.passed]
    verdict = f"failed: {', '.join(failed)}" if failed else "none failed"
    return f"Of {len(judged)} checks of data and fit {verdict}."


def _measure(diagnosis: Diagnosis, target: Target) -> str:
    ddm, gap = diagnosis.ddm, diagnosis.max_gap
    return (
        "Difficulties were scaled to [0, 1] by the easiest and the hardest item. The mismatch is "
        f"the 1-Wasserstein distance to {target_words(target)}: {ddm.value:.3f} (posterior "
        f"median, 90% interval {ddm.q05:.3f} to {ddm.q95:.3f}); the widest gap is {gap.value:.3f} "
        f"({gap.q05:.3f} to {gap.q95:.3f}). A gap is called empty when, with posterior probability "
        f"of at least {MIN_P_HOLE:g}, the spacing over its midpoint is at least half as wide as "
        f"the gap, and neither border item was solved by all or by none.{_chance(diagnosis)}"
    )


def _chance(diagnosis: Diagnosis) -> str:
    if diagnosis.chance_width is None:
        return ""
    return (
        " Of 200 simulated banks with uniform difficulties, answered by the same models with the "
        f"same rollouts, 95% had a widest gap of at most {diagnosis.chance_width:.3f}."
    )


def target_words(target: Target) -> str:
    """Name a target in a sentence."""
    if isinstance(target, Uniform):
        return "the uniform distribution"
    if isinstance(target, Beta):
        return f"the Beta({target.a:g}, {target.b:g}) distribution"
    if isinstance(target, Empirical):
        return f"an empirical distribution of {len(target.points):,} points"
    return type(target).__name__


def _search(report: FillReport) -> str:
    filled = sum(fill.chosen is not None for fill in report.fills)
    valid = sum(fill.valid for fill in report.fills)
    anchors = (
        f"after {report.anchors.rollouts:,} rollouts on {len(report.anchors.items)} anchor items "
        f"({len(report.anchors.drifted)} models had drifted)"
        if report.anchors.used
        else "without anchors"
    )
    judged = (
        f"a Validator checked them, with the model {report.judge} as its judge,"
        if report.judge is not None
        else "a Validator checked them,"
    )
    return (
        f"Gaps searched with BenchFill, {anchors}: {len(report.fills)}, of which {filled} were "
        "filled. For each, a Retriever chose "
        f"parents, a Rewriter wrote children, {judged} and a Calibrator measured "
        f"the {valid:,} valid ones with {report.rollouts_total:,} rollouts in all, each child's "
        "difficulty averaged over joint posterior draws of abilities and border items."
    )


def _reproduction(envelope: Mapping[str, Any], versions: tuple[tuple[str, str], ...]) -> str:
    named = ", ".join(f"{name} {version}" for name, version in versions)
    inputs = ", ".join(
        f"{path.replace(chr(92), '/').rsplit('/', 1)[-1]} (SHA-256 {digest})"
        for path, digest in dict(envelope.get("inputs", {})).items()
    )
    seed = envelope.get("seed")  # a batch has none: each job has its own
    begin = "Versions: " if seed is None else f"Seed {seed}; "
    return f"{begin}{named}; inputs: {inputs or 'none named'}."


def _known(value: float | None, form: str) -> str:
    return "unknown" if value is None else format(value, form)
