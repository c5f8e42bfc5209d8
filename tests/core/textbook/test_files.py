"""Taxonomy and blueprint files, and options in their recorded order."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from benchfill.errors import InputError
from benchfill.textbook.arranging import arrange, key_counts, next_key, options_of
from benchfill.textbook.files import (
    even_blueprint,
    read_blueprint,
    read_taxonomy,
    write_blueprint,
    write_taxonomy,
)
from benchfill.textbook.knowledge import Knowledge
from benchfill.textbook.question import LETTERS, NONE_OF_THE_ABOVE
from benchfill.textbook.taxonomy import Area, Competency, Taxonomy
from support.textbook_good_python import corner_block

if TYPE_CHECKING:
    from pathlib import Path

TAXONOMY = Taxonomy(
    title="Python: arrays",
    areas=(
        Area(
            id="arrays",
            name="Arrays",
            competencies=(
                Competency(id="slicing", name="Slicing", description="Takes: 'parts'"),
                Competency(id="axes", name="Axes", description="Works\nalong an axis"),
            ),
        ),
        Area(
            id="loops",
            name="Loops",
            competencies=(Competency(id="sums", name="Sums", description="Adds in a loop"),),
        ),
    ),
)


@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_what_is_written_reads_back(tmp_path: Path, ending: str) -> None:
    write_taxonomy(tmp_path / f"t.{ending}", TAXONOMY)
    assert read_taxonomy(tmp_path / f"t.{ending}") == TAXONOMY
    blueprint = even_blueprint(TAXONOMY, per_competency=6)
    write_blueprint(tmp_path / f"b.{ending}", blueprint)
    assert read_blueprint(tmp_path / f"b.{ending}", TAXONOMY) == blueprint


def test_an_even_blueprint_is_even_over_levels_and_competencies() -> None:
    blueprint = even_blueprint(TAXONOMY, per_competency=6)
    levels: Counter[str] = Counter()
    for cell in blueprint.cells:
        levels[cell.bloom] += cell.count
    assert blueprint.count == 18
    assert max(levels.values()) - min(levels.values()) <= 1
    with pytest.raises(InputError, match="--per-competency"):
        even_blueprint(TAXONOMY, per_competency=0)


CELL = "cells:\n- competency: slicing\n  bloom: Apply\n  count: 3\n"


@pytest.mark.parametrize(
    ("text", "line", "field", "sentence"),
    [
        ("", None, None, "is empty"),
        ("- a\n", None, None, "must be a mapping with the keys cells"),
        ("cells: []\n", 1, "cells", "is empty; one entry or more is needed"),
        (CELL.replace("Apply", "Remember"), 3, "cells[0].bloom", "'Apply', 'Analyze'"),
        (CELL.replace("3", "0"), 4, "cells[0].count", "greater than or equal to 1"),
        (CELL.replace("3", "many"), 4, "cells[0].count", "valid integer"),
        (
            CELL + "  level: 3\n",
            5,
            "cells[0].level",
            "is no key here; the keys are competency, bloom, difficulty, count",
        ),
        (
            CELL.replace("count", "cuont"),
            4,
            "cells[0].cuont",
            "is no key here; perhaps 'count' is meant",
        ),
        (CELL.replace("  count: 3\n", ""), 2, "cells[0].count", "is missing"),
        (CELL + CELL.replace("cells:\n", ""), 1, None, "stands twice; give its total count"),
        (CELL.replace("slicing", "knitting"), None, "cells[0].competency", "is no competency"),
        (CELL + "cells: []\n", 5, None, "the key 'cells' stands twice"),
        ("cells: [&a {}, *a]\n", 1, None, "aliases are not supported"),
        ("cells: [\n", None, None, "is not valid YAML"),
        ("cells: !!python/object/apply:os.system ['id']\n", None, None, "is not valid YAML"),
        ("\xff", None, None, "is not UTF-8"),
    ],
)
def test_a_blueprint_that_cannot_be_used_gets_one_sentence(
    tmp_path: Path, text: str, line: int | None, field: str | None, sentence: str
) -> None:
    path = tmp_path / "b.yaml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError) as caught:
        read_blueprint(path, TAXONOMY)
    assert sentence in caught.value.message
    assert str(path) in caught.value.message
    assert caught.value.field == field
    if line is not None:
        assert caught.value.line == line


def test_json_errors_name_their_line(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text('{"cells": [\n{"competency": "x",}\n]}')
    with pytest.raises(InputError, match="line 2: is not valid JSON"):
        read_blueprint(path)


def test_knowledge_in_a_circle_is_refused() -> None:
    nodes = [
        {"id": a, "kind": "rule", "name": a, "statement": a, "requires": [b]}
        for a, b in (("one", "two"), ("two", "three"), ("three", "one"))
    ]
    with pytest.raises(ValidationError, match="require each other in a circle"):
        Knowledge.model_validate({"chapter": "c", "nodes": nodes})
    with pytest.raises(ValidationError, match="which is no node"):
        Knowledge.model_validate({"chapter": "c", "nodes": nodes[:1]})


def test_keys_are_balanced_with_e_among_them() -> None:
    used: dict[str, int] = {}
    for number in range(53):
        key = next_key(used, seed=7, number=number)
        used[key] = used.get(key, 0) + 1
        assert max(used.values()) - min(used.get(one, 0) for one in LETTERS) <= 1
    assert key_counts(["A", "E", "A"]) == {"A": 2, "B": 0, "C": 0, "D": 0, "E": 1}
    runs = {tuple(next_key({}, seed=seed, number=n) for n in range(5)) for seed in range(9)}
    assert len(runs) > 1


def test_the_shuffle_is_recorded_and_repeats() -> None:
    question = corner_block().question
    orders = set()
    for key in LETTERS:
        for seed in range(20):
            made = arrange(question, key, seed=seed)
            assert made == arrange(question, key, seed=seed)
            assert made.options[4] == NONE_OF_THE_ABOVE
            assert made.options[:4] == options_of(question, made.order.sources)
            assert made.right_option == (NONE_OF_THE_ABOVE if key == "E" else question.answer)
            assert (made.order.left_out is None) is (key == "E")
            orders.add(made.order.sources)
            item = made.item("i1", {"key": key})
            assert item.answer in item.choices
            assert len(set(item.choices)) == 5
    assert len(orders) > 40
