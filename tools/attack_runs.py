# SPDX-License-Identifier: Apache-2.0
"""Tests runs of chains for tools/attack: runs are interrupted and resumed, monitored, diagnosed and reported."""
import html.parser
import json
import math
import os
import statistics

import numpy

from attack_answers import Wrong, rows_of

# ---- interrupted runs ------------------------------------------------------------------------


def commands_of(trial, verb, others):
    """@return a function that makes the command from sweeps and updates."""
    q, r = trial.q, trial.r
    given = q.evidence()
    given += [x for option in q.options if option[0] not in others for x in option]
    burn_in = [] if verb in ("map", "logz") else ["--burn-in", r.choice([0, 5, 30])]

    def words(sweeps, updates):
        length = [] if sweeps is None else ["--sweeps", sweeps]
        return [verb, "model.gbm", *given, *length, *burn_in, "--max-updates", updates]
    return words


def resume(trial):
    """Checks that a run that is interrupted and resumed ends like an uninterrupted run."""
    r, verb = trial.r, trial.q.verb.partition("-")[2] or "marginals"
    sweeps = r.choice([20, 64, 150] + [None] * (verb in ("map", "logz")))
    words = commands_of(trial, verb, ("--sweeps", "--burn-in", "--max-updates", "--threads"))
    outputs = [[], ["--format", "npz", "-o", "draws.npz"], ["--format", "tab", "-o", "draws.tab"]]
    output = r.choice(outputs) if verb == "sample" else []
    whole = words(sweeps, 10 ** 9 if sweeps is not None else 10 ** 5) + output

    def answer(*more, **environment):
        status, out, said = trial.run(*whole, *more, **environment)
        file = trial.read(output[-1]) if output and os.path.exists(trial.path(output[-1])) else b""
        return status, out + file, said
    status, out, _ = answer()
    if status not in (0, 4, 5) or not out.strip():
        return status
    by_sweeps = verb not in ("map", "logz") and r.random() < 0.5  # map and logz choose temperatures by their length
    short = words(r.randrange(1, sweeps), 10 ** 9) if by_sweeps else words(sweeps, r.randrange(1, 20000))
    begun, _, said = trial.run(*short, "--checkpoint", "run.ckpt", "--threads", r.choice([1, 3]))
    if begun not in (0, 4, 5):
        if begun == 2 and "sweeps" in said or "cannot be kept" in said:
            return begun
        raise Wrong(f"checkpoint: status {begun}: {said[-300:]}")
    if not os.path.exists(trial.path("run.ckpt")):
        return begun
    trial.done("info", "run.ckpt")
    onwards = r.choice([[], ["--checkpoint", "run.ckpt"], ["--checkpoint", "next.ckpt"]])
    again, found, said = answer("--resume", "run.ckpt", *onwards, "--threads", r.choice([1, 3]),
                                GIBBSITE_SIMD=r.choice(["portable", "avx2"]))
    if again == 3:  # the length of the run decides how values are drawn
        return again
    if (again, found) != (status, out):
        raise Wrong(f"resume: other bytes after {' '.join(map(str, short[-6:]))}, status {again} and {status}: {said[-300:]}")
    return status


# ---- R-hat and the like ----------------------------------------------------------------------


def rhat(x):
    """@return R-hat of draws [chain, draw], of split chains with rank-normalised and with folded draws; Vehtari et al. (2021)."""
    half = x.shape[1] // 2
    split, folded = (numpy.concatenate([y[:, :half], y[:, x.shape[1] - half:]]) for y in (x, numpy.abs(x - numpy.median(x))))
    return max(rhat_of_ranks(split), rhat_of_ranks(folded))


def rhat_of_ranks(x):
    _, inverse, count = numpy.unique(x, return_inverse=True, return_counts=True)
    rank = (numpy.cumsum(count) - (count - 1) / 2)[inverse]
    normal = statistics.NormalDist()
    z = numpy.array([normal.inv_cdf((k - 0.375) / (x.size + 0.25)) for k in rank.ravel()]).reshape(x.shape)
    n, within = x.shape[1], z.var(axis=1, ddof=1).mean()
    between = n * z.mean(axis=1).var(ddof=1)
    return math.sqrt(((n - 1) / n * within + between / n) / within) if within > 0 else 0.0


