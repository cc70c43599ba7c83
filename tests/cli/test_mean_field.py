# SPDX-License-Identifier: Apache-2.0
"""marginals --method mean-field and bp."""
import csv
import io
import json
import math

from conftest import SPRINKLER

ISING = ["generate", "ising", "--grid", "5x5", "--coupling", "0.3", "--random-field", "0.5",
         "--seed", "3", "-o", "grid.uai"]


def rows(done):
    assert done.status == 0, done.err
    return list(csv.DictReader(io.StringIO(done.out)))


def test_no_errors_are_claimed(run):
    done = run("marginals", SPRINKLER, "-e", "grass=wet", "--method", "mean-field")
    assert all(row["mcse"] == row["ess"] == row["rhat"] == ""
               for row in rows(done) if row["variable"] != "grass")
    assert "not converged: mean field" in done.err and "fixed point after" in done.err


def test_fixed_point_of_a_grid(run, work):
    assert run(*ISING).status == 0
    results = {}
    for name, more in {"seq": [], "jacobi": ["--mean-field-schedule", "jacobi"],
                       "damped": ["--damping", "0.4", "--mean-field-schedule", "jacobi"]}.items():
        done = run("marginals", "grid.uai", "--method", "mean-field", "--summary", "s.json", *more)
        results[name] = [float(row["probability"]) for row in rows(done)]
        s = json.loads((work / "s.json").read_text())
        assert s["method"] == "mean-field" and s["converged"] is False
        assert s["residual"] < 1e-9 and s["iterations"] > 2
        assert s["max_mcse"] is None and s["options"]["method"] == "mean-field"
    for name in ("jacobi", "damped"):  # weakly coupled: one fixed point
        assert all(math.isclose(p, q, abs_tol=1e-8)
                   for p, q in zip(results["seq"], results[name]))


def test_too_few_iterations(run, work):
    assert run(*ISING).status == 0
    done = run("marginals", "grid.uai", "--method", "mean-field", "--iterations", "2",
               "--summary", "s.json")
    s = json.loads((work / "s.json").read_text())
    assert done.status == 0 and s["iterations"] == 2 and s["residual"] > 1e-6
    assert "no fixed point" in s["verdict"]


def test_bound_below_ln_z(run, work):
    done = run("marginals", SPRINKLER, "--method", "mean-field", "--summary", "s.json")
    assert done.status == 0
    assert json.loads((work / "s.json").read_text())["log_z_bound"] <= 1e-12  # ln Z = 0


def test_belief_propagation_is_exact_on_a_tree(run, work):
    (work / "tree.uai").write_text("MARKOV\n3\n2 3 2\n3\n1 0\n2 0 1\n1 2\n2 .3 .7\n6 .1 .2 .7 .5 .25 .25\n2 .9 .1\n")
    exact = rows(run("marginals", "tree.uai", "--method", "exact"))
    done = run("marginals", "tree.uai", "--method", "bp", "--summary", "s.json")
    s = json.loads((work / "s.json").read_text())
    assert s["method"] == "bp" and s["converged"] is True and math.isclose(s["log_z_bethe"], 0.0, abs_tol=1e-9)
    assert all(math.isclose(float(a["probability"]), float(b["probability"]), abs_tol=1e-9) for a, b in zip(rows(done), exact))
    assert s["verdict"] == "exact: the factor graph has no cycles" and s["max_mcse"] == 0
    assert "not converged" not in done.err and "approximation" not in done.err, done.err
    assert all(row["mcse"] == "0" for row in rows(done))
    assert run("marginals", "tree.uai", "--method", "bp", "--require-converged").status == 0
    # not before a fixed point is there, and not with a cycle
    done = run("marginals", "tree.uai", "--method", "bp", "--iterations", "1")
    assert "not converged" in done.err and "no fixed point within 1 iteration" in done.err and "inf" not in done.err, done.err
    (work / "pair.uai").write_text("MARKOV\n2\n2 2\n2\n2 0 1\n2 1 0\n4 3 1 1 2\n4 1 2 2 1\n")
    assert "at a fixed point" in run("marginals", "pair.uai", "--method", "bp").err


def test_belief_propagation_tells_why_it_was_given_up(run):
    assert run("generate", "ising", "--grid", "6x6", "--coupling", "0", "--coupling-spread", "4", "--random-field", "1", "--seed", "2", "-o", "glass.uai").status == 0
    done = run("marginals", "glass.uai", "--method", "bp")
    assert "the last 1000 brought no smaller change" in done.err, done.err


def test_draws_of_an_approximation_are_refused_with_what_to_type(run):
    for name in "bp", "mean-field":
        done = run("sample", SPRINKLER, "--method", name)
        assert done.status == 2 and f"gibbsite marginals ... --method {name}" in done.err and "--method auto" in done.err, done.err


def test_belief_propagation_of_a_grid_is_near(run):
    assert run(*ISING).status == 0
    exact = rows(run("marginals", "grid.uai", "--method", "exact"))
    near = rows(run("marginals", "grid.uai", "--method", "bp"))
    field = rows(run("marginals", "grid.uai", "--method", "mean-field"))

    def off(answer):
        return max(abs(float(a["probability"]) - float(b["probability"])) for a, b in zip(answer, exact))
    assert 0.0 < off(near) < off(field) / 2


def test_belief_propagation_refuses_what_applies_to_samples(run):
    done = run("marginals", SPRINKLER, "--method", "bp", "--sweeps", "10")
    assert done.status == 2 and "--method bp" in done.err
    done = run("logz", SPRINKLER, "--method", "bp")
    assert done.status == 2 and "choose auto, exact or sample" in done.err


def test_damping_of_one_is_a_damping_of_one(run):
    assert run("generate", "ising", "--grid", "6x6", "--coupling", "0", "--coupling-spread", "4", "--random-field", "1", "--seed", "2", "-o", "glass.uai").status == 0

    def answer(*options):
        return run("marginals", "glass.uai", "--method", "bp", *options).out
    assert answer("--iterations", "50") == answer("--iterations", "50", "--damping", "1")
    assert answer("--iterations", "60") == answer("--iterations", "60", "--damping", "auto") != answer("--iterations", "60", "--damping", "1")
    assert run("marginals", "glass.uai", "--method", "mean-field", "--damping", "1").out == run("marginals", "glass.uai", "--method", "mean-field").out


def test_damping_and_iterations_belong_to_approximations(run):
    for option in (("--damping", "0.5"), ("--damping", "1"), ("--iterations", "9")):
        done = run("marginals", SPRINKLER, "--method", "sample", *option)
        assert done.status == 2 and "--damping and --iterations apply with --method mean-field or bp only" in done.err
    for wrong in (("--damping", "0"), ("--damping", "1.5"), ("--iterations", "0"), ("--mean-field-schedule", "jacobi")):
        assert run("marginals", SPRINKLER, "--method", "bp", *wrong).status == 2, wrong
