# SPDX-License-Identifier: Apache-2.0
"""Tests denoise for tools/attack: compares pictures of few pixels with enumeration."""
import json
import math

import numpy

from attack_answers import SIGMAS, SLACK, Wrong
from attack_models import axis

MOST_STATES = 6000


class Picture:
    """A noisy picture y of levels or labels, and the options that describe the noise."""

    def __init__(self, r):
        self.bitmap = r.random() < 0.2
        self.levels = 2 if self.bitmap else r.choice([2, 2, 3, 4])
        self.rows, self.columns = r.choice([(1, 1), (1, 4), (2, 2), (2, 3), (3, 2), (3, 3)])
        if self.levels ** (self.rows * self.columns) > MOST_STATES:
            self.rows, self.columns = 2, 3
        self.labels = not self.bitmap and r.random() < 0.3
        self.grey = not self.bitmap and not self.labels and r.random() < 0.4  # values between levels
        most = 255 if self.grey or self.labels else self.levels - 1
        self.value = [r.randint(0, most if self.grey else self.levels - 1) for _ in range(self.rows * self.columns)]
        self.y = [v * (self.levels - 1) / most if self.grey else v for v in self.value]
        self.most = most
        self.noise, self.x = ("gauss", r.choice([0.1, 0.5, 2.0])) if self.grey else ("flip", r.choice([0.01, 0.2, 0.4]))
        if not self.grey and not self.labels and r.random() < 0.2:
            self.noise, self.x = "gauss", r.choice([0.3, 1.0])
        self.coupling = r.choice([0.0, 0.3, 1.0, 4.0])
        self.eight = r.random() < 0.3
        self.limit = None if self.labels or r.random() < 0.6 else r.choice([0.5, 2.0, math.inf])

    def text(self):
        rows = "\n".join(" ".join(map(str, self.value[i:i + self.columns])) for i in range(0, len(self.value), self.columns))
        return f"P{1 if self.bitmap else 2}\n{self.columns} {self.rows}\n" + ("" if self.bitmap else f"{self.most}\n") + rows + "\n"

    def words(self, r):
        words = ["--noise", f"{self.noise}:{self.x}", "--coupling", self.coupling]
        words += ["--levels", self.levels] if self.levels != 2 or r.random() < 0.3 else []
        words += ["--labels"] * self.labels + ["--neighbours", "8"] * self.eight
        if self.limit is not None:
            words += ["--smoothing", "quadratic" if self.limit == math.inf else f"quadratic:{self.limit}"]
        return words

    def log_weights(self):
        """@return the log weights of all pictures: ln prod p(y_i | x_i) prod exp(-J w d(x_i, x_j))."""
        n, k = len(self.y), self.levels
        joint = numpy.zeros([k] * n)
        level = numpy.arange(k)
        for i, y in enumerate(self.y):
            if self.noise == "flip":
                joint = joint + axis(joint, i, numpy.log(numpy.where(level == y, 1 - self.x, self.x / (k - 1))))
            else:
                joint = joint + axis(joint, i, -(y - level) ** 2 / (2 * self.x ** 2))
        for i, j, w in self.pairs():
            a, b = axis(joint, i, level), axis(joint, j, level)
            d = (a != b).astype(float) if self.limit is None else numpy.minimum((a - b) ** 2.0, self.limit)
            joint = joint - self.coupling * w * d
        return joint

    def pairs(self):
        for i in range(len(self.y)):
            row, column = divmod(i, self.columns)
            near = [(0, 1, 1.0), (1, 0, 1.0)] + [(1, 1, math.sqrt(0.5)), (1, -1, math.sqrt(0.5))] * self.eight
            for down, right, w in near:
                if row + down < self.rows and 0 <= column + right < self.columns:
                    yield i, (row + down) * self.columns + column + right, w


