# SPDX-License-Identifier: Apache-2.0
"""learn: a model from labelled data, weights from cases, and what is refused."""
import csv
import itertools
import json
import math
import signal
import subprocess

import pytest
from conftest import ROOT, program, wait_for_file

TEMPLATES = ROOT / "examples" / "places.template"
DATA = ROOT / "examples" / "places.txt"
FRIENDS = ROOT / "examples" / "friends.gbm"
CASES = ROOT / "examples" / "friends.csv"


@pytest.mark.parametrize("style, first", [("crf++", "version: 100\n"), ("wapiti", "#mdl#2#")])
def test_what_is_learnt_labels(run, tmp_path, style, first):
    model = tmp_path / "model"
    done = run("learn", "crf", TEMPLATES, DATA, "--template-style", style, "-o", model, "--summary", tmp_path / "s.json")
    assert done.status == 0 and done.out == "" and "converged after" in done.err
    assert model.read_text().startswith(first)
    report = json.loads((tmp_path / "s.json").read_text())
    assert report["schema"] == "learn-crf/1" and report["converged"] and report["labels"] == 3
    assert report["log_likelihood"] < 0 < report["objective"]
    labelled = run("label", model, DATA, "--truth", "last", "--posterior", "best", "--summary", tmp_path / "l.json")
    assert "100.00 % of the labels are right" in labelled.err
    assert json.loads((tmp_path / "l.json").read_text())["log_probability"] == pytest.approx(report["log_likelihood"])


def test_threads_change_no_bit(run):
    one, three = (run("learn", "crf", TEMPLATES, DATA, "--threads", n) for n in ("1", "3"))
    assert one.status == 0 and one.out == three.out


def test_l1_leaves_out_features(run):
    few = run("learn", "crf", TEMPLATES, DATA, "--l1", "0.5", "--l2", "0")
    many = run("learn", "crf", TEMPLATES, DATA)
    assert few.status == 0 and 0 < few.out.count("\n") < many.out.count("\n") / 4


def test_standard_errors_of_chains(run, work):
    """A weight for each label of each word, held by l2 where the word is rare; others scatter more the fewer the tokens."""
    words = ["learn", "crf", "t", "d", "-o", "m", "--intervals", "i.csv", "--summary", "s.json"]
    (work / "t").write_text("U:%x[0,0]\nB\n")
    tokens = "".join("a X\na Y\nb X\nb Y\na X\n\n" for _ in range(40))
    (work / "d").write_text(tokens + ",\"c Y\n")
    written = []
    for threads in ("1", "3"):
        done = run(*words, "--threads", threads, "--probes", "50", "--seed", "4")
        assert done.status == 0 and "estimates by 50 probes, each off by 10 % of itself" in done.err, done.err
        written.append((work / "i.csv").read_text())
    assert written[0] == written[1]
    found = list(csv.DictReader(written[0].splitlines()))
    assert [(r["feature"], r["previous"], r["label"]) for r in found] == [
        ("U:a", "", "X"), ("U:a", "", "Y"), *(("B", a, b) for a in "XY" for b in "XY"), ("U:b", "", "X"), ("U:b", "", "Y"),
        ("U:,\"c", "", "X"), ("U:,\"c", "", "Y")]
    assert all(0.01 < float(r["error"]) < 1 for r in found) and float(found[6]["error"]) < float(found[-1]["error"])
    assert json.loads((work / "s.json").read_text())["probes"] == 50
    for options, why in ((["--l1", "0.5"], "l1 holds at 0"), (["--iterations", "1"], "has not converged")):
        done = run(*words, *options)
        assert done.status == 0 and why in done.err, done.err
        assert all(r["error"] == "" for r in csv.DictReader((work / "i.csv").read_text().splitlines()))
    assert run("learn", "crf", "t", "d", "--probes", "3").status == 2


def test_iterations_end_it(run):
    done = run("learn", "crf", TEMPLATES, DATA, "--iterations", "2")
    assert done.status == 0 and "not converged after 2 iterations" in done.err


