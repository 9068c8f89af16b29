"""Problems on rows that are read block by block, and certificates by exception."""

from rectiline.problems.blocks._aggregate import with_frozen_rows
from rectiline.problems.blocks._dual import SplitDual
from rectiline.problems.blocks._folds import FoldTargets, fold_of_rows
from rectiline.problems.blocks._pass import (
    LengthBound,
    NearRows,
    NextSplit,
    PassState,
    Query,
    Totals,
    run_pass,
)
from rectiline.problems.blocks._problem import BlockProblem
from rectiline.problems.blocks._prove import BlockProof, judge
from rectiline.problems.blocks._targets import (
    ClassTargets,
    Encoded,
    EncodedTargets,
    LevelTargets,
    StoredTargets,
    Targets,
)

__all__ = [
    "BlockProblem",
    "BlockProof",
    "ClassTargets",
    "Encoded",
    "EncodedTargets",
    "FoldTargets",
    "LengthBound",
    "LevelTargets",
    "NearRows",
    "NextSplit",
    "PassState",
    "Query",
    "SplitDual",
    "StoredTargets",
    "Targets",
    "Totals",
    "fold_of_rows",
    "judge",
    "run_pass",
    "with_frozen_rows",
]
