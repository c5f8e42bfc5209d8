"""Sending a client's requests: in the lines of the pool, again where that helps.

Nothing is left out of a request unless the provider says that it does not take it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from .client_rejections import ClientRejections
from .pool.failures import classify as failure_of
from .provider_errors import ModelCallError, classify

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from .model_client import ModelClientConfig
    from .pool.door import Door, Settle
    from .pool.failures import Failure

    Ask = Callable[[dict[str, Any]], Awaitable[Any]]

_TOO_MANY = 429
_AGAIN = object()


class Sender:
    """Sends the requests of one client.

    Parameters
    ----------
    config
        The client's.
    door
        The lines in which its calls wait, if there are any.
    key
        Returns the key, which no error may show.
    """

    def __init__(
        self, config: ModelClientConfig, door: Door | None, *, key: Callable[[], str | None]
    ) -> None:
        self._config, self._door, self._key = config, door, key
        self.rejections = ClientRejections(config.name, config.kept)

    async def send(
        self,
        ask: Ask,
        request: dict[str, Any],
        *,
        may_retry: Callable[[], bool] = lambda: True,
    ) -> Any:
        """Return the response to a request, which `ask` makes of it once.

        Raises
        ------
        ProviderError
            There is none, after all retries that are worth it.
        """

        async def attempt() -> Any:
            while True:
                found = await self._once(ask, request)
                if isinstance(found, ModelCallError):
                    raise found
                if found is not _AGAIN:
                    return found

        def is_worth_it(error: BaseException) -> bool:
            if not isinstance(error, ModelCallError) or not error.retryable:
                return False
            return may_retry() and (error.retry_after or 0) <= self._config.longest_pause

        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._config.retries + 1),
            wait=self._wait,
            retry=retry_if_exception(is_worth_it),
            reraise=True,
        )
        return await retrying(attempt)

    async def _once(self, ask: Ask, request: dict[str, Any]) -> Any:
        """Return the response to one call, its error, or `_AGAIN`: now with less in it.

        The error is returned and not raised: the provider's own, which may hold the key, must not
        travel along as its context.
        """
        sent = self.rejections.fitted(request)
        async with self._passing(request) as settle:
            try:
                async with asyncio.timeout(self._config.timeout):
                    response = await ask(sent)
            except Exception as error:
                failed, failure = self._read(error)
            else:
                settle(_tokens(response))
                return response
        if self.rejections.take_note(failure, sent):
            return _AGAIN
        pause = failed.retry_after or 0.0
        if self._door and failed.status == _TOO_MANY and pause <= self._config.longest_pause:
            self._door.pause(pause)
        return failed

    def _read(self, error: Exception) -> tuple[ModelCallError, Failure]:
        key = self._key()
        return classify(error, model=self._config.name, key=key), failure_of(error, key)

    @contextlib.asynccontextmanager
    async def _passing(self, request: dict[str, Any]) -> AsyncIterator[Settle]:
        """Wait in the lines, if there are any, until a call may go out."""
        if self._door is None:
            yield lambda _used: None
            return
        chars = sum(len(str(one.get("content") or "")) for one in request["messages"])
        async with self._door.passing(chars) as settle:
            yield settle

    def _wait(self, state: RetryCallState) -> float:
        """Wait as long as the provider asks, else twice as long each time."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, ModelCallError) and error.retry_after is not None:
            return error.retry_after
        wait = wait_random_exponential(self._config.first_wait, self._config.longest_wait)
        return wait(state)


def _tokens(response: Any) -> int | None:
    """Return the tokens of prompt and reply; None where the provider did not tell."""
    usage = getattr(response, "usage", None)
    return getattr(usage, "total_tokens", None) or None
