# SPDX-License-Identifier: Apache-2.0
"""Tables in files are read as on the command line, and what was skipped is a warning."""
import math

import gibbsite as gb
import numpy as np
import pytest

NETWORK = """network n { }
variable tide { type discrete [ 2 ] { 0, 1 }; }
variable crab { type discrete [ 3 ] { none, few, many }; }
probability ( tide ) { table 0.5, 0.5; }
probability ( crab | tide ) { (0) 0.6, 0.2, 0.2; (1) 0.2, 0.2, 0.6; }
"""
ODD = '"";crab;"Tides seen";tide\n"1";"none";x;0.0\n\n"2";few;;NaN\n"3";many;y;TRUE\n'


def test_query_table_and_fit(tmp_path):
    m, path = gb.loads(NETWORK, "bif"), tmp_path / "t.csv"
    path.write_text(ODD)
    with pytest.warns(UserWarning) as told:
        found = m.query_table(path, "tide")
    assert found["tide"].shape == (3, 2) and found["tide"][0][0] == 1.0
    assert found["tide"][1][0] == pytest.approx(0.5)
    for said in ("the first column has no name", "left out: 'Tides seen'", "1 cell has no value: 1 NaN"):
        assert any(said in str(w.message) for w in told), said
    with pytest.warns(UserWarning, match="1 NaN"):
        fit = m.fit(path)
    assert fit.n_rows == 3
    with pytest.raises(gb.Error, match="t.csv:1:9: found 'Tides seen', expected a variable in every column"):
        m.query_table(path, strict=True)
    path.write_text("tide,crab\n0,2\n1,1\n")
    with pytest.raises(gb.Error, match="t.csv:2:3: found '2'.*--states numbers"):
        m.query_table(path)
    assert m.query_table(path, "crab", states="numbers")["crab"].tolist() == [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    with pytest.raises(ValueError, match="states"):
        m.query_table(path, states="letters")
    assert m.fit(path, states="numbers", weights=[1.0, 3.0]).weight == 4.0


def test_rows_of_sites(tmp_path):
    (tmp_path / "t.csv").write_text(";a;b\n" + "x;0.0;3\ny;1;False\n" * 20)
    with pytest.warns(UserWarning, match="the first column has no name"):
        assert gb.learn_potts(tmp_path / "t.csv").n_states == 4


def test_draws_with_chains(tmp_path):
    lines = [f"{c},{i},{'on' if c % 2 else 'off'},{math.sin(7 * i + c)!r}" for i in range(50) for c in range(1, 5)]
    (tmp_path / "d.csv").write_text(".chain,.iteration,lamp,x\n" + "\n".join(lines) + "\n")
    with pytest.warns(UserWarning, match="'lamp' holds labels"):
        found = gb.diagnose(tmp_path / "d.csv")
    assert list(found) == ["lamp", "x"] and (found.chains, found.draws) == (4, 50)
    assert math.isinf(found["lamp"]["rhat"]) and not found.converged
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(tmp_path / "d.csv", float_precision="round_trip").drop(columns="lamp").sample(frac=1.0, random_state=1)
    assert gb.diagnose(frame)["x"] == pytest.approx(found["x"], nan_ok=True)
    halves = [(tmp_path / f"{k}.csv") for k in range(2)]
    for k, path in enumerate(halves):
        path.write_text("x\n" + "\n".join(repr(float(x)) for x in np.arange(20) * (k + 1)) + "\n")
    with pytest.warns(gb.NotConverged):
        assert gb.diagnose(halves).chains == 2
