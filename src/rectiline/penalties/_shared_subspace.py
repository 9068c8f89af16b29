"""`SharedSubspace`: a penalty on the part of the task coefficients outside one subspace."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rectiline._numbers import nonnegative, positive_integer
from rectiline._typing import Matrix, Vector
from rectiline.penalties._base import Atom, Penalty

# What Gamma may miss at a kink by rounding alone, per unit of budget.
_ROUNDING = 1e-13


@dataclass(frozen=True, slots=True, eq=False)
class Subspace:
    """A soft projector ``M = P diag(g) P' + floor (I - P P')``, ``g`` and ``floor`` in [0, 1].

    Attributes
    ----------
    basis : ndarray of shape (d, r)
        Orthonormal columns P.
    weights : ndarray of shape (r,)
        Their weights g, none below `floor`.
    floor : float
        Weight of every other direction; positive only while the budget exceeds what is needed.
    """

    basis: Matrix
    weights: Vector
    floor: float = 0.0

    @property
    def typical(self) -> float:
        """The weight of a direction, averaged over those that have one."""
        return float(self.weights.mean()) if self.weights.size else self.floor

    def times(self, U: Matrix, eta: float, power: float = 1.0) -> Matrix:
        """Return ``(eta I + M)**power @ U``."""
        base = (eta + self.floor) ** power
        if not self.weights.size:
            return np.asarray(base * U)
        change = (eta + self.weights) ** power - base
        image: Matrix = self.basis @ ((change * (self.basis.T @ U).T).T)
        return np.asarray(base * U + image)


class SharedSubspace(Penalty):
    """Penalise coefficients ``U`` (one column per task) outside of a common subspace.

    With the singular values ``s_i`` of ``U``, ``eta = beta/alpha`` and ``c = alpha eta (1 +
    eta)``::

        Omega(U) = c min { sum_i s_i^2 / (eta + g_i) : sum g_i <= shared_dim, 0 <= g_i <= 1 }

    It is the convex relaxation of ``alpha |U - Theta'V|^2 + beta |U|^2`` over all subspaces
    ``Theta`` of dimension `shared_dim`: the penalty is ``beta |u|^2`` inside the
    subspace and ``(alpha + beta) |u|^2`` outside. Omega is differentiable with a Lipschitz constant
    ``2 (alpha + beta)``. Its conjugate needs no search:
    ``Omega*(Q) = (eta |Q|^2 + sum of the shared_dim largest squared singular values) / (4 c)``.

    Methods take a (d, n_tasks) matrix; a vector is the coefficients of one task, with the
    penalty ``beta |u|^2``.

    Parameters
    ----------
    shared_dim : int, default=1
        Dimension h of the subspace, >= 1.
    alpha : float, default=1.0
        Strength outside of the subspace, > 0.
    beta : float, default=0.1
        Strength on every coefficient, > 0.

    Examples
    --------
    The penalty of two tasks on one line depends on `beta` only:

    >>> import numpy as np
    >>> from rectiline.penalties import SharedSubspace
    >>> penalty = SharedSubspace(shared_dim=1, alpha=1.0, beta=1.0)
    >>> round(penalty.value(np.array([[1.0, 2.0], [0.0, 0.0]])), 12)
    5.0
    """

    def __init__(self, shared_dim: int = 1, alpha: float = 1.0, beta: float = 0.1) -> None:
        owner = "SharedSubspace"
        dim = positive_integer(owner, "shared_dim", shared_dim)
        a, b = nonnegative(owner, "alpha", alpha), nonnegative(owner, "beta", beta)
        if (a == 0.0) != (b == 0.0):
            name = "alpha" if a == 0.0 else "beta"
            raise ValueError(f"{owner}({name}=0.0): {name} must be > 0.")
        eta = b / a if a else 1.0
        if not 0.0 < eta < math.inf:
            raise ValueError(
                f"{owner}(alpha={a!r}, beta={b!r}): the ratio beta/alpha must be a positive finite "
                "number."
            )
        self._set(shared_dim=dim, eta=eta, strength=a, alpha=a, beta=b)

    shared_dim: int
    alpha: float
    beta: float
    eta: float

    @property
    def scale(self) -> float:
        """The factor ``c = alpha eta (1 + eta)``."""
        return self.alpha * self.eta * (1.0 + self.eta)

    # ---- the subspace ------------------------------------------------------------------------

    def subspace(self, coef: ArrayLike) -> Subspace:
        """Return the soft projector M that attains the minimum for these coefficients."""
        return self.charge(coef)[1]

    def charge(self, coef: ArrayLike) -> tuple[float, Subspace]:
        """Return the value and the subspace that attains it, from one decomposition."""
        U = self._matrix(coef, "coef")
        left, sizes, _ = np.linalg.svd(U, full_matrices=False)
        weights = weights_by_sorting(sizes, self.eta, self.shared_dim)
        value = float(self.scale * np.sum(sizes**2 / (self.eta + weights)))
        kept = weights > 0
        rank, d = int(kept.sum()), U.shape[0]
        # Budget that U does not need is spread over the directions it has not found yet.
        floor = (self.shared_dim - rank) / (d - rank) if rank < min(self.shared_dim, d) else 0.0
        return value, Subspace(np.ascontiguousarray(left[:, kept]), weights[kept], floor)

    def gradient(self, coef: ArrayLike, subspace: Subspace | None = None) -> Matrix:
        """Return ``2 c (eta I + M)^-1 U``, the derivative of the value."""
        U = self._matrix(coef, "coef")
        space = self.subspace(U) if subspace is None else subspace
        slope: Matrix = 2.0 * self.scale * space.times(U, self.eta, -1.0)
        return slope.reshape(np.shape(coef))

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the gradient."""
        return 2.0 * (self.alpha + self.beta)

    # ---- the function and its dual -----------------------------------------------------------

    def value(self, coef: ArrayLike) -> float:
        """Return Omega(U)."""
        return 0.0 if self.is_zero else self.value_of(_sizes(self._matrix(coef, "coef")))

    def value_of(self, sizes: Vector) -> float:
        """Return Omega of a matrix with these singular values, the largest first."""
        weights = weights_by_sorting(sizes, self.eta, self.shared_dim)
        return float(self.scale * np.sum(sizes**2 / (self.eta + weights)))

    def conjugate(self, q: ArrayLike) -> float:
        """Return Omega*(Q)."""
        if self.is_zero:
            return super().conjugate(q)
        return self.conjugate_of(_sizes(self._matrix(q, "q")))

    def conjugate_of(self, sizes: Vector) -> float:
        """Return Omega* of a matrix with these singular values, the largest first."""
        squares = sizes**2
        total = self.eta * np.sum(squares) + np.sum(squares[: self.shared_dim])
        return float(total / (4.0 * self.scale))

    def fenchel_young(self, coef: ArrayLike, q: ArrayLike) -> float:
        """Return Omega(U) + Omega*(Q) - <Q, U>, which is not negative; exact up to rounding."""
        U, Q = self._matrix(coef, "coef"), self._matrix(q, "q")
        if self.is_zero:
            return 0.0 if not Q.any() else math.inf
        return max(self.value(U) - float(np.sum(Q * U)) + self.conjugate(Q), 0.0)

    def dual_norm(self, q: ArrayLike) -> float:
        """Return 0: every dual point is feasible."""
        Q = self._matrix(q, "q")
        return math.inf if self.is_zero and Q.any() else 0.0

    def prox(self, v: ArrayLike, step: float) -> Vector:
        """Return the minimiser of Omega(U) + |U - V|^2 / (2 step).

        For fixed M it is ``(eta I + M) (eta' I + M)^-1 V`` with ``eta' = eta + 2 c step``, and the
        best M is that of the same search with eta' in place of eta.
        """
        V, step = self._matrix(v, "v"), self._step(step)
        soft = 2.0 * self.scale * step
        left, sizes, right = np.linalg.svd(V, full_matrices=False)
        weights = weights_by_sorting(sizes, self.eta + soft, self.shared_dim)
        kept = sizes * ((self.eta + weights) / (self.eta + soft + weights))
        return np.asarray((left * kept) @ right + 0.0).reshape(np.shape(v))

    def price(self, q: ArrayLike, k: int = 1) -> list[Atom]:
        """Return up to k entries with the largest ``|q|``; every one has a positive excess."""
        k = positive_integer("price", "k", k)
        flat = self._matrix(q, "q").ravel()
        worst = np.argsort(-np.abs(flat), kind="stable")[:k]
        return [
            Atom(np.array([j]), np.sign(flat[[j]]), 0.0, float(abs(flat[j])))
            for j in worst
            if flat[j] != 0.0
        ]

    # ---- the shape ---------------------------------------------------------------------------

    def check(self, n_features: int) -> None:
        """Raise ValueError if there are fewer columns than shared dimensions."""
        if n_features < self.shared_dim:
            raise ValueError(
                f"SharedSubspace(shared_dim={self.shared_dim}): shared_dim must be at most the "
                f"number of features, {n_features}."
            )

    def separable(self, n_features: int) -> tuple[Vector, Vector]:
        """Return (rho, l1) for a single task, whose penalty is ``beta |u|^2``."""
        self.check(n_features)
        return np.full(n_features, 2.0 * self.beta), np.zeros(n_features)

    def with_strength(self, strength: float) -> SharedSubspace:
        """Return the penalty with alpha = `strength` and the same ratio beta/alpha."""
        strength = nonnegative("SharedSubspace", "strength", strength)
        return SharedSubspace(self.shared_dim, strength, strength * self.eta)

    def _matrix(self, values: ArrayLike, name: str) -> Matrix:
        """Return `values` as a (d, n_tasks) matrix."""
        matrix = np.asarray(values, dtype=np.float64)
        if matrix.ndim == 1:
            matrix = matrix[:, None]
        if matrix.ndim != 2:
            raise ValueError(
                f"{name} must be a (n_features, n_tasks) matrix or a vector, got shape "
                f"{matrix.shape}."
            )
        self.check(matrix.shape[0])
        return matrix


