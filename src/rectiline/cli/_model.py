"""Model files of the command: one readable JSON document that keeps every number exactly."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rectiline._typing import Vector

__all__ = ["Model"]

_FORMAT = {"format": "rectiline-model", "version": 1}


@dataclass(frozen=True)
class Model:
    """A fitted linear model and how it was made.

    JSON writes the shortest decimal that reads back as the same double, so nothing is lost.
    """

    names: list[str]
    coef: list[float]
    intercept: float
    of: str  # "residual", "margin" or "prediction"
    labels: list[Any] | None
    terms: dict[str, Any]  # options of the fit, as they were written
    result: dict[str, Any] = field(default_factory=dict)  # what JSON output shows

    def save(self, path: Path) -> None:
        """Write the model."""
        path.write_text(json.dumps({**_FORMAT, **asdict(self)}, indent=1) + "\n", "utf-8")

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
        if content.get("version") != _FORMAT["version"]:
            raise ValueError(f"{path}: it was written by another version of rectiline.")
        parts = {name: value for name, value in content.items() if name not in _FORMAT}
        wrong = _first_wrong_part(parts)
        if wrong is not None:
            raise ValueError(f"{path}: the model file is damaged: {wrong}.")
        return cls(**parts)

    def decision(self, X: Any) -> Vector:
        """Return ``X @ coef + intercept``."""
        return np.asarray(X @ np.array(self.coef)) + self.intercept

    def predict(self, X: Any) -> dict[str, Any]:
        """Return columns: predictions, and for classifiers the value behind each."""
        value = self.decision(X)
        if self.labels is None:
            return {"prediction": value}
        label = np.array(self.labels)[(value > 0).astype(np.intp)]
        return {"prediction": label, "decision": value}


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def _is_list_of(is_item: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(is_item, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _are_labels(value: Any) -> bool:
    if value is None:
        return True
    are_texts, are_numbers = _is_list_of(_is_text)(value), _is_list_of(_is_label)(value)
    return (are_texts or are_numbers) and len(value) == 2


def _is_label(value: Any) -> bool:
    return isinstance(value, bool) or _is_number(value)


_SCHEMA: dict[str, tuple[Callable[[Any], bool], str]] = {
    "names": (_is_list_of(_is_text), "a list of texts"),
    "coef": (_is_list_of(_is_number), "a list of finite numbers"),
    "intercept": (_is_number, "a finite number"),
    "of": (lambda value: value in ("residual", "margin", "prediction"), "a kind of loss"),
    "labels": (_are_labels, "null or two labels"),
    "terms": (_is_object, "an object"),
    "result": (_is_object, "an object"),
}


def _first_wrong_part(parts: dict[str, Any]) -> str | None:
    """Return what is wrong with the parts of a model file, or None."""
    for name, (is_right, what) in _SCHEMA.items():
        if name not in parts and name != "result":
            return f"{name!r} is missing"
        if name in parts and not is_right(parts[name]):
            return f"{name!r} must be {what}"
    unknown = sorted(set(parts) - set(_SCHEMA))
    if unknown:
        return f"{unknown[0]!r} is not a part of a model"
    if len(parts["names"]) != len(parts["coef"]):
        return f"there are {len(parts['names'])} names and {len(parts['coef'])} coefficients"
    return None
