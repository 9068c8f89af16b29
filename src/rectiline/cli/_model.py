"""Model files of the command (readable JSON that keeps every number), and what options mean."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import rectiline as rl
from rectiline import losses, penalties
from rectiline.backends import TableEncoder, split_level
from rectiline.constraints import named_constraints
from rectiline.estimators import PLQClassifier, PLQRegressor
from rectiline.problems import Certificate, DualPoint
from rectiline.solvers import Solution, Status

_FORMAT = {"format": "rectiline-model", "version": 2}
_HEADER = (*_FORMAT, "library")


def make_estimator(terms: dict[str, Any], names: list[str], is_classifier: bool) -> Any:
    """Return the estimator that the options of a fit describe, with its own defaults."""
    columns: Any = {"names": np.array(names, dtype=object), "n_features": len(names)}
    options: dict[str, Any] = {
        "categorical": "onehot",
        "constraints": named_constraints(terms["constraints"], owner="--constraint", **columns),
        "fit_intercept": terms["intercept"],
        "tol": terms["tol"],
        "time_limit": terms.get("time_limit"),
    }
    if terms["loss"] is not None:
        options["loss"] = read_loss(terms["loss"])
    if terms["penalty"] is not None:
        options |= {"penalty": read_penalty(terms["penalty"], len(names)), "C": 1.0}
    if terms.get("C") is not None:
        options["C"] = terms["C"]
    return (PLQClassifier if is_classifier else PLQRegressor)(**options)


@dataclass(frozen=True)
class Model:
    """A fitted linear model and how it was made.

    JSON writes the shortest decimal that reads back as the same double, so nothing is lost.
    """

    names: list[str]  # features; "city=Rome" is 1 where the column city holds Rome
    coef: list[list[float]]  # a row for each problem of the fit
    intercept: list[float]
    classes: list[Any] | None  # labels of a classifier
    terms: dict[str, Any]  # options of the fit, as they were written
    result: dict[str, Any] = field(default_factory=dict)  # what JSON output shows

    @classmethod
    def of(cls, fitted: Any, names: Sequence[str], terms: dict[str, Any]) -> Model:
        """Return the model of a fitted estimator whose columns have these names."""
        coef, intercept = np.atleast_2d(fitted.coef_), np.atleast_1d(fitted.intercept_)
        classes = fitted.classes_.tolist() if hasattr(fitted, "classes_") else None
        return cls(list(map(str, names)), coef.tolist(), intercept.tolist(), classes, terms)

    def save(self, path: Path) -> None:
        """Write the model; "-" is the standard output."""
        header = {**_FORMAT, "library": f"rectiline {rl.__version__}"}
        text = json.dumps(header | asdict(self), indent=1) + "\n"
        if str(path) == "-":
            sys.stdout.write(text)
        else:
            path.write_text(text, "utf-8")

    @classmethod
    def load(cls, path: Path) -> Model:
        """Read a model; ValueError says what is wrong with the file."""
        try:
            content = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            raise ValueError(f"{path}: there is no such file.") from None
        except OSError as error:
            raise ValueError(f"{path}: the file cannot be read: {error.strerror}.") from None
        except (ValueError, RecursionError):  # neither text nor JSON, or nested without end
            raise ValueError(f"{path}: this is not a model file.") from None
        if not isinstance(content, dict) or content.get("format") != _FORMAT["format"]:
            raise ValueError(f"{path}: this is not a model file.")
        if content.get("version") not in (1, 2) or isinstance(content["version"], bool):
            raise ValueError(f"{path}: it was written by another version of rectiline.")
        parts = {name: value for name, value in content.items() if name not in _HEADER}
        parts = _of_first_version(parts) if content["version"] == 1 else parts
        wrong = _first_wrong_part(parts)
        if wrong is not None:
            raise ValueError(f"{path}: the model file is damaged: {wrong}.")
        return cls(**parts)

    @property
    def columns(self) -> list[str]:
        """The columns of tables that the features are made of.

        Files that do not list them were written when no name of a column could hold "=".
        """
        listed = self.terms.get("features", [])
        made = dict.fromkeys(split_level(name, listed)[0] for name in self.names)
        return [one for one in listed if one in made] or list(made)

    def proved_estimator(self) -> Any:
        """Return the estimator if the file says which problem was solved, as those of fit do."""
        if "from" in self.terms:
            made = self.terms["from"]
            raise ValueError(f"the model is a {made}; only fits of the command are proved.")
        if self.terms.get("target") is None:
            raise ValueError("the model file does not say which column is the target.")
        return self.estimator()

    def estimator(self) -> Any:
        """Return the fitted estimator, which takes tables with the columns of the fit.

        It holds no multipliers of rows: a proof finds them again.
        """
        made = {"constraints": [], "intercept": True, "tol": 1e-6, "loss": None, "penalty": None}
        model = make_estimator(made | self.terms, self.names, self.classes is not None)
        model.encoder_ = TableEncoder.of_names(self.names, self.columns)
        model.feature_names_in_ = model.encoder_.names
        model.n_features_in_ = len(self.names)
        empty = DualPoint(np.empty(0), np.empty(0), np.empty(0))
        nothing = Certificate(primal=0.0, gap=np.inf, violation=0.0)
        solutions = tuple(
            Solution(np.array(b), b0, Status.SOLVED, "model file", 0, 0.0, empty, nothing)
            for b, b0 in zip(self.coef, self.intercept, strict=True)
        )
        model.solution_ = solutions if len(solutions) > 1 else solutions[0]
        model.coef_, model.intercept_ = np.array(self.coef), np.array(self.intercept)
        if self.classes is not None:
            model.classes_ = np.array(self.classes)
        else:
            model.coef_, model.intercept_ = model.coef_[0], float(self.intercept[0])
        return model


def load_model(path: str | Path) -> Any:
    """Return the fitted estimator of a model file that ``rectiline fit`` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    PLQClassifier or PLQRegressor
        It predicts tables with the columns of the fit.

    Examples
    --------
    >>> import tempfile
    >>> from rectiline.cli import load_model, save_model
    >>> from rectiline import PLQRegressor
    >>> path = tempfile.mkdtemp() + "/model.json"
    >>> save_model(path, PLQRegressor("absolute", C=1.0).fit([[0.0], [1.0], [2.0]], [0, 1, 2]))
    >>> load_model(path).predict([[3.0]]).round(3)
    array([3.])
    """
    return Model.load(Path(path)).estimator()


def save_model(path: str | Path, model: Any, target: str = "y") -> None:
    """Write a fitted estimator as a model file that ``rectiline predict`` takes.

    Parameters
    ----------
    path : str or path
    model : PLQClassifier, PLQRegressor or QuantileRegressor of one quantile
        Fitted on one target. Columns without names are called x0, x1, ...
    target : str, default="y"
        What the target is called in tables.

    Examples
    --------
    >>> import tempfile
    >>> from rectiline import PLQClassifier
    >>> from rectiline.cli import load_model, save_model
    >>> path = tempfile.mkdtemp() + "/model.json"
    >>> save_model(path, PLQClassifier().fit([[0.0], [1.0], [2.0]], ["a", "a", "b"]))
    >>> load_model(path).predict([[3.0]])
    array(['b'], dtype='<U1')
    """
    check_is_fitted(model)
    names = getattr(model, "feature_names_in_", [f"x{k}" for k in range(model.n_features_in_)])
    encoder = getattr(model, "encoder_", None)
    columns = names if encoder is None else [one.name for one in encoder.columns]
    terms = {
        "target": target,
        "features": [str(name) for name in columns],
        "from": f"{type(model).__name__} in Python",
    }
    made = Model.of(model, names, terms)
    if made.classes is None and len(made.coef) != 1:
        raise ValueError(f"save_model takes models of one target; this one has {len(made.coef)}.")
    made.save(Path(path))


_NUMBER, _LABEL = (int, float), (str, int, float)  # what a number and a label may be
# What each part is made of (a list of its kind of items, or a type), and how a message calls it.
_PARTS: dict[str, tuple[Any, str]] = {
    "names": ([str], "a list of texts"),
    "coef": ([[_NUMBER]], "rows of finite numbers"),
    "intercept": ([_NUMBER], "a list of finite numbers"),
    "classes": ([_LABEL], "null or at least two labels"),
    "terms": (dict, "an object"),
    "result": (dict, "an object"),
}

# What the options in `terms` are made of; null stands for those that are no lists as well.
_TERMS: dict[str, Any] = {
    **{name: [str] for name in ("constraints", "features", "drop", "categorical")},
    **dict.fromkeys(("C", "time_limit", "tol"), _NUMBER),
    **dict.fromkeys(("loss", "penalty", "target", "weight", "from"), str),
    **dict.fromkeys(("missing", "separator", "encoding"), str),
}


def _is_a(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind of `_PARTS`; numbers must be finite."""
    if isinstance(kind, list):
        return isinstance(value, list) and all(_is_a(item, kind[0]) for item in value)
    if isinstance(value, bool):
        return kind is _LABEL
    is_finite = not isinstance(value, int | float) or abs(value) <= sys.float_info.max
    return isinstance(value, kind) and is_finite


