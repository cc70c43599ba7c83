# SPDX-License-Identifier: Apache-2.0
"""What tools/attack does for learning: gradients against finite differences, EM against enumeration."""
import copy
import csv
import io
import json
import math

import numpy

from attack_answers import Wrong, rows_of
from attack_models import Model, bayes_factors

STEP = 1e-5


def table(names, rows):
    text = io.StringIO()
    csv.writer(text).writerows([names, *rows])
    return text.getvalue()


def slope(objective, w):
    """Central differences."""
    found = []
    for k in range(len(w)):
        up, down = numpy.array(w), numpy.array(w)
        up[k] += STEP
        down[k] -= STEP
        found.append((objective(up) - objective(down)) / (2 * STEP))
    return numpy.array(found)


def check_point(trial, what, objective, w):
    """The last row of the curve against the weights that are written."""
    rows = rows_of(trial.read("curve.csv").decode(), "objective", "gradient")
    told, norm = float(rows[-1]["objective"]), float(rows[-1]["gradient"])
    truth = objective(numpy.array(w))
    if abs(told - truth) > 1e-8 * (1 + abs(truth)):
        raise Wrong(f"exact: {what}: objective {told!r}, of the weights that are written {truth!r}")
    length = float(numpy.linalg.norm(slope(objective, w)))
    if abs(norm - length) > 1e-5 * (1 + length + abs(truth)):
        raise Wrong(f"gradient: {what}: {norm!r}, by differences {length!r}")


def log_pl(logw, x):
    """Sum over variables of ln P(x_v | all others)."""
    total = 0.0
    for v in range(logw.ndim):
        line = logw[tuple(slice(None) if u == v else a for u, a in enumerate(x))]
        total += line[x[v]] - line.max() - math.log(numpy.exp(line - line.max()).sum())
    return total


def log_p(logw, x):
    return logw[tuple(x)] - logw.max() - math.log(numpy.exp(logw - logw.max()).sum())


def weights(trial):
    """Tied Ising couplings, fields and Potts weights."""
    r = trial.r
    arity = [r.choice([2, 2, 3]) for _ in range(r.randint(2, 5))]
    m, binary = Model(arity), [v for v, k in enumerate(arity) if k == 2]
    m.weights = [round(r.uniform(-1, 1), 3) for _ in range(r.randint(1, 3))]
    for _ in range(r.randint(1, 8)):
        number, feature = r.randrange(len(m.weights)), r.choice([1.0, 0.5, -2.0])
        same = [(a, b) for a in range(len(arity)) for b in range(a) if arity[a] == arity[b]]
        ways = [("field", binary)] * bool(binary) + [("ising", binary)] * (len(binary) > 1) + [("potts", same)] * bool(same)
        if ways:
            word, among = r.choice(ways)
            arguments = list(r.choice(among)) if word == "potts" else r.sample(among, 1 if word == "field" else 2)
            m.factors.append(("tied", [number, feature, word, [*arguments, m.weights[number] * feature]]))
    if not m.factors:
        return 0
    trial.program.make(trial.folder, m.describe())
    rows = [[r.randrange(k) for k in arity] for _ in range(r.choice([3, 20]))]
    trial.write("data.csv", table(range(len(arity)), rows))
    kind, l2 = r.choice(["pseudo", "likelihood"]), r.choice([0.1, 1, 10])
    status, _, _ = trial.run("learn", "weights", "model.gbm", "data.csv", "--objective", kind, "--l2", l2, "--iterations", r.choice([1, 2, 50]),
                             "--intervals", "w.csv", "--curve", "curve.csv", "-o", "learnt.gbm")
    if status not in (0, 4, 5):
        return status
    w = [float(row["value"]) for row in rows_of(trial.read("w.csv").decode(), "value")]
    used = sorted({arguments[0] for _, arguments in m.factors})  # others are no parameters
    score = log_pl if kind == "pseudo" else log_p

    def objective(x):
        other = copy.deepcopy(m)
        other.factors = [("tied", [n, f, word, [*a[:-1], float(x[n] * f)]]) for _, (n, f, word, a) in m.factors]
        logw = other.log_weights() + numpy.zeros(arity)
        return sum(score(logw, row) for row in rows) - l2 / 2 * float(x[used] @ x[used])
    check_point(trial, kind, objective, w)
    return status


