# SPDX-License-Identifier: Apache-2.0
"""Tests ground for tools/attack: compares programs of few atoms with all their worlds."""
import itertools
import os
import re

import numpy

from attack_answers import Wrong, rows_of

MOST_ATOMS = 10
PREDICATES = {"P": "t", "Q": "tu", "R": "tt", "C": "tu", "D": "ut"}  # types of the arguments
CHOICES = {"C": 1, "D": 0}  # exactly one value of the argument with this number holds
SIGNS = {"and": "^", "or": "v", "implies": "=>", "iff": "<=>"}


class Program:
    """A program: formulas as nested tuples, and facts."""

    def __init__(self, r):
        while True:
            self.constants = {"t": ["A", "B", "C"][:r.randint(1, 3)], "u": ["U", "V", "W"][:r.randint(1, 3)]}
            self.predicates = sorted(r.sample(sorted(PREDICATES), r.randint(1, 3)))
            self.atoms = [(p, *c) for p in self.predicates for c in itertools.product(*(self.constants[x] for x in PREDICATES[p]))]
            self.open = r.sample(self.predicates, r.randint(1, len(self.predicates)))
            self.facts = {a: r.random() < (0.25 if a[0] in CHOICES else 0.5) for a in self.atoms if r.random() < 0.3}
            self.free = [a for a in self.atoms if a[0] in self.open and a not in self.facts]
            if len(self.free) <= MOST_ATOMS:
                break
        self.formulas = [self.formula(r) for _ in range(r.randint(1, 4))]

    def formula(self, r):
        """@return the weight of a formula (None: the formula must hold), and its tree."""
        return r.choice([None, 0.5, -0.75, 1.5, 2.0, -2.0, 30.0]), self.tree(r, r.randint(0, 3), {})

    def term(self, r, kind, bound):
        names = [x for x, of in bound.items() if of == kind]
        if names and r.random() < 0.6:
            return r.choice(names)
        return r.choice(self.constants[kind]) if r.random() < 0.2 else r.choice({"t": ["x", "y"], "u": ["a", "b"]}[kind])

    def tree(self, r, depth, bound):
        form = r.choice(["not", "and", "or", "or", "implies", "implies", "iff", "EXIST", "FORALL"]) if depth > 0 else "atom"
        if form == "atom":
            p = r.choice(self.predicates)
            return ("atom", p, *(self.term(r, kind, bound) for kind in PREDICATES[p]))
        if form == "not":
            return ("not", self.tree(r, depth - 1, bound))
        if form in ("EXIST", "FORALL"):
            p = r.choice(self.predicates)
            kind = r.choice(PREDICATES[p])
            z = f"z{len(bound)}"
            inner = {**bound, z: kind}
            some = ("atom", p, *(z if k == kind else self.term(r, k, inner) for k in PREDICATES[p]))
            return (form, z, kind, ("or", some, self.tree(r, depth - 1, inner)) if r.random() < 0.5 else some)
        return (form, self.tree(r, depth - 1, bound), self.tree(r, depth - 1, bound))

    def variables(self, tree, bound=()):
        """@return the free variables of a formula, with their types."""
        if tree[0] == "atom":
            return {x: k for x, k in zip(tree[2:], PREDICATES[tree[1]]) if x[0].islower() and x not in bound}
        if tree[0] in ("EXIST", "FORALL"):
            return self.variables(tree[3], (*bound, tree[1]))
        return {x: k for part in tree[1:] for x, k in self.variables(part, bound).items()}

    def words(self, tree):
        if tree[0] == "atom":
            return f"{tree[1]}({', '.join(tree[2:])})"
        if tree[0] == "not":
            return "!" + (self.words(tree[1]) if tree[1][0] == "atom" else f"({self.words(tree[1])})")
        if tree[0] in ("EXIST", "FORALL"):
            return f"({tree[0]} {tree[1]} ({self.words(tree[3])}))"
        return f"({self.words(tree[1])}) {SIGNS[tree[0]]} ({self.words(tree[2])})"

    def text(self):
        lines = [f"{kind} = {{{', '.join(names)}}}" for kind, names in self.constants.items()]
        lines += [f"{p}({', '.join(k + '!' * (CHOICES.get(p) == i) for i, k in enumerate(PREDICATES[p]))})" for p in self.predicates]
        lines += [f"{self.words(f)}." if w is None else f"{w} {self.words(f)}" for w, f in self.formulas]
        return "\n".join(lines) + "\n"

    def rivals(self):
        """@return the free atoms that a fact excludes. They are not variables of the model."""
        held = {tuple(x for i, x in enumerate(a) if i != 1 + CHOICES[a[0]]) for a, holds in self.facts.items() if holds and a[0] in CHOICES}
        return {a for a in self.free if a[0] in CHOICES and tuple(x for i, x in enumerate(a) if i != 1 + CHOICES[a[0]]) in held}

    def database(self):
        return "".join(f"{'' if holds else '!'}{name_of(atom)}\n" for atom, holds in self.facts.items())

    # ---- worlds ------------------------------------------------------------------------------

    def truth(self, tree, bound, world):
        if tree[0] == "atom":
            return world[(tree[1], *(bound.get(x, x) for x in tree[2:]))]
        if tree[0] in ("EXIST", "FORALL"):
            parts = [self.truth(tree[3], {**bound, tree[1]: c}, world) for c in self.constants[tree[2]]]
            return (numpy.any if tree[0] == "EXIST" else numpy.all)(parts, axis=0)
        parts = [self.truth(part, bound, world) for part in tree[1:]]
        if tree[0] == "not":
            return ~parts[0]
        return {"and": parts[0] & parts[-1], "or": parts[0] | parts[-1], "implies": ~parts[0] | parts[-1],
                "iff": parts[0] == parts[-1]}[tree[0]]

    def log_weights(self):
        """@return the log weights of all worlds, and the atoms of the worlds."""
        n = 2 ** len(self.free)
        world = {a: numpy.full(n, self.facts.get(a, False)) for a in self.atoms}
        world.update({a: (numpy.arange(n) >> i & 1).astype(bool) for i, a in enumerate(self.free)})
        logw = numpy.zeros(n)
        for weight, tree in self.formulas:
            free = self.variables(tree)
            for values in itertools.product(*(self.constants[k] for k in free.values())):
                holds = self.truth(tree, dict(zip(free, values)), world)
                logw = logw + (numpy.where(holds, 0.0, -numpy.inf) if weight is None else weight * holds)
        for p in set(self.predicates) & set(CHOICES):
            at = 1 + CHOICES[p]
            for others in {a[:at] + a[at + 1:] for a in self.atoms if a[0] == p}:
                count = sum(world[others[:at] + (c,) + others[at:]].astype(int) for c in self.constants[PREDICATES[p][at - 1]])
                logw = numpy.where(count == 1, logw, -numpy.inf)
        return logw, world


