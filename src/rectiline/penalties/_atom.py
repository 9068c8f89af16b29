"""An atom: a direction in which coefficients may leave zero, as pricing returns it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Atom:
    """Hold a sparse sign vector, what it costs, and how much a dual point overpays for it.

    The atom is the vector with ``signs`` at ``columns`` and 0 elsewhere. Moving away from zero
    along it costs ``cost`` per unit of length, and a dual point q pays ``signs @ q[columns]`` for
    it. The difference is the ``excess``: as long as one atom has a positive excess, leaving zero
    along it lowers the penalty minus ``q @ b``, and so q lies outside the dual ball of a norm.

    Attributes
    ----------
    columns : ndarray of int
        The columns that the atom touches.
    signs : ndarray of float
        -1 or 1 for each of these columns.
    cost : float
        What the penalty charges per unit of length.
    excess : float
        ``signs @ q[columns] - cost`` for the dual point that was priced.

    Examples
    --------
    >>> from rectiline.penalties import L1
    >>> L1(1.0).price([0.5, -3.0], k=1)
    [Atom(columns=array([1]), signs=array([-1.]), cost=1.0, excess=2.0)]
    """

    columns: NDArray[np.intp]
    signs: NDArray[np.float64]
    cost: float
    excess: float
