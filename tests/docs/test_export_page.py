"""The page on exporting: its table is the registry's, and its example is a format that works."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from benchfill import InputError, Item, entry_points
from benchfill.exporting import Benchmark, export_items, registry
from benchfill.exporting.overview import exports_table

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "export.md").read_text(encoding="utf-8")


def test_the_table_is_that_of_the_registry() -> None:
    # python -c "from benchfill.exporting.overview import *; print(exports_table())"
    assert exports_table() in PAGE


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The page's example, as another package offers it."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "benchfill_export_example.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("questions", "benchfill_export_example:FORMAT", registry.GROUP)
    monkeypatch.setattr(entry_points, "entry_points", lambda group: [point])
    registry.all_exports.cache_clear()
    yield
    registry.all_exports.cache_clear()


@pytest.mark.usefixtures("offered")
def test_the_example_of_a_format_works() -> None:
    benchmark = Benchmark("bench", (Item(id="a", question="1+1?", answer=""),))
    assert export_items(benchmark, "questions") == {"bench.txt": b"a: '1+1?'\n"}


@pytest.mark.parametrize(
    ("value", "said"),
    [("no_such_package:FORMAT", "cannot be loaded"), ("json:dumps", "is no export format")],
)
def test_a_broken_package_is_named(monkeypatch: pytest.MonkeyPatch, value: str, said: str) -> None:
    point = EntryPoint("broken", value, registry.GROUP)
    monkeypatch.setattr(entry_points, "entry_points", lambda group: [point])
    registry.all_exports.cache_clear()
    with pytest.raises(InputError, match=rf"{value}: .*{said}"):
        registry.all_exports()
    registry.all_exports.cache_clear()
