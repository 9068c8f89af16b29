"""Text that the multi-task estimators share; `documented` puts it in."""

__all__ = ["ATTRIBUTES", "PARAMETERS"]

PARAMETERS = """
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
    Where the coefficients of each task may live, see `rectiline.constraints`.
solver : {"auto", "bcd", "apg"}, default="auto"
    "bcd" is accelerated block coordinate descent, "apg" accelerated proximal gradients; the
    last two are the methods of the paper, kept as references.
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
    seconds of work; a true return value stops the fit at the best answer so far."""

ATTRIBUTES = """
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
    Built when asked for.
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
feature_names_in_ : ndarray of str, if X had column names"""
