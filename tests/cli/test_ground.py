# SPDX-License-Identifier: Apache-2.0
"""Markov logic: the model's answers against enumeration of all worlds, in Python; refusals."""
import csv
import itertools
import json
import math
import signal
import subprocess

import pytest
from conftest import HANGS_S, ROOT, program

PROGRAM = str(ROOT / "examples" / "smokers.mln")
DATABASE = str(ROOT / "examples" / "smokers.db")


def exact(run, model, name):
    done = run("marginals", model, "--method", "exact", "--query", name, "--format", "csv")
    assert done.status == 0, done.err
    return next(float(p) for variable, state, p, *_ in csv.reader(done.out.splitlines()) if state == "1")


def test_smokers(run, tmp_path):
    model = str(tmp_path / "s.gbm")
    done = run("ground", PROGRAM, DATABASE, "-o", model)
    assert done.status == 0 and done.out == ""
    assert "4 formulas, 4 facts" in done.err
    people = ["Anna", "Bob", "Carl"]
    friends = [(0, 1), (1, 0), (1, 2), (2, 1)]
    total, true = 0.0, [0.0] * 6
    for world in itertools.product([0, 1], repeat=6):
        smokes, cancer = world[:3], world[3:]
        weight = math.exp(sum(1.5 * (not s or c) - 0.7 * s for s, c in zip(smokes, cancer)) +
                          sum(1.1 * (smokes[x] == smokes[y]) for x, y in friends))
        total += weight
        true = [t + weight * holds for t, holds in zip(true, world)]
    for k, name in enumerate([f"Smokes({p})" for p in people] + [f"Cancer({p})" for p in people]):
        assert exact(run, model, name) == pytest.approx(true[k] / total, abs=1e-9)


def test_two_thirds(run, tmp_path):
    """One formula of weight ln 2: P = 2 / (2 + 1)."""
    program, database = tmp_path / "p.mln", tmp_path / "d.db"
    program.write_text(f"P(t)\nQ(t)\n{math.log(2)!r} P(x) ^ Q(x)\n")
    database.write_text("Q(A)\n")
    model = str(tmp_path / "p.gbm")
    assert run("ground", str(program), str(database), "-o", model).status == 0
    assert exact(run, model, "P(A)") == pytest.approx(2 / 3, abs=1e-12)


@pytest.mark.parametrize("program, database, where", [
    ("P(t)\n1 P(x) => Q(x)\n", "P(A)\n", "p.mln:2:11: found 'Q', expected a predicate"),
    ("P(t)\nP(x).\n", "!P(A)\n", "p.mln:2:1: found a formula that must hold but that the database violates"),
    ("P(t)\n1 P(x)\n", "P(A\n", "d.db:1:4: found the end of the line, expected ')'"),
    ("P(t)\n1 P(x)\n", "", "d.db:1:1: found the end of the file and no constant of type 't', expected facts that name one"),
    ("P(t)\nQ(u)\n1 P(x)\n", "// nothing\nQ(A)\n", "d.db:3:1: found the end of the file and no constant of type 't'"),
])
def test_bad_files(run, tmp_path, program, database, where):
    (tmp_path / "p.mln").write_text(program)
    (tmp_path / "d.db").write_text(database)
    out = tmp_path / "out.gbm"
    done = run("ground", str(tmp_path / "p.mln"), str(tmp_path / "d.db"), "--query-predicates", "P", "-o", str(out))
    assert done.status == 3 and where in done.err and not out.exists()


def test_similarity(run, tmp_path):
    """Two of the three words of either name are the same, one that all names have apart: weight 2."""
    (tmp_path / "p.mln").write_text("Title(t)\nSame(t, t)\nScore0(t, t)\nScore50(t, t)\nScore100(t, t)\n"
                                    "1 Score0(x,y) => Same(x,y)\n2 Score50(x,y) => Same(x,y)\n4 Score100(x,y) => Same(x,y)\n")
    (tmp_path / "d.db").write_text("Title(T_deep_learning_now)\nTitle(T_Deep_Learning)\nTitle(T_logic)\n")
    model = str(tmp_path / "m.gbm")
    done = run("ground", str(tmp_path / "p.mln"), str(tmp_path / "d.db"), "--query-predicates", "Same",
               "--similarity", "Score", "-o", model)
    assert done.status == 0 and "similarity: 9 facts from the words that two names share" in done.err
    name = "Same(T_Deep_Learning,T_deep_learning_now)"
    assert exact(run, model, name) == pytest.approx(1 / (1 + math.exp(-2)), abs=1e-9)
    done = run("marginals", model, "--query", f"{name},Same(T_logic,T_logic)", "--format", "csv")
    assert done.status == 0 and len(done.out.splitlines()) == 5
    done = run("ground", PROGRAM, DATABASE, "--similarity", "Friends", "-o", model)
    assert done.status == 3 and "similarity predicates 'Friends', expected a name" in done.err


