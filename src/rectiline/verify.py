"""Check a certificate file against data, with NumPy alone: no solver, no other part of Rectiline.

    python -m rectiline.verify fit.rlcert data.csv --target y

Exit code 0: the claim holds; 1: it does not; 2: it could not be checked. A copy of this file works
without the package. ``docs/theory/certificate_files.rst`` describes the format and the threats: the
file comes from somebody who may want to deceive, the data from the person who checks. For any
slopes ``s_i``, multipliers ``xi >= 0`` and ``nu``, with ``g_i = w_i p_i s_i`` and
``q = A'xi + E'nu - X'g``, weak duality bounds how far the objective is above its optimum by

    gap = sum_i w_i [f(t_i) + f*(s_i) - s_i t_i] + [h(b) + h*(q) - q'b]
          + xi'(A b + c) + |nu|'|E b + f|,

with ``t_i = p_i x_i'b + o_i``; the intercept is a column of ones. Sums over rows are computed in
double precision with a bound on their rounding error (``--exact``: in rationals, without error),
all that follows from them in rationals. A column without penalty or bound needs ``q_j = 0``: what
is left is charged at `RADIUS` typical sizes, and the claim is then about coefficients of that size.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import itertools
import json
import math
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

__all__ = ["CannotCheck", "Refused", "Verdict", "check", "check_all", "read", "sentence"]

CHUNK = 2**21  # entries of X in a chunk of rows; the header has one checksum per chunk
ROWS = 2**14  # rows taken at once, which bounds the memory
RADIUS = 1024  # how far competitors may lie on free columns, in sizes of the coefficients
FIRST_RADIUS = 100  # the same in files of format 1
FEASIBLE = 1e-9  # largest violation that counts as rounding, relative to the terms of its row
LEAST_INFEASIBLE = 1e6  # sizes up to which coefficients must be excluded to prove infeasibility
BYTES, RATIO = 2**28, 100  # a file may unpack to this many bytes, or times its own size
LOSSES = 256  # most losses of a problem
FAR, LOWEST = 2.0**30, -1024.0  # an unbounded objective, so many sizes away, must be this low
JUMP = 2.0**-40  # relative jump of a loss or of its slope at a knot that counts as rounding
TINY = 2.0**-1000  # more than a product of doubles loses by underflow

# Arrays of a problem and their sizes: n rows, c copies of them, x features and one, d coefficients,
# m inequalities, k equalities, l labels and s listed slopes; then what they may hold. Those in
# INTEGERS hold integers, others doubles.
REGION = {"A": "md", "c": "m", "E": "kd", "f": "k", "lower": "d", "upper": "d"}
MULTIPLIERS = {"inequality": "m", "equality": "k"}
TERMS = {"coef": "d", "rho": "d", "l1": "d", "groups": "d", "strengths": "d"}
TERMS |= {"encoding": "l3", "copies": "c2", "columns": "cx"}
SLOPES = {"split_coef": "d", "slope_rows": "s", "slopes": "s"}
OPTIONAL = {"weight": "nc", "loss_index": "n"}
SHARED = {"tasks": "gt", "shared": "4", "shares": "t", "turns": "2tt"}  # of t tasks, if any
ARRAYS = {
    "infeasible": REGION | MULTIPLIERS,
    "unbounded": REGION | TERMS | {"direction": "d"},
    "optimality": REGION | TERMS | MULTIPLIERS | SLOPES,
}
INTEGERS = ("groups", "copies", "columns", "slope_rows", "loss_index", "tasks")
INF, MOST, WHOLE = math.inf, sys.float_info.max, 2**53 - 1
RANGES: dict[str, Any] = {"lower": (-INF, MOST), "upper": (-MOST, INF), "shares": (0, 1)}
RANGES |= dict.fromkeys(("inequality", "rho", "l1", "strengths", "weight"), (0, MOST))
RANGES |= dict.fromkeys(("groups", "copies", "columns"), (-1, WHOLE))
RANGES |= dict.fromkeys(("slope_rows", "loss_index", "tasks"), (0, WHOLE))


class Refused(ValueError):
    """The file cannot be used or its claim does not hold; the message says why in one sentence."""


class CannotCheck(ValueError):
    """The data cannot be read, so that nothing can be said about the claim."""


class Verdict(NamedTuple):
    """What was proved: ``objective - gap <= optimum``.

    Of kind "infeasible", no coefficients up to the size `radius` satisfy the constraints; of kind
    "unbounded", far along a direction the objective is `objective` or less.
    """

    objective: float
    gap: float
    rounding: float  # the part of the gap that bounds rounding
    radius: float = math.inf  # or the optimum is that of coefficients up to so many typical sizes
    problem: str = ""  # what was minimised, in words, read from the arrays of the file
    kind: str = "optimality"


def need(condition: Any, reason: str) -> None:
    """Refuse for the reason given unless the condition holds."""
    if not condition:
        raise Refused(reason)


@contextmanager
def raising(kind: type[ValueError], what: str) -> Iterator[None]:
    """Raise an error of this kind where what is read makes a computation fail."""
    try:
        yield
    except (Refused, CannotCheck, FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:
        raise kind(f"{what} ({type(error).__name__}: {error})") from None


# ---- the file ------------------------------------------------------------------------------------


def read(path: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a certificate file, by name.

    Parameters
    ----------
    path : str, path or binary file

    Returns
    -------
    tuple of dict

    Examples
    --------
    >>> import io, rectiline as rl
    >>> file = io.BytesIO()
    >>> rl.solve(rl.Problem(np.eye(2), [1.0, 2.0], "squared_error")).save(file)
    >>> read(file)[0]["problems"][0]["kind"]
    'optimality'
    """
    with raising(Refused, "this is not a certificate file"), zipfile.ZipFile(path) as archive:
        members, stream = archive.infolist(), archive.fp
        size, packed = sum(m.file_size for m in members), stream.seek(0, 2) if stream else 0
        need(size <= max(BYTES, RATIO * packed), f"the file unpacks to {size:,} bytes")
        need(all(m.compress_type in (0, 8) for m in members), "the compression is unknown")
        need(len(set(archive.namelist())) == len(members), "a member stands there twice")
        # A comment or an extra field may hide the entry of another member.
        need(not any(m.comment or m.extra for m in members), "a member has a field of its own")
        # No more than the declared bytes; the last of them compares the checksum.
        parts = {m.filename: archive.open(m).read(m.file_size) for m in members}
        header = json.loads(parts.pop("header.json").decode("utf-8-sig"), parse_constant=int)
        are_arrays = all(name.endswith(".npy") and name.isprintable() for name in parts)
        need(are_arrays, "a member is no array")
        arrays = {name.removesuffix(".npy"): array(name, raw) for name, raw in parts.items()}
        problems(header, arrays)
    return header, arrays


