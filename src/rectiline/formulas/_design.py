"""Turns a formula and a table into X, y and constraints; `rectiline.formula` is here."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from sklearn.base import BaseEstimator, clone

from rectiline._optional import optional
from rectiline.backends import TableEncoder
from rectiline.constraints import Constraint, LinearInequality
from rectiline.formulas._effects import Categories, effect_table, read_effects
from rectiline.formulas._model import FormulaModel
from rectiline.formulas._splines import Spline, bs, smooth, total_variation
from rectiline.penalties import Columnwise

_MAKERS: dict[str, Callable[..., Spline]] = {"bs": bs, "s": smooth, "tv": total_variation}
_DENSE_ENTRY_SHARE = 0.2  # share of nonzero entries from which on X is a dense table


def formula(
    text: str, data: Any, *, weights: Any = None, groups: Any = None, new_levels: str = "error"
) -> FormulaDesign:
    """Read a formula: what is predicted, from which terms, with which effects taken out.

    ``"y ~ bs(x, monotone=+1) + C(city) | firm"`` predicts y from an increasing spline in x and the
    levels of city, with an effect of its own for every firm. The language is that of formulaic
    (Wilkinson notation: ``+``, ``:``, ``*``, ``C()``, ``np.log()``, ``- 1``); names that are no
    identifiers stand in backquotes. Terms are Python expressions, and reading a formula runs them:
    do not read formulas of people you do not trust. These are added:

    - ``s(x, df=20, degree=3, strength=1, shape=None)`` is a smooth curve: a B-spline on equidistant
      knots whose second differences are penalised by half their squares times `strength`.
    - ``tv(x, knots=None, strength=1, shape=None)`` is a line with bends, at the values of x (200
      quantiles of many), penalised by their size times `strength`: the total variation of the
      derivative, R's ``rqss``. Shapes are "increasing", "decreasing", "convex" and "concave", or
      two of them. The penalty of ``s`` and ``tv``, times C or alpha of the estimator as usual,
      takes the place of its penalty; all other terms are free.
    - ``bs(x, df=6, knots=None, degree=3, monotone=0, convex=0)`` is a B-spline with `df` columns
      that is zero at the left end of the data and goes on as a line beyond its ends. With
      ``monotone=1`` it increases, with ``-1`` it decreases; ``convex=1`` and ``-1`` (concave)
      likewise. Shapes are constraints of the fit, so that the answer has them exactly.
    - Variables behind ``|`` are categories, numbers included; each level but the first is a column
      such as "firm=a", and ``firm:year`` has one for each pair. There is no centering, which would
      be wrong for anything but least squares.

    Rows with a missing value in a variable of the formula are left out.

    Parameters
    ----------
    text : str
    data : DataFrame or dict of arrays
        pandas, polars, or anything with `to_pandas`.
    weights, groups : str or array-like of shape (n_rows,), optional
        Weights of the fit and labels of clusters: the name of a column, or one entry for each row
        of data; both lose the rows that are left out.
    new_levels : {"error", "zero", "mean"}, default="error"
        What predictions do about levels behind ``|`` that the data of the fit did not have: raise,
        let them have the effect of the reference, or the mean effect of these data.

    Returns
    -------
    FormulaDesign
        With `X`, `y`, `constraints`, and `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> import rectiline as rl
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 3, 200)
    >>> data = {"x": x, "y": np.sqrt(x) + 0.2 * rng.standard_normal(200)}
    >>> design = rl.formula("y ~ bs(x, df=6, monotone=+1, convex=-1)", data)
    >>> design.X.shape, len(design.constraints)
    ((200, 6), 1)
    >>> model = design.fit(rl.QuantileRegressor(quantile=0.5, alpha=0))
    >>> model.predict({"x": [0.25, 1.0, 2.25]}).round(2)
    array([0.51, 0.98, 1.47])
    """
    formulaic = optional("formulaic", "Formulas need formulaic")
    if not isinstance(text, str):
        raise TypeError(f"formula must be a string such as 'y ~ x'; got {type(text).__name__}.")
    table = _as_table(data)
    try:
        parsed = formulaic.Formula(text)
        variables = _variables(parsed.required_variables, text)
    except (formulaic.errors.FormulaicError, SyntaxError) as error:
        raise ValueError(f"formula {text!r} cannot be read: {error}") from error
    if not hasattr(parsed, "lhs") or not hasattr(parsed, "rhs"):
        raise ValueError(f"formula {text!r} must have a target and terms: 'y ~ x'.")
    parts = parsed.rhs if isinstance(parsed.rhs, tuple) else (parsed.rhs,)
    if len(parsed.lhs) != 1 or len(parts) > 2:
        raise ValueError(
            f"formula {text!r} must have one target, and at most one '|' behind its terms."
        )
    unknown = [name for name in variables if name not in table.columns]
    if unknown:
        raise ValueError(
            f"formula {text!r} names {unknown[0]!r}, which is not a column of data; its columns "
            f"are {list(map(str, table.columns))}."
        )
    beside = {
        name: _beside(name, given, table)
        for name, given in (("weights", weights), ("groups", groups))
        if given is not None
    }
    kept = table[variables].notna().all(axis=1).to_numpy()
    for one in beside.values():
        kept = kept & one.notna().to_numpy()
    table = table[kept]
    if not len(table):
        raise ValueError(f"formula {text!r}: no row of data is without a missing value.")
    for name in {str(factor) for term in parts[0] for factor in term.factors}:
        if name in table.columns and table[name].dtype.kind in "mM":
            raise ValueError(
                f"formula {text!r}: column {name!r} holds dates. Make them numbers, or write "
                f"C({name}) for one column for each."
            )
    matrix = _matrix(formulaic, parts[0], table)
    effects = read_effects(parts[1] if len(parts) == 2 else (), table)
    categories = effect_table(effects, table)
    encoder = TableEncoder.learn(
        categories, fixed_effects=list(categories.columns), new_levels=new_levels
    )
    design = FormulaDesign(
        text=text,
        y=_target(formulaic, parsed.lhs, table),
        has_intercept=any(str(term) == "1" for term in parts[0]) or len(parts) == 2,
        n_dropped=int(kept.size - kept.sum()),
        table=table,
        spec=matrix.model_spec,
        kept=[j for j, name in enumerate(matrix.model_spec.column_names) if name != "Intercept"],
        effects=effects,
        encoder=encoder,
        variables=frozenset(variables),
        **{name: one[kept].to_numpy() for name, one in beside.items()},
    )
    if not design.names:
        raise ValueError(f"formula {text!r} has no terms beside the intercept.")
    constraints, penalty = design._terms_of_splines()
    X = design._columns(matrix, table)
    is_dense = X.nnz >= _DENSE_ENTRY_SHARE * X.shape[0] * X.shape[1]
    design = replace(design, constraints=constraints, penalty=penalty, is_dense=is_dense)
    return replace(design, X=design._finished(X))


def _variables(required: Iterable[Any], text: str) -> list[str]:
    """Return names of columns among those that formulaic thinks a formula needs.

    It cuts names in backquotes at their points, and takes functions of ours for columns.
    """
    quoted = set(re.findall(r"`([^`]*)`", text))
    cut = {name.split(".")[0] for name in quoted if "." in name}
    called = {name for name in _MAKERS if not re.search(rf"\b{name}\b(?!\s*\()", text)}
    return sorted(({str(name) for name in required} - cut - called) | quoted)


def _beside(name: str, given: Any, table: Any) -> Any:
    """Return weights or groups as a column beside the table."""
    import pandas as pd

    if isinstance(given, str):
        if given not in table.columns:
            raise ValueError(f"{name}={given!r} is not a column of data.")
        return table[given]
    if np.shape(given) != (len(table),):
        raise ValueError(
            f"{name} must be the name of a column or have one entry for each of the {len(table)} "
            f"rows of data; got shape {np.shape(given)}."
        )
    return pd.Series(np.asarray(given), index=table.index)


def _as_table(data: Any) -> Any:
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        return data
    if hasattr(data, "to_pandas"):
        return data.to_pandas()
    if isinstance(data, dict):
        return pd.DataFrame(data)
    raise TypeError(f"data must be a data frame or a dict of columns; got {type(data).__name__}.")


def _matrix(formulaic: Any, terms: Any, table: Any) -> Any:
    try:
        return formulaic.model_matrix(
            terms, table, context=_context(), output="sparse", na_action="raise"
        )
    except (formulaic.errors.FormulaicError, SyntaxError) as error:
        cause = error.__cause__ if isinstance(error.__cause__, ValueError) else error
        raise ValueError(f"formula: {cause}") from error


def _context() -> dict[str, Any]:
    """Return what terms may call."""
    return {name: _transform(maker) for name, maker in _MAKERS.items()} | {"np": np}


def _transform(maker: Callable[..., Spline]) -> Any:
    """Return a term of formulas that keeps its spline: other data get the same columns."""
    from formulaic.transforms import stateful_transform

    def term(x: Any, *args: Any, _state: Any = None, **options: Any) -> dict[str, Any]:
        values = np.asarray(x, dtype=np.float64)
        if "spline" not in _state:
            _state["spline"] = maker(values, *args, **options)
        columns = _state["spline"].columns(values)
        return {str(j + 1): columns[:, j] for j in range(columns.shape[1])}

    return stateful_transform(term)


def _target(formulaic: Any, left: Any, table: Any) -> NDArray[Any]:
    """Return y: the column itself where it holds labels, an expression's value otherwise."""
    name = str(next(iter(left)))
    if name in table.columns and table[name].dtype.kind not in "fiu":
        return np.asarray(table[name].to_numpy())
    values = _matrix(formulaic, left, table)
    if values.shape[1] != 1:
        raise ValueError(f"formula: the target {name!r} must be one column of numbers or labels.")
    return np.asarray(values.toarray()[:, 0])


@dataclass(frozen=True, slots=True, eq=False)
class FormulaDesign:
    """A formula on a table: what an estimator needs to fit it. `rectiline.formula` makes one.

    Attributes
    ----------
    text : str
    X : DataFrame or CSR array
        Columns of the terms, without the intercept; sparse where most entries are zero.
    y : ndarray
    constraints : tuple of Constraint
        Shapes of splines.
    has_intercept : bool
    n_dropped : int
        Rows of data that were left out because a value was missing.
    table : DataFrame
        The other rows.
    penalty : Columnwise or None
        The penalty of the smooth terms, if there are any.
    spec : object
        Specification of the terms, of the package formulaic.
    kept : list of int
        Which columns of its matrix are in X.
    effects : tuple of tuple of str
        The categories behind ``|``, each by its columns of data.
    encoder : TableEncoder
        How they become columns of X.
    is_dense : bool
        Whether X is a table with names.
    variables : frozenset of str
        Columns of data that the formula names, the target included.
    weights, groups : ndarray or None
        One entry for each row of X.
    """

    text: str
    y: NDArray[Any]
    has_intercept: bool
    n_dropped: int
    table: Any
    spec: Any
    kept: list[int]
    effects: Categories
    encoder: TableEncoder
    variables: frozenset[str]
    X: Any = None
    is_dense: bool = True
    constraints: tuple[Constraint, ...] = ()
    penalty: Columnwise | None = None
    weights: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return (*(str(self.spec.column_names[j]) for j in self.kept), *self.encoder.names)

    @property
    def n_effects(self) -> int:
        """How many columns, the last ones, are effects behind ``|``."""
        return self.encoder.n_effects

    def _columns(self, matrix: Any, table: Any) -> sp.csr_array:
        """Return the columns of X from the matrix of the terms and the effects of a table."""
        terms = sp.csc_array(matrix)[:, self.kept]
        effects = sp.csr_array(self.encoder.numbers(effect_table(self.effects, table)))
        return sp.csr_array(sp.hstack([terms, effects]))

    def _finished(self, X: sp.csr_array) -> Any:
        """Return X as a table with names, or as it is where most of it is zero."""
        if not self.is_dense:
            return X
        import pandas as pd

        return pd.DataFrame(X.toarray(), columns=list(self.names))

    def matrix(self, data: Any) -> Any:
        """Return X for other data, with the knots and levels of this design."""
        formulaic = optional("formulaic", "Formulas need formulaic")
        table = _as_table(data)
        groups = (*self.spec.term_variables.values(), *self.effects)
        named = {str(name) for names in groups for name in names}
        for name in sorted(named & self.variables):
            if name not in table.columns:
                raise ValueError(f"data must have the column {name!r}, which the formula names.")
            if table[name].isna().any():
                raise ValueError(f"data must not hold missing values; column {name!r} does.")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", formulaic.errors.DataMismatchWarning)
                made = self.spec.get_model_matrix(table, context=_context())
        except (formulaic.errors.FormulaicError, formulaic.errors.DataMismatchWarning) as error:
            raise ValueError(f"data does not fit the formula: {error}") from error
        return self._finished(self._columns(made, table))

    def _terms_of_splines(self) -> tuple[tuple[Constraint, ...], Columnwise | None]:
        """Return the shapes of the spline terms, and the penalty of the smooth ones."""
        spec, place = self.spec, {j: k for k, j in enumerate(self.kept)}
        shapes = list[Constraint]()
        l1, l2 = np.zeros((2, len(self.names)))
        for term, indices in spec.term_indices.items():
            states = [spec.transform_state.get(factor.expr) for factor in term.factors]
            splines = [state["spline"] for state in states if state and "spline" in state]
            special = [s for s in splines if s.rows.size or np.any(s.l1) or np.any(s.l2)]
            if special and len(states) > 1:
                raise ValueError(
                    f"formula: {term} multiplies a spline with a shape or a penalty; these hold "
                    "for spline terms on their own."
                )
            for spline in special:
                mine = [place[j] for j in indices]
                l1[mine], l2[mine] = spline.l1, spline.l2
                if len(spline.rows):
                    A = np.zeros((len(spline.rows), l1.size))
                    A[:, mine] = spline.rows
                    shapes.append(LinearInequality(A, np.zeros(len(A))))
        return tuple(shapes), Columnwise(l1, l2) if l1.any() or l2.any() else None

    def fit(self, estimator: BaseEstimator, **fit_params: Any) -> FormulaModel:
        """Fit a copy of an estimator, under the constraints of the formula.

        Parameters
        ----------
        estimator : estimator
            With `fit_intercept`, with `constraints` where splines have shapes, and with `penalty`
            where there are smooth terms.
        **fit_params
            Passed to its `fit`; a `sample_weight` has one entry for each row of X.

        Returns
        -------
        FormulaModel
        """
        if not isinstance(estimator, BaseEstimator):
            raise TypeError(f"estimator must be a scikit-learn estimator; got {estimator!r}.")
        model: Any = clone(estimator)
        known, kind = model.get_params(deep=False), type(model).__name__
        if "fit_intercept" in known:
            model.set_params(fit_intercept=self.has_intercept)
        for name, has in (("penalty", "smooth terms"), ("constraints", "splines with a shape")):
            if getattr(self, name) and name not in known:
                raise ValueError(
                    f"{self.text!r} has {has}, but {kind} takes no {name}; "
                    "use PLQRegressor, PLQClassifier, QuantileRegressor or their searches."
                )
        if self.penalty is not None:
            model.set_params(penalty=self.penalty)
        if self.constraints:
            given = known["constraints"]
            own = given if isinstance(given, list | tuple) else [] if given is None else [given]
            model.set_params(constraints=(*own, *self.constraints))
        if self.weights is not None:
            fit_params = {"sample_weight": self.weights} | fit_params
        if not self.is_dense:  # a sparse matrix has no names of its own
            model._sparse_names = np.array(self.names, dtype=object)
        return FormulaModel(self, model.fit(self.X, self.y, **fit_params), fit_params)

    def __repr__(self) -> str:
        shape = f"{self.X.shape[0]} x {self.X.shape[1]}"
        return f"FormulaDesign({self.text!r}, X {shape}, {len(self.constraints)} shapes)"
