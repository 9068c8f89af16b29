"""Estimators whose fit is one linear problem or several on the same X."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Generic, Literal, Self, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._polling import Clock
from rectiline._typing import Mask
from rectiline.constraints import Constraint, Nonnegative, named_constraints
from rectiline.estimators._base import BaseLinear, checked_fit
from rectiline.estimators._check import check_data, check_weight, column_names
from rectiline.estimators._encode import (
    PlainColumns,
    complete_rows,
    encode,
    free_effects,
    only,
)
from rectiline.estimators._fairness import FairnessData, is_fairness
from rectiline.estimators._parameters import adapted_factories, is_adaptive, make_penalty
from rectiline.estimators._rows import (
    as_rows,
    note_columns,
    predicted,
    refuse_on_rows,
)
from rectiline.estimators._run import RunOptions, proved_again, solve_all
from rectiline.estimators._saved import save_fit
from rectiline.estimators._show import FitReport
from rectiline.estimators._tasks import FitData, Task
from rectiline.penalties import Penalty
from rectiline.problems import Certificate, DualPoint, Problem
from rectiline.rows import RowBlocks, is_source
from rectiline.solvers import Solution, check_name

Scalar = TypeVar("Scalar", bound=np.generic)

__all__ = ["LinearFitMixin"]


class LinearFitMixin(BaseLinear, Generic[Scalar]):
    """Fit, prediction and proofs of models ``x'b + b0``.

    A subclass says what the tasks of its data are (`_with_tasks`, `_with_row_tasks`) and what
    scores ``x'b + b0`` mean (`_from_scores`).
    """

    _numeric_targets = True
    _multi_output = False
    _always_lists = False  # whether one problem still stands for a list of length one

    def _validate_params(self) -> None:
        super()._validate_params()
        check_name(self._run_solver())

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
            Non-negative weights of the losses; a weight of zero is as good as removing the sample.
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
        X, y, design = check_data(
            self, numbers, y, numeric_y=self._numeric_targets, multi_output=self._multi_output
        )
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
        asked = {
            "sensitive_features": sensitive_features is not None,
            "calibration": getattr(self, "calibration", None) is not None,
            "inference": getattr(self, "inference", None) is not None,
            "weights='adaptive'": is_adaptive(self),
            "fixed_effects": getattr(self, "fixed_effects", None) is not None,
            "categorical": getattr(self, "categorical", None) is not None,
            "missing='drop'": getattr(self, "missing", "error") == "drop",
        }
        refuse_on_rows(self, **asked)
        note_columns(self, rows)
        return self._with_row_tasks(FitData(constraints=self._listed_constraints(), rows=rows))

    def _with_tasks(self, data: FitData) -> FitData:
        """Return the data with the problems of a fit on them."""
        raise NotImplementedError

    def _with_row_tasks(self, data: FitData) -> FitData:
        """Return the data with the problems of a fit on rows in blocks."""
        raise TypeError(
            f"{type(self).__name__} needs arrays in memory; got {type(data.rows).__name__}. "
            "PLQRegressor, PLQClassifier, their searches and QuantileRegressor take rows in blocks."
        )

    def _listed_constraints(self) -> list[Constraint]:
        n_plain, names = self.n_features_in_ - self._n_effects, column_names(self)
        listed = named_constraints(
            getattr(self, "constraints", ()),
            getattr(self, "monotone", None),
            getattr(self, "order", None),
            names=None if names is None else names[:n_plain],
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
        n_plain, names = self.n_features_in_ - self._n_effects, column_names(self)
        return make_penalty(
            self.penalty,
            n_plain,
            0.5 if l1_ratio is None else l1_ratio,
            strength,
            getattr(self, "penalty_params", None),
            None if names is None else names[:n_plain],
        )

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
        n_effects = self._n_effects
        strength = getattr(self, "effects_l1", 0.0) * data.total
        penalty = free_effects(penalty, self.n_features_in_ - n_effects, n_effects, strength)
        return data.problem(task, penalty, factor, keep, self.fit_intercept, column_names(self))

    def _task_problem(self, data: FitData, task: Task) -> Problem:
        """Return the problem that a fit solves for one task."""
        strength = self._strength(data)
        if data.rows is not None:
            return self._problem(data, task, self._penalty(strength / task.C))
        return self._problem(data, task, self._penalty(strength), task.C)

    def _problem_factories(self, data: FitData) -> list[Callable[[], Problem]]:
        """Return how to make the problems of a fit."""
        factories = [partial(self._task_problem, data, task) for task in data.tasks]
        return adapted_factories(self, factories, by_row=not self._is_single(len(factories)))

    def _solve_tasks(
        self, data: FitData, clock: Clock, **params: Any
    ) -> tuple[FitData, list[Solution]]:
        return data, self._solve(self._problem_factories(data), data, clock)

    def _solve(
        self,
        factories: Sequence[Callable[[], Problem]],
        data: FitData,
        clock: Clock,
        **changes: Any,
    ) -> list[Solution]:
        """Solve the problems of a fit, from the answers of the last one if that is asked for.

        `changes` are options of the run that differ from the parameters.
        """
        earlier = getattr(self, "solution_", ()) if self.warm_start else ()
        warm = [earlier] if isinstance(earlier, Solution) else list(earlier)
        options = replace(RunOptions.of(self, clock), **changes)
        with FitReport(self, len(factories), data.X, data.y) as report:
            return solve_all(factories, options, warm, report)

    def _has_coef_rows(self, data: FitData) -> bool:
        """Whether ``coef_`` has a row for each problem; else there is one, and it is flat."""
        raise NotImplementedError

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
        units = zip(solutions, self._objective_units(data), strict=True)
        proofs = tuple(s.certificate.scaled(unit) for s, unit in units)
        iterations = [max(int(s.n_iter), 1) for s in solutions]
        self.__dict__.pop("dual_coef_", None)
        # Rows in blocks have multipliers by exception, in `solution_` only.
        has_duals = all(isinstance(s.dual, DualPoint) for s in solutions)
        if self._is_single(len(solutions)):
            self.n_iter_, self.solver_, self.status_ = iterations[0], one.solver, str(one.status)
            self.certificate_, self.solution_ = proofs[0], one
            if has_duals:
                self.dual_coef_ = one.dual.sample
            return
        self.n_iter_ = np.array(iterations)
        self.solver_ = tuple(s.solver for s in solutions)
        self.status_ = tuple(str(s.status) for s in solutions)
        self.certificate_, self.solution_ = proofs, tuple(solutions)
        if has_duals:
            self.dual_coef_ = np.zeros((len(solutions), data.n_samples))
            for row, task, s in zip(self.dual_coef_, data.tasks, solutions, strict=True):
                row[slice(None) if task.samples is None else task.samples] = s.dual.sample

    def _is_single(self, count: int) -> bool:
        return count == 1 and not self._always_lists

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

    # ---- proving --------------------------------------------------------------------------------

    def problem(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Problem | tuple[Problem, ...]:
        """Return the problem that a fit on these data solves, without solving it.

        A CV estimator must have been fitted: its strength is the one it chose. Parameters that are
        "auto" are worked out on these data.

        Parameters
        ----------
        X, y : array-like
            As for `fit`.
        sample_weight : array-like of shape (n_samples,), optional
            As for `fit`.
        **fit_params
            What else `fit` takes, such as ``sensitive_features``.

        Returns
        -------
        Problem or tuple of Problem
            A tuple if the fit consists of several problems.
        """
        model = copy.copy(self)
        data = model._read(X, y, sample_weight, **fit_params)
        problems = [make() for make in model._problem_factories(data)]
        return problems[0] if model._is_single(len(problems)) else tuple(problems)

    def verify(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Certificate | tuple[Certificate, ...]:
        """Prove again, from the data of the fit alone, how good the fitted coefficients are.

        A pickle does not hold the multipliers of the samples, which a proof needs: after loading
        one, they are found by solving the problem again.

        Parameters
        ----------
        X, y : array-like, or rows in blocks and None
            The data of the fit.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the fit.
        **fit_params
            What else `fit` was given.

        Returns
        -------
        Certificate or tuple of Certificate
            In the units of the objective in the documentation of the class, as ``certificate_``.
        """
        again = proved_again(self, "verify", X, y, sample_weight, **fit_params)
        pairs = zip(again.solutions, again.units, strict=True)
        proofs = [solution.certificate.scaled(unit) for solution, unit in pairs]
        return proofs[0] if again.model._is_single(len(proofs)) else tuple(proofs)

    def save_certificate(
        self,
        path: str | os.PathLike[str],
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **fit_params: Any,
    ) -> None:
        """Write the proof of the fit to a file that ``rectiline verify`` checks against the data.

        The file holds all problems of the fit, in the labels, weights and names of columns that the
        data have. It is checked once before it is written.

        Parameters
        ----------
        path : str or path
            By convention with the ending ``.rlcert``.
        X, y : array-like, or rows in blocks and None
            The data of the fit. Names of a data frame and of a series are kept.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the fit.
        **fit_params
            What else `fit` was given.

        Examples
        --------
        >>> import os, tempfile
        >>> from sklearn.datasets import load_iris
        >>> import rectiline as rl
        >>> X, y = load_iris(return_X_y=True)
        >>> path = os.path.join(tempfile.mkdtemp(), "fit.rlcert")
        >>> rl.PLQClassifier().fit(X, y).save_certificate(path, X, y)
        >>> [round(one.objective, 3) for one in rl.verify.check_all(path, [(X, y)])]
        [0.748, 88.538, 15.76]
        """
        again = proved_again(self, "save_certificate", X, y, sample_weight, **fit_params)
        save_fit(path, again, y)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        inference: str | None = None,
        about: dict[str, Any] | None = None,
        **fit_params: Any,
    ) -> None:
        """Write one HTML page about the fit: score, coefficients, residuals, constraints, proof.

        The page needs no network. Its objective is that of ``certificate_``.

        Parameters
        ----------
        path : str or path
            The file to write, such as "fit.html".
        X, y : array-like
            The data of the fit.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the fit.
        inference : str, optional
            Kind of standard errors to show, as for `summary`; by default those that the fit kept in
            ``summary_``, if it did.
        about : dict of str, optional
            Lines for the top of the page, such as ``{"data": "prices.csv", "target": "price"}``.
        **fit_params
            What else `fit` was given.
        """
        from rectiline.reports import write_report

        if is_source(X):
            raise TypeError(
                "report shows residuals: it needs X and y in memory, not rows in blocks."
            )
        again = proved_again(self, "report", X, y, sample_weight, **fit_params)
        table: Any = getattr(self, "summary_", None)
        if inference is not None:
            table = self.summary(X, y, inference, sample_weight=sample_weight)
        titles = list(map(str, self._coef_titles()))
        count = len(again.problems)
        write_report(
            path,
            again.problems,
            again.solutions,
            y=y,
            inference=table,
            titles=titles if len(titles) == count else [str(k + 1) for k in range(count)],
            fairness=getattr(self, "fairness_", None),
            about={"model": type(self).__name__, **(about or {})},
            prediction=self.predict(X),
            units=again.units,
            certificate=partial(save_fit, again=again, y=y),
        )
