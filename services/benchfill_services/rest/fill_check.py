"""Whether a fill can be done at all: refused at the door, not after minutes in a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchfill.errors import InputError
from benchfill_agents.pool.providers import refuse_providers_elsewhere

from ..fill_judge import NOBODY
from ..store.benchmarks import UnknownBenchmarkError
from .pools import pool_of
from .problem import ProblemError, wrong_field

if TYPE_CHECKING:
    from benchfill_agents.pool.config import Pool

    from ..jobs.record import FillSpec
    from ..store.benchmarks import BenchmarkVersion
    from .service import Service


async def checked(service: Service, spec: FillSpec) -> Pool:
    """Return the fill's pool, when it fits the benchmark and may ask about it.

    Raises
    ------
    ProblemError
        422, with the field at fault.
    """
    try:
        version = await service.benchmarks.get(spec.benchmark, spec.version)
        contents = await service.contents.of(version)
    except UnknownBenchmarkError as error:
        raise wrong_field("body", "benchmark", error.message, "unknown-benchmark") from None
    try:
        pool = await pool_of(service, spec.pool)
    except ProblemError as error:
        raise wrong_field("body", "pool", error.detail, error.kind) from None
    _refuse_away(version, pool)
    _refuse_writer(spec, pool)
    for model in pool.models:
        if model.response_name not in contents.models:
            raise wrong_field(
                "body",
                "pool",
                f"its model {model.name!r} stands in no line of the responses (as "
                f"{model.response_name!r}); set its matrix_name, or add its responses.",
            )
    if spec.rewriter == "template" and not contents.templates:
        raise wrong_field("body", "rewriter", "no item has a template; use llm.")
    return pool


def _refuse_away(version: BenchmarkVersion, pool: Pool) -> None:
    if not version.local_only:
        return
    try:
        refuse_providers_elsewhere(pool, version.benchmark)
    except InputError as error:
        raise wrong_field("body", "pool", error.message, "local-only") from None


def _refuse_writer(spec: FillSpec, pool: Pool) -> None:
    names = [model.name for model in pool.models]
    if spec.writer is not None and spec.writer not in names:
        raise wrong_field("body", "writer", f"the pool has {', '.join(names)}.")
    judges = [model.name for model in pool.who_may_judge]
    if spec.judge not in {None, NOBODY, *judges}:
        raise wrong_field("body", "judge", f"the pool has {', '.join(judges)}.")
    chats = any(model.writes for model in pool.models)
    if spec.rewriter == "llm" and spec.writer is None and not chats:
        raise wrong_field(
            "body",
            "pool",
            "the llm rewriter needs a model of chat style, and the pool has none; add one, or use "
            "the template rewriter.",
        )
