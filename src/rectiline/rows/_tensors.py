"""Yields slices of torch tensors, on whatever device they are, as blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline.rows._arrays import block_length
from rectiline.rows._base import RowBlocks
from rectiline.rows._block import Block

__all__ = ["TensorRows", "as_tensor", "is_on_gpu", "is_tensor_like"]

_BLOCK_BYTES_PER_ROW = 2.0**-7  # of a row: blocks of 4 GiB of X and more, cut up by the pass

_RARE_SHARE = 0.25  # of a sample that a rare label gets


def is_tensor_like(X: Any) -> bool:
    """Whether X is a torch tensor, or an array on a GPU that speaks DLPack."""
    if type(X).__module__.split(".")[0] == "torch":
        return hasattr(X, "shape")
    if isinstance(X, np.ndarray) or not hasattr(X, "__dlpack_device__"):
        return False
    return bool(X.__dlpack_device__()[0] != 1)  # 1 is the host


def is_on_gpu(X: Any) -> bool:
    """Whether X is an array that is not in the memory of the host."""
    if not is_tensor_like(X):
        return False
    return not hasattr(X, "is_cpu") or not X.is_cpu


def as_tensor(X: Any) -> Any:
    """Return a torch tensor that shares its memory with X."""
    try:
        import torch
        import torch.utils.dlpack
    except ImportError as error:
        raise ImportError(
            "Arrays on a GPU are read through torch; install rectiline[gpu]."
        ) from error
    return X if isinstance(X, torch.Tensor) else torch.utils.dlpack.from_dlpack(X)


def _spread(n: int, size: int, draw: Any, device: Any) -> Any:
    """Return one row out of each of `size` stretches, growing."""
    import torch

    if size >= n:
        return torch.arange(n, device=device)
    step = n / size
    first = torch.arange(size, device=device, dtype=torch.float64)
    first += torch.rand(size, generator=draw, device=device, dtype=torch.float64)
    return torch.unique_consecutive((first * step).long().clamp_max(n - 1))


class TensorRows(RowBlocks):
    """Rows of torch tensors; nothing leaves their device but sums and the rows near a knot."""

    def __init__(
        self, X: Any, y: Any, sample_weight: Any = None, block_rows: int | None = None
    ) -> None:
        super().__init__()
        import torch

        self._X = as_tensor(X)
        if self._X.ndim != 2 or 0 in self._X.shape:
            raise ValueError(
                "X must be a 2-D tensor with at least one row and one column; got shape "
                f"{tuple(self._X.shape)}."
            )
        if self._X.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"X must be float32 or float64; got {self._X.dtype}.")
        n, self.n_features = self._X.shape
        self.dtype = np.dtype(np.float32 if self._X.dtype == torch.float32 else np.float64)
        self._y = self._checked("y", y, n)
        self._weight = self._checked("sample_weight", sample_weight, n)
        self.has_target, self.has_weight = y is not None, sample_weight is not None
        # A pass over a GPU cuts up its blocks itself, and each costs some launches of kernels.
        one_block = block_rows is None and self._X.is_cuda
        self.block_rows = int(n) if one_block else block_length(block_rows, _BLOCK_BYTES_PER_ROW)
        self._n_rows = int(n)

    def _checked(self, name: str, values: Any, n: int) -> Any:
        if values is None:
            return None
        import torch

        tensor = torch.as_tensor(values) if isinstance(values, np.ndarray) else as_tensor(values)
        if tuple(tensor.shape) != (n,):
            raise ValueError(
                f"{name} must have one entry for each of the {n} rows of X; got shape "
                f"{tuple(tensor.shape)}."
            )
        return tensor.to(self._X.device)

    @property
    def X(self) -> Any:
        """The whole tensor."""
        return self._X

    def _open(self) -> Iterator[Block]:
        for start in range(0, self.n_rows, self.block_rows):
            yield self._block(slice(start, start + self.block_rows), start)

    def _block(self, some: Any, start: int) -> Block:
        y = None if self._y is None else self._y[some]
        return Block(self._X[some], y, None if self._weight is None else self._weight[some], start)

    @property
    def has_random_access(self) -> bool:
        """Whether `take` reads some rows without reading all of them."""
        return True

    def spread(
        self, size: int, seed: int, labels: tuple[Any, Any] | None = None
    ) -> tuple[Any, Any]:
        """Return about `size` rows spread over all of them, and how many rows each stands for.

        Of two labels, a rare one gets up to a quarter of the rows.
        """
        import torch

        device = self._X.device
        draw = torch.Generator(device=device).manual_seed(seed)
        at = _spread(self.n_rows, size, draw, device)
        ones = torch.ones(len(at), dtype=torch.float64, device=device)
        if labels is None:
            return at, ones * (self.n_rows / len(at))
        ups = int((self._y == labels[1]).sum())
        is_rare = 2 * ups <= self.n_rows
        label, count = (labels[1], ups) if is_rare else (labels[0], self.n_rows - ups)
        if not 0 < count < _RARE_SHARE * self.n_rows:
            return at, ones * (self.n_rows / len(at))
        rare = (self._y == label).nonzero()[:, 0]
        rare = rare[_spread(count, max(1, int(_RARE_SHARE * size)), draw, device)]
        others = at[self._y[at] != label]
        at, _ = torch.cat([rare, others]).sort()
        each = (self.n_rows - count) / max(len(others), 1)
        return at, torch.where(self._y[at] == label, count / len(rare), each).double()

    def picked(self, at: Any, stands_for: Any) -> TensorRows:
        """Return copies of some rows, weighted with how many rows each stands for."""
        part = self._block(at, 0)
        weight = stands_for if part.weight is None else stands_for * part.weight
        return TensorRows(part.X, part.y, weight)

    def take(self, rows: NDArray[np.int64]) -> Block:
        """Return copies of some rows, on the host."""
        import torch

        at = torch.as_tensor(np.asarray(rows, dtype=np.int64), device=self._X.device)
        picked = self._block(at, 0)
        y = None if picked.y is None else picked.y.cpu().numpy()
        weight = None if picked.weight is None else picked.weight.double().cpu().numpy()
        return Block(picked.X.cpu().numpy(), y, weight, 0)
