"""Read relations between columns: ``a + 2*b <= 1``, ``0 <= s1 <= 3``, ``a = b``.

Constraints, the command and tests of hypotheses are written so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import numpy as np

from rectiline._column_names import column_index
from rectiline._typing import Vector


def read_relations(text: str, names: Sequence[str], owner: str) -> list[tuple[Vector, float, str]]:
    """Return each relation as (row, constant, sign): ``row @ coef + constant`` sign 0.

    Parameters
    ----------
    text : str
        Linear expressions with <=, >=, = or == between them. A name that is no identifier is
        written in backquotes.
    names : sequence of str
        Names of the coefficients.
    owner : str
        Whose text it is, for messages.

    Examples
    --------
    >>> read_relations("a - 2*b >= 1", ["a", "b"], "constraints")
    [(array([ 1., -2.]), -1.0, '>=')]
    """
    parts = re.split(r"(<=|>=|==|=)", text)
    if len(parts) not in (3, 5):
        raise ValueError(f'{owner} "{text}": write it as "bmi >= 0" or "0 <= bmi <= 1".')
    found = []
    for left, sign, right in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
        difference = _linear(left, text, names, owner) - _linear(right, text, names, owner)
        if not difference[:-1].any():
            raise ValueError(f'{owner} "{text}": it names no column.')
        found.append((difference[:-1], float(difference[-1]), sign.replace("==", "=")))
    return found


def _linear(expression: str, text: str, names: Sequence[str], owner: str) -> Vector:
    """Return the coefficients of a linear expression in the columns, and its constant last."""
    listed = np.array([str(name) for name in names], dtype=object)
    quoted: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quoted.append(match.group(1))
        return f"_quoted{len(quoted) - 1}_"

    plain = re.sub(r"`([^`]*)`", hide, expression.strip())
    wrong = ValueError(f'{owner} "{text}": {expression.strip()!r} is not a linear expression.')
    try:
        tree = ast.parse(plain, mode="eval").body
    except SyntaxError:
        raise wrong from None

    def visit(node: ast.AST) -> Vector:
        found = np.zeros(listed.size + 1)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            found[-1] = node.value
            return found
        if isinstance(node, ast.Name):
            hidden = re.fullmatch(r"_quoted(\d+)_", node.id)
            name = quoted[int(hidden.group(1))] if hidden else node.id
            found[column_index(name, listed, listed.size, f'{owner} "{text}"')] = 1.0
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
