"""Taxonomy and blueprint files: read with clear errors, written for an expert to edit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from ..errors import InputError
from .blueprint import BLOOM_LEVELS, Blueprint, BlueprintCell
from .strict_yaml import read_model
from .taxonomy import Taxonomy

if TYPE_CHECKING:
    from pydantic import BaseModel

    from .blueprint import Difficulty

_TAXONOMY_HEAD = """\
# Areas and their competencies. Edit freely: the designer is given names and descriptions as they
# stand.
# id: unique, no spaces needed. chapters: ids of the chapters that teach it.
# knowledge: ids of knowledge nodes that belong to it; leave it out for all of its chapters.
"""
_BLUEPRINT_HEAD = f"""\
# How many items of each kind are wanted. Delete a cell that you don't want.
# bloom: {", ".join(BLOOM_LEVELS)}. difficulty: Easy, Medium, Hard.
"""


def read_taxonomy(path: str | Path) -> Taxonomy:
    """Read a taxonomy (YAML, or JSON by its name).

    Raises
    ------
    InputError
        Names file, line and field.
    """
    return read_model(Path(path), Taxonomy)


def read_blueprint(path: str | Path, taxonomy: Taxonomy | None = None) -> Blueprint:
    """Read a blueprint (YAML, or JSON by its name); its competencies must be the taxonomy's.

    Raises
    ------
    InputError
        Names file, line and field.
    """
    blueprint = read_model(Path(path), Blueprint)
    if taxonomy is not None:
        for number, cell in enumerate(blueprint.cells):
            if cell.competency not in taxonomy.by_id:
                known = ", ".join(sorted(taxonomy.by_id)[:8])
                raise InputError(
                    f"{cell.competency!r} is no competency of the taxonomy, which has {known}.",
                    source=str(path),
                    field=f"cells[{number}].competency",
                )
    return blueprint


def write_taxonomy(path: str | Path, taxonomy: Taxonomy) -> None:
    """Write a taxonomy for editing; what is written reads back as the same."""
    _write(Path(path), taxonomy, _TAXONOMY_HEAD)


def write_blueprint(path: str | Path, blueprint: Blueprint) -> None:
    """Write a blueprint for editing; what is written reads back as the same."""
    _write(Path(path), blueprint, _BLUEPRINT_HEAD)


def even_blueprint(
    taxonomy: Taxonomy, *, per_competency: int, difficulty: Difficulty = "Hard"
) -> Blueprint:
    """Spread `per_competency` items of each competency over the Bloom levels.

    Levels take turns, and the next competency goes on where the last one stopped, so that levels
    stay even over the whole blueprint also where `per_competency` is no multiple of four.
    """
    if per_competency < 1:
        raise InputError(f"--per-competency must be 1 or more, not {per_competency}.")
    cells: list[BlueprintCell] = []
    turn = 0
    for competency in taxonomy.competencies:
        counts = dict.fromkeys(BLOOM_LEVELS, 0)
        for _ in range(per_competency):
            counts[BLOOM_LEVELS[turn % len(BLOOM_LEVELS)]] += 1
            turn += 1
        cells += [
            BlueprintCell(competency=competency.id, bloom=bloom, difficulty=difficulty, count=count)
            for bloom, count in counts.items()
            if count
        ]
    return Blueprint(cells=tuple(cells))


def _write(path: Path, content: BaseModel, head: str) -> None:
    data = content.model_dump(mode="json", exclude_defaults=False)
    if path.suffix.lower() == ".json":
        text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    else:
        text = head + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=96)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror}).", source=str(path)) from None
