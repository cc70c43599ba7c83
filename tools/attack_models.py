# SPDX-License-Identifier: Apache-2.0
"""Makes small random models for tools/attack, and enumerates their weights."""
import math

import numpy

MOST_STATES = 20000
INF = math.inf


# ---- models ----------------------------------------------------------------------------------


def spins(joint, v):
    return axis(joint, v, numpy.array([-1.0, 1.0]))


def axis(joint, v, values):
    """@return an array of values for the states of variable v, shaped for broadcasting over joint states."""
    shape = [1] * joint.ndim
    shape[v] = len(values)
    return numpy.reshape(values, shape)


def literals(joint, pairs):
    return [axis(joint, v, numpy.arange(joint.shape[v]) == a) for v, a in pairs]


def phi(function, k, literal, hard):
    """@return a logical function of docs/gbm.md, and the largest value of the function (for infinite weights)."""
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
    """A model: arities, names, labels, and factors as (word, arguments), which are lines of attack_model.c."""

    def __init__(self, arity):
        self.arity, self.name, self.label, self.factors, self.directed = arity, {}, {}, [], False
        self.kept, self.weights = [], []  # tables that factors share, and weights that they are tied to
        self.of_slice = 0  # number of variables in each of two slices of time; those of the first slice come first

    def describe(self):
        lines = [f"variables {len(self.arity)} " + " ".join(map(str, self.arity))]
        lines += [f"name {v} {self.name[v]}" for v in sorted(self.name)]
        lines += [f"label {v} " + " ".join(self.label[v]) for v in sorted(self.label)]
        kept = [("keep", [len(values), values]) for values in self.kept]
        tied = [("weights", [len(self.weights), self.weights])] * bool(self.weights)
        lines += [word + " " + " ".join(repr(x) if isinstance(x, float) else str(x) for x in flat(arguments))
                  for word, arguments in kept + tied + self.factors]
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

    def of_shared(self, joint, table, n, scope):
        return self.of_table(joint, n, scope, self.kept[table])

    def of_tied(self, joint, weight, feature, word, arguments):
        return getattr(self, "of_" + word)(joint, *arguments)

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
        """@return the table of a noisy-max: P(child <= y) is the product of the effects' distributions. A noisy-min has P(child >= y)."""
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


def two_slices(r):
    """A Bayesian network that can be unrolled over time."""
    arity = [r.choice([1, 2, 2, 3]) for _ in range(r.randint(1, 3))]
    m = Model(arity * 2)
    m.of_slice = len(arity)
    m.name = {v: f"x{v % len(arity)}" + "'" * (v // len(arity)) for v in range(2 * len(arity))}
    bayes_factors(r, m)
    return m


def random_model(r):
    if r.random() < 0.05:
        return two_slices(r)
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
    odd = ["a|b", "x!", "s#1", "naïve", "q-1", "7up", "P(x)", "*", "A", "a", "0x", "-1", "NA", '"', "'", "%s", "\\n", "<b>&"]
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
        if r.random() < 0.15:
            tie_factors(r, m)
        if r.random() < 0.05:
            m.factors.append(("table", [0, [], [float(weight_of(r, spread))]]))  # a constant factor
        if m.factors and r.random() < 0.1:
            m.factors += r.sample(m.factors, 1)  # repeat a factor
    return m


WITH_WEIGHT = ("field", "ising", "potts", "spin", "logical", "cardinality")


def tie_factors(r, m):
    """Ties factors with a finite weight to shared weights of the same value, half the value, or 0 (the factor's weight is then 0)."""
    if any(word == "count" for word, _ in m.factors):
        return  # attack_model.c knows only the numbers of earlier factors
    for i, (word, arguments) in enumerate(m.factors):
        if word not in WITH_WEIGHT or not math.isfinite(arguments[-1]) or r.random() < 0.3:
            continue
        feature = r.choice([1.0, 0.5, -2.0, 0.0, 3.7])
        if m.weights and r.random() < 0.5:
            number = r.randrange(len(m.weights))
        else:
            number = len(m.weights)
            m.weights.append(float(arguments[-1]))
        weight = m.weights[number] * feature
        m.factors[i] = ("tied", [number, feature, word, [*arguments[:-1], weight]])


def some(r, m, most, of=lambda k: True):
    free = [v for v, k in enumerate(m.arity) if of(k)]
    return r.sample(free, min(len(free), r.randint(1, most))) if free else []


def add_factor(r, m, spread, zeros):
    kind = r.choice(["table", "table", "table", "shared", "potential", "field", "ising", "potts", "spin", "logical", "logical",
                     "cardinality", "noisy", "extreme", "count"])
    w = weight_of(r, spread)
    binary = [v for v, k in enumerate(m.arity) if k == 2]
    hub = len(m.arity) if r.random() < 0.2 else 4
    if kind in ("table", "potential"):
        scope = some(r, m, r.choice([3, 3, 3, 9]))
        while math.prod(m.arity[v] for v in scope) > 600:
            scope.pop()
        n = math.prod(m.arity[v] for v in scope)
        values = [-INF if r.random() < zeros else weight_of(r, spread) for _ in range(n)]
        if kind == "potential":
            values = [math.exp(min(x, 50.0)) for x in values]
        m.factors.append((kind, [len(scope), scope, [float(x) for x in values]]))
    elif kind == "shared":
        share_table(r, m, [-INF if r.random() < zeros else float(weight_of(r, spread)) for _ in range(81)])
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
        values = [float(weight_of(r, spread)) for _ in range(len(scope) + 1)]
        if r.random() < zeros:  # only the smallest or the largest counts may be forbidden
            forbidden = r.randint(0, len(scope))
            values[:forbidden] = [-INF] * forbidden
        elif r.random() < zeros:
            forbidden = r.randint(1, len(scope))
            values[forbidden:] = [-INF] * (len(scope) + 1 - forbidden)
        m.factors.append((kind, [len(scope), pairs, values]))
    elif kind in ("logical", "cardinality") and m.arity:
        scope = some(r, m, hub)
        pairs = [(v, r.randrange(m.arity[v])) for v in scope]
        function = r.choice([66, 67, 68] if kind == "cardinality" else [0, 1, 2, 3, 4, 7, 8, 9, 12, 13, 64, 65])
        hard = function not in (0, 7, 8) and r.random() < zeros
        w = INF if hard else float(w)
        least, most = {66: (1, len(scope)), 67: (0, len(scope) - 1), 68: (0, len(scope))}.get(function, (0, 0))
        k = [r.randint(least, most)] if kind == "cardinality" else []
        m.factors.append((kind, [function, *k, len(scope), pairs, w]))


def share_table(r, m, values):
    """Makes scopes of the same shape share one table."""
    shape = [m.arity[v] for v in some(r, m, 2)]
    if not shape or math.prod(shape) > len(values):
        return
    m.kept.append(values[:math.prod(shape)])
    for _ in range(r.randint(1, 4)):
        scope = []
        for k in shape:
            scope += r.sample([v for v in range(len(m.arity)) if m.arity[v] == k and v not in scope], 1)
        m.factors.append(("shared", [len(m.kept) - 1, len(scope), scope]))


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
        if k > 1 and r.random() < 0.15:
            add_extreme(r, m, v, parents)
            continue
        values = []
        for _ in range(math.prod(m.arity[u] for u in parents)):
            column = [0.0 if r.random() < 0.15 else r.random() ** (1 / sharp) for _ in range(k)]
            column = column if sum(column) > 0 else [1.0] * k
            values += [x / sum(column) for x in column]
        m.factors.append(("potential", [len(parents) + 1, [*parents, v], values]))
