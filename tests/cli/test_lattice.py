# SPDX-License-Identifier: Apache-2.0
"""Lattices bit by bit: --lattice, --estimator traces, and what is told of them."""
import json

import pytest


@pytest.fixture
def grid(run, work):
    done = run("generate", "ising", "--grid", "64x64", "--torus", "--coupling", "0.3",
               "-o", "grid.uai")
    assert done.status == 0, done.err
    return "grid.uai"


def summary(work):
    return json.loads((work / "s.json").read_text())


def test_traces_alone(run, grid, work):
    done = run("marginals", grid, "--estimator", "traces", "--sweeps", "300", "--summary", "s.json")
    assert done.status == 0 and done.out == "", done.err
    assert "lattice: energy" in done.err and "nan" not in done.err
    told = summary(work)["lattice"]
    assert told["sides"] == [64, 1, 64]
    assert abs(told["energy"] + 0.21135) < 6 * told["energy_mcse"] + 1e-4  # Onsager
    assert 0 < told["energy_mcse"] < 1e-2
    assert summary(work)["digest"]
    assert told["bits"] == "sites"
    (coupling,), (field,) = told["couplings"], told["fields"]
    assert abs(coupling["weight"] - 0.3) < 1e-12
    assert coupling["bonds"] == 8192 and field["variables"] == 4096
    assert abs(told["energy"] + 0.3 * 2 * coupling["mean"]) < 1e-12
    assert abs(told["energy_mcse"] - 0.3 * 2 * coupling["mcse"]) < 1e-12


def test_chains_in_bits(run, work):
    """Any graph of spins, if there are chains to fill words with."""
    done = run("generate", "regular", "--variables", "300", "--degree", "4", "--coupling", "0.2",
               "-o", "graph.uai")
    assert done.status == 0, done.err
    for chains, bits in (("32", "chains"), ("16", "none")):
        options = ["--estimator", "count", "--chains", chains]
        assert json.loads(run("info", "graph.uai", "--json", *options).out)["lattice_bits"] == bits
        done = run("marginals", "graph.uai", "--sweeps", "200", "--summary", "s.json", "-o",
                   "x.csv", *options)
        assert done.status == 0, done.err
        told = summary(work)["lattice"]
        assert (told is None) == (bits == "none")
        if told:
            assert told["bits"] == "chains" and told["sides"] == []
    done = run("marginals", "graph.uai", "--estimator", "traces", "--sweeps", "50")
    assert done.status == 0 and "lattice: energy" in done.err


def test_traces_have_no_rows(run, grid):
    done = run("marginals", grid, "--estimator", "traces", "-o", "x.csv")
    assert done.status == 2 and "keeps no marginals" in done.err


def test_traces_need_a_lattice(run):
    done = run("marginals", "examples/sprinkler.bif", "--estimator", "traces")
    assert done.status == 2 and "not run bit by bit" in done.err


def test_choice(run, grid, work):
    for options, bits in ((["--estimator", "count"], True), ([], False),
                          (["--estimator", "count", "--lattice", "never"], False),
                          (["--estimator", "count", "--scan", "random"], False)):
        done = run("marginals", grid, "--sweeps", "20", "--summary", "s.json", "-o", "x.csv",
                   *options)
        assert done.status == 0, done.err
        assert (summary(work)["lattice"] is not None) == bits, options
        done = run("info", grid, "--json", *options)
        classes = json.loads(done.out)["variables_of_class"]
        assert classes == ({"lattice": 4096} if bits else {"ising": 4096}), options


def test_always_says_why_not(run, work):
    for what in (["ising", "--grid", "65x63", "--torus"], ["regular", "--variables", "300", "--degree", "4"]):
        assert run("generate", *what, "--coupling", "0.2", "-o", "other.uai").status == 0
        done = run("marginals", "other.uai", "--lattice", "always", "--sweeps", "5")
        assert done.status == 2 and "use --estimator count or traces" in done.err


def test_averages_go_on(run, grid, work):
    """Stopped in the middle of a batch, in one of 4 and in one of 8 sweeps, with other threads."""
    given = ["--method", "sample", "--lattice", "always", "--chains", "4", "--burn-in", "3"]
    keep = ["--checkpoint", "r.ckpt", "-o", "x.csv"]
    assert run("marginals", grid, *given, "--sweeps", "6", *keep).status == 0
    for sweeps, more in (("303", keep), ("309", ["-o", "x.csv", "--summary", "s.json"])):
        done = run("marginals", grid, "--resume", "r.ckpt", "--sweeps", sweeps, "--threads", "2", *more)
        assert done.status == 0, done.err
    resumed = summary(work)["digest"], (work / "x.csv").read_text()
    done = run("marginals", grid, *given, "--sweeps", "309", "-o", "x.csv", "--summary", "s.json")
    assert done.status == 0, done.err
    assert resumed == (summary(work)["digest"], (work / "x.csv").read_text())


@pytest.mark.parametrize("kept", [["--estimator", "count"], ["--method", "sample", "--lattice", "always"]])
def test_same_bits(run, grid, work, kept):
    seen = set()
    for threads in "1", "3":
        for simd in "portable", "avx2", "avx512":
            done = run("marginals", grid, *kept, "--sweeps", "40", "--threads", threads,
                       "-o", "x.csv", "--summary", "s.json", env={"GIBBSITE_SIMD": simd})
            assert done.status == 0, done.err
            seen.add((summary(work)["digest"], (work / "x.csv").read_text()))
    assert len(seen) == 1


def test_clusters_are_advised(run, work):
    """Couplings that favour equal states, without fields: clusters move where single spins hardly do."""
    assert run("generate", "ising", "--grid", "16x16", "--torus", "--coupling", "0.4407", "-o", "t.gbm").status == 0
    done = run("marginals", "t.gbm", "--method", "sample", "--sweeps", "100", "--temper", "off")
    assert "the chains disagree" in done.err and "or --scan cluster" in done.err, done.err
