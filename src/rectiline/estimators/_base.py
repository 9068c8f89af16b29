"""The base of all linear estimators: a fit reads, makes problems, solves them and stores."""

from __future__ import annotations

import copy
import os
import sys
import warnings
from collections.abc import Iterable
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rectiline._frames import coefficient_frame
from rectiline._polling import Clock
from rectiline.estimators import _proofs as proofs
from rectiline.estimators._check import column_names, own_names
from rectiline.estimators._docs import with_sections
from rectiline.estimators._parameters import PARAMETER_RULES, keeps_parameters
from rectiline.estimators._rows import refuse_on_rows, with_targets
from rectiline.estimators._show import CallbackSupportMixin, certificate_html, visual_block
from rectiline.exceptions import NoAnswerError
from rectiline.problems import Certificate, Problem
from rectiline.rows import TensorRows

if TYPE_CHECKING:
    import pandas as pd


Value = TypeVar("Value")

_VERSION = "_rectiline_version"  # of the library that saved a pickle


class BaseLinear(CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """A linear model that is fitted by solving one problem or several.

    The parameters are those of the constructor, checked by the table in `_parameters`. A subclass
    says how data are checked and read into tasks (`_read`), what their problems are (`_problems`),
    how these are solved (`_solve_tasks`, which returns the data, with what was found out about
    them, and the answers) and what a fit leaves behind (`_set_fitted`).
    """

    _own_rules: ClassVar[dict[str, list[Any]]] = {}  # where a parameter may be something else
    _always_lists = False  # whether one problem still stands for a list of length one
    _numeric_targets = True
    _multi_output = False

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    coef_: NDArray[np.float64]
    intercept_: Any
    certificate_: Any  # of one problem, or a tuple with one for each; so are the next
    solution_: Any
    solver_: Any
    status_: Any
    n_iter_: Any

    # ---- parameters -----------------------------------------------------------------------------

    def __init_subclass__(cls, **defaults: Any) -> None:
        """Fill the sections of the docstring; `defaults` replace those of the constructor."""
        super().__init_subclass__()
        cls.__doc__ = with_sections(cls.__doc__ or "") or None
        if defaults:
            cls.__init__ = keeps_parameters(**defaults)(cls.__init__)  # type: ignore[method-assign]

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also of the loss (``loss__delta``), which is replaced by another one."""
        of_loss = {name[6:]: params.pop(name) for name in list(params) if name[:6] == "loss__"}
        super().set_params(**params)
        if of_loss:
            loss: Any = getattr(self, "loss", None)
            if not hasattr(loss, "set_params"):
                raise ValueError(
                    f"loss__{next(iter(of_loss))}: loss={loss!r} is no object with parameters; "
                    "give one such as rectiline.losses.Huber(), or set loss_params."
                )
            self.loss = loss.set_params(**of_loss)
        return self

    @property
    def _parameter_constraints(self) -> dict[str, list[Any]]:
        rules = PARAMETER_RULES | self._own_rules
        return {name: rules[name] for name in self._get_param_names() if name in rules}

    @property
    def _n_effects(self) -> int:
        """Columns of X that are fixed effects, the last ones."""
        return int(getattr(getattr(self, "encoder_", None), "n_effects", 0))

    def _is_single(self, count: int) -> bool:
        return count == 1 and not self._always_lists

    def _one_or_all(self, values: Iterable[Value]) -> Value | tuple[Value, ...]:
        """Return what is known of each problem: a tuple, or the value itself if there is one."""
        listed = tuple(values)
        return listed[0] if self._is_single(len(listed)) else listed

    def _run_solver(self) -> str:
        """Return the name for `rectiline.solve`."""
        return str(self.solver)

    # ---- fitting --------------------------------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any, *given: Any, **params: Any) -> Self:
        """Read the data, solve their problems, and set the fitted attributes.

        `given` is what else belongs to the data, `params` what a search sends to its splitter.
        """
        clock = Clock.with_grace(self.time_limit)
        try:
            data = self._read(X, y, sample_weight, *given, **params)
            data, solutions = self._solve_tasks(data, clock)
        except NoAnswerError as error:
            if self.time_limit is None:
                raise
            # Solvers know what was left of the limit alone.
            raise NoAnswerError(
                f"time_limit={self.time_limit!r}: the time was up before a first answer was known."
            ) from error
        self._set_fitted(data, solutions)
        return self

    def _note_solutions(self, solutions: list[Any], units: list[float]) -> None:
        """Set how the problems were solved, and the proofs in the units of the objective."""
        pairs = zip(solutions, units, strict=True)
        self.certificate_ = self._one_or_all(s.certificate.scaled(unit) for s, unit in pairs)
        self.solver_ = self._one_or_all(s.solver for s in solutions)
        self.status_ = self._one_or_all(str(s.status) for s in solutions)
        self.solution_ = self._one_or_all(solutions)
        iterations = self._one_or_all(max(int(s.n_iter), 1) for s in solutions)
        self.n_iter_ = iterations if isinstance(iterations, int) else np.array(iterations)

    # ---- what a fitted model shows and keeps ----------------------------------------------------

    def coef_frame(self, names: Any = None) -> pd.DataFrame:
        """Return the coefficients and intercepts as a pandas data frame.

        Parameters
        ----------
        names : array-like of str, optional
            Names of the columns of X, where X had none, such as ``get_feature_names_out()`` of a
            transformer.

        Returns
        -------
        pandas.DataFrame
            One row per column of X, by name where X had names, and a last row "(intercept)". One
            column per problem of the fit: "coef" if there is one, otherwise its class, pair of
            classes, output, quantile or task.
        """
        check_is_fitted(self)
        names = column_names(self) if names is None else names
        caller = f"{type(self).__name__}.coef_frame"
        return coefficient_frame(self.coef_, self.intercept_, names, self._coef_titles(), caller)

    def _coef_titles(self) -> list[Any]:
        """Return what the rows of ``coef_`` are about."""
        count = np.atleast_2d(self.coef_).shape[0]
        return ["coef"] if np.ndim(self.coef_) == 1 else list(range(count))

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
        problems = model._problems(model._read(X, y, sample_weight, **fit_params))
        return model._one_or_all(problems)

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
        again = proofs.proved_again(self, "verify", X, y, sample_weight, **fit_params)
        pairs = zip(again.solutions, again.units, strict=True)
        return self._one_or_all(solution.certificate.scaled(unit) for solution, unit in pairs)

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
        again = proofs.proved_again(self, "save_certificate", X, y, sample_weight, **fit_params)
        proofs.save_fit(path, again, y)

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

        again = proofs.proved_again(self, "report", X, y, sample_weight, **fit_params)
        table: Any = getattr(self, "summary_", None)
        if inference is not None:
            table = self.summary(X, y, inference, sample_weight=sample_weight)
        shown = self._shown(again)
        targets, prediction = self._scored(again.data, X, y)
        titles = list(map(str, self._coef_titles()))
        count = len(shown.problems)
        facts = {"model": " ".join(repr(self).split())}
        if (names := own_names(y)) is not None:
            facts["target"] = ", ".join(names)
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
            certificate=partial(proofs.save_fit, again=again, y=y),
            search=getattr(self, "cv_results_", None),
            joint=shown.joint,
        )

    def _dual_coef(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Return the multipliers of the samples; found again if a pickle has lost them."""
        if hasattr(self, "dual_coef_"):
            return self.dual_coef_
        again = proofs.proved_again(self, "summary", X, y, sample_weight)
        return again.data.dual_coef(again.solutions)

    def _shown(self, again: proofs.ProvedAgain) -> proofs.ProvedAgain:
        """Return the models that a page shows, with problems of their own."""
        return again

    def _scored(self, data: Any, X: Any, y: Any) -> tuple[Any, Any]:
        """Return the targets and what is predicted for them."""
        if data.rows is not None:
            refuse_on_rows(self, **{"a report of rows on a GPU": isinstance(X, TensorRows)})
            _, y, _ = with_targets(data.rows, None, None)
        return y, self.predict(X)

    def _sk_visual_block_(self) -> Any:
        return visual_block(self)

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + certificate_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += certificate_html(self)
        return bundle

    def __getstate__(self) -> Any:
        state = {**super().__getstate__(), _VERSION: _library_version()}
        # A fit that is to be continued needs the multipliers.
        return state if getattr(self, "warm_start", False) else proofs.without_multipliers(state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the attributes of a pickle; parameters that are newer have their defaults."""
        saved_by = state.get(_VERSION, "0.2.0 or earlier")
        if saved_by != _library_version():
            warnings.warn(
                f"This {type(self).__name__} was saved by rectiline {saved_by} and is loaded by "
                f"{_library_version()}. Its predictions are the same; to verify or to continue "
                "it, fit it again.",
                UserWarning,
                stacklevel=2,
            )
        parameters = signature(type(self).__init__).parameters.values()
        defaults = {one.name: one.default for one in parameters if one.name != "self"}
        kept = {name: value for name, value in state.items() if name != _VERSION}
        super().__setstate__(defaults | kept)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = self._multi_output
        return tags


def _library_version() -> str:
    return str(sys.modules["rectiline"].__version__)
