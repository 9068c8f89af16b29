"""Rows in blocks: sources of ``(X, y, weight)`` that may be larger than memory.

A problem on such rows is solved in a few passes over them (solver "passes").
"""

from rectiline.rows._arrays import ArrayRows
from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block, join, pick, refuse_non_finite
from rectiline.rows._dask import from_dask
from rectiline.rows._files import from_npy, from_parquet, from_svmlight
from rectiline.rows._make import from_arrays, from_stream, is_source, of
from rectiline.rows._spark import spark
from rectiline.rows._spread import on_host, spread_rows
from rectiline.rows._stacked import Levels, StackedRows
from rectiline.rows._tensors import TensorRows, copy_to_host, is_on_gpu, is_tensor_like
from rectiline.rows._write import write_parquet

__all__ = [
    "ArrayRows",
    "Block",
    "Levels",
    "RowBlocks",
    "StackedRows",
    "TensorRows",
    "copy_to_host",
    "from_arrays",
    "from_dask",
    "from_npy",
    "from_parquet",
    "from_stream",
    "from_svmlight",
    "is_on_gpu",
    "is_source",
    "is_tensor_like",
    "join",
    "of",
    "on_host",
    "pick",
    "refuse_non_finite",
    "spark",
    "spread_rows",
    "write_parquet",
]
