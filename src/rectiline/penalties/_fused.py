"""`Fused`: absolute differences of neighbouring coefficients, as rows that a problem adds to X."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse as sp

from rectiline._numbers import nonnegative, positive_integer, real_array
from rectiline.penalties._base import Penalty
from rectiline.penalties._separable import ElasticNet


@dataclass(frozen=True, eq=False)
class Fused:
    """Penalty on differences, ``strength |D b|_1 + l1 |b|_1 + l2/2 |b|^2``, D those of neighbours.

    Along a chain the rows of D are differences of the given order: ``b_(j+1) - b_j`` (fused lasso,
    total variation) leaves few steps, ``b_(j+2) - 2 b_(j+1) + b_j`` (trend filtering) few bends.
    With `positions` they are changes of slopes between points that are not equidistant. On a graph
    they are ``b_j - b_k`` for every edge, for order 2 the rows of the graph's Laplacian, and so on
    in turn. With `squared` it is ``strength/2 |D b|^2``, which leaves smooth coefficients.

    `Problem` turns the differences into rows of X with a loss of their own, so that every solver
    and every proof applies to them; their multipliers follow those of the samples. X may be sparse:
    the rows are. These rows have no
    intercept: pass ``fit_intercept=False``. For an intercept add a column of ones to X, leave it
    out of `columns`, and leave `l1` and `l2` at 0.

    Parameters
    ----------
    strength : float
        Finite and >= 0.
    order : int, default=1
        Order of the differences.
    columns : array-like of int, optional
        The chain's columns in their order; all columns by default.
    graph : array-like of shape (n_edges, 2), optional
        Pairs of columns that are neighbours, in place of a chain.
    l1, l2 : float, default=0.0
        Strengths of the absolute values and of half the squares of all coefficients.
    squared : bool, default=False
        Whether half the squares of differences are penalised in place of their absolute values.
    positions : array-like, optional
        Increasing places of the chain's columns; equidistant with step 1 by default.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> penalty = rl.penalties.Fused(2.0)
    >>> penalty.value([1.0, 1.0, 4.0])
    6.0
    >>> penalty.matrix(3).toarray()
    array([[-1.,  1.,  0.],
           [ 0., -1.,  1.]])

    A signal of two levels, by total variation:

    >>> y = np.array([0.1, -0.1, 0.0, 1.1, 0.9, 1.0])
    >>> problem = rl.Problem(np.eye(6), y, "squared_error", rl.penalties.Fused(0.3),
    ...                      fit_intercept=False)
    >>> rl.solve(problem, tol=1e-10).coef.round(4)
    array([0.1, 0.1, 0.1, 0.9, 0.9, 0.9])
    """

    strength: float
    order: int = 1
    columns: ArrayLike | None = None
    graph: ArrayLike | None = None
    l1: float = 0.0
    l2: float = 0.0
    squared: bool = False
    positions: ArrayLike | None = None

    def __post_init__(self) -> None:
        for name in ("strength", "l1", "l2"):
            object.__setattr__(self, name, nonnegative("Fused", name, getattr(self, name)))
        object.__setattr__(self, "order", positive_integer("Fused", "order", self.order))
        for name in ("columns", "graph"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _indices(name, given))
        if self.graph is not None:
            if self.columns is not None:
                raise ValueError("Fused takes columns (a chain) or graph, not both.")
            if self.positions is not None:
                raise ValueError("Fused: positions go with a chain, not with a graph.")
        if self.positions is not None:
            places = np.array(real_array("Fused: positions", self.positions))
            if places.ndim != 1 or not (np.diff(places) > 0).all():
                raise ValueError("Fused: positions must be numbers that increase strictly.")
            places.flags.writeable = False
            object.__setattr__(self, "positions", places)

    def matrix(self, n_features: int) -> sp.csr_array:
        """Return D for so many columns."""
        if self.graph is not None:
            return self._on_graph(np.asarray(self.graph), n_features)
        chain = np.arange(n_features) if self.columns is None else np.asarray(self.columns)
        _check_range("columns", chain, n_features)
        if chain.size <= self.order:
            raise ValueError(
                f"Fused(order={self.order}) needs more than {self.order} columns in its chain; got "
                f"{chain.size}."
            )
        rows = sp.csr_array(
            (np.ones(chain.size), (np.arange(chain.size), chain)), shape=(chain.size, n_features)
        )
        places = None if self.positions is None else np.asarray(self.positions)
        if places is not None and places.size != chain.size:
            raise ValueError(
                f"Fused: positions has {places.size} entries but the chain has {chain.size} "
                "columns; give one for each."
            )
        for k in range(self.order):
            if k and places is not None:  # divided differences (Tibshirani 2014)
                rows = sp.diags_array(k / (places[k:] - places[:-k])) @ rows
            rows = sp.csr_array(rows[1:] - rows[:-1])
        return rows

    def _on_graph(self, edges: NDArray[np.intp], n_features: int) -> sp.csr_array:
        _check_range("graph", edges, n_features)
        at = np.repeat(np.arange(len(edges)), 2)
        signs = np.tile([-1.0, 1.0], len(edges))
        shape = (len(edges), n_features)
        incidence = sp.csr_array((signs, (at, edges.ravel())), shape=shape)
        rows = incidence
        for k in range(1, self.order):
            rows = sp.csr_array((incidence.T if k % 2 else incidence) @ rows)
        return rows[np.diff(rows.indptr) > 0]

    @property
    def rest(self) -> Penalty | None:
        """The penalty apart from that on differences."""
        return ElasticNet(self.l1, self.l2) if self.l1 + self.l2 > 0.0 else None

    def value(self, coef: ArrayLike) -> float:
        """Return the penalty of the coefficients."""
        point = np.asarray(coef, dtype=np.float64)
        rest = 0.0 if self.rest is None else self.rest.value(point)
        size = np.abs(self.matrix(point.size) @ point)
        return self.strength * float(np.sum(0.5 * size**2 if self.squared else size)) + rest

    def with_strength(self, strength: float) -> Fused:
        """Return the penalty with all its strengths scaled so that the main one is `strength`."""
        if self.strength == 0.0:
            raise ValueError("Fused(strength=0.0) cannot be scaled: make a new one.")
        share = nonnegative("Fused", "strength", strength) / self.strength
        return replace(self, strength=strength, l1=share * self.l1, l2=share * self.l2)


def _indices(name: str, given: Any) -> NDArray[np.intp]:
    """Return a read-only copy of whole numbers, a vector of columns or pairs of them."""
    values = real_array(f"Fused: {name}", given)
    pairs = name == "graph"
    if values.ndim != 1 + pairs or (pairs and values.shape[1] != 2) or not values.size:
        wanted = (
            "pairs of columns, an array of shape (n_edges, 2)" if pairs else "a list of columns"
        )
        raise ValueError(f"Fused: {name} must be {wanted}; got shape {values.shape}.")
    whole = values.astype(np.intp)
    if (whole != values).any():
        raise ValueError(f"Fused: {name} must hold positions of columns, counted from 0.")
    if pairs and (whole[:, 0] == whole[:, 1]).any():
        row = int(np.argmax(whole[:, 0] == whole[:, 1]))
        raise ValueError(f"Fused: graph[{row}] joins column {whole[row, 0]} with itself.")
    if not pairs and np.unique(whole).size != whole.size:
        raise ValueError("Fused: columns must not hold a column twice.")
    whole.flags.writeable = False
    return whole


def _check_range(name: str, columns: NDArray[np.intp], n_features: int) -> None:
    least, most = int(columns.min()), int(columns.max())
    if least < 0 or most >= n_features:
        odd = least if least < 0 else most
        raise ValueError(
            f"Fused: {name} holds column {odd} but there are {n_features} columns, counted from 0 "
            f"to {n_features - 1}."
        )
