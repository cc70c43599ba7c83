# SPDX-License-Identifier: Apache-2.0
"""Starts of chains under hard zeros: found by walks and by learnt clauses, or proved not to exist."""
import random

import pytest


def clauses(path, n, m, seed):
    rng = random.Random(seed)
    lines = [" ".join(str(v if rng.random() < 0.5 else -v) for v in rng.sample(range(1, n + 1), 3)) for _ in range(m)]
    path.write_text(f"p cnf {n} {m}\n" + "".join(line + " 0\n" for line in lines))


def holds(path, state):
    rows = [[int(word) for word in line.split()[:-1]] for line in path.read_text().splitlines()[1:]]
    return all(any((literal > 0) == (state[abs(literal) - 1] == 1) for literal in row) for row in rows)


def test_clauses_near_their_threshold(run, work):
    """Few states are left, and neither the search by assignment nor learnt clauses find one in short time."""
    clauses(work / "t.cnf", 150, 600, 1)
    done = run("sample", "t.cnf", "--method", "sample", "--sweeps", "2", "--chains", "4", "--format", "csv")
    rows = [[int(word) for word in line.split(",")] for line in done.out.splitlines()[1:]]
    assert len(rows) == 8, done.err
    assert all(holds(work / "t.cnf", row[-150:]) for row in rows)


def test_pigeons(run, work):
    """Seven pigeons and six holes: the proof needs the clause of each pigeon, and a clause of two for each pair and hole."""
    at = {(p, h): 6 * p + h + 1 for p in range(7) for h in range(6)}
    lines = [" ".join(str(at[p, h]) for h in range(6)) for p in range(7)]
    lines += [f"-{at[p, h]} -{at[q, h]}" for h in range(6) for p in range(7) for q in range(p)]
    (work / "p.cnf").write_text(f"p cnf 42 {len(lines)}\n" + "".join(line + " 0\n" for line in lines))
    done = run("marginals", "p.cnf", "--method", "sample")
    assert done.status == 1 and done.out == ""
    assert f"none exists: {len(lines)} factors contradict one another, and each of them is needed" in done.err, done.err


@pytest.mark.parametrize("verb", ["exact", "marginals", "map", "logz", "sample"])
def test_contradicting_clauses_are_named(run, work, verb):
    (work / "c.cnf").write_text("p cnf 4 6\n4 1 0\n1 2 0\n1 -2 0\n-1 3 0\n-1 -3 0\n3 4 0\n")
    done = run(verb, "c.cnf")
    assert done.status == 1 and done.out == "", done.err
    assert ("no state has positive weight: 4 factors contradict one another, and each of them is needed for the contradiction: "
            "factor 1 (0, 1), factor 2 (0, 1), factor 3 (0, 2), factor 4 (0, 2)") in done.err, done.err
