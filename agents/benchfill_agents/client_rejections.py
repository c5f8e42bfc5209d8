"""What a client's requests go without, since the provider says that it does not take it.

As for rollouts (`pool/rejections.py`): what a provider names is left out of further calls and a
warning says it once. Nothing is left out in silence, and nothing on which a reply depends.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from benchfill.errors import ProviderError

from .pool.rejections import NEVER_LEFT_OUT, SAMPLING, advice_on, rejected_by

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from .pool.failures import Failure

SCHEMA = "response_format"
"""May be missing, too: prompts describe the JSON that they ask for, and replies are checked."""
_NEEDED = (*NEVER_LEFT_OUT, "tools", "tool_choice")
_logger = logging.getLogger(__name__)


class ClientRejections:
    """What one client found out.

    Parameters
    ----------
    name
        What errors and warnings call the model.
    kept
        Parameters that the user does not want left out: their rejection is an error.
    """

    def __init__(self, name: str, kept: Collection[str] = ()) -> None:
        self._name, self._kept = name, frozenset(kept)
        self._left_out: set[str] = set()

    @property
    def left_out(self) -> tuple[str, ...]:
        """The parameters that are not sent any more, in alphabetical order."""
        return tuple(sorted(self._left_out))

    def fitted(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request without them."""
        return {name: value for name, value in request.items() if name not in self._left_out}

    def take_note(self, failure: Failure, sent: Mapping[str, Any]) -> bool:
        """Note what a failed call says is rejected; returns whether the call is worth repeating.

        Raises
        ------
        ProviderError
            It is nothing that may be left out.
        """
        named = [name for name in (*SAMPLING, SCHEMA, *_NEEDED) if name in sent]
        names = rejected_by(failure, named)
        if not names:
            return False
        listed = " and ".join(names)
        if not set(names) <= {*SAMPLING, SCHEMA} - self._kept:
            raise ProviderError(
                f"model {self._name!r}: the provider does not take {listed} ({failure.message}); "
                f"{advice_on(names)}.",
                model=self._name,
            )
        self._left_out |= set(names)
        _logger.warning(
            "model %r: the provider does not take %s (%s); it is asked without.",
            self._name,
            listed,
            failure.message,
        )
        return True
