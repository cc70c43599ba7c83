# SPDX-License-Identifier: Apache-2.0
"""Tests label and learn for tools/attack: compares conditional random fields on short sequences with enumeration."""
import json
import math
import re

import numpy

from attack_answers import Wrong
from attack_models import axis

WORDS = [["a", "b", "c", "%x", "_B-1"], ["s", "C", "0"]]
LABELS = ["O", "B-X", "I-X", "B-Y"]


def random_templates(r):
    def macro():
        return f"%x[{r.choice([-2, -1, 0, 0, 0, 1, 3])},{r.randint(0, 1)}]"
    lines = [f"U{i}:" + "/".join(macro() for _ in range(r.choice([1, 1, 2]))) for i in range(r.randint(0, 3))]
    lines += [r.choice(["B", f"B1:{macro()}"])] * (r.random() < 0.8)
    return lines or ["U:%x[0,0]"]


def random_sequences(r, n_labels):
    """[[(word, shape, label)]]"""
    longest = 5 if n_labels < 4 else 4
    return [[(r.choice(WORDS[0]), r.choice(WORDS[1]), r.choice(LABELS[:n_labels])) for _ in range(r.randint(1, longest))]
            for _ in range(r.randint(1, 4))]


def expand(template, sequence, t, beyond="B"):
    """@param beyond: letter of the texts that stand beyond the ends of a sequence, x for Wapiti."""
    def text(match):
        row, column = t + int(match.group(1)), int(match.group(2))
        if row < 0:
            return f"_{beyond}{row}"
        return sequence[row][column] if row < len(sequence) else f"_{beyond}+{row - len(sequence) + 1}"
    return re.sub(r"%x\[(-?\d+),(\d+)\]", text, template)


class Field:
    """A text model of CRF++."""

    def __init__(self, labels, templates, features, weights, factor=1.0):
        self.labels, self.templates, self.features, self.weights, self.factor = labels, templates, features, weights, factor

    def text(self):
        first, lines = 0, []
        for name in self.features:
            lines.append(f"{first} {name}")
            first += len(self.labels) ** (2 if name[0] == "B" else 1)
        parts = [f"version: 100\ncost-factor: {self.factor!r}\nmaxid: {first}\nxsize: 2", "\n".join(self.labels),
                 "\n".join(self.templates), "\n".join(lines), "\n".join(repr(x) for x in self.weights)]
        return "\n\n".join(parts) + "\n"

    @staticmethod
    def read(text):
        parts = [[]]
        for line in text.splitlines():
            if line == "":
                parts.append([])
            else:
                parts[-1].append(line)
        head, labels, templates, features, weights = parts + [[]] * (5 - len(parts))
        first = {name: int(number) for number, name in (line.split(" ", 1) for line in features)}
        return Field(labels, templates, first, [float(x) for x in weights], float(head[1].split(": ")[1]))

    def first_weights(self):
        if isinstance(self.features, dict):
            return self.features
        first, at = {}, 0
        for name in self.features:
            first[name] = at
            at += len(self.labels) ** (2 if name[0] == "B" else 1)
        return first

    def active(self, sequence):
        """@return [(token, first weight, whether the feature is of pairs)] of the features of the sequence."""
        first = self.first_weights()
        for t in range(len(sequence)):
            for template in self.templates:
                pairs = template[0] == "B"
                name = expand(template, sequence, t)
                if name in first and (t > 0 or not pairs):
                    yield t, first[name], pairs

    def scores(self, sequence):
        """@return the log weights of all labellings."""
        k = len(self.labels)
        joint = numpy.zeros([k] * len(sequence))
        w = numpy.array(self.weights) * self.factor
        for t, at, pairs in self.active(sequence):
            if pairs:
                shape = [1] * joint.ndim
                shape[t - 1] = shape[t] = k
                joint = joint + w[at:at + k * k].reshape(shape)
            else:
                joint = joint + axis(joint, t, w[at:at + k])
        return joint

    def probabilities(self, sequence):
        scores = self.scores(sequence)
        p = numpy.exp(scores - scores.max())
        return p / p.sum()

    def gradient(self, sequences):
        """@return the gradient of ln P(labels) by the weights."""
        k, found = len(self.labels), numpy.zeros(len(self.weights))
        for sequence in sequences:
            p = self.probabilities(sequence)
            seen = [self.labels.index(label) for _, _, label in sequence]
            for t, at, pairs in self.active(sequence):
                kept = (t - 1, t) if pairs else (t,)
                mean = p.sum(axis=tuple(u for u in range(p.ndim) if u not in kept))
                found[at:at + mean.size] -= mean.ravel()
                found[at + (seen[t - 1] * k + seen[t] if pairs else seen[t])] += 1.0
        return found


