# SPDX-License-Identifier: Apache-2.0
"""One reader of tables for fit, --cases and learn: the ordinary ways to write one small table give the same answers, or the reason why not."""
import csv
import gzip
import io
import math

import pytest

NETWORK = """network pond { }
variable frost { type discrete [ 2 ] { 0, 1 }; }
variable ice { type discrete [ 3 ] { none, thin, thick }; }
variable duck { type discrete [ 2 ] { False, True }; }
probability ( frost ) { table 0.5, 0.5; }
probability ( ice | frost ) { (0) 0.6, 0.2, 0.2; (1) 0.2, 0.2, 0.6; }
probability ( duck | ice ) { (none) 0.1, 0.9; (thin) 0.5, 0.5; (thick) 0.9, 0.1; }
"""
PLAIN = [("0", "none"), ("0", "thin"), ("1", "thick"), ("1", "thick"), ("1", "thin"), ("1", "none")]


def lines(rows, separator=",", head=("frost", "ice"), end="\n"):
    return "".join(separator.join(row) + end for row in [head, *rows])


def numbered(rows, first=0):
    return [(str(first + i), *row) for i, row in enumerate(rows)]


def with_gap(sign):
    """The first value of frost is missing, written so."""
    return lines([(sign, "none"), *PLAIN[1:]])


FULL = {
    "plain": lines(PLAIN),
    "index of pandas": lines(numbered(PLAIN), head=("", "frost", "ice")),
    "write.csv of R": lines([(f'"{n}"', f, f'"{i}"') for n, f, i in numbered(PLAIN, 1)], head=('""', '"frost"', '"ice"')),
    "write.table of R": lines([(f'"{n}"', f, f'"{i}"') for n, f, i in numbered(PLAIN, 1)], "\t", ('"frost"', '"ice"')),
    "decimals": lines([(f + ".0", i) for f, i in PLAIN]),
    "semicolons": lines(PLAIN, ";"),
    "tabs": lines(PLAIN, "\t"),
    "the first line of a spreadsheet": "sep=;\r\n" + lines(PLAIN, ";", end="\r\n"),
    "a mark of the byte order": "\ufeff" + lines(PLAIN, end="\r\n"),
    "blank lines": lines(PLAIN).replace("\n", "\n\n"),
    "quotes": lines([(f'"{f}"', f' "{i}" ') for f, i in PLAIN], head=('"frost"', '"ice"')),
    "truth": lines([("FALSE" if f == "0" else "True", i) for f, i in PLAIN]),
    "other columns": lines([(*row, "late, cold".join('""'), "7") for row in PLAIN], head=("frost", "ice", "note", "id")),
    "comments before the names": "# made by hand\n#\n\n# frost\n# cold, ice\n" + lines(PLAIN),
    "names behind a hash": "# of numpy.savetxt\n# " + lines(PLAIN),
    "names behind a hash alone": "#" + lines(PLAIN, " "),
    "a name that is a hash": lines(numbered(PLAIN), head=("#", "frost", "ice")),
    "a name that begins with a hash": lines(numbered(PLAIN), head=("#nr", "frost", "ice")),
    "write.table of R without quotes": lines(numbered(PLAIN, 1), " "),
    "ARFF": "% of Weka\n\n@relation 'a pond'\n@attribute nr numeric\n@ATTRIBUTE 'frost' {0, 1}\n"
            "@attribute ice\t{none,'thin',\"thick\"}\n@attribute note string\n\n@Data\n% rows\n"
            + "".join(f"{k}, {f},'{i}' ,'it\\'s, cold'\n" for k, (f, i) in enumerate(PLAIN)),
    "other order": lines([(i, f) for f, i in PLAIN], head=("ice", "frost")),
}
GAPS = ["", "NA", "N/A", "NaN", "nan", "<NA>", "None", "NULL", "null", "?", ".", "*", "-", '""']
ARFF = "@relation r\n@attribute frost {0,1}\n@attribute ice {none,thin,thick}\n@data\n"
REFUSED = [
    ("@relation r\n@attribute frost real\n@data\n0\n", "t.csv:2:12: found 'frost' without a list of values", "NumericToNominal"),
    ("@relation r\n@attribute frost {0,\n1}\n@data\n0\n", "t.csv:2:18: found a list of values that does not end", "'}'"),
    ("@relation r\n@attribute frost relational\n@data\n0\n", "t.csv:2:18: found 'relational'", "numeric, real"),
    ("@relation r\n@attributes frost {0,1}\n@data\n0\n", "t.csv:2:1: found '@attributes'", "expected @attribute or @data"),
    (ARFF + "{0 1, 1 thin}\n", "t.csv:5:1: found a sparse row", "SparseToNonSparse"),
    (ARFF + "0,hot\n", "t.csv:5:3: found 'hot'", "expected a state"),
    (ARFF + "0,'none\n", "t.csv:5:3: found the end of the line in a text", "expected '"),
    (ARFF + "0,none,{2}\n", "t.csv:5:8: found a weight of the row in braces", "--weights"),
    ("# frost, ice\n0 none\n", "t.csv:2:1:", "expected"),
    (lines(PLAIN, head=("Frost", "ice")), "t.csv:1:1: found 'Frost'", '"frost" is written nearly so'),
    (lines(PLAIN, head=("frost", "Ice_")), "t.csv:1:7: found 'Ice_'", '"ice" is written nearly so'),
    (lines(PLAIN, head=("frots", "ice")), "t.csv:1:1: found 'frots'", '"frost" is written nearly so'),
    (lines(PLAIN, head=("cold", "water")), "t.csv:1:1: found 'cold'", "no other column is a variable"),
    (lines(PLAIN[1:], head=PLAIN[0]), "t.csv:1:1: found '0'", "expected a variable"),
    (lines([("0", "0"), ("1", "2")]), "t.csv:2:3: found '0'", "add --states numbers"),
    (lines([("0", "none"), ("0.5", "thin")]), "t.csv:3:1: found '0.5'", "its states are 0, 1"),
    (lines([("0", "none", "1")]), "t.csv:2:1:", "expected 2 as in the header"),
    ("frost,ice,frost\n0,none,1\n", "t.csv:1:11:", "each variable in one column"),
]


