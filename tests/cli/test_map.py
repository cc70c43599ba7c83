# SPDX-License-Identifier: Apache-2.0
"""The verb map, and uai's MAP where enumeration does not fit."""
import json
import math

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


def test_uai_anneals(run, work):
    assert run("generate", "complete", "--variables", "60", "--coupling", "0", "--coupling-spread", "1",
               "-o", "all.uai").status == 0
    done = run("uai", "all.uai", "/dev/null", "-", "MAP")
    assert done.status == 0, done.err
    assert "annealed" in done.err
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
