"""uvicorn's server, which ends streams of events before it waits for connections to close."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import uvicorn

if TYPE_CHECKING:
    import socket

    from fastapi import FastAPI


class Server(uvicorn.Server):
    """Serves an application of `create_app`.

    A stream lasts as long as its fill. Left to uvicorn it would hold up the end of the service for
    all the time that connections have to close, and then be broken off with a traceback.
    """

    def __init__(self, app: FastAPI, **options: Any) -> None:
        super().__init__(uvicorn.Config(app, **options))
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then everything else."""
        service = getattr(self._app.state, "service", None)  # none where it has not started
        if service is not None:
            service.hub.close()
        await super().shutdown(sockets)
