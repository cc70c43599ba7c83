# SPDX-License-Identifier: Apache-2.0
"""Tests each verb for tools/attack, with one command or several that must agree."""
import csv
import io
import json
import math
import os

import numpy

from attack_answers import Answers, Wrong, rows_of
from attack_cases import cases_sampled
from attack_gradients import gradients
from attack_ground import ground
from attack_inputs import netcdf, shares
from attack_large import counters, large
from attack_learning import em, em_sampled
from attack_models import Model
from attack_module import module
from attack_pictures import denoise
from attack_places import pipes, places
from attack_ranks import ranks
from attack_runs import diagnose, monitor, report, resume
from attack_segment import segment
from attack_sequences import label, learn
from attack_wide import wide


class Trial:
    """A model and a question in an own folder, and the program."""

    def __init__(self, program, m, q, folder, r):
        self.program, self.m, self.q, self.folder, self.r = program, m, q, folder, r
        self.answers = Answers(m, q, q.given())

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def run(self, *command, **environment):
        """@return status, standard output, standard error of a command, which may fail only in a documented way."""
        status, out, words = self.program.run(self.folder, [str(x) for x in command], environment)
        if status in (1, 2) and not words.strip() and command[0] != "compare":
            raise Wrong(f"silent: status {status} without a reason")
        if status in (1, 2) and out.strip() and command[0] != "compare":
            raise Wrong(f"output: status {status} with {len(out)} bytes of output")
        if status == 3 and not any(reason in words for reason in ("can be read as one sample", "leave them as they were")):
            raise Wrong(f"file: refused one that is good: {words[-300:]}")
        if status == 1 and command[0] != "compare":
            self.answers.check_reason(words)
        return status, out, words

    def done(self, *command, **environment):
        """Does the work of run() for a command that must not fail."""
        status, out, words = self.run(*command, **environment)
        if status != 0:
            raise Wrong(f"refused: {' '.join(map(str, command))}: status {status}, {words[-300:]}")
        return out, words


def attack(trial):
    """@return exit status of the command."""
    trial.program.make(trial.folder, trial.m.describe())
    for name, text in trial.q.files.items():
        trial.write(name, text)
    return {**OF_SEVERAL, **FAMILIES}.get(trial.q.verb, ask)(trial)


# ---- a command, and equivalent ones ----------------------------------------------------------


def ask(trial):
    q = trial.q
    verb = "marginals" if q.verb in ("joint", "cases") else q.verb
    command = [verb, "model.gbm", *q.words()]
    if q.verb == "cases" and not write_cases(trial):
        return 2  # no variable is left for a column
    if q.verb == "cases":
        command += ["--cases", "cases.csv"]
    summary = ["--summary", "summary.json"] if q.verb in ("marginals", "sample") else []
    status, out, words = trial.run(*command, *summary)
    if status not in (0, 4, 5) or not out.strip() and ("nothing is written" in words or "before the first sweep" in words):
        return status
    report = json.loads(trial.read("summary.json")) if summary else None
    trial.answers.check(out.decode(), words, report)
    if q.verb != "info" and "blanket" not in command and "--time" not in command:  # the output of info depends on the machine
        equivalent(trial, command, status, out)
    return status


def equivalent(trial, command, status, out):
    """@return a command that asks the same question in another way."""
    trial.r.choice([other_threads, other_instructions, other_order, other_format])(trial, command, status, out)


def same(trial, command, status, out, what, **environment):
    again = trial.run(*command, **environment)
    if again[:2] != (status, out):
        raise Wrong(f"{what}: other bytes, status {again[0]}, with {' '.join(command)} {environment}")


def other_threads(trial, command, status, out):
    if command[0] != "certify" and "--asymptotic" not in command:
        same(trial, [*command, "--threads", "3"], status, out, "threads")


def other_instructions(trial, command, status, out):
    same(trial, command, status, out, "simd", GIBBSITE_SIMD=trial.r.choice(["portable", "avx2"]))


def other_order(trial, command, status, out):
    """@return the evidence in another order. The likelihoods of one variable keep their order, because rounding depends on it."""
    q = trial.q
    if len({v for v, _ in q.given()}) == len(q.given()):
        words = [x for option, _ in reversed(q.seen) for x in option] + [x for option in q.options for x in option]
        same(trial, [command[0], command[1], *words, *command[2 + len(words):]], status, out, "order")


def other_format(trial, command, status, out):
    if trial.q.verb in FORMATS and not any(x in ("--picture", "traces", "--partial-scan", "--restarts") for x in command):
        FORMATS[trial.q.verb](trial, command, status, out.decode())


