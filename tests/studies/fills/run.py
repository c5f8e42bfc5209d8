"""Fills in simulated worlds: `python tests/studies/fills/run.py [--smoke] [--block NAME]`.

Every row is one setting and one arm; the same seeds for all arms. The tables of docs/results.md.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

import numpy as np

from fills.arms import baseline, ours
from fills.measures import COLUMNS, Seed, measure, summarise
from fills.people import Habits
from fills.world import SHAPES, VIOLATIONS, Setting, make_world

ROOT_SEED = 20261130
FIXED = (1, 2, 4, 8, 16, 64)
ESTIMATED = (1, 4, 8, 16, 64)


def one_seed(setting: Setting, arm: str, seed: int) -> list[tuple[str, Seed]]:
    """Fill one world by an arm; the baseline has the budget that ours used in the same world."""
    world = make_world(setting, np.random.default_rng([ROOT_SEED, seed]))
    rng = np.random.default_rng([ROOT_SEED, seed, 1])
    habits = Habits()
    if arm.startswith("fixed"):
        fixed = int(arm.rpartition(" ")[2])
        return [(arm, measure(world, asyncio.run(ours(world, habits, rng, fixed=fixed))))]
    filled = asyncio.run(ours(world, habits, rng))
    budgets = [max(one.rollouts, 96) for one in filled]
    other = asyncio.run(baseline(world, habits, rng, budgets))
    return [("ours", measure(world, filled)), ("baseline", measure(world, other))]


def blocks(smoke: bool) -> dict[str, list[tuple[Setting, list[str], int]]]:
    """Return the settings, arms and numbers of seeds of each table."""
    seeds = 4 if smoke else 300
    few = 2 if smoke else 60
    if chosen := os.environ.get("SEEDS"):
        seeds = few = int(chosen)
    return {
        "known": [(Setting(), ["ours", *(f"fixed {k}" for k in FIXED)], seeds)],
        "estimated": [
            (Setting(bench_rollouts=k), ["ours"], seeds if k == 64 else few) for k in ESTIMATED
        ],
        "shapes": [
            (Setting(shape, items, models, 64), ["ours"], few)
            for shape in SHAPES
            for items, models in ((50, 12), (164, 24), (250, 6))
        ],
        "violations": [
            (Setting(bench_rollouts=64, violation=one), ["ours"], few) for one in VIOLATIONS
        ],
    }


def run(block: list[tuple[Setting, list[str], int]], pool: ProcessPoolExecutor) -> None:
    """Print a block's rows as a Markdown table."""
    print(f"| setting | arm | seeds | {' | '.join(COLUMNS)} |")
    print(f"| --- | --- | ---: |{' ---: |' * len(COLUMNS)}")
    for setting, arms, count in block:
        for arm in arms:
            jobs = [pool.submit(one_seed, setting, arm, seed) for seed in range(count)]
            found: dict[str, list[Seed]] = {}
            for job in jobs:
                for name, seed in job.result():
                    found.setdefault(name, []).append(seed)
            for name, seeds in found.items():
                print(row(setting, name, seeds), flush=True)


def row(setting: Setting, arm: str, seeds: list[Seed]) -> str:
    """Return a line of the table."""
    known = "known" if setting.bench_rollouts is None else f"k = {setting.bench_rollouts}"
    title = f"{setting.shape} {setting.models} x {setting.items}, {known}"
    if setting.violation != "none":
        title += f", {setting.violation}"
    cells = []
    for name, figure in summarise(seeds).items():
        places = 0 if name == "rollouts" else 1 if name in {"children", "rounds"} else 3
        if np.isnan(figure.value):
            cells.append("–")
        else:
            numbers = (figure.value, figure.low, figure.high)
            value, low, high = (f"{one:,.{places}f}" for one in numbers)
            cells.append(f"{value} ({low}–{high})")
    return f"| {title} | {arm} | {len(seeds)} | {' | '.join(cells)} |"


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true", help="a few seeds a row")
    parser.add_argument("--block", default=None)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    start = time.monotonic()
    with ProcessPoolExecutor(options.processes) as pool:
        for name, block in blocks(options.smoke).items():
            if options.block in {None, name}:
                print(f"\n### {name}\n")
                run(block, pool)
    print(f"\n{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
