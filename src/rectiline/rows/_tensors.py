"""Yields slices of torch tensors, on whatever device they are, as blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rectiline._optional import optional
from rectiline.rows._base import SlicedRows
from rectiline.rows._block import Block, refuse_other_length
from rectiline.rows._spread import on_device, spread_rows


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
    dlpack = optional("torch.utils.dlpack", "Arrays on a GPU are read through torch")
    return X if type(X).__module__.split(".")[0] == "torch" else dlpack.from_dlpack(X)


def copy_to_host(tensor: Any) -> NDArray[Any]:
    """Return a copy of a tensor in the memory of the host, for use that does not last.

    Copies to page-locked memory are several times faster, and torch keeps it for the next one.
    """
    import torch

    if not tensor.is_cuda:
        return np.asarray(tensor.numpy())
    copy = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    return np.asarray(copy.copy_(tensor).numpy())


class TensorRows(SlicedRows):
    """Rows of torch tensors; nothing leaves their device but sums and the rows near a knot."""

    def __init__(
        self, X: Any, y: Any, sample_weight: Any = None, block_rows: int | None = None
    ) -> None:
        X = as_tensor(X)
        import torch

        if X.ndim != 2:
            raise ValueError(f"X must be a 2-D tensor; got shape {tuple(X.shape)}.")
        if X.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"X must be float32 or float64; got {X.dtype}.")
        y, weight = _beside(X, "y", y), _beside(X, "sample_weight", sample_weight)
        # A pass cuts up large blocks by itself, and each costs some launches of kernels.
        super().__init__(X, y, weight, int(X.shape[0]) if block_rows is None else block_rows)

    def spread(self, size: int, seed: int, labels: Sequence[Any] = ()) -> tuple[Any, Any]:
        """Return about `size` rows spread over all of them, and how many rows each stands for."""
        library = on_device(seed, self.X.device)
        return spread_rows(self.n_rows, size, library, self.whole.y, labels)

    def picked(self, at: Any, stands_for: Any = None) -> TensorRows:
        """Return copies of some rows on their device, weighted with how many each stands for."""
        import torch

        part = self.whole.take(torch.as_tensor(at, device=self.X.device))
        weight = part.weight
        if stands_for is not None:
            weight = stands_for if weight is None else stands_for * weight
        return TensorRows(part.X, part.y, weight)

    def take(self, rows: NDArray[np.int64]) -> Block:
        """Return copies of some rows, on the host."""
        import torch

        at = torch.as_tensor(np.asarray(rows, dtype=np.int64), device=self.X.device)
        picked = self.whole.take(at)
        y = None if picked.y is None else picked.y.cpu().numpy()
        weight = None if picked.weight is None else picked.weight.double().cpu().numpy()
        return Block(copy_to_host(picked.X), y, weight, 0)


def _beside(X: Any, name: str, values: Any) -> Any:
    """Return one number for each row of X, on its device."""
    if values is None:
        return None
    import torch

    tensor = torch.as_tensor(values) if isinstance(values, np.ndarray) else as_tensor(values)
    refuse_other_length(name, tensor.shape, int(X.shape[0]))
    return tensor.to(X.device)
