"""Rows in blocks: sources of ``(X, y, weight)`` that may be larger than memory.

A problem on such rows is solved in a few passes over them (solver "passes").
"""

from rectiline.rows._arrays import ArrayRows as ArrayRows
from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block
from rectiline.rows._block import in_block as in_block
from rectiline.rows._block import join as join
from rectiline.rows._block import pick as pick
from rectiline.rows._block import refuse_non_finite as refuse_non_finite
from rectiline.rows._block import stacked as stacked
from rectiline.rows._dask import from_dask
from rectiline.rows._files import from_npy, from_parquet, from_svmlight
from rectiline.rows._make import from_arrays, from_stream, of
from rectiline.rows._make import is_elsewhere as is_elsewhere
from rectiline.rows._make import is_source as is_source
from rectiline.rows._spark import spark
from rectiline.rows._spread import on_host as on_host
from rectiline.rows._spread import rare_labels as rare_labels
from rectiline.rows._spread import spread_rows as spread_rows
from rectiline.rows._stacked import Levels as Levels
from rectiline.rows._stacked import StackedRows as StackedRows
from rectiline.rows._tensors import TensorRows as TensorRows
from rectiline.rows._tensors import copy_to_host as copy_to_host
from rectiline.rows._tensors import is_on_gpu as is_on_gpu
from rectiline.rows._tensors import is_tensor_like as is_tensor_like
from rectiline.rows._write import write_parquet as write_parquet

__all__ = [
    "Block",
    "RowBlocks",
    "from_arrays",
    "from_dask",
    "from_npy",
    "from_parquet",
    "from_stream",
    "from_svmlight",
    "of",
    "spark",
]
