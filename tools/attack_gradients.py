# SPDX-License-Identifier: Apache-2.0
"""Tests learning for tools/attack: computes objectives by enumeration, and compares gradients with finite differences."""
import copy
import csv
import io
import itertools
import json
import math

import numpy

from attack_answers import Wrong, rows_of
from attack_models import Model, axis
from attack_sequences import LABELS, Field, data_text, expand, random_sequences, random_templates

STEP = 1e-5


def table(names, rows):
    text = io.StringIO()
    csv.writer(text).writerows([names, *rows])
    return text.getvalue()


def slope(objective, w):
    """@return the derivative by central differences."""
    found = []
    for k in range(len(w)):
        up, down = numpy.array(w), numpy.array(w)
        up[k] += STEP
        down[k] -= STEP
        found.append((objective(up) - objective(down)) / (2 * STEP))
    return numpy.array(found)


def check_point(trial, what, objective, w):
    """Compares the last row of the curve with the weights that were written."""
    rows = rows_of(trial.read("curve.csv").decode(), "objective", "gradient")
    if not rows:
        return  # learning ended where it began
    told, norm = float(rows[-1]["objective"]), float(rows[-1]["gradient"])
    truth = objective(numpy.array(w))
    if abs(told - truth) > 1e-8 * (1 + abs(truth)):
        raise Wrong(f"exact: {what}: objective {told!r}, of the weights that are written {truth!r}")
    length = float(numpy.linalg.norm(slope(objective, w)))
    if abs(norm - length) > 1e-5 * (1 + length + abs(truth)):
        raise Wrong(f"gradient: {what}: {norm!r}, by differences {length!r}")


def log_pl(logw, x):
    """Sum over variables of ln P(x_v | all others)."""
    total = 0.0
    for v in range(logw.ndim):
        line = logw[tuple(slice(None) if u == v else a for u, a in enumerate(x))]
        total += line[x[v]] - line.max() - math.log(numpy.exp(line - line.max()).sum())
    return total


def log_p(logw, x):
    return logw[tuple(x)] - logw.max() - math.log(numpy.exp(logw - logw.max()).sum())


def weights(trial):
    """Tests learning of tied Ising couplings, fields and Potts weights."""
    r = trial.r
    arity = [r.choice([2, 2, 3]) for _ in range(r.randint(2, 5))]
    m, binary = Model(arity), [v for v, k in enumerate(arity) if k == 2]
    m.weights = [round(r.uniform(-1, 1), 3) for _ in range(r.randint(1, 3))]
    for _ in range(r.randint(1, 8)):
        number, feature = r.randrange(len(m.weights)), r.choice([1.0, 0.5, -2.0])
        same = [(a, b) for a in range(len(arity)) for b in range(a) if arity[a] == arity[b]]
        ways = [("field", binary)] * bool(binary) + [("ising", binary)] * (len(binary) > 1) + [("potts", same)] * bool(same)
        if ways:
            word, among = r.choice(ways)
            arguments = list(r.choice(among)) if word == "potts" else r.sample(among, 1 if word == "field" else 2)
            m.factors.append(("tied", [number, feature, word, [*arguments, m.weights[number] * feature]]))
    if not m.factors:
        return 0
    trial.program.make(trial.folder, m.describe())
    rows = [[r.randrange(k) for k in arity] for _ in range(r.choice([3, 20]))]
    trial.write("data.csv", table(range(len(arity)), rows))
    kind, l2 = r.choice(["pseudo", "likelihood"]), r.choice([0.1, 1, 10])
    status, _, _ = trial.run("learn", "weights", "model.gbm", "data.csv", "--objective", kind, "--l2", l2, "--iterations", r.choice([1, 2, 50]),
                             "--intervals", "w.csv", "--curve", "curve.csv", "-o", "learnt.gbm")
    if status not in (0, 4, 5):
        return status
    w = [float(row["value"]) for row in rows_of(trial.read("w.csv").decode(), "value")]
    used = sorted({arguments[0] for _, arguments in m.factors})  # other weights are no parameters
    score = log_pl if kind == "pseudo" else log_p

    def objective(x):
        other = copy.deepcopy(m)
        other.factors = [("tied", [n, f, word, [*a[:-1], float(x[n] * f)]]) for _, (n, f, word, a) in m.factors]
        logw = other.log_weights() + numpy.zeros(arity)
        return sum(score(logw, row) for row in rows) - l2 / 2 * float(x[used] @ x[used])
    check_point(trial, kind, objective, w)
    return status


