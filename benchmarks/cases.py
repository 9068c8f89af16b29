"""What is raced: a data set, an objective on it, and the solvers invited.

Standard library only, so that listing and planning work in any Python.

The objective is always ::

    sum_i w_i loss(y_i, x_i'b + b0) + l1 |b|_1 + l2/2 |b|^2      (or a group / sorted-L1 norm)

with ``w_i = C/n`` (``mean=True``) or ``w_i = C``. The intercept ``b0`` is never penalised.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Data:
    """A table by name and what is done to its columns before anybody sees it.

    ``source`` is ``"synthetic"`` (``name`` is a profile: good, bad, correlated, heavy, l1svm,
    group), ``"real"`` (``name`` is a file, then an OpenML set, then a stand-in) or ``"sklearn"``.
    ``columns`` is ``"raw"``, ``"standardised"`` (dense: mean 0 and sd 1), ``"maxabs"`` (sparse
    stays sparse) or ``"unit"`` (all entries over the largest). ``ones`` appends a constant column,
    penalised like any other. Of a real table ``n`` rows are drawn, all if ``n`` is 0, and the
    ``target`` ``"y=3"`` is the label 3 against the others.
    """

    source: str
    name: str
    n: int = 0
    d: int = 0
    task: str = "margin"
    columns: str = "raw"
    ones: bool = False
    form: str = "stored"
    target: str = "y"
    seed: int = 3

    @property
    def label(self) -> str:
        size = f" {self.n}x{self.d}" if self.d else f" {self.n} rows" if self.n else ""
        columns = "" if self.source == "synthetic" and self.columns == "raw" else f" {self.columns}"
        return f"{self.name}{size}{columns}"


@dataclass(frozen=True)
class Case:
    """One race. ``solvers`` are names of ``benchmarks.rivals``; the first one is ours.

    A run is stopped after ``time_limit`` seconds, a rival's also after ``patience`` times ours.
    """

    data: Data
    loss: str
    parameter: float | None = None
    C: float = 1.0
    mean: bool = True
    penalty: str = "elastic"
    l1: float = 0.0
    l2: float = 1.0
    l1_relative: bool = False
    fairness: float | None = None
    intercept: bool = False
    solvers: tuple[str, ...] = ("rectiline",)
    targets: tuple[float, ...] = (1e-6,)
    measure: str = "suboptimality"
    time_limit: float = 60.0
    patience: float = 50.0
    repeats: int = 5
    tag: str = ""

    @property
    def name(self) -> str:
        """A readable name that is unique within a suite."""
        loss = self.loss if self.parameter is None else f"{self.loss}({self.parameter:g})"
        weight = f"C={self.C:g}/n" if self.mean else f"C={self.C:g}"
        parts = [self.data.label, loss, weight]
        unit = "max" if self.l1_relative else ""
        if self.penalty != "elastic":
            parts.append(f"{self.penalty}={self.l1:g}{unit}")
        elif self.l1 or self.l2 != 1.0:
            parts.append(f"l1={self.l1:g}{unit} l2={self.l2:g}")
        if self.fairness is not None:
            parts.append(f"fair={self.fairness:g}")
        if self.intercept:
            parts.append("+b0")
        return " ".join(([self.tag] if self.tag else []) + parts)

    @property
    def key(self) -> str:
        """A digest of everything that determines the optimum (not of who races)."""
        definition = asdict(self)
        for field in ("solvers", "targets", "measure", "time_limit", "patience", "repeats", "tag"):
            definition.pop(field)
        return hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def ours(self) -> str:
        return self.solvers[0]

    def trimmed(self, time_limit: float, repeats: int) -> Case:
        """Return this race with a smaller time budget, for the quick run."""
        return replace(
            self, time_limit=min(time_limit, self.time_limit), repeats=min(repeats, self.repeats)
        )


def select(cases: Iterable[Case], pattern: str | None) -> list[Case]:
    """Cases whose name contains ``pattern`` (or matches it, if it has wildcards)."""
    if not pattern:
        return list(cases)
    wild = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
    return [case for case in cases if fnmatch.fnmatch(case.name, wild)]


def real(name: str, task: str = "margin", **options: Any) -> Data:
    """A real table: a file, an OpenML set or a stand-in."""
    return Data("real", name, task=task, **options)


def margin(profile: str, n: int, d: int, **options: Any) -> Data:
    """Synthetic two-class data."""
    return Data("synthetic", profile, n, d, "margin", **options)


def residual(profile: str, n: int, d: int, **options: Any) -> Data:
    """Synthetic regression data."""
    return Data("synthetic", profile, n, d, "residual", **options)
