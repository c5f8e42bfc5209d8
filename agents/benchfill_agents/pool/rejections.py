"""Parameters that a provider says it does not take: which, and what goes on without them.

Reasoning models take no temperature, some servers no seed. What the provider names is left out of
the model's further calls, every rollout records it, and a warning says it once. What would change
what is measured, or what it costs, is never left out: the effort, and the limit of tokens.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from benchfill.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Collection

    from .config import Pool, PoolModel
    from .failures import Failure

SAMPLING = ("temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty")
"""Parameters that a model may be asked without."""
NEVER_LEFT_OUT = ("max_tokens", "max_completion_tokens", "reasoning_effort")

_REJECTS = re.compile(
    r"unsupported|n[o']t\s+support|not\s+(?:permitted|allowed|available)|unrecogni[sz]ed|unknown"
    r"|unexpected|deprecated|extra (?:inputs|fields)|only the default",
    re.IGNORECASE,
)
_FIELD = re.compile(r"[.\[]")
_TOGETHER = re.compile(r"\bboth\b|together|in combination|at the same time", re.IGNORECASE)
_logger = logging.getLogger(__name__)


def rejected_by(failure: Failure, sent: Collection[str]) -> tuple[str, ...]:
    """Return those of the parameters sent that a failure says the provider does not take.

    None when it says something else about them: a value out of range, or two that exclude each
    other, is for the user to mend.
    """
    if failure.status not in {400, 422} or not _REJECTS.search(failure.message):
        return ()
    if _TOGETHER.search(failure.message):
        return ()
    if failure.parameter is not None:
        named = _FIELD.split(failure.parameter)[0]  # of response_format.json_schema its first
        return (named,) if named in sent else ()
    return tuple(name for name in sent if re.search(rf"\b{name}\b", failure.message))


class Rejections:
    """What each model of a pool is asked without, as found out in one run."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._left_out: dict[str, frozenset[str]] = {}

    def left_out(self, model: PoolModel) -> tuple[str, ...]:
        """Return the parameters that this model is asked without, in alphabetical order."""
        return tuple(sorted(self._left_out.get(model.name, ())))

    def take_note(self, model: PoolModel, failure: Failure, sent: Collection[str]) -> bool:
        """Note what a failed call says is rejected; returns whether the call is worth repeating.

        Raises ProviderError when the pool file does not want anything left out, when it is nothing
        that may be left out, or when two members would then be asked in the same way.
        """
        names = rejected_by(failure, (*sent, *NEVER_LEFT_OUT))
        if not names:
            return False
        listed = " and ".join(names)
        if model.rejected_parameters == "refuse" or not set(names) <= set(SAMPLING):
            raise ProviderError(
                f"model {model.name!r}: the provider does not take {listed} ({failure.message}); "
                f"{advice_on(names)}.",
                model=model.name,
            )
        if not set(names) <= self._left_out.get(model.name, frozenset()):
            self._leave_out(model, names)
            _logger.warning(
                "model %r: the provider does not take %s (%s); it is asked without, and every "
                "rollout says so.",
                model.name,
                listed,
                failure.message,
            )
        return True

    def _leave_out(self, model: PoolModel, names: tuple[str, ...]) -> None:
        before = self._left_out.get(model.name, frozenset())
        self._left_out[model.name] = before | set(names)
        own = self._pool.identity_of(model, self.left_out(model))
        for other in self._pool.models:
            if other.name == model.name:
                continue
            if self._pool.identity_of(other, self.left_out(other)) == own:
                raise ProviderError(
                    f"models {other.name!r} and {model.name!r} differ only in "
                    f"{' and '.join(names)}, which the provider does not take, so they are one "
                    "model; remove one from the pool.",
                    model=model.name,
                )


def advice_on(names: Collection[str]) -> str:
    """Say what to do about parameters that a provider does not take, but must be sent."""
    if "max_tokens" in names:
        return "limit the reply by max_completion_tokens instead"
    if "max_completion_tokens" in names:
        return "limit the reply by max_tokens instead"
    return "remove it from the model's parameters"