def potts(trial):
    r = trial.r
    n, q, l2 = r.randint(2, 4), r.choice([2, 3]), r.choice([0.1, 1, 10])
    rows = [[r.randrange(q) for _ in range(n)] for _ in range(r.choice([4, 15]))] + [[a] * n for a in range(q)]
    trial.write("data.csv", table([f"s{i}" for i in range(n)], rows))
    status, _, _ = trial.run("learn", "potts", "data.csv", "--l2", l2, "--iterations", r.choice([1, 2, 5, 100]), "--curve", "curve.csv",
                             "--intervals", "w.csv", "--summary", "s.json", "-o", "learnt.gbm")
    if status not in (0, 4, 5):
        return status
    report = json.loads(trial.read("s.json"))
    w = numpy.array([float(row["value"]) for row in rows_of(trial.read("w.csv").decode(), "value")])

    def score(x):
        logw, at = numpy.zeros([q] * n), n * q
        for i in range(n):
            logw = logw + x[i * q:(i + 1) * q].reshape([q if u == i else 1 for u in range(n)])
        for i in range(n):
            for j in range(i + 1, n):
                logw = logw + x[at:at + q * q].reshape([q if u in (i, j) else 1 for u in range(n)])
                at += q * q
        return sum(log_pl(logw, row) for row in rows)
    if abs(report["pseudo_log_likelihood"] - score(w)) > 1e-6 * (1 + abs(score(w))):
        raise Wrong(f"exact: potts: ln PL {report['pseudo_log_likelihood']!r}, of the weights that are written {score(w)!r}")
    if report["converged"]:  # weights in the gauge of smallest norm: their slope is 0 where the projected slope is 0
        least = gauge(w, n, q)
        length = float(numpy.linalg.norm(slope(lambda x: l2 / 2 * float(x @ x) - score(x), least)))
        if abs(length - report["gradient_norm"]) > 1e-4 * (1 + report["objective"]):
            raise Wrong(f"gradient: potts: {report['gradient_norm']!r}, by differences {length!r}")
        told = l2 / 2 * float(least @ least) - score(least)
        if abs(told - report["objective"]) > 1e-4 * (1 + abs(told)):
            raise Wrong(f"exact: potts: objective {report['objective']!r}, of the weights that are written {told!r}")
    return status


def gauge(w, n, q):
    """@return the weights of smallest norm with the same conditionals, in which couplings contain a part of the fields."""
    fields, pairs = n * q, [(i, j) for i in range(n) for j in range(i + 1, n)]
    moves = []
    for t, (i, j) in enumerate(pairs):
        for a in range(q):
            for side, v in ((0, i), (1, j)):
                move = numpy.zeros(len(w))
                move[v * q + a] = -1
                block = numpy.zeros((q, q))
                if side == 0:
                    block[a] = 1
                else:
                    block[:, a] = 1
                move[fields + t * q * q:fields + (t + 1) * q * q] = block.ravel()
                moves.append(move)
    for i in range(n):
        move = numpy.zeros(len(w))
        move[i * q:(i + 1) * q] = 1
        moves.append(move)
    moves = numpy.array(moves).T
    return w - moves @ numpy.linalg.lstsq(moves, w, rcond=None)[0]


# ---- fields of sequences ---------------------------------------------------------------------


