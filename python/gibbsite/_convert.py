# SPDX-License-Identifier: Apache-2.0
"""Models from arrays, and from the objects of other libraries, which are not imported: what they have is asked for."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._model import Model


def _spins(n, names, fields, i, j, couplings, potts_states=None):
    b = _core.Builder()
    b.add(np.full(n, potts_states or 2, np.uint32))
    for v, name in enumerate(names or ()):
        b.name(v, str(name))
    if fields is not None:
        b.fields(np.ascontiguousarray(fields, np.float64).ravel())
    b.couplings(potts_states is not None, np.ascontiguousarray(i, np.uint32), np.ascontiguousarray(j, np.uint32),
                np.ascontiguousarray(couplings, np.float64))
    return Model._of(b.build(False))


def _grid(shape, torus):
    """The pairs of neighbours of a grid of any number of dimensions."""
    sites = np.arange(int(np.prod(shape)), dtype=np.uint32).reshape(shape)
    i, j, axis = [], [], []
    for d, side in enumerate(shape):
        near = [np.moveaxis(sites, d, 0)[:-1].ravel(), np.moveaxis(sites, d, 0)[1:].ravel()]
        if torus and side > 2:
            near = [np.concatenate([near[0], np.moveaxis(sites, d, 0)[-1].ravel()]),
                    np.concatenate([near[1], np.moveaxis(sites, d, 0)[0].ravel()])]
        i.append(near[0])
        j.append(near[1])
        axis.append(np.full(len(near[0]), d))
    return np.concatenate(i), np.concatenate(j), np.concatenate(axis)


def _sides(shape: int | Sequence[int]) -> tuple[int, ...]:
    return tuple(int(side) for side in np.atleast_1d(np.asarray(shape)))


def _of_pairs(couplings, n, axis):
    """One number, one for each axis, or one for each pair."""
    x = np.asarray(couplings, np.float64)
    if x.ndim == 0:
        return np.full(n, float(x))
    if x.shape == (n,):
        return x
    if x.ndim == 1 and axis is not None and len(x) == int(axis.max(initial=0)) + 1:
        return x[axis]
    raise ValueError(f"expected one coupling, one for each axis, or {n}, found the shape {x.shape}")


def ising(shape: int | Sequence[int], coupling: npt.ArrayLike, field: npt.ArrayLike = 0.0, torus: bool = False) -> Model:
    """Spins -1 and +1, states 0 and 1, on a grid: weight exp(sum of J s s' + sum of h s).

    shape : sides of the grid; coupling : one number, one for each axis, or one for each pair; field : a number or an array
    """
    sides = _sides(shape)
    i, j, axis = _grid(sides, torus)
    n = int(np.prod(sides))
    return _spins(n, None, np.broadcast_to(np.asarray(field, np.float64), sides if np.ndim(field) else (n,)), i, j,
                  _of_pairs(coupling, len(i), axis))


def potts(shape: int | Sequence[int], states: int, coupling: npt.ArrayLike, torus: bool = False) -> Model:
    """Variables of ``states`` states on a grid: weight exp(sum of J [x = x'])."""
    sides = _sides(shape)
    i, j, axis = _grid(sides, torus)
    return _spins(int(np.prod(sides)), None, None, i, j, _of_pairs(coupling, len(i), axis), int(states))


def from_arrays(couplings: Any, fields: npt.ArrayLike | None = None, names: Sequence[str] | None = None,
                states: int | None = None) -> Model:
    """Spins from a matrix J, dense, of SciPy, or as (indptr, indices, data) of CSR; each pair once, or both halves alike.

    fields : [n] h of each spin; states : their number where variables are Potts variables with J [x = x']
    """
    if isinstance(couplings, tuple):
        indptr, indices, data = (np.asarray(x) for x in couplings)
        n = len(indptr) - 1
        i, j, x = np.repeat(np.arange(n), np.diff(indptr)), indices, data
    elif hasattr(couplings, "tocoo"):
        coo = couplings.tocoo()
        n, i, j, x = coo.shape[0], coo.row, coo.col, coo.data
    else:
        dense = np.asarray(couplings, np.float64)
        if dense.ndim != 2 or dense.shape[0] != dense.shape[1]:
            raise ValueError(f"expected a square matrix, found the shape {dense.shape}")
        n = len(dense)
        i, j = np.nonzero(dense)
        x = dense[i, j]
    if np.any(i == j):
        raise ValueError("the diagonal must be zero: fields are an argument of their own")
    pairs: dict[tuple[int, int], float] = {}
    for a, b, v in zip(i.tolist(), j.tolist(), np.asarray(x, np.float64).tolist()):
        key = (min(a, b), max(a, b))
        if pairs.setdefault(key, v) != v:
            raise ValueError(f"the couplings of {key[0]} and {key[1]} differ in the two halves of the matrix")
    keys = np.array(sorted(pairs), np.uint32).reshape(-1, 2)
    return _spins(n, names, fields, keys[:, 0], keys[:, 1], np.array([pairs[a, b] for a, b in keys.tolist()], np.float64),
                  states)


def from_tables(arities: Sequence[int], tables: Sequence[tuple[Sequence[int], npt.ArrayLike]],
                names: Sequence[str] | None = None) -> Model:
    """A model from arrays alone: the number of states of each variable, and (variables, weights) of each factor.

    tables : pairs of a sequence of numbers of variables and an array of weights of at least 0, an axis for each of them
    """
    b = _core.Builder()
    states = np.ascontiguousarray(arities, np.uint32)
    b.add(states)
    for v, name in enumerate(names or ()):
        b.name(v, str(name))
    for variables, table in tables:
        weights = np.ascontiguousarray(table, np.float64)
        scope = np.asarray(variables, np.int64).reshape(-1)
        if scope.size and not (0 <= scope.min() and scope.max() < len(states)):
            raise IndexError(f"there are variables 0 to {len(states) - 1}, found {scope.tolist()}")
        if weights.shape != tuple(states[scope]):
            raise ValueError(f"the table of {scope.tolist()} has the shape {weights.shape}, expected {tuple(states[scope])}")
        b.factor(scope.astype(np.uint32), weights)
    return Model._of(b.build(False))


def from_networkx(graph: Any, coupling: str = "weight", field: str = "field", states: int | None = None) -> Model:
    """Spins on the nodes of a graph; edges have their coupling as an attribute (1 without), nodes their field."""
    nodes = list(graph.nodes)
    place = {node: k for k, node in enumerate(nodes)}
    edges = [(place[a], place[b], float(d.get(coupling, 1.0))) for a, b, d in graph.edges(data=True) if a != b]
    i, j, x = (np.array([e[k] for e in edges]) for k in range(3))
    h = [float(graph.nodes[node].get(field, 0.0)) for node in nodes]
    return _spins(len(nodes), nodes, None if states else h, i.astype(np.uint32), j.astype(np.uint32), x, states)


def from_dimod(bqm: Any, beta: float = 1.0) -> Model:
    """The Boltzmann distribution exp(-beta E) of a binary quadratic model: spins, or bits 0 and 1."""
    variables = list(bqm.variables)
    place = {v: k for k, v in enumerate(variables)}
    m = Model()
    is_spin = getattr(bqm.vartype, "name", str(bqm.vartype)) == "SPIN"
    value = (-1.0, 1.0) if is_spin else (0.0, 1.0)
    for v in variables:
        m.add(v, [str(int(x)) for x in value])
    for v in variables:
        energy = np.array([float(bqm.linear[v]) * x for x in value])
        m.factor([v], np.exp(-beta * (energy - energy.min())))
    for (a, b), q in bqm.quadratic.items():
        energy = np.array([[float(q) * x * y for y in value] for x in value])
        m.factor([variables[place[a]], variables[place[b]]], np.exp(-beta * (energy - energy.min())))
    return m


def from_pgmpy(network: Any) -> Model:
    """A Bayesian network or Markov network of pgmpy."""
    if hasattr(network, "get_cpds"):
        m = Model()
        waiting = {cpd.variable: cpd for cpd in network.get_cpds()}
        while waiting:
            ready = [v for v, cpd in waiting.items() if all(p not in waiting for p in cpd.variables[1:])]
            if not ready:
                raise ValueError("the network has a cycle, or a variable without a table")
            for v in ready:
                cpd = waiting.pop(v)
                table = np.asarray(cpd.values, np.float64)
                m.add(v, [str(s) for s in cpd.state_names[v]], parents=cpd.variables[1:], p=np.moveaxis(table, 0, -1))
        return m
    m, factors = Model(), list(network.get_factors())
    for f in factors:
        for v, n in zip(f.variables, np.shape(f.values)):
            if str(v) not in m._made_names:
                names = getattr(f, "state_names", {}).get(v, range(n))
                m.add(v, [str(s) for s in names])
    for f in factors:
        m.factor(f.variables, f.values)
    return m


def from_pyagrum(network: Any) -> Model:
    """A Bayesian network of pyAgrum."""
    m = Model()
    for node in network.topologicalOrder():
        variable, table = network.variable(node), network.cpt(node)
        # the table's array has the child last and its parents in the reverse order of its names
        parents = list(table.names)[1:] if not hasattr(table, "var_names") else list(table.var_names)[:-1]
        values = np.asarray(table.toarray() if hasattr(table, "toarray") else table[:], np.float64)
        if not hasattr(table, "var_names"):
            parents = parents[::-1]
        m.add(variable.name(), [variable.label(k) for k in range(variable.domainSize())], parents=parents, p=values)
    return m