def check_quantity(row, x):
    """@param x [chain, draw]"""
    mean, sd = float(x.mean()), float(x.std(ddof=1)) if x.size > 1 else 0.0
    for name, truth in (("mean", mean), ("sd", sd)):
        if row[name] is not None and abs(row[name] - truth) > 1e-9 * (1 + abs(mean) + sd):
            raise Wrong(f"diagnose: {row['name']} has {name} {row[name]!r}, it is {truth!r}")
    if bool(row["constant"]) != bool((x == x.flat[0]).all()):
        raise Wrong(f"diagnose: {row['name']} is called constant: {row['constant']}")
    if row["rhat"] is not None and x.shape[0] > 1 and not row["constant"]:
        truth = rhat(x)
        if truth > 0 and abs(row["rhat"] - truth) > 1e-6 * truth:
            raise Wrong(f"diagnose: {row['name']} has R-hat {row['rhat']!r}, it is {truth!r}")


def monitor(trial):
    """Checks that --monitor prints for a run what diagnose prints for its draws."""
    r, m = trial.r, trial.m
    chosen = r.sample(range(len(m.arity)), min(len(m.arity), 3))
    words = commands_of(trial, "marginals", ("--sweeps", "--burn-in", "--max-updates", "--monitor", "--estimator", "--query",
                                             "--target-error"))
    command = words(r.choice([4, 50, 200]), 10 ** 9) + ["--monitor", ",".join(m.text(v) for v in chosen)]
    status, _, words = trial.run(*command, "--summary", "run.json")
    if status not in (0, 4, 5):
        return status
    told = json.loads(trial.read("run.json"))["monitored"]
    drawn, _, said = trial.run("sample", *command[1:], "-o", "draws.npz")
    if drawn == 2:
        return drawn  # --partial-scan: variables that are not visited have no draws
    if drawn != status or not os.path.exists(trial.path("draws.npz")):
        raise Wrong(f"monitor: sample ends with {drawn}, marginals with {status}: {said[-300:]}")
    with numpy.load(trial.path("draws.npz")) as file:
        x, lp = file["x"], file["lp"]
    if told is None or told["stride"] != 1 or x.size == 0:
        return status
    draws = {"log density": lp} if numpy.isfinite(lp).all() else {}
    for i, v in enumerate(chosen if x.shape[2] == len(chosen) else []):
        draws.update({f"{m.text(v)}={m.state(v, a)}": (x[:, :, i] == a).astype(float) for a in range(m.arity[v])})
    for row in told["quantities"]:
        if row["name"] in draws:
            check_quantity(row, draws[row["name"]])
    return status


def means_of(out):
    """@return the means of all quantities except the log density."""
    return [float(row["mean"]) for row in rows_of(out.decode(), "mean") if row[next(iter(row))] not in ("lp", "lp__")]


def diagnose(trial):
    """Checks that diagnose prints the same about our draws in every format, and that this is correct."""
    status, out, _ = trial.run("sample", "model.gbm", *trial.q.words(), "-o", "draws.npz")
    if status not in (0, 4, 5) or not os.path.exists(trial.path("draws.npz")):
        return status
    with numpy.load(trial.path("draws.npz")) as file:
        x = file["x"].astype(float)
    if x.size == 0:
        return status
    status, out, words = trial.run("diagnose", "draws.npz")
    if status != 0:
        return status
    means = means_of(out)
    if len(means) == x.shape[2] and not numpy.allclose(means, x.mean(axis=(0, 1)), rtol=1e-9, atol=1e-9):
        raise Wrong("diagnose: other means than those of the draws")
    quantities = json.loads(trial.done("diagnose", "draws.npz", "--format", "json")[0])["quantities"]
    for i in range(x.shape[2] if len(quantities) >= x.shape[2] else 0):
        check_quantity(quantities[i], x[:, :, i])
    trial.done("diagnose", "draws.npz", "--format", "table", "--top", 2, "-o", "told.txt")
    agreed = trial.run("diagnose", "draws.npz", "--require-converged")
    if agreed[0] not in (0, 5) or (agreed[0] == 5) == ("gibbsite: converged" in agreed[2]):
        raise Wrong(f"diagnose: --require-converged ends with {agreed[0]}: {agreed[2][-300:]}")
    style, output = trial.r.choice([("cmdstan", "draws.csv"), ("coda", "draws")])
    trial.run("sample", "model.gbm", *trial.q.words(), "--format", style, "-o", output)
    names = ["drawsindex.txt"]
    if style == "cmdstan":
        names = sorted(x for x in os.listdir(trial.folder) if x.startswith("draws") and x.endswith(".csv"))
    status, out, words = trial.run("diagnose", *names, "--format", "csv", "--plot", "ranks.svg")
    if status == 3 and "draw" not in words:
        raise Wrong(f"diagnose: our own {style} is refused: {words[-300:]}")
    again = means_of(out) if status == 0 else means
    if len(again) != len(means) or not numpy.allclose(again, means, rtol=1e-9, atol=1e-9):
        raise Wrong(f"diagnose: other means of {style} than of npz")
    return status


