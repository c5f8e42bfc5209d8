"""What all pictures share: colours, type, axes, and text that comes from strangers."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Text

FONT = "DejaVu Sans"  # comes with Matplotlib, so it is there on every machine
SIZE = 8.5
DPI = 150
WIDTH = 7.2  # inches

# Okabe & Ito: told apart by people with any common colour vision
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
VERMILLION, SKY, PURPLE = "#D55E00", "#56B4E9", "#CC79A7"


@dataclass(frozen=True)
class Theme:
    """Colours of paper and ink, and of what must stand out on that paper."""

    paper: str
    ink: str
    muted: str
    grid: str
    item: str
    target: str
    empty: str
    unresolved: str
    chosen: str


LIGHT = Theme(
    paper="#ffffff",
    ink="#1c2128",
    muted="#57606a",
    grid="#e3e6ea",
    item=BLUE,
    target="#57606a",
    empty=VERMILLION,
    unresolved="#57606a",
    chosen="#00795a",
)
DARK = Theme(
    paper="#161b22",
    ink="#e6edf3",
    muted="#a3acb6",
    grid="#30363d",
    item=SKY,
    target="#a3acb6",
    empty="#ff8a3d",
    unresolved="#a3acb6",
    chosen="#2ec79a",
)


def new_figure(height: float, theme: Theme) -> Figure:
    """Return an empty figure of the common width, `height` inches high, with its own canvas."""
    figure = Figure(figsize=(WIDTH, height), facecolor=theme.paper)
    FigureCanvasAgg(figure)
    return figure


def png_of(figure: Figure, *, dpi: int = DPI) -> bytes:
    """Return a figure as PNG, the same bytes for the same figure."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=dpi, facecolor=figure.get_facecolor(), metadata={})
    return data.getvalue()


def tidy(ax: Axes, theme: Theme, *, sides: Sequence[str] = ("left", "bottom")) -> None:
    """Give axes the common look; only the named sides keep a spine."""
    ax.set_facecolor(theme.paper)
    ax.tick_params(colors=theme.muted, labelsize=SIZE, labelfontfamily=FONT, length=3)
    for side, spine in ax.spines.items():
        spine.set_visible(side in sides)
        spine.set_color(theme.muted)
    ax.set_axisbelow(True)


def label_axes(ax: Axes, theme: Theme, *, x: str = "", y: str = "") -> None:
    """Name the axes."""
    ax.set_xlabel(x, fontsize=SIZE, color=theme.ink, fontfamily=FONT)
    ax.set_ylabel(y, fontsize=SIZE, color=theme.ink, fontfamily=FONT)


def write(ax: Axes, x: float, y: float, text: str, **options: Any) -> Text:
    """Write text as it stands: a dollar sign starts no formula, whatever the user's settings."""
    given: dict[str, Any] = {"fontsize": SIZE, "fontfamily": FONT} | options
    return ax.text(x, y, text, parse_math=False, usetex=False, **given)


def legend(ax: Axes, theme: Theme, **options: Any) -> None:
    """Draw a legend without a frame."""
    ax.legend(
        prop=FontProperties(family=FONT, size=SIZE),
        labelcolor=theme.ink,
        frameon=False,
        **options,
    )


def plain(text: str, limit: int) -> str:
    """Return untrusted text on one line, drawable with our font, cut in its middle at `limit`.

    What the font lacks, and what only steers text, becomes U+FFFD: a missing glyph would warn.
    """
    drawable = _drawable()
    line = "".join(
        char if char.isprintable() and ord(char) in drawable else "\ufffd"
        for char in " ".join(text[: 20 * limit].split())
    )
    if len(line) <= limit:
        return line
    head = (limit - 1) * 2 // 3
    return f"{line[:head]}…{line[head + 1 - limit :]}"


def text_width(text: str, size: float = SIZE) -> float:
    """Return the width of a line of text in inches, as our font draws it."""
    font = _font()
    font.set_size(size, 72)
    font.set_text(text, 0.0)
    return float(font.get_width_height()[0]) / 64 / 72


@cache
def _drawable() -> frozenset[int]:
    return frozenset(_font().get_charmap())


@cache
def _font() -> FT2Font:
    return FT2Font(findfont(FONT))
