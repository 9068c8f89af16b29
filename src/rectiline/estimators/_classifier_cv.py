"""Classification with the strength chosen by cross-validation."""

from __future__ import annotations

from typing import Any

from rectiline.estimators._classifier import PLQClassifier
from rectiline.estimators._docs import documented
from rectiline.estimators._parameters import keep_parameters
from rectiline.estimators._search import SearchMixin
from rectiline.estimators._search_folds import ScoreFold, accuracy_of
from rectiline.estimators._tasks import FitData
from rectiline.losses import Loss
from rectiline.penalties import Penalty

__all__ = ["PLQClassifierCV"]


@documented()
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

    def __init__(
        self,
        loss: str | Loss = "hinge",
        *,
        loss_params: dict[str, Any] | None = None,
        Cs: Any = 30,
        l1_ratios: Any = None,
        penalty: str | Penalty = "l2",
        penalty_params: dict[str, Any] | None = None,
        constraints: Any = (),
        monotone: dict[Any, int] | None = None,
        order: Any = None,
        class_weight: Any = None,
        multi_class: str = "ovr",
        cv: Any = None,
        scoring: Any = None,
        fold_tol: float | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        progress_bar: bool = False,
        callback: Any = None,
    ) -> None:
        keep_parameters(self, locals())

    def _own_score(self, data: FitData) -> ScoreFold | None:
        if data.tasks[0].samples is not None:
            return None
        return accuracy_of(data.X, data.places, data.weight)
