"""Check a certificate file against data, with NumPy alone: no solver, no other part of Rectiline.

    python -m rectiline.verify fit.rlcert data.csv --target y     (exit code 0: the claim holds)

A copy of this file works without the package. ``docs/theory/certificate_files.rst`` describes the
format. For any slopes ``s_i``, multipliers ``xi >= 0`` and ``nu``, with ``g_i = w_i p_i s_i`` and
``q = A'xi + E'nu - X'g``, weak duality bounds how far the objective is above its optimum by

    gap = sum_i w_i [f(t_i) + f*(s_i) - s_i t_i] + [h(b) + h*(q) - q'b]
          + xi'(A b + c) + |nu|'|E b + f|,

with ``t_i = p_i x_i'b + o_i``; the intercept is a column of ones. Each term is computed in double
precision with a bound on its rounding error (``--exact``: in rationals, without error). A column
without penalty or bound needs ``q_j = 0``: what is left is charged at `radius` typical sizes.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import math
import sys
import zipfile
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

CHUNK = 2**21  # entries of X in a chunk of rows; the header has one checksum per chunk
SUMMED = 256  # rows summed at once: rounding errors grow with this number, not with all rows
RADIUS = 1024  # how far competitors may lie on free columns, in sizes of the coefficients
RADII = (100, RADIUS)  # that a file may state; the first is that of files which state none
FEASIBLE = 1e-9  # largest violation that counts as rounding, relative to the terms of its row
INTEGERS = ("groups", "loss_index", "slope_rows")
VECTORS = ("coef", "split_coef", "lower", "upper", "rho", "l1")  # the intercept, if any, is last


class Refused(ValueError):
    """The file cannot be used or its claim does not hold; the message says why in one sentence."""


class Verdict(NamedTuple):
    """What was proved: ``objective - gap <= optimum``; `rounding` is the part due to rounding."""

    objective: float
    gap: float
    rounding: float


def need(condition: Any, reason: str) -> None:
    """Refuse for the reason given unless the condition holds."""
    if not condition:
        raise Refused(reason)


def read(path: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a certificate file."""
    try:
        with zipfile.ZipFile(path) as archive:  # reading compares the checksum of every member
            parts = {name: archive.read(name) for name in archive.namelist()}
        header = json.loads(parts.pop("header.json"))
        arrays = {n[:-4]: np.load(io.BytesIO(p), allow_pickle=False) for n, p in parts.items()}
    except Exception as error:
        raise Refused(f"this is not a readable certificate file ({error})") from None
    need(header.get("format") == "rectiline-certificate", "the format is unknown")
    need(header.get("version") == 1, f"version {header.get('version')!r} is unknown")
    need(sorted(arrays) == header.get("arrays"), "arrays are missing or were added")
    for name, array in arrays.items():
        need(array.dtype.kind in ("iu" if name in INTEGERS else "f"), f"{name} has a wrong dtype")
        wrong = np.isnan(array) if name in ("lower", "upper") else ~np.isfinite(array)
        need(not wrong.any(), f"array {name} holds values that are not finite")
    return header, arrays


def chunks(X: Any, first: int) -> Iterator[tuple[slice, Any]]:
    """Cut a block whose first row has number `first` into dense chunks, as checksums are cut."""
    step, start = max(1, CHUNK // max(X.shape[1], 1)), 0
    while start < X.shape[0]:
        part = X[start : start + step - (first + start) % step]
        part = np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype="<f8")
        yield slice(start, start := start + part.shape[0]), part + 0.0  # -0.0 becomes 0.0


