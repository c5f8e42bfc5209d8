"""What readers and reviewers are not told: which model wrote an item, and what others have asked.

A fill names its writer in its options, in errors, and by whose calls it pays for. Operators run
fills and need all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..jobs.record import FillSpec
from ..store.usage import ModelUsage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..store.api_keys import ApiKey

ALL_MODELS = "all models"
HIDDEN_ERROR = "it failed; an operator can see why."


def is_blind(caller: ApiKey) -> bool:
    """Whether a caller must not learn who wrote an item."""
    return not caller.may("operator")


def without_writer(spec: FillSpec) -> FillSpec:
    """Return a fill's options without the model that writes."""
    return spec.model_copy(update={"writer": None})


def summed(models: Sequence[ModelUsage]) -> list[ModelUsage]:
    """Return what all models took together: the one with calls of its own is the writer."""
    if not models:
        return []
    total = ModelUsage(model=ALL_MODELS)
    for one in models:
        more = {
            name: getattr(total, name) + amount
            for name, amount in one.model_dump(exclude={"model"}).items()
        }
        total = total.model_copy(update=more)
    return [total]
