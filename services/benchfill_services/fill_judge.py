"""Who judges a fill's children: a model of its pool, and what it is asked with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchfill.errors import InputError
from benchfill_agents.embeddings import SentenceEmbedder, installed
from benchfill_agents.validator.judge import Judge
from benchfill_agents.validator.judge_calls import JudgeCalls

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from benchfill_agents.embeddings import Embedder
    from benchfill_agents.model_client import LiteLLMChatCompletionClient
    from benchfill_agents.pool.config import Pool, PoolModel
    from benchfill_agents.spending import Allowance
    from benchfill_agents.steps import StepRecord

NOBODY = "none"
"""Stands for no judge, where the settings name one."""
VECTORS = "embeddings.sqlite"


def judge_of(name: str | None, default: str | None, pool: Pool) -> str | None:
    """Return the judge's name: the one that was asked for, else the settings', if the pool has it.

    The settings hold for all pools, so it is no error that one has no such model.
    """
    if name is None:
        return default if default in {model.name for model in pool.who_may_judge} else None
    return None if name == NOBODY else name


def judging_model(name: str, pool: Pool) -> PoolModel:
    """Return the model with that name, of the pool's models or its judges.

    Raises
    ------
    InputError
        There is none.
    """
    for model in pool.who_may_judge:
        if model.name == name and model.runner is None:  # a runner answers, no more
            return model
    known = ", ".join(model.name for model in pool.who_may_judge)
    raise InputError(
        f"the pool has no model {name!r} that could judge; it has {known}. Add it to the pool file "
        "under `judges`.",
        field="--judge",
    )


def make_judge(  # noqa: PLR0913 - keyword-only but for two
    model: PoolModel,
    client: LiteLLMChatCompletionClient,
    *,
    pool: Pool,
    steps: StepRecord,
    allowance: Allowance,
    permit: Callable[[], Awaitable[None]] | None,
) -> Judge:
    """Return the judge of one job."""
    calls = JudgeCalls(
        client,
        identity=f"{model.name} {model.parameters_hash}",
        steps=steps,
        allowance=allowance,
        permit=permit,
        at_once=model.max_concurrency,
    )
    return Judge(calls, pool.scoring)


def embedder_of(data_dir: Path) -> Embedder | None:
    """Return what makes sentence embeddings, if the extra is installed; nothing is loaded yet."""
    return SentenceEmbedder(data_dir / VECTORS) if installed() else None
