"""What a test of progress is asked to do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError


@dataclass(frozen=True)
class ProgressTest:
    """What is to be tested, and how.

    Parameters
    ----------
    interval
        (left, right) on the z scale, both ends included; None scans all intervals.
    alpha
        Level of the test and of each confidence limit, in (0, .5].
    permutations
        Permutations of a scan.
    randomised_ties
        Let a lot decide ties, so that the level is alpha itself rather than at most alpha.
    seed
        Seed of permutations and lots.

    Raises
    ------
    InputError
        An interval that is none or not on the scale, a level outside (0, .5], or fewer
        permutations than a rejection at that level takes.
    """

    interval: tuple[float, float] | None = None
    alpha: float = 0.05
    permutations: int = 9999
    randomised_ties: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 0.5:
            raise InputError(f"{self.alpha:g} is no level; give one over 0 and up to 0.5.")
        if self.interval is not None:
            left, right = self.interval
            if not 0 <= left < right <= 1:
                raise InputError(
                    f"from {left:g} to {right:g} is no interval of the difficulty scale, which "
                    "runs from 0 (easiest item) to 1 (hardest); give L,R with 0 <= L < R <= 1."
                )
        elif (self.permutations + 1) * self.alpha < 1:
            raise InputError(
                f"{self.permutations} permutations can never reach the level {self.alpha:g}; "
                f"take at least {int(np.ceil(1 / self.alpha)) - 1}."
            )
