# SPDX-License-Identifier: Apache-2.0
"""Makes random questions for tools/attack: a verb with options, evidence of every form, and the files that these name."""
import math

import numpy

from attack_models import some


class Question:
    """A question: a verb, its options as a list of lists, the evidence, and files beside the model.

    seen: [(options, {variable: likelihoods})]. files: {name: text}, written before the command is run."""

    def __init__(self, verb, options, seen, files):
        self.verb, self.options, self.seen, self.files = verb, options, seen, files

    def evidence(self):
        return [x for option, _ in self.seen for x in option]

    def words(self):
        return self.evidence() + [x for option in self.options for x in option]

    def has(self, name):
        return any(option[0] == name for option in self.options)

    def value(self, name, default):
        return next((option[1] for option in reversed(self.options) if option[0] == name), default)

    def given(self):
        """@return [(variable, likelihoods)]"""
        return [(v, x) for _, seen in self.seen for v, x in seen.items()]


# ---- evidence --------------------------------------------------------------------------------


def likelihoods(r, k):
    """@return likelihoods, of which at least one is positive."""
    x = [r.choice([0.0, 1.0, 1e-12, 1e6, round(r.random(), 3), round(r.random(), 3)]) for _ in range(k)]
    return x if any(x) else [1.0] * k


def variable_text(r, m, v):
    return r.choice([m.text(v), f"={m.text(v)}" if v in m.name else str(v), str(v)])


def one_by_one(r, m, v):
    """@return the options that observe a variable, and its likelihoods."""
    k = m.arity[v]
    name, form = variable_text(r, m, v), r.choice(["one", "one", "number", "set", "not", "likelihood"])
    a, b = r.randrange(k), r.randrange(k)
    states = sorted({a, b})
    one = numpy.arange(k) == a
    if form == "one":
        return ["-e", f"{name}={m.state(v, a)}"], one
    if form == "number":
        return ["-e", f"{name}=#{a}"], one
    if form == "not":
        return ["-e", f"{name}!={m.state(v, a)}"], ~one
    if form == "set":
        return ["-e", f"{name}=" + "|".join(m.state(v, s) for s in states)], numpy.isin(numpy.arange(k), states)
    x = likelihoods(r, k)
    return ["--likelihood", f"{name}=" + "|".join(f"{m.state(v, s)}:{x[s]}" for s in range(k))], numpy.array(x)


def in_a_file(r, m, variables, files):
    """@return evidence on several variables, in a file or in one list."""
    form = r.choice(["list", "single", "multi", "tab", "virtual"])
    state = {v: r.randrange(m.arity[v]) for v in variables}
    soft = {v: numpy.array(likelihoods(r, m.arity[v])) for v in variables}
    hard = {v: numpy.arange(m.arity[v]) == a for v, a in state.items()}
    pairs = " ".join(f"{v} {a}" for v, a in state.items())
    if form == "list":
        return ["-e", r.choice([",", " , "]).join(f"{m.text(v)}={m.state(v, a)}" for v, a in state.items())], hard
    if form == "virtual":
        files["case.virtual"] = f"{len(soft)}\n" + "\n".join(
            f"{v} {len(x)} " + " ".join(repr(float(y)) for y in x) for v, x in soft.items()) + "\n"
        return ["--virtual-evidence", "case.virtual"], soft
    if form == "tab":
        columns = [m.text(v) if v in m.name else str(v) for v in state]
        files["case.tab"] = "\t".join(columns) + "\n\n" + "\t".join(str(a) for a in state.values()) + "\n"
        return ["-e", "case.tab"], hard
    if form == "single":
        files["case.evid"] = f"{len(state)} {pairs}\n"
        return ["-e", "case.evid", *r.choice([[], ["--evidence-format", "single"]])], hard
    files["case.evid"] = f"2\n0\n{len(state)} {pairs}\n"
    return ["-e", "case.evid", "--evidence-index", "1"], hard


