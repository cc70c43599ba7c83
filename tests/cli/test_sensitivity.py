# SPDX-License-Identifier: Apache-2.0
"""sensitivity: derivatives against finite differences of marginals of changed files, every format."""
import csv
import io
import itertools
import json
import math
import xml.etree.ElementTree

import pytest
from conftest import ROOT, SPRINKLER

GRID = ROOT / "examples" / "grid.uai"


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def posterior(run, model, *evidence):
    done = run("marginals", model, *evidence, "--query", "rain", "--format", "csv")
    return float(done.out.splitlines()[2].split(",")[2])


def test_a_changed_file(run, work):
    """P(rain) = 0.2 becomes 0.22: the file is changed, and p is what was promised."""
    done = run("sensitivity", SPRINKLER, "--query", "rain=yes", "-e", "grass=wet")
    assert done.status == 0, done.err
    row = next(r for r in rows(done.out) if (r["variable"], r["state"]) == ("rain", "yes"))
    assert (row["parameter"], row["given"], float(row["value"]), row["mcse"]) == ("probability", "", .2, "0")
    text = (work / SPRINKLER).read_text()
    assert text.count("0.8, 0.2") == 1
    p = {}
    for t in .2, .22, .18, .2 + 1e-6, .2 - 1e-6:
        (work / "m.bif").write_text(text.replace("0.8, 0.2", f"{1 - t!r}, {t!r}"))
        p[t] = posterior(run, "m.bif", "-e", "grass=wet")
    assert abs(float(row["p_at_1.1"]) - p[.22]) < 1e-12
    assert abs(float(row["p_at_0.9"]) - p[.18]) < 1e-12
    assert abs(float(row["derivative"]) - (p[.2 + 1e-6] - p[.2 - 1e-6]) / 2e-6) < 1e-6
    assert "P(rain=yes | grass=wet) = 0.35" in done.err
    mirror = next(r for r in rows(done.out) if (r["variable"], r["state"]) == ("rain", "no"))
    assert math.isclose(float(mirror["derivative"]), -float(row["derivative"]))


def test_reach(run, work):
    ask = ["sensitivity", SPRINKLER, "--query", "rain=yes", "-e", "grass=wet", "--reach", "0.5"]
    row = next(r for r in rows(run(*ask).out) if (r["variable"], r["state"]) == ("rain", "yes"))
    t = float(row["value_to_reach"])
    (work / "m.bif").write_text((work / SPRINKLER).read_text().replace("0.8, 0.2", f"{1 - t!r}, {t!r}"))
    assert abs(posterior(run, "m.bif", "-e", "grass=wet") - 0.5) < 1e-12
    table = run(*ask, "--format", "table", "--top", "1").out.splitlines()
    assert table[3].split() == ["derivative", "value", "needed", "parameter"]
    assert table[4].split() == ["+1.4222", "0.2000", f"{t:.4f}", "rain=yes"]
    assert json.loads(run(*ask, "--format", "json").out)["parameters"][1]["value_to_reach"] == t


def test_formats(run, work):
    ask = ["sensitivity", SPRINKLER, "--query", "rain=yes", "-e", "grass=wet"]
    everything = rows(run(*ask).out)
    assert len(everything) == 14
    top = rows(run(*ask, "--top", "3").out)
    largest = sorted({abs(float(r["derivative"])) for r in everything}, reverse=True)
    assert [abs(float(r["derivative"])) for r in top] == largest[:3]  # one of each column of two
    done = run(*ask, "--top", "3", "-o", "a.json")
    assert done.status == 0 and done.out == ""
    a = json.loads((work / "a.json").read_text())
    assert (a["schema"], a["variable"], a["state"], a["exact"]) == ("sensitivities/1", "rain", "yes", True)
    assert [r["derivative"] for r in a["parameters"]] == [float(r["derivative"]) for r in top]
    table = run(*ask, "--format", "table", "--top", "3").out.splitlines()
    assert table[:2] == ["P(rain=yes | grass=wet) = 0.35019", "3 of 14 parameters, largest derivatives first"]
    assert table[3].split() == ["derivative", "value", "at", "-10%", "at", "+10%", "parameter"]
    assert table[4].split() == ["+1.4222", "0.2000", "0.3212", "0.3781", "rain=yes"]
    assert len(table) == 7 and max(map(len, table)) < 80


def test_likelihoods_and_weights(run):
    done = run("sensitivity", SPRINKLER, "--query", "rain=yes", "--likelihood", "grass=wet:0.8|dry:0.2")
    row = [r for r in rows(done.out) if r["parameter"] == "log-likelihood"]
    assert [(r["variable"], r["state"], r["factor"]) for r in row] == [("grass", "dry", ""), ("grass", "wet", "")]
    assert math.isclose(math.exp(float(row[1]["value"])), .8)
    assert math.isclose(float(row[0]["derivative"]), -float(row[1]["derivative"]))
    done = run("sensitivity", GRID, "--query", "4=1", "-e", "0=1")
    assert {r["parameter"] for r in rows(done.out)} == {"log-weight"} and done.status == 0


