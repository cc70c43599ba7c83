# SPDX-License-Identifier: Apache-2.0
"""Questions about some variables leave out what these do not depend on; answers are those of enumeration."""
import csv
import io
import itertools
import math
import random

import pytest


def network(seed, n=7):
    """A small Bayesian network as UAI text, with its tables: [(scope, table)]."""
    r = random.Random(seed)
    arity = [r.choice([2, 2, 3]) for _ in range(n)]
    factors = []
    for v in range(n):
        scope = sorted(r.sample(range(v), min(v, r.randrange(3)))) + [v]
        columns = []
        for _ in range(math.prod(arity[u] for u in scope[:-1])):
            w = [r.choice([0.0, 1.0, 2.0, 5.0]) for _ in range(arity[v] - 1)] + [1.0]
            columns += [x / sum(w) for x in w]
        factors.append((scope, columns))
    return arity, factors


def text(kind, arity, factors):
    lines = [kind, str(len(arity)), " ".join(map(str, arity)), str(len(factors))]
    lines += [" ".join(map(str, [len(s)] + s)) for s, _ in factors]
    lines += [f"{len(t)}\n" + " ".join(map(repr, t)) for _, t in factors]
    return "\n".join(lines) + "\n"


def weights(arity, factors, seen):
    for x in itertools.product(*map(range, arity)):
        if all(x[v] == a for v, a in seen.items()):
            w = 1.0
            for scope, table in factors:
                at = 0
                for u in scope:
                    at = at * arity[u] + x[u]
                w *= table[at]
            yield x, w


def rows(out):
    return list(csv.DictReader(io.StringIO(out)))


def test_each_verb_against_enumeration(run, work):
    tried = 0
    for seed in range(25):
        r = random.Random(1000 + seed)
        arity, factors = network(seed)
        kind = "MARKOV" if seed % 2 else "BAYES"
        (work / "m.uai").write_text(text(kind, arity, factors))
        a, b, c = r.sample(range(7), 3)
        seen = {c: r.randrange(arity[c])}
        evidence = ["-e", f"{c}={seen[c]}"]
        states = list(weights(arity, factors, seen))
        z = sum(w for _, w in states)
        if z == 0.0:
            continue
        tried += 1
        for verb in ("exact", "marginals"):
            done = run(verb, "m.uai", *evidence, "--query", f"{a},{b}")
            assert done.status == 0, done.err
            for row in rows(done.out):
                v, k = int(row["variable"]), int(row["state"])
                assert abs(float(row["probability"]) - sum(w for x, w in states if x[v] == k) / z) < 1e-12
        joint = run("marginals", "m.uai", *evidence, "--joint", f"{a},{b}")
        for row in rows(joint.out):
            s, t = int(row[str(a)]), int(row[str(b)])
            assert abs(float(row["probability"]) - sum(w for x, w in states if (x[a], x[b]) == (s, t)) / z) < 1e-12
        done = run("logz", "m.uai", *evidence, "-q")
        assert abs(float(done.out.split()[1]) * math.log(10) - math.log(z)) < 1e-9, done.out
        (work / "t.csv").write_text(f"{c}\n{seen[c]}\n")
        table = rows(run("marginals", "m.uai", "--cases", "t.csv", "--query", str(a)).out)
        for k in range(arity[a]):
            assert abs(float(table[0][f"{a}={k}"]) - sum(w for x, w in states if x[a] == k) / z) < 1e-12
    assert tried >= 15


def effects(n_causes=120, n_effects=400):
    """A network of causes and of effects, of which the first twenty are observed; too wide for trees as a whole."""
    r = random.Random(3)
    arity = [2] * (n_causes + n_effects)
    factors = [([v], [0.95, 0.05]) for v in range(n_causes)]
    for e in range(n_effects):
        scope = sorted(r.sample(range(6 * e, 6 * e + 6) if e < 20 else range(n_causes), 5))
        table = []
        for x in itertools.product((0, 1), repeat=5):
            absent = 0.9 * math.prod(0.4 for k in x if k)
            table += [absent, 1.0 - absent]
        factors.append((scope + [n_causes + e], table))
    return arity, factors, [f"{n_causes + e}={e % 2}" for e in range(20)]