def _sizes(A: Matrix) -> Vector:
    """Return the singular values, the largest first."""
    return np.asarray(np.linalg.svd(A, compute_uv=False))


def weights_by_sorting(sizes: Vector, eta: float, budget: float) -> Vector:
    """Return the optimal weights of singular values, by a search for one multiplier.

    For sizes ``s_i >= 0``, a softness ``eta > 0`` and a budget ``h`` they

        minimise    sum_i s_i^2 / (eta + g_i)     subject to    sum_i g_i <= h,   0 <= g_i <= 1.

    The optimality conditions give ``g_i = clip(r s_i - eta, 0, 1)`` for one number ``r``, and
    ``Gamma(r) = sum_i g_i`` is increasing and piecewise linear in it, with kinks where an index
    leaves 0 (``r = eta / s_i``) and where it reaches 1 (``r = (1 + eta) / s_i``). With ``t =
    1/r^2`` this is Eq. (14) of the shared-structure paper and its appendix C; working in ``r``
    removes the square roots and the limit ``t -> 0``. The kinks are sorted: an SVD comes before,
    so that the linear time of the paper's Algorithm 3 gains nothing.

    Entries with ``s_i = 0`` get 0. If at most `budget` entries are positive, all of those get 1.

    Examples
    --------
    >>> weights_by_sorting(np.array([3.0, 2.0, 1.0]), 1.0, 1.0)
    array([0.8, 0.2, 0. ])
    """
    top = float(sizes.max(initial=0.0))
    scaled = sizes / top if top > 0 else np.zeros_like(sizes)
    positive = scaled > 1e-300
    weights = positive.astype(np.float64)
    if np.count_nonzero(positive) <= budget:
        return weights
    s = scaled[positive]
    starts, ends = eta / s, (1.0 + eta) / s
    kinks = np.sort(np.concatenate([starts, ends]))

    def gamma(r: float) -> float:
        return float(np.clip(r * s - eta, 0.0, 1.0).sum())

    # The first kink at which the budget is used up; on the piece before it Gamma rises.
    last = bisect_left(kinks.tolist(), budget * (1.0 - _ROUNDING), key=gamma)
    low, high = kinks[last - 1], kinks[last]
    # The one linear equation of that piece, on which `middle` is neither 0 nor 1.
    full, middle = ends <= low, (starts <= low) & (ends >= high)
    found, count = full.astype(np.float64), int(middle.sum())
    if count:
        r = (budget - int(full.sum()) + eta * count) / float(s[middle].sum())
        found[middle] = np.clip(r * s[middle] - eta, 0.0, 1.0)
    weights[positive] = found
    return weights
