"""Whether children lie in the gap as often as is said: a reliability diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

LINES = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
EDGES = np.linspace(0, 1, 11)
LEAST = 10  # children a point
SHOWN = {"known": "abilities known", "estimated": "estimated", "EvalPerf": "EvalPerf"}


def draw(told: dict[str, list[dict[str, Any]]], folder: Path) -> None:
    """Draw stated p_in_gap against the truth over all measured children, on light and dark."""
    for suffix, ink, paper in (("", "#222222", "white"), ("-dark", "#dddddd", "#16181d")):
        lines = dict.fromkeys(LINES, ink)
        with plt.rc_context(lines | dict.fromkeys(("axes.facecolor", "figure.facecolor"), paper)):
            figure, axes = plt.subplots(figsize=(5.4, 4.6), layout="constrained")
            axes.plot([0, 1], [0, 1], color=ink, linewidth=0.8, linestyle=":")
            for block, label in SHOWN.items():
                for row in told.get(block, []):
                    if row["arm"] == "ours" and len(row["stated"]) >= LEAST:
                        _line(axes, row["stated"], f"{label}: {row['setting']}")
            axes.set_xlabel("stated p_in_gap")
            axes.set_ylabel("share truly in the gap")
            axes.legend(fontsize=7, labelcolor=ink, facecolor=paper, loc="upper left")
            figure.savefig(folder / f"fill-study-reliability{suffix}.png", dpi=150)
            plt.close(figure)


def _line(axes: plt.Axes, stated: list[tuple[float, bool]], label: str) -> None:
    said, true = np.array(stated, float).reshape(-1, 2).T
    cell = np.clip(np.digitize(said, EDGES) - 1, 0, len(EDGES) - 2)
    kept = [c for c in range(len(EDGES) - 1) if (cell == c).sum() >= LEAST]
    axes.plot(
        [said[cell == c].mean() for c in kept],
        [true[cell == c].mean() for c in kept],
        marker="o", markersize=3, linewidth=1, label=label,
    )  # fmt: skip