def array(name: str, raw: bytes) -> Any:
    """Return an array of numbers in their range from the bytes of a .npy file."""
    base = name.removesuffix(".npy").rpartition("/")[2]
    stream, is_whole = io.BytesIO(raw), base in INTEGERS
    need(np.lib.format.read_magic(stream) == (1, 0), f"{name} has an unknown format")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    need(dtype.kind in "iu" if is_whole else dtype.str[1:] == "f8", f"{name} has a wrong dtype")
    body = raw[stream.tell() :]
    need(len(body) == math.prod(shape) * dtype.itemsize, f"{name} is cut off")
    values = np.frombuffer(body, dtype).reshape(shape, order="F" if is_fortran else "C")
    least, most = RANGES.get(base, (-MOST, MOST))
    need(((values >= least) & (values <= most)).all(), f"array {name} holds numbers it may not")
    return values.astype(np.int64 if is_whole else np.float64)


def problems(header: Any, arrays: dict[str, Any], exact: bool = False) -> list[Checker]:
    """Return a checker of every problem; its arrays are in a folder with its number."""
    need(isinstance(header, dict), "the header is no object")
    need(header.get("format") == "rectiline-certificate", "the format is unknown")
    version = header.get("version")
    need(type(version) is int and version in (1, 2), "the version is unknown")
    need(isinstance(header.get("source"), str | None), "a name is no text")
    for names in (header.get("columns"), header.get("targets")):
        is_list = isinstance(names, list) and all(isinstance(one, str) for one in names)
        need(names is None or is_list, "a name is no text")
    if version == 1:
        header, arrays = as_second_format(header, arrays)
    folders: dict[str, dict[str, Any]] = {}
    for name, one in arrays.items():
        folder, _, base = name.partition("/")
        folders.setdefault(folder, {})[base] = one
    stated = header["problems"]
    need(isinstance(stated, list) and stated, "the file states no problem")
    fits = set(folders) == set(map(str, range(len(stated))))
    need(fits, "a problem has no arrays, or an array no problem")
    return [Checker(header, one, folders[str(k)], exact) for k, one in enumerate(stated)]


def as_second_format(header: dict[str, Any], arrays: dict[str, Any]) -> tuple[Any, Any]:
    """Return what a file of format 1, which states one problem, would be in format 2."""
    need(sorted(arrays) == header["arrays"], "arrays are missing or were added")
    stated, made = dict(header), dict(arrays)
    if header["kind"] != "infeasible":
        of, labels, free = (header[name] for name in ("of", "labels", "fit_intercept"))
        is_right = header["kind"] == "optimality" and len(labels) == 2 and type(free) is bool
        need(is_right, "this is no file of format 1")
        header = header | {"labels": labels if of == "margin" else None}
        signs = {"residual": [-1], "margin": [-1, 1], "prediction": [1]}[of]
        made["encoding"] = np.array([[p, 0, number(header["weight_scale"])] for p in signs])
        by_index, d = "loss_index" in made, made["coef"].size - free
        made["copies"] = np.array([[-1 if by_index else 0, -1 if of == "prediction" else 0]])
        made["columns"] = np.array([[*range(d), d if free else -1]])
        stated["weights"] = "file" if "weight" in made else "data"
        made |= {"weight": made["weight"][:, None]} if "weight" in made else {}
    return header | {"problems": [stated]}, {f"0/{name}": one for name, one in made.items()}


def number(word: str) -> float:
    """Return the finite number that a hexadecimal word means."""
    need("0x" in word and math.isfinite(float.fromhex(word)), "a number is odd")
    return float.fromhex(word)


def check_arrays(kind: str, n: int, arrays: dict[str, Any]) -> None:
    """Refuse arrays of a problem that do not have the names, shapes and order of the format."""
    more = {name: letters for name, letters in OPTIONAL.items() if name in arrays}
    more |= SHARED if "tasks" in arrays else {}
    wanted = ARRAYS[kind] | ({} if kind == "infeasible" else more)
    sizes = {"n": n, "2": 2, "3": 3, "4": 4}
    need(sorted(wanted) == sorted(arrays), "arrays are missing or were added")
    for name, letters in wanted.items():
        shape = arrays[name].shape
        fits = len(shape) == len(letters)
        fits &= all(sizes.setdefault(one, size) == size for one, size in zip(letters, shape))
        need(fits, f"array {name} has the wrong shape {shape}")
    need((arrays["lower"] <= arrays["upper"]).all(), "a lower bound is above its upper bound")


def check_terms(stated: dict[str, Any], n: int, labels: Any, arrays: dict[str, Any]) -> None:
    """Refuse what does not fit together; losses are looked at where they are made."""
    names = ("groups", "strengths", "columns", "copies", "encoding")
    groups, strengths, columns, copies, encoding = (arrays[name] for name in names)
    for k in np.unique(groups[groups >= 0]):
        need((np.diff(strengths[groups == k]) <= 0).all(), "the strengths of a group do not fall")
    listed = arrays.get("slope_rows", np.zeros(0))
    fits = listed.max(initial=-1) < n * len(copies) and (np.diff(listed) > 0).all()
    need(fits, "slope_rows do not increase or are out of range")
    need(stated["weights"] in ("file", "data"), "the weights are those of the file or the data")
    by_copy, count = copies[copies[:, 0] >= 0, 0], len(stated["losses"])
    used = np.append(by_copy, arrays.get("loss_index", []))
    need(0 < count <= LOSSES and used.max() < count, "there is no such loss")
    is_by_index = by_copy.size < len(copies)
    is_told = "loss_index" in arrays if is_by_index else np.unique(used).size == count
    need(is_told, "a loss has no rows")
    need(columns.max() < groups.size and columns[:, :-1].min(initial=0) >= 0, "columns are odd")
    for one in columns:  # no feature is left out, none takes the place of another
        need(np.diff(np.sort(one[one >= 0])).all(), "two features have one coefficient")
    if "tasks" in arrays:  # the penalty of these coefficients is that of all tasks together
        j, (c, eta, h, is_centred) = arrays["tasks"], arrays["shared"]
        plain = (arrays["lower"] == -INF) & (arrays["upper"] == INF) & (groups < 0)
        plain &= (arrays["rho"] == 0) & (arrays["l1"] == 0)
        fits = plain[j].all() and np.unique(j).size == j.size and is_centred in (0, 1)
        fits = fits and min(c, eta) > 0 and 1 <= h <= WHOLE and h == int(h)
        need(fits and sum(map(Fraction, arrays["shares"])) <= h, "the penalty of tasks is odd")
    need((abs(encoding[:, 0]) == 1).all() and (encoding[:, 2] >= 0).all(), "the encoding is odd")
    if labels is None:
        return need(len(encoding) == 1 and encoding[0, 1] == 0, "the encoding is odd")
    need(copies[:, 1].min() >= 0, "a copy of the rows has labels without a target")
    is_list = type(labels) is list and all(isinstance(one, (str, int, float)) for one in labels)
    is_right = is_list and len(set(labels)) == len(labels) == len(encoding)
    need(is_right, "labels are odd or stand there twice")


