# SPDX-License-Identifier: Apache-2.0
"""Herded draws: dummy edges, and what is said of their bias."""

import json

import pytest


@pytest.fixture
def ring(run, work):
    done = run("generate", "ring", "--variables", "9", "--coupling", "0.8", "--random-field", "0.5",
               "-o", "ring.uai")
    assert done.status == 0, done.err
    return "ring.uai"


def summary(run, work, *arguments):
    done = run("marginals", *arguments, "--sweeps", "2000", "--summary", "s.json")
    assert done.status == 0, done.err
    return json.loads((work / "s.json").read_text()), done


def test_bias_is_told(run, work, ring):
    found, done = summary(run, work, ring, "--draw", "one-bin")
    assert not found["converged"] and found["bias_estimate"] > 0.004
    assert "use --draw random" in done.err
    found, done = summary(run, work, ring, "--draw", "herded-complete", "--burn-in", "100")
    assert not found["converged"] and found["bias_estimate"] == 0.0
    assert "bias" not in "".join(found["warnings"])
    found, done = summary(run, work, ring)
    assert found["bias_estimate"] is None


def test_dummy_edges(run, work, ring):
    pairs = [(i, (i + s) % 9) for s in (2, 3) for i in range(9)]
    text = "edges 1 # rings of 2 and 3\nvariables 9\n"
    (work / "x.edges").write_text(text + "".join(f"{i} {j}\n" for i, j in pairs))
    by_file, _ = summary(run, work, ring, "--draw", "herded", "--dummy-edges", "x.edges")
    by_ring, _ = summary(run, work, ring, "--draw", "herded", "--dummy-edges", "ring:3")
    without, _ = summary(run, work, ring, "--draw", "herded")
    assert by_file["digest"] == by_ring["digest"] != without["digest"]
    assert by_ring["levels"] > without["levels"]


@pytest.mark.parametrize("text, status, part", [
    ("edges 1 variables 9 0 9", 3, "x.edges:1:23: found variable '9', expected less than 9"),
    ("edges 1 variables 8 0 1", 3, "found '8', expected 9"),
])
def test_bad_edges(run, work, ring, text, status, part):
    (work / "x.edges").write_text(text)
    done = run("marginals", ring, "--draw", "herded", "--dummy-edges", "x.edges")
    assert done.status == status and part in done.err


@pytest.mark.parametrize("arguments, part", [
    (["--draw", "one-bin", "--dummy-edges", "ring:2"], "only draw herded"),
    (["--draw", "herded", "--dummy-edges", "ring:5"], "from 2 to half of the 9"),
    (["--draw", "herded", "--dummy-edges", "ring:x"], "from 2 to half of the 9"),
])
def test_refused(run, ring, arguments, part):
    done = run("marginals", ring, *arguments)
    assert done.status == 2 and part in done.err


def test_threshold_auto(run, work, ring):
    found, done = summary(run, work, ring, "--draw", "bounded-error", "--threshold", "auto")
    threshold = found["herding"]["threshold"]
    assert found["options"]["threshold"] is None and f"--threshold auto: {threshold:g}" in done.err
    given, _ = summary(run, work, ring, "--draw", "bounded-error", "--threshold", str(threshold))
    assert given["digest"] == found["digest"] and given["updates"] == found["updates"]
    assert given["options"]["threshold"] == threshold


@pytest.mark.parametrize("arguments, part", [
    (["--threshold", "later"], "expected a number or auto"),
    (["--threshold", "-1"], "must be at least 0"),
    (["--threshold", "auto", "--sweeps", "100"], "at least --sweeps 256"),
])
def test_bad_thresholds(run, ring, arguments, part):
    done = run("marginals", ring, "--draw", "bounded-error", *arguments)
    assert done.status == 2 and part in done.err


def test_advice(run, work, ring):
    """Period and draw to use, in the summary and in the warning."""
    found, done = summary(run, work, ring, "--draw", "one-bin")
    assert (found["herding"]["period"], found["herding"]["advised_draw"]) == ("plateau", "random")
    assert found["herding"]["weights"] == 9 and found["herding"]["bins"] is None
    found, done = summary(run, work, ring, "--draw", "discretized")
    assert found["herding"]["bins"] == 45 and found["herding"]["weights"] == 9 * 45
    assert f"--draw {found['herding']['advised_draw']}" in done.err
    found, _ = summary(run, work, ring)
    assert found["herding"] is None
