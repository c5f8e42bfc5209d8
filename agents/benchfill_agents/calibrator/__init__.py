"""The Calibrator: rollouts on the pool, and the difficulty they give a child."""

from .bench import Bench
from .calibration import Calibration, Measurement, ModelCount
from .calibrator import CalibrationPlan, Calibrator
from .habits import RewriterHabits

__all__ = [
    "Bench",
    "Calibration",
    "CalibrationPlan",
    "Calibrator",
    "Measurement",
    "ModelCount",
    "RewriterHabits",
]
