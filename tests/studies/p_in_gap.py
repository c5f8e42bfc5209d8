"""Is a child in the gap as often as `p_in_gap` says? Prints the tables of docs/studies.md.

python tests/studies/p_in_gap.py [fills a setting] [map|mcmc]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.measured_children import Measured, measure_children

BENCH_ROLLOUTS = (16, 64)
CHILD_ROLLOUTS = (8, 32, 96)
CHILDREN = 5
BINS = ((0.0, 0.1), (0.1, 0.3), (0.3, 0.7), (0.7, 0.9), (0.9, 1.0 + 1e-9))


def main(fills: int, engine: str) -> None:
    """Print what was stated beside what is true, by setting and by stated probability."""
    start = time.perf_counter()
    print(
        "| rollouts of the benchmark | of the child | children | mean p_in_gap | truly inside "
        "| 90% interval covers | at fixed abilities |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    everything: list[Measured] = []
    for k in BENCH_ROLLOUTS:
        rng = np.random.default_rng([2026, k])
        done: list[Measured] = []
        for _ in range(fills):
            done += measure_children(
                rng, k, child_rollouts=CHILD_ROLLOUTS, children=CHILDREN, engine=engine
            )  # type: ignore[arg-type]
        for n in CHILD_ROLLOUTS:
            _row(k, n, [one for one in done if one.rollouts == n])
        everything += done
    _row("all", "all", everything)
    print("\n| p_in_gap | children | mean p_in_gap | truly inside |")
    print("| --- | ---: | ---: | ---: |")
    for low, high in BINS:
        some = [one for one in everything if low <= one.p_in_gap < high]
        stated, inside = (_mean([float(getattr(one, f)) for one in some]) for f in FIELDS)
        print(f"| {low:g} to {min(high, 1):g} | {len(some)} | {stated} | {inside} |")
    print(f"{fills} fills a setting, {time.perf_counter() - start:.0f} s", file=sys.stderr)


FIELDS = ("p_in_gap", "inside")


def _row(k: int | str, n: int | str, done: list[Measured]) -> None:
    fixed = [one.covered_at_fixed_theta for one in done if one.covered_at_fixed_theta is not None]
    print(
        f"| {k} | {n} | {len(done)} | {_mean([one.p_in_gap for one in done])} | "
        f"{_mean([one.inside for one in done])} | {_mean([one.covered for one in done])} | "
        f"{_mean(fixed)} |",
        flush=True,
    )


def _mean(values: list[float] | list[bool]) -> str:
    return f"{np.mean(values):.3f}" if values else "–"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60, sys.argv[2] if len(sys.argv) > 2 else "map")
