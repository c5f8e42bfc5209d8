"""What every result that rests on a fit says about that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from .onepl import Fit1PL


class FitSummary(BaseModel):
    """How the fit was made."""

    model_config = ConfigDict(frozen=True)

    engine: str
    seconds: float
    max_rhat: float | None
    min_ess_bulk: float | None
    divergences: int | None

    @classmethod
    def of(cls, fit: Fit1PL) -> FitSummary:
        """Summarise a fit."""
        return cls(
            engine=fit.engine,
            seconds=fit.seconds,
            max_rhat=fit.max_rhat,
            min_ess_bulk=fit.min_ess_bulk,
            divergences=fit.divergences,
        )


class FittedResult(BaseModel):
    """The size of the fitted matrix and how it was fitted; the base of all such results."""

    model_config = ConfigDict(frozen=True)

    models: int
    items: int
    missing_cells: int
    fit: FitSummary


def fit_facts(fit: Fit1PL) -> dict[str, Any]:
    """Return the fields of `FittedResult`, to be passed on to a subclass."""
    data = fit.responses
    return {
        "models": len(data.models),
        "items": len(data.items),
        "missing_cells": data.missing_cells,
        "fit": FitSummary.of(fit),
    }
