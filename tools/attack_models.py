# SPDX-License-Identifier: Apache-2.0
"""What tools/attack asks: random small models, with their weights by enumeration, and random questions."""
import math

import numpy

MOST_STATES = 20000
INF = math.inf


# ---- models ----------------------------------------------------------------------------------


def spins(joint, v):
    return axis(joint, v, numpy.array([-1.0, 1.0]))


def axis(joint, v, values):
    """Values by the state of variable v, shaped for broadcasting over joint states."""
    shape = [1] * joint.ndim
    shape[v] = len(values)
    return numpy.reshape(values, shape)


def literals(joint, pairs):
    return [axis(joint, v, numpy.arange(joint.shape[v]) == a) for v, a in pairs]


def phi(function, k, literal, hard):
    """A logical function of docs/gbm.md, and the largest value that it takes (for infinite weights)."""
    body, head = literal[:-1], literal[-1]
    count = sum(x.astype(float) for x in literal)
    n = len(literal)
    true = numpy.ones_like(head)
    for x in body:
        true = true & x
    linear = sum((~x | head).astype(float) for x in body) if body else head.astype(float)
    value = {0: lambda: numpy.where(true, numpy.where(head, 1.0, -1.0), 0.0),
             1: lambda: numpy.where(count > 0, 1.0, -1.0),
             2: lambda: numpy.where(count == n, 1.0, -1.0),
             3: lambda: numpy.where((count == 0) | (count == n), 1.0, -1.0),
             4: lambda: numpy.where(count == n, 1.0, -1.0),
             7: lambda: linear,
             8: lambda: numpy.log2(1.0 + linear),
             9: lambda: numpy.where(linear > 0, 1.0, 0.0),
             12: lambda: numpy.where(count == n, 1.0, 0.0),
             13: lambda: numpy.where(true & ~head, 0.0, 1.0),
             64: lambda: numpy.where(count > 0, 1.0, 0.0),
             65: lambda: numpy.where(count % 2 == 1, 1.0, 0.0),
             66: lambda: numpy.where(count >= k, 1.0, 0.0),
             67: lambda: numpy.where(count <= k, 1.0, 0.0),
             68: lambda: numpy.where(count == k, 1.0, 0.0)}[function]()
    return numpy.where(value == 1.0, 0.0, -INF) if hard else value


