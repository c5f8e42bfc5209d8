"""Which models of a matrix make the best pool, and how many suffice."""

from __future__ import annotations

from .result import PanelModel, PanelPoint, PanelSuggestion, Spread
from .suggestion import suggest_panel

__all__ = ["PanelModel", "PanelPoint", "PanelSuggestion", "Spread", "suggest_panel"]
