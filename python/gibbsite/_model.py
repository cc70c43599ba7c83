# SPDX-License-Identifier: Apache-2.0
"""The class ``Model``, and functions that read models."""
from __future__ import annotations

import html
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._data import Table, model_data, split
from ._drawing import Drawing, shown
from ._learning import Fit, LearntWeights
from ._results import Cases, Certificate, Couplings, Draws, Influences, Joint, LogZ, Marginals, Scan, State, _warn
from ._tables import options_of_tables
from ._text import MOST, is_missing, place_of, plain, real, reals, text, texts, whole
from ._trust import Sensitivities


Name = Any  # the name of a variable, or a value whose text is the name: 1, (0, 2); or index(3)
Names = Any  # a Name, or several in a list
Label = Any  # the label of a state, or a value whose text is the label: 1, 1.0, True; or index(0)
Observed = Any  # a Label, or several in a set or list
Evidence = Union[Mapping[Name, Observed], str, None]
Given = Union[npt.ArrayLike, Influences, str, os.PathLike[str], None]  # influences: an array, an answer or a file
Likelihood = Union[Mapping[Name, Union[Mapping[Label, float], Sequence[float]]], None]


class index(int):
    """A number of a variable or state, in place of its name or label: ``m.query(gb.index(7))``, ``{"rain": gb.index(0)}``."""

    def __repr__(self):
        return f"index({int(self)})"


def options(question: str | None = None) -> list[dict[str, Any]]:
    """The options of questions, as dicts with name, kind, help, choices and default.

    question : a question that has its own options, such as "learn rbm" or "fit"; if it is not given, the options of runs

    Raises KeyError for a question that does not have its own options.

    >>> import gibbsite as gb
    >>> [o["default"] for o in gb.options("learn rbm") if o["name"] == "batch"]
    ['64']
    """
    return _core.options(question)


def read(path: str | os.PathLike[str], format: str | None = None, *, lenient: bool = False, normalize_cpts: bool = False,
         convention: str | None = None, diagonal: str | None = None, vartype: str | None = None, offset: float = 0.0,
         weight_scale: float = 0.0, states: int = 0, table_order: str | None = None, file_evidence: bool = False) -> Model:
    """Read a model from a file. The extension of the file selects the format, unless ``format`` is given.

    Formats and options are those of ``gibbsite convert``: uai, bif, xmlbif, xdsl, net, fg, gbm, wcnf, ... With ``file_evidence``
    the observations in an XMLBIF file are added to the evidence of every question about the model, and the property
    ``file_evidence`` of the model holds them. Without ``file_evidence`` a warning names them. The model is a copy: its file may
    change afterwards. Raises Error with ``FILE:LINE:COLUMN`` for a file that cannot be read.
    """
    return _read(os.fspath(path), None, format, lenient, normalize_cpts, convention, diagonal, vartype, offset, weight_scale,
                 states, table_order, file_evidence)


def loads(text: str | bytes, format: str, *, name: str = "text", lenient: bool = False, normalize_cpts: bool = False,
          convention: str | None = None, diagonal: str | None = None, vartype: str | None = None, offset: float = 0.0,
          weight_scale: float = 0.0, states: int = 0, table_order: str | None = None, file_evidence: bool = False) -> Model:
    """Read a model from a str or bytes in one of the formats of ``read()``."""
    data = text.encode() if isinstance(text, str) else bytes(text)
    return _read(name, data, format, lenient, normalize_cpts, convention, diagonal, vartype, offset, weight_scale, states,
                 table_order, file_evidence)


def _read(path, data, *how):
    told = []
    core = _core.read(path, data, *how, told)
    for text in told:
        warnings.warn(text, stacklevel=3)
    model = Model._of(core)
    if how[-1] and data is None:
        model._seen = _core.Evidence(core).read(path)
    elif how[-1]:
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, os.path.basename(path) or "text")
            with open(name, "wb") as file:
                file.write(data)
            model._seen = _core.Evidence(core).read(name)
    return model


def _progress(wanted):
    """Shows progress by tqdm, if it is installed, or by a line on a terminal. Returns the function that core calls, and the
    function that ends the display."""
    if not wanted:
        return None, lambda: None
    if callable(wanted):
        return (lambda *p: bool(wanted(dict(zip(("burning_in", "pass", "passes", "updates", "elapsed_s", "worst_error",
                                                  "target_error", "rhat", "work", "share"), p))))), lambda: None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        tqdm = None
    if tqdm is None:
        def line(burning_in, done, of, updates, elapsed, worst_error, target_error, rhat, work, share):
            at = f"{'burn-in' if burning_in else 'sampling'}: pass {done}" + (f" of {of}" if of else "")
            if work is not None:
                at = work if share != share else f"{work}: {share:.0%}"
            sys.stderr.write(f"\r{at}, {elapsed:.0f} s\033[K")
            sys.stderr.flush()
            return False
        return line, lambda: sys.stderr.write("\n")
    bar = tqdm(unit="pass", leave=False)

    def step(burning_in, done, of, updates, elapsed, worst_error, target_error, rhat, work, share):
        bar.set_description(work or ("burn-in" if burning_in else "sampling"), refresh=False)
        bar.total, bar.n = of or None, done
        if worst_error == worst_error:
            bar.set_postfix(error=f"{worst_error:.2g}", refresh=False)
        bar.refresh()
        return False
    return step, bar.close


