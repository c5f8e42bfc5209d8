"""A span for each call of a model, inside that of the job it is made for.

litellm tells of every call that ended, in the context in which it was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import benchfill_agents  # noqa: F401  # isort: skip
import litellm  # after our agents, which keep it from fetching its price list
from litellm.integrations.custom_logger import CustomLogger

from .traces import past_span

if TYPE_CHECKING:
    from datetime import datetime


class _ModelCalls(CustomLogger):
    async def async_log_success_event(
        self, kwargs: Any, response_obj: Any, start_time: datetime, end_time: datetime
    ) -> None:
        usage = getattr(response_obj, "usage", None)
        past_span(
            "model call",
            start_time,
            end_time,
            model=kwargs.get("model"),
            prompt_tokens=getattr(usage, "prompt_tokens", None),
            completion_tokens=getattr(usage, "completion_tokens", None),
        )

    async def async_log_failure_event(
        self,
        kwargs: Any,
        response_obj: Any,  # noqa: ARG002 - litellm's signature
        start_time: datetime,
        end_time: datetime,
    ) -> None:
        error = type(kwargs.get("exception")).__name__
        past_span("model call", start_time, end_time, error=error, model=kwargs.get("model"))


def trace_model_calls() -> None:
    """Let each call of a model from this process be a span; once is enough."""
    if not any(isinstance(known, _ModelCalls) for known in litellm.callbacks):
        litellm.callbacks.append(_ModelCalls())
