# SPDX-License-Identifier: Apache-2.0
"""The verb logz, and uai's PR where no junction tree fits."""
import json
import math
import re

import pytest

from conftest import SPRINKLER

ISING = ["generate", "ising", "--grid", "8x8", "--coupling", "0.3", "--field", "0.1", "-o", "i.uai"]


def test_exact(run):
    done = run("logz", SPRINKLER, "-e", "grass=wet")
    assert done.status == 0, done.err
    assert done.out == run("exact", SPRINKLER, "-e", "grass=wet", "--task", "pr").out
    assert "exact" in done.err


@pytest.mark.long
def test_estimate(run, work):
    assert run(*ISING).status == 0
    exact = float(run("exact", "i.uai", "--task", "pr", "--log-base", "e").out.split()[1])
    done = run("logz", "i.uai", "--method", "sample", "--format", "json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert found["converged"] is True and found["error"] <= 0.05 and found["stop"] == "target"
    assert abs(found["log_z"] - exact) < 5 * found["error"]
    assert found["low"] < exact < found["high"] and found["lower_bound"] is None
    assert found["round_trips"] >= 20 and found["chains"] >= 2 and found["valid_share"] == 1
    again = run("logz", "i.uai", "--method", "sample", "--threads", "3", "-o", "i.PR")
    assert again.status == 0 and again.out == ""
    word, value = (work / "i.PR").read_text().split()
    assert word == "PR" and abs(float(value) * math.log(10) - found["log_z"]) < 1e-12
    assert "95 %" in again.err and "converged" in again.err


def test_annealing(run):
    assert run(*ISING).status == 0
    exact = float(run("exact", "i.uai", "--task", "pr", "--log-base", "e").out.split()[1])
    done = run("logz", "i.uai", "--method", "sample", "--temper", "off", "--format", "json")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert found["converged"] is True and found["error"] <= 0.05 and found["stop"] == "target"
    assert abs(found["log_z"] - exact) < 5 * found["error"]
    assert found["low"] < found["log_z"] < found["high"] and found["lower_bound"] < exact
    assert found["annealings"] >= 3 and found["round_trips"] == 0 and found["barrier"] is None


def test_short_runs_say_so(run):
    assert run(*ISING).status == 0
    done = run("logz", "i.uai", "--method", "sample", "--temper", "off", "--sweeps", "8", "--format",
               "json")
    assert done.status == 0
    found = json.loads(done.out)
    assert found["converged"] is False and found["verdict"].startswith("not converged: ")
    assert found["temperatures"] == 8
    done = run("logz", "i.uai", "--method", "sample", "--temper", "off", "--target-error", "1e-6",
               "--max-updates", "10")
    assert done.status == 4 and done.out.startswith("PR\n")
    done = run("logz", "i.uai", "--method", "sample", "--max-updates", "10")
    assert done.status == 4 and done.out == ""
    assert "before the first sweep was kept" in done.err


def parities(path, n):
    """A system of n - 2 sums of five bits, which searches by single flips do not solve."""
    lines = [f"p cnf {n} {n - 2}"]
    for k in range(n - 2):
        lines.append("x" + " ".join(str((k * 7 + j * (k + 3) * (j + 2)) % n + 1) for j in range(5)) + " 0")
    path.write_text("\n".join(line for line in lines if len(set(line[1:].split()[:-1])) == 5 or "p" in line) + "\n")


@pytest.mark.parametrize("how", [[], ["--temper", "off"]])
@pytest.mark.long
def test_no_state_is_no_answer(run, work, how):
    """Chains that never met a state of positive weight do not say that ln Z is minus infinity."""
    parities(work / "p.cnf", 97)
    call = ["logz", "p.cnf", "--method", "sample", "--sweeps", "16", *how]
    done = run(*call, "-o", "p.PR")
    assert done.status == 1 and done.out == "" and not (work / "p.PR").exists()
    assert "ln Z: unknown: no state of positive weight was found" in done.err and "inf" not in done.err
    done = run(*call, "--format", "json")
    found = json.loads(done.out)
    assert done.status == 1 and found["log_z"] is found["low"] is found["lower_bound"] is None
    assert found["verdict"].startswith("unknown: ") and found["converged"] is False
    assert run(*call).out == ""


def test_parities_have_a_start(run, work):
    """Elimination finds a start for each chain."""
    parities(work / "p.cnf", 97)
    done = run("marginals", "p.cnf", "--method", "sample", "--sweeps", "16", "--scan", "chromatic")
    assert done.out.count("\n") == 195 and "no state found" not in done.err


def pigeons(path, n):
    """n pigeons, each in one of n - 1 holes, and no two in one hole: searches do not prove that this is impossible
    (Haken 1985, Theoretical Computer Science 39:297-308)."""
    hole = [[p * (n - 1) + h + 1 for h in range(n - 1)] for p in range(n)]
    lines = [" ".join(map(str, row)) for row in hole]
    lines += [f"-{hole[p][h]} -{hole[q][h]}" for h in range(n - 1) for q in range(n) for p in range(q)]
    path.write_text(f"p cnf {n * (n - 1)} {len(lines)}\n" + "".join(line + " 0\n" for line in lines))


@pytest.mark.long
def test_no_state_of_a_case_is_no_probability(run, work):
    """The same of a table of cases: a case is impossible only where that is proved."""
    pigeons(work / "p.cnf", 12)
    (work / "c.csv").write_text("0,1\n0,0\n")
    done = run("marginals", "p.cnf", "--cases", "c.csv", "--query", "5", "--method", "sample", "--sweeps", "16")
    assert done.status == 0 and "1 case is unknown: no state of positive probability was found" in done.err, done.err
    assert [line.split(",")[-2:] for line in done.out.splitlines()[1:]] == [["", "0"]]
    assert "impossible" not in done.err


def test_time_ends_what_comes_before(run):
    """Preparing, or the pilot, whose 10^8 operations take longer than that on any machine."""
    assert run("generate", "complete", "--variables", "300", "--coupling", "0.01", "-q", "-o",
               "k.gbm").status == 0
    done = run("logz", "k.gbm", "--method", "sample", "--temper", "off", "--time", "0.001s")
    assert done.status == 4 and done.out == "", done.err
    assert (re.search("stopped while [a-z ]*: there is no result yet", done.err)
            or "stopped before the first annealing was finished" in done.err)


def test_a_run_that_meets_no_state_of_positive_weight_ends(run, work):
    """No limit is typed. States that violate the second factor weigh more than others, however hard a ladder makes it."""
    equal = " ".join("1e300" if a == b else "1" for a in range(3) for b in range(3))
    apart = " ".join("0" if a == b else "1" for a in range(3) for b in range(3) for _ in range(3))
    (work / "m.uai").write_text(f"MARKOV\n3\n3 3 3\n2\n2 0 1\n3 0 1 2\n9 {equal}\n27 {apart}\n")
    done = run("logz", "m.uai", "--method", "sample", "--format", "json")
    found = json.loads(done.out)
    assert found["log_z"] is None and found["stop"] == "no progress" and "none may exist" in found["verdict"]
    assert abs(json.loads(run("logz", "m.uai", "--format", "json").out)["log_z"] - math.log(18)) < 1e-12
    done = run("map", "m.uai", "--method", "sample", "--probability")
    assert "this state is unknown" in done.err and "--probability" not in done.err, done.err


@pytest.mark.long
def test_uai_estimates(run, work):
    n = 40
    pairs = [(u, v) for u in range(n) for v in range(u + 1, n)]
    text = ["MARKOV", str(n), " ".join(["2"] * n), str(len(pairs))] + [f"2 {u} {v}" for u, v in pairs]
    text += ["4\n 1.1 1\n 1 1.1"] * len(pairs)
    (work / "m.uai").write_text("\n".join(text) + "\n")
    (work / "none").write_text("0\n")
    done = run("uai", "m.uai", "none", "-", "PR", env={"INF_TIME": "3"})
    assert done.status == 0 and "sampled: exact answers would take" in done.err, done.err
    value = float((work / "m.uai.PR").read_text().split()[1])
    # a state with u spins up has C(u,2) + C(n-u,2) equal pairs
    z = sum(math.comb(n, u) * 1.1 ** (math.comb(u, 2) + math.comb(n - u, 2)) for u in range(n + 1))
    assert abs(value - math.log10(z)) < 0.5


@pytest.mark.parametrize("arguments, part", [
    (["--method", "mean-field"], "auto, exact or sample"),
    (["--format", "json", "--log-base", "e"], "--log-base"),
    (["--draw", "herded"], "no option '--draw'"),
    (["--target-error", "-1"], "target-error"),
    (["-o", "x.csv"], "csv")])
def test_refused(run, arguments, part):
    done = run("logz", SPRINKLER, *arguments)
    assert done.status == 2 and part in done.err, done.err
