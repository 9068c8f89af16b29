"""Standard errors, intervals, tests and calibrated predictions of fitted models."""

import sys

from rectiline.inference import _conformal
from rectiline.inference._bootstrap import SimultaneousBands, bootstrap, simultaneous_bands
from rectiline.inference._conformal import (
    ConformalIntervals,
    CrossConformalIntervals,
    conformal,
    cross_conformal,
)
from rectiline.inference._conformal import central_pair as central_pair
from rectiline.inference._covariance import covariance
from rectiline.inference._densities import bofinger, hall_sheather
from rectiline.inference._hypotheses import HypothesisTest, equal_slopes, rank_test, wald_test
from rectiline.inference._process import QuantileProcess, quantile_process
from rectiline.inference._summary import summary
from rectiline.inference._table import SummaryTable, SummaryTables

__all__ = [
    "ConformalIntervals",
    "CrossConformalIntervals",
    "HypothesisTest",
    "QuantileProcess",
    "SimultaneousBands",
    "SummaryTable",
    "SummaryTables",
    "bofinger",
    "bootstrap",
    "conformal",
    "covariance",
    "cross_conformal",
    "equal_slopes",
    "hall_sheather",
    "quantile_process",
    "rank_test",
    "simultaneous_bands",
    "summary",
    "wald_test",
]

# Pickles of 0.2.0 look for classes where they stood then.
for _old in ("_cross", "_split"):
    sys.modules[f"{__name__}._conformal.{_old}"] = _conformal
