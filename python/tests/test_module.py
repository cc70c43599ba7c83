# SPDX-License-Identifier: Apache-2.0
"""Names, options, warnings, converters, pickles, threads, signals."""
import concurrent.futures
import contextlib
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import types
import xml.etree.ElementTree

import gibbsite as gb
import numpy as np
import pytest
from conftest import ROOT
from gibbsite import _model


# ---- asking ---------------------------------------------------------------------------------


def test_query_by_name(clinic):
    answer = clinic.query("influenza", evidence={"fever": "yes", "season": {"winter", "spring"}})
    assert list(answer) == ["influenza"] and sum(answer["influenza"].values()) == pytest.approx(1.0)
    assert answer["influenza"]["yes"] == answer["influenza"].to_numpy()[1]
    assert "yes=" in repr(answer) and "<svg" in answer._repr_html_()
    same = clinic.query("influenza", evidence="fever=yes, season=winter|spring")
    assert same["influenza"]["yes"] == answer["influenza"]["yes"]
    soft = clinic.query("influenza", likelihood={"fever": {"yes": 0.9, "no": 0.1}})
    again = clinic.query("influenza", likelihood={"fever": [0.1, 0.9]})
    assert clinic.states("fever") == ("no", "yes") and soft["influenza"]["yes"] == again["influenza"]["yes"]
    with pytest.raises(KeyError, match="no state 'maybe', only no, yes"):
        answer["influenza"]["maybe"]


def parts(drawing):
    """The elements of a drawing by their classes."""
    found = {}
    for element in xml.etree.ElementTree.fromstring(drawing.svg).iter():
        for name in (element.get("class") or "").split():
            found.setdefault(name, []).append(element)
    return found


def test_drawings(clinic, tmp_path):
    drawing = clinic.plot()
    assert isinstance(drawing, gb.Drawing) and drawing._repr_svg_() == drawing.svg and "SVG" in repr(drawing)
    drawing.save(tmp_path / "m.svg")
    assert (tmp_path / "m.svg").read_text(encoding="utf-8") == drawing.svg
    assert len(parts(drawing)["box"]) == len(clinic) and "bar" not in parts(drawing)
    clinic.write(tmp_path / "w.svg")
    assert (tmp_path / "w.svg").read_text(encoding="utf-8") == drawing.svg
    answer = clinic.query(evidence={"fever": "yes"})
    found = parts(answer.plot())
    assert len(found["seen"]) == 1 and [text.text for text in found["number"]] == [f"{p:.4f}" for p in answer.to_numpy()]
    assert answer.plot().svg.split(">", 1)[1] in answer._repr_html_() and drawing.svg in clinic._repr_html_()
    # variables that were asked for have bars, and their neighbours have none
    found = parts(clinic.query("xray", "cold").plot())
    assert len(found["bar"]) == 5 and 2 < len(found["box"]) < len(clinic)
    assert len(parts(clinic.plot("xray"))["box"]) == 2 and len(parts(clinic.plot("xray", evidence="xray=clear"))["seen"]) == 1
    with pytest.raises(ValueError, match="without its model"):
        pickle.loads(pickle.dumps(answer)).plot()
    assert "<svg" in pickle.loads(pickle.dumps(answer))._repr_html_()


def test_drawings_of_large_models():
    m = gb.ising((50, 50), coupling=0.1)
    with pytest.raises(gb.Error, match="2500 nodes, at most 2000"):
        m.plot()
    assert "<svg" not in m._repr_html_() and "<svg" in m.plot(gb.index(7)).svg
    assert parts(gb.Model().plot())["soft"][0].text == "a model without variables"


