"""Do planned rollouts decide as many gaps as expected, and more than even ones? Prints a table.

python tests/studies/reruns.py [banks a setting]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.rerun_banks import Rerun, rerun_bank

ROLLOUTS = (1, 8, 64)
BUDGETS = (500, 4000)


def main(banks: int) -> None:
    """Print a row for each setting, then the totals."""
    start = time.perf_counter()
    print("| rollouts so far | budget | banks | undecided gaps | expected decided | plan decided "
          "| of these truly | even over what decides | plan - even (95% interval) "
          "| even over all cells |")  # fmt: skip
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    everything: list[Rerun] = []
    for k in ROLLOUTS:
        for budget in BUDGETS:
            found = [rerun_bank(bank, k, budget) for bank in range(banks)]
            done = [one for one in found if one is not None]
            _row(str(k), str(budget), done)
            everything += done
    _row("all", "all", everything)
    print(f"{banks} banks a setting, {time.perf_counter() - start:.0f} s", file=sys.stderr)


def _row(k: str, budget: str, done: list[Rerun]) -> None:
    expected, plan, even, everywhere = (
        np.array([values(one) for one in done])
        for values in (
            lambda one: one.expected,
            lambda one: one.plan.decided,
            lambda one: one.even.decided,
            lambda one: one.all.decided,
        )
    )
    truly = sum(one.plan.truly for one in done) / max(sum(plan), 1)
    more = plan - even
    half = 1.96 * more.std(ddof=1) / np.sqrt(len(more))
    print(
        f"| {k} | {budget} | {len(done)} | {np.mean([one.gaps for one in done]):.1f} "
        f"| {expected.mean():.2f} | {plan.mean():.2f} | {truly:.2f} | {even.mean():.2f} "
        f"| {more.mean():+.2f} ({more.mean() - half:+.2f} to {more.mean() + half:+.2f}) "
        f"| {everywhere.mean():.2f} |",
        flush=True,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
