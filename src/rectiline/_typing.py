"""Names for array types, used in the annotations of every room."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
AnyMatrix: TypeAlias = Any  # a float64 ndarray, or a float64 scipy sparse matrix
