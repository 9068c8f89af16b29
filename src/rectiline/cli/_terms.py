"""Short forms of losses, penalties and constraints: ``pinball:0.9``, ``l1:0.01``, ``bmi >= 0``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rectiline import constraints, losses, penalties
from rectiline._typing import Vector

__all__ = ["read_constraints", "read_loss", "read_penalty"]

# How each penalty is written, and how it is made of the number of columns and the numbers given.
_PENALTIES: dict[str, tuple[str, Callable[..., penalties.Penalty | None]]] = {
    "ridge": ("ridge:STRENGTH", lambda d, strength: penalties.Ridge(strength)),
    "l2": ("l2:STRENGTH", lambda d, strength: penalties.Ridge(strength)),
    "l1": ("l1:STRENGTH", lambda d, strength: penalties.L1(strength)),
    "elasticnet": ("elasticnet:L1,L2", lambda d, l1, l2: penalties.ElasticNet(l1, l2)),
    "slope": ("slope:STRENGTH,Q", lambda d, s, q: penalties.Slope.bh(d, q=q, strength=s)),
    "none": ("none", lambda d: None),
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
            difference = _linear(left, text, names) - _linear(right, text, names)
            row, constant = difference[:-1], float(difference[-1])
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


def _linear(expression: str, text: str, names: Sequence[str]) -> Vector:
    """Return the coefficients of a linear expression in the columns, and its constant last."""
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

    def visit(node: ast.AST) -> Vector:
        found = np.zeros(len(names) + 1)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            found[-1] = node.value
            return found
        if isinstance(node, ast.Name):
            hidden = re.fullmatch(r"_quoted(\d+)_", node.id)
            name = quoted[int(hidden.group(1))] if hidden else node.id
            if name not in names:
                listed = ", ".join(list(names)[:12])
                raise ValueError(
                    f'--constraint "{text}": there is no column {name!r}; there are {listed}.'
                )
            found[list(names).index(name)] = 1.0
            return found
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            return -visit(node.operand) if isinstance(node.op, ast.USub) else visit(node.operand)
        if isinstance(node, ast.BinOp):
            return _combine(node.op, visit(node.left), visit(node.right), wrong)
        raise wrong

    return visit(tree)


def _combine(operator: ast.operator, left: Vector, right: Vector, wrong: ValueError) -> Vector:
    if isinstance(operator, ast.Add):
        return left + right
    if isinstance(operator, ast.Sub):
        return left - right
    if isinstance(operator, ast.Mult) and not (left[:-1].any() and right[:-1].any()):
        scaled, factor = (left, right) if left[:-1].any() else (right, left)
        return scaled * float(factor[-1])
    if isinstance(operator, ast.Div) and not right[:-1].any() and right[-1]:
        return left / float(right[-1])
    raise wrong
