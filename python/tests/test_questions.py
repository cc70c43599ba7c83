# SPDX-License-Identifier: Apache-2.0
"""Each question asked from Python and from the command line: the same options give the same numbers."""
import csv
import io
import json
import math
import os
import pickle
import re
import signal
import subprocess
import threading
import warnings

import gibbsite as gb
import numpy as np
import pytest
from conftest import ROOT

EXAMPLES = ROOT / "examples"
pytestmark = pytest.mark.filterwarnings("ignore::gibbsite.NotConverged")  # of short runs


@pytest.fixture
def ask(program, tmp_path):
    """Runs the program. @return its standard output."""
    def run(*words, check=True):
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, cwd=ROOT)
        assert done.returncode in (0, 7) or not check, done.stderr
        return done.stdout
    return run


@pytest.fixture
def summary(ask, tmp_path):
    """Runs the program with --summary. @return the summary."""
    def run(*words):
        path = tmp_path / "summary.json"
        ask(*words, "-qq", "--summary", path)
        return json.loads(path.read_text())
    return run


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def same(found, printed):
    """To the digits that are printed; empty and null: not known."""
    if printed in ("", None):
        assert math.isnan(found)
    else:
        assert found == float(printed)


# ---- states and sums ------------------------------------------------------------------------


def test_map(ask, clinic):
    printed = json.loads(ask("map", EXAMPLES / "clinic.bif", "-e", "fever=yes", "--probability", "--format", "json"))
    found = clinic.map({"fever": "yes"}, probability=True)
    assert found.to_numpy().tolist() == printed["state"] and found.optimal is printed["proved"] is True
    for name in ("log_density", "log_probability", "log_probability_low", "log_probability_high"):
        same(getattr(found, name), printed[name])
    assert dict(clinic.mpe({"fever": "yes"})) == dict(found) and "ln P" in repr(found)
    assert json.loads(found.summary_text()).keys() == printed.keys()


def test_map_by_annealing(ask, tmp_path):
    glass = gb.ising((12, 12), np.random.default_rng(3).normal(size=264))
    glass.write(tmp_path / "g.gbm")
    words = ["--method", "sample", "--sweeps", "100", "--chains", "4", "--seed", "5"]
    printed = json.loads(ask("map", tmp_path / "g.gbm", *words, "--format", "json"))
    found = glass.map(method="sample", sweeps=100, chains=4, seed=5)
    assert found.to_numpy().tolist() == printed["state"] and not found.optimal
    same(found.log_density, printed["log_density"])
    assert found.upper_bound == printed["upper_bound"] > found.log_density
    assert found.gap == printed["gap"] == found.upper_bound - found.log_density
    assert json.loads(found.summary_text()).keys() == printed.keys()
    exact = glass.map()
    assert exact.gap == 0 and found.log_density <= exact.log_density == exact.upper_bound <= found.upper_bound
    same(found.about["final_log_density"], printed["final_log_density"])


def test_mmap(clinic):
    """Against the joint table."""
    table = clinic.joint("cold", "influenza", "season", evidence={"fever": "yes"})
    found = clinic.mmap("cold", "influenza", "season", evidence={"fever": "yes"}, probability=True)
    best = max(table, key=table.__getitem__)
    assert tuple(found.values()) == best and found.optimal
    assert math.exp(found.log_probability) == pytest.approx(table[best])
    assert found["cold"] == best[0] and list(found) == ["cold", "influenza", "season"]


@pytest.mark.parametrize("options", [{}, {"method": "sample", "sweeps": 64, "seed": 3},
                                     {"method": "sample", "temper": "off", "sweeps": 64, "chains": 4}])
def test_logz(ask, tmp_path, options):
    gb.ising((5, 5), 0.3).write(tmp_path / "m.gbm")
    words = [f"--{k}={x}" for k, x in options.items()]
    printed = json.loads(ask("logz", tmp_path / "m.gbm", *words, "--format", "json"))
    found = gb.ising((5, 5), 0.3).logz(**options)
    for name in ("log_z", "error", "low", "high", "lower_bound", "ess", "barrier"):
        if name in ("barrier",) and not found.tempered:
            continue
        same({"log_z": float(found), "error": found.mcse}.get(name, getattr(found, name, None)), printed[name])
    assert (found.verdict, found.converged, found.updates) == (printed["verdict"], printed["converged"], printed["updates"])
    told = json.loads(found.summary_text())
    assert told.keys() == printed.keys()


def test_exact(ask, clinic, tmp_path):
    """What gibbsite exact answers, by the questions that it is short for."""
    words = ["exact", EXAMPLES / "clinic.bif", "-e", "fever=yes", "-q"]
    printed = {(r["variable"], r["state"]): r for r in rows(ask(*words, "--format", "csv"))}
    found = clinic.query(evidence={"fever": "yes"}, method="exact")
    for name in found:
        for state, p in found[name].items():
            same(p, printed[name, state]["probability"])
    z = clinic.logz({"fever": "yes"}, method="exact")
    assert float(ask(*words, "--task", "pr", "--log-base", "e").split()[1]) == pytest.approx(float(z), abs=1e-14)
    state = ask(*words, "--task", "map").split()[2:]
    assert [int(x) for x in state] == clinic.map({"fever": "yes"}, method="exact").to_numpy().tolist()
    ask(*words, "--task", "sample", "--samples", 50, "--seed", 4, "-o", tmp_path / "s.npz")
    drawn = clinic.exact_samples(50, evidence={"fever": "yes"}, seed=4).to_numpy()
    with np.load(tmp_path / "s.npz") as file:
        kept = next(file[k] for k in file.files if file[k].size == drawn.size)
    assert np.array_equal(np.asarray(kept).reshape(drawn.shape), drawn)


