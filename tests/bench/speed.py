"""Speed of what users wait for, printed as the table of docs/bench.md; run by `make bench`.

Each row is the best of some runs in this one process, on the cores that NumPy is allowed, with the
goal beside it. Files and matrices are made here; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.csv

sys.path.insert(0, str(Path(__file__).parents[1]))

import benchfill as bf
from support.simulated import abilities, respond

if TYPE_CHECKING:
    from collections.abc import Callable

MEMORY = """
import resource, sys, numpy as np, benchfill as bf
rng = np.random.default_rng(0)
theta, b = rng.normal(0, 1.5, 1000), rng.normal(0, 1.5, 100_000)
y = np.empty((1000, 100_000), np.int8)
for j, t in enumerate(theta):
    y[j] = rng.random(100_000) < 1 / (1 + np.exp(b - t))
names = [f"i{i}" for i in range(100_000)]
matrix = bf.ResponseMatrix(tuple(names[:1000]), tuple(names), y, np.ones_like(y))
bf.diagnose(bf.fit_1pl(matrix, engine="map"))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def matrix(models: int, items: int, k: int, missing: str = "") -> bf.ResponseMatrix:
    rng = np.random.default_rng([models, items])
    n = np.full((models, items), k)
    if missing == "rows":  # as in MMLU-Pro: some models were given some of the items
        n[3, items // 4 :] = 0
        n[7, : items // 7] = 0
    elif missing:
        n[rng.random((models, items)) < float(missing)] = 0
    return respond(rng, abilities(rng, models), rng.normal(0, 1.5, items), n)


def best(action: Callable[[], object], runs: int) -> float:
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def row(what: str, seconds: float, goal: float | None, unit: str = "s") -> None:
    shown = "–" if goal is None else f"{goal:g} {unit}"
    share = "–" if goal is None else f"{seconds / goal:.2f}"
    print(f"| {what} | {seconds:.3f} {unit} | {shown} | {share} |", flush=True)


def fits(runs: int) -> None:
    for size, goal in (
        ((12, 4241, 8, ""), 0.05),
        ((100, 10_000, 1, ""), 0.15),
        ((29, 12_032, 1, "rows"), 0.3),
        ((29, 12_032, 1, "0.1"), None),
    ):
        data = matrix(*size)
        told = f", {size[3]} missing" if size[3] else ""
        what = f"MAP with standard errors, {size[0]} x {size[1]:,}, k = {size[2]}{told}"
        row(what, best(lambda d=data: bf.fit_1pl(d, engine="map"), runs), goal)  # type: ignore[misc]


def posteriors() -> None:
    first = matrix(12, 4241, 8)
    bf.fit_1pl(matrix(12, 30, 8))  # imports
    base = best(lambda: bf.fit_1pl(first), 1)
    row("collapsed posterior, 12 x 4,241, k = 8, warm", base, 10)
    many = matrix(12, 40_000, 8)
    row(
        "collapsed posterior, 12 x 40,000, k = 8, warm",
        best(lambda: bf.fit_1pl(many), 1),
        1.5 * base,
    )
    wide = matrix(100, 10_000, 1)
    row("collapsed posterior, 100 x 10,000, k = 1, warm", best(lambda: bf.fit_1pl(wide), 1), None)


def children(runs: int) -> None:
    rng = np.random.default_rng(0)
    theta = abilities(rng)
    b = rng.normal(0, 1, 10_000)
    y = rng.binomial(16, 1 / (1 + np.exp(b[:, None] - theta)))
    n = np.full_like(y, 16)
    row(
        "10,000 children at fixed abilities, with se",
        best(lambda: bf.child_mle(y, n, theta), runs),
        0.05,
    )
    draws = bf.fit_1pl(matrix(12, 60, 16), engine="map").draws.thin(200)
    row(
        "10,000 children averaged over 200 draws",
        best(lambda: bf.child_summaries(y, n[0], draws), 1),
        5,
    )


def suites() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(5000, 6)) @ rng.normal(size=(6, 50)) + 2 * rng.normal(size=(5000, 50))
    names = [f"b{k}" for k in range(50)]
    table = bf.ScoreTable([f"m{j}" for j in range(5000)], names, scores)
    request = bf.SuiteRequest(replicates=1000)
    busy = time.process_time()
    seconds = best(lambda: bf.analyse_suite(table, request), 1)
    busy = time.process_time() - busy
    what = "`analyse_suite`, 5,000 models x 50 benchmarks, 1,000 resamples"
    row(f"{what} (CPU {busy:.1f} s)", seconds, 10)


def files(folder: Path, runs: int) -> None:
    path = folder / "long.csv"
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        file.write("model,item,correct\n")
        for j in range(100):
            right = rng.integers(0, 2, 100_000)
            file.write("".join(f"m{j},i{i},{y}\n" for i, y in enumerate(right)))
    reader = best(lambda: pyarrow.csv.read_csv(path), 1)
    row(
        "10,000,000-row long CSV; against pyarrow's bare read",
        best(lambda: bf.read_responses(path), 1),
        reader,
    )
    small = folder / "responses.csv"
    bf.write_responses(matrix(40, 721, 1), small)
    command = [
        sys.executable,
        "-m",
        "benchfill_services",
        "diagnose",
        str(small),
        "--engine",
        "map",
    ]

    def run(seed: int) -> Callable[[], object]:
        return lambda: subprocess.run(
            [*command, "--seed", str(seed)], check=True, capture_output=True
        )

    run(0)()
    row(
        "`diagnose --engine map`, 40 x 721, whole process, 200 nulls",
        min(best(run(s), 1) for s in range(1, runs + 1)),
        2,
    )


def memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], check=True, capture_output=True, text=True
    )
    row("peak memory of fit and diagnosis, 1,000 x 100,000 (int8)", float(done.stdout), 2.5, "GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    print("| what | measured | goal | measured / goal |")
    print("| --- | ---: | ---: | ---: |")
    fits(runs)
    children(runs)
    posteriors()
    suites()
    with tempfile.TemporaryDirectory() as folder:
        files(Path(folder), runs)
    memory()


if __name__ == "__main__":
    main()