def name_of(atom):
    return f"{atom[0]}({','.join(atom[1:])})"


def ground(trial):
    """Checks the marginals of every atom. A damaged program must be refused with a place, and must leave no file."""
    r = trial.r
    program = Program(r)
    texts = [program.text(), program.database()]
    command = ["ground", "p.mln", "d.db", "--query-predicates", ",".join(program.open)]
    if r.random() < 0.3:
        return damaged(trial, command, texts)
    trial.write("p.mln", texts[0])
    trial.write("d.db", texts[1])
    logw, world = program.log_weights()
    possible = bool(numpy.isfinite(logw).any())
    status, _, words = trial.program.run(trial.folder, [*command, "-o", "out.gbm"], {})
    if status == 3:
        if possible:
            raise Wrong(f"ground: refused one that is good: {words[-300:]}")
        return refused(trial, words)
    if status != 0:
        raise Wrong(f"ground: status {status}, {words[-300:]}")
    first = trial.read("out.gbm")
    trial.done(*command, "-o", "out.gbm")
    if trial.read("out.gbm") != first:
        raise Wrong("ground: other bytes the second time")
    check(trial, program, logw, world, possible)
    return status


def check(trial, program, logw, world, possible):
    status, out, words = trial.program.run(trial.folder, ["exact", "out.gbm"], {})
    if not possible:
        if status == 0:
            raise Wrong("ground: an answer where no world is possible")
        return
    if status != 0:
        raise Wrong(f"ground: its model has no answer: {words[-300:]}")
    p = numpy.exp(logw - logw.max())
    p /= p.sum()
    found = {row["variable"]: float(row["probability"]) for row in rows_of(out.decode(), "probability") if row["state"] == "1"}
    rivals = program.rivals()
    for atom in program.free:
        truth = float(p @ world[atom])
        alone = 0.0 if atom in rivals else 0.5  # the atom is in no factor
        if abs(found.pop(name_of(atom), alone) - truth) > 1e-9:
            raise Wrong(f"ground: {name_of(atom)} has {truth!r}")
    if found:
        raise Wrong(f"ground: variables nobody asked for: {sorted(found)}")


def refused(trial, words):
    if not re.search(r"(p\.mln|d\.db):\d+:\d+: found|p\.mln: found|d\.db: found", words):
        raise Wrong(f"ground: refused without a place: {words[-300:]}")
    if os.path.exists(trial.path("out.gbm")):
        raise Wrong("ground: a file where it was refused")
    return 3


def damaged(trial, command, texts):
    """@return the text with characters removed, inserted or changed."""
    r = trial.r
    for _ in range(r.randint(1, 3)):
        k = r.randrange(2)
        at = r.randint(0, len(texts[k]))
        texts[k] = texts[k][:at] + r.choice(["", "(", ")", "!", "v", "=>", ",", ".", "\n", "+", "1", "x", "é"]) + texts[k][at + r.choice([0, 1]):]
    trial.write("p.mln", texts[0])
    trial.write("d.db", texts[1])
    status, _, words = trial.program.run(trial.folder, [*command, "-o", "out.gbm"], {})
    if status == 0:
        trial.program.run(trial.folder, ["info", "out.gbm"], {})
        return 0
    if status != 3:
        raise Wrong(f"ground: status {status} of a damaged program, {words[-300:]}")
    return refused(trial, words)
