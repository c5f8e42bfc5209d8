"""The pool file: which models answer items, how each is asked, and how answers are scored."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from benchfill.errors import InputError
from benchfill.items import ItemDomain
from benchfill.validation_words import first_problem

from .external_config import runner_fields
from .strict_yaml import load_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

LOCAL = "local"
LOCAL_MODEL = "SmolLM2-135M-Instruct"
LOCAL_GEMMA = "gemma-3-270m"  # under the Gemma terms of use; not in the extra `all`
LOCAL_MODELS = (LOCAL_MODEL, LOCAL_GEMMA)
Style = Literal["completion", "chat"]
Scoring = ItemDomain
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class Example(BaseModel):
    """A solved question that is shown to a model before the item."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)

    @field_validator("question", "answer", mode="before")
    @classmethod
    def _number_as_text(cls, value: object) -> object:
        # In YAML `answer: 7` is a number; its text is what was meant.
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class SamplingParameters(BaseModel):
    """What is sent along with a prompt. A parameter left out is left to the provider."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(
        None, ge=1, description="leave room: a number that ends where the tokens end is not scored"
    )
    max_completion_tokens: int | None = Field(
        None, ge=1, description="the same for reasoning models: what they think counts as well"
    )
    reasoning_effort: Effort | None = Field(None, description="how much a reasoning model thinks")
    stop: tuple[str, ...] = Field((), max_length=4)
    seed: int | Literal["per_sample"] | None = Field(
        None, description="`per_sample` derives one from the rollout's key: repeatable, independent"
    )
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    extra_body: dict[str, Any] = Field({}, description="further fields of the request, as they are")

    @field_validator("stop", mode="before")
    @classmethod
    def _one_stop(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @field_validator("stop")
    @classmethod
    def _no_empty_stop(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "" in value:
            raise ValueError("an empty stop string would end every answer at once")
        return value

    @model_validator(mode="after")
    def _one_limit(self) -> SamplingParameters:
        if self.max_tokens is not None and self.max_completion_tokens is not None:
            raise ValueError(
                "max_tokens and max_completion_tokens are one limit; keep the one that the model "
                "takes"
            )
        return self

    @property
    def token_limit(self) -> int | None:
        """How many tokens a reply may have; None where only the provider limits it."""
        return self.max_tokens or self.max_completion_tokens

    def without_limits(self) -> SamplingParameters:
        """Return them for writing items: how long an answer may be is no limit there."""
        none = {"max_tokens": None, "max_completion_tokens": None, "stop": ()}
        return self.model_copy(update=none)


class Rate(BaseModel):
    """How much may be asked for in a minute; None is no bound."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rpm: int | None = Field(None, ge=1, description="calls a minute")
    tpm: int | None = Field(None, ge=1, description="tokens a minute, prompts and replies")


