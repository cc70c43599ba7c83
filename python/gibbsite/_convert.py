# SPDX-License-Identifier: Apache-2.0
"""Makes models from arrays and from objects of other libraries. These libraries are not imported: only attributes of the objects
are used."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._model import Model
from ._text import MOST, real, reals, text, whole, wholes


def _names(b, names):
    for v, name in enumerate(names or ()):
        b.name(v, text(name))


def _pairs(i, j, x):
    """Checks pairs of variables and their numbers, and converts them to arrays for C."""
    return wholes(i, "numbers of variables"), wholes(j, "numbers of variables"), reals(x, "couplings")


def _spins(n, names, fields, i, j, couplings, potts_states=None):
    """Adds spins, each with a field, or Potts variables with a log-weight for each state."""
    b = _core.Builder()
    b.add(np.full(n, potts_states or 2, np.uint32))
    _names(b, names)
    if fields is not None:
        h = reals(fields, "fields")
        if potts_states is None:
            b.fields(h.ravel())
        elif h.shape != (n, potts_states):
            raise ValueError(f"fields of Potts variables are log-weights [{n} variables, {potts_states} states], found the shape "
                             f"{h.shape}")
        else:
            for v in np.flatnonzero(h.any(axis=1)).tolist():
                b.log_factor(np.array([v], np.uint32), h[v])
    b.couplings(potts_states is not None, *_pairs(i, j, couplings))
    return Model._of(b.build(False))


def _grid(shape, torus):
    """Returns the pairs of neighbours of a grid of any number of dimensions."""
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
    return tuple(wholes(shape, "shape", 1).reshape(-1).tolist())


def _of_pairs(couplings, n, axis):
    """Makes an array with a number for each pair from one number, one for each axis, or one for each pair."""
    x = reals(couplings, "coupling")
    if x.ndim == 0:
        return np.full(n, float(x))
    if x.shape == (n,):
        return x
    if x.ndim == 1 and axis is not None and len(x) == int(axis.max(initial=0)) + 1:
        return x[axis]
    raise ValueError(f"expected one coupling, one for each axis, or {n}, found the shape {x.shape}")


def ising(shape: int | Sequence[int], coupling: npt.ArrayLike, field: npt.ArrayLike = 0.0, torus: bool = False) -> Model:
    """Make spins -1 and +1, which are states 0 and 1, on a grid: weight exp(sum of J s s' + sum of h s).

    shape : sides of the grid; coupling : one number, one for each axis, or one for each pair; field : a number or an array
    """
    sides = _sides(shape)
    i, j, axis = _grid(sides, torus)
    n = int(np.prod(sides))
    return _spins(n, None, np.broadcast_to(reals(field, "field"), sides if np.ndim(field) else (n,)), i, j,
                  _of_pairs(coupling, len(i), axis))


def potts(shape: int | Sequence[int], states: int, coupling: npt.ArrayLike, torus: bool = False) -> Model:
    """Make variables of ``states`` states on a grid: weight exp(sum of J [x = x'])."""
    sides = _sides(shape)
    i, j, axis = _grid(sides, torus)
    return _spins(int(np.prod(sides)), None, None, i, j, _of_pairs(coupling, len(i), axis), whole(states, "states", 1, MOST))


def from_arrays(couplings: Any, fields: npt.ArrayLike | None = None, names: Sequence[str] | None = None,
                states: int | None = None) -> Model:
    """Make spins from a matrix J: dense, of SciPy, or (indptr, indices, data) of CSR. J has each pair once, or has two equal halves.

    fields : [n] h of each spin; states : number of states of Potts variables with J [x = x']; their fields are [n, states]
        log-weights
    """
    states = None if states is None else whole(states, "states", 1, MOST)
    if isinstance(couplings, tuple):
        indptr, indices, data = (np.asarray(x) for x in couplings)
        n = len(indptr) - 1
        i, j, x = np.repeat(np.arange(n), np.diff(indptr)), indices, data
    elif hasattr(couplings, "tocoo"):
        coo = couplings.tocoo()
        n, i, j, x = coo.shape[0], coo.row, coo.col, coo.data
    else:
        dense = reals(couplings, "couplings")
        if dense.ndim != 2 or dense.shape[0] != dense.shape[1]:
            raise ValueError(f"expected a square matrix, found the shape {dense.shape}")
        n = len(dense)
        i, j = np.nonzero(dense)
        x = dense[i, j]
    i, j, x = _pairs(i, j, x)
    if np.any(i == j):
        raise ValueError("the diagonal must be zero: fields are an argument of their own")
    i, j, x = _halves(i, j, x)
    return _spins(n, names, fields, i, j, x, states)


def _halves(i, j, x):
    """Returns one entry for each pair. Repeated entries are summed, as in SciPy; the two halves of a matrix must be equal."""
    entries: dict[tuple[int, int], float] = {}
    for a, b, v in zip(i.tolist(), j.tolist(), x.tolist()):
        entries[a, b] = entries.get((a, b), 0.0) + v
    pairs: dict[tuple[int, int], float] = {}
    for (a, b), v in entries.items():
        key = (min(a, b), max(a, b))
        if pairs.setdefault(key, v) != v:
            raise ValueError(f"the couplings of {key[0]} and {key[1]} differ in the two halves of the matrix")
    keys = np.array(sorted(pairs), np.uint32).reshape(-1, 2)
    return keys[:, 0], keys[:, 1], np.array([pairs[a, b] for a, b in keys.tolist()], np.float64)


def from_tables(arities: Sequence[int], tables: Sequence[tuple[Sequence[int], npt.ArrayLike]],
                names: Sequence[str] | None = None) -> Model:
    """Make a model from the number of states of each variable, and (variables, weights) of each factor.

    tables : pairs of a sequence of numbers of variables and an array of weights of at least 0, with an axis for each variable
    """
    b = _core.Builder()
    states = wholes(arities, "numbers of states").reshape(-1)
    b.add(states)
    _names(b, names)
    for variables, table in tables:
        weights = reals(table, "weights")
        scope = wholes(variables, "variables").reshape(-1)
        if scope.size and scope.max() >= len(states):
            raise IndexError(f"there are variables 0 to {len(states) - 1}, found {scope.tolist()}")
        if weights.shape != tuple(states[scope]):
            raise ValueError(f"the table of {scope.tolist()} has the shape {weights.shape}, expected {tuple(states[scope])}")
        b.factor(scope, weights)
    return Model._of(b.build(False))


def from_networkx(graph: Any, coupling: str = "weight", field: str = "field", states: int | None = None) -> Model:
    """Make spins on the nodes of a graph. Attributes of edges are couplings (1 if absent), attributes of nodes are fields.

    states : number of states if nodes are Potts variables; their fields are sequences of log-weights, one for each state

    Couplings of parallel edges are added. In a directed graph, the edges in both directions must be equal, and count as one edge.
    """
    nodes = list(graph.nodes)
    place = {node: k for k, node in enumerate(nodes)}
    states = None if states is None else whole(states, "states", 1, MOST)
    edges = [(place[a], place[b], real(d.get(coupling, 1.0), "couplings")) for a, b, d in graph.edges(data=True)]
    loop = next((a for a, b, _ in edges if a == b), None)
    if loop is not None:
        raise ValueError(f"found an edge from {nodes[loop]!r} to itself, expected two nodes; a field is an attribute of its node")
    none = np.zeros(() if states is None else states)
    h = [reals(graph.nodes[node].get(field, none), f"the field of {node!r}") for node in nodes]
    wrong = next((node for node, x in zip(nodes, h) if x.shape != none.shape), None)
    if wrong is not None:
        what = "a number" if states is None else f"{states} log-weights, one for each state"
        raise ValueError(f"found a field of the shape {h[place[wrong]].shape} at {wrong!r}, expected {what}")
    i, j, x = _pairs([e[0] for e in edges], [e[1] for e in edges], [e[2] for e in edges])
    if graph.is_directed():
        i, j, x = _halves(i, j, x)
    return _spins(len(nodes), nodes, np.array(h), i, j, x, states)


def from_dimod(bqm: Any, beta: float = 1.0, offset: float = 0.0) -> Model:
    """Make the Boltzmann distribution exp(-beta E) of a binary quadratic model of spins, or of bits 0 and 1.

    offset : a constant that is added to the energy of the model
    """
    variables = list(bqm.variables)
    place = {v: k for k, v in enumerate(variables)}
    kind = getattr(bqm.vartype, "name", str(bqm.vartype))
    if kind not in ("SPIN", "BINARY"):
        raise ValueError(f"found the vartype {kind}, expected SPIN or BINARY")
    b = _core.Builder()
    b.add(np.full(len(variables), 2, np.uint32))
    _names(b, variables)
    for k in range(len(variables)):
        b.labels(k, ("-1", "1") if kind == "SPIN" else ("0", "1"))
    terms = list(bqm.quadratic.items())
    pairs = np.zeros(len(terms), [("i", np.uint32), ("j", np.uint32), ("value", np.float64)])  # gbs_pair
    pairs["i"], pairs["j"] = [place[u] for (u, _), _ in terms], [place[v] for (_, v), _ in terms]
    pairs["value"] = [real(q, "couplings") for _, q in terms]
    b.quadratic(kind == "BINARY", -real(beta, "beta"), real(getattr(bqm, "offset", 0.0), "the offset") + real(offset, "offset"),
                np.array([real(bqm.linear[v], "fields") for v in variables]), pairs)
    return Model._of(b.build(False))


def from_pgmpy(network: Any) -> Model:
    """Convert a Bayesian network or Markov network of pgmpy, or the dict of the package bnlearn that has a network as "model".

    Names and states become their texts. The state 1 becomes "1"; 1, 1.0 and True ask for this state, because they are equal to 1.
    """
    if isinstance(network, Mapping) and "model" in network:
        network = network["model"]
    m = Model()
    if hasattr(network, "get_cpds"):
        waiting = {cpd.variable: cpd for cpd in network.get_cpds()}
        while waiting:
            ready = [v for v, cpd in waiting.items() if all(p not in waiting for p in cpd.variables[1:])]
            if not ready:
                raise ValueError("the network has a cycle, or a variable without a table")
            for v in ready:
                cpd = waiting.pop(v)
                table = reals(cpd.values, f"the table of {v!r}")
                m.add(v, cpd.state_names[v], parents=cpd.variables[1:], p=np.moveaxis(table, 0, -1))
        return m
    factors = list(network.get_factors())
    for f in factors:
        for v, n in zip(f.variables, np.shape(f.values)):
            if text(v) not in m._made:
                m.add(v, getattr(f, "state_names", {}).get(v, range(n)))
    for f in factors:
        m.factor(f.variables, f.values)
    return m


def from_pyagrum(network: Any) -> Model:
    """Convert a Bayesian network of pyAgrum."""
    m = Model()
    for node in network.topologicalOrder():
        variable, table = network.variable(node), network.cpt(node)
        # the array of the table has the parents in the reverse order of the table's names, and the child last
        parents = list(table.names)[1:] if not hasattr(table, "var_names") else list(table.var_names)[:-1]
        values = np.asarray(table.toarray() if hasattr(table, "toarray") else table[:], np.float64)
        if not hasattr(table, "var_names"):
            parents = parents[::-1]
        m.add(variable.name(), [variable.label(k) for k in range(variable.domainSize())], parents=parents, p=values)
    return m