@pytest.fixture
def pond(work):
    (work / "pond.bif").write_text(NETWORK)
    return work


def fitted(run, *options):
    done = run("fit", "pond.bif", "t.csv", "-o", "f.bif", "--intervals", "i.csv", *options)
    assert done.status == 0, done.err
    return done.err


def intervals(work):
    with open(work / "i.csv", encoding="utf-8") as file:
        return {(r["variable"], r["state"], r["parents"]): float(r["probability"]) for r in csv.DictReader(file)}


@pytest.mark.parametrize("name", FULL)
def test_one_table_in_many_forms(run, pond, name):
    (pond / "t.csv").write_bytes(FULL[name].encode())
    err = fitted(run)
    found = intervals(pond)
    assert abs(found["frost", "0", ""] - 1 / 3) < 1e-12 and abs(found["ice", "thick", "frost=1"] - 0.5) < 1e-12
    assert ("2 columns are no variable and left out: 'note', 'id'" in err) == (name == "other columns"), err
    assert ("the first column has no name" in err) == (name in ("index of pandas", "write.csv of R", "write.table of R", "write.table of R without quotes")), err
    done = run("marginals", "pond.bif", "--cases", "t.csv", "--query", "duck")
    assert done.status == 0, done.err
    p = [float(r["duck=True"]) for r in csv.DictReader(io.StringIO(done.out))]
    assert p == pytest.approx([{"none": .9, "thin": .5, "thick": .1}[i] for _, i in PLAIN])


@pytest.mark.parametrize("sign", GAPS)
def test_missing_values(run, pond, sign):
    (pond / "t.csv").write_text(with_gap(sign))
    assert f"1 cell has no value: 1 {sign.strip(chr(34)) or 'empty'}" in fitted(run)
    found = intervals(pond)
    (pond / "t.csv").write_text(with_gap("NA"))
    fitted(run)
    assert found == intervals(pond)


def test_signs_are_counted_apart_and_states_are_no_signs(run, pond):
    (pond / "t.csv").write_text("frost,ice,duck\nNA,none,\n?,thin,NA\n1,,False\n")
    assert "5 cells have no value: 2 empty, 2 NA, 1 ?" in fitted(run)
    (pond / "none.bif").write_text(NETWORK.replace("none", "None"))
    (pond / "t.csv").write_text("frost,ice\nNone,None\n1,None\n")
    done = run("marginals", "none.bif", "--cases", "t.csv", "--query", "duck")
    assert done.status == 0 and "1 cell has no value: 1 None" in done.err, done.err
    assert [r[2] for r in csv.reader(io.StringIO(done.out))][1:] == ["0.9", "0.9"]


