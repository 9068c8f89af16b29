"""Tests of peers that cannot apply to our classes, by suite: a pattern in their names, and why."""

CANNOT_APPLY: dict[str, dict[str, str]] = {
    "sklearn-quantile": {
        "interior_point_future": "is about a solver of SciPy that ours never call",
        "linprog_failure": "is about failures of SciPy's linprog, which ours do not use",
    },
    "sklearn-svm": {
        r"linearsvc_parameters\[.*(l1-hinge|True-l1-squared_hinge|False-l2-hinge)": (
            "expects an error where liblinear has no solver; ours have one"
        ),
        "crammer_singer": "the joint loss of Crammer and Singer is no PLQ loss of one margin",
        "linear_svm_convergence_warnings": (
            "expects that two iterations are not enough; ours count other iterations"
        ),
        "linear_svc_dual_auto|svc_dual": "is about liblinear's choice between primal and dual",
    },
    "sklearn-common": {},
    "osqp-classes": {},
    "pyfixest-quantreg": {
        "quantreg_vs_r": "needs R with its package quantreg",
    },
    "rehline": {
        "mf_convergence_warning": (
            "expects that one iteration is not enough; ours count other iterations"
        ),
    },
    "same-problems": {},
    "skglm-estimators": {},
    "sortedl1-slope": {
        "logistic": "the logistic loss is no PLQ loss",
    },
    "statsmodels-quantreg": {
        "zero_resid": (
            "expects a residual of 9.4e-7 where the exact solution of the linear program has 0"
        ),
    },
}
