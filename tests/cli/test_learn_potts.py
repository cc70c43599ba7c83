# SPDX-License-Identifier: Apache-2.0
"""learn potts: a dense Potts model from an alignment or a table of states, and what is refused."""
import csv
import itertools
import json
import math
import random

import pytest
from conftest import ROOT

BARS = ROOT / "examples" / "bars.csv"
LETTERS = "-ACDEFGHIKLMNPQRSTVWY"
FASTA = ">a\nACDA\n>b\nACDW\n>c\nWC-A\n>d\nXYDA\n>e\nAYDA\n"


def tables_of(run, path):
    """Fields and couplings of a model, by its text in the UAI format."""
    words = run("convert", path, "--format", "uai").out.split()
    n = int(words[1])
    arity = [int(a) for a in words[2:2 + n]]
    at = 3 + n
    scopes = []
    for _ in range(int(words[2 + n])):
        k = int(words[at])
        scopes.append(tuple(int(v) for v in words[at + 1:at + 1 + k]))
        at += 1 + k
    tables = {}
    for scope in scopes:
        size = int(words[at])
        tables[scope] = [math.log(float(w)) for w in words[at + 1:at + 1 + size]]
        at += 1 + size
    return arity, tables


def objective(arity, tables, rows, l2):
    """ln PL of rows less the penalty, written anew."""
    q = arity[0]
    total = 0.0
    for x in rows:
        for i in range(len(arity)):
            f = list(tables[(i,)])
            for j in range(len(arity)):
                for a in range(q):
                    f[a] += 0 if i == j else tables[(i, j)][a * q + x[j]] if i < j else tables[(j, i)][x[j] * q + a]
            total += f[x[i]] - math.log(sum(map(math.exp, f)))
    return total, total - l2 / 2 * sum(w * w for t in tables.values() for w in t)


def rows_of(path):
    with open(path, newline="") as file:
        return [tuple(map(int, row)) for row in list(csv.reader(file))[1:]]


def test_a_maximum_in_the_zero_sum_gauge(run, work):
    done = run("learn", "potts", BARS, "--tolerance", "1e-13", "-o", "b.gbm", "--summary", "s.json")
    assert done.status == 0 and done.out == "" and "converged after" in done.err, done.err
    report = json.loads((work / "s.json").read_text())
    assert report["schema"] == "learn-potts/1" and report["converged"] and not report["stopped"]
    assert (report["rows"], report["sites"], report["states"], report["parameters"]) == (14, 9, 2, 9 * 2 + 36 * 4)
    arity, tables = tables_of(run, "b.gbm")
    assert arity == [2] * 9 and len(tables) == 9 + 36
    for scope, table in tables.items():
        assert sum(table) == pytest.approx(0, abs=1e-9)
        assert table[0] + table[1 if len(scope) == 2 else -1] == pytest.approx(0, abs=1e-9)
    rows = rows_of(BARS)
    log_pl, _ = objective(arity, tables, rows, 1.0)
    assert report["pseudo_log_likelihood"] == pytest.approx(log_pl, abs=1e-6)
    # with two states the penalty's minimum is in this gauge: a step along it lowers the objective
    best = objective(arity, tables, rows, 1.0)[1]
    for scope in [(0,), (4,), (0, 1), (3, 7)]:
        for step in (-0.01, 0.01):
            moved = dict(tables)
            sign = [1, -1] if len(scope) == 1 else [1, -1, -1, 1]
            moved[scope] = [w + step * s for w, s in zip(tables[scope], sign)]
            assert objective(arity, moved, rows, 1.0)[1] < best - 1e-6


def test_letters_of_proteins(run, work):
    (work / "a.fa").write_text(FASTA)
    done = run("learn", "potts", "a.fa", "--identity", "0.7", "-o", "a.gbm", "--summary", "s.json")
    assert done.status == 0 and "an alignment of protein: ACDEFG" in done.err and "1 other letter was read as a gap" in done.err, done.err
    report = json.loads((work / "s.json").read_text())
    # three of four sites are shared by a with b, a with e, and d with e
    assert report["effective_rows"] == pytest.approx(1 / 3 + 1 / 2 + 1 + 1 / 2 + 1 / 3)
    assert report["states"] == 21 and report["unknown_letters"] == 1
    answer = list(csv.DictReader(run("marginals", "a.gbm", "--query", "s2", "--method", "exact").out.splitlines()))
    assert [r["state"] for r in answer] == list(LETTERS)
    assert max(answer, key=lambda r: float(r["probability"]))["state"] == "C"