@pytest.mark.parametrize("templates, data, part", [
    ("U%x[0,0]\nX\n", "a O\n", "t:2:1: found 'X', expected a template"),
    ("U%x[0,1]\n", "a O\n", "the templates name column 1"),
    ("U%x[0,0]\n", "a O\nb\n", "d:2:2: found 1 column, expected 2"),
    ("U%x[0,0]\n", "", "d:1:1: found no tokens"),
])
def test_bad_files(run, tmp_path, templates, data, part):
    (tmp_path / "t").write_text(templates)
    (tmp_path / "d").write_text(data)
    done = run("learn", "crf", tmp_path / "t", tmp_path / "d", "-o", tmp_path / "out")
    assert done.status == 3 and part in done.err and not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments, part", [
    (["crf", TEMPLATES], "is missing"),
    (["tree", TEMPLATES, DATA], "expected crf, weights, potts, rbm or aspects"),
    (["crf", "-", "-"], "standard input"),
    (["crf", TEMPLATES, DATA, "--l2", "0"], "without a penalty"),
    (["crf", TEMPLATES, DATA, "--least-count", "0"], "--least-count"),
    (["crf", TEMPLATES, DATA, "--probes", "5"], "--probes applies with --intervals only"),
    (["crf", TEMPLATES, DATA, "--objective", "pseudo", "--steps", "5"], "--steps applies with --objective auto|likelihood only"),
    (["crf", TEMPLATES, DATA, "--held-out", "20%"], "no option '--held-out'"),
    (["weights", FRIENDS, CASES, "--l1", "1", "--objective", "sampled"], "--l1 applies with --objective pseudo|likelihood only"),
    (["weights", FRIENDS, CASES, "--least-count", "2"], "no option '--least-count'"),
    (["weights", FRIENDS, CASES, "--threads", "2", "--objective", "likelihood"], "--threads applies with --objective pseudo|sampled only"),
    (["weights", FRIENDS, CASES, "--held-out", "120%"], "--held-out"),
    (["weights", FRIENDS, CASES, "--probes", "5"], "--probes applies with --intervals only"),
    (["weights", FRIENDS, CASES, "--probes", "5", "--intervals", "i.csv", "--objective", "sampled"],
     "--probes applies with --objective pseudo|likelihood only"),
    (["weights", FRIENDS, CASES, "--probes", "5", "--intervals", "i.csv", "--l1", "2"], "--probes applies with --l1 0 only"),
    (["weights", FRIENDS, CASES, "--seed", "5"], "--seed applies with --objective sampled or --probes only"),
    (["weights", FRIENDS, CASES, "-o", "x.nothing", "--format", "csv"], "csv"),
])
def test_wrong_use(run, arguments, part):
    done = run("learn", *arguments)
    assert done.status == 2 and done.out == "" and part in done.err


def pseudo_likelihood(weights, rows):
    """Of examples/friends.gbm, by its four kinds of factors; fixed numbers of the true weights made its rows."""
    def score(x):
        sign = [2 * a - 1 for a in x]
        pairs = sum(1 if x[a] == x[b] else -1 for a, b in ((0, 1), (1, 2)))
        harm = sum(not (x[v] and not x[v + 3]) for v in range(3))
        return (weights[0] * sum(sign[:3]) + weights[1] * pairs + weights[2] * harm + weights[3] * sum(sign[3:]))
    total = 0.0
    for x in rows:
        for v in range(6):
            flipped = (*x[:v], 1 - x[v], *x[v + 1:])
            total -= math.log1p(math.exp(score(flipped) - score(x)))
    return total


def rows_of(path):
    with open(path, newline="") as file:
        return [tuple(map(int, row)) for row in list(csv.reader(file))[1:]]


def weights_of(path):
    with open(path, newline="") as file:
        table = list(csv.reader(file))
    assert table[0] == ["weight", "value", "error"]
    return [float(row[1]) for row in table[1:]], [row[2] for row in table[1:]]


