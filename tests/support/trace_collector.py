"""A collector of traces: takes what OpenTelemetry sends over HTTP and keeps it."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

if TYPE_CHECKING:
    from opentelemetry.proto.trace.v1.trace_pb2 import Span


class TraceCollector:
    """Listens on a port of the loopback address."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                known = self.path == "/v1/traces"
                if known:
                    collector.bodies.append(body)
                self.send_response(200 if known else 404)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def endpoint(self) -> str:
        """What goes into OTEL_EXPORTER_OTLP_ENDPOINT."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def spans(self) -> dict[str, Span]:
        """Return the spans by name; no two may share one."""
        found = self.all_spans()
        by_name = {span.name: span for span in found}
        assert len(by_name) == len(found), "spans share a name"
        return by_name

    def all_spans(self) -> list[Span]:
        """Return all spans, in the order in which they came."""
        return [
            span
            for body in self.bodies
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