def test_dense_zeros_are_not_tried_on_splashes(run, tmp_path):
    """Transitivity joins each of 400 atoms with 76 others: no splash holds them all, and none is tried."""
    (tmp_path / "p.mln").write_text("Item(t)\nSame(t, t)\n1 !Same(x,y)\n!Same(x,y) v !Same(y,z) v Same(x,z).\n")
    (tmp_path / "d.db").write_text("".join(f"Item(I{i})\n" for i in range(20)))
    model, summary = str(tmp_path / "m.gbm"), tmp_path / "s.json"
    assert run("ground", str(tmp_path / "p.mln"), str(tmp_path / "d.db"), "-o", model).status == 0
    done = run("marginals", model, "--method", "sample", "--sweeps", "64", "--summary", str(summary), "-v")
    assert done.status in (0, 4), done.err
    pilot = json.loads(summary.read_text())["pilot"]
    assert pilot["scan"] == "chromatic" and pilot["trials"] == [] and "densely" in pilot["reason"]


@pytest.mark.parametrize("program", ["P(t)\n1 P(A)\n", "t = {A, B}\nP(t)\n1 P(x)\n", "P(t)\nQ(u)\n1 P(x)\n1 Q(A)\n"])
def test_a_program_with_constants_needs_no_facts(run, tmp_path, program):
    (tmp_path / "p.mln").write_text(program)
    (tmp_path / "d.db").write_text("")
    model = str(tmp_path / "m.gbm")
    done = run("ground", str(tmp_path / "p.mln"), str(tmp_path / "d.db"), "-o", model)
    assert done.status == 0, done.err
    assert exact(run, model, "P(A)" if "P(A)" in program or "{" in program else "Q(A)") == pytest.approx(1 / (1 + math.exp(-1)))


def test_programs_of_others(run, tmp_path):
    """Stars, a range, a function, an expression as a weight, names and lines as Tuffy, Alchemy and ProbCog have them."""
    (tmp_path / "p.mln").write_text("day = {1,...,3}\n*Open(day)  /* closed, though\n the database has little of it */\n"
                                    "Rain(day)\nNear(name, town)\nday after(day)\n"
                                    "log(0.8/0.2) Rain(x) |\n  !Open(x)\n"
                                    "1 Rain(x) ^ Near(O'Hara, Baden-Baden) => Rain(after(x))\n")
    (tmp_path / "d.db").write_text("Open(2)\nafter(1) = 2\nafter(2) = 3\nafter(3) = 1\nRain(3)\nNear(O'Hara, Baden-Baden)\n")
    model = str(tmp_path / "m.gbm")
    done = run("ground", str(tmp_path / "p.mln"), str(tmp_path / "d.db"), "-o", model, "--query-predicates", "Rain")
    assert done.status == 0, done.err
    # 4 where it rains on day 2, which is open; e for 1 => 2, and e for 3 => 1, as it rains on day 3
    weight = {(a, b): 4 ** b * math.exp((not a or b) + a) for a in (0, 1) for b in (0, 1)}
    for name, k in (("Rain(1)", 0), ("Rain(2)", 1)):
        expected = sum(w for state, w in weight.items() if state[k]) / sum(weight.values())
        assert exact(run, model, name) == pytest.approx(expected, abs=1e-12)


def test_stars_say_what_is_open(run, tmp_path):
    """Of a predicate without '*' the database has a fact: its other atoms are open all the same."""
    (tmp_path / "p.mln").write_text("*Knows(t, t)\nTall(t)\n1 Knows(x, y) ^ Tall(x) => Tall(y)\n")
    (tmp_path / "d.db").write_text("Knows(A, B)\nTall(A)\n")
    model = str(tmp_path / "m.gbm")
    assert run("ground", str(tmp_path / "p.mln"), str(tmp_path / "d.db"), "-o", model).status == 0
    assert exact(run, model, "Tall(B)") == pytest.approx(1 / (1 + math.exp(-1)), abs=1e-12)


def test_a_formula_without_a_weight_is_learnt(run, tmp_path):
    (tmp_path / "p.mln").write_text("t = {A}\nP(t)\nP(x)\n")
    (tmp_path / "d.db").write_text("")
    model, learnt = str(tmp_path / "m.gbm"), str(tmp_path / "l.gbm")
    done = run("ground", str(tmp_path / "p.mln"), str(tmp_path / "d.db"), "-o", model)
    assert done.status == 0 and "warning: formulas with neither a weight nor a period: 1" in done.err
    assert exact(run, model, "P(A)") == 0.5
    (tmp_path / "rows.csv").write_text("P(A)\n1\n1\n1\n0\n")
    done = run("learn", "weights", model, str(tmp_path / "rows.csv"), "--l2", "0", "-o", learnt)
    assert done.status == 0, done.err
    assert exact(run, learnt, "P(A)") == pytest.approx(0.75, abs=1e-6)


