"""Check a certificate file against data, with NumPy alone: no solver, no other part of Rectiline.

    python -m rectiline.verify fit.rlcert data.csv --target y

Exit code 0: the claim holds; 1: it does not; 2: it could not be checked. A copy of this file works
without the package. ``docs/theory/certificate_files.rst`` describes the format and the threats: the
file comes from somebody who may want to deceive, the data from the person who checks. For any
slopes ``s_i``, multipliers ``xi >= 0`` and ``nu``, with ``g_i = w_i p_i s_i`` and
``q = A'xi + E'nu - X'g``, weak duality bounds how far the objective is above its optimum by

    gap = sum_i w_i [f(t_i) + f*(s_i) - s_i t_i] + [h(b) + h*(q) - q'b]
          + xi'(A b + c) + |nu|'|E b + f|,

with ``t_i = p_i x_i'b + o_i``; the intercept is a column of ones. Each term is computed in double
precision with a bound on its rounding error (``--exact``: in rationals, without error). A column
without penalty or bound needs ``q_j = 0``: what is left is charged at `radius` typical sizes, and
the claim is then about coefficients up to that size.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import itertools
import json
import math
import sys
import zipfile
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

__all__ = [
    "CannotCheck",
    "Refused",
    "Verdict",
    "check",
    "check_all",
    "check_infeasible",
    "read",
    "sentence",
]

CHUNK = 2**21  # entries of X in a chunk of rows; the header has one checksum per chunk
SUMMED = 256  # rows summed at once: rounding errors grow with this number, not with all rows
RADIUS = 1024  # how far competitors may lie on free columns, in sizes of the coefficients
RADII = (100, RADIUS)  # that a file may state; the first is that of files which state none
FEASIBLE = 1e-9  # largest violation that counts as rounding, relative to the terms of its row
LEAST_INFEASIBLE = 1e6  # sizes up to which coefficients must be excluded to prove infeasibility
BYTES, RATIO = 2**28, 100  # most bytes that a file unpacks to, or times its own size
FAR, LOWEST = 2.0**30, -1024.0  # sizes at which a falling objective must be this low
JUMP = 2.0**-40  # relative jump of a loss or of its slope at a knot that counts as rounding
TINY = 2.0**-1000  # more than a product of doubles loses by underflow
INTEGERS = ("groups", "loss_index", "slope_rows")
FILE = ("format", "version", "arrays", "n_samples", "n_features", "n_targets", "labels", "columns")
VECTORS = ("lower", "upper", "coef", "rho", "l1", "groups", "strengths")
PER_ROW = ("weight", "loss_index")  # optional
CONSTRAINTS = ("A", "c", "inequality", "E", "f", "equality")


class Refused(ValueError):
    """The file cannot be used or its claim does not hold; the message says why in one sentence."""


class CannotCheck(ValueError):
    """The data cannot be read, so that nothing can be said about the claim."""


class Verdict(NamedTuple):
    """What was proved: ``objective - gap <= optimum``.

    Attributes
    ----------
    objective, gap : float
    rounding : float
        The part of the gap that bounds rounding.
    radius : float
        Infinite, or the optimum is that of all coefficients up to so many typical sizes.
    problem : str
        What was minimised, in words, read from the arrays of the file.

    Notes
    -----
    Of kind "infeasible", no coefficients up to the size `radius` satisfy the constraints; of kind
    "unbounded", far along a direction the objective is `objective` or less.
    """

    objective: float
    gap: float
    rounding: float
    radius: float = math.inf
    problem: str = ""
    kind: str = "optimality"


def need(condition: Any, reason: str) -> None:
    """Refuse for the reason given unless the condition holds."""
    if not condition:
        raise Refused(reason)


# ---- what a file may hold ------------------------------------------------------------------------


def check_header(header: Any) -> None:
    """Refuse a header that does not have the fields of the format, each of its kind."""
    need(header["kind"] in ("infeasible", "optimality", "unbounded"), "its kind is unknown")
    if header["kind"] == "infeasible":
        return
    for name in ("n_samples", "n_columns", "n_inequalities", "n_equalities", "n_features"):
        need(type(header[name]) is int and 0 <= header[name] < 2**53, f"{name} is no size")
    need(isinstance(header["fit_intercept"], bool), "fit_intercept must be true or false")
    need(header["of"] in ("residual", "margin", "prediction"), "the kind of loss is unknown")
    need(header["weights"] in ("file", "data", "none"), "it does not say whose weights it has")
    need(header["output"] in range(header["n_targets"] or 1), "output is no number of a target")
    labels, signs, factors = (header[name] for name in ("labels", "signs", "factors"))
    need(labels is not None or header["of"] != "margin", "a margin needs labels")
    if labels is not None:
        need(all(isinstance(one, (str, int, float)) for one in labels), "labels are odd")
        need(len(labels) == len(signs) == len(factors) == len(set(labels)), "labels are odd")
        need(set(signs) <= {-1, 0, 1}, "a sign of a label is not -1, 0 or 1")
    need(0 < len(header["losses"]) <= 256, "there must be 1 to 256 losses")
    numbers = [header["weight_scale"], *(factors or ()), *header["claim"].values()]
    for loss in header["losses"]:
        need(len(loss["pieces"]) == len(loss["knots"]) + 1, "a loss is malformed")
        need(all(len(piece) == 4 for piece in loss["pieces"]), "a loss is malformed")
        numbers += [*loss["knots"], *(number for piece in loss["pieces"] for number in piece)]
    finite = (isinstance(v, str) and math.isfinite(float.fromhex(v)) for v in numbers)
    need(all(finite), "a number of the header is not finite")
    scales = [float.fromhex(v) for v in (header["weight_scale"], *(factors or ()))]
    need(min(scales) >= 0, "the scale of the weights is negative")
    names, d, count = header["columns"], header["n_features"], len(header["losses"])
    fits = names is None or [type(name) for name in names] == [str] * d
    need(fits, "columns need a name each")
    levels, wanted = header["levels"], d + header["fit_intercept"]
    if levels is not None:
        shared, own = levels["shared"], levels["intercepts"]
        need(isinstance(shared, bool) and isinstance(own, bool), "the levels are odd")
        wanted = d * (1 if shared else count) + own * count
        need(not header["fit_intercept"], "levels have intercepts of their own")
    more = header["n_columns"] - wanted
    need(more >= 0 and (levels is not None or not more), "the columns are not those of the data")


def problems(header: Any, arrays: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return header and arrays of every problem: what it states itself goes before the file's."""
    need(isinstance(header, dict), "its header is no object")
    need(header.get("format") == "rectiline-certificate", "its format is unknown")
    version = header.get("version")
    need(type(version) is int and version in (1, 2), "its version is unknown")
    need(sorted(arrays) == header["arrays"], "arrays are missing or were added")
    given = dict(header)
    if version == 1:  # one problem, whose labels, if it has any, are two
        given |= {"problems": [{}], "levels": None, "output": 0, "n_targets": 1, "n_features": 0}
        given |= {"signs": [-1, 1], "factors": [(1.0).hex()] * 2}
        given |= {"weights": "file" if "weight" in arrays else "data"}
        if header["kind"] != "infeasible":
            need(header["kind"] == "optimality" and len(header["labels"]) == 2, "labels are odd")
            given["n_features"] = header["n_columns"] - header["fit_intercept"]
            given["labels"] = header["labels"] if header["of"] == "margin" else None
    need(given["problems"], "it states no problem")
    found, shared = [], {name for name in arrays if "/" not in name}
    for k, one in enumerate(given["problems"]):
        need(not set(one) & set(FILE), "a problem states what belongs to the file")
        own = {n.partition("/")[2]: a for n, a in arrays.items() if n.startswith(f"{k}/")}
        found.append((given | one, {name: arrays[name] for name in shared} | own))
        check_header(found[-1][0])
        check_shapes(*found[-1])
    folders = {name.partition("/")[0] for name in set(arrays) - shared}
    need(folders <= set(map(str, range(len(found)))), "an array belongs to no problem")
    return found


