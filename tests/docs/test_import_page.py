"""The page on importing: its tables are the registry's, and its example is a format that works."""

from __future__ import annotations

import json
import re
import shlex
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchfill import InputError, entry_points, read_responses
from benchfill.importing import import_results, registry
from benchfill.importing.overview import choices_table, formats_table, summary_table
from benchfill_services.cli import app
from support.import_examples import EXAMPLES, REFUSED, RIGHT

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "import.md").read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_registry() -> None:
    # python -c "from benchfill.importing.overview import *; print(formats_table())"
    assert formats_table() in PAGE
    assert choices_table() in PAGE
    assert summary_table() in (DOCS / "formats.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(registry.all_formats()))
def test_every_example_is_a_command_that_works(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run on the smallest files of the format, laid where the example looks for them."""
    words = shlex.split(registry.all_formats()[name].example)
    assert words[:2] == ["benchfill", "import"]
    EXAMPLES[name](tmp_path)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, [*words[1:], "--out", "imported"])
    if name in REFUSED:
        assert result.exit_code == 2
        assert REFUSED[name] in result.stderr
        return
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "imported/import.json").read_text(encoding="utf-8"))
    assert {file["format"] for file in report["files"]} >= {name}
    matrix = read_responses(tmp_path / "imported/responses.csv")
    assert matrix.correct.sum() == RIGHT[name]
    assert "Nothing asked for" not in " ".join(report["warnings"])


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
