"""Every public name has a docstring with a summary, parameters, what is returned and an example."""

from __future__ import annotations

import inspect
import re
from importlib import import_module

import pytest

ROOMS = [
    "rectiline",
    "rectiline.losses",
    "rectiline.penalties",
    "rectiline.constraints",
    "rectiline.rows",
    "rectiline.problems",
    "rectiline.solvers",
    "rectiline.paths",
    "rectiline.estimators",
    "rectiline.estimators.multitask",
    "rectiline.inference",
    "rectiline.reports",
    "rectiline.datasets",
    "rectiline.formulas",
    "rectiline.cli",
    "rectiline.verify",
]
# What users only meet as a result or subclass, and errors: an example would show nothing.
WITHOUT_EXAMPLE = {
    "Callback", "ConvergenceWarning", "InfeasibleError", "UnsupportedProblemError", "Constraint",
    "Loss", "Penalty", "RowBlocks", "Block", "Solver", "MultiTaskSolution", "Progress", "main",
    "Refused", "CannotCheck", "Verdict", "DualPoint", "InfeasibilityCertificate", "Path",
    "Solution", "Status", "FormulaModel", "FormulaDesign", "SummaryTable",
    "SummaryTables", "HypothesisTest", "QuantileProcess", "SimultaneousBands",
    "ConformalIntervals", "CrossConformalIntervals",
}  # fmt: skip


def public_objects() -> dict[str, object]:
    found: dict[int, tuple[str, object]] = {}
    for room in ROOMS:
        module = import_module(room)
        for name in module.__all__:
            one = getattr(module, name)
            ours = getattr(one, "__module__", "").startswith("rectiline")
            if ours and (inspect.isclass(one) or inspect.isfunction(one)):
                found.setdefault(id(one), (f"{room}.{name}", one))
    return dict(found.values())


OBJECTS = public_objects()


def parameters_of(function: object) -> list[str]:
    listed = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [one.name for one in listed if one.name not in ("self", "cls") and one.kind not in kinds]


def documented(text: str, section: str) -> str:
    """Return the lines of a numpydoc section, empty if there is none."""
    found = re.search(rf"^{section}\n-+\n(.*?)(?=^\w[\w ]+\n-+\n|\Z)", text, re.M | re.S)
    return found.group(1) if found else ""


@pytest.mark.parametrize("name", OBJECTS)
def test_a_public_name_is_documented(name: str) -> None:
    one = OBJECTS[name]
    text = inspect.getdoc(one) or ""
    assert re.match(r"\S.*\.(\n|\Z)", text), f"{name}: a first line that ends with a full stop"
    if inspect.isclass(one) and issubclass(one, Exception):
        return
    described = documented(text, "Parameters") + documented(text, "Attributes")
    missing = [
        each
        for each in parameters_of(one)
        if not re.search(rf"^(.*, )?`?\*{{0,2}}{each}\b.*$", described, re.M)
    ]
    if inspect.isfunction(one) or not name.endswith(tuple(WITHOUT_EXAMPLE)):
        assert not missing, f"{name}: {missing} are not described"
    if inspect.isfunction(one):
        returned = inspect.signature(one).return_annotation
        if returned not in (None, "None", inspect.Signature.empty):
            assert documented(text, "Returns") or documented(text, "Yields"), f"{name}: Returns"
    if name.rpartition(".")[2] not in WITHOUT_EXAMPLE:
        assert ">>>" in text, f"{name}: an example"


@pytest.mark.parametrize("name", [name for name, one in OBJECTS.items() if inspect.isclass(one)])
def test_public_methods_are_documented(name: str) -> None:
    for method, one in inspect.getmembers(OBJECTS[name]):
        if method.startswith("_") or not (inspect.isfunction(one) or isinstance(one, property)):
            continue
        owner = getattr(one, "__module__", "") or getattr(one.fget, "__module__", "")
        if owner.startswith("rectiline"):
            assert inspect.getdoc(one), f"{name}.{method} has no docstring"