def test_weights_are_a_maximum(run, work):
    """By a pseudo-likelihood written anew; the true weights are within three errors."""
    done = run("learn", "weights", FRIENDS, CASES, "--l2", "0", "-o", "f.gbm", "--intervals", "w.csv", "--summary", "s.json")
    assert done.status == 0 and done.out == "" and "converged after" in done.err, done.err
    w, errors = weights_of(work / "w.csv")
    rows = rows_of(CASES)
    most = pseudo_likelihood(w, rows)
    report = json.loads((work / "s.json").read_text())
    assert report["schema"] == "learn-weights/1" and report["converged"] and report["errors_known"]
    assert report["rows"] == 150 and report["pseudo_log_likelihood"] == pytest.approx(most, abs=1e-9)
    for k, step in itertools.product(range(4), (-0.01, 0.01)):
        assert pseudo_likelihood([a + step * (j == k) for j, a in enumerate(w)], rows) < most - 1e-5
    for found, error, true in zip(w, errors, (-0.3, 0.4, 0.8, -0.5)):
        assert 0.02 < float(error) < 0.5 and abs(found - true) < 3 * float(error)
    again = run("learn", "weights", "f.gbm", CASES, "--l2", "0", "--format", "gbm", "-o", "g.gbm")
    assert "converged after 1 step" in again.err, again.err


def test_standard_errors_by_probes(run, work):
    """128 probes, each error off by 6 %: within 4.5 of that of a matrix (2 of 300 000 for each of 4), and said so."""
    words = ["learn", "weights", FRIENDS, CASES, "--l2", "0", "-o", "f.gbm", "--intervals", "w.csv", "--summary", "s.json"]
    assert run(*words).status == 0
    expected = [float(e) for e in weights_of(work / "w.csv")[1]]
    done = run(*words, "--probes", "128", "--seed", "3")
    assert done.status == 0 and "estimates by 128 probes, each off by 6.2 % of itself" in done.err, done.err
    for found, error in zip(weights_of(work / "w.csv")[1], expected):
        assert abs(float(found) / error - 1) < 4.5 / 16
    assert json.loads((work / "s.json").read_text())["probes"] == 128


def test_weights_of_rows_and_held_out(run, work):
    rows = rows_of(CASES)
    header = "0,1,2,3,4,5,n\n"
    (work / "w.csv").write_text(header + "".join(",".join(map(str, (*r, 2))) + "\n" for r in rows))
    (work / "d.csv").write_text(header[:-3] + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows * 2))
    found = []
    for data, more in (("w.csv", ["--weights", "n"]), ("d.csv", [])):
        done = run("learn", "weights", FRIENDS, data, *more, "-o", "f.gbm", "--intervals", "i.csv")
        assert done.status == 0, done.err
        found.append(weights_of(work / "i.csv"))
    for one, two in zip(*([*w, *map(float, e)] for w, e in found)):
        assert one == pytest.approx(two, abs=1e-9)
    done = run("learn", "weights", FRIENDS, CASES, "--held-out", "20%", "-o", "f.gbm", "--intervals", "i.csv",
               "--summary", "s.json")
    assert done.status == 0 and "30 rows held out" in done.err
    report = json.loads((work / "s.json").read_text())
    w, _ = weights_of(work / "i.csv")
    assert report["rows"] == 120 and report["held_out_rows"] == 30
    whole = report["pseudo_log_likelihood"] + report["held_out_pseudo_log_likelihood"]
    assert whole == pytest.approx(pseudo_likelihood(w, rows), abs=1e-9)


@pytest.mark.parametrize("more", [[], ["--objective", "sampled", "--chains", "20", "--steps", "60"]])
def test_threads_change_no_bit_of_weights(run, tmp_path, more):
    for n in ("1", "2", "3"):
        done = run("learn", "weights", FRIENDS, CASES, "--threads", n, *more, "--intervals", tmp_path / n, "-o", tmp_path / f"{n}.gbm")
        assert done.status == 0
    for n in ("2", "3"):
        assert (tmp_path / n).read_bytes() == (tmp_path / "1").read_bytes()
        assert (tmp_path / f"{n}.gbm").read_bytes() == (tmp_path / "1.gbm").read_bytes()