def data_text(r, sequences):
    blank = r.choice([" ", "\t"])
    return r.choice(["\n", "\n\n"]).join("".join(blank.join(token) + "\n" for token in sequence) for sequence in sequences) + "\n"


def label(trial):
    """Checks the most probable labels and the posteriors of all labels."""
    r = trial.r
    labels = LABELS[:r.randint(1, 4)]
    sequences, templates = random_sequences(r, len(labels)), random_templates(r)
    names = [expand(template, s, t) for s in sequences for t in range(len(s)) for template in templates]
    names = [name for name in dict.fromkeys(names) if r.random() < 0.8]
    n_weights = sum(len(labels) ** (2 if name[0] == "B" else 1) for name in names)
    large = r.choice([1.0, 1.0, 50.0])
    field = Field(labels, templates, names, [r.choice([0.0, r.uniform(-large, large)]) for _ in range(n_weights)],
                  r.choice([1.0, 1.0, 0.5]))
    trial.write("field.crf", field.text())
    trial.write("data.txt", data_text(r, sequences))
    posterior = r.choice(["none", "best", "all"])
    words = [] if posterior == "none" else ["--posterior", posterior]
    words += ["--truth", r.choice(["last", "2"])] if r.random() < 0.5 else []
    out, said = trial.done("label", "field.crf", "data.txt", *words, "--summary", "label.json")
    rows = [line.split("\t") for line in out.decode().splitlines() if line]
    if len(rows) != sum(map(len, sequences)):
        raise Wrong(f"rows: {len(rows)} tokens")
    check_labels(trial, field, sequences, rows, posterior)
    if "--truth" in words and f"{100 * sum(x[2] == x[3] for x in rows) / len(rows):.2f} %" not in said:
        raise Wrong(f"truth: {said[:200]}")
    if trial.done("label", "field.crf", "data.txt", *words, "--threads", 3, GIBBSITE_SIMD="portable")[0] != out:
        raise Wrong("threads: other labels with 3 threads")
    if r.random() < 0.4:
        sampled(trial, field, sequences)
    return 0


def sampled(trial, field, sequences):
    """Checks sampled labels and probabilities: labels are at most as probable as the best, probabilities sum to 1, and the
    number of threads changes nothing."""
    r = trial.r
    words = ["label", "field.crf", "data.txt", "--method", "sample", "--draw", r.choice(["random", "herded", "discretized"]),
             "--sweeps", r.choice([1, 5, 100]), "--chains", r.choice([1, 4]), "--burn-in", r.choice([0, 3]), "--posterior", "all",
             "--block-time", r.choice([0, 1, 32])]
    status, out, said = trial.run(*words)
    if status != 0:
        if "no starting state" not in said and "weight zero" not in said:
            raise Wrong(f"sampled: status {status}: {said[-300:]}")
        return
    rows, at = [line.split("\t") for line in out.decode().splitlines() if line], 0
    for sequence in sequences:
        scores = field.scores(sequence)
        found = tuple(field.labels.index(row[3]) for row in rows[at:at + len(sequence)])
        if scores[found] > scores.max() + 1e-9 * (1 + abs(scores.max())):
            raise Wrong(f"sampled: labels {found} of {scores[found]!r}, the largest is {scores.max()!r}")
        for row in rows[at:at + len(sequence)]:
            if abs(sum(float(x.rsplit("/", 1)[1]) for x in row[4:]) - 1) > 1e-5:
                raise Wrong(f"sampled: {row}")
        at += len(sequence)
    if trial.run(*words, "--threads", 3)[1] != out:
        raise Wrong("threads: other sampled labels with 3 threads")


def linked(trial, sequences):
    """Checks links between equal words: any number of threads gives the same weights and labels. Checks junction trees and auto."""
    r = trial.r
    templates = ["u:%x[0,0]", "u:%x[-1,0]/%x[0,1]", "b", r.choice(["=%x[0,0]", "=%x[0,1]", '=%m[0,0,"[a-c]"]']),
                 *r.sample(["s", "s:%x[-1,0]", "s:%x[0,1]"], r.randint(1, 3))]
    trial.write("b.template", "\n".join(templates) + "\n")
    words = ["learn", "crf", "b.template", "data.txt", "--template-style", "wapiti", "--l2", r.choice([0.1, 1, 10]),
             "--least-count", r.choice([1, 2]), *r.choice([["--objective", "pseudo"], ["--steps", r.choice([1, 7, 40])]])]
    status, out, said = trial.run(*words)
    if status != 0:
        if "found 0 weights" not in said:
            raise Wrong(f"linked: status {status}: {said[-300:]}")
        return
    if trial.run(*words, "--threads", 3, GIBBSITE_SIMD="portable")[1] != out:
        raise Wrong("threads: other weights of links with 3 threads")
    trial.write("linked.mdl", out.decode())
    label = ["label", "linked.mdl", "data.txt", "--posterior", "all"]
    exact = trial.done(*label, "--method", "exact")[0]
    if trial.done(*label, "--threads", 3)[0] != exact:
        raise Wrong("linked: auto and exact differ")


