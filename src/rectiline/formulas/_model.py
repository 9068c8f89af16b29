"""A fitted formula: predicts from tables and prints coefficients by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from rectiline._frames import coefficient_frame
from rectiline.formulas._design import FormulaDesign

__all__ = ["FormulaModel", "fit_design"]


@dataclass(frozen=True, slots=True, eq=False)
class FormulaModel:
    """An estimator that was fitted on a formula; `FormulaDesign.fit` makes one.

    Attributes
    ----------
    design : FormulaDesign
    estimator : estimator
        The fitted one.
    """

    design: FormulaDesign
    estimator: Any

    def predict(self, data: Any) -> NDArray[Any]:
        """Return predictions for a table with the variables of the formula."""
        return np.asarray(self.estimator.predict(self.design.matrix(data)))

    def coef_frame(self) -> Any:
        """Return the coefficients with the names of the columns, the intercept last."""
        coef = np.atleast_2d(np.asarray(self.estimator.coef_))
        levels = getattr(self.estimator, "quantiles_", None)
        titles: list[Any] = ["coef"] if len(coef) == 1 else list(range(len(coef)))
        if levels is not None and np.size(levels) == len(coef) > 1:
            titles = [float(level) for level in np.ravel(levels)]
        return coefficient_frame(
            coef, self.estimator.intercept_, self.design.names, titles, "coef_frame"
        )

    def summary(self, **options: Any) -> Any:
        """Return the table of coefficients and errors, see the estimator's `summary`."""
        return self.estimator.summary(self.design.X, self.design.y, **options)


def fit_design(design: FormulaDesign, estimator: Any, fit_params: dict[str, Any]) -> FormulaModel:
    """Return the fitted model of a design."""
    if not isinstance(estimator, BaseEstimator):
        raise TypeError(f"estimator must be a scikit-learn estimator; got {estimator!r}.")
    model: Any = clone(estimator)
    known = model.get_params(deep=False)
    if "fit_intercept" in known:
        model.set_params(fit_intercept=design.has_intercept)
    if design.constraints:
        if "constraints" not in known:
            raise ValueError(
                f"{design.text!r} asks for splines with a shape, but {type(model).__name__} takes "
                "no constraints; use PLQRegressor, PLQClassifier or QuantileRegressor."
            )
        given = known["constraints"]
        listed = isinstance(given, (list, tuple))
        own = () if given is None else tuple(given) if listed else (given,)
        model.set_params(constraints=(*own, *design.constraints))
    return FormulaModel(design, model.fit(design.X, design.y, **fit_params))
