# SPDX-License-Identifier: Apache-2.0
"""Observables of spin and Potts models: what is told and written, and what is refused."""
import json

import pytest


@pytest.fixture
def spins(run, work):
    done = run("generate", "ising", "--grid", "8x8", "--torus", "--coupling", "0.3", "-o", "spins.gbm")
    assert done.status == 0, done.err
    return "spins.gbm"


def observed(work):
    return json.loads((work / "s.json").read_text())["observables"]


def test_told_and_written(run, spins, work):
    done = run("marginals", spins, "--observables", "--scan", "cluster", "--sweeps", "4000", "--summary", "s.json", "-o", "p.csv")
    assert done.status == 0, done.err
    assert "observables of 64 sampled variables, with k_B = 1 and couplings as given" in done.err
    assert "N (<e^2> - <e>^2), in k_B per variable" in done.err and "nan" not in done.err
    told = observed(work)
    assert told.pop("batch") >= 100
    assert list(told) == ["energy", "specific_heat", "magnetisation", "abs_magnetisation", "magnetisation_2", "magnetisation_4",
                          "susceptibility", "connected_susceptibility", "binder"]
    for name, value in {"energy": -0.213740, "specific_heat": 0.311378}.items():  # Kaufman (1949)
        assert abs(told[name]["value"] - value) < 4.5 * told[name]["mcse"], name
        assert told[name]["mcse"] < 0.02 and 0.3 < told[name]["tau"] < 5
    assert abs(told["susceptibility"]["value"] - 64 * told["magnetisation_2"]["value"]) < 1e-3


def test_potts_of_draws(run, work):
    done = run("generate", "potts", "--grid", "4x4", "--torus", "--states", "3", "--coupling", "0.5", "-o", "potts.gbm")
    assert done.status == 0, done.err
    done = run("sample", "potts.gbm", "--observables", "--sweeps", "500", "--summary", "s.json", "-o", "d.csv")
    assert done.status == 0, done.err
    assert "order" in observed(work) and "magnetisation" not in observed(work)
    assert json.loads((work / "s.json").read_text())["method"] == "sampled"


def test_marginals_do_not_change(run, spins, work):
    written = []
    for more in ([], ["--observables"]):
        done = run("marginals", spins, "--method", "sample", "--sweeps", "200", "-o", "p.csv", *more)
        assert done.status == 0, done.err
        written.append((work / "p.csv").read_text())
    assert written[0] == written[1]


def test_few_sweeps(run, spins, work):
    done = run("marginals", spins, "--observables", "--sweeps", "3", "--summary", "s.json", "-o", "p.csv")
    assert done.status == 0, done.err
    assert "errors may be too small" in done.err and "nan" not in done.err
    assert observed(work)["energy"]["mcse"] is None and observed(work)["energy"]["tau"] is None


@pytest.mark.parametrize("more, why", [
    (["--method", "exact"], "cannot apply with --method exact"),
    (["--temper", "8"], "--temper off"),
    (["--joint", "0,1"], "leave out --joint"),
    (["--cases", "c.csv"], "leave out --cases"),
])
def test_refused(run, spins, work, more, why):
    (work / "c.csv").write_text("0\n1\n")
    done = run("marginals", spins, "--observables", *more)
    assert done.status in (1, 2) and why in done.err and done.out == ""


def test_other_arities_refused(run, work):
    done = run("marginals", "clinic.bif", "--observables")
    assert done.status != 0 and done.out == ""


def test_series(run, spins, work):
    numpy = pytest.importorskip("numpy")
    for _ in range(2):
        done = run("marginals", spins, "--series", "x.npz", "--observables", "--scan", "cluster", "--chains", "3", "--sweeps", "700",
                   "--summary", "s.json", "-o", "p.csv")
        assert done.status == 0, done.err
    told = observed(work)
    with numpy.load(work / "x.npz") as archive:
        x = {name: archive[name] for name in archive.files}
        meta = json.loads(bytes(x.pop("meta")))
    assert meta["schema"] == "series/1" and meta["sweeps"] == 700
    assert set(x) == {"energy", "magnetisation", "magnetisation_2", "order", "improved_2", "improved_4"}
    assert all(series.shape == (3, 700) for series in x.values())
    assert numpy.allclose(x["magnetisation"] ** 2, x["magnetisation_2"]) and numpy.allclose(x["order"] ** 2, x["magnetisation_2"])
    assert abs(x["energy"].mean() - told["energy"]["value"]) < 1e-9
    assert abs(x["improved_2"].mean() - told["magnetisation_2"]["value"]) < 1e-9
    heat = 64 * x["energy"].var()  # the jackknife takes away a small bias
    assert abs(heat - told["specific_heat"]["value"]) < told["specific_heat"]["mcse"]


def test_series_refused(run, spins, work):
    done = run("marginals", spins, "--series", "x.json")
    assert done.status == 2 and "expected a name that ends in .npz" in done.err
    done = run("marginals", spins, "--series", "x.npz", "--resume", "x.ckpt")
    assert done.status == 2 and "--resume" in done.err
