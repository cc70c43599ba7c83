# SPDX-License-Identifier: Apache-2.0
"""What other programs write, at the door: orders of tables, rounding, NA, evidence in lines; and the list of formats."""
import json
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import man_lists

# Parents of 2 and 3 states, a child of 2; p(c = 0 | a, b) by hand.
OF_A, OF_B = [0.25, 0.75], [0.5, 0.25, 0.25]
P = [[0.125, 0.25, 0.375], [0.5, 0.625, 0.75]]
TRUTH = sum(OF_A[a] * OF_B[b] * P[a][b] for a in range(2) for b in range(3))
ORDERS = {"parents-child": [(a, b, c) for a in range(2) for b in range(3) for c in range(2)],
          "child-parents": [(a, b, c) for c in range(2) for a in range(2) for b in range(3)],
          "reversed-child": [(a, b, c) for b in range(3) for a in range(2) for c in range(2)],
          "child-reversed": [(a, b, c) for c in range(2) for b in range(3) for a in range(2)]}


def uai(order, names=("", "", "")):
    values = [P[a][b] if c == 0 else 1 - P[a][b] for a, b, c in ORDERS[order]]
    return "BAYES\n3\n2 3 2\n3\n1 0{}\n1 1{}\n3 0 1 2{}\n\n2\n.25 .75\n3\n.5 .25 .25\n12\n{}\n".format(
        *names, " ".join(map(str, values)))


def marginal(run, *arguments):
    """P(variable 2 = 0)"""
    done = run("marginals", *arguments, "--query", "2", "-q")
    assert done.status == 0, done.err
    return float(done.out.splitlines()[1].split(",")[2])


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_that_is_typed(run, work, order):
    (work / "m.uai").write_text(uai(order))
    assert marginal(run, "m.uai", "--table-order", order) == pytest.approx(TRUTH)
    done = run("convert", "m.uai", "--table-order", order, "-o", "m.bif")
    assert done.status == 0 and marginal(run, "m.bif") == pytest.approx(TRUTH)


def test_the_other_order_is_named(run, work):
    (work / "m.uai").write_text(uai("child-parents"))
    for more in ([], ["--lenient"], ["--normalize-cpts"]):
        done = run("marginals", "m.uai", *more, "-o", "m.csv")
        assert done.status == 3 and not (work / "m.csv").exists()
        assert "m.uai:13:1: " in done.err and "--table-order child-parents reads tables so" in done.err
        assert "--normalize-cpts" not in done.err and "--lenient" not in done.err
    assert run("info", "m.uai", "--table-order", "sideways").status == 2


def test_files_of_pyagrum(run, work):
    (work / "m.uai").write_text(uai("reversed-child", ["   # sky", "   # soil", "   # flood"]))
    assert marginal(run, "m.uai") == pytest.approx(TRUTH)
    done = run("info", "m.uai")
    assert done.err.count("warning") == 1 and "--table-order parents-child" in done.err
    (work / "m.uai").write_text(uai("parents-child", ["   # sky", "   # soil", "   # flood"]))
    assert marginal(run, "m.uai", "--table-order", "parents-child") == pytest.approx(TRUTH)
    assert "warning" not in run("info", "m.uai", "--table-order", "parents-child").err


def test_evidence_in_lines(run, work):
    (work / "m.uai").write_text(uai("parents-child"))
    (work / "seen.txt").write_text("# morning\n0 = 1\n1!=2\n")
    expected = (0.5 * P[1][0] + 0.25 * P[1][1]) / 0.75
    assert marginal(run, "m.uai", "-e", "seen.txt") == pytest.approx(expected)
    (work / "seen.txt").write_text("0 = 1\n\n7=0\n")
    done = run("marginals", "m.uai", "-e", "seen.txt")
    assert done.status == 3 and "seen.txt:3:1: variable 7" in done.err


