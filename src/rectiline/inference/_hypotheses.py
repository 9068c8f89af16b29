"""Wald tests of linear hypotheses, within one fit and across several quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from rectiline._relations import read_relations
from rectiline._typing import Matrix, Vector
from rectiline.inference._covariance import covariance_of, read_kind
from rectiline.inference._fit import Fit, Options, inverse
from rectiline.inference._read_fit import read_fit
from rectiline.losses import Pinball
from rectiline.problems import Problem
from rectiline.solvers import solve


@dataclass(frozen=True)
class HypothesisTest:
    """An F test of linear hypotheses.

    Attributes
    ----------
    statistic : float
        The Wald statistic divided by the number of hypotheses.
    df : tuple of float
        Degrees of freedom of the F distribution.
    p_value : float
    hypothesis : str
    kind : str
        Kind of the covariance.
    """

    statistic: float
    df: tuple[float, float]
    p_value: float
    hypothesis: str
    kind: str

    @classmethod
    def of(cls, size: float, df: tuple[float, float], words: str, kind: str) -> HypothesisTest:
        """Return the test whose statistic is a sum of squares over its degrees of freedom."""
        statistic = size / df[0]
        return cls(statistic, df, float(stats.f.sf(statistic, *df)), words, kind)

    def __str__(self) -> str:
        return (
            f"{self.hypothesis}: F = {self.statistic:.6g} on ({self.df[0]:g}, {self.df[1]:g}) "
            f"degrees of freedom, p = {self.p_value:.4g} (covariance: {self.kind})"
        )


def wald_test(
    model: Any,
    X: Any,
    y: ArrayLike,
    R: Any,
    r: ArrayLike = 0.0,
    *,
    kind: str | None = None,
    sample_weight: ArrayLike | None = None,
    **options: Any,
) -> HypothesisTest:
    """Test linear hypotheses ``R b = r`` about the coefficients, the intercept first.

    Parameters
    ----------
    model : fitted QuantileRegressor, PLQRegressor or PLQClassifier
    X, y : array-like
        The data of the fit.
    R : array-like of shape (k, p) or (p,), or a column name or list of names
        The hypotheses; names stand for "this coefficient is r", and ``"a = b"``, ``"2*a + b = 1"``
        for what they say (with `r` left out). For m quantiles a row has m p entries, level by
        level, and a name stands for the coefficient at every level.
    r : array-like of shape (k,), default=0
    kind : str, optional
        Kind of the covariance, see `covariance`.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the fit.
    **options
        Further options of `covariance`.

    Returns
    -------
    HypothesisTest

    Examples
    --------
    >>> import rectiline as rl
    >>> X, y = rl.datasets.load_engel(return_X_y=True, as_frame=True)
    >>> model = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(X, y)
    >>> print(model.wald_test(X, y, "income", 0.5))
    income = 0.5: F = 4.52938 on (1, 233) degrees of freedom, p = 0.03437 (covariance: nid)
    """
    chosen = Options(**options)
    fit, kind = read_kind(model, X, y, kind, sample_weight, chosen)
    rows, shifts, words = _hypotheses(R, fit)
    values = np.broadcast_to(np.asarray(r, dtype=np.float64), rows.shape[:1]) + shifts
    if words and "=" not in words:
        shown = sorted({f"{value:g}" for value in values})
        words = f"{words} = {', '.join(shown)}"
    words = words or f"{rows.shape[0]} linear hypotheses"
    # Level by level: m p coefficients share n samples.
    return _f_test(fit, kind, chosen, rows, values, fit.n - fit.p, words)


def equal_slopes(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    columns: Any = None,
    kind: str | None = None,
    sample_weight: ArrayLike | None = None,
    **options: Any,
) -> HypothesisTest:
    """Test whether the slopes of several quantiles are equal (Koenker and Bassett 1982).

    Parameters
    ----------
    model : QuantileRegressor fitted at two or more quantiles
    X, y : array-like
        The data of the fit.
    columns : list of column names, optional
        Whose slopes; all by default.
    kind : str, default="nid"
        Kind of the joint covariance, see `covariance`.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the fit.
    **options
        Further options of `covariance`.

    Returns
    -------
    HypothesisTest

    Examples
    --------
    >>> import rectiline as rl
    >>> X, y = rl.datasets.load_engel(return_X_y=True)
    >>> model = rl.QuantileRegressor(quantile=[0.25, 0.5, 0.75], alpha=0).fit(X, y)
    >>> test = rl.inference.equal_slopes(model, X, y)
    >>> round(test.statistic, 4), test.df
    (15.5567, (2.0, 703.0))
    """
    chosen = Options(**options)
    fit, kind = read_kind(model, X, y, kind, sample_weight, chosen)
    if fit.m < 2:
        raise ValueError(
            f"equal_slopes compares several quantiles; this model has {fit.m}. Fit with a list, "
            "such as quantile=[0.25, 0.5, 0.75]."
        )
    first = int(fit.rows.constant)
    chosen_columns = range(first, fit.p) if columns is None else _places(columns, fit.names)
    steps = np.eye(fit.m - 1, fit.m) - np.eye(fit.m - 1, fit.m, 1)
    rows = np.asarray(np.kron(steps, np.eye(fit.p)[list(chosen_columns)]), dtype=np.float64)
    second = fit.n * fit.m - len(rows)
    return _f_test(fit, kind, chosen, rows, np.zeros(len(rows)), second, "equal slopes")


def _hypotheses(R: Any, fit: Fit) -> tuple[Matrix, Vector, str]:
    """Return the rows of the hypotheses, values that texts give, and the texts."""
    size = fit.m * fit.p
    if isinstance(R, str) or (np.ndim(R) == 1 and all(isinstance(one, str) for one in R)):
        listed = [R] if isinstance(R, str) else list(R)
        found = [_from_text(text, fit.names) for text in listed]
        made = [np.kron(np.eye(fit.m)[k], row) for k in range(fit.m) for row, _ in found]
        return np.array(made), np.tile([value for _, value in found], fit.m), ", ".join(listed)
    rows = np.atleast_2d(np.asarray(R, dtype=np.float64))
    if rows.shape[1] != size or not rows.shape[0]:
        raise ValueError(
            f"R must have {size} columns, one for each coefficient (intercept first, level by "
            f"level), and at least one row; got shape {rows.shape}."
        )
    if np.linalg.matrix_rank(rows) < rows.shape[0]:
        raise ValueError("The rows of R are linearly dependent; drop redundant hypotheses.")
    return rows, np.zeros(len(rows)), ""


def _from_text(text: str, names: tuple[str, ...]) -> tuple[Vector, float]:
    """Return the row and the value of a hypothesis: the name of a coefficient, or an equation."""
    if text in names or "=" not in text:
        return np.eye(len(names))[_places([text], names)[0]], 0.0
    relations = read_relations(text, names, "R")
    if len(relations) != 1 or relations[0][2] != "=":
        raise ValueError(f"R={text!r}: a hypothesis is one equation, such as 'a = b'.")
    row, constant, _ = relations[0]
    return row, -constant


def _places(columns: Any, names: tuple[str, ...]) -> list[int]:
    listed = [columns] if isinstance(columns, str) else list(columns)
    missing = [one for one in listed if one not in names]
    if missing:
        raise ValueError(f"There is no coefficient {missing[0]!r}; there are {', '.join(names)}.")
    return [names.index(one) for one in listed]


def _f_test(
    fit: Fit, kind: str, options: Options, rows: Matrix, values: Vector, second: float, words: str
) -> HypothesisTest:
    off = rows @ fit.coef.ravel() - values
    spread = rows @ covariance_of(fit, kind, options) @ rows.T
    df = (float(rows.shape[0]), float(second))
    return HypothesisTest.of(float(off @ np.linalg.solve(spread, off)), df, words, kind)


def rank_test(
    model: Any,
    X: Any,
    y: ArrayLike,
    columns: Any,
    *,
    sample_weight: ArrayLike | None = None,
    weights_are: str | None = None,
) -> HypothesisTest:
    """Test whether some columns can be left out, by the rank scores of the fit without them.

    With multipliers r of the quantile regression on the other columns and the residuals Z of the
    columns in question after least squares on the others, ``r'Z (Z'Z)^-1 Z'r / (q (1 - q))`` is
    chi-squared with k degrees of freedom if their coefficients are zero (Gutenbrunner, Jureckova,
    Koenker and Portnoy 1993). No density is estimated. It is ``anova(test = "rank")`` of quantreg.

    Parameters
    ----------
    model : QuantileRegressor fitted at one quantile
        With all columns.
    X, y : array-like
        The data of the fit.
    columns : str or list of str
        Names of the columns in question.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the fit.
    weights_are : {"frequency", "probability"}, optional
        What weights are, see `covariance`.

    Returns
    -------
    HypothesisTest
        The statistic is divided by k and compared with F on k and n - p degrees of freedom.

    Examples
    --------
    >>> import rectiline as rl
    >>> X, y = rl.datasets.load_engel(return_X_y=True, as_frame=True)
    >>> model = rl.QuantileRegressor(quantile=0.5, alpha=0).fit(X, y)
    >>> print(rl.inference.rank_test(model, X, y, "income"))
    income = 0: F = 91.1266 on (1, 233) degrees of freedom, p = 1.938e-18 (covariance: rank)
    """
    fit = read_fit(model, X, y, sample_weight, weights_are)
    if not fit.is_quantile or fit.m != 1:
        raise ValueError(
            f"rank_test is for one quantile; this model has {fit.m} of {fit.losses[0]!r}."
        )
    if fit.rows.in_blocks:
        raise ValueError("rank_test leaves columns out: it needs arrays, not rows in blocks.")
    tested = np.array(_places(columns, fit.names))
    first = int(fit.rows.constant)
    if tested.min() < first:
        raise ValueError("rank_test: the intercept cannot be left out; name columns of X.")
    others = np.setdiff1d(np.arange(fit.p), tested)
    level = float(fit.levels[0])
    left: Any = fit.rows.X[:, others[first:] - first]
    if not left.shape[1]:  # a constant alone: a column of zeros changes nothing
        left = np.zeros((fit.rows.n, 1))
    problem = Problem(left, fit.targets, Pinball(level), None, (), fit.weight, bool(first))
    slope = solve(problem, tol=1e-10, polish=True).dual.sample
    score = np.divide(-slope, fit.weight, out=np.zeros_like(slope), where=fit.weight > 0)
    used = fit.scaled
    score = used.rows.cross(used.weight * score)
    # Its block for some columns is the inverse of the squares that the others leave of them.
    inverted = inverse(used.gram)
    moved = (inverted @ score)[tested]
    size = float(moved @ np.linalg.solve(inverted[np.ix_(tested, tested)], moved))
    df = (float(tested.size), fit.n - fit.p)
    words = f"{', '.join(fit.names[j] for j in tested)} = 0"
    return HypothesisTest.of(size / (level * (1.0 - level)), df, words, "rank")
