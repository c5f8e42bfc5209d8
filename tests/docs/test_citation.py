"""CITATION.cff says what pyproject.toml and the reports say."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchfill_services.report.methods import MEASURE

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def citation() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8")))


def test_names_this_project_and_version(citation: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"].lower() == project["name"]
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    assert citation["message"]
    assert citation["authors"] == [{"name": "The BenchFill authors"}]


def test_cites_the_paper_as_the_reports_do(citation: dict[str, Any]) -> None:
    (paper,) = citation["references"]
    # "Yu" and "y" are words to a person and booleans to some YAML readers
    people = [f"{one['family-names']}, {one['given-names'][0]}." for one in paper["authors"]]
    assert MEASURE.startswith(f"{', '.join(people[:-1])}, & {people[-1]} ({paper['year']}).")
    assert paper["title"].lower() in MEASURE.lower()
    assert paper["identifiers"][0]["value"] in MEASURE