class SkipChain:
    """A model in the text that learn crf writes for a random field with links between tokens [M65]."""

    def __init__(self, text):
        lines = iter(text.splitlines())

        def block():
            n = int(next(lines).split("#")[2].split("/")[0])
            return [next(lines).split(":", 1)[1].rstrip(",") for _ in range(n)]
        next(lines)
        self.templates, self.labels, names = block(), block(), block()
        self.first, at, k = {}, 0, len(self.labels)
        for name in names:
            self.first[name] = at
            at += k if name[0] == "u" else k * k
        self.weights = [0.0] * at
        for line in lines:
            number, value = line.split("=")
            self.weights[int(number)] = float.fromhex(value)

    def features(self, kind, sequence, t):
        texts = [expand(template, sequence, t, "x") for template in self.templates if template[0] == kind]
        return [self.first[text] for text in dict.fromkeys(texts) if text in self.first]

    def links(self, sequence):
        key = [expand(next(x for x in self.templates if x[0] == "="), sequence, t, "x") for t in range(len(sequence))]
        return [(s, t) for s, t in itertools.combinations(range(len(key)), 2) if key[s] == key[t]]

    def places(self, sequence):
        """[(tokens, number of the first weight)]"""
        n = len(sequence)
        found = [((t,), at) for t in range(n) for at in self.features("u", sequence, t)]
        found += [((t - 1, t), at) for t in range(1, n) for at in self.features("b", sequence, t)]
        for s, t in self.links(sequence):
            both = [*self.features("s", sequence, s), *self.features("s", sequence, t)]
            found += [((s, t), at) for at in dict.fromkeys(both)]
        return found


def log_weights(places, w, k, n):
    joint = numpy.zeros([k] * n)
    for tokens, at in places:
        size = k ** len(tokens)
        joint = joint + numpy.reshape(w[at:at + size], [k if u in tokens else 1 for u in range(n)])
    return joint


def crf(trial):
    r = trial.r
    n_labels, l2 = r.choice([2, 3]), r.choice([0.1, 1, 10])
    sequences, linked = random_sequences(r, n_labels), r.random() < 0.5
    templates = random_templates(r)
    words = ["--least-count", r.choice([1, 1, 2])]
    if linked:
        templates = ["u:%x[0,0]", *r.sample(["u:%x[-1,0]/%x[0,1]", "b", "b:%x[1,1]"], r.randint(0, 3)), r.choice(["=%x[0,0]", "=%x[0,1]"]),
                     *r.sample(["s", "s:%x[-1,0]", "s:%x[0,1]"], r.randint(1, 3))]
        words = ["--template-style", "wapiti", "--objective", "pseudo"]
    trial.write("a.template", "\n".join(templates) + "\n")
    trial.write("data.txt", data_text(r, sequences))
    status, _, _ = trial.run("learn", "crf", "a.template", "data.txt", *words, "--l2", l2, "--iterations", r.choice([1, 2, 3, 1000]),
                             "--curve", "curve.csv", "-o", "learnt.crf")
    if status not in (0, 4):
        return status
    text = trial.read("learnt.crf").decode()
    field = SkipChain(text) if linked else Field.read(text)
    places = [field.places(s) if linked else [((t - 1, t) if pairs else (t,), at) for t, at, pairs in field.active(s)] for s in sequences]
    seen = [[field.labels.index(token[2]) for token in s] for s in sequences]
    pseudo = linked and any(map(field.links, sequences))  # without links the likelihood is exact
    score, k = log_pl if pseudo else log_p, len(field.labels)

    def objective(w):
        fit = sum(score(log_weights(of, w, k, len(labels)), labels) for of, labels in zip(places, seen))
        return l2 / 2 * float(w @ w) - fit
    check_point(trial, "pseudo crf" if pseudo else "crf", objective, field.weights)
    return status


# ---- restricted Boltzmann machines -----------------------------------------------------------

CHAINS = 256


def read_machine(text, n, m):
    """Reads W, a and b from the written model: W / 4 is a coupling of spins, a / 2 + sum of W / 4 is a field [M63]."""
    words = iter(text.split()[2 + n + m:])
    scopes = [[int(next(words)) for _ in range(int(next(words)))] for _ in range(int(next(words)))]
    w, bias = numpy.zeros((n, m)), numpy.zeros(n + m)
    for scope in scopes:
        logs = [math.log(float(next(words))) for _ in range(int(next(words)))]
        if len(scope) == 1:
            bias[scope[0]] = logs[1] - logs[0]
        else:
            w[scope[0], scope[1] - n] = 4 * logs[0]
    return numpy.concatenate([w.ravel(), bias[:n] - w.sum(axis=1) / 2, bias[n:] - w.sum(axis=0) / 2])


