# SPDX-License-Identifier: Apache-2.0
"""The verb map, and uai's MAP where enumeration does not fit."""
import json
import math

import pytest
from conftest import SPRINKLER

GLASS = ["generate", "ising", "--grid", "12x12", "--coupling", "0", "--coupling-spread", "1",
         "--seed", "5", "-o", "glass.uai"]


def test_exact(run):
    done = run("map", SPRINKLER, "-e", "grass=wet")
    assert done.status == 0, done.err
    assert done.out == "variable,state\nrain,no\nsprinkler,on\ngrass,wet\n"
    assert "proved to be the largest" in done.err
    assert "P(state | evidence) = 0.628848" in done.err and "P(evidence) = 0.45798," in done.err
    found = json.loads(run("map", SPRINKLER, "-e", "grass=wet", "--format", "json").out)
    assert abs(math.exp(found["log_z"]) - 0.45798) < 1e-12
    assert abs(math.exp(found["log_probability"]) - 0.288 / 0.45798) < 1e-12
    done = run("map", SPRINKLER)
    assert "P(state) = 0.4704," in done.err and "P(evidence)" not in done.err
    done = run("map", SPRINKLER, "--method", "sample")  # Z is 1 whatever is known of the maximum
    assert "P(state) = 0.4704," in done.err


def test_probability_unknown(run):
    done = run("map", SPRINKLER, "-e", "grass=wet", "--method", "sample", "--format", "json")
    assert json.loads(done.out)["log_z"] is None and json.loads(done.out)["log_probability"] is None
    assert "the probability of this state is unknown" in done.err and "gibbsite logz" in done.err


@pytest.mark.long
def test_probability_estimated(run):
    """Beside the exact one, on a grid that both can answer; the state is the same."""
    assert run(*GLASS).status == 0
    exact = json.loads(run("map", "glass.uai", "--format", "json").out)
    assert exact["proved"] and exact["log_z_error"] == 0
    assert exact["log_probability_low"] == exact["log_probability"] == exact["log_probability_high"]
    done = run("map", "glass.uai", "--method", "sample", "--probability", "--format", "json", "--seed", "3")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert abs(found["log_density"] - exact["log_density"]) < 1e-9 and not found["proved"]
    assert 0 < found["log_z_error"] < 0.06
    assert abs(found["log_probability"] - exact["log_probability"]) < 4 * found["log_z_error"]
    assert found["log_probability_low"] < found["log_probability"] < found["log_probability_high"]
    assert "ln P(state) = " in done.err and ", estimated" in done.err and "P(state) is about" in done.err
    again = run("map", "glass.uai", "--method", "sample", "--probability", "--format", "json", "--seed", "3", "--threads", "2")
    assert again.out == done.out
    done = run("map", SPRINKLER, "-e", "grass=wet", "--probability")  # known exactly: nothing is estimated
    assert "P(state | evidence) = 0.628848" in done.err and "exact" in done.err


def test_annealed(run, work):
    assert run(*GLASS).status == 0
    found = {}
    for schedule in ("linear", "geometric"):
        done = run("map", "glass.uai", "--method", "sample", "--schedule", schedule, "--sweeps", "400", "--format", "json")
        assert done.status == 0, done.err
        found[schedule] = json.loads(done.out)
        assert found[schedule]["proved"] is False and found[schedule]["sweeps"] == 400
        assert found[schedule]["stop"] == "sweeps"
    assert run("map", "glass.uai", "-o", "glass.MAP").status == 0
    assert (work / "glass.MAP").read_text().startswith("MAP\n144 ")
    again = run("map", "glass.uai", "--method", "sample", "--sweeps", "400", "--format", "json", "--threads", "3")
    assert json.loads(again.out) == found["linear"]


def found_by(run, *words):
    done = run(*words, "--format", "json")
    assert done.status == 0, done.err
    return json.loads(done.out), done.err


