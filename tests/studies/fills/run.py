"""Fills in worlds whose truth is known: `python tests/studies/fills/run.py [--block NAME]`.

Every row is one setting and one arm; the same seeds for all arms of a setting. Prints the tables of
docs/fill-study.md; `--out DIR` also writes the figures as JSON and the reliability diagram.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

import numpy as np

from benchfill_agents.calibrator import CalibrationPlan
from benchfill_agents.calibrator.design import Design
from fills.arms import OURS, PAPER, Way, baseline, ours
from fills.held_out import RESPONSES, SETTING, make_real_world
from fills.measures import COLUMNS, Seed, measure, summarise
from fills.people import Habits
from fills.reliability import draw
from fills.world import SIMULATED, VIOLATIONS, Setting, make_world

ROOT_SEED = 20261130
LEAST_BUDGET = 96  # a baseline has at least one child
KNOWN = Setting(targets=1)
ESTIMATED = Setting(bench_rollouts=64, targets=1)
PRICED = Setting(targets=1, priced=True)
AT_ONCE = CalibrationPlan(design=Design(worth=1.0), at_any_price=True)
AT_ANY_PRICE = Way(CalibrationPlan(at_any_price=True))
ABLATIONS = {
    "ours": OURS,
    "without the rewriter's habits": Way(CalibrationPlan(learn_habits=False)),
    "earlier rounds' children are left": Way(again=False),
    "parents at random": Way(any_parents=True),
    "models in turn": Way(in_turn=True),
    "the first accepted ends it": Way(AT_ONCE),
    "pursued at any price": AT_ANY_PRICE,
    "12 a step": Way(CalibrationPlan(design=Design(batch=12))),
    "16 first, 24 a step": Way(CalibrationPlan(design=Design(first=16, batch=24))),
    "two children a parent": Way(per_parent=2),
    "p_in_gap .95": Way(CalibrationPlan(min_p_in_gap=0.95)),
    "half the worth": Way(CalibrationPlan(design=Design(worth=6.5e-6))),
}
THREE_GAPS = {
    "ours": OURS,
    "each gap by itself": Way(apart=True),
    "pursued at any price": AT_ANY_PRICE,
}


@dataclass(frozen=True)
class Row:
    """One setting, one way, so many seeds; with the baseline of the same budget beside it."""

    setting: Setting
    name: str
    way: Way
    seeds: int
    with_baseline: bool = False


def one_seed(row: Row, seed: int) -> list[tuple[str, Seed]]:
    """Fill one world; the baseline has the budget that ours used in the same world."""
    make = make_real_world if row.setting.shape == "EvalPerf" else make_world
    world = make(row.setting, np.random.default_rng([ROOT_SEED, seed]))
    rng = np.random.default_rng([ROOT_SEED, seed, 1])
    filled = asyncio.run(ours(world, Habits(), rng, row.way))
    found = [(row.name, measure(world, filled))]
    if row.with_baseline:
        budgets = [max(one.rollouts, LEAST_BUDGET) for one in filled]
        other = asyncio.run(baseline(world, Habits(), rng, budgets))
        found.append(("baseline", measure(world, other)))
    return found


def blocks(many: int, few: int) -> dict[str, list[Row]]:
    """Return the rows of each table: `many` seeds for the headline rows, `few` for the others."""
    paper = [Row(KNOWN, f"fixed k = {k}", way, few) for k, way in PAPER.items()]
    # where few gaps are filled, more seeds
    more = min(2 * few, many)
    estimated = [
        *(Row(replace(ESTIMATED, bench_rollouts=k), "ours", OURS, more) for k in (1, 4, 8, 16)),
        Row(ESTIMATED, "ours", OURS, many, with_baseline=True),
    ]
    as_they_are = [
        Row(replace(ESTIMATED, bench_rollouts=k), "borders as they are", Way(borders=False), few)
        for k in (1, 4, 8, 16, 64)
    ]
    shapes = [
        Row(Setting(shape, items, models, 64), "ours", OURS, few // 2)
        for shape, items, models in zip(
            (*SIMULATED, "normal"), (40, 50, 164, 250, 541), (12, 24, 6, 12, 12), strict=True
        )
    ]
    checked = Way(anchors=True)
    return {
        "known": [Row(KNOWN, "ours", OURS, many, with_baseline=True), *paper],
        "estimated": estimated,
        "borders": as_they_are,
        "three gaps": [
            Row(one, name, way, few)
            for one in (Setting(), Setting(bench_rollouts=64))
            for name, way in THREE_GAPS.items()
        ],
        "ablations": [Row(KNOWN, name, way, few) for name, way in ABLATIONS.items()],
        "prices": [
            Row(PRICED, "ours", OURS, few),
            Row(PRICED, "whatever a model costs", Way(by_price=False), few),
        ],
        "shapes": shapes,
        "violations": [
            *(Row(replace(ESTIMATED, violation=one), "ours", checked, few) for one in VIOLATIONS),
            Row(replace(ESTIMATED, violation="drift"), "without anchors", OURS, few),
        ],
        "EvalPerf": [
            Row(SETTING, "ours", OURS, few // 2, with_baseline=True),
            Row(SETTING, "as if 1PL held", Way(trusting=True), few // 2),
            Row(SETTING, "fixed k = 8", PAPER[8], few // 2),
        ],
    }  # fmt: skip


def run(rows: list[Row], pool: ProcessPoolExecutor) -> list[dict[str, object]]:
    """Print a block's rows as a Markdown table and return their figures."""
    print(f"| setting | arm | seeds | {' | '.join(COLUMNS)} |")
    print(f"| --- | --- | ---: |{' ---: |' * len(COLUMNS)}")
    # all at once: a slow seed of one row keeps no process from the next
    jobs = [[pool.submit(one_seed, row, seed) for seed in range(row.seeds)] for row in rows]
    told = []
    for row, asked in zip(rows, jobs, strict=True):
        found: dict[str, list[Seed]] = {}
        for job in asked:
            for name, seed in job.result():
                found.setdefault(name, []).append(seed)
        for name, seeds in found.items():
            print(line(row.setting, name, seeds), flush=True)
            figures = {column: asdict(one) for column, one in summarise(seeds).items()}
            stated = [pair for seed in seeds for pair in seed.all_stated]
            row_told = {"setting": title(row.setting), "arm": name}
            told.append(row_told | {"figures": figures, "stated": stated})
    return told