# ---- trust ----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"method": "sample", "sweeps": 500, "seed": 2}])
def test_sensitivity(ask, clinic, options):
    pytest.importorskip("pandas")
    words = [f"--{k}={x}" for k, x in options.items()]
    printed = rows(ask("sensitivity", EXAMPLES / "clinic.bif", "--query", "cold=yes", "-e", "fever=yes", *words, "--reach", "0.3",
                       "--format", "csv"))
    found = clinic.sensitivity({"cold": "yes"}, evidence={"fever": "yes"}, **options)
    frame, reach = found.to_pandas(), found.to_reach(0.3)
    assert len(frame) == len(printed) == len(found)
    for i, row in enumerate(printed):
        mine = frame.iloc[i]
        for name in ("parameter", "variable", "state", "given"):
            assert mine[name] == row[name]
        for name in ("value", "derivative", "mcse", "log_evidence_derivative"):
            same(mine[name], row[name])
        for name in ("p_at_0.9", "p_at_1.1"):
            assert row[name] == "" or mine[name] == pytest.approx(float(row[name]), rel=1e-12)
        same(reach[i], row["value_to_reach"])
    assert found.exact is not bool(options) and "P(cold=yes)" in repr(found)
    assert len(found.to_pandas(top=3)) == 3
    same_query = clinic.sensitivity("cold=yes", evidence={"fever": "yes"}, **options)
    assert same_query.p == found.p
    with pytest.raises(ValueError, match="one state"):
        clinic.sensitivity({})


def test_certify(ask, tmp_path):
    spins = gb.ising((4, 5), 0.12)
    spins.write(tmp_path / "m.gbm")
    for scan in ("systematic", "random", "chromatic"):
        printed = json.loads(ask("certify", tmp_path / "m.gbm", "--scan", scan, "--steps", "20,100", "--accuracy", "0.02",
                                 "--json"))
        found = spins.certify(accuracy=0.02, steps=[20, 100], scan=scan)
        table = printed["influences"]
        for mine, theirs in (("largest_row_sum", "largest_sum"), ("mean_row_sum", "mean_sum"), ("two_norm", "two_norm_high"),
                             ("two_norm_low", "two_norm_low"), ("spectral_radius", "radius_high"), ("radius_low", "radius_low")):
            same(getattr(found, mine), table[theirs])
        assert found.variation.tolist() == [r["variation"] for r in printed["variation"]]
        assert found.pass_length == printed["variation"][0]["pass_length"]
        assert f'"passes": {found.passes}' in json.dumps(printed)
    influences = spins.influences()
    assert influences.to_numpy().sum(1).max() == pytest.approx(found.largest_row_sum)
    assert influences["0", "1"] == influences.to_numpy()[0, 1] > 0.0 == influences["0", "7"]
    with pytest.raises(ValueError, match="auto, bound or exact"):
        spins.certify(influence="none")


def test_given_influences(tmp_path):
    spins = gb.ising((3, 3), 0.2)
    computed = spins.influences()
    plain = spins.certify(steps=[9, 18], scan="systematic")
    (tmp_path / "c.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n9 9 {len(computed.i)}\n" + "".join(
        f"{i + 1} {j + 1} {x!r}\n" for i, j, x in zip(computed.i.tolist(), computed.j.tolist(), computed.value.tolist())))
    for given in (computed, computed.to_numpy(), computed.to_numpy().tolist(), tmp_path / "c.mtx"):
        found = spins.certify(steps=[9, 18], scan="systematic", influences=given)
        assert found.given == 24 and plain.given == 0
        assert found.variation.tolist() == plain.variation.tolist() and found.spectral_radius == plain.spectral_radius
        scan = spins.optimise_scan(6, weights=["4"], influences=given)
        assert scan.bound == spins.optimise_scan(6, weights=["4"]).bound
    matrix = np.zeros((9, 9))
    assert spins.certify(steps=[9], scan="systematic", influences=matrix).variation.tolist() == [0.0]
    for value in (-0.5, 1.5, float("nan")):
        matrix[1, 2] = value
        with pytest.raises(ValueError, match="expected 0 to 1"):
            spins.certify(influences=matrix)
    with pytest.raises(ValueError, match="on itself"):
        spins.certify(influences=np.eye(9))
    with pytest.raises(ValueError, match="found an array of shape"):
        spins.optimise_scan(6, influences=np.zeros((9, 8)))
    with pytest.raises(ValueError, match="expected one of the two"):
        spins.certify(influences=computed, influence="exact")
    (tmp_path / "c.mtx").write_text("%%MatrixMarket matrix coordinate real general\n9 9 1\n1 2 3\n")
    with pytest.raises(gb.Error, match="c.mtx:3:5: found the influence"):
        spins.certify(influences=str(tmp_path / "c.mtx"))


def test_couplings(ask, tmp_path):
    spins = gb.ising((4, 5), 0.12)
    spins.write(tmp_path / "m.gbm")
    printed = json.loads(ask("certify", tmp_path / "m.gbm", "--scan", "systematic", "--steps", "20,100", "--couplings", "30",
                             "--seed", "3", "--json"))["couplings"]
    found = spins.couplings([1, 5], pairs=30, seed=3, scan="systematic", threads=2)
    for k, row in enumerate(printed):
        assert row["passes"] == found.passes[k] and row["lag"] == found.lag and row["longest"] == found.longest
        for name in ("joint", "joint_mcse", "variable", "variable_mcse"):
            assert getattr(found, name)[k] == row[name]
        assert found.each[k].max() == row["variable"] == found.each[k][row["worst_variable"]]
    assert found.each.shape == (2, 20) and not found.at_least and "proves nothing" in repr(found)
    assert found.to_pandas().joint.tolist() == found.joint.tolist()
    one = spins.couplings([1], weights=["3"], pairs=30, seed=3, scan="systematic")
    assert one.joint[0] == one.variable[0] == found.each[0][3] and one.worst == ["3"]
    apart = gb.ising((4, 4), 3.0).couplings([5], pairs=30, sweeps=20)
    assert apart.at_least and apart.verdict.startswith("no: ")
    with pytest.raises(gb.ArgumentError, match="pairs of chains: found 1"):
        spins.couplings(pairs=1)


