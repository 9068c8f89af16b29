"""The methods `problem`, `verify` and `report` of the estimators, all on the data of the fit."""

from __future__ import annotations

import copy
import os
from dataclasses import fields, replace
from itertools import cycle
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from rectiline.estimators._run import seed_of
from rectiline.problems import Certificate, Problem
from rectiline.problems.blocks import SplitDual
from rectiline.rows import is_source
from rectiline.solvers import Solution, solve

__all__ = ["GivesProblems", "in_units"]

# Fields of a certificate that are in units of the objective.
_OBJECTIVE = ("primal", "gap", "rounding", "scale")


def in_units(certificate: Certificate, factor: float) -> Certificate:
    """Return the certificate of the objective times `factor`, at the same point.

    >>> in_units(Certificate(primal=2.0, gap=0.5, violation=0.0), 0.5).primal
    1.0
    """
    names = [one.name for one in fields(certificate) if one.name in _OBJECTIVE]
    return replace(certificate, **{name: factor * getattr(certificate, name) for name in names})


def _proved_on_rows(caller: str, problem: Problem, solution: Solution) -> Certificate:
    """Return the certificate of a solution on rows in blocks, with one pass over them."""
    if not isinstance(solution.dual, SplitDual):
        raise ValueError(f"{caller} needs the data of the fit: that was arrays, these are rows.")
    if solution.coef.size != problem.n_features:
        raise ValueError(
            f"{caller} needs the data of the fit: it had {solution.coef.size} columns, these rows "
            f"have {problem.n_features}."
        )
    return problem.certify(solution)


class GivesProblems:
    """The methods `problem`, `verify` and `report`.

    A subclass has ``_problems(X, y, sample_weight, ...)``, which returns the problems of a fit. It
    may set attributes, for it is called on a copy.
    """

    _problems: Any
    certificate_: Any  # a Certificate, or one for each problem

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
        problems = model._problems(X, y, sample_weight, **fit_params)
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
        model, problems, solutions = self._proved_again("verify", X, y, sample_weight, fit_params)
        proofs = [
            in_units(solution.certificate, model._objective_unit(problem))
            for problem, solution in zip(problems, solutions, strict=True)
        ]
        return proofs[0] if model._is_single(len(proofs)) else tuple(proofs)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        inference: str | None = None,
        **fit_params: Any,
    ) -> None:
        """Write one HTML page about the fit: problem, proof, coefficients, residuals.

        The page needs no network. Objectives on it are sums over the samples, as the formula at its
        top says.

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
        **fit_params
            What else `fit` was given.
        """
        if is_source(X):
            raise TypeError(
                "report shows residuals: it needs X and y in memory, not rows in blocks."
            )
        model, problems, solutions = self._proved_again("report", X, y, sample_weight, fit_params)
        table: Any = getattr(self, "summary_", None)
        if inference is not None:
            table = self.summary(X, y, inference, sample_weight=sample_weight)  # type: ignore[attr-defined]
        from rectiline.reports import write_report

        write_report(
            path,
            problems,
            solutions,
            y=y,
            feature_names=model._problem_columns(),
            inference=table,
            titles=model._problem_titles(len(problems)),
            fairness=getattr(self, "fairness_", None),
        )

    def _proved_again(
        self, caller: str, X: Any, y: Any, sample_weight: Any, fit_params: dict[str, Any]
    ) -> tuple[Any, list[Problem], list[Solution]]:
        """Return a copy of the model, the problems of the fit, and its answers certified anew."""
        check_is_fitted(self)
        model = copy.copy(self)
        problems = model._problems(X, y, sample_weight, **fit_params)
        kept: Any = self.solution_  # type: ignore[attr-defined]
        solutions: list[Solution] = [kept] if isinstance(kept, Solution) else list(kept)
        proved = []
        for problem, solution in zip(problems, solutions, strict=True):
            if not problem.is_in_memory:
                proof = _proved_on_rows(caller, problem, solution)
                proved.append(replace(solution, certificate=proof))
                continue
            if isinstance(solution.dual, SplitDual):
                raise ValueError(f"{caller} needs the data of the fit: that was rows in blocks.")
            had = solution.dual.sample.size
            if had == 0 and solution.coef.size == problem.n_features:
                solution = self._with_multipliers(problem, solution)
                had = problem.n_samples
            if had != problem.n_samples or solution.coef.size != problem.n_features:
                raise ValueError(
                    f"{caller} needs the data of the fit: it had {had} samples and "
                    f"{solution.coef.size} coefficients, these data have {problem.n_samples} and "
                    f"{problem.n_features}."
                )
            coef, intercept = model._verified_point(problem, solution)
            proof = problem.certify(coef, intercept, solution.dual)
            proved.append(replace(solution, coef=coef, intercept=intercept, certificate=proof))
        return model, problems, proved

    def _with_multipliers(self, problem: Problem, solution: Solution) -> Solution:
        """Return the solution with multipliers found anew: a pickle does not hold those of a fit.

        Any multipliers prove something about the fitted coefficients, whoever found them.
        """
        tol, seed = self.tol, seed_of(self.random_state)  # type: ignore[attr-defined]
        found = solve(problem, tol=tol, random_state=seed, polish=True)
        return replace(solution, dual=found.dual)

    def _state_certificates_in(self, *units: float) -> None:
        """State ``certificate_`` in one unit, or in one for each problem of the fit."""
        proofs = self.certificate_
        several = isinstance(proofs, tuple)
        made = [
            in_units(one, unit) for one, unit in zip(proofs if several else [proofs], cycle(units))
        ]
        self.certificate_ = tuple(made) if several else made[0]

    def _problem_columns(self) -> list[str] | None:
        """Return names of the columns of the problems where the problems do not know them."""
        return None

    def _problem_titles(self, count: int) -> list[str]:
        """Return what each problem of the fit is about."""
        titles = list(map(str, self._coef_titles()))  # type: ignore[attr-defined]
        return titles if len(titles) == count else [str(k + 1) for k in range(count)]

    def _is_single(self, count: int) -> bool:
        return count == 1 and not getattr(self, "_always_lists", False)

    def _verified_point(self, problem: Problem, solution: Solution) -> tuple[Any, float]:
        """Return coefficients and intercept of the fit in the columns of its problem."""
        return solution.coef, solution.intercept

    def _objective_unit(self, problem: Problem) -> float:
        """Return the documented objective as a multiple of the problem's."""
        return 1.0