# ---- pages -----------------------------------------------------------------------------------

EMPTY = {"meta", "link", "br", "hr", "img", "input", "wbr"}


class Page(html.parser.HTMLParser):
    """Checks the HTML of a page: elements are closed in order, and nothing is loaded."""

    def __init__(self, page):
        super().__init__()
        self.open, self.text = [], []
        self.feed(page)
        self.close()
        if self.open or not page.startswith("<!DOCTYPE html>"):
            raise Wrong(f"page: not closed: {self.open}")

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "iframe", "object", "embed", "link", "img"):
            raise Wrong(f"page: has <{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name in ("src", "href") and not (value or "").startswith(("#", "data:")):
                raise Wrong(f"page: {name}={value!r}")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise Wrong(f"page: </{tag}> closes another element")

    def handle_data(self, data):
        self.text.append(data)


def summary_of(verb):
    return ["--format", "json", "-o", "run.json"] if verb in ("map", "logz") else ["--summary", "run.json"]


def report(trial):
    """Checks the page that a run makes, and the page made from its summary: well-formed, self-contained, with the right marginals."""
    r, q = trial.r, trial.q
    verb = r.choice(["marginals", "marginals", "sample", "map", "logz", "exact"])
    given = q.evidence()
    given += [["--method", "sample", "--sweeps", "50"], ["--method", "exact"], []][r.randrange(3)] if verb != "exact" else []
    if verb == "sample":
        given = [*q.evidence(), "--method", "sample", "--sweeps", "50"]
    given += ["--max-updates", "10000"] if verb != "exact" else []
    files = summary_of(verb)
    status, _, words = trial.run(verb, "model.gbm", *given, *files, "--report", "run.html")
    if status not in (0, 4, 5) or not os.path.exists(trial.path("run.json")):
        return status
    page = trial.read("run.html").decode()
    text = " ".join(Page(page).text)
    if verb in ("marginals", "exact") and trial.answers.possible:
        check_shown(trial, json.loads(trial.read("run.json")), text)
    again, _ = trial.done("report", "run.json")
    Page(again.decode())
    if verb in ("marginals", "sample", "exact") and again.decode() != page:
        raise Wrong("report: another page than that of --report")
    trial.done("report", "run.json", "-o", "other.html", GIBBSITE_SIMD="portable")
    if trial.read("other.html") != again:
        raise Wrong("report: another page in a file")
    two, _ = trial.done("report", "run.json", "run.json")
    Page(two.decode())
    return status


def check_shown(trial, summary, text):
    """Checks that the summary has the marginals of the model, and that the page has the names and states."""
    m, answers = trial.m, trial.answers
    shown = (summary.get("marginals") or {}).get("shown", [])
    for variable in shown:
        v = variable["id"]
        if m.text(v) not in text:
            raise Wrong(f"page: no {m.text(v)}")
        truth = answers.marginal([v])
        for state in variable["states"]:  # only the most probable states if there are many
            a = answers.state_number(v, state["state"])
            error = abs(state["p"] - truth[a])
            if summary["method"] == "exact" and error > answers.close:
                raise Wrong(f"exact: {m.text(v)}, state {a}: {state['p']!r} in the summary, it is {truth[a]!r}")
