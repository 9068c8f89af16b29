"""Prediction intervals with guaranteed coverage, from any fitted quantiles."""

from rectiline.inference._conformal._cross import CrossConformalIntervals, cross_conformal
from rectiline.inference._conformal._split import ConformalIntervals, conformal

__all__ = ["ConformalIntervals", "CrossConformalIntervals", "conformal", "cross_conformal"]
