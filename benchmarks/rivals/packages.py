"""Packages that fit linear models, each called below what is not its solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..objective import Objective, Piece
from ._base import MARGIN, Answer, Rival, around, decades

Vector = np.ndarray


class ReHLine(Rival):
    """ReHLine 0.1.4 by its lowest Python entry point, with its defaults: random order, shrinking.

    Its problem is ``sum relu(u z + v) + rehu_tau(s z + t) + rho|b|_1 + |b|^2/2``: ours over ``l2``.
    """

    package = "rehline"
    shrink = 1
    tight = 1e-12
    takes = {"ridge": True, "intercept": False, "constraints": True}

    def ladder(self, targets: tuple[float, ...], size: float) -> tuple[float, ...]:
        # It stops at gap <= tol * max(1, |P|, |D|): aim around each target in its own units.
        return around(targets, min(1.0, size / self.objective.l2))

    def prepare(self, objective: Objective) -> None:
        from rehline._base import ReHLine_solver

        self.objective, self.call = objective, ReHLine_solver
        relu: list[tuple[Vector, ...]] = []
        rehu: list[tuple[Vector, ...]] = []
        for piece in (p.scaled(1.0 / objective.l2) for p in objective.pieces):
            for end in (piece.hi, piece.lo):
                if not np.any(end):
                    continue
                if np.all(piece.quad == 0):
                    relu.append((end, -end * piece.at))
                else:
                    rehu.append(_rehu(piece, end))
        if objective.case.loss in MARGIN:
            relu, rehu = _merge(relu), _merge(rehu)
        self.relu = [np.vstack(part) for part in zip(*relu, strict=True)] or [None, None]
        self.rehu = [np.vstack(part) for part in zip(*rehu, strict=True)] or [None, None, None]
        self.rho = np.full(objective.d, objective.l1 / objective.l2) if objective.l1 else None

    def solve(self, tol: float, time_limit: float) -> Any:
        (U, V), (S, T, Tau) = self.relu, self.rehu
        rows = {"A": self.objective.A, "b": self.objective.c, "rho": self.rho}
        settings = {"max_iter": 2**30, "tol": tol, "shrink": self.shrink, "verbose": 0}
        return self.call(self.objective.X, U, V, Tau=Tau, S=S, T=T, **rows, **settings)

    def answer(self, raw: Any) -> Answer:
        l2 = self.objective.l2
        dual = np.zeros(self.objective.n)
        if self.relu[0] is not None:
            dual += np.sum(self.relu[0] * np.asarray(raw.Lambda), axis=0)
        if self.rehu[0] is not None:
            dual += np.sum(self.rehu[0] * np.asarray(raw.Gamma), axis=0)
        xi = None if self.objective.A is None else l2 * np.asarray(raw.xi)
        return Answer(np.array(raw.beta), 0.0, l2 * dual, xi, {"iterations": int(raw.niter)})


class ReHLinePlain(ReHLine):
    """Cyclic order, no shrinking."""

    shrink = 0


def _rehu(piece: Piece, end: Vector) -> tuple[Vector, Vector, Vector]:
    """``max_{g between 0 and end} g (z - at) - quad g^2/2`` as ``rehu_tau(s z + t)``."""
    root = np.sqrt(piece.quad)
    s = np.sign(end) / root
    return s, -s * piece.at, np.abs(end) * root


def _merge(units: list[tuple[Vector, ...]]) -> list[tuple[Vector, ...]]:
    """A margin loss has one unit per row: the two class halves fit in one row of parameters."""
    if len(units) < 2:
        return units
    first, second = units
    choose = first[0] != 0
    return [tuple(np.where(choose, a, b) for a, b in zip(first, second, strict=True))]


class Fitted(Rival):
    """A class of a package with ``fit(X, y)``; `make` returns one for a tolerance."""

    make: Any

    def solve(self, tol: float, time_limit: float) -> Any:
        return self.make(tol).fit(self.X, self.y)

    def keep(self, objective: Objective) -> None:
        self.X, self.y = objective.X, objective.y


class Liblinear(Fitted):
    """Dual coordinate descent by LinearSVC and LinearSVR: ``C sum loss + |b|^2/2``."""

    package = "scikit-learn"
    dual = True
    losses: tuple[str, ...] = (
        "hinge",
        "squared_hinge",
        "absolute",
        "pinball",
        "epsilon_insensitive",
        "squared_epsilon_insensitive",
        "squared_error",
    )
    tolerances = decades(1e-1, 1e-11, 2)
    takes = {"ridge": True, "l1": False, "intercept": False}

    def skip(self, objective: Objective) -> str | None:
        if objective.case.loss == "pinball" and objective.case.parameter != 0.5:
            return "pinball only at the median"
        if objective.case.loss not in self.losses:
            return f"no {objective.case.loss} loss"
        return super().skip(objective)

    def prepare(self, objective: Objective) -> None:
        from sklearn.svm import LinearSVC, LinearSVR

        self.keep(objective)
        case = objective.case
        C = objective.uniform_weight / objective.l2
        options: dict[str, Any] = {"fit_intercept": False, "dual": self.dual, "max_iter": 2**30}
        if case.loss in ("hinge", "squared_hinge"):
            self.make = lambda tol: LinearSVC(loss=case.loss, C=C, tol=tol, **options)
            return
        squared = case.loss.startswith("squared")
        options["loss"] = "squared_epsilon_insensitive" if squared else "epsilon_insensitive"
        options["C"] = C / 2 if case.loss in ("pinball", "squared_error") else C
        width = case.parameter if case.loss.endswith("insensitive") else 0.0
        self.make = lambda tol: LinearSVR(epsilon=width, tol=tol, **options)

    def answer(self, raw: Any) -> Answer:
        return Answer(raw.coef_.ravel(), word={"iterations": int(np.max(raw.n_iter_))})


class LiblinearPrimal(Liblinear):
    """Trust-region Newton on the primal, for the smooth losses."""

    dual = False
    losses = ("squared_hinge", "squared_epsilon_insensitive", "squared_error")


class SnapML(Fitted):
    """SupportVectorMachine: ``sum loss + regularizer/2 |b|^2``, float32 by its design."""

    package = "snapml"
    tolerances = decades(1e-2, 1e-9)
    takes = {"losses": ("hinge",), "ridge": True, "l1": False, "intercept": False}

    def prepare(self, objective: Objective) -> None:
        from snapml import SupportVectorMachine

        self.X, self.y = objective.X.astype(np.float32), objective.y
        strength = objective.l2 / objective.uniform_weight
        options = {"loss": "hinge", "regularizer": strength, "max_iter": 1_000_000}
        options |= {"fit_intercept": False, "n_jobs": 1, "use_gpu": False}
        self.make = lambda tol: SupportVectorMachine(tol=tol, **options)

    def answer(self, raw: Any) -> Answer:
        return Answer(np.array(raw.coef_, dtype=float).ravel())


class Skglm(Rival):
    """Anderson-accelerated coordinate descent, ``mean(loss) + penalty``, columns contiguous."""

    package = "skglm"
    compiles = True
    tolerances = decades(1e-2, 1e-12)
    takes = {"losses": ("huber", "squared_error"), "penalised": True}

    def prepare(self, objective: Objective) -> None:
        from skglm.datafits import Huber, Quadratic
        from skglm.penalties import L1_plus_L2
        from skglm.solvers import AndersonCD
        from skglm.utils.jit_compilation import compiled_clone

        case, X = objective.case, objective.X
        total = objective.uniform_weight * objective.n  # its mean loss times this is ours
        strength = objective.l1 + objective.l2
        self.X = X.tocsc() if hasattr(X, "indptr") else np.asfortranarray(X)
        self.y, self.intercept = objective.y, case.intercept
        datafit = Huber(case.parameter) if case.loss == "huber" else Quadratic()
        penalty = L1_plus_L2(strength / total, objective.l1 / strength)
        self.terms = compiled_clone(datafit), compiled_clone(penalty)
        options = {"max_iter": 10_000, "max_epochs": 1_000_000, "fit_intercept": case.intercept}
        self.make = lambda tol: AndersonCD(tol=tol, **options)

    def solve(self, tol: float, time_limit: float) -> Any:
        return self.make(tol).solve(self.X, self.y, *self.terms)

    def answer(self, raw: Any) -> Answer:
        weights, _, stop = raw
        intercept = float(weights[-1]) if self.intercept else 0.0
        coef = np.array(weights[: self.X.shape[1]])
        return Answer(coef, intercept, word={"stop_crit": float(stop)})


class SklearnQuantile(Fitted):
    """``mean(pinball) + alpha |b|_1`` by HiGHS; it has no tolerance of its own."""

    package = "scikit-learn"
    tolerances = (0.0,)
    takes = {"losses": ("pinball", "absolute"), "ridge": False}

    def prepare(self, objective: Objective) -> None:
        from sklearn.linear_model import QuantileRegressor

        self.keep(objective)
        case = objective.case
        doubled = case.loss == "absolute"
        total = objective.uniform_weight * objective.n * (2.0 if doubled else 1.0)
        self.make = lambda _: QuantileRegressor(
            quantile=0.5 if doubled else case.parameter,
            alpha=objective.l1 / total,
            fit_intercept=case.intercept,
            solver="highs",
        )

    def answer(self, raw: Any) -> Answer:
        return Answer(np.array(raw.coef_), float(raw.intercept_), word={"iterations": raw.n_iter_})


class SklearnSGD(Fitted):
    """Averaged stochastic gradient; its "tolerance" is one over the number of epochs."""

    package = "scikit-learn"
    tolerances = (1.0, 0.2, 0.05, 0.01, 0.002)
    losses = ("hinge", "squared_hinge", "modified_huber", "huber", "squared_error")
    losses += ("epsilon_insensitive", "squared_epsilon_insensitive")
    takes = {"losses": losses, "penalised": True}

    def prepare(self, objective: Objective) -> None:
        from sklearn.linear_model import SGDClassifier, SGDRegressor

        self.keep(objective)
        case = objective.case
        total = objective.uniform_weight * objective.n  # its mean loss times this is ours
        options: dict[str, Any] = {
            "loss": case.loss,
            "penalty": "elasticnet",
            "alpha": (objective.l1 + objective.l2) / total,
            "l1_ratio": objective.l1 / (objective.l1 + objective.l2),
            "fit_intercept": case.intercept,
            # After the first epoch; averaging is broken in combination with an L1 term.
            "average": objective.n if objective.l1 == 0 else False,
            "tol": None,
            "random_state": 0,
        }
        if case.parameter is not None:
            options["epsilon"] = case.parameter
        model = SGDClassifier if case.data.task == "margin" else SGDRegressor
        self.make = lambda tol: model(max_iter=round(1.0 / tol), **options)

    def answer(self, raw: Any) -> Answer:
        return Answer(np.asarray(raw.coef_).ravel(), float(np.ravel(raw.intercept_)[0]))


class UnpenalisedQuantile(Rival):
    """What statsmodels and pyfixest share: a column of ones, no penalty."""

    takes = {"losses": ("pinball", "absolute"), "ridge": False, "l1": False, "sparse": False}

    def keep(self, objective: Objective) -> None:
        case = objective.case
        self.intercept = case.intercept
        ones = np.ones((objective.n, 1))
        self.X = np.hstack([objective.X, ones]) if self.intercept else objective.X
        self.y = objective.y
        self.q = 0.5 if case.loss == "absolute" else case.parameter

    def split(self, found: Any, *more: Any, **named: Any) -> Answer:
        """Return the answer whose coefficients end with the intercept, where there is one."""
        if self.intercept:
            return Answer(found[:-1], float(found[-1]), *more, **named)
        return Answer(found, 0.0, *more, **named)


class StatsmodelsQuantReg(UnpenalisedQuantile):
    """QuantReg: iteratively reweighted least squares."""

    package = "statsmodels"
    tolerances = decades(1e-3, 1e-10)

    def prepare(self, objective: Objective) -> None:
        from statsmodels.regression.quantile_regression import QuantReg

        self.keep(objective)
        self.model = QuantReg(self.y, self.X)

    def solve(self, tol: float, time_limit: float) -> Any:
        return self.model.fit(q=self.q, p_tol=tol, max_iter=100_000)

    def answer(self, raw: Any) -> Answer:
        return self.split(np.asarray(raw.params))


class PyfixestFrischNewton(UnpenalisedQuantile):
    """Frisch-Newton interior point for quantile regression, called below its formulas.

    The formula parser, the variance estimate and the collinearity check of ``quantreg`` are not its
    solver and are left out; the factorisation that its solver takes as input is timed.
    """

    package = "pyfixest"
    compiles = True

    def prepare(self, objective: Objective) -> None:
        from pyfixest.estimation.quantreg.frisch_newton_ip import frisch_newton_solver

        self.keep(objective)
        self.call = frisch_newton_solver
        # Its gap is that of sum loss; ours has the weights in it.
        doubled = objective.case.loss == "absolute"
        self.unit = objective.uniform_weight * (2.0 if doubled else 1.0)

    def ladder(self, targets: tuple[float, ...], size: float) -> tuple[float, ...]:
        return around(targets, size / self.unit)

    def solve(self, tol: float, time_limit: float) -> Any:
        from scipy.linalg import cho_factor, solve_triangular

        X, n = self.X, len(self.y)
        factor, _ = cho_factor(X.T @ X, lower=True, check_finite=False)
        return self.call(
            A=X.T,
            b=(1.0 - self.q) * X.T @ np.ones(n),
            c=-self.y,
            u=np.ones(n),
            q=self.q,
            tol=tol,
            max_iter=500,
            chol=factor,
            P=solve_triangular(factor, X.T, lower=True, check_finite=False),
        )

    def answer(self, raw: Any) -> Answer:
        # Its dual x lies in [0, 1] with X'x = (1-q) X'1; the slope of our row is w (1 - q - x).
        dual = self.unit * (1.0 - self.q - np.asarray(raw[3]))
        word = {"iterations": int(raw[2]), "converged": bool(raw[1])}
        return self.split(np.asarray(raw[0]).ravel(), dual, word=word)


class Cvxpy(Rival):
    """cvxpy with Clarabel, the program as its users write it; compiling it is timed."""

    package = "cvxpy"
    tolerances = decades(1e-6, 1e-12)
    takes = {"losses": ("hinge", "pinball", "huber"), "constraints": True}

    def prepare(self, objective: Objective) -> None:
        import cvxpy

        self.cvxpy, self.objective = cvxpy, objective

    def solve(self, tol: float, time_limit: float) -> Any:
        cp, objective, case = self.cvxpy, self.objective, self.objective.case
        b, b0 = cp.Variable(objective.d), cp.Variable()
        z = objective.X @ b + (b0 if case.intercept else 0.0)
        y, parameter = objective.y, case.parameter
        if case.loss == "hinge":
            loss = cp.pos(1.0 - cp.multiply(y, z))
        elif case.loss == "huber":
            loss = cp.huber(y - z, parameter) / 2.0
        else:
            loss = cp.maximum(parameter * (y - z), (parameter - 1.0) * (y - z))
        total = objective.uniform_weight * cp.sum(loss)
        total += objective.l1 * cp.norm1(b) + 0.5 * objective.l2 * cp.sum_squares(b)
        rows = [] if objective.A is None else [objective.A @ b + objective.c >= 0]
        settings = {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol, "max_threads": 1}
        problem = cp.Problem(cp.Minimize(total), rows)
        problem.solve(solver=cp.CLARABEL, time_limit=time_limit, **settings)
        return b.value, 0.0 if b0.value is None else float(b0.value), problem.status

    def answer(self, raw: Any) -> Answer:
        coef, intercept, status = raw
        return Answer(np.asarray(coef, dtype=float), intercept, word={"status": status})
