"""The pool file: which models answer items, how each is asked, and how answers are scored."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from benchfill.errors import InputError

LOCAL = "local"
LOCAL_MODEL = "SmolLM2-135M-Instruct"
MAX_FILE_BYTES = 1_000_000
Style = Literal["completion", "chat"]
Scoring = Literal["exact", "numeric"]


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
    max_concurrency: int = Field(8, ge=1, le=1000)
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
        if self.api_base == LOCAL and self.model.rpartition("/")[2] != LOCAL_MODEL:
            raise ValueError(
                f"the local server carries {LOCAL_MODEL} only; write model: openai/{LOCAL_MODEL}"
            )
        if self.style == "completion" and self.parameters.max_tokens is None:
            raise ValueError(
                "completion style needs parameters.max_tokens, since a raw completion does not end "
                "by itself"
            )
        return self

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
        content = [
            self.litellm_id,
            self.api_base,
            self.parameters.model_dump(exclude_defaults=True, mode="json"),
        ]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class Pool(BaseModel):
    """The models that answer items."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    models: tuple[PoolModel, ...] = Field(min_length=1)
    examples: tuple[Example, ...] = Field((), description="shown to all models, from the first")
    scoring: Scoring = "exact"
    limits: dict[str, int] = Field(
        {}, description="calls at a time by api_base, over all models that share it"
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
            ("name", Counter(model.name for model in self.models)),
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
            shown = [shot.model_dump() for shot in self.shots_of(model)]
            identity = json.dumps([model.parameters_hash, model.style, shown])
            if identity in twins:
                raise ValueError(
                    f"models {twins[identity]!r} and {model.name!r} are asked in exactly the same "
                    "way, so they would share every answer; remove one"
                )
            twins[identity] = model.name
        unknown = set(self.limits) - {model.api_base for model in self.models}
        if unknown:
            raise ValueError(f"limits names {min(unknown)!r}, which is no model's api_base")
        return self

    def shots_of(self, model: PoolModel) -> tuple[Example, ...]:
        """Return the examples that this model is shown."""
        examples = self.examples if model.examples is None else model.examples
        return examples[: model.shots]

    @property
    def needs_local_server(self) -> bool:
        """Whether a member of the pool is answered by the local server."""
        return any(model.api_base == LOCAL for model in self.models)


def read_pool(path: str | Path) -> Pool:
    """Read a pool file (YAML). Raises InputError that names the file and the key at fault."""
    data = _load_yaml(Path(path))
    if data is None:
        raise InputError("is empty; expected `models:` with a list.", source=str(path))
    if not isinstance(data, dict):
        raise InputError("must be a mapping with the key `models`.", source=str(path))
    try:
        return Pool.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(
            f"{message[0].lower()}{message[1:]}.",
            source=str(path),
            field=_key_path(first["loc"], data) or None,
        ) from None


def _load_yaml(path: Path) -> object:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InputError("is larger than 1 MB; this is no pool file.", source=str(path))
        text = path.read_text(encoding="utf-8-sig")
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a subclass of SafeLoader
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}).", source=str(path)) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.start} is not UTF-8; a pool file is YAML text.", source=str(path)
        ) from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise InputError(
            f"is not valid YAML ({error.problem}).", source=str(path), line=line
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"is not valid YAML ({reason}).", source=str(path)) from None
    except RecursionError:
        raise InputError("is nested too deeply.", source=str(path)) from None


class _StrictLoader(yaml.SafeLoader):
    """YAML's safe loader without aliases (which can blow up) and without repeated keys."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(
                problem="aliases are not supported; write the values out",
                problem_mark=self.peek_event().start_mark,  # type: ignore[no-untyped-call]
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key.value!r} stands twice", problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


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