@pytest.mark.parametrize("ask, error, text", [
    (lambda m: m.query("flu"), gb.Error, "there is no variable \"flu\""),
    (lambda m: m.query("influenza", evidence={"fever": "high"}), gb.Error, "high"),
    (lambda m: m.query("influenza", evidence={"fever": 1}), TypeError, "expected one of the states no, yes of fever"),
    (lambda m: m.query(3), TypeError, r"gb\.index\(3\)"),
    (lambda m: m.query(gb.index(99)), IndexError, "0 to 14"),
    (lambda m: m.query(sweps=3), ValueError, "no option \"sweps\""),
    (lambda m: m.query(sweeps=0), ValueError, "--sweeps 0"),
    (lambda m: m.joint("cold", "cold"), ValueError, "twice"),
    (lambda m: m.query("cold", "cold"), ValueError, "twice"),
    (lambda m: m.query_table({"fever": ["yes"], "cough": []}), ValueError, "as many in each"),
    (lambda m: m.add("x"), TypeError, "cannot grow"),
    (lambda m: gb.read("none.bif"), gb.Error, "none.bif"),
    (lambda m: gb.loads("network x {", "bif"), gb.Error, "text:1"),
])
def test_mistakes(clinic, ask, error, text):
    with pytest.raises(error, match=text):
        ask(clinic)


def test_status(clinic):
    with pytest.raises(gb.Error) as found:
        gb.loads("network x {", "bif")
    assert found.value.status == "format" and not isinstance(found.value, ValueError)
    with pytest.raises(gb.ArgumentError) as found:
        clinic.query(sweeps=-1)
    assert found.value.status == "argument"


def test_numbers_are_marked(clinic):
    answer = clinic.query(gb.index(4), evidence={gb.index(9): gb.index(1)})
    assert answer["influenza"]["yes"] == clinic.query("influenza", evidence={"fever": "yes"})["influenza"]["yes"]
    spins = gb.ising((2, 2), 0.3)
    assert spins.query("1", evidence={"0": 1})["1"][1] > 0.5


def test_not_converged_warns():
    glass = gb.ising((30, 30), 0.1)
    with pytest.warns(gb.NotConverged, match="not converged"):
        answer = glass.query("0", method="sample", sweeps=4, burn_in=0)
    assert not answer.converged and "not converged" in answer.verdict


def test_digest_is_the_command_lines(clinic, program, tmp_path):
    """The same options give the same bits."""
    summary = tmp_path / "s.json"
    for options in ({"method": "sample", "target-error": 0.02, "seed": 7, "chains": 4}, {"method": "exact"}):
        words = [f"--{k}={v}" for k, v in options.items()]
        subprocess.run([program, "marginals", ROOT / "examples" / "clinic.bif", "-e", "fever=yes", *words, "-q", "-o",
                        tmp_path / "m.csv", "--summary", summary], check=True, capture_output=True)
        found = clinic.query(evidence={"fever": "yes"}, **options)
        assert found.digest == json.loads(summary.read_text())["digest"]


def test_results_elsewhere(clinic):
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    answer = clinic.query("cold", "fever")
    frame = answer.to_pandas()
    assert list(frame.columns) == ["variable", "state", "probability", "mcse", "ess", "rhat"] and len(frame) == 4
    assert float(answer.to_xarray()["cold"].sel(cold_state="yes")) == answer["cold"]["yes"]
    table = clinic.joint("cold", "fever")
    assert table.to_pandas()["yes", "no"] == table["yes", "no"]
    assert float(table.to_xarray().sel(cold="yes", fever="no")) == table["yes", "no"]
    cases = pandas.DataFrame({"fever": ["yes", None], "cough": ["no", "yes"]}, index=["a", "b"])
    found = clinic.query_table(cases, "cold")
    one = clinic.query("cold", evidence={"cough": "yes"})
    assert found.to_pandas().loc["b", ("cold", "yes")] == pytest.approx(one["cold"]["yes"], abs=1e-12)
    draws = clinic.sample(50, "cold", "fever")
    assert set(draws.to_pandas()["cold"]) <= {"no", "yes"} and len(draws.to_pandas()) == 200
    groups = draws.to_arviz()
    assert groups["posterior"]["cold"].dims == ("chain", "draw") and groups["sample_stats"]["lp"].shape == (4, 50)
    assert groups["posterior"].attrs["creation_library"] == "gibbsite"
    assert draws.to_xarray(one_array=True)["state"].shape == (4, 50, 2)
    xarray.DataTree = types.SimpleNamespace(from_dict=lambda d: ("tree", sorted(d)))
    try:
        assert draws.to_arviz() == ("tree", ["posterior", "sample_stats"])
    finally:
        del xarray.DataTree


