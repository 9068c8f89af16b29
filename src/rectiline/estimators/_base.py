"""The base of all linear estimators: a fit reads, makes problems, solves them and stores."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils.validation import check_is_fitted

from rectiline._frames import coefficient_frame
from rectiline._polling import Clock
from rectiline._thread_count import using_threads
from rectiline.estimators._check import column_names, fitted_like, on_host
from rectiline.estimators._parameters import PARAMETER_RULES
from rectiline.estimators._show import CallbackSupportMixin, certificate_html, visual_block
from rectiline.exceptions import NoAnswerError
from rectiline.problems import DualPoint
from rectiline.problems.blocks import SplitDual

if TYPE_CHECKING:
    import pandas as pd


Method = TypeVar("Method", bound=Callable[..., Any])
Value = TypeVar("Value")

_VERSION = "_rectiline_version"  # of the library that saved a pickle

# scikit-learn keeps these on the estimator while a fit runs and takes them off itself.
_NOT_OURS = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")


class BaseLinear(CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """A linear model that is fitted by solving one problem or several.

    The parameters are those of the constructor, checked by the table in `_parameters`. A subclass
    says how data are read into tasks (`_read`), how these are solved (`_solve_tasks`) and what a
    fit leaves behind (`_set_fitted`).
    """

    _own_rules: ClassVar[dict[str, list[Any]]] = {}  # where a parameter may be something else
    _always_lists = False  # whether one problem still stands for a list of length one

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

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters, read off the constructor once for each class."""
        kind: Any = cls
        return list(_parameter_names(kind))

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
        kind: Any = type(self)
        return _rules_of(kind)

    @property
    def _n_effects(self) -> int:
        """Columns of X that are fixed effects, the last ones."""
        return int(getattr(getattr(self, "encoder_", None), "n_effects", 0))

    def _is_single(self, count: int) -> bool:
        return count == 1 and not self._always_lists

    def _told(self, values: Iterable[Value]) -> Value | tuple[Value, ...]:
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
            data = self._read(X, y, sample_weight, *given)
            data, solutions = self._solve_tasks(data, clock, **params)
        except NoAnswerError as error:
            if self.time_limit is None:
                raise
            # Solvers know what was left of the limit alone.
            raise NoAnswerError(
                f"time_limit={self.time_limit!r}: the time was up before a first answer was known."
            ) from error
        self._set_fitted(data, solutions)
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any, *given: Any) -> Any:
        """Check what fit was given; note the columns of X."""
        raise NotImplementedError

    def _solve_tasks(self, data: Any, clock: Clock, **params: Any) -> tuple[Any, list[Any]]:
        """Return the data, with what was found out about them, and the answers."""
        raise NotImplementedError

    def _set_fitted(self, data: Any, solutions: list[Any]) -> None:
        """Set the fitted attributes."""
        raise NotImplementedError

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
        return state if getattr(self, "warm_start", False) else _without_multipliers(state)

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
        return tags


def _library_version() -> str:
    return str(sys.modules["rectiline"].__version__)


@cache
def _parameter_names(kind: Any) -> list[str]:
    return list(BaseEstimator._get_param_names.__func__(kind))


@cache
def _rules_of(kind: Any) -> dict[str, list[Any]]:
    """Return what the parameters of a class may be."""
    rules = PARAMETER_RULES | kind._own_rules
    return {name: rules[name] for name in _parameter_names(kind) if name in rules}


def checked_fit(method: Method) -> Method:
    """Check the parameters of an estimator before its fit; leave it as it was if the fit fails.

    What overflows inside a fit is not finite and never counts as solved; NumPy need not warn.
    Tensors in the memory of the host are taken as arrays. Compiled loops use `n_jobs` threads,
    where the fit does not use them for several problems side by side.
    """

    @wraps(method)
    def fit(self: Any, X: Any, *rest: Any, **named: Any) -> Any:
        named = {name: on_host(value) for name, value in named.items()}
        n_jobs = getattr(self, "n_jobs", None)
        threads = using_threads(None if n_jobs is None else effective_n_jobs(n_jobs))
        with _restored_on_failure(self), np.errstate(all="ignore"), threads:
            fitted = method(self, on_host(X), *map(on_host, rest), **named)
        fitted_like(self, X)
        return fitted

    return cast(Method, _fit_context(prefer_skip_nested_validation=True)(fit))


@contextmanager
def _restored_on_failure(estimator: Any) -> Iterator[None]:
    """Put every attribute back if the block raises."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        running = {name: vars(estimator)[name] for name in _NOT_OURS if name in vars(estimator)}
        vars(estimator).clear()
        vars(estimator).update(before | running)
        raise


def _without_multipliers(state: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes for a pickle: those of the model, and nothing that grows with the data.

    The multipliers of the samples prove the certificate of the fit; predictions need none of them.
    """
    kept = {name: value for name, value in state.items() if name != "dual_coef_"}
    if "solution_" in kept:
        kept["solution_"] = _light(kept["solution_"])
    return kept


def _light(value: Any) -> Any:
    """Return solutions, of one problem or several tasks, or duals, without rows' multipliers."""
    if isinstance(value, list | tuple):
        return type(value)(map(_light, value))
    if isinstance(value, SplitDual):
        return replace(value, rows=np.zeros(0, dtype=np.int64), values=np.zeros(0))
    if isinstance(value, DualPoint):
        return replace(value, sample=np.zeros(0))
    return replace(value, dual=_light(value.dual))
