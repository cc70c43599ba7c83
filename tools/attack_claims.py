#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""False claims under attack: models made to deceive chains, whose exact answers are found by enumeration.

A model follows from its kind and number. Every model is run as each row of MODES says; counted are runs that
call themselves converged, and of these the false ones: some probability is off by more than five of its
standard errors and by more than the target of the run. All runs are limited by counts, so that they repeat.

    tools/attack_claims.py --program build/cli/gibbsite --runs 25
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

import numpy

TARGET = 0.005
ERRORS = 5.0

# ---- models: arities, and factors as (scope, table of weights) -----------------------------------


def table_of(arity, scope, weight):
    return numpy.array([weight(x) for x in numpy.ndindex(*(arity[v] for v in scope))])


def tables(r, zeros=0.0):
    """A tree of strong tables over two or three neighbouring variables."""
    n = r.randrange(8, 13)
    arity, spread, factors = [r.randrange(2, 4) for _ in range(n)], r.uniform(1.0, 4.0), []
    for v in range(1, n):
        scope = sorted({v, *(v - 1 - r.randrange(min(v, 5)) for _ in range(2))})
        def weight(x):
            return 0.0 if any(x) and r.random() < zeros else numpy.exp(spread * sum(r.uniform(-1, 1) for _ in range(3)))
        factors.append((scope, table_of(arity, scope, weight)))
    return arity, factors


def spins(n, couplings, fields):
    factors = [((i, j), numpy.exp(numpy.array([c, -c, -c, c]))) for (i, j), c in couplings.items()]
    return [2] * n, factors + [((v,), numpy.exp(numpy.array([-h, h]))) for v, h in enumerate(fields)]


