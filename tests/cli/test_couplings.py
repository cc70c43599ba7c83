# SPDX-License-Identifier: Apache-2.0
"""Couplings, graphs to colour and clauses, from the command line."""
import json
import math
import re

import pytest

MTX = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 0.5\n2 1 1\n3 2 -1\n"


def probabilities(run, *arguments):
    done = run("marginals", *arguments, "--method", "exact", "--format", "csv")
    assert done.status == 0, done.err
    rows = [line.split(",") for line in done.out.splitlines()[1:]]
    return {(row[0], row[1]): float(row[2]) for row in rows}


def test_conventions(run, work):
    (work / "m.mtx").write_text(MTX)
    physics = probabilities(run, "m.mtx")
    bqm = probabilities(run, "m.mtx", "--convention", "bqm")
    assert physics[("0", "1")] == pytest.approx(0.7310585786300049)  # 1 / (1 + e^-2h)
    assert bqm[("0", "0")] == pytest.approx(0.7310585786300049)
    assert physics[("1", "1")] > 0.5 and physics[("2", "1")] < 0.5
    done = run("convert", "m.mtx", "--format", "coo", "--write-convention", "physics")
    assert done.status == 0 and done.err == ""
    assert done.out == "# vartype=SPIN\n0 0 0.5\n0 1 1\n1 2 -1\n"
    cut = probabilities(run, "m.mtx", "--convention", "maxcut", "--diagonal", "ignore")
    assert set(cut.values()) == {0.5}


def test_info_echoes_the_convention(run, work):
    (work / "m.mtx").write_text(MTX)
    (work / "g.rud").write_text("2 1\n1 2 1\n")
    (work / "q.coo").write_text("# vartype=BINARY\n0 1 1\n")
    for file, arguments, expected in [("m.mtx", [], "physics"), ("g.rud", [], "maxcut"),
                                      ("q.coo", [], "bqm"),
                                      ("q.coo", ["--convention", "physics"], "physics"),
                                      ("g.rud", ["--from", "rud"], "maxcut")]:
        done = run("info", "-v", file, *arguments)
        assert re.search(rf"^sign of couplings +{expected}$", done.out, re.M)
        assert json.loads(run("info", file, *arguments, "--json").out)["convention"] == expected
    done = run("info", "-", "--from", "mtx", "--json", stdin=MTX)
    assert json.loads(done.out)["convention"] == "physics"
    (work / "m.uai").write_text("MARKOV 0 0")
    assert "sign" not in run("info", "m.uai").out + run("info", "-v", "m.uai").out
    assert json.loads(run("info", "m.uai", "--json").out)["convention"] is None


def test_vartypes_and_offsets(run, work):
    """What the file does not say is typed; ln Z is that of the energy E = 2 - x + 3 x y over bits, or over spins."""
    entries = "0 0 -1\n0 1 3\n"
    (work / "bare.coo").write_text(entries)
    done = run("logz", "bare.coo")
    assert done.status == 3 and "bare.coo:1:1: found an entry before a line '# vartype=SPIN'" in done.err
    assert "--vartype" in done.err
    for vartype, values in (("BINARY", (0, 1)), ("SPIN", (-1, 1))):
        wanted = math.log(sum(math.exp(-(2 - x + 3 * x * y)) for x in values for y in values))
        (work / "full.coo").write_text(f"# vartype={vartype}\n# offset=2\n{entries}")
        done = run("convert", "bare.coo", "--vartype", vartype, "--offset", "2", "--format", "coo")
        (work / "again.coo").write_text(done.out)
        assert done.err == "" and "# offset=" in done.out
        for words in (["full.coo"], ["bare.coo", "--vartype", vartype, "--offset", "2"], ["again.coo"]):
            assert json.loads(run("logz", *words, "--format", "json").out)["log_z"] == pytest.approx(wanted, abs=1e-12)
        done = run("logz", "full.coo", "--offset", "1")
        assert done.status == 3 and "full.coo:2:10: found another offset, expected that of --offset" in done.err
    assert run("logz", "bare.coo", "--vartype", "TERNARY").status == 2
    (work / "m.mtx").write_text(MTX)
    assert "does not apply to mtx files" in run("info", "m.mtx", "--vartype", "SPIN").err


