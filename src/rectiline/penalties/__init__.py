"""Penalties shrink the coefficients: norms, their dual balls, proximal steps and pricing."""

from rectiline.penalties._atom import Atom
from rectiline.penalties._base import Penalty
from rectiline.penalties._columnwise import Columnwise
from rectiline.penalties._elastic_net import ElasticNet
from rectiline.penalties._fused import Fused
from rectiline.penalties._group_linf import GroupLinf
from rectiline.penalties._l1 import L1
from rectiline.penalties._ridge import Ridge
from rectiline.penalties._shared_subspace import SharedSubspace, Subspace
from rectiline.penalties._slope import Slope
from rectiline.penalties._sparse_group import SparseGroupLinf
from rectiline.penalties._table import PENALTIES, get

__all__ = [
    "L1",
    "PENALTIES",
    "Atom",
    "Columnwise",
    "ElasticNet",
    "Fused",
    "GroupLinf",
    "Penalty",
    "Ridge",
    "SharedSubspace",
    "Slope",
    "SparseGroupLinf",
    "Subspace",
    "get",
]
