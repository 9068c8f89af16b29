"""Parameters and attributes that several estimators share, written once.

The ``{name}`` marks of a class docstring, each on a line of its own, are filled with the section of
that name from the docstring below.
"""

from __future__ import annotations

import inspect
import re


class _Shared:
    """Sections for all estimators.

    loss_params
    -----------
    loss_params : dict, optional
        Parameters of a loss given by name, such as ``{"delta": 2.0}`` for "huber".

    penalty
    -------
    penalty : str, Penalty or None, default="l2"
        The penalty on the coefficients: ``|b|^2 / 2`` ("l2"), ``|b|_1`` ("l1"), their mix
        ``l1_ratio |b|_1 + (1 - l1_ratio)/2 |b|^2`` ("elasticnet"), the sum of the groups' largest
        absolute values ("group"), its mix with ``|b|_1`` ("sparse_group"), or the sorted L1 norm
        ("slope"). An object from `rectiline.penalties` is used as it is.
    penalty_params : dict, optional
        ``{"groups": ...}`` for "group" and "sparse_group": one label per column, a mapping from
        column to label (``{"a": "g1", "b": "g1"}``) or from label to columns
        (``{"g1": ["a", "b"]}``), or disjoint lists of columns. Columns are names or positions;
        those in no group are not penalised. ``{"weights": ...}`` for "l1": one number per column,
        or "adaptive" for weights from a first fit, see `rectiline.paths.adaptive_weights`, to which
        ``"power": 1.0`` goes along.
        ``{"q": 0.1}`` or ``{"strengths": ...}`` for "slope".

    C
    -
    C : float, default=1.0
        Weight of the losses against the penalty: a larger C fits the training data more closely.
    l1_ratio : float, default=0.5
        Share of the L1 norm in the "elasticnet" and "sparse_group" penalties, between 0 and 1.

    relative_loss_params
    --------------------
    loss_params : dict, optional
        Parameters of a loss given by name, such as ``{"delta": 2.0}`` for "huber". The default of
        ``delta`` ("huber") and of ``epsilon`` ("epsilon_insensitive" and its square) is "auto": a
        multiple of a robust scale of the residuals, see the notes.

    auto_C
    ------
    C : float or "auto", default="auto"
        Weight of the losses against the penalty: a larger C fits the training data more closely.
        "auto" is a weak penalty in the unit of y, see the notes; with a penalty object, whose
        strength is given, and without a penalty it is 1.
    l1_ratio : float, default=0.5
        Share of the L1 norm in the "elasticnet" and "sparse_group" penalties, between 0 and 1.

    relative
    --------
    loss_ : Loss or tuple of Loss
        The loss that was fitted, with its parameters as numbers.
    delta_, epsilon_ : float or ndarray of shape (n_outputs,)
        The width of the loss, where it has one.
    scale_ : float or ndarray of shape (n_outputs,)
        The robust scale of the residuals, where a parameter was "auto".

    constraints
    -----------
    constraints : Constraint, dict, str, or list of these, default=()
        Restrictions of the coefficients: objects from `rectiline.constraints`; mappings from a
        column, by name or position, to a bound: ``{"age": ">=0", "income": (0, None)}``; texts
        with names of columns: ``"age + sex >= 0"``, ``"a = b"``, ``"nonnegative"``.
    positive : bool, default=False
        Whether every coefficient must be at least zero; fixed effects are free.
    monotone : dict or list, optional
        ``{"a": 1, "b": -1}``: the prediction may only rise with column a and only fall with b. A
        list has 1, -1 or 0 for each column.
    order : list of lists of columns, optional
        Chains such as ``[["low", "mid", "high"]]`` along which coefficients must not decrease.

    effects
    -------
    fixed_effects : str, int or list of these, optional
        Columns of X, by name or position, that hold labels of groups, such as firms and years. Each
        level gets a coefficient of its own, without penalty and constraints; these columns are the
        last ones of ``coef_``. The first level of each is the reference. Penalties other than
        "l1", "l2" and "elasticnet" do not go with effects.
    effects_l1 : float, default=0.0
        Strength of an L1 norm of the effects, beside the penalty (Koenker 2004). All levels have a
        coefficient then.

    tables
    ------
    categorical : "onehot", optional
        Columns of texts and categories become one sparse column of zeros and ones for each level,
        called "city=Oslo"; without a penalty the first level is the reference. Booleans are 0 and
        1, dates are days since 1970. By default texts are refused.
    missing : {"error", "drop"}, default="error"
        Whether rows with missing cells in X or y are refused, or left out of the fit.
    new_levels : {"error", "zero", "mean"}, default="error"
        What predictions do about levels that the fit did not see: raise, let them have no effect
        (that of the reference, if there is one), or the mean effect of the rows of the fit.

    fit_intercept
    -------------
    fit_intercept : bool, default=True
        Whether to add an intercept, which is neither penalised nor constrained.

    cv
    --
    cv : int, splitter or iterable, optional
        How to split, as everywhere in scikit-learn; 5 folds by default.
    scoring : str or callable, optional
        What to maximise; the estimator's own score by default.
    fold_tol : float, optional
        Largest certified relative gap of the fits on folds and along ``path_``; `tol` by default,
        also on large tables. A larger number saves time under losses with kinks, and changes
        scores: from about 1e-4 on by as much as their standard error. The fit with the chosen
        strength has `tol`.

    Cs
    --
    Cs : int or array-like, default=30
        Values of C to try, or how many: then from the largest C that gives all-zero coefficients
        (computed exactly for norm penalties) up; see `rectiline.paths.default_strengths`.
    l1_ratios : array-like, optional
        Mixes to try with "elasticnet" and "sparse_group"; 0.5 by default.

    chosen
    ------
    C_ : float
        The chosen C.
    l1_ratio_ : float or None
        The chosen mix.
    Cs_ : ndarray
        The values of C of ``path_``.
    path_ : Path or tuple of Path
        All strengths on all the data, for the chosen mix: certified to `fold_tol`.
    cv_results_ : dict of ndarray
        One entry per point of the grid: ``param_C``, scores of the folds, their mean and rank.

    running
    -------
    solver : str, default="auto"
        Name of a solver, or "auto"; see `rectiline.solve`.
    solver_options : dict, optional
        Options of the named solver.
    tol : float, default=1e-6
        Largest certified relative gap that counts as solved.
    max_iter : int, optional
        Most iterations, in the solver's own unit.
    time_limit : float, optional
        Most seconds for the whole fit; the best certified answer is kept, with a warning.
    n_jobs : int, optional
        Threads, -1 for one per core; by default one, or what `rectiline.set_threads` says. Problems
        of one fit (folds, classes, quantiles) run side by side; a single problem shares out its
        passes over X. Results have the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver's random choices; None is a fixed seed.
    verbose : int, default=0
        Whether to print a line at every certificate; a search over strengths prints one for each
        path, and from 2 on all certificates.
    progress_bar : bool, default=False
        Whether to draw a bar with rich or else tqdm, one for all problems of the fit.
    callback : callable, optional
        Called with a `rectiline.Progress` at every certificate; a true return value stops.

    warm_start
    ----------
    warm_start : bool, default=False
        Whether to start from the previous fit.

    proof
    -----
    penalty_weights_ : ndarray of shape (n_features,) or (n_problems, n_features)
        Weights of the L1 penalty, where they are "adaptive".
    n_iter_ : int or ndarray
        Iterations of the solver; one entry per problem if there are several.
    solver_ : str or tuple
        Which solver found the answer.
    status_ : str or tuple
        "solved", "iteration_limit", "time_limit" or "stopped".
    certificate_ : Certificate or tuple
        Objective, certified gap and constraint violation.
    dual_coef_ : ndarray of shape (n_samples,) or (n_problems, n_samples)
        Slope of each sample's weighted loss in its prediction: the multipliers of the proof. The
        only numbers that grow with the data; a pickle holds them under ``warm_start=True`` alone.
    solution_ : Solution or tuple
        Everything `rectiline.solve` returned; in a pickle without the multipliers of the samples.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray
        Names of the columns of X, where they are all strings; after `categorical` or
        `fixed_effects` those of the columns of zeros and ones as well.
    encoder_ : TableEncoder
        How texts, categories and effects became columns, where they did.

    task_parameters
    ---------------
    shared_dim : int, default=1
        Dimension h of the shared subspace, at least 1 and at most the number of columns.
    alpha : float, default=1.0
        Cost of leaving the subspace, > 0.
    beta : float, default=0.1
        Cost of every coefficient, > 0. Their ratio eta = beta/alpha says how soft the subspace is.
    center : bool, default=False
        Whether the tasks also share an unpenalised common coefficient vector. Compare both: with
        few rows per task the common part is often most of what can be shared.
    fit_intercept : bool, default=True
        Whether each task has an unpenalised intercept of its own.
    constraints : Constraint, sequence of Constraint, or one sequence per task, default=()
        Restrictions of the coefficients of each task, see `rectiline.constraints`.
    solver : {"auto", "bcd"}, default="auto"
        "bcd" is accelerated block coordinate descent.
    solver_options : dict, optional
        Options of the named solver, see `rectiline.solvers.solve_multitask`.
    tol : float, default=1e-6
        Largest certified relative gap that counts as solved.
    max_iter : int, optional
        Most passes over the tasks.
    time_limit : float, optional
        Most seconds of the whole fit.
    warm_start : bool, default=False
        Whether a second fit starts from the first one's answer.
    n_jobs : int, optional
        Threads that share the tasks; -1 is one per processor.
    random_state : int, RandomState or None, default=None
        Seed of every random choice; None means the fixed seed 0.
    verbose : int, default=0
        Whether to print a line for every certificate.
    progress_bar : bool, default=False
        Whether to draw a bar with rich or else tqdm.
    callback : callable, optional
        Called with a `rectiline.Progress` at every certificate, and at least about every 0.2
        seconds of work; a true return value stops the fit at the best answer so far.

    task_attributes
    ---------------
    tasks_ : list
        Labels of the tasks, in the order of `coef_`.
    coef_ : ndarray of shape (n_tasks, n_features)
    intercept_ : ndarray of shape (n_tasks,)
    common_ : ndarray of shape (n_features,)
        The common part with ``center=True``, else zeros.
    shared_components_ : ndarray of shape (shared_dim, n_features)
        Orthonormal rows that span the shared subspace, the leading one first.
    task_components_ : ndarray of shape (n_tasks, shared_dim)
        Where each task lies in the subspace: ``(coef_ - common_) @ shared_components_.T``.
    specific_components_ : ndarray of shape (n_tasks, n_features)
        What is left: ``coef_`` is ``common_ + task_components_ @ shared_components_`` + this.
    shared_basis_, shared_weights_ : ndarray of shape (n_features, r), (r,)
        The soft projector is ``M_ = shared_basis_ @ diag(shared_weights_) @ shared_basis_.T``.
    M_ : ndarray of shape (n_features, n_features)
        Computed on access.
    eta_ : float
    certificate_ : Certificate
        What is proved about the answer.
    aso_bound_ : float
        With the subspace fixed to `shared_components_`, the best coefficients are proved to be
        within this share of the best objective over all subspaces (the non-convex problem that
        the convex one relaxes). At the level of `tol` the relaxation is tight.
    solution_ : MultiTaskSolution
    n_iter_ : int
    solver_ : str
    status_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of str, if X had column names

    task_grid
    ---------
    shared_dims : sequence of int, optional
        Dimensions to try; by default 1, 2, 4, 8 as far as there are tasks and columns.
    alphas, betas : sequence of float
        Strengths to try.
    cv : int, splitter or None, default=None
        Number of folds (5 by default) or a scikit-learn splitter of the rows. A number splits
        tasks with rows of their own task by task.

    chosen_tasks
    ------------
    shared_dim_, alpha_, beta_
        The choice: the smallest loss on held-out rows, averaged over the tasks, then over the
        folds.
    loss_path_ : ndarray of shape (n_dims, n_alphas, n_betas, n_folds)
        That loss for every candidate and fold; infinite for those that a time limit left out.
    cv_results_ : dict of ndarray
        The candidates as a table, one row each, with columns as in scikit-learn's searches; scores
        are the losses with a minus sign.
    shared_dims_ : ndarray of int
        The dimensions that were tried.
    """


_HEAD = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)
_MARK = re.compile(r"^([ ]*)\{(\w+)\}$", re.MULTILINE)


_, *_found = _HEAD.split(inspect.cleandoc(_Shared.__doc__ or ""))
_SECTIONS = dict(zip(_found[::2], _found[1::2], strict=True))
_TIGHT = _SECTIONS.get("running", "").replace("default=1e-6", "default=1e-9")
_SECTIONS["running_tight"] = _TIGHT


def with_sections(text: str) -> str:
    """Return a class docstring with its marks filled."""

    def put(match: re.Match[str]) -> str:
        if match.group(2) not in _SECTIONS:
            return match.group()
        lines = _SECTIONS[match.group(2)].strip("\n").splitlines()
        return "\n".join(match.group(1) + line if line else line for line in lines)

    return _MARK.sub(put, inspect.cleandoc(text))
