"""`benchfill keys`: make, list and revoke the API keys of the service."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from .options import Json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rich.console import Console

    from ..store.api_keys import ApiKey, RedisApiKeys

T = TypeVar("T")
keys = typer.Typer(
    name="keys", help="Make, list and revoke the API keys of the service.", no_args_is_help=True
)


class RoleChoice(StrEnum):
    """What a key may do; each may do what those before it may."""

    READER = "reader"
    REVIEWER = "reviewer"
    OPERATOR = "operator"
    ADMIN = "admin"


@keys.command()
def create(
    *,
    role: Annotated[
        RoleChoice,
        typer.Option(help="reader looks, reviewer judges, operator spends, admin also deletes."),
    ],
    name: Annotated[str, typer.Option(help="Whose it is or what it is for.")] = "",
    rate: Annotated[int, typer.Option(min=1, max=1_000_000, help="Requests a minute.")] = 600,
    daily_usd: Annotated[
        float | None, typer.Option(min=0, help="US dollars that its fills may spend a day.")
    ] = None,
    daily_rollouts: Annotated[
        int | None, typer.Option(min=0, help="Rollouts that its fills may use a day.")
    ] = None,
    json: Json = False,
) -> None:
    """Make a key and show it, this once: only its hash is kept."""
    from .output import command_output

    with command_output("keys create", json=json, seed=None, inputs=[]) as output:

        async def make(store: RedisApiKeys) -> tuple[ApiKey, Any]:
            return await store.create(
                role.value,
                name=name,
                rate_per_minute=rate,
                daily_usd=daily_usd,
                daily_rollouts=daily_rollouts,
            )

        made, secret = _run(make)
        output.result = {"api_key": secret.get_secret_value()} | made.model_dump()

        def summary(console: Console) -> None:
            console.print(secret.get_secret_value(), markup=False, highlight=False, soft_wrap=True)
            typer.echo(f"Key {made.id} ({made.role}); it is shown this once.", err=True)

        output.summary = summary


@keys.command(name="list")
def list_keys(json: Json = False) -> None:
    """List all keys, without what makes them open anything."""
    from .output import command_output

    with command_output("keys list", json=json, seed=None, inputs=[]) as output:

        async def read(store: RedisApiKeys) -> list[ApiKey]:
            return await store.list()

        found = _run(read)
        output.result = {"keys": [key.model_dump() for key in found]}

        def summary(console: Console) -> None:
            from rich.table import Table
            from rich.text import Text

            table = Table("id", "role", "name", "created, UTC", "last used", "state")
            for key in found:
                state = f"revoked {_minute(key.revoked_at)}" if key.revoked_at else "valid"
                times = (_minute(key.created_at), _minute(key.last_used_at))
                row = (key.id, key.role, key.name, *times, state)
                table.add_row(*(Text(cell) for cell in row))
            console.print(table if found else "no key yet; see `benchfill keys create --help`.")

        output.summary = summary


@keys.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the key, see list.")],
    json: Json = False,
) -> None:
    """Revoke a key: from now on it opens nothing."""
    from .output import command_output

    with command_output("keys revoke", json=json, seed=None, inputs=[]) as output:

        async def end(store: RedisApiKeys) -> ApiKey:
            return await store.revoke(key_id)

        revoked = _run(end)
        output.result = revoked.model_dump()
        output.summary = lambda console: console.print(
            f"Key {revoked.id} is revoked.", markup=False, highlight=False
        )


def _minute(time: str | None) -> str:
    return time[:16].replace("T", " ") if time else "-"


def _run(work: Callable[[RedisApiKeys], Awaitable[T]]) -> T:
    import asyncio

    from ..settings import Settings
    from ..store.api_keys import RedisApiKeys
    from ..store.connection import connect

    settings = Settings()

    async def opened() -> T:
        url = settings.redis_url.get_secret_value() if settings.redis_url else None
        async with connect(url, settings.data_dir) as redis:
            return await work(RedisApiKeys(redis))

    return asyncio.run(opened())
