"""The work of `benchfill expand`: progress, report, exit code."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchfill_agents.pool.config import read_pool

from ..batch.shared_pools import SharedPools
from ..expand.folder import ExpansionFolder, VersionPlace
from ..expand.loop import ExpandParts, Expansion
from ..expand.record import UNREVIEWED, ExpandReport
from ..fill_job import Watchers, check_names
from ..fill_judge import judge_of
from ..report.expand_page import ShownExpansion, expand_methods, expand_page
from ..report.result import print_result, write_result
from ..review.desk import ReviewDesk
from ..review.provenance import PROVENANCE, Content, read_provenance
from ..settings import Settings
from ..store.connection import connect
from .fill_run import FillWatch, name_providers
from .output import INTERRUPTED
from .progress import counting

if TYPE_CHECKING:
    from rich.progress import Progress

    from ..expand.loop import Expanded
    from ..expand.planning import Wanted
    from ..fill_request import FillRequest
    from ..review.provenance import ItemProvenance
    from .output import CommandOutput

NOT_THERE = 3
_REACHED = {"size", "narrow", "no_gap"}


@dataclass(frozen=True)
class ExpandRequest:
    """What the user asked for."""

    fill: FillRequest
    wanted: Wanted
    auto_accept: bool


def run_expand(request: ExpandRequest, output: CommandOutput) -> None:
    """Expand as far as it goes, and report; the folder holds all that a later run needs."""
    settings = Settings()
    pool = read_pool(request.fill.pool)
    judge = judge_of(request.fill.judge, settings.judge, pool)
    request = replace(request, fill=replace(request.fill, judge=judge))
    fill = request.fill
    check_names(fill)
    given = VersionPlace(fill.items, fill.responses, fill.items.with_name(PROVENANCE))
    with ExpansionFolder(fill.out, given, unreviewed=request.auto_accept) as folder:
        content = Content(
            items_sha256=output.inputs[str(fill.items)],
            responses_sha256=output.inputs[str(fill.responses)],
        )
        folder.begin(content, output.envelope())
        name_providers(fill, pool)
        with counting() as bar:
            done = asyncio.run(_expanded(request, folder, settings, bar))
        shown = ShownExpansion(
            _report(request, done, folder), *done.diagnoses, _added(folder, done)
        )
        _tell(shown, request, output)


async def _expanded(
    request: ExpandRequest, folder: ExpansionFolder, settings: Settings, bar: Progress
) -> Expanded:
    url = settings.redis_url.get_secret_value() if settings.redis_url else None

    def watchers() -> Watchers:
        watch = FillWatch(bar, request.fill.rounds)
        return Watchers(watch.message, watch.rollouts)

    async with (
        connect(url, settings.data_dir) as redis,
        SharedPools([read_pool(request.fill.pool)]) as pools,
    ):
        parts = ExpandParts(
            redis=redis,
            settings=settings,
            pools=pools,
            desk=ReviewDesk(redis, needed=settings.reviews_needed),
            folder=folder,
            fill=request.fill,
            wanted=request.wanted,
            auto_accept=request.auto_accept,
            say=lambda words: bar.console.print(words, markup=False, highlight=False),
            watchers=watchers,
        )
        return await Expansion(parts).run()


def _report(request: ExpandRequest, done: Expanded, folder: ExpansionFolder) -> ExpandReport:
    version = folder.show_version(done.rounds)
    return ExpandReport(
        stopped=done.stop.reason,
        why=done.stop.why,
        unreviewed=request.auto_accept,
        wanted=request.wanted.items,
        max_gap=request.wanted.max_gap,
        rounds=tuple(done.rounds),
        standings=tuple(done.standings),
        waiting=done.waiting,
        spent=done.spent,
        items_file=version.items.name if version else None,
        responses_file=version.responses.name if version else None,
    )


def _added(folder: ExpansionFolder, done: Expanded) -> tuple[ItemProvenance, ...]:
    place = folder.version(done.rounds).provenance
    if place is None or not place.is_file():
        return ()
    return read_provenance(place.read_bytes(), source=str(place))


def _tell(shown: ShownExpansion, request: ExpandRequest, output: CommandOutput) -> None:
    report, out = shown.report, request.fill.out
    label = {"label": UNREVIEWED} if report.unreviewed else {}
    output.result = {**label, **report.model_dump(mode="json"), "out": str(out)}
    if report.stopped == "interrupted":
        output.exit_code = INTERRUPTED
    else:
        output.exit_code = 0 if report.stopped in _REACHED else NOT_THERE
    page, envelope = expand_page(shown), output.envelope()
    write_result(out, envelope, output.document(), page, expand_methods(envelope, shown))
    output.summary = lambda console: print_result(console, page, out)