def test_letters_of_nucleic_acids(run, work):
    """RNA is told from DNA and from proteins; held-out rows have the alphabet of the others."""
    rows = ["GCAU-A", "GCGUNA", "ACGU-A", "GCAUCA", "UCAUCA"]
    (work / "a.fa").write_text("\n".join(f">{i}\n{row}" for i, row in enumerate(rows)))
    (work / "h.fa").write_text(">h\nACAC-A\n")
    done = run("learn", "potts", "a.fa", "--held-out", "h.fa", "-o", "a.gbm", "--summary", "s.json")
    assert done.status == 0 and "an alignment of RNA: ACGU" in done.err and "1 other letter was" in done.err, done.err
    report = json.loads((work / "s.json").read_text())
    assert report["states"] == 5 and report["unknown_letters"] == 1 and report["held_out_rows"] == 1
    answer = list(csv.DictReader(run("marginals", "a.gbm", "--query", "s1", "--method", "exact").out.splitlines()))
    assert [r["state"] for r in answer] == list("-ACGU")
    probability = {r["state"]: float(r["probability"]) for r in answer}
    assert probability["G"] > probability["U"] > 2 * probability["-"]
    done = run("learn", "potts", "a.fa", "--alphabet", "dna", "-o", "d.gbm")
    assert done.status == 0 and "an alignment of DNA: ACGT" in done.err
    done = run("learn", "potts", "a.fa", "--alphabet", "protein", "-o", "p.gbm", "--summary", "s.json")
    assert done.status == 0 and json.loads((work / "s.json").read_text())["unknown_letters"] == 6
    done = run("learn", "potts", "h.fa", "--alphabet", "amino", "-o", "n.gbm")
    assert done.status == 2 and "--alphabet" in done.err
    done = run("learn", "potts", BARS, "--alphabet", "rna", "-o", "n.gbm")
    assert done.status == 3 and "found a table of states" in done.err and not (work / "n.gbm").exists()


def test_letters_of_no_alphabet(run, work):
    """Sequences of selenoproteins, say: of 20 letters two are U."""
    (work / "a.fa").write_text(">a\nMKLVUPEWAF\n>b\nMKLIUPEWGF\n")
    done = run("learn", "potts", "a.fa", "-o", "a.gbm")
    assert done.status == 3 and "a.fa:2:5: found letters that proteins do not have, 10 % of all" in done.err, done.err
    assert not (work / "a.gbm").exists()
    assert run("learn", "potts", "a.fa", "--alphabet", "protein", "-o", "a.gbm").status == 0


def test_states_in_no_row(run, work):
    """States that count from 1, and one that nobody has."""
    (work / "d.csv").write_text("a,b\n1,2\n4,1\n2,2\n1,4\n")
    done = run("learn", "potts", "d.csv", "-o", "m.gbm", "--summary", "s.json")
    assert done.status == 0 and "warning: 2 of 5 states are in no row, such as 0" in done.err, done.err
    assert json.loads((work / "s.json").read_text())["unseen_states"] == 2
    assert "in no row" not in run("learn", "potts", BARS, "-o", "m.gbm").err


