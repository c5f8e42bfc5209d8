"""The measured difficulty of one child."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from benchfill.child import child_mle
from benchfill.child_likelihoods import Expected

from .design import expected_gap_reduction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchfill.child import ChildPosterior
    from benchfill.items import Item

    from ..target import FillTarget
    from .bench import Bench

Outcome = Literal["accepted", "outside", "resolution_limited", "undecided"]


class ModelCount(BaseModel):
    """Successes of one pool model on the child."""

    model_config = ConfigDict(frozen=True)

    model: str
    correct: int
    n: int
    failed: int = Field(0, description="rollouts that were paid or tried for and have no score")


class Calibration(BaseModel):
    """A child's difficulty on the frozen z scale, and the paper's estimate in logits beside it."""

    model_config = ConfigDict(frozen=True)

    item: str
    outcome: Outcome
    z: float = Field(description="posterior median")
    z_mean: float = Field(description="posterior mean")
    sd: float = Field(description="posterior standard deviation of z")
    q05: float
    q95: float
    p_in_gap: float = Field(description="P(between the border items), all uncertainty in it")
    gap_reduction: float = Field(
        0.0, description="expected reduction of the gap's width, z; 0 in older records"
    )
    b_hat: float | None = Field(description="1-D maximum likelihood at fixed abilities, logits")
    z_hat: float | None = Field(description="the same on the z scale")
    se: float | None = Field(description="standard error of b_hat")
    lattice: tuple[float, float] | None = Field(
        None, description="b_hat with one success less and with one more"
    )
    bound: float | None = Field(description="one-sided 95% bound where all or none were solved")
    bound_kind: Literal["easier_than", "harder_than"] | None
    guessing: float = Field(0.0, description="probability of a right answer by chance")
    expected: tuple[float, float] | None = Field(
        None,
        description="mean and sd, logits, that parent and rewriter let expect",
    )
    counts: tuple[ModelCount, ...]

    @property
    def rollouts(self) -> int:
        """Scored rollouts that went into it."""
        return sum(count.n for count in self.counts)

    @property
    def asked(self) -> int:
        """Rollouts that were asked for, scored or not."""
        return sum(count.n + count.failed for count in self.counts)


@dataclass(eq=False)
class Measurement:
    """Counts of one child so far, shape (P,) each, and what they say."""

    item: str
    guessing: float
    correct: NDArray[np.int64]
    n: NDArray[np.int64]
    asked: NDArray[np.int64]
    expected: Expected | None = None

    @classmethod
    def empty(cls, item: Item, models: int) -> Measurement:
        """Start with no rollout."""
        zeros = np.zeros(models, np.int64)
        return cls(item.id, item.guessing, zeros.copy(), zeros.copy(), zeros.copy())

    @classmethod
    def of(cls, calibration: Calibration, bench: Bench) -> Measurement:
        """Take up the counts of an earlier calibration."""
        counts = {count.model: count for count in calibration.counts}
        none = ModelCount(model="", correct=0, n=0)
        own = [counts.get(name, none) for name in bench.models]
        n = np.array([one.n for one in own])
        y = np.array([one.correct for one in own])
        asked = np.array([one.n + one.failed for one in own])
        foretold = Expected(*calibration.expected) if calibration.expected else None
        return cls(calibration.item, calibration.guessing, y, n, asked, foretold)

    def posterior(self, bench: Bench) -> ChildPosterior:
        """Return the child's posterior, averaged over the bench's draws."""
        return bench.posterior(self.correct, self.n, self.guessing, self.expected)

    def calibration(self, bench: Bench, target: FillTarget, outcome: Outcome) -> Calibration:
        """Summarise the measurement."""
        posterior = self.posterior(bench)
        scale = bench.scale
        fixed = child_mle(self.correct, self.n, bench.theta, guessing=self.guessing)
        known = not np.isnan(fixed.b[0])
        return Calibration(
            item=self.item,
            outcome=outcome,
            z=float(scale.to_z(posterior.quantile(0.5))),
            z_mean=float(scale.to_z(posterior.mean)),
            sd=posterior.sd / scale.width,
            q05=float(scale.to_z(posterior.quantile(0.05))),
            q95=float(scale.to_z(posterior.quantile(0.95))),
            p_in_gap=posterior.p_between(*bench.borders(target)),
            gap_reduction=expected_gap_reduction(posterior, bench.borders(target)) / scale.width,
            b_hat=float(fixed.b[0]) if known else None,
            z_hat=float(scale.to_z(fixed.b[0])) if known else None,
            se=float(fixed.se[0]) if known else None,
            lattice=self._lattice(bench) if known and self.guessing == 0 else None,
            bound=None if known else float(fixed.bound[0]),
            bound_kind=fixed.bound_kind[0],
            guessing=self.guessing,
            expected=(self.expected.mean, self.expected.sd) if self.expected else None,
            counts=self.counts(bench),
        )

    def counts(self, bench: Bench) -> tuple[ModelCount, ...]:
        """Return the counts by model."""
        each = zip(bench.models, self.correct, self.n, self.asked, strict=True)
        return tuple(
            ModelCount(model=name, correct=int(y), n=int(n), failed=int(asked - n))
            for name, y, n, asked in each
        )

    def _lattice(self, bench: Bench) -> tuple[float, float] | None:
        """Return the estimates next to b_hat: without guessing b_hat hangs on the total alone."""
        fewer, more = self.correct.copy(), self.correct.copy()
        fewer[np.argmax(self.correct)] -= 1
        more[np.argmax(self.n - self.correct)] += 1
        beside = child_mle(np.stack([fewer, more]), np.stack([self.n, self.n]), bench.theta).b
        return None if np.isnan(beside).any() else (float(beside[0]), float(beside[1]))
