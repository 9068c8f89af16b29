"""Passes over rows in blocks, and certificates by exception."""

from rectiline.problems._block_samples import BlockSamples, Encoding, fold_of_rows
from rectiline.problems._data import BlockData
from rectiline.problems._samples import Samples
from rectiline.problems.blocks._aggregate import with_frozen_rows
from rectiline.problems.blocks._dual import SplitDual
from rectiline.problems.blocks._next_split import LengthBound, NextSplit
from rectiline.problems.blocks._pass import (
    NearRows,
    PassState,
    Query,
    Totals,
    run_pass,
)
from rectiline.problems.blocks._prove import (
    RowFacts,
    evaluate,
    prove_answers,
    prove_blocks,
)

__all__ = [
    "BlockData",
    "BlockSamples",
    "Encoding",
    "LengthBound",
    "NearRows",
    "NextSplit",
    "PassState",
    "Query",
    "RowFacts",
    "Samples",
    "SplitDual",
    "Totals",
    "evaluate",
    "fold_of_rows",
    "prove_answers",
    "prove_blocks",
    "run_pass",
    "with_frozen_rows",
]
