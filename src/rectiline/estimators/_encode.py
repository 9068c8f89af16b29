"""Tables with texts, dates, missing cells and fixed effects: what the estimators make of them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse as sp
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import validate_data

from rectiline._typing import Mask, Vector
from rectiline.backends import TableEncoder, is_arrow
from rectiline.constraints import Constraint, ConstraintRows
from rectiline.estimators._check import READABLE
from rectiline.penalties import Columnwise, Penalty


def complete_rows(estimator: Any, X: Any, y: Any) -> Mask | None:
    """Return which rows are to be used where those with missing cells are dropped."""
    if getattr(estimator, "missing", "error") != "drop":
        return None
    used = TableEncoder.complete(X if hasattr(X, "shape") else np.asarray(X))
    if y is not None:
        targets = np.asarray(y)
        used &= TableEncoder.complete(targets.reshape(len(targets), -1))
    if not used.any():
        raise ValueError("missing='drop': every row of X and y has a missing cell.")
    return None if used.all() else used


def only(values: Any, used: Mask | None) -> Any:
    """Return the rows of a table, an array or a list that are used."""
    if used is None or values is None:
        return values
    rows = np.flatnonzero(used)
    return values.take(rows) if is_arrow(values) else _safe_indexing(values, rows)


def encode(estimator: Any, X: Any) -> Any:
    """Return X as numbers; note on the estimator how, in ``encoder_``, if that takes more."""
    vars(estimator).pop("encoder_", None)
    effects = getattr(estimator, "fixed_effects", None)
    categorical = getattr(estimator, "categorical", None)
    if effects is None and categorical is None and not is_arrow(X):
        return X
    if not hasattr(X, "shape"):
        X = np.asarray(X, dtype=object)
    free = getattr(estimator, "penalty", "") is None or getattr(estimator, "alpha", None) == 0
    estimator.encoder_ = TableEncoder.learn(
        X,
        categorical=categorical,
        fixed_effects=[effects] if isinstance(effects, str | Integral) else effects,
        skips_category=free,
        skips_effect=getattr(estimator, "effects_l1", 0.0) == 0.0,
        fit_intercept=estimator.fit_intercept,
        new_levels=getattr(estimator, "new_levels", "error"),
    )
    return estimator.encoder_.numbers(X)


def new_rows(estimator: Any, X: Any) -> Any:
    """Return X for a fitted estimator, as numbers and checked."""
    encoder = getattr(estimator, "encoder_", None)
    if encoder is None:
        return validate_data(estimator, X, reset=False, **READABLE)
    table = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
    return check_array(encoder.numbers(table), **READABLE)


def free_effects(penalty: Penalty | None, n_plain: int, n_effects: int, l1: float) -> Any:
    """Return a penalty of the columns before the effects, and an L1 norm of the effects.

    >>> from rectiline.penalties import Ridge
    >>> free_effects(Ridge(2.0), 2, 1, 0.5)
    Columnwise(l1=[0.0, 0.0, 0.5], l2=[2.0, 2.0, 0.0])
    """
    if not n_effects or (penalty is None and l1 == 0.0):
        return penalty
    plain = Columnwise(*np.zeros((2, n_plain))) if penalty is None else penalty
    made = on_copies(plain, n_plain, 1, np.full(n_effects, l1))
    if made is None:
        raise ValueError(
            f"penalty={penalty!r}: with fixed_effects it must be 'l1', 'l2', 'elasticnet' or None, "
            "which are sums over columns."
        )
    return made


def on_copies(penalty: Any, n_plain: int, copies: int, l1_behind: Vector) -> Columnwise | None:
    """Return a penalty of copies of columns, with an L1 norm of those behind; None if it cannot be.

    It can be if the penalty is a sum over columns.
    """
    parts = penalty.separable(n_plain) if isinstance(penalty, Penalty) else None
    if parts is None:
        return None
    l2, l1 = (np.tile(one, copies) for one in parts)
    return Columnwise(np.append(l1, l1_behind), np.append(l2, np.zeros(l1_behind.size)))


class PlainColumns(Constraint):
    """A constraint of the columns before others, which are free; once for each of their copies."""

    inner: Constraint | ConstraintRows
    n_plain: int
    copies: int

    def __init__(self, inner: Constraint | ConstraintRows, n_plain: int, copies: int = 1) -> None:
        self._set(inner=inner, n_plain=n_plain, copies=copies)

    def rows(self, n_features: int, design: Any = None) -> ConstraintRows:
        """Return the rows of the constraint."""
        given = self.inner
        rows = given if isinstance(given, ConstraintRows) else given.rows(self.n_plain)
        copies, free = self.copies, n_features - self.copies * self.n_plain

        def wide(part: Any) -> sp.csr_array:
            made = sp.block_diag([sp.csr_array(part)] * copies, format="csr")
            return sp.csr_array(sp.hstack([made, sp.csr_array((made.shape[0], free))]))

        return ConstraintRows.make(
            n_features,
            A=wide(rows.A),
            c=np.tile(rows.c, copies),
            E=wide(rows.E),
            f=np.tile(rows.f, copies),
            lower=np.append(np.tile(rows.lower, copies), np.full(free, -np.inf)),
            upper=np.append(np.tile(rows.upper, copies), np.full(free, np.inf)),
        )
