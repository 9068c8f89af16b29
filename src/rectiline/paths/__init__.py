"""Many problems in a row: strengths of a penalty, from the strongest down."""

from rectiline.paths._adaptive import adaptive_weights
from rectiline.paths._folds import FoldJob as FoldJob
from rectiline.paths._folds import fold_paths as fold_paths
from rectiline.paths._folds import in_threads as in_threads
from rectiline.paths._grid import default_strengths
from rectiline.paths._largest import largest_strength
from rectiline.paths._path import Path, path

__all__ = [
    "Path",
    "adaptive_weights",
    "default_strengths",
    "largest_strength",
    "path",
]