def test_one_row_has_no_error(run, work):
    (work / "d.csv").write_text("0,1,2,3,4,5\n0,1,0,0,1,1\n")
    done = run("learn", "weights", FRIENDS, "d.csv", "-o", "f.gbm", "--intervals", "w.csv")
    assert done.status == 0 and "errors are not known" in done.err and weights_of(work / "w.csv")[1] == [""] * 4


@pytest.mark.parametrize("text, part", [
    ("0,1,2,3,4,5\n0,1,0,0,,1\n", "d.csv:2:9: found no value"),
    ("0,1,2,3,4,5\n0,1,0,0,2,1\n", "d.csv:2:9: found '2'"),
    ("0,1,2,3,4\n0,1,0,0,1\n", "d.csv:1:1: found no column of variable 5"),
    ("0,1,2,3,4,5\n", "found no rows"),
    ("0,1,2,3,4,5\n0,1\n", "d.csv:2"),
])
def test_bad_cases(run, work, text, part):
    (work / "d.csv").write_text(text)
    done = run("learn", "weights", FRIENDS, "d.csv", "-o", "out.gbm")
    assert done.status == 3 and part in done.err and not (work / "out.gbm").exists(), done.err


def test_a_model_without_ties(run, work):
    done = run("learn", "weights", ROOT / "examples" / "grid.uai", CASES, "-o", "out.gbm")
    assert done.status == 3 and "found no tied weights" in done.err and not (work / "out.gbm").exists()


# ---- the likelihood ---------------------------------------------------------------------------------


def learnt_of(path):
    with path.open() as file:
        return [(float(row["value"]), float(row["error"] or "nan")) for row in csv.DictReader(file)]


def test_likelihood_of_weights(run, tmp_path):
    """Near the pseudo-likelihood's weights on complete rows, with errors that are not larger; rows may lack values."""
    for objective in ("likelihood", "pseudo"):
        done = run("learn", "weights", FRIENDS, CASES, "--objective", objective, "--l2", "0", "--intervals",
                   tmp_path / f"{objective}.csv", "--summary", tmp_path / f"{objective}.json", "-o", tmp_path / "m.gbm")
        assert done.status == 0 and "converged after" in done.err
    exact, pseudo = (learnt_of(tmp_path / f"{objective}.csv") for objective in ("likelihood", "pseudo"))
    assert len(exact) == len(pseudo) > 0
    for (a, error), (b, other) in zip(exact, pseudo):
        assert abs(a - b) <= 2 * (error + other)
    report = json.loads((tmp_path / "likelihood.json").read_text())
    assert report["log_likelihood"] < 0 and report["errors_known"] and "pseudo_log_likelihood" not in report

    lines = CASES.read_text().splitlines()
    holes = [lines[0]] + [",".join("" if (i + k) % 7 == 0 else x for k, x in enumerate(line.split(",")))
                          for i, line in enumerate(lines[1:])]
    (tmp_path / "holes.csv").write_text("\n".join([*holes, ""]))
    refused = run("learn", "weights", FRIENDS, tmp_path / "holes.csv", "-o", tmp_path / "n.gbm")
    assert refused.status == 3 and not (tmp_path / "n.gbm").exists()
    done = run("learn", "weights", FRIENDS, tmp_path / "holes.csv", "--objective", "likelihood", "--l2", "0", "--intervals",
               tmp_path / "holes.weights", "--held-out", "0.2", "-o", tmp_path / "n.gbm")
    assert done.status == 0 and "rows held out: ln P = -" in done.err
    for (a, _), (b, error) in zip(exact, learnt_of(tmp_path / "holes.weights")):
        assert abs(a - b) <= 4 * error


def test_likelihood_that_needs_too_much(run, tmp_path):
    done = run("learn", "weights", FRIENDS, CASES, "--objective", "likelihood", "--memory-limit", "1M", "-o", tmp_path / "m.gbm")
    assert done.status == 1 and "memory limit" in done.err and not (tmp_path / "m.gbm").exists()