def number(x):
    """@return a number, NaN if the text is empty. Text formats leave out numbers that are not finite."""
    return float(x) if x not in (None, "") and math.isfinite(float(x)) else math.nan


def equal(a, b):
    return len(a) == len(b) and all(x == y or x != x and y != y for x, y in zip(a, b))


def formats_of_marginals(trial, command, status, out):
    """Checks that JSON, npz and MAR have the numbers of CSV."""
    rows = rows_of(out)
    style = trial.r.choice(["json", "npz", "mar"])
    if style == "mar" and (trial.q.has("--query") or len(rows) < sum(trial.m.arity)):
        return
    again, _, words = trial.run(*command, "--format", style, "-o", f"out.{style}")
    if again != status:
        raise Wrong(f"format: status {again} with {style}, {status} with csv; {words[-300:]}")
    if not rows:
        return
    if style == "json":
        variables = json.loads(trial.read("out.json"))["variables"]
        columns = {c: [number(x) for v in variables for x in v[c]] for c in ("probability", "mcse", "ess", "rhat")}
    elif style == "npz":
        with numpy.load(trial.path("out.npz")) as file:
            known = ~numpy.isnan(file["marginals"])  # CSV has no rows of variables that a random scan did not visit
            columns = {c: list(file[c][known]) for c in ("mcse", "ess", "rhat")}
            columns["probability"] = list(file["marginals"][known])
    else:
        numbers, at, p = [float(x) for x in trial.read("out.mar").split()[2:]], 0, []
        for k in trial.m.arity:
            p += numbers[at + 1:at + 1 + k]
            at += 1 + k
        columns = {"probability": p}
    for name, values in columns.items():
        if style == "mar" and numpy.allclose([float(row[name]) for row in rows], values, rtol=0, atol=1e-5):
            continue  # .MAR files are scaled to sum to one
        if not equal([number(row[name]) for row in rows], [number(x) for x in values]):
            raise Wrong(f"format: another {name} in {style} than in csv")


def formats_of_draws(trial, command, status, out):
    """Checks that npz, tab and CmdStan's CSV have the draws of CSV."""
    rows = list(csv.reader(io.StringIO(out)))[1:]
    style = trial.r.choice(["npz", "npy", "tab", "cmdstan", "coda"])
    again, _, words = trial.run(*command, "--format", style, "-o", {"cmdstan": "out.csv", "coda": "out"}.get(style, f"out.{style}"))
    if again != status:
        raise Wrong(f"format: status {again} with {style}, {status} with csv; {words[-300:]}")
    states = [[int(x) for x in row[3:]] for row in rows]
    if style in ("npz", "npy") and rows:
        file = numpy.load(trial.path(f"out.{style}"))
        x, at = file["x"] if style == "npz" else file, [(int(row[0]), int(row[1])) for row in rows]
        if style == "npz" and not equal([file["lp"][i] for i in at], [float(row[2]) for row in rows]):
            raise Wrong("format: another lp in npz than in csv")
        if [x[i].tolist() for i in at] != states or x.size != sum(map(len, states)):
            raise Wrong(f"format: other draws in {style} than in csv")
    elif style == "tab" and rows and states[0]:
        lines = trial.read("out.tab").decode().splitlines()[2:]
        if [[int(x) for x in line.split("\t")] for line in lines] != states:
            raise Wrong("format: other draws in tab than in csv")


def formats_of_exact(trial, command, status, out):
    """Checks that the junction tree of another verb, or of the model with all factors as tables, gives the same answer."""
    task = trial.q.value("--task", "mar")
    if task not in ("mar", "pr"):
        return
    if trial.r.random() < 0.5:
        command = ["marginals" if task == "mar" else "logz", "model.gbm", *trial.q.evidence(), "--method", "exact"]
    else:
        if "-e" in command or "--likelihood" in command:
            return  # names are lost
        trial.done("convert", "model.gbm", "-o", "other.LG")
        command = ["exact", "other.LG", *command[2:]]
    found = trial.done(*command)[0].decode()
    if task == "pr":
        trial.answers.check_logz(found, "exact", None)
    else:
        p, other = ([float(row["probability"]) for row in rows_of(text)] for text in (out, found))
        if not numpy.allclose(p, other, rtol=0, atol=2 * trial.answers.close + 1e-14):
            raise Wrong(f"format: another answer of {' '.join(command)}")