class Curve:
    """A piecewise quadratic loss; a piece is ``value + e (slope + bend e / 2)``, ``e = t - at``."""

    def __init__(self, given: dict[str, Any], number: Any) -> None:
        knots = [number(float.fromhex(v)) for v in given["knots"]]
        pieces = [[number(float.fromhex(v)) for v in piece] for piece in given["pieces"]]
        need(knots == sorted(knots) and len(pieces) == len(knots) + 1, "a loss is malformed")
        need(all(piece[3] >= 0 for piece in pieces), "a piece of a loss is not convex")
        ends = [-math.inf, *knots, math.inf]
        self.pieces = [(*ends[k : k + 2], *piece) for k, piece in enumerate(pieces)]
        self.low, self.high = (
            math.copysign(math.inf, side) if piece[5] else piece[4]
            for side, piece in ((-1, self.pieces[0]), (1, self.pieces[-1]))
        )
        need(self.low <= self.high, "a loss is not convex")
        is_bounded = self.low <= 0 <= self.high  # all but a linear term are
        self.least = -self.conjugate(np.array([number(0.0)]))[0] if is_bounded else -math.inf

    def value_and_slope(self, t: Any) -> tuple[Any, Any]:
        """Return the function and its right derivative at every entry of t."""
        found = slopes = t
        for low, _, at, value, slope, bend in self.pieces:
            e = t - at
            found = np.where(t >= low, value + e * (slope + bend * e / 2), found)
            slopes = np.where(t >= low, slope + bend * e, slopes)
        return found, slopes

    def conjugate(self, s: Any) -> Any:
        """Return ``sup_t s t - f(t)`` for slopes in the range from `low` to `high`."""
        best = np.full(s.shape, -math.inf)
        for low, high, at, value, slope, bend in self.pieces:
            top = np.clip(at + (s - slope) / bend, low, high) if bend else at + 0 * s
            for t in (top, *(0 * s + end for end in (low, high) if math.isfinite(end))):
                best = np.maximum(best, s * t - value - (t - at) * (slope + bend * (t - at) / 2))
        return best