def test_no_copies(clinic):
    draws = clinic.sample(100)
    array = draws.to_numpy()
    assert array.shape == (4, 100, 15) and not array.flags.owndata and not array.flags.writeable
    assert np.shares_memory(array, draws["cold"])
    answer = clinic.query()
    assert np.shares_memory(answer.to_numpy(), answer["cold"].to_numpy())


def test_report(clinic, tmp_path):
    clinic.query("cold").report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert "Content-Security-Policy" in text and "exact" in text


def test_certificates_and_scans():
    spins = gb.ising((4, 4), 0.1)
    proved = spins.certify(accuracy=0.01)
    assert proved.found and proved.dobrushin and proved.passes >= 1 and "from any start" in repr(proved)
    assert not gb.ising((4, 4), 2.0).certify().found
    scan = spins.scan(accuracy=0.1, weights=["5"])
    assert 0 < scan.bound <= 0.1 and scan.visited <= 16 and len(scan.names) == len(scan)


def test_options_and_progress(clinic):
    assert {"sweeps", "burn_in", "scan", "draw"} <= {o["name"] for o in gb.options()}
    seen = []
    answer = clinic.query(method="sample", sweeps=10**9, time=300, progress=lambda p: seen.append(p) or len(seen) == 2)
    assert answer.stopped and answer.summary["sweeps"] < 10**9
    assert len(seen) == 2 and {"pass", "updates", "elapsed_s"} <= set(seen[0])
    with pytest.raises(ZeroDivisionError):
        clinic.query(method="sample", sweeps=10**9, time=300, progress=lambda p: 1 / 0)
    grid, told = gb.ising((17, 17), 0.3), []
    grid.query("0", method="exact", threads=1, progress=lambda p: told.append(p))
    assert seen[-1]["work"] is None and all(p["work"] == "junction tree" and 0 <= p["share"] <= 1 for p in told)


# ---- making ---------------------------------------------------------------------------------


def test_made_by_hand():
    m = gb.Model()
    m.add("rain", ["no", "yes"], p=[0.8, 0.2])
    m.add("wet", ["no", "yes"], parents=["rain"], p=[[0.9, 0.1], [0.2, 0.8]])
    assert m.query("rain", evidence={"wet": "yes"})["rain"]["yes"] == pytest.approx(2 / 3)
    m.factor(["wet"], [1.0, 3.0])  # a question, then more
    assert m.query("wet")["wet"]["yes"] == pytest.approx(0.24 * 3 / (0.76 + 0.24 * 3))
    for bad in (lambda: m.add("rain"), lambda: m.add("x", 2, ["rain"], [0.5, 0.5]), lambda: m.add("y", 2, ["rain"])):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(KeyError):
        m.factor(["sun"], [1, 1])
    with pytest.raises(gb.Error):
        gb.Model().add("x", 2, p=[0.5, 0.6]).query()
    assert len(gb.Model()) == 0 and gb.Model().logz() == 0.0


def test_write_and_pickle(clinic, tmp_path):
    with pytest.warns(UserWarning, match="lost the names"):
        clinic.write(tmp_path / "c.uai")
    assert gb.read(tmp_path / "c.uai").query()["4"]["1"] == pytest.approx(clinic.query()["influenza"]["yes"], abs=1e-12)
    assert pickle.loads(pickle.dumps(clinic)).digest == clinic.digest
    answer = clinic.query("cold")
    again = pickle.loads(pickle.dumps(answer))
    assert again["cold"]["yes"] == answer["cold"]["yes"] and again.digest == answer.digest
    assert pickle.loads(pickle.dumps(clinic.logz())) == clinic.logz()
    assert dict(pickle.loads(pickle.dumps(clinic.joint("cold", "fever")))) == dict(clinic.joint("cold", "fever"))


def brute(m):
    """ln weights of all states, less the largest."""
    states = np.array(list(np.ndindex(*[len(m.states(n)) for n in m.names])))
    x = np.array([m.log_density(s) for s in states])
    return states, x - x.max()