def test_sampled_likelihood_of_weights(run, tmp_path):
    """Chains come as near to the likelihood's weights as the error says."""
    for objective, more in (("likelihood", []), ("sampled", ["--chains", "50", "--steps", "400", "--seed", "3"])):
        done = run("learn", "weights", FRIENDS, CASES, "--objective", objective, "--l2", "0", *more, "--intervals",
                   tmp_path / f"{objective}.csv", "--summary", tmp_path / f"{objective}.json", "-o", tmp_path / "m.gbm")
        assert done.status == 0 and "converged after" in done.err
    assert "R-hat of the features" in done.err
    exact, sampled = (learnt_of(tmp_path / f"{objective}.csv") for objective in ("likelihood", "sampled"))
    report = json.loads((tmp_path / "sampled.json").read_text())
    assert report["converged"] and 0 < report["chance"] < 0.7 and report["rhat"] < 1.05
    for (a, error), (b, other) in zip(exact, sampled):
        assert abs(a - b) <= 4.5 * report["chance"] * other and other == pytest.approx(error, rel=0.5)
    for arguments, part in ((["--chains", "5"], "--chains applies with --objective sampled only"),
                            (["--scan", "random"], "--scan applies with --objective sampled only"),
                            (["--objective", "likelihood", "--method", "cd"], "--method applies with --objective sampled only"),
                            (["--objective", "sampled", "--method", "pl"], "--method pl: expected pcd|cd"),
                            (["--objective", "sampled", "--accuracy", "0.1"], "--accuracy applies with --scan optimised only"),
                            (["--objective", "sampled", "--chains", "1"], "--chains 1: must be from 2 to 2147483646 (N)")):
        done = run("learn", "weights", FRIENDS, CASES, *arguments, "-o", tmp_path / "n.gbm")
        assert done.status == 2 and part in done.err
    done = run("learn", "potts", DATA, "--scan", "random", "--format", "gbm")
    assert done.status == 2 and "which is for learn weights" in done.err
    done = run("learn", "crf", TEMPLATES, DATA, "--objective", "sampled")
    assert done.status == 2 and "--objective sampled: expected auto|pseudo|likelihood" in done.err


@pytest.mark.long
def test_sampled_likelihood_of_many_weights(run, tmp_path):
    """4100 weights: no standard errors, and a verdict by the gradient."""
    n = 4100
    (tmp_path / "p.mln").write_text("place = {" + ", ".join(f"P{i}" for i in range(n)) + "}\nNear(place)\n0.1 Near(+x)\n")
    (tmp_path / "p.db").write_text("// nothing is known\n")
    done = run("ground", tmp_path / "p.mln", tmp_path / "p.db", "-o", tmp_path / "p.gbm")
    assert done.status == 0, done.err
    rows = [",".join(f"Near(P{i})" for i in range(n))] + [",".join(str(int(i % 7 > k)) for i in range(n)) for k in range(3, 6)]
    (tmp_path / "d.csv").write_text("\n".join(rows) + "\n")
    done = run("learn", "weights", tmp_path / "p.gbm", tmp_path / "d.csv", "--objective", "sampled", "--l2", "1", "--chains", "50",
               "--steps", "60", "--intervals", tmp_path / "w.csv", "--summary", tmp_path / "s.json", "-o", tmp_path / "l.gbm")
    assert done.status == 0, done.err
    report = json.loads((tmp_path / "s.json").read_text())
    assert report["converged"] and not report["errors_known"] and 0 <= report["misfit"] <= 0.25 and report["chance"] is None
    assert "of the rows' standard errors (at most 0.25); 4100 weights" in done.err
    assert "standard errors are not known: they need the covariance of all features" in done.err
    assert all(line.endswith(",") for line in (tmp_path / "w.csv").read_text().splitlines()[1:])