FORMATS = {"marginals": formats_of_marginals, "sample": formats_of_draws, "exact": formats_of_exact}


def write_cases(trial):
    """Writes a table of cases. @return whether there is a variable for a column."""
    m, r, q = trial.m, trial.r, trial.q
    observed = {v for v, _ in q.given()}
    columns = [v for v in range(len(m.arity)) if v not in observed][:4]
    q.cases = [{v: a for v in columns for a in [r.choice([None, r.randrange(m.arity[v])])] if a is not None} for _ in range(5)]
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow([m.text(v) for v in columns])
    for case in q.cases:
        table.writerow([m.state(v, case[v]) if v in case else r.choice(["NA", ""]) if len(columns) > 1 else "NA" for v in columns])
    trial.write("cases.csv", text.getvalue())
    return bool(columns)


# ---- verbs of several commands ---------------------------------------------------------------


def convert(trial):
    """Checks that a converted model has the same distribution, and is written again as the same bytes."""
    m, q, answers = trial.m, trial.q, trial.answers
    style = q.value("--format", "gbm")
    name = "out.meta" if style.startswith("dimm") else "out"
    status, _, words = trial.run("convert", "model.gbm", *q.words(), "-o", name)
    if status != 0 or style in ("dot", "col"):  # these formats have no factors
        return status
    status, text, words = trial.run("exact", name, "--from", style, "--task", "mar")
    if not answers.possible:
        return 0
    if status != 0:
        raise Wrong(f"convert: the {style} file is not answered: {words[-300:]}")
    truth = [x for v in range(len(m.arity)) for x in answers.marginal([v])]
    found = [float(row["probability"]) for row in rows_of(text.decode(), "probability")]
    if style in ("coo", "mln", "wcnf", "alchemy") and len(found) != len(truth):
        return 0  # variables without a factor are lost
    if style in ("mln", "xdsl"):  # these formats change the order of variables
        found, truth = sorted(found), sorted(truth)
    if len(found) != len(truth) or max((abs(a - b) for a, b in zip(found, truth)), default=0.0) > max(1e-6, answers.close):
        raise Wrong(f"convert: marginals of the {style} file differ")
    return 0


def uai(trial):
    """Compares the tasks of the UAI competitions with enumeration."""
    m, q, r, answers = trial.m, trial.q, trial.r, trial.answers
    task = q.value("--task", "PR")
    hard = {v: r.randrange(m.arity[v]) for v in range(len(m.arity)) if r.random() < 0.2}
    answers = Answers(m, q, [(v, numpy.arange(m.arity[v]) == a) for v, a in hard.items()])
    trial.answers = answers
    query = sorted(r.sample(range(len(m.arity)), r.randint(1, len(m.arity))))
    trial.write("case.evid", r.choice([f"{len(hard)}", f"1\n{len(hard)}"]) + "".join(f" {v} {a}" for v, a in hard.items()) + "\n")
    trial.write("case.query", f"{len(query)} {' '.join(map(str, query))}\n")
    status, _, words = trial.run("uai", "model.gbm", "case.evid", "case.query", task)
    if status != 0:
        return status
    found = trial.read(f"model.gbm.{task}").decode().split("-BEGIN-")[-1].split()
    if not answers.possible:
        if "-inf" not in found:
            raise Wrong(f"impossible: {task} answered, though no state has positive weight")
        return status
    if task == "PR" and not answers.same_log_z(float(found[-1]) * math.log(10.0)):
        raise Wrong(f"exact: PR {found}, ln Z is {answers.log_z!r}")
    if task == "MAR":
        numbers = [float(x) for v, k in enumerate(m.arity) for x in [k, *answers.marginal([v])]]
        if not numpy.allclose([float(x) for x in found[-len(numbers):]], numbers, rtol=0, atol=answers.close):
            raise Wrong("exact: MAR")
    if task in ("MAP", "MPE"):
        answers.check_state([int(x) for x in found[-len(m.arity):]], True)
    if task == "MMAP":
        check_mmap(answers, found)
    return status


def check_mmap(answers, found):
    pairs = [int(x) for x in found[-2 * int(found[1]):]] if found[0] == "MMAP" else [int(x) for x in found[1:]]
    state = dict(zip(pairs[::2], pairs[1::2]))
    others = tuple(v for v in range(answers.p.ndim) if v not in state)
    weight = answers.p.sum(axis=others)
    own, largest = weight[tuple(state[v] for v in sorted(state))], weight.max()
    if own < largest * (1 - 1e-9) - answers.close:
        raise Wrong(f"exact: MMAP {state} of probability {own!r}, the largest is {largest!r}")