def numbers(trial, name, n):
    """@return the values of the pixels of a binary PGM or PBM file of n pixels, and the largest allowed value."""
    bytes_ = trial.read(name)
    head = bytes_.split(maxsplit=3 if bytes_[:2] == b"P4" else 4)
    if bytes_[:2] == b"P4":
        columns, rows = int(head[1]), int(head[2])
        packed = numpy.frombuffer(bytes_[len(bytes_) - rows * ((columns + 7) // 8):], dtype=numpy.uint8)
        return numpy.unpackbits(packed.reshape(rows, -1), axis=1)[:, :columns].ravel().tolist(), 1
    most = int(head[3])
    return numpy.frombuffer(bytes_, dtype=">u2" if most > 255 else "u1", offset=len(bytes_) - n * (1 + (most > 255))).tolist(), most


def denoise(trial):
    """Checks the marginals of every pixel, the restored picture, and its stated reliability."""
    r = trial.r
    picture = Picture(r)
    name = "noisy.pbm" if picture.bitmap else "noisy.pgm"
    trial.write(name, picture.text())
    if r.random() < 0.05:
        return estimate(trial, name, picture)
    out = "out.pbm" if picture.bitmap else "out.pgm"
    written = [out, "doubt.pgm", "best" + out[3:], *["mean.pgm"] * (not picture.labels)]
    command = ["denoise", name, *picture.words(r), "-o", out, "--uncertainty", "doubt.pgm", "--map", "best" + out[3:],
               "--summary", "summary.json", "--write-model", "model.uai", *["--mean", "mean.pgm"] * (not picture.labels)]
    method = r.choice(["auto", "exact", "sample"])
    command += ["--method", method]
    command += ["--sweeps", r.choice([20, 400]), "--seed", r.randrange(2 ** 64)] if method == "sample" else []
    command += ["--truth", name] if r.random() < 0.3 else []
    status, text, words = trial.run(*command)
    if status not in (0, 4, 5):
        return status
    logw = picture.log_weights()
    p = numpy.exp(logw - logw.max())
    p /= p.sum()
    n = len(picture.y)
    truth = [p.sum(axis=tuple(u for u in range(n) if u != v)) for v in range(n)]
    report = json.loads(trial.read("summary.json"))
    check_marginals(report, truth)
    if report["method"] == "exact":
        check_pictures(trial, picture, truth, out)
    files = [trial.read(x) for x in written]
    again = trial.run(*command, "--threads", 3, GIBBSITE_SIMD=r.choice(["portable", "avx2"]))
    if again[:2] != (status, text) or files != [trial.read(x) for x in written]:
        raise Wrong("threads: another picture with 3 threads")
    best = [level_of(v, *rest) for v, *rest in levels(trial, picture, "best" + out[3:])]
    if logw[tuple(best)] < logw.max() - 1e-9 and "proved to be the largest" in words:
        raise Wrong(f"exact: --map has {logw[tuple(best)]!r}, the largest is {logw.max()!r}")
    log_z = report["log_z"]
    found = float(trial.done("logz", "model.uai", "--method", "exact")[0].split()[1]) * math.log(10.0)
    if log_z is not None and abs(found - log_z) > 1e-8 * (1 + abs(log_z)):
        raise Wrong(f"exact: ln Z {log_z!r}, of --write-model {found!r}")
    return status


def check_marginals(report, truth):
    for shown in report["marginals"]["shown"]:
        for a, state in enumerate(shown["states"]):
            error = abs(state["p"] - truth[shown["id"]][a])
            if report["method"] == "exact" and error > 1e-9:
                raise Wrong(f"exact: pixel {shown['id']}, level {a}: {state['p']!r}, it is {truth[shown['id']][a]!r}")
            if report["converged"] and error > SIGMAS * (state["mcse"] or 0) + SLACK:
                raise Wrong(f"converged: pixel {shown['id']}, level {a}: off by {error:.3g}")


def level_of(value, most, picture):
    return value if picture.labels else round(value * (picture.levels - 1) / most)


def levels(trial, picture, name):
    values, most = numbers(trial, name, len(picture.y))
    return [(v, most, picture) for v in values]


def check_pictures(trial, picture, truth, out):
    """Checks most probable levels, mean levels and the probability that a level is wrong."""
    k = picture.levels
    restored = [level_of(*x) for x in levels(trial, picture, out)]
    doubts = [v / 65535 for v in numbers(trial, "doubt.pgm", len(truth))[0]]
    means = [] if picture.labels else [v / 65535 for v in numbers(trial, "mean.pgm", len(truth))[0]]
    for i, p in enumerate(truth):
        if p[restored[i]] < p.max() - 1e-9:
            raise Wrong(f"exact: pixel {i} is restored as {restored[i]}, its levels have {p.tolist()}")
        mean = float(p @ numpy.arange(k)) / (k - 1)
        mean = 1 - mean if picture.bitmap else mean
        if means and abs(means[i] - mean) > 1e-5:
            raise Wrong(f"exact: pixel {i} has a mean of {means[i]!r}, it is {mean!r}")
        if abs(doubts[i] - (1 - p.max()) / (1 - 1 / k)) > 1e-5:
            raise Wrong(f"exact: pixel {i} has an uncertainty of {doubts[i]!r}, its levels have {p.tolist()}")


def estimate(trial, name, picture):
    """Checks noise and coupling that are estimated: the answer must be that of the printed options."""
    words = ["--levels", picture.levels, *["--labels"] * picture.labels]
    return trial.run("denoise", name, *words, "-o", "out.pgm", "--sweeps", 20, "--method", "sample")[0]
