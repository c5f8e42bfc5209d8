"""The same item under several ids, the same model under several names."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..formats.table import TEXT, open_table, shown
from .report import Suspicion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..responses import ResponseMatrix
    from .collect import Key
    from .interface import ItemText

LEAST_COMMON = 30
ALIKE = 0.9
MOST_COMPARED = 2000
MOST_TOLD = 50


def content_key(text: ItemText) -> str | None:
    """Return a hash of an item's question and options; None without a question.

    Case, white space and the way characters are composed do not count, nor the order of options.
    """
    question = _plain(text.question)
    if not question:
        return None
    parts = [question, *sorted(_plain(one) for one in text.choices)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def same_content(
    texts: Mapping[Key, ItemText], runs: Iterable[Mapping[int, int]], items: Mapping[Key, int]
) -> tuple[tuple[tuple[Key, ...], ...], int]:
    """Find items with the same text under different ids.

    Returns
    -------
    tuple
        Groups of ids that are one item; and how many more groups there are of which one run
        answered two ids, so that they are two items to whoever made them.
    """
    groups: dict[str, list[Key]] = defaultdict(list)
    for key in items:
        content = content_key(texts[key]) if key in texts else None
        if content is not None:
            groups[content].append(key)
    several = [tuple(keys) for keys in groups.values() if len(keys) > 1]
    group_of = {items[key]: g for g, keys in enumerate(several) for key in keys}
    twice: set[int] = set()
    for cells in runs:
        seen: set[int] = set()
        for i in cells:
            group = group_of.get(i)
            if group is not None:
                if group in seen:
                    twice.add(group)
                seen.add(group)
    return tuple(one for g, one in enumerate(several) if g not in twice), len(twice)


def read_aliases(path: str | Path) -> dict[str, str]:
    """Read other names of models: CSV with the columns ``name`` (to be used) and ``alias``.

    Returns
    -------
    dict
        Name to be used by alias.

    Raises
    ------
    InputError
        One sentence that names file, line and column.
    """
    table = open_table(Path(path))
    absent = [name for name in ("name", "alias") if name not in table.header]
    if absent:
        raise table.header_error(f"lacks the column {absent[0]}; expected name and alias.")
    rows = table.read(dict.fromkeys(table.header, TEXT))
    names, aliases = rows["name"].to_pylist(), rows["alias"].to_pylist()
    found: dict[str, str] = {}
    for row, (name, alias) in enumerate(zip(names, aliases, strict=True)):
        for column, text in (("name", name), ("alias", alias)):
            if not text.strip():
                raise table.error("is empty.", row, column)
        if found.setdefault(alias, name) != name:
            raise table.error(f"alias {shown(alias)} has another name already.", row)
    return found


def suspicions(matrix: ResponseMatrix) -> list[Suspicion]:
    """Find pairs of models that may be one: by their results, and by their names.

    Two models are alike in their results if on at least 30 common items, neither all right nor all
    wrong, Cohen's kappa of right and wrong is 0.9 or more. `benchfill check` looks closer.
    """
    if len(matrix.models) > MOST_COMPARED:
        return []
    known = (matrix.n > 0).astype(np.float32)
    right = (2 * matrix.correct > matrix.n).astype(np.float32)
    common = known @ known.T
    both, either = right @ right.T, right @ known.T
    agreed = np.divide(
        common - either - either.T + 2 * both, common, where=common > 0, out=common * 0
    )
    share = np.divide(either, common, where=common > 0, out=common * 0)
    chance = share * share.T + (1 - share) * (1 - share.T)
    mixed = (share > 0) & (share < 1)
    kappa = np.divide(agreed - chance, 1 - chance, where=chance < 1, out=common * 0)
    alike = (kappa >= ALIKE) & (common >= LEAST_COMMON) & mixed & mixed.T
    pairs = {
        (int(j), int(k)): "their results agree on nearly every item"
        for j, k in np.argwhere(np.triu(alike, 1))
    }
    for j, k in _same_names(matrix.models):
        pairs.setdefault((j, k), "their names differ only in provider or spelling")
    return [
        Suspicion(
            models=(matrix.models[j], matrix.models[k]),
            common=int(common[j, k]),
            agreement=float(agreed[j, k]),
            why=why,
        )
        for (j, k), why in sorted(pairs.items())[:MOST_TOLD]
    ]


def _same_names(models: Sequence[str]) -> list[tuple[int, int]]:
    by_stem: dict[str, list[int]] = defaultdict(list)
    for j, name in enumerate(models):
        by_stem[_stem(name)].append(j)
    return [pair for same in by_stem.values() for pair in combinations(same, 2)]


def _stem(name: str) -> str:
    """Return a model's name without who serves it: openai/gpt-4o, gpt-4o@azure, gpt_4o."""
    bare = name.replace("__", "/").rsplit("/", 1)[-1].split("@", 1)[0]
    plain = bare.casefold().replace("_", "-").replace(" ", "-").removeprefix("meta-")
    return plain.replace("instruct", "inst")