def compare(trial):
    """Checks that compare prints the largest difference of two results."""
    q = trial.q
    status, _, _ = trial.run("marginals", "model.gbm", *q.words(), "--method", "exact", "-o", "a.MAR")
    if status != 0:
        return status
    trial.done("compare", "a.MAR", "a.MAR")
    status, _, _ = trial.run("marginals", "model.gbm", *q.words(), "--method", "sample", "--sweeps", "20", "-o", "b.MAR")
    if status not in (0, 4, 5):
        return status
    p, other = ([float(x) for x in trial.read(name).split()[2:]] for name in ("a.MAR", "b.MAR"))
    largest = max(abs(x - y) for x, y in zip(p, other))
    for tolerance, expected in ((largest * (1 + 1e-6) + 1e-15, 0), (largest * (1 - 1e-6) - 1e-15, 1)):
        if tolerance < 0:
            continue
        found, _, _ = trial.run("compare", "a.MAR", "b.MAR", "--tolerance", repr(tolerance))
        if found != expected:
            raise Wrong(f"compare: status {found}, largest difference {largest!r}, tolerance {tolerance!r}")
    return status


def scan(trial):
    """Checks that a scan that was found can be certified and run."""
    status, _, _ = trial.run("scan", "model.gbm", *trial.q.words(), "-o", "found.scan")
    if status != 0 or not os.path.exists(trial.path("found.scan")):
        return status
    given = ["model.gbm", *trial.q.evidence(), "--scan", "found.scan"]
    trial.done("certify", *given)
    trial.run("marginals", *given, "--partial-scan", "--restarts", "--sweeps", "20", "--max-updates", "10000")
    return status


def fit(trial):
    """Checks tables from counts. If values are missing, the likelihood must not fall."""
    m, r, answers = trial.m, trial.r, trial.answers
    if not answers.possible:
        return 2
    flat_p = answers.p.ravel() / answers.p.sum()
    missing = r.choice([0.0, 0.0, 0.1, 0.5])
    states = numpy.random.default_rng(r.randrange(2 ** 32)).choice(flat_p.size, r.choice([1, 5, 40]), p=flat_p)
    rows = [[None if r.random() < missing else int(a) for a in numpy.unravel_index(s, answers.p.shape)] for s in states]
    columns = list(range(len(m.arity)))
    if len(m.name) == len(m.arity):  # variables without names must be in ascending order
        r.shuffle(columns)
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow([m.text(v) for v in columns])
    for row in rows:
        table.writerow(["NA" if row[v] is None else m.state(v, row[v]) for v in columns])
    trial.write("data.csv", text.getvalue())
    prior = r.choice(["none", "none", "bdeu:3", "dirichlet:0.5"])
    method = r.choice(["auto", "exact", "exact", "sample"]) if missing else "auto"
    options = ["--prior", prior, "--method", method, "--iterations", r.choice([1, 5, 30]), "--intervals", "intervals.csv",
               "--summary", "fit.json"]
    options += ["--sweeps", "16"] if method == "sample" else []
    status, _, words = trial.run("fit", "model.gbm", "data.csv", *options, "-o", "fitted.gbm")
    if status != 0:
        return status
    report = json.loads(trial.read("fit.json"))
    complete = all(a is not None for row in rows for a in row)
    tables = all(word == "potential" for word, _ in m.factors)
    if complete and prior == "none" and tables:
        check_counts(trial, rows)
    if prior == "none" and method == "exact" and report["log_likelihood"] < log_likelihood(answers, rows) - 1e-6 * len(rows):
        raise Wrong(f"fit: ln P(data) fell from {log_likelihood(answers, rows)!r} to {report['log_likelihood']!r}")
    trial.done("exact", "fitted.gbm")
    return status


def log_likelihood(answers, rows):
    with numpy.errstate(divide="ignore"):
        return float(sum(numpy.log(answers.p[tuple(slice(None) if a is None else a for a in row)].sum()) for row in rows))


