"""Do the tests of progress keep their level, and what can they see? Prints the tables.

python tests/studies/progress_level.py [nulls a row]
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchfill.progress import ProgressTest
from benchfill.progress.scan import windows_of
from support.two_times import (
    Setting,
    interval_p,
    means_instead,
    place_by,
    scan_p,
    selected_limits,
    simulate,
)

TEST = ProgressTest(permutations=199)
NULL_TEST = ProgressTest(permutations=99)  # the level is exact with any number
NULL_LOTS = replace(NULL_TEST, randomised_ties=True)
NULLS = (Setting(40, 1, 1), Setting(40, 8, 8), Setting(60, 2, 5))
GAINS = (
    Setting(100, 8, 8, gain=0.15),
    Setting(200, 4, 4, gain=0.15, between=(0.5, 0.8)),
    Setting(200, 1, 1, gain=0.3, between=(0.5, 0.8)),
)


def main(nulls: int) -> None:
    """Print level, power, coverage, and what difficulties of the wrong origin do."""
    start = time.process_time()
    print("| nothing changed | interval | interval, ties by lot | scan | scan, ties by lot |")
    print("| --- | ---: | ---: | ---: | ---: |")
    called = []
    for number, setting in enumerate(NULLS):
        rng = np.random.default_rng([2026, number])
        called.append(np.mean([_calls(setting, rng) for _ in range(nulls)], axis=0))
        print(f"| {_name(setting)} | {_shares(called[-1])} |", flush=True)
    print(f"| all | {_shares(np.mean(called, axis=0))} |")
    print("\n| gain | scan, standardised | scan of means | its interval known | all items |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for number, setting in enumerate(GAINS):
        rng = np.random.default_rng([2027, number])
        seen = np.mean([_powers(setting, rng) for _ in range(max(nulls // 10, 5))], axis=0)
        print(f"| {_gain(setting)} | {_shares(seen)} |", flush=True)
    print("\n| limits of the interval that a scan chose | true gain below | true gain above |")
    print("| --- | ---: | ---: |")
    for number, setting in enumerate((*NULLS, *GAINS)):
        rng = np.random.default_rng([2028, number])
        limits = [selected_limits(setting, TEST, rng) for _ in range(max(nulls // 10, 5))]
        # without an interval that gained there is no limit to miss
        missed = [(one[1] < one[0], one[1] > one[2]) if one else (False, False) for one in limits]
        print(f"| {_gain(setting)} | {_shares(np.mean(missed, axis=0))} |", flush=True)
    print("\n| items placed by, nothing changed, hard third | 3 models | 6 | 12 | 40 |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for source in ("before alone", "before and after pooled", "other models"):
        rng = np.random.default_rng(2029)
        shares = [np.mean(place_by(source, j, nulls // 2, rng) <= 0.05) for j in (3, 6, 12, 40)]
        print(f"| {source} | {_shares(np.array(shares))} |", flush=True)
    print(f"{nulls} nulls a row, {time.process_time() - start:.0f} s of CPU", file=sys.stderr)


def _calls(setting: Setting, rng: np.random.Generator) -> list[bool]:
    z, responses, _ = simulate(setting, rng)
    windows = windows_of(z, responses.variance)
    p = (
        interval_p(z, responses, setting.between),
        interval_p(z, responses, setting.between, rng.random()),
        scan_p(windows, responses, NULL_TEST, rng),
        scan_p(windows, responses, NULL_LOTS, rng),
    )
    return [one <= 0.05 for one in p]


def _powers(setting: Setting, rng: np.random.Generator) -> list[bool]:
    z, responses, _ = simulate(setting, rng)
    windows = windows_of(z, responses.variance)
    p = (
        scan_p(windows, responses, TEST, rng),
        scan_p(means_instead(windows), responses, TEST, rng),
        interval_p(z, responses, setting.between),
        interval_p(z, responses, (-1.0, 2.0)),
    )
    return [one <= 0.05 for one in p]


def _name(setting: Setting) -> str:
    return f"{setting.items} items, {setting.n0} and {setting.n1} rollouts"


def _gain(setting: Setting) -> str:
    if not setting.gain:
        return f"{_name(setting)}, no gain"
    left, right = setting.between
    return f"{_name(setting)}, {setting.gain:+g} from z {left:g} to {right:g}"


def _shares(values: np.ndarray) -> str:
    return " | ".join(f"{value:.3f}" for value in values)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
