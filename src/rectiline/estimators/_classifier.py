"""Classification with any loss of the margin."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Literal, Self, Unpack, cast, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model._base import SparseCoefMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function

from rectiline._polling import Clock
from rectiline.estimators._check import linear_scores
from rectiline.estimators._fairness import fairness_table, is_fairness
from rectiline.estimators._inference import InferenceTerms
from rectiline.estimators._linear import LinearFitMixin
from rectiline.estimators._parameters import TermParameters, keeps_parameters, make_loss
from rectiline.estimators._row_folds import calibrated_on_rows, probabilities
from rectiline.estimators._rows import predicted, with_targets
from rectiline.estimators._run import RunOptions
from rectiline.estimators._search import SearchMixin
from rectiline.estimators._tasks import FitData, first_largest, with_class_tasks
from rectiline.losses import Loss
from rectiline.solvers import Solution

_CALIBRATION_FOLDS = 5


def _is_calibrated(estimator: Any) -> bool:
    if getattr(estimator, "calibration", None) is None:
        raise AttributeError(
            f"{type(estimator).__name__} has no probabilities; set calibration='sigmoid' or "
            "calibration='isotonic' before the fit."
        )
    return True


class PLQClassifier(SparseCoefMixin, ClassifierMixin, LinearFitMixin[Any]):  # type: ignore[misc]
    """Linear classification with a piecewise linear-quadratic loss and a proof of optimality.

    Minimises ``C * sum_i w_i loss(y_i (x_i'b + b0)) + penalty(b)`` under the constraints, with y_i
    in {-1, +1}. More than two classes become one problem per class (one-vs-rest) or per pair of
    classes (one-vs-one), each under the same constraints.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
        "hinge", "squared_hinge", "smoothed_hinge", "modified_huber", or any loss of the margin
        from `rectiline.losses`, `PiecewiseLQ` included. Losses of the residual see the targets
        -1 and +1.
    {loss_params}
    {penalty}
    {C}
    {constraints}
    {effects}
    {tables}
    class_weight : dict or "balanced", optional
        Factors on the sample weights of each class; "balanced" gives all classes the same total.
    multi_class : {"ovr", "ovo"}, default="ovr"
        How more than two classes become two-class problems.
    calibration : {"sigmoid", "isotonic"}, optional
        Fit probabilities as well, by this calibration of decisions on 5 folds; `predict_proba`
        exists only then. The coefficients do not change; a fit takes about six times as long. Rows
        in blocks are put into folds by a hash of their number, and the folds share passes.
        `predict` follows the decisions: for a few samples near the boundary of two classes its
        label is not that of the largest probability.
    {fit_intercept}
    {running}
    {warm_start}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels with positive sample weight.
    coef_ : ndarray of shape (1, n_features) or (n_problems, n_features)
    intercept_ : ndarray of shape (1,) or (n_problems,)
    calibrated_ : CalibratedClassifierCV
        What gives the probabilities; only with `calibration`.
    fairness_ : dict of ndarray
        Reached values per group, a table by columns; only if sensitive features were given.
    {proof}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rectiline.estimators import PLQClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PLQClassifier(loss="smoothed_hinge").fit(X, y)
    >>> model.status_, model.certificate_.relative_gap <= 1e-6, model.score(X, y) > 0.95
    ('solved', True, True)
    """

    _numeric_targets = False

    @keeps_parameters(TermParameters)
    def __init__(
        self,
        loss: str | Loss = "hinge",
        *,
        loss_params: dict[str, Any] | None = None,
        C: float = 1.0,
        l1_ratio: float = 0.5,
        class_weight: Any = None,
        multi_class: str = "ovr",
        calibration: str | None = None,
        warm_start: bool = False,
        **shared: Unpack[TermParameters],
    ) -> None: ...

    def _loss(self) -> Loss:
        return make_loss(self.loss, self.loss_params, of=("margin", "residual"))

    def _with_tasks(self, data: FitData) -> FitData:
        C = float(self._given_C())
        data = with_class_tasks(data, self._loss(), self.class_weight, self.multi_class, C)
        if data.tasks[0].samples is not None and any(map(is_fairness, data.constraints)):
            raise ValueError("Fairness constraints need multi_class='ovr'; got 'ovo'.")
        return data

    def _has_coef_rows(self, data: FitData) -> bool:
        return True

    def _fit(self, X: Any, y: Any, sample_weight: Any, *given: Any, **params: Any) -> Self:
        self.__dict__.pop("calibrated_", None)
        super()._fit(X, y, sample_weight, *given, **params)
        method = getattr(self, "calibration", None)
        if method is not None and not hasattr(self, "calibrated_"):
            sensitive = {} if given[0] is None else {"sensitive_features": given[0]}
            plain = clone(self).set_params(calibration=None, callback=None)
            self.calibrated_ = CalibratedClassifierCV(
                plain, method=method, cv=_CALIBRATION_FOLDS, ensemble=False
            ).fit(X, y, sample_weight=sample_weight, **sensitive)
        return self

    def _set_fitted(self, data: FitData, solutions: list[Solution]) -> None:
        super()._set_fitted(data, solutions)
        self.classes_ = data.classes
        self.__dict__.pop("fairness_", None)
        if data.rows is not None and getattr(self, "calibration", None) is not None:
            options = RunOptions.of(self, Clock.with_grace(self.time_limit))
            self.calibrated_ = calibrated_on_rows(self, data, _CALIBRATION_FOLDS, options)
        if data.groups is None or data.tasks[0].samples is not None:
            return
        decisions = self._decisions(linear_scores(self, data.X))
        targets = np.column_stack([task.targets > 0 for task in data.tasks])
        self.fairness_ = fairness_table(data.groups, decisions, targets.reshape(decisions.shape))

    def _coef_titles(self) -> list[Any]:
        if self.coef_.shape[0] == 1:
            return ["coef"]
        if self.multi_class == "ovr":
            return list(self.classes_)
        return [f"{low} vs {high}" for low, high in combinations(self.classes_, 2)]

    @overload
    def decision_function(self, X: Any, blocks: Literal[False] = False) -> NDArray[np.float64]: ...

    @overload
    def decision_function(self, X: Any, blocks: Literal[True]) -> Iterator[Any]: ...

    def decision_function(self, X: Any, blocks: bool = False) -> Any:
        """Return the confidence scores of the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix of shape (n_samples, n_features), or source of rows
        blocks : bool, default=False
            Whether to return an iterator with one array for each block of rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes), or an iterator
            With two classes, positive means the second class. One-vs-one votes are summed per
            class, as scikit-learn's SVC does.
        """
        return predicted(self, X, blocks, "_decisions")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of rows whose label is predicted.

        Parameters
        ----------
        X : array-like, sparse matrix of shape (n_samples, n_features), or source of rows
        y : array-like of shape (n_samples,)
            Labels; rows in blocks hold them.
        sample_weight : array-like of shape (n_samples,), optional
        """
        return float(super().score(*with_targets(X, y, sample_weight)))

    @available_if(_is_calibrated)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes at the rows of X.

        Decisions on left-out folds are turned into probabilities by a logistic curve ("sigmoid",
        Platt 1999) or by a monotone step function ("isotonic", Zadrozny and Elkan 2002). The most
        probable class can differ from `predict` near the boundary.

        Parameters
        ----------
        X : array-like, sparse matrix of shape (n_samples, n_features), or source of rows

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return cast(NDArray[np.float64], predicted(self, X, False, "_probabilities"))

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return probabilities(self.calibrated_, self._decisions(scores))

    def _decisions(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the confidence scores of rows from their products with the coefficients."""
        if scores.shape[1] == 1:
            return scores.ravel()
        if self.multi_class == "ovo" and self.classes_.size > 2:
            votes = _ovr_decision_function(scores < 0, -scores, self.classes_.size)
            return np.asarray(votes)
        return scores

    def _from_scores(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Return the labels of rows from their products with the coefficients."""
        scores = self._decisions(scores)
        if scores.ndim == 1:
            return np.asarray(self.classes_[(scores > 0).astype(int)])
        return np.asarray(self.classes_[first_largest(scores)])

    def _inference_terms(self, y: NDArray[Any]) -> InferenceTerms:
        if self.classes_.size != 2:
            raise ValueError(
                f"Standard errors of a classifier need two classes; there are "
                f"{self.classes_.size}. Fit one classifier for each class against the rest."
            )
        return (self._loss(),), None, np.where(y == self.classes_[1], 1.0, -1.0)

    def _why_no_standard_errors(self, X: Any) -> str | None:
        if self.class_weight is not None:
            return (
                f"class_weight={self.class_weight!r} weights the losses, while the errors take "
                "weights as frequencies."
            )
        return super()._why_no_standard_errors(X)


class PLQClassifierCV(SearchMixin, PLQClassifier):
    """`PLQClassifier` with C, and the mix of an elastic net, chosen by cross-validation.

    Every fold follows a warm-started path from the strongest penalty down, in parallel threads
    that share X; then the path is solved on all the data. Every point of it has a certificate.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
        As for `PLQClassifier`.
    {loss_params}
    {Cs}
    {penalty}
    {constraints}
    {effects}
    {tables}
    class_weight : dict or "balanced", optional
        Factors on the sample weights of each class.
    multi_class : {"ovr", "ovo"}, default="ovr"
        How more than two classes become two-class problems.
    {cv}
    {fit_intercept}
    {running}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels with positive sample weight.
    coef_ : ndarray of shape (1, n_features) or (n_problems, n_features)
    intercept_ : ndarray of shape (1,) or (n_problems,)
    {chosen}
    {proof}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rectiline.estimators import PLQClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PLQClassifierCV(Cs=[0.1, 1, 10]).fit(X, y)
    >>> model.cv_results_["param_C"], model.score(X, y) > 0.9
    (array([ 0.1,  1. , 10. ]), True)
    """

    @keeps_parameters(TermParameters)
    def __init__(
        self,
        loss: str | Loss = "hinge",
        *,
        loss_params: dict[str, Any] | None = None,
        Cs: Any = 30,
        l1_ratios: Any = None,
        class_weight: Any = None,
        multi_class: str = "ovr",
        cv: Any = None,
        scoring: Any = None,
        fold_tol: float | None = None,
        **shared: Unpack[TermParameters],
    ) -> None: ...