@pytest.mark.long
def test_what_no_evidence_depends_on(run, work):
    arity, factors, seen = effects()
    (work / "m.uai").write_text(text("BAYES", arity, factors))
    evidence = ["-e", ",".join(seen)]
    asked = run("exact", "m.uai", *evidence, "--query", "0,7,119,300")
    assert asked.status == 0 and "left out:" in asked.err, asked.err
    few = {(row["variable"], row["state"]): float(row["probability"]) for row in rows(asked.out)}
    refused = run("exact", "m.uai", *evidence)
    assert refused.status != 0 and "tables have more" in refused.err  # the whole is too large
    done = run("marginals", "m.uai", *evidence, "--format", "csv")
    assert done.status == 0 and "drawn: 400 variables" in done.err and "exact+sampled" in done.err, done.err
    all_of_them = rows(done.out)
    core = {v for scope, _ in factors[120:140] for v in scope}  # five of six causes, and the effect
    assert len(all_of_them) == 2 * len(arity)
    for row in all_of_them:
        known = few.get((row["variable"], row["state"]))
        if known is not None:
            assert abs(float(row["probability"]) - known) < 5.0 * float(row["mcse"]) + 1e-12
        assert (float(row["mcse"]) == 0.0) == (int(row["variable"]) in core)
    again = run("marginals", "m.uai", *evidence, "--format", "csv", "--threads", "2")
    assert again.out == done.out
    draws = run("sample", "m.uai", *evidence, "--sweeps", "500", "--chains", "16", "--format", "csv")
    assert draws.status == 0, draws.err
    one = run("sample", "m.uai", *evidence, "--sweeps", "1", "--chains", "1")
    assert one.status == 0 and "converged: 1 independent exact draw\n" in one.err, one.err
    mean = [0.0] * len(arity)
    table = rows(draws.out)
    for row in table:
        for v in (0, 7, 300):
            mean[v] += int(row[f"x{v}"]) / len(table)
    for v in (0, 7, 300):
        p = few[str(v), "1"]
        assert abs(mean[v] - p) < 6.0 * math.sqrt(p * (1.0 - p) / len(table)), (v, mean[v], p)


def test_six_digits_keep_their_factor(run, work):
    arity, factors = [2, 2], [([0], [0.3, 0.7]), ([0, 1], [0.333333, 0.666668, 0.5, 0.5])]
    (work / "m.uai").write_text(text("MARKOV", arity, factors))
    done = run("exact", "m.uai", "--query", "0")
    assert "left out" not in done.err
    known = 0.3 * 1.000001 / (0.3 * 1.000001 + 0.7)
    assert abs(float(rows(done.out)[0]["probability"]) - known) < 1e-14


def test_components_that_nobody_asks_for(run, work):
    n = 45
    grid = [([v, v + s], [2.0, 1.0, 1.0, 2.5]) for v in range(n * n) for s in (1, n)
            if v + s < n * n and (s == n or v % n < n - 1)]
    grid += [([v], [1.0, 1.25]) for v in range(n * n)]
    factors = grid + [([n * n, n * n + 1], [0.1, 0.5, 0.7, 0.3])]
    (work / "m.uai").write_text(text("MARKOV", [2] * (n * n + 2), factors))
    done = run("exact", "m.uai", "--query", str(n * n))
    assert done.status == 0 and f"left out: {n * n} of " in done.err, done.err
    assert abs(float(rows(done.out)[0]["probability"]) - 0.375) < 1e-15
    assert run("exact", "m.uai").status != 0


def test_info_counts_them(run, work):
    arity, factors, seen = effects()
    (work / "m.uai").write_text(text("BAYES", arity, factors))
    assert "400 variables that no evidence depends on" in run("info", "m.uai", "-e", ",".join(seen)).out
