# SPDX-License-Identifier: Apache-2.0
"""Tests learn aspects and segment for tools/attack: compares pictures of few patches with the model that is written."""
import json
import os
import re

from attack_answers import SIGMAS, SLACK, Wrong, rows_of

CLASSES = ["grass", "sky", "brick"]


class Setting:
    """Pictures whose classes differ in shade and grain, and the options that cut patches."""

    def __init__(self, r):
        self.side, self.step = r.choice([(4, 2), (4, 4), (6, 3), (8, 8)])
        self.names = CLASSES[:r.choice([2, 2, 3])]
        self.shown = [r.sample(self.names, r.randint(1, len(self.names))) for _ in range(r.randint(0, 2))]
        self.shown += [[name] for name in self.names]  # no two classes always occur together
        self.shade = {name: [r.randint(0, 255) for _ in range(3)] for name in self.names}
        self.grain = {name: r.choice([0, 5, 60]) for name in self.names}

    def picture(self, r, names, color):
        """Makes a picture of stripes of the classes. @return its text, height and width."""
        height, width = (self.side + self.step * r.randint(0, 3) + r.randint(0, self.step - 1) for _ in range(2))
        rows = []
        for _ in range(height):
            row = []
            for x in range(width):
                name = names[x * len(names) // width]
                row += [min(255, max(0, c + r.randint(-self.grain[name], self.grain[name]))) for c in self.shade[name][:3 if color else 1]]
            rows.append(" ".join(map(str, row)))
        return f"P{3 if color else 2}\n{width} {height}\n255\n" + "\n".join(rows) + "\n", height, width

    def patches(self, length):
        return (length - self.side) // self.step + 1


def segment(trial):
    r = trial.r
    setting = Setting(r)
    lines = []
    for i, names in enumerate(setting.shown):
        trial.write(f"{i}.ppm", setting.picture(r, names, r.random() < 0.7)[0])
        lines.append(f"{i}.ppm {' '.join(names)}\n")
    trial.write("list", "".join(lines))
    learn = ["learn", "aspects", "list", "--patch", f"{setting.side},{setting.step}", "--texture-words", r.choice([1, 3, 10]),
             "--color-words", r.choice([1, 2, 5]), "--position-cells", r.choice([0, 0, 2]), "--iterations", r.choice([1, 5, 100]),
             "--seed", r.randrange(2 ** 64)]
    status, _, _ = trial.run(*learn, "-o", "a.aspects")
    if status not in (0, 4):
        return status
    text = trial.read("a.aspects")
    check_classes(text.decode(), setting.names)
    trial.run(*learn, "-o", "a.aspects", "--threads", 3)
    if trial.read("a.aspects") != text:
        raise Wrong("threads: other classes with 3 threads")
    picture, height, width = setting.picture(r, setting.names, r.random() < 0.7)
    trial.write("scene.ppm", picture)
    if r.random() < 0.2:
        return damaged(trial, text.decode())
    return cut(trial, setting, height, width)


def check_classes(text, names):
    """Checks that the probabilities of each kind of word are above 0 and sum to 1."""
    words = text.split()
    size = {kind: int(words[words.index(kind) + 1]) for kind in ("texture", "color", "cells")}
    at = words.index("classes")
    if int(words[at + 1]) != len(names):
        raise Wrong(f"learn: {words[at + 1]} classes of {names}")
    at += 2
    found = []
    for _ in names:
        found.append(words[at + 1])
        at += 2
        for n in (size["texture"], size["color"], size["cells"] ** 2):
            p = [float(x) for x in words[at:at + n]]
            if n > 0 and (min(p) <= 0 or abs(sum(p) - 1) > 1e-9):
                raise Wrong(f"learn: probabilities {p} of words of {found[-1]}")
            at += n
    if sorted(found) != sorted(names) or at != len(words):
        raise Wrong(f"learn: classes {found} of {names}, {len(words) - at} words behind them")


def damaged(trial, text):
    """Checks that a file that is cut off, or has a word in place of a number, is refused with a place. Nothing may be written."""
    r = trial.r
    at = r.randrange(len(text) - 1)
    worse = text[:at] if r.random() < 0.5 else text[:at] + r.choice(["x", "-", "", " ", "9", "\n", "nan "]) + text[at + 1:]
    trial.write("a.aspects", worse)
    status, _, words = trial.program.run(trial.folder, ["segment", "a.aspects", "scene.ppm", "-o", "map.pgm", "--sweeps", "10"], {})
    if status == 3:
        if not re.search(r"a\.aspects:\d+:\d+: found|a\.aspects:.*found", words):
            raise Wrong(f"segment: refused without a place: {words[-300:]}")
        if os.path.exists(trial.path("map.pgm")):
            raise Wrong("segment: a file where it was refused")
    elif status != 0:
        raise Wrong(f"segment: status {status} of a damaged file, {words[-300:]}")
    return status


def cut(trial, setting, height, width):
    r = trial.r
    rows, columns = setting.patches(height), setting.patches(width)
    n, k = rows * columns, len(setting.names)
    command = ["segment", "a.aspects", "scene.ppm", "-o", "map.pgm", "--write-model", "m.uai", "--summary", "s.json", "--format", "csv",
               "--neighbours", r.choice([4, 8]), *r.choice([[], ["--coupling", r.choice([0, 0.1, 2])]])]
    method = r.choice(["auto", "exact", "sample"])
    command += ["--method", method, *(["--sweeps", r.choice([10, 300]), "--seed", r.randrange(2 ** 64)] if method == "sample" else [])]
    if method == "sample" and r.random() < 0.5:
        a, b = r.randint(1, rows), r.randint(1, columns)
        command += ["--target", f"{a}x{b}+{r.randint(0, rows - a)}+{r.randint(0, columns - b)}"]
        n = a * b
    status, out, words = trial.run(*command)
    if status not in (0, 4, 5):
        return status
    written = [trial.read("map.pgm"), trial.read("m.uai")]
    again = trial.run(*command, "--threads", 3, GIBBSITE_SIMD=r.choice(["portable", "avx2"]))
    if again[:2] != (status, out) or written != [trial.read("map.pgm"), trial.read("m.uai")]:
        raise Wrong("threads: another map with 3 threads")
    count = {row["class"]: int(row["patches"]) for row in rows_of(out.decode(), "patches")}
    if count.pop("all", n) != n or sum(count.values()) != n or len(count) != k:
        raise Wrong(f"segment: {n} patches of {k} classes, it counts {count}")
    values = written[0][-height * width:]
    if "--target" not in command and max(values) >= k:
        raise Wrong(f"segment: label {max(values)} of {k} classes")
    if "--target" not in command:
        check_marginals(trial, json.loads(trial.read("s.json")), count, rows * columns)
    return status


def check_marginals(trial, report, count, n):
    """Compares the marginals with those of the model that was written, which another verb computes."""
    text = trial.done("exact", "m.uai", "--format", "csv")[0].decode()
    p = {}
    for row in rows_of(text, "probability"):
        p.setdefault(int(row["variable"].lstrip("x")), []).append(float(row["probability"]))
    if len(p) != n:
        raise Wrong(f"segment: a model of {len(p)} variables, {n} patches")
    for shown in report["marginals"]["shown"]:
        for a, state in enumerate(shown["states"]):
            error = abs(state["p"] - p[shown["id"]][a])
            if report["method"] == "exact" and error > 1e-9:
                raise Wrong(f"exact: patch {shown['id']}, class {a}: {state['p']!r}, its model has {p[shown['id']][a]!r}")
            if report["converged"] and error > SIGMAS * (state["mcse"] or 0) + SLACK:
                raise Wrong(f"converged: patch {shown['id']}, class {a}: off by {error:.3g}")
    clear = all(sorted(x)[-1] > sorted(x)[-2] + 1e-6 for x in p.values())
    best = [x.index(max(x)) for x in p.values()]
    if report["method"] == "exact" and clear and [best.count(a) for a in range(len(count))] != list(count.values()):
        raise Wrong(f"exact: classes of the patches are {best}, the table counts {count}")