def check_labels(trial, field, sequences, rows, posterior):
    at, log_p = 0, 0.0
    for sequence in sequences:
        scores, p = field.scores(sequence), field.probabilities(sequence)
        mine = rows[at:at + len(sequence)]
        at += len(sequence)
        found = tuple(field.labels.index(row[3]) for row in mine)
        if scores[found] < scores.max() - 1e-9 * (1 + abs(scores.max())):
            raise Wrong(f"exact: labels {found} of {scores[found]!r}, the largest is {scores.max()!r}")
        log_p += float(scores[found] - scores.max() - math.log(numpy.exp(scores - scores.max()).sum()))
        for t, row in enumerate(mine):
            truth = p.sum(axis=tuple(u for u in range(p.ndim) if u != t))
            told = dict(x.rsplit("/", 1) for x in row[4:])
            if len(told) != {"none": 0, "best": 1, "all": len(field.labels)}[posterior]:
                raise Wrong(f"columns: {row}")
            for name, value in told.items():
                if abs(float(value) - truth[field.labels.index(name)]) > 1e-9:
                    raise Wrong(f"exact: token {t} of {sequence}: {row}, they have {truth.tolist()}")
    report = json.loads(trial.read("label.json"))
    if posterior != "none" and abs(report["log_probability"] - log_p) > 1e-9 * (1 + abs(log_p)):
        raise Wrong(f"exact: ln P(labels) {report['log_probability']!r}, it is {log_p!r}")


def learn(trial):
    """Compares likelihood, penalty and gradient of the written weights with enumeration."""
    r = trial.r
    n_labels = r.randint(2, 3)
    sequences, templates = random_sequences(r, n_labels), random_templates(r)
    trial.write("a.template", "# what is seen\n" * (r.random() < 0.3) + "\n".join(templates) + "\n")
    trial.write("data.txt", data_text(r, sequences))
    l1, l2 = r.choice([0, 0, 0.3, 5]), r.choice([0.1, 1, 10])
    words = ["learn", "crf", "a.template", "data.txt", "--l1", l1, "--l2", l2, "--least-count", r.choice([1, 1, 2]),
             "--iterations", r.choice([1, 3, 1000]), "--tolerance", r.choice([1e-5, 1e-10]), "--summary", "learn.json"]
    status, _, _ = trial.run(*words, "-o", "learnt.crf")
    if status not in (0, 4):
        return status
    report, text = json.loads(trial.read("learn.json")), trial.read("learnt.crf").decode()
    field = Field.read(text)
    w = numpy.array(field.weights)
    seen = [tuple(field.labels.index(token[2]) for token in s) for s in sequences]
    with numpy.errstate(divide="ignore"):
        ll = float(sum(numpy.log(field.probabilities(s)[labels]) for s, labels in zip(sequences, seen)))
    objective = -ll + 0.5 * l2 * float(w @ w) + l1 * float(numpy.abs(w).sum())
    for name, truth in (("log_likelihood", ll), ("objective", objective)):
        if abs(report[name] - truth) > 1e-8 * (1 + abs(truth)):
            raise Wrong(f"exact: {name} {report[name]!r}, of the weights that are written {truth!r}")
    if l1 == 0:
        norm = float(numpy.linalg.norm(l2 * w - field.gradient(sequences)))
        if abs(norm - report["gradient_norm"]) > 1e-7 * (1 + norm):
            raise Wrong(f"exact: gradient {report['gradient_norm']!r}, of the weights that are written {norm!r}")
    trial.done(*words, "-o", "again.crf", "--threads", 3)
    if trial.read("again.crf").decode() != text:
        raise Wrong("threads: other weights with 3 threads")
    trial.done("label", "learnt.crf", "data.txt", "--truth", "last", "--posterior", "all")
    if r.random() < 0.4:
        linked(trial, sequences)
    if status == 0 and r.random() < 0.3:  # Wapiti has other texts beyond the ends of a sequence
        again, _, said = trial.run(*words, "--template-style", "wapiti", "-o", "learnt.mdl")
        if again != 0 and "found 0 weights" in said:  # a word of the data equals a text that CRF++ has beyond the ends
            return status
        trial.done("label", "learnt.mdl", "data.txt")
    return status
