"""Does `check` stay quiet on 1PL data, and does it find what was planted? Prints two tables.

python tests/studies/check.py [matrices a setting]
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchfill import check_fit, fit_1pl
from support.flawed import FLAWS, Flaw, flawed_matrix

SETTINGS = ((12, 200, 1), (12, 200, 8), (40, 300, 1))
SLOPES = (0.0, 0.2, 0.4)
ITEM_KINDS = {"inverted_item", "misfit_item"}
PAIR_KINDS = {"identical_models", "near_duplicate_models", "alike_models"}


@dataclass
class Tally:
    """What was found in the matrices of one setting."""

    items: int = 0
    any_item: int = 0
    models: int = 0
    pairs: int = 0
    two: int = 0
    one: int = 0
    found: int = 0


def main(matrices: int) -> None:
    """Print false alarms and finds by setting, then the verdicts by spread of the slopes."""
    start = time.perf_counter()
    print(
        "| models x items x rollouts | planted | matrices | it is found | "
        "other items listed, mean | matrices with any | with a model | with a pair |"
    )
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    clean = {}
    for size in SETTINGS:
        for flaw in FLAWS:
            tally = run(size, flaw, matrices)
            clean.setdefault(size, tally)  # the first has no flaw
            hit = "–" if flaw == "none" else f"{tally.found / matrices:.2f}"
            print(
                f"| {size[0]} x {size[1]} x {size[2]} | {flaw} | {matrices} | {hit} | "
                f"{tally.items / matrices:.2f} | {tally.any_item / matrices:.2f} | "
                f"{tally.models / matrices:.2f} | {tally.pairs / matrices:.2f} |",
                flush=True,
            )
    print("\n| models x items x rollouts | sd of log slopes | clearly 2PL | clearly 1PL |")
    print("| --- | ---: | ---: | ---: |")
    for size in SETTINGS:
        for spread in SLOPES:
            tally = run(size, "none", matrices, spread) if spread else clean[size]
            print(
                f"| {size[0]} x {size[1]} x {size[2]} | {spread:g} | {tally.two / matrices:.2f} | "
                f"{tally.one / matrices:.2f} |",
                flush=True,
            )
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


def run(size: tuple[int, int, int], flaw: Flaw, matrices: int, spread: float = 0.0) -> Tally:
    """Check many matrices with one flaw."""
    tally = Tally()
    for number in range(matrices):
        rng = np.random.default_rng([2026, *size, FLAWS.index(flaw), int(100 * spread), number])
        matrix, planted = flawed_matrix(rng, size, flaw, spread)
        found = check_fit(fit_1pl(matrix, engine="map", seed=number), seed=number)
        names = [set(one.names) for one in found.findings if one.kind != "all_wrong_items"]
        tally.found += bool(planted) and any(planted <= one for one in names)
        # a copy makes its original look odd too: what touches the planted ones is no false alarm
        rest = [one for one in found.findings if not planted & set(one.names)]
        kinds = [one.kind for one in rest]
        listed = sum(kind in ITEM_KINDS for kind in kinds)
        tally.items += listed
        tally.any_item += listed > 0
        tally.models += "odd_model" in kinds
        tally.pairs += any(kind in PAIR_KINDS for kind in kinds)
        tally.two += found.comparison.verdict == "2pl"
        tally.one += found.comparison.verdict == "1pl"
    return tally


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