# ---- losses and penalties of columns -------------------------------------------------------------


def at(piece: Any, t: Any, s: Any = 0, error: Any = 0) -> tuple[Any, Any, Any, Any]:
    """Return a piece less ``s t``, its derivative, and the sums of the sizes of their terms.

    A piece is ``value + e (slope + bend e / 2)`` with ``e = t - anchor``. Rounding errors are small
    shares of the sizes, also where a piece is anchored far from where it is used.
    """
    anchor, value, slope, bend = piece
    e = t - anchor
    steep = abs(slope) + bend * abs(e) + abs(s)
    size = abs(value) + (abs(e) + error) * steep + abs(s * t)
    return value + e * (slope + bend * e / 2) - s * t, slope + bend * e - s, size, steep


class Loss:
    """A convex piecewise quadratic function f; methods return a value and an upper bound on it."""

    def __init__(self, given: dict[str, Any], exact: bool) -> None:
        numbers = (given["knots"], *given["pieces"])
        knots, *pieces = ([Fraction(number(word)) for word in words] for words in numbers)
        need(len(pieces) == len(knots) + 1, "a loss has too many pieces or too few")
        need(all(a < b for a, b in itertools.pairwise(knots)), "knots of a loss do not increase")
        need(all(piece[3] >= 0 for piece in pieces), "a piece of a loss is not convex")
        for knot, left, right in zip(knots, pieces, pieces[1:]):
            (f, s, size, steep), (g, t, other, steeper) = at(left, knot), at(right, knot)
            need(abs(f - g) <= JUMP * (size + other), "a loss jumps at a knot")
            need(s <= t + JUMP * (steep + steeper), "a loss is not convex at a knot")
        kind: Any = Fraction if exact else float
        ends = itertools.pairwise([-INF, *map(kind, knots), INF])
        self.pieces = [(*around, [*map(kind, piece)]) for around, piece in zip(ends, pieces)]
        self.u: Any = 0 if exact else 2.0**-53
        self.tiny: Any = 0 if exact else TINY
        self.rows = 0  # that have it
        first, last = self.pieces[0][2], self.pieces[-1][2]
        self.low = -INF if first[3] else first[2]  # the range of slopes
        self.high = INF if last[3] else last[2]
        need(self.low <= self.high, "a loss is not convex")
        # How far below zero it goes at most: all but a linear term are bounded below.
        is_bounded = self.low <= 0 <= self.high
        self.depth = self.conjugate(np.array([kind(0)]))[1, 0] if is_bounded else INF

    def slope(self, t: Any) -> Any:
        """Return the right derivative."""
        found = t
        for low, _, piece in self.pieces:
            found = np.where(t >= low, at(piece, t)[1], found)
        return found

    def tilted(self, t: Any, error: Any, s: Any) -> Any:
        """Return ``f(t) - s t``; the bound holds for all arguments up to `error` from t."""
        best = np.full((2, t.size), -INF)
        for low, high, piece in self.pieces:
            value, steep, size, _ = at(piece, t, s, error)
            lost = error * (abs(steep) + piece[3] * error) + 16 * self.u * size + self.tiny
            touched = (t + error >= low) & (t - error <= high)
            best = np.where(touched, np.maximum(best, [value, value + lost]), best)
        return best

    def conjugate(self, s: Any) -> Any:
        """Return ``sup_t s t - f(t)``, the supremum of pieces, for slopes where it is finite."""
        best = np.full((2, s.size), -INF)
        for low, high, piece in self.pieces:
            anchor, _, slope, bend = piece
            end = np.where(s > slope, high, np.where(s < slope, low, anchor))
            top = np.clip(anchor + (s - slope) / bend if bend else end, low, high)
            value, _, size, _ = at(piece, top, s)
            moved = 8 * self.u * (abs(anchor) + (abs(s) + abs(slope)) / (bend or 1))
            lost = 16 * self.u * size + bend * moved * moved + self.tiny
            best = np.maximum(best, [-value, lost - value])
        return best


def column_gap(b: Any, rho: Any, l1: Any, bounds: Any, q: Any, error: Any) -> tuple[Any, Any]:
    """Return ``h(b) + h*(q) - q b`` for ``h(b) = rho b^2 / 2 + l1 |b|``, and what is left over.

    Both are upper bounds where q is known up to an error: they are convex in q. Without a ridge,
    towards an infinite side, a slope above l1 has no finite supremum: what is above is left over.
    """
    (low, high), gap, over = bounds, -INF, Fraction(0)
    for end in (q - error, q + error) if error else (q,):
        least = -l1 if rho == 0 and low == -INF else -INF
        most = l1 if rho == 0 and high == INF else INF
        kept = min(max(end, least), most)
        pull = max(kept - l1, 0) + min(kept + l1, 0)
        best = pull / rho if rho else (high if pull > 0 else low) if pull else 0
        best = min(max(best, low), high)
        here, there = (rho * x * x / 2 + l1 * abs(x) - s * x for x, s in ((b, end), (best, kept)))
        gap, over = max(gap, here - there), max(over, abs(end - kept))
    return gap, over


# ---- the proof -----------------------------------------------------------------------------------