class Model:
    """Arities, names, labels, and factors as (word, arguments): lines of attack_model.c."""

    def __init__(self, arity):
        self.arity, self.name, self.label, self.factors, self.directed = arity, {}, {}, [], False

    def describe(self):
        lines = [f"variables {len(self.arity)} " + " ".join(map(str, self.arity))]
        lines += [f"name {v} {self.name[v]}" for v in sorted(self.name)]
        lines += [f"label {v} " + " ".join(self.label[v]) for v in sorted(self.label)]
        lines += [word + " " + " ".join(repr(x) if isinstance(x, float) else str(x) for x in flat(arguments))
                  for word, arguments in self.factors]
        return "\n".join(lines + ["directed"] * self.directed) + "\n"

    def log_weights(self):
        joint = numpy.zeros(self.arity)
        with numpy.errstate(divide="ignore"):
            for word, arguments in self.factors:
                joint = joint + getattr(self, "of_" + word)(joint, *arguments)
        return joint

    def of_table(self, joint, n, scope, values):
        table = numpy.reshape(numpy.array(values, float), [self.arity[v] for v in scope])
        order = numpy.argsort(scope)
        shape = [1] * joint.ndim
        for v in scope:
            shape[v] = self.arity[v]
        return numpy.reshape(numpy.transpose(table, order), shape)

    def of_potential(self, joint, n, scope, values):
        return self.of_table(joint, n, scope, numpy.log(values))

    def of_field(self, joint, v, h):
        return h * spins(joint, v)

    def of_ising(self, joint, a, b, coupling):
        return coupling * spins(joint, a) * spins(joint, b)

    def of_potts(self, joint, a, b, coupling):
        same = sum(x * y for x, y in ((literals(joint, [(a, s)])[0], literals(joint, [(b, s)])[0])
                                      for s in range(self.arity[a])))
        return numpy.where(same, coupling, 0.0)

    def of_spin(self, joint, n, scope, coupling):
        return coupling * math.prod(spins(joint, v) for v in scope)

    def of_logical(self, joint, function, n, pairs, weight):
        return self.of_cardinality(joint, function, 0, n, pairs, weight)

    def of_cardinality(self, joint, function, k, n, pairs, weight):
        hard = weight == INF
        value = phi(function, k, literals(joint, pairs), hard)
        return value if hard else weight * value

    def of_noisy(self, joint, kind, child, n, parents, leak, inhibition):
        log_q = numpy.log1p(-leak) if leak < 1.0 else -INF
        at = 0
        for v in parents:
            log_q = log_q + axis(joint, v, numpy.log(inhibition[at:at + self.arity[v]]))
            at += self.arity[v]
        none = literals(joint, [(child, 0 if kind == 6 else 1)])[0]
        return numpy.where(none, log_q, numpy.log(-numpy.expm1(log_q)))

    def of_extreme(self, joint, kind, child, n, parents, leak, effect):
        """P(child <= y) is the product of the effects' distributions, of a minimum P(child >= y)."""
        k = self.arity[child]
        rows = [numpy.reshape(leak, (1, k))]
        at = 0
        for v in parents:
            rows.append(numpy.reshape(effect[at:at + self.arity[v] * k], (self.arity[v], k)))
            at += self.arity[v] * k
        order = slice(None) if kind == 8 else slice(None, None, -1)
        within = [numpy.cumsum(row[:, order], axis=1)[:, order] for row in rows]
        value = numpy.zeros([1] * joint.ndim)
        for y in range(k):
            before = y - 1 if kind == 8 else y + 1
            p, q = within[0][0][y], within[0][0][before] if 0 <= before < k else 0.0
            for v, row in zip(parents, within[1:]):
                p = p * axis(joint, v, row[:, y])
                q = q * (axis(joint, v, row[:, before]) if 0 <= before < k else 0.0)
            value = value + literals(joint, [(child, y)])[0] * numpy.log(numpy.maximum(p - q, 1e-300))
        return numpy.where(value < -600.0, -INF, value)

    def of_count(self, joint, n, pairs, logw):
        count = sum(x.astype(int) for x in literals(joint, pairs))
        return numpy.array(logw)[count]

    def text(self, v):
        return self.name.get(v, str(v))

    def state(self, v, a):
        return self.label[v][a] if v in self.label else str(a)


def flat(values):
    for x in values:
        if isinstance(x, (list, tuple)):
            yield from flat(x)
        else:
            yield x


def weight_of(r, spread):
    return r.choice([0.0, r.gauss(0, 1), r.gauss(0, 1), r.choice([-1, 1]), float(r.randint(-3, 3))]) * spread


def random_model(r):
    arity = []
    total = 1
    largest = r.choice([2, 2, 2, 3, 4, 9])
    for _ in range(r.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12])):
        k = r.choice([2, 2, largest, r.randint(1, largest)])
        if total * k > MOST_STATES:
            break
        arity.append(k)
        total *= k
    m = Model(arity)
    odd = ["a|b", "x!", "s#1", "naïve", "q-1", "7up", "P(x)", "*", "A", "a"]
    r.shuffle(odd)
    for v in range(len(arity)):
        if r.random() < 0.3:
            m.name[v] = f"{odd[v % len(odd)]}{v}"
        if r.random() < 0.3:
            m.label[v] = [f"{r.choice(['yes', 'no', 'a|b', 'low', '0', '#'])}{a}" for a in range(arity[v])]
    if r.random() < 0.35:
        bayes_factors(r, m)
    else:
        spread = r.choice([0.3, 1.0, 1.0, 3.0, 10.0, 100.0, 1e4])
        zeros = r.choice([0.0, 0.0, 0.2, 0.6])
        for _ in range(r.randint(0, 2 * len(arity) + 1)):
            add_factor(r, m, spread, zeros)
    return m


