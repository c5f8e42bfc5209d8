"""Pictures, one file each. Every function takes data and returns a Matplotlib `Figure`.

Not imported with `benchfill` itself, since Matplotlib takes its time; pyplot and its global state
are not used at all.
"""

from .distribution import difficulty_distribution
from .icc import item_curves, pooled_curve
from .measures import measure_posteriors
from .plan import plan_picture
from .search import SearchedChild, search_picture
from .style import DARK, LIGHT, Theme, png_of
from .traces import trace_plots
from .wright import wright_map

__all__ = [
    "DARK",
    "LIGHT",
    "SearchedChild",
    "Theme",
    "difficulty_distribution",
    "item_curves",
    "measure_posteriors",
    "plan_picture",
    "png_of",
    "pooled_curve",
    "search_picture",
    "trace_plots",
    "wright_map",
]
