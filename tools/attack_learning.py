# SPDX-License-Identifier: Apache-2.0
"""Tests EM for tools/attack: compares the tables after some steps with enumeration, and claims of sampled EM with exact EM."""
import json

import numpy

from attack_answers import Wrong, rows_of
from attack_gradients import table
from attack_models import Model, bayes_factors


def network(r):
    """@return a network of tables without zeros, so that every row is possible."""
    m = Model([r.choice([2, 2, 3]) for _ in range(r.randint(1, 4))])
    while not m.factors or any(word != "potential" for word, _ in m.factors):
        m.factors = []
        bayes_factors(r, m)
    for _, arguments in m.factors:
        k = m.arity[arguments[1][-1]]
        x = numpy.reshape(arguments[2], (-1, k)) + 0.05
        arguments[2] = [float(y) for y in (x / x.sum(axis=1, keepdims=True)).ravel()]
    return m


def em(trial):
    """Compares the tables after some steps of EM with enumeration."""
    r = trial.r
    m = network(r)
    trial.program.make(trial.folder, m.describe())
    rows = [[None if r.random() < 0.3 else r.randrange(k) for k in m.arity] for _ in range(r.choice([1, 5, 30]))]
    rows.append([None] * len(m.arity))
    trial.write("data.csv", table(range(len(m.arity)), [["NA" if a is None else a for a in row] for row in rows]))
    steps, prior = r.choice([1, 2, 7]), r.choice(["none", "dirichlet:0.5", "bdeu:3"])
    status, _, _ = trial.run("fit", "model.gbm", "data.csv", "--method", "exact", "--prior", prior, "--iterations", steps, "--tolerance", 0,
                             "--intervals", "i.csv", "--summary", "s.json", "-o", "fitted.gbm")
    if status not in (0, 4, 5):
        return status
    for _, arguments in m.factors if prior != "none" else []:  # a state of probability 0 may get a positive one
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


def em_sampled(trial):
    """Runs sampled EM on few rows with many missing values. If it claims to have converged, exact EM that starts from its tables must
    stay within five stated errors, except in columns that no draw met."""
    r = trial.r
    m = network(r)
    trial.program.make(trial.folder, m.describe())
    missing = r.choice([0.2, 0.4, 0.6])
    rows = [[None if r.random() < missing else r.randrange(k) for k in m.arity] for _ in range(r.choice([2, 4, 8, 20]))]
    rows.append([None] * len(m.arity))
    trial.write("data.csv", table(range(len(m.arity)), [["NA" if a is None else a for a in row] for row in rows]))
    prior, target = r.choice(["none", "none", "dirichlet:0.5", "bdeu:3"]), r.choice([0.02, 0.05])
    status, _, words = trial.run("fit", "model.gbm", "data.csv", "--method", "sample", "--prior", prior, "--iterations", 100, "--sweeps", 1024,
                                 "--target-error", target, "--intervals", "i.csv", "--summary", "s.json", "-o", "fitted.gbm",
                                 "--seed", r.randrange(1000))
    if status not in (0, 4, 5):
        raise Wrong(f"refused: status {status}: {words[-300:]}")
    report = json.loads(trial.read("s.json"))
    if not report["converged"]:
        return f"fit by samples, {prior}: no claim"
    trial.done("fit", "fitted.gbm", "data.csv", "--method", "exact", "--prior", prior, "--iterations", 100000, "--tolerance", 1e-9,
               "--intervals", "e.csv", "-o", "exact.gbm")
    found, exact = (rows_of(trial.read(name).decode(), "probability") for name in ("i.csv", "e.csv"))
    met = {(row["variable"], row["parents"]) for row in found if float(row["rows"]) > 0.0}
    for a, b in zip(found, exact):
        off = abs(float(a["probability"]) - float(b["probability"]))
        if (a["variable"], a["parents"]) in met and off > 5.0 * report["error"]:
            raise Wrong(f"claimed: {a} with an error of up to {report['error']}, exact EM goes on to {b['probability']}")
    return f"fit by samples, {prior}: claimed"
