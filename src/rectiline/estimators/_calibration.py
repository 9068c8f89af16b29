"""Probabilities of a classifier by calibration of its decisions; `PLQClassifier` inherits them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rectiline.estimators._array_api import like, on_host

__all__ = ["HasProbabilities"]

_FOLDS = 5


def _is_calibrated(estimator: Any) -> bool:
    if getattr(estimator, "calibration", None) is None:
        raise AttributeError(
            f"{type(estimator).__name__} has no probabilities; set calibration='sigmoid' or "
            "calibration='isotonic' before the fit."
        )
    return True


class HasProbabilities:
    """Fit a calibration after the model where it is asked for."""

    def _calibrate(self, X: Any, y: Any, sample_weight: Any, sensitive_features: Any) -> None:
        """Fit the probabilities if `calibration` is set; the last step of a fit."""
        self.__dict__.pop("calibrated_", None)
        method = getattr(self, "calibration", None)
        if method is None:
            return
        given = {} if sensitive_features is None else {"sensitive_features": sensitive_features}
        plain = clone(self).set_params(calibration=None, callback=None)
        self.calibrated_ = CalibratedClassifierCV(
            plain, method=method, cv=_FOLDS, ensemble=False
        ).fit(X, y, sample_weight=sample_weight, **given)

    @available_if(_is_calibrated)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes at the rows of X.

        Decisions on left-out folds are turned into probabilities by a logistic curve ("sigmoid",
        Platt 1999) or by a monotone step function ("isotonic", Zadrozny and Elkan 2002). The most
        probable class can differ from `predict` near the boundary.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        found = np.asarray(self.calibrated_.predict_proba(on_host(X)))
        return cast(NDArray[np.float64], like(found, X))
