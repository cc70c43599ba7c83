# SPDX-License-Identifier: Apache-2.0
"""Results of learning from rows of data: tables of a network, tied weights, dense Potts models, Boltzmann machines."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._data import Table, options_of, share_of, site_rows
from ._results import Report, _warn
from ._text import real

if TYPE_CHECKING:
    from ._model import Model

Floats = npt.NDArray[np.float64]


def _rows(held_out):
    """Converts held-out data: None, a share, or rows."""
    if held_out is None:
        return None
    share = share_of(held_out)
    return site_rows(held_out, "held-out rows") if share is None else share


def _state_texts(model, scope, entry):
    """Returns the labels of the states of variables in an entry of a table, whose last variable is the fastest."""
    texts = []
    for v in reversed(scope):
        labels = model._labels(v)
        texts.append(f"{model.names[v]}={labels[entry % len(labels)]}")
        entry //= len(labels)
    return " ".join(reversed(texts))


class Learnt(Report):
    """The result of learning. ``model`` is the model with the learnt parameters.

    converged : bool
    verdict : one sentence that gives the reason
    stopped : whether a signal, the progress function or ``time`` ended learning
    log_likelihood : sum over rows of a natural logarithm, which each class defines
    """

    model: Model
    converged: bool
    stopped: bool

    def __init__(self, about: dict[str, Any]):
        from ._model import Model
        super().__init__(about)
        if "model" in about:
            self.model = Model._of(about["model"])

    @property
    def verdict(self) -> str:
        how = ", ".join(self._how())
        return f"{'converged' if self.converged else 'stopped' if self.stopped else 'not converged'}: {how}"

    def _how(self):
        return [f"{self.about['iterations']} iterations"]


class Fit(Learnt):
    """A network with tables fitted to data; see gibbsite/fit.h.

    model : the network with the new tables
    log_likelihood, log_posterior, bic : natural logarithms, for all rows
    log_likelihood_error : standard error, 0 if expectations are exact
    held_out_log_likelihood : log-likelihood of the held-out rows
    n_rows, n_missing, n_parameters, n_unseen, iterations : counts
    """

    log_likelihood: float
    log_posterior: float
    log_likelihood_error: float
    bic: float
    held_out_log_likelihood: float
    held_out_rows: int
    n_rows: int
    n_incomplete: int
    n_missing: int
    n_parameters: int
    n_unseen: int
    iterations: int
    exact: bool
    error: float

    def __init__(self, about: dict[str, Any]):
        super().__init__({k: x for k, x in about.items() if k != "tables"})
        self._tables = np.asarray(about["tables"])
        self._place = {}
        at = 0
        for f in range(self.model.n_factors):
            scope = self.model._core.factor(f)[1]
            size = int(np.prod([len(self.model._labels(v)) for v in scope]))
            self._place[scope[-1]] = (at, size, scope)
            at += size

    def table(self, variable: Any) -> dict[str, Floats]:
        """The table of a variable: probability, low, high and rows, each [states of the first parent][...][states].

        low and high bound the interval of ``level``; rows is the (expected) number of rows that the entry counts.
        """
        at, size, scope = self._place[self.model._find(variable)]
        shape = [len(self.model._labels(v)) for v in scope]
        return {name: x[at:at + size].reshape(shape)
                for name, x in zip(("probability", "low", "high", "rows"), self._tables)}

    def to_numpy(self) -> Floats:
        """Return an array [4, entries of all tables]: probability, low, high, rows, as in ``to_pandas()``."""
        return self._tables

    def to_pandas(self) -> Any:
        """A row for each entry of each table: variable, state, parents, probability, low, high, rows."""
        import pandas
        names, states, parents = [], [], []
        for child, (_, size, scope) in self._place.items():
            labels = self.model._labels(child)
            for entry in range(size):
                names.append(self.model.names[child])
                states.append(labels[entry % len(labels)])
                parents.append(_state_texts(self.model, scope[:-1], entry // len(labels)))
        p, low, high, rows = self._tables
        return pandas.DataFrame({"variable": names, "state": states, "parents": parents, "probability": p, "low": low,
                                 "high": high, "rows": rows})

    def _how(self):
        if not self.n_incomplete:
            return ["no value is missing"]
        return super()._how() + ([] if self.exact else [f"standard errors up to {self.error:.2g}"])

    def _shown(self):
        held = [("held-out rows", self.held_out_rows), ("ln P of these", self.held_out_log_likelihood)]
        return [("rows", self.n_rows), ("ln P(data)", self.log_likelihood), ("BIC", self.bic),
                ("parameters", self.n_parameters), ("columns in no row", self.n_unseen), *(held if self.held_out_rows else [])]


class LearntWeights(Learnt):
    """Tied weights of a log-linear model; see gibbsite/learn.h.

    model : the model with the new weights
    weights, errors : [weights] values and standard errors; an error is NaN if it is not known
    fixed : [weights] whether the weight was not learnt
    log_likelihood : sum over rows of ln P; of ln PL if ``pseudo`` is true, for the pseudo-likelihood
    held_out : sum over the held-out rows; NaN if there are none
    curve : [iterations, 4] with curve=True: iteration, objective, length of its gradient, held-out rows
    """

    weights: Floats
    errors: Floats
    fixed: npt.NDArray[np.bool_]
    log_likelihood: float
    held_out: float
    n_rows: int
    iterations: int
    probes: int
    curve: Floats

    def __init__(self, about: dict[str, Any]):
        pseudo = about["pseudo_log_likelihood"] == about["pseudo_log_likelihood"]
        super().__init__({**about, "log_likelihood": about["pseudo_log_likelihood" if pseudo else "log_likelihood"]})
        self.pseudo = pseudo
        values, fixed = self.model._core.weights()
        self.weights, self.fixed = np.asarray(values), np.asarray(fixed).astype(bool)
        known = about["has_errors"] and about["errors"] is not None
        self.errors = np.asarray(about["errors"]) if known else np.full(len(self.weights), np.nan)
        self.curve = np.asarray(about["curve"])

    def to_numpy(self) -> Floats:
        """An array [weights] of their values."""
        return self.weights

    def to_pandas(self) -> Any:
        """A row for each weight: value, error."""
        import pandas
        return pandas.DataFrame({"value": self.weights, "error": self.errors},
                                pandas.RangeIndex(len(self.weights), name="weight"))

    def _how(self):
        more = [f"R-hat {self.about['rhat']:.3f}"] if self.about["rhat"] > 0 else []
        return super()._how() + more

    def _shown(self):
        rows = [("rows", self.n_rows), (f"ln {'PL' if self.pseudo else 'P'}", self.log_likelihood)]
        return rows + [(f"weight {k}", f"{w:.6g} +- {e:.2g}" if e == e else f"{w:.6g}")
                       for k, (w, e) in enumerate(zip(self.weights[:20], self.errors))]


class LearntPotts(Learnt):
    """A dense Potts model; see gibbsite/machines.h: p(x) ~ exp(sum of h_i(x_i) + sum over i < j of J_ij(x_i, x_j)).

    fields : [sites, states] fields h
    errors : [parameters] standard errors with errors=True, in the order of ``to_pandas()``; None if they are not known, for a
        reason that ``no_errors`` gives
    log_likelihood : sum over rows of weight times ln PL
    held_out : sum over the held-out rows
    weight : sum of the weights of the rows, which is their effective number
    """

    fields: Floats
    errors: Floats | None
    no_errors: str
    log_likelihood: float
    held_out: float
    held_out_rows: int
    weight: float
    n_rows: int
    n_sites: int
    n_states: int
    n_parameters: int
    iterations: int
    curve: Floats

    def __init__(self, about: dict[str, Any]):
        super().__init__({**about, "log_likelihood": about["pseudo_log_likelihood"]})
        self._values = np.asarray(about["values"])
        self.errors = None if about["errors"] is None else np.asarray(about["errors"])
        self.unseen = None if about["unseen"] is None else np.asarray(about["unseen"]).astype(bool)
        self.curve = np.asarray(about["curve"])
        self.fields = self._values[:self.n_sites * self.n_states].reshape(self.n_sites, self.n_states)

    def coupling(self, i: int, j: int) -> Floats:
        """The array J_ij, [states of site i, states of site j]."""
        n, q = self.n_sites, self.n_states
        if i == j or not (0 <= i < n and 0 <= j < n):
            raise IndexError(f"expected two sites of 0 to {n - 1}, found {i} and {j}")
        a, b = min(i, j), max(i, j)
        at = n * q + (a * n - a * (a + 1) // 2 + b - a - 1) * q * q
        table = self._values[at:at + q * q].reshape(q, q)
        return table if i < j else table.T

    def to_numpy(self) -> Floats:
        """An array [parameters]: h of every site, then J of every pair i < j."""
        return self._values

    def to_pandas(self) -> Any:
        """A row for each parameter: site, state, other, other_state (empty for fields), value, error."""
        import pandas
        n, q, names = self.n_sites, self.n_states, np.array(self.model.names, object)
        labels = np.array([self.model._labels(v) for v in range(n)], object)
        first, second = np.triu_indices(n, 1)
        a, b = (np.tile(x.ravel(), len(first)) for x in np.indices((q, q)))
        i, j = np.repeat(first, q * q), np.repeat(second, q * q)
        none = np.full(n * q, "", object)
        return pandas.DataFrame({
            "site": np.concatenate([np.repeat(names, q), names[i]]), "state": np.concatenate([labels.ravel(), labels[i, a]]),
            "other": np.concatenate([none, names[j]]), "other_state": np.concatenate([none, labels[j, b]]),
            "value": self._values, "error": np.full(len(self._values), np.nan) if self.errors is None else self.errors})

    def _how(self):
        more = [f"R-hat {self.about['rhat']:.3f}"] if self.about["rhat"] > 0 else []
        return super()._how() + more

    def _shown(self):
        held = [("held-out rows", self.held_out_rows), ("ln PL of these", self.held_out)]
        return [("rows", self.n_rows), ("effective rows", self.weight), ("sites", self.n_sites), ("states", self.n_states),
                ("parameters", self.n_parameters), ("ln PL", self.log_likelihood), *(held if self.held_out_rows else [])]


class LearntRbm(Learnt):
    """A restricted Boltzmann machine; see gibbsite/machines.h. The model's variables are the visible units, then h1, h2, ...

    log_likelihood : mean ln PL of a row
    held_out : mean ln PL of a held-out row; NaN if there are none
    curve : [epochs, 2] log_likelihood and held_out after each epoch
    rhat, misfit, rise : ``converged`` is true if these are at most 1.05, 0.25 and 0.02
    """

    log_likelihood: float
    held_out: float
    held_out_rows: int
    rhat: float
    misfit: float
    rise: float
    epochs: int
    n_rows: int
    n_visible: int
    n_hidden: int
    curve: Floats

    def __init__(self, about: dict[str, Any]):
        super().__init__({**about, "log_likelihood": about["mean_pl"]})
        self.curve = np.asarray(about["curve"])

    def to_numpy(self) -> Floats:
        """The curve, an array [epochs, 2]."""
        return self.curve

    def to_pandas(self) -> Any:
        """The curve, a row for each epoch: pl, held_out_pl."""
        import pandas
        return pandas.DataFrame(self.curve, pandas.RangeIndex(1, len(self.curve) + 1, name="epoch"),
                                columns=["pl", "held_out_pl"])

    def _how(self):
        return [f"{self.epochs} epochs", f"R-hat {self.rhat:.3f}", f"misfit {self.misfit:.3f}", f"rise {self.rise:.3f}"]

    def _shown(self):
        held = [("held-out rows", self.held_out_rows), ("ln PL of one", self.held_out)]
        return [("rows", self.n_rows), ("visible units", self.n_visible), ("hidden units", self.n_hidden),
                ("ln PL of a row", self.log_likelihood), *(held if self.held_out_rows else [])]


ALPHABETS = ("auto", "protein", "rna", "dna")


def learn_potts(rows: Table, *, held_out: Any = None, alphabet: str = "auto", identity: float = 0.0, errors: bool = False,
                curve: bool = False, **options: Any) -> LearntPotts:
    """Learn a dense Potts model from rows of states (Ekeberg et al. 2013), as ``gibbsite learn potts`` does.

    rows : [rows, sites] whole numbers from 0, a DataFrame or dict of such columns, or the path of a CSV or FASTA file
    held_out : rows on which the model is judged, or a share of ``rows``
    alphabet : alphabet of a FASTA file: "protein", "rna", "dna", or "auto", which chooses by the letters of the file
    identity : rows with equal states in at least this share of the sites together count as one row; 0: each row counts as one
    errors : find standard errors, too
    options : options of ``gb.options("learn potts")``; times are in seconds, or texts such as "5m"

    Raises Error for rows that cannot be read or a limit of memory, OptionError (a TypeError) for an unknown option, and
    ArgumentError (a ValueError) for a wrong value. Warns NotConverged.

    >>> import gibbsite as gb
    >>> found = gb.learn_potts("examples/bars.csv")
    >>> found.fields.shape, found.coupling(0, 1).shape, found.converged
    ((9, 2), (2, 2), True)
    """
    from ._model import _ask
    if alphabet not in ALPHABETS:
        raise ValueError(f"alphabet: found {alphabet!r}, expected one of {', '.join(ALPHABETS)}")
    return _warn(_ask(LearntPotts, _core.learn_potts, site_rows(rows), _rows(held_out), ALPHABETS.index(alphabet),
                      real(identity, "identity"), bool(errors), bool(curve), options=options))


def learn_rbm(rows: Table, *, hidden: int, held_out: Any = None, **options: Any) -> LearntRbm:
    """Learn a binary restricted Boltzmann machine by chains (Hinton 2002; Tieleman 2008), as ``gibbsite learn rbm`` does.

    rows : [rows, sites] zeros and ones, a DataFrame or dict of such columns, or the path of a CSV file
    hidden : number of hidden units
    held_out : rows on which the model is judged, or a share of ``rows``
    options : options of ``gb.options("learn rbm")``

    Raises as learn_potts() does. Warns NotConverged.

    >>> import gibbsite as gb, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     found = gb.learn_rbm("examples/bars.csv", hidden=4, epochs=3, seed=1)
    >>> len(found.model), found.curve.shape
    (13, (3, 2))
    """
    from ._model import _ask
    return _warn(_ask(LearntRbm, _core.learn_rbm, site_rows(rows), _rows(held_out),
                      options=options_of(options, hidden=hidden)))
