# SPDX-License-Identifier: Apache-2.0
"""marginals --cases: a table of cases, a row of posteriors for each."""
import csv
import io
import math

import pytest
from conftest import SPRINKLER

TABLE = "grass,rain\nwet,yes\n,no\nwet,NA\n\"dry\",\n"


def rows(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def posterior(run, evidence, name):
    """P(name = second state) and ln P(evidence), by one run."""
    done = run("marginals", SPRINKLER, *(["-e", evidence] if evidence else []), "--query", name)
    said = [line for line in done.err.splitlines() if "ln P(evidence) = " in line]
    return float(rows(done.out)[2][2]), float(said[0].split()[-1]) if said else 0.0


def test_rows_are_runs(run, work):
    (work / "t.csv").write_text(TABLE)
    done = run("marginals", SPRINKLER, "--cases", "t.csv", "--query", "sprinkler")
    assert done.status == 0 and "4 cases, exact" in done.err, done.err
    table = rows(done.out)
    assert table[0] == ["case", "sprinkler=off", "sprinkler=on", "log_probability"]
    for row, evidence in zip(table[1:], ["grass=wet,rain=yes", "rain=no", "grass=wet", "grass=dry"]):
        p, log_p = posterior(run, evidence, "sprinkler")
        assert abs(float(row[2]) - p) < 1e-12 and abs(float(row[3]) - log_p) < 1e-9
    assert [row[0] for row in table[1:]] == ["0", "1", "2", "3"]


def test_draws_are_cases(run, work):
    """The CSV of `sample`: three columns more, states by number, variables without a name as x0, x1, ..."""
    for model, first in [(SPRINKLER, "rain"), ("examples/grid.uai", "0")]:
        done = run("sample", model, "--sweeps", "4", "--chains", "2", "-o", "d.csv")
        assert done.status == 0, done.err
        done = run("marginals", model, "--cases", "d.csv", "--query", first)
        assert done.status == 0 and "8 cases, exact" in done.err, done.err
        drawn = [row[3] for row in rows((work / "d.csv").read_text())[1:]]
        assert [row[1:3] for row in rows(done.out)[1:]] == [["1", "0"] if a == "0" else ["0", "1"] for a in drawn]
    assert run("sample", SPRINKLER, "--sweeps", "400", "-o", "d.csv").status == 0
    done = run("fit", SPRINKLER, "d.csv", "-o", "f.bif")
    assert done.status == 0 and "6400 rows" in done.err, done.err
    text = (work / "d.csv").read_text()
    for bad, place in [(text.replace("\n0,1,", "\n0,1,2,"), "d.csv:18:1: found more than 6"), (text[:-2] + "7\n", "d.csv:6401:"),
                       ("chain,draw,lp,wind\n", "d.csv:1:15"), ("chain,draw,lp,grain\n", "d.csv:1:15")]:
        (work / "d.csv").write_text(bad)
        done = run("fit", SPRINKLER, "d.csv", "-o", "g.bif")
        assert done.status == 3 and place in done.err, done.err


def test_on_top_of_evidence(run, work):
    (work / "t.csv").write_text("rain\nyes\nno\n\n")
    done = run("marginals", SPRINKLER, "-e", "grass=wet", "--cases", "t.csv", "--query", "grass,rain")
    assert done.status == 0, done.err
    table = rows(done.out)
    assert len(table) == 4  # the empty line of one column is a case
    p, _ = posterior(run, "grass=wet", "rain")
    assert abs(math.exp(float(table[1][5])) - p) < 1e-12  # P(rain=yes | grass=wet)
    assert abs(float(table[3][5])) < 1e-12 and abs(float(table[3][4]) - p) < 1e-12
    assert table[1][1:5] == ["0", "1", "0", "1"]


def test_impossible_cases_are_counted(run, work):
    (work / "t.csv").write_text("grass,rain\nwet,yes\ndry,yes\n")
    done = run("marginals", SPRINKLER, "-e", "grass=wet", "--cases", "t.csv", "--query", "sprinkler")
    assert done.status == 0 and "1 case is impossible" in done.err, done.err
    assert rows(done.out)[2] == ["1", "", "", "-inf"]


@pytest.mark.parametrize("text, place, said", [
    ("grass,rian\n", "1:7", "found 'rian', expected a variable"),
    ("id,wind\n1,yes\n", "1:1", 'there is no variable "id"; no other column is a variable'),
    ("grass,rain,grass\n", "1:12", "expected each variable in one column"),
    ("grass,rain\nwet,yes\nwet\n", "3:1", "found 1 field, expected 2"),
    ("grass,rain\nwet,yes,no\n", "2:1", "found more than 2 fields, expected 2"),
    ("grass,rain\nwet,yes\nwet,maybe\n", "3:5", 'found \'maybe\', expected a state'),
    ("grass,rain\nwet,0\n", "2:5", 'found \'0\', expected a state'),
    ('grass,rain\nwet,"yes\n\n', "2:5", "expected a quote that ends it"),
    ('grass,rain\n"wet"x,yes\n', "2:6", "found text behind a quote"),
    ('grass,"ra\nin"\n', "1:7", "expected a variable"),
    ("grass,rain\nwet,y\0s\n", "2:6", "found a NUL byte"),
    ('grass,rain\nwet,"y\0s"\n', "2:7", "found a NUL byte"),
    ("\x1f\x8b not text\n", None, "t.csv: "),
])
def test_refused_before_anything_is_written(run, work, text, place, said):
    (work / "t.csv").write_bytes(text.encode("latin-1"))
    done = run("marginals", SPRINKLER, "--cases", "t.csv", "-o", "out.csv")
    assert done.status == 3 and said in done.err, done.err
    assert place is None or f"t.csv:{place}: " in done.err, done.err
    assert not (work / "out.csv").exists()


def test_quotes_numbers_and_line_ends(run, work):
    (work / "plain.csv").write_text("grass,rain\nwet,yes\ndry,no\n")
    (work / "odd.csv").write_bytes(b'\xef\xbb\xbf" grass","rain"\r\n'.replace(b" ", b"") + b' wet ,#1\r\n"dry","no"')
    a = run("marginals", SPRINKLER, "--cases", "plain.csv")
    b = run("marginals", SPRINKLER, "--cases", "odd.csv")
    assert a.status == b.status == 0 and a.out == b.out, b.err


def test_names_that_need_quotes(run, work):
    """Names and labels with commas, quotes and lines, and a label NA."""
    (work / "odd.xml").write_text("""<?xml version="1.0"?><BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>a, "b"</NAME><OUTCOME>x,y</OUTCOME><OUTCOME>NA</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>c</NAME><OUTCOME>0</OUTCOME><OUTCOME>1</OUTCOME></VARIABLE>
<DEFINITION><FOR>a, "b"</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>c</FOR><GIVEN>a, "b"</GIVEN><TABLE>0.5 0.5 0.125 0.875</TABLE></DEFINITION>
</NETWORK></BIF>""")
    (work / "t.csv").write_text('"a, ""b"""\n"x,y"\nNA\n')
    done = run("marginals", "odd.xml", "--from", "xmlbif", "--cases", "t.csv")
    assert done.status == 0, done.err
    table = rows(done.out)
    assert table[0] == ["case", 'a, "b"=x,y', 'a, "b"=NA', "c=0", "c=1", "log_probability"]
    for row, known in zip(table[1:], [[1, 0, 0.5, 0.5], [0, 1, 0.125, 0.875]]):
        assert all(abs(float(p) - q) < 1e-12 for p, q in zip(row[1:5], known))
    assert abs(float(table[2][5]) - math.log(0.75)) < 1e-12


def test_standard_input_and_threads(run, work):
    text = "grass,rain\n" + "wet,yes\ndry,\n,no\n,\n" * 700
    (work / "t.csv").write_text(text)
    outputs = set()
    for threads in ("1", "2", "3"):
        done = run("marginals", SPRINKLER, "--cases", "t.csv", "--threads", threads)
        assert done.status == 0, done.err
        outputs.add(done.out)
    outputs.add(run("marginals", SPRINKLER, "--cases", "-", stdin=text).out)
    assert len(outputs) == 1 and len(rows(outputs.pop())) == 2801


def test_sampled(run, work):
    (work / "t.csv").write_text(TABLE)
    exact = rows(run("marginals", SPRINKLER, "--cases", "t.csv", "--query", "sprinkler").out)
    done = run("marginals", SPRINKLER, "--cases", "t.csv", "--query", "sprinkler", "--method", "sample", "--sweeps", "4000")
    assert done.status == 0 and "4 cases, each as" in done.err, done.err
    table = rows(done.out)
    assert table[0] == ["case", "sprinkler=off", "sprinkler=off mcse", "sprinkler=on", "sprinkler=on mcse",
                        "log_probability", "converged"]
    for row, known in zip(table[1:], exact[1:]):
        # what is left without barren variables may be one conditional, in float
        assert abs(float(row[3]) - float(known[2])) < 6 * float(row[4]) + 5e-7 and row[5] == "" and row[6] in "01"
    assert run("marginals", SPRINKLER, "--cases", "t.csv", "--query", "sprinkler", "--method", "sample", "--sweeps",
               "4000", "--threads", "3").out == done.out


def test_cases_too_short_for_errors_are_counted(run, work):
    """One warning counts the cases whose columns mcse are empty, and names the limit that ended their runs."""
    (work / "t.csv").write_text("grass\nwet\ndry\nNA\n")
    asked = ["marginals", SPRINKLER, "--cases", "t.csv", "--query", "rain", "--method", "sample"]
    for limit in "--max-updates", "--sweeps":
        done = run(*asked, limit, "3")
        table = rows(done.out)
        assert done.status == 0 and [row[2] for row in table[1:]] == [""] * 3, done.out
        assert done.err.count("warning: ") == 1, done.err
        assert "the runs of 3 cases ended before errors could be estimated: columns mcse are empty; " \
               f"use a larger {limit}\n" in done.err, done.err
    for answered in (run(*asked, "--sweeps", "4000"), run(*asked[:-2]), run(*asked[:-2], "--method", "mean-field")):
        assert "warning" not in answered.err, answered.err


def test_wrong_use(run, work):
    (work / "t.csv").write_text(TABLE)
    for arguments, said in [(["--format", "json"], "--format csv"), (["--summary", "s.json"], "leave it out"),
                            (["-o", "x.npz"], "--format csv"), (["--estimator", "traces"], "traces keeps no marginals")]:
        done = run("marginals", SPRINKLER, "--cases", "t.csv", *arguments)
        assert done.status == 2 and said in done.err, done.err
    done = run("marginals", SPRINKLER, "--cases", "none.csv")
    assert done.status == 3 and "none.csv: cannot be opened" in done.err