def test_grids_and_arrays():
    torus = gb.ising((3, 3), 0.4, field=0.1, torus=True)
    states, x = brute(torus)
    spin = 2.0 * states.reshape(-1, 3, 3) - 1.0
    wanted = 0.4 * sum((spin * np.roll(spin, 1, d)).sum((1, 2)) for d in (1, 2)) + 0.1 * spin.sum((1, 2))
    assert np.allclose(x, wanted - wanted.max())
    potts = gb.potts((2, 3), 3, 0.7)
    states, x = brute(potts)
    grid = states.reshape(-1, 2, 3)
    wanted = 0.7 * ((grid[:, 1:] == grid[:, :-1]).sum((1, 2)) + (grid[:, :, 1:] == grid[:, :, :-1]).sum((1, 2)))
    assert np.allclose(x, wanted - wanted.max())
    J = np.array([[0, 0.5, 0], [0.5, 0, -1.0], [0, -1.0, 0]])
    dense = gb.from_arrays(J, fields=[0.1, 0, -0.2], names=["a", "b", "c"])
    csr = gb.from_arrays(([0, 1, 2, 2], [1, 2], [0.5, -1.0]), fields=[0.1, 0, -0.2], names=["a", "b", "c"])
    assert dense.digest == csr.digest and dense.names == ["a", "b", "c"]
    for bad in (np.eye(2), [[0, 1], [2, 0]], np.zeros((2, 3))):
        with pytest.raises(ValueError):
            gb.from_arrays(bad)


def test_from_tables():
    rng = np.random.default_rng(4)
    first, second = rng.random((2, 3)), rng.random((3, 2, 2))
    m = gb.from_tables([2, 3, 2], [([0, 1], first), ([1, 0, 2], second)], names=["a", "b", "c"])
    weights = first[:, :, None] * second.transpose(1, 0, 2)
    assert np.allclose(m.joint("a", "b", "c").to_numpy(), weights / weights.sum())
    assert len(gb.from_tables([2], [])) == 1 and gb.from_tables([4], []).query("0")["0"][3] == pytest.approx(0.25)
    for bad, error in (([([0, 3], first)], IndexError), ([([1, 0], first)], ValueError), ([([0], [1.0, -1.0])], gb.Error)):
        with pytest.raises(error):
            gb.from_tables([2, 3, 2], bad)


def test_from_networkx():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_node("a", field=0.3)
    graph.add_edge("a", "b", weight=0.8)
    m = gb.from_networkx(graph)
    up = np.exp(0.3) * (np.exp(0.8) + np.exp(-0.8))
    assert m.query("a")["a"]["1"] == pytest.approx(up / (up + up * np.exp(-0.6)))


class Table:  # of the shape of pgmpy's TabularCPD: values [child][parents...]
    def __init__(self, variables, values, state_names):
        self.variable, self.variables, self.values, self.state_names = variables[0], variables, values, state_names


def test_from_pgmpy_shaped():
    names = {"rain": ["no", "yes"], "wet": ["dry", "wet"]}
    network = types.SimpleNamespace(get_cpds=lambda: [
        Table(["wet", "rain"], np.array([[0.9, 0.2], [0.1, 0.8]]), names), Table(["rain"], np.array([0.8, 0.2]), names)])
    assert gb.from_pgmpy(network).query("rain", evidence={"wet": "wet"})["rain"]["yes"] == pytest.approx(2 / 3)
    markov = types.SimpleNamespace(get_factors=lambda: [types.SimpleNamespace(variables=["a", "b"], values=np.array([[1, 2], [3, 4.0]]))])
    assert gb.from_pgmpy(markov).query("a")["a"]["1"] == pytest.approx(0.7)


def test_from_pyagrum_shaped():
    variable = lambda name: types.SimpleNamespace(name=lambda: name, label=lambda k: "no yes".split()[k], domainSize=lambda: 2)
    tables = [types.SimpleNamespace(var_names=["rain"], toarray=lambda: [0.8, 0.2]),
              types.SimpleNamespace(var_names=["rain", "wet"], toarray=lambda: [[0.9, 0.1], [0.2, 0.8]])]
    network = types.SimpleNamespace(topologicalOrder=lambda: [0, 1], variable=lambda k: variable(["rain", "wet"][k]),
                                    cpt=lambda k: tables[k])
    assert gb.from_pyagrum(network).query("rain", evidence={"wet": "yes"})["rain"]["yes"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("kind, values", [("SPIN", (-1, 1)), ("BINARY", (0, 1))])
def test_from_dimod_shaped(kind, values):
    bqm = types.SimpleNamespace(variables=["a", "b"], linear={"a": 0.5, "b": 0.0}, quadratic={("a", "b"): -1.0},
                                vartype=types.SimpleNamespace(name=kind))
    m = gb.from_dimod(bqm, beta=0.7)
    weight = np.array([[np.exp(-0.7 * (0.5 * x - x * y)) for y in values] for x in values])
    assert np.allclose(m.joint("a", "b").to_numpy(), weight / weight.sum())


# ---- manners --------------------------------------------------------------------------------


def test_threads(clinic):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: clinic.query("cold", method="sample", target_error=0.02, seed=k % 2).digest, range(8)))
    assert len(set(found)) == 2


