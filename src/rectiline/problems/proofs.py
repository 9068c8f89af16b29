"""The proof for solvers and paths: certificates together with the multipliers behind them.

Users call `Problem.certify` and `Problem.certify_many`. Whoever goes on from a certified pair, or
has products with X from elsewhere (row blocks, compensated arithmetic), starts here:

- `prove` repairs one dual point and certifies the pair; `prove_tasks` does so for the tasks of a
  `MultiTaskProblem`.
- `moved_into_dual_range` is a second repair of multipliers, for pairs that cannot be proved.
- `save_proofs` writes proofs to a file.
"""

from rectiline.problems._multipliers import contradiction_in_words, with_constraints
from rectiline.problems._saved import ProvedData, Statement, save_proofs
from rectiline.problems._saved_tasks import TaskStatement
from rectiline.problems.proof._balance import balancing_products
from rectiline.problems.proof._gather import moved_into_dual_range
from rectiline.problems.proof._prove import Proof, prove
from rectiline.problems.proof._tasks import prove_tasks

__all__ = [
    "Proof",
    "ProvedData",
    "Statement",
    "TaskStatement",
    "balancing_products",
    "contradiction_in_words",
    "moved_into_dual_range",
    "prove",
    "prove_tasks",
    "save_proofs",
    "with_constraints",
]