def test_optimise_scan(ask, tmp_path):
    spins = gb.ising((5, 5), 0.12)
    spins.write(tmp_path / "m.gbm")
    ask("scan", tmp_path / "m.gbm", "--target", "7", "--match", "systematic:100", "--iterate", "-o", tmp_path / "a.scan")
    found = spins.optimise_scan(weights=["7"], match=100)
    numbers = [line for line in (tmp_path / "a.scan").read_text().splitlines() if re.fullmatch(r"[0-9 ]+", line)]
    assert " ".join(numbers).split() == [str(v) for v in found.sequence]
    found.write(tmp_path / "b.scan")
    ask("certify", tmp_path / "m.gbm", "--scan", tmp_path / "b.scan", "--steps", "10")
    assert found.bound <= found.goal and len(found) < 100 and found.left == 0
    again = spins.optimise_scan(len(found), accuracy=0, weights=["7"], scan=found)
    assert again.systematic == found.bound and again.bound <= found.bound
    bound = spins.certify(weights=["7"], steps=[len(found)], scan=found).variation[0]
    assert abs(bound - found.bound) < 1e-12
    rows = [gb.Scan.UNIFORM, 0, 1, gb.Scan.UNIFORM] * 20  # probabilities 1 of a variable, or the same for all
    assert 0 < spins.certify(steps=[80], scan=rows).variation[0] < 25
    assert spins.optimise_scan(80, accuracy=0, scan=rows).left == 0
    for wrong in ([0, 99], [0.5], [-1], []):
        with pytest.raises(gb.ArgumentError, match="scan"):
            spins.certify(scan=wrong)
    with pytest.raises(gb.ArgumentError, match="drawn uniformly"):
        spins.couplings(scan=rows)


def test_diagnose(ask, tmp_path):
    rng = np.random.default_rng(8)
    draws = {"a": rng.normal(size=(4, 250)), "b": rng.normal(size=(4, 250)).cumsum(1), "c": np.ones((4, 250))}
    paths = [tmp_path / f"{c}.csv" for c in range(4)]
    for c, path in enumerate(paths):
        path.write_text("# a comment\na,b,c\n" + "".join(",".join(repr(float(draws[n][c, d])) for n in draws) + "\n"
                                                          for d in range(250)))
    printed = rows(ask("diagnose", *paths, "--format", "csv", "-q"))
    for found in (gb.diagnose(draws), gb.diagnose(paths)):
        assert [r["name"] for r in printed] == list(found) and not found.converged and "b" in found.verdict
        for row in printed:
            for name, text in row.items():
                if name == "constant":
                    assert found[row["name"]]["constant"] is (text == "1")
                elif name != "name":
                    same(found[row["name"]][name], text)
    ask("sample", EXAMPLES / "sprinkler.bif", "--method", "sample", "--sweeps", 50, "-qq", "-o", tmp_path / "s.npz")
    printed = rows(ask("diagnose", tmp_path / "s.npz", "--format", "csv", "-q"))
    drawn = gb.read(EXAMPLES / "sprinkler.bif").sample(50, method="sample", chains=16)
    for told in (gb.diagnose(tmp_path / "s.npz"), gb.diagnose(drawn)):
        assert list(told) == [r["name"] for r in printed]
        for row in printed:
            same(told[row["name"]]["rhat"], row["rhat"])
    array = gb.diagnose(np.stack(list(draws.values()), axis=2))
    assert array["x[1]"] == found["b"] and gb.diagnose(draws["a"]).converged
    for bad in (np.zeros((2, 2, 2, 2)), {}, {"a": [1, 2], "b": [1]}):
        with pytest.raises(ValueError):
            gb.diagnose(bad)


def test_compare(ask, clinic, tmp_path):
    a = clinic.query(method="sample", sweeps=200, seed=1)
    b = clinic.query(method="sample", sweeps=200, seed=2)
    for name, seed in (("a.csv", 1), ("b.csv", 2)):
        ask("marginals", EXAMPLES / "clinic.bif", "--method", "sample", "--sweeps", 200, "--seed", seed, "-qq", "-o",
            tmp_path / name)
    found, files = gb.compare(a, b), gb.compare(tmp_path / "a.csv", tmp_path / "b.csv")
    assert found.about == files.about and not found.same and found.difference == found.largest_difference > 0
    text = ask("compare", tmp_path / "a.csv", tmp_path / "b.csv", check=False)
    assert f"{found.largest_difference:.6g}" in text
    assert gb.compare(clinic.map(), clinic.map()).same
    (tmp_path / "a.PR").write_text("PR\n2.5\n")
    (tmp_path / "b.PR").write_text(f"PR\n{2.75 * math.log(10)}\n")
    assert gb.compare(tmp_path / "a.PR", tmp_path / "b.PR", log_base="10,e").difference == pytest.approx(0.25)
    with pytest.raises(TypeError):
        gb.compare(a, clinic.map())
    with pytest.raises(gb.ArgumentError):
        gb.compare(tmp_path / "a.csv", tmp_path / "a.PR")


def test_compare_by_names_and_labels(tmp_path):
    """Variables and states of results in files may stand in another order, but are the same ones."""
    texts = {"a": "x,no,0.25 x,yes,0.75 y,no,1", "b": "y,no,1 x,yes,0.75 x,no,0.25", "c": "x,never,0.25 x,yes,0.75 y,no,1", "d": "x,no,0.25 x,yes,0.75"}
    for name, rows in texts.items():
        (tmp_path / f"{name}.csv").write_text("variable,state,probability\n" + rows.replace(" ", "\n") + "\n")
    assert gb.compare(tmp_path / "a.csv", tmp_path / "b.csv").same
    with pytest.raises(gb.ArgumentError, match="variable x: state never is only in the second result"):
        gb.compare(tmp_path / "a.csv", tmp_path / "c.csv")
    with pytest.raises(gb.ArgumentError, match="1 of the first are not in the second"):
        gb.compare(tmp_path / "a.csv", tmp_path / "d.csv")