def _of_first_version(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a file of version 1, which had one problem, as those of version 2."""
    known = {name: value for name, value in parts.items() if name not in ("of", "labels")}
    known |= {name: [parts[name]] for name in ("coef", "intercept") if name in parts}
    if "labels" in parts:
        known["classes"] = parts["labels"]
    return known


def _first_wrong_part(parts: dict[str, Any]) -> str | None:
    """Return what is wrong with the parts of a model file, or None."""
    for name, (kind, what) in _PARTS.items():
        if name not in parts and name != "result":
            return f"{name!r} is missing"
        given = parts.get(name, {})
        if not _is_a(given, kind) and not (name == "classes" and given is None):
            return f"{name!r} must be {what}"
    for name, kind in _TERMS.items():
        given = parts["terms"].get(name, [] if isinstance(kind, list) else None)
        if not _is_a(given, kind) and (given is not None or isinstance(kind, list)):
            return f"the term {name!r} is {given!r}"
    unknown = sorted(set(parts) - set(_PARTS))
    if unknown:
        return f"{unknown[0]!r} is not a part of a model"
    coef, classes = parts["coef"], parts["classes"]
    if classes is not None and (len(classes) < 2 or len({isinstance(c, str) for c in classes}) > 1):
        return f"'classes' must be {_PARTS['classes'][1]}"
    if any(len(row) != len(parts["names"]) for row in coef):
        return f"a row of 'coef' does not have {len(parts['names'])} numbers"
    problems = 1 if classes is None or len(classes) == 2 else len(classes)
    if not len(coef) == len(parts["intercept"]) == problems:
        return f"'coef' and 'intercept' must have {problems} rows"
    return None


# ---- what options mean: columns, and short forms of losses and penalties (pinball:0.9) ----


# How each penalty is written, and how it is made of the number of columns and the numbers given.
_PENALTIES: dict[str, tuple[str, Callable[..., penalties.Penalty | None]]] = {
    "ridge": ("ridge:STRENGTH", lambda d, strength: penalties.Ridge(strength)),
    "l2": ("l2:STRENGTH", lambda d, strength: penalties.Ridge(strength)),
    "l1": ("l1:STRENGTH", lambda d, strength: penalties.L1(strength)),
    "elasticnet": ("elasticnet:L1,L2", lambda d, l1, l2: penalties.ElasticNet(l1, l2)),
    "slope": ("slope:STRENGTH,Q", lambda d, s, q: penalties.Slope.bh(d, q=q, strength=s)),
    # Without a penalty an estimator would leave out a level of each category, here all are kept.
    "none": ("none", lambda d: penalties.Columnwise([0.0] * d, [0.0] * d)),
}


@dataclass(frozen=True)
class Asked:
    """What the options of the command say about the columns."""

    target: str | None = None
    weight: str | None = None
    features: list[str] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    categorical: list[str] = field(default_factory=list)
    missing: str = "error"
    separator: str | None = None
    encoding: str = "utf-8"

    @classmethod
    def of(cls, terms: Mapping[str, Any]) -> Asked:
        """Return what the options of a fit say about the columns."""
        return cls(**{name: terms[name] for name in cls.__dataclass_fields__ if name in terms})


def read_loss(text: str) -> losses.Loss:
    """Return the loss of a short form, NAME or NAME:NUMBER[,NUMBER]."""
    name, numbers = _split("loss", text)
    if not numbers or name not in losses.LOSSES:
        return losses.get(name)
    loss: Any = losses.LOSSES[name]
    try:
        made: losses.Loss = loss(*numbers)
        return made
    except TypeError:
        raise ValueError(f"--loss {text}: {name} does not take {len(numbers)} numbers.") from None


def read_penalty(text: str, n_features: int) -> penalties.Penalty | None:
    """Return the penalty of a short form."""
    name, numbers = _split("penalty", text)
    if name not in _PENALTIES:
        forms = ", ".join(form for form, _ in _PENALTIES.values())
        raise ValueError(f"--penalty {text}: unknown; use one of {forms}.")
    form, make = _PENALTIES[name]
    if len(numbers) != len(re.findall("[A-Z]+[0-9]?", form)):
        raise ValueError(f"--penalty {text}: write {form}.")
    return make(n_features, *numbers)


def _split(option: str, text: str) -> tuple[str, list[float]]:
    name, _, rest = text.partition(":")
    try:
        numbers = [float(one) for one in rest.split(",")] if rest else []
    except ValueError:
        raise ValueError(f"--{option} {text}: {rest!r} are not numbers.") from None
    return name.strip().lower().replace("-", "_"), numbers