def read(path: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a certificate file, whose form has been checked.

    Parameters
    ----------
    path : str, path or binary file

    Returns
    -------
    tuple of dict
        The header, and the arrays by name.

    Examples
    --------
    >>> import io, rectiline as rl
    >>> file = io.BytesIO()
    >>> rl.solve(rl.Problem(np.eye(2), [1.0, 2.0], "squared_error")).save(file)
    >>> read(file)[0]["kind"]
    'optimality'
    """
    try:
        with zipfile.ZipFile(path) as archive:  # reading compares the checksum of every member
            members = archive.infolist()
            size, packed = (sum(v) for v in zip(*((m.file_size, m.compress_size) for m in members)))
            need(size <= max(BYTES, RATIO * packed), f"it unpacks to {size:,} bytes")
            need(all(one.compress_type in (0, 8) for one in members), "its compression is unknown")
            need(len(set(archive.namelist())) == len(members), "a member stands there twice")
            parts = {name: archive.read(name) for name in archive.namelist()}
        header = json.loads(parts.pop("header.json"))
        arrays = {name.removesuffix(".npy"): array(name, raw) for name, raw in parts.items()}
        problems(header, arrays)
    except OSError:
        raise
    except Exception as error:
        raise Refused(f"this is not a readable certificate file ({error})") from None
    return header, arrays


def array(name: str, raw: bytes) -> Any:
    """Return an array of finite numbers (bounds may be infinite) from the bytes of a .npy file."""
    base = name.removesuffix(".npy").rpartition("/")[2]
    stream, kinds = io.BytesIO(raw), "iu" if base in INTEGERS else "f"
    need(np.lib.format.read_magic(stream) == (1, 0), f"{name} has an unknown format")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    need(dtype.kind in kinds and dtype.itemsize <= 8, f"{name} has a wrong dtype")
    body = raw[stream.tell() :]
    need(len(body) == math.prod(shape) * dtype.itemsize, f"{name} is cut off")
    values = np.frombuffer(body, dtype).reshape(shape, order="F" if is_fortran else "C")
    right = ~np.isnan(values) if base in ("lower", "upper") else np.isfinite(values)
    need(right.all(), f"array {name} holds values that are not finite")
    return values.astype(np.int64 if kinds == "iu" else np.float64)


def check_shapes(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Refuse arrays of other shapes than declared, and indices out of range."""
    kind, listed, count = header["kind"], arrays.get("slope_rows", np.zeros(0)), 1
    if kind == "infeasible":  # these declare no sizes
        m, k, d, n = (*(arrays[name].size for name in ("c", "f", "lower")), 0)
    else:
        names = ("n_inequalities", "n_equalities", "n_columns", "n_samples")
        m, k, d, n = (header[name] for name in names)
        count = 1 if header["levels"] is None else len(header["losses"])
    shapes: dict[str, Any] = {"A": (m, d), "c": (m,), "E": (k, d), "f": (k,)}
    shapes |= dict.fromkeys(VECTORS[:2] if kind == "infeasible" else VECTORS, (d,))
    if kind == "unbounded":
        shapes["direction"] = (d,)
    else:
        shapes |= {"inequality": (m,), "equality": (k,)}
    if kind == "optimality":
        shapes |= {"split_coef": (d,), "slope_rows": (listed.size,), "slopes": (listed.size,)}
    shapes |= {name: (n,) for name in PER_ROW if name in arrays}
    need(sorted(shapes) == sorted(arrays), "arrays are missing or were added")
    for name, shape in shapes.items():
        need(arrays[name].shape == shape, f"array {name} is not of shape {shape}")
    inside = not listed.size or (listed[0] >= 0 and listed[-1] < n * count)
    need(inside and (np.diff(listed) > 0).all(), "slope_rows do not increase or are out of range")
    index, weight = arrays.get("loss_index", np.zeros(0)), arrays.get("weight", np.zeros(0))
    fits = (index >= 0).all() and (not index.size or index.max() < len(header["losses"]))
    need(fits and (count == 1 or not index.size), "loss_index names no loss")
    need((weight >= 0).all(), "a weight is negative")


def chunks(X: Any, first: int) -> Iterator[tuple[slice, Any]]:
    """Cut a block whose first row has number `first` into dense chunks, as checksums are cut."""
    step, start = max(1, CHUNK // max(X.shape[1], 1)), 0
    while start < X.shape[0]:
        part = X[start : start + step - (first + start) % step]
        part = np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype="<f8")
        yield slice(start, start := start + part.shape[0]), part + 0.0  # -0.0 becomes 0.0


# ---- losses --------------------------------------------------------------------------------------


class Curve:
    """A piecewise quadratic loss; a piece is ``value + e (slope + bend e / 2)``, ``e = t - at``.

    Sizes are sums of the absolute values of terms: rounding errors are small shares of them, also
    where a piece is anchored far from where it is used.
    """

    def __init__(self, given: dict[str, Any], exact: bool) -> None:
        knots = [Fraction(float.fromhex(v)) for v in given["knots"]]
        pieces = [[Fraction(float.fromhex(v)) for v in piece] for piece in given["pieces"]]
        need(all(a < b for a, b in itertools.pairwise(knots)), "knots of a loss do not increase")
        need(all(piece[3] >= 0 for piece in pieces), "a piece of a loss is not convex")
        for knot, left, right in zip(knots, pieces, pieces[1:]):
            (f, s, size, steep), (g, t, other, steeper) = (at(knot, *one) for one in (left, right))
            need(abs(f - g) <= JUMP * (size + other), "a loss jumps at a knot")
            need(s <= t + JUMP * (steep + steeper), "a loss is not convex at a knot")
        number: Any = Fraction if exact else float
        ends: list[Any] = [-math.inf, *map(number, knots), math.inf]
        self.pieces: list[Any] = [
            (*ends[k : k + 2], *map(number, one)) for k, one in enumerate(pieces)
        ]
        self.low, self.high = (
            math.copysign(math.inf, side) if piece[5] else piece[4]
            for side, piece in ((-1, self.pieces[0]), (1, self.pieces[-1]))
        )
        need(self.low <= self.high, "a loss is not convex")
        self.u: Any = 0 if exact else 2.0**-53
        self.least: Any = -math.inf
        if self.low <= 0 <= self.high:  # all but a linear term are bounded below
            self.least = -self.conjugate(np.array([number(0.0)]))[1][0]

    def values(self, t: Any) -> tuple[Any, Any, Any, Any]:
        """Return the function, its right derivative, and the sizes of both, at entries of t."""
        found = [t, t, t, t]
        for low, _, *piece in self.pieces:
            parts = zip(at(t, *piece), found)
            found = [np.where(t >= low, new, old) for new, old in parts]
        return found[0], found[1], found[2], found[3]

    def conjugate(self, s: Any) -> tuple[Any, Any]:
        """Return ``sup_t s t - f(t)`` for slopes from `low` to `high`, and an upper bound on it."""
        best = upper = np.full(s.shape, -math.inf)
        for low, high, *piece in self.pieces:
            anchor, _, slope, bend = piece
            top = np.clip(anchor + (s - slope) / bend, low, high) if bend else anchor + 0 * s
            for t in (top, *(0 * s + end for end in (low, high) if math.isfinite(end))):
                value, _, size, _ = at(t, *piece)
                lost = 8 * self.u * (abs(s * t) + size + self.u * bend * anchor * anchor)
                best, upper = (
                    np.maximum(best, s * t - value),
                    np.maximum(upper, s * t - value + lost),
                )
        return best, upper


def at(t: Any, anchor: Any, value: Any, slope: Any, bend: Any) -> tuple[Any, Any, Any, Any]:
    """Return a piece at t, its slope there, and the sizes of their terms."""
    e = t - anchor
    steep = abs(slope) + bend * abs(e)
    return value + e * (slope + bend * e / 2), slope + bend * e, abs(value) + abs(e) * steep, steep


# ---- the proof -----------------------------------------------------------------------------------


class Checker:
    """Sums of the terms of the gap over blocks of rows, and the verdict that follows from them."""

    if TYPE_CHECKING:  # the arrays of the file become attributes

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, header: dict[str, Any], arrays: dict[str, Any], exact: bool = False) -> None:
        if header["kind"] == "unbounded":  # the objective far along the direction is looked at
            b, d = arrays["coef"], arrays["direction"]
            far = b + FAR * max(1.0, abs(b).max()) / max(abs(d).max(), TINY) * d
            none = np.zeros(0, dtype=np.int64)
            arrays = {**arrays, "slopes": none, "slope_rows": none, "coef": far, "split_coef": far}
            arrays |= {"inequality": 0 * arrays["c"], "equality": 0 * arrays["f"]}
        self.header, self.arrays = header, arrays
        self.u: Any = Fraction(0) if exact else 2.0**-53
        self.tiny: Any = 0 if exact else TINY
        fraction: Any = np.frompyfunc(lambda v: v if math.isinf(v) else Fraction(float(v)), 1, 1)
        self.number: Any = (
            (lambda a: np.asarray(fraction(a), dtype=object)) if exact else np.asarray
        )
        self.radius = header.get("radius", RADII[0])
        need(self.radius in RADII, f"the radius must be one of {RADII}")
        for name in {*arrays} - {*INTEGERS, *PER_ROW}:
            setattr(self, name, self.number(arrays[name]))
        signs = np.concatenate([self.inequality, self.rho, self.l1, self.upper - self.lower])
        need((signs >= 0).all(), "a multiplier of an inequality or a strength is negative")
        self.curves = [Curve(one, exact) for one in header["losses"]]
        self.n = self.used = 0  # rows, and those that have a weight
        self.weight_unit = None  # weights of the file for one of the data, where both are given
        self.is_cut = False  # whether the radius matters
        self.loss = self.least = self.gap = self.noise = self.reach = self.number(np.zeros(1))[0]
        self.q, self.rest, self.blur, self.top = (0 * self.coef for _ in range(4))
        self.lost = self.loss  # bounds the rounding error of the loss

    def add(self, X: Any, values: Any, given: Any = None) -> None:
        """Take dense rows: features, targets (or places of labels), and weights of the data."""
        p, o, w = self.encode(values)
        rows = np.arange(self.n, self.n + p.size)
        w = w * self.weights(rows, given)
        index, levels = self.arrays.get("loss_index"), self.header["levels"]
        part = np.column_stack([X, np.ones(p.size)]) if self.header["fit_intercept"] else X
        for k, curve in enumerate(self.curves):
            number, mine = rows, np.arange(p.size)
            if levels is not None:  # every row stands once for each loss
                number, part = rows * len(self.curves) + k, self.at_level(X, k)
            elif index is not None:
                mine = np.flatnonzero(index[rows] == k)
            for j in np.split(mine, range(SUMMED, mine.size, SUMMED)) if mine.size else ():
                self.sum(curve, number[j], *(self.number(v[j]) for v in (part, p, o, w)))
        self.n, self.used = self.n + p.size, self.used + int((w > 0).sum())

    def at_level(self, X: Any, k: int) -> Any:
        """Return rows with slopes of their own for each loss, or shared ones, and an intercept."""
        d, count, levels = X.shape[1], len(self.curves), self.header["levels"]
        wide, first = np.zeros((X.shape[0], self.coef.size)), 0 if levels["shared"] else k * d
        wide[:, first : first + d] = X
        if levels["intercepts"]:
            wide[:, (d if levels["shared"] else d * count) + k] = 1.0
        return wide

    def weights(self, rows: Any, given: Any) -> Any:
        """Return the weights of rows: those of the file, which must fit the data, or the data's."""
        scale, stored = float.fromhex(self.header["weight_scale"]), self.arrays.get("weight")
        if self.header["weights"] == "data":
            return scale * (np.ones(rows.size) if given is None else given)
        own = np.ones(rows.size) if stored is None else stored[rows]
        if given is not None:
            used = np.flatnonzero(given > 0)
            if self.weight_unit is None and used.size:
                self.weight_unit = own[used[0]] / given[used[0]]
            wanted = given * (self.weight_unit or 0.0)
            same = abs(own - wanted) <= 1e-12 * wanted
            need(same.all(), "the weights of the data are not proportional to those of the file")
        return scale * own

    def encode(self, values: Any) -> tuple[Any, Any, Any]:
        """Return p and o such that the loss of a prediction z is taken at ``p z + o``, and weights.

        Labels have a sign, 0 for rows that do not count, and a factor on their weights.
        """
        one, labels = np.ones(values.shape[0]), self.header["labels"]
        if self.header["of"] == "prediction":
            return one, 0 * one, one
        y, weight = values[:, self.header["output"]], one
        if labels is not None:
            place, factors = y.astype(np.int64), map(float.fromhex, self.header["factors"])
            y = np.array(self.header["signs"], dtype=np.float64)[place]
            weight = np.array([*factors])[place] * abs(y)
        if self.header["of"] == "margin":
            return np.where(y > 0, 1.0, -1.0), 0 * one, weight
        return -one, y, weight

    def sum(self, curve: Curve, rows: Any, X: Any, p: Any, o: Any, w: Any) -> None:
        """Add the terms of rows that share a loss; `error` and `noise` bound rounding errors."""
        d, u, n, listed = X.shape[1], self.u, SUMMED, self.arrays["slope_rows"]
        z, size = X @ self.coef, abs(X) @ abs(self.coef)
        t, s = p * z + o, curve.values(p * (X @ self.split_coef) + o)[1]
        if listed.size:
            at = np.minimum(np.searchsorted(listed, rows), listed.size - 1)
            s = np.where(listed[at] == rows, self.slopes[at], s)
        need(((s >= curve.low) & (s <= curve.high)).all(), "a slope is outside its loss's range")
        error = (d + 4) * (u * size + self.tiny) + 4 * u * abs(t)
        value, _, terms, steep = curve.values(t)
        conjugate, most = curve.conjugate(s)
        ends = [curve.values(end)[1] for end in (t - error, t + error)]
        noise = (np.maximum(*(abs(end - s) for end in ends)) + 4 * JUMP * steep) * error
        lost = np.maximum(*map(abs, ends)) * error + 8 * (u * terms + JUMP * steep * error)
        self.lost += (w * (lost + self.tiny)).sum() * (1 + 4 * n * u) + n * u * (w * terms).sum()
        noise = noise + (most - conjugate) + 8 * (u * (terms + abs(s * t)) + self.tiny)
        self.gap += (w * np.maximum(value + conjugate - s * t, 0)).sum() * (1 + 4 * n * u)
        self.noise += (w * noise).sum() * (1 + 4 * n * u) + 4 * u * self.gap + n * self.tiny
        self.loss, self.least = self.loss + (w * value).sum(), self.least + curve.least * w.sum()
        g = w * p * s
        part = -(X.T @ g)
        total = self.q + part  # Knuth's two-sum keeps what this addition rounds away
        back = total - self.q
        self.rest = self.rest + ((self.q - (total - back)) + (part - back))
        self.q = total
        lost = u * (abs(X).T @ abs(g)) + self.tiny * (1 + abs(X).max(axis=0))
        self.blur = self.blur + (n + 8) * lost + 4 * u * abs(self.rest)
        self.top = np.maximum(self.top, abs(X).max(axis=0))
        self.reach = max(self.reach, abs(z).max(), abs(o).max())

    def verdict(self) -> Verdict:
        """Return what is proved about all rows, or refuse if that is not what the file claims."""
        b, u = self.coef, self.u
        self.check_coefficients()
        if self.header["kind"] == "unbounded":
            low = self.loss + self.lost + self.penalty(0 * self.q, 0 * self.q)[1]
            need(low * (1 - 4 * b.size * u) <= LOWEST, "the objective does not fall far enough")
            return Verdict(float(low), math.inf, 0.0, math.inf, self.statement(), "unbounded")
        q, e, gap, noise = self.q + self.rest, self.blur, self.gap, self.noise
        for M, constant, y in ((self.A, self.c, self.inequality), (self.E, self.f, self.equality)):
            value, size = M @ b + constant, abs(M) @ abs(b) + abs(constant)
            gap += (abs(y) * (abs(value) if M is self.E else np.maximum(value, 0))).sum()
            lost = u * size + self.tiny
            noise += (b.size + y.size + 8) * (abs(y) * lost).sum() + y.size * self.tiny
            q = q + M.T @ y
            e = e + (y.size + 8) * (u * (abs(M).T @ abs(y)) + self.tiny)
        share, value, terms, blur = self.penalty(q, e + 4 * u * abs(q))
        if share < 1:
            charged = gap + (1 - share) * ((abs(q) + e) * (self.far + abs(b))).sum()
            gap = share * gap + (1 - share) * (self.loss - self.least)  # the dual is concave
            if self.least > -math.inf:  # a linear term does not shrink
                noise += (1 - share) * 4 * SUMMED * u * (abs(self.loss) + abs(self.least))
                rounded = (self.penalty(q, 0 * e)[0] - share) * (self.loss - self.least)
                gap, noise = gap - min(rounded, gap), noise + min(rounded, gap)
            if 10 * charged < gap:  # then the rest of q counts with its radius
                gap, self.is_cut = charged, True
        noise = noise + blur
        claim = {name: float.fromhex(text) for name, text in self.header["claim"].items()}
        objective, total = self.loss + value, (gap + terms + noise) * (1 + 16 * u)
        is_finite = math.isfinite(total) and math.isfinite(objective)
        need(is_finite, "no finite gap can be proved")
        shown = abs(objective - claim["objective"]) <= 1e-9 * abs(objective) + claim["gap"]
        found = f"{float(objective):.10g}, not {claim['objective']:.10g} as claimed"
        need(shown, f"the objective is {found}")
        found = f"{float(total):.3g} exceeds {claim['gap']:.3g}"
        need(total <= claim["gap"], f"the proved gap {found}")
        radius = self.radius if self.is_cut else math.inf
        return Verdict(float(objective), float(total), float(noise), radius, self.statement())

    def check_coefficients(self) -> None:
        """Refuse coefficients outside their bounds, or that break a constraint beyond rounding."""
        b = self.coef
        need(((b >= self.lower) & (b <= self.upper)).all(), "a coefficient is outside its bounds")
        # Coefficients count with at least 1/1000 of what moves predictions noticeably.
        least = np.maximum(abs(b), self.far / self.radius / 1000)
        for M, constant in ((self.A, self.c), (self.E, self.f)):
            value, terms = M @ b + constant, abs(M) @ least + abs(constant)
            outside = abs(value) if M is self.E else -value
            need((outside <= FEASIBLE * terms).all(), "a constraint is violated")

    @property
    def far(self) -> Any:
        """The size up to which coefficients count where multipliers do not bound them."""
        least = self.reach / np.where(self.top > 0, self.top, 1)
        return self.radius * np.maximum(abs(self.coef), least)

    def penalty(self, q: Any, e: Any) -> tuple[Any, Any, Any, Any]:
        """Return the share of the dual point that is feasible, h(b), the gap of h and its noise.

        Entries of q are known up to e; conjugates are taken at the worse of ``q - e``, ``q + e``.
        A group pays the inner product of its strengths with its sorted absolute values: one
        strength and zeros give the largest value (GroupLinf), several the sorted L1 norm (Slope).
        """
        b, size, u, share = self.coef, abs(self.coef), self.u, self.u * 0 + 1
        far, index, strengths = self.far, self.arrays["groups"], self.strengths
        groups = [np.flatnonzero(index == k) for k in np.unique(index[index >= 0])]
        value = terms = noise = u * 0
        limits = [(strengths[j], abs(q[j]) + e[j]) for j in groups]
        side = np.where(q > 0, self.upper, self.lower)
        norm = (self.rho == 0) & (self.l1 > 0) & (abs(side) == math.inf)  # |q_j| <= l1_j is needed
        limits += [(self.l1[[j]], (abs(q) + e)[[j]]) for j in np.flatnonzero(norm)]
        for most, have in limits:
            falls = (most >= 0).all() and (np.diff(most) <= 0).all()
            need(falls, "strengths must fall and be >= 0")
            pairs = zip(np.cumsum(most), np.cumsum(np.sort(have)[::-1]), strict=True)
            share = min([share, *(m / h * (1 - 8 * most.size * u) for m, h in pairs if h > m)])
        for j in groups:
            cost, inner = (strengths[j] * np.sort(size[j])[::-1]).sum(), share * (q[j] * b[j])
            value, terms = value + cost, terms + max(cost - inner.sum(), 0)
            noise += 4 * (j.size + 4) * u * (cost + abs(inner).sum()) + (e[j] * size[j]).sum()
        j = np.flatnonzero(index < 0)
        b, size, rho, l1 = (v[j] for v in (b, size, self.rho, self.l1))
        value = value + (rho * b * b / 2 + l1 * size).sum()
        # Only sides without a bound and without a ridge are cut, at the radius.
        low, high = self.lower[j], self.upper[j]
        near = [
            np.where(low == -math.inf, np.minimum(-far[j], high), low),
            np.where(high == math.inf, np.maximum(far[j], low), high),
        ]
        worst = 0 * b
        for end in (share * (q - e)[j], share * (q + e)[j]):
            pull = np.sign(end) * np.maximum(abs(end) - l1, 0)
            bent = np.clip(pull / np.where(rho > 0, rho, 1), low, high)
            inner = np.clip(0 * b, *near)
            straight = np.where(pull > 0, near[1], np.where(pull < 0, near[0], inner))
            best = np.where(rho > 0, bent, straight)
            open_ = np.where(pull > 0, high, low)
            self.is_cut |= bool(((rho == 0) & (pull != 0) & (abs(open_) == math.inf)).any())
            move = b - best
            gap = rho * move * move / 2 + (rho * best - end) * move + l1 * (size - abs(best))
            worst = np.maximum(worst, gap)
            scale = rho * (best * best + b * b) + (abs(end) + l1) * (size + abs(best))
            noise += 32 * (u * scale + self.tiny).sum()
        return share, value, terms + worst.sum(), noise + 4 * b.size * u * worst.sum()

    def statement(self) -> str:
        """Say what was minimised, as the arrays have it."""
        header, free = self.header, self.header["fit_intercept"]
        losses = [
            f"{len(one.pieces)} pieces with slopes from {float(one.low):g} to {float(one.high):g}"
            for one in self.curves[:3]
        ]
        grouped = self.arrays["groups"] >= 0
        counts = {
            "ridge": (self.rho > 0) & ~grouped,
            "L1": (self.l1 > 0) & ~grouped,
            "grouped or sorted norm": grouped,
            "bounded": (self.lower > -math.inf) | (self.upper < math.inf),
        }
        held = [f"{name} on {where.sum()}" for name, where in counts.items() if where.any()]
        rows = self.c.size + self.f.size
        weights = {"none": "equal weights", "file": "weights of the file"}.get(header["weights"])
        used = f" ({self.used} with weight)" if self.used < self.n else ""
        said = (
            f"{self.n} rows{used}, {self.coef.size - free} columns"
            f"{' and an intercept' if free else ''}"
            f"{', every row once for each loss' if header['levels'] else ''}; "
            f"loss of the {header['of']}: {'; '.join(losses)}{', ...' * (len(self.curves) > 3)}; "
            f"columns: {', '.join(held) or 'free'}; {rows} linear constraints; "
            f"{weights or 'weights of the data'} times {float.fromhex(header['weight_scale']):g}"
        )
        for side, name in ((1, "positive"), (-1, "negative")):
            pairs = zip(header["labels"] or (), header["signs"] or ())
            shown = [repr(label) for label, sign in pairs if sign == side]
            said += f"; {name}: {', '.join(shown[:5])}{', ...' * (len(shown) > 5)}" if shown else ""
        return said


