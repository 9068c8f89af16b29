"""Matrix factorisation with any loss, by exact alternating steps."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from rectiline._numbers import refuse_masked
from rectiline._typing import Indices, Matrix, Vector
from rectiline.constraints import Constraint, named_constraints
from rectiline.estimators._check import check_weight, checked_fit
from rectiline.estimators._parameters import keeps_parameters
from rectiline.exceptions import ConvergenceWarning
from rectiline.losses import Loss, PiecewiseLQ
from rectiline.losses import get as get_loss
from rectiline.penalties import Ridge
from rectiline.problems import Problem
from rectiline.problems.intercepts import best_intercept
from rectiline.solvers import solve


class MatrixFactorization(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Ratings of items by users as products of factors, with any loss and side constraints.

    Minimises ``C * sum_k w_k loss(y_k, z_k) + (|P|^2 + |Q|^2) / 2`` with ``z_k = p_u'q_i`` for the
    rating k of item i by user u; with `biased`, a bias of the user and one of the item are added to
    z and penalised alike. The problem is not convex, but it is in the users for given items and in
    the items for given users. Both steps are solved exactly in turn, each with a certificate, so
    that the objective never grows.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        Any loss of the residual or of the margin from `rectiline.losses`.
    rank : int, default=10
        Number of factors.
    C : float, default=1.0
        Weight of the losses.
    biased : bool, default=True
        Whether users and items have a bias.
    user_constraints, item_constraints : sequence of Constraint, default=()
        Of the vector of each user or item: its factors, then its bias.
    max_iter : int, default=50
        Most rounds, each of one step for users and one for items.
    tol : float, default=1e-4
        Rounds end when one lowers the objective by less than this share.
    step_tol : float, default=1e-6
        Largest certified relative gap of a step's problems.
    random_state : int, RandomState or None, default=0
        Of the first factors of the items.

    Attributes
    ----------
    users_, items_ : ndarray
        The identifiers seen, sorted.
    user_factors_, item_factors_ : ndarray of shape (n_users, rank) and (n_items, rank)
    user_bias_, item_bias_ : ndarray
    intercept_ : float
        Added to all predictions: the best constant of a loss of the residual, else zero.
    classes_ : ndarray of shape (2,)
        The labels, for a loss of the margin.
    history_ : list of dict
        One entry for each step: "step" ("users" or "items"), "objective", and "gap", the most by
        which other factors of that side could lower it.
    objective_ : float
    n_iter_ : int
        Rounds.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rng = np.random.default_rng(0)
    >>> P, Q = rng.uniform(0, 1, (2, 12, 2))
    >>> pairs = np.array([(u, i) for u in range(12) for i in range(12)])
    >>> y = (P[pairs[:, 0]] * Q[pairs[:, 1]]).sum(axis=1)
    >>> y[::25] += 10.0  # a few wrong ratings
    >>> model = rl.MatrixFactorization("absolute", rank=2, C=10.0).fit(pairs, y)
    >>> float(np.median(np.abs(model.predict(pairs) - y)).round(3))
    0.003
    """

    _parameter_constraints = {
        "loss": [str, Loss],
        "rank": [Interval(Integral, 1, None, closed="left")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "biased": ["boolean"],
        "user_constraints": ["array-like", Constraint],
        "item_constraints": ["array-like", Constraint],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "step_tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    @keeps_parameters()
    def __init__(
        self,
        loss: str | Loss = "squared_error",
        rank: int = 10,
        C: float = 1.0,
        *,
        biased: bool = True,
        user_constraints: Any = (),
        item_constraints: Any = (),
        max_iter: int = 50,
        tol: float = 1e-4,
        step_tol: float = 1e-6,
        random_state: Any = 0,
    ) -> None: ...

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the factors.

        Parameters
        ----------
        X : array-like of shape (n_ratings, 2)
            A user and an item for each rating, by any identifiers that can be sorted.
        y : array-like of shape (n_ratings,)
            Ratings, or two labels for a loss of the margin.
        sample_weight : array-like of shape (n_ratings,), optional

        Returns
        -------
        self
        """
        loss = get_loss(self.loss)
        if loss.of == "prediction":
            raise ValueError(f"loss={loss!r} has no target; take one of the residual or margin.")
        pairs = _checked_pairs(X)
        refuse_masked("y", y)
        if np.shape(y) != (len(pairs),):
            raise ValueError(
                f"y must hold one rating for each row of X, {len(pairs)}; got {np.shape(y)}."
            )
        signs, offsets = loss.encode(y)
        weight = self.C * check_weight(sample_weight, pairs)
        width = self.rank + self.biased
        of_user, of_item = (
            named_constraints(getattr(self, name), names=None, n_features=width, owner=name)
            for name in ("user_constraints", "item_constraints")
        )
        users, at_user = np.unique(pairs[:, 0], return_inverse=True)
        items, at_item = np.unique(pairs[:, 1], return_inverse=True)
        shift = best_intercept(loss, offsets, weight) if loss.of == "residual" else 0.0
        rng = check_random_state(self.random_state)
        ratings = _Ratings(loss, signs, offsets + shift * signs, weight, self.step_tol)
        of_users, of_items = _rows_of_each(at_user, users.size), _rows_of_each(at_item, items.size)
        P = np.zeros((users.size, width))
        Q = np.abs(rng.standard_normal((items.size, P.shape[1]))) / np.sqrt(self.rank)
        Q[:, self.rank :] = 0.0
        history: list[dict[str, Any]] = []
        last = np.inf
        for _ in range(self.max_iter):
            for name, rows, mine, other, at_other, limit in (
                ("users", of_users, P, Q, at_item, of_user),
                ("items", of_items, Q, P, at_user, of_item),
            ):
                value, gap = ratings.minimise(rows, mine, other, at_other, self.rank, limit)
                value += float((other**2).sum() / 2)
                history.append({"step": name, "objective": value, "gap": gap})
            if last - value <= self.tol * max(abs(value), 1e-300):
                break
            last = value
        else:
            warnings.warn(
                f"MatrixFactorization: max_iter={self.max_iter} rounds are over while the "
                f"objective still falls by more than tol={self.tol:g} of itself in a round. Allow "
                "more rounds or a larger tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.users_, self.items_ = users, items
        self.user_factors_, self.item_factors_ = P[:, : self.rank], Q[:, : self.rank]
        self.user_bias_ = P[:, self.rank] if self.biased else np.zeros(users.size)
        self.item_bias_ = Q[:, self.rank] if self.biased else np.zeros(items.size)
        self.intercept_ = shift
        self.__dict__.pop("classes_", None)  # of an earlier fit to labels
        if loss.of == "margin":
            self.classes_ = np.unique(y)
        self.history_, self.objective_, self.n_iter_ = history, value, len(history) // 2
        self.n_features_in_ = 2
        return self

    def save_certificate(self, path: Any, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Refuse: the factors are a local optimum, about which there is no proof.

        Parameters
        ----------
        path, X, y, sample_weight
            As for the other estimators.
        """
        raise TypeError(
            "save_certificate: MatrixFactorization minimises a product of two factors, which is "
            "not convex: each step has a proof, the fit has none."
        )

    def decision_function(self, X: ArrayLike) -> Vector:
        """Return ``p_u'q_i`` with biases and intercept; unknown users and items have none."""
        check_is_fitted(self)
        pairs = _checked_pairs(X)
        P, a = _found(self.users_, pairs[:, 0], self.user_factors_, self.user_bias_)
        Q, b = _found(self.items_, pairs[:, 1], self.item_factors_, self.item_bias_)
        return np.asarray((P * Q).sum(axis=1) + a + b + self.intercept_)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return ratings, or labels for a loss of the margin.

        Parameters
        ----------
        X : array-like of shape (n_pairs, 2)

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        scores = self.decision_function(X)
        if not hasattr(self, "classes_"):
            return scores
        return np.asarray(self.classes_[(scores > 0).astype(int)])


def _checked_pairs(X: ArrayLike) -> NDArray[Any]:
    refuse_masked("X", X)
    pairs = np.asarray(X)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
        raise ValueError(
            "X must hold a user and an item for each rating, shape (n_ratings, 2); got shape "
            f"{pairs.shape}."
        )
    if pairs.dtype.kind == "f" and not np.isfinite(pairs).all():
        row = int(np.argmax(~np.isfinite(pairs).all(axis=1)))
        raise ValueError(f"X must hold users and items; row {row} is {pairs[row].tolist()}.")
    return pairs


def _found(
    known: NDArray[Any], asked: NDArray[Any], factors: Matrix, bias: Vector
) -> tuple[Matrix, Vector]:
    """Return factors and biases of those asked for, zero for strangers."""
    place = np.clip(np.searchsorted(known, asked), 0, known.size - 1)
    is_known = known[place] == asked
    return factors[place] * is_known[:, None], bias[place] * is_known


# ---- the best users for given items, or items for given users -----------------------------------


def _rows_of_each(at: Indices, count: int) -> list[Indices]:
    """Return the ratings of each user, or of each item."""
    order = np.argsort(at, kind="stable")
    return np.split(order, np.searchsorted(at[order], np.arange(1, count)))


@dataclass(frozen=True, slots=True, eq=False)
class _Ratings:
    """The losses of the ratings, ``loss(sign z + offset)`` for a prediction z (`Loss.encode`)."""

    loss: Loss
    signs: Vector
    offsets: Vector
    weight: Vector
    tol: float

    def minimise(
        self,
        rows_of_each: list[Indices],
        mine: Matrix,
        other: Matrix,
        at_other: Indices,
        rank: int,
        constraints: list[Constraint],
    ) -> tuple[float, float]:
        """Set the vectors of one side to their best values; return the objective and its gap."""
        value = gap = 0.0
        loss = PiecewiseLQ.from_curve(self.loss.curve, "residual")
        for k, rows in enumerate(rows_of_each):
            factors, signs = other[at_other[rows]], self.signs[rows]
            y = self.offsets[rows] + signs * factors[:, rank:].sum(axis=1)
            factors[:, rank:] = 1.0  # what the own bias is multiplied with
            # A residual ``y - x'b`` with signs in the rows is any argument of a loss.
            terms = (loss, Ridge(1.0), constraints, self.weight[rows], False)
            problem = Problem(-signs[:, None] * factors, y, *terms)
            solution = solve(problem, tol=self.tol)
            mine[k] = solution.coef
            value += solution.objective
            gap += solution.certificate.gap
        return value, gap
