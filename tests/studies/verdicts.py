"""Are gaps called `empty` truly empty? Simulated banks; prints the table of docs/studies.md.

python tests/studies/verdicts.py [banks a cell]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.banks import KINDS, Calls, call, make_bank

SIZES = (30, 60, 100)
ROLLOUTS = (1, 8, 64)


def main(banks: int) -> None:
    """Print a row for each kind, size and number of rollouts, then the totals."""
    start = time.perf_counter()
    print("| bank | items | rollouts | called empty | truly empty | mean p_hole | planted called |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    everything: list[tuple[str, int, Calls]] = []
    for kind_number, kind in enumerate(KINDS):
        for items in SIZES:
            for k in ROLLOUTS:
                rng = np.random.default_rng([2026, kind_number, items, k])
                done = [call(make_bank(kind, items, rng), k, rng) for _ in range(banks)]
                print(_row(kind, items, k, done), flush=True)
                everything += [(kind, k, one) for one in done]
    for kind in KINDS:
        print(_row(kind, "all", "all", [one for of, _, one in everything if of == kind]))
    for k in ROLLOUTS:
        print(_row("all", "all", k, [one for _, of, one in everything if of == k]))
    together = [one for _, _, one in everything]
    print(_row("all", "all", "all", together))
    print(_row("all, three widest gaps only", "all", "all", together, ranks=3))
    print(f"{banks} banks a row, {time.perf_counter() - start:.0f} s", file=sys.stderr)


def _row(kind: str, items: int | str, k: int | str, done: list[Calls], *, ranks: int = 99) -> str:
    empty = [one for calls in done for one in calls.empty if one.rank < ranks]
    planted = [one.planted_called for one in done if one.planted_called is not None]
    shares = (
        _share(sum(one.truly for one in empty), len(empty)),
        _share(sum(one.p_hole for one in empty), len(empty)),
        _share(sum(planted), len(planted)),
    )
    return f"| {kind} | {items} | {k} | {len(empty)} | {' | '.join(shares)} |"


def _share(part: float, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "–"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 16)
