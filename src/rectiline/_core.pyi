"""Compiled core of rectiline: products, certificates and solver loops."""

from collections.abc import Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray
from typing_extensions import CapsuleType


def set_poll(poll: object | None) -> object:
    """
    Let compiled loops of this thread call `poll` now and then; a true answer stops them. Returns what was set before.
    """

def all_finite(values: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]) -> bool:
    """Whether every entry is finite"""

def thread_count() -> int:
    """Threads that compiled loops of this thread use"""

def set_thread_count(count: int) -> int:
    """
    Set the threads of compiled loops of this thread, 0 for those of the process. Returns what was set before.
    """

def set_process_thread_count(count: int) -> int:
    """
    Set the threads of compiled loops of all threads that have no setting of their own, 0 for what the environment asks for. Returns what was set before.
    """

def use_dense_routines(potrf: CapsuleType, potrs: CapsuleType, syrk: CapsuleType) -> None:
    """
    Take Fortran routines with 32-bit integers for dense factors and products; a ValueError if a capsule is of another type.
    """

class DesignView:
    """A view of a design matrix; copies nothing."""

    @overload
    @staticmethod
    def dense(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)]) -> DesignView: ...

    @overload
    @staticmethod
    def dense(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)]) -> DesignView: ...

    @overload
    def copy_part(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, row_factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    @overload
    def copy_part(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu')], centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, row_factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """out = (X[rows][:, columns] - centre) * factor * row_factor[:, None]"""

    @overload
    def take(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')]) -> None: ...

    @overload
    def take(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu')]) -> None:
        """out = X[rows]"""

    @overload
    @staticmethod
    def sparse(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], pointers: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n: int, d: int, by_rows: bool) -> DesignView: ...

    @overload
    @staticmethod
    def sparse(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], pointers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n: int, d: int, by_rows: bool) -> DesignView: ...

    @overload
    @staticmethod
    def sparse(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], pointers: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n: int, d: int, by_rows: bool) -> DesignView: ...

    @overload
    @staticmethod
    def sparse(values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], pointers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n: int, d: int, by_rows: bool) -> DesignView: ...

    def dot(self, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """X @ b"""

    def tdot(self, g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """X.T @ g"""

    def both(self, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """(X @ b, X.T @ g) in one pass where possible"""

    def row_squares(self, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """sum_j X[i, j]**2 * scale[j]"""

    def column_squares(self, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """sum_i scale[i] * X[i, j]**2"""

    def gram(self, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], intercept: bool) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        X.T @ diag(weight) @ X, with a column of ones where there is an intercept; a sparse X has to be compressed by rows that are sorted
        """

    def moments(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        Sums and squares of the columns, powers of two of about their size, and upper bounds on the norms of the columns and of the rows of X / scale; in one pass
        """

def column_units(mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], square: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], centred: bool) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))] | None, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    What to subtract from columns with these means and mean squares, None for nothing, and one over their deviations, or over the roots of their mean squares
    """

class RowFunctions:
    """Row i costs weight[i] * phi(direction[i] * z[i] + offset[i])."""

    def __init__(self, curves: Sequence[tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]]], direction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], curve_index: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def sums(self, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, float]:
        """(loss, Fenchel-Young gap) over all rows"""

    def loss(self, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
        """Sum of the losses, compensated"""

    def slopes(self, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """A slope of each row's cost at z"""

    def states(self, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))]]:
        """
        Multiplier, curvature and prediction of the knot for the piece or knot that each row of a nearly optimal pair sits on, and whether it is a knot; at most `most` are
        """

    def clip(self, g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Clip g into its boxes, in place"""

    def balance(self, g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float:
        """
        Move g into its boxes and to sum 0, in place; returns what is left of the sum
        """

    def slope_sums(self, z: float) -> tuple[float, float, float, float]:
        """
        At the prediction z of every row: sum and size of the left derivatives, and of the right ones
        """

    def slope_ranges(self, z: float) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        The left and the right derivative of each row's cost at the prediction z
        """

    def any_inside(self, g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], margin: float) -> bool:
        """
        Whether some row has its g inside its box by more than this share of its width
        """

