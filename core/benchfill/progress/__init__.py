"""Progress monitoring: whether a model has become better, where, and what could be seen."""

from .pairs import placing_models, pooled_responses
from .power import PowerMap, PowerSettings, power_map
from .result import BlindZone, Gain, LocalGain, ModelProgress, Progress
from .setting import ProgressTest
from .tracking import measure_progress

__all__ = [
    "BlindZone",
    "Gain",
    "LocalGain",
    "ModelProgress",
    "PowerMap",
    "PowerSettings",
    "Progress",
    "ProgressTest",
    "measure_progress",
    "placing_models",
    "pooled_responses",
    "power_map",
]
