"""Progress on stderr, so that stdout stays for results."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something of unknown length goes on, and for how long it has."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(what, total=None)
        yield


@contextlib.contextmanager
def counting_up(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show that something goes on; with an estimate once the yielded function is called.

    It takes what is done and what there is to do in all.
    """
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=10),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def counting() -> Progress:
    """Return bars for work of known length, with an estimate of what is left."""
    return Progress(
        TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis")),
        BarColumn(bar_width=10),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TimeRemainingColumn(elapsed_when_finished=True, table_column=Column(no_wrap=True)),
        console=Console(stderr=True),
    )