def random_evidence(r, m, files):
    chosen = r.sample(range(len(m.arity)), min(len(m.arity), r.choice([0, 0, 0, 1, 1, 2, 3, 4])))
    seen = []
    if chosen and r.random() < 0.25:
        n = r.randint(1, len(chosen))
        options, what = in_a_file(r, m, chosen[:n], files)
        seen.append((options, what))
        chosen = chosen[n:]
    one_each = [(v, *one_by_one(r, m, v)) for v in chosen]
    soft = [(v, options[1], what) for v, options, what in one_each if options[0] == "--likelihood"]
    seen += [(options, {v: what}) for v, options, what in one_each if options[0] == "-e"]
    if soft:  # an option that can be given only once
        seen.append((["--likelihood", ",".join(text for _, text, _ in soft)], {v: what for v, _, what in soft}))
    return seen


# ---- options ---------------------------------------------------------------------------------

SCANS = ["chromatic", "systematic", "random", "permuted", "synchronous", "splash", "auto", "usual"]
DRAWS = ["random", "random", "random", "herded", "herded-shared", "herded-complete", "discretized", "one-bin",
         "randomly-discretized", "bounded-error", "cud"]
HERDED = ("herded", "herded-shared", "herded-complete")
IN_BINS = ("discretized", "randomly-discretized", "bounded-error")


class Options:
    """A list of options that grows by chance."""

    def __init__(self, r):
        self.r, self.list = r, []

    def maybe(self, chance, *option):
        if self.r.random() < chance:
            self.list.append([str(x) for x in option])


def splash_options(r, o):
    for option in (["--width", r.choice([1, 2, 5])], ["--splashes", r.choice([1, 3, 8])], ["--splash-size", r.choice([1, 4, 1000])],
                   ["--grow", r.choice(["fifo", "random", "adaptive"])], ["--adapt", r.choice([0, 5])],
                   ["--score", r.choice(["coupling", "literal"])], ["--locking", r.choice(["reservation", "blanket"])]):
        o.maybe(0.3, *option)


def draw_options(r, o, draw):
    herded, in_bins, cud = draw in HERDED, draw in IN_BINS, draw == "cud"
    o.maybe(0.3 * herded, "--keys", r.choice(["auto", "neighbours", "shared", "sum", "complete", "bins", "one"]))
    o.maybe(0.3 * herded, "--herd-init", r.choice(["random", "centre", "zero"]))
    o.maybe(0.2 * herded, "--herd-rule", r.choice(["auto", "pre", "post"]))
    o.maybe(0.1 * herded, "--dummy-edges", "ring:2")
    o.maybe(0.3 * in_bins, "--bins", r.choice([1, 2, 7, 64]))
    o.maybe(0.2 * in_bins, "--bin-edge", r.choice(["right", "left"]))
    o.maybe(0.2 * in_bins, "--bin-rule", r.choice(["stick", "argmax"]))
    o.maybe(0.3 * (draw == "bounded-error"), "--threshold", r.choice(["auto", "0", "0.5", "3"]))
    o.maybe(0.3 * cud, "--cud-scheme", r.choice(["tribble", "chen"]))
    o.maybe(0.3 * cud, "--cud-bits", r.choice([3, 5, 10]))


