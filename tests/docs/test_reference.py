"""The reference names everything that there is."""

from __future__ import annotations

import doctest
import re
import shutil
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
from pydantic import BaseModel

import benchfill
from benchfill_agents.fill_report import FillReport
from benchfill_agents.sample import responses_path
from benchfill_services.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).resolve().parents[2] / "docs"
COMMANDS: dict[str, typer.core.TyperCommand] = typer.main.get_command(app).commands


def test_every_public_name_stands_in_the_python_reference() -> None:
    pages = [(DOCS / name).read_text(encoding="utf-8") for name in ("python.md", "results.md")]
    shown = re.findall(r"^::: benchfill\.(?:[\w.]+\.)?(\w+)$", "\n".join(pages), re.MULTILINE)
    assert set(benchfill.__all__) - set(shown) == set()


def _parts(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A result and every model in its fields."""
    yield model
    for field in model.model_fields.values():
        for one in _models(field.annotation):
            yield from _parts(one)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for one in typing.get_args(annotation):
        yield from _models(one)


RESULTS = [
    value
    for value in (*(getattr(benchfill, name) for name in benchfill.__all__), FillReport)
    if isinstance(value, type) and issubclass(value, BaseModel)
]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.__name__)
def test_the_fields_of_every_part_of_a_result_are_shown(result: type[BaseModel]) -> None:
    pages = [(DOCS / name).read_text(encoding="utf-8") for name in ("python.md", "results.md")]
    shown = set(re.findall(r"^::: [\w.]*\.(\w+)$", "\n".join(pages), re.MULTILINE))
    assert {part.__name__ for part in _parts(result)} - shown == set()


def test_the_python_example_gives_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(responses_path(), tmp_path / "responses.csv")
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```pycon\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    parsed = doctest.DocTestParser().get_doctest(example, {}, "python.md", None, None)
    runner = doctest.DocTestRunner()
    assert runner.run(parsed) == doctest.TestResults(failed=0, attempted=len(parsed.examples))


def _section(command: str) -> str:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {command}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, f"docs/commands.md has no section {command}"
    return found[1]


def _parameters(command: Any) -> list[Any]:
    """Of a group such as `keys`: those of all its commands."""
    inner = getattr(command, "commands", {}).values()
    return [*command.params, *(one for part in inner for one in _parameters(part))]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_of_a_command_is_explained(name: str) -> None:
    section = _section(name)
    named = set(re.findall(r"`(-{1,2}[\w-]+)[^`]*`", section))
    options = [one for one in _parameters(COMMANDS[name]) if one.param_type_name == "option"]
    missing = [one.opts for one in options if not named & set(one.opts)]
    assert not missing
    # and nothing is explained that the command does not have
    known = {word for one in options for word in one.opts} | {"--help", "-h"}
    rows = re.findall(r"^\| `(-{1,2}[\w-]+)", section, re.MULTILINE)
    assert set(rows) <= known


def test_every_section_is_a_command() -> None:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^## ([a-z]+)$", page, re.MULTILINE))
    assert sections == set(COMMANDS)
