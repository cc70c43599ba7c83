# SPDX-License-Identifier: Apache-2.0
"""Weighted model counting: logz of CNF files as counters write them, against counts by hand and of another counter."""
import itertools
import json
import math

import pytest

from conftest import DATA

CLAUSES = [[1, -2], [2, 3, 4], [-1, -4]]


def count(weight):
    """@param weight of each literal; 1 where there is none."""
    total = 0.0
    for state in itertools.product([False, True], repeat=4):
        if all(any((literal > 0) == state[abs(literal) - 1] for literal in clause) for clause in CLAUSES):
            total += math.prod(weight.get(v if state[v - 1] else -v, 1.0) for v in range(1, 5))
    return total


def log_z(run, path):
    done = run("logz", path, "--method", "exact", "--format", "json")
    assert done.status == 0, done.err
    return json.loads(done.out)["log_z"]


@pytest.mark.parametrize("lines, weight", [
    ("", {}),
    ("c p weight 2 0.75 0\nc p weight -2 0.25 0\nc p weight 4 3 0\n", {2: .75, -2: .25, 4: 3}),
    ("w 1 0.2\nw 2 -1\nw 3 0\nw 4 0.5\n", {1: .2, -1: .8, 3: 0, 4: .5, -4: .5}),
])
def test_counts(run, work, lines, weight):
    clauses = "".join(" ".join(map(str, c)) + " 0\n" for c in CLAUSES)
    (work / "c.cnf").write_text(f"c small\np cnf 4 3\n{lines}{clauses}%\n0\n\n")
    assert log_z(run, "c.cnf") == pytest.approx(math.log(count(weight)), abs=1e-12)
    done = run("convert", "c.cnf", "-o", "c.uai")
    assert done.status == 0
    assert log_z(run, "c.uai") == pytest.approx(math.log(count(weight)), abs=1e-12)


def test_projected_counts_are_refused(run, work):
    (work / "c.cnf").write_text("c t pmc\nc p show 1 2 0\np cnf 4 1\n1 -3 0\n")
    done = run("logz", "c.cnf", "-o", "c.PR")
    assert done.status == 3 and "c.cnf:2:1: found \"c p show\" with 2 of the 4 variables" in done.err
    assert not (work / "c.PR").exists()


@pytest.mark.skipif(not (DATA / "wmc").is_dir(), reason="the files published with Cachet are not there")
def test_published_counts(run):
    n = 0
    for entry in json.loads((DATA / "wmc" / "refs.json").read_text()):
        expected = entry["ln_wmc_sharpsat_td"]
        if entry["ln_wmc_gibbsite_exact"] is not None and expected is not None:
            found = log_z(run, DATA / "wmc" / f"{entry['name']}.cnf.gz")
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-12), entry["name"]
            n += 1
    assert n == 8
