# SPDX-License-Identifier: Apache-2.0
"""The results of questions: mappings by name and label over NumPy arrays that are not copied."""
from __future__ import annotations

import html
import json
import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._drawing import Drawing, shown
from ._text import place_of


class NotConverged(UserWarning):
    """A warning that diagnostics do not trust a result. Its text is the verdict and advice."""


def _warn(result):
    if not result.converged:
        warnings.warn(result.verdict, NotConverged, stacklevel=3)
    return result


def _cell(value):
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class Report:
    """The report of an answer, with attributes by name; ``about`` is the whole report as a dict. A report is shown as a small
    table."""

    about: dict[str, Any]

    def __init__(self, about: dict[str, Any]):
        self.about = about
        self.__dict__.update(about)

    def _shown(self):
        return list(self.about.items())

    def __repr__(self) -> str:
        rows = [(str(k), _cell(x)) for k, x in self._shown()]
        width = max((len(k) for k, _ in rows), default=0)
        verdict = getattr(self, "verdict", None)
        return "\n".join([f"{k:<{width}}  {x}" for k, x in rows] + ([f"({verdict})"] if verdict else []))

    def _repr_html_(self):
        rows = "".join(f"<tr><th>{html.escape(str(k))}</th><td>{html.escape(_cell(x))}</td></tr>" for k, x in self._shown())
        return f"<table>{rows}</table><p>{html.escape(str(getattr(self, 'verdict', '')))}</p>"


def _finite(value):
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _Told:
    """The properties of a run. ``summary`` is the summary of ``gibbsite marginals --summary``."""

    summary: dict

    @property
    def converged(self) -> bool:
        """Whether the answer can be trusted; exact answers can."""
        return bool(self.summary["converged"])

    @property
    def verdict(self) -> str:
        """One sentence that gives the reason."""
        return self.summary["verdict"]

    @property
    def digest(self) -> str | None:
        """A hash of the estimates and their errors. Equal options give equal hashes on any machine."""
        return self.summary.get("digest")

    @property
    def hardly_moved(self) -> int:
        """The number of variables that changed so rarely that agreement of the chains means nothing for them; 0 if the answer can
        be trusted."""
        return int(self.summary.get("hardly_moved_variables", 0))

    @property
    def observables(self) -> dict[str, Report]:
        """Observables of a spin or Potts model by name, if they were asked for: ``answer.observables["energy"].value``, and
        ``mcse`` (standard error), ``tau`` (integrated autocorrelation time in sweeps), ``tau_mcse``, ``unit``, ``formula``. Numbers
        that the run was too short for are None.

        >>> import gibbsite as gb
        >>> answer = gb.ising((8, 8), 0.3).query(observables=True, sweeps=4000, scan="cluster")
        >>> e = answer.observables["energy"]
        >>> e.unit, e.formula, -0.2 < e.value < -0.1
        ('k_B T per variable', '<e>', True)
        """
        return {k: Report(x) for k, x in (self.summary.get("observables") or {}).items() if k != "batch"}

    @property
    def stopped(self) -> bool:
        """Whether a signal, the progress function or a limit ended the run before its target."""
        return bool(self.summary.get("stopped"))

    @property
    def exact(self) -> bool:
        """Whether no part of the answer was sampled."""
        return self.summary["method"] == "exact"

    def report(self, path) -> None:
        """Write the run as one page of HTML that loads nothing."""
        if "schema" not in self.summary:
            raise ValueError("this answer was found without a run, and has no report")
        _core.report(str(path), (("run", json.dumps(self.summary)),))


