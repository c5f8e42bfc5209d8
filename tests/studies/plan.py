"""Does a plan beat plain midpoints where the truth is known? Prints the tables of docs/studies.md.

python tests/studies/plan.py [banks a number of rollouts]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.planned_banks import OBJECTIVES, Planned, difference, plan_on_bank

ROLLOUTS = (1, 8, 64)
COUNTS = (1, 3, 5, 10)


def main(banks: int) -> None:
    """Print a row for each objective, number of rollouts and number of new items, then totals."""
    start = time.perf_counter()
    done: list[Planned] = []
    for k in ROLLOUTS:
        for bank in range(banks):
            done += plan_on_bank(bank, k, COUNTS)
        print(f"k = {k}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    print("| smaller is better | rollouts | new items | before | plain midpoints | plan "
          "| plan - plain (95% interval) | plan better | worse |")  # fmt: skip
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for objective in OBJECTIVES:
        for k in (*ROLLOUTS, "all"):
            for count in (*COUNTS, "all"):
                _row(objective, k, count, done)
    print()
    for objective in OBJECTIVES:
        for k in (*ROLLOUTS, "all"):
            some = [one for one in done if one.objective == objective and k in (one.k, "all")]
            print(f"{objective}, {k} rollouts: the plan {_verdict(*difference(some))}.")
    print(f"{banks} banks a number, {time.perf_counter() - start:.0f} s", file=sys.stderr)


def _row(objective: str, k: int | str, count: int | str, done: list[Planned]) -> None:
    some = [
        one
        for one in done
        if one.objective == objective and k in (one.k, "all") and count in (one.count, "all")
    ]
    mean, half = difference(some)
    before, plain, plan = (
        np.mean([getattr(one, name) for one in some]) for name in ("before", "plain", "plan")
    )
    better = np.mean([one.plan < one.plain - 1e-9 for one in some])
    worse = np.mean([one.plan > one.plain + 1e-9 for one in some])
    print(
        f"| {objective} | {k} | {count} | {before:.4f} | {plain:.4f} | {plan:.4f} "
        f"| {mean:+.4f} ({mean - half:+.4f} to {mean + half:+.4f}) | {better:.2f} | {worse:.2f} |"
    )


def _verdict(mean: float, half: float) -> str:
    if mean + half < 0:
        return f"beats plain midpoints ({mean:+.4f}, 95% interval up to {mean + half:+.4f})"
    return f"does not beat plain midpoints ({mean:+.4f} +- {half:.4f})"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