def check_infeasible(arrays: dict[str, Any]) -> float:
    """Return the size up to which no coefficients satisfy the constraints (Farkas), or refuse.

    All sums are rational. Coefficients without a bound need multipliers that cancel exactly, and
    then the size is infinite; what is left of others excludes coefficients up to a size only.

    Parameters
    ----------
    arrays : dict of ndarray
        As `read` returns them.

    Returns
    -------
    float

    Examples
    --------
    >>> import io, rectiline as rl
    >>> rules = [rl.constraints.LinearInequality([[1.0]], -1), rl.constraints.Box(-1.0, 0.0)]
    >>> file = io.BytesIO()
    >>> rl.solve(rl.Problem(np.eye(1), [1.0], "absolute", constraints=rules)).save(file)
    >>> check_infeasible(read(file)[1])
    inf
    """
    q, best, left = [Fraction(0)] * arrays["lower"].size, Fraction(0), Fraction(0)
    need((arrays["inequality"] >= 0).all(), "a multiplier of an inequality is negative")
    for rows, constant, given in (("A", "c", "inequality"), ("E", "f", "equality")):
        for i in map(int, np.flatnonzero(arrays[given])):
            multiplier, row = Fraction(float(arrays[given][i])), arrays[rows][i]
            best += multiplier * Fraction(float(arrays[constant][i]))
            for j in map(int, np.flatnonzero(row)):
                q[j] += multiplier * Fraction(float(row[j]))
    for j, pull in enumerate(q):
        side = float(arrays["upper" if pull > 0 else "lower"][j])
        if math.isfinite(side):
            best += pull * Fraction(side)
        else:
            left += abs(pull)
    need(best < 0, "the multipliers prove no contradiction")
    if not left:
        return math.inf
    sides = [abs(v) for k in ("lower", "upper") for v in arrays[k] if math.isfinite(v)]
    unit = max([1.0, *sides, *abs(arrays["c"]), *abs(arrays["f"])])
    size = float(-best / left)
    need(size >= LEAST_INFEASIBLE * unit, "the multipliers do not cancel")
    return size


