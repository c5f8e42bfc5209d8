"""Are gaps called `empty` truly empty? Simulated banks; prints the table of docs/studies.md.

python tests/studies/verdicts.py [banks a cell]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.banks import KINDS, call, make_bank

SIZES = (30, 60, 100)
ROLLOUTS = (1, 8, 64)


def main(banks: int) -> None:
    """Print a row for each kind, size and number of rollouts, and the totals."""
    start = time.perf_counter()
    print("| bank | items | rollouts | banks | called empty | truly empty | planted called |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    calls = truly = 0
    by_rollouts: dict[int, list[int]] = {k: [0, 0] for k in ROLLOUTS}
    planted: list[bool] = []
    for kind_number, kind in enumerate(KINDS):
        for items in SIZES:
            for k in ROLLOUTS:
                rng = np.random.default_rng([2026, kind_number, items, k])
                done = [call(make_bank(kind, items, rng), k, rng) for _ in range(banks)]
                empty, right = (sum(getattr(one, n) for one in done) for n in ("empty", "truly"))
                calls, truly = calls + empty, truly + right
                by_rollouts[k][0] += empty
                by_rollouts[k][1] += right
                found = [bool(one.planted_called) for one in done if kind == "planted"]
                planted += found if k == max(ROLLOUTS) else []
                print(
                    f"| {kind} | {items} | {k} | {banks} | {empty} | {_share(right, empty)} | "
                    f"{_share(sum(found), len(found))} |",
                    flush=True,
                )
    for k, (empty, right) in by_rollouts.items():
        print(f"| all | all | {k} | {banks * 12} | {empty} | {_share(right, empty)} | – |")
    print(
        f"| all | all | all | {banks * 36} | {calls} | {_share(truly, calls)} | "
        f"{_share(sum(planted), len(planted))} (64 rollouts) |"
    )
    print(f"\n{time.perf_counter() - start:.0f} s", file=sys.stderr)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "–"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
