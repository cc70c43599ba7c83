# SPDX-License-Identifier: Apache-2.0
"""fit: tables from a CSV file, refused where it is bad, written in any format of networks."""
import csv
import json
import math

import pytest
from conftest import SPRINKLER

TABLE = "grass,rain,sprinkler\nwet,yes,off\ndry,no,off\nwet,no,on\ndry,no,off\ndry,yes,off\n"


def fitted(path):
    """{(variable, state, parents): (probability, low, high, rows)}."""
    with open(path, newline="") as file:
        table = list(csv.reader(file))
    assert table[0] == ["variable", "state", "parents", "probability", "low", "high", "rows"]
    return {tuple(row[:3]): tuple(map(float, row[3:])) for row in table[1:]}


def test_counts(run, work):
    (work / "t.csv").write_text(TABLE)
    done = run("fit", SPRINKLER, "t.csv", "-o", "f.bif", "--intervals", "i.csv", "--summary", "s.json")
    assert done.status == 0 and done.out == "", done.err
    table = fitted(work / "i.csv")
    assert table["rain", "yes", ""][::3] == (0.4, 2)
    assert table["sprinkler", "on", "rain=no"][::3] == (1 / 3, 1)
    assert table["grass", "wet", "sprinkler=on rain=no"][::3] == (1, 1)
    assert table["grass", "wet", "sprinkler=on rain=yes"] == (0.99, 0, 1, 0)  # the network's own
    assert "1 of 7 columns of the tables is in no row: the network's own stay there" in done.err
    r = json.loads((work / "s.json").read_text())
    log_p = 2 * math.log(.4) + 3 * math.log(.6) + 2 * math.log(2 / 3) + math.log(1 / 3) + 2 * math.log(.5)
    assert abs(r["log_likelihood"] - log_p) < 1e-12 and r["rows"] == 5 and r["unseen_columns"] == 1
    assert abs(r["bic"] - (log_p - 7 / 2 * math.log(5))) < 1e-12 and r["converged"] is True
    z = 1.959963984540054  # Wilson's interval of 2 in 5
    half = z / (5 + z * z) * math.sqrt(2 * 3 / 5 + z * z / 4)
    assert abs(table["rain", "yes", ""][1] - ((2 + z * z / 2) / (5 + z * z) - half)) < 1e-9
    done = run("marginals", "f.bif", "--query", "rain")
    assert float(done.out.splitlines()[2].split(",")[2]) == 0.4


def test_weights(run, work):
    """A row of weight 3 is three rows; weights need not be whole; rows of weight 0 do not count."""
    rows = [("wet", "yes", 3), ("dry", "no", 2), ("wet", "", 1), ("", "no", 4)]
    (work / "long.csv").write_text("grass,rain\n" + "".join(f"{g},{r}\n" * n for g, r, n in rows))
    (work / "short.csv").write_text("grass,n,rain\n" + "".join(f"{g},{n},{r}\n" for g, r, n in rows) + "dry,0,yes\n")
    (work / "half.csv").write_text("n,grass,rain\n" + "".join(f"{n / 2},{g},{r}\n" for g, r, n in rows))
    answers = []
    for name, options in [("long", []), ("short", ["--weights", "n"]), ("half", ["--weights", "n"])]:
        done = run("fit", SPRINKLER, f"{name}.csv", *options, "-o", "f.bif", "--summary", "s.json", "--intervals", "i.csv")
        assert done.status == 0, done.err
        answers.append((fitted(work / "i.csv"), json.loads((work / "s.json").read_text())))
    (long, whole), (short, brief), (half, part) = answers
    assert whole["weight"] == whole["rows"] == brief["weight"] == 10 and brief["rows"] == 4 and part["weight"] == 5
    for key in long:
        assert all(abs(a - b) < 1e-9 for a, b in zip(long[key], short[key]))
        assert abs(long[key][0] - half[key][0]) < 1e-5 and abs(long[key][3] - 2 * half[key][3]) < 1e-4
    assert abs(whole["bic"] - brief["bic"]) < 1e-9
    assert "4 rows of weight 10" in run("fit", SPRINKLER, "short.csv", "--weights", "n").err
    for text, said in [("grass,n\nwet,-1\n", "t.csv:2:5"), ("grass,n\nwet,many\n", "expected a weight"),
                       ("grass,m\nwet,1\n", 'found no column "n"'), ("grass\nwet\n", 'found no column "n"'),
                       ("grass,n\nwet,0\n", "found no rows of a weight above 0"), ("grass,n\nwet\n", "expected 2")]:
        (work / "t.csv").write_text(text)
        done = run("fit", SPRINKLER, "t.csv", "--weights", "n")
        assert done.status == 3 and said in done.err, done.err


