# SPDX-License-Identifier: Apache-2.0
"""Questions about the trust in answers: sensitivity to parameters, diagnoses of draws, comparisons, reports."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._data import is_path
from ._results import Draws, LogZ, Marginals, Report, State, _Told, _warn
from ._tables import Path, read_draws

if TYPE_CHECKING:
    from ._model import Model

Floats = npt.NDArray[np.float64]
KINDS = ("probability", "log-weight", "weight", "log-likelihood", "inhibition", "leak")  # gbs_parameter_kind
PROBABILITY, LOG_WEIGHT, WEIGHT, LIKELIHOOD, INHIBITION, LEAK = range(6)
NO_FACTOR = 0xFFFFFFFFFFFFFFFF
MOST_RHAT, LEAST_ESS = 1.01, 400.0  # Vehtari et al. (2021), section 4
SHOWN_DRAWS = 4  # number of draws in a report


class Sensitivities(Report):
    """Changes of P(variable = state | evidence) with every parameter; see gibbsite/sensitivity.h.

    p, mcse : the probability and its standard error, which is 0 if the probability is exact
    value, derivative, error : [parameters] value of the parameter, dp / d value, and its standard error; NaN if undefined
    log_p : [parameters] d ln P(evidence) / d value
    kind, factor, entry : [parameters] position of the parameter in the model, see gbs_parameter_kind
    """

    p: float
    mcse: float
    exact: bool
    converged: bool
    verdict: str
    stopped: bool

    def __init__(self, model: Model, about: dict[str, Any]):
        arrays = ("kind", "factor", "of", "entry", "value", "derivative", "error", "log_p")
        super().__init__({k: x for k, x in about.items() if k not in arrays and k != "handle"})
        self._model, self._handle = model, about["handle"]
        self.kind, self.factor, self.of, self.entry, self.value, self.derivative, self.error, self.log_p = (
            np.asarray(about[k]) for k in arrays)
        self.variable = model.names[about["variable"]]
        self.state = model._labels(about["variable"])[about["state"]]

    def __len__(self) -> int:
        return len(self.value)

    def at(self, value: npt.ArrayLike) -> Floats:
        """Return an array [parameters] of probabilities, each for a change of one parameter to this value; NaN if it is not
        known.

        value : one number, or one for each parameter
        """
        values = np.ascontiguousarray(np.broadcast_to(np.asarray(value, np.float64), len(self)))
        return np.asarray(_core.sensitivity_at(self._handle, values))

    def times(self, factor: float) -> Floats:
        """Return an array [parameters] of probabilities, each for one parameter (a probability, or a weight of another table)
        multiplied by this number."""
        is_share = np.isin(self.kind, (PROBABILITY, INHIBITION, LEAK))
        with np.errstate(invalid="ignore"):
            return self.at(np.where(is_share, np.minimum(self.value * factor, 1.0), self.value + np.log(factor)))

    def to_reach(self, p: float) -> Floats:
        """Return an array [parameters] of the values at which the probability would be p; NaN if there is none."""
        return np.asarray(_core.sensitivity_to_reach(self._handle, float(p)))

    def _state(self, i):
        """Returns the state to which a parameter belongs."""
        m, of, entry = self._model, int(self.of[i]), int(self.entry[i])
        if self.kind[i] == LEAK:
            return ""
        if self.kind[i] == INHIBITION:
            first = 1
            for v in m._core.factor(int(self.factor[i]))[1]:
                if v == of:
                    return m._labels(of)[entry - first]
                first += len(m._labels(v))
        return m._labels(of)[entry % len(m._labels(of))]

    def _given(self, i):
        """Returns the states of the parents, or of the whole scope."""
        m, kind = self._model, self.kind[i]
        if kind in (LIKELIHOOD, LEAK):
            return ""
        scope = m._core.factor(int(self.factor[i]))[1]
        if kind == INHIBITION:
            return m.names[scope[-1]]
        if kind == WEIGHT:
            return " ".join(m.names[v] for v in scope)
        entry, texts = int(self.entry[i]), []
        for k, v in enumerate(reversed(scope)):
            labels = m._labels(v)
            if k > 0 or kind != PROBABILITY:
                texts.append(f"{m.names[v]}={labels[entry % len(labels)]}")
            entry //= len(labels)
        return " ".join(reversed(texts))

    def to_numpy(self) -> Floats:
        """An array [parameters] of the derivatives."""
        return self.derivative

    def to_pandas(self, top: int | None = None) -> Any:
        """Return a row for each parameter, or for the ``top`` parameters with the largest derivatives, with the columns of
        ``gibbsite sensitivity --format csv``."""
        import pandas
        at = np.arange(len(self)) if top is None else np.argsort(-np.nan_to_num(np.abs(self.derivative)), kind="stable")[:top]
        own = ~np.isin(self.kind, (LOG_WEIGHT, WEIGHT))
        return pandas.DataFrame({
            "parameter": [KINDS[self.kind[i]] for i in at],
            "factor": [None if self.factor[i] == NO_FACTOR else int(self.factor[i]) for i in at],
            "variable": [self._model.names[self.of[i]] if own[i] else "" for i in at],
            "state": [self._state(i) if own[i] else "" for i in at], "given": [self._given(i) for i in at],
            "value": self.value[at], "derivative": self.derivative[at], "mcse": self.error[at],
            "p_at_0.9": self.times(0.9)[at], "p_at_1.1": self.times(1.1)[at], "log_evidence_derivative": self.log_p[at]})

    def _shown(self):
        order = np.argsort(-np.nan_to_num(np.abs(self.derivative)), kind="stable")[:10]
        own = ~np.isin(self.kind, (LOG_WEIGHT, WEIGHT))
        texts = [(f"{self._model.names[self.of[i]]}={self._state(i)}" if own[i] else KINDS[self.kind[i]], self._given(i), i)
                 for i in order]
        error = f" +- {self.mcse:.2g}" if self.mcse > 0 else ""
        return [(f"P({self.variable}={self.state})", f"{self.p:.6g}{error}")] + [
            (f"d/d {what}" + (f" | {given}" if given else ""), f"{self.derivative[i]:.6g}") for what, given, i in texts]


class Diagnoses(Mapping, Report):
    """Diagnostics of draws by quantity: ``found["x"]["rhat"]``; see gibbsite/diagnose.h for the numbers.

    chains, draws : numbers of chains and of draws of each chain
    converged : whether there are four chains, and every quantity has an R-hat below 1.01 and two effective sizes above 400
    """

    def __init__(self, about: dict[str, dict[str, Any]], chains: int, draws: int):
        Report.__init__(self, {})
        self._of, self.chains, self.draws = about, chains, draws

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self._of[name]

    def __iter__(self):
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    def _doubtful(self):
        return [n for n, d in self._of.items() if not d["constant"] and not (
            d["rhat"] < MOST_RHAT and d["ess_bulk"] > LEAST_ESS and not d["ess_tail"] <= LEAST_ESS)]

    @property
    def converged(self) -> bool:
        return self.chains >= 4 and not self._doubtful()

    @property
    def verdict(self) -> str:
        bad = self._doubtful()
        if self.chains < 4:
            return f"not converged: {self.chains} chains, expected four or more"
        return f"not converged: {', '.join(bad[:5])}{' ...' if len(bad) > 5 else ''}" if bad else "converged"

    def to_numpy(self) -> Floats:
        """An array [quantities] of R-hat."""
        return np.array([d["rhat"] for d in self._of.values()])

    def to_pandas(self) -> Any:
        """A row for each quantity, with the columns of ``gibbsite diagnose --format csv`` and two more effective sizes."""
        import pandas
        return pandas.DataFrame.from_dict(self._of, orient="index").rename_axis("name")

    def _shown(self):
        return [(n, f"{d['mean']:.5g} +- {d['mcse_mean']:.2g}, R-hat {d['rhat']:.4g}, ESS {d['ess_bulk']:.4g}")
                for n, d in list(self._of.items())[:20]]


def _quantities(draws):
    """Returns the draws as {name: [chains, draws] float64}."""
    if is_path(draws):
        draws = _read_draws(draws)
    elif isinstance(draws, (list, tuple)) and draws and all(is_path(x) for x in draws):
        draws = read_draws(draws)
    if isinstance(draws, Draws):
        return {**{n: draws[n] for n in draws.names}, "lp": draws.log_density}
    if hasattr(draws, "data_vars"):  # an xarray Dataset
        return {str(n): x.transpose("chain", "draw", ...).values for n, x in draws.data_vars.items()}
    if hasattr(draws, "columns"):
        of = {str(c).lower().strip("._"): c for c in reversed(draws.columns)}
        told = [of[word] for word in ("iteration", "iter", "draw", "chain") if word in of]
        if told[:1] != [of.get("chain")]:
            draws = draws.sort_values(told[:1], kind="stable")
        chains = draws[of["chain"]].to_numpy() if "chain" in of else np.zeros(len(draws), int)
        names = [c for c in draws.columns if c not in told]
        return {str(c): [draws[c].to_numpy()[chains == k] for k in np.unique(chains)] for c in names}
    if isinstance(draws, Mapping):
        return dict(draws)
    x = np.asarray(draws)
    if x.ndim == 3:
        return {f"x[{k}]": x[:, :, k] for k in range(x.shape[2])}
    return {"x": x}


def _read_draws(path):
    path = os.fspath(path)
    if path.endswith(".npy"):
        return np.load(path)
    if path.endswith(".npz"):
        with np.load(path) as file:
            arrays = {k: file[k] for k in file.files}
        names = json.loads(bytes(arrays["meta"]))["names"] if "meta" in arrays else []  # gibbsite-formats(5)
        states = arrays["x"] if names and "x" in arrays else np.empty((0, 0, 0))
        return {**{n: states[:, :, i] for i, n in enumerate(names[:states.shape[2]])},
                **{k: x for k, x in arrays.items() if x.dtype.kind in "biuf" and x.ndim == 2}}
    return read_draws([path])


def _by_chain(name, values):
    x = np.asarray(values, np.float64)
    if x.ndim == 1:
        x = x[None, :]
    if x.ndim != 2:
        raise ValueError(f"{name}: found {x.ndim} dimensions, expected [chains, draws]")
    return np.ascontiguousarray(x)


def diagnose(draws: Any) -> Diagnoses:
    """Compute convergence diagnostics (Vehtari et al. 2021) of draws from any program, as ``gibbsite diagnose`` does.

    draws : the result of ``Model.sample()``; [chains, draws] or [chains, draws, quantities]; {name: [chains, draws]}; a DataFrame
        with columns chain and draw or iteration, perhaps with a dot before; an xarray Dataset; the path of a table, a .npz of ``gibbsite sample`` or a .npy;
        paths of tables, a chain each; a table is read as by ``gibbsite diagnose``, whose columns chain and draw tell chains

    Raises ValueError for other shapes. Warns NotConverged.

    >>> import gibbsite as gb, numpy as np
    >>> found = gb.diagnose(np.random.default_rng(1).normal(size=(4, 1000)))
    >>> round(found["x"]["rhat"], 2), found.converged
    (1.0, True)
    """
    parts = {str(n): _by_chain(n, x) for n, x in _quantities(draws).items()}
    if len({x.shape for x in parts.values()}) != 1:
        raise ValueError("expected as many chains and draws of each quantity, of at least one")
    shape = next(iter(parts.values())).shape
    return _warn(Diagnoses({n: _core.diagnose(x, *shape) for n, x in parts.items()}, *shape))


class Comparison(Report):
    """How far two results are from each other.

    task : "MAR", "PR", "MAP" or "MMAP"
    difference : the largest difference of a probability, of log10 Z, or the number of variables with different states
    largest_difference, mean_difference, largest_distance, mean_distance, worst : of marginals; distances are total variations
    standard_errors : the largest difference of a probability in units of its standard error; NaN where none is known
    limit : the difference that chance does not exceed with a probability of 0.999
    """

    task: str
    difference: float

    def __init__(self, about: dict[str, Any]):
        super().__init__(about)
        self.difference = (about["largest_difference"] if about["task"] == "MAR" else about["different"]
                           if "different" in about else abs(about["log10_z"] - about["other_log10_z"]))
        self.same = self.difference == 0

    @property
    def verdict(self) -> str:
        if not self.same and self.about.get("standard_errors", np.nan) <= self.about.get("limit", np.nan):
            return f"agree: the largest difference is {self.about['standard_errors']:.3g} standard errors"
        return "the same" if self.same else "different"

    def _shown(self):
        return [(k.replace("_", " "), x) for k, x in self.about.items()]


def compare(a: Any, b: Any, *, model: Model | None = None, log_base: str = "10") -> Comparison:
    """Compare two results, as ``gibbsite compare`` does.

    a, b : answers of ``Model.query()`` about the same variables, or of ``Model.map()``, or paths of results in files
    model : for results in files, a model whose names and labels replace numbers of variables and states
    log_base : base of logarithms in .PR files: "10", "e", "10,e" or "e,10"

    Results in files may have their variables and states in different orders: names and labels match them. Files of
    marginals may also be .npz, and files of joint tables CSV or JSON; each joint table is compared as one variable. NetCDF
    is read by ``gibbsite compare`` only.

    Raises ArgumentError if the two results do not answer one question.

    >>> import gibbsite as gb
    >>> m = gb.read("examples/sprinkler.bif")
    >>> gb.compare(m.query(), m.query(method="exact")).difference
    0.0
    """
    if isinstance(a, Marginals) and isinstance(b, Marginals):
        if list(a) != list(b) or a._labels != b._labels:
            raise ValueError("expected answers about the same variables")
        arrays = [np.ascontiguousarray(x, np.float64) for r in (a, b) for x in (r.to_numpy(), r._numbers["mcse"])]
        return Comparison(_core.compare_marginals(np.ascontiguousarray(a._offsets, np.uint64), *arrays))
    if isinstance(a, State) and isinstance(b, State):
        if list(a) != list(b):
            raise ValueError("expected states of the same variables")
        differ = np.flatnonzero(a.to_numpy() != b.to_numpy())
        return Comparison({"task": "MAP", "different": len(differ), "first": int(differ[0]) if len(differ) else 0})
    if not is_path(a) or not is_path(b):
        raise TypeError("expected two answers of the same kind, or two paths")
    bases = log_base.split(",")
    if not set(bases) <= {"10", "e"} or len(bases) > 2:
        raise ValueError(f"log_base: found {log_base!r}, expected 10, e, \"10,e\" or \"e,10\"")
    return Comparison(_core.compare(os.fspath(a), os.fspath(b), bases[0] == "e", bases[-1] == "e",
                                    None if model is None else model._core))


def _source(name, result):
    """Returns (name, summary in JSON), or (path, None)."""
    if is_path(result):
        return os.fspath(result), None
    if isinstance(result, (State, LogZ)):
        return name, result.summary_text()
    if isinstance(result, _Told) and "schema" in result.summary:
        return name, json.dumps(result.summary)
    if isinstance(result, (Draws, np.ndarray)) or (isinstance(result, Mapping) and not isinstance(result, _Told)):
        parts = {str(n): _by_chain(n, x) for n, x in _quantities(result).items()}
        worst = sorted(parts, key=lambda n: -np.nan_to_num(_core.diagnose(parts[n], *parts[n].shape)["rhat"]))[:SHOWN_DRAWS]
        shape = parts[worst[0]].shape
        return name, _core.draws_summary(tuple(worst), np.ascontiguousarray([parts[n] for n in worst]), *shape)
    raise ValueError(f"{name}: this answer was found without a run, and has no report")


def report(path: Path, *results: Any, **named: Any) -> None:
    """Write one page of HTML that loads nothing, of up to 64 results, as ``gibbsite report`` does.

    results : answers of ``query()``, ``sample()``, ``denoise()``, ``map()``, ``logz()``; draws as arrays; paths of summaries;
        by keyword with a name of their own: ``gb.report("page.html", short=a, long=b)``

    Raises Error for a file that is none of these, ValueError for an answer without a run.
    """
    sources = [_source(f"result {k + 1}", x) for k, x in enumerate(results)] + [_source(k, x) for k, x in named.items()]
    _core.report(os.fspath(path), tuple(sources))