class ColumnFunctions:
    """Column j costs rho[j]/2 b^2 + l1[j] |b| on [lower[j], upper[j]]."""

    def __init__(self, rho: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def kinds(self) -> tuple[bool, bool, bool]:
        """
        Whether every rho[j] is positive, any l1[j] is, and any bound is finite
        """

    def dual_range(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """The ends of where the conjugate of each column's cost is finite"""

def twofold_dot(X: DesignView, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    X @ b as (hi, lo, error, size): within error of hi + lo; size is |X| @ |b|
    """

def twofold_tdot(X: DesignView, g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """X.T @ g as (hi, lo, error, size)"""

def twofold_sum(x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, float, float, float]:
    """sum(x) as (hi, lo, error, size)"""

def measure(X: DesignView, rows: RowFunctions, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], intercept: float, g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], norms: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], twofold: bool = False, shift: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None = None, products: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Arguments of the rows' losses and q = shift - X.T @ g, each with how far rounding may have moved it: (argument, radius, q, error). A shift is (value, rest, error), known products are (X @ b, X.T @ g)
    """

def column_bounds(columns: ColumnFunctions, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], error: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, float, float, float]:
    """
    The cost of the columns, its error, their gap and an upper bound on the exact one for every q within error
    """

def dual_share(columns: ColumnFunctions, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], error: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """
    A share of q, and of every point within error, that lies in the dual range
    """

def row_terms(rows: RowFunctions, argument: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], radius: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], share: float = 1.0, moves: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None = None) -> tuple[float, float, float, float]:
    """
    loss, its error, the gap of the rows and an upper bound on the exact one, for the multipliers share * g; those of `moves` (rows, by) may be off by so much in their boxes
    """

def balance_columns(free: DesignView, intercept: bool, g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], column_norm: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], solve: object | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
    """
    g moved inside its boxes until free.T @ g is nearly target (with an intercept the sum of g as well), and the largest leftover. For sparse columns `solve` has to solve the normal equations of given weights
    """

def exact_moves(X: DesignView, free: DesignView | None, intercept: bool, g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]] | None:
    """
    Rows, bounds on how far they have to move for an exact balance where free.T @ g is at most left in size, and what that may change in X.T @ g; None if none were found. Free columns are dense, or None for the intercept alone
    """

def close_pair(X: DesignView, norms: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], free: DesignView | None, free_columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], fit_intercept: bool, rows: RowFunctions, columns: ColumnFunctions, low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], intercept: float, g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], twofold: bool) -> tuple[tuple[float, float, float, float], float, Annotated[NDArray[numpy.float64], dict(shape=(None,))], tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]] | None:
    """
    row_terms of any finite g that is clipped, balanced, measured and shrunk into the dual range: (terms, share, g, measured), None if no exact balance was found
    """

class RehlineProgress:
    @property
    def sweeps(self) -> int: ...

    @property
    def gap(self) -> float: ...

    @property
    def objective(self) -> float: ...

    @property
    def n_active(self) -> int: ...

    @property
    def visits(self) -> int: ...

    @property
    def reached(self) -> bool: ...

    @property
    def interrupted(self) -> bool: ...