def potts(trial):
    r = trial.r
    n, q, l2 = r.randint(2, 4), r.choice([2, 3]), r.choice([0.1, 1, 10])
    rows = [[r.randrange(q) for _ in range(n)] for _ in range(r.choice([4, 15]))] + [[a] * n for a in range(q)]
    trial.write("data.csv", table([f"s{i}" for i in range(n)], rows))
    status, _, _ = trial.run("learn", "potts", "data.csv", "--l2", l2, "--iterations", r.choice([1, 2, 5, 100]), "--curve", "curve.csv",
                             "--intervals", "w.csv", "--summary", "s.json", "-o", "learnt.gbm")
    if status not in (0, 4, 5):
        return status
    report = json.loads(trial.read("s.json"))
    w = numpy.array([float(row["value"]) for row in rows_of(trial.read("w.csv").decode(), "value")])

    def score(x):
        logw, at = numpy.zeros([q] * n), n * q
        for i in range(n):
            logw = logw + x[i * q:(i + 1) * q].reshape([q if u == i else 1 for u in range(n)])
        for i in range(n):
            for j in range(i + 1, n):
                logw = logw + x[at:at + q * q].reshape([q if u in (i, j) else 1 for u in range(n)])
                at += q * q
        return sum(log_pl(logw, row) for row in rows)
    if abs(report["pseudo_log_likelihood"] - score(w)) > 1e-6 * (1 + abs(score(w))):
        raise Wrong(f"exact: potts: ln PL {report['pseudo_log_likelihood']!r}, of the weights that are written {score(w)!r}")
    if report["converged"]:  # fields and couplings in the gauge of the smallest norm: its slope is 0 where theirs, projected, is
        least = gauge(w, n, q)
        length = float(numpy.linalg.norm(slope(lambda x: l2 / 2 * float(x @ x) - score(x), least)))
        if abs(length - report["gradient_norm"]) > 1e-4 * (1 + report["objective"]):
            raise Wrong(f"gradient: potts: {report['gradient_norm']!r}, by differences {length!r}")
        told = l2 / 2 * float(least @ least) - score(least)
        if abs(told - report["objective"]) > 1e-4 * (1 + abs(told)):
            raise Wrong(f"exact: potts: objective {report['objective']!r}, of the weights that are written {told!r}")
    return status


def gauge(w, n, q):
    """Weights of the smallest norm that have the same conditionals: couplings hold a part of the fields."""
    fields, pairs = n * q, [(i, j) for i in range(n) for j in range(i + 1, n)]
    moves = []
    for t, (i, j) in enumerate(pairs):
        for a in range(q):
            for side, v in ((0, i), (1, j)):
                move = numpy.zeros(len(w))
                move[v * q + a] = -1
                block = numpy.zeros((q, q))
                if side == 0:
                    block[a] = 1
                else:
                    block[:, a] = 1
                move[fields + t * q * q:fields + (t + 1) * q * q] = block.ravel()
                moves.append(move)
    for i in range(n):
        move = numpy.zeros(len(w))
        move[i * q:(i + 1) * q] = 1
        moves.append(move)
    moves = numpy.array(moves).T
    return w - moves @ numpy.linalg.lstsq(moves, w, rcond=None)[0]


def gradients(trial):
    return trial.r.choice([weights, potts])(trial)


# ---- EM --------------------------------------------------------------------------------------


def em(trial):
    """The tables after some steps of EM, by enumeration."""
    r = trial.r
    m = Model([r.choice([2, 2, 3]) for _ in range(r.randint(1, 4))])
    while not m.factors or any(word != "potential" for word, _ in m.factors):
        m.factors = []
        bayes_factors(r, m)
    for _, arguments in m.factors:  # no zeros: every row is possible
        k = m.arity[arguments[1][-1]]
        x = numpy.reshape(arguments[2], (-1, k)) + 0.05
        arguments[2] = [float(y) for y in (x / x.sum(axis=1, keepdims=True)).ravel()]
    trial.program.make(trial.folder, m.describe())
    rows = [[None if r.random() < 0.3 else r.randrange(k) for k in m.arity] for _ in range(r.choice([1, 5, 30]))]
    rows.append([None] * len(m.arity))
    trial.write("data.csv", table(range(len(m.arity)), [["NA" if a is None else a for a in row] for row in rows]))
    steps, prior = r.choice([1, 2, 7]), r.choice(["none", "dirichlet:0.5", "bdeu:3"])
    status, _, _ = trial.run("fit", "model.gbm", "data.csv", "--method", "exact", "--prior", prior, "--iterations", steps, "--tolerance", 0,
                             "--intervals", "i.csv", "--summary", "s.json", "-o", "fitted.gbm")
    if status not in (0, 4, 5):
        return status
    for _, arguments in m.factors if prior != "none" else []:  # what has no chance in the network may get one
        k = m.arity[arguments[1][-1]]
        arguments[2] = [0.99 * x + 0.01 / k for x in arguments[2]]
    for _ in range(json.loads(trial.read("s.json"))["iterations"]):
        step(m, rows, prior)
    found = [float(row["probability"]) for row in rows_of(trial.read("i.csv").decode(), "probability")]
    truth = [x for _, (_, _, values) in m.factors for x in values]
    if len(found) != len(truth) or max(abs(a - b) for a, b in zip(found, truth)) > 1e-9:
        raise Wrong(f"em: {found} after {steps} steps with {prior}, they are {truth}")
    return status


def step(m, rows, prior):
    joint = numpy.exp(m.log_weights())
    expected = numpy.zeros(joint.shape)
    for row in rows:
        part = numpy.zeros(joint.shape)
        at = tuple(slice(None) if a is None else slice(a, a + 1) for a in row)
        part[at] = joint[at] / joint[at].sum()
        expected += part
    for _, arguments in m.factors:
        scope = arguments[1]
        counts = numpy.transpose(expected.sum(axis=tuple(v for v in range(expected.ndim) if v not in scope)),
                                 numpy.argsort(numpy.argsort(scope)))
        kind, _, x = prior.partition(":")
        counts = counts + {"none": 0.0, "dirichlet": float(x or 0), "bdeu": float(x or 0) / counts.size}[kind]
        total = counts.sum(axis=-1, keepdims=True)
        old = numpy.reshape(arguments[2], counts.shape)
        arguments[2] = [float(y) for y in numpy.divide(counts, total, out=old.copy(), where=total > 0).ravel()]
