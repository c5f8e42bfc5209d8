"""Traces by OpenTelemetry; imported only where the extra `telemetry` is and an endpoint is set."""

from __future__ import annotations

import importlib.metadata
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from .redaction import Redactor

_SECONDS = 3.0  # a collector that is away does not hold up the end of a process for longer
_SILENT = "healthz,readyz,metrics"  # asked every few seconds, and never of interest


class Tracing:
    """Sends the spans of this process to a collector."""

    def __init__(self, service_name: str, endpoint: str, redactor: Redactor) -> None:
        version = importlib.metadata.version("benchfill")
        resource = Resource.create({"service.name": service_name, "service.version": version})
        exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces", timeout=_SECONDS)
        self._redactor = redactor
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._propagator = TraceContextTextMapPropagator()

    def end(self) -> None:
        """Send what is still to be sent."""
        self._provider.shutdown()

    def requests_of(self, app: Any) -> None:
        """Let each request to a FastAPI app be a span."""
        FastAPIInstrumentor.instrument_app(
            app,
            tracer_provider=self._provider,
            excluded_urls=_SILENT,
            exclude_spans=["send", "receive"],  # a stream of events sends thousands of times
        )

    @contextmanager
    def span(
        self, name: str, carrier: Mapping[str, str] | None, attributes: dict[str, Any]
    ) -> Iterator[None]:
        """Time what is done inside."""
        with self._provider.get_tracer("benchfill").start_as_current_span(
            name,
            context=self._propagator.extract(carrier) if carrier else None,
            attributes=self._redactor.value(attributes),
            # the text of an error may hold what nobody should read
            record_exception=False,
            set_status_on_exception=False,
        ) as current:
            try:
                yield
            except BaseException as error:
                current.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    def past_span(
        self,
        name: str,
        times: tuple[datetime, datetime],
        error: str | None,
        attributes: dict[str, Any],
    ) -> None:
        """Note what was done between two times."""
        began, ended = (int(moment.timestamp() * 1e9) for moment in times)
        noted = self._provider.get_tracer("benchfill").start_span(
            name, attributes=self._redactor.value(attributes), start_time=began
        )
        if error is not None:
            noted.set_status(Status(StatusCode.ERROR, error))
        noted.end(ended)

    def inject(self) -> dict[str, str]:
        """Return the current trace for a message."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier

    def ids(self) -> dict[str, str]:
        """Return the current trace and span for a log line; empty outside of any."""
        context = get_current_span().get_span_context()
        if not context.is_valid:
            return {}
        return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}
