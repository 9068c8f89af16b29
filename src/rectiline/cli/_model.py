"""Model files of the command: one readable JSON document that keeps every number exactly."""

from __future__ import annotations

import json
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
        except (UnicodeDecodeError, json.JSONDecodeError):
            raise ValueError(f"{path}: this is not a model file.") from None
        if not isinstance(content, dict) or content.get("format") != _FORMAT["format"]:
            raise ValueError(f"{path}: this is not a model file.")
        if content.pop("version") != _FORMAT["version"]:
            raise ValueError(f"{path}: it was written by another version of rectiline.")
        content.pop("format")
        try:
            return cls(**content)
        except TypeError:
            raise ValueError(f"{path}: the model file is incomplete.") from None

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
