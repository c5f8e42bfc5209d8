"""`--pools` of `serve` and `worker`: both need the same folder, and say what is wrong in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchfill.errors import InputError

if TYPE_CHECKING:
    from ..settings import Settings

Pools = Annotated[Path | None, typer.Option(help="Folder of pool files; else BENCHFILL_POOLS_DIR.")]


def with_pools(settings: Settings, pools: Path | None) -> Settings:
    """Return settings with the folder of the option, if it was given.

    Raises
    ------
    InputError
        The folder is none.
    """
    if pools is not None:
        settings = settings.model_copy(update={"pools_dir": pools.absolute()})
    folder = settings.pools_dir
    if folder is not None and not folder.is_dir():
        raise InputError(
            "is no folder; make it, with a file POOL.yaml for each pool.", source=str(folder)
        )
    return settings


def look_at_pools(folder: Path | None, without: str) -> None:
    """Warn of pools that cannot be used, and, with the words of `without`, where there are none."""
    import structlog

    from benchfill_agents.pool.config import read_pool

    log = structlog.get_logger(__name__)
    if folder is None:
        log.warning(f"there are no pools, so {without}; name a folder with --pools")
        return
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        log.warning(f"there are no pools, so {without}; add a file POOL.yaml", folder=str(folder))
    for path in paths:
        try:
            read_pool(path)
        except InputError as error:
            log.warning("a pool cannot be used", pool=path.stem, why=error.message)