class Stream:
    """The rows of the data: they are compared with checksums, and all problems see them.

    A sum is that of rows ``(x, targets)``; in format 1 that of ``(x, p, o)``.
    """

    def __init__(self, checkers: list[Checker]) -> None:
        self.checkers, self.header = checkers, checkers[0].header
        self.n, self.sums = 0, [hashlib.sha256()]

    def add(self, X: Any, y: Any, weight: Any = None) -> None:
        """Take one block of rows: features, targets and weights."""
        header, values = self.header, self.values(y)
        wanted = (y.shape[0], header["n_features"])
        need(X.shape == wanted, f"a block has shape {X.shape} where {wanted} is needed")
        step = max(1, CHUNK // max(wanted[1], 1))
        for some, part in chunks(X, self.n):
            need(self.n + part.shape[0] <= header["n_samples"], "the data have too many rows")
            self.sums += [hashlib.sha256()] if self.n and self.n % step == 0 else []
            shown = values[some]
            if header["version"] == 1:
                shown = np.column_stack(self.checkers[0].encode(shown)[:2])
            self.sums[-1].update(np.column_stack([part, shown + 0.0]).astype("<f8").tobytes())
            for checker in self.checkers:
                checker.add(part, values[some], None if weight is None else weight[some])
            self.n += part.shape[0]

    def values(self, y: Any) -> Any:
        """Return targets as numbers, one column each; labels as their places in the list."""
        labels, count = self.header["labels"], self.header["n_targets"]
        y = y[:, None] if y.ndim == 1 else y
        need(y.shape[1] >= count, f"the data have {y.shape[1]} targets where {count} are needed")
        if labels is not None:
            place = np.full(y.shape, -1.0)
            for k, label in enumerate(labels):
                place[y == label] = k
            shown = ", ".join(map(repr, labels[:5])) + ", ..." * (len(labels) > 5)
            need((place >= 0).all(), f"y holds labels other than {shown}")
            return place
        if all(one.header["of"] == "prediction" for one in self.checkers):
            return np.zeros((y.shape[0], 0))
        if y.dtype.kind not in "fiub" or not np.isfinite(y).all():
            raise CannotCheck("y must hold finite numbers")
        return y.astype(np.float64)

    def compare(self) -> None:
        """Refuse data other than those of the file."""
        wanted = self.header["n_samples"]
        need(self.n == wanted, f"the data have {self.n} rows, the certificate is about {wanted}")
        same = [one.hexdigest() for one in self.sums] == self.header["checksums"]
        need(same, "the data are not those of the certificate")


def as_block(block: Any) -> tuple[Any, Any, Any]:
    """Return features, targets and weights of a block, or say what is wrong with the data."""
    if not (isinstance(block, (tuple, list)) and len(block) in (2, 3)):
        raise CannotCheck("the data must be blocks (X, y) or (X, y, weight), such as [(X, y)]")
    X, y, weight = (*block, None)[:3]
    X, y = X if hasattr(X, "toarray") else np.asarray(X), np.asarray(y)
    weight = None if weight is None else np.ravel(np.asarray(weight))
    rows = y.shape[0] if y.ndim in (1, 2) else -1
    if X.ndim != 2 or X.shape[0] != rows or (weight is not None and weight.size != rows):
        raise CannotCheck(f"a block has X of shape {X.shape} and {y.size} targets")
    values = X.data if hasattr(X, "toarray") else X
    if X.dtype.kind not in "fiub" or not np.isfinite(values).all():
        raise CannotCheck("X must hold finite numbers")
    if weight is not None and not ((weight >= 0) & (weight < math.inf)).all():
        raise CannotCheck("weights must be finite and >= 0")
    return X, y, None if weight is None else weight.astype(np.float64)


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
    stated, found = problems(*read(path)), []
    with np.errstate(all="ignore"):  # a number that overflows ends as "no finite gap"
        made = [
            None if header["kind"] == "infeasible" else guarded(Checker, header, arrays, exact)
            for header, arrays in stated
        ]
        if any(made):
            stream = Stream([one for one in made if one is not None])
            for block in blocks:
                guarded(stream.add, *as_block(block))
            guarded(stream.compare)
        for checker, (_, arrays) in zip(made, stated, strict=True):
            if checker is not None:
                found.append(guarded(checker.verdict))
            else:
                size = guarded(check_infeasible, arrays)
                found.append(Verdict(math.nan, 0.0, 0.0, size, kind="infeasible"))
    return found


def check(path: Any, blocks: Iterable[Any] = (), exact: bool = False) -> Verdict | None:
    """Check a certificate file against data.

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

    Raises
    ------
    Refused
        If the file does not prove its claim.
    CannotCheck
        If the data cannot be used.

    Notes
    -----
    A file that states several problems needs `check_all`.

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


def guarded(function: Any, *arguments: Any) -> Any:
    """Call a function; what goes wrong in it is a reason to refuse the file."""
    try:
        return function(*arguments)
    except (Refused, CannotCheck):
        raise
    except Exception as error:
        raise Refused(f"the file is malformed ({type(error).__name__}: {error})") from None


def load(
    path: str, targets: list[str], weight: str | None, columns: list[str] | None
) -> Iterator[Any]:
    """Yield blocks of a table: .npz (X, y), .csv with a header line, .parquet or .feather."""
    if path.endswith(".npz"):
        with np.load(path, allow_pickle=False) as table:
            yield table["X"], table[targets[0]], table[weight] if weight else None
        return
    if path.endswith(".csv"):
        rows: Any = np.genfromtxt(path, delimiter=",", names=True, dtype=np.float64, deletechars="")
        blocks: Iterable[Any] = [{name: np.atleast_1d(rows[name]) for name in rows.dtype.names}]
    else:
        import pyarrow.dataset  # type: ignore[import-untyped, import-not-found, unused-ignore]

        batches = pyarrow.dataset.dataset(path).to_batches()
        blocks = ({n: b[n].to_numpy(zero_copy_only=False) for n in b.schema.names} for b in batches)
    for block in blocks:
        missing = {*targets, *([weight] if weight else []), *(columns or [])} - set(block)
        if missing:
            raise CannotCheck(f"{path} has no column {', '.join(sorted(missing))}")
        names = columns or [name for name in block if name not in (*targets, weight)]
        X = np.column_stack([block[name] for name in names])
        yield X, np.column_stack([block[name] for name in targets]), block.get(weight)


def sentence(found: Verdict) -> str:
    """Return in one sentence what was proved.

    Parameters
    ----------
    found : Verdict
        What `check` or `check_all` returned.

    Returns
    -------
    str

    Examples
    --------
    >>> sentence(Verdict(math.nan, 0.0, 0.0, kind="infeasible"))
    'The claim holds: no coefficients satisfy the constraints.'
    """
    if found.kind == "infeasible":
        up_to = "" if found.radius == math.inf else f" of size up to {found.radius:g}"
        return f"The claim holds: no coefficients{up_to} satisfy the constraints."
    if found.kind == "unbounded":
        return (
            f"The claim holds: far along its direction the objective is {found.objective:.2g} or "
            f"less, and the constraints hold. Problem: {found.problem}."
        )
    share = found.gap / max(abs(found.objective), abs(found.objective - found.gap), 5e-324)
    among = "" if found.radius == math.inf else f" among coefficients up to {found.radius:g} sizes"
    return (
        f"The claim holds: the objective {found.objective:.10g} is at most {found.gap:.2g} "
        f"(relative {share:.2g}, rounding {found.rounding:.2g}) above the optimum{among}. "
        f"Problem: {found.problem}."
    )


def main(argv: list[str] | None = None) -> int:
    """Run the command; 0: the claim holds, 1: it does not, 2: it could not be checked."""
    parser = argparse.ArgumentParser(prog="rectiline verify", description="Check a certificate.")
    parser.add_argument("certificate", help="a file written by Solution.save")
    parser.add_argument("data", nargs="?", help=".npz with X and y, .csv, .parquet, .feather")
    parser.add_argument("--target", help="name of the column of targets, if the file has none")
    parser.add_argument("--weight", help="name of the column of weights")
    parser.add_argument("--exact", action="store_true", help="rational arithmetic (small data)")
    given = parser.parse_args(argv)
    try:
        header, arrays = read(given.certificate)
        table: Iterable[Any] = ()
        if any(one["kind"] != "infeasible" for one, _ in problems(header, arrays)):
            if not given.data:
                raise CannotCheck("the data are needed")
            targets = [given.target] if given.target else header.get("targets") or ["y"]
            table = load(given.data, targets, given.weight, header["columns"])
        print(*map(sentence, check_all(given.certificate, table, given.exact)), sep="\n")
    except Refused as error:
        print(f"The claim does not hold: {error}.")
        return 1
    except (OSError, KeyError, ValueError, ImportError, TypeError) as error:
        print(f"Could not check: {error}.")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
