"""From the suite to its items: where in which benchmark a new item would tell most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnosis import Estimate, diagnose
from ..errors import FitError
from ..onepl import fit_1pl
from .result import BenchmarkItems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..responses import ResponseMatrix


def items_of(
    responses: Mapping[str, ResponseMatrix], irreplaceable: Mapping[str, float], *, seed: int
) -> tuple[BenchmarkItems, ...]:
    """Diagnose each benchmark's items by a MAP fit.

    Parameters
    ----------
    responses
        Response matrix by benchmark.
    irreplaceable
        Irreplaceability by benchmark; those that have none are not in the suite.
    seed
        Of the draws.

    Returns
    -------
    Where a new item helps most, first: the largest irreplaceability times G. A benchmark that the
    others tell needs no item; one without a gap has no place for it. The product is ours.
    """
    found = [
        _diagnosed(name, matrix, irreplaceable.get(name, 0.0), seed)
        for name, matrix in responses.items()
    ]
    return tuple(sorted(found, key=lambda one: -one.help))


def _diagnosed(
    name: str, matrix: ResponseMatrix, irreplaceable: float, seed: int
) -> BenchmarkItems:
    size = {"benchmark": name, "models": len(matrix.models), "items": len(matrix.items)}
    try:
        diagnosis = diagnose(fit_1pl(matrix, engine="map", seed=seed))
    except FitError as error:
        return BenchmarkItems(
            **size,
            ddm=None,
            widest_gap=None,
            gap_left=None,
            gap_right=None,
            verdict=None,
            help=0.0,
            problem=error.message,
        )
    widest = diagnosis.gaps[0] if diagnosis.gaps else None
    return BenchmarkItems(
        **size,
        ddm=_plain(diagnosis.ddm),
        widest_gap=_plain(diagnosis.max_gap),
        gap_left=widest.z_left if widest else None,
        gap_right=widest.z_right if widest else None,
        verdict=widest.verdict if widest else None,
        help=irreplaceable * diagnosis.max_gap.value,
        problem=None,
    )


def _plain(one: Estimate) -> Estimate:
    """Drop what a subclass says beyond the estimate."""
    return Estimate(value=one.value, q05=one.q05, q95=one.q95, plugin=one.plugin)
