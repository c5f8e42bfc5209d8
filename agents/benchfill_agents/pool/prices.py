"""What a model's tokens cost, by litellm's list; nothing is looked up on the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .calls import load_litellm
from .providers import stays_here

if TYPE_CHECKING:
    from .calls import Reply
    from .config import PoolModel


@dataclass(frozen=True)
class TokenPrice:
    """US dollars for a token of the prompt and for one of the reply."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return what so many tokens cost, US dollars."""
        return prompt_tokens * self.prompt + completion_tokens * self.completion


def price_of(model: PoolModel) -> TokenPrice | None:
    """Return a model's price; nothing on this machine costs anything, None is unknown."""
    if stays_here(model):
        return TokenPrice(0.0, 0.0)
    listed = _listed(model)
    prompt, completion = (listed.get(f"{one}_cost_per_token") for one in ("input", "output"))
    if prompt is None or completion is None or not (prompt or completion):
        return None  # litellm writes 0.0 for some models of which it knows no price
    return TokenPrice(float(prompt), float(completion))


def cost_of(model: PoolModel, reply: Reply) -> float | None:
    """Return what a reply cost, US dollars: as litellm reckoned it, else by its list."""
    price = price_of(model)
    if reply.cost is not None or price is None:
        return reply.cost
    if reply.prompt_tokens is None or reply.completion_tokens is None:
        return 0.0 if price == TokenPrice(0.0, 0.0) else None
    return price.of(reply.prompt_tokens, reply.completion_tokens)


def retires_on(model: PoolModel) -> str | None:
    """Return the day (ISO 8601) on which the provider ends the model, where litellm knows it."""
    if model.api_base is not None or model.runner is not None:
        return None
    day = _listed(model).get("deprecation_date")
    return day if isinstance(day, str) else None


def _listed(model: PoolModel) -> dict[str, Any]:
    litellm = load_litellm()
    _, _, bare = model.litellm_id.partition("/")
    for name in (model.litellm_id, bare):  # with the provider's prefix, or without
        entry = litellm.model_cost.get(name)
        same = entry is not None and _same_provider(model, str(entry.get("litellm_provider", "")))
        if entry is not None and same:
            return dict(entry)
    return {}


def _same_provider(model: PoolModel, listed: str) -> bool:
    """Whether an entry is of the provider that is asked: others sell under the same names."""
    provider, slash, _ = model.litellm_id.partition("/")
    return not slash or provider.removeprefix("text-completion-").split("_")[0] in listed
