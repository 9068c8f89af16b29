"""What pieces of work cost, in seconds, so that nothing begins that a time limit cannot hold.

Measured on one core of a server of 2023; guesses within a factor of three are good enough.
"""

from __future__ import annotations

SECONDS_PER_PRODUCT = 1e-10  # one multiply-add of dense linear algebra in a library
SECONDS_PER_ENTRY = 1e-9  # one pass over X, which is read from memory
SECONDS_PER_ENTRY_CERTIFIED = 4e-9  # a certificate: products with X and their rounding errors
SECONDS_PER_ROW_CERTIFIED = 1e-7
SECONDS_PER_ENTRY_COPIED = 1e-8  # rows picked from anywhere in X, into new memory
SECONDS_PER_SPARSE_ENTRY_COPIED = 1e-7
SECONDS_PER_ENTRY_TURNED = 5e-8  # a working set that is copied, scaled and transposed
SECONDS_PER_ROW_LISTED = 1e-6  # the units of a row, listed with NumPy
