"""The Calibrator: rollouts on the pool, and the difficulty they give a child."""

from .bench import Bench
from .calibration import Calibration, Measurement, ModelCount
from .calibrator import CalibrationPlan, Calibrator
from .habits import RewriterHabits
from .race import Foretold

__all__ = [
    "Bench",
    "Calibration",
    "CalibrationPlan",
    "Calibrator",
    "Foretold",
    "Measurement",
    "ModelCount",
    "RewriterHabits",
]
