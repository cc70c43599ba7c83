# SPDX-License-Identifier: Apache-2.0
"""learn rbm: a restricted Boltzmann machine from zeros and ones, and what is refused."""
import csv
import itertools
import json
import math
import signal
import subprocess
from random import Random

import pytest
from conftest import ROOT, program, wait_for_file

BARS = ROOT / "examples" / "bars.csv"


def spins_of(run, path):
    """Fields and couplings by variables, of a model in the text of .fg: log-weights of two spins each."""
    words = run("convert", path, "--format", "uai").out.split()
    n = int(words[1])
    at = 3 + n
    scopes = []
    for _ in range(int(words[2 + n])):
        k = int(words[at])
        scopes.append(tuple(int(v) for v in words[at + 1:at + 1 + k]))
        at += 1 + k
    factors = []
    for scope in scopes:
        size = int(words[at])
        factors.append((scope, [math.log(float(w)) for w in words[at + 1:at + 1 + size]]))
        at += 1 + size
    return n, factors


def weights_of_rows(run, path, n_visible):
    """ln of the sum over hidden states, for every visible state, by enumeration."""
    n, factors = spins_of(run, path)
    found = {}
    for v in itertools.product(range(2), repeat=n_visible):
        total = 0.0
        for h in itertools.product(range(2), repeat=n - n_visible):
            x = v + h
            total += math.exp(sum(t[x[s[0]]] if len(s) == 1 else t[2 * x[s[0]] + x[s[1]]] for s, t in factors))
        found[v] = math.log(total)
    return found


def rows_of(path):
    with open(path, newline="") as file:
        return [tuple(map(int, row)) for row in list(csv.reader(file))[1:]]


def write_rows(path, names, rows):
    path.write_text(",".join(names) + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))


@pytest.mark.parametrize("kind", [["rbm", "--hidden", "20", "--epochs", "300", "--draw", "herded"],
                                  ["potts", "--method", "pcd", "--chains", "1000", "--steps", "100"]])
@pytest.mark.long
def test_checkpoints(run, work, kind):
    """Stopped by a signal once there is a checkpoint; what goes on from it ends as what was never stopped."""
    rows = [[(b >> i) % 2 for i in range(9)] for b in range(0, 512, 5)] + [[b % 2] * 9 for b in range(120)]
    write_rows(work / "d.csv", "abcdefghi", rows)
    words = ["learn", kind[0], "d.csv", *kind[1:]]
    process = subprocess.Popen([program(), *words, "--checkpoint", "c.ckpt", "--threads", "2", "-o", "part.gbm"], cwd=work,
                               stderr=subprocess.PIPE, text=True)
    wait_for_file(process, work / "c.ckpt")
    process.send_signal(signal.SIGINT)
    said = process.stderr.read()
    assert process.wait() in (0, 1, 4), said  # 0: done before; 1: before the first step was over
    done = run(*words, "--resume", "c.ckpt", "--checkpoint", "c.ckpt", "--threads", "1", "-o", "a.gbm")
    assert done.status == 0, done.err
    assert run(*words, "-o", "b.gbm").status == 0
    assert (work / "a.gbm").read_bytes() == (work / "b.gbm").read_bytes()
    done = run(*words, "--seed", "8", "--resume", "c.ckpt", "-o", "x.gbm")
    assert done.status == 3 and "c.ckpt: found a checkpoint of other rows, other options" in done.err
    damaged = bytearray((work / "c.ckpt").read_bytes())
    damaged[300] ^= 1
    (work / "c.ckpt").write_bytes(damaged)
    done = run(*words, "--resume", "c.ckpt", "-o", "x.gbm")
    assert done.status == 3 and "c.ckpt: " in done.err and not (work / "x.gbm").exists(), done.err


@pytest.mark.parametrize("l2, agree", [("0", False), ("30", True)])
def test_whether_chains_agree(run, work, l2, agree):
    """Units that are all 0 or all 1: the weights that this asks for leave a chain where it is."""
    write_rows(work / "d.csv", "abcdefghi", [[b % 2] * 9 for b in range(64)])
    done = run("learn", "rbm", "d.csv", "--hidden", "2", "--epochs", "500", "--rate", "1", "--l2", l2, "-o", "m.gbm",
               "--summary", "s.json")
    report = json.loads((work / "s.json").read_text())
    assert done.status == 0 and not report["converged"], done.err
    assert (report["rhat"] <= 1.05 if agree else report["rhat"] is None or report["rhat"] > 1.2)  # None: not finite
    assert ("not converged: R-hat" if agree else "not converged, chains disagree: R-hat") in done.err
    assert ("; try a larger --l2" in done.err) != agree


