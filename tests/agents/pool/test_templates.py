"""The pool files that users begin with: each is a pool, and litellm knows its models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import litellm
import pytest

from benchfill.errors import InputError
from benchfill_agents.pool.config import read_pool
from benchfill_agents.pool.prices import price_of
from benchfill_agents.pool.providers import stays_here
from benchfill_agents.pool.templates import template_names, template_text

if TYPE_CHECKING:
    from pathlib import Path

NAMES = (
    *("anthropic", "azure", "bedrock", "gemini", "llama-cpp"),
    *("ollama", "openai", "openrouter", "vllm"),
)
PRICED = {"anthropic", "azure", "bedrock", "gemini", "openai"}


def test_all_of_them_are_there() -> None:
    assert template_names() == NAMES
    with pytest.raises(InputError, match="no template 'opnai'; there are anthropic, "):
        template_text("opnai")


@pytest.mark.parametrize("name", NAMES)
def test_a_template_is_a_pool_of_models_that_litellm_knows(name: str, tmp_path: Path) -> None:
    path = tmp_path / "pool.yaml"
    path.write_text(template_text(name), encoding="utf-8")
    pool = read_pool(path)
    assert len(pool.models) >= 2
    for model in pool.models:
        _, provider, _, _ = litellm.get_llm_provider(model.litellm_id)
        assert provider in set(litellm.provider_list)
        if name in PRICED:
            price = price_of(model)
            assert price is not None, model.litellm_id
            assert price.completion > 0
        if model.api_base is not None:
            assert stays_here(model)
        # what litellm knows that the model does not take is not set
        taken = litellm.get_supported_openai_params(model.litellm_id) or []
        wanted = set(model.parameters.model_dump(exclude_defaults=True)) - {"extra_body"}
        if model.api_base is None and name != "openrouter":
            assert wanted <= {*taken, "max_tokens"}, (model.name, wanted - set(taken))


@pytest.mark.parametrize("name", NAMES)
def test_no_template_holds_a_key_and_each_says_where_it_comes_from(name: str) -> None:
    text = template_text(name)
    assert "api_key:" not in text
    assert "sk-" not in text
    if name not in {"ollama", "vllm", "llama-cpp", "bedrock"}:
        assert text.count("api_key_env:") == text.count("- name:")
