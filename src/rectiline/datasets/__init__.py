"""Small real data sets that ship with the package, and generators, for examples and tests."""

from rectiline.datasets._generators import make_demand, make_returns
from rectiline.datasets._loaders import (
    load_adult_sample,
    load_engel,
    load_stackloss,
    load_statecrime,
    load_wine_quality,
)

__all__ = [
    "load_adult_sample",
    "load_engel",
    "load_stackloss",
    "load_statecrime",
    "load_wine_quality",
    "make_demand",
    "make_returns",
]
