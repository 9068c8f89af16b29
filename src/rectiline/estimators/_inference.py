"""Standard errors and tests as methods of the estimators; the work is in the room `inference`.

It is imported where it is used, so that a fit alone does not load it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, check_X_y

from rectiline._typing import Vector
from rectiline.constraints import Constraint, combine
from rectiline.estimators._base import BaseLinear
from rectiline.estimators._check import READABLE, check_weight
from rectiline.estimators._encode import complete_rows, new_rows, only
from rectiline.estimators._rows import as_rows, check_columns, refuse_on_rows, with_targets
from rectiline.losses import Expectile, Loss
from rectiline.rows import TensorRows, is_source

# The losses, the levels if they are those of quantiles, and the targets.
InferenceTerms = tuple[tuple[Loss, ...], Vector | None, Vector]


_ACTIVE = 1e-7  # relative slack up to which a constraint counts as active


class InferenceMixin(BaseLinear):
    """Standard errors and tests of a fitted model."""

    def summary(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        kind: str | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **options: Any,
    ) -> Any:
        """Return a table of coefficients with standard errors, tests and intervals.

        Parameters
        ----------
        X, y : array-like, or rows in blocks and None
            The data of the fit. Of rows in blocks a few numbers for each row are held in memory,
            and X is read in passes: about ten for "nid", and one for 25 replicates of a bootstrap
            (fewer above a million rows).
        kind : str, optional
            How the errors are computed: "iid", "nid", "kernel", "rank", "bootstrap", "cluster",
            "sandwich" or "margin_density". For quantiles the default is R's: "rank" up to 1,000
            samples, "nid" above ("kernel" with many columns); for smooth losses "sandwich", for the
            hinge "margin_density".
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the fit. They count as frequencies; with
            ``weights_are="probability"`` each sample is one observation, as in R and in surveys.
        groups : array-like of shape (n_samples,), optional
            Labels of clusters, for the kinds "cluster" and "bootstrap".
        level : float, default=0.95
            Coverage of the intervals.
        n_boot : int, default=200
            Number of bootstrap replicates.
        random_state : int, RandomState instance or None, default=None
            Seed of the bootstrap; None is a fixed seed.
        **options
            Further options of `rectiline.inference.covariance`, such as ``bandwidth``.

        Returns
        -------
        SummaryTable, or SummaryTables for several quantiles
        """
        from rectiline.inference import summary

        if groups is not None and X is not None and not is_source(X):
            groups = only(groups, complete_rows(self, X, y))
        return summary(self, X, y, kind, sample_weight=sample_weight, groups=groups, **options)

    def conf_int(
        self, X: Any, y: ArrayLike, kind: str | None = None, *, level: float = 0.95, **options: Any
    ) -> NDArray[np.float64]:
        """Return confidence intervals of the coefficients, the intercept first.

        Parameters
        ----------
        X, y : array-like
            The data of the fit.
        kind : str, optional
            As for `summary`.
        level : float, default=0.95
            Coverage of the intervals.
        **options
            Further options of `summary`.

        Returns
        -------
        ndarray of shape (p, 2), or (n_quantiles, p, 2)
        """
        table = self.summary(X, y, kind, level=level, **options)
        return np.asarray(table.interval)

    def wald_test(
        self,
        X: Any,
        y: ArrayLike,
        R: Any,
        r: ArrayLike = 0.0,
        *,
        kind: str | None = None,
        **options: Any,
    ) -> Any:
        """Test linear hypotheses ``R b = r`` about the coefficients, the intercept first.

        Parameters
        ----------
        X, y : array-like
            The data of the fit.
        R : array-like of shape (k, p) or (p,), or a column name or list of names
            The hypotheses; names stand for "this coefficient is r".
        r : array-like of shape (k,), default=0
        kind : str, optional
            Kind of the covariance; as for `summary`, with "nid" in place of "rank".
        **options
            Further options of `rectiline.inference.covariance`.

        Returns
        -------
        HypothesisTest
            With ``statistic``, ``df`` and ``p_value``.
        """
        from rectiline.inference import wald_test

        return wald_test(self, X, y, R, r, kind=kind, **options)

    # ---- what standard errors need --------------------------------------------------------------

    def _fitted_quantiles(
        self, levels: Vector, X: Any, y: Vector, weight: Vector, n_jobs: int | None
    ) -> Any:
        """Return a model of quantiles on the data of the fit, without a penalty."""
        from rectiline.estimators._quantile import QuantileRegressor

        data = (X,) if is_source(X) else (X, y, weight)  # rows hold their targets and weights
        same = {"fit_intercept": self.fit_intercept, "tol": self.tol}
        around = QuantileRegressor(quantile=levels.tolist(), alpha=0.0, n_jobs=n_jobs, **same)
        return around.fit(*data)

    def _inference_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Check the data of the fit, given again; nothing on the estimator changes."""
        check_is_fitted(self)
        if X is None or (y is None and not is_source(X)):
            raise ValueError(
                "X and y are needed: give the data of the fit, or set the parameter inference "
                "before the fit to keep a summary."
            )
        rows = as_rows(X, y, sample_weight)
        if rows is not None:
            refuse_on_rows(self, **{"inference on a GPU": isinstance(rows, TensorRows)})
            check_columns(self, rows)
            _, targets, weight = with_targets(rows, None, None)
            ones = np.ones(len(targets))
            return rows, targets, ones if weight is None else np.asarray(weight, dtype=np.float64)
        used = complete_rows(self, X, y)
        rows = new_rows(self, only(X, used))
        X, y = check_X_y(rows, only(y, used), multi_output=True, **READABLE)
        return X, y, check_weight(only(sample_weight, used), X)

    def _why_no_standard_errors(self, X: Any) -> str | None:
        """Return why asymptotic standard errors do not hold for this fit, or None."""
        penalty = self._penalty_in_words()
        if penalty is not None:
            return f"the fit has a penalty ({penalty}), which pulls the coefficients towards zero."
        active = self._active_constraint(X)
        if active is not None:
            return f"{active}, where the estimate is not normally distributed."
        return None

    def _penalty_in_words(self) -> str | None:
        penalty: Any = getattr(self, "penalty", None)
        return None if penalty is None else f"penalty={penalty!r}"

    def _active_constraint(self, X: Any) -> str | None:
        constraints: list[Constraint] = self._listed_constraints()
        if not constraints:
            return None
        d, design = self.n_features_in_, None if is_source(X) else X
        try:
            rows = combine([one.rows(d, design) for one in constraints], d)
        except (ValueError, TypeError):  # such as fairness with columns given to fit
            return "a constraint depends on data given to fit only"
        if rows.E.shape[0]:
            return "the coefficients obey an equality constraint"
        for coef in np.atleast_2d(self.coef_):
            room = np.minimum(coef - rows.lower, rows.upper - coef)
            if (room <= _ACTIVE * (1.0 + np.abs(coef).max())).any():
                return "a coefficient lies on its bound"
            slack = rows.A @ coef + rows.c
            if (slack <= _ACTIVE * (abs(rows.A) @ np.abs(coef) + 1.0)).any():
                return "a constraint is active"
        return None


def level_of(loss: Loss) -> float | None:
    """Return the level of a loss that is a multiple of a check function, or of an expectile."""
    if isinstance(loss, Expectile):
        return float(loss.quantile)
    curve = loss.curve
    one_kink = curve.knots.size == 1 and curve.knots[0] == 0.0 and not curve.curvature.any()
    if loss.of != "residual" or not one_kink:
        return None
    return float(curve.right[0] / (curve.right[0] - curve.left[0]))
