"""`benchfill serve`: the REST service."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import socket

    from ..settings import Settings


def serve(
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    pools: Annotated[
        Path | None, typer.Option(help="Folder of pool files; else BENCHFILL_POOLS_DIR.")
    ] = None,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Let everybody do everything; on loopback only.")
    ] = False,
) -> None:
    """Serve fills over REST; workers (`benchfill worker`) do them."""
    from ..settings import Settings
    from .output import command_output

    with command_output("serve", json=False, seed=None, inputs=[]):
        settings = Settings()
        if pools is not None:
            settings = settings.model_copy(update={"pools_dir": pools.absolute()})
        _check(settings, host, no_auth=no_auth)
        _serve(settings, host, port, no_auth=no_auth)


def _check(settings: Settings, host: str, *, no_auth: bool) -> None:
    """Refuse what would be unsafe, and say what is missing."""
    from benchfill.errors import InputError
    from benchfill_agents.pool.config import read_pool

    if no_auth and not _is_loopback(host):
        raise InputError(
            f"--no-auth is for loopback only, and {host} is not; leave it out, or listen at "
            "127.0.0.1.",
            field="--host",
        )
    folder = settings.pools_dir
    if folder is None:
        typer.echo("There are no pools: fills are refused. Name a folder with --pools.", err=True)
    elif not folder.is_dir():
        raise InputError("is no folder; name one with pool files.", source=str(folder))
    else:
        for path in sorted(folder.glob("*.yaml")):
            try:
                read_pool(path)
            except InputError as error:
                typer.echo(f"This pool cannot be used: {error}", err=True)


def _is_loopback(host: str) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _serve(settings: Settings, host: str, port: int, *, no_auth: bool) -> None:
    import asyncio

    import uvicorn

    from ..rest.app import create_app
    from ..store.api_keys import RedisApiKeys
    from ..store.connection import connect

    listening = _listen(host, port)

    async def run() -> None:
        url = settings.redis_url.get_secret_value() if settings.redis_url else None
        async with connect(url, settings.data_dir) as redis:
            if not no_auth and not await RedisApiKeys(redis).any_valid():
                typer.echo(
                    "There is no API key yet: make one with "
                    "`benchfill keys create --role operator`.",
                    err=True,
                )
            app = create_app(settings, anonymous=no_auth)
            config = uvicorn.Config(
                app,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=5,
            )
            where, bound = listening.getsockname()[:2]
            shown = f"[{where}]" if ":" in where else where
            typer.echo(f"Listening at http://{shown}:{bound}/v1", err=True)
            await uvicorn.Server(config).serve(sockets=[listening])

    with listening:
        asyncio.run(run())


def _listen(host: str, port: int) -> socket.socket:
    import socket

    from benchfill.errors import InputError

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise InputError(
            f"{host} port {port} cannot be listened at ({reason}); choose another.",
            field="--port",
        ) from None
