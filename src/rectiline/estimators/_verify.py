"""The problems of a fit, their proofs, and the page about it, as methods of the estimators."""

from __future__ import annotations

import copy
import os
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from rectiline.estimators._base import BaseLinear
from rectiline.estimators._check import column_names
from rectiline.estimators._proofs import ProvedAgain, proved_again
from rectiline.estimators._rows import refuse_on_rows, with_targets
from rectiline.estimators._saved import save_fit, target_names
from rectiline.problems import Certificate, Problem
from rectiline.rows import TensorRows


class VerifyMixin(BaseLinear):
    """What a fitted model tells about its problems and their proofs, given the data again."""

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
        shown = self._shown(again)
        targets, prediction = self._scored(again.data, X, y)
        titles = list(map(str, self._coef_titles()))
        count = len(shown.problems)
        facts = {"model": " ".join(repr(self).split())}
        if target_names(y) is not None:
            facts["target"] = ", ".join(target_names(y) or ())
        write_report(
            path,
            shown.problems,
            shown.solutions,
            y=targets,
            feature_names=column_names(self),
            inference=table,
            titles=titles if len(titles) == count else [str(k + 1) for k in range(count)],
            fairness=getattr(self, "fairness_", None),
            about=facts | (about or {}),
            prediction=prediction,
            units=again.units,
            certificate=partial(save_fit, again=again, y=y),
            search=getattr(self, "cv_results_", None),
            joint=shown.joint,
        )

    def _dual_coef(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Return the multipliers of the samples; found again if a pickle has lost them."""
        if hasattr(self, "dual_coef_"):
            return self.dual_coef_
        again = proved_again(self, "summary", X, y, sample_weight)
        return again.data.dual_coef(again.solutions)

    def _shown(self, again: ProvedAgain) -> ProvedAgain:
        """Return the models that a page shows, with problems of their own."""
        return again

    def _scored(self, data: Any, X: Any, y: Any) -> tuple[Any, Any]:
        """Return the targets and what is predicted for them."""
        if data.rows is not None:
            refuse_on_rows(self, **{"a report of rows on a GPU": isinstance(X, TensorRows)})
            _, y, _ = with_targets(data.rows, None, None)
        return y, self.predict(X)
