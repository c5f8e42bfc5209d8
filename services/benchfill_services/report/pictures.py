"""The report's pictures, drawn for light and for dark paper."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchfill.plots import (
    DARK,
    LIGHT,
    SearchedChild,
    difficulty_distribution,
    item_curves,
    measure_posteriors,
    png_of,
    pooled_curve,
    search_picture,
    trace_plots,
    wright_map,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from benchfill import Fit1PL
    from benchfill.diagnosis import Diagnosis
    from benchfill.plots import Theme
    from benchfill.targets import Target
    from benchfill_agents.fill_report import FillResult

    from .candidates import Candidate


@dataclass(frozen=True)
class Picture:
    """A picture as PNG, and what it shows for those who cannot see it."""

    file: str
    alt: str
    light: bytes
    dark: bytes

    @property
    def light_uri(self) -> str:
        """The light picture as a data URI."""
        return _uri(self.light)

    @property
    def dark_uri(self) -> str:
        """The dark picture as a data URI."""
        return _uri(self.dark)


def distribution_picture(
    diagnosis: Diagnosis, target: Target, chosen: Sequence[float] = ()
) -> Picture:
    """Draw the difficulty distribution with the gaps, and the chosen new items if any."""
    z = [one.z for one in diagnosis.difficulties]
    gaps = "; ".join(
        f"{gap.z_left:.3f} to {gap.z_right:.3f}, {gap.verdict}" for gap in diagnosis.gaps[:5]
    )
    new = f" New items at {', '.join(f'{one:.3f}' for one in chosen)}." if chosen else ""
    return picture(
        "distribution.png",
        f"Cumulative distribution of the difficulty of {len(z)} items against the target; "
        f"the area between them, the mismatch, is {diagnosis.ddm.plugin:.3f}. "
        f"Widest gaps: {gaps or 'none'}.{new}",
        lambda theme: difficulty_distribution(
            z, target, diagnosis.gaps, chosen=chosen, theme=theme
        ),
    )


def map_picture(diagnosis: Diagnosis) -> Picture:
    """Draw the Wright map."""
    abilities = {one.model: one.theta for one in diagnosis.abilities}
    b = [one.b for one in diagnosis.difficulties]
    theta = list(abilities.values())
    return picture(
        "wright-map.png",
        f"Difficulties of {len(b)} items, from {min(b):.2f} to {max(b):.2f} logits, facing the "
        f"abilities of {len(theta)} models, from {min(theta):.2f} to {max(theta):.2f}. "
        "The same figures stand in the tables of abilities and difficulties.",
        lambda theme: wright_map(abilities, b, theme=theme),
    )


def posterior_picture(fit: Fit1PL, target: Target) -> Picture:
    """Draw how sure the measures are."""
    return picture(
        "posterior.png",
        f"Histograms over {len(fit.draws.b):,} posterior draws of the mismatch, the widest gap and "
        "the sum of the widest gaps, with median, 90% interval and the plain figure; the same "
        "figures stand in the table of measures.",
        lambda theme: measure_posteriors(fit, target, theme=theme),
    )


def pooled_picture(fit: Fit1PL) -> Picture:
    """Draw expected and observed success, all cells together."""
    return picture(
        "success.png",
        "Observed share of successes with 95% intervals in 16 bins of ability minus difficulty, "
        "against the share that the model expects.",
        lambda theme: pooled_curve(fit, theme=theme),
    )


def curves_picture(fit: Fit1PL) -> Picture:
    """Draw six items' characteristic curves with what was observed."""
    return picture(
        "item-curves.png",
        "Expected success against ability of six items from the easiest to the hardest, each "
        "model's observed share as a dot.",
        lambda theme: item_curves(fit, theme=theme),
    )


def traces_picture(fit: Fit1PL) -> Picture | None:
    """Draw the chains, where the engine has any."""
    if fit.max_rhat is None:
        return None
    return picture(
        "traces.png",
        f"Traces and rank histograms of the sampler's chains; the largest R-hat is "
        f"{fit.max_rhat:.3f}.",
        lambda theme: trace_plots(fit, theme=theme),
    )


def gap_search_picture(fill: FillResult, candidates: Sequence[Candidate]) -> Picture:
    """Draw the search for one gap."""
    children = [
        SearchedChild(
            round=one.round,
            z=one.calibration.z,
            q05=one.calibration.q05,
            q95=one.calibration.q95,
            outcome=one.calibration.outcome,
            chosen=one.chosen,
        )
        for one in candidates
    ]
    inside = sum(fill.z_left < child.z < fill.z_right for child in children)
    found = f" The chosen one lies at {fill.chosen.z:.3f}." if fill.chosen else " None was chosen."
    return picture(
        f"search-{fill.gap}.png",
        f"Difficulties with 90% intervals of the {len(children)} measured children of {fill.gap} "
        f"by round, against the gap from {fill.z_left:.3f} to {fill.z_right:.3f}; "
        f"{inside} have their median inside.{found}",
        lambda theme: search_picture(
            children,
            (fill.z_left, fill.z_right),
            fill.midpoint,
            title=f"{fill.gap}: the search for an item of difficulty {fill.midpoint:.3f}",
            theme=theme,
        ),
    )


def picture(file: str, alt: str, draw: Callable[[Theme], Figure]) -> Picture:
    """Draw a picture on light and on dark paper; `alt` tells those who cannot see it the same."""
    return Picture(file, alt, png_of(draw(LIGHT)), png_of(draw(DARK)))


def _uri(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
