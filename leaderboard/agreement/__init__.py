"""How far judges agree with annotators, with each other, and on the ranking of systems."""

from leaderboard.agreement.coefficients import Estimate, Resampling
from leaderboard.agreement.pairs import Agreement, Calibration, CalibrationPair, calibrate, majority

__all__ = [
    "Agreement",
    "Calibration",
    "CalibrationPair",
    "Estimate",
    "Resampling",
    "calibrate",
    "majority",
]
