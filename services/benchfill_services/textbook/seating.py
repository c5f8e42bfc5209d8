"""Which models sit where: named by the user, else taken from the pool, of different families."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr

from benchfill.errors import InputError
from benchfill_agents.model_client import LiteLLMChatCompletionClient
from benchfill_agents.pool.calls import load_litellm, read_key
from benchfill_agents.pool.config import LOCAL, PoolModel
from benchfill_agents.pool.door import Door
from benchfill_agents.pool.pace import Pace
from benchfill_agents.pool.together import CallLimits
from benchfill_agents.textbook.seat import Meter, Seat, Seats, family_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchfill_agents.pool.config import Pool
    from benchfill_agents.pool.rollouts import RolloutRunner
    from benchfill_agents.textbook.seat import Role

TOO_SMALL = (
    "the local models cannot write items from a textbook; name models that can with --designer, "
    "--verifier and --solver, as models of a pool file (--pool) or as litellm ids like "
    "openai/gpt-4o, and put their keys into the environment."
)


@dataclass(frozen=True)
class SeatedModels:
    """The models of the three seats."""

    designer: PoolModel
    verifier: PoolModel
    solver: PoolModel

    @property
    def by_role(self) -> dict[Role, PoolModel]:
        """The models by their role."""
        return {"Designer": self.designer, "Verifier": self.verifier, "Solver": self.solver}


def models_of(
    designer: str | None, verifier: str | None, solver: str | None, pool: Pool | None
) -> SeatedModels:
    """Return the models of the three seats.

    A seat that nobody was named for is taken from the pool, its judges first: the first chat model
    that is not local, of a family that no other seat has where there is one.

    Raises
    ------
    InputError
        A name is unknown, a model is too small, there are too few, or a key is missing.
    """
    free = [m for m in _models(pool) if m.writes and m.api_base != LOCAL]
    taken: list[PoolModel] = []
    for option, name in (("--designer", designer), ("--verifier", verifier), ("--solver", solver)):
        if name is not None:
            taken.append(_named(name, pool, option))
            continue
        chosen = _other(free, taken)
        if chosen is None and not taken:
            raise InputError(TOO_SMALL)
        if chosen is None:
            raise InputError(
                "no model is left for this seat, and whoever wrote an item must not judge it; "
                "name another model, of the pool file or as a litellm id.",
                field=option,
            )
        taken.append(chosen)
    seated = SeatedModels(*taken)
    for model in taken:
        if model.api_base == LOCAL:
            raise InputError(TOO_SMALL)
        if model.runner is not None:
            raise InputError(f"model {model.name!r} is a runner, which writes and judges nothing.")
        _check_key(model)
    return seated


def _models(pool: Pool | None) -> tuple[PoolModel, ...]:
    return () if pool is None else (*pool.judges, *pool.models)


def _named(name: str, pool: Pool | None, option: str) -> PoolModel:
    models = _models(pool)
    found = next((model for model in models if model.name == name), None)
    if found is not None:
        return found
    if "/" in name:
        return PoolModel(name=name, model=name, timeout=600.0)
    known = ", ".join(model.name for model in models)
    has = f"the pool has {known}" if known else "there is no pool"
    raise InputError(
        f"{name!r} is no model of the pool and no litellm id like openai/gpt-4o; {has}.",
        field=option,
    )


def _other(free: Sequence[PoolModel], taken: Sequence[PoolModel]) -> PoolModel | None:
    """Return the first model that has no seat, of another family if possible."""
    hashes = {model.parameters_hash for model in taken}
    left = [model for model in free if model.parameters_hash not in hashes]
    families = {family_of(model.litellm_id) for model in taken}
    strangers = [model for model in left if family_of(model.litellm_id) not in families]
    return next(iter([*strangers, *left]), None)


def _check_key(model: PoolModel) -> None:
    """Say that a key is missing before the chapters are sent anywhere."""
    if model.api_key_env is not None:
        read_key(model)
        return
    if model.api_base is not None:
        return
    known = load_litellm().validate_environment(model.litellm_id)
    if not known["keys_in_environment"] and known["missing_keys"]:
        raise InputError(
            f"model {model.name!r} needs a key: set {' and '.join(known['missing_keys'])} in the "
            "environment, or name the variable that holds it in the pool file (api_key_env)."
        )


def seats_of(
    models: SeatedModels, pool: Pool | None = None, runner: RolloutRunner | None = None
) -> Seats:
    """Return the seats with their clients; the ledger counts what they take.

    Their calls wait in the lines of the pool, beside the rollouts of `runner` where there is one.
    """
    out = _way_out(pool, runner)
    return Seats(*(_seat(role, model, out) for role, model in models.by_role.items()))


def _way_out(pool: Pool | None, runner: RolloutRunner | None) -> Callable[[PoolModel], Door]:
    if runner is not None:
        return runner.door_of
    pools = () if pool is None else (pool,)
    pace, limits = Pace(*pools), CallLimits(*pools)
    return lambda model: Door(model, pace, limits.place)


def _seat(role: Role, model: PoolModel, way_out: Callable[[PoolModel], Door]) -> Seat:
    freely = model.model_copy(
        update={"parameters": model.parameters.without_limits(), "style": "chat"}
    )
    key, meter = read_key(model), Meter()
    return Seat(
        role=role,
        name=model.name,
        litellm_id=freely.litellm_id,
        identity=freely.parameters_hash,
        client=LiteLLMChatCompletionClient.from_pool_model(
            freely,
            api_key=SecretStr(key) if key else None,
            on_usage=meter.note,
            door=way_out(model),
        ),
        meter=meter,
    )
