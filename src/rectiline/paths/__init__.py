"""Many problems in a row: strengths of a penalty, from the strongest down."""

from rectiline.paths._adaptive import adaptive_weights
from rectiline.paths._folds import FoldJob, fold_paths, in_threads
from rectiline.paths._grid import default_strengths
from rectiline.paths._largest import largest_strength
from rectiline.paths._path import Path, path

__all__ = [
    "FoldJob",
    "Path",
    "adaptive_weights",
    "default_strengths",
    "fold_paths",
    "in_threads",
    "largest_strength",
    "path",
]