def chain_options(r, m, verb, files):
    """@return options of chains that can be combined. The number of updates bounds the work."""
    o = Options(r)
    scan, draw = r.choice(SCANS), r.choice(DRAWS)
    simple = verb in ("map", "logz", "sensitivity", "cases")
    o.maybe(0.3, "--chains", r.choice([1, 2, 3, 4, 8, 16, 17, 33]))
    o.maybe(0.1 if simple else 0.3, "--sweeps", r.choice([1, 2, 10, 100, 400]))
    o.maybe(0.2 * (verb == "map"), "--schedule", r.choice(["linear", "geometric"]))
    o.maybe(0.2 * (verb == "map"), "--tau0", r.choice([0.1, 3]))
    o.maybe(0.01 * (verb == "map"), "--probability")  # causes a long further run
    o.maybe(0.4 * (verb == "logz"), "--temper", r.choice(["off", "off", 4]))
    if simple:
        return o.list
    o.maybe(0.2, "--burn-in", r.choice([0, 1, 50]))
    o.maybe(0.1, "--target-error", r.choice([0.1, 0.01, 1e-4]))
    o.maybe(0.3 * (verb == "marginals"), "--estimator", r.choice(["count", "rao-blackwell", "traces"]))
    o.maybe(0.1, "--lattice", r.choice(["auto", "never", "always"]))
    o.maybe(0.2 * (verb == "sample"), "--thin", r.choice([2, 3]))
    if m.arity and r.random() < 0.1:
        files["start.txt"] = " ".join(str(r.randrange(k)) for k in m.arity) + "\n"
        o.maybe(1.0, "--start", "start.txt")
    if r.random() < 0.5:
        o.maybe(1.0, "--scan", scan)
        if scan == "splash":
            splash_options(r, o)
        o.maybe(0.3 * (scan == "systematic"), "--origin", r.choice([0, 1]))
    elif r.random() < 0.1 and m.arity:
        order = [r.randrange(len(m.arity)) for _ in range(r.randint(1, 20))]
        files["a.scan"] = f"scan 1\nvariables {len(m.arity)}\n" + " ".join(map(str, order)) + "\n"
        o.maybe(1.0, "--scan", "a.scan")
        o.maybe(0.8, "--partial-scan")
        o.maybe(0.3, "--restarts")
    elif r.random() < 0.5:
        o.maybe(1.0, "--draw", draw)
        draw_options(r, o, draw)
    elif verb != "joint":
        o.maybe(0.5, "--temper", r.choice(["auto", "off", 2, 5, 16]))
    return o.list


def wild_options(r):
    """@return options that can rarely be combined. Each must be refused, or must have its documented effect."""
    words = [["--scan", r.choice(SCANS)], ["--draw", r.choice(DRAWS)], ["--temper", "4"], ["--width", "2"], ["--bins", "7"],
             ["--restarts"], ["--certified", "0.1"], ["--memory-limit", r.choice(["1", "1M", "40M"])], ["--least-chains", "1"],
             ["--keys", "bins"], ["--threshold", "auto"], ["--cud-bits", "5"], ["--dummy-edges", "ring:2"], ["--origin", "3"],
             ["--target", "0"], ["--thin", "3"], ["--damping", "0.5"], ["--time", "1h"], ["--budget", "0.001s"], ["--lenient"],
             ["--picture", "1x2"], ["--monitor", "0"], ["--query", "0"], ["--sweeps", "0"], ["--chains", "1000000000"]]
    return r.sample(words, r.randint(1, 3))


# ---- questions -------------------------------------------------------------------------------

RUNS = ("resume", "resume-sample", "resume-map", "resume-logz", "diagnose", "monitor")  # verbs that always run chains
OTHERS = ("denoise", "label", "learn", "ground", "segment")  # verbs that do not read a model
CHAINS = ("marginals", "joint", "cases", "sample", "map", "logz", "sensitivity", *RUNS)
VERBS = (["marginals"] * 6 + ["joint", "logz", "map", "sample", "resume", "resume-sample", "resume-map", "resume-logz"] * 2
         + ["exact", "cases", "sensitivity", "convert", "info", "certify", "scan", "decompose", "uai", "diagnose",
            "compare", "fit", "generate", "monitor", "report", *OTHERS])


def method_options(r, m, verb, files):
    method = r.choice(["auto", "exact", "sample", "sample", "sample"])
    if verb in RUNS:
        method = "sample"
        verb = verb.partition("-")[2] or verb
    if verb == "marginals" and r.random() < 0.1:
        return [["--method", "mean-field"], *r.choice([[], [["--damping", "0.5"]], [["--mean-field-schedule", "jacobi"]]])]
    if verb == "sample" and method == "exact":
        method = "auto"
    options = [["--method", method]]
    if verb == "sensitivity" and method == "auto":
        options.append(["--time", "1s"])  # samples if doubles cannot hold the exact answer
    if method == "sample":
        if verb != "sensitivity":
            options.append(["--max-updates", str(r.choice([1000, 10000, 100000]))])
        else:
            options.append(["--sweeps", "200"])
        options += [["--seed", str(r.randrange(2 ** 64))], *chain_options(r, m, verb, files)]
    elif verb == "sample":
        options.append(["--sweeps", str(r.choice([1, 20]))])
    return options


