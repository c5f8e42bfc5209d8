"""The page on importing: its tables are the registry's, and its example is a format that works."""

from __future__ import annotations

import re
import shlex
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer

from benchfill import InputError, entry_points
from benchfill.importing import import_results, registry
from benchfill.importing.overview import choices_table, formats_table
from benchfill_services.cli import app

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "import.md").read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_registry() -> None:
    # python -c "from benchfill.importing.overview import *; print(formats_table())"
    assert formats_table() in PAGE
    assert choices_table() in PAGE


@pytest.mark.parametrize("name", sorted(registry.all_formats()))
def test_every_example_is_a_command(name: str) -> None:
    words = shlex.split(registry.all_formats()[name].example)
    assert words[:2] == ["benchfill", "import"]
    command = typer.main.get_command(app).commands["import"]
    context = command.make_context("import", [*words[2:], "--out", "imported"])
    assert context.params["paths"]


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The page's example, as another package offers it."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "benchfill_page_example.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("my-harness", "benchfill_page_example:FORMAT", registry.GROUP)
    monkeypatch.setattr(entry_points, "entry_points", lambda group: [point])
    registry.all_formats.cache_clear()
    yield
    registry.all_formats.cache_clear()


@pytest.mark.usefixtures("offered")
def test_the_example_of_a_format_works(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"who": "m", "what": "a", "good": 1}\n', encoding="utf-8")
    found = import_results([path])
    assert found.responses.correct.tolist() == [[1]]
    assert found.report.files[0].reason == "keys who, what, good"


@pytest.mark.parametrize(
    ("value", "said"),
    [("no_such_package:FORMAT", "cannot be loaded"), ("json:dumps", "is no format")],
)
def test_a_broken_package_is_named(monkeypatch: pytest.MonkeyPatch, value: str, said: str) -> None:
    point = EntryPoint("broken", value, registry.GROUP)
    monkeypatch.setattr(entry_points, "entry_points", lambda group: [point])
    registry.all_formats.cache_clear()
    with pytest.raises(InputError, match=rf"{value}: .*{said}"):
        registry.all_formats()
    registry.all_formats.cache_clear()
