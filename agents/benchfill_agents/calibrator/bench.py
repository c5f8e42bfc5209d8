"""The fitted benchmark as the pool sees it: what a child's difficulty is measured against."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from benchfill.child_likelihoods import ChildLikelihoods
from benchfill.errors import InputError
from benchfill.measure import DifficultyScale
from benchfill.overdispersion import misfit_sd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchfill.child import ChildPosterior
    from benchfill.child_likelihoods import Expected
    from benchfill.onepl import Draws, Fit1PL

    from ..pool.config import Pool
    from ..target import FillTarget

DRAWS = 500


@dataclass(frozen=True, eq=False)
class Bench:
    """Joint posterior draws with abilities in the pool's order, and the frozen scale.

    Parameters
    ----------
    models
        Names of the P pool members that measure.
    matrix_names
        Their names in the response matrix, in the same order.
    items
        Ids of the I items of the benchmark.
    draws
        theta (S, P), b (S, I), hyper-parameters (S,).
    scale
        Frozen z scale of the fit.
    misfit
        Scatter of the benchmark's cells beyond 1PL, logits (`benchfill.overdispersion`): new items
        are taken to be no better behaved.
    others
        Mean abilities of the matrix's models that do not measure, shape (O,); with misfit they
        have a say in what an item's difficulty is.
    known_prices
        Price of a rollout of each model, as multiples of their mean, shape (P,); None where nothing
        is known of them.
    """

    models: tuple[str, ...]
    matrix_names: tuple[str, ...]
    items: tuple[str, ...]
    draws: Draws
    scale: DifficultyScale
    misfit: float = 0.0
    others: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    known_prices: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, fit: Fit1PL, pool: Pool) -> Bench:
        """Match the pool's models with the matrix by name.

        Raises
        ------
        InputError
            A pool model is not in the response matrix.
        """
        known = {name: j for j, name in enumerate(fit.responses.models)}
        for model in pool.models:
            if model.response_name not in known:
                raise InputError(
                    f"pool model {model.name!r} is {model.response_name!r} in no line of the "
                    "responses; set its matrix_name, or measure it with `benchfill rollouts`."
                )
        columns = [known[model.response_name] for model in pool.models]
        draws = fit.draws.thin(DRAWS)
        return cls(
            models=tuple(model.name for model in pool.models),
            matrix_names=tuple(model.response_name for model in pool.models),
            items=fit.responses.items,
            draws=draws._replace(theta=draws.theta[:, columns]),
            scale=DifficultyScale.of(fit.b),
            misfit=misfit_sd(fit.responses.correct, fit.responses.n, fit.theta, fit.b),
            others=np.delete(fit.theta, columns),
        )

    @property
    def theta(self) -> NDArray[np.float64]:
        """Posterior mean abilities of the pool, shape (P,)."""
        return np.asarray(self.draws.theta.mean(0))

    @property
    def theta_variance(self) -> NDArray[np.float64]:
        """Posterior variances of the abilities of the pool, shape (P,)."""
        return np.asarray(self.draws.theta.var(0))

    @property
    def prices(self) -> NDArray[np.float64]:
        """Price of a rollout of each model, shape (P,); all 1 where nothing is known of them."""
        return np.ones(len(self.models)) if self.known_prices is None else self.known_prices

    def posterior(
        self,
        correct: NDArray[np.int64],
        n: NDArray[np.int64],
        guessing: float,
        expected: Expected | None = None,
    ) -> ChildPosterior:
        """Return the posterior of a child's difficulty from its counts, each shape (P,)."""
        if guessing not in self._likelihoods:
            self._likelihoods[guessing] = ChildLikelihoods(
                self.draws, guessing, self.misfit, self.others
            )
        return self._likelihoods[guessing].posterior(correct, n, expected)

    @cached_property
    def _likelihoods(self) -> dict[float, ChildLikelihoods]:
        return {}

    def borders(self, target: FillTarget) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the target interval's ends in each draw, logits, each shape (S,)."""
        return (
            self._border(target.left_item, target.z_left),
            self._border(target.right_item, target.z_right),
        )

    def _border(self, item: str | None, z: float) -> NDArray[np.float64]:
        if item is None:
            return np.full(len(self.draws.b), float(self.scale.to_b(z)))
        return self.draws.b[:, self.items.index(item)]

    def shift(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much each draw's abilities move items that are solved as often, logits.

        For difficulties b (B,) at the mean abilities; shape (S, B). Whatever is measured on the
        pool moves by the same, so between two such items it does not matter.
        """
        p = expit(self.theta[:, None] - b)
        information = p * (1 - p)
        return np.asarray((self.draws.theta - self.theta) @ (information / information.sum(0)))

    def own_sd(self, item: str) -> float:
        """Return an item's sd against what is measured on the pool, logits."""
        b = self.draws.b[:, self.items.index(item)]
        return float((b - self.shift(b.mean(keepdims=True))[:, 0]).std())

    def without(self, models: set[str]) -> Bench:
        """Return the bench without some models."""
        kept = [p for p, name in enumerate(self.models) if name not in models]
        left = np.delete(self.theta, kept)
        return replace(
            self,
            models=tuple(self.models[p] for p in kept),
            matrix_names=tuple(self.matrix_names[p] for p in kept),
            draws=self.draws._replace(theta=self.draws.theta[:, kept]),
            known_prices=None if self.known_prices is None else self.known_prices[kept],
            others=np.concatenate([self.others, left]),
        )

    def with_abilities(self, abilities: dict[str, NDArray[np.float64]]) -> Bench:
        """Return the bench with other draws (S,) of some models' abilities."""
        theta = self.draws.theta.copy()
        for name, drawn in abilities.items():
            theta[:, self.models.index(name)] = drawn
        return replace(self, draws=self.draws._replace(theta=theta))