def energies(x, v, m):
    """@return -F(v) of the visible states [number, n], and P(h_j = 1 | v)."""
    n = v.shape[1]
    given = x[n * m + n:] + v @ x[:n * m].reshape(n, m)
    return v @ x[n * m:n * m + n] + numpy.logaddexp(0, given).sum(axis=1), 1 / (1 + numpy.exp(-given))


def rbm(trial):
    """Tests a restricted Boltzmann machine: a large random first step, then a step that must be the gradient that chains estimate."""
    r = trial.r
    n, m, l2 = r.randint(1, 4), r.randint(1, 3), r.choice([0, 1, 100])
    rows = numpy.array([[r.randrange(2) for _ in range(n)] for _ in range(r.choice([20, 50]))])
    trial.write("rows.csv", table([f"v{i}" for i in range(n)], rows.tolist()))
    first, last = r.choice([5, 20]), 0.2
    command = ["learn", "rbm", "rows.csv", "--hidden", m, "--l2", l2, "--epochs", 2, "--batch", CHAINS, "--sweeps", 8, "--format", "uai",
               "--seed", r.randrange(2 ** 64), "--method", r.choice(["pcd", "cd"]) if len(rows) == CHAINS else "pcd"]
    w, rate = [], []
    for end in (1e-9, last):
        status, _, _ = trial.run(*command, "--rate", f"{first}:{end}", "-o", "m.uai", "--curve", "curve.csv")
        if status not in (0, 4, 5):
            return status
        w.append(read_machine(trial.read("m.uai").decode(), n, m))
        rate.append(first / (1 + (first / end - 1) / 2))
    if len(trial.read("curve.csv").splitlines()) != 3:
        return status  # the first check was enough
    all_v = numpy.array(list(itertools.product([0, 1], repeat=n)))

    def objective(x):
        of_all = energies(x, all_v, m)[0]
        log_z = of_all.max() + math.log(numpy.exp(of_all - of_all.max()).sum())
        return energies(x, rows, m)[0].mean() - log_z - l2 / (2 * len(rows)) * float(x[:n * m] @ x[:n * m])
    f, h = energies(w[0], all_v, m)
    p = numpy.exp(f - f.max()) / numpy.exp(f - f.max()).sum()
    features = numpy.concatenate([(all_v[:, :, None] * h[:, None, :]).reshape(len(p), -1), all_v, h], axis=1)
    error = numpy.sqrt(p @ (features - p @ features) ** 2 / CHAINS)
    found, truth = (w[1] - w[0]) / (rate[1] - rate[0]), slope(objective, w[0])
    off = numpy.abs(found - truth)
    if (off > 6 * error + 0.02).any() or off @ off > 6 * (error @ error) + 0.01:
        raise Wrong(f"gradient: rbm: a step along {found.tolist()}, by differences {truth.tolist()}, errors {error.tolist()}")
    return status


# ---- classes of pictures ---------------------------------------------------------------------


def write_pictures(trial, names, shown, side):
    """Writes pictures of plain squares, each square of one shade. @return for each picture its shades [rows][columns]."""
    r, pictures, lines = trial.r, [], []
    palette = r.sample([(0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 0, 255), (0, 200, 60), (120, 120, 120)], r.randint(2, 5))
    likely = {name: [r.choice([0.1, 1, 5]) for _ in palette] for name in names}
    for i, of in enumerate(shown):
        rows, columns = r.randint(1, 4), r.randint(len(palette), 6)
        shade = [[r.choices(range(len(palette)), likely[r.choice(of)])[0] for _ in range(columns)] for _ in range(rows)]
        if i == 0:
            shade[0][:len(palette)] = range(len(palette))  # every shade occurs
        text = "\n".join(" ".join(str(c) for a in row for _ in range(side) for c in palette[a]) for row in shade for _ in range(side))
        trial.write(f"{i}.ppm", f"P3\n{columns * side} {rows * side}\n255\n{text}\n")
        lines.append(f"{i}.ppm {' '.join(of)}\n")
        pictures.append(numpy.array(shade))
    trial.write("list", "".join(lines))
    return pictures, len(palette)


