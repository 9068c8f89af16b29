"""Many problems in a row: strengths of a penalty, from the strongest down."""

from rectiline.paths._adaptive import adaptive_weights
from rectiline.paths._largest import largest_strength
from rectiline.paths._path import Path, default_strengths, path
from rectiline.paths._threads import FairShares as FairShares
from rectiline.paths._threads import in_threads as in_threads

__all__ = [
    "Path",
    "adaptive_weights",
    "default_strengths",
    "largest_strength",
    "path",
]