def test_list(run):
    done = run("formats")
    lines = done.out.splitlines()
    found = json.loads(run("formats", "--json").out)
    assert done.status == 0 and done.err == "" and found["schema"] == "formats/1"
    for row, (name, endings, what, form, programs) in zip(found["formats"], man_lists.formats(), strict=True):
        every = [ending.removeprefix("<") for ending in endings]
        assert row == {"name": name, "what": what, "programs": programs,
                       "read": [] if form == "DRAWING" else every,
                       "written": [] if form in ("READING", "FILES") else [e for e in endings if e[0] != "<"]}
        at = next(i for i, line in enumerate(lines) if line.split()[0] == name)
        assert all(ending in lines[at] for ending in every)
        assert lines[at + 1:at + 3] == [f"    {what}", f"    from {programs}"]
    assert max(map(len, lines)) < 80 and not any(line.endswith(" ") for line in lines)


def test_list_into_a_file(run, work):
    assert run("formats", "-o", "list.txt").out == ""
    assert (work / "list.txt").read_text() == run("formats").out
    assert run("formats", "m.uai").status == 2


def by_returns(work, name, text):
    """Writes a file whose lines end in carriage returns alone, as old Macintosh programs wrote them."""
    (work / name).write_bytes(text.replace("\n", "\r").encode())
    return name


NETWORK = """// a comment
network x {
}
variable A {
  type discrete [ 2 ] { 0, 1 };
}
variable B.c {
  type discrete [ 2 ] { 0, 1 };
}
probability ( A ) { // another
  table 0.25, 0.75;
}
probability ( B.c | A ) {
  (0) 0.5, 0.5;
  (1) 0.125, 0.875;
}
"""


@pytest.mark.parametrize("name, text, arguments, out", [
    ("m.bif", NETWORK, ["marginals"], "B.c,0,0.21875"),
    ("m.uai", "# a comment\nMARKOV\n1\n2\n1\n1 0\n2\n.25 .75\n", ["marginals"], "0,0,0.25"),
    ("m.net", "% a comment\nnet { }\nnode A { states = (\"a\" \"b\"); }\npotential (A) { data = (.25 .75); }\n", ["marginals"], "A,a,0.25"),
    ("m.cnf", "c a comment\np cnf 2 2\n1 2 0\n-1 2 0\n", ["logz"], "PR\n0.30102"),
    ("m.coo", "# vartype=BINARY\n0 1 1.0\n", ["logz"], "PR\n"),
    ("d.csv", "A,B.c\n0,1\n1,1\n0,0\n", ["diagnose"], "B.c,"),
])
def test_lines_that_end_in_carriage_returns(run, work, name, text, arguments, out):
    done = run(*arguments, by_returns(work, name, text))
    assert done.status in (0, 5) and out in done.out, done.err
    (work / name).write_text(text)
    assert run(*arguments, name).out == done.out


def test_other_files_that_end_in_carriage_returns(run, work):
    """Evidence, tables of cases and results."""
    (work / "m.bif").write_text(NETWORK)
    for option, name, text in [("--evidence", "e.evid", "1 0 1\n"), ("--cases", "c.csv", "# cases\nA,B.c\n1,\n")]:
        (work / name).write_text(text)
        right = run("marginals", "m.bif", option, name)
        assert right.status == 0 and run("marginals", "m.bif", option, by_returns(work, name, text)).out == right.out
    done = run("compare", by_returns(work, "a.MAR", "MAR\n1 2 .25 .75\n"), by_returns(work, "b.MAR", "MAR\n1 2 .25 .75\n"))
    assert done.status == 0, done.err


def test_numbers_as_labels_with_a_point(run, work):
    """1.0 and 1e0 mean the label 1, as in tables."""
    (work / "m.bif").write_text(NETWORK)
    right = run("marginals", "m.bif", "-e", "B.c=1").out
    for typed in ["1.0", "1e0", "1.000"]:
        assert run("marginals", "m.bif", "-e", "B.c=" + typed).out == right
    for typed in ["2.0", "0.5"]:
        done = run("marginals", "m.bif", "-e", "B.c=" + typed)
        assert done.status == 2 and 'variable B.c has no state "' + typed[0] in done.err
