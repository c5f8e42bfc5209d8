"""Who answers for a pool's models, and whether what they are asked leaves this machine."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from benchfill.errors import InputError

from .config import LOCAL
from .external_config import words_of

if TYPE_CHECKING:
    from .config import Pool, PoolModel


def provider_of(model: PoolModel) -> str:
    """Name who answers for a model: the host it is asked at, else litellm's provider."""
    if model.runner is not None:
        return f"runner {words_of(model.runner)[0]}"
    if model.api_base == LOCAL:
        return LOCAL
    if model.api_base is not None:
        return urlsplit(model.api_base).hostname or "unknown"
    provider, slash, _ = model.litellm_id.partition("/")
    return provider.removeprefix("text-completion-") if slash else "openai"


def stays_here(model: PoolModel) -> bool:
    """Whether what the model is asked stays on this machine."""
    if model.api_base is None:
        return False
    provider = provider_of(model)
    if model.api_base == LOCAL or provider == "localhost":
        return True
    try:
        return ip_address(provider).is_loopback
    except ValueError:  # a name, and names may lead anywhere
        return False


def elsewhere(pool: Pool) -> list[str]:
    """Return the providers of a pool that are not on this machine, in alphabetical order."""
    return sorted({provider_of(model) for model in pool.who_may_judge if not stays_here(model)})


def refuse_providers_elsewhere(pool: Pool, benchmark: str) -> None:
    """Raise InputError when a pool would send items of a local-only benchmark elsewhere."""
    away = elsewhere(pool)
    if away:
        raise InputError(
            f"benchmark {benchmark} is local_only, and this pool would send its items to "
            f"{', '.join(away)}; use a pool of models on this machine."
        )
