"""The command line, one file a command. Nothing heavy is imported before a command runs."""

from __future__ import annotations

import importlib.metadata
from typing import Annotated

import typer

from .batch import batch
from .check import check
from .contamination import contamination
from .demo import demo
from .diagnose import diagnose
from .diff import diff
from .expand import expand
from .export import export
from .fill import fill
from .generate import generate
from .import_ import import_results
from .keys import keys
from .merge import merge
from .plan import plan
from .pool import pool
from .power import power
from .progress_monitoring import progress as monitor_progress  # progress.py draws bars
from .prune import prune
from .ranking import ranking
from .review import review
from .rollouts import rollouts
from .serve import serve
from .suite import suite
from .worker import worker

app = typer.Typer(
    name="benchfill",
    help="Find the holes in a benchmark's difficulty coverage and fill them with new items whose "
    "difficulty was measured.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"benchfill {importlib.metadata.version('benchfill')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


for _command in (
    *(diagnose, check, rollouts, fill, generate, batch, expand, demo, merge, diff, export),
    *(plan, monitor_progress, power, ranking, prune, suite, contamination, serve, worker),
):
    app.command()(_command)
app.command("import")(import_results)
app.add_typer(review)
app.add_typer(keys)
app.add_typer(pool)


def main() -> None:
    """Run the command line."""
    app()
