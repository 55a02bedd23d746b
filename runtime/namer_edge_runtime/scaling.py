"""The former home of `score_calibration`."""

from .score_calibration import PlattScaling as Scaling
from .score_calibration import ScoreCalibration as Scalings

__all__ = ["Scaling", "Scalings"]
