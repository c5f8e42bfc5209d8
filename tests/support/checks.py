"""A check to be shown: a small one, and what it would look like with many items."""

from __future__ import annotations

from functools import cache

import numpy as np

from benchfill import FitCheck, ResponseMatrix, check_fit, fit_1pl
from support.flawed import flawed_matrix


def flawed(name: str = "m") -> ResponseMatrix:
    """Ten models, one of them copied, and 30 items, one of them with a flipped key."""
    matrix, _ = flawed_matrix(np.random.default_rng(5), (10, 30, 4), "flipped key")
    correct = matrix.correct.copy()
    correct[1] = correct[0]
    return ResponseMatrix(
        models=tuple(f"{name}-{j}" for j in range(10)),
        items=tuple(f"{name}-item-{i}" for i in range(30)),
        correct=correct,
        n=matrix.n.copy(),
    )


@cache
def make_check(name: str = "m") -> FitCheck:
    """The check of `flawed`."""
    return check_fit(fit_1pl(flawed(name), engine="map"), folds=2, replicates=20)


def with_items(check: FitCheck, count: int, listed: int) -> FitCheck:
    """The same check with more items around the same figures, some of them findings."""
    rng = np.random.default_rng(count)
    known = [one for one in check.item_fits if one.infit is not None and one.outfit is not None]
    items = tuple(
        one.model_copy(
            update={
                "item": f"{one.item}/{i}",
                "b": float(rng.normal(0, 2)),
                "infit": float(one.infit or 1) * float(rng.lognormal(0, 0.3)),
                "outfit": float(one.outfit or 1) * float(rng.lognormal(0, 0.8)),
            }
        )
        for i in range(count)
        for one in [known[i % len(known)]]
    )
    finding = next(one for one in check.findings if one.kind == "inverted_item")
    kinds = ("inverted_item", "misfit_item")
    findings = tuple(
        finding.model_copy(update={"names": (items[i].item,), "kind": kinds[i % 2]})
        for i in range(listed)
    )
    return check.model_copy(update={"item_fits": items, "findings": findings})
