# SPDX-License-Identifier: Apache-2.0
"""Tests cases that are answered by sampling, for tools/attack. The models are those of attack_claims.py, which are made to deceive
chains. Each case has a row, even if a limit ended its run. A row that is called converged is false if a probability is off by more
than five stated errors and by more than the target."""
import math

import numpy

from attack_answers import Wrong, rows_of
from attack_claims import ERRORS, KINDS, TARGET
from attack_gradients import table
from attack_wide import joint_of, write_model

LENGTHS = [["--max-updates", 2000000], ["--max-updates", 10000000], ["--sweeps", 4096], ["--temper", 16, "--max-updates", 10000000]]


def some_cases(r, arity, joint, seen):
    """@return columns, and rows of states or None. Half of the rows are drawn from the model, so that they are possible."""
    free = [v for v in range(len(arity)) if v not in seen]
    columns = sorted(r.sample(free, min(len(free) - 1, r.randrange(1, 5))))
    p = numpy.exp(joint - joint.max()).ravel()
    rows = []
    for i in range(4):
        at = numpy.unravel_index(r.choices(range(p.size), p)[0], arity)
        likely = [int(at[v]) if i % 2 == 0 else r.randrange(arity[v]) for v in columns]
        rows.append([None if r.random() < 0.3 else a for a in likely])
    return columns, rows


def marginal(joint, v):
    p = numpy.exp(joint - joint.max())
    p = p.sum(axis=tuple(u for u in range(p.ndim) if u != v))
    return p / p.sum()


def judge(case, row, arity, joint, kind):
    """@return what the row claims."""
    impossible = joint.max() == -math.inf
    if row["converged"] != "1":
        return "no claim"
    if impossible != (row["log_probability"] == "-inf"):
        raise Wrong(f"cases: {kind}: {case} {'has probability 0 and an answer' if impossible else 'is called impossible'}")
    if impossible:
        return "impossible"
    for v, k in enumerate(arity):
        for a, truth in enumerate(marginal(joint, v)):
            found, mcse = (float(row[f"{v}={a}{what}"] or "nan") for what in ("", " mcse"))
            if not abs(found - truth) <= max(ERRORS * (0.0 if math.isnan(mcse) else mcse), TARGET):
                raise Wrong(f"cases: {kind}: {case} claims P({v}={a}) = {found} +- {mcse}, it is {truth}")
    return "claimed"


def cases_sampled(trial):
    """Answers a table of cases by sampling, and holds each row that is called converged against enumeration."""
    r = trial.r
    kind, how = r.choice(list(KINDS)), r.choice(LENGTHS)
    arity, factors, *evidence = KINDS[kind](r)
    seen = evidence[0] if evidence else {}
    with numpy.errstate(divide="ignore"):
        logs = [(scope, numpy.log(numpy.asarray(weight, float)).reshape([arity[v] for v in scope])) for scope, weight in factors]
    joint = joint_of(arity, logs, seen)
    columns, cases = some_cases(r, arity, joint, seen)
    write_model(trial, arity, logs)
    trial.write("c.csv", table(columns, [["NA" if a is None else a for a in case] for case in cases]))
    given = [x for v, state in seen.items() for x in ("-e", f"{v}={state}")]
    status, out, words = trial.run("marginals", "m.LG", *given, "--cases", "c.csv", "--method", "sample", *how, "--threads", 1,
                                   "--seed", r.randrange(1000))
    if status not in (0, 5):
        raise Wrong(f"refused: status {status}: {words[-300:]}")
    rows = rows_of(out.decode(), "case", "converged")
    if len(rows) != len(cases):
        raise Wrong(f"cases: {len(rows)} rows for {len(cases)} cases")
    claims = [judge(case, row, arity, joint_of(arity, logs, {**seen, **{v: a for v, a in zip(columns, case) if a is not None}}), kind)
              for case, row in zip(cases, rows)]
    return f"cases by sampling, {kind}: {claims.count('claimed')} of {len(claims)} claimed"
