"""The table of coefficients that every linear estimator offers, with the names of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rectiline._frames import coefficient_frame

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ListsCoefficients"]


class ListsCoefficients:
    """Give the fitted coefficients as a data frame."""

    coef_: NDArray[np.float64]
    intercept_: Any

    def coef_frame(self) -> pd.DataFrame:
        """Return the coefficients and intercepts as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
            One row per column of X, by name where X had names, and a last row "(intercept)". One
            column per problem of the fit: "coef" if there is one, otherwise its class, pair of
            classes, output, quantile or task.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        caller = f"{type(self).__name__}.coef_frame"
        return coefficient_frame(self.coef_, self.intercept_, names, self._coef_titles(), caller)

    def _coef_titles(self) -> list[Any]:
        """Return what the rows of ``coef_`` are about."""
        count = np.atleast_2d(self.coef_).shape[0]
        return ["coef"] if np.ndim(self.coef_) == 1 else list(range(count))