class Distribution(Mapping):
    """The probabilities of the states of one variable, by label. ``to_numpy()`` makes no copy."""

    def __init__(self, name, labels, values):
        self.name, self._labels, self._values = name, tuple(labels), values

    def __getitem__(self, label: str | int) -> float:
        try:
            return float(self._values[_at({a: k for k, a in enumerate(self._labels)}, label)])
        except KeyError:
            raise KeyError(f"{self.name} has no state {label!r}, only {', '.join(self._labels)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels)

    def __len__(self) -> int:
        return len(self._labels)

    def __array__(self, dtype=None):
        return np.asarray(self._values, dtype)

    def to_numpy(self) -> npt.NDArray[np.generic]:
        """An array [states] in the order of the labels."""
        return self._values

    def __repr__(self) -> str:
        return f"{self.name}: " + ", ".join(f"{a}={p:.6g}" for a, p in zip(self._labels, self._values))


def _at(places, x):
    """Returns the number of a name or label; raises a KeyError with the text if there is no such name or label."""
    found = place_of(places, x)
    if found is None:
        raise KeyError(str(x))
    return found


class _ByVariable(Mapping):
    """Numbers of the states of some variables, by name and label."""

    def __init__(self, names, labels, values, offsets):
        self._names, self._labels, self._values, self._offsets = names, labels, values, offsets
        self._place = {name: i for i, name in enumerate(names)}

    def __getitem__(self, name):
        i = _at(self._place, name)
        return Distribution(self._names[i], self._labels[i], self._values[self._offsets[i]:self._offsets[i + 1]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Marginals(_ByVariable, _Told):
    """P(variable = state | evidence) of some variables: ``answer["rain"]["yes"]``.

    errors : standard errors, by variable and state; 0 if the answer is exact
    ess, rhat : effective sample sizes and R-hat; NaN if they are not defined
    log_evidence : ln P(evidence) of a Bayesian network (ln Z of other models); None: not known
    """

    def __init__(self, names, labels, offsets, numbers, summary, about=None):
        super().__init__(names, labels, numbers["p"], offsets)
        self._numbers, self.summary = numbers, summary
        self._about = about  # core model, offsets of its states, evidence, numbers of the variables; None after unpickling

    def __getstate__(self):
        return {**self.__dict__, "_about": None}

    def _part(self, which):
        return _ByVariable(self._names, self._labels, self._numbers[which], self._offsets)

    @property
    def errors(self) -> _ByVariable:
        return self._part("mcse")

    @property
    def ess(self) -> _ByVariable:
        return self._part("ess")

    @property
    def rhat(self) -> _ByVariable:
        return self._part("rhat")

    @property
    def log_evidence(self) -> float | None:
        return self.summary.get("log_z")

    def to_numpy(self) -> npt.NDArray[np.generic]:
        """Return an array [all states] of probabilities, one variable after the other."""
        return self._values

    def to_pandas(self):
        """A row for each state: variable, state, probability, mcse, ess, rhat."""
        import pandas
        counts = np.diff(self._offsets)
        return pandas.DataFrame({"variable": np.repeat(np.array(self._names, object), counts),
                                 "state": [a for labels in self._labels for a in labels],
                                 "probability": self._values, "mcse": self._numbers["mcse"],
                                 "ess": self._numbers["ess"], "rhat": self._numbers["rhat"]})

    def plot(self) -> Drawing:
        """Draw the graph of the model with these probabilities in its nodes; observed variables get a thick frame. If the
        question named variables, they are drawn together with their neighbours."""
        if self._about is None:
            raise ValueError("a pickled answer is without its model: plot the answer before, or ask again")
        model, offsets, evidence, asked = self._about
        if asked == range(len(offsets) - 1):
            return Drawing(_core.draw(model, evidence, self._values, self._numbers["mcse"], None))
        where = np.concatenate([np.arange(offsets[v], offsets[v + 1]) for v in asked])
        p, mcse = np.full((2, offsets[-1]), np.nan)
        p[where], mcse[where] = self._values, self._numbers["mcse"]
        return Drawing(_core.draw(model, evidence, p, mcse, list(asked)))

    def to_xarray(self):
        """Return a Dataset with a variable NAME along the states of each variable, and its errors NAME_error."""
        import xarray
        data = {}
        for name in self._names:
            here = self[name]
            along = {f"{name}_state": list(here)}
            data[name] = xarray.DataArray(here.to_numpy(), coords=along, dims=list(along))
            data[f"{name}_error"] = xarray.DataArray(self.errors[name].to_numpy(), coords=along, dims=list(along))
        return xarray.Dataset(data, attrs=_attributes(self))

    def __repr__(self) -> str:
        shown = [repr(self[name]) for name in self._names[:20]]
        if len(self._names) > 20:
            shown.append(f"... {len(self._names) - 20} more variables")
        return "\n".join(shown + [f"({self.verdict})"])

    def _repr_html_(self):
        rows = []
        for name in self._names[:50]:
            for k, (label, p) in enumerate(self[name].items()):
                error = self.errors[name][label]
                bar = (f'<svg width="160" height="12" role="img" aria-label="{p:.4f}"><rect width="{160 * p:.1f}" height="12" '
                       'fill="#0072b2"/>' + _whisker(p, error) + "</svg>")
                rows.append(f"<tr><th>{html.escape(name) if k == 0 else ''}</th><td>{html.escape(label)}</td><td>{bar}</td>"
                            f"<td>{p:.4f}</td><td>{'' if not error > 0 else f'± {error:.4f}'}</td></tr>")
        if len(self._names) > 50:
            rows.append(f"<tr><td colspan=5>... {len(self._names) - 50} more variables</td></tr>")
        drawing = shown(self.plot, 0 if self._about is None else len(self._about[1]) - 1)
        return f"{drawing}<table>{''.join(rows)}</table><p>{html.escape(self.verdict)}</p>"


def _whisker(p, error):
    if not error > 0:
        return ""
    low, high = max(0.0, p - 1.96 * error), min(1.0, p + 1.96 * error)
    return f'<path d="M{160 * low:.1f} 6H{160 * high:.1f}" stroke="#d55e00" stroke-width="2"/>'


def _attributes(result):
    return {"verdict": result.verdict, "converged": int(result.converged), "digest": result.digest or "",
            "creation_library": "gibbsite", "creation_library_version": _core.version,
            "creation_library_language": "C"}


class Joint(Mapping, _Told):
    """P(a, b, ... | evidence): ``table["yes", "no"]``. Labels in the order of ``names``."""

    def __init__(self, names, labels, numbers, summary):
        self.names, self.labels, self.summary = tuple(names), tuple(map(tuple, labels)), summary
        self._shape = tuple(len(x) for x in labels)
        self._p = numbers["p"].reshape(self._shape)
        self._mcse = numbers["mcse"].reshape(self._shape) if "mcse" in numbers else None

    def __getitem__(self, states: str | tuple[str, ...]) -> float:
        return float(self._p[self._at(states)])

    def _at(self, states):
        states = states if isinstance(states, tuple) else (states,)
        if len(states) != len(self.names):
            raise KeyError(f"expected {len(self.names)} states, of {', '.join(self.names)}")
        at = []
        for name, labels, state in zip(self.names, self.labels, states):
            found = place_of({a: k for k, a in enumerate(labels)}, state)
            if found is None:
                raise KeyError(f"{name} has no state {state!r}, only {', '.join(labels)}")
            at.append(found)
        return tuple(at)

    def __iter__(self):
        return (tuple(labels[k] for labels, k in zip(self.labels, at)) for at in np.ndindex(self._shape))

    def __len__(self) -> int:
        return self._p.size

    def error(self, *states: str) -> float:
        """Return the standard error of an entry; 0 if the answer is exact."""
        return 0.0 if self._mcse is None else float(self._mcse[self._at(states)])

    def to_numpy(self) -> npt.NDArray[np.generic]:
        """An array with an axis for each variable."""
        return self._p

    def to_pandas(self):
        """A Series with an index level for each variable."""
        import pandas
        return pandas.Series(self._p.ravel(), pandas.MultiIndex.from_product(self.labels, names=self.names),
                             name="probability")

    def to_xarray(self):
        """A DataArray with a dimension for each variable."""
        import xarray
        return xarray.DataArray(self._p, coords=dict(zip(self.names, map(list, self.labels))), dims=self.names,
                                name="probability", attrs=_attributes(self))

    def __repr__(self) -> str:
        shown = [f"P({', '.join(f'{n}={a}' for n, a in zip(self.names, at))}) = {p:.6g}"
                 for at, p, _ in zip(self, self._p.ravel(), range(40))]
        if len(self) > 40:
            shown.append(f"... {len(self) - 40} more entries")
        return "\n".join(shown + [f"({self.verdict})"])

    def _repr_html_(self):
        head = "".join(f"<th>{html.escape(n)}</th>" for n in self.names)
        rows = ["".join(f"<td>{html.escape(a)}</td>" for a in at) + f"<td>{p:.5f}</td>"
                for at, p, _ in zip(self, self._p.ravel(), range(200))]
        return (f"<table><tr>{head}<th>P</th></tr>" + "".join(f"<tr>{r}</tr>" for r in rows) +
                f"</table><p>{html.escape(self.verdict)}</p>")


class State(Mapping):
    """The most probable state of all variables, or of the queried variables, by name.

    log_density : ln of the state's unnormalised probability; if only some variables are queried, the others are summed out
    optimal : whether it is proved to be the most probable state
    log_probability : ln P(state | evidence), with probability=True; else None
    log_probability_low, log_probability_high : 95 % interval of log_probability
    upper_bound : no state has a larger log_density; inf if the search was stopped before a bound was known
    gap : upper_bound - log_density in nats; 0 if the state is proved to be the most probable state
    log_bound : the same as upper_bound, if only some variables are queried; else None
    stop : what ended the search: "exact", "bound", "settled", "sweeps", "time", ...
    """

    def __init__(self, names, labels, states, about):
        self._names, self._labels, self._states = names, labels, states
        self._place = {name: i for i, name in enumerate(names)}
        self.log_density, self.optimal = about["log_density"], about["optimal"]
        self.log_probability = about.get("log_probability")
        self.log_probability_low, self.log_probability_high = (about.get(f"log_probability_{x}") for x in ("low", "high"))
        self.log_bound, self.stop = about.get("log_bound"), about["stop"]
        self.upper_bound = about.get("upper_bound", self.log_bound)
        self.gap = 0.0 if self.optimal else self.upper_bound - self.log_density
        self.about = about

    def with_log_z(self, z: LogZ) -> State:
        """Return the state with ln P(state | evidence), which needs ln Z."""
        x = self.log_density
        return State(self._names, self._labels, self._states,
                     {**self.about, "z": z, "log_probability": x - z, "log_probability_low": x - z.high,
                      "log_probability_high": x - z.low})

    @property
    def converged(self) -> bool:
        """Whether the state is proved to be the most probable state. A state that is not proved may still be the most probable
        one."""
        return self.optimal

    def summary_text(self) -> str:
        """JSON as ``gibbsite map --format json`` writes it."""
        a = self.about
        z = a.get("z")
        numbers = {"log_density": a["log_density"], "final_log_density": a.get("final_log_density"),
                   "log_z": None if z is None else float(z), "log_z_error": None if z is None else z.mcse,
                   "log_probability": self.log_probability, "log_probability_low": self.log_probability_low,
                   "log_probability_high": self.log_probability_high, "proved": self.optimal,
                   "upper_bound": self.upper_bound, "gap": self.gap, "sweeps": a.get("sweeps", 0),
                   "chains": a.get("chains", 0), "tau0": a.get("tau0"), "stop": self.stop}
        return json.dumps({"schema": "map/1", "tool": "gibbsite", "version": _core.version, "model": a.get("digest"),
                           **{k: _finite(x) for k, x in numbers.items()}, "state": [int(x) for x in self._states]})

    def __getitem__(self, name):
        i = _at(self._place, name)
        return self._labels(i)[self._states[i]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def to_numpy(self) -> npt.NDArray[np.generic]:
        """An array [variables] of the numbers of the states."""
        return self._states

    def to_pandas(self):
        import pandas
        return pandas.Series(dict(self), name="state")

    def __repr__(self) -> str:
        shown = [f"{n}={self[n]}" for n in self._names[:40]] + (["..."] if len(self) > 40 else [])
        p = "" if self.log_probability is None else f", ln P {self.log_probability:.6g}"
        return ", ".join(shown) + f" (ln weight {self.log_density:.6g}{p}, " + (
            "optimal)" if self.optimal else f"the best that was found, at most {self.gap:.3g} below the best one)")


class LogZ(float):
    """ln Z, or ln P(evidence): a number with ``mcse``, ``low`` and ``high`` (95 %), ``converged``, ``verdict``.

    The number is NaN if no state of positive weight was found; the verdict then gives this reason.

    exact : whether no part of the number was estimated
    lower_bound : a number below ln Z with probability 0.975 or more, from annealing; NaN for ladders
    ess, barrier, valid_share, temperatures, annealings, iterations, round_trips, chains, updates : see gibbsite/log_z.h
    """

    mcse: float
    low: float
    high: float
    converged: bool
    verdict: str
    exact: bool
    lower_bound: float

    def __new__(cls, about):
        self = super().__new__(cls, about["log_z"])
        self.__dict__.update({k: x for k, x in about.items() if k != "log_z"})
        return self

    def summary_text(self) -> str:
        """JSON as ``gibbsite logz --format json`` writes it."""
        of = self.__dict__
        numbers = {k: of[k] for k in ("low", "high", "lower_bound", "ess", "barrier", "valid_share", "seconds", "free_variables",
                                      "exact_variables", "chains", "temperatures", "annealings", "iterations", "burn_in",
                                      "round_trips", "updates", "converged", "verdict", "stop")}
        return json.dumps({"schema": "logz/1", "tool": "gibbsite", "version": _core.version, "model": of.get("digest"),
                           "log_z": _finite(float(self)), "error": _finite(self.mcse), "seed": of.get("seed", 0),
                           **{k: _finite(x) for k, x in numbers.items()}})

    def __getnewargs__(self):
        return ({"log_z": float(self), **self.__dict__},)


class Cases:
    """Answers to a table of cases, one row for each case.

    p : [cases, states] the probabilities of the states of the queried variables, NaN in an impossible case
    log_p : [cases] ln P(case); NaN if it is not known
    """

    def __init__(self, names, labels, offsets, about, rows):
        self.names, self.labels, self._offsets, self.index = tuple(names), labels, offsets, rows
        self.p, self.mcse, self.log_p = about["p"], about["mcse"], about["log_p"]
        self.converged = about["converged"].astype(bool)
        self.exact = about["exact"]

    def __len__(self) -> int:
        return len(self.p)

    def __getitem__(self, name):
        """The probabilities of a variable: an array [cases, states of the variable]."""
        i = _at({n: k for k, n in enumerate(self.names)}, name)
        return self.p[:, self._offsets[i]:self._offsets[i + 1]]

    @property
    def verdict(self):
        n = int((~self.converged).sum())
        return "exact" if self.exact else f"not converged: {n} cases" if n else "converged"

    def to_numpy(self) -> npt.NDArray[np.generic]:
        return self.p

    def to_pandas(self):
        """The rows of the question, with a column (variable, state) for each probability and log_p."""
        import pandas
        columns = [(n, a) for n, labels in zip(self.names, self.labels) for a in labels]
        frame = pandas.DataFrame(self.p, index=self.index,
                                 columns=pandas.MultiIndex.from_tuples(columns, names=["variable", "state"]))
        frame["log_p", ""] = self.log_p
        return frame

    def __repr__(self) -> str:
        return f"{len(self)} cases of {', '.join(self.names)} ({self.verdict})"


class Draws(_Told):
    """Draws of some variables by all chains; ``to_numpy()`` is [chains, draws, variables] without a copy.

    log_density : [chains, draws] ln of the unnormalised probabilities of the draws
    marginals : the marginals that the run estimated, or None if only draws were asked for
    """

    def __init__(self, names, labels, states, log_density, summary):
        self.names, self.labels, self.summary = tuple(names), labels, summary
        self._states, self.log_density = states, log_density

    @property
    def shape(self) -> tuple[int, ...]:
        return self._states.shape

    def __len__(self) -> int:
        return self._states.shape[0] * self._states.shape[1]

    def __getitem__(self, name):
        """An array [chains, draws] of the numbers of the states of a variable."""
        return self._states[:, :, _at({n: k for k, n in enumerate(self.names)}, name)]

    def to_numpy(self) -> npt.NDArray[np.generic]:
        return self._states

    def to_pandas(self):
        """A row for each draw: chain, draw, and a categorical column for each variable."""
        import pandas
        chains, draws, n = self._states.shape
        chain, draw = np.divmod(np.arange(chains * draws), max(draws, 1))
        columns = {"chain": chain, "draw": draw}
        for i, name in enumerate(self.names):
            columns[name] = pandas.Categorical.from_codes(self._states[:, :, i].ravel().astype(np.int32),
                                                          categories=list(self.labels[i]))
        return pandas.DataFrame(columns)

    def to_xarray(self, one_array=False):
        """A Dataset with a variable for each name, or one array of all of them."""
        import xarray
        chains, draws, _ = self._states.shape
        coords = {"chain": np.arange(chains), "draw": np.arange(draws)}
        if one_array:
            data = {"state": (("chain", "draw", "variable"), self._states)}
            coords["variable"] = list(self.names)
        else:
            data = {n: (("chain", "draw"), self._states[:, :, i]) for i, n in enumerate(self.names)}
        return xarray.Dataset(data, coords, {**_attributes(self), "sample_dims": ["chain", "draw"]})

    def to_arviz(self, one_array=False):
        """Return a DataTree if xarray has this class, else a dict of groups for ``arviz.from_dict``: ``posterior``, and
        ``sample_stats`` with ``lp``."""
        import xarray
        posterior = self.to_xarray(one_array)
        stats = xarray.Dataset({"lp": (("chain", "draw"), self.log_density)},
                               {k: posterior.coords[k] for k in ("chain", "draw")}, posterior.attrs)
        groups = {"posterior": posterior, "sample_stats": stats}
        return xarray.DataTree.from_dict(groups) if hasattr(xarray, "DataTree") else groups

    def __repr__(self) -> str:
        chains, draws, n = self._states.shape
        return f"{draws} draws of {n} variables by each of {chains} chains ({self.verdict})"


class Certificate(Report):
    """The guarantees that influences between variables prove: see gibbsite-certify(1).

    found : whether a number of passes is known after which chains are within ``accuracy`` of the target,
            from any start
    passes, updates : this number; the number of passes that were tried if ``found`` is false
    bound : Dobrushin variation after these passes
    steps, variation : the variation after the numbers of updates that were asked for
    total_variation : bounds on the total variation distance of the variables of positive weight, after ``steps``
    functions : bounds on the error of the expectation of any function that changes by at most the weight of each
            variable, after ``steps``
    dobrushin : whether the largest row sum of influences is below 1
    largest_row_sum, mean_row_sum, two_norm, spectral_radius : properties of the matrix of influences; the last two are upper
        bounds, and ``two_norm_low`` and ``radius_low`` are lower bounds
    given : number of entries of the matrix that the caller gave; 0 if the matrix was computed
    """

    found: bool
    dobrushin: bool
    passes: int
    updates: int
    pass_length: int
    bound: float
    largest_row_sum: float
    mean_row_sum: float
    given: int
    two_norm: float
    two_norm_low: float
    spectral_radius: float
    radius_low: float
    variation: npt.NDArray[np.float64]
    total_variation: npt.NDArray[np.float64]
    functions: npt.NDArray[np.float64]
    steps: list[int]
    accuracy: float

    def to_pandas(self):
        """A row for each of ``steps``: passes, variation, total_variation, functions."""
        import pandas
        return pandas.DataFrame({"passes": np.array(self.steps) / max(self.pass_length, 1), "variation": self.variation,
                                 "total_variation": self.total_variation, "functions": self.functions},
                                pandas.Index(self.steps, name="steps"))

    @property
    def verdict(self) -> str:
        if self.found:
            return f"a variation of at most {self.accuracy:g} after {self.passes} passes, from any start"
        return (f"nothing is proved: the largest row sum of influences is {self.largest_row_sum:.4g}, and variations "
                f"do not fall to {self.accuracy:g}")

    def _shown(self):
        return [("largest row sum", self.largest_row_sum), ("2-norm, at most", self.two_norm),
                ("spectral radius, at most", self.spectral_radius)] + [
            (f"variation after {k} updates", float(v)) for k, v in zip(self.steps, self.variation)]


class Couplings(Report):
    """Estimates from pairs of coupled chains of how far chains are from the model: see gibbsite-certify(1). They can show that
    chains are too short, but never prove that chains are long enough. The numbers estimate upper bounds on total variation
    distances after each of ``passes``; an estimate of 1 or more gives no information.

    joint, joint_mcse : estimate for the joint distribution of the variables, with the standard error over pairs
    variable, variable_mcse, worst : largest estimate for a single variable, its standard error, and the variable's name
    each : [passes][variables] estimate for each single variable, by number
    at_least : whether some pairs did not meet; the bounds may then be larger than the estimates
    pairs, met : number of pairs of chains, and number of pairs that met within ``sweeps`` passes
    mean, longest : mean and largest number of passes before a pair met
    lag : number of passes by which the first chain of a pair is ahead
    """

    joint: npt.NDArray[np.float64]
    joint_mcse: npt.NDArray[np.float64]
    variable: npt.NDArray[np.float64]
    variable_mcse: npt.NDArray[np.float64]
    worst: list[str | None]
    each: npt.NDArray[np.float64]
    passes: list[int]
    pairs: int
    met: int
    mean: float
    longest: int
    lag: int
    sweeps: int

    @property
    def at_least(self) -> bool:
        return self.met < self.pairs

    def to_pandas(self):
        """A row for each of ``passes``: joint, joint_mcse, variable, variable_mcse, worst."""
        import pandas
        columns = {k: getattr(self, k) for k in ("joint", "joint_mcse", "variable", "variable_mcse", "worst")}
        return pandas.DataFrame(columns, pandas.Index(self.passes, name="passes"))

    @property
    def verdict(self) -> str:
        if self.at_least:
            return f"no: {self.pairs - self.met} of {self.pairs} pairs did not meet within {self.sweeps} passes"
        return f"all {self.pairs} pairs met, after {self.longest} passes at most: this proves nothing"

    def _shown(self):
        least = "at least " if self.at_least else "about "
        return [(f"joint distance after {k} passes is at most", f"{least}{float(v):.3g}") for k, v in zip(self.passes, self.joint)]


class Influences(Report):
    """The matrix of influences between variables: see gibbsite/dobrushin.h. ``found["a", "b"]`` is the influence of b on a.

    i, j, value : [entries] pairs of variables that share a factor, by number, and the influence of j on i
    largest_row_sum, mean_row_sum, two_norm, spectral_radius : as in Certificate
    """

    largest_row_sum: float
    mean_row_sum: float
    two_norm: float
    spectral_radius: float
    dobrushin: bool

    def __init__(self, model, i, j, value, about):
        super().__init__(about)
        self._model, self.i, self.j, self.value = model, i, j, value

    def __getitem__(self, pair: tuple[Any, Any]) -> float:
        a, b = (self._model._find(x) for x in pair)
        return float(self.value[(self.i == a) & (self.j == b)].sum())

    def to_numpy(self) -> npt.NDArray[np.float64]:
        """An array [variables, variables] of the influences of columns on rows."""
        matrix = np.zeros((len(self._model), len(self._model)))
        matrix[self.i, self.j] = self.value
        return matrix

    @property
    def verdict(self) -> str:
        return "every scan forgets its start" if self.dobrushin else "Dobrushin's condition is not shown"


class Scan(Report):
    """An optimised order of updates: ``sequence`` of variables, its ``bound``, and the bound of the scan that was improved,
    ``systematic``. If the search was stopped early, the first ``left`` updates are not chosen yet; those that take a variable
    drawn uniformly have the number ``Scan.UNIFORM`` and the name "*"."""

    UNIFORM = 0xFFFFFFFF

    bound: float
    systematic: float
    goal: float
    visited: int
    left: int
    stopped: bool

    def __init__(self, model, sequence, about):
        super().__init__(about)
        names = model.names
        self._model, self.sequence = model, sequence
        self.names = ["*" if v == self.UNIFORM else names[v] for v in sequence[:10000]]

    def write(self, path) -> None:
        """Write a scan file, which ``gibbsite marginals --scan`` reads."""
        _core.write_scan(str(path), self._model._core, np.ascontiguousarray(self.sequence, np.uint32),
                         f"gibbsite {_core.version}, variation {self.bound:.9g} after {len(self)} updates")

    def to_numpy(self) -> npt.NDArray[np.uint32]:
        """An array [updates] of the numbers of variables."""
        return self.sequence

    def __len__(self) -> int:
        return len(self.sequence)

    def __repr__(self) -> str:
        return (f"{len(self)} updates of {self.visited} variables, bound {self.bound:.4g} "
                f"(systematic scan {self.systematic:.4g})")
