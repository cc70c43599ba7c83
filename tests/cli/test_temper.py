# SPDX-License-Identifier: Apache-2.0
"""Draws of tempered runs as the program writes them."""
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
