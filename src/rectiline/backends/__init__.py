"""Storage of the design matrix, and products with it."""

from rectiline._column_names import is_arrow as is_arrow
from rectiline.backends._checked import as_design as as_design
from rectiline.backends._checked import as_numbers as as_numbers
from rectiline.backends._checked import as_supported_sparse as as_supported_sparse
from rectiline.backends._design import Design as Design
from rectiline.backends._design import array_if_small as array_if_small
from rectiline.backends._design import take_rows as take_rows
from rectiline.backends._tables import TableEncoder as TableEncoder
from rectiline.backends._tables import column_values as column_values
from rectiline.backends._tables import refuse_texts as refuse_texts
from rectiline.backends._tables import refuse_unfinished as refuse_unfinished
from rectiline.backends._tables import split_level as split_level
from rectiline.backends._tables import unfinished_entry as unfinished_entry