def test_report(clinic, tmp_path):
    draws = clinic.sample(100, "cold", method="sample")
    gb.report(tmp_path / "r.html", clinic.query("cold"), clinic.map(), clinic.logz(), drawn=draws)
    text = (tmp_path / "r.html").read_text()
    assert "Content-Security-Policy" in text and "drawn" in text and "ln Z" in text
    with pytest.raises(ValueError, match="no report"):
        gb.report(tmp_path / "r.html", clinic.joint("cold"))


# ---- learning -------------------------------------------------------------------------------


FIT = {"log_likelihood": "log_likelihood", "log_posterior": "log_posterior", "bic": "bic", "weight": "weight",
       "held_out_log_likelihood": "held_out_log_likelihood", "n_rows": "rows", "n_missing": "missing_values",
       "iterations": "iterations", "n_unseen": "unseen_columns"}


@pytest.mark.parametrize("options", [{}, {"held_out": "20%"}, {"prior": "bdeu:10"}, {"method": "sample", "sweeps": 64, "seed": 3}])
def test_fit(summary, tmp_path, options):
    pandas = pytest.importorskip("pandas")
    network = gb.read(EXAMPLES / "sprinkler.bif")
    words = [f"--{k.replace('_', '-')}={x}" for k, x in options.items()]
    printed = summary("fit", EXAMPLES / "sprinkler.bif", EXAMPLES / "sprinkler.csv", *words, "-o", tmp_path / "f.bif",
                      "--intervals", tmp_path / "i.csv")
    found = network.fit(EXAMPLES / "sprinkler.csv", **options)
    for mine, theirs in FIT.items():
        same(getattr(found, mine), printed[theirs])
    assert found.model.digest == printed["model"] or found.model.digest == gb.read(tmp_path / "f.bif").digest
    table = found.to_pandas()
    for mine, row in zip(table.itertuples(index=False), rows((tmp_path / "i.csv").read_text())):
        assert (mine.variable, mine.state, mine.parents) == (row["variable"], row["state"], row["parents"])
        for name in ("probability", "low", "high", "rows"):
            same(getattr(mine, name), row[name])
    assert found.table("rain")["probability"].sum() == pytest.approx(1.0) and "ln P(data)" in repr(found)
    frame = pandas.read_csv(EXAMPLES / "sprinkler.csv", dtype=str)
    assert network.fit(frame, **options).log_likelihood == found.log_likelihood
    assert network.fit({c: frame[c] for c in frame.columns}, **options).bic == found.bic


def test_fit_from_arrays(clinic):
    """Draws, arrays of numbers, weights: the same rows in other forms."""
    draws = clinic.exact_samples(400, seed=2)
    states = draws.to_numpy()[0].astype(int)
    a, b = clinic.fit(draws), clinic.fit(states)
    assert a.log_likelihood == b.log_likelihood and a.model.digest == b.model.digest and a.converged
    missing = states.astype(float)
    missing[::3, 2] = np.nan
    lacking = np.where(np.isnan(missing), -1, missing).astype(int)
    assert clinic.fit(missing).log_likelihood == clinic.fit(lacking).log_likelihood
    assert clinic.fit(np.ma.masked_array(states, np.isnan(missing))).n_missing == len(states[::3])
    twice = clinic.fit(states, weights=np.full(len(states), 2.0))
    assert twice.log_likelihood == pytest.approx(2 * a.log_likelihood) and twice.weight == 800
    for bad, error in ((states[:, :3], ValueError), (states.astype(str), TypeError), (states + 0.5, ValueError)):
        with pytest.raises(error):
            clinic.fit(bad)
    with pytest.raises(ValueError, match="held_out"):
        clinic.fit(states, held_out=1.5)
    with pytest.raises(gb.Error, match="Bayesian"):
        gb.ising((2, 2), 0.1).fit([[0, 0, 0, 0]])


WEIGHTS = {"log_likelihood": None, "objective": "objective", "change": "change", "n_rows": "rows", "iterations": "iterations",
           "n_learnt": "learnt_weights"}


@pytest.mark.parametrize("options", [{"l2": 1}, {"l2": 0.5, "objective": "likelihood"},
                                     {"objective": "sampled", "steps": 40, "chains": 20, "seed": 4}])
def test_learn_weights(summary, tmp_path, options):
    words = [f"--{k}={x}" for k, x in options.items()]
    printed = summary("learn", "weights", EXAMPLES / "friends.gbm", EXAMPLES / "friends.csv", *words, "--held-out", "0.1",
                      "-o", tmp_path / "f.gbm", "--intervals", tmp_path / "i.csv", "--curve", tmp_path / "c.csv")
    found = gb.read(EXAMPLES / "friends.gbm").learn_weights(EXAMPLES / "friends.csv", held_out=0.1, curve=True, **options)
    for mine, theirs in WEIGHTS.items():
        names = [theirs] if theirs else [n for n in ("pseudo_log_likelihood", "log_likelihood") if n in printed]
        same(getattr(found, mine), printed[names[0]])
    same(found.held_out, printed[next(n for n in printed if n.startswith("held_out_") and n != "held_out_rows")])
    for mine, row in zip(found.to_pandas().itertuples(), rows((tmp_path / "i.csv").read_text())):
        same(mine.value, row["value"])
        same(mine.error, row["error"])
    curve = rows((tmp_path / "c.csv").read_text())
    assert len(curve) == len(found.curve)
    for mine, row in zip(found.curve, curve):
        for x, name in zip(mine, ("iteration", "objective", "gradient", "held_out")):
            same(x, row[name])
    assert found.model.digest == gb.read(tmp_path / "f.gbm").digest and "weight 0" in repr(found)