def test_gap(run):
    """Spins all coupled, too many for an exact answer: a bound above the state, no higher after more sweeps."""
    assert run("generate", "complete", "--variables", "60", "--coupling", "0", "--coupling-spread", "1",
               "-o", "all.uai").status == 0
    gaps = []
    for sweeps in ("1", "400"):
        found, told = found_by(run, "map", "all.uai", "--sweeps", sweeps)
        assert found["proved"] is False and found["gap"] == found["upper_bound"] - found["log_density"] > 0
        assert "no state has a log density above" in told
        gaps.append(found["upper_bound"])
        assert found_by(run, "map", "all.uai", "--sweeps", sweeps, "--threads", "3")[0] == found
    assert gaps[1] <= gaps[0]


def test_proved_by_the_bound(run):
    """Equal couplings on a square lattice: one round of the bound proves the first state that is all alike."""
    assert run("generate", "ising", "--grid", "60x60", "--coupling", "0.7", "--field", "0.1", "-o", "alike.uai").status == 0
    found, told = found_by(run, "map", "alike.uai", "--method", "sample")
    assert found["proved"] is True and found["gap"] == 0 and found["stop"] == "bound"
    assert abs(found["log_density"] - (0.7 * 2 * 60 * 59 + 0.1 * 3600)) < 1e-6
    assert found["upper_bound"] >= found["log_density"] and "proved to be the largest: the upper bound" in told
    assert found["log_probability"] is None  # the state is known, and its probability is not
    done = run("map", "alike.uai", "--method", "sample", "--format", "table")
    assert done.status == 0 and "proved" in done.out


SUDOKU = "1... ..3. .4.. ...2".replace(" ", "")


def test_hard_constraints_alone(run, work):
    """Each state that satisfies all constraints is the most probable: found, and proved without a sweep."""
    def alike(i, j):
        return i // 4 == j // 4 or i % 4 == j % 4 or (i // 8 == j // 8 and i % 4 // 2 == j % 4 // 2)
    pairs = [(i, j) for i in range(16) for j in range(i) if alike(i, j)]
    table = "16 " + " ".join("0" if a == b else "1" for a in range(4) for b in range(4))
    (work / "s.uai").write_text("MARKOV\n16\n" + "4 " * 16 + f"\n{len(pairs)}\n" +
                                "".join(f"2 {i} {j}\n" for i, j in pairs) + f"{table}\n" * len(pairs))
    seen = [(i, int(c) - 1) for i, c in enumerate(SUDOKU) if c != "."]
    (work / "s.evid").write_text(f"{len(seen)} " + " ".join(f"{i} {a}" for i, a in seen))
    for more in ([], ["--time", "20"]):
        found, _ = found_by(run, "map", "s.uai", "-e", "s.evid", "--method", "sample", *more)
        state = found["state"]
        assert all(state[i] != state[j] for i, j in pairs) and all(state[i] == a for i, a in seen)
        assert found["log_density"] == 0 and found["proved"] and (found["stop"] == "exact" or found["sweeps"] == 0)


def test_uai_anneals(run, work):
    assert run("generate", "complete", "--variables", "60", "--coupling", "0", "--coupling-spread", "1",
               "-o", "all.uai").status == 0
    done = run("uai", "all.uai", "/dev/null", "-", "MAP")
    assert done.status == 0, done.err
    assert "annealed" in done.err and "no state has a log density above" in done.err
    assert (work / "all.uai.MAP").read_text().startswith("MAP\n")


def test_refused(run):
    for arguments, part in [(["--tau0", "2", "--draw", "herded"], "--draw random only"),
                            (["--method", "mean-field"], "auto, exact or sample"),
                            (["--method", "exact", "--draw", "herded"], "--draw cannot apply with --method exact"),
                            (["--estimator", "count"], "no option '--estimator'")]:
        done = run("map", SPRINKLER, *arguments)
        assert done.status == 2 and part in done.err, done.err
    done = run("marginals", SPRINKLER, "--tau0", "2")
    assert done.status == 2 and "no option '--tau0'" in done.err
