"""Covariances as sandwiches: breads and meats of the levels, put together in one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rectiline._typing import Matrix

__all__ = ["Options", "Parts", "assemble", "inverse"]


@dataclass(frozen=True)
class Options:
    """What a user may say about a covariance; the names are those of `covariance`."""

    groups: Any = None
    bandwidth: Any = "hall-sheather"
    sparsity: str = "order"
    method: str = "pairs"
    n_boot: int = 200
    random_state: Any = None
    n_jobs: int | None = None
    callback: Any = None
    iid: bool = True
    weights_are: str | None = None


@dataclass(frozen=True, eq=False)
class Parts:
    """A covariance ``bread_s^-1 meat_st bread_t^-1`` for levels s and t.

    Attributes
    ----------
    breads : ndarray of shape (m, p, p)
        Expected second derivatives of the losses.
    meats : ndarray of shape (m, m, p, p)
        Covariances of their gradients.
    df : float
        Degrees of freedom of the t distribution for tests of one coefficient.
    notes : tuple of str
        What the table says about the computation, one entry for each level.
    """

    breads: Matrix
    meats: Matrix
    df: float
    notes: tuple[str, ...] = field(default=())


def assemble(parts: Parts) -> Matrix:
    """Return the covariance of all coefficients, (m p, m p), level by level."""
    m, p = parts.breads.shape[:2]
    inverses = np.array([inverse(one) for one in parts.breads])
    made = np.empty((m * p, m * p))
    for s in range(m):
        for t in range(m):
            block = inverses[s] @ parts.meats[s, t] @ inverses[t]
            made[s * p : (s + 1) * p, t * p : (t + 1) * p] = block
    return 0.5 * (made + made.T)


def inverse(bread: Matrix) -> Matrix:
    """Invert a positive definite matrix after scaling it to a unit diagonal."""
    scale = np.sqrt(np.maximum(np.diag(bread), 0.0))
    if (scale > 0).all():
        try:
            root = np.linalg.inv(np.linalg.cholesky(bread / np.outer(scale, scale)))
        except np.linalg.LinAlgError:
            pass
        else:
            return np.asarray((root.T @ root) / np.outer(scale, scale))
    raise ValueError(
        "The estimated second derivative of the loss is singular: too few samples lie where the "
        "loss bends. Choose a larger bandwidth, or kind='bootstrap'."
    )