@pytest.mark.long
def test_checkpoints_of_sampled_likelihood(run, work):
    """Stopped by a signal once there is a checkpoint; what goes on from it ends as what was never stopped."""
    lines = CASES.read_text().splitlines()
    holes = [lines[0]] + ["," + line[2:] if k % 2 else line for k, line in enumerate(lines[1:])]
    (work / "d.csv").write_text("\n".join(holes) + "\n")
    words = ["learn", "weights", FRIENDS, "d.csv", "--objective", "sampled", "--chains", "1000", "--steps", "400"]
    process = subprocess.Popen([program(), *words, "--checkpoint", "c.ckpt", "--threads", "2", "-o", "part.gbm"], cwd=work,
                               stderr=subprocess.PIPE, text=True)
    wait_for_file(process, work / "c.ckpt")
    process.send_signal(signal.SIGINT)
    said = process.stderr.read()
    assert process.wait() in (0, 4), said  # 0: it was done before the signal came
    if process.returncode == 4:  # in the first step there is a checkpoint, of no steps, but no result
        assert "no result yet" in said or "stopped after" in said and (work / "part.gbm").exists(), said
    done = run(*words, "--resume", "c.ckpt", "--checkpoint", "c.ckpt", "--threads", "1", "-o", "a.gbm", "--intervals", "a.csv",
               "--curve", "curve.csv")
    assert done.status == 0, done.err
    curve = [row.split(",")[0] for row in (work / "curve.csv").read_text().splitlines()[1:]]
    assert curve == [str(k) for k in range(400 - len(curve), 400)]
    assert run(*words, "-o", "b.gbm", "--intervals", "b.csv").status == 0
    assert all((work / f"a.{kind}").read_bytes() == (work / f"b.{kind}").read_bytes() for kind in ("gbm", "csv"))
    other = run("learn", "weights", FRIENDS, CASES, *words[4:], "--resume", "c.ckpt", "-o", "x.gbm")
    assert other.status == 3 and "c.ckpt: found a checkpoint of other rows, other options" in other.err
    damaged = bytearray((work / "c.ckpt").read_bytes())
    damaged[300] ^= 1
    (work / "c.ckpt").write_bytes(damaged)
    done = run(*words, "--resume", "c.ckpt", "-o", "x.gbm")
    assert done.status == 3 and "c.ckpt: " in done.err and not (work / "x.gbm").exists(), done.err
    done = run("learn", "weights", FRIENDS, CASES, "--checkpoint", "d.ckpt", "-o", "x.gbm")
    assert done.status == 2 and "--checkpoint applies with --objective sampled only" in done.err and not (work / "d.ckpt").exists()


@pytest.mark.parametrize("method", ["pcd", "cd"])
@pytest.mark.parametrize("scan", ["systematic", "random", "optimised"])
def test_scans_of_sampled_likelihood(run, tmp_path, scan, method):
    """As near to the exact weights as the error says, whatever the scan and the start of the chains."""
    found = []
    for more in (["likelihood"], ["sampled", "--scan", scan, "--method", method, "--steps", "400", "--sweeps", "2"]):
        done = run("learn", "weights", FRIENDS, CASES, "--l2", "0", "--objective", *more, "--intervals",
                   tmp_path / "w.csv", "--summary", tmp_path / "s.json", "-o", tmp_path / "out.gbm")
        assert done.status == 0 and "converged after" in done.err
        found.append(learnt_of(tmp_path / "w.csv"))
    report = json.loads((tmp_path / "s.json").read_text())
    assert ("scan optimised" in done.err) == (scan == "optimised") == (report["scans"] > 0)
    assert report["scan_length"] >= 6
    for (exact, _), (sampled, error) in zip(*found):
        assert abs(exact - sampled) <= 4.5 * report["chance"] * error


