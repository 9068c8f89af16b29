"""Penalties shrink the coefficients: norms, their dual balls, proximal steps and pricing."""

import sys

from rectiline.penalties import _group_linf, _separable
from rectiline.penalties._base import Atom as Atom
from rectiline.penalties._base import Penalty
from rectiline.penalties._fused import Fused
from rectiline.penalties._group_linf import GroupedPenalty as GroupedPenalty
from rectiline.penalties._group_linf import GroupLinf, SparseGroupLinf
from rectiline.penalties._separable import L1, Columnwise, ElasticNet, Ridge
from rectiline.penalties._shared_subspace import SharedSubspace
from rectiline.penalties._shared_subspace import Subspace as Subspace
from rectiline.penalties._slope import Slope
from rectiline.penalties._table import PENALTIES as PENALTIES
from rectiline.penalties._table import get

__all__ = [
    "L1",
    "Columnwise",
    "ElasticNet",
    "Fused",
    "GroupLinf",
    "Penalty",
    "Ridge",
    "SharedSubspace",
    "Slope",
    "SparseGroupLinf",
    "get",
]

# Pickles of 0.2.0 look for classes where they stood then.
for _old in ("_columnwise", "_elastic_net", "_l1", "_ridge"):
    sys.modules[f"{__name__}.{_old}"] = _separable
sys.modules[f"{__name__}._sparse_group"] = _group_linf
