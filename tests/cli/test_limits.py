# SPDX-License-Identifier: Apache-2.0
"""--time with a clock that the test sets (tests/clock/clock.c): it stands still until the program has read it a number of
times, and is then hours later. A verb that respects its limit reads it a few times more and ends; in a build with
-Dcount_work=true the branches that it still takes are counted too."""
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import zlib

import pytest

from conftest import HANGS_S, program

CLOCKED = os.environ.get("GIBBSITE_CLOCKED", "")
LATE = (2, 3, 5, 9, 17, 40, 100, 300)
MOST_READ = 400  # readings once it is late: some for each phase that ends, one for each draw that is written
MOST_WORK = 200_000_000  # branches, some tenths of a second: a pass that is finished, a descent from the best state
SPINS = ("generate", "ising", "--grid", "40x40", "--coupling", "0.3", "-o", "spins.gbm")

pytestmark = pytest.mark.skipif(not CLOCKED, reason="GIBBSITE_CLOCKED names no program")


def write_picture(work, side=160):
    """Squares of two greys, with Gaussian noise."""
    noise = random.Random(7)
    grey = (int((50 if (x // 20 + y // 20) % 2 else 180) + noise.gauss(0, 40)) for y in range(side) for x in range(side))
    (work / "noisy.pgm").write_bytes(b"P5 %d %d 255\n" % (side, side) + bytes(min(255, max(0, g)) for g in grey))


def write_tokens(work, copies=40):
    text = (work / "examples/places.txt").read_text().strip("\n")
    (work / "tokens.txt").write_text("\n\n".join([text] * copies) + "\n")


def write_rows(work, n=400, columns=24):
    chance = random.Random(3)
    rows = ("".join(",%d" % chance.randrange(2) for _ in range(columns))[1:] for _ in range(n))
    (work / "rows.csv").write_text(",".join("x%d" % i for i in range(columns)) + "\n" + "\n".join(rows) + "\n")


def write_friends(work, people=60):
    chance = random.Random(5)
    names = ["P%d" % i for i in range(people)]
    pairs = {(chance.choice(names), chance.choice(names)) for _ in range(4 * people)}
    (work / "many.db").write_text("".join("Friends(%s,%s)\nFriends(%s,%s)\n" % (a, b, b, a) for a, b in sorted(pairs)))


def write_weather(work, n=300):
    """Of which every third value is missing."""
    chance = random.Random(9)
    rows = "".join(",".join(chance.choice(("", *states)) for states in (("yes", "no"), ("on", "off"), ("wet", "dry"))) + "\n" for _ in range(n))
    (work / "rain.csv").write_text("rain,sprinkler,grass\n" + rows)


# verb: what it is given beside --time, and what is made before
VERBS = {
    "marginals": [("spins.gbm", "--method", "sample"), ("spins.gbm",), ("spins.gbm", "--scan", "splash", "--method", "sample"),
                  ("spins.gbm", "--temper", "4", "--method", "sample"), ("spins.gbm", "--method", "mean-field")],
    "sample": [("spins.gbm",), ("examples/sprinkler.bif", "--sweeps", "1000000", "-o", "d.npz")],
    "map": [("spins.gbm",), ("examples/clinic.bif", "--method", "sample")],
    "logz": [("spins.gbm", "--method", "sample"), ("spins.gbm",)],
    "certify": [("spins.gbm",), ("spins.gbm", "--couplings", "20", "--scan", "systematic")],
    "scan": [("spins.gbm", "--target", "0,1")],
    "fit": [("examples/sprinkler.bif", "rain.csv", "--method", "sample", "-o", "f.bif")],
    "label": [("examples/places.crf", "tokens.txt", "--method", "sample", "-o", "l.txt"),
              ("examples/places.crf", "tokens.txt", "--method", "sample", "--posterior", "best", "-o", "l.txt")],
    "learn crf": [("examples/places.template", "tokens.txt", "-o", "c.crf")],
    "learn weights": [("examples/friends.gbm", "examples/friends.csv", "-o", "w.gbm"),
                      ("examples/friends.gbm", "examples/friends.csv", "--objective", "sampled", "-o", "w.gbm")],
    "learn potts": [("rows.csv", "-o", "p.gbm"), ("rows.csv", "--method", "pcd", "-o", "p.gbm"),
                    ("rows.csv", "--intervals", "i.csv", "-o", "p.gbm")],
    "learn rbm": [("rows.csv", "--hidden", "16", "-o", "r.gbm")],
    "learn aspects": [("examples/ground/list.txt", "-o", "a.aspects")],
    "ground": [("examples/smokers.mln", "many.db", "-o", "g.gbm")],
    "sensitivity": [("examples/clinic.bif", "--query", "influenza=yes", "--method", "sample"), ("examples/clinic.bif", "--query", "influenza=yes")],
    "denoise": [("noisy.pgm", "--levels", "8", "-o", "o.png"), ("examples/leaf-noisy.pbm", "-o", "o.png", "--map", "m.png")],
    "segment": [("examples/ground.aspects", "examples/ground.png", "-o", "s.png")],
}


def clocked(work, late, *arguments):
    """@return status, and the four numbers of tests/clock/clock.c."""
    report = work / "clock.txt"
    report.unlink(missing_ok=True)
    done = subprocess.run([CLOCKED, *arguments], cwd=work, capture_output=True, text=True, timeout=HANGS_S, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, CLOCK_LATE=str(late), CLOCK_REPORT=str(report)))
    numbers = [int(word) for word in report.read_text().split()] if report.exists() else [0] * 4
    return done.returncode, done.stderr, numbers


PICTURES = [("plain.pgm", b"P2 %d %d 255\n", lambda n: b"7 " * n * n), ("bytes.pgm", b"P5 %d %d 255\n", lambda n: bytes(n * n)),
            ("bits.pbm", b"P4 %d %d\n", lambda n: bytes(n * n // 8)), ("c.ppm", b"P6 %d %d 255\n", lambda n: bytes(3 * n * n))]


@pytest.mark.parametrize("name, head, samples", PICTURES)
def test_time_ends_the_reading_of_a_picture(work, name, head, samples):
    (work / name).write_bytes(head % (800, 800) + samples(800))
    ends_in_reading(work, name)


def test_time_ends_the_reading_of_a_png(work):
    """tests of src/files/pictures stop the reading of a JPEG"""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    rows = b"".join(b"\0" + random.Random(y).randbytes(600) for y in range(600))
    (work / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 600, 600, 8, 0, 0, 0, 0)) +
                                 chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    ends_in_reading(work, "a.png")


def ends_in_reading(work, name):
    """The first reading of the clock begins the time; some of the next ones come from the loop over the samples."""
    for asked in ("denoise", name, "-o", "o.png"), ("segment", "examples/ground.aspects", name, "-o", "o.png"):
        ends = []
        for late in 2, 4, 7:
            status, err, (n_read, n_late, *_) = clocked(work, late, *asked, "--time", "50s")
            if "built without" in err:
                pytest.skip(err)
            assert status == 4 and n_read >= late and n_late < 5 and not (work / "o.png").exists(), (name, err)
            ends.append(re.search("stopped while reading the (file|picture): there is no result yet", err)[1])
        assert "picture" in ends, (name, ends)


def verbs_with_time():
    overview = subprocess.run([program(), "help"], capture_output=True, text=True).stdout
    verbs = [line[2:18].strip() if line[2:18].strip() in VERBS else line[2:].split("  ")[0].strip()
             for line in overview.splitlines() if line.startswith("  ") and line[2:3].isalpha()]
    pages = {v: subprocess.run([program(), "help", *v.split(), "all"], capture_output=True, text=True).stdout for v in verbs}
    return {v for v in verbs if " --time TIME" in pages[v]}


def test_every_verb_that_has_the_option_is_here():
    assert verbs_with_time() == set(VERBS)


@pytest.mark.parametrize("verb, arguments", [(verb, a) for verb in VERBS for a in VERBS[verb]])
@pytest.mark.long
def test_a_verb_ends_when_its_time_is_over(work, verb, arguments):
    write_picture(work)
    write_tokens(work)
    write_rows(work)
    write_friends(work)
    write_weather(work)
    subprocess.run([program(), *SPINS], cwd=work, check=True)
    one_thread = () if verb in ("scan", "ground") else ("--threads", "1")
    for late in LATE:
        status, err, (n_read, n_late, most, after) = clocked(work, late, *verb.split(), *arguments, "--time", "50s", *one_thread)
        at = "%s, late at %d of %d: %s" % (verb, late, n_read, err)
        assert status in (0, 1, 4), at
        assert n_late <= MOST_READ, at
        assert most <= MOST_WORK and after <= MOST_WORK, "%s: %d branches, %d afterwards" % (at, most, after)
        if n_read < late:
            break


def test_a_search_that_ends_early_does_not_advise_the_option_that_was_given(work):
    subprocess.run([program(), "generate", "ising", "--grid", "30x30", "--coupling", "0.3", "-o", "grid.gbm"], cwd=work, check=True)
    for late in (30, 60):
        status, err, _ = clocked(work, late, "map", "grid.gbm", "--method", "sample", "--probability", "--time", "50s", "--threads", "1")
        assert status in (0, 4) and "the run ended without an estimate of ln Z" in err and "--probability" not in err, err


def slowly(work, step, *arguments):
    """With a clock that goes on by `step` seconds whenever the program reads it."""
    return subprocess.run([CLOCKED, *arguments, "--threads", "1"], cwd=work, capture_output=True, text=True, timeout=HANGS_S,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, CLOCK_STEP=str(step)))


def test_a_search_for_a_scan_that_is_stopped_leaves_rows_of_probabilities(work):
    """The file has * for the updates that were not chosen: certify reads it, scan goes on from it, no run takes it."""
    subprocess.run([program(), "generate", "ising", "--grid", "12x12", "--coupling", "0.2", "-o", "grid.gbm"], cwd=work, check=True)
    kept = []
    for late in range(2, 60):
        (work / "part.scan").unlink(missing_ok=True)  # nothing is written where no update was chosen in time
        status, err, _ = clocked(work, late, "scan", "grid.gbm", "--scan", "random", "--steps", "2000", "--time", "50s", "-o", "part.scan")
        entries = (work / "part.scan").read_text().split("updates\n")[1].split() if (work / "part.scan").exists() else []
        if entries and entries[0] == "*":
            assert status == 4 and "(*: a variable drawn uniformly)" in err and len(entries) == 2000, err
            n = entries.count("*")
            assert "*" not in entries[n:] and "the last %d updates were chosen, the %d before" % (2000 - n, n) in err, err
            kept.append((late, float(err.split("variation ")[1].split(",")[0])))
    assert kept

    late, variation = kept[-1]
    clocked(work, late, "scan", "grid.gbm", "--scan", "random", "--steps", "2000", "--time", "50s", "-o", "part.scan")

    def gibbsite(*arguments):
        return subprocess.run([program(), *arguments], cwd=work, capture_output=True, text=True)

    bound = json.loads(gibbsite("certify", "grid.gbm", "--scan", "part.scan", "--steps", "2000", "--json").stdout)["variation"][0]
    assert abs(bound["variation"] - variation) < 1e-5 * variation
    done = gibbsite("scan", "grid.gbm", "--scan", "part.scan", "--steps", "2000", "-o", "whole.scan")
    after = float(done.stderr.split("variation ")[1].split(",")[0])
    assert done.returncode == 0 and after <= variation and "*" not in (work / "whole.scan").read_text(), done.stderr
    for arguments in (["marginals", "grid.gbm"], ["marginals", "grid.gbm", "--partial-scan", "--restarts"],
                      ["sample", "grid.gbm", "--sweeps", "3"]):
        done = gibbsite(*arguments, "--method", "sample", "--scan", "part.scan")
        assert done.returncode == 2 and "takes a variable drawn uniformly (* in a scan file)" in done.stderr, done.stderr
    done = gibbsite("certify", "grid.gbm", "--scan", "part.scan", "--couplings", "4")
    assert done.returncode == 2 and "take a variable drawn uniformly" in done.stderr, done.stderr


@pytest.fixture
def grid(work):
    subprocess.run([program(), "generate", "ising", "--grid", "15x15", "--coupling", "0.2", "-o", "grid.gbm"], cwd=work, check=True)
    return work


def given_up(text):
    """@return the share of --time, in percent, after which exact answers were given up for their rate, and the predicted end as a
    multiple of --time."""
    found = re.search(r"exact answers were not there after (\d+) % of --time, and would have taken ([\d.e+]+) times --time: "
                      "sampled instead, as by --method sample", text)
    assert found, text
    return int(found[1]), float(found[2])


@pytest.mark.parametrize("step, takes", [(0.06, 1.2), (0.1, 1.9), (0.15, 2.9)])
def test_exact_answers_are_given_up_for_their_rate(grid, step, takes):
    """A clock by which exact answers take more than the time: they are given up soon after the tenth that is measured."""
    done = slowly(grid, step, "marginals", "grid.gbm", "--time", "10s", "-o", "a.csv", "--summary", "a.json")
    share, predicted = given_up(done.stderr)
    assert share < 60 and takes / 2 < predicted < 2 * takes, done.stderr
    summary = json.loads((grid / "a.json").read_text())
    assert summary["method"] == "sampled" and summary["sweeps"] > 0
    again = subprocess.run([program(), "marginals", "grid.gbm", "--method", "sample", "--sweeps", str(summary["sweeps"]), "--burn-in",
                            str(summary["burn_in"]), "-o", "b.csv"], cwd=grid, capture_output=True, text=True)
    assert (grid / "a.csv").read_text() == (grid / "b.csv").read_text(), again.stderr


@pytest.mark.parametrize("scan", [["cluster"], ["wolff", "--clusters", "30000"]], ids=lambda scan: scan[0])
def test_a_pass_that_is_cut_among_its_clusters_is_no_pass(work, scan):
    """A run has the answer of its one pass, or ends with status 4 and says that it was stopped."""
    subprocess.run([program(), "generate", "ising", "--grid", "40x40", "--coupling", "0.4", "-o", "grid.gbm"], cwd=work, check=True)
    asked = ["marginals", "grid.gbm", "--method", "sample", "--scan", *scan, "--sweeps", "1", "--burn-in", "0", "--threads", "1",
             "--time", "50s", "-q", "-o", "a.csv"]
    status, err, (n_readings, *_) = clocked(work, 10**9, *asked)
    assert status == 0, err
    whole = (work / "a.csv").read_text()
    ends = set()
    for late in range(1, n_readings + 20, n_readings // 8 + 1):
        (work / "a.csv").unlink(missing_ok=True)
        status, err, _ = clocked(work, late, *asked)
        assert status in (0, 4), err
        if status == 0:
            assert (work / "a.csv").read_text() == whole
        ends.add(status)
    assert ends == {0, 4}


@pytest.mark.parametrize("step", [0.01, 0.03])
def test_exact_answers_with_a_good_rate_are_kept(grid, step):
    done = slowly(grid, step, "marginals", "grid.gbm", "--time", "10s", "-o", "a.csv", "--summary", "a.json")
    assert done.returncode == 0 and json.loads((grid / "a.json").read_text())["method"] == "exact", done.stderr


def test_an_exact_answer_in_time_is_not_given_up(grid):
    done = slowly(grid, 0.001, "marginals", "grid.gbm", "--time", "50s", "-o", "a.csv", "--summary", "a.json")
    assert done.returncode == 0 and json.loads((grid / "a.json").read_text())["method"] == "exact", done.stderr


def test_what_is_there_instead_of_exact_answers_is_told(grid):
    done = slowly(grid, 0.3, "marginals", "grid.gbm", "--time", "10s", "-o", "a.csv", "--summary", "a.json")
    summary = json.loads((grid / "a.json").read_text())
    assert summary["method"] == "bp" and "sampled instead" not in done.stderr, done.stderr
    assert "given up after 40 % of --time: the answer is by belief propagation" in done.stderr, done.stderr


@pytest.mark.parametrize("step", [0.08, 0.15, 0.3])
def test_a_search_for_the_best_state_gives_exact_answers_up(grid, step):
    """Of a glass, whose best state no bound proves."""
    subprocess.run([program(), "generate", "ising", "--grid", "15x15", "--coupling-spread", "3",
                    "-o", "grid.gbm"], cwd=grid, check=True)
    done = slowly(grid, step, "map", "grid.gbm", "--time", "10s", "-o", "a.csv")
    if step < 0.3:
        assert given_up(done.stderr)[0] <= 75
    else:
        assert "the search for exact answers was given up after 40 % of --time: sampled instead, as by --method sample" in done.stderr, done.stderr
    assert "this is the best state so far" in done.stderr and done.returncode == 4, done.stderr
    assert len((grid / "a.csv").read_text().splitlines()) == 226
    assert "proved to be the largest" in slowly(grid, 0.001, "map", "grid.gbm", "--time", "50s").stderr


def test_a_partition_function_is_sampled_where_exact_sums_come_too_late(grid):
    done = slowly(grid, 0.07, "logz", "grid.gbm", "--time", "10s", "--format", "json")
    assert "exact answers were not there after 75 % of --time: sampled instead, as by --method sample" in done.stderr, done.stderr
    found = json.loads(done.stdout)
    assert found["iterations"] > 0 and found["exact_variables"] == 0, found
    exact = subprocess.run([program(), "logz", "grid.gbm", "--format", "json"], cwd=grid, capture_output=True, text=True)
    assert abs(found["log_z"] - json.loads(exact.stdout)["log_z"]) < 2.0 and found["converged"] is False, found
    assert ", exact" in slowly(grid, 0.001, "logz", "grid.gbm", "--time", "50s").stderr


def test_cases_are_sampled_where_their_tree_comes_too_late_and_share_the_time(grid):
    (grid / "t.csv").write_text("0,5\n0,1\n1,0\n0,1\n")
    done = slowly(grid, 0.03, "marginals", "grid.gbm", "--cases", "t.csv", "--query", "7", "--time", "10s", "-o", "a.csv")
    rows = (grid / "a.csv").read_text().splitlines()
    assert "3 cases, each as 'gibbsite marginals' answers it" in done.stderr, done.stderr
    assert len(rows) == 4 and all(float(row.split(",")[1]) > 0.0 for row in rows[1:]), rows
    exact = slowly(grid, 1e-5, "marginals", "grid.gbm", "--cases", "t.csv", "--query", "7", "--time", "50s")
    assert "3 cases, exact" in exact.stderr, exact.stderr


def test_cases_that_end_before_a_draw_do_not_take_the_others_with_them(work):
    """Either the time ends while the last case is prepared, or a case keeps no draw."""
    (work / "t.csv").write_text("0,5\n0,1\n1,0\n0,0\n1,1\n")
    subprocess.run([program(), "generate", "ising", "--grid", "60x60", "--coupling", "0.2", "-o", "grid.gbm"], cwd=work, check=True)
    n, hubs = 12, 8  # hard zeros make the hubs equal: the exact answer has two cases of its own, and its search takes long
    edges = [(v, v + 1) for v in range(n * n) if v % n < n - 1] + [(v, v + n) for v in range(n * n - n)]
    tables = [(e, "1.5 1 1 1.5") for e in edges] + [((v, n * n + v % hubs), "1.1 1 1 1.2") for v in range(n * n)]
    tables += [((n * n + i, n * n + i + 1), "1 0 0 1") for i in range(hubs - 1)]
    (work / "hubs.uai").write_text("\n".join(
        ["MARKOV", str(n * n + hubs), " ".join(["2"] * (n * n + hubs)), str(len(tables)), *(f"2 {a} {b}" for (a, b), _ in tables),
         *(f"4 {values}" for _, values in tables)]) + "\n")
    for step, model, method in ((0.1, "grid.gbm", "sample"), (0.2, "grid.gbm", "sample"), (0.2, "hubs.uai", "auto"), (1.0, "hubs.uai", "auto")):
        done = slowly(work, step, "marginals", model, "--cases", "t.csv", "--query", "7", "--method", method, "--time", "10s", "-o", "a.csv")
        assert done.returncode in (0, 4) and "there is nothing" not in done.stderr, (step, model, done.stderr)
        assert len((work / "a.csv").read_text().splitlines()) > 1, (step, model, done.stderr)
        (work / "a.csv").unlink()


def test_draws_that_cannot_be_exact_in_time_are_sampled(grid):
    done = slowly(grid, 0.2, "sample", "grid.gbm", "--sweeps", "20", "--time", "20s", "-o", "a.csv", "--summary", "a.json")
    assert "sampled instead" in done.stderr, done.stderr
    burn_in = str(json.loads((grid / "a.json").read_text())["burn_in"])
    subprocess.run([program(), "sample", "grid.gbm", "--method", "sample", "--sweeps", "20", "--burn-in", burn_in, "-o", "b.csv"], cwd=grid)
    assert (grid / "a.csv").read_text() == (grid / "b.csv").read_text()
