"""Templates are rendered in one pass, and wrong values are named."""

from __future__ import annotations

import hashlib
from dataclasses import FrozenInstanceError
from importlib.resources import files

import pytest

import benchfill_prompts
from benchfill_prompts import Prompt, PromptError, load


def test_all_names_exist() -> None:
    assert all(hasattr(benchfill_prompts, name) for name in benchfill_prompts.__all__)


def test_every_template_loads() -> None:
    names = [f.name[:-3] for f in files("benchfill_prompts").iterdir() if f.name.endswith(".md")]
    assert "rewrite" in names
    for name in names:
        prompt = load(name)
        assert prompt.name == name
        assert prompt.sha256 == hashlib.sha256(prompt.text.encode()).hexdigest()
        prompt.render(**dict.fromkeys(prompt.variables, "x"))


def test_loads_once() -> None:
    assert load("rewrite_task") is load("rewrite_task")


@pytest.mark.parametrize("name", ["nothing", "../secret", "/etc/passwd", "rewrite.md", ""])
def test_unknown_name_lists_the_known(name: str) -> None:
    with pytest.raises(PromptError, match=r"there are .*rewrite"):
        load(name)


def test_values_are_inserted_literally() -> None:
    prompt = Prompt("p", "$a, ${b}th for $$5")
    assert prompt.variables == {"a", "b"}
    hostile = "$b ${a} {a} %s \\1 $$"
    assert prompt.render(a=hostile, b=4) == f"{hostile}, 4th for $5"


def test_missing_and_unknown_values_are_named() -> None:
    prompt = Prompt("p", "$a $b")
    with pytest.raises(PromptError, match="'p' was not given b"):
        prompt.render(a="x")
    with pytest.raises(PromptError, match="'p' does not use c"):
        prompt.render(a="x", b="y", c="z")


def test_stray_dollar_is_an_error() -> None:
    with pytest.raises(PromptError, match="write \\$\\$"):
        Prompt("p", "costs $5")


def test_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Prompt("p", "x").text = "y"  # type: ignore[misc]
