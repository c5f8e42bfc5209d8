"""Why a model of a pool does not answer, in one sentence that says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .calls import load_litellm
from .config import LOCAL
from .providers import provider_of

if TYPE_CHECKING:
    from .config import PoolModel
    from .failures import Failure

_SAID = 160  # characters of what a provider said


def lacking_environment(model: PoolModel) -> str | None:
    """Say which variables litellm needs for a model and does not find; None where none is missing.

    Only for a provider's own address and without `api_key_env`, which is looked at by the call.
    """
    if model.api_key_env is not None or model.api_base is not None:
        return None
    found = load_litellm().validate_environment(model.litellm_id)
    missing = found.get("missing_keys") or []
    if found.get("keys_in_environment") or not missing:
        return None
    return (
        f"model {model.name!r}: {provider_of(model)} needs the environment "
        f"variable{'s' if len(missing) > 1 else ''} {', '.join(missing)}, not set; set them, or "
        "name the key's variable in api_key_env."
    )


def explain(model: PoolModel, failure: Failure) -> str:
    """Say in one sentence why a call failed and what to do."""
    return f"model {model.name!r}: {_reason(model, failure)}."


def _reason(model: PoolModel, failure: Failure) -> str:
    said = failure.message[:_SAID].rstrip(". ")
    where = provider_of(model) if model.api_base in {None, LOCAL} else model.api_base
    wait = f" in {failure.retry_after:.0f} s" if failure.retry_after else " later"
    key = f"the key in {model.api_key_env}" if model.api_key_env else "the key"
    refused = f"{where} refuses {key} ({failure.status}); correct it, or ask for access"
    base = ", or api_base" if model.api_base else ""
    reasons: dict[str | int | None, str] = {
        "connection": f"nothing answers at {where} ({said}); start the server, or correct api_base",
        "timeout": f"{where} did not answer within {model.timeout:g} s; raise timeout, or try "
        "later",
        "rate_limit": f"{where} is over its rate limit (429); try again{wait}, or set rpm",
        "server": f"{where} failed ({failure.status or said}); try later",
        "malformed": f"the reply of {where} could not be read ({said}); see that it is the right "
        "address",
        401: refused,
        403: refused,
        404: f"{where} does not know {model.model} (404); correct model{base}",
        429: f"{where} lets nothing through for now (429: {said})",
    }
    if "LLM Provider NOT provided" in failure.message:
        return f"litellm knows no provider of {model.model}; write PROVIDER/MODEL"
    status = f"{failure.status}: " if failure.status else ""
    other = f"{where} cannot use the request ({status}{said})"
    return reasons.get(failure.kind) or reasons.get(failure.status) or other
