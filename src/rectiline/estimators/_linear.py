"""Estimators whose fit is one linear problem or several on the same X."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._polling import Clock, OutOfTime, asked_at_checkpoints
from rectiline._typing import Mask
from rectiline.constraints import Constraint, Nonnegative, named_constraints
from rectiline.estimators._check import check_data, check_weight, checked_fit, column_names
from rectiline.estimators._defaults import in_unit
from rectiline.estimators._encode import PlainColumns, complete_rows, encode, free_effects, only
from rectiline.estimators._fairness import FairnessData, is_fairness, with_groups
from rectiline.estimators._inference import InferenceMixin
from rectiline.estimators._parameters import adapted_problems, is_adaptive, make_penalty
from rectiline.estimators._rows import as_rows, note_columns, predicted, refuse_on_rows
from rectiline.estimators._run import RunOptions, solve_all
from rectiline.estimators._show import FitReport
from rectiline.estimators._tasks import FitData, Task
from rectiline.exceptions import NoAnswerError
from rectiline.penalties import Penalty
from rectiline.problems import DualPoint, Problem
from rectiline.rows import RowBlocks
from rectiline.solvers import Solution, check_name

Scalar = TypeVar("Scalar", bound=np.generic)


class LinearFitMixin(InferenceMixin, Generic[Scalar]):
    """Fit, prediction and proofs of models ``x'b + b0``, with their standard errors.

    A subclass says what the tasks of its data are (`_with_tasks` returns the data with them),
    whether ``coef_`` has a row for each (`_has_coef_rows`; else there is one, and it is flat) and
    what scores ``x'b + b0`` mean (`_from_scores`).
    """

    _with_tasks: ClassVar[Callable[..., FitData]]

    def _validate_params(self) -> None:
        super()._validate_params()
        check_name(self._run_solver())
        constructor: Any = type(self).__init__
        usual = constructor.__signature__.parameters.get("l1_ratio")
        penalty = getattr(self, "penalty", None)
        if usual is None or self.l1_ratio == usual.default or not isinstance(penalty, str):
            return
        if penalty not in ("elasticnet", "sparse_group"):
            warnings.warn(
                f"l1_ratio={self.l1_ratio!r} is the mix of penalty='elasticnet' and "
                f"'sparse_group'; penalty={penalty!r} does not use it.",
                UserWarning,
                stacklevel=2,
            )

    # ---- fitting --------------------------------------------------------------------------------

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
            Non-negative weights of the losses; a weight of zero removes the sample.
        sensitive_features : array-like of shape (n_samples,) or (n_samples, k), optional
            What fairness constraints without columns of their own are about.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, sensitive_features)

    def _read(
        self, X: Any, y: Any, sample_weight: Any = None, sensitive_features: Any = None
    ) -> FitData:
        rows = as_rows(X, y, sample_weight)
        if rows is not None:
            return self._read_rows(rows, sensitive_features)
        used = complete_rows(self, X, y)
        given = (X, y, sample_weight, sensitive_features)
        X, y, sample_weight, sensitive_features = (only(one, used) for one in given)
        numbers = encode(self, X)
        X, y, design = check_data(self, numbers, y)
        if hasattr(self, "encoder_"):
            self.feature_names_in_ = self.encoder_.names
        weight = check_weight(sample_weight, X)
        return self._with_tasks(
            FitData(
                constraints=self._listed_constraints(),
                X=X,
                y=y,
                design=design,
                weight=weight,
                is_weighted=sample_weight is not None,
                groups=FairnessData.read(sensitive_features, X.shape[0]),
                loss_weight=weight,
            )
        )

    def _read_rows(self, rows: RowBlocks, sensitive_features: Any) -> FitData:
        if not rows.has_target:
            raise ValueError(f"{type(self).__name__}.fit needs targets y; these rows have none.")
        names = ("fixed_effects", "categorical")
        asked = {name: getattr(self, name, None) is not None for name in names} | {
            "sensitive_features": sensitive_features is not None,
            "weights='adaptive'": is_adaptive(self),
            "missing='drop'": getattr(self, "missing", "error") == "drop",
        }
        refuse_on_rows(self, **asked)
        note_columns(self, rows)
        data = FitData(constraints=self._listed_constraints(), rows=rows)
        try:
            with asked_at_checkpoints(Clock(self.time_limit)):
                return self._with_tasks(data)  # it may read all rows
        except OutOfTime as error:
            raise NoAnswerError(
                f"time_limit={self.time_limit}: the time was up while rows were read, before there "
                "was an answer. Give more time."
            ) from error

    def _listed_constraints(self) -> list[Constraint]:
        n_plain, names = self._plain_columns()
        listed = named_constraints(
            getattr(self, "constraints", ()),
            getattr(self, "monotone", None),
            getattr(self, "order", None),
            names=names,
            n_features=n_plain,
        )
        if getattr(self, "positive", False):
            listed.append(Nonnegative())
        if not self._n_effects:
            return listed
        return [one if is_fairness(one) else PlainColumns(one, n_plain) for one in listed]

    def _penalty(self, strength: float = 1.0, l1_ratio: float | None = None) -> Any:
        """Return the penalty object at a strength: a `Penalty`, `Fused`, or None."""
        if l1_ratio is None:
            l1_ratio = getattr(self, "l1_ratio", getattr(self, "l1_ratio_", None))
        return make_penalty(self, strength, 0.5 if l1_ratio is None else l1_ratio)

    def _plain_columns(self) -> tuple[int, NDArray[Any] | None]:
        """Return how many columns are no fixed effects, and their names."""
        n_plain, names = self.n_features_in_ - self._n_effects, column_names(self)
        return n_plain, None if names is None else names[:n_plain]

    def _given_C(self) -> Any:
        """Return the weight of the losses, for a search the one that it has chosen."""
        return self.C if hasattr(self, "C") else getattr(self, "C_", 1.0)

    def _strength(self, data: FitData) -> float:
        """Return the strength of the penalty in the sum of losses and penalty."""
        return 1.0

    def _problem(
        self,
        data: FitData,
        task: Task,
        penalty: Penalty | None,
        factor: float = 1.0,
        keep: Mask | None = None,
    ) -> Problem:
        """Return one problem, its losses times `factor`; samples not kept have no weight."""
        if task.unit is not None:  # then the default C does not depend on the unit of y
            penalty = in_unit(penalty, task.unit)
        n_effects = self._n_effects
        strength = getattr(self, "effects_l1", 0.0) * data.total
        penalty = free_effects(penalty, self.n_features_in_ - n_effects, n_effects, strength)
        limits, targets, intercept = data.constraints, task.targets, self.fit_intercept
        if data.rows is not None:  # weights are as they were given
            return Problem.on_encoded_rows(
                data.rows, task.loss, targets, penalty, limits, intercept
            )
        positive = None if data.classes is None else targets > 0
        return Problem(
            data.design if task.samples is None else data.X[task.samples],
            targets,
            loss=task.loss,
            penalty=penalty,
            constraints=[with_groups(one, data.groups, positive, keep) for one in limits],
            sample_weight=data.loss_weights(task, factor, keep),
            fit_intercept=intercept,
            feature_names=column_names(self),
        )

    def _task_problem(self, data: FitData, task: Task) -> Problem:
        """Return the problem that a fit solves for one task."""
        strength = self._strength(data)
        if data.rows is not None:
            return self._problem(data, task, self._penalty(strength / task.C))
        return self._problem(data, task, self._penalty(strength), task.C)

    def _problems(self, data: FitData) -> list[Problem]:
        """Return the problems of a fit."""
        problems = [self._task_problem(data, task) for task in data.tasks]
        return adapted_problems(self, problems, by_row=not self._is_single(len(problems)))

    def _solve_tasks(self, data: FitData, clock: Clock) -> tuple[FitData, list[Solution]]:
        return data, self._solve(self._problems(data), data, clock)

    def _solve(
        self, problems: Sequence[Problem], data: FitData, clock: Clock, **changes: Any
    ) -> list[Solution]:
        """Solve the problems of a fit, from the answers of the last one if that is asked for.

        `changes` are options of the run that differ from the parameters.
        """
        earlier = getattr(self, "solution_", ()) if self.warm_start else ()
        warm = [earlier] if isinstance(earlier, Solution) else list(earlier)
        options = replace(RunOptions.of(self, clock), **changes)
        with FitReport(self, len(problems), data.X, data.y) as report:
            return solve_all(problems, options, warm, report)

    def _objective_units(self, data: FitData) -> list[float]:
        """Return the documented objective as a multiple of each problem's."""
        return [1.0 if data.rows is None else task.C for task in data.tasks]

    def _set_fitted(self, data: FitData, solutions: list[Solution]) -> None:
        """Set what a fit found: coefficients, how they were found, and the proofs."""
        solutions = [replace(one, problem=None) for one in solutions]  # models hold no data
        one = solutions[0]
        if self._has_coef_rows(data):
            self.coef_ = np.array([s.coef for s in solutions])
            self.intercept_ = np.array([s.intercept for s in solutions])
        else:
            self.coef_, self.intercept_ = one.coef.copy(), float(one.intercept)
        self._note_solutions(solutions, self._objective_units(data))
        self.__dict__.pop("dual_coef_", None)
        # Rows in blocks have multipliers by exception, in `solution_` only.
        if all(isinstance(s.dual, DualPoint) for s in solutions):
            is_single = self._is_single(len(solutions))
            self.dual_coef_ = one.dual.sample if is_single else data.dual_coef(solutions)

    # ---- predicting -----------------------------------------------------------------------------

    @overload
    def predict(self, X: Any, blocks: Literal[False] = False) -> NDArray[Scalar]: ...

    @overload
    def predict(self, X: Any, blocks: Literal[True]) -> Iterator[NDArray[Scalar]]: ...

    @overload
    def predict(self, X: Any, *, to: str | os.PathLike[str]) -> list[str]: ...

    def predict(
        self, X: Any, blocks: bool = False, to: Any = None
    ) -> NDArray[Scalar] | Iterator[NDArray[Scalar]] | list[str]:
        """Return what the model predicts for the rows of X: labels, targets or quantiles.

        Parameters
        ----------
        X : array-like, sparse matrix of shape (n_samples, n_features), source of rows, or path
            A path is that of a file or folder of tables (Parquet, Feather, CSV), whose columns are
            found by their names.
        blocks : bool, default=False
            Whether to return an iterator with one array for each block of rows.
        to : path, optional
            An empty folder to write the predictions to, as Parquet files in the folders that the
            files of X are in; executors of rows write them.

        Returns
        -------
        ndarray of shape (n_samples,), or an iterator, or the list of files that were written
            With one column for each output or quantile where the fit had several.
        """
        return cast(NDArray[Scalar], predicted(self, X, blocks, to=to))

    def _from_scores(self, scores: NDArray[Any]) -> NDArray[Scalar]:
        """Return predictions from products with the coefficients: these are the predictions."""
        return scores