def test_learn_weights_from_arrays():
    friends = gb.read(EXAMPLES / "friends.gbm")
    a = friends.learn_weights(EXAMPLES / "friends.csv")
    assert a.converged and np.isfinite(a.weights).all()
    with pytest.raises(ValueError, match="expected one of each variable"):
        friends.learn_weights({friends.names[0]: [0, 1]})
    with pytest.raises(gb.Error):
        gb.ising((2, 2), 0.1).learn_weights([[0, 0, 0, 0]])


@pytest.mark.parametrize("options", [{}, {"l2": 3}, {"method": "pcd", "steps": 20, "chains": 50, "seed": 6}])
def test_learn_potts(summary, tmp_path, options):
    pytest.importorskip("pandas")
    words = [f"--{k}={x}" for k, x in options.items()]
    printed = summary("learn", "potts", EXAMPLES / "bars.csv", *words, "--identity", "0.8", "--held-out", "0.2", "-o",
                      tmp_path / "p.gbm", "--intervals", tmp_path / "i.csv")
    found = gb.learn_potts(EXAMPLES / "bars.csv", identity=0.8, held_out=0.2, errors=True, **options)
    for mine, theirs in {"log_likelihood": "pseudo_log_likelihood", "held_out": "held_out_pseudo_log_likelihood",
                         "objective": "objective", "weight": "effective_rows", "iterations": "iterations", "rhat": "rhat",
                         "misfit": "misfit", "moment_error": "moment_error"}.items():
        same(found.about[mine], printed[theirs])
    table = rows((tmp_path / "i.csv").read_text())
    assert len(table) == len(found.to_pandas()) == found.n_parameters
    for mine, row in zip(found.to_pandas().itertuples(), table):
        assert (mine.site, mine.state, mine.other, mine.other_state) == (row["site"], row["state"], row["other"], row["other_state"])
        same(mine.value, row["value"])
        same(mine.error, row["error"])
    assert found.model.digest == gb.read(tmp_path / "p.gbm").digest
    assert np.array_equal(found.coupling(2, 5), found.coupling(5, 2).T) and "ln PL" in repr(found)


@pytest.mark.parametrize("options", [{"epochs": 4}, {"epochs": 6, "method": "cd", "draw": "herded", "l2": 0.1, "batch": 5}])
def test_learn_rbm(summary, tmp_path, options):
    words = [f"--{k}={x}" for k, x in options.items()]
    printed = summary("learn", "rbm", EXAMPLES / "bars.csv", "--hidden", 3, "--seed", 7, *words, "--held-out", "0.2", "-o",
                      tmp_path / "r.gbm", "--curve", tmp_path / "c.csv")
    found = gb.learn_rbm(EXAMPLES / "bars.csv", hidden=3, seed=7, held_out=0.2, **options)
    for mine, theirs in {"log_likelihood": "mean_pseudo_log_likelihood", "held_out": "held_out_mean_pseudo_log_likelihood",
                         "rhat": "rhat", "misfit": "misfit", "rise": "rise", "epochs": "epochs", "n_hidden": "hidden"}.items():
        same(getattr(found, mine), printed[theirs])
    for mine, row in zip(found.curve, rows((tmp_path / "c.csv").read_text())):
        same(mine[0], row["pl"])
        same(mine[1], row["held_out_pl"])
    assert found.model.digest == gb.read(tmp_path / "r.gbm").digest and "hidden units" in repr(found)