def some(r, m, most, of=lambda k: True):
    free = [v for v, k in enumerate(m.arity) if of(k)]
    return r.sample(free, min(len(free), r.randint(1, most))) if free else []


def add_factor(r, m, spread, zeros):
    kind = r.choice(["table", "table", "table", "potential", "field", "ising", "potts", "spin", "logical", "logical",
                     "cardinality", "noisy", "extreme", "count"])
    w = weight_of(r, spread)
    binary = [v for v, k in enumerate(m.arity) if k == 2]
    hub = len(m.arity) if r.random() < 0.2 else 4
    if kind in ("table", "potential"):
        scope = some(r, m, 3)
        n = math.prod(m.arity[v] for v in scope)
        values = [-INF if r.random() < zeros else weight_of(r, spread) for _ in range(n)]
        if kind == "potential":
            values = [math.exp(min(x, 50.0)) for x in values]
        m.factors.append((kind, [len(scope), scope, [float(x) for x in values]]))
    elif kind == "field" and binary:
        m.factors.append((kind, [r.choice(binary), float(w)]))
    elif kind == "ising" and len(binary) > 1:
        m.factors.append((kind, [*r.sample(binary, 2), float(w)]))
    elif kind == "potts" and len(m.arity) > 1:
        a = r.randrange(len(m.arity))
        same = [v for v, k in enumerate(m.arity) if k == m.arity[a] and v != a]
        if same:
            m.factors.append((kind, [a, r.choice(same), -INF if r.random() < zeros else float(w)]))
    elif kind == "spin" and binary:
        scope = r.sample(binary, r.randint(1, min(hub, len(binary))))
        m.factors.append((kind, [len(scope), scope, float(w)]))
    elif kind == "noisy" and len(binary) > 1:
        add_noisy(r, m, r.choice(binary), some(r, m, hub))
    elif kind == "extreme" and len(m.arity) > 1:
        child = r.randrange(len(m.arity))
        if m.arity[child] > 1:
            add_extreme(r, m, child, [v for v in some(r, m, hub) if v != child])
    elif kind == "count" and m.arity:
        scope = some(r, m, hub)
        pairs = [(v, r.randrange(m.arity[v])) for v in scope]
        m.factors.append((kind, [len(scope), pairs, [float(weight_of(r, spread)) for _ in range(len(scope) + 1)]]))
    elif kind in ("logical", "cardinality") and m.arity:
        scope = some(r, m, hub)
        pairs = [(v, r.randrange(m.arity[v])) for v in scope]
        function = r.choice([66, 67, 68] if kind == "cardinality" else [0, 1, 2, 3, 4, 7, 8, 9, 12, 13, 64, 65])
        hard = function not in (0, 7, 8) and r.random() < zeros
        w = INF if hard else float(w)
        least, most = {66: (1, len(scope)), 67: (0, len(scope) - 1), 68: (0, len(scope))}.get(function, (0, 0))
        k = [r.randint(least, most)] if kind == "cardinality" else []
        m.factors.append((kind, [function, *k, len(scope), pairs, w]))


def add_noisy(r, m, child, parents):
    parents = [v for v in parents if v != child]
    def chance():
        return r.choice([0.0, 1.0, r.random(), r.random(), r.random()])
    m.factors.append(("noisy", [r.choice([6, 7]), child, len(parents), parents, chance(),
                                [chance() for v in parents for _ in range(m.arity[v])]]))


def add_extreme(r, m, child, parents):
    def column():
        x = [r.choice([0.0, r.random(), r.random()]) for _ in range(m.arity[child])]
        x = x if sum(x) > 0 else [1.0] * m.arity[child]
        return [y / sum(x) for y in x]
    m.factors.append(("extreme", [r.choice([8, 9]), child, len(parents), parents, column(),
                                  [y for v in parents for _ in range(m.arity[v]) for y in column()]]))


