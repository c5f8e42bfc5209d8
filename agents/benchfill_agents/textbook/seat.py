"""Who writes, who judges, who solves: models in their seats, and the families they come from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autogen_core.models import ChatCompletionClient

Role = Literal["Designer", "Verifier", "Solver"]

# by the beginning of a model's bare name; what is made from another model is of its family
_FAMILIES = {
    "gpt": "OpenAI",
    "chatgpt": "OpenAI",
    "o1": "OpenAI",
    "o3": "OpenAI",
    "o4": "OpenAI",
    "claude": "Claude",
    "gemini": "Gemini",
    "gemma": "Gemini",
    "llama": "Llama",
    "meta-llama": "Llama",
    "mistral": "Mistral",
    "mixtral": "Mistral",
    "magistral": "Mistral",
    "qwen": "Qwen",
    "qwq": "Qwen",
    "deepseek": "DeepSeek",
    "grok": "Grok",
    "command": "Command",
    "phi": "Phi",
    "kimi": "Kimi",
    "glm": "GLM",
}


@dataclass
class Meter:
    """The price of a client's latest reply, which its result does not carry."""

    cost: float | None = None

    def note(
        self,
        model: str,  # noqa: ARG002 - the signature of a client's on_usage
        prompt_tokens: int,  # noqa: ARG002
        completion_tokens: int,  # noqa: ARG002
        cost: float | None,
    ) -> None:
        """Take the price of a reply."""
        self.cost = cost


@dataclass(frozen=True, eq=False)
class Seat:
    """A model in one of the three roles."""

    role: Role
    name: str
    litellm_id: str
    identity: str
    """SHA-256 of the model and its parameters: what the ledger keeps its answers under."""
    client: ChatCompletionClient
    meter: Meter = field(default_factory=Meter)

    @property
    def family(self) -> str:
        """The family that the model comes from, by its name."""
        return family_of(self.litellm_id)


@dataclass(frozen=True, eq=False)
class Seats:
    """All three."""

    designer: Seat
    verifier: Seat
    solver: Seat

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where two seats are not as independent as they should be."""
        return seat_warnings((self.designer, self.verifier, self.solver))


def family_of(litellm_id: str) -> str:
    """Return the family of a model by its name: who made the model it was made from.

    A name that is not known stands for itself without version and size.
    """
    bare = litellm_id.rpartition("/")[2].casefold()
    for start in sorted(_FAMILIES, key=len, reverse=True):
        if bare.startswith(start):
            return _FAMILIES[start]
    return re.split(r"[-_:.\d]", bare, maxsplit=1)[0] or bare


def seat_warnings(seats: Sequence[Seat]) -> tuple[str, ...]:
    """Say where two seats are not as independent as they should be."""
    found = []
    for place, one in enumerate(seats):
        for other in seats[place + 1 :]:
            if one.identity == other.identity:
                found.append(
                    f"{one.role} and {other.role} are the same model, {one.name}: it will overlook "
                    "its own errors; name another."
                )
            elif one.family == other.family and {one.role, other.role} == {"Designer", "Verifier"}:
                found.append(
                    f"Designer and Verifier are both of the family {one.family} ({one.name}, "
                    f"{other.name}): what one overlooks, the other may, too; take another family."
                )
    return tuple(found)
