"""Draw the pictures of docs/img again: `python docs/make_pictures.py`.

All but one show the sample benchmark; that one is simulated. Fits are by MAP, seeds fixed.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import benchfill as bf
from benchfill.plots import DARK, LIGHT, difficulty_distribution, png_of, wright_map
from benchfill.plots.icc import item_curves
from benchfill.plots.leaderboard import leaderboard_scores
from benchfill.plots.measures import measure_posteriors
from benchfill.plots.power import power_picture
from benchfill.plots.progress import progress_picture
from benchfill.plots.pruning import pruned_distribution
from benchfill_agents.sample import responses_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.figure import Figure

    from benchfill.plots import Theme

    Draw = Callable[..., Figure]

IMG = Path(__file__).parent / "img"
BEFORE, AFTER = "text-7-t1.3", "text-7-t1.0"  # those of the tutorial
ROLLOUTS = 16


def main() -> None:
    """Draw every picture on light and on dark paper."""
    IMG.mkdir(exist_ok=True)
    matrix = bf.read_responses(responses_path())
    fit = bf.fit_1pl(matrix, engine="map")
    for name, draw in (*reading(fit), *tutorial(fit), ("distribution-crowded", crowded())):
        save(name, LIGHT, draw, "")
        save(name, DARK, draw, "-dark")


def save(name: str, theme: Theme, draw: Draw, suffix: str) -> None:
    """Write one picture."""
    (IMG / f"{name}{suffix}.png").write_bytes(png_of(draw(theme=theme)))


def reading(fit: bf.Fit1PL) -> Iterator[tuple[str, Draw]]:
    """Draw what a diagnosis shows."""
    yield "curves", partial(item_curves, fit)
    abilities = dict(zip(fit.responses.models, fit.theta.tolist(), strict=True))
    yield "wright-map", partial(wright_map, abilities, fit.b)
    yield "distribution", distribution(fit)
    yield "measures", partial(measure_posteriors, fit, bf.Uniform())


def tutorial(fit: bf.Fit1PL) -> Iterator[tuple[str, Draw]]:
    """Draw what the commands of the tutorial find."""
    z = bf.DifficultyScale.of(fit.b).to_z(fit.b)
    yield "leaderboard", partial(leaderboard_scores, bf.rank_models(fit).scores)
    kept = [one.z for one in bf.prune(fit, 20).kept]
    yield "pruned", partial(pruned_distribution, z, kept, bf.Uniform())
    yield "power", partial(power_picture, bf.power_map(fit, bf.PowerSettings((ROLLOUTS,))))
    yield "progress", progress(fit)


def distribution(fit: bf.Fit1PL) -> Draw:
    """Draw the difficulties of a fit against the uniform target, with the gaps."""
    diagnosis = bf.diagnose(fit)
    z = [one.z for one in diagnosis.difficulties]
    return partial(difficulty_distribution, z, bf.Uniform(), diagnosis.gaps)


def progress(fit: bf.Fit1PL) -> Draw:
    """Draw the scan of the tutorial, in which all twelve models place the items."""
    names = fit.responses.models
    before, after = (fit.responses.select(models=[names.index(one)]) for one in (BEFORE, AFTER))
    found = bf.measure_progress(fit, before, after, bf.ProgressTest())
    z = bf.DifficultyScale.of(fit.b).to_z(fit.b)
    title = "Before and after, by difficulty"
    return partial(progress_picture, z, found.tests[0], found.blind, title=title)


def crowded() -> Draw:
    """Draw 4,000 items that 12 models answered once: many look equally hard."""
    rng = np.random.default_rng(1)
    theta, b = np.linspace(-2, 2, 12), rng.normal(0, 1.5, 4000)
    solved = rng.random((12, 4000)) < 1 / (1 + np.exp(b - theta[:, None]))
    matrix = bf.ResponseMatrix(
        models=tuple(f"model-{j + 1}" for j in range(12)),
        items=tuple(f"item-{i + 1}" for i in range(4000)),
        correct=solved.astype(np.int8),
        n=np.ones((12, 4000), np.int8),
    )
    return distribution(bf.fit_1pl(matrix, engine="map"))


if __name__ == "__main__":
    main()