def _ask_in_child(queue):
    queue.put(gb.read(ROOT / "examples" / "clinic.bif").query("cold")["cold"]["yes"])


def test_fork(clinic):
    wanted = clinic.query("cold")["cold"]["yes"]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_ask_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == wanted
    child.join()


def test_interrupted():
    """Ctrl-C ends a run between passes, and what there is is kept."""
    m = gb.ising((64, 64), 0.2)
    started = threading.Event()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell has run this in the background

    def stop():
        started.wait(60)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=stop).start()
    with pytest.raises(KeyboardInterrupt) as found:
        m.query("0", method="sample", sweeps=10**9, time=300, burn_in=0, progress=lambda p: started.set())
    signal.signal(signal.SIGINT, before)
    answer = found.value.partial
    assert answer.stopped and answer.summary["sampling_seconds"] < 299 and 0.0 < answer["0"]["1"] < 1.0


def test_reading_interrupted(tmp_path):
    """A model that comes out of a pipe without an end."""
    pipe = tmp_path / "m.uai"
    os.mkfifo(pipe)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def feed():
        with contextlib.suppress(BrokenPipeError), open(pipe, "w", buffering=1) as out:
            out.write("MARKOV\n")
            os.kill(os.getpid(), signal.SIGINT)
            while True:
                out.write("\n")
                out.flush()
                time.sleep(0.01)
    feeding = threading.Thread(target=feed)
    feeding.start()
    with pytest.raises(KeyboardInterrupt):
        gb.read(pipe)
    signal.signal(signal.SIGINT, before)
    feeding.join()


def test_ffi(clinic):
    library = os.environ.get("GIBBSITE_LIBRARY")
    if not library:
        pytest.skip("GIBBSITE_LIBRARY does not name the shared library")
    from gibbsite import ffi
    m = ffi.Model(ROOT / "examples" / "clinic.bif")
    found = m.query("cold", evidence="fever=yes")
    assert found["cold"]["yes"] == clinic.query("cold", evidence={"fever": "yes"})["cold"]["yes"] and found.exact
    assert m.mpe("fever=yes") == dict(clinic.mpe({"fever": "yes"})) and m.digest == clinic.digest
    assert m.logz("fever=yes") == pytest.approx(float(clinic.logz({"fever": "yes"})), abs=1e-12)
    with pytest.raises(ffi.Error) as error:
        m.query("flu")
    assert error.value.status == "argument"


def test_types():
    """The annotations agree with the code."""
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", "--cache-dir", os.devnull,
                           str(ROOT / "python" / "gibbsite")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_progress_is_shown(capfd):
    """Whatever is shown of a run that takes no time, a step of a long one is."""
    gb.ising((16, 16), 0.2).query("0", method="sample", target_error=0.002, max_updates=10**8, progress=True)
    step, end = _model._progress(True)
    assert not step(False, 3, 10, 4096, 1.0, 0.05, 0.01, 1.0, None, float("nan"))
    end()
    assert "sampling" in capfd.readouterr().err


def test_order_of_tables():
    text = "BAYES 2 2 2 2 1 0 2 0 1 2 .25 .75 4 .5 .125 .5 .875"
    with pytest.raises(gb.Error, match="--table-order child-parents"):
        gb.loads(text, "uai", lenient=True)
    turned = gb.loads(text, "uai", table_order="child-parents")
    assert turned.query("1")["1"][0] == pytest.approx(0.25 * 0.5 + 0.75 * 0.125)
