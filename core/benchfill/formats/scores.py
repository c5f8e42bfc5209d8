"""Reference scores of models: a delimited file with the columns model and score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .table import TEXT, open_table, shown

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_scores(path: str | Path) -> Mapping[str, float]:
    """Read reference scores, for example of another leaderboard.

    Parameters
    ----------
    path
        UTF-8 text with a header line that names ``model`` and ``score``; other columns are not
        read. Fields separated by comma, semicolon or tab. A higher score is a better one.

    Returns
    -------
    Mapping
        Score by model, in the order of the file.

    Raises
    ------
    InputError
        One sentence that names file, line and column.
    """
    table = open_table(Path(path))
    absent = [name for name in ("model", "score") if name not in table.header]
    if absent:
        found = ", ".join(shown(name) for name in table.header[:4])
        raise table.header_error(
            f"lacks the column {absent[0]}; expected model and score, found "
            f"{found}{', ...' if len(table.header) > 4 else ''}."
        )
    rows = table.read(dict.fromkeys(table.header, TEXT))
    models, texts = rows["model"].to_pylist(), rows["score"].to_pylist()
    if not models:
        raise table.no_data()
    scores: dict[str, float] = {}
    for row, (model, text) in enumerate(zip(models, texts, strict=True)):
        if not model.strip():
            raise table.error("the model has no name.", row, "model")
        if model in scores:
            raise table.error(
                f"model {shown(model)} stands on an earlier line already; give each model one "
                "score.",
                row,
            )
        score = _number(text)
        if not np.isfinite(score):
            why = "is no number" if text.strip() else "is no score; leave the line out"
            raise table.error(f"{shown(text)} {why}.", row, "score")
        scores[model] = score
    return scores


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