def test_each_site_alone(run, work):
    """Two ways to the same weights where there are many rows; their bits do not depend on threads."""
    rows = [x for x in itertools.product(range(3), repeat=3) for _ in range(20 + 30 * (x[0] == x[1]) + 9 * x[2])]
    (work / "d.csv").write_text("a,b,c\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    found = []
    for options in (["--method", "pl"], ["--method", "asymmetric"], ["--method", "asymmetric", "--threads", "3"]):
        done = run("learn", "potts", "d.csv", "--l2", "0.01", "--tolerance", "1e-12", *options, "-o", "m.gbm")
        assert done.status == 0 and "converged after" in done.err, done.err
        found.append(tables_of(run, "m.gbm")[1])
    assert found[1] == found[2]
    for scope, table in found[0].items():
        assert table == pytest.approx(found[1][scope], abs=0.02)
    assert found[1][(0, 1)][0] > 0.4


def test_held_out_rows(run, work):
    rows = rows_of(BARS)
    header = "a,b,c,d,e,f,g,h,i\n"
    for name, part in (("d.csv", rows[:9]), ("h.csv", rows[9:])):
        (work / name).write_text(header + "".join(",".join(map(str, r)) + "\n" for r in part))
    done = run("learn", "potts", "d.csv", "--held-out", "h.csv", "-o", "m.gbm", "--summary", "s.json")
    assert done.status == 0 and "5 rows held out" in done.err, done.err
    report = json.loads((work / "s.json").read_text())
    arity, tables = tables_of(run, "m.gbm")
    assert report["held_out_pseudo_log_likelihood"] == pytest.approx(objective(arity, tables, rows[9:], 1)[0], abs=1e-6)
    done = run("learn", "potts", BARS, "--held-out", "20%", "-o", "m.gbm", "--summary", "s.json")
    report = json.loads((work / "s.json").read_text())
    assert done.status == 0 and report["rows"] == 12 and report["held_out_rows"] == 2


def test_chains_reach_the_frequencies(run, work):
    """Every state twice and once in three rows: exact marginals of the result are those of the rows."""
    rows = [x for x in itertools.product(range(2), repeat=4) for _ in range(1 + 2 * x[0] + (x[0] == x[1]))]
    (work / "d.csv").write_text("a,b,c,d\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    done = run("learn", "potts", "d.csv", "--method", "pcd", "--l2", "1e-6", "-o", "m.gbm", "--summary", "s.json")
    assert done.status == 0 and "\ngibbsite: converged after 50 steps of 1000 chains: R-hat" in done.err, done.err
    report = json.loads((work / "s.json").read_text())
    assert report["steps"] == 50 and report["converged"] and 1 <= report["rhat"] <= 1.05 and report["misfit"] <= 0.25
    answer = list(csv.DictReader(run("marginals", "m.gbm", "--joint", "a,b").out.splitlines()))
    assert len(answer) == 4
    for row in answer:
        share = sum(r[0] == int(row["a"]) and r[1] == int(row["b"]) for r in rows) / len(rows)
        # a mean of 25 steps of 1000 chains each: standard error below 0.01
        assert float(row["probability"]) == pytest.approx(share, abs=0.02)


def test_sparse_couplings(run, work):
    """A chain of four sites: with a penalty on absolute couplings only neighbours are coupled."""
    rows = [x for x in itertools.product(range(3), repeat=4)
            for _ in range(2 * 4 ** sum(a == b for a, b in zip(x, x[1:])))]
    (work / "d.csv").write_text("a,b,c,d\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    done = run("learn", "potts", "d.csv", "--l1", "100", "--l2", "0.01", "-o", "m.gbm", "--summary", "s.json")
    assert done.status == 0 and "3 of 6 pairs of sites are coupled" in done.err, done.err
    report = json.loads((work / "s.json").read_text())
    assert report["coupled_pairs"] == 3 and report["l1"] == 100 and report["converged"]
    tables = tables_of(run, "m.gbm")[1]
    assert {s for s, t in tables.items() if len(s) == 2 and any(t)} == {(0, 1), (1, 2), (2, 3)}


def test_chains_that_disagree(run, work):
    """Nine sites that are nearly always equal: a chain stays where it began."""
    rows = [[(b + (b // 20 == i)) % 2 for i in range(9)] for b in range(400)]
    (work / "d.csv").write_text(",".join("abcdefghi") + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    done = run("learn", "potts", "d.csv", "--method", "pcd", "--chains", "200", "--steps", "40", "-o", "m.gbm",
               "--summary", "s.json")
    assert done.status == 0 and "not converged after 40 steps of 200 chains: R-hat" in done.err, done.err
    assert done.err.rstrip().split("\n")[1].endswith("in all") and "; try more --steps\n" in done.err, done.err
    report = json.loads((work / "s.json").read_text())
    assert not report["converged"] and (report["rhat"] is None or report["rhat"] > 1.2)  # None: not finite


def test_standard_errors(run, work):
    """Two sites of two states: those of log-odds ratios, and the same of each site alone."""
    counts = {(0, 0): 60, (0, 1): 30, (1, 0): 20, (1, 1): 90}
    rows = [x for x, n in counts.items() for _ in range(n)]
    (work / "d.csv").write_text("a,b\n" + "".join(f"{x},{y}\n" for x, y in rows))
    error = math.sqrt(sum(1 / n for n in counts.values()) / 16 * 200 / 198)
    for method in ("pl", "asymmetric"):
        done = run("learn", "potts", "d.csv", "--method", method, "--l2", "1e-6", "--tolerance", "1e-14",
                   "--intervals", "i.csv", "-o", "m.gbm", "--summary", "s.json")
        assert done.status == 0 and "errors" not in done.err, done.err
        found = list(csv.DictReader((work / "i.csv").read_text().splitlines()))
        assert [(r["site"], r["state"], r["other"], r["other_state"]) for r in found] == [
            ("a", "0", "", ""), ("a", "1", "", ""), ("b", "0", "", ""), ("b", "1", "", ""),
            *(("a", str(x), "b", str(y)) for x in range(2) for y in range(2))]
        assert all(float(r["error"]) == pytest.approx(error, rel=1e-3) for r in found)
        assert float(found[4]["value"]) == pytest.approx(math.log(60 * 90 / 600) / 4, rel=1e-3)
        assert json.loads((work / "s.json").read_text())["known_errors"] == 8


def test_standard_errors_by_probes(run, work):
    """128 probes, each error off by 6 %: within 4.5 of that of a matrix (2 of 300 000 for each of 8), and said so."""
    counts = {(0, 0): 60, (0, 1): 30, (1, 0): 20, (1, 1): 90}
    (work / "d.csv").write_text("a,b\n" + "".join(f"{x},{y}\n" * n for (x, y), n in counts.items()))
    error = math.sqrt(sum(1 / n for n in counts.values()) / 16 * 200 / 198)
    written = []
    for seed in ("1", "1", "2"):
        done = run("learn", "potts", "d.csv", "--l2", "1e-6", "--probes", "128", "--seed", seed, "--intervals", "i.csv",
                   "-o", "m.gbm", "--summary", "s.json")
        assert done.status == 0 and "estimates by 128 probes, each off by 6.2 % of itself" in done.err, done.err
        written.append((work / "i.csv").read_text())
        found = [float(r["error"]) for r in csv.DictReader(written[-1].splitlines())]
        assert all(abs(e / error - 1) < 4.5 / 16 for e in found), found
        assert json.loads((work / "s.json").read_text())["probes"] == 128
    assert written[0] == written[1] != written[2]


@pytest.mark.long
def test_more_parameters_than_a_matrix_has_room_for(run, work):
    """91 spins have 4186 free parameters together, 91 each alone; under so large a penalty products are few."""
    draw = random.Random(1)
    rows = [",".join(str(draw.randrange(2)) for _ in range(91)) for _ in range(94)]
    (work / "d.csv").write_text(",".join(f"x{i}" for i in range(91)) + "\n" + "\n".join(rows) + "\n")
    for method, n in (("pl", 32), ("asymmetric", 0)):
        done = run("learn", "potts", "d.csv", "--l2", "100000", "--method", method, "--intervals", "i.csv", "-o", "m.gbm",
                   "--summary", "s.json")
        assert done.status == 0 and ("probes" in done.err) == (n > 0), done.err
        report = json.loads((work / "s.json").read_text())
        assert report["probes"] == n and report["known_errors"] == report["parameters"] == 16562, report


@pytest.mark.parametrize("options, why", [
    (["--held-out", "0.4"], "rows of weight 9, expected more than the 9 free parameters of a site"),
    (["--method", "pcd", "--steps", "3"], "persistent chains"),
    (["--iterations", "1"], "has not converged"),
    (["--l1", "0.5"], "l1 holds at 0"),
])
def test_errors_that_are_not_known(run, work, options, why):
    done = run("learn", "potts", BARS, *options, "--intervals", "i.csv", "-o", "m.gbm")
    assert done.status == 0 and why in done.err, done.err
    found = list(csv.DictReader((work / "i.csv").read_text().splitlines()))
    assert len(found) == 162 and any(r["error"] == "" for r in found) and all(r["value"] for r in found)


def test_states_that_are_never_together(run, work):
    rows = [x for x in itertools.product(range(2), repeat=3) for _ in range(9 + x[0])]
    (work / "d.csv").write_text("a,b,c\n" + "".join(",".join(map(str, r)) + "\n" for r in rows if r[:2] != (1, 1)))
    done = run("learn", "potts", "d.csv", "--intervals", "i.csv", "-o", "m.gbm")
    assert done.status == 0 and "errors of 10 of 18 parameters are those of the rows; two sites have states" in done.err, done.err
    for row in csv.DictReader((work / "i.csv").read_text().splitlines()):
        assert row["from"] == ("penalty" if row["site"] != "c" and row["other"] != "c" else "rows") and 0 < float(row["error"]) < 1


def test_threads_change_no_bit(run):
    one, three = (run("learn", "potts", BARS, "--method", "pcd", "--chains", "50", "--steps", "9", "--threads", n,
                      "--format", "uai") for n in ("1", "3"))
    assert one.status == 0 and one.out == three.out and one.out.startswith("MARKOV")


@pytest.mark.parametrize("text, part", [
    (">a\nAC\n>b\nA\n", "d:4:1: found 1 site, expected 2"),
    (">a\nA#\n", "d:2:2: found '#', expected a letter"),
    ("a,b\n0,1\n0,b\n", "d:3:3: found 'b', expected a state"),
    ("a,b\n0\n", "d:2:1: found 1 field, expected 2"),
    ("a,b\n", "found no rows"),
    ("a,a\n0,1\n", "d:1:3: found 'a', expected a name that no column before has"),
])
def test_bad_rows(run, work, text, part):
    (work / "d").write_text(text)
    done = run("learn", "potts", "d", "-o", "out.gbm")
    assert done.status == 3 and part in done.err and not (work / "out.gbm").exists(), done.err


def test_held_out_rows_that_do_not_fit(run, work):
    (work / "d.csv").write_text("a,b\n0,1\n1,0\n")
    (work / "h.csv").write_text("a,b\n0,2\n")
    done = run("learn", "potts", "d.csv", "--held-out", "h.csv", "-o", "out.gbm")
    assert done.status == 3 and "h.csv: found 2 sites of 3 states" in done.err and not (work / "out.gbm").exists()


def test_a_share_of_few_rows(run, work):
    (work / "d.csv").write_text("a,b\n0,1\n1,0\n")
    for kind in (["potts"], ["rbm", "--hidden", "1"]):
        done = run("learn", *kind, "d.csv", "--held-out", "10%", "-o", "out.gbm")
        assert done.status == 3 and "d.csv: found 2 rows, of which --held-out 10% leaves none out" in done.err
        assert not (work / "out.gbm").exists()


def test_memory_is_predicted(run, work):
    (work / "d.csv").write_text(",".join(f"x{i}" for i in range(400)) + "\n" + ",".join(["20"] * 400) + "\n")
    done = run("learn", "potts", "d.csv", "--memory-limit", "1G", "-o", "out.gbm")
    assert done.status == 1 and "a dense Potts model" in done.err and "limit" in done.err, done.err
    assert not (work / "out.gbm").exists()


@pytest.mark.parametrize("arguments, part", [
    ([], "DATA is missing"),
    ([BARS, BARS], "unexpected"),
    ([BARS], "--format"),
    ([BARS, "--l2", "0", "-o", "x.gbm"], "--l2 0: must be at least 1e-300"),
    ([BARS, "--l1", "1", "--method", "pcd", "-o", "x.gbm"], "--l1 applies with --method pl only"),
    ([BARS, "--weights", "w", "-o", "x.gbm"], "no option '--weights'"),
    ([BARS, "--steps", "5", "-o", "x.gbm"], "--steps applies with --method pcd only"),
    ([BARS, "--seed", "5", "-o", "x.gbm"], "--seed applies with --method pcd or --probes only"),
    ([BARS, "--probes", "5", "-o", "x.gbm"], "--probes applies with --intervals only"),
    ([BARS, "--probes", "5", "--method", "pcd", "--intervals", "i.csv", "-o", "x.gbm"], "--probes applies with --method pl|asymmetric only"),
    ([BARS, "--checkpoint", "c", "-o", "x.gbm"], "--checkpoint applies with --method pcd only"),
    ([BARS, "--method", "pcd", "--checkpoint-every", "1", "-o", "x.gbm"], "applies with --checkpoint only"),
    ([BARS, "--method", "exact", "-o", "x.gbm"], "--method exact: expected pl|pcd|asymmetric"),
    ([BARS, "--identity", "1.5", "-o", "x.gbm"], "--identity"),
    (["-", "--held-out", "-", "-o", "x.gbm"], "standard input"),
    ([BARS, "-o", "no/such/folder/x.gbm"], "no/such/folder"),
])
def test_wrong_use(run, work, arguments, part):
    done = run("learn", "potts", *arguments)
    assert done.status in (1, 2) and done.out == "" and part in done.err, done.err
    assert done.status == 2 or "folder" in part


def test_stopped_before_chains_were_judged(run):
    """What is not known is not told: the first look at the chains is after a quarter of the steps."""
    done = run("learn", "potts", BARS, "--method", "pcd", "--steps", "2147483647", "--time", "1", "-o", "a.gbm")
    assert done.status == 4 and "nan" not in done.err
    assert "not converged after " in done.err and "the chains were not judged" in done.err


# ---- the curve --------------------------------------------------------------------------------------


def curve_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_curve(run, work):
    """A row for each iteration; the last one is the result, and nobody else sees a difference."""
    words = ["learn", "potts", BARS, "--held-out", "0.3", "--summary", "s.json"]
    assert run(*words, "-o", "a.gbm").status == 0
    done = run(*words, "-o", "b.gbm", "--curve", "c.csv")
    assert done.status == 0 and (work / "a.gbm").read_bytes() == (work / "b.gbm").read_bytes(), done.err
    report = json.loads((work / "s.json").read_text())
    rows = curve_of(work / "c.csv")
    assert list(rows[0]) == ["iteration", "objective", "gradient", "held_out"]
    assert [int(row["iteration"]) for row in rows] == list(range(1, report["iterations"] + 1))
    falls = [float(row["objective"]) for row in rows]
    assert falls == sorted(falls, reverse=True) and falls[-1] == report["objective"]
    assert float(rows[-1]["gradient"]) == report["gradient_norm"] < float(rows[0]["gradient"])
    assert float(rows[-1]["held_out"]) == pytest.approx(report["held_out_pseudo_log_likelihood"], rel=1e-9)
    done = run("learn", "potts", BARS, "--method", "asymmetric", "-o", "c.gbm", "--curve", "c.csv")
    assert done.status == 2 and "--curve applies with --method pl|pcd only" in done.err


def test_curve_of_chains(run, work):
    """A row for each step."""
    words = ["learn", "potts", BARS, "--method", "pcd", "--chains", "50"]
    done = run(*words, "--steps", "40", "-o", "a.gbm", "--curve", "a.csv", "--summary", "s.json")
    assert done.status == 0, done.err
    steps = json.loads((work / "s.json").read_text())["steps"]
    rows = curve_of(work / "a.csv")
    assert [int(row["iteration"]) for row in rows] == list(range(1, steps + 1))
    assert all(row["objective"] == row["held_out"] == "" and float(row["gradient"]) > 0 for row in rows)
    done = run(*words, "--steps", "40", "--held-out", "0.3", "-o", "b.gbm", "--curve", "b.csv")
    assert done.status == 0 and all(float(row["held_out"]) < 0 for row in curve_of(work / "b.csv"))