def test_units_not_yet_coupled(run, work):
    """A slope that is small because it has not begun to rise does not end it, nor is it called converged."""
    done = run("learn", "rbm", BARS, "--hidden", "8", "--l2", "0", "--rate", "0.3", "--epochs", "500", "-o", "m.gbm", "--summary", "s.json")
    report = json.loads((work / "s.json").read_text())
    assert done.status == 0 and report["misfit"] <= 0.25 and report["rhat"] <= 1.05, done.err
    assert report["epochs"] == 500 and report["rise"] > 0.5 and not report["converged"]
    assert "but ln PL still rises; try more --epochs" in done.err


@pytest.mark.parametrize("options", [[], ["--draw", "herded"], ["--method", "cd", "--sweeps", "5"]])
def test_learnt_by_enumeration(run, work, options):
    """Three pairs of equal units: the likelihood comes near that of the rows' own frequencies."""
    rows = [(a, a, b, b, c, c) for a, b, c in itertools.product(range(2), repeat=3)] * 4
    write_rows(work / "d.csv", "pqrstu", rows)
    done = run("learn", "rbm", "d.csv", "--hidden", "4", "--epochs", "2000", "--rate", "0.3", "--l2", "0.01", *options,
               "-o", "m.gbm", "--summary", "s.json", "--curve", "c.csv")
    assert done.status == 0 and done.out == "" and "32 rows, 6 visible and 4 hidden units" in done.err, done.err
    report = json.loads((work / "s.json").read_text())
    assert report["schema"] == "learn-rbm/1" and report["epochs"] == report["steps"] == 2000 and not report["stopped"]
    weights = weights_of_rows(run, "m.gbm", 6)
    pl = sum(-math.log1p(math.exp(weights[(*x[:i], 1 - x[i], *x[i + 1:])] - weights[x])) for x in rows for i in range(6))
    assert report["mean_pseudo_log_likelihood"] == pytest.approx(pl / len(rows), abs=1e-6)
    log_z = math.log(sum(map(math.exp, weights.values())))
    log_p = sum(weights[x] - log_z for x in rows) / len(rows)
    # at best -3 ln 2 = -2.08; independent units have -6 ln 2 = -4.16
    assert log_p > -2.6
    curve = list(csv.DictReader((work / "c.csv").read_text().splitlines()))
    assert len(curve) == 2000 and list(curve[0]) == ["epoch", "pl", "held_out_pl"]
    assert float(curve[-1]["pl"]) == report["mean_pseudo_log_likelihood"] > float(curve[0]["pl"]) + 1
    assert curve[0]["held_out_pl"] == ""
    names = [r["variable"] for r in csv.DictReader(run("marginals", "m.gbm").out.splitlines())][::2]
    assert names == [*"pqrstu", "h1", "h2", "h3", "h4"]
    exact = run("logz", "m.gbm")
    assert exact.status == 0


def test_held_out_rows(run, work):
    rows = rows_of(BARS)
    write_rows(work / "d.csv", [f"x{i}" for i in range(9)], rows[:9])
    write_rows(work / "h.csv", [f"x{i}" for i in range(9)], rows[9:])
    done = run("learn", "rbm", "d.csv", "--hidden", "3", "--held-out", "h.csv", "--epochs", "7", "-o", "m.gbm",
               "--summary", "s.json", "--curve", "c.csv")
    assert done.status == 0 and "5 rows held out" in done.err, done.err
    weights = weights_of_rows(run, "m.gbm", 9)
    pl = sum(-math.log1p(math.exp(weights[(*x[:i], 1 - x[i], *x[i + 1:])] - weights[x]))
             for x in rows[9:] for i in range(9)) / 5
    report = json.loads((work / "s.json").read_text())
    assert report["held_out_mean_pseudo_log_likelihood"] == pytest.approx(pl, abs=1e-6)
    assert (work / "c.csv").read_text().splitlines()[-1].split(",")[2] == str(
        report["held_out_mean_pseudo_log_likelihood"])