def test_rows_from_arrays():
    """A path, an array, a DataFrame and a dict of the same rows."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(EXAMPLES / "bars.csv")
    found = [gb.learn_rbm(x, hidden=2, epochs=3) for x in (EXAMPLES / "bars.csv", frame, frame.to_dict("list"), frame.to_numpy(),
                                                           frame.to_numpy().astype(bool))]
    assert len({f.log_likelihood for f in found}) == 1
    assert found[0].model.names[:2] == found[1].model.names[:2] == list(frame.columns[:2]) and found[3].model.names[0] == "v1"
    with pytest.raises(ValueError, match="missing"):
        gb.learn_potts([[0, 1], [-1, 0]])
    with pytest.raises(gb.Error):
        gb.learn_rbm("none.csv", hidden=2)


CRF = {"log_likelihood": "log_likelihood", "objective": "objective", "gradient_norm": "gradient_norm", "n_features": "features",
       "n_weights": "weights", "n_active": "active_weights", "iterations": "iterations", "n_tokens": "tokens"}


@pytest.mark.parametrize("options", [{}, {"l2": 2, "least_count": 2}, {"l1": 0.5, "l2": 0}])
def test_learn_crf(summary, ask, tmp_path, options):
    pytest.importorskip("pandas")
    words = [f"--{k.replace('_', '-')}={x}" for k, x in options.items()]
    printed = summary("learn", "crf", EXAMPLES / "places.template", EXAMPLES / "places.txt", *words, "-o", tmp_path / "a.crf",
                      "--intervals", tmp_path / "i.csv")
    found = gb.learn_crf(EXAMPLES / "places.template", EXAMPLES / "places.txt", errors=True, **options)
    for mine, theirs in CRF.items():
        same(found.about[mine], printed[theirs])
    found.write(tmp_path / "b.crf")
    assert (tmp_path / "a.crf").read_bytes() == (tmp_path / "b.crf").read_bytes()
    for mine, row in zip(found.to_pandas().itertuples(), rows((tmp_path / "i.csv").read_text())):
        assert (mine.feature, mine.previous, mine.label) == (row["feature"], row["previous"], row["label"])
        same(mine.value, row["value"])
        same(mine.error, row["error"])
    read = gb.read_crf(tmp_path / "b.crf")
    assert np.array_equal(read.weights, found.weights) and read.label_names == found.label_names


def test_curves_of_labels_and_classes():
    found = gb.learn_crf(EXAMPLES / "places.template", EXAMPLES / "places.txt", curve=True)
    assert found.curve.shape == (found.iterations, 4) and list(found.curve[:, 0]) == list(range(1, found.iterations + 1))
    assert found.curve[-1, 1] == found.objective and np.isnan(found.curve[:, 3]).all()
    assert gb.learn_crf(EXAMPLES / "places.template", EXAMPLES / "places.txt").curve.shape == (0, 4)
    classes = gb.learn_aspects(EXAMPLES / "ground" / "list.txt", patch=16, texture_words=24, color_words=4, curve=True)
    assert classes.curve.shape == (classes.iterations, 4) and classes.curve[-1, 1] == classes.log_likelihood


def test_black_and_white_kept_as_grey():
    """Two values are disturbed by flips; noise that freezes all pixels is called that."""
    array = np.where(np.indices((24, 24)).sum(0) % 9 == 0, 255, 0).astype(np.uint8)
    assert gb.denoise(array, coupling=0.4, sweeps=200, seed=1).noise == "flip"
    with pytest.warns(gb.NotConverged):
        assert "the model is frozen" in gb.denoise(array, noise="gauss:0.001", coupling=0.4, method="sample").verdict


def test_alphabets(tmp_path):
    path = tmp_path / "a.fa"
    path.write_text(">a\nGCAU-A\n>b\nGCGUNA\n>c\nACGUCA\n")
    found = gb.learn_potts(path)
    assert found.n_states == 5 and found.about["unknown_letters"] == 1
    assert found.model.states(found.model.names[0]) == ("-", "A", "C", "G", "U")
    assert gb.learn_potts(path, alphabet="protein").n_states == 21
    with pytest.raises(ValueError, match="found 'amino', expected one of auto, protein"):
        gb.learn_potts(path, alphabet="amino")


def test_label(ask, tmp_path):
    crf = gb.read_crf(EXAMPLES / "places.crf")
    path = tmp_path / "s.json"
    text = ask("label", EXAMPLES / "places.crf", EXAMPLES / "places.txt", "--truth", "last", "--posterior", "all", "-qq",
               "--summary", path)
    printed = json.loads(path.read_text())
    found = crf.label(EXAMPLES / "places.txt", truth="last", probabilities=True)
    lines = [line.split("\t") for line in text.splitlines() if line]
    assert [y for sequence in found for y in sequence] == [line[3] for line in lines]
    for mine, line in zip(found.posterior, lines):
        for x, part in zip(mine, line[4:]):
            same(x, part.rpartition("/")[2])
    assert found.accuracy == printed["accuracy"] and float(found.log_p.sum()) == pytest.approx(printed["log_probability"])
    for entity in printed["entities"]:
        assert found.entities[entity["class"]][-1] == entity["f1"]
    sequences, tokens = [], []
    for line in [*(EXAMPLES / "places.txt").read_text().splitlines(), ""]:
        if line:
            tokens.append(tuple(line.split()))
        elif tokens:
            sequences.append(tokens)
            tokens = []
    again = crf.label(sequences, truth=2)
    assert again.labels == found.labels and again.accuracy == found.accuracy and "F1" in repr(found)
    graph = crf.sequence_model(sequences, 0)
    assert len(graph) == len(sequences[0]) and list(graph.map().values()) == found[0]
    assert found.unseen_labels == 0
    wrong = [[(*token[:2], "B-RIVER") for token in sequences[0]]]
    assert crf.label(wrong, truth=2).unseen_labels == len(wrong[0]) and crf.label(wrong, truth=2).accuracy == 0
    with pytest.raises(gb.Error):
        crf.label([["one"]])
    with pytest.raises(ValueError, match="without blanks"):
        crf.label([[("a b", "c")]])


# ---- models ---------------------------------------------------------------------------------


def test_ground(ask, tmp_path):
    ask("ground", EXAMPLES / "smokers.mln", EXAMPLES / "smokers.db", "-o", tmp_path / "s.gbm", "-q")
    found = gb.ground(EXAMPLES / "smokers.mln", EXAMPLES / "smokers.db")
    assert found.model.digest == gb.read(tmp_path / "s.gbm").digest and found.n_variables == len(found.model)
    lines = (EXAMPLES / "smokers.db").read_text().splitlines()
    assert gb.ground(EXAMPLES / "smokers.mln", lines).model.digest == found.model.digest and "formulas" in repr(found)
    ask("ground", EXAMPLES / "smokers.mln", EXAMPLES / "smokers.db", "--query-predicates", "Smokes", "-o", tmp_path / "q.gbm", "-q")
    some = gb.ground(EXAMPLES / "smokers.mln", EXAMPLES / "smokers.db", query_predicates=["Smokes"], time=60)
    assert some.model.digest == gb.read(tmp_path / "q.gbm").digest
    with pytest.raises(gb.Error, match=r"program:1:"):
        gb.ground(["1.5 Smokes("], lines)


KINDS = [("ising", {"grid": (3, 4), "torus": True, "coupling_spread": 0.5, "random_field": 0.2}),
         ("potts", {"grid": (3, 3, 2), "states": 3, "noise": 0.5, "coupling": 0.7}), ("ring", {"variables": 6}),
         ("complete", {"variables": 5, "coupling": 0.3}), ("regular", {"variables": 8, "degree": 3}),
         ("powerlaw", {"variables": 9, "edges": 2}), ("rbm", {"visible": 4, "hidden": 2}),
         ("bayes", {"variables": 7, "parents": 2, "states": (2, 3)})]


@pytest.mark.parametrize("kind, options", KINDS)
def test_generate(ask, tmp_path, kind, options):
    marks = {"grid": "x", "states": ":"}
    words = []
    for name, x in options.items():
        text = marks[name].join(map(str, x)) if isinstance(x, tuple) else str(x)
        words.append(f"--{name.replace('_', '-')}" + ("" if x is True else f"={text}"))
    ask("generate", kind, *words, "--seed", 3, "-o", tmp_path / "g.gbm")
    assert gb.generate(kind, seed=3, **options).digest == gb.read(tmp_path / "g.gbm").digest


def test_generate_mistakes():
    for bad, error in ((lambda: gb.generate("cube"), ValueError), (lambda: gb.generate("ising"), TypeError),
                       (lambda: gb.generate("ising", grid=(3,)), ValueError), (lambda: gb.generate("ring", grid=(3, 3)), TypeError),
                       (lambda: gb.generate("bayes", states=(3, 2)), ValueError),
                       (lambda: gb.generate("ising", grid=(2, 2), colour=3), TypeError)):
        with pytest.raises(error):
            bad()


# ---- pictures -------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"noise": "flip:0.1", "coupling": 1.4, "seed": 2}])
def test_denoise(ask, tmp_path, options):
    words = [f"--{k}={x}" for k, x in options.items()]
    limits = {"method": "sample", "sweeps": 40, "chains": 4}
    words += [f"--{k}={x}" for k, x in limits.items()]
    noisy, truth = EXAMPLES / "leaf-noisy.pbm", EXAMPLES / "leaf.pbm"
    text = ask("denoise", noisy, *words, "--truth", truth, "--mean", tmp_path / "m.pgm", "--uncertainty", tmp_path / "u.pgm",
               "-o", tmp_path / "o.pbm", "--map", tmp_path / "b.pbm", "--summary", tmp_path / "s.json", "--format", "csv")
    found = gb.denoise(noisy, truth=truth, best=True, **options, **limits)
    for picture, name in ((found.picture, "o.pbm"), (found.mean, "m.pgm"), (found.uncertainty, "u.pgm"), (found.best, "b.pbm")):
        assert np.array_equal(picture.to_numpy(), gb.read_picture(tmp_path / name).to_numpy())
    table = {r["error"]: r for r in rows(text)}
    for mine, (row, column) in {"noisy_wrong": ("wrong", "noisy"), "wrong": ("wrong", "restored"), "square": ("mean_square", "restored"),
                                "expected_wrong": ("wrong", "expected")}.items():
        assert found.wrong[mine] == pytest.approx(float(table[row][column]), rel=1e-12)
    assert found.digest == json.loads((tmp_path / "s.json").read_text())["digest"]
    assert (found.noise_error > 0) is ("noise" not in options) and "coupling" in repr(found)
    array = gb.read_picture(noisy).to_numpy()
    assert array.dtype == bool and gb.denoise(array, truth=truth, **options, **limits).digest == found.digest
    found.uncertainty.write(tmp_path / "again.png")
    assert found.p.shape == (*array.shape, 2) and np.allclose(found.p.sum(2), 1.0) and found.errors.shape == found.p.shape


def test_denoise_arrays():
    grey = np.random.default_rng(2).integers(0, 4, (20, 24)).astype(np.uint8)
    labels = gb.denoise(grey, levels=4, labels=True, noise="flip:0.3", coupling=0.4, seed=1, method="sample", sweeps=30)
    assert labels.mean is None and labels.to_numpy().max() <= 3 and labels.noise == "flip"
    levels = gb.denoise(grey * 85, levels=4, noise="gauss:0.5", coupling=0.4, smoothing="quadratic:4", neighbours=8, sweeps=30)
    assert levels.noise == "gauss" and levels.p.shape == (20, 24, 4)
    for bad, error in ((lambda: gb.denoise(grey.astype(float)), TypeError), (lambda: gb.denoise(grey, noise="salt"), ValueError),
                       (lambda: gb.denoise(grey, neighbours=5, noise="flip:0.1", coupling=1), gb.Error),
                       (lambda: gb.denoise("none.png"), gb.Error), (lambda: gb.denoise(grey, sweps=3), TypeError)):
        with pytest.raises(error):
            bad()


@pytest.mark.parametrize("options", [{}, {"target": (4, 5), "sweeps": 200}, {"coupling": 0.2, "neighbours": 8, "seed": 3}])
def test_segment(ask, tmp_path, options):
    words = [f"--{k}={'x'.join(map(str, x)) if isinstance(x, tuple) else x}" for k, x in options.items()]
    text = ask("segment", EXAMPLES / "ground.aspects", EXAMPLES / "ground.png", *words, "--truth", EXAMPLES / "ground-truth.png",
               "--overlay", tmp_path / "o.ppm", "--format", "csv", "--summary", tmp_path / "s.json")
    aspects = gb.read_aspects(EXAMPLES / "ground.aspects")
    found = aspects.segment(EXAMPLES / "ground.png", truth=EXAMPLES / "ground-truth.png", **options)
    table = {r["class"]: r for r in rows(text)}
    for name in aspects.classes:
        assert found.counts()[name] == int(table[name]["patches"])
        assert found.right[name] == tuple(int(table[name][k]) for k in ("true", "right", "right_alone"))
    assert np.array_equal(found.overlay.to_numpy(), gb.read_picture(tmp_path / "o.ppm").to_numpy())
    assert found.digest == json.loads((tmp_path / "s.json").read_text())["digest"]
    assert found.p.shape == (*found.labels.shape, len(aspects.classes)) and len(found.model) == found.labels.size
    array = gb.read_picture(EXAMPLES / "ground.png").to_numpy()
    assert aspects.segment(array, **options).digest == found.digest and "right" in repr(found)


def test_learn_aspects(summary, tmp_path):
    pictures = EXAMPLES / "ground" / "list.txt"
    printed = summary("learn", "aspects", pictures, "--seed", 5, "--patch", "16,16", "-o", tmp_path / "a.aspects")
    found = gb.learn_aspects(pictures, seed=5, patch=(16, 16))
    found.write(tmp_path / "b.aspects")
    assert (tmp_path / "a.aspects").read_bytes() == (tmp_path / "b.aspects").read_bytes()
    same(found.log_likelihood, printed["mean_log_likelihood"])
    pairs = [line.split() for line in pictures.read_text().splitlines() if line.split("#")[0].strip()]
    again = gb.learn_aspects([(pictures.parent / p[0], p[1:]) for p in pairs], seed=5, patch=(16, 16))
    assert again.log_likelihood == found.log_likelihood and again.classes == found.classes and "classes" in repr(found)


# ---- options and manners --------------------------------------------------------------------


def test_options(clinic):
    """The library's messages, for a name that there is not and for a value that is not taken."""
    table = {o["name"] for o in gb.options("learn rbm")}
    assert {"hidden", "epochs", "seed", "memory_limit"} <= table
    with pytest.raises(KeyError):
        gb.options("learn nothing")
    for call in (lambda **o: gb.learn_rbm(EXAMPLES / "bars.csv", hidden=2, **o), lambda **o: clinic.query("cold", **o),
                 lambda **o: clinic.fit([[0] * 15], **o)):
        with pytest.raises(TypeError, match="no option \"hiden\"") as found:
            call(hiden=3)
        assert found.value.status == "argument" and isinstance(found.value, (ValueError, gb.OptionError))
        with pytest.raises(TypeError, match="no option \"temperature\": couplings and fields of a model are divided"):
            call(temperature=2)
        with pytest.raises(ValueError, match="seed") as found:
            call(seed="x")
        assert not isinstance(found.value, TypeError)
    with pytest.raises(TypeError, match="no option \"plot\": marginals --report FILE.html has charts"):
        clinic.query("cold", plot=True)
    with pytest.raises(Exception, match=r"gb\.index\(1\) is the variable with that number"):
        clinic.query("#1")
    with pytest.raises(ValueError, match="hidden"):
        gb.learn_rbm(EXAMPLES / "bars.csv", hidden=0)