class Rehline:
    """Dual coordinate ascent, one exact step per sample."""

    def __init__(self, X: DesignView, rows: RowFunctions, columns: ColumnFunctions, A: DesignView, c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], equality: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], shuffle: bool, accelerate: bool, shrink: bool, intercept_step: float, seed: int) -> None: ...

    def restart(self, sample: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, constraint: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, intercept: float = 0.0) -> None: ...

    def run(self, max_sweeps: int, absolute: float, relative: float, seconds: float) -> RehlineProgress: ...

    def screen(self, gap: float) -> int: ...

    def take_all_rows_back(self) -> None:
        """Visit all rows again, those set aside too"""

    @property
    def coef(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def intercept(self) -> float: ...

    @property
    def sample_dual(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def constraint_dual(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

class NewtonRows:
    """Per-row work of the semismooth Newton method."""

    def __init__(self, X: DesignView, rows: RowFunctions, intercept: bool) -> None: ...

    def subset(self, index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight_factor: float = 1.0) -> NewtonRows:
        """The given rows, copied side by side"""

    def place(self, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Set the arguments to those of b"""

    def place_at(self, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Set the arguments to those of predictions z"""

    def set_multiplier(self, g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """Set the multipliers from slopes in the predictions"""

    def dual(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Slopes in the predictions"""

    def arguments(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Arguments of the losses"""

    def slack(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Distance to the nearest knot"""

    def freeze(self, keep: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], reserve: float, seconds: float) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))] | None, Annotated[NDArray[numpy.float64], dict(shape=(None,))]] | None:
        """
        (linear, quadratic or None, dual): what rows outside `keep` add on their pieces, and their slopes; None if the rows kept cannot balance them under an intercept, up to the share `reserve` of what they can, or after so many seconds
        """

    @property
    def n(self) -> int: ...

class NewtonFrozen:
    """What rows outside a working set add."""

    def __init__(self, linear: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], quadratic: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, at: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class NewtonLoop:
    """The terms of the columns, and Newton's method with them."""

    def __init__(self, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], center: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rho: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kinked: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column_stiffness: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], equality: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], constraint_stiffness: float, d: int) -> None: ...

class NewtonPath:
    """The semismooth Newton method along a list of strengths."""

    def __init__(self, rows: NewtonRows, loop: NewtonLoop, strength: float, row_stiffness: float, stiffness: float, argument_scale: float, smooth: bool) -> None: ...

    def place(self, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Start at coefficients (intercept last) and slopes in the predictions"""

    def move(self, strength: float, target: float, max_steps: int, seconds: float) -> tuple[int, float, bool]:
        """Move to a strength; returns (steps, estimated gap, failed)"""

    def coefficients(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The coefficients at hand, intercept last"""

    def dual(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Slopes in the predictions"""

class NewtonRun:
    """The semismooth-Newton method of multipliers on one set of rows."""

    def __init__(self, loop: NewtonLoop, rows: NewtonRows, frozen: NewtonFrozen | None, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], constraint: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], proximal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], row_stiffness: float, start: float, factor: float, inner_steps: int, smooth: bool, reference: float) -> None: ...

    def solve(self, target: float, max_steps: int, seconds: float) -> tuple[int, int, bool]:
        """
        Iterate until the estimated relative gap is small; returns (steps, guards, failed)
        """

    def look(self) -> float:
        """The estimated relative gap where the run starts"""

    def estimate(self, loss: float, fenchel_young: float) -> None:
        """Take the sums over all rows, those outside the working set too"""

    def set_schedule(self, start: float, factor: float, inner_steps: int) -> None: ...

    def polished(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """b with kinked columns moved onto the kinks that they have reached"""

    def move_to_polished(self) -> None: ...

    def constraint_multipliers(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Of the constraints at b"""

    @property
    def b(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def column(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def constraint(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def relative_gap(self) -> float: ...

    @property
    def objective(self) -> float: ...

    @property
    def growth(self) -> float: ...

class SmoothedL1:
    """Proximal Newton steps on a smoothed loss under L1."""

    def __init__(self, rows: RowFunctions, intercept: bool) -> None: ...

    def add(self, X: DesignView, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Add columns of X with their strengths, at coefficients of zero"""

    def place(self, b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], intercept: float) -> None:
        """Start at coefficients of the columns that are there"""

    def sweep(self, mu: float, all: bool, seconds: float) -> None:
        """
        Descend along all coordinates, or those that are not zero, within trust regions
        """

    def step(self, mu: float, seconds: float) -> float:
        """
        Take a Newton step; returns by how much optimality failed before it, in strengths, or a negative number if no step descends
        """

    def coefficients(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Those of the columns, in the order they were added"""

    @property
    def intercept(self) -> float: ...

    def predictions(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """X b + b0"""

    def dual(self, mu: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Slopes of the smoothed rows in the predictions"""

class BoxedSimplex:
    """max cost'v with low <= A v <= high, 0 <= v <= width; A dense."""

    def __init__(self) -> None: ...

    def add_columns(self, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """Entry values[k, u] is in row rows[k] of new column u"""

    def add_rows(self, low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """Entry values[r, k] is in column columns[k] of new row r"""

    def set_row_bounds(self, rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def set_widths(self, columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], width: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def solve(self, most_steps: int, seconds: float, most_work: float = float('inf')) -> str:
        """
        Go on from the present basis: 'optimal', 'infeasible', 'limit' (of time or work), 'step_limit', 'stalled' (feasible multipliers, not shown to be best) or 'trouble'
        """

    def forget_basis(self) -> None: ...

    def set_basis(self, columns: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """0: at its low end, 1: basic, 2: at its high end"""

    def basis(self, columns: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], rows: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Fill in both arrays"""

    def values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """v"""

    def multipliers(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """One per row: how the optimum grows with the row's bounds"""

    def ray(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """After 'infeasible': multipliers that prove it"""

    @property
    def n_steps(self) -> int: ...

    @property
    def work(self) -> float:
        """Products so far"""

class NormalEquations:
    """R'WR + D of sparse rows R, and its sparse factor."""

    def __init__(self, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], width: int, keeps_long_rows: bool) -> None: ...

    def analyse(self, most_entries: float, seconds: float) -> bool:
        """
        Find order and structure; False when time is up or the factor has more entries
        """

    def adopt(self, other: NormalEquations) -> None:
        """Take over order and structure of rows that join as many columns"""

    def factorise(self, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], diagonal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seconds: float) -> bool:
        """False where there is no factor, or when time is up"""

    def solve(self, v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """x with (R'WR + D) x = v"""

    def set_values(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Other values of the same entries"""

    @property
    def entries(self) -> float: ...

    @property
    def growth(self) -> float: ...

    @property
    def most_terms(self) -> int: ...

class UnitProgram:
    """
    min sum rho/2 x^2 + linear'x + sum of units; a unit is max over low <= y <= high of y (row x + shift) - soft y^2/2.
    """

    def __init__(self, row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], units: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rho: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], linear: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], price: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], constant: float, reference: float, is_nonnegative: bool) -> None: ...

class UnitInterior:
    """An interior point method in doubles."""

    @overload
    def __init__(self, program: UnitProgram, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_rows: bool, proximal: float) -> None: ...

    @overload
    def __init__(self, program: UnitProgram, system: object) -> None: ...

    @overload
    def __init__(self, program: UnitProgram, equations: NormalEquations, proximal: float) -> None: ...

    def begin(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], slack: float) -> None:
        """Start from x, with y inside its boxes"""

    def begin_near(self, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Move the first entries of y"""

    def resume(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sides: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """Go on from a state"""

    def step(self, seconds: float, needs_python: bool) -> bool:
        """Take a step; False where there is none"""

    def verdict(self) -> tuple[float, float, float, float, float]:
        """
        relative gap, violation, mean product, residual and size of the objective
        """

    def judge(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, float, float, float, float]:
        """`verdict` of the present y with another x"""

    @property
    def step_length(self) -> float: ...

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """x and y"""

    def sides(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Rooms and multipliers, of lower and of upper ends"""

class TwofoldInterior:
    """`UnitInterior` in numbers of 32 digits."""

    def __init__(self, program: UnitProgram, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_rows: bool, proximal: float) -> None: ...

    def begin(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], slack: float) -> None:
        """Start from x, with y inside its boxes"""

    def begin_near(self, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Move the first entries of y"""

    def resume(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sides: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None:
        """Go on from a state"""

    def step(self, seconds: float, needs_python: bool) -> bool:
        """Take a step; False where there is none"""

    def verdict(self) -> tuple[float, float, float, float, float]:
        """
        relative gap, violation, mean product, residual and size of the objective
        """

    def judge(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, float, float, float, float]:
        """`verdict` of the present y with another x"""

    @property
    def step_length(self) -> float: ...

    def point(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """x and y"""

    def sides(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Rooms and multipliers, of lower and of upper ends"""

def sorted_l1_prox(v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], strengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    argmin_b |b - v|^2 / 2 + sum_k strengths_k |b|_(k), for non-increasing strengths
    """

def group_prox(columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], radius: float, v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """argmin_b |b - v|^2 / 2 + radius * sum of largest |b|"""

def signed_sums(X: DesignView, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], signs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """One line per group: its columns of X times their signs; X dense"""

class ProximalMultipliers:
    """Steps of the proximal method of multipliers on units and columns."""

    def __init__(self, row: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sign: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bend: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_rows: int, n_ones: int, one_scale: float) -> None: ...

    def set_sorted(self, X: DesignView, strengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def set_groups(self, X: DesignView, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], strength: float, l1: float) -> None: ...

    def set_separable(self, X: DesignView, l1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def advance(self, dual: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], b0: float, step: float, room: float, tolerance: float, most: int, seconds: float) -> tuple[int, float]:
        """One outer step, in place on dual and b: (Newton steps, b0)"""

    @property
    def work(self) -> float:
        """Products of all Newton steps so far, about"""

class QuantileBasis:
    """A quantile regression held by p samples; see quantile_basis.hpp."""

    def __init__(self, columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def solve(self, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], basis: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], most_steps: int) -> tuple[str, Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], int]:
        """Optimise from a basis; outcome, coefficients, basis, exchanges."""

    def walk(self, column: int, direction: float, until: float, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], radius: float, most_steps: int) -> tuple[str, Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        After solve: where the score of one fixed coefficient falls, and to what.
        """

    def follow(self, level: float, direction: float, most_steps: int) -> tuple[str, Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        After solve at a level: the levels on the way to 0 or 1 from which on a basis is optimal, and the bases, one after the other.
        """

class PassMember:
    """What one problem wants to know from a pass over rows."""

    def __init__(self, rows: RowFunctions, coef: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], intercept: float, fit_intercept: bool) -> None: ...

    def list_rows(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Rows that are not frozen, growing"""

    def keep_rows(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Rows that are near at the next split in any case, growing"""

    def judge(self, split: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], split_intercept: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None) -> None:
        """
        Judge the candidate with rows frozen at `split`, but for those that are listed
        """

    def split(self, reach: float, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], least: float, directions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], keeps_listed: bool) -> None:
        """Prepare the next split around the candidate"""

    def measure(self) -> None:
        """Add up the sizes of the columns"""

def run_pass(X: DesignView, members: Sequence[PassMember], fit_intercept: bool, seconds: float) -> list[dict[str, Any]] | None:
    """
    One pass over a block of rows; a dictionary of sums for each member, or None if it was out of time
    """
