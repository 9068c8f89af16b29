"""Many tasks with a shared subspace: solvers, quality and size.

Not races of one objective against rivals, so it brings its own loop::

    python -m benchmarks run multitask [--filter PART]

- solvers: school, least squares; passes and CPU seconds until the objective is within 1e-8;
- yeast: hinge on all rows, certified 1e-4, side by side with 14 x 3 LinearSVC fits;
- school: explained variance on held-out rows, 75, 40 and 20 % of each school's rows for training;
- labels: yeast with 300 training rows, macro AUC and F1;
- tiny: 200 tasks of 20 rows, losses without a closed form;
- size: 200 tasks, 1,000 dense or 20,000 sparse columns; seconds and memory.

The data folder is named by RECTILINE_DATA and holds ``school.npz`` (X, y, task_id) and
``yeast_multilabel.npz`` (X, Y). Nothing is downloaded. Every part writes a table (CSV) and what is
behind it (JSON) to ``results/multitask``.
"""

from __future__ import annotations

from .tables import run

__all__ = ["run"]
