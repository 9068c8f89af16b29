"""What the estimators' parameters may be, and the objects that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from numbers import Integral, Real
from sys import float_info
from typing import Any, TypedDict, TypeVar, cast

import numpy as np
from sklearn.utils._param_validation import Interval, Options, StrOptions

from rectiline import losses, penalties
from rectiline.losses import Loss
from rectiline.paths import adaptive_weights
from rectiline.penalties import L1, PENALTIES, Fused, Penalty
from rectiline.problems import Problem

_MOST = float_info.max  # so that 10**400, which is no double, is refused by name
POSITIVE = Interval(Real, 0, _MOST, closed="neither")
_NOT_NEGATIVE = Interval(Real, 0, _MOST, closed="left")
_COUNT_OR_LIST = [Interval(Integral, 1, 10**6, closed="both"), "array-like"]
_SHARE = Interval(Real, 0, 1, closed="both")
_TOLERANCE = Interval(Real, 0, 1, closed="neither")

# The one table of parameters: an estimator has those that its constructor names. Where one allows
# something else, its class says so in `_own_rules`.
PARAMETER_RULES: dict[str, list[Any]] = {
    # what is minimised
    "loss": [str, Loss, type],  # for a class in place of an object there is a better message
    "loss_params": [dict, None],
    "quantile": [Interval(Real, 0, 1, closed="neither"), "array-like"],
    "levels": _COUNT_OR_LIST,
    "penalty": [str, Penalty, Fused, type, None],
    "penalty_params": [dict, None],
    "C": [POSITIVE],
    "alpha": [_NOT_NEGATIVE],
    "l1_ratio": [_SHARE],
    "constraints": ["array-like", dict, object],
    "positive": ["boolean"],
    "monotone": [dict, "array-like", None],
    "order": ["array-like", None],
    "fixed_effects": ["array-like", str, Integral, None],
    "effects_l1": [_NOT_NEGATIVE],
    "categorical": [StrOptions({"onehot"}), None],
    "missing": [StrOptions({"error", "drop"})],
    "new_levels": [StrOptions({"error", "zero", "mean"})],
    "fit_intercept": ["boolean"],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "multi_class": [StrOptions({"ovr", "ovo"})],
    "non_crossing": ["boolean", StrOptions({"box"})],
    "shared_slopes": ["boolean"],
    "shared_dim": [Interval(Integral, 1, None, closed="left")],
    "beta": [POSITIVE],
    "center": ["boolean"],
    # what is computed besides
    "calibration": [StrOptions({"sigmoid", "isotonic"}), None],
    "inference": [str, None],
    # the grid of a search
    "Cs": _COUNT_OR_LIST,
    "alphas": _COUNT_OR_LIST,
    "l1_ratios": ["array-like", None],
    "shared_dims": ["array-like", None],
    "betas": ["array-like"],
    "cv": ["cv_object"],
    "scoring": [str, callable, None],
    "fold_tol": [_TOLERANCE, None],
    # how the fit runs
    "solver": [str],
    "solver_options": [dict, None],
    "tol": [_TOLERANCE],
    "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    "time_limit": [POSITIVE, None],
    "warm_start": ["boolean"],
    "n_jobs": [Interval(Integral, 1, 2**16, closed="both"), Options(Integral, {-1}), None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
    "progress_bar": ["boolean"],
    "callback": [callable, None],
}

_PENALTY_PARAMS = {
    "group": {"groups"},
    "l1": {"weights", "power"},
    "slope": {"q", "strengths"},
    "sparse_group": {"groups"},
}


# ---- parameters that constructors share ----------------------------------------------------------

Constructor = TypeVar("Constructor", bound=Callable[..., None])


class RunParameters(TypedDict, total=False):
    """How a fit runs: parameters of every estimator."""

    fit_intercept: bool
    solver: str
    solver_options: dict[str, Any] | None
    tol: float
    max_iter: int | None
    time_limit: float | None
    n_jobs: int | None
    random_state: Any
    verbose: int
    progress_bar: bool
    callback: Any


class TaskParameters(RunParameters, total=False):
    """What the tasks of a multi-task model share besides."""

    center: bool
    constraints: Any
    warm_start: bool


class TableParameters(RunParameters, total=False):
    """What becomes of texts and missing cells besides: parameters of all but multi-task models."""

    categorical: str | None
    missing: str
    new_levels: str


class TermParameters(TableParameters, total=False):
    """Penalty, constraints and effects besides: of the regressors and the classifier."""

    penalty: str | Penalty | Fused | None
    penalty_params: dict[str, Any] | None
    constraints: Any
    positive: bool
    monotone: dict[Any, int] | None
    order: Any
    fixed_effects: Any
    effects_l1: float


# Where the default is not None.
_DEFAULTS: dict[str, Any] = {
    "fit_intercept": True,
    "solver": "auto",
    "tol": 1e-6,
    "verbose": 0,
    "progress_bar": False,
    "center": False,
    "warm_start": False,
    "penalty": "l2",
    "constraints": (),
    "positive": False,
    "effects_l1": 0.0,
    "missing": "error",
    "new_levels": "error",
}


def keeps_parameters(shared: Any = None, **defaults: Any) -> Callable[[Constructor], Constructor]:
    """Make a constructor set every parameter as it was given, as scikit-learn expects.

    Its signature also gets the names of `shared`, one of the dictionaries above, which stand for
    its own ``**shared``; `defaults` are those that this estimator has in place of the usual ones,
    or of those that were declared.
    """
    known = _DEFAULTS | defaults
    names = () if shared is None else shared.__annotations__
    more = [Parameter(one, Parameter.KEYWORD_ONLY, default=known.get(one)) for one in names]

    def keeps(declared: Constructor) -> Constructor:
        given = [one for one in signature(declared).parameters.values() if one.name != "shared"]
        own = [one.replace(default=defaults.get(one.name, one.default)) for one in given]
        full = Signature([*own, *more])

        @wraps(declared)
        def __init__(self: Any, *args: Any, **named: Any) -> None:
            bound = full.bind(self, *args, **named)
            bound.apply_defaults()
            for name, value in bound.arguments.items():
                if name != "self":
                    setattr(self, name, value)

        __init__.__signature__ = full  # type: ignore[attr-defined]
        return cast(Constructor, __init__)

    return keeps


def make_loss(loss: str | Loss, params: Mapping[str, Any] | None, of: tuple[str, ...]) -> Loss:
    """Return the loss that ``loss`` and ``loss_params`` describe, checked to suit the estimator."""
    made = losses.get(loss, **(params or {}))
    if made.of not in of:
        other = {"margin": "PLQClassifier", "residual": "PLQRegressor"}.get(made.of)
        raise ValueError(
            f"loss={loss!r} is a loss of the {made.of}; this estimator takes losses of the "
            f"{' or '.join(of)}.{f' Use {other}.' if other else ''}"
        )
    return made


def make_penalty(model: Any, strength: float, l1_ratio: float) -> Penalty | Fused | None:
    """Return the penalty that the parameters of a model describe, at the given strength.

    It is about the columns that are no fixed effects. An object keeps its own strength, times the
    given one.
    """
    penalty: Any = model.penalty
    given = dict(getattr(model, "penalty_params", None) or {})
    if isinstance(penalty, str) and penalty in PENALTIES:
        allowed = _PENALTY_PARAMS.get(penalty, set())
        unknown = sorted(set(given) - allowed)
        if unknown:
            raise ValueError(
                f"penalty_params: penalty={penalty!r} takes {sorted(allowed) or 'no parameters'}; "
                f"got {unknown}."
            )
        if "groups" in allowed and "groups" not in given:
            raise ValueError(
                f"penalty={penalty!r} needs penalty_params={{'groups': ...}}: one label per "
                "column, a mapping such as {'g1': ['a', 'b']}, or disjoint lists of columns."
            )
        _read_weights(given)
    elif given:
        raise ValueError(
            f"penalty_params={given!r} goes with a penalty by name; got penalty={penalty!r}."
        )
    if isinstance(penalty, Fused):
        return penalty if strength == 1.0 else penalty.with_strength(strength * penalty.strength)
    n_plain, names = model._plain_columns()
    given |= {"strength": strength, "l1_ratio": l1_ratio, "names": names}
    return penalties.get(penalty, n_plain, **given)


def _read_weights(given: dict[str, Any]) -> None:
    """Check the weights of "l1"; those that come from a first fit are for the fit to find."""
    weights, power = given.get("weights"), given.pop("power", None)
    adaptive = isinstance(weights, str)
    if adaptive and weights != "adaptive":
        raise ValueError(
            f"penalty_params: weights={weights!r} must be one number per column, a mapping from "
            "column to weight, or 'adaptive'."
        )
    if power is not None and not adaptive:
        raise ValueError("penalty_params: 'power' goes with weights='adaptive'.")
    if adaptive:
        del given["weights"]


# ---- weights of an L1 penalty from a first fit: penalty_params={"weights": "adaptive"} -----------


def is_adaptive(estimator: Any) -> bool:
    """Whether the weights of the penalty come from a first fit."""
    weights = (getattr(estimator, "penalty_params", None) or {}).get("weights")
    return isinstance(weights, str)  # what it says is checked with the other parameters


def adapted(estimator: Any, problem: Problem) -> Problem:
    """Return the problem under its L1 penalty with weights from a first fit, if these are asked."""
    if not is_adaptive(estimator) or problem.penalty is None:
        return problem
    weights = adaptive_weights(problem, estimator.penalty_params.get("power", 1.0))
    return problem.with_penalty(L1(problem.penalty.strength, weights))


def adapted_problems(estimator: Any, problems: list[Problem], by_row: bool) -> list[Problem]:
    """Return the problems with their weights, which become ``penalty_weights_``.

    With `by_row` the attribute has a row for each problem.
    """
    vars(estimator).pop("penalty_weights_", None)
    problems = [adapted(estimator, one) for one in problems]
    if is_adaptive(estimator):
        found = [one.penalty.weights for one in problems if isinstance(one.penalty, L1)]
        if found:
            estimator.penalty_weights_ = np.array(found) if by_row else found[0]
    return problems
