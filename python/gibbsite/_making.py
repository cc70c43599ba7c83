# SPDX-License-Identifier: Apache-2.0
"""Models that are ground from Markov logic, or generated from a seed."""
from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from . import _core
from ._data import is_path
from ._model import Model, _ask
from ._results import Report
from ._text import MOST, whole


class Grounding(Report):
    """A program of Markov logic over a database; see gibbsite/ground.h. ``model`` is the factor graph.

    n_formulas, n_facts, n_instances, n_groundings, n_merged, n_factors, n_tables, n_atoms, n_variables, n_similar : counts
    """

    model: Model
    n_formulas: int
    n_facts: int
    n_instances: float
    n_groundings: int
    n_merged: int
    n_factors: int
    n_tables: int
    n_atoms: float
    n_variables: int
    n_similar: int

    def __init__(self, about: dict[str, Any]):
        for text in about["warnings"]:
            warnings.warn(text, stacklevel=3)
        super().__init__({k: x for k, x in about.items() if k not in ("model", "warnings")})
        self.model = Model._of(about["model"])

    @property
    def verdict(self) -> str:
        return f"{self.n_variables} variables, {self.n_factors} factors"

    def _shown(self):
        return [("formulas", self.n_formulas), ("facts", self.n_facts), ("groundings", f"{self.n_instances:.0f}"),
                ("decided by the database", f"{self.n_instances - self.n_groundings:.0f}")]


def _text(source, name):
    """Returns (name, None) of a file, or (name, bytes)."""
    if is_path(source):
        return os.fspath(source), None
    text = source if isinstance(source, bytes) else "".join(f"{line}\n" for line in source).encode()
    return name, text


def _read(pair):
    if pair[1] is not None:
        return pair
    with open(pair[0], "rb") as file:
        return pair[0], file.read()


def _list(names):
    return names if names is None or isinstance(names, str) else ",".join(names)


def ground(program: Any, database: Any, *, query_predicates: str | Iterable[str] | None = None,
           similarity: str | Iterable[str] | None = None, **options: Any) -> Grounding:
    """Ground a program of Markov logic over a database (Richardson & Domingos 2006), as ``gibbsite ground`` does.

    program, database : paths of files in the syntax of Alchemy, or lists of their lines, or bytes
    query_predicates : names of predicates whose atoms are variables; if there are none, the predicates without a fact
    similarity : names of predicates that are computed from the words of names
    options : time, memory_limit

    Raises Error with ``FILE:LINE:COLUMN`` for a text that cannot be read or contradicts itself.

    >>> import gibbsite as gb
    >>> found = gb.ground("examples/smokers.mln", "examples/smokers.db")
    >>> found.n_formulas, len(found.model) == found.n_variables
    (4, True)
    >>> gb.ground(["person = {A, B}", "Smokes(person)", "1.5 Smokes(x)"], ["Smokes(A)"], query_predicates="Smokes").n_variables
    1
    """
    rules, facts = _text(program, "program"), _text(database, "database")
    if rules[1] is not None or facts[1] is not None:
        rules, facts = _read(rules), _read(facts)
    return _ask(Grounding, _core.ground, *rules, *facts, _list(query_predicates), _list(similarity), options=options)


def generate(kind: str, *, grid: Sequence[int] | str | None = None, states: int | Sequence[int] | str | None = None,
             **options: Any) -> Model:
    """Make a random model from a seed, as ``gibbsite generate`` does. Equal seeds give equal models on every machine.

    kind : "ising", "potts" (grid), "ring", "complete", "regular", "powerlaw", "rbm", "bayes"
    grid : (rows, columns) or (rows, columns, layers), or as text "8x8"
    states : number of states for "potts"; (fewest, most) for "bayes"
    options : options of ``gb.options("generate ising")`` or of another kind: variables, coupling, field, seed, ...

    Raises ArgumentError (a ValueError) for impossible arguments.

    >>> import gibbsite as gb
    >>> gb.generate("ising", grid=(3, 4), seed=2)
    <gibbsite.Model: 12 variables, 17 factors>
    """
    given: Any = [int(x) for x in grid.lower().split("x")] if isinstance(grid, str) else grid if grid is not None else ()
    sides = [whole(x, "grid", 0, MOST) for x in given]
    if grid is not None and (not 2 <= len(sides) <= 3 or min(sides) < 1):
        raise ValueError(f"grid: found {grid!r}, expected two or three sides, such as (20, 30)")
    words: Any = [int(x) for x in states.split(":")] if isinstance(states, str) else () if states is None else states
    counts = [whole(x, "states", 0, MOST) for x in (words if isinstance(words, Iterable) else (words,))]
    if len(counts) > 2 or any(x < 1 for x in counts) or counts != sorted(counts):
        raise ValueError(f"states: found {states!r}, expected a number or (fewest, most)")
    for name, there, kinds in (("grid", sides, ("ising", "potts")), ("states", counts, ("potts", "bayes"))):
        if bool(there) != (kind in kinds):
            raise TypeError(f"generate {kind}: {name} {'is missing' if kind in kinds else 'does not apply'}")
    if kind == "potts" and len(counts) != 1:
        raise ValueError(f"states: found {states!r}, expected one number")
    return Model._of(_core.generate(kind, (*sides, *(1,) * (3 - len(sides))) if sides else (0, 0, 0),
                                    (counts[0], counts[-1]) if counts else (0, 0), options))