def rational(values: Any) -> Any:
    """Return numbers as fractions, infinite ones as they are."""
    convert: Any = np.frompyfunc(lambda v: v if abs(v) == INF else Fraction(v), 1, 1)
    return np.asarray(convert(values), dtype=object)


def combined(arrays: dict[str, Any]) -> tuple[Any, Any]:
    """Return r and v such that the constraints times their multipliers add up to ``r'b + v``."""
    pull, level = rational(np.zeros(arrays["lower"].size)), Fraction(0)
    for rows, constant, name in (("A", "c", "inequality"), ("E", "f", "equality")):
        used = np.flatnonzero(arrays[name])
        M, c, y = (rational(arrays[one][used]) for one in (rows, constant, name))
        pull, level = pull + y @ M, level + y @ c
    return pull, level


def far_along(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays of a point far along a direction, without slopes."""
    b, d, none = arrays["coef"], arrays["direction"], np.zeros(0, dtype=np.int64)
    is_open = ((d >= 0) | (arrays["lower"] == -INF)) & ((d <= 0) | (arrays["upper"] == INF))
    need(is_open.all(), "a bound ends the direction")
    far = b + FAR * max(1.0, abs(b).max()) / max(abs(d).max(), TINY) * d
    return arrays | {"coef": far, "split_coef": far, "slopes": none, "slope_rows": none}


class Checker:
    """Sums of the terms of the gap over blocks of rows, and the verdict that follows from them."""

    @np.errstate(all="ignore")
    def __init__(self, header: Any, stated: Any, arrays: dict[str, Any], exact: bool = False):
        self.header, self.kind, self.exact = header, stated["kind"], exact
        need(self.kind in ARRAYS, "the kind is unknown")
        n = 0 if self.kind == "infeasible" else header["n_samples"]
        check_arrays(self.kind, n, arrays)
        self.arrays = arrays
        if self.kind == "infeasible":  # these are about no rows
            return
        need(type(n) is int and n > 0, "n_samples is no number of rows")
        check_terms(stated, n, header["labels"], arrays)
        if self.kind == "unbounded":
            arrays = far_along(arrays)
        one = np.broadcast_to(1.0, (n, len(arrays["copies"])))  # takes no memory
        self.arrays = arrays = {"weight": one} | arrays
        self.is_by_data = stated["weights"] == "data"
        self.losses = [Loss(one, exact) for one in stated["losses"]]
        self.claim = {name: Fraction(number(word)) for name, word in stated["claim"].items()}
        self.number: Any = rational if exact else np.asarray
        self.coef, self.split = map(self.number, (arrays["coef"], arrays["split_coef"]))
        self.slopes = self.number(arrays["slopes"])
        # The cost of a group is the inner product of its strengths with its sorted sizes: one
        # strength and zeros give the largest value (GroupLinf), several the sorted L1 norm (Slope).
        index = arrays["groups"]
        paid = np.unique(index[(index >= 0) & (arrays["strengths"] > 0)])
        self.groups = [np.flatnonzero(index == k) for k in paid]
        is_alone = ~np.isin(index, paid)
        is_alone[arrays.get("tasks", [])] = False
        self.alone = np.flatnonzero(is_alone)
        self.rho, self.l1 = (np.where(index < 0, arrays[name], 0) for name in ("rho", "l1"))
        self.u: Any = 0 if exact else 2.0**-53
        self.tiny: Any = 0 if exact else TINY
        self.n = self.used = 0  # rows, and those that have a weight
        self.units: dict[int, Any] = {}  # weights of the file for one of the data, if both exist
        self.gap = self.loss = np.array([Fraction(0)] * 2)  # values and upper bounds
        self.depth: Any = 0  # how far below zero the loss goes at most, over all coefficients
        self.q = np.full(self.coef.size, Fraction(0))
        self.error, self.top = 0 * self.coef, 0 * self.coef
        self.reach: Any = 0
        self.is_free = "tasks" in arrays and arrays["shared"][3] > 0  # is a column not charged

    @np.errstate(all="ignore")  # a number that overflows ends as "no finite gap"
    def add(self, X: Any, values: Any, given: Any = None) -> None:
        """Take dense rows: features, targets (or places of labels), and weights of the data."""
        rows, count = np.arange(self.n, self.n + len(X)), len(self.arrays["copies"])
        weighted = np.zeros(len(X), dtype=bool)
        for k, (kind, _) in enumerate(self.arrays["copies"]):
            p, o, w = self.encode(values, k)
            w = w * self.weights(rows, k, given)
            need((w < INF).all(), "a weight is not finite")
            weighted |= w > 0
            index = np.full(len(X), kind) if kind >= 0 else self.arrays["loss_index"][rows]
            for loss in np.unique(index):
                mine = (w > 0) & (index == loss)
                if mine.any():
                    parts = map(self.number, (self.design(X[mine], k), p[mine], o[mine], w[mine]))
                    self.sum(self.losses[loss], count * rows[mine] + k, *parts)
        self.n, self.used = self.n + len(X), self.used + int(weighted.sum())

    def encode(self, values: Any, k: int) -> tuple[Any, Any, Any]:
        """Return p, o and w of rows: the loss is ``w f(p z + o)`` at a prediction z."""
        target = self.arrays["copies"][k, 1]
        y = values[:, target] if target >= 0 else np.zeros(len(values))
        is_labelled = self.header["labels"] is not None
        p, o, w = self.arrays["encoding"][(y if is_labelled else 0 * y).astype(np.int64)].T
        return p, o if is_labelled else y, w

    def weights(self, rows: Any, k: int, given: Any) -> Any:
        """Return the weights of rows: those of the file, which must fit the data, or the data's."""
        own = self.arrays["weight"][rows, k]
        if given is None or self.is_by_data:
            return own if given is None else own * given
        both = (own > 0) & (given > 0)
        if k not in self.units and both.any():
            self.units[k] = own[both][0] / given[both][0]
        wanted = given * self.units.get(k, 0.0)
        same = (own == 0) | (abs(own - wanted) <= 1e-12 * wanted)
        need(same.all(), "the weights of the data are not proportional to those of the file")
        return own

    def design(self, X: Any, k: int) -> Any:
        """Return rows of the problem: every feature, and the column of ones, at its coefficient."""
        wide, (*features, free) = np.zeros((len(X), self.coef.size)), self.arrays["columns"][k]
        wide[:, features] = X
        if free >= 0:
            wide[:, free] = 1.0
        return wide

    def sum(self, loss: Loss, rows: Any, X: Any, p: Any, o: Any, w: Any) -> None:
        """Add the terms of rows that share a loss; `error` and `lost` bound rounding errors."""
        u, listed, loss.rows = self.u, self.arrays["slope_rows"], loss.rows + len(rows)
        z, s = X @ self.coef, loss.slope(p * (X @ self.split) + o)
        t = p * z + o
        error = (X.shape[1] + 8) * (u * (abs(X) @ abs(self.coef)) + self.tiny) + 4 * u * abs(t)
        if listed.size:
            near = np.minimum(np.searchsorted(listed, rows), listed.size - 1)
            s = np.where(listed[near] == rows, self.slopes[near], s)
        need(((s >= loss.low) & (s <= loss.high)).all(), "a slope is outside its loss's range")
        self.gap = self.gap + self.total(w, loss.tilted(t, error, s) + loss.conjugate(s))
        self.loss = self.loss + self.total(w, loss.tilted(t, error, 0 * s))
        is_bounded = loss.depth < INF
        self.depth += self.total(w, np.full((2, w.size), loss.depth))[1] if is_bounded else INF
        g = w * p * s
        used = np.flatnonzero(X.any(axis=0))  # of wide sparse data, a few columns
        X = X[:, used]
        self.q[used] = self.q[used] - self.added(X * g[:, None])
        self.top[used] = top = np.maximum(self.top[used], abs(X).max(axis=0))
        self.error[used] += 4 * u * (abs(X).T @ abs(g)) + w.size * self.tiny * (1 + top)
        self.reach = max(self.reach, abs(z).max(), abs(o).max())

    def added(self, terms: Any) -> Any:
        """Return the sums of columns; the addition itself does not round."""
        add: Any = sum if self.exact else math.fsum
        return np.array([Fraction(add(column.tolist())) for column in terms.T], dtype=object)

    def total(self, w: Any, pair: Any) -> Any:
        """Return the weighted sum of values, and that of their bounds, rounded up."""
        terms = w * pair
        need((abs(terms) < INF).all(), "no finite gap can be proved")
        terms[1] = terms[1] + 8 * self.u * abs(terms[1]) + self.tiny
        return self.added(terms.T)

    @np.errstate(all="ignore")
    def verdict(self) -> Verdict:
        """Return what is proved about all rows, or refuse if that is not what the file claims."""
        if self.kind == "infeasible":
            size = excluded_size(self.arrays)
            return Verdict(math.nan, 0, 0, size, region(self.arrays), "infeasible")
        # Where multipliers do not bound coefficients, they count up to so many of their sizes.
        radius = FIRST_RADIUS if self.header["version"] == 1 else RADIUS
        size = np.maximum(abs(self.coef), self.reach / np.where(self.top > 0, self.top, 1))
        self.far = radius * size
        self.check_coefficients(size)
        charges = [rho * b * b / 2 + l1 * abs(b) for _, b, rho, l1, _, _ in self.columns()]
        charges += [norm for _, _, _, norm in self.norms()]
        charges += [self.charge_of_tasks()] if "tasks" in self.arrays else []
        self.objective = value, most = self.loss + self.raised(charges)
        if self.kind == "unbounded":
            d = rational(self.arrays["direction"])
            is_falling = most <= LOWEST and self.q @ d > rational(self.error) @ abs(d)
            need(is_falling, "the objective does not fall far enough")
            return Verdict(float(most), INF, 0.0, INF, self.statement(), "unbounded")
        pull, level = combined(self.arrays)
        gaps, q = self.gap + pull @ rational(self.coef) + level, self.q + pull
        without, bound = (self.proved(gaps[k], q, rational(k * self.error)) for k in (0, 1))
        # Competitors are cut off only where that is much less, or proves what is claimed.
        allowed, claimed = self.claim["gap"], self.claim["objective"]
        is_cut = 10 * max(bound[1], 0) < bound[0] or bound[0] > allowed
        gap, found = bound[is_cut], f"{float(value):.10g}, not {float(claimed):.10g} as claimed"
        need(abs(value - claimed) <= allowed + abs(value) * 1e-9, f"the objective is {found}")
        need(gap <= allowed, f"the proved gap {float(gap):.3g} exceeds {float(allowed):.3g}")
        rounding, reached = gap - without[is_cut], radius if is_cut or self.is_free else INF
        return Verdict(float(value), float(max(gap, 0)), float(rounding), reached, self.statement())

    def check_coefficients(self, size: Any) -> None:
        """Refuse coefficients outside their bounds, or that break a constraint beyond rounding."""
        b, lower, upper = self.coef, self.arrays["lower"], self.arrays["upper"]
        need(((lower <= b) & (b <= upper)).all(), "a coefficient is outside its bounds")
        # Coefficients count with at least 1/1000 of what moves predictions noticeably.
        least = np.maximum(abs(b), size / 1000)
        for rows, constant in (("A", "c"), ("E", "f")):
            M, c = self.number(self.arrays[rows]), self.number(self.arrays[constant])
            value, terms = M @ b + c, abs(M) @ least + abs(c)
            outside = abs(value) if rows == "E" else -value
            need((outside <= FEASIBLE * terms).all(), "a constraint is violated")

    def columns(self) -> Iterator[Any]:
        """Yield the number, b, rho, l1 and bounds of each column outside groups and tasks."""
        terms = self.coef, self.rho, self.l1, self.arrays["lower"], self.arrays["upper"]
        for first in range(0, self.alone.size, ROWS):
            some = self.alone[first : first + ROWS]
            yield from zip(some, *(rational(one[some]) for one in terms))

    def norms(self) -> Iterator[Any]:
        """Yield the columns of each group, their coefficients and strengths, and its norm."""
        for j in self.groups:
            b, strengths = rational(self.coef[j]), rational(self.arrays["strengths"][j])
            yield j, b, strengths, strengths @ np.sort(abs(b))[::-1]

    def raised(self, terms: list[Any]) -> Fraction:
        """Return a sum of fractions rounded up: an exact one has long denominators."""
        need(all(abs(term) < INF for term in terms), "no finite gap can be proved")
        if self.exact:
            return sum(terms, Fraction(0))
        total = math.fsum(math.nextafter(float(term), INF) for term in terms)
        return Fraction(math.nextafter(total, INF))

    def proved(self, gap: Any, q: Any, error: Any) -> tuple[Any, Any]:
        """Return the gap with that of the penalty, ``h(b) + h*(q) - q'b``, bounded in two ways.

        A norm needs q, which is known up to an error, in its dual ball. If q is outside, it is
        ``1 / share`` times too large, and ``h*(q)`` is at most ``1 / share - 1`` times the norm of
        competitors, which is at most the objective less the least loss where they are better, or
        competitors are cut off, as on columns without penalty (`is_free`).
        """
        terms, cut, shares, far = list[Any](), list[Any](), [Fraction(1)], rational(self.far)
        for j, b, rho, l1, *bounds in self.columns():
            if not b and abs(q[j]) + error[j] <= l1:  # both h(0) and h*(q) are zero
                continue
            term, over = column_gap(b, rho, l1, bounds, q[j], error[j])
            terms.append(term)
            if over:
                (cut if l1 else terms).append(over * far[j])
                shares.append(l1 / (l1 + over) if l1 else Fraction(1))
                self.is_free |= l1 == 0
        for j, b, strengths, norm in self.norms():
            size = abs(q[j]) + error[j]
            terms.append(norm - q[j] @ b + error[j] @ abs(b))
            sums = zip(np.cumsum(strengths), np.cumsum(np.sort(size)[::-1]))
            shares.append(min(allowed / max(have, allowed) for allowed, have in sums))
            cut.append((1 - shares[-1]) * (size @ far[j]))
        if "tasks" in self.arrays:
            terms.append(self.gap_of_tasks(q, error))
        gap, share, most = gap + self.raised(terms), min(shares), self.objective[1] + self.depth
        excess = (1 / share - 1) * most if share and most < INF else INF
        return gap + (excess if share < 1 else 0), gap + self.raised(cut)

    def squares(self, M: Any, error: Any, k: int) -> Any:
        """Return bounds on squared singular values of M, whose entries are known up to `error`.

        With a nearly orthogonal matrix W of the file, ``B = M W``, the sums of the sizes in the
        rows of ``B'B`` bound its eigenvalues from above (Gershgorin), sorted ones the sorted ones.
        """
        W = rational(self.arrays["turns"][k])
        M, error, W = (A if self.exact else A.astype(float) for A in (M, error, W))
        u, one = (sum(M.shape) + 8) * self.u, np.eye(len(W), dtype=int)
        lost = (abs(W.T @ W - one) + u * abs(W).T @ abs(W)).sum(axis=0).max() * (1 + u)
        need(lost < 0.5, "a matrix of the file is not nearly orthogonal")
        B, e = M @ W, (error @ abs(W) + u * abs(M) @ abs(W)) * (1 + u) + self.tiny
        sizes = abs(B.T @ B) + abs(B).T @ (u * abs(B) + e) + e.T @ abs(B) + e.T @ e + self.tiny
        return rational(np.sort(sizes.sum(axis=0))[::-1] / (1 - lost) * (1 + u))

    def charge_of_tasks(self) -> Any:
        """Return at least ``c min_m sum_k s_k^2 / (eta + m_k)``, from the shares m of the file."""
        c, eta, _, is_centred = rational(self.arrays["shared"])
        U = rational(self.coef[self.arrays["tasks"]])
        U = U - is_centred * (U.sum(axis=1) / Fraction(U.shape[1]))[:, None]
        m = np.sort(rational(self.arrays["shares"]))[::-1]
        return c * (self.squares(U, 0 * U, 0) / (eta + m)).sum()

    def gap_of_tasks(self, q: Any, error: Any) -> Any:
        """Return a bound on the charge and its conjugate at q, less the inner product with q."""
        j, (c, eta, h, is_centred) = self.arrays["tasks"], rational(self.arrays["shared"])
        U, Q, E = rational(self.coef[j]), q[j], error[j]
        inner, lost = (Q * U).sum(), (E * abs(U)).sum()
        if is_centred:  # what tasks have in common is free: it needs sums of zero
            common, missed = Q.sum(axis=1), E.sum(axis=1)
            lost += (abs(common) + missed) @ rational(self.far[j].max(axis=1))
            share = Fraction(1, j.shape[1])
            Q, E = Q - share * common[:, None], E + share * missed[:, None]
        squares = self.squares(Q, E, 1)
        dual = (eta * squares.sum() + squares[: int(h)].sum()) / (4 * c)
        return self.charge_of_tasks() + dual - inner + lost

    def statement(self) -> str:
        """Say what was minimised, as the arrays have it; z is a prediction."""
        arrays, labels, columns = self.arrays, self.header["labels"], self.arrays["columns"]
        targets, free = arrays["copies"][:, 1] + 1, np.unique(columns[columns[:, -1] >= 0, -1]).size
        rows = f"{self.n} rows" + f" ({self.used} with a weight)" * (self.used < self.n)
        rows += f", {self.coef.size - free} columns"
        rows += f" and {'an' if free == 1 else free} intercept" * (free > 0)
        rows += f", every row {len(targets)} times" * (len(targets) > 1)
        target, rules = f"target {listed(np.unique(targets))}" if targets.max() else "0", []
        for k, (sign, shift, factor) in enumerate(arrays["encoding"]):
            base = target if labels is None else f"{target}, {labels[k]!r:.60}: {shift:g}"
            rules.append(f"{base} {'+' if sign > 0 else '-'} z times {factor:g}")
        used = sorted((one for one in self.losses if one.rows), key=lambda one: -one.rows)
        slopes = [f"slopes from {float(one.low):g} to {float(one.high):g}" for one in used]
        norms = [arrays["strengths"][j] for j in self.groups]
        sizes = {"ridge": self.rho[self.rho > 0], "L1": self.l1[self.l1 > 0]}
        penalty = []
        for name, some in (sizes | {"sorted norms": np.concatenate([[], *norms])}).items():
            ends = f" ({some.min():g} to {some.max():g})" if some.size else ""
            penalty.append(f"{name} on {some.size}{ends}")
        if "tasks" in arrays:
            c, eta, h, is_centred = arrays["shared"]
            shape = " x ".join(map(str, arrays["tasks"].shape))
            penalty.append(f"{h:g} shared dimensions (c {c:g}, eta {eta:g}) of {shape} columns")
            penalty[-1] += ", less their means" * int(is_centred)
        loss = f"loss of {listed(rules)} (z is the prediction) with {listed(slopes, 3)}"
        weights = f"weights of the {'data' if self.is_by_data else 'file'}"
        if not self.is_by_data and (arrays["weight"] == 1).all():
            weights = "equal weights"
        return "; ".join([rows, loss, ", ".join(penalty), region(arrays), weights])


def region(arrays: dict[str, Any]) -> str:
    """Say how many bounds and constraints there are."""
    bounded = ((arrays["lower"] > -INF) | (arrays["upper"] < INF)).sum()
    return f"bounds on {bounded}, {arrays['c'].size + arrays['f'].size} linear constraints"


def excluded_size(arrays: dict[str, Any]) -> float:
    """Return the size up to which no coefficients satisfy the constraints (Farkas), or refuse.

    All sums are rational. Coefficients without a bound need multipliers that cancel exactly, and
    then the size is infinite; what is left of others excludes coefficients up to a size only.
    """
    (pull, best), left, zero = combined(arrays), Fraction(0), Fraction(0)
    for q, *bounds in zip(pull, rational(arrays["lower"]), rational(arrays["upper"])):
        term, over = column_gap(zero, zero, zero, bounds, q, zero)
        best, left = best + term, left + over
    need(best < 0, "the multipliers prove no contradiction")
    numbers = np.concatenate([abs(arrays[name]) for name in ("lower", "upper", "c", "f")])
    unit, size = numbers[np.isfinite(numbers)].max(initial=1.0), -best / left if left else INF
    need(size >= Fraction(LEAST_INFEASIBLE) * Fraction(unit), "the multipliers do not cancel")
    return float(min(size, Fraction(MOST))) if left else INF


# ---- data ----------------------------------------------------------------------------------------


def as_blocks(blocks: Iterable[Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield features, targets (one column each) and weights of blocks; CannotCheck if odd."""
    with raising(CannotCheck, "the data cannot be used"):
        for block in blocks:
            if not (isinstance(block, (tuple, list)) and len(block) in (2, 3)):
                raise CannotCheck(
                    "the data must be blocks (X, y) or (X, y, weight), such as [(X, y)]"
                )
            X, y, weight = (*block, None)[:3]
            X, y = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X), np.asarray(y)
            y = y[:, None] if y.ndim == 1 else y
            if not (X.ndim == y.ndim == 2 and X.shape[0] == y.shape[0]):
                raise CannotCheck(f"a block has X of shape {X.shape} and {y.size} targets")
            if X.dtype.kind not in "fiub" or not np.isfinite(getattr(X, "data", X)).all():
                raise CannotCheck("X must hold finite numbers")
            if weight is not None:
                weight = np.ravel(np.asarray(weight, dtype=np.float64))
                if weight.size != y.shape[0] or not ((weight >= 0) & (weight < INF)).all():
                    raise CannotCheck("weights must be one for each row, finite and >= 0")
            yield X, y, weight


def targets(labels: Any, y: Any, count: int) -> Any:
    """Return targets as numbers, and labels as their places in the list."""
    need(y.shape[1] >= count, f"the data have {y.shape[1]} targets where {count} are needed")
    if labels is not None:
        places = {label: k for k, label in enumerate(labels)}  # 1, 1.0 and True are one label
        place = np.reshape([places.get(one, -1.0) for one in y.ravel().tolist()], y.shape)
        need((place >= 0).all(), f"y holds labels other than {listed(map(repr, labels))}")
        return place
    if count == 0:  # no loss looks at targets
        return np.zeros((y.shape[0], 0))
    if y.dtype.kind not in "fiub" or not np.isfinite(y).all():
        raise CannotCheck("y must hold finite numbers")
    return y.astype(np.float64)


def show_rows(checkers: list[Checker], blocks: Iterable[Any]) -> list[str]:
    """Let checkers see all rows, and return the checksums of their chunks.

    A sum is that of rows ``(x, targets)``; in format 1 that of ``(x, p, o)``.
    """
    header, n, sums = checkers[0].header, 0, [hashlib.sha256()]
    count = 1 + max(int(one.arrays["copies"][:, 1].max()) for one in checkers)
    most = max(1, min(ROWS, CHUNK // max(1, *(one.coef.size for one in checkers))))
    for X, y, weight in as_blocks(blocks):
        step, start = max(1, CHUNK // max(X.shape[1], 1)), 0
        fits = all(one.arrays["columns"].shape[1] == X.shape[1] + 1 for one in checkers)
        need(fits, f"a block has {X.shape[1]} columns, which is not what the file is about")
        need(n + y.shape[0] <= header["n_samples"], "the data have too many rows")
        while start < y.shape[0]:
            some = slice(start, start := min(start + most, start + step - n % step, y.shape[0]))
            part = X[some].toarray() if hasattr(X, "toarray") else X[some]
            part = np.asarray(part, dtype="<f8") + 0.0  # no -0.0
            values = shown = targets(header["labels"], y[some], count)
            if header["version"] == 1:
                shown = np.column_stack(checkers[0].encode(values, 0)[:2])
            sums += [hashlib.sha256()] if n and n % step == 0 else []
            sums[-1].update(np.column_stack([part, shown + 0.0]).astype("<f8").tobytes())
            for checker in checkers:
                checker.add(part, values, None if weight is None else weight[some])
            n += part.shape[0]
    need(n == header["n_samples"], f"the data have {n} rows, not {header['n_samples']}")
    return [one.hexdigest() for one in sums]


def check_all(path: Any, blocks: Iterable[Any] = (), exact: bool = False) -> list[Verdict]:
    """Return a verdict for each problem of a file, as `check` does for one.

    Parameters
    ----------
    path, blocks, exact
        As for `check`.

    Returns
    -------
    list of Verdict

    Examples
    --------
    >>> import io, rectiline as rl
    >>> file, X, y = io.BytesIO(), np.eye(2), np.array([1.0, 2.0])
    >>> rl.solve(rl.Problem(X, y, "squared_error")).save(file)
    >>> [one.kind for one in check_all(file, [(X, y)])]
    ['optimality']
    """
    if not (isinstance(blocks, Iterable) and isinstance(exact, bool)):
        raise CannotCheck("the data are one argument, blocks such as [(X, y)]; exact is a bool")
    with raising(Refused, "the file is malformed"):
        header, arrays = read(path)
        checkers = problems(header, arrays, exact)
        shown = [one for one in checkers if one.kind != "infeasible"]
        is_same = not shown or show_rows(shown, blocks) == header.get("checksums")
        need(is_same, "the data are not those of the certificate")
        return [one.verdict() for one in checkers]


def check(path: Any, blocks: Iterable[Any] = (), exact: bool = False) -> Verdict | None:
    """Check a certificate file of one problem against data; `check_all` takes any file.

    `Refused` is raised if the file does not prove its claim, `CannotCheck` if the data are odd.

    Parameters
    ----------
    path : str, path or binary file
    blocks : iterable of tuple
        The data: ``[(X, y)]``, ``[(X, y, weight)]``, or several such blocks of rows in order.
    exact : bool, default=False
        Whether to compute in rational numbers, for small data.

    Returns
    -------
    Verdict or None
        None if the file proves that no coefficients satisfy the constraints.

    Examples
    --------
    >>> import io, rectiline as rl
    >>> file, X, y = io.BytesIO(), np.eye(2), np.array([1.0, 2.0])
    >>> rl.solve(rl.Problem(X, y, "squared_error")).save(file)
    >>> found = check(file, [(X, y)])
    >>> round(found.objective, 6), found.gap < 1e-6
    (0.125, True)
    """
    found = check_all(path, blocks, exact)
    if len(found) > 1:
        raise CannotCheck(f"the file states {len(found)} problems; use check_all")
    return None if found[0].kind == "infeasible" else found[0]


# ---- words and the command -----------------------------------------------------------------------


def listed(words: Iterable[Any], most: int = 5) -> str:
    """Return the first words, separated by commas."""
    first = [str(word)[:100] for word in itertools.islice(words, most + 1)]
    return ", ".join([*first[:most], *["..."] * (len(first) > most)])


def sentence(found: Verdict) -> str:
    """Return in one sentence what was proved.

    Parameters
    ----------
    found : Verdict

    Returns
    -------
    str

    Examples
    --------
    >>> sentence(Verdict(math.nan, 0.0, 0.0, kind="infeasible"))
    'The claim holds: no coefficients satisfy the constraints.'
    """
    up_to = f" up to {found.radius:g}" if found.radius < math.inf else ""
    if found.kind == "infeasible":
        said = f"no coefficients{' of size' * bool(up_to)}{up_to} satisfy the constraints"
    elif found.kind == "unbounded":
        said = f"far along its direction the objective is {found.objective:.2g} or less"
    else:
        share = found.gap / max(abs(found.objective), abs(found.objective - found.gap), 5e-324)
        said = f"the objective {found.objective:.10g} is at most {found.gap:.2g} "
        said += f"(relative {share:.2g}, rounding {found.rounding:.2g}) above the optimum"
        said += f" among coefficients{up_to} sizes" if up_to else ""
    return f"The claim holds: {said}." + f" Problem: {found.problem}." * bool(found.problem)


def stated(header: dict[str, Any]) -> list[str]:
    """Return in words what the file says about the data, which is not proved.

    It chooses the columns of a table, so a reader must see which they are.
    """
    if "checksums" not in header:  # an infeasible problem is about no data
        return []
    names = {"target": header.get("targets"), "columns": header.get("columns")}
    names["snapshot"] = [header["source"]] if header.get("source") else None
    said = [f"{what} {listed(map(repr, some), 12)}" for what, some in names.items() if some]
    return [f"The file says, without a proof: {'; '.join(said)}."] if said else []


def table(path: str | None, weight: str | None, header: dict[str, Any]) -> Iterator[Any]:
    """Yield the rows of a .npz file with X and y, or of a .csv file with a line of names."""
    if path is None:
        raise CannotCheck("the data are needed")
    targets = header.get("targets") or ["y"]
    if path.endswith(".npz"):
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            yield arrays["X"], arrays[targets[0]], arrays[weight] if weight else None
        return
    with open(path, newline="", encoding="utf-8-sig") as file:
        first, *lines = filter(None, csv.reader(file))
    cells = dict(zip(first, map(np.array, zip(*lines, strict=True)), strict=True))
    if len(cells) < len(first):
        raise CannotCheck("two columns have the same name")

    def column(name: str) -> Any:
        base, _, level = name.partition("=")
        if name not in cells:  # "city=Rome" is 1 where the column city holds Rome
            if not (level and base in cells):
                known = listed(map(repr, first), 12)
                raise CannotCheck(f"the table has no column {name!r}; its columns are {known}")
            return cells[base] == level
        with suppress(ValueError):
            return cells[name] if name in texts else cells[name].astype(np.float64)
        return cells[name]

    names = header["columns"] or [one for one in first if one not in (*targets, weight)]
    texts = targets if all(isinstance(one, str) for one in header["labels"] or [0]) else []
    X, y = (np.column_stack([column(name) for name in some]) for some in (names, targets))
    yield X, y, column(weight) if weight else None


def tell(path: Any, rows: Callable[[Any], Any], target: str | None, exact: bool = False) -> int:
    """Print what a file proves about the data, which `rows` opens; 1 if it is refused, else 0."""
    try:
        header = read(path)[0] | ({"targets": [target]} if target else {})
        found = check_all(path, rows(header), exact)
    except Refused as error:
        print(f"The claim does not hold: {error}.")
        return 1
    print(*map(sentence, found), *stated(header), sep="\n")
    return 0


def main(argv: list[str] | None = None) -> int:
    """Run the command; 0: the claim holds, 1: it does not, 2: it could not be checked."""
    parser = argparse.ArgumentParser(prog="rectiline.verify", description="Check a certificate.")
    parser.add_argument("certificate", help="a file written by Solution.save")
    parser.add_argument("data", nargs="?", help=".npz with X and y, or .csv")
    parser.add_argument("--target", help="name of the column of targets, if the file has none")
    parser.add_argument("--weight", help="name of the column of weights")
    parser.add_argument("--exact", action="store_true", help="rational arithmetic (small data)")
    given = parser.parse_args(argv)
    try:
        rows = partial(table, given.data, given.weight)
        return tell(given.certificate, rows, given.target, given.exact)
    except Exception as error:  # of the data: where the file is at fault, it is refused
        print(f"Could not check: {error}.")
        return 2


if __name__ == "__main__":
    sys.exit(main())
