"""Keep or guess the basis of a master that is built again over other units."""

from __future__ import annotations

import numpy as np

from rectiline._typing import Indices, Vector
from rectiline.solvers.generation._master import Master
from rectiline.solvers.generation._programs import BASIC, HIGH, LOW


def rebuilt(old: Master, arguments: Vector, units: Indices) -> Master:
    """Return the program over `units` and all basic ones, at the same basis.

    The other units leave for the end of their box where the predictions put them. Call it right
    after a solve; directions without a row yet get one, with a basic slack.
    """
    columns, rows = old.program.basis()
    n_steps = old.program.n_steps
    old.program.release()  # before the new one takes memory
    mine = columns[old.unit_columns]
    staying = np.union1d(units, old.units[mine == BASIC])
    new = Master(old.form, old.directions, arguments > 0, staying)
    new.set_factor(old.factor)
    status = np.where(new.top, HIGH, LOW).astype(np.uint8)  # by unit: which end it is at
    status[old.units] = np.where((mine == HIGH) ^ old.top[old.units], HIGH, LOW)
    ends = np.where((status == HIGH) ^ new.top, HIGH, LOW).astype(np.uint8)
    ends[old.units[mine == BASIC]] = BASIC
    moved = np.full(new.program.n_columns, LOW, dtype=np.uint8)
    moved[new.unit_columns] = ends[new.units]
    for target, source in zip(new.other_columns(), old.other_columns()):
        moved[target] = columns[source]
    turned = np.full(new.program.n_rows, BASIC, dtype=np.uint8)
    for target, source in zip(new.all_rows(), old.all_rows()):
        turned[target[: source.size]] = rows[source]
    new.program.set_basis(moved, turned)
    new.program.n_steps = n_steps
    new.patience = old.patience
    return new


def guess_basis(master: Master, coef: Vector, arguments: Vector) -> None:
    """Start from the vertex next to a guess: its support, and as many units near their knots.

    A solution of a similar program is such a vertex, and is met exactly.
    """
    directions = master.directions
    if not master.form.is_separable:
        return
    moves = directions.signs * coef[directions.columns]
    fixed, _, own = master.all_rows()
    rows = np.full(master.program.n_rows, BASIC, dtype=np.uint8)
    rows[fixed] = LOW
    rows[own] = np.where(moves > 0, LOW, np.where(moves < 0, HIGH, BASIC))
    count = int(np.count_nonzero(rows != BASIC))
    mine = arguments[master.units]
    if count > mine.size:
        return
    ends = np.where((mine > 0) ^ master.top[master.units], HIGH, LOW).astype(np.uint8)
    ends[np.argsort(np.abs(mine), kind="stable")[:count]] = BASIC
    columns = np.full(master.program.n_columns, LOW, dtype=np.uint8)
    columns[master.unit_columns] = ends
    master.program.set_basis(columns, rows)