def test_format_of_the_network(run, work):
    """Where the name says none, and on standard output."""
    (work / "t.csv").write_text(TABLE)
    run("convert", SPRINKLER, "-o", "s.net")
    assert run("fit", SPRINKLER, "t.csv").out.startswith("network")
    assert run("fit", "s.net", "t.csv").out.startswith("net")
    assert run("fit", "s.net", "t.csv", "-o", "fitted").status == 0
    assert (work / "fitted").read_text() == run("fit", "s.net", "t.csv", "-o", "-").out
    text = (work / "s.net").read_text()
    assert run("fit", "-", "t.csv", "--from", "net", stdin=text).out == (work / "fitted").read_text()


def test_quotes_in_names(run, work):
    """Names with quotes and commas stay one field of the CSV."""
    run("convert", SPRINKLER, "-o", "s.xmlbif")
    text = (work / "s.xmlbif").read_text()
    (work / "q.xmlbif").write_text(text.replace(">rain<", '>5" of, rain<').replace(">no<", '>"no", none<'))
    (work / "t.csv").write_text('sprinkler,grass\non,wet\noff,dry\n')
    done = run("fit", "q.xmlbif", "t.csv", "-o", "f.xmlbif", "--intervals", "i.csv")
    assert done.status == 0, done.err
    table = fitted(work / "i.csv")
    assert ('5" of, rain', '"no", none', "") in table
    assert ("grass", "wet", 'sprinkler=on 5" of, rain="no", none') in table and len(table) == 14


def test_priors(run, work):
    (work / "t.csv").write_text(TABLE)
    for prior, alpha in [("bdeu:8", 8 / 4), ("dirichlet:0.5", 0.5)]:
        run("fit", SPRINKLER, "t.csv", "--prior", prior, "-o", "f.bif", "--intervals", "i.csv")
        table = fitted(work / "i.csv")
        assert abs(table["sprinkler", "on", "rain=no"][0] - (1 + alpha) / (3 + 2 * alpha)) < 1e-14
        assert abs(table["sprinkler", "on", "rain=yes"][0] - alpha / (2 + 2 * alpha)) < 1e-14
    run("fit", SPRINKLER, "t.csv", "--prior", "dirichlet:1", "--level", "0.5", "-o", "f.bif", "--intervals", "i.csv")
    _, low, high, _ = fitted(work / "i.csv")["grass", "wet", "sprinkler=on rain=no"]  # Beta(2, 1): x^2
    assert abs(low - math.sqrt(.25)) < 1e-9 and abs(high - math.sqrt(.75)) < 1e-9


def test_missing_values(run, work):
    """Half of the rows tell rain: EM puts its share in the others, in any order of columns and rows."""
    (work / "t.csv").write_text("rain\nyes\nNA\nno\n\nno\n\"\"\n")
    done = run("fit", SPRINKLER, "t.csv", "-o", "f.bif", "--intervals", "i.csv", "--summary", "s.json",
               "--tolerance", "1e-12")
    assert done.status == 0 and "6 rows have a missing value" in done.err, done.err
    assert "converged: the last one changed" in done.err
    assert abs(fitted(work / "i.csv")["rain", "yes", ""][0] - 1 / 3) < 1e-10
    r = json.loads((work / "s.json").read_text())
    assert abs(r["log_likelihood"] - (math.log(1 / 3) + 2 * math.log(2 / 3))) < 1e-10
    assert r["missing_values"] == 3 + 2 * 6 and r["iterations"] > 5


def test_held_out(run, work):
    rows = ["yes", "no", "no", "no", "no"] * 4
    (work / "t.csv").write_text("rain\n" + "\n".join(rows) + "\n")
    (work / "other.csv").write_text("rain\nyes\nno\n")
    for held_out, n, log_p in [("20%", 4, 4 * math.log(.75)), ("other.csv", 2, math.log(.2) + math.log(.8))]:
        done = run("fit", SPRINKLER, "t.csv", "--held-out", held_out, "--summary", "s.json", "-o", "f.bif",
                   "--tolerance", "1e-13")
        assert done.status == 0, done.err
        r = json.loads((work / "s.json").read_text())
        assert r["held_out_rows"] == n and r["rows"] == (16 if n == 4 else 20)
        assert abs(r["held_out_log_likelihood"] - log_p) < 1e-9  # every fifth row is out: all say no
    (work / "w.csv").write_text("rain,n\nyes,2\nno,1\nno,2\n")
    done = run("fit", SPRINKLER, "w.csv", "--held-out", "w.csv", "--weights", "n", "--format", "bif")
    assert f"3 rows held out: ln P = {2 * math.log(.4) + 3 * math.log(.6):.10g}"[:31] in done.err and "a unit of weight" in done.err
    (work / "t.csv").write_text("rain\nno\n")
    done = run("fit", SPRINKLER, "t.csv", "--held-out", "other.csv", "--format", "bif")
    assert "1 of them have probability 0" in done.err


def test_threads_and_standard_input(run, work):
    text = "grass,rain\n" + "wet,yes\ndry,\n,no\nNA,\nwet,no\n" * 40
    (work / "t.csv").write_text(text)
    out = {run("fit", SPRINKLER, "t.csv", "--format", "uai", "--threads", n).out for n in ("1", "2", "3")}
    out.add(run("fit", SPRINKLER, "-", "--format", "uai", stdin=text).out)
    assert len(out) == 1 and out.pop().startswith("BAYES")