def format_options(r, m):
    free = ["gbm", "uai", "lg", "fg", "wcnf", "mln", "dot", "alchemy", "mtx", "coo", "rud", "col"]
    style = r.choice(free + ["bif", "xmlbif", "net", "xdsl"] * 2 * m.directed)
    return [["--format", style], *r.choice([[], [], [["--float-format", "fixed"]]])]


def verb_options(r, m, verb):
    """@return the options that say what the verb asks about. m has at least one variable."""
    target = r.randrange(len(m.arity))
    name, state = m.text(target), m.state(target, r.randrange(m.arity[target]))
    some_names = ",".join(m.text(v) for v in some(r, m, 3))
    if verb == "joint":
        return [["--joint", some_names]]
    if verb == "sensitivity":
        return [["--query", f"{name}={state}"]]
    if verb == "exact":
        return [["--task", r.choice(["mar", "pr", "map", "sample"])]]
    if verb == "uai":
        return [["--task", r.choice(["PR", "MAR", "MAP", "MPE", "MMAP"])]]  # a word of the command, not an option
    if verb in ("certify", "scan"):
        options = [["--target", name]] if verb == "scan" or r.random() < 0.5 else [["--json"]]
        return options + [["--steps", str(r.choice([1, 7, 64]))], *r.choice([[], [["--influence", r.choice(["bound", "exact"])]]])]
    if verb == "decompose":
        asymptotic = math.prod(m.arity) <= 200 and r.random() < 0.5  # with more states the power method takes too long
        return [["--focus", name], ["--asymptotic"] if asymptotic else ["--sweeps", str(r.choice([1, 64, 500]))]]
    if verb == "unroll":
        return [["--unroll", str(r.randint(1, 6))], ["--format", r.choice(["gbm", "gbm", "bif", "xmlbif"])]]
    if verb == "info":
        return [[r.choice(["--json", "--json", "--draws", "--variables"])]]
    if verb in ("marginals", "cases") and r.random() < 0.15:
        return [["--query", some_names]]
    if verb == "sample" and r.random() < 0.15:
        return [["--monitor", some_names]]
    return []


def once(options):
    """@return the options, each only where it stands last."""
    return [option for i, option in enumerate(options) if option[0] not in [later[0] for later in options[i + 1:]]]


def random_question(r, m, verb=None):
    """@param verb: the verb of the question, if the model allows it."""
    verb = verb or r.choice(VERBS)
    if not m.arity and verb not in ("marginals", "logz", "map", "sample", "info", "convert", "exact", *OTHERS):
        verb = "marginals"
    tables = m.directed and all(word == "potential" for word, _ in m.factors)
    if tables and m.arity and r.random() < 0.1:
        verb = "fit"
    if not tables and verb == "fit" or verb == "sensitivity" and any(word == "extreme" for word, _ in m.factors):
        verb = "marginals"
    if m.of_slice and r.random() < 0.5:
        verb = "unroll"
    files = {}
    options = method_options(r, m, verb, files) if verb in CHAINS else []
    if verb == "convert":
        options = format_options(r, m)
    elif m.arity:
        options += verb_options(r, m, verb)
    if r.random() < 0.05 and verb not in ("uai", "fit", "generate", "compare", "unroll", "report", *OTHERS):
        options += wild_options(r)
    if r.random() < 0.1 and verb in ("marginals", "joint", "logz", "sample"):
        options.append(["--require-converged"])
    q = Question(verb, once(options), [], files)
    if verb not in ("convert", "fit", "generate", "unroll", *OTHERS):
        q.seen = random_evidence(r, m, files)
    return q
