"""Storage of the design matrix, and products with it."""

from rectiline.backends._checked import as_design
from rectiline.backends._design import Design, array_if_small, take_rows
from rectiline.backends._tables import (
    TableEncoder,
    column_values,
    is_arrow,
    refuse_texts,
    refuse_unfinished,
)

__all__ = [
    "Design",
    "TableEncoder",
    "array_if_small",
    "as_design",
    "column_values",
    "is_arrow",
    "refuse_texts",
    "refuse_unfinished",
    "take_rows",
]
