"""A provider that follows a script: real HTTP, the OpenAI API, and bad days on order.

It stands for a paid provider only; nothing of BenchFill is mocked. In a test::

    scripted_server.script([Reply(status=429, retry_after=0.1), "7"])   # then arithmetic
    scripted_server.script(lambda request: Reply(text=request.model))   # any number of times
    scripted_server.url                                                 # http://127.0.0.1:P/v1
    scripted_server.counts()                                            # Counter of request keys

As a process of its own (it outlives the SIGKILL of its client), which prints its address::

    python tests/support/scripted_server.py --port 0 --log requests.jsonl --delay 0.05

`read_log` reads the log back. Header values are never written, their names are.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import runpy
import select
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if __name__ == "__main__":  # started as a file: make `support` importable
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.openai_api import (
    Reply,
    Request,
    chat_body,
    completion_body,
    default_reply,
    error_body,
    events,
)

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Record", "Reply", "Request", "Script", "ScriptedServer", "default_reply", "read_log"]


@dataclass(frozen=True)
class Record:
    """One line of the log: a request and what became of it.

    `sent` means that the client was there when the reply began and that all of it was handed to
    the network; a client that dies in that very moment may still not have read it.
    """

    key: str
    path: str
    model: str
    body: dict[str, Any]
    header_names: tuple[str, ...]
    received_at: float
    finished_at: float
    status: int
    sent: bool


Script = Callable[[Request], "Reply | str"] | Sequence["Reply | str"]


def read_log(path: str | Path) -> list[Record]:
    """Read the records that a server appended to its log, as far as they are written whole."""
    lines = Path(path).read_text(encoding="utf-8").split("\n")[:-1]
    rows = [json.loads(line) for line in lines]
    return [Record(**{**row, "header_names": tuple(row["header_names"])}) for row in rows]


class ScriptedServer:
    """The provider; a context manager that serves from a thread."""

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        log: str | Path | None = None,
        script: Script = (),
        delay: float = 0,
    ) -> None:
        self.records: list[Record] = []
        self.models: tuple[str, ...] = ("scripted",)
        self._log = Path(log) if log is not None else None
        self._delay = delay
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self.script(script)
        self._http = _HTTPServer((host, port), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        with self._lock:
            left = list(self._connections)
        for connection in left:  # idle keep-alive connections would hold their threads
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @property
    def url(self) -> str:
        """Base URL, with ``/v1``."""
        host, port = self._http.server_address[:2]
        return f"http://{host!s}:{port}/v1"

    def script(self, script: Script) -> None:
        """Set what comes next: a function of the request, or replies in order and then sums."""
        with self._lock:
            self._answer = script if callable(script) else None
            self._queue = [] if callable(script) else list(script)

    def counts(self) -> Counter[str]:
        """How often each request was fully answered with status 200, by key."""
        with self._lock:
            return Counter(r.key for r in self.records if r.sent and r.status == 200)

    def reply_to(self, request: Request) -> Reply:
        """Take the script's next reply."""
        with self._lock:
            queued = self._queue.pop(0) if self._queue else None
            answer = self._answer or default_reply
        reply = queued if queued is not None else answer(request)
        reply = Reply(text=reply) if isinstance(reply, str) else reply
        time.sleep(self._delay + reply.delay)
        return reply

    def record(self, request: Request, reply: Reply, *, sent: bool) -> None:
        """Remember a request and append it to the log."""
        record = Record(
            key=request.key,
            path=request.path,
            model=request.model,
            body=request.body,
            header_names=tuple(sorted(request.headers)),
            received_at=request.received_at,
            finished_at=time.time(),
            status=reply.status,
            sent=sent,
        )
        with self._lock:
            self.records.append(record)
            if self._log is not None:
                with self._log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps(asdict(record)) + "\n")

    def track(self, connection: socket.socket, *, is_open: bool) -> None:
        """Keep the list of open connections."""
        with self._lock:
            (self._connections.add if is_open else self._connections.discard)(connection)


class _HTTPServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    owner: ScriptedServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is an ordinary event here."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    _current: tuple[Request, Reply] | None = None

    @property
    def _owner(self) -> ScriptedServer:
        return cast("_HTTPServer", self.server).owner

    def setup(self) -> None:
        super().setup()
        self._owner.track(self.connection, is_open=True)

    def finish(self) -> None:
        self._owner.track(self.connection, is_open=False)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing; the log is ours."""

    def do_GET(self) -> None:
        found = self.path.rstrip("/") == "/v1/models"
        models = [{"id": name, "object": "model"} for name in self._owner.models]
        body = {"object": "list", "data": models} if found else error_body(404, "no such page")
        self._send(json.dumps(body).encode(), Reply(status=200 if found else 404))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, json.loads(raw), headers, received_at=time.time())
        if self.path not in {"/v1/chat/completions", "/v1/completions"}:
            self._send(json.dumps(error_body(404, "no such page")).encode(), Reply(status=404))
            return
        reply = self._owner.reply_to(request)
        self._current = (request, reply)
        try:
            if not self._client_has_left():
                self._answer(request, reply)
        except OSError:
            self.close_connection = True
        finally:
            self._record(sent=False)

    def _record(self, *, sent: bool) -> None:
        if self._current is not None:
            self._owner.record(*self._current, sent=sent)
            self._current = None

    def _write_last(self, data: bytes) -> None:
        """Record, then write: a client that has the reply finds it in the records."""
        self.wfile.write(data[:-1])
        self._record(sent=True)
        self.wfile.write(data[-1:])

    def _answer(self, request: Request, reply: Reply) -> None:
        if reply.status == 200 and request.body.get("stream"):
            self._stream(request, reply)
            return
        if reply.status != 200:
            body = error_body(reply.status, reply.text, reply.parameter)
        elif request.path == "/v1/chat/completions":
            body = chat_body(request, reply)
        else:
            body = completion_body(request, reply)
        self._send(json.dumps(body).encode(), reply)

    def _send(self, body: bytes, reply: Reply) -> None:
        if reply.malformed:
            body = body[: len(body) // 2]
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if reply.retry_after is not None:
            self.send_header("Retry-After", f"{reply.retry_after:g}")
        self.end_headers()
        if reply.reset:
            self.wfile.write(body[: len(body) // 2])
            self._reset()
            return
        self._write_last(body)

    def _stream(self, request: Request, reply: Reply) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        script = list(events(request, reply))
        for number, event in enumerate(script):
            if reply.reset and number >= len(script) // 2:
                self._reset()
                return
            line = json.dumps(event)
            if reply.malformed and number == len(script) // 2:
                line = line[: len(line) // 2]
            self.wfile.write(f"data: {line}\n\n".encode())
            time.sleep(reply.chunk_delay)
        self._write_last(b"data: [DONE]\n\n")

    def _reset(self) -> None:
        """Record, then cut: a client that sees the cut finds it in the records."""
        self._record(sent=False)
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._owner.track(self.connection, is_open=False)
        os.close(self.connection.detach())

    def _client_has_left(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--script", help="FILE.py:NAME, a function Request -> Reply or a list")
    arguments = parser.parse_args()
    script: Script = ()
    if arguments.script:
        file, _, name = arguments.script.rpartition(":")
        script = cast("Script", runpy.run_path(file)[name])
    with ScriptedServer(
        port=arguments.port, log=arguments.log, script=script, delay=arguments.delay
    ) as server:
        print(server.url, flush=True)  # noqa: T201 - the caller waits for the address
        threading.Event().wait()


if __name__ == "__main__":
    main()