def test_chart(run, work):
    ask = ["sensitivity", SPRINKLER, "--query", "rain=yes", "-e", "grass=wet", "--plot", "t.svg"]
    assert run(*ask, "--top", "4").status == 0
    root = xml.etree.ElementTree.parse(work / "t.svg").getroot()
    text = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert text[0] == "P(rain=yes | grass=wet) = 0.3502" and "sprinkler=on | rain=no" in text
    bars = [float(r.get("width")) for r in root.iter("{http://www.w3.org/2000/svg}rect")][3:]
    assert len(bars) == 8  # both sides of four
    whole = [a + b for a, b in zip(bars[::2], bars[1::2])]
    assert whole == sorted(whole, reverse=True) and min(whole) > 0
    assert run(*ask, "--top", "1").status == 0 and len((work / "t.svg").read_text()) > 1000


def test_labels_of_a_chart_are_distinct(run, work):
    """Names are so long that all labels are cut, and the states of the parents are in what is cut out."""
    names = [f"{'a_long_name_of_a_variable'}_{k}" for k in range(4)]
    variables = "".join(f"variable {name} {{ type discrete [ 2 ] {{ no, yes }}; }}\n" for name in names)
    columns = "".join(f"({', '.join(states)}) {0.1 + 0.1 * i}, {0.9 - 0.1 * i};\n"
                      for i, states in enumerate(itertools.product(["no", "yes"], repeat=3)))
    tables = "".join(f"probability ( {name} ) {{ table 0.4, 0.6; }}\n" for name in names[:3])
    (work / "long.bif").write_text("network long { }\n" + variables + tables +
                                   f"probability ( {names[3]} | {', '.join(names[:3])} ) {{ {columns} }}\n")
    done = run("sensitivity", "long.bif", "--query", f"{names[3]}=yes", "--plot", "t.svg", "-o", "t.csv")
    assert done.status == 0, done.err
    root = xml.etree.ElementTree.parse(work / "t.svg").getroot()
    labels = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text") if t.get("class") == "end" and "a_long" in t.text]
    assert len(labels) == len(set(labels)) >= 8 and max(map(len, labels)) < 70


@pytest.mark.parametrize("arguments, part", [
    (["--query", "rain=yes", "--plot", "t.png"], "expected a name that ends in .svg"),
    (["--query", "rain=yes", "--plot", "t.svg", "-o", "t.svg", "--format", "csv"], "name the same file"),
    ([], "--query is missing"),
    (["--query", "rain"], "expected a variable and one of its states"),
    (["--query", "=rain"], "expected a variable and one of its states"),
    (["--query", "snow=yes"], "snow"),
    (["--query", "rain=maybe"], 'no state "maybe"'),
    (["--query", "rain=yes", "--top", "0"], "--top"),
    (["--query", "rain=yes", "--reach", "0"], "--reach"),
    (["--query", "rain=yes", "--reach", "1.5"], "--reach"),
    (["--query", "rain=yes", "-o", "x.npz"], "does not write .npz files"),
    (["--query", "rain=yes", "--thin", "5"], "no option '--thin'"),
    (["--query", "rain=yes", "--method", "mean-field"], "takes method auto, exact or sample"),
    (["--query", "rain=yes", "--method", "exact", "--sweeps", "5"], "--sweeps cannot apply"),
])
def test_refusals(run, arguments, part):
    done = run("sensitivity", SPRINKLER, *arguments)
    assert done.status == 2 and done.out == "" and part in done.err


def test_samples(run):
    ask = ["sensitivity", SPRINKLER, "--query", "rain=yes", "-e", "grass=wet"]
    exact = rows(run(*ask).out)
    done = run(*ask, "--sweeps", "4000", "--seed", "3")
    assert done.status == 0 and "P(rain=yes | grass=wet) = 0.3" in done.err and " +- " in done.err
    for r, e in zip(rows(done.out), exact):
        mcse = float(r["mcse"])
        assert r["given"] == e["given"] and 0 < mcse < 0.1
        assert abs(float(r["derivative"]) - float(e["derivative"])) < 6 * mcse
    assert done.out == run(*ask, "--sweeps", "4000", "--seed", "3", "--threads", "1").out
    table = run(*ask, "--sweeps", "500", "--format", "table", "--top", "2").out.splitlines()
    assert table[3].split()[:3] == ["derivative", "error", "value"]


