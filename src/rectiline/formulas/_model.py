"""A fitted formula: predicts from tables, and has all that its estimator has, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from rectiline import inference
from rectiline._typing import Matrix, Vector

if TYPE_CHECKING:
    from rectiline.formulas._design import FormulaDesign

_PASS_GROUPS_ON = ("conf_int", "equal_slopes", "summary", "wald_test")  # among their options


@dataclass(frozen=True, eq=False)
class PartialEffect:
    """What one term adds to the prediction, relative to its mean over the data.

    Attributes
    ----------
    term, variable : str
    grid : ndarray of shape (n,)
        Values of the variable.
    value, lower, upper : ndarray of shape (n,), or (n_quantiles, n)
        The effect and the ends of its pointwise intervals; NaN without intervals.
    level : float
        Coverage of the intervals.
    """

    term: str
    variable: str
    grid: Vector
    value: Matrix
    lower: Matrix
    upper: Matrix
    level: float


@dataclass(frozen=True, eq=False)
class FormulaModel:
    """An estimator that was fitted on a formula; `FormulaDesign.fit` makes one.

    All that the fitted estimator has is here too: attributes such as ``certificate_``, methods on
    other data such as `predict` with a table in place of X, and methods on the data of the fit,
    such as `wald_test`, `conf_int`, `verify`, `report` and `save_certificate`, without X and y.
    Weights and groups of the formula are passed on.

    Attributes
    ----------
    design : FormulaDesign
    estimator : estimator
        The fitted one.
    given : dict
        What `fit` was given beside X and y.
    """

    design: FormulaDesign
    estimator: Any
    given: dict[str, Any]

    def summary(self, kind: str | None = None, *, effects: bool = False, **options: Any) -> Any:
        """Return the table of coefficients and errors, see the estimator's `summary`.

        Parameters
        ----------
        kind : str, optional
        effects : bool, default=False
            Whether the table shows the effects behind ``|`` too.
        **options
            Options of the estimator's `summary`.
        """
        table = self._with_data(self.estimator.summary)(kind=kind, **options)
        hidden = 0 if effects else self.design.n_effects
        return table.without_last(hidden) if hidden else table

    def equal_slopes(self, **options: Any) -> Any:
        """Test whether slopes are equal, see `rectiline.inference.equal_slopes`."""
        return self._with_data(inference.equal_slopes, self.estimator)(**options)

    def rank_test(self, columns: Any, **options: Any) -> Any:
        """Test whether columns can be left out, see `rectiline.inference.rank_test`."""
        return self._with_data(inference.rank_test, self.estimator)(columns=columns, **options)

    def draw(self, display: Any, **options: Any) -> Any:
        """Draw with a class of `rectiline.reports`, such as `CoefficientDisplay`."""
        return self._with_data(display.from_estimator, self.estimator)(**options)

    def partial_effect(
        self,
        term: str,
        *,
        grid: Any = 101,
        kind: str | None = "bootstrap",
        level: float = 0.95,
        **options: Any,
    ) -> PartialEffect:
        """Return what a term of one variable adds to the prediction.

        Parameters
        ----------
        term : str
            As the formula has it, such as ``"s(x)"``.
        grid : int or array-like, default=101
            Values of the variable, or how many between its least and its largest one.
        kind : str or None, default="bootstrap"
            Kind of the covariance behind the intervals; None leaves them out. Smooth terms are
            penalised: the bootstrap shows their spread and not the bias of the penalty.
        level : float, default=0.95
            Coverage of the pointwise intervals.
        **options
            Options of `rectiline.inference.covariance`.

        Returns
        -------
        PartialEffect
        """
        design = self.design
        spec, kept = design.spec, design.kept
        terms = {str(one): mine for one, mine in spec.term_indices.items() if str(one) != "1"}
        if term not in terms:
            raise ValueError(f"term={term!r} is not in the formula; its terms are {list(terms)}.")
        columns = [kept.index(j) for j in terms[term]]
        (found,) = [names for one, names in spec.term_variables.items() if str(one) == term]
        variables = [str(name) for name in found if str(name) in design.table.columns]
        if len(variables) != 1 or design.table[variables[0]].dtype.kind not in "fiu":
            raise ValueError(f"term={term!r} must have one variable of numbers; got {variables}.")
        values = design.table[variables[0]].to_numpy(dtype=np.float64)
        if np.ndim(grid) == 0:
            grid = np.linspace(values.min(), values.max(), int(grid))
        points = np.asarray(grid, dtype=np.float64)
        table = design.table.iloc[np.zeros(points.size, dtype=int)]
        table = table.assign(**{variables[0]: points})
        here = _dense(design.matrix(table), columns)
        mean = _dense(design.X, columns).mean(axis=0)
        coef = np.atleast_2d(self.estimator.coef_)
        value = (here - mean) @ coef[:, columns].T
        spread = np.full(value.shape, np.nan)
        if kind is not None:
            V = self._with_data(inference.covariance, self.estimator)(kind=kind, **options)
            size = V.shape[0] // len(coef)  # with the intercept, if there is one
            mine = np.array(columns) + size - coef.shape[1]
            for k, own in enumerate(np.arange(len(V)).reshape(-1, size)[:, mine]):
                square = np.einsum("ij,jk,ik->i", here - mean, V[np.ix_(own, own)], here - mean)
                spread[:, k] = np.sqrt(square.clip(0.0))
        reach = float(stats.norm.ppf(0.5 + 0.5 * level)) * spread
        ends = (value, value - reach, value + reach)
        shown = [one[:, 0] if np.ndim(self.estimator.coef_) == 1 else one.T for one in ends]
        return PartialEffect(term, variables[0], points, shown[0], shown[1], shown[2], level)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("design", "estimator", "given"):
            raise AttributeError(name)
        found = getattr(self.estimator, name)
        names = inspect.signature(found).parameters if callable(found) else {}
        if "X" not in names or name == "fit":
            return found
        if "y" in names:
            return self._with_data(found)

        def on(data: Any, *args: Any, **options: Any) -> Any:
            return found(self.design.matrix(data), *args, **options)

        return on

    def _with_data(self, method: Callable[..., Any], *before: Any) -> Callable[..., Any]:
        """Return a method that takes the data of the fit as the formula with the data in place."""
        known = inspect.signature(method).parameters
        takes_all = any(one.kind == one.VAR_KEYWORD for one in known.values())
        names = list(known)[len(before) :]
        rest = [name for name in names if name not in ("X", "y")]
        passed = {"X": self.design.X, "y": self.design.y}
        if "sample_weight" in self.given and (takes_all or "sample_weight" in known):
            passed["sample_weight"] = self.given["sample_weight"]
        if self.design.groups is not None and (
            "groups" in known or method.__name__ in _PASS_GROUPS_ON
        ):
            passed["groups"] = self.design.groups

        def call(*args: Any, **options: Any) -> Any:
            return method(*before, **(passed | dict(zip(rest, args, strict=False)) | options))

        return call


def _dense(X: Any, columns: list[int]) -> Matrix:
    part = X.iloc[:, columns].to_numpy() if hasattr(X, "iloc") else X[:, columns].toarray()
    return np.asarray(part, dtype=np.float64)