def interrupted(call):
    """Calls it, and sends Ctrl-C once it tells of progress. @return what it returned, or the exception."""
    started = threading.Event()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def stop():
        started.wait(60)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=stop).start()
    try:
        return call(lambda p: started.set())
    except KeyboardInterrupt as error:
        return error
    finally:
        started.set()
        signal.signal(signal.SIGINT, before)


def test_ctrl_c():
    """What there is is kept where the library keeps it; else KeyboardInterrupt."""
    rng = np.random.default_rng(1)
    rows_of_two = rng.integers(0, 2, (2000, 40))
    found = interrupted(lambda p: gb.learn_rbm(rows_of_two, hidden=40, epochs=10**6, time=300, progress=p))
    assert isinstance(found, KeyboardInterrupt) or (found.stopped and not found.converged and "stopped" in found.verdict)
    glass = gb.ising((40, 40), rng.normal(size=3120))
    state = interrupted(lambda p: glass.map(method="sample", sweeps=10**8, time=300, progress=p))
    assert isinstance(state, KeyboardInterrupt) or state.stop == "signal"


def test_progress(clinic):
    seen = []
    draws = clinic.exact_samples(300, seed=1).to_numpy()[0].astype(int)
    draws[:, 2:6] = -1
    clinic.fit(draws, progress=lambda p: seen.append(p["pass"]) and False)
    with pytest.raises(ZeroDivisionError):
        gb.learn_rbm(np.zeros((500, 30), int), hidden=30, epochs=10**6, time=300, progress=lambda p: 1 / 0)


