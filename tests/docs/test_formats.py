"""The examples of docs/formats.md can be read."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import benchfill as bf
from benchfill_agents.pool.config import PoolModel, read_pool
from benchfill_services.review.provenance import ItemProvenance

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")


def _examples(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_responses_and_scores(tmp_path: Path) -> None:
    long, wide, scores = (tmp_path / name for name in ("long.csv", "wide.csv", "scores.csv"))
    for path, text in zip((long, wide, scores), _examples("csv"), strict=True):
        path.write_text(text, encoding="utf-8")
    assert bf.read_responses(long).n.tolist() == [[4, 4], [4, 0]]
    assert bf.read_responses(wide).missing_cells == 1
    assert bf.read_scores(scores) == {"small": 1034, "large": 1210}


def test_items(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    lines, spread = _examples("json")
    path.write_text(f"{lines}{json.dumps(json.loads(spread))}\n", encoding="utf-8")
    items = bf.read_items(path)
    assert [item.guessing for item in items] == [0, 0.25, 0]
    assert items[2].template is not None


def test_pool(tmp_path: Path) -> None:
    (text,) = _examples("yaml")
    path = tmp_path / "pool.yaml"
    path.write_text(text, encoding="utf-8")
    pool = read_pool(path)
    assert [model.response_name for model in pool.models] == ["small", "my-model-2026-05"]


@pytest.mark.parametrize("name", sorted(PoolModel.model_fields))
def test_every_key_of_a_pool_model_is_explained(name: str) -> None:
    assert re.search(rf"^\| `{name}` \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(ItemProvenance.model_fields))
def test_every_field_of_a_provenance_is_explained(name: str) -> None:
    (section,) = re.findall(r"^### Provenance\n(.*?)^### ", PAGE, re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    assert f"`{name}`" in ", ".join(heads).split(", ")
