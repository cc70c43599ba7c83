# SPDX-License-Identifier: Apache-2.0
"""Compares answers with enumeration for tools/attack, and judges the reasons for missing answers."""
import csv
import io
import json
import math
import re

import numpy

from attack_models import INF, axis, flat

SIGMAS, SLACK = 6.0, 0.002  # bound for sampled answers that are called converged
# Messages with which a run on a legal model may fail.
REASONS = ("probability zero", "probability 0", "positive probability", "positive weight", "memory limit", "weight zero",
           "no starting state", "would take", "there is nothing", "has no closed form", "no parameters here",
           "there is no result", "no certificate", "not supported", "cannot", "wcnf files", "more than", "the limit is",
           "double precision", "ruled out by hard zeros", "search for a fresh start", "are told apart",
           "no quantity has an R-hat", "variables of mln files", "hold spins, which have 2", "the focus variable must have",
           "has no form for it", "the model has no variables", "focus variables of two states only",
           "found 0 weights to learn", "built without libLBFGS", "no state found", "evidence fixes every variable")


class Wrong(Exception):
    """The mistake that a trial found, in one line. The first word names the kind of mistake."""


class Skipped(Exception):
    """The reason why a trial cannot be made on this machine."""


def rows_of(out, *columns):
    rows = list(csv.DictReader(io.StringIO(out)))
    if rows and any(c not in rows[0] for c in columns):
        raise Wrong("columns: " + out.splitlines()[0])
    return rows


