"""Short forms of losses, penalties and constraints: ``pinball:0.9``, ``l1:0.01``, ``bmi >= 0``."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from rectiline import constraints, losses, penalties
from rectiline._typing import Vector

__all__ = ["read_constraints", "read_loss", "read_penalty"]

_PENALTIES = {
    "ridge": "ridge:STRENGTH",
    "l1": "l1:STRENGTH",
    "elasticnet": "elasticnet:L1,L2",
    "slope": "slope:STRENGTH,Q",
    "none": "none",
}


def read_loss(text: str) -> losses.Loss:
    """Return the loss of a short form, NAME or NAME:NUMBER[,NUMBER]."""
    name, numbers = _split("loss", text)
    if not numbers:
        return losses.get(name)
    loss: Any = type(losses.get(name))
    try:
        made: losses.Loss = loss(*numbers)
        return made
    except TypeError:
        raise ValueError(f"--loss {text}: {name} does not take {len(numbers)} numbers.") from None


def read_penalty(text: str, n_features: int) -> penalties.Penalty | None:
    """Return the penalty of a short form."""
    name, numbers = _split("penalty", text)
    forms = ", ".join(_PENALTIES.values())
    if name not in _PENALTIES:
        raise ValueError(f"--penalty {text}: unknown; use one of {forms}.")
    if len(numbers) != len(re.findall("[A-Z]+[0-9]?", _PENALTIES[name])):
        raise ValueError(f"--penalty {text}: write {_PENALTIES[name]}.")
    if name == "none":
        return None
    if name == "ridge":
        return penalties.Ridge(*numbers)
    if name == "l1":
        return penalties.L1(*numbers)
    if name == "elasticnet":
        return penalties.ElasticNet(*numbers)
    return penalties.Slope.bh(n_features, q=numbers[1], strength=numbers[0])


def _split(option: str, text: str) -> tuple[str, list[float]]:
    name, _, rest = text.partition(":")
    try:
        numbers = [float(one) for one in rest.split(",")] if rest else []
    except ValueError:
        raise ValueError(f"--{option} {text}: {rest!r} are not numbers.") from None
    return name.strip().lower().replace("-", "_"), numbers


def read_constraints(texts: Sequence[str], names: Sequence[str]) -> list[constraints.Constraint]:
    """Return the constraints of texts such as ``bmi >= 0``, ``a + 2*b <= 1``, ``0 <= s1 <= 3``.

    Names are those of columns; a name that is no identifier is written in backquotes. The word
    ``nonnegative`` stands for all coefficients.
    """
    found: list[constraints.Constraint] = []
    for text in texts:
        if text.strip() == "nonnegative":
            found.append(constraints.Nonnegative())
            continue
        parts = re.split(r"(<=|>=|==|=)", text)
        if len(parts) not in (3, 5):
            raise ValueError(f'--constraint "{text}": write it as "bmi >= 0" or "0 <= bmi <= 1".')
        for left, sign, right in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            row, constant = _linear(left, text, names)
            other, more = _linear(right, text, names)
            row, constant = row - other, constant - more
            if not row.any():
                raise ValueError(f'--constraint "{text}": it names no column.')
            if sign in ("==", "="):
                found.append(constraints.LinearEquality(row[None], [constant]))
            else:
                flip = -1.0 if sign == "<=" else 1.0
                found.append(_inequality(flip * row, flip * constant))
    return found


def _inequality(row: Vector, constant: float) -> constraints.Constraint:
    """Return ``row @ coef + constant >= 0``, as a bound where it is about one coefficient."""
    used = np.flatnonzero(row)
    if used.size != 1:
        return constraints.LinearInequality(row[None], [constant])
    lower, upper = np.full(row.size, -np.inf), np.full(row.size, np.inf)
    side = lower if row[used[0]] > 0 else upper
    side[used[0]] = -constant / row[used[0]]
    return constraints.Box(lower, upper)


def _linear(expression: str, text: str, names: Sequence[str]) -> tuple[Vector, float]:
    """Return coefficients and constant of a linear expression in the columns."""
    quoted: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quoted.append(match.group(1))
        return f"_quoted{len(quoted) - 1}_"

    plain = re.sub(r"`([^`]*)`", hide, expression.strip())
    wrong = ValueError(f'--constraint "{text}": {expression.strip()!r} is not a linear expression.')
    try:
        tree = ast.parse(plain, mode="eval").body
    except SyntaxError:
        raise wrong from None

    def visit(node: ast.AST) -> tuple[Vector, float]:
        zero = np.zeros(len(names))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return zero, float(node.value)
        if isinstance(node, ast.Name):
            hidden = re.fullmatch(r"_quoted(\d+)_", node.id)
            name = quoted[int(hidden.group(1))] if hidden else node.id
            if name not in names:
                listed = ", ".join(list(names)[:12])
                raise ValueError(
                    f'--constraint "{text}": there is no column {name!r}; there are {listed}.'
                )
            zero[list(names).index(name)] = 1.0
            return zero, 0.0
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            row, constant = visit(node.operand)
            sign = -1.0 if isinstance(node.op, ast.USub) else 1.0
            return sign * row, sign * constant
        if isinstance(node, ast.BinOp):
            return _combine(node.op, visit(node.left), visit(node.right), wrong)
        raise wrong

    return visit(tree)


def _combine(
    operator: Any, left: tuple[Vector, float], right: tuple[Vector, float], wrong: ValueError
) -> tuple[Vector, float]:
    if isinstance(operator, ast.Add):
        return left[0] + right[0], left[1] + right[1]
    if isinstance(operator, ast.Sub):
        return left[0] - right[0], left[1] - right[1]
    if isinstance(operator, ast.Mult):
        if left[0].any():
            left, right = right, left
        if not left[0].any():
            return left[1] * right[0], left[1] * right[1]
    if isinstance(operator, ast.Div) and not right[0].any() and right[1]:
        return left[0] / right[1], left[1] / right[1]
    raise wrong
