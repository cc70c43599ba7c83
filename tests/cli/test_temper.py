# SPDX-License-Identifier: Apache-2.0
"""Draws of tempered runs as the program writes them."""
import csv
import io

import pytest

from conftest import SPRINKLER


def rows_of(done):
    return [line.split(",") for line in done.out.split("\n")[1:] if line]


def test_draws_are_those_of_ladders(run, work):
    command = ["sample", SPRINKLER, "--temper", "4", "--chains", "3", "--sweeps", "40", "--thin", "2",
               "--monitor", "rain,grass"]
    done = run(*command, "--threads", "1")
    assert done.status == 0, done.err
    assert "ladder of 4 temperatures" in done.err
    rows = rows_of(done)
    n = len(rows) // 3
    assert 10 <= n <= 20 and len(rows) == 3 * n
    assert [row[:2] for row in rows] == [[str(c), str(d)] for d in range(n) for c in range(3)]
    assert all(len(row) == 5 for row in rows)
    assert run(*command, "--threads", "2").out == done.out
    assert run(*command, "--format", "coda", "-o", "d", "--threads", "1").status == 0
    index = (work / "dindex.txt").read_text().split("\n")
    assert len([line for line in index if line]) > 0
    assert len(list(work.glob("dchain*.txt"))) == 3


def test_their_number_follows_the_temperatures(run, work):
    """32 levels in all: four ladders of eight."""
    assert run("sample", SPRINKLER, "--temper", "8", "--sweeps", "3", "--format", "coda", "-o",
               "d").status == 0
    assert len(list(work.glob("*chain*.txt"))) == 4


def test_a_default_that_is_typed_is_told(run):
    done = run("sample", SPRINKLER, "--temper", "8", "--chains", "16", "--sweeps", "3")
    assert done.status == 0 and "--chains 16 is the default" in done.err, done.err
    done = run("sample", SPRINKLER, "--temper", "8", "--chains", "15", "--sweeps", "3")
    assert done.status == 0 and "is the default" not in done.err, done.err


WIDE = """MARKOV
3
3 2 2
5
2 2 1
2 2 0
2 1 0
1 0
1 1
4
-393 -370 -445 73
6
-55 451 65 2 -315 126
6
-454 -42 -19 -350 -18 0
3
337 -235 -114
2
-47 -56
"""


def test_weights_hundreds_of_nats_apart_lead_to_no_wrong_mode(run, work):
    """ln Z is 29, of one state; the next has -228."""
    (work / "wide.LG").write_text(WIDE)
    done = run("logz", "wide.LG", "--method", "sample", "--seed", "1", "--target-error", "0.02", "--threads", "1")
    assert ": converged" in done.err, done.err
    assert abs(float(done.err.split("ln Z ")[1].split()[0]) - 29.0) < 0.03
    done = run("marginals", "wide.LG", "--method", "sample", "--temper", "16", "--seed", "1", "--threads", "1")
    assert "\n0,2,1," in done.out and "\n1,1,1," in done.out and "\n2,1,1," in done.out, done.out


RARE = """network r { }
variable a { type discrete [ 3 ] { x, y, z }; }
variable b { type discrete [ 3 ] { n, y, z }; }
probability ( a ) { table 0.5, 0.499999, 0.000001; }
probability ( b | a ) { (x) 0.3, 0.7, 0; (y) 0.6, 0.4, 0; (z) 0.5, 0.4, 0.1; }
"""


@pytest.mark.parametrize("options", [("--temper", "4"), ("--estimator", "count"), ()], ids=["ladders", "counts", "conditionals"])
def test_a_state_that_no_draw_met_has_an_error(run, work, options):
    """It may be rare; only what the evidence rules out is known to be never."""
    (work / "r.bif").write_text(RARE)
    for evidence, is_known in (((), False), (("-e", "a=x"), True)):
        done = run("marginals", "r.bif", "--method", "sample", "--sweeps", "300", "--seed", "1", *evidence, *options)
        rows = {(r["variable"], r["state"]): r for r in csv.DictReader(io.StringIO(done.out))}
        never = rows["b", "z"]
        assert float(never["probability"]) == 0 and (float(never["mcse"]) == 0) == is_known, done.out
        assert is_known or 1e-6 < float(never["mcse"]) < 1e-3
