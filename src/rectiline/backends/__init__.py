"""Storage of the design matrix, and products with it."""

from rectiline._column_names import is_arrow
from rectiline.backends._checked import as_design, as_supported_sparse
from rectiline.backends._design import Design, array_if_small, take_rows
from rectiline.backends._tables import (
    TableEncoder,
    column_values,
    refuse_texts,
    refuse_unfinished,
    split_level,
)

__all__ = [
    "Design",
    "TableEncoder",
    "array_if_small",
    "as_design",
    "as_supported_sparse",
    "column_values",
    "is_arrow",
    "refuse_texts",
    "refuse_unfinished",
    "split_level",
    "take_rows",
]
