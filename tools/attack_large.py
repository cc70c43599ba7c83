# SPDX-License-Identifier: Apache-2.0
"""Tests large numbers for tools/attack: 65 535 states, weights of 1e280 and 1e-280, counters near 2^31 and 2^32."""
import fractions
import itertools
import math

import numpy

from attack_answers import Wrong, rows_of

MOST_STATES = 65535


def log_sum(x):
    top = x.max()
    return float(top + math.log(numpy.exp(x - top).sum())) if top > -math.inf else -math.inf


def states(trial):
    """Tests a chain of one variable with 65 535 states and two small variables."""
    r = trial.r
    k, a, b = r.choice([MOST_STATES, MOST_STATES, 65534, 40000, 257]), r.choice([2, 3]), 2
    random = numpy.random.default_rng(r.randrange(2 ** 32))
    power = r.choice([0, 1, 280])
    tables = [10.0 ** random.uniform(-power, power, shape).round(2) for shape in ((k,), (k, a), (a, b))]
    if r.random() < 0.5:
        tables[0][random.random(k) < 0.5] = 0.0
        tables[0][-1] = 1.0
    text = [f"MARKOV\n3\n{k} {a} {b}\n3\n1 0\n2 0 1\n2 1 2\n"]
    trial.write("m.uai", "".join(text) + "\n".join(f"{t.size}\n" + " ".join(map(repr, t.ravel().tolist())) for t in tables) + "\n")
    with numpy.errstate(divide="ignore"):
        logs = [numpy.log(t) for t in tables]
    joint = logs[0][:, None, None] + logs[1][:, :, None] + logs[2][None]
    seen = r.choice([None, k - 1, r.randrange(k)])
    given = [] if seen is None else ["-e", f"0={seen}"]
    if seen is not None:
        joint = numpy.where((numpy.arange(k) == seen)[:, None, None], joint, -math.inf)
    log_z = log_sum(joint)
    verb = r.choice(["marginals", "logz", "map"])
    status, out, words = trial.program.run(trial.folder, [verb, "m.uai", *given, "--method", "exact"], {})
    if log_z == -math.inf:
        if status == 0:
            raise Wrong("impossible: answered, though no state has positive weight")
        return status
    if status != 0:
        raise Wrong(f"refused: status {status} of {k} states: {words[-300:]}")
    if verb == "logz":
        found = float(out.split()[1]) * math.log(10)
        if abs(found - log_z) > 1e-9 * (1 + abs(log_z)):
            raise Wrong(f"exact: ln Z {found!r}, it is {log_z!r}")
    elif verb == "map":
        state = tuple(int(row["state"]) for row in rows_of(out.decode(), "state"))
        if joint[state] < joint.max() - 1e-9 * (1 + abs(joint.max())):
            raise Wrong(f"exact: a state of {joint[state]!r}, the largest is {joint.max()!r}")
    else:
        p = numpy.exp(joint - log_z)
        truth = numpy.concatenate([p.sum(axis=(1, 2)), p.sum(axis=(0, 2)), p.sum(axis=(0, 1))])
        found = numpy.array([float(line.split(",")[2]) for line in out.decode().splitlines()[1:]])
        if found.shape != truth.shape or numpy.abs(found - truth).max() > 1e-9:
            raise Wrong("exact: marginals of many states")
    return status


def powers(trial):
    """Tests weights of 1e-280 to 1e280, with exact fractions."""
    r = trial.r
    arity = [r.choice([2, 3]) for _ in range(r.randint(1, 4))]
    scopes = [sorted(r.sample(range(len(arity)), r.randint(1, min(2, len(arity))))) for _ in range(r.randint(1, 5))]
    tables = [[r.choice(["0", "1", "1e280", "1e-280", "3.5e279", "2e-279", "7"]) for _ in range(math.prod(arity[v] for v in s))] for s in scopes]
    trial.write("m.uai", f"MARKOV\n{len(arity)}\n{' '.join(map(str, arity))}\n{len(scopes)}\n"
                + "".join(f"{len(s)} {' '.join(map(str, s))}\n" for s in scopes) + "".join(f"{len(t)}\n{' '.join(t)}\n" for t in tables))
    weight = {}
    for state in itertools.product(*map(range, arity)):
        w = fractions.Fraction(1)
        for s, t in zip(scopes, tables):
            at = 0
            for v in s:
                at = at * arity[v] + state[v]
            w *= fractions.Fraction(float(t[at]))
        weight[state] = w
    z = sum(weight.values())
    status, out, words = trial.program.run(trial.folder, ["marginals", "m.uai", "--method", "exact"], {})
    if z == 0:
        if status == 0:
            raise Wrong("impossible: answered, though no state has positive weight")
        return status
    if status != 0:
        raise Wrong(f"refused: status {status} of weights 1e280: {words[-300:]}")
    truth = [float(sum(w for x, w in weight.items() if x[v] == a) / z) for v, k in enumerate(arity) for a in range(k)]
    found = [float(row["probability"]) for row in rows_of(out.decode(), "probability")]
    if len(found) != len(truth) or max(abs(x - y) for x, y in zip(found, truth)) > 1e-9:
        raise Wrong(f"exact: {found}, they are {truth}")
    log_z = (math.log10(z.numerator) - math.log10(z.denominator))
    told = float(trial.program.run(trial.folder, ["logz", "m.uai", "--method", "exact"], {})[1].split()[1])
    if abs(told - log_z) > 1e-9 * (1 + abs(log_z)):
        raise Wrong(f"exact: log10 Z {told!r}, it is {log_z!r}")
    return status


