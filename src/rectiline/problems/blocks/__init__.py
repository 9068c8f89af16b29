"""Passes over rows in blocks, and certificates by exception."""

from rectiline.problems._block_samples import BlockSamples as BlockSamples
from rectiline.problems._block_samples import Encoding as Encoding
from rectiline.problems._block_samples import fold_of_rows as fold_of_rows
from rectiline.problems._data import BlockData as BlockData
from rectiline.problems._samples import Samples as Samples
from rectiline.problems.blocks._aggregate import with_frozen_rows as with_frozen_rows
from rectiline.problems.blocks._dual import SplitDual as SplitDual
from rectiline.problems.blocks._pass import LengthBound as LengthBound
from rectiline.problems.blocks._pass import NearRows as NearRows
from rectiline.problems.blocks._pass import NextSplit as NextSplit
from rectiline.problems.blocks._pass import PassState as PassState
from rectiline.problems.blocks._pass import Query as Query
from rectiline.problems.blocks._pass import Totals as Totals
from rectiline.problems.blocks._pass import run_pass as run_pass
from rectiline.problems.blocks._prove import RowFacts as RowFacts
from rectiline.problems.blocks._prove import evaluate as evaluate
from rectiline.problems.blocks._prove import prove_answers as prove_answers
from rectiline.problems.blocks._prove import prove_blocks as prove_blocks