def title(setting: Setting) -> str:
    """Name a setting."""
    known = "known" if setting.bench_rollouts is None else f"k = {setting.bench_rollouts}"
    gaps = "1 gap" if setting.targets == 1 else f"{setting.targets} gaps"
    text = f"{setting.shape} {setting.models} x {setting.items}, {known}, {gaps}"
    text += ", priced" if setting.priced else ""
    return text if setting.violation == "none" else f"{text}, {setting.violation}"


def line(setting: Setting, arm: str, seeds: list[Seed]) -> str:
    """Return a line of the table."""
    cells = []
    for name, figure in summarise(seeds).items():
        places = 0 if name in {"rollouts", "cost"} else 1 if name in {"children", "rounds"} else 3
        if np.isnan(figure.value):
            cells.append("–")
        else:
            numbers = (figure.value, figure.low, figure.high)
            value, low, high = (f"{one:,.{places}f}" for one in numbers)
            cells.append(f"{value} ({low}–{high})")
    return f"| {title(setting)} | {arm} | {len(seeds)} | {' | '.join(cells)} |"


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true", help="two seeds a row")
    parser.add_argument("--block", action="append", help="this table only; may be repeated")
    parser.add_argument("--seeds", type=int, default=300, help="of the headline rows")
    parser.add_argument("--few", type=int, default=16, help="seeds of the other rows")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, help="folder for figures.json and the diagram")
    options = parser.parse_args()
    many, few = (2, 2) if options.smoke else (options.seeds, options.few)
    start, told = time.monotonic(), {}
    with ProcessPoolExecutor(options.processes) as pool:
        for name, block in blocks(many, few).items():
            if options.block and name not in options.block:
                continue
            if name == "EvalPerf" and not RESPONSES.exists():
                print(f"\nno EvalPerf: {RESPONSES.name} is not beside the checkout")
                continue
            print(f"\n### {name}\n")
            told[name] = run(block, pool)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        draw(told, options.out)
        (options.out / "figures.json").write_text(json.dumps(told))
    print(f"\n{time.monotonic() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
