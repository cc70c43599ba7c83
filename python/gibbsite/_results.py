# SPDX-License-Identifier: Apache-2.0
"""What questions return: mappings by name and label over NumPy arrays that are not copied."""
from __future__ import annotations

import html
import json
import warnings
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from . import _core


class NotConverged(UserWarning):
    """A result that its own diagnostics do not trust; the text is the verdict, with what to try."""


def _warn(result):
    if not result.converged:
        warnings.warn(result.verdict, NotConverged, stacklevel=4)
    return result


class _Told:
    """What a run says of itself. ``summary`` is that of ``gibbsite marginals --summary``."""

    summary: dict

    @property
    def converged(self) -> bool:
        """Whether the answer can be trusted; exact answers can."""
        return bool(self.summary["converged"])

    @property
    def verdict(self) -> str:
        """One sentence that says why."""
        return self.summary["verdict"]

    @property
    def digest(self) -> str | None:
        """A hash of the estimates and their errors: the same for the same options, anywhere."""
        return self.summary.get("digest")

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
        _core.report(str(path), "run", json.dumps(self.summary))


class Distribution(Mapping):
    """The probabilities of the states of one variable, by label. ``to_numpy()`` has no copy."""

    def __init__(self, name, labels, values):
        self.name, self._labels, self._values = name, tuple(labels), values

    def __getitem__(self, label: str | int) -> float:
        try:
            return float(self._values[self._labels.index(_label_text(label))])
        except ValueError:
            raise KeyError(f"{self.name} has no state {label!r}, only {', '.join(self._labels)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels)

    def __len__(self) -> int:
        return len(self._labels)

    def __array__(self, dtype=None):
        return np.asarray(self._values, dtype)

    def to_numpy(self) -> npt.NDArray[np.generic]:
        """[states] in the order of the labels."""
        return self._values

    def __repr__(self) -> str:
        return f"{self.name}: " + ", ".join(f"{a}={p:.6g}" for a, p in zip(self._labels, self._values))


def _label_text(label):
    return str(int(label)) if isinstance(label, (int, np.integer)) and not isinstance(label, bool) else label


class _ByVariable(Mapping):
    """Numbers of the states of some variables, by name and label."""

    def __init__(self, names, labels, values, offsets):
        self._names, self._labels, self._values, self._offsets = names, labels, values, offsets
        self._place = {name: i for i, name in enumerate(names)}

    def __getitem__(self, name):
        i = self._place[str(name)]
        return Distribution(self._names[i], self._labels[i], self._values[self._offsets[i]:self._offsets[i + 1]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Marginals(_ByVariable, _Told):
    """P(variable = state | evidence) of some variables: ``answer["rain"]["yes"]``.

    errors : standard errors in the same shape, 0 where the answer is exact
    ess, rhat : effective sample sizes and R-hat, NaN where they have no meaning
    log_evidence : ln P(evidence) of a Bayesian network (ln Z of other models); None: not known
    """

    def __init__(self, names, labels, offsets, numbers, summary):
        super().__init__(names, labels, numbers["p"], offsets)
        self._numbers, self.summary = numbers, summary

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
        """[all states] probabilities, variable after variable."""
        return self._values

    def to_pandas(self):
        """A row for each state: variable, state, probability, mcse, ess, rhat."""
        import pandas
        counts = np.diff(self._offsets)
        return pandas.DataFrame({"variable": np.repeat(np.array(self._names, object), counts),
                                 "state": [a for labels in self._labels for a in labels],
                                 "probability": self._values, "mcse": self._numbers["mcse"],
                                 "ess": self._numbers["ess"], "rhat": self._numbers["rhat"]})

    def to_xarray(self):
        """A Dataset: a variable each, along its states, and NAME_error beside it."""
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
        return f"<table>{''.join(rows)}</table><p>{html.escape(self.verdict)}</p>"


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
            if _label_text(state) not in labels:
                raise KeyError(f"{name} has no state {state!r}, only {', '.join(labels)}")
            at.append(labels.index(_label_text(state)))
        return tuple(at)

    def __iter__(self):
        return (tuple(labels[k] for labels, k in zip(self.labels, at)) for at in np.ndindex(self._shape))

    def __len__(self) -> int:
        return self._p.size

    def error(self, *states: str) -> float:
        """The standard error of an entry; 0 where the answer is exact."""
        return 0.0 if self._mcse is None else float(self._mcse[self._at(states)])

    def to_numpy(self) -> npt.NDArray[np.generic]:
        """An axis for each variable."""
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
    """A state of all variables, by name: the most probable one.

    log_density : ln of its unnormalised probability
    optimal : whether it is proved to be the most probable state
    """

    def __init__(self, names, labels, states, about):
        self._names, self._labels, self._states = names, labels, states
        self._place = {name: i for i, name in enumerate(names)}
        self.log_density, self.optimal = about["log_density"], about["optimal"]
        self.about = about

    def __getitem__(self, name):
        i = self._place[str(name)]
        return self._labels(i)[self._states[i]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def to_numpy(self) -> npt.NDArray[np.generic]:
        """[variables] numbers of the states."""
        return self._states

    def to_pandas(self):
        import pandas
        return pandas.Series(dict(self), name="state")

    def __repr__(self) -> str:
        shown = [f"{n}={self[n]}" for n in self._names[:40]] + (["..."] if len(self) > 40 else [])
        return ", ".join(shown) + f" (ln weight {self.log_density:.6g}, " + (
            "optimal)" if self.optimal else "the best that was found)")


class LogZ(float):
    """ln Z, or ln P(evidence): a number with ``mcse``, ``low`` and ``high`` (95 %), ``converged``, ``verdict``."""

    def __new__(cls, about):
        self = super().__new__(cls, about["log_z"])
        self.__dict__.update({k: about[k] for k in ("mcse", "low", "high", "converged", "verdict", "exact")})
        return self

    def __getnewargs__(self):
        return ({"log_z": float(self), **self.__dict__},)


class Cases:
    """Answers to a table of cases, a row each.

    p : [cases, states] the probabilities of the states of the queried variables, NaN in an impossible case
    log_p : [cases] ln P(case), NaN where it is not known
    """

    def __init__(self, names, labels, offsets, about, rows):
        self.names, self.labels, self._offsets, self.index = tuple(names), labels, offsets, rows
        self.p, self.mcse, self.log_p = about["p"], about["mcse"], about["log_p"]
        self.converged = about["converged"].astype(bool)
        self.exact = about["exact"]

    def __len__(self) -> int:
        return len(self.p)

    def __getitem__(self, name):
        """[cases, states of the variable]"""
        i = self.names.index(str(name))
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

    log_density : [chains, draws] of the unnormalised model
    marginals : what the run estimates, or None where it was asked for draws alone
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
        """[chains, draws] numbers of the states of a variable."""
        return self._states[:, :, self.names.index(str(name))]

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
        """A DataTree where xarray has it, else the dict of groups that ``arviz.from_dict`` and its like take:
        ``posterior``, and ``sample_stats`` with ``lp``."""
        import xarray
        posterior = self.to_xarray(one_array)
        stats = xarray.Dataset({"lp": (("chain", "draw"), self.log_density)},
                               {k: posterior.coords[k] for k in ("chain", "draw")}, posterior.attrs)
        groups = {"posterior": posterior, "sample_stats": stats}
        return xarray.DataTree.from_dict(groups) if hasattr(xarray, "DataTree") else groups

    def __repr__(self) -> str:
        chains, draws, n = self._states.shape
        return f"{draws} draws of {n} variables by each of {chains} chains ({self.verdict})"


class Certificate:
    """What influences between variables prove: see gibbsite-certify(1).

    found : whether a number of passes is known after which chains are within ``accuracy`` of the target,
            from any start
    passes, updates : that number; passes tried where it is not
    bound : Dobrushin variation after them
    """

    found: bool
    dobrushin: bool
    passes: int
    updates: int
    bound: float
    largest_row_sum: float
    two_norm: float
    spectral_radius: float

    def __init__(self, about, accuracy):
        self.__dict__.update(about)
        self.accuracy = accuracy

    def __repr__(self) -> str:
        if self.found:
            return f"within {self.accuracy:g} of the target after {self.passes} passes, from any start"
        return (f"nothing is proved: the largest row sum of influences is {self.largest_row_sum:.4g}, and variations "
                f"do not fall to {self.accuracy:g}")


class Scan:
    """An optimised order of updates: ``sequence`` of variables, its ``bound`` and that of the ``systematic`` scan."""

    def __init__(self, names, sequence, about):
        self.sequence, self.names = sequence, [names[v] for v in sequence[:10000]]
        self.bound, self.systematic, self.visited = about["bound"], about["systematic"], about["visited"]

    def __len__(self) -> int:
        return len(self.sequence)

    def __repr__(self) -> str:
        return (f"{len(self)} updates of {self.visited} variables, bound {self.bound:.4g} "
                f"(systematic scan {self.systematic:.4g})")