class Checker:
    """Sums of the terms of the gap over blocks of rows, and the verdict that follows from them."""

    if TYPE_CHECKING:  # the arrays of the file become attributes

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, header: dict[str, Any], arrays: dict[str, Any], exact: bool = False) -> None:
        self.header, self.arrays, self.u = header, arrays, Fraction(0) if exact else 2.0**-53
        fraction: Any = np.frompyfunc(lambda v: v if math.isinf(v) else Fraction(float(v)), 1, 1)
        self.number: Any = (
            (lambda a: np.asarray(fraction(a), dtype=object)) if exact else np.asarray
        )
        self.radius = header.get("radius", RADII[0])
        need(self.radius in RADII, f"the radius must be one of {RADII}")
        d, m, k = (header[n] for n in ("n_columns", "n_inequalities", "n_equalities"))
        shapes = {"A": (m, d), "c": (m,), "inequality": (m,)}
        shapes |= {"E": (k, d), "f": (k,), "equality": (k,)} | dict.fromkeys(VECTORS, (d,))
        for name, shape in shapes.items():
            array = arrays.get(name, np.zeros(()))
            need(array.shape == shape, f"array {name} is missing or not of shape {shape}")
            setattr(self, name, self.number(array.astype(np.float64)))
        signs = np.concatenate([self.inequality, self.rho, self.l1, self.upper - self.lower])
        need((signs >= 0).all(), "a multiplier of an inequality or a strength is negative")
        self.curves = [Curve(one, Fraction if exact else float) for one in header["losses"]]
        self.listed, self.slopes = arrays["slope_rows"], self.number(arrays["slopes"])
        rises = (np.diff(self.listed) > 0).all() and self.listed.shape == self.slopes.shape
        need(rises, "slope_rows do not increase or do not fit slopes")
        self.n, self.sums = 0, [hashlib.sha256()]  # of rows (x, p, o), little-endian doubles
        self.loss = self.least = self.gap = self.noise = self.reach = self.number(np.zeros(1))[0]
        self.q, self.rest, self.blur, self.top = (self.number(np.zeros(d)) for _ in range(4))

    def add(self, X: Any, y: Any, weight: Any = None) -> None:
        """Take one block of rows: features, targets and weights."""
        y, free = np.asarray(y), bool(self.header["fit_intercept"])
        wanted = (y.size, self.coef.size - free)
        need(X.shape == wanted, f"a block has shape {X.shape} where {wanted} is needed")
        step, scale = max(1, CHUNK // max(wanted[1], 1)), float.fromhex(self.header["weight_scale"])
        for some, part in chunks(X, self.n):
            p, o = self.encode(y[some])
            rows = np.arange(self.n, self.n + p.size)
            need(rows[-1] < self.header["n_samples"], "the data have too many rows")
            self.sums += [hashlib.sha256()] if self.n and self.n % step == 0 else []
            self.sums[-1].update(np.column_stack([part, p, o + 0.0]).astype("<f8").tobytes())
            w = np.ones(p.size) if weight is None else np.asarray(weight, dtype=np.float64)[some]
            w = scale * (self.arrays["weight"][rows] if "weight" in self.arrays else w)
            need(np.isfinite(w).all() and (w >= 0).all(), "weights must be finite and >= 0")
            part = np.column_stack([part, np.ones(p.size)]) if free else part
            for k, curve in enumerate(self.curves):
                index = self.arrays.get("loss_index")
                mine = np.arange(p.size) if index is None else np.flatnonzero(index[rows] == k)
                for j in np.split(mine, range(SUMMED, mine.size, SUMMED)) if mine.size else ():
                    self.sum(curve, rows[j], *(self.number(v[j]) for v in (part, p, o, w)))
            self.n += p.size

    def encode(self, y: Any) -> tuple[Any, Any]:
        """Return p and o such that the loss of a prediction z is taken at ``p z + o``."""
        if self.header["of"] == "margin":
            low, high = self.header["labels"]
            need(np.isin(y, [low, high]).all(), f"y holds labels other than {low!r} and {high!r}")
            return np.where(y == high, 1.0, -1.0), np.zeros(y.size)
        p = -1.0 if self.header["of"] == "residual" else 1.0
        return np.full(y.size, p), y.astype(np.float64) if p < 0 else np.zeros(y.size)

    def sum(self, curve: Curve, rows: Any, X: Any, p: Any, o: Any, w: Any) -> None:
        """Add the terms of rows that share a loss; `error` and `noise` bound rounding errors."""
        d, u, n = X.shape[1], self.u, SUMMED
        z, size = X @ self.coef, abs(X) @ abs(self.coef)
        t, (_, s) = p * z + o, curve.value_and_slope(p * (X @ self.split_coef) + o)
        if self.listed.size:
            at = np.minimum(np.searchsorted(self.listed, rows), self.listed.size - 1)
            s = np.where(self.listed[at] == rows, self.slopes[at], s)
        need(((s >= curve.low) & (s <= curve.high)).all(), "a slope is outside its loss's range")
        error = (d + 4) * u * size + 4 * u * abs(t)
        value, conjugate = curve.value_and_slope(t)[0], curve.conjugate(s)
        ends = [abs(curve.value_and_slope(end)[1] - s) for end in (t - error, t + error)]
        noise = np.maximum(*ends) * error + 32 * u * (abs(value) + abs(conjugate) + abs(s * t))
        self.gap += (w * np.maximum(value + conjugate - s * t, 0)).sum() * (1 + 4 * n * u)
        self.noise += (w * noise).sum() * (1 + 4 * n * u)
        self.loss, self.least = self.loss + (w * value).sum(), self.least + curve.least * w.sum()
        g = w * p * s
        part = -(X.T @ g)
        total = self.q + part  # Knuth's two-sum keeps what this addition rounds away
        back = total - self.q
        self.rest = self.rest + ((self.q - (total - back)) + (part - back))
        self.q = total
        self.blur = self.blur + (n + 8) * u * (abs(X).T @ abs(g)) + 4 * u * abs(self.rest)
        self.top = np.maximum(self.top, abs(X).max(axis=0))
        self.reach = max(self.reach, abs(z).max(), abs(o).max())

    def verdict(self) -> Verdict:
        """Return what is proved about all rows, or refuse if that is not what the file claims."""
        wanted, b, u = self.header["n_samples"], self.coef, self.u
        need(self.n == wanted, f"the data have {self.n} rows, the certificate is about {wanted}")
        same = [one.hexdigest() for one in self.sums] == self.header["checksums"]
        need(same, "the data are not those of the certificate")
        need(((b >= self.lower) & (b <= self.upper)).all(), "a coefficient is outside its bounds")
        q, e, gap, noise = self.q + self.rest, self.blur, self.gap, self.noise
        # Coefficients count with at least 1/1000 of what moves predictions noticeably.
        for M, constant, y in ((self.A, self.c, self.inequality), (self.E, self.f, self.equality)):
            value, size = M @ b + constant, abs(M) @ abs(b) + abs(constant)
            outside = abs(value) if M is self.E else np.maximum(-value, 0)
            terms = abs(M) @ np.maximum(abs(b), self.far / self.radius / 1000) + abs(constant)
            need((outside <= FEASIBLE * terms).all(), "a constraint is violated")
            gap += (abs(y) * (outside if M is self.E else np.maximum(value, 0))).sum()
            noise += (b.size + y.size + 8) * u * (abs(y) * size).sum()
            q, e = q + M.T @ y, e + (y.size + 8) * u * (abs(M).T @ abs(y))
        share, value, terms, blur = self.penalty(q, e + 4 * u * abs(q))
        if share < 1 and self.least > -math.inf:  # the dual is concave
            gap = share * gap + (1 - share) * (self.loss - self.least)
        elif share < 1:  # a linear term does not shrink: the rest of q counts with its radius
            gap = gap + (1 - share) * ((abs(q) + e) * self.far).sum()
        gap = gap + terms
        claim = {name: float.fromhex(text) for name, text in self.header["claim"].items()}
        objective, total = float(self.loss + value), float(gap + noise + blur)
        need(math.isfinite(total) and math.isfinite(objective), "no finite gap can be proved")
        shown = abs(objective - claim["objective"]) <= 1e-9 * abs(objective) + claim["gap"]
        need(shown, f"the objective is {objective:.10g}, not {claim['objective']:.10g} as claimed")
        need(total <= claim["gap"], f"the proved gap {total:.3g} exceeds {claim['gap']:.3g}")
        return Verdict(objective, total, float(noise + blur))

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
        far = self.far
        index, strengths = self.arrays["groups"], self.number(self.arrays["strengths"])
        need(index.shape == strengths.shape == b.shape, "groups and strengths need one per column")
        groups = [np.flatnonzero(index == k) for k in np.unique(index[index >= 0])]
        value = terms = noise = u * 0
        limits = [(strengths[j], abs(q[j]) + e[j]) for j in groups]
        side = np.where(q > 0, self.upper, self.lower)
        norm = (self.rho == 0) & (self.l1 > 0) & (abs(side) == math.inf)  # |q_j| <= l1_j is needed
        limits += [(self.l1[[j]], (abs(q) + e)[[j]]) for j in np.flatnonzero(norm)]
        for most, have in limits:
            need(
                (most >= 0).all() and (np.diff(most) <= 0).all(), "strengths must fall and be >= 0"
            )
            pairs = zip(np.cumsum(most), np.cumsum(np.sort(have)[::-1]), strict=True)
            share = min([share, *(m / h * (1 - 8 * most.size * u) for m, h in pairs if h > m)])
        for j in groups:
            cost, inner = (strengths[j] * np.sort(size[j])[::-1]).sum(), share * (q[j] * b[j])
            value, terms = value + cost, terms + max(cost - inner.sum(), 0)
            noise += 4 * (j.size + 4) * u * (cost + abs(inner).sum()) + (e[j] * size[j]).sum()
        j = np.flatnonzero(index < 0)
        b, size, rho, l1 = (v[j] for v in (b, size, self.rho, self.l1))
        value = value + (rho * b * b / 2 + l1 * size).sum()
        low, high = np.maximum(self.lower[j], -far[j]), np.minimum(self.upper[j], far[j])
        worst = 0 * b
        for end in (share * (q - e)[j], share * (q + e)[j]):
            pull = np.sign(end) * np.maximum(abs(end) - l1, 0)
            best = np.where(rho > 0, pull / np.where(rho > 0, rho, 1), np.sign(pull) * far[j])
            best = np.where(
                rho > 0, np.clip(best, self.lower[j], self.upper[j]), np.clip(best, low, high)
            )
            move = b - best
            gap = rho * move * move / 2 + (rho * best - end) * move + l1 * (size - abs(best))
            worst = np.maximum(worst, gap)
            noise += (
                32
                * u
                * ((rho * best * best + rho * b * b) + (abs(end) + l1) * (size + abs(best))).sum()
            )
        return share, value, terms + worst.sum(), noise


def check_infeasible(arrays: dict[str, Any]) -> None:
    """Refuse unless the multipliers prove that no coefficients satisfy the constraints (Farkas)."""
    A, c, E, f, lower, upper = (arrays[k] for k in ("A", "c", "E", "f", "lower", "upper"))
    xi, nu = arrays["inequality"], arrays["equality"]
    need((xi >= 0).all(), "a multiplier of an inequality is negative")
    q, size = A.T @ xi + E.T @ nu, abs(A).T @ xi + abs(E).T @ abs(nu)
    side = np.where(q > 0, upper, lower)
    open_ = ~np.isfinite(side)
    need((abs(q[open_]) <= FEASIBLE * size[open_]).all(), "the multipliers do not cancel")
    best = float(xi @ c + nu @ f + (q[~open_] * side[~open_]).sum())
    scale = float(xi @ abs(c) + abs(nu) @ abs(f) + abs(q[~open_] * side[~open_]).sum())
    need(best < -FEASIBLE * scale, "the multipliers prove no contradiction")


def check(path: Any, blocks: Iterable[Any] = (), exact: bool = False) -> Verdict | None:
    """Check a file against blocks ``(X, y)`` or ``(X, y, weight)``; None: proved infeasible."""
    header, arrays = read(path)
    try:
        if header["kind"] == "infeasible":
            check_infeasible(arrays)
            return None
        with np.errstate(all="ignore"):  # a number that overflows ends as "no finite gap"
            checker = Checker(header, arrays, exact)
            for block in blocks:
                checker.add(*block)
            return checker.verdict()
    except Refused:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise Refused(f"the file is malformed ({type(error).__name__}: {error})") from None


def load(path: str, target: str, weight: str | None, columns: list[str] | None) -> Iterator[Any]:
    """Yield blocks of a table: .npz (X, y), .csv with a header line, .parquet or .feather."""
    if path.endswith(".npz"):
        with np.load(path, allow_pickle=False) as table:
            yield table["X"], table[target], table[weight] if weight else None
        return
    if path.endswith(".csv"):
        rows: Any = np.genfromtxt(path, delimiter=",", names=True, dtype=np.float64, deletechars="")
        blocks: Iterable[Any] = [{name: np.atleast_1d(rows[name]) for name in rows.dtype.names}]
    else:
        import pyarrow.dataset  # type: ignore[import-untyped, import-not-found, unused-ignore]

        batches = pyarrow.dataset.dataset(path).to_batches()
        blocks = ({n: b[n].to_numpy(zero_copy_only=False) for n in b.schema.names} for b in batches)
    for block in blocks:
        missing = {target, *([weight] if weight else []), *(columns or [])} - set(block)
        need(not missing, f"{path} has no column {', '.join(sorted(missing))}")
        names = columns or [name for name in block if name not in (target, weight)]
        X = np.column_stack([block[name] for name in names])
        yield X, block[target], block[weight] if weight else None


def sentence(found: Verdict | None) -> str:
    """Say in one sentence what was proved."""
    if found is None:
        return "The claim holds: no coefficients satisfy the constraints."
    share = found.gap / max(abs(found.objective), abs(found.objective - found.gap), 5e-324)
    return (
        f"The claim holds: the objective {found.objective:.10g} is at most {found.gap:.2g} "
        f"(relative {share:.2g}, rounding {found.rounding:.2g}) above the optimum."
    )


def main(argv: list[str] | None = None) -> int:
    """Run the command; 0: the claim holds, 1: it does not."""
    parser = argparse.ArgumentParser(prog="rectiline verify", description="Check a certificate.")
    parser.add_argument("certificate", help="a file written by Solution.save")
    parser.add_argument("data", nargs="?", help=".npz with X and y, .csv, .parquet, .feather")
    parser.add_argument("--target", default="y", help="name of the column of targets")
    parser.add_argument("--weight", help="name of the column of weights")
    parser.add_argument("--exact", action="store_true", help="rational arithmetic (small data)")
    given = parser.parse_args(argv)
    try:
        columns = read(given.certificate)[0].get("columns")
        table = load(given.data, given.target, given.weight, columns) if given.data else ()
        found = check(given.certificate, table, given.exact)
    except (Refused, OSError, KeyError, ValueError, ImportError) as error:
        print(f"The claim does not hold: {error}.")
        return 1
    print(sentence(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