def test_coloring(run, work):
    (work / "g.col").write_text("p edge 3 2\ne 1 2\ne 2 3\n")
    done = run("info", "g.col")
    assert done.status == 2
    assert "give --colors K" in done.err and done.err.count("\n") == 1
    p = probabilities(run, "g.col", "--colors", "3", "-e", "1=2")
    assert p[("0", "2")] == 0 and p[("0", "0")] == pytest.approx(0.5)
    done = run("convert", "g.col", "--colors", "3", "--format", "col")
    assert done.out == "p edge 3 2\ne 1 2\ne 2 3\n"
    assert "--colors 3" in done.err


def test_clauses(run, work):
    (work / "a.mln").write_text("// ground\n1.5 Smokes(A) v !Cancer(A)\nCancer(A).\n")
    p = probabilities(run, "a.mln")
    assert p[("Cancer(A)", "1")] == 1
    assert p[("Smokes(A)", "1")] == pytest.approx(0.8175744761936437)  # 1 / (1 + e^-1.5)
    half = probabilities(run, "a.mln", "--weight-scale", "2")
    assert half[("Smokes(A)", "1")] == pytest.approx(0.9525741268224334)  # 1 / (1 + e^-3)
    done = run("convert", "a.mln", "--format", "wcnf")
    assert done.out == "1.5 1 -2 0\nh 2 0\n"
    assert "lost the names of variables" in done.err


@pytest.mark.parametrize("arguments, part", [
    (["info", "examples/sprinkler.bif", "--convention", "bqm"], "does not apply to bif files"),
    (["info", "examples/sprinkler.bif", "--colors", "3"], "does not apply to bif files"),
    (["info", "m.mtx", "--weight-scale", "2"], "does not apply to mtx files"),
    (["convert", "m.mtx", "--format", "rud"], "holds a field, which rud files cannot hold"),
    (["convert", "m.mtx", "--format", "wcnf"], "is no clause, which wcnf files cannot hold"),
    (["convert", "m.mtx", "--format", "uai", "--write-convention", "bqm"], "does not apply to uai"),
    (["info", "m.mtx", "--convention", "cut"], "expected physics|bqm|maxcut"),
])
def test_refused(run, work, arguments, part):
    (work / "m.mtx").write_text(MTX)
    done = run(*arguments)
    assert done.status != 0 and done.out == ""
    assert part in done.err and done.err.count("\n") == 1


def test_maxcut_library(run, data):
    """Graphs of the Biq Mac library: what is read is what is there."""
    path = data("ising/maxcut/pm1s_80.5.mc")
    done = run("convert", path, "--from", "rud", "--format", "rud")
    assert done.status == 0 and done.err == ""

    def edges(text):
        rows = [line.split() for line in text.splitlines()[1:] if line.strip()]
        return {(*sorted((int(i), int(j))), float(w)) for i, j, w in rows}

    assert edges(done.out) == edges(path.read_text())


def test_lattice_is_no_rudy(run, work, data):
    """One number of spins, then a matrix from 0: refused with a place; a list once that line goes,
    and the energy of all spins up is the ground state of a ferromagnet."""
    path = data("ising/cool/ferro_10x10.latfile")
    for name in ("rud", "coo"):
        done = run("info", path, "--from", name)
        assert done.status != 0
        assert "ferro_10x10.latfile:1:4: found the end of the line" in done.err
    body = path.read_text().split("\n", 1)[1]
    (work / "f.coo").write_text("# vartype=SPIN\n" + body)
    done = run("info", "f.coo", "--convention", "physics")
    assert done.status == 0 and done.err == ""
    assert "(200 ising)" in done.out and "physics" in done.out


def test_first_order_networks_are_refused(run, data):
    path = data("mln/smokers/smoking.mln")
    done = run("info", path)
    assert done.status != 0
    assert "smoking.mln:4:17: found 'person)'" in done.err and "ground clause" in done.err


@pytest.mark.parametrize("offset", ["nan", "inf", "-inf", "much", "", "1e400", "1 2"])
def test_offsets_that_are_no_numbers(run, work, offset):
    (work / "a.coo").write_text("# vartype=SPIN\n0 1 -1\n")
    done = run("logz", "a.coo", f"--offset={offset}")
    assert done.status == 2 and done.out == "" and "--offset" in done.err
    twice = run("logz", "a.coo", "--offset", "1", "--offset", "1")
    assert twice.status == 2 and twice.out == "" and "--offset is given twice" in twice.err