def test_mistyped_atoms(run, tmp_path):
    model = str(tmp_path / "m.gbm")
    assert run("ground", PROGRAM, DATABASE, "-o", model).status == 0
    assert "did you mean Smokes(Anna)" in run("marginals", model, "--query", "Smokes").err
    (tmp_path / "p.mln").write_text("P(t, t)\n1 P(x,y)\n")
    (tmp_path / "d.db").write_text("!P(A, B)\n")
    assert run("ground", str(tmp_path / "p.mln"), str(tmp_path / "d.db"), "--query-predicates", "P", "-o", model).status == 0
    assert 'variable P(A,A) has no state "true"' in run("marginals", model, "-e", "P(A,A)=true").err


def test_wrong_use(run):
    assert run("ground", PROGRAM, DATABASE).status == 2
    assert run("ground", "-", "-", "--format", "uai").status == 2
    assert run("ground", PROGRAM, DATABASE, "--format", "uai", "--query-predicates", "Drinks").status == 3


@pytest.mark.parametrize("query, atoms", [
    ("Same(A, AB)", ["Same(A,AB)"]),
    ("Same(A,*)", ["Same(A,A)", "Same(A,B)", "Same(A,AB)"]),
    ("Same(*, A)", ["Same(A,A)", "Same(B,A)", "Same(AB,A)"]),
    ("Same(A*,B)", ["Same(A,B)", "Same(AB,B)"]),
    ("Same(A,B),Same(A,*)", ["Same(A,B)", "Same(A,A)", "Same(A,AB)"]),
    ("S*(B,*),Same(*B,*A)", ["Same(B,A)", "Same(B,B)", "Same(B,AB)", "Same(AB,A)"]),
])
def test_queries(run, tmp_path, query, atoms):
    """'*' stands for characters of one argument, and blanks behind commas do not count."""
    (tmp_path / "p.mln").write_text("T(t)\nSame(t, t)\n1 Same(x, y) => Same(y, x)\n")
    (tmp_path / "d.db").write_text("T(A)\nT(B)\nT(AB)\n")
    model = str(tmp_path / "m.gbm")
    assert run("ground", str(tmp_path / "p.mln"), str(tmp_path / "d.db"), "-o", model).status == 0
    done = run("marginals", model, "--query", query, "--format", "csv")
    assert done.status == 0, done.err
    assert sorted(v for v, a, *_ in csv.reader(done.out.splitlines()) if a == "1") == sorted(atoms)


def test_query_of_nothing(run, tmp_path):
    model = str(tmp_path / "s.gbm")
    assert run("ground", PROGRAM, DATABASE, "-o", model).status == 0
    done = run("marginals", model, "--query", "Smokes(*,Bob)")
    assert done.status == 2 and "--query Smokes(*,Bob): no variable has such a name" in done.err


def test_signal_while_writing(tmp_path):
    """Nobody reads on from the pipe, which holds less than the model: a signal ends the program all the same."""
    (tmp_path / "p.mln").write_text("Near(place, place)\n1.5 Near(x, y) ^ Near(y, z) => Near(x, z)\n")
    (tmp_path / "p.db").write_text("".join(f"// Near(P{i}, P{i})\nNear(P{i}, P{i})\n" for i in range(40)))
    process = subprocess.Popen([program(), "ground", "p.mln", "p.db", "--query-predicates", "Near", "--format", "mln"],
                               cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(HANGS_S) == 4
    assert b"stopped by a signal" in process.stderr.read()
    process.stdout.close()
    process.stderr.close()


@pytest.mark.parametrize("formulas, found", [
    ("1 Ill(A) v Ill(A)\n0.5 Ill(A)\n", '"Ill(B)"; did you mean Ill(A). A ground atom that is open but in no factor'),
    ("1 Q(x) v !Q(x)\n", '"Ill(B)": the model has no variables. A ground atom that is open but in no factor'),
])
def test_an_atom_in_no_factor(run, tmp_path, formulas, found):
    """It is no variable, and the message says what its probability is."""
    program, database, model = tmp_path / "p.mln", tmp_path / "d.db", str(tmp_path / "p.gbm")
    program.write_text("Ill(t)\nQ(t)\n" + formulas)
    database.write_text("Q(A)\nQ(B)\n")
    assert run("ground", str(program), str(database), "-o", model).status == 0
    done = run("marginals", model, "--query", "Ill(B)")
    assert done.status == 2 and found in done.err and "its probability is 1/2" in done.err, done.err
    assert "have no names" not in done.err