def derivatives(objective, x):
    """@return x times the derivative by each entry x, which is the expected count of EM."""
    found = numpy.zeros_like(x)
    for at in numpy.argwhere(x > 0):
        at, sides = tuple(at), []
        for sign in (1, -1):
            other = x.copy()
            other[at] *= 1 + sign * STEP
            sides.append(objective(other))
        found[at] = (sides[0] - sides[1]) / (2 * STEP)
    return found


def aspects(trial):
    """Checks that a step of EM gives x times the derivative of the log-likelihood of the words, plus 0.1 [M68]."""
    r, side = trial.r, 4
    names = ["grass", "sky", "brick"][:r.choice([2, 2, 3])]
    shown = [r.sample(names, r.randint(1, len(names))) for _ in range(r.randint(0, 2))] + [[name] for name in names]
    pictures, n_words = write_pictures(trial, names, shown, side)
    cells = r.choice([0, 2])
    status, _, _ = trial.run("learn", "aspects", "list", "--patch", f"{side},{side}", "--texture-words", 1, "--color-words", n_words,
                             "--position-cells", cells, "--iterations", r.choice([1, 2, 3, 8]), "--seed", r.randrange(2 ** 64),
                             "--curve", "curve.csv", "-o", "a.aspects")
    if status not in (0, 4, 5):
        return status
    names = list(dict.fromkeys(name for of in shown for name in of))  # in the order of their first occurrence
    curve = [float(row["objective"]) for row in rows_of(trial.read("curve.csv").decode(), "objective")]
    word = [p.ravel() for p in pictures]
    place = [numpy.array([i * cells // len(p) * cells + j * cells // p.shape[1] for i in range(len(p)) for j in range(p.shape[1])], int)
             for p in pictures]
    share = numpy.array([[float(name in of) for name in names] for of in shown])
    share /= share.sum(axis=1, keepdims=True)
    beta = [numpy.full((size, len(names)), 1 / size) for size in (n_words, max(1, cells * cells))]

    def log_like(share, by_word, by_place):
        return sum(numpy.log((by_word[a] * by_place[b]) @ s).sum() for a, b, s in zip(word, place, share))
    for told in curve:
        truth = log_like(share, *beta) / sum(p.size for p in pictures)
        if abs(told - truth) > 1e-6 * (1 + abs(truth)):
            raise Wrong(f"exact: aspects: objective {told!r}, it is {truth!r}")
        counts = [derivatives(lambda x: log_like(x, *beta), share) + 0.1 * (share > 0),
                  derivatives(lambda x: log_like(share, x, beta[1]), beta[0]) + 0.1,
                  derivatives(lambda x: log_like(share, beta[0], x), beta[1]) + 0.1]
        share, beta = counts[0] / counts[0].sum(axis=1, keepdims=True), [x / x.sum(axis=0) for x in counts[1:]]
    words = trial.read("a.aspects").decode().split()
    for a, name in enumerate(names):
        at = words.index(name, words.index("classes")) + 1
        found = [float(x) for x in words[at:at + 1 + n_words + cells * cells]]
        if numpy.abs(numpy.sort(found[1:1 + n_words]) - numpy.sort(beta[0][:, a])).max() > 1e-5:
            raise Wrong(f"gradient: aspects: words of {name} {found[1:1 + n_words]}, by differences {beta[0][:, a].tolist()}")
        if cells > 0 and numpy.abs(found[1 + n_words:] - beta[1][:, a]).max() > 1e-5:
            raise Wrong(f"gradient: aspects: places of {name} {found[1 + n_words:]}, by differences {beta[1][:, a].tolist()}")
    return status


def gradients(trial):
    """Chooses a test. One with chains of a machine takes a second, the others take some milliseconds."""
    return trial.r.choices([weights, potts, crf, aspects, rbm], [10, 10, 10, 10, 1])[0](trial)
