"""Classification with the strength chosen by cross-validation."""

from __future__ import annotations

from typing import Any, Unpack

from rectiline.estimators._classifier import PLQClassifier
from rectiline.estimators._docs import documented
from rectiline.estimators._parameters import TermParameters, keeps_parameters
from rectiline.estimators._search import SearchMixin
from rectiline.losses import Loss

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