@pytest.mark.parametrize("text, place, why", REFUSED)
@pytest.mark.parametrize("verb", ["fit", "marginals"])
def test_refused_with_the_place(run, pond, verb, text, place, why):
    (pond / "t.csv").write_text(text)
    table = ["t.csv"] if verb == "fit" else ["--cases", "t.csv"]
    done = run(verb, "pond.bif", *table, "-o", "out.csv" if verb == "marginals" else "out.bif")
    assert done.status == 3 and place in done.err and why in done.err, done.err
    assert not (pond / "out.csv").exists() and not (pond / "out.bif").exists()


def test_numbers_of_states(run, pond):
    (pond / "t.csv").write_text("frost,ice\n0,0\n0,1.0\nTrue,2\n1,2\n1,1\n1,0\n")
    fitted(run, "--states", "numbers")
    assert abs(intervals(pond)["ice", "thick", "frost=1"] - 0.5) < 1e-12
    (pond / "t.csv").write_text("frost,ice\n0,3\n")
    done = run("fit", "pond.bif", "t.csv", "-o", "f.bif", "--states", "numbers")
    assert done.status == 3 and "t.csv:2:3: found '3', expected the number of a state of variable ice, 0 to 2" in done.err
    assert run("marginals", "pond.bif", "--states", "numbers").status == 2  # there is no table


def test_strict(run, pond):
    (pond / "t.csv").write_text(FULL["other columns"])
    done = run("fit", "pond.bif", "t.csv", "-o", "f.bif", "--strict")
    assert done.status == 3 and "t.csv:1:11: found 'note'" in done.err and not (pond / "f.bif").exists(), done.err
    (pond / "t.csv").write_text(FULL["plain"])
    fitted(run, "--strict")


def test_packed(run, pond):
    (pond / "t.csv").write_bytes(gzip.compress(FULL["index of pandas"].encode()))
    fitted(run)
    assert abs(intervals(pond)["frost", "0", ""] - 1 / 3) < 1e-12
    (pond / "t.csv").write_bytes(gzip.compress(b"frost,ice\n0,none\n0,warm\n"))
    done = run("fit", "pond.bif", "t.csv")
    assert done.status == 3 and "t.csv:3:3: found 'warm'" in done.err, done.err


def test_weights_and_held_out_rows(run, pond):
    (pond / "t.csv").write_text("n;ice;frost\n2;none;0\n0,5;thin;1\n1.5;thick;1\n")
    assert "3 rows of weight 4" in fitted(run, "--weights", "n")
    (pond / "t.csv").write_text(FULL["plain"])
    (pond / "h.csv").write_text(FULL["index of pandas"])
    err = fitted(run, "--held-out", "h.csv", "--prior", "dirichlet:1")
    assert "h.csv: the first column has no name" in err and "6 rows held out" in err, err
    assert math.isfinite(intervals(pond)["duck", "True", "ice=none"])


