# SPDX-License-Identifier: Apache-2.0
"""certify, scan and marginals --certified."""
import collections
import itertools
import json
import math
import re
from random import Random

import pytest
from conftest import SPRINKLER

GRID = ["generate", "ising", "--grid", "6x8", "--coupling", "0.2", "--coupling-spread", "0.05", "-o", "g.uai"]


@pytest.fixture
def grid(run):
    assert run(*GRID).status == 0
    return "g.uai"


def test_certify_says_when(run, grid):
    done = run("certify", grid, "--target", "0", "--accuracy", "0.01", "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert found["schema"] == "certify/1" and found["variation"] == []
    assert found["influences"]["free"] == 48 and found["influences"]["enumerated_rows"] == 48
    assert found["influences"]["dobrushin_condition"] is True
    rows = {(r["scan"], r["target"]): r for r in found["accuracy"]}
    assert len(rows) == 6
    for (scan, target), r in rows.items():
        assert r["certified"] and r["variation"] <= 0.01 and r["steps"] == 48 * r["passes"]
        assert rows[scan, "0"]["passes"] < rows[scan, "all"]["passes"]
        # one pass fewer does not do
        again = run("certify", grid, "--scan", scan, "--target", "0", "--json", "--steps",
                    f"{r['steps'] - 48},{r['steps']}")
        value = {(q["steps"], q["target"]): q["variation"] for q in json.loads(again.out)["variation"]}
        assert value[r["steps"] - 48, target] > 0.01 >= value[r["steps"], target]
    assert rows["random", "all"]["passes"] > rows["systematic", "all"]["passes"]


def test_bounds_are_not_below(run, grid):
    def sums(rule):
        return json.loads(run("certify", grid, "--influence", rule, "--json").out)["influences"]

    bound, exact, auto = sums("bound"), sums("exact"), sums("auto")
    assert bound["enumerated_rows"] == 0 and exact["enumerated_rows"] == auto["enumerated_rows"] == 48
    assert bound["largest_sum"] >= exact["largest_sum"] == auto["largest_sum"]


def test_no_certificate_is_an_answer(run, work):
    assert run("generate", "ising", "--grid", "5x5", "--coupling", "1", "-o", "strong.uai").status == 0
    done = run("certify", "strong.uai", "--accuracy", "0.1")
    assert done.status == 0, done.err
    assert "no certificate" in done.out and "no variation of all variables goes to 0" in done.out
    found = json.loads(run("certify", "strong.uai", "--accuracy", "0.1", "--json").out)
    assert not any(r["certified"] for r in found["accuracy"])
    done = run("marginals", "strong.uai", "--certified", "0.1")
    assert done.status == 1 and "no certificate for 0.1" in done.err
    done = run("scan", "strong.uai", "--accuracy", "0.1")
    assert done.status == 1 and "spectral radius" in done.err


def test_evidence_counts(run, grid):
    free = json.loads(run("certify", grid, "--json").out)
    some = json.loads(run("certify", grid, "-e", "10=1,20=0", "--json").out)
    assert some["influences"]["free"] == free["influences"]["free"] - 2
    done = run("certify", SPRINKLER, "-e", "rain=yes,sprinkler=on,grass=wet", "--accuracy", "0.5")
    assert done.status == 0, done.err


def test_coupled_chains(run, grid, work):
    asked = ("certify", grid, "--scan", "systematic", "--target", "5", "--couplings", "40")
    found = json.loads(run(*asked, "--json").out)
    rows = [r for r in found["couplings"] if r["target"] == "all"]
    assert [r["passes"] for r in rows] == [1, 2, 5, 10, 20, 50, 100]
    assert all(r["met"] == r["pairs"] == 40 and not r["at_least"] and r["scan"] == "systematic" for r in rows)
    assert rows[0]["joint"] > 0 == rows[-1]["joint"] and rows[-1]["joint_mcse"] == 1 / 40
    assert all(r["variable"] <= r["joint"] for r in rows)
    # the proved bound of a variable is above what is estimated
    proved = [r["total_variation_at_most"] for r in found["variation"] if r["target"] == "5"]
    seen = [r for r in found["couplings"] if r["target"] == "5"]
    assert all(p >= r["joint"] - 4 * r["joint_mcse"] for p, r in zip(proved, seen))
    # any number of threads, another seed
    for threads in "1", "3":
        assert json.loads(run(*asked, "--threads", threads, "--json").out) == found
    assert json.loads(run(*asked, "--seed", "9", "--json").out)["couplings"] != found["couplings"]
    text = run(*asked).out
    assert "all 40 pairs of chains met" in text and "proves nothing" in text
    # of steps the whole passes
    some = json.loads(run(*asked, "--steps", "100,500", "--lag", "7", "--json").out)["couplings"]
    assert [r["passes"] for r in some if r["target"] == "all"] == [2, 10] and all(r["lag"] == 7 for r in some)


def test_pairs_that_do_not_meet_say_no(run, work):
    assert run("generate", "ising", "--grid", "5x5", "--coupling", "3", "-o", "modes.uai").status == 0
    done = run("certify", "modes.uai", "--scan", "systematic", "--couplings", "30", "--sweeps", "50")
    assert done.status == 0 and re.search(r"no: \d+ of 30 pairs of chains did not meet within 50 passes", done.out), done.out
    assert "at least" in done.out or re.search(r" 100 +1 +1\n", done.out)
    found = json.loads(run("certify", "modes.uai", "--scan", "systematic", "--couplings", "30", "--sweeps", "50", "--json").out)
    assert all(r["at_least"] and r["met"] < 30 for r in found["couplings"])


def test_scan_lowers_the_variation(run, grid, work):
    done = run("scan", grid, "--target", "rectangle:2,2,3,3", "--grid", "6x8", "--steps", "40", "-o", "r.scan")
    assert done.status == 0, done.err
    told = re.search(r"40 updates of (\d+) variables: variation ([\d.e-]+), systematic scan ([\d.e-]+)",
                     done.err)
    assert float(told[2]) < float(told[3])
    lines = (work / "r.scan").read_text().splitlines()
    assert lines[0] == "scan 1" and lines[1] == "variables 48" and lines[2].startswith("model ")
    value = json.loads(run("certify", grid, "--scan", "r.scan", "--steps", "40", "--json",
                           "--target", "18,19,26,27").out)["variation"]
    assert value[1]["variation"] == pytest.approx(float(told[2]), rel=1e-5)
    # a file of weights says the same
    (work / "w").write_text("weights 1\nvariables 48\n18 1 19 1 # two\n26 1 27 1\n")
    again = run("scan", grid, "--target", "w", "--steps", "40")
    assert [l for l in again.out.splitlines() if l[0] != "#"] == [l for l in lines if l[0] != "#"]
    # matching the systematic scan takes fewer updates
    done = run("scan", grid, "--target", "20", "--match", "systematic:96", "--origin", "1", "-o", "m.scan")
    assert done.status == 0, done.err
    assert int(re.search(r"(\d+) updates of", done.err)[1]) == 32
    done = run("scan", grid, "--accuracy", "0.01", "--iterate", "-o", "whole.scan")
    assert done.status == 0, done.err
    done = run("marginals", grid, "--scan", "whole.scan", "--sweeps", "50")
    assert done.status == 0, done.err


def test_certified_burn_in(run, grid, work):
    for scan in ("chromatic", "systematic", "random", "permuted"):
        done = run("marginals", grid, "--certified", "0.001", "--scan", scan, "--sweeps", "100",
                   "--summary", "s.json", "-o", "m.csv")
        assert done.status == 0, done.err
        s = json.loads((work / "s.json").read_text())
        assert 0 < s["certified"] <= 0.001 and 2 < s["burn_in"] < 100
        assert "certified: after " in done.err
        assert s["options"]["certified"] == 0.001 and s["options"]["burn_in"] is None


@pytest.mark.parametrize("arguments, status, part", [
    (["certify", "g.uai", "--scan", "permuted"], 2, "no closed form"),
    (["certify", "g.uai", "--scan", "synchronous"], 2, "one variable at a time"),
    (["marginals", "g.uai", "--certified", "0.1", "--scan", "synchronous"], 2, "one variable at a time"),
    (["certify", "g.uai", "--steps", "5,4"], 2, "ascending"),
    (["certify", "g.uai", "--steps", "99999999999999"], 1, "ask for fewer"),
    (["certify", "g.uai", "--target", "rectangle:0,0,1,1"], 2, "--grid RxC"),
    (["certify", "g.uai", "--target", "rectangle:0,0,6,1", "--grid", "6x8"], 2, "rectangle:R0,C0,R1,C1"),
    (["certify", "g.uai", "--target", "rectangle:0,0,1,1", "--grid", "6x9"], 2, "48 variables"),
    (["certify", "g.uai", "--target", "99"], 2, "99"),
    (["certify", "g.uai", "--target", "3,3"], 2, "--target: variable 3 is named twice"),
    (["certify", "g.uai", "--scan", "chromatic", "--origin", "1"], 2, "applies with --scan systematic only"),
    (["certify", "g.uai", "--couplings", "1"], 2, "--couplings"),
    (["certify", "g.uai", "--lag", "3"], 2, "--couplings"),
    (["certify", "g.uai", "--sweeps", "3"], 2, "--couplings"),
    (["certify", "g.uai", "--influence", "some"], 2, "auto|bound|exact"),
    (["certify", "g.uai", "--memory-limit", "2000"], 1, "memory limit"),
    (["scan", "g.uai", "--match", "random:4"], 2, "systematic:T"),
    (["scan", "g.uai", "--match", "systematic:4", "--steps", "5"], 2, "leave out --steps"),
    (["scan", "g.uai", "--target", "1", "--target", "2"], 2, "given twice"),
    (["scan", "g.uai", "--origin", "48"], 2, "origin 48"),
    (["scan", "g.uai", "--steps", "0"], 2, "a number of updates"),
    (["marginals", "g.uai", "--certified", "0.1", "--burn-in", "3"], 2, "leave out --burn-in"),
    (["marginals", "g.uai", "--certified", "0.1", "--draw", "herded"], 2, "only the random draw"),
    (["sample", "g.uai", "--certified", "0.1"], 2, "no option '--certified'"),
])
def test_refused(run, grid, arguments, status, part):
    done = run(*arguments)
    assert done.status == status and part in done.err, done.err
    assert done.out == ""


@pytest.mark.parametrize("text, place", [
    ("weights 2\nvariables 48\n", "1:9"),
    ("weights 1\nvariables 47\n", "2:11"),
    ("weights 1\nvariables 48\n48 1\n", "3:1"),
    ("weights 1\nvariables 48\n4 -1\n", "3:3"),
    ("weights 1\nvariables 48\n4 1 4 1\n", "3:5"),
    ("weights 1\nvariables 48\n4\n", "4:1"),
    ("weights 1\nvariables 48\n4 nan\n", "3:3"),
])
def test_weights_refused(run, grid, work, text, place):
    (work / "w").write_text(text)
    done = run("certify", grid, "--target", "w")
    assert done.status == 3 and f"w:{place}:" in done.err, done.err


def test_omitted_variable_has_no_rows(run, work):
    """Found by tools/attack: a state that evidence rules out was written with probability 0."""
    (work / "p.uai").write_text("MARKOV 2 2 3 1 2 0 1 6 1 2 3 4 5 6\n")
    (work / "p.scan").write_text("scan 1\nvariables 2\n0\n")
    asked = ["marginals", "p.uai", "-e", "1=1|2", "--scan", "p.scan", "--partial-scan", "--sweeps", "20"]
    rows = [line.split(",") for line in run(*asked).out.splitlines()[1:]]
    assert [row[0] for row in rows] == ["0", "0"]
    assert [v["id"] for v in json.loads(run(*asked, "--format", "json").out)["variables"]] == [0]


def test_short_chains(run, grid, work):
    assert run("scan", grid, "--target", "20,21", "--accuracy", "0.01", "-o", "two.scan").status == 0
    short = ["--scan", "two.scan", "--partial-scan", "--restarts"]
    done = run("marginals", grid, *short, "--target", "20,21", "--target-error", "0.02", "--summary", "s.json")
    assert done.status == 0, done.err
    s = json.loads((work / "s.json").read_text())
    assert 0 < s["bias_estimate"] <= 0.01 and s["converged"] and s["burn_in"] == 0
    assert s["options"]["restarts"] is True and s["options"]["partial_scan"] is True
    rows = [line.split(",") for line in done.out.splitlines()[1:]]
    assert [r[0] for r in rows] == ["20", "20", "21", "21"]
    for r in rows:  # no field: one half
        assert abs(float(r[2]) - 0.5) < 0.01 + 5 * float(r[3])
    threads = run("marginals", grid, *short, "--target", "20,21", "--target-error", "0.02", "--threads", "3")
    assert threads.out == done.out
    # helpers are less well known: asked for all, the run is honest
    done = run("marginals", grid, *short, "--sweeps", "4000", "--format", "json")
    assert done.status == 0 and "try a longer scan" in done.err
    visited = len(json.loads(done.out)["variables"])
    assert 2 < visited <= 48
    done = run("sample", grid, *short, "--target", "20,21", "--sweeps", "3", "--chains", "2")
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "chain,draw,lp,x20,x21" and len(lines) == 7
    done = run("sample", grid, *short, "--monitor", "21", "--sweeps", "2")
    assert done.out.splitlines()[0] == "chain,draw,lp,x21"


@pytest.mark.parametrize("arguments, part", [
    (["marginals", "g.uai", "--scan", "p.scan"], "unless --partial-scan is given"),
    (["marginals", "g.uai", "--partial-scan"], "needs a scan file"),
    (["marginals", "g.uai", "--scan", "p.scan", "--partial-scan", "-o", "x.MAR"], "csv or json"),
    (["marginals", "g.uai", "--scan", "p.scan", "--partial-scan", "--draw", "herded"], "random draw"),
    (["marginals", "g.uai", "--scan", "p.scan", "--partial-scan", "--target", "0"], "applies with --restarts"),
    (["marginals", "g.uai", "--scan", "p.scan", "--partial-scan", "--restarts", "--target", "9"], "never visits"),
    (["marginals", "g.uai", "--scan", "p.scan", "--partial-scan", "--restarts", "--burn-in", "3"], "burn-in"),
    (["sample", "g.uai", "--scan", "p.scan", "--partial-scan", "--restarts", "--monitor", "9"], "never visits 9"),
    (["sample", "g.uai", "--scan", "p.scan", "--partial-scan", "--restarts", "--estimator", "count"],
     "rao-blackwell"),
])
def test_short_chains_refused(run, grid, work, arguments, part):
    (work / "p.scan").write_text("scan 1\nvariables 48\n0 1 0\n")
    done = run(*arguments)
    assert done.status == 2 and part in done.err, done.err
    assert done.out == ""


def test_partial_without_restarts(run, grid, work):
    (work / "p.scan").write_text("scan 1\nvariables 48\n0 1 0\n")
    done = run("marginals", grid, "--scan", "p.scan", "--partial-scan", "--sweeps", "300000")
    assert done.status == 0, done.err
    assert [line.split(",")[0] for line in done.out.splitlines()[1:]] == ["0", "0", "1", "1"]
    assert "not converged" in done.err


@pytest.mark.parametrize("arguments", [["scan", "--steps", "8000000", "--iterate"],
                                       ["certify", "--accuracy", "1e-130", "--influence", "bound"]])
def test_time_is_obeyed(run, arguments):
    """However fast the machine is: minutes of work, some of it done or none."""
    run("generate", "ising", "--grid", "300x300", "--coupling", "0.2", "-o", "large.gbm")
    done = run(*arguments, "large.gbm", "--time", "0.3", "-o", "out")
    assert done.status == 4 and "stopped" in done.err, done.err

def random_pairs(random, n):
    """The file of a model of n variables of two states whose pairs have random tables, and its weights."""
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    tables = [[math.exp(random.uniform(-0.5, 0.5)) for _ in range(4)] for _ in pairs]
    lines = ["MARKOV", str(n), " ".join(["2"] * n), str(len(pairs))]
    lines += [f"2 {i} {j}" for i, j in pairs] + ["4 " + " ".join(map(repr, t)) for t in tables]
    weight = {x: math.prod(t[2 * x[i] + x[j]] for (i, j), t in zip(pairs, tables))
              for x in itertools.product((0, 1), repeat=n)}
    return "\n".join(lines) + "\n", weight


def laws_after(weight, n, updates):
    """The distribution after updates of given variables, "*" is any one of them, from each start in turn."""
    for start in weight:
        law = {start: 1.0}
        for update in updates:
            moved = collections.defaultdict(float)
            for i in range(n) if update == "*" else [update]:
                for x, p in law.items():
                    both = [x[:i] + (a,) + x[i + 1:] for a in (0, 1)]
                    for y in both:
                        moved[y] += p * weight[y] / sum(weight[z] for z in both) / (n if update == "*" else 1)
            law = moved
        yield law


@pytest.mark.parametrize("scale", ["below 1", "exactly 1", "above 1", "mixed, some 0"])
def test_bounds_hold_for_any_weights(run, work, scale):
    """Against every start of random small models and scans: a distance, and functions of all signs."""
    n, random = 3, Random(scale)
    draw = {"below 1": lambda: random.uniform(0.001, 0.9), "exactly 1": lambda: 1.0, "above 1": lambda: random.uniform(1.5, 9.0),
            "mixed, some 0": lambda: random.choice([0.0, 0.01, 1.0, 5.0])}[scale]
    for trial in range(6):
        text, weight = random_pairs(random, n)
        d = [draw() for _ in range(n)]
        d[0] = d[0] or 0.01
        (work / "m.uai").write_text(text)
        (work / "d.txt").write_text(f"weights 1\nvariables {n}\n" + "".join(f"{i} {w!r}\n" for i, w in enumerate(d) if w))
        scan, update = [(["systematic", "--origin", "1"], [1, 2, 0, 1, 2]), (["random"], ["*"] * 5),
                        (["s.scan"], [random.choice([0, 1, 2, "*"]) for _ in range(5)])][trial % 3]
        (work / "s.scan").write_text(f"scan 1\nvariables {n}\n" + " ".join(map(str, update)) + "\n")
        done = run("certify", "m.uai", "--scan", *scan, "--steps", "1,2,5", "--target", "d.txt", "--format", "json")
        assert done.status == 0, done.err
        found = json.loads(done.out)
        total = sum(weight.values())
        chosen = [i for i in range(n) if d[i] > 0]
        for row in found["variation"]:
            if row["target"] == "all":
                continue
            distance = worst = 0.0
            for law in laws_after(weight, n, update[:row["steps"]]):
                difference = {x: law.get(x, 0.0) - w / total for x, w in weight.items()}
                joint = collections.defaultdict(float)
                for x, p in difference.items():
                    joint[tuple(x[i] for i in chosen)] += p
                distance = max(distance, sum(map(abs, joint.values())) / 2)
                for signs in itertools.product((-1, 1), repeat=n):
                    worst = max(worst, sum(p * sum(s * w * a for s, w, a in zip(signs, d, x)) for x, p in difference.items()))
            assert distance <= row["total_variation_at_most"] + 1e-9
            assert worst <= row["functions_at_most"] + 1e-9
            assert row["functions_at_most"] <= row["variation"] + 1e-12 and row["total_variation_at_most"] <= 1


def test_a_small_weight_is_no_small_distance(run, work):
    (work / "two.uai").write_text("MARKOV\n2\n2 2\n3\n1 0\n1 1\n2 0 1\n2\n 0.1 0.9\n2\n 0.5 0.5\n4\n 1.1 1 1 1.1\n")
    (work / "w.txt").write_text("weights 1\nvariables 2\n0 0.01\n")
    found = json.loads(run("certify", "two.uai", "--scan", "systematic", "--origin", "1", "--steps", "1", "--target", "w.txt",
                           "--format", "json").out)
    row = [r for r in found["variation"] if r["target"] != "all"][0]
    assert row["variation"] == row["functions_at_most"] == 0.01 and row["total_variation_at_most"] == 1


def test_scans_from_other_scans(run, grid):
    """Never worse than what they began as; a file is repeated to the length."""
    def found(*start):
        done = run("scan", grid, "--steps", "200", *start, "-o", "made.scan")
        assert done.status == 0, done.err
        after, before = re.search(r"variation (\S+), .* (\S+)$", done.err, re.M).groups()
        certified = json.loads(run("certify", grid, "--scan", "made.scan", "--steps", "200", "--json").out)["variation"][0]
        assert abs(certified["variation"] - float(after)) < 1e-5 * float(after)
        return float(after), float(before)

    for start in ([], ["--scan", "random"], ["--scan", "chromatic"]):
        after, before = found(*start)
        assert after < before
        again, was = found("--scan", "made.scan")
        assert was == after and again <= after
    assert "draws blocks" in run("scan", grid, "--scan", "splash").err
    assert "moves clusters" in run("scan", grid, "--scan", "wolff").err
    assert run("scan", grid, "--scan", "random", "--steps", "1000000000").status == 1


BANNER = "%%MatrixMarket matrix coordinate real "


def matrix_market(n, entries, symmetry="general"):
    lines = [f"{i + 1} {j + 1} {x!r}" for (i, j), x in entries.items()]
    return "\n".join([BANNER + symmetry, "% made by a test", f"{n} {n} {len(lines)}", *lines, ""])


def followed(n, c, sequence):
    b = [1.0] * n
    for i in sequence:
        b[i] = sum(c.get((i, j), 0.0) * b[j] for j in range(n))
    return b


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_given_influences(run, grid, work, symmetry):
    """Bounds are those of the matrix in the file, whatever the model, and scan makes the best of it."""
    random = Random(5)
    c = {(i, j): random.random() / 20 for i in range(48) for j in range(48) if i > j and random.random() < 0.2}
    (work / "c.mtx").write_text(matrix_market(48, c, symmetry))
    c.update({(j, i): x for (i, j), x in c.items() if symmetry == "symmetric"})
    b = followed(48, c, [*range(48)] * 2)
    done = run("certify", grid, "--influences", "c.mtx", "--scan", "systematic", "--target", "7", "--steps", "96", "--json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert found["influences"]["given"] > 0 and found["influences"]["enumerated_rows"] == 0
    assert found["influences"]["entries"] == len({p for i, j in c for p in ((i, j), (j, i))})
    assert found["influences"]["largest_sum"] == pytest.approx(max(sum(c.get((i, j), 0) for j in range(48)) for i in range(48)))
    assert [r["variation"] for r in found["variation"]] == pytest.approx([sum(b), b[7]])
    done = run("scan", grid, "--influences", "c.mtx", "--target", "7", "--steps", "5", "-o", "s.scan")
    assert done.status == 0, done.err
    sequence = [int(w) for w in (work / "s.scan").read_text().splitlines()[-1].split()]
    best = followed(48, c, sequence)[7]
    assert f"variation {best:.6g}" in done.err and best <= followed(48, c, range(5))[7]


def test_given_influences_with_evidence(run, grid, work):
    (work / "c.mtx").write_text(matrix_market(48, {(0, 1): 0.5, (1, 0): 0.25, (5, 6): 0.125}))
    found = json.loads(run("certify", grid, "--influences", "c.mtx", "-e", "0=0", "--steps", "1", "--json").out)["influences"]
    assert found["free"] == 47 and found["entries"] == 2 and found["largest_sum"] == 0.125
    (work / "none.mtx").write_text(matrix_market(48, {}))
    found = json.loads(run("certify", grid, "--influences", "none.mtx", "--steps", "1", "--json").out)["influences"]
    assert found["entries"] == 0 and found["radius_high"] == 0.0


@pytest.mark.parametrize("text,place,part", [
    (BANNER + "general\n47 47 0\n", "2:1", "found a matrix of 47 rows, expected one for each of the 48 variables"),
    (BANNER + "general\n48 47 0\n", "2:4", "expected a square matrix"),
    (BANNER + "general\n48 48 1\n1 2 1.5\n", "3:5", "found the influence '1.5', expected 0 to 1"),
    (BANNER + "general\n48 48 1\n1 2 -0.5\n", "3:5", "found the influence '-0.5', expected 0 to 1"),
    (BANNER + "general\n48 48 1\n1 2 nan\n", "3:5", "expected a finite value"),
    (BANNER + "general\n48 48 1\n1 2 inf\n", "3:5", "expected a finite value"),
    (BANNER + "general\n48 48 1\n2 2 0.5\n", "3:5", "of a variable on itself, expected 0 or no entry"),
    (BANNER + "general\n48 48 1\n0 2 0.5\n", "3:1", "expected a row from 1"),
    (BANNER + "general\n48 48 1\n1 49 0.5\n", "3:3", "expected a column from 1"),
    (BANNER + "symmetric\n48 48 1\n1 2 0.5\n", "3:1", "above the diagonal of a symmetric matrix"),
    (BANNER + "general\n48 48 2\n1 2 0.5\n1 2 0.5\n", "4:1", "given before, expected each entry once"),
    (BANNER + "general\n48 48 1\n1 2 0.5\n3 4 0.5\n", "4:1", "the last entry"),
    (BANNER + "general\n48 48 1\n1 2 0.5 6\n", "3:9", "the end of the line"),
    (BANNER + "skew-symmetric\n48 48 0\n", "1:39", "expected general or symmetric"),
    (BANNER.replace("coordinate", "array") + "general\n48 48\n", "1:1", "found an array"),
    (BANNER.replace("real", "pattern") + "general\n48 48 0\n", "1:1", "found a pattern"),
])
def test_given_influences_refused(run, grid, work, text, place, part):
    (work / "c.mtx").write_text(text)
    for verb in ("certify", "scan"):
        done = run(verb, grid, "--influences", "c.mtx", "-o", "out")
        assert done.status == 3 and f"c.mtx:{place}: " in done.err and part in done.err, done.err
        assert not (work / "out").exists()


def test_given_influences_are_not_computed(run, grid, work):
    (work / "c.mtx").write_text(matrix_market(48, {}))
    done = run("scan", grid, "--influences", "c.mtx", "--influence", "exact")
    assert done.status == 2 and "--influences cannot apply with --influence" in done.err
