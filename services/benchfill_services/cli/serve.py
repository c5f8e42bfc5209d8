"""`benchfill serve`: the REST service."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING, Annotated

import typer

from benchfill.errors import InputError

from .pools_folder import Pools

if TYPE_CHECKING:
    import socket

    from ..settings import Settings


def serve(
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    pools: Pools = None,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Let everybody do everything; on loopback only.")
    ] = False,
) -> None:
    """Serve fills over REST; workers (`benchfill worker`) do them."""
    from ..settings import Settings
    from .output import command_output
    from .pools_folder import with_pools

    with command_output("serve", json=False, seed=None, inputs=[]):
        from ..observability.process import observed

        settings = with_pools(Settings(), pools)
        if no_auth and not _is_loopback(host):
            raise InputError(
                f"--no-auth is for loopback only, and {host} is not; leave it out, or listen at "
                "127.0.0.1.",
                field="--host",
            )
        with observed("benchfill-api", settings), _listen(host, port) as listening:
            _look(settings, no_auth=no_auth)
            _serve(settings, listening, no_auth=no_auth)


def _look(settings: Settings, *, no_auth: bool) -> None:
    """Say what is missing. Raises InputError where nothing could be served."""
    import asyncio

    import structlog

    from ..store.api_keys import RedisApiKeys
    from ..store.connection import connect
    from .pools_folder import look_at_pools

    log = structlog.get_logger(__name__)

    async def any_key() -> bool:
        url = settings.redis_url.get_secret_value() if settings.redis_url else None
        async with connect(url, settings.data_dir) as redis:
            return await RedisApiKeys(redis).any_valid()

    if not asyncio.run(any_key()) and not no_auth:
        log.warning("there is no API key yet; run `benchfill keys create --role operator`")
    look_at_pools(settings.pools_dir, "fills are refused")


def _is_loopback(host: str) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # with its protocol named, which `create_server` does not: only then does asyncio switch off
    # Nagle's algorithm, and every answer would take 40 ms longer
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(2048)
    except OSError as error:
        listening.close()
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise InputError(
                f"{host} is no address of this machine; leave it out for 127.0.0.1, or give "
                "0.0.0.0 for all.",
                field="--host",
            ) from None
        reason = os.strerror(error.errno).lower() if error.errno else "no reason given"
        raise InputError(
            f"{host} port {port} cannot be listened at ({reason}); choose another.",
            field="--port",
        ) from None
    return listening


def _serve(settings: Settings, listening: socket.socket, *, no_auth: bool) -> None:
    import structlog

    from ..observability.traces import trace_requests
    from ..rest.app import create_app
    from ..rest.server import Server

    app = create_app(settings, anonymous=no_auth)
    trace_requests(app)
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    structlog.get_logger(__name__).info("listening", url=f"http://{shown}:{port}/v1")
    server = Server(
        app,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=5,
    )
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is how it ends
        server.run(sockets=[listening])
