"""Traces across API, jobs and model calls, when an OpenTelemetry endpoint is configured.

A job carries the trace of the request that made it: the API keeps `inject()` with the job, and the
worker opens its span with it, as ``span("job", carrier=kept, job=job_id)``; the spans of its steps
and model calls lie inside. Without an endpoint all of this does nothing and imports nothing.
"""

from __future__ import annotations

import importlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from benchfill.errors import InputError

from ..settings import environment_secrets
from .redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from structlog.typing import EventDict

    from ..settings import Settings
    from .otlp import Tracing

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


class _Process:
    """What this process does with its spans."""

    tracing: Tracing | None = None


def setup_traces(service_name: str, settings: Settings) -> bool:
    """Send this process's spans to the configured endpoint; False when there is none.

    What else OpenTelemetry reads from the environment, such as `OTEL_EXPORTER_OTLP_HEADERS`, holds.

    Raises
    ------
    InputError
        An endpoint is configured and the extra `telemetry` is not installed.
    """
    if settings.otlp_endpoint is None:
        return False
    try:
        otlp = importlib.import_module(".otlp", __package__)
    except ImportError:
        raise InputError(
            "traces need the extra `telemetry`; pip install 'benchfill[telemetry]', or unset it.",
            source=_ENDPOINT,
        ) from None
    end_traces()
    redactor = Redactor(environment_secrets())
    _Process.tracing = otlp.Tracing(service_name, settings.otlp_endpoint, redactor)
    return True


def end_traces() -> None:
    """Send what is still to be sent and trace no more; call it when the process ends."""
    tracing, _Process.tracing = _Process.tracing, None
    if tracing is not None:
        tracing.end()


def trace_requests(app: Any) -> None:
    """Let each request to a FastAPI app be a span."""
    if _Process.tracing is not None:
        _Process.tracing.requests_of(app)


@contextmanager
def span(
    name: str, *, carrier: Mapping[str, str] | None = None, **attributes: str | float | None
) -> Iterator[None]:
    """Time what is done inside; it belongs to the span around it, or to that of a carrier.

    Attributes that are None are left out. An error is noted by the name of its class only.
    """
    if _Process.tracing is None:
        yield
        return
    known = {key: value for key, value in attributes.items() if value is not None}
    with _Process.tracing.span(name, carrier, known):
        yield


def past_span(
    name: str,
    began: datetime,
    ended: datetime,
    *,
    error: str | None = None,
    **attributes: str | float | None,
) -> None:
    """Note what was done before; `error` is the name of a class."""
    if _Process.tracing is not None:
        known = {key: value for key, value in attributes.items() if value is not None}
        _Process.tracing.past_span(name, (began, ended), error, known)


def inject() -> dict[str, str]:
    """Return the current trace as a dictionary to send along; empty without one."""
    return {} if _Process.tracing is None else _Process.tracing.inject()


def add_trace(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Add the current trace to a log line, as a processor of structlog."""
    if _Process.tracing is not None:
        event.update(_Process.tracing.ids())
    return event