@pytest.mark.parametrize("more", [[], ["--l1", "0.3", "--l2", "0"]])
def test_curve_of_labels(run, work, more):
    """Each iteration of learn crf: the last one ends where the summary says."""
    done = run("learn", "crf", TEMPLATES, DATA, *more, "-o", "m.crf", "--curve", "c.csv", "--summary", "s.json")
    report = json.loads((work / "s.json").read_text())
    with open(work / "c.csv", newline="") as file:
        curve = list(csv.DictReader(file))
    assert done.status == 0 and [int(row["iteration"]) for row in curve] == list(range(1, report["iterations"] + 1))
    assert all(row["held_out"] == "" for row in curve)
    objective = [float(row["objective"]) for row in curve]
    assert objective == sorted(objective, reverse=True) and objective[-1] == report["objective"]
    assert float(curve[-1]["gradient"]) == report["gradient_norm"]
    plain = run("learn", "crf", TEMPLATES, DATA, *more, "-o", "plain.crf")
    assert plain.status == 0 and (work / "plain.crf").read_bytes() == (work / "m.crf").read_bytes()


def test_curve_of_linked_labels(run, work):
    """Steps along sampled gradients follow the iterations without links: they have no objective."""
    (work / "t").write_text("u:%x[0,0]\nb\n=%x[0,0]\ns\n")
    (work / "d").write_text("a X\nb O\na X\n\nb O\na X\nc O\n")
    done = run("learn", "crf", "t", "d", "--template-style", "wapiti", "--steps", "5", "-o", "m", "--curve", "c.csv",
               "--summary", "s.json")
    report = json.loads((work / "s.json").read_text())
    with open(work / "c.csv", newline="") as file:
        curve = list(csv.DictReader(file))
    assert done.status == 0 and report["steps"] == 5, done.err
    assert [int(row["iteration"]) for row in curve] == list(range(1, report["iterations"] + 6))
    assert [row["objective"] == "" for row in curve] == report["iterations"] * [False] + 5 * [True]
    assert all(float(row["gradient"]) >= 0 for row in curve)


def test_curve_of_aspects(run, work):
    done = run("learn", "aspects", "examples/ground/list.txt", "--patch", "16", "--texture-words", "24", "--color-words", "4",
               "-o", "g.aspects", "--curve", "c.csv", "--summary", "s.json")
    report = json.loads((work / "s.json").read_text())
    with open(work / "c.csv", newline="") as file:
        curve = list(csv.DictReader(file))
    assert done.status == 0 and [int(row["iteration"]) for row in curve] == list(range(1, report["iterations"] + 1))
    found = [float(row["objective"]) for row in curve]
    assert found == sorted(found) and found[-1] == report["mean_log_likelihood"]
    assert all(row["gradient"] == row["held_out"] == "" for row in curve)


@pytest.mark.parametrize("words", [
    ["weights", FRIENDS, CASES], ["weights", FRIENDS, CASES, "--l1", "3"],
    ["weights", FRIENDS, CASES, "--objective", "likelihood", "--l1", "2"],
    ["potts", ROOT / "examples" / "bars.csv"], ["potts", ROOT / "examples" / "bars.csv", "--method", "asymmetric"],
    ["crf", ROOT / "examples" / "places.template", ROOT / "examples" / "places.txt"],
    ["crf", ROOT / "examples" / "places.template", ROOT / "examples" / "places.txt", "--l1", "0.3", "--l2", "0"],
])
def test_a_tolerance_of_zero(run, work, words):
    """Learning goes on until rounding ends it, or for all of its iterations."""
    for tolerance, few in (("0", []), ("1e-9", []), ("0", ["--iterations", "2"])):
        done = run("learn", *words, "--tolerance", tolerance, *few, "-o", "m.gbm" if words[0] != "crf" else "m.crf",
                   "--summary", f"{tolerance}.json" if not few else "few.json")
        assert done.status == 0 and done.err.count("onverged after") == 1, done.err
    best, near, few = (json.loads((work / f"{name}.json").read_text()) for name in ("0", "1e-9", "few"))
    assert best["objective"] == pytest.approx(near["objective"], rel=1e-6)
    assert best["iterations"] >= near["iterations"] > 2 == few["iterations"] and not few["converged"]
    done = run("learn", *words, "--tolerance", "-1", "-o", "n.gbm")
    assert done.status == 2 and "must be at least 0 and at most 1" in done.err