def test_early_stopping(run, work):
    """Few rows and many units: held-out rows fall soon; the model is that of their best epoch, by enumeration."""
    random = Random(1)
    rows = [tuple((k // 2 ** (i % 3) % 2) ^ (random.random() < 0.15) for i in range(9)) for k in range(80)]
    write_rows(work / "d.csv", [f"x{i}" for i in range(9)], [[int(a) for a in x] for x in rows[:30]])
    write_rows(work / "h.csv", [f"x{i}" for i in range(9)], [[int(a) for a in x] for x in rows[30:]])
    words = ["learn", "rbm", "d.csv", "--hidden", "6", "--l2", "0", "--rate", "0.2", "--batch", "10", "--epochs", "2000",
             "--held-out", "h.csv"]
    for patience in ("20", "200"):
        done = run(*words, "--patience", patience, "-o", "m.gbm", "--summary", "s.json", "--curve", "c.csv")
        assert done.status == 0, done.err
        report = json.loads((work / "s.json").read_text())
        curve = [float(line.split(",")[2]) for line in (work / "c.csv").read_text().splitlines()[1:]]
        best = curve.index(max(curve)) + 1
        assert len(curve) == report["epochs"] == best + int(patience) < 2000 and report["best_epoch"] == best > 1
        assert f"the model is that of epoch {best} of {len(curve)}, after which" in done.err
        weights = weights_of_rows(run, "m.gbm", 9)
        pl = sum(-math.log1p(math.exp(weights[(*x[:i], 1 - x[i], *x[i + 1:])] - weights[x]))
                 for x in rows[30:] for i in range(9)) / 50
        assert report["held_out_mean_pseudo_log_likelihood"] == max(curve) == pytest.approx(pl, abs=1e-6)
    done = run(*("5" if word == "2000" else word for word in words), "--patience", "200", "-o", "m.gbm")
    assert done.status == 0 and "it may rise further" in done.err


def test_threads_change_no_bit(run):
    one, three = (run("learn", "rbm", BARS, "--hidden", "5", "--epochs", "9", "--threads", n, "--format", "uai")
                  for n in ("1", "3"))
    assert one.status == 0 and one.out == three.out and one.out.startswith("MARKOV")
    other = run("learn", "rbm", BARS, "--hidden", "5", "--epochs", "9", "--seed", "2", "--format", "uai")
    assert other.status == 0 and other.out != one.out


def bars(random, n):
    """Pictures of 4 x 4 pixels with whole rows or columns on, and a little noise."""
    rows = []
    for _ in range(n):
        on, across = [random.random() < 0.35 for _ in range(4)], random.random() < 0.5
        rows.append([int((on[i] if across else on[j]) ^ (random.random() < 0.03)) for i in range(4) for j in range(4)])
    return rows


@pytest.mark.long
def test_sparse_couplings(run, work):
    """A fifth of the couplings can go for nothing of the likelihood, of which independent units have 7 less."""
    random = Random(3)
    write_rows(work / "d.csv", [f"x{i}" for i in range(16)], bars(random, 2000))
    write_rows(work / "h.csv", [f"x{i}" for i in range(16)], bars(random, 2000))
    found = []
    for l1 in ("0", "10"):
        done = run("learn", "rbm", "d.csv", "--hidden", "16", "--rate", "0.2", "--l2", "0", "--l1", l1, "--epochs", "300",
                   "--held-out", "h.csv", "-o", "m.gbm", "--summary", "s.json")
        assert done.status == 0, done.err
        found.append(json.loads((work / "s.json").read_text()))
        assert ("of 256 couplings are 0" in done.err) == (l1 != "0")
    assert f"{found[1]['zero_couplings']} of 256 couplings are 0" in done.err
    assert found[0]["zero_couplings"] == 0 and found[1]["zero_couplings"] > 50
    pl = [f["held_out_mean_pseudo_log_likelihood"] for f in found]
    assert pl[1] > pl[0] - 0.1 > -3.5


@pytest.mark.parametrize("kind", [["rbm", "--hidden", "4", "--epochs", "9"], ["potts", "--method", "pcd", "--steps", "20", "--chains", "50"]])
def test_sizes_of_steps(run, kind):
    """The last one is a fifth of the first unless it is given."""
    found = {}
    for rate in ("0.1", "0.1:0.02", "0.1:0.1", "0.1:1e-3"):
        done = run("learn", kind[0], BARS, *kind[1:], "--rate", rate, "--format", "uai")
        assert done.status == 0, done.err
        found[rate] = done.out
    assert found["0.1"] == found["0.1:0.02"] and len(set(found.values())) == 3


@pytest.mark.parametrize("rate", ["x", "0", "0.1:", "0.1:x", "0.1:0", "0.1:0.2", "0.1:0.05:0.01", "-1", "1001", "nan", "0.1:nan",
                                  "0.1,0.02", "1" * 40])
def test_bad_sizes_of_steps(run, work, rate):
    done = run("learn", "rbm", BARS, "--hidden", "4", "--rate", rate, "-o", "x.gbm")
    assert done.status == 2 and f'--rate: found "{rate}", expected a size of the first step' in done.err, done.err
    assert not (work / "x.gbm").exists()


@pytest.mark.parametrize("text, part", [
    ("a,b\n0,1\n0,2\n", "d: found sites of 3 states, expected zeros and ones"),
    (">a\nEC\n", "d: found sites of 21 states"),
    ("a,b\n0,1\n0,x\n", "d:3:3: found 'x', expected a state"),
    ("a,b\n", "found no rows"),
])
def test_bad_rows(run, work, text, part):
    (work / "d").write_text(text)
    done = run("learn", "rbm", "d", "--hidden", "2", "-o", "out.gbm", "--curve", "c.csv")
    assert done.status == 3 and part in done.err, done.err
    assert not (work / "out.gbm").exists() and not (work / "c.csv").exists()


def test_memory_is_predicted(run, work):
    write_rows(work / "d.csv", [f"x{i}" for i in range(3000)], [[0] * 3000, [1] * 3000])
    done = run("learn", "rbm", "d.csv", "--hidden", "60000", "--memory-limit", "1G", "-o", "out.gbm")
    assert done.status == 1 and "a restricted Boltzmann machine" in done.err and "limit" in done.err, done.err
    assert not (work / "out.gbm").exists()


def test_time_ends_it(run, work):
    done = run("learn", "rbm", BARS, "--hidden", "40", "--epochs", "1000000", "--time", "1s", "-o", "m.gbm")
    assert done.status == 4 and "stopped" in done.err and (work / "m.gbm").exists(), done.err


def test_a_site_called_as_a_hidden_unit(run, work):
    (work / "d.csv").write_text("a,h2\n0,1\n1,1\n")
    assert run("learn", "rbm", "d.csv", "--hidden", "1", "-o", "m.gbm").status == 0
    done = run("learn", "rbm", "d.csv", "--hidden", "2", "-o", "out.gbm")
    assert done.status != 0 and "found the name h2, which a hidden unit has" in done.err


@pytest.mark.parametrize("arguments, part", [
    ([], "DATA is missing"),
    ([BARS, "-o", "x.gbm"], "--hidden N, the number of hidden units, is missing"),
    ([BARS, "--hidden", "0", "-o", "x.gbm"], "--hidden"),
    ([BARS, "--hidden", "2"], "--format"),
    ([BARS, "--hidden", "2", "--method", "pl", "-o", "x.gbm"], "expected pcd|cd"),
    ([BARS, "--hidden", "2", "--steps", "3", "-o", "x.gbm"], "no option '--steps', which is for learn crf, learn weights, learn potts"),
    ([BARS, "--hidden", "2", "--iterations", "3", "-o", "x.gbm"], "no option '--iterations'"),
    ([BARS, "--hidden", "2", "--intervals", "i.csv", "-o", "x.gbm"], "can change places or turn over"),
    ([BARS, "--hidden", "2", "--patience", "3", "-o", "x.gbm"], "--patience applies with --held-out only"),
    ([BARS, "--hidden", "2", "--draw", "cud", "-o", "x.gbm"], "random|herded"),
    ([BARS, "--hidden", "2", "-o", "x.gbm", "--curve", "no/such/c.csv"], "no/such"),
])
def test_wrong_use(run, work, arguments, part):
    done = run("learn", "rbm", *arguments)
    assert done.status in (1, 2) and done.out == "" and part in done.err, done.err
    assert not (work / "x.gbm").exists()


def test_the_others_take_no_hidden_units(run):
    done = run("learn", "potts", BARS, "--hidden", "3", "-o", "x.gbm")
    assert done.status == 2 and "'learn potts' has no option '--hidden', which is for learn rbm" in done.err
    done = run("learn", "potts", BARS, "--method", "cd", "-o", "x.gbm")
    assert done.status == 2 and "--method cd: expected pl|pcd|asymmetric" in done.err
