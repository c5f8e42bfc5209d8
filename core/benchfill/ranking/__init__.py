"""What a mismatch of difficulties does to a leaderboard."""

from .rank import rank_models
from .result import Pair, RankedModel, Ranking

__all__ = ["Pair", "RankedModel", "Ranking", "rank_models"]