# ---- observations in a model's file -------------------------------------------------------------

KETTLE = """<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>heat</NAME><OUTCOME>low</OUTCOME><OUTCOME>high</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>steam</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME><OBS>yes</OBS></VARIABLE>
<DEFINITION><FOR>heat</FOR><TABLE>0.6 0.4</TABLE></DEFINITION>
<DEFINITION><FOR>steam</FOR><GIVEN>heat</GIVEN><TABLE>0.9 0.1 0.3 0.7</TABLE></DEFINITION>
</NETWORK></BIF>
"""


def test_file_evidence(tmp_path):
    path = tmp_path / "kettle.xml"
    path.write_text(KETTLE)
    with pytest.warns(UserWarning, match="1 observation .'steam' = 'yes'"):
        assert gb.read(path).file_evidence == {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models = [gb.read(path, file_evidence=True), gb.loads(KETTLE, "xmlbif", file_evidence=True)]
    for m in (*models, pickle.loads(pickle.dumps(models[0]))):
        assert m.file_evidence == {"steam": "yes"}
        assert m.query("heat")["heat"]["high"] == pytest.approx(0.28 / 0.34)
        assert m.prob({"heat": "high"}) == pytest.approx(0.28) and m.prob({}) == pytest.approx(0.34)
        assert m.mpe() == {"heat": "high", "steam": "yes"}
        assert m.query_table({"heat": ["low"]}, "steam")["steam"].tolist() == [[0.0, 1.0]]
        with pytest.raises(gb.Error, match="observed in state"):
            m.query("heat", evidence={"steam": "no"})
    with pytest.raises(gb.Error, match="clinic.bif:1:1: found .*, expected XMLBIF"):
        gb.read(EXAMPLES / "clinic.bif", file_evidence=True)
    path.write_text(KETTLE.replace("<OBS>yes</OBS>", ""))
    with pytest.raises(gb.Error, match="found no observation"):
        gb.read(path, file_evidence=True)


def test_belief_propagation(ask):
    path = EXAMPLES / "grid.uai"
    m = gb.read(path)
    answer = m.query(method="bp")
    summary = answer.summary
    assert summary["method"] == "bp" and not answer.converged and math.isfinite(summary["log_z_bethe"])
    rows = list(csv.DictReader(io.StringIO(ask("marginals", path, "--method", "bp", "--format", "csv"))))
    assert [float(r["probability"]) for r in rows] == [p for v in answer for p in answer[v].values()]
    for refuse in (lambda: m.map(method="bp"), lambda: m.logz(method="bp"), lambda: m.query(method="bp", damping=0.0)):
        with pytest.raises(ValueError):
            refuse()