def large(trial):
    return trial.r.choice([states, powers, powers, powers])(trial)


# ---- counters --------------------------------------------------------------------------------

NUMBERS = [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1, 2 ** 64, 10 ** 30]
UAI = "MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n"
SAMPLED = ["m.uai", "--method", "sample", "--max-updates", "600", "--chains", "4"]
# Commands, files and texts in which {} stands for a number.
COUNTERS = [
    (["sample", *SAMPLED, "--sweeps", "{}"], None), (["sample", *SAMPLED, "--sweeps", "30", "--seed", "{}"], None),
    (["sample", *SAMPLED, "--sweeps", "30", "--burn-in", "{}"], None), (["sample", *SAMPLED, "--sweeps", "30", "--thin", "{}"], None),
    (["sample", "m.uai", "--method", "sample", "--sweeps", "3", "--memory-limit", "100M", "--chains", "{}"], None),
    (["sample", "m.uai", "--method", "sample", "--sweeps", "3000", "--chains", "4", "--max-updates", "{}"], None),
    (["marginals", "m.uai", "-e", "{}=0"], None), (["marginals", "m.uai", "-e", "0=#{}"], None), (["marginals", "m.uai", "--query", "{}"], None),
    (["marginals", "m.uai", "-e", "x.evid"], ("x.evid", "1 {} 0\n")), (["marginals", "m.uai", "-e", "x.evid"], ("x.evid", "1 0 {}\n")),
    (["marginals", "m.uai", "-e", "x.evid"], ("x.evid", "{} 0 1\n")), (["marginals", "x.uai"], ("x.uai", UAI.replace("2 2", "{} 2"))),
    (["marginals", "x.uai"], ("x.uai", UAI.replace("\n2\n", "\n{}\n", 1))), (["marginals", "x.uai"], ("x.uai", UAI.replace("2 0 1", "2 0 {}"))),
    (["marginals", "x.uai"], ("x.uai", UAI.replace("\n4\n", "\n{}\n"))), (["marginals", "x.uai"], ("x.uai", UAI.replace("2 0 1", "{} 0 1"))),
    (["logz", "x.cnf"], ("x.cnf", "p cnf 2 1\n1 {} 0\n")), (["info", "x.cnf"], ("x.cnf", "p cnf {} 1\n1 2 0\n")),
    (["info", "x.col"], ("x.col", "p edge 2 1\ne 1 {}\n")),
    (["generate", "ring", "--variables", "{}", "--memory-limit", "100M", "-o", "x.gbm"], None),
    (["generate", "ising", "--grid", "{}x2", "--memory-limit", "100M", "-o", "x.gbm"], None),
    (["generate", "potts", "--grid", "2x2", "--states", "{}", "-o", "x.gbm"], None),
    (["certify", "m.uai", "--steps", "{}"], None), (["marginals", "m.uai", "--scan", "x.scan", "--partial-scan", "--sweeps", "3"],
                                                    ("x.scan", "scan 1\nvariables 2\n{} 1\n"))]


def counters(trial):
    """Checks that a number is refused with a reason or used as it stands, and never cut to its last 32 or 31 bits."""
    r = trial.r
    trial.write("m.uai", UAI)
    words, file = r.choice(COUNTERS)
    small, number = r.choice([0, 1, 2, 3, 5]), r.choice(NUMBERS)

    def ask(n):
        if file is not None:
            trial.write(file[0], file[1].replace("{}", str(n)))
        return trial.program.run(trial.folder, [x.replace("{}", str(n)) for x in words], {}, most_kib=1 << 20)
    if words[0] == "certify" and number < 2 ** 64:
        number = 2 ** 64  # every smaller number of steps is legal and may take long
    if words[0] == "sample" and "--burn-in" in words and number < 2 ** 64:
        small = 0
    status, out, said = ask(number + small)
    if status in (1, 2, 3):
        if not said.strip() or out.strip():
            raise Wrong(f"counter: status {status}, {len(out)} bytes and '{said[:100]}' of {words} with {number + small}")
        return status
    wrapped = {n for n in (small, (number + small) % 2 ** 32, (number + small) % 2 ** 31, (number + small) % 2 ** 64) if n < number + small}
    for n in wrapped:
        other = ask(n)
        if other[0] == status and other[1] == out and out and n < 2 ** 20:
            raise Wrong(f"counter: {words} {file} with {number + small} has the answer of {n}")
    return status