@pytest.mark.parametrize("text, place, said", [
    ("grass,rian\nwet,yes\n", "t.csv:1:7", 'found \'rian\', expected a variable'),
    ("grass,rain\nwet,yes\nwet,maybe\n", "t.csv:3:5", 'found \'maybe\', expected a state'),
    ("grass,rain\nwet,yes\nwet\n", "t.csv:3:1", "found 1 field, expected 2"),
    ('grass,rain\nwet,"yes\n', "t.csv:2:5", "expected a quote that ends it"),
    ("grass,rain\n", "t.csv", "found no rows"),
    ("", "t.csv:1:1", "found an empty file"),
])
def test_bad_data(run, work, text, place, said):
    (work / "t.csv").write_text(text)
    done = run("fit", SPRINKLER, "t.csv", "-o", "f.bif")
    assert done.status == 3 and place in done.err and said in done.err, done.err
    assert not (work / "f.bif").exists()


def test_memory_is_predicted(run, work):
    run("generate", "bayes", "--variables", "150", "--parents", "5", "--states", "3:3", "--format", "uai", "-o", "n.uai")
    (work / "t.csv").write_text("0\n#0\n")
    done = run("fit", "n.uai", "t.csv", "-o", "f.uai", "--memory-limit", "200M", "--method", "exact")
    assert done.status == 1 and "MiB" in done.err and "junction tree" in done.err, done.err
    assert not (work / "f.uai").exists()


def test_sampled_expectations(run, work):
    text = "grass,rain,sprinkler\n" + "wet,yes,off\ndry,no,\n,no,off\nwet,,on\nwet,no,on\ndry,no,off\n" * 10
    (work / "t.csv").write_text(text)
    common = ["fit", SPRINKLER, "t.csv", "--prior", "dirichlet:1", "--summary", "s.json", "--intervals", "i.csv", "-o", "f.bif"]
    exact, e = (run(*common), json.loads((work / "s.json").read_text()))
    table = fitted(work / "i.csv")
    done, r = (run(*common, "--method", "sample", "--seed", "4"), json.loads((work / "s.json").read_text()))
    assert exact.status == done.status == 0, done.err
    assert "EM, with exact expectations" in exact.err and "EM, with sampled expectations" in done.err
    assert "seed 4" in done.err and "converged, to within the error" in done.err and " +- " in done.err
    assert (e["exact"], r["exact"]) == (1, 0) and 0 < r["error"] <= .01 and r["converged"]
    sampled = fitted(work / "i.csv")
    assert all(abs(sampled[key][0] - table[key][0]) < 6 * r["error"] for key in table)
    assert abs(r["log_likelihood"] - e["log_likelihood"]) < 5 * r["log_likelihood_error"] + .1
    assert run("fit", SPRINKLER, "t.csv", "--method", "mean-field").status == 2


def test_wrong_use(run, work):
    (work / "t.csv").write_text(TABLE)
    for arguments, said in [(["--prior", "bdeu"], "bdeu:ESS"), (["--prior", "bdeu:-1"], "above 0"),
                            (["--held-out", "120%"], "below 1"),
                            (["--method", "mean-field"], "expected auto|exact|sample"),
                            (["--tolerance", "2"], "--tolerance 2: must be at least 0 and at most 1 (X)"),
                            (["--method", "exact", "--sweeps", "9"], "--sweeps applies with --method auto|sample only"),
                            (["--method", "exact", "--target-error", "0.1"], "applies with --method auto|sample only")]:
        done = run("fit", SPRINKLER, "t.csv", *arguments, "-o", "f.bif")
        assert done.status == 2 and said in done.err, done.err
    done = run("fit", SPRINKLER, "-", "--held-out", "-", "-o", "f.bif")
    assert done.status == 2 and "standard input cannot be" in done.err
    done = run("fit", "examples/grid.uai", "t.csv", "-o", "f.uai")
    assert done.status == 3 and "no Bayesian network" in done.err, done.err
    (work / "zero.bif").write_text((work / SPRINKLER).read_text().replace("(off, no) 0.98, 0.02", "(off, no) 1, 0"))
    (work / "t.csv").write_text("grass,rain,sprinkler\nwet,no,off\nwet,yes,\n")
    assert run("fit", "zero.bif", "t.csv", "-o", "f.bif").status == 0  # the complete row is but counted
    (work / "t.csv").write_text("grass,rain\nwet,yes\n" "wet,no\n")
    (work / "zero.bif").write_text((work / "zero.bif").read_text().replace("(on, no) 0.1, 0.9", "(on, no) 1, 0"))
    done = run("fit", "zero.bif", "t.csv", "-o", "f2.bif")
    assert done.status == 1 and "row 2 has probability zero" in done.err, done.err
    assert not (work / "f2.bif").exists()
    assert run("fit", "zero.bif", "t.csv", "--prior", "bdeu:1", "-o", "f2.bif").status == 0