def bayes_factors(r, m):
    m.directed = True
    sharp = r.choice([0.1, 1.0, 5.0])
    for v, k in enumerate(m.arity):
        parents = r.sample(range(v), min(v, r.choice([0, 1, 2, 2, 3])))
        if k == 2 and parents and r.random() < 0.2:
            add_noisy(r, m, v, parents)
            continue
        values = []
        for _ in range(math.prod(m.arity[u] for u in parents)):
            column = [0.0 if r.random() < 0.15 else r.random() ** (1 / sharp) for _ in range(k)]
            column = column if sum(column) > 0 else [1.0] * k
            values += [x / sum(column) for x in column]
        m.factors.append(("potential", [len(parents) + 1, [*parents, v], values]))


# ---- questions -------------------------------------------------------------------------------


class Question:
    """A verb, its options as a list of lists, and what is observed as a likelihood by variable."""

    def __init__(self, verb, options, seen):
        self.verb, self.options, self.seen = verb, options, seen  # seen: [(options, variable, likelihood)]

    def words(self):
        return [x for option, _, _ in self.seen for x in option] + [x for option in self.options for x in option]

    def has(self, name):
        return any(option[0] == name for option in self.options)

    def value(self, name, default):
        return next((option[1] for option in self.options if option[0] == name), default)


def random_evidence(r, m):
    seen = []
    for v in r.sample(range(len(m.arity)), min(len(m.arity), r.choice([0, 0, 0, 1, 1, 2, 3]))):
        k = m.arity[v]
        name, form = m.text(v), r.choice(["one", "one", "number", "set", "not", "likelihood"])
        a = r.randrange(k)
        one = numpy.arange(k) == a
        if form == "one":
            seen.append((["-e", f"{name}={m.state(v, a)}"], v, one))
        elif form == "number":
            seen.append((["-e", f"{name}=#{a}"], v, one))
        elif form == "not":
            seen.append((["-e", f"{name}!={m.state(v, a)}"], v, ~one))
        elif form == "set":
            b = r.randrange(k)
            states = sorted({a, b})
            seen.append((["-e", f"{name}=" + "|".join(m.state(v, s) for s in states)], v, numpy.isin(numpy.arange(k), states)))
        else:
            x = [round(r.random(), 3) for _ in range(k)]
            text = "|".join(f"{m.state(v, s)}:{x[s]}" for s in range(k))
            seen.append((["--likelihood", f"{name}={text}"], v, numpy.array(x)))
    return seen


SCANS = ["chromatic", "systematic", "random", "permuted", "synchronous", "splash", "auto", "usual"]
DRAWS = ["random", "random", "random", "herded", "herded-shared", "herded-complete", "discretized", "one-bin",
         "randomly-discretized", "bounded-error", "cud"]


HERDED = ("herded", "herded-shared", "herded-complete")
IN_BINS = ("discretized", "randomly-discretized", "bounded-error")


def chain_options(r, verb):
    """Options of chains that go together; the work is bounded by updates."""
    out = []
    def maybe(chance, *option):
        if r.random() < chance:
            out.append([str(x) for x in option])
    scan, draw = r.choice(SCANS), r.choice(DRAWS)
    simple = verb in ("map", "logz", "sensitivity", "cases")
    maybe(0.3, "--chains", r.choice([1, 2, 3, 4, 8, 16, 17, 33]))
    maybe(0.3 if not simple else 0.1, "--sweeps", r.choice([1, 2, 10, 100, 1000]))
    if simple:
        return out
    maybe(0.2, "--burn-in", r.choice([0, 1, 50]))
    maybe(0.1, "--target-error", r.choice([0.1, 0.01, 1e-4]))
    maybe(0.3 if verb == "marginals" else 0.0, "--estimator", r.choice(["count", "rao-blackwell", "traces"]))
    maybe(0.1, "--lattice", r.choice(["auto", "never", "always"]))
    if r.random() < 0.5:
        maybe(1.0, "--scan", scan)
        for option in (["--width", r.choice([1, 2, 5])], ["--splashes", r.choice([1, 3, 8])], ["--splash-size", r.choice([1, 4, 1000])],
                       ["--grow", r.choice(["fifo", "random", "adaptive"])], ["--adapt", r.choice([0, 5])]):
            maybe(0.3 if scan == "splash" else 0.0, *option)
    elif r.random() < 0.5:
        maybe(1.0, "--draw", draw)
        maybe(0.3 if draw in HERDED else 0.0, "--keys", r.choice(["neighbours", "shared", "sum", "complete", "one"]))
        maybe(0.3 if draw in HERDED else 0.0, "--herd-init", r.choice(["random", "centre", "zero"]))
        maybe(0.3 if draw in IN_BINS else 0.0, "--bins", r.choice([1, 2, 7, 64]))
    elif verb != "joint":
        maybe(0.5, "--temper", r.choice(["auto", "off", 2, 5, 16]))
    return out


