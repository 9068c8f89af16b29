"""What a fit proves: its problems, certificates from the data alone, files and a report of them."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from rectiline.estimators._base import BaseLinear
from rectiline.estimators._rows import refuse_on_rows, with_targets
from rectiline.estimators._run import seed_of
from rectiline.estimators._saved import save_fit
from rectiline.problems import Certificate, Problem
from rectiline.problems.blocks import SplitDual
from rectiline.rows import TensorRows
from rectiline.solvers import Solution, solve

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class ProvedAgain:
    """A copy of a model with the problems of its fit, its answers certified anew, and their units.

    What the fit noted about the data is noted on the copy again.
    """

    model: Any
    problems: list[Problem]
    solutions: list[Solution]
    units: list[float]
    data: Any


def proved_again(
    estimator: Any, caller: str, X: Any, y: Any, *given: Any, **named: Any
) -> ProvedAgain:
    """Return what the data of a fit prove about its coefficients; `caller` is for messages."""
    check_is_fitted(estimator)
    model = copy.copy(estimator)
    data = model._read(X, y, *given, **named)
    problems = model._problems(data)
    kept = estimator.solution_
    listed = [kept] if isinstance(kept, Solution) else list(kept)
    pairs = zip(problems, listed, strict=True)
    solutions = [_proved(model, caller, problem, solution) for problem, solution in pairs]
    return ProvedAgain(model, problems, solutions, model._objective_units(data), data)


def _proved(model: Any, caller: str, problem: Problem, solution: Solution) -> Solution:
    """Return a solution with the certificate that these data prove."""
    needs = f"{caller} needs the data of the fit:"
    if not problem.is_in_memory:
        if not isinstance(solution.dual, SplitDual):
            raise ValueError(f"{needs} that was arrays, these are rows.")
        if solution.coef.size != problem.n_features:
            raise ValueError(
                f"{needs} it had {solution.coef.size} columns, these rows have "
                f"{problem.n_features}."
            )
        return replace(solution, certificate=problem.certify(solution))
    if isinstance(solution.dual, SplitDual):
        raise ValueError(f"{needs} that was rows in blocks.")
    had = solution.dual.sample.size
    if had == 0 and solution.coef.size == problem.n_features:
        # A pickle does not hold the multipliers of a fit. Any multipliers prove something about
        # the fitted coefficients, whoever found them.
        seed = seed_of(model.random_state)
        found = solve(problem, tol=model.tol, random_state=seed, polish=True)
        solution, had = replace(solution, dual=found.dual), problem.n_samples
    if had != problem.n_samples or solution.coef.size != problem.n_features:
        raise ValueError(
            f"{needs} it had {had} samples and {solution.coef.size} coefficients, these data have "
            f"{problem.n_samples} and {problem.n_features}."
        )
    proof = problem.certify(solution.coef, solution.intercept, solution.dual)
    return replace(solution, certificate=proof)


class ProofMixin(BaseLinear):
    """The problems of a fit and proofs about its coefficients."""

    _always_lists = False  # whether one problem still stands for a list of length one

    def _is_single(self, count: int) -> bool:
        return count == 1 and not self._always_lists

    def _told(self, values: Iterable[Value]) -> Value | tuple[Value, ...]:
        """Return what is known of each problem: a tuple, or the value itself if there is one."""
        listed = tuple(values)
        return listed[0] if self._is_single(len(listed)) else listed

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
        problems = model._problems(data)
        return model._told(problems)

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
        return self._told(solution.certificate.scaled(unit) for solution, unit in pairs)

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
        y: ArrayLike | None = None,
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
        X, y : array-like, or rows in blocks and None
            The data of the fit. Of rows in blocks the targets and predictions are held in memory.
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

        again = proved_again(self, "report", X, y, sample_weight, **fit_params)
        table: Any = getattr(self, "summary_", None)
        if inference is not None:
            table = self.summary(X, y, inference, sample_weight=sample_weight)
        if again.data.rows is not None:
            refuse_on_rows(self, **{"a report of rows on a GPU": isinstance(X, TensorRows)})
            _, y, _ = with_targets(again.data.rows, None, None)
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