class Answers:
    """Enumeration of a model given likelihoods, [(variable, likelihoods)], and the output of the program to compare with it."""

    def __init__(self, m, q, given):
        self.m, self.q = m, q
        with numpy.errstate(divide="ignore"):
            self.logw = m.log_weights()
            for v, likelihood in given:
                self.logw = self.logw + axis(self.logw, v, numpy.log(likelihood.astype(float)))
        self.top = float(self.logw.max()) if self.logw.size else 0.0
        self.possible = self.top > -INF
        values = [x for _, arguments in m.factors for x in flat(arguments) if isinstance(x, float)]
        self.scale = sum(abs(x) for x in [*values, *flat(m.kept)] if math.isfinite(x))
        if self.possible:
            self.p = numpy.exp(self.logw - self.top)
            self.log_z = self.top + math.log(self.p.sum())
            self.p = self.p / self.p.sum()
        self.close = 1e-9 + 1e-14 * self.scale

    def marginal(self, variables):
        others = tuple(v for v in range(self.p.ndim) if v not in variables)
        return numpy.transpose(self.p.sum(axis=others), numpy.argsort(numpy.argsort(variables)))

    def same_log_z(self, value):
        return value == self.log_z or abs(value - self.log_z) <= self.close * (1 + abs(self.log_z)) + 1e-9

    def check_reason(self, words):
        if not any(reason in words for reason in REASONS):
            raise Wrong("reason: " + words.strip()[-300:])
        certain = any(proof in words for proof in ("has probability zero", "has probability 0", "no state has positive weight",
                                                   "and none exists"))
        certain = certain and "start: the state" not in words
        if certain and self.possible and self.log_z > -1e5 and self.q.verb != "cases":
            raise Wrong("impossible: refused, though ln Z = %g" % self.log_z)

    def check(self, out, words, report):
        kind = getattr(self, "check_" + self.q.verb, None)
        if not self.possible and self.q.verb in ("marginals", "joint", "logz", "map", "sample", "exact", "sensitivity"):
            if "mean-field" not in self.q.words() and not (self.q.verb in ("logz", "exact") and "-inf" in out):
                raise Wrong("impossible: answered, though no state has positive weight")
            return
        if kind is not None:
            kind(out, words, report)

    def state_number(self, v, text):
        return self.m.label[v].index(text) if v in self.m.label else int(text)

    def variables_of(self, option):
        """@return the variables that an option lists, or all variables if the option is not given."""
        names = self.q.value(option, None)
        return list(range(len(self.m.arity))) if names is None else [self.variable_number(x) for x in names.split(",")]

    def variable_number(self, text):
        by_name = {self.m.text(v): v for v in range(len(self.m.arity))}
        return by_name[text] if text in by_name else int(text)

    def compare(self, rows, truth_of, report, what):
        for row in rows:
            p = float(row["probability"])
            error = abs(p - truth_of(row))
            if not -1e-12 <= p <= 1 + 1e-12:
                raise Wrong(f"range: {what} {row}")
            if report["method"] == "exact" and error > self.close:
                raise Wrong(f"exact: {what} off by {error:.3g}: {row}")
            if report["converged"] and row["mcse"] and self.q.value("--draw", "random") == "random":
                if error > SIGMAS * float(row["mcse"]) + SLACK:
                    raise Wrong(f"converged: {what} off by {error:.3g}: {row}")

    def check_report(self, report):
        if report["method"] == "exact" and report["log_z"] is not None and not self.same_log_z(report["log_z"]):
            raise Wrong(f"exact: ln Z {report['log_z']!r} in the summary, it is {self.log_z!r}")

    def check_marginals(self, out, words, report):
        self.check_report(report)
        rows = rows_of(out, "variable", "state", "probability", "mcse")
        variables = self.variables_of("--query")
        key = [(v, a) for v in variables for a in range(self.m.arity[v])]
        partly = self.q.value("--scan", "") in ("random", "splash", "a.scan")  # variables that were not visited have no estimate
        if self.q.value("--estimator", "") == "traces" or partly and len(rows) < len(key):
            return
        if len(rows) != len(key):
            raise Wrong(f"rows: {len(rows)}, expected {len(key)}")
        truth = [self.marginal([v])[a] for v, a in key]
        at = {id(row): truth[i] for i, row in enumerate(rows)}
        total = {}
        for (v, a), row in zip(key, rows):
            if row["variable"] != self.m.text(v) or row["state"] != self.m.state(v, a):
                raise Wrong(f"order: {row} at {self.m.text(v)}={self.m.state(v, a)}")
            total[v] = total.get(v, 0.0) + float(row["probability"])
        if any(abs(x - variables.count(v)) > 1e-5 for v, x in total.items()):
            raise Wrong("sum: probabilities of a variable do not sum to 1")
        if "mean-field" in self.q.words():
            bound = report["log_z_bound"]
            if bound is not None and bound > self.log_z + 1e-6 + self.close * (1 + abs(self.log_z)):
                raise Wrong(f"bound: mean field says ln Z >= {bound}, it is {self.log_z}")
        elif not self.q.has("--restarts"):  # answers with --restarts have a bias, which another check bounds
            self.compare(rows, lambda row: at[id(row)], report, "a marginal")

    def check_joint(self, out, words, report):
        variables = self.variables_of("--joint")
        truth = self.marginal(variables)
        exact = "exact" in words and "sampled" not in words
        report = {"method": "exact" if exact else "sample", "converged": "gibbsite: converged" in words}
        def truth_of(row):
            return truth[tuple(self.state_number(v, row[self.m.text(v)]) for v in variables)]
        rows = rows_of(out, "probability", "mcse")
        if len(rows) != truth.size:
            raise Wrong(f"rows: {len(rows)}, expected {truth.size}")
        self.compare([row for row in rows if row["probability"]], truth_of, report, "a joint probability")

    def check_logz(self, out, words, report):
        value = float(out.split()[1]) * math.log(10.0)
        if "exact" in words and "+-" not in words:
            if not self.same_log_z(value):
                raise Wrong(f"exact: ln Z {value!r}, it is {self.log_z!r}")
        elif "gibbsite: converged" in words and abs(value - self.log_z) > 0.4 + self.close * (1 + abs(self.log_z)):
            raise Wrong(f"converged: ln Z {value!r} with an error of 0.05, it is {self.log_z!r}")

    def check_map(self, out, words, report):
        rows = rows_of(out, "variable", "state")
        if [row["variable"] for row in rows] != [self.m.text(v) for v in range(len(self.m.arity))]:
            raise Wrong("rows: of other variables")
        proved = "proved" in words and re.search(r"\b0 of \d+ variables? are proved|not proved", words) is None
        self.check_state([self.state_number(v, row["state"]) for v, row in enumerate(rows)], proved)

    def check_state(self, state, proved):
        found = float(self.logw[tuple(state)])
        if found == -INF:
            raise Wrong("zero: the state of map has probability 0")
        if proved and found < self.top - self.close * (1 + abs(self.top)):
            raise Wrong(f"exact: a state of {found}, called the largest, which is {self.top}")

    def check_sample(self, out, words, report):
        if self.q.has("--monitor") or self.q.has("--partial-scan"):  # the table lacks columns
            return
        for row in list(csv.reader(io.StringIO(out)))[1:]:
            state = tuple(int(x) for x in row[3:])
            found = float(self.logw[state])
            if found == -INF and self.q.value("--scan", "") == "synchronous":
                continue  # a synchronous scan may draw impossible states: its two colours are independent
            if found == -INF:
                raise Wrong(f"zero: draw {row[:2]} has probability 0")
            if abs(float(row[2]) - found) > 1e-6 * (1 + abs(found)) + 1e3 * self.close:
                raise Wrong(f"density: draw {row[:3]}, the log density is {found!r}")

    def check_exact(self, out, words, report):
        task = self.q.value("--task", "mar")
        if task == "mar":
            rows = rows_of(out, "variable", "state", "probability")
            truth = [x for v in range(len(self.m.arity)) for x in self.marginal([v])]
            if len(rows) != len(truth):
                raise Wrong(f"rows: {len(rows)}, expected {len(truth)}")
            for row, p in zip(rows, truth):
                if abs(float(row["probability"]) - p) > self.close:
                    raise Wrong(f"exact: {row}, it is {p!r}")
        elif task == "pr":
            self.check_logz(out, "exact", report)
        elif task == "map":
            self.check_state([int(x) for x in out.split()[2:]], True)
        elif task == "sample":
            self.check_sample(out, words, report)

    def check_cases(self, out, words, report):
        """Checks the likelihoods of all cases, and the marginals given each case."""
        rows = rows_of(out, "case", "log_probability")
        cases = self.q.cases
        if not self.possible or len(rows) != len(cases):
            return
        exact = "converged" not in rows[0]
        variables = self.variables_of("--query")
        for row, case in zip(rows, cases):
            observed = [(v, numpy.arange(self.m.arity[v]) == a) for v, a in case.items()]
            given = self.q.given() + observed
            truth = Answers(self.m, self.q, given)
            if not truth.possible:
                if exact and row["log_probability"] not in ("-inf", ""):
                    raise Wrong(f"exact: case {case} has probability 0, found {row['log_probability']}")
                continue
            if row["log_probability"] == "-inf" and truth.log_z - self.log_z > -1e5:
                raise Wrong(f"impossible: case {case} has ln P = {truth.log_z - self.log_z}")
            if not exact or row["log_probability"] == "-inf":
                continue
            log_p = truth.log_z - self.log_z
            error = abs(float(row["log_probability"] or log_p) - log_p)
            if error > 2 * self.close * (1 + abs(self.log_z)) + 1e-9:
                raise Wrong(f"exact: case {case} has ln P = {row['log_probability']}, it is {log_p!r}")
            for v in variables:
                for a, p in enumerate(truth.marginal([v])):
                    text = row.get(f"{self.m.text(v)}={self.m.state(v, a)}", "")
                    if text and abs(float(text) - p) > self.close:
                        raise Wrong(f"exact: case {case}, {self.m.text(v)}={self.m.state(v, a)} has {text}, it is {p!r}")

    def check_info(self, out, words, report):
        if self.q.has("--json"):
            told = json.loads(out)
            if told.get("schema") != "info/1":
                raise Wrong("info: " + out[:200])
        elif "variable" not in out and self.m.arity:
            raise Wrong("info: " + out[:200])

    def check_decompose(self, out, words, report):
        """Checks that no component is out of range, and that the total is at most the sum of the other components."""
        at = {}
        for row in rows_of(out):
            if "component" not in row:
                return  # --asymptotic
            value = float(row["mean"] or "nan")
            if not math.isnan(value) and not -1e-12 <= value <= 2 + 1e-9:
                raise Wrong(f"range: {row}")
            at.setdefault(row["sweeps"], {})[row["component"]] = value
        for components in at.values():
            if components["all"] - 1e-9 > sum(x for name, x in components.items() if name != "all"):
                raise Wrong(f"sum: all is above the sum of its components: {components}")

    def check_certify(self, out, words, report):
        """Checks that the distance from the target after some steps of the systematic scan is at most the certified one."""
        if not self.q.has("--json") or not self.possible or self.logw.size > 300:
            return
        for row in json.loads(out)["variation"]:
            if row["scan"] != "systematic" or row["target"] != "all":
                continue
            distance = self.distance_after(row["steps"])
            bound = row["total_variation_at_most"]
            if distance > bound + 1e-9:
                raise Wrong(f"bound: distance {distance!r} after {row['steps']} steps, certified {bound!r}")

    def distance_after(self, steps):
        """@return largest total variation distance from the target after steps of the systematic scan, over legal starts."""
        alive = self.p > 0
        free = [v for v in range(self.p.ndim) if numpy.count_nonzero(self.marginal([v])) > 1]
        states = numpy.flatnonzero(alive)
        d = numpy.zeros((len(states), *self.p.shape))
        d.reshape(len(states), -1)[numpy.arange(len(states)), states] = 1.0
        for t in range(steps if free else 0):
            v = free[t % len(free)]
            total = self.p.sum(axis=v, keepdims=True)
            conditional = numpy.divide(self.p, total, out=numpy.zeros_like(self.p), where=total > 0)
            d = d.sum(axis=v + 1, keepdims=True) * conditional
        return 0.5 * float(numpy.abs(d - self.p).reshape(len(states), -1).sum(axis=1).max())

    # ---- derivatives -------------------------------------------------------------------------

    def check_sensitivity(self, out, words, report):
        rows = rows_of(out, "derivative", "mcse")
        for row in rows:  # a row is empty if no parameter is near it
            if math.isnan(float(row["derivative"] or 0)):
                raise Wrong(f"derivative: {row}")
        if self.scale > 1e3 or "--top" in self.q.words() or not rows or any(float(row["mcse"] or 0) > 0 for row in rows):
            return
        name, state = self.q.value("--query", "").rsplit("=", 1)
        v = self.variable_number(name)
        a = self.state_number(v, state)
        words = [word for word, _ in self.m.factors]
        one_each = words.index("count") if "count" in words else len(words)  # a `count` line makes several factors
        for row in rows[:40]:
            if row["parameter"] != "weight" or not row["derivative"] or int(row["factor"]) >= one_each:
                continue
            truth = self.derivative(*self.m.factors[int(row["factor"])], v, a)
            if abs(truth - float(row["derivative"])) > 1e-9 + 1e3 * self.close:
                raise Wrong(f"derivative: {row}, it is {truth!r}")

    def derivative(self, word, arguments, v, a):
        """@return the derivative of P(X_v = a) by the weight of a factor: the covariance of the event and the factor's formula."""
        if word == "tied":
            word, arguments = arguments[2:]
        formula = getattr(self.m, "of_" + word)(numpy.zeros(self.m.arity), *arguments[:-1], 1.0) + numpy.zeros(self.m.arity)
        event = axis(formula, v, numpy.arange(self.m.arity[v]) == a)
        return float((self.p * event * formula).sum() - (self.p * event).sum() * (self.p * formula).sum())
