"""Linear programs along a path of strengths: a basis of one is a few pivots from the next.

What comes out are candidates: whoever asks for them has them certified.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rectiline.problems import Problem
from rectiline.problems.forms import FormPoint, LinearProgramForm
from rectiline.solvers._base import Budget
from rectiline.solvers.generation._linear import LinearState, advance_linear
from rectiline.solvers.generation._solver import Generation
from rectiline.solvers.generation._start import restart_linear, start_linear

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

__all__ = ["BasisFollower"]

_MOST_ROUNDS = 64  # at one strength


class BasisFollower:
    """Moves a pair from strength to strength of the problem's penalty.

    Parameters
    ----------
    problem : Problem
        At the first strength; see `accepts`.
    target : float
        Relative gap that answers are to be certified to.
    n_threads : int, default=0
        Pivots take one thread.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> from rectiline.solvers import BasisFollower
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 3))
    >>> y = X[:, 0] + rng.standard_normal(50)
    >>> problem = rl.Problem(X, y, rl.losses.Absolute(), rl.penalties.L1(1.0))
    >>> follower = BasisFollower(problem, target=1e-6)
    >>> follower.place_at_zero()
    >>> coef, intercept, _ = follower.move(0.5, seconds=10.0)
    >>> weaker = problem.with_penalty(rl.penalties.L1(0.5))
    >>> weaker.certify(coef, intercept, follower.multipliers).relative_gap < 1e-6
    True
    """

    way: ClassVar[str] = "generation: a few pivots from the strength before"
    slopes_follow: ClassVar[bool] = False
    can_focus: ClassVar[bool] = False
    longest_move: ClassVar[float] = np.inf

    def __init__(self, problem: Problem, target: float, n_threads: int = 0) -> None:
        self._form = LinearProgramForm(problem)
        self._target = target
        self._warm: FormPoint | None = None
        self._state: LinearState | None = None

    @staticmethod
    def accepts(problem: Problem, target: float) -> bool:
        """Whether following is the way to go for such a problem and target."""
        return (
            problem.is_separable
            and not problem.is_constrained
            and bool((problem.columns.l1 > 0).all())
            and LinearProgramForm.accepts(problem) is None
            and Generation.refuses(problem) is None
        )

    def place_at_zero(self) -> None:
        """Start without coefficients."""
        self._warm = self._state = None

    def place(
        self, coef: Vector, intercept: float, sample: Vector, predictions: Vector | None = None
    ) -> None:
        """Start near a pair."""
        self._warm = FormPoint(coef, intercept, sample, np.zeros(0))
        self._state = None

    def move(
        self, strength: float, seconds: float, share: float = 1.0
    ) -> tuple[Vector, float, int] | None:
        """Return coefficients, intercept and rounds; None if it did not get there."""
        form = self._form = self._form.at_strength(strength)
        if self._state is None:
            self._state = start_linear(form, self._warm, Generation().plan(form), 0)
            # All answers will be certified; losses that begin at zero let columns tell the gap.
            self._state.trusts_columns = all(
                one.curve.minimum()[1] == 0.0 for one in form.problem.losses
            )
        else:
            restart_linear(self._state, form)
        step = advance_linear(self._state, Budget(_MOST_ROUNDS, seconds, share * self._target))
        if not step.reached:
            self._warm = self._state = None
            return None
        point = self._state.point
        return point.coef, point.intercept, step.iterations

    @property
    def multipliers(self) -> Vector:
        """Those of the last answer."""
        assert self._state is not None
        return self._state.point.sample

    def put_multipliers(self, into: Vector) -> None:
        """Write the same into a contiguous vector."""
        into[:] = self.multipliers
