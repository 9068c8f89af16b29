"""The base class of all losses: a convex curve, and what its argument means.

The loss of row i at the prediction z is ``c phi(p z + o)``: phi is the curve, c the weight, and the
sign p and the offset o come from the target y::

    of="margin"       t = y z      p = y in {-1, +1},  o = 0
    of="residual"     t = y - z    p = -1,             o = y
    of="prediction"   t = z        p = 1,              o = 0

So whatever holds for phi carries over: the derivative in z is c p phi'(t), the conjugate at the
slope g is ``c phi*(p g / c) - p g o``, and the prox is p (t - o), t the prox of phi with step c.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rectiline._lazy import cached_property
from rectiline._typing import Vector

from ._algebra import add_losses, is_number, scale_loss
from ._curve import PLQCurve, decompose
from ._plot import plot
from ._targets import as_numbers, as_signs, as_vector, two_labels
from ._units import PLQUnits

_EPS = float(np.finfo(np.float64).eps)
Of = Literal["margin", "residual", "prediction"]


class Loss(ABC):
    """Base of all losses: immutable, comparable, hashable, with a repr that builds it again.

    Losses of the same argument can be added and multiplied by positive numbers; the result is a
    `PiecewiseLQ`. A new loss is a frozen dataclass with ``of``, ``name``, the ``_rules`` of
    its parameters and ``_make_curve``; the rest follows.

    Examples
    --------
    >>> from rectiline.losses import Absolute, Pinball
    >>> loss = 2 * Pinball(0.8) + Absolute()
    >>> loss, loss.value(0.0, [-1.0, 1.0])
    (2.0 * Pinball(quantile=0.8) + Absolute(), array([2.6, 1.4]))
    """

    of: Of
    name: ClassVar[str]
    _rules: ClassVar[dict[str, Callable[[str, str, Any], float]]] = {}  # of its parameters

    def __post_init__(self) -> None:
        for name, rule in self._rules.items():
            checked = rule(type(self).__name__, name, getattr(self, name))
            object.__setattr__(self, name, checked)

    @abstractmethod
    def _make_curve(self) -> PLQCurve:
        """Build the curve phi of the loss."""

    @cached_property
    def curve(self) -> PLQCurve:
        """The function phi(t) of the loss's own argument t, weight 1; equal losses share it."""
        return _curve_of(self)

    @cached_property
    def units(self) -> PLQUnits:
        """The curve written as a constant plus ReLU and ReHU units in t."""
        return decompose(self.curve)

    def classes(self, y: ArrayLike) -> NDArray[Any]:
        """Return the two labels in ``y``: the negative one, then the larger, positive one.

        >>> from rectiline.losses import Hinge
        >>> Hinge().classes(["spam", "ham", "spam"])
        array(['ham', 'spam'], dtype='<U4')
        """
        if self.of != "margin":
            raise ValueError(f"{self!r} is a loss of the {self.of}; it has no classes.")
        return two_labels(repr(self), as_vector(self, y))

    def encode(self, y: ArrayLike) -> tuple[Vector, Vector]:
        """Check ``y`` and return signs p and offsets o with t = p z + o for every sample.

        Parameters
        ----------
        y : array_like of shape (n,)
            Finite numbers for a loss of the residual; exactly two distinct labels (numbers,
            booleans or strings, the larger one is +1) for a loss of the margin. A loss of the
            prediction only looks at its length.

        Examples
        --------
        >>> from rectiline.losses import Absolute, Hinge
        >>> Hinge().encode([0, 1, 1])
        (array([-1.,  1.,  1.]), array([0., 0., 0.]))
        >>> Absolute().encode([2.5, 3.0])
        (array([-1., -1.]), array([2.5, 3. ]))
        """
        vector = as_vector(self, y)
        if self.of == "margin":
            positive = self.classes(vector)[1]
            return np.where(vector == positive, 1.0, -1.0), np.zeros(vector.size)
        if self.of == "residual":
            return np.full(vector.size, -1.0), as_numbers(self, vector)
        return np.ones(vector.size), np.zeros(vector.size)

    def value(self, y: ArrayLike, z: ArrayLike, weight: ArrayLike | None = None) -> Vector:
        """Evaluate the loss of predictions ``z`` for targets ``y``, entry by entry.

        Here and below ``y``, ``z`` and ``weight`` have any shapes that broadcast. For a loss of
        the margin ``y`` holds signs -1 and +1, or two other labels, both present.

        >>> from rectiline.losses import Pinball
        >>> Pinball(quantile=0.75).value(0.0, [-1.0, 1.0])
        array([0.75, 0.25])
        """
        p, o, c, z = self._prepared(y, z, weight)
        return np.asarray(c * self.curve.value(p * z + o))[()]

    def derivative(
        self, y: ArrayLike, z: ArrayLike, weight: ArrayLike | None = None
    ) -> tuple[Vector, Vector]:
        """Return the left and the right derivative of the loss in ``z``, entry by entry.

        >>> from rectiline.losses import Absolute
        >>> Absolute().derivative(1.0, [1.0, 3.0])
        (array([-1.,  1.]), array([1., 1.]))
        """
        p, o, c, z = self._prepared(y, z, weight)
        low, high = self.curve.derivative(p * z + o)
        low, high = c * p * low, c * p * high
        return np.minimum(low, high)[()], np.maximum(low, high)[()]

    def conjugate(self, y: ArrayLike, g: ArrayLike, weight: ArrayLike | None = None) -> Vector:
        """Evaluate ``sup_z g z - loss(y, z)``, entry by entry; infinite outside the domain.

        >>> from rectiline.losses import Hinge
        >>> Hinge().conjugate(1, [-1.0, -0.5, 0.5])
        array([-1. , -0.5,  inf])
        """
        p, o, c, g = self._prepared(y, g, weight)
        live = c > 0
        slope = p * g / np.where(live, c, 1.0)
        # Slopes are often made as c times an end of the domain; dividing by c again may step
        # outside by an ulp, and the value there must not become infinite.
        for end in self.curve.domain():
            if np.isfinite(end):
                slope = np.where(np.abs(slope - end) <= 4 * _EPS * abs(end), end, slope)
        on = c * self.curve.conjugate(np.where(live, slope, 0.0))
        off = np.where(g == 0, 0.0, np.inf)  # a weight of zero: the loss is identically zero
        return np.asarray(np.where(live, on - p * g * o, off))[()]

    def prox(
        self, y: ArrayLike, z: ArrayLike, step: ArrayLike = 1.0, weight: ArrayLike | None = None
    ) -> Vector:
        """Return ``argmin_x loss(y, x) + (x - z)^2 / (2 step)``, entry by entry.

        >>> from rectiline.losses import Absolute
        >>> Absolute().prox(0.0, [-3.0, 0.5, 3.0], step=1.0)
        array([-2.,  0.,  2.])
        """
        p, o, c, z = self._prepared(y, z, weight)
        step = np.asarray(step, dtype=np.float64)
        if not ((step > 0) & np.isfinite(step)).all():
            raise ValueError(f"{self!r}.prox: step must be finite and > 0, got {step.min()}.")
        given = p * z + o
        moved = self.curve.prox(given, step * c)
        # Where nothing moves, going to t and back would still round.
        return np.where(moved == given, z, p * (moved - o) + 0.0)[()]

    def plot(
        self, ax: Any = None, *, label: str | None = None, title: str | None = None, **style: Any
    ) -> Any:
        """Draw the curve and its knots with matplotlib and return the axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; new axes by default.
        label : str, optional
            Name of the curve in a legend, which is drawn if there is a label.
        title : str, optional
            Title of the axes; what the loss is by default.
        **style
            For `matplotlib.axes.Axes.plot`.
        """
        return plot(self.curve, repr(self) if title is None else title, self.of, ax, label, style)

    # ---- parameters, as scikit-learn asks for them: grids of ``loss__delta`` ---------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the loss; there is nothing deeper."""
        return {name: getattr(self, name) for name in self._rules}

    def set_params(self, **parameters: Any) -> Loss:
        """Return the loss with other parameters; this one stays as it is.

        >>> from rectiline.losses import Huber
        >>> Huber(1.0).set_params(delta=2.0)
        Huber(delta=2.0)
        """
        unknown = sorted(set(parameters) - set(self._rules))
        if unknown:
            allowed = sorted(self._rules) or "no parameters"
            raise ValueError(f"{self!r} has {allowed}; got {unknown}.")
        return type(self)(**(self.get_params() | parameters)) if parameters else self

    def __sklearn_clone__(self) -> Loss:
        return self

    # ---- sums and multiples ---------------------------------------------------------------------

    __array_ufunc__ = None  # so that a NumPy number times a loss asks the loss

    def __add__(self, other: object) -> Loss:
        if isinstance(other, Loss):
            return add_losses(self, other)
        return self if is_number(other) and other == 0 else NotImplemented

    __radd__ = __add__  # sum() starts from 0

    def __mul__(self, factor: object) -> Loss:
        return scale_loss(self, factor) if is_number(factor) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: object) -> Loss:
        if not is_number(divisor):
            return NotImplemented
        if divisor == 0:
            raise ZeroDivisionError(f"{self!r} / 0: a loss cannot be divided by zero.")
        return scale_loss(self, 1.0 / divisor)  # type: ignore[operator]

    def _prepared(
        self, y: ArrayLike, z: ArrayLike, weight: ArrayLike | None
    ) -> tuple[Vector, Vector, Vector, Vector]:
        owner = repr(self)
        p, o = np.ones(()), np.zeros(())
        if self.of == "margin":
            p = as_signs(owner, y)
        elif self.of == "residual":
            p, o = np.full((), -1.0), as_numbers(owner, y)
        c = np.asarray(1.0 if weight is None else weight, dtype=np.float64)
        if not ((c >= 0) & np.isfinite(c)).all():
            raise ValueError(f"{owner}: weight must be finite and >= 0, got {c.min()}.")
        return p, o, c, np.asarray(z, dtype=np.float64)


@lru_cache(maxsize=256)
def _curve_of(loss: Loss) -> PLQCurve:
    """Return the curve of a loss; making and checking it takes as long as a small solve's start."""
    return loss._make_curve()
