"""What estimators have in common: from parameters and data to problems, and to the fit."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache, partial
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rectiline.constraints import Constraint, named_constraints
from rectiline.estimators._adaptive import adapted_makers, is_adaptive
from rectiline.estimators._callbacks import CallbackSupportMixin, FitReport
from rectiline.estimators._check import column_names
from rectiline.estimators._coefficients import ListsCoefficients
from rectiline.estimators._notebook import ShowsCertificate
from rectiline.estimators._parameters import make_penalty
from rectiline.estimators._row_fits import RowsData, RowTask
from rectiline.estimators._rows import as_rows, note_columns, refuse_on_rows
from rectiline.estimators._run import RunOptions, solve_all
from rectiline.estimators._state import restored_on_failure, without_multipliers
from rectiline.estimators._typed import checked_fit
from rectiline.estimators._verify import GivesProblems
from rectiline.penalties import Penalty
from rectiline.problems import Problem
from rectiline.rows import RowBlocks
from rectiline.solvers import Solution, check_name

__all__ = ["FitsC", "PLQModel"]


@cache
def _parameter_names(kind: Any) -> list[str]:
    return list(BaseEstimator._get_param_names.__func__(kind))


class _Shows(ListsCoefficients, ShowsCertificate, GivesProblems):
    """What a fitted model shows of itself."""


class PLQModel(_Shows, CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Turn parameters into problems, and run them."""

    n_features_in_: int
    certificate_: Any  # a Certificate, or one for each problem
    feature_names_in_: NDArray[Any]

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters, read off the constructor once for each class."""
        kind: Any = cls
        return list(_parameter_names(kind))

    def _penalty(self, strength: float = 1.0, l1_ratio: float | None = None) -> Any:
        """Return the penalty object at a strength: a `Penalty`, `Fused`, or None."""
        return make_penalty(
            self.penalty,
            self.n_features_in_,
            getattr(self, "l1_ratio", 0.5) if l1_ratio is None else l1_ratio,
            strength,
            self.penalty_params,
            column_names(self),
        )

    def _listed_constraints(self) -> list[Constraint]:
        return named_constraints(
            self.constraints,
            self.monotone,
            self.order,
            names=column_names(self),
            n_features=self.n_features_in_,
        )

    def _validate_params(self) -> None:
        super()._validate_params()
        check_name(self._run_solver())

    def _run_solver(self) -> str:
        """Return the name for `rectiline.solve`."""
        return str(self.solver)

    def _solve(
        self,
        makers: Sequence[Callable[[], Any]],
        X: Any = None,
        y: Any = None,
        began: float | None = None,
    ) -> list[Solution]:
        """Solve the problems of a fit; its time limit counts from `began`."""
        warm = None
        if self.warm_start:
            earlier = getattr(self, "solution_", None)
            warm = [earlier] if isinstance(earlier, Solution) else earlier
            if warm is not None and len(warm) != len(makers):
                warm = None
        report = FitReport(self, len(makers), X, y)
        options = RunOptions.of(self).since(began)
        with closing(report):
            solutions = solve_all(makers, options, warm, report, column_names(self))
        report.end()
        return solutions

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        # A fit that is to be continued needs the multipliers.
        return state if getattr(self, "warm_start", False) else without_multipliers(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class FitData(Protocol):
    """What a fit was given, checked."""

    @property
    def X(self) -> Any:
        """The columns."""

    @property
    def y(self) -> NDArray[Any]:
        """The targets as they were given."""

    @property
    def tasks(self) -> Sequence[Any]:
        """What there is one problem for: two-class tasks, outputs."""

    @property
    def C(self) -> float | Sequence[float]:
        """Weight of the losses: one for all problems, or one for each."""


class FitsC(PLQModel):
    """The fit of `PLQClassifier` and `PLQRegressor`."""

    @checked_fit
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        sensitive_features: Any = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix of shape (n_samples, n_features), or source of rows
            Rows in blocks, see `rectiline.rows`, dask collections and arrays on a GPU are read
            where they are, in a few passes.
        y : array-like of shape (n_samples,), or (n_samples, n_outputs) for a regression
            Labels, of two the larger one is the positive class; or targets. None for rows that
            hold their own.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights of the losses; a weight of zero is as good as removing the sample.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, k), optional
            What fairness constraints without columns of their own are about.

        Returns
        -------
        self
        """
        with restored_on_failure(self):
            began = time.perf_counter()
            data = self._read_any(X, y, sample_weight, sensitive_features)
            makers = self._makers(data, self._penalty(), data.C)
            self._keep(data, self._solve(makers, data.X, data.y, began))
            if isinstance(data, RowsData):
                self._state_certificates_in(*data.C)
            self._calibrate(X, y, sample_weight, sensitive_features)
            return self

    def _calibrate(self, X: Any, y: Any, sample_weight: Any, sensitive_features: Any) -> None:
        """Fit probabilities, if a classifier has been asked to."""

    def _read_any(self, X: Any, y: Any, sample_weight: Any, sensitive: Any) -> Any:
        """Check what fit was given, arrays or a source of rows."""
        rows = as_rows(X, y, sample_weight)
        if rows is None:
            return self._read(X, y, sample_weight, sensitive)
        if not rows.has_target:
            raise ValueError(f"{type(self).__name__}.fit needs targets y; these rows have none.")
        asked = {
            "sensitive_features": sensitive is not None,
            "calibration": getattr(self, "calibration", None) is not None,
            "weights='adaptive'": is_adaptive(self),
        }
        refuse_on_rows(self, **asked)
        note_columns(self, rows)
        return self._read_rows(rows)

    def _makers(
        self, data: Any, penalty: Penalty | None, C: float | Sequence[float]
    ) -> list[Callable[[], Any]]:
        """Return how to make the problems of a fit, with one C or one for each problem."""
        each = C if isinstance(C, Sequence) else [C] * len(data.tasks)
        pairs = zip(data.tasks, each, strict=True)
        if isinstance(data, RowsData):
            return [partial(self._rows_problem, data, task, one) for task, one in pairs]
        makers = [partial(self._problem, data, task, penalty, factor=one) for task, one in pairs]
        return adapted_makers(self, makers, rows=len(makers) > 1)

    def _problems(
        self, X: Any, y: Any, sample_weight: Any = None, sensitive_features: Any = None
    ) -> list[Problem]:
        chooses = not hasattr(self, "C")
        if chooses:
            check_is_fitted(self)
        data = self._read_any(X, y, sample_weight, sensitive_features)
        self._row_unit = data.C[0] if isinstance(data, RowsData) else 1.0
        penalty = self._penalty(l1_ratio=getattr(self, "l1_ratio_", None))
        return [make() for make in self._makers(data, penalty, self.C_ if chooses else data.C)]

    def _rows_problem(self, data: RowsData, task: RowTask, C: float) -> Problem:
        """Return one problem on rows: weights are as given, the penalty is divided by C."""
        return Problem.on_encoded_rows(
            data.rows,
            task.loss,
            task.encoding,
            self._rows_penalty(data, C),
            data.constraints,
            self.fit_intercept,
        )

    def _rows_penalty(self, data: RowsData, C: float) -> Penalty | None:
        """Return the penalty of a problem on rows, divided by C."""
        made: Penalty | None = self._penalty(1.0 / C)
        return made

    def _read_rows(self, rows: RowBlocks) -> RowsData:
        """Return what a fit on rows needs; estimators that cannot take rows do not override it."""
        raise TypeError(
            f"{type(self).__name__} needs arrays in memory; got {type(rows).__name__}. "
            "PLQRegressor, PLQClassifier, their searches and QuantileRegressor take rows in blocks."
        )

    def _objective_unit(self, problem: Any) -> float:
        return self._row_unit

    @abstractmethod
    def _read(self, X: Any, y: Any, sample_weight: Any, sensitive: Any) -> FitData:
        """Check what fit was given; note the columns of X."""

    @abstractmethod
    def _problem(
        self,
        data: Any,
        task: Any,
        penalty: Penalty | None,
        keep: NDArray[np.bool_] | None = None,
        factor: float = 1.0,
    ) -> Problem:
        """Return one problem, its losses times `factor`; samples not kept have no weight."""

    @abstractmethod
    def _keep(self, data: Any, solutions: list[Solution]) -> Self:
        """Set the fitted attributes."""