def test_impossible_and_too_large(run, work):
    run("generate", "ising", "--grid", "40x40", "--coupling", "0.4", "-o", "g.gbm")
    done = run("sensitivity", "g.gbm", "--query", "0=1", "--method", "exact", "--memory-limit", "256M")
    assert done.status == 1 and "exact inference" in done.err and done.out == ""
    done = run("sensitivity", SPRINKLER, "--query", "rain=yes", "-e", "rain=no", "-e", "rain=yes")
    assert done.status == 2 and "observed" in done.err
    done = run("sensitivity", SPRINKLER, "--query", "rain=yes", "-e", "rain=no")
    assert done.status == 0 and {r["derivative"] for r in rows(done.out)} == {"0"}
    done = run("sensitivity", SPRINKLER, "--query", "rain=yes", "-e", "rain=no", "--format", "table")
    assert done.out == "P(rain=yes | rain=no) = 0\nnone of 14 parameters moves it\n"
    done = run("sensitivity", SPRINKLER, "--query", "rain=yes", "--format", "table")  # the rest is barren
    assert "1 of 14 parameters" in done.out and "+1.0000  0.2000" in done.out


def test_findings_that_were_not_made(run, work):
    """Of 60 findings with 12 causes each only one was made: the others move nothing, and no tree could hold them."""
    n, lines = 40, []
    for f in range(60):
        causes = sorted({(7 * f + 5 * k * k + k) % n for k in range(12)})
        lines.append((causes, f))
    xml = "".join(f'<cpt id="c{i}"><state id="yes"/><state id="no"/><probabilities>0.1 0.9</probabilities></cpt>' for i in range(n))
    for causes, f in lines:
        xml += (f'<noisymax id="f{f}"><state id="yes"/><state id="no"/><parents>{" ".join(f"c{i}" for i in causes)}</parents>'
                f'<strengths>{"0 1 " * len(causes)}</strengths><parameters>{"0.7 0.3 0 1 " * len(causes)}0.01 0.99</parameters></noisymax>')
    (work / "b.xdsl").write_text(f'<smile version="1.0" id="b"><nodes>{xml}</nodes></smile>')
    causes = lines[0][0]
    done = run("sensitivity", "b.xdsl", "--query", f"c{causes[0]}=yes", "-e", "f0=yes", "--method", "exact", "--memory-limit", "256M")
    assert done.status == 0, done.err
    moved = {r["variable"] for r in rows(done.out) if float(r["derivative"]) != 0.0}
    assert moved == {f"c{i}" for i in causes} | {"f0"}
    quiet = 0.99 * 0.93 ** (len(causes) - 1)  # no effect without the first cause, each inhibited with probability 0.3
    p = 0.1 * (1 - 0.3 * quiet) / (1 - 0.93 * quiet)
    table = run("sensitivity", "b.xdsl", "--query", f"c{causes[0]}=yes", "-e", "f0=yes", "--format", "table").out
    assert table.startswith(f"P(c{causes[0]}=yes | f0=yes) = {p:.6g}\n")


def noisy_or(n, q):
    """GeNIe's file of n causes of one effect, inhibited with probability q each, without a leak."""
    cause = '<cpt id="c{}"><state id="yes"/><state id="no"/><probabilities>0.3 0.7</probabilities></cpt>'
    return (f'<smile version="1.0" id="n"><nodes>{"".join(cause.format(i) for i in range(n))}<noisymax id="e">'
            '<state id="yes"/><state id="no"/>'
            f'<parents>{" ".join(f"c{i}" for i in range(n))}</parents><strengths>{"0 1 " * n}</strengths>'
            f'<parameters>{f"{1 - q} {q} 0 1 " * n}0 1</parameters></noisymax></nodes></smile>')


def test_noisy_nodes(run, work):
    """P(no effect) = (0.3 q + 0.7)^n: dp / dq_i = -0.3 (0.3 q + 0.7)^(n - 1), and by the leak (0.3 q + 0.7)^n."""
    (work / "n.xdsl").write_text(noisy_or(200, 0.9))
    done = run("sensitivity", "n.xdsl", "--query", "e=yes")
    assert done.status == 0, done.err
    found = [r for r in rows(done.out) if r["parameter"] != "probability"]
    inhibited = [r for r in found if r["state"] == "yes"]
    assert len(inhibited) == 200 and len(found) == 401
    for r in inhibited:
        assert (r["parameter"], r["variable"][0], r["given"], float(r["value"])) == ("inhibition", "c", "e", .9)
        assert abs(float(r["derivative"]) + .3 * .97 ** 199) < 1e-12
        assert abs(float(r["p_at_0.9"]) - (1 - .97 ** 199 * (.3 * .81 + .7))) < 1e-12
    leak = next(r for r in found if r["parameter"] == "leak")
    assert (leak["variable"], leak["state"], float(leak["value"])) == ("e", "", 0)
    assert abs(float(leak["derivative"]) - .97 ** 200) < 1e-12
    table = run("sensitivity", "n.xdsl", "--query", "e=yes", "--format", "table", "--top", "1000").out
    assert "inhibition of c7=yes in e" in table and "leak of e" in table
    parameters = json.loads(run("sensitivity", "n.xdsl", "--query", "e=yes", "--format", "json").out)["parameters"]
    assert sum(p["parameter"] == "inhibition" for p in parameters) == 400
