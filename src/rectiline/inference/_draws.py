"""Random weights of bootstrap replicates: each replicate has its own seed, whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rectiline._typing import Vector

__all__ = ["METHODS", "Resampling", "mammen", "replicate_seeds"]

METHODS = ("pairs", "weights", "wild")


def replicate_seeds(random_state: Any, count: int) -> list[np.random.SeedSequence]:
    """Return one seed per replicate; None is the fixed seed 0."""
    if random_state is None:
        entropy = 0
    elif isinstance(random_state, int | np.integer):
        entropy = int(random_state)
    else:
        entropy = int(check_random_state(random_state).randint(2**31 - 1))
    return list(np.random.SeedSequence(entropy).spawn(count))


def mammen(rng: np.random.Generator, count: int) -> Vector:
    """Return draws with mean 0, variance 1 and third moment 1 (Mammen 1993)."""
    root = np.sqrt(5.0)
    low = rng.uniform(size=count) < (root + 1.0) / (2.0 * root)
    return np.asarray(np.where(low, 0.5 * (1.0 - root), 0.5 * (1.0 + root)))


@dataclass(frozen=True, eq=False)
class Resampling:
    """Weights of the samples in a replicate by resampling, of samples or of whole clusters.

    Attributes
    ----------
    method : {"pairs", "weights"}
        Draws with replacement, or independent exponential weights.
    weight : ndarray of shape (n,)
        Frequency weights: a sample of weight two is drawn like two equal samples.
    labels : ndarray of shape (n,) or None
        Clusters 0, 1, ...
    """

    method: str
    weight: Vector
    labels: NDArray[np.intp] | None = None

    def draw(self, seed: np.random.SeedSequence) -> Vector:
        """Return the weights of one replicate."""
        rng = np.random.default_rng(seed)
        if self.labels is not None:
            count = int(self.labels.max()) + 1
            times: NDArray[Any] = rng.standard_exponential(count)
            if self.method == "pairs":
                times = np.bincount(rng.integers(0, count, count), minlength=count)
            return np.asarray(self.weight * times[self.labels])
        if self.method == "weights":
            return np.asarray(rng.standard_gamma(self.weight))
        if (self.weight == 1.0).all():
            chosen = rng.integers(0, self.weight.size, self.weight.size)
        else:
            reached = np.cumsum(self.weight)
            drawn = rng.uniform(0.0, reached[-1], round(float(reached[-1])))
            chosen = np.minimum(np.searchsorted(reached, drawn, "right"), self.weight.size - 1)
        return np.bincount(chosen, minlength=self.weight.size).astype(np.float64)
