"""Classification with any loss of the margin."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import _ovr_decision_function

from rectiline.backends import Design
from rectiline.constraints import Constraint
from rectiline.estimators._calibration import HasProbabilities
from rectiline.estimators._check import (
    check_data,
    check_design,
    check_weight,
    column_names,
    linear_scores,
)
from rectiline.estimators._classes import (
    TwoClassTask,
    class_weights,
    find_classes,
    first_largest,
    two_class_tasks,
)
from rectiline.estimators._docs import documented
from rectiline.estimators._fairness import (
    FairnessData,
    bound_constraints,
    fairness_table,
    is_fairness,
)
from rectiline.estimators._fitted import store_solutions
from rectiline.estimators._inference import InferenceMixin, InferenceTerms
from rectiline.estimators._model import FitsC
from rectiline.estimators._parameters import COMMON, make_loss
from rectiline.estimators._row_fits import RowsData, classification_tasks
from rectiline.estimators._rows import PredictsRows, predicted
from rectiline.estimators._state import keep_parameters
from rectiline.losses import Loss
from rectiline.penalties import Penalty
from rectiline.problems import Problem
from rectiline.rows import RowBlocks
from rectiline.solvers import Solution

__all__ = ["PLQClassifier"]


@dataclass(frozen=True, eq=False)
class LabelledData:
    """What a fit was given, checked."""

    X: Any
    y: NDArray[Any]
    design: Design
    loss: Loss
    weight: NDArray[np.float64]
    loss_weight: NDArray[np.float64]  # times the weights of the classes
    constraints: list[Constraint]
    groups: FairnessData | None
    classes: NDArray[Any]
    places: NDArray[np.intp]  # of each sample's label among the classes
    tasks: list[TwoClassTask]
    C: float

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.y.shape[0])


@documented()
class PLQClassifier(
    PredictsRows[Any],
    HasProbabilities,
    InferenceMixin,
    SparseCoefMixin,  # type: ignore[misc]
    LinearClassifierMixin,  # type: ignore[misc]
    FitsC,
):
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
    class_weight : dict or "balanced", optional
        Factors on the sample weights of each class; "balanced" gives all classes the same total.
    multi_class : {"ovr", "ovo"}, default="ovr"
        How more than two classes become two-class problems.
    calibration : {"sigmoid", "isotonic"}, optional
        Fit probabilities as well, by this calibration of decisions on 5 folds; `predict_proba`
        exists only then. The coefficients do not change; a fit takes about six times as long.
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

    _parameter_constraints: dict[str, list[Any]] = {
        **COMMON,
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "multi_class": [StrOptions({"ovr", "ovo"})],
        "calibration": [StrOptions({"sigmoid", "isotonic"}), None],
    }

    def __init__(
        self,
        loss: str | Loss = "hinge",
        *,
        loss_params: dict[str, Any] | None = None,
        penalty: str | Penalty | None = "l2",
        penalty_params: dict[str, Any] | None = None,
        C: float = 1.0,
        l1_ratio: float = 0.5,
        constraints: Any = (),
        monotone: dict[Any, int] | None = None,
        order: Any = None,
        class_weight: Any = None,
        multi_class: str = "ovr",
        calibration: str | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        progress_bar: bool = False,
        callback: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    def _read(self, X: Any, y: Any, sample_weight: Any, sensitive: Any) -> LabelledData:
        """Check what fit was given; note the columns of X."""
        loss = make_loss(self.loss, self.loss_params, of=("margin", "residual"))
        X, y = check_data(self, X, y, numeric_y=False, multi_output=False)
        weight = check_weight(sample_weight, X)
        classes, places = find_classes(y, weight)
        tasks = two_class_tasks(places, classes.size, self.multi_class)
        constraints = self._listed_constraints()
        if tasks[0].samples is not None and any(map(is_fairness, constraints)):
            raise ValueError("Fairness constraints need multi_class='ovr'; got 'ovo'.")
        return LabelledData(
            X=X,
            y=y,
            design=check_design(X),
            loss=loss,
            weight=weight,
            loss_weight=class_weights(self.class_weight, classes, places, weight),
            constraints=constraints,
            groups=FairnessData.read(sensitive, X.shape[0]),
            classes=classes,
            places=places,
            tasks=tasks,
            C=getattr(self, "C", 1.0),  # a search has a grid instead
        )

    def _read_rows(self, rows: RowBlocks) -> RowsData:
        """Return what a fit on rows in blocks needs; finds the classes in one pass."""
        loss = make_loss(self.loss, self.loss_params, of=("margin", "residual"))
        classes, tasks = classification_tasks(rows, loss, self.class_weight, self.multi_class)
        C = float(getattr(self, "C", 1.0))  # a search has a grid instead
        return RowsData(rows, tasks, [C] * len(tasks), self._listed_constraints(), classes)

    def _problem(
        self,
        data: LabelledData,
        task: TwoClassTask,
        penalty: Penalty | None,
        keep: NDArray[np.bool_] | None = None,
        factor: float = 1.0,
    ) -> Problem:
        """Return one two-class problem; samples that are not kept have no weight."""
        rows = slice(None) if task.samples is None else task.samples
        weight = factor * data.loss_weight[rows]
        return Problem(
            data.design if task.samples is None else data.X[rows],
            task.targets,
            loss=data.loss,
            penalty=penalty,
            constraints=bound_constraints(data.constraints, data.groups, task.targets > 0, keep),
            sample_weight=weight if keep is None else np.where(keep[rows], weight, 0.0),
            fit_intercept=self.fit_intercept,
            feature_names=column_names(self),
        )

    def _keep(self, data: Any, solutions: list[Solution]) -> Self:
        """Set the fitted attributes."""
        samples = [task.samples for task in data.tasks if task.samples is not None]
        store_solutions(
            self, solutions, rows=True, samples=samples or None, n_samples=data.n_samples
        )
        self.classes_ = data.classes
        self._set_fairness(data.X, data.groups, data.tasks)
        return self

    def _set_fairness(self, X: Any, groups: FairnessData | None, tasks: list[TwoClassTask]) -> None:
        if groups is None or tasks[0].samples is not None:
            self.__dict__.pop("fairness_", None)
            return
        targets = np.column_stack([task.targets > 0 for task in tasks])
        decisions = linear_scores(self, X)
        if len(tasks) == 1:
            decisions, targets = decisions[:, 0], targets[:, 0]
        self.fairness_ = fairness_table(groups, decisions, targets)

    def _coef_titles(self) -> list[Any]:
        if self.coef_.shape[0] == 1:
            return ["coef"]
        if self.multi_class == "ovr":
            return list(self.classes_)
        return [f"{low} vs {high}" for low, high in combinations(self.classes_, 2)]

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
        loss = make_loss(self.loss, self.loss_params, of=("margin", "residual"))
        return (loss,), None, np.where(y == self.classes_[1], 1.0, -1.0)

    def _why_no_standard_errors(self, X: Any) -> str | None:
        if self.class_weight is not None:
            return (
                f"class_weight={self.class_weight!r} weights the losses, while the errors take "
                "weights as frequencies."
            )
        return super()._why_no_standard_errors(X)