def check_counts(trial, rows):
    """Checks that the most likely tables have the frequencies of the rows."""
    m = trial.m
    text = trial.read("intervals.csv").decode()
    found = [float(row["probability"]) for row in rows_of(text, "probability")]
    at = 0
    for _, (n, scope, values) in m.factors:
        shape = [m.arity[v] for v in scope]
        counts = numpy.zeros(shape)
        for row in rows:
            counts[tuple(row[v] for v in scope)] += 1
        total = numpy.broadcast_to(counts.sum(axis=-1, keepdims=True), shape)
        p = numpy.divide(counts, total, out=numpy.reshape(numpy.array(values), shape).copy(), where=total > 0).ravel()
        for share in p:
            if abs(found[at] - share) > 1e-9:
                raise Wrong(f"fit: probability {found[at]}, expected {share}, number {at}")
            at += 1


def unroll(trial):
    """Checks that slice t of a network over time has the distribution p K^t, with p the distribution of the first slice and K the
    transition matrix."""
    m, q = trial.m, trial.q
    n, arity = m.of_slice, m.arity[:m.of_slice]
    first, later = Model(arity), Model(m.arity)
    first.factors, later.factors = m.factors[:n], m.factors[n:]
    p = numpy.exp(first.log_weights()).ravel()
    step = numpy.exp(later.log_weights()).reshape(p.size, p.size)
    status, _, _ = trial.run("convert", "model.gbm", *q.words(), "-o", "out")
    if status != 0:
        return status
    rows = rows_of(trial.done("exact", "out", "--from", q.value("--format", "gbm"))[0].decode(), "probability")
    found = {(row["variable"], int(row["state"])): float(row["probability"]) for row in rows}
    for t in range(int(q.value("--unroll", 1))):
        for v, k in enumerate(arity):
            others = tuple(u for u in range(n) if u != v)
            truth = p.reshape(arity).sum(axis=others)
            if any(abs(found.pop((f"x{v}[{t}]", a)) - truth[a]) > 1e-6 for a in range(k)):
                raise Wrong(f"unroll: variable {v} of slice {t}, it has {truth.tolist()}")
        p = p @ step
    if found:
        raise Wrong(f"unroll: variables nobody asked for: {sorted(found)}")
    return status


def generate(trial):
    """Checks that a generated model of every kind is the same in two formats."""
    r = trial.r
    kind = r.choice(["ising", "potts", "ring", "complete", "regular", "powerlaw", "rbm", "bayes"])
    n = r.choice([4, 6, 8])
    spins = ["--coupling", r.choice([-1, 0, 0.3, 5]), "--field", r.choice([0, 0.2]), "--coupling-spread", r.choice([0, 1]),
             "--random-field", r.choice([0, 1])]
    own = {"ising": ["--grid", r.choice(["1x1", "2x3", "3x3", "2x2x2"]), *r.choice([[], ["--torus"]]), *spins],
           "potts": ["--grid", "2x3", "--states", r.choice([2, 3]), "--noise", r.choice([0, 1]), *r.choice([[], ["--torus"]])],
           "ring": ["--variables", n, *spins], "complete": ["--variables", n, *spins],
           "regular": ["--variables", n, "--degree", r.choice([1, 2, 3]), *spins],
           "powerlaw": ["--variables", n, "--edges", r.choice([1, 2]), *spins],
           "rbm": ["--visible", r.choice([1, 3]), "--hidden", r.choice([1, 4]), *spins],
           "bayes": ["--variables", n, "--parents", r.choice([0, 1, 3]), "--states", r.choice(["2", "1:3"])]}[kind]
    command = ["generate", kind, *own, "--seed", r.randrange(2 ** 64)]
    status, _, _ = trial.run(*command, "-o", "made.gbm")
    if status != 0:
        return status
    trial.done(*command, "-o", "made.uai")
    log_z = [float(trial.done("logz", name, "--method", "exact")[0].split()[1]) for name in ("made.gbm", "made.uai")]
    if abs(log_z[0] - log_z[1]) > 1e-9 * (1 + abs(log_z[0])):
        raise Wrong(f"generate: log10 Z {log_z} in two formats")
    return status


OF_SEVERAL = {"convert": convert, "uai": uai, "compare": compare, "scan": scan, "fit": fit, "generate": generate, "unroll": unroll,
              "resume": resume, "resume-sample": resume, "resume-map": resume, "resume-logz": resume, "diagnose": diagnose,
              "monitor": monitor, "report": report, "denoise": denoise, "label": label, "learn": learn,
              "ground": ground, "segment": segment}
# Families that --families can name.
FAMILIES = {"netcdf": netcdf, "shares": shares, "ranks": ranks, "pipes": pipes, "places": places,
            "gradients": gradients, "em": em, "large": large, "counters": counters, "module": module,
            "em-sampled": em_sampled, "cases-sampled": cases_sampled, "wide": wide}