class PoolModel(BaseModel):
    """One member of the pool: a model together with the way it is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, description="unique within the pool")
    model: str = Field(min_length=1, description="litellm id, for example openai/gpt-4o-mini")
    api_base: str | None = Field(
        None, description="URL of an OpenAI-compatible server, or the word `local`"
    )
    api_key_env: str | None = Field(
        None, min_length=1, description="name of the environment variable that holds the key"
    )
    style: Style = "chat"
    shots: int = Field(0, ge=0, description="how many of the examples are shown, from the first")
    examples: tuple[Example, ...] | None = Field(None, description="instead of the pool's")
    parameters: SamplingParameters = SamplingParameters()
    rejected_parameters: Literal["leave_out", "refuse"] = Field(
        "leave_out",
        description="what is done about a sampling parameter that the provider says it does not "
        "take: go on without it and say so, or end the run",
    )
    max_concurrency: int = Field(8, ge=1, le=1000)
    rpm: int | None = Field(None, ge=1, description="calls a minute")
    tpm: int | None = Field(None, ge=1, description="tokens a minute, prompts and replies")
    timeout: float = Field(60.0, gt=0, le=3600, description="seconds a call may take")
    retries: int = Field(5, ge=0, le=20, description="after 429, 5xx, timeouts, broken replies")
    reply_retries: int | None = Field(
        None,
        ge=0,
        le=20,
        description="after an empty or truncated reply; default 2 for chat, and 0 for completion, "
        "where ending without an answer is what the model did, and asking again would flatter it",
    )
    matrix_name: str | None = Field(None, min_length=1, description="its name in the responses")
    runner: str | None = Field(
        None, description="command of a program that answers instead of a model (docs: runners)"
    )
    runner_env: tuple[str, ...] = Field(
        (), description="names of environment variables that the runner is given, keys too"
    )

    @model_validator(mode="before")
    @classmethod
    def _runner_is_no_model(cls, data: object) -> object:
        return runner_fields(data)

    @model_validator(mode="before")
    @classmethod
    def _no_literal_key(cls, data: object) -> object:
        if isinstance(data, dict) and "api_key" in data:
            raise ValueError(
                "a key must not stand in the pool file; put it into an environment variable and "
                "name that variable in api_key_env"
            )
        return data

    @field_validator("api_base")
    @classmethod
    def _url_or_local(cls, value: str | None) -> str | None:
        if value is None or value == LOCAL or value.startswith(("http://", "https://")):
            return value
        raise ValueError(f"{value!r} is neither an http(s) URL nor the word `local`")

    @model_validator(mode="after")
    def _fits_together(self) -> PoolModel:
        if self.api_base == LOCAL and self.local_model not in LOCAL_MODELS:
            known = " and ".join(LOCAL_MODELS)
            raise ValueError(
                f"the local server carries {known} only; write model: openai/{LOCAL_MODEL}"
            )
        if self.style == "completion" and self.parameters.max_tokens is None:
            raise ValueError(
                "completion style needs parameters.max_tokens, since a raw completion does not end "
                "by itself"
            )
        if self.style == "completion" and self.parameters.reasoning_effort is not None:
            raise ValueError("reasoning_effort is for style chat; a raw completion has none")
        return self

    @property
    def writes(self) -> bool:
        """Whether it can be asked to write or judge items: raw completions and runners cannot."""
        return self.style == "chat" and self.runner is None

    @property
    def local_model(self) -> str:
        """The name under which a local server knows the model."""
        return self.model.rpartition("/")[2]

    @property
    def response_name(self) -> str:
        """Name of this model in the response matrix."""
        return self.matrix_name or self.name

    @property
    def replies_asked_again(self) -> int:
        """How often an empty or truncated reply is asked again."""
        if self.reply_retries is not None:
            return self.reply_retries
        return 0 if self.style == "completion" else 2

    @property
    def litellm_id(self) -> str:
        """The id under which litellm is called."""
        provider, _, rest = self.model.rpartition("/")
        if self.style == "completion" and provider in {"", "openai"}:
            return f"text-completion-openai/{rest}"
        if self.style == "chat" and not provider and self.api_base is not None:
            return f"openai/{rest}"
        return self.model

    @property
    def parameters_hash(self) -> str:
        """SHA-256 (hex) of the model and all that is sent to it beside the prompt.

        Of the local server it holds the word `local`, since its port changes with every start.
        """
        return self.hash_without(())

    def hash_without(self, left_out: Iterable[str]) -> str:
        """Return what `parameters_hash` would be without these parameters."""
        parameters = self.parameters.model_dump(
            exclude_defaults=True, exclude=set(left_out), mode="json"
        )
        content = [self.litellm_id, self.api_base, parameters]
        content += [] if self.runner is None else [self.runner]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class Pool(BaseModel):
    """The models that answer items."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    models: tuple[PoolModel, ...] = Field(min_length=1)
    judges: tuple[PoolModel, ...] = Field(
        (), description="models that may judge new items (`--judge`), and measure none"
    )
    examples: tuple[Example, ...] = Field((), description="shown to all models, from the first")
    scoring: Scoring = Field("exact", description="of items that name no domain of their own")
    shuffle_choices: bool = Field(
        False, description="show the options of multiple choice in another order each sample"
    )
    limits: dict[str, int] = Field(
        {}, description="calls at a time by api_base, over all models that share it"
    )
    rates: dict[str, Rate] = Field(
        {}, description="by api_key_env or api_base, over all models that share it"
    )

    @field_validator("limits")
    @classmethod
    def _positive_limits(cls, value: dict[str, int]) -> dict[str, int]:
        for api_base, limit in value.items():
            if limit < 1:
                raise ValueError(f"the limit of {api_base} is {limit}; it must be 1 or more")
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Pool:
        for label, names in (
            ("name", Counter(model.name for model in self.who_may_judge)),
            ("matrix_name", Counter(model.response_name for model in self.models)),
        ):
            name, count = names.most_common(1)[0]
            if count > 1:
                raise ValueError(f"{count} models have the {label} {name!r}; it must be unique")
        for model in self.models:
            available = len(self.examples if model.examples is None else model.examples)
            if model.shots > available:
                raise ValueError(
                    f"model {model.name!r} wants {model.shots} shots, but there are {available} "
                    "examples"
                )
        twins: dict[str, str] = {}
        for model in self.models:
            identity = self.identity_of(model)
            if identity in twins:
                raise ValueError(
                    f"models {twins[identity]!r} and {model.name!r} are asked in exactly the same "
                    "way, so they would share every answer; remove one"
                )
            twins[identity] = model.name
        unknown = set(self.limits) - {model.api_base for model in self.who_may_judge}
        if unknown:
            raise ValueError(f"limits names {min(unknown)!r}, which is no model's api_base")
        return self

    @model_validator(mode="after")
    def _known_rates(self) -> Pool:
        shared = {model.api_base for model in self.who_may_judge}
        unknown = set(self.rates) - shared - {model.api_key_env for model in self.who_may_judge}
        if unknown:
            raise ValueError(
                f"rates names {min(unknown)!r}, which is no model's api_key_env or api_base"
            )
        return self

    @property
    def who_may_judge(self) -> tuple[PoolModel, ...]:
        """The models that measure, and those that only judge."""
        return (*self.models, *self.judges)

    def shots_of(self, model: PoolModel) -> tuple[Example, ...]:
        """Return the examples that this model is shown."""
        examples = self.examples if model.examples is None else model.examples
        return examples[: model.shots]

    def identity_of(self, model: PoolModel, left_out: Iterable[str] = ()) -> str:
        """Return what tells members of the pool apart: how a model is asked, as text.

        `left_out` are parameters that it is asked without.
        """
        shown = [shot.model_dump() for shot in self.shots_of(model)]
        return json.dumps([model.hash_without(left_out), model.style, shown])

    @property
    def needs_local_server(self) -> bool:
        """Whether a member of the pool is answered by the local server."""
        return bool(self.local_models)

    @property
    def local_models(self) -> tuple[str, ...]:
        """Names of the models that local servers carry, a server each."""
        wanted = {model.local_model for model in self.who_may_judge if model.api_base == LOCAL}
        return tuple(name for name in LOCAL_MODELS if name in wanted)


def read_pool(path: str | Path) -> Pool:
    """Read a pool file (YAML). Raises InputError that names the file and the key at fault."""
    data = load_yaml(Path(path))
    if data is None:
        raise InputError("is empty; expected `models:` with a list.", source=str(path))
    if not isinstance(data, dict):
        raise InputError("must be a mapping with the key `models`.", source=str(path))
    try:
        return Pool.model_validate(data)
    except ValidationError as error:
        place, message = first_problem(error, Pool)
        raise InputError(
            f"{message}.", source=str(path), field=_key_path(place, data) or None
        ) from None


def _key_path(location: tuple[int | str, ...], data: dict[Any, Any]) -> str:
    """Write `models[3].shots`, with the model's name behind it where it has one."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f"{'.' if path else ''}{part}"
    match location:
        case ("models", int(index), *_):
            entry = data["models"][index]
            if isinstance(entry, dict) and isinstance(entry.get("name"), str):
                path += f" ({entry['name']})"
    return path