def square(side):
    return [(v, (v % side + 1) % side + v // side * side) for v in range(side * side)] + \
        [(v, (v + side) % (side * side)) for v in range(side * side)]


def glass(r):
    """A closed 4 x 4 lattice of couplings +-J."""
    j, h = r.uniform(0.7, 2.5), r.uniform(0.0, 0.5)
    return spins(16, {pair: r.choice([-j, j]) for pair in square(4)}, [h * r.gauss(0, 1) for _ in range(16)])


def ferromagnet(r):
    """Strong equal couplings and a weak field: a large mode and a small one."""
    j, h = r.uniform(0.6, 1.5), r.uniform(0.005, 0.06)
    return spins(16, dict.fromkeys(square(4), j), [h] * 16)


def mode(r, n, share, deep):
    """Soft spins, and one table over the first variables that gives one of their joint states this share of the mass."""
    arity, factors = spins(n, {}, [0.2 * r.gauss(0, 1) * deep for _ in range(n)])
    weight = numpy.ones(2 ** n)
    weight[r.randrange(2 ** n)] = 2.0 ** n * share / (1.0 - share)
    return arity, factors + [(tuple(range(n)), weight)]


def heavy_state(r):
    return mode(r, r.randrange(8, 15), numpy.exp(r.uniform(numpy.log(0.003), numpy.log(0.03))), 1.0)


def hole(r):
    """A state that holds a chain for a thousand sweeps once the chain has reached it."""
    return mode(r, r.randrange(15, 18), r.uniform(0.03, 0.15), 0.0)


def column(r, p):
    return [1.0 - p, p] if r.random() < 0.5 else [p, 1.0 - p]


def network(r, n, noise, most=3):
    """A directed network: every variable is nearly a function of its parents."""
    factors = []
    for v in range(n):
        parents = sorted(r.sample(range(v), min(v, r.randrange(1, most + 1))))
        rows = [column(r, r.uniform(0.5, 2.0) * noise) for _ in range(2 ** len(parents))]
        factors.append(((*parents, v), numpy.array([p for row in rows for p in row])))
    return [2] * n, factors


def observe(model, r, n_seen, rare):
    """A network given some of its variables, each in its likely state or in its rare one."""
    arity, factors = model
    p = marginals_of(arity, factors, {})
    likely = [int(numpy.argmax(x)) for x in p]
    return arity, factors, {v: 1 - likely[v] if rare else likely[v] for v in r.sample(range(len(arity)), n_seen)}


def soft_network(r):
    return observe(network(r, r.randrange(9, 14), 0.15), r, 2, False)


def rare_evidence(r):
    """A network whose observations are nearly impossible and have several explanations that are far apart."""
    return observe(network(r, r.randrange(11, 16), 10.0 ** r.uniform(-4.5, -3.5), 4), r, r.randrange(2, 5), True)


def sharp_network(r, states=2):
    """A network whose variables are functions of variables shortly before them, with exceptions between 1 in 100 and
    1 in 10^9, given rare states of some of the last variables. Chains move within an explanation, and hardly ever to another."""
    n, factors = r.randrange(8, 17 if states == 2 else 12), []
    for v in range(n):
        near = list(range(max(0, v - 4), v))
        parents = sorted(r.sample(near, min(len(near), r.choice((1, 1, 2, 2, 3))))) if v > 2 else []
        rows = []
        for _ in range(states ** len(parents)):
            e = 10.0 ** -r.uniform(2, 9) if parents else r.choice((1e-1, 1e-3, 1e-4))
            row, likely = [e / (states - 1)] * states, r.randrange(states) if parents else 0
            row[likely] = 1.0 - e
            rows += row
        factors.append(((*parents, v), numpy.array(rows)))
    arity = [states] * n
    p = marginals_of(arity, factors, {})
    return arity, factors, {v: int(numpy.argmin(p[v])) for v in r.sample(range(n // 2, n), r.randrange(1, 4))}


def sharp_states(r):
    return sharp_network(r, 3)


def copies(r):
    """A chain of noisy copies whose ends were observed to differ, so some copy is wrong."""
    n, e = r.randrange(8, 14), 10.0 ** r.uniform(-5, -2.5)
    factors = [((v, v + 1), numpy.array([1 - q, q, q, 1 - q])) for v in range(n - 1) for q in [e * r.uniform(0.5, 2.0)]]
    return [2] * n, [((0,), numpy.array([0.5, 0.5])), *factors], {0: 0, n - 1: 1}


def causes(r):
    """Rare causes of observed findings, in a noisy-or network. Each finding has two or three explanations."""
    n = r.randrange(6, 11)
    factors = [((v,), numpy.array([1 - q, q])) for v in range(n) for q in [10.0 ** r.uniform(-4.5, -2.0)]]
    n_found = r.randrange(1, 4)
    arity = [2] * (n + n_found)
    for found in range(n, n + n_found):
        scope = [*sorted(r.sample(range(n), 3)), found]
        fails, leak = [10.0 ** r.uniform(-3, -0.3) for _ in range(3)], 10.0 ** r.uniform(-7, -5)
        def weight(x):
            none = (1.0 - leak) * numpy.prod([q if a else 1.0 for a, q in zip(x, fails)])
            return 1.0 - none if x[3] else none
        factors.append((scope, table_of(arity, scope, weight)))
    return arity, factors, dict.fromkeys(range(n, n + n_found), 1)


def blocks(r):
    """Groups of strongly coupled variables. Each group slightly prefers one side."""
    n_groups, size, e = r.randrange(2, 4), r.randrange(3, 5), 10.0 ** r.uniform(-4.5, -2.5)
    n = n_groups * size
    factors = [((g * size + i, g * size + j), numpy.array([1 - e, e, e, 1 - e]))
               for g in range(n_groups) for i in range(size) for j in range(i)]
    factors += [((g * size,), numpy.array([1.0, r.uniform(0.05, 1.0)])) for g in range(n_groups)]
    factors += [((g * size, g * size + size), numpy.array([1.0, q, q, 1.0])) for g in range(n_groups - 1) for q in [r.uniform(0.2, 1.0)]]
    return [2] * n, factors


def third_state(r):
    """Variables of three states. Two states change freely; the third one is taken by all variables or by none."""
    n, e = r.randrange(5, 9), 10.0 ** r.uniform(-4, -2)
    arity, share, factors = [3] * n, r.uniform(0.02, 0.3), []
    for v in range(n - 1):
        factors.append(((v, v + 1), table_of(arity, (v, v + 1), lambda x: e if (x[0] == 2) != (x[1] == 2) else 1.0)))
    return arity, factors + [((0,), numpy.array([1.0, 1.0, 2.0 ** n * share / (1 - share)]))]


def parity(r):
    """Soft parities of three variables: no single variable gives information about another one."""
    n = r.randrange(8, 13)
    factors = [((v,), numpy.array([1.0, r.uniform(0.3, 1.0)])) for v in range(n)]
    for _ in range(r.randrange(n // 2, n)):
        scope, e, odd = sorted(r.sample(range(n), 3)), 10.0 ** r.uniform(-4, -1), r.randrange(2)
        factors.append((scope, table_of([2] * n, scope, lambda x: 1.0 if sum(x) % 2 == odd else e)))
    return [2] * n, factors


def switch(r):
    """One variable chooses between two sets of fields for all others."""
    n, b = r.randrange(6, 13), r.uniform(1.5, 4.0)
    sign = [r.choice([-b, b]) for _ in range(n)]
    factors = [((0, v), numpy.exp(numpy.array([0.0, sign[v], sign[v], 0.0]))) for v in range(1, n)]
    return [2] * n, factors + [((0,), numpy.array([1.0, 10.0 ** r.uniform(-2, 0)]))]


KINDS = {"tables": tables, "glass": glass, "zeros": lambda r: tables(r, 0.25), "heavy state": heavy_state,
         "soft network": soft_network,  # the first five kinds
         "rare evidence": rare_evidence, "sharp network": sharp_network, "sharp states": sharp_states,
         "copies": copies, "causes": causes, "blocks": blocks, "hole": hole,
         "third state": third_state, "ferromagnet": ferromagnet, "parity": parity, "switch": switch}
RARE = ("rare evidence", "sharp network", "sharp states", "copies", "causes", "blocks", "hole", "third state")
MODES = {"temper": ["--method", "sample", "--temper", "16", "--max-updates", "300000000"], "sample": ["--method", "sample", "--max-updates", "300000000"],
         "sweeps": ["--method", "sample", "--sweeps", "65536"],
         "auto": ["--max-updates", "300000000"],
         "herded": ["--method", "sample", "--draw", "herded", "--max-updates", "100000000"]}

# ---- answers -------------------------------------------------------------------------------------


def marginals_of(arity, factors, seen):
    joint = numpy.ones(arity)
    for v, state in seen.items():
        keep = numpy.zeros(arity[v])
        keep[state] = 1.0
        joint *= keep.reshape([arity[v] if u == v else 1 for u in range(len(arity))])
    for scope, weight in factors:
        shape = [arity[v] if v in scope else 1 for v in range(len(arity))]
        joint *= numpy.asarray(weight).reshape(shape)  # variables of a scope ascend
    joint /= joint.sum()
    return [joint.sum(axis=tuple(u for u in range(len(arity)) if u != v)) for v in range(len(arity))]


def write_uai(path, arity, factors, seen):
    """Writes a UAI file. A directed network also has evidence, and its chains start in states that are drawn forwards."""
    with open(path + ".evid", "w", encoding="ascii") as file:
        print(len(seen), *(x for pair in seen.items() for x in pair), file=file)
    with open(path, "w", encoding="ascii") as file:
        print("BAYES" if seen else "MARKOV", len(arity), " ".join(map(str, arity)), len(factors), sep="\n", file=file)
        for scope, _ in factors:
            print(len(scope), *scope, file=file)
        for _, weight in factors:
            print(len(weight), *(repr(float(x)) for x in weight), file=file)


def run(program, folder, kind, number, mode_name):
    """@return kind, mode, whether the run claims convergence, its error if the error is too large, the verdict."""
    arity, factors, *evidence = KINDS[kind](random.Random(f"{kind} {number}"))
    seen = evidence[0] if evidence else {}
    exact = numpy.concatenate(marginals_of(arity, factors, seen))
    base = os.path.join(folder, f"{kind.replace(' ', '-')}-{number}-{mode_name}")
    write_uai(base + ".uai", arity, factors, seen)
    done = subprocess.run([program, "marginals", base + ".uai", "-e", base + ".uai.evid", "--evidence-format", "single", *MODES[mode_name], "--seed", str(number), "--threads", "1", "-q",
                           "--format", "csv", "-o", base + ".csv", "--summary", base + ".json"],
                          check=False, capture_output=True, text=True)
    if not os.path.exists(base + ".json"):
        return kind, mode_name, False, 0.0, f"status {done.returncode}: {done.stderr[-200:]}"
    with open(base + ".json", encoding="utf-8") as file:
        summary = json.load(file)
    if not summary["converged"]:
        return kind, mode_name, False, 0.0, summary["verdict"]
    with open(base + ".csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    p, mcse = (numpy.array([float(row[name]) for row in rows]) for name in ("probability", "mcse"))
    error = numpy.abs(p - exact)
    false = error[(error > ERRORS * numpy.nan_to_num(mcse)) & (error > TARGET)]
    return kind, mode_name, True, float(false.max(initial=0.0)), summary["verdict"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--runs", type=int, default=25, help="of each kind and mode")
    parser.add_argument("--first", type=int, default=0, help="number of the first model")
    parser.add_argument("--kinds", help="',' between them; all unless given")
    parser.add_argument("--modes", default="sample,sweeps", help=f"of {', '.join(MODES)}")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tell", action="store_true", help="why runs are not converged")
    setup = parser.parse_args()
    kinds, modes = setup.kinds.split(",") if setup.kinds else list(KINDS), setup.modes.split(",")
    claims, false, n, told = collections.Counter(), collections.Counter(), collections.Counter(), collections.Counter()
    asked = [(k, i, m) for k in kinds for m in modes for i in range(setup.first, setup.first + setup.runs)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(setup.jobs) as pool:
        for (_, number, _), (kind, how, claimed, off, verdict) in zip(asked, pool.map(lambda x: run(setup.program, folder, *x), asked)):
            n[kind, how] += 1
            claims[kind, how] += claimed
            false[kind, how] += off > 0.0
            if off > 0.0:
                print(f"{kind} {number}, {how}: off by {off:.4f}; {verdict}", flush=True)
            if setup.tell and not claimed:
                told[kind, verdict.translate(str.maketrans("", "", "0123456789.+"))[:70]] += 1
    for key in n:
        print(f"{key[0]:14} {key[1]:8} {n[key]:5} runs {claims[key]:5} claims {false[key]:5} false")
    for key, count in sorted(told.items()):
        print(f"{count:5} {key[0]}: {key[1]}")
    rare = sum(claims[k] for k in n if k[0] in RARE)
    print(f"{sum(n.values())} runs, {sum(claims.values())} claims, {rare} of them under rare evidence, {sum(false.values())} false")
    sys.exit(1 if sum(false.values()) else 0)


if __name__ == "__main__":
    main()