def _with_scan(options):
    """The options with a scan that is no name in the form that core takes: bytes of numbers of variables."""
    scan = options.get("scan")
    if scan is None or isinstance(scan, str):
        return options
    sequence = np.asarray(scan.sequence if isinstance(scan, Scan) else scan)
    if sequence.dtype.kind not in "iu" or sequence.ndim != 1 or len(sequence) == 0 or sequence.min() < 0 or sequence.max() >= 2**32:
        raise _core.ArgumentError(f"scan: found {scan!r:.100}, expected a name, a Scan or a sequence of numbers of variables")
    return {**options, "scan": sequence.astype(np.uint32).tobytes()}


def _answer(make, found):
    """Makes the answer from the result of core. After Ctrl-C a KeyboardInterrupt is raised, whose ``partial`` is the answer."""
    stop = KeyboardInterrupt("what there is so far is in .partial") if _core.interrupted() else None
    answer = make(found)
    if stop is not None:
        stop.partial = answer  # type: ignore[attr-defined]
        raise stop
    return answer


def _ask(make, call, *before, options, after=()):
    """Asks a question and makes the answer. ``partial`` of a KeyboardInterrupt is None if Ctrl-C came before there was an
    answer."""
    given = dict(options)
    step, end = _progress(given.pop("progress", given.pop("show_progress", None)))
    try:
        found = call(*before, given, step, *after)
    except KeyboardInterrupt as stop:
        stop.partial = None  # type: ignore[attr-defined]
        raise
    finally:
        end()
    return _answer(make, found)