@pytest.mark.parametrize("objective, more", [("pseudo", []), ("likelihood", []), ("sampled", ["--steps", "30"])])
def test_curve_of_weights(run, tmp_path, objective, more):
    """It ends at what the summary says, and rises on the way; the gradient vanishes; the model is the same without it."""
    shared = ["--objective", objective, *more, "--l2", "0", "--held-out", "20%", "--format", "gbm"]
    plain = run("learn", "weights", FRIENDS, CASES, *shared, "-o", tmp_path / "a.gbm")
    done = run("learn", "weights", FRIENDS, CASES, *shared, "-o", tmp_path / "b.gbm", "--curve", tmp_path / "c.csv",
               "--summary", tmp_path / "s.json")
    assert plain.status == done.status == 0 and (tmp_path / "a.gbm").read_bytes() == (tmp_path / "b.gbm").read_bytes()
    report = json.loads((tmp_path / "s.json").read_text())
    with (tmp_path / "c.csv").open() as file:
        curve = list(csv.DictReader(file))
    assert list(curve[0]) == ["iteration", "objective", "gradient", "held_out"]
    assert [int(row["iteration"]) for row in curve] == list(range(report["iterations"] + (objective != "sampled")))
    if objective == "sampled":
        assert all(row["objective"] == "" and float(row["held_out"]) < 0 < float(row["gradient"]) for row in curve)
        return
    objectives = [float(row["objective"]) for row in curve]
    assert objectives == sorted(objectives) and objectives[-1] == report["objective"] > objectives[0]
    assert float(curve[-1]["gradient"]) < 1e-3 < 1 < float(curve[0]["gradient"])
    name = "held_out_pseudo_log_likelihood" if objective == "pseudo" else "held_out_log_likelihood"
    assert float(curve[-1]["held_out"]) == pytest.approx(report[name], rel=1e-12)


@pytest.mark.parametrize("objective", ["pseudo", "likelihood"])
def test_l1_leaves_out_weights(run, tmp_path, objective):
    """The larger the penalty, the fewer weights; a small one changes little; the summary and the curve say the objective."""
    n_left = []
    for l1 in ("0.01", "40", "1e6"):
        done = run("learn", "weights", FRIENDS, CASES, "--objective", objective, "--l1", l1, "--l2", "0", "--intervals",
                   tmp_path / "w.csv", "--curve", tmp_path / "c.csv", "--summary", tmp_path / "s.json", "-o", tmp_path / "m.gbm")
        assert done.status == 0 and "converged after" in done.err and "not known with --l1" in done.err
        report = json.loads((tmp_path / "s.json").read_text())
        weights = [value for value, _ in learnt_of(tmp_path / "w.csv")]
        n_left.append(sum(w != 0 for w in weights))
        sum_of_rows = report["pseudo_log_likelihood" if objective == "pseudo" else "log_likelihood"]
        assert report["objective"] == pytest.approx(sum_of_rows - float(l1) * sum(map(abs, weights)), abs=1e-6)
        with (tmp_path / "c.csv").open() as file:
            assert float(list(csv.DictReader(file))[-1]["objective"]) == report["objective"]
        if l1 == "0.01":
            exact = run("learn", "weights", FRIENDS, CASES, "--objective", objective, "--l2", "0", "--intervals",
                        tmp_path / "e.csv", "-o", tmp_path / "m.gbm")
            assert exact.status == 0
            assert weights == pytest.approx([value for value, _ in learnt_of(tmp_path / "e.csv")], abs=1e-3)
    assert n_left[0] == 4 > n_left[1] > n_left[2] == 0


def test_options_before_the_kind(run, work):
    """The kind may stand behind options, whose values may be called as kinds are."""
    done = run("learn", "-o", "potts", "--format", "gbm", "rbm", ROOT / "examples" / "bars.csv", "--hidden", "2", "--epochs", "1")
    assert done.status == 0 and (work / "potts").is_file()
    done = run("generate", "--format=uai", "-o", "ring", "ising", "--grid", "2x2")
    assert done.status == 0 and (work / "ring").is_file()
    assert "'learn rbm' is two words" in run("learn rbm", "x.csv").err