def wild_options(r):
    """Options that hardly ever go together: each is refused, or does what it says."""
    words = [["--scan", r.choice(SCANS)], ["--draw", r.choice(DRAWS)], ["--temper", "4"], ["--width", "2"], ["--bins", "7"],
             ["--restarts"], ["--certified", "0.1"], ["--memory-limit", r.choice(["1", "1M", "40M"])], ["--least-chains", "1"],
             ["--keys", "bins"], ["--threshold", "auto"], ["--cud-bits", "5"], ["--dummy-edges", "ring:2"], ["--origin", "3"],
             ["--target", "0"], ["--thin", "3"], ["--damping", "0.5"], ["--time", "1h"],
             ["--picture", "1x2"], ["--monitor", "0"], ["--query", "0"], ["--sweeps", "0"], ["--chains", "1000000000"]]
    return r.sample(words, r.randint(1, 3))


def random_question(r, m):
    verb = r.choice(["marginals"] * 8 + ["joint", "logz", "map", "sample"] * 2
                    + ["exact", "cases", "sensitivity", "convert", "info", "certify", "scan", "decompose"])
    target = r.randrange(len(m.arity)) if m.arity else 0
    name = m.text(target) if m.arity else "0"
    state = m.state(target, r.randrange(m.arity[target])) if m.arity else "0"
    options = []
    if verb in ("marginals", "joint", "cases", "sample", "map", "logz", "sensitivity"):
        method = r.choice(["auto", "exact", "sample", "sample", "sample"])
        if verb == "marginals" and r.random() < 0.1:
            method = "mean-field"
        if verb == "sample" and method == "exact":
            method = "auto"
        options.append(["--method", method])
        if method == "sample":
            if verb != "sensitivity":
                options.append(["--max-updates", str(r.choice([1000, 100000, 400000]))])
            options += [["--seed", str(r.randrange(2 ** 64))], *chain_options(r, verb)]
        elif verb == "sample":
            options.append(["--sweeps", str(r.choice([1, 20]))])
    if verb == "joint":
        options.append(["--joint", ",".join(m.text(v) for v in some(r, m, 3)) or "0"])
    elif verb == "sensitivity":
        options.append(["--query", f"{name}={state}"])
        if method == "sample" and not any(option[0] == "--sweeps" for option in options):
            options.append(["--sweeps", "500"])
    elif verb == "exact":
        options.append(["--task", r.choice(["mar", "pr", "map", "sample"])])
    elif verb == "convert":
        free = ["gbm", "uai", "fg", "wcnf", "dot", "alchemy"]
        options.append(["--format", r.choice(free + ["bif", "xmlbif", "net", "xdsl"] * m.directed)])
    elif verb in ("certify", "scan"):
        options += [["--target", name]] if verb == "scan" or r.random() < 0.5 else []
        options += [["--steps", str(r.choice([1, 7, 64]))]]
    elif verb == "decompose":
        options += [["--focus", name], ["--sweeps", str(r.choice([1, 64, 500]))]]
    if r.random() < 0.1:
        options += wild_options(r)
    if r.random() < 0.1 and verb in ("marginals", "joint", "logz", "sample"):
        options.append(["--require-converged"])
    return Question(verb, options, [] if verb == "convert" else random_evidence(r, m))