def test_rows_of_sites(run, work):
    """The tables of learn potts and learn rbm are read alike."""
    rows = [(str(i % 2), str((i // 2) % 2)) for i in range(40)]
    (work / "t.csv").write_text(lines(rows, head=("a", "b")))
    (work / "u.csv").write_text(lines(numbered([(a + ".0", "True" if b == "1" else "False") for a, b in rows]), ";", ("", "a", "b")))
    learnt = []
    for name in ("t.csv", "u.csv"):
        done = run("learn", "rbm", name, "--hidden", "2", "--epochs", "2", "-o", "m.gbm")
        assert done.status == 0 and ("u.csv: the first column has no name" in done.err) == (name == "u.csv"), done.err
        learnt.append((work / "m.gbm").read_bytes())
    assert learnt[0] == learnt[1]
    for text, place in [("a,b\n0,NA\n", "t.csv:2:3: found 'NA', expected a state in every cell"),
                        ("0,1,1\n1,0,0\n", "t.csv:1:1: found '0', expected the name of a site")]:
        (work / "t.csv").write_text(text)
        done = run("learn", "rbm", "t.csv", "--hidden", "2", "-o", "n.gbm")
        assert done.status == 3 and place in done.err and not (work / "n.gbm").exists(), done.err


NUMBERED = """network n { }
variable x { type discrete [ 2 ] { no, yes }; }
variable u { type discrete [ 3 ] { 1, 2, 3 }; }
probability ( x ) { table 0.5 0.5; }
probability ( u ) { table 0.2 0.3 0.5; }
"""


def test_numbers_that_mean_two_things(run, work):
    """Labels 1, 2, 3 are not the numbers of their states: --states numbers is not advised, and warned of where it is typed."""
    (work / "mix.bif").write_text(NUMBERED)
    (work / "mix.csv").write_text("x,u\n0,1\n1,2\n")
    done = run("fit", "mix.bif", "mix.csv", "-o", "o.bif")
    assert done.status == 3 and "mix.csv:2:1: found '0'" in done.err and "--states numbers" not in done.err
    done = run("fit", "mix.bif", "mix.csv", "-o", "o.bif", "--states", "numbers")
    assert done.status == 0 and "labels of variable u are numbers, but not those of its states" in done.err
    (work / "one.csv").write_text("x\n0\n")
    (work / "one.bif").write_text("\n".join(line for line in NUMBERED.splitlines() if " u " not in line))
    assert "add --states numbers" in run("fit", "one.bif", "one.csv", "-o", "o.bif").err


def test_numbers_of_numpy(run, work):
    (work / "z.bif").write_text(NUMBERED)
    (work / "z.csv").write_text("x,u\nno,1.000000000000000000e+00\nyes,3e0\n")
    done = run("fit", "z.bif", "z.csv", "-o", "o.bif")
    assert done.status == 0 and "table 0.5, 0, 0.5" in (work / "o.bif").read_text()


def test_held_out_rows_that_cannot_be(run, work):
    (work / "z.bif").write_text(NUMBERED)
    (work / "z.csv").write_text("x,u\nno,1\nno,3\n")
    (work / "out.csv").write_text("x,u\nyes,1\n")
    done = run("fit", "z.bif", "z.csv", "--held-out", "out.csv", "-o", "o.bif")
    assert done.status == 0 and "1 row held out, all of probability 0: no row is left to judge by" in done.err


def test_results_do_not_replace_what_is_read(run, work):
    (work / "z.bif").write_text(NUMBERED)
    done = run("marginals", "z.bif", "-o", "z.bif")
    assert done.status == 2 and "would replace the file that is read" in done.err and (work / "z.bif").read_text() == NUMBERED
    assert run("marginals", "z.bif", "--checkpoint", "b.csv", "-o", "b.csv").status == 2
    assert run("convert", "z.bif", "-o", "z.bif").status == 0


def test_tables_of_r_without_quotes(run, pond):
    """write.table(quote=FALSE): the header lacks the column of row names, whatever separates."""
    for separator in (" ", "\t", ",", ";"):
        (pond / "t.csv").write_text(lines(numbered(PLAIN, 4), separator))
        assert "the first column has no name" in fitted(run)
        assert abs(intervals(pond)["ice", "thick", "frost=1"] - 0.5) < 1e-12
    (pond / "t.csv").write_text(lines(PLAIN, " "))
    assert "no name" not in fitted(run)
    (pond / "t.csv").write_text("frost ice\n1 0 none\n2 0 none\n3 1 rather thick\n")
    done = run("fit", "pond.bif", "t.csv")
    assert done.status == 3 and "t.csv:4:1: found more than 3 fields" in done.err, done.err


def test_draws_with_blanks_between(run, work):
    """As write.table() of R writes draws, with row names and without."""
    rows = [(str(k * 7 % 5), str(k * 3 % 11 / 4)) for k in range(60)]
    (work / "t.csv").write_text(lines(rows, " ", ("x", "y")))
    (work / "u.csv").write_text(lines(rows, ",", ("x", "y")))
    (work / "v.csv").write_text(lines(numbered(rows, 1), " ", ("x", "y")))
    plain, comma, named = (run("diagnose", f, "-o", "-") for f in ("t.csv", "u.csv", "v.csv"))
    assert plain.out == comma.out == named.out and plain.out.count("\n") > 2
    assert "the first column has no name" in named.err and "no name" not in plain.err
    (work / "t.csv").write_text("x y\n0.5 1\n0.7\n")
    done = run("diagnose", "t.csv")
    assert done.status == 3 and "t.csv:3:1: found 1 field, expected 2" in done.err