class Model:
    """A discrete graphical model: variables with finitely many states, and factors over them.

    ``gb.read()`` and similar functions make a model. A model can also be made piece by piece; a question is asked about the
    pieces so far:

        m = gb.Model()
        m.add("rain", ["no", "yes"], p=[0.8, 0.2])
        m.add("wet", ["no", "yes"], parents=["rain"], p=[[0.9, 0.1], [0.2, 0.8]])
        m.query("rain", evidence={"wet": "yes"})
    """

    def __init__(self):
        self._built = None
        self._parts = []  # variables and factors in their order, for models made piece by piece
        self._made, self._shapes = {}, []  # numbers of the variables by name; numbers of states
        self._cache = {}
        self._seen = {}  # observations in the model's file: evidence of every question

    @classmethod
    def _of(cls, core):
        self = cls()
        self._built, self._parts = core, None
        return self

    # ---- making ------------------------------------------------------------------------------

    def _must_grow(self):
        if self._parts is None:
            raise TypeError("this model was read or converted, and cannot grow: write it anew with gb.Model()")
        self._built, self._cache = None, {}

    def add(self, name: str, states: int | Sequence[Any] = 2, parents: Sequence[Name] = (),
            p: npt.ArrayLike | None = None) -> Model:
        """Add a variable, and with ``p`` its table P(name | parents).

        states : labels, or their number
        parents : names of variables that were added before
        p : [states of the first parent][...][states] probabilities; the sum over the states of ``name`` is 1
        """
        self._must_grow()
        name, labels = text(name), None
        if isinstance(states, Iterable) and not isinstance(states, (str, bytes)):
            labels = tuple(text(s) for s in states)
        n = whole(states if labels is None else len(labels), f"states of {name}", 0, MOST)
        if name in self._made:
            raise ValueError(f"there is a variable {name} already")
        if not n:
            raise ValueError(f"{name} needs at least one state")
        scope = [self._made_at(x) for x in parents]
        if p is None and scope:
            raise ValueError(f"{name} has parents and no p")
        table = None if p is None else reals(p, f"the table of {name}")
        shape = tuple(self._shapes[v] for v in scope) + (n,)
        if table is not None and table.shape != shape:
            raise ValueError(f"the table of {name} has the shape {table.shape}, expected {shape}")
        self._made[name] = len(self._shapes)
        self._shapes.append(n)
        self._parts.append(("variable", name, n, labels))
        if table is not None:
            self._parts.append(("cpt", len(self._shapes) - 1, scope, table))
        return self

    def factor(self, variables: Sequence[Name], table: npt.ArrayLike) -> Model:
        """Add a factor: ``table`` has weights of at least 0 and an axis for each variable."""
        self._must_grow()
        scope = [self._made_at(x) for x in variables]
        weights = reals(table, "the factor")
        shape = tuple(self._shapes[v] for v in scope)
        if weights.shape != shape:
            raise ValueError(f"the factor of {', '.join(map(str, variables))} has the shape {weights.shape}, expected {shape}")
        self._parts.append(("factor", scope, weights))
        return self

    def _made_at(self, name):
        v = int(name) if isinstance(name, index) else place_of(self._made, name)
        if v is None or not 0 <= v < len(self._shapes):
            raise KeyError(f"there is no variable {name}; add it first")
        return v

    def _build(self):
        b = _core.Builder()
        v = 0
        directed = any(part[0] == "cpt" for part in self._parts) and all(part[0] != "factor" for part in self._parts)
        n_tables = sum(part[0] == "cpt" for part in self._parts)
        for part in self._parts:
            if part[0] == "variable":
                b.add(np.array([part[2]], np.uint32))
                b.name(v, part[1])
                if part[3] is not None:
                    b.labels(v, part[3])
                v += 1
            elif part[0] == "cpt":
                b.cpt(part[1], np.array(part[2], np.uint32), part[3])
            else:
                b.factor(np.array(part[1], np.uint32), part[2])
        return b.build(directed and n_tables == len(self._shapes))

    @property
    def _core(self):
        if self._built is None:
            self._built = self._build()
        return self._built

    def __reduce__(self):
        return _unpickle, (self._bytes("gbm"), self._seen)

    def _bytes(self, format):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            self._core.write(path, format, None, [])
            with open(path, "rb") as file:
                return file.read()

    def write(self, path: str | os.PathLike[str], format: str | None = None, *, convention: str | None = None) -> None:
        """Write the model. The extension of the file selects the format, unless ``format`` is given."""
        told: list[str] = []
        self._core.write(os.fspath(path), format, convention, told)
        for text in told:
            warnings.warn(text, stacklevel=2)

    @property
    def file_evidence(self) -> dict[str, str]:
        """The observations in the model's file, if the file was read with ``file_evidence=True``. They are evidence of every
        question."""
        return {self.names[v]: self._labels(v)[a] for v, a in self._seen.items()}

    # ---- names and labels --------------------------------------------------------------------

    def _shape(self):
        if "shape" not in self._cache:
            self._cache["offsets"] = np.asarray(self._core.offsets()).astype(np.int64)
            self._cache["shape"] = self._core.shape()  # set last: other threads then use the whole cache
        return self._cache["shape"]

    def __len__(self) -> int:
        """The number of variables."""
        return self._shape()["n_variables"]

    @property
    def digest(self) -> str:
        """A hash of the model, as ``gibbsite info`` prints it."""
        return self._shape()["digest"]

    @property
    def n_factors(self) -> int:
        return self._shape()["n_factors"]

    @property
    def names(self) -> list[str]:
        """The names of the variables. A variable without a name has its number as text."""
        if "names" not in self._cache:
            core = self._core
            self._cache["names"] = [core.name(v) or str(v) for v in range(len(self))]
        return self._cache["names"]

    def states(self, variable: Name) -> tuple[str, ...]:
        """The labels of the states of a variable. States without labels have their numbers as texts."""
        return self._labels(self._find(variable))

    def _labels(self, v):
        labels = self._cache.setdefault("labels", {})
        if v not in labels:
            self._shape()
            n = int(self._cache["offsets"][v + 1] - self._cache["offsets"][v])
            labels[v] = tuple(self._core.label(v, a) or str(a) for a in range(n))
        return labels[v]

    def _called(self, name):
        """Returns the variable that has exactly this name, or has no name and this number; else None."""
        try:
            return self._core.find(f"={name}")
        except _core.Error:
            v = int(name) if name.isascii() and name.isdigit() and len(name) < 11 else len(self)
            return v if v < len(self) and self._core.name(v) is None else None

    def _known(self, name):
        """Returns the number of a variable, or None if there is no such variable."""
        if isinstance(name, index):
            return int(name) if 0 <= name < len(self) else None
        return next((v for v in map(self._called, texts(name)) if v is not None), None)

    def _find(self, name):
        v = self._known(name)
        if v is None and isinstance(name, str):
            try:
                return self._core.find(f"={name}")  # its error names similar names
            except Exception as refused:
                if name[:1] == "#" and name[1:].isdecimal():
                    refused.args = (f"{refused}; gb.index({int(name[1:])}) is the variable with that number",)
                raise
        if v is None and isinstance(plain(name), int) and (isinstance(name, index) or not len(self) or self._core.name(0) is None):
            raise IndexError(f"there is no variable {int(name)}, only 0 to {len(self) - 1}")
        if v is None:
            hint = f"; gb.index({plain(name)}) is the one with that number" if isinstance(plain(name), int) else ""
            raise TypeError(f"expected the name of a variable, found {name!r}{hint}")
        return v

    def _asked(self, names, variables=None):
        """Returns the numbers of the variables that are asked for, by names as arguments or in lists."""
        asked = []
        for name in names if variables is None else (*names, variables):
            if isinstance(name, Mapping):
                raise TypeError(f"expected the names of variables, found {name!r}; what is observed is evidence=")
            several = isinstance(name, Iterable) and not isinstance(name, (str, bytes))
            if several and not (isinstance(name, tuple) and self._known(name) is not None):
                found = [self._find(x) for x in name]
                asked += sorted(found) if isinstance(name, (set, frozenset)) else found
            else:
                asked.append(self._find(name))
        if len(set(asked)) != len(asked):
            raise ValueError("a variable is asked for twice")
        if not asked and (names or variables is not None):
            raise ValueError("found no names, expected those of the variables that are asked for")
        return asked

    def _places(self, v):
        """Returns the numbers of the states by their labels."""
        places = self._cache.setdefault("places", {})
        if v not in places:
            places[v] = {label: a for a, label in enumerate(self._labels(v))}
        return places[v]

    def _find_state(self, v, state):
        if isinstance(state, str):
            return self._core.find_state(v, state)
        a = None if is_missing(state) else int(state) if isinstance(state, index) else place_of(self._places(v), state)
        if isinstance(state, index) and not 0 <= state < len(self._labels(v)) or (
                a is None and isinstance(plain(state), int) and self._core.label(v, 0) is None):
            raise IndexError(f"{self.names[v]} has no state {int(state)}, only 0 to {len(self._labels(v)) - 1}")
        if a is None:
            hint = "what is not observed is left out" if is_missing(state) else "gb.index(0) is the first"
            raise TypeError(f"expected one of the states {', '.join(self._labels(v)[:20])} of {self.names[v]}, found {state!r}; "
                            f"{hint}")
        return a

    def _observed(self, v, state):
        """Returns the possible states: the state of a label, or the states of several labels in a set or list."""
        if isinstance(state, Mapping):
            raise TypeError(f"expected a state of {self.names[v]} or several, found {state!r}; numbers of states are likelihood=")
        state = plain(state) if isinstance(state, np.ndarray) else state
        several = isinstance(state, Iterable) and not isinstance(state, (str, bytes))
        if several and not (isinstance(state, tuple) and place_of(self._places(v), state) is not None):
            return {self._find_state(v, s) for s in state}
        return self._find_state(v, state)

    def _evidence(self, evidence, likelihood):
        if (evidence is None or not len(evidence)) and not likelihood and not self._seen:
            return None
        e = _core.Evidence(self._core)
        for v, a in self._seen.items():
            e.observe(v, a)
        if isinstance(evidence, str):
            e.add(evidence)
            evidence = {}
        for name, state in dict({} if evidence is None else evidence).items():
            v = self._find(name)
            possible = self._observed(v, state)
            if isinstance(possible, set):
                e.likelihood(v, [float(a in possible) for a in range(len(self._labels(v)))])
            else:
                e.observe(v, possible)
        for name, numbers in dict(likelihood or {}).items():
            v = self._find(name)
            if isinstance(numbers, Mapping):
                by_state = {self._find_state(v, s): x for s, x in numbers.items()}
                numbers = [by_state.get(a, 0.0) for a in range(len(self._labels(v)))]
            e.likelihood(v, [real(x, f"likelihood of {self.names[v]}") for x in numbers])
        return e

    # ---- questions ---------------------------------------------------------------------------

    def query(self, *names: Names, variables: Names = None, evidence: Evidence = None, likelihood: Likelihood = None,
              joint: bool = False, observables: bool = False, **options: Any) -> Any:
        """Return P(variable = state | evidence) of the named variables, or of all variables.

        names, variables : "A", "B" or ["A", "B"]; a number or a tuple is its text, so that 1 is the variable named "1"
        evidence : {name: state}; {name: {states}} if the state is one of several; or a text in the form of the command line
        likelihood : {name: {state: number}} or {name: [numbers]}: virtual evidence
        joint : return one table, as ``joint()`` does, in place of Marginals
        observables : for spin and Potts models, also keep ``answer.observables``: energy, magnetisation, specific heat, ...
        options : options of ``gibbsite marginals``; progress=True shows a bar
        """
        if joint and observables:
            raise ValueError("observables: they are of marginals; leave out joint")
        if joint:
            return self.joint(*names, variables=variables, evidence=evidence, likelihood=likelihood, **options)
        asked = self._asked(names, variables) or range(len(self))

        def make(found):
            self._shape()
            offsets = offsets_of_all = self._cache["offsets"]
            numbers = {k: np.asarray(x) for k, x in found["marginals"].items()}
            if len(asked) < len(self) or asked != range(len(self)):
                where = np.concatenate([np.arange(offsets[v], offsets[v + 1]) for v in asked])
                numbers = {k: x[where] for k, x in numbers.items()}
                offsets = np.concatenate([[0], np.cumsum([offsets[v + 1] - offsets[v] for v in asked])])
            return Marginals([self.names[v] for v in asked], [self._labels(v) for v in asked], offsets, numbers, _summary(found),
                             (self._core, offsets_of_all, observed, asked))
        observed = self._evidence(evidence, likelihood)
        about = None if len(asked) == len(self) and asked == range(len(self)) else list(asked)
        return _warn(_ask(make, _core.run, self._core, observed, options=options, after=(None, about, observables)))

    def joint(self, *names: Names, variables: Names = None, evidence: Evidence = None, likelihood: Likelihood = None,
              **options: Any) -> Joint:
        """Return P(a, b, ... | evidence), by a junction tree if it fits into memory, else by draws."""
        asked = self._asked(names, variables)

        def make(found):
            numbers = {k: np.asarray(x) for k, x in found["table"].items()}
            return Joint([self.names[v] for v in asked], [self._labels(v) for v in asked], numbers, _summary(found))
        return _warn(_ask(make, _core.joint, self._core, self._evidence(evidence, likelihood), options=options, after=(asked,)))

    def logz(self, evidence: Evidence = None, likelihood: Likelihood = None, **options: Any) -> LogZ:
        """Return ln of the sum of the weights of all states that agree with the evidence."""
        return self._logz(self._evidence(evidence, likelihood), options)

    def _logz(self, evidence, options):
        return _warn(_ask(lambda about: LogZ({**about, "digest": self.digest, "seed": int(options.get("seed", 0))}),
                          _core.log_z, self._core, evidence, options=options))

    def prob(self, evidence: Evidence, likelihood: Likelihood = None, **options: Any) -> float:
        """Return P(evidence). The logarithm, with its error, is ``logz(evidence) - logz()``."""
        try:
            above = self.logz(evidence, likelihood, **options)
        except _core.Error as error:
            if error.status != "impossible":
                raise
            return 0.0
        below = 0.0 if self._shape()["normalized"] else float(self._logz(None, options))
        return float(np.exp(float(above) - below))

    def map(self, evidence: Evidence = None, likelihood: Likelihood = None, *, probability: bool = False,
            **options: Any) -> State:
        """Find the most probable state of all variables given evidence, as ``gibbsite map`` does.

        probability : also find ln P(state | evidence), which needs ln Z
        options : options of ``gibbsite map``: method, sweeps, chains, seed, time, tau0, ...

        Raises Error with status "impossible" if the evidence has probability 0, and "not found" if no state was found.

        >>> import gibbsite as gb
        >>> m = gb.read("examples/sprinkler.bif")
        >>> found = m.map({"grass": "wet"}, probability=True)
        >>> found["rain"], found.optimal, round(found.log_probability, 3)
        ('no', True, -0.464)
        """
        found = _ask(lambda found: State(self.names, self._labels, np.asarray(found[0]), {**found[1], "digest": self.digest}),
                     _core.map, self._core, self._evidence(evidence, likelihood), options=options)
        return found.with_log_z(self.logz(evidence, likelihood, **options)) if probability else found

    def mpe(self, evidence: Evidence = None, likelihood: Likelihood = None, **options: Any) -> State:
        """Find the most probable state of all variables given evidence: another name of ``map()``."""
        return self.map(evidence, likelihood, **options)

    def mmap(self, *names: Names, variables: Names = None, evidence: Evidence = None, likelihood: Likelihood = None,
             probability: bool = False, **options: Any) -> State:
        """Find the most probable state of the named variables (marginal MAP), as ``gibbsite uai MMAP`` does. All other variables
        are summed out.

        probability : also find ln P(state | evidence)
        options : options of ``gibbsite map``; method is "auto"

        >>> import gibbsite as gb
        >>> found = gb.read("examples/sprinkler.bif").mmap("rain", evidence={"grass": "wet"}, probability=True)
        >>> found, round(found.log_probability, 4)
        (rain=no (ln weight -1.212, ln P -0.431075, optimal), -0.4311)
        """
        asked = self._asked(names, variables)

        def make(found):
            states, about = found
            optimal = about["stop"] == "exact" or about["log_p"] >= about["log_bound"]
            about = {**about, "log_density": about["log_p"], "digest": self.digest, "optimal": optimal}
            return State([self.names[v] for v in asked], lambda i: self._labels(asked[i]), np.asarray(states), about)
        found = _ask(make, _core.mmap, self._core, self._evidence(evidence, likelihood), options=options, after=(asked,))
        return found.with_log_z(self.logz(evidence, likelihood, **options)) if probability else found

    def map_query(self, *names: Names, variables: Names = None, evidence: Evidence = None, likelihood: Likelihood = None,
                  **options: Any) -> State:
        """The MAP query of pgmpy: ``mmap()`` of the named variables, or ``map()`` if no variable is named."""
        if names or variables is not None:
            return self.mmap(*names, variables=variables, evidence=evidence, likelihood=likelihood, **options)
        return self.map(evidence, likelihood, **options)

    def sample(self, draws: int = 1000, *names: Names, variables: Names = None, evidence: Evidence = None,
               likelihood: Likelihood = None, observables: bool = False, **options: Any) -> Draws:
        """Return draws of the named variables, or of all variables: ``draws`` from each chain. Draws are independent if junction
        trees fit into memory.

        observables : for spin and Potts models, also keep ``observables``, as ``query()`` does
        options : options of ``gibbsite sample``; ``chains`` is 4 if it is not given
        """
        asked = self._asked(names, variables) or list(range(len(self)))
        sweeps = whole(draws, "draws") * whole(options.get("thin", 1), "thin", 1)
        options = {"chains": 4, "sweeps": sweeps, **options}

        def make(found):
            states, density = map(np.asarray, found["draws"])
            return Draws([self.names[v] for v in asked], [self._labels(v) for v in asked], states, density, _summary(found))
        return _warn(_ask(make, _core.run, self._core, self._evidence(evidence, likelihood), options=options,
                          after=(asked, None, observables)))

    def exact_samples(self, draws: int = 1000, *names: Names, variables: Names = None, evidence: Evidence = None,
                      likelihood: Likelihood = None, **options: Any) -> Draws:
        """Return independent draws by junction trees. Raises Error if the trees do not fit into memory."""
        options = {"method": "exact", "chains": 1, **options}
        return self.sample(draws, *names, variables=variables, evidence=evidence, likelihood=likelihood, **options)

    def query_table(self, table: Any, *names: Names, variables: Names = None, evidence: Evidence = None,
                    **options: Any) -> Cases:
        """Return P(variable = state | case) for each row of a table of cases.

        table : a table as in ``fit()``. A file is read as by ``marginals --cases``; the options states="numbers" and strict=True
            apply
        names, variables : queried variables; if none are given, the variables without a column
        """
        columns, n, states, _ = model_data(self, table, **options_of_tables(options))
        query = self._asked(names, variables) or [v for v in range(len(self)) if v not in set(columns)]
        rows = table.index if hasattr(table, "columns") and hasattr(table, "index") else None
        offsets = np.concatenate([[0], np.cumsum([len(self._labels(v)) for v in query])])

        def make(found):
            about = {k: np.asarray(x) if k != "exact" else x for k, x in found.items()}
            return Cases([self.names[v] for v in query], [self._labels(v) for v in query], offsets, about, rows)
        return _ask(make, _core.cases, self._core, self._evidence(evidence, None), options=options,
                    after=(columns, query, n, states))

    def influences(self, evidence: Evidence = None, *, influence: str = "auto", **options: Any) -> Influences:
        """Bound how much the conditional distribution of a variable changes with another variable.

        influence : "exact" by enumeration of neighbours' states, "bound" from factors, "auto"
        options : memory_limit

        >>> import gibbsite as gb
        >>> found = gb.ising((3, 3), 0.1).influences()
        >>> round(found["0", "1"], 4), found.dobrushin
        (0.0987, True)
        """
        pairs = sorted({(a, b) for f in range(self.n_factors) for scope in [self._core.factor(f)[1]] for a in scope
                        for b in scope if a != b})
        i, j = (np.array([p[k] for p in pairs], np.int64) for k in (0, 1))
        return _answer(lambda found: Influences(self, i, j, np.asarray(found[0]), found[1]),
                       _core.influences(self._core, self._evidence(evidence, None), options, influence, i.tolist(), j.tolist()))

    def certify(self, evidence: Evidence = None, accuracy: float = 0.01,
                weights: Mapping[Name, float] | Iterable[Name] | None = None, *, steps: Sequence[int] = (),
                influence: str = "auto", influences: Given = None, **options: Any) -> Certificate:
        """Bound how far chains with these options are from the model, from any start, as ``gibbsite certify`` does.

        accuracy : variation to reach. With weights of 0 and 1 it is a bound on the total variation distance
        weights : {name: weight} of the variables that matter, or names; if it is not given, all variables have weight 1
        steps : ascending numbers of updates after which the variation is computed
        influence : as in ``influences()``
        influences : C itself instead of computed influences: an array [variables, variables] of numbers from 0 to 1, row i,
            column j the influence of j on i; an ``Influences``; or the path of a Matrix Market file. The bounds hold if no
            entry is below the influence in the model
        options : scan (a name, a ``Scan``, or a sequence of numbers of variables), origin, memory_limit

        >>> import gibbsite as gb
        >>> found = gb.ising((3, 3), 0.1).certify(steps=[9, 18], scan="systematic")
        >>> found.dobrushin, found.passes, len(found.variation)
        (True, 4, 2)
        """
        steps = [whole(k, "steps") for k in steps]

        def make(about):
            arrays = {k: np.asarray(about[k]) for k in ("variation", "total_variation", "functions")}
            return Certificate({**about, **arrays, "accuracy": accuracy, "steps": steps})
        return _answer(make, _core.certify(self._core, self._evidence(evidence, None), _with_scan(options), self._how(influence, influences),
                                           self._weights(weights), real(accuracy, "accuracy"), steps))

    def couplings(self, passes: Sequence[int] = (1, 2, 5, 10, 20, 50, 100), evidence: Evidence = None,
                  weights: Mapping[Name, float] | Iterable[Name] | None = None, *, pairs: int = 64, lag: int = 0,
                  sweeps: int = 1000, **options: Any) -> Couplings:
        """Estimate how far chains are from the model after numbers of passes, as ``gibbsite certify --couplings`` does. The
        estimates come from pairs of chains that are coupled so that they meet. They can show that chains are too short. They
        never prove that chains are long enough, because pairs that begin in one mode meet at once.

        passes : numbers of passes
        weights : the variables whose joint distribution is compared, as in ``certify()``; if it is not given, all variables
        pairs : number of pairs of chains, 2 to 65536
        lag : number of passes by which the first chain of a pair is ahead; 0: chosen from 16 further pairs
        sweeps : number of passes after which a pair that has not met is abandoned
        options : scan (as in ``certify()``), origin, seed, threads, memory_limit

        >>> import gibbsite as gb
        >>> found = gb.ising((3, 3), 0.1).couplings([1, 20], seed=1)
        >>> found.met == found.pairs, bool(found.joint[0] > found.joint[1])
        (True, True)
        """
        passes = [whole(k, "passes") for k in passes]

        def make(about):
            worst = [self.names[v] if v < len(self.names) else None for v in np.asarray(about["worst"]).tolist()]
            arrays = {k: np.asarray(about[k]) for k in ("joint", "joint_mcse", "variable", "variable_mcse")}
            each = np.asarray(about["each"]).reshape(len(passes), -1)
            return Couplings({**about, **arrays, "each": each, "worst": worst, "passes": passes})
        return _answer(make, _core.couplings(self._core, self._evidence(evidence, None), _with_scan(options), self._weights(weights), passes,
                                             whole(pairs, "pairs"), whole(lag, "lag"), whole(sweeps, "sweeps")))

    def optimise_scan(self, updates: int = 0, evidence: Evidence = None, accuracy: float = 0.01,
                      weights: Mapping[Name, float] | Iterable[Name] | None = None, *, match: int = 0, iterate: bool = True,
                      influence: str = "auto", influences: Given = None, **options: Any) -> Scan:
        """Find an order of updates with a smaller bound than the systematic scan's (DoGS), as ``gibbsite scan`` does. The order
        has a given number of updates, or as many updates as the accuracy needs, or is as good as ``match`` updates of the
        systematic scan.

        accuracy : variation to reach; 0: as small as possible
        weights, influence, influences : as in ``certify()``
        iterate : improve the scan again until its variation no longer falls
        options : scan (the scan that is improved, as in ``certify()``; "random" draws each variable uniformly, as in the
            paper), origin, memory_limit

        Raises Error with status "unsupported" if no scan is good enough.

        >>> import gibbsite as gb
        >>> gb.ising((3, 3), 0.1).optimise_scan(accuracy=0.1, weights=["4"]).bound <= 0.1
        True
        """
        how = self._how(influence, influences)
        found = _core.scan(self._core, self._evidence(evidence, None), _with_scan(options), how, self._weights(weights),
                           whole(updates, "updates"), 0.0 if match else real(accuracy, "accuracy"), whole(match, "match"),
                           bool(iterate))
        return _answer(lambda found: Scan(self, np.asarray(found[0]), found[1]), found)

    scan = optimise_scan

    def sensitivity(self, query: Mapping[Name, str | int] | str, evidence: Evidence = None, likelihood: Likelihood = None,
                    **options: Any) -> Sensitivities:
        """Find how P(query | evidence) changes with every parameter of the model, as ``gibbsite sensitivity`` does.

        query : {name: state} or "name=state"
        options : options of ``gibbsite sensitivity``: method, target_error, sweeps, chains, seed, time, ...

        Raises as query() does. Warns NotConverged.

        >>> import gibbsite as gb
        >>> found = gb.read("examples/clinic.bif").sensitivity({"cold": "yes"}, evidence={"fever": "yes"})
        >>> round(found.p, 6) == round(found.at(found.value)[0], 6), found.exact
        (True, True)
        """
        if isinstance(query, str):
            name, _, state = query.partition("=")
            query = {name.strip(): state.strip()}
        if len(query) != 1:
            raise ValueError(f"expected one state of one variable, found {len(query)}")
        (asked, wanted), = query.items()
        v = self._find(asked)
        return _warn(_ask(lambda about: Sensitivities(self, about), _core.sensitivity, self._core,
                          self._evidence(evidence, likelihood), options=options, after=(v, self._find_state(v, wanted))))

    # ---- learning ----------------------------------------------------------------------------

    def fit(self, data: Table, *, prior: str | None = None, held_out: Any = None, weights: Any = None, level: float = 0.95,
            **options: Any) -> Fit:
        """Estimate the tables of a Bayesian network from data, as ``gibbsite fit`` does: by EM if values are missing.

        data : a DataFrame, a dict of columns, a list of dicts, an array [rows, variables] of numbers of states (below 0, NaN:
            missing), draws, or the path of a table, for which the options states="numbers" and strict=True hold. A number means
            its text: 1, 1.0 and True are the state "1". None, NaN, "", NA, ? and similar texts are missing values. Variables
            without a column are missing, too. Columns that are not variables are left out with a warning
        prior : "none", "bdeu:10" (equivalent sample size) or "dirichlet:1" (alpha)
        held_out : rows whose log-likelihood is reported, or a share of the rows, 0.2 or "20%"
        weights : the name of a column, or a weight of each row
        level : probability that an interval covers
        options : options of ``gb.options("fit")``: method, iterations, tolerance, time, ...

        Raises Error with status "impossible" for a row of probability 0 in EM, ArgumentError if the model is not a network of
        tables. Warns NotConverged.

        >>> import gibbsite as gb
        >>> found = gb.read("examples/sprinkler.bif").fit("examples/sprinkler.csv")
        >>> found.n_rows, found.converged, found.table("rain")["probability"].shape
        (60, True, (2,))
        """
        if prior is not None:
            name, colon, weight = prior.partition(":")
            options = {"prior": name, **({"prior_weight": weight} if colon else {}), **options}
        rows, judged = split(self, data, held_out, weights, **options_of_tables(options))
        return _warn(_ask(Fit, _core.fit, self._core, rows, judged, real(level, "level"), options=options))

    def learn_weights(self, data: Table, *, held_out: Any = None, weights: Any = None, errors: bool = True,
                      curve: bool = False, **options: Any) -> LearntWeights:
        """Learn the tied weights of the model from data, as ``gibbsite learn weights`` does.

        data, held_out, weights : as in ``fit()``; the pseudo-likelihood needs a column for each variable, and no missing values
        errors : find standard errors
        curve : keep the objective of every iteration
        options : options of ``gb.options("learn weights")``: objective, l2, l1, iterations, ...

        Raises ArgumentError for a model without weights. Warns NotConverged.

        >>> import gibbsite as gb
        >>> found = gb.read("examples/friends.gbm").learn_weights("examples/friends.csv")
        >>> found.converged, len(found.weights) == len(found.errors)
        (True, True)
        """
        complete = str(options.get("objective", "pseudo")) == "pseudo"
        rows, judged = split(self, data, held_out, weights, complete, **options_of_tables(options))
        return _warn(_ask(LearntWeights, _core.learn_weights, self._core, rows, judged, bool(errors), bool(curve),
                          options=options))

    def _weights(self, weights):
        if weights is None:
            return None
        numbers = [0.0] * len(self)
        for name, x in (weights.items() if isinstance(weights, Mapping) else ((n, 1.0) for n in weights)):
            numbers[self._find(name)] = real(x, "weights")
        return numbers

    def _how(self, influence, given):
        if given is None:
            return influence
        if influence != "auto":
            raise ValueError("influence is how influences are computed, influences are given: expected one of the two")
        if isinstance(given, (str, os.PathLike)):
            return (os.fspath(given),)
        if isinstance(given, Influences):
            return given.i.tolist(), given.j.tolist(), given.value.tolist()
        matrix = np.asarray(given, np.float64)
        if matrix.shape != (len(self), len(self)):
            raise ValueError(f"influences: found an array of shape {matrix.shape}, expected {(len(self), len(self))}")
        i, j = np.nonzero(matrix)
        return i.tolist(), j.tolist(), matrix[i, j].tolist()

    def log_density(self, states: Mapping[Name, str | int] | Sequence[int]) -> float:
        """Return ln of the unnormalised probability of a state: {name: state}, or numbers of all states."""
        if isinstance(states, Mapping):
            by_number = {self._find(n): s for n, s in states.items()}
            states = [self._find_state(v, by_number[v]) for v in range(len(self))]
        return self._core.log_density([whole(s, "states") for s in states])

    def plot(self, *names: Names, evidence: Evidence = None) -> Drawing:
        """Draw the graph of the model: an arrow from each parent to its child, or a line between variables of a factor.
        ``answer.plot()`` draws the probabilities of an answer in the nodes.

        names : variables to draw together with their neighbours; all variables if no names are given
        evidence : observations, whose variables get a thick frame

        >>> import gibbsite as gb
        >>> m = gb.read("examples/sprinkler.bif")
        >>> m.plot().svg[:4], m.query(evidence={"grass": "wet"}).plot().svg.count('class="bar"')
        ('<svg', 6)
        """
        query = self._asked(names) if names else None
        return Drawing(_core.draw(self._core, self._evidence(evidence, None), None, None, query))

    def info(self, evidence: Evidence = None, **options: Any) -> dict[str, Any]:
        """Return a dict with properties of the model and the cost of exact answers."""
        return _core.info(self._core, self._evidence(evidence, None), options)

    def __repr__(self):
        return f"<gibbsite.Model: {len(self)} variables, {self.n_factors} factors>"

    def _repr_html_(self):
        i = self.info()
        rows = [("variables", i["variables"]), ("factors", i["factors"]), ("states of a variable, at most", i["largest_arity"]),
                ("width", i["width"]), ("answers", f"exact, in about {max(i['exact_seconds'], 0.001):.2g} s" if i["exact"] else
                                        "by sampling"), ("digest", self.digest)]
        table = "".join(f"<tr><th>{k}</th><td>{html.escape(str(x))}</td></tr>" for k, x in rows)
        return f"{shown(self.plot, len(self))}<table>{table}</table>"


def _summary(found):
    if not found["summary"]:
        return {"method": "exact", "converged": True, "verdict": "exact"}
    return {**json.loads(found["summary"]), "stopped": found["stopped"]}


def _unpickle(data, seen=None):
    model = loads(data, "gbm")
    model._seen = seen or {}
    return model
