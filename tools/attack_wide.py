# SPDX-License-Identifier: Apache-2.0
"""Tests sampling for tools/attack on models with a wide range of log-weights. The log-weights are uniform in an interval of width S
between 3 and 1000 nats, with and without hard zeros and evidence. An answer that is called converged is false if its error is above
five stated errors and above the target."""
import itertools
import json
import math

import numpy

from attack_answers import Wrong, rows_of

WIDTHS = (3, 10, 30, 100, 300, 1000)
ERRORS = 5.0
FIXED = ["--threads", 1, "--seed"]  # a second thread makes small models slower
# questions: a verb, its options, and the target of its errors
WAYS = [("marginals", ["--time", 3], 0.007), ("marginals", ["--temper", 16, "--max-updates", 30000000], 0.007),
        ("marginals", ["--temper", "off", "--max-updates", 6000000], 0.005),
        ("logz", ["--target-error", 0.05, "--max-updates", 60000000], 0.05), ("map", [], 0.0),
        ("sample", ["--sweeps", 4000, "--target-error", 0.02], 0.02)]


def wide_model(r):
    """@return S, arities, and factors as (scope, table of log-weights); at least one joint state is possible."""
    n, width = r.choice((2, 3, 4, 4, 5, 5, 6, 6, 7, 8)), r.choice(WIDTHS)
    small = r.random() < 0.3  # pairs contradict one another: products of the states that matter are far below the largest
    n, width = (r.choice((3, 3, 4)), r.uniform(250, 600)) if small else (n, width)
    arity = [r.choice((2, 2, 3) if small else (2, 2, 3, 4)) for _ in range(n)]
    legal, zeros = [r.randrange(k) for k in arity], r.choice((0.0, 0.0, 0.2, 0.5))
    scopes = [[v] for v in range(n) if r.random() < 0.7]
    if small:
        zeros = 0.0
        scopes += [list(pair) for pair in itertools.combinations(range(n), 2)]
    else:
        scopes += [sorted(r.sample(range(n), 2)) for _ in range(r.randrange(1, 2 * n))]
        scopes += [sorted(r.sample(range(n), 3)) for _ in range(r.randrange(n)) if n > 2]
    factors = []
    for scope in scopes:
        table = numpy.array([round(r.uniform(-width, width), r.choice((0, 2))) for _ in range(math.prod(arity[v] for v in scope))])
        table = table.reshape([arity[v] for v in scope])
        for at in itertools.product(*(range(arity[v]) for v in scope)):
            if any(at[i] != legal[v] for i, v in enumerate(scope)) and r.random() < zeros:
                table[at] = -math.inf
        factors.append((scope, table))
    seen = {v: legal[v] for v in r.sample(range(n), r.choice((0, 0, 1, 2)))} if n > 2 and not small else {}
    return width, arity, factors, seen


def joint_of(arity, factors, seen):
    """@return log-weights of all joint states that agree with the evidence."""
    joint = numpy.zeros(arity)
    for scope, table in factors:
        joint = joint + table.reshape([k if v in scope else 1 for v, k in enumerate(arity)])
    for v, state in seen.items():
        keep = numpy.where(numpy.arange(arity[v]) == state, 0.0, -math.inf)
        joint = joint + keep.reshape([k if u == v else 1 for u, k in enumerate(arity)])
    return joint


def marginals_of(joint):
    p = numpy.exp(joint - joint.max())
    p /= p.sum()
    return numpy.concatenate([p.sum(axis=tuple(u for u in range(p.ndim) if u != v)) for v in range(p.ndim)])


def write_model(trial, arity, factors):
    trial.write("m.LG", f"MARKOV\n{len(arity)}\n{' '.join(map(str, arity))}\n{len(factors)}\n"
                + "".join(f"{len(s)} {' '.join(map(str, s))}\n" for s, _ in factors)
                + "".join(f"{t.size}\n{' '.join('-inf' if x == -math.inf else repr(float(x)) for x in t.ravel())}\n" for _, t in factors))


def judge_marginals(out, joint, target):
    rows = rows_of(out.decode(), "probability")
    p, mcse = (numpy.array([float(row[name] or 0.0) for row in rows]) for name in ("probability", "mcse"))
    truth = marginals_of(joint)
    off = numpy.abs(p - truth)
    false = off > ERRORS * numpy.nan_to_num(mcse) + target
    if false.any():
        at = int(numpy.argmax(numpy.where(false, off, 0.0)))
        raise Wrong(f"claimed: probability {p[at]} +- {mcse[at]}, it is {truth[at]}")


def judge_draws(out, arity, joint, report, target):
    state = numpy.array([[int(x) for x in line.split(",")[-len(arity):]] for line in out.decode().split() if line[0].isdigit()])
    found = numpy.concatenate([numpy.bincount(state[:, v], minlength=k) / len(state) for v, k in enumerate(arity)])
    off = float(numpy.abs(found - marginals_of(joint)).max())
    if off > ERRORS * report["max_mcse"] + target:
        raise Wrong(f"claimed: frequencies of draws are off by {off}, stated error {report['largest_mcse']}")


def judge_log_z(words, joint, target):
    told = words.split("ln Z ", 1)[1].split()
    truth = joint.max() + math.log(numpy.exp(joint - joint.max()).sum())
    value, error = float(told[0].rstrip(",")), float(told[2]) if told[1] == "+-" else 0.0
    if abs(value - truth) > ERRORS * error + target:
        raise Wrong(f"claimed: ln Z {value} +- {error}, it is {truth}")


def judge_map(out, arity, joint):
    state = tuple(int(row["state"]) for row in rows_of(out.decode(), "state"))
    if joint[state] < joint.max() - 1e-6 * (1.0 + abs(joint.max())):
        raise Wrong(f"claimed: a state of {joint[state]}, the largest is {joint.max()}")


def wide(trial):
    """@return the width, the question, and whether the answer was called converged."""
    r = trial.r
    width, arity, factors, seen = wide_model(r)
    verb, options, target = r.choice(WAYS)
    joint = joint_of(arity, factors, seen)
    write_model(trial, arity, factors)
    given = [x for v, state in seen.items() for x in ("-e", f"{v}={state}")]
    summary = ["--summary", "s.json"] if verb in ("marginals", "sample") else []
    status, out, words = trial.run(verb, "m.LG", "--method", "sample", *given, *options, *summary, *FIXED, r.randrange(1000))
    width = min(WIDTHS, key=lambda w: abs(w - width))
    key = f"wide {width:4.0f} {verb} {options[0] if options else ''} {options[1] if options[:1] == ['--temper'] else ''}".strip()
    if status == 1 and "no draw was kept" in words:
        return f"{key}: no claim"
    if status not in (0, 4, 5):
        raise Wrong(f"refused: status {status}: {words[-300:]}")
    report = json.loads(trial.read("s.json")) if summary else None
    n = len(arity)
    proved = "proved to be the largest" in words or f"; {n} of {n} variables are proved" in words
    claimed = report["converged"] if summary else proved if verb == "map" else ": converged" in words
    if not claimed:
        return f"{key}: no claim"
    if verb == "marginals":
        judge_marginals(out, joint, target)
    elif verb == "sample":
        judge_draws(out, arity, joint, report, target)
    elif verb == "map":
        judge_map(out, arity, joint)
    else:
        judge_log_z(words, joint, target)
    return f"{key}: claimed"
