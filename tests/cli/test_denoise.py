# SPDX-License-Identifier: Apache-2.0
"""denoise: noisy pictures in, restored pictures and their errors out."""
import csv
import io
import json
import random

import pytest
from conftest import nightly

NOISY, TRUTH = "examples/leaf-noisy.pbm", "examples/leaf.pbm"
MODEL = ["--noise", "flip:0.1", "--coupling", "1.2"]
GIVEN = [*MODEL, "--sweeps", "200"]


def pgm(path, rows, maxval):
    path.write_text(f"P2\n{len(rows[0])} {len(rows)}\n{maxval}\n" + "\n".join(" ".join(map(str, r)) for r in rows) + "\n")


def errors(done):
    return {row["error"]: {k: float(v) if v else None for k, v in row.items() if k != "error"}
            for row in csv.DictReader(io.StringIO(done.out))}


@pytest.mark.long
def test_what_the_example_shows(run, work):
    """Parameters are estimated near those that made it, and most of the noise goes."""
    done = run("denoise", NOISY, "--truth", TRUTH, "-o", "clean.pbm", "--uncertainty", "doubt.pgm", "--mean", "mean.png",
               "--map", "best.pbm")
    assert done.status == 0 and "converged" in done.err
    noise = float(done.err.split("--noise flip:")[1].split()[0])
    coupling = float(done.err.split("--coupling ")[1].split()[0])
    assert abs(noise - 0.0977) < 0.03 and 0.8 < coupling < 2
    found = errors(done)
    assert found["wrong"]["noisy"] == pytest.approx(675 / 6912)
    assert found["wrong"]["restored"] < 0.035
    assert abs(found["wrong"]["expected"] - found["wrong"]["restored"]) < 0.01
    assert found["mean_square"]["restored"] < found["wrong"]["restored"]
    for name in ("clean.pbm", "doubt.pgm", "mean.png", "best.pbm"):
        assert (work / name).stat().st_size > 100
    same = run("denoise", NOISY, "--noise", f"flip:{noise}", "--coupling", str(coupling), "-o", "again.pbm")
    assert "estimated" not in same.err


@pytest.mark.parametrize("noise, warned", [(0.8, True), (0.2, False)])
def test_noise_taken_for_the_picture(run, work, noise, warned):
    """Stripes of four levels: noise of 0.8 levels is underestimated, and a warning says so."""
    r = random.Random(2)
    rows = [[min(255, max(0, round(85 * (x // 12 + r.gauss(0, noise))))) for x in range(48)] for _ in range(48)]
    pgm(work / "stripes.pgm", rows, 255)
    done = run("denoise", "stripes.pgm", "--levels", "4", "-o", "out.pgm", "--sweeps", "20")
    assert done.status == 0 and ("too small for how much neighbours differ" in done.err) is warned
    assert (float(done.err.split("--noise gauss:")[1].split()[0]) < 0.5 * noise) is warned


def test_more_values_than_levels(run, work):
    """A picture of three grey values is no black and white one, which its default levels would make of it."""
    r = random.Random(2)
    rows = [[r.choice((0, 128, 255)) if r.random() < 0.1 else (0, 128, 255)[x // 8] for x in range(24)] for _ in range(24)]
    pgm(work / "three.pgm", rows, 255)
    told = "three.pgm: its pixels have 3 values, and are restored with 2 levels: --levels 3 has as many levels as values"
    assert told in run("denoise", "three.pgm", "-o", "out.pgm", "--sweeps", "20").err
    done = run("denoise", "three.pgm", "-o", "out.pgm", "--sweeps", "20", "--levels", "3")
    assert "its pixels have" not in done.err and "--noise flip:" in done.err
    pgm(work / "smooth.pgm", [[min(255, max(0, round(200 * (x // 12) + r.gauss(30, 9)))) for x in range(24)] for _ in range(24)], 255)
    assert "its pixels have" not in run("denoise", "smooth.pgm", "-o", "out.pgm", "--sweeps", "20").err


def disc(flipped, black, white):
    """A disc of 44 x 52 pixels, of which some show the other value; with flipped=0 the truth."""
    r = random.Random(5)
    return [[(black, white)[((x - 20) ** 2 + (y - 24) ** 2 < 200) ^ (r.random() < flipped)] for x in range(44)]
            for y in range(52)]


@pytest.mark.parametrize("maxval, black, white", [(255, 0, 255), (1, 0, 1), (65535, 9000, 60000)])
def test_black_and_white_kept_as_grey(run, work, maxval, black, white):
    """Two values of two levels are disturbed by flips."""
    pgm(work / "noisy.pgm", disc(0.1, black, white), maxval)
    pgm(work / "truth.pgm", disc(0, black, white), maxval)
    done = run("denoise", "noisy.pgm", "--truth", "truth.pgm", "-o", "out.png", "--sweeps", "400")
    assert done.status == 0 and "estimated: --noise flip:0.0" in done.err and "frozen" not in done.err
    wrong = errors(done)["wrong"]
    assert wrong["restored"] < 0.015 and wrong["noisy"] > 0.08


def test_a_mask_of_zeros_and_ones(run, work):
    """In 8 bits both are black: that is said, and --labels takes them for levels."""
    pgm(work / "noisy.pgm", disc(0.1, 0, 1), 255)
    pgm(work / "truth.pgm", disc(0, 0, 1), 255)
    done = run("denoise", "noisy.pgm", "--truth", "truth.pgm", "-o", "out.png", "--sweeps", "50")
    assert done.status == 0 and all(f"warning: {name}.pgm: all pixels are nearest to level 0 of 2, though they differ" in done.err
                                    for name in ("noisy", "truth"))
    done = run("denoise", "noisy.pgm", "--labels", "--truth", "truth.pgm", "-o", "out.png", "--sweeps", "200")
    assert done.status == 0 and "nearest to level" not in done.err and errors(done)["wrong"]["restored"] < 0.015
    pgm(work / "black.pgm", disc(0, 0, 0), 255)
    assert "nearest to level" not in run("denoise", "black.pgm", "-o", "out.png", "--sweeps", "50").err


def test_labels_kept_as_grey(run, work):
    """Four levels in 8 bits, a tenth shown as another one of them."""
    r = random.Random(3)
    truth = [[85 * (x // 16 + 2 * (y // 16)) % 340 for x in range(32)] for y in range(32)]
    pgm(work / "truth.pgm", truth, 255)
    pgm(work / "noisy.pgm", [[85 * r.randrange(4) if r.random() < 0.13 else v for v in row] for row in truth], 255)
    done = run("denoise", "noisy.pgm", "--levels", "4", "--truth", "truth.pgm", "--sweeps", "400")
    assert "estimated: --noise flip:" in done.err and errors(done)["wrong"]["restored"] < 0.03


def test_noise_that_freezes_a_picture(run, work):
    """It is said, and the run ends by itself: there is nothing to sample."""
    pgm(work / "noisy.pgm", disc(0.1, 0, 255), 255)
    done = run("denoise", "noisy.pgm", "--noise", "gauss:0.001", "--coupling", "1", "-o", "out.png")
    assert done.status == 0 and "the model is frozen: --noise gauss:0.001 is so small that all 2288 pixels" in done.err
    assert "not converged: the noise is so small that every pixel keeps the level it shows" in done.err
    assert "it ends, if it is sampled, after --sweeps 16: more would show nothing else" in done.err
    done = run("denoise", "noisy.pgm", "--noise", "gauss:0.001", "--coupling", "1", "-o", "out.png", "--require-converged")
    assert done.status == 5


@pytest.mark.long
def test_a_large_picture_ends(run, work):
    """Of 2^15 pixels and 32 levels: 2^33 / 2^20 / 16 sweeps, or what is typed. A row of pixels has exact answers in no time."""
    pgm(work / "large.pgm", [[(i * 7) % 32 for i in range(32768)]], 31)
    given = ["denoise", "large.pgm", "--levels", "32", "--noise", "gauss:0.5", "--coupling", "0.5", "-o", "out.pgm"]
    done = run(*given)
    assert done.status == 0 and "if it is sampled, after at most --sweeps 512;" in done.err
    for limit in (["--sweeps", "2"], ["--max-updates", "1e6"]):
        assert "large picture" not in run(*given, "--method", "sample", *limit).err


def large_of_two_levels(work):
    """512 x 1024 stripes of which one pixel in eleven is flipped. @return the command that restores them."""
    rows = [[(j // 64 % 2) ^ ((i * 1021 + j * 7) % 11 == 0) for j in range(1024)] for i in range(512)]
    pgm(work / "large.pgm", rows, 1)
    return ["denoise", "large.pgm", "--noise", "flip:0.1", "--coupling", "1.2", "--sweeps", "5", "--burn-in", "5"]


@pytest.mark.long
def test_a_large_picture_of_two_levels_is_run_bit_by_bit(run, work):
    """With its model written the answer has the same bits."""
    given = large_of_two_levels(work)
    done = run(*given, "-o", "a.pgm", "--summary", "a.json", "--threads", "1")
    assert done.status == 0 and "run without factors, as with --method sample --lattice always --chains 4" in done.err
    model = json.loads((work / "a.json").read_text())["model"]
    assert model["variables"] == 512 * 1024 and model["factors"] is None and model["digest"] is None
    run(*given, "-o", "b.pgm", "--summary", "b.json", "--write-model", "b.gbm", "--threads", "2")
    a, b = (json.loads((work / f"{name}.json").read_text()) for name in "ab")
    assert a["digest"] == b["digest"] and b["model"]["factors"] is None and a["options"]["lattice"] == "always"
    assert a["watched_variables"] == 0 and a["lattice"] is not None
    assert (work / "a.pgm").read_bytes() == (work / "b.pgm").read_bytes()
    assert "never moved" not in done.err  # what stays for its conditional probability is not frozen


@nightly
def test_options_that_need_the_model_of_a_large_picture(run, work):
    given = large_of_two_levels(work)
    assert "without factors" not in run(*given, "--lattice", "never", "-o", "c.pgm").err
    assert "without factors" in run(*given, "--estimator", "count", "-o", "c.pgm").err
    assert "keeps no levels" in run(*given, "--estimator", "traces", "-o", "c.pgm").err
    assert "16 chains" in run(*given, "--chains", "16", "-o", "c.pgm").err


def large_of_eight_levels(work):
    """A picture of 512 x 600 pixels. @return the command that restores it."""
    rows = [[min(255, (j // 64 * 3 + i // 100) % 8 * 36 + (i * 1021 + j * 7) % 31) for j in range(512)] for i in range(600)]
    pgm(work / "large.pgm", rows, 255)
    return ["denoise", "large.pgm", "--levels", "8", "--noise", "gauss:0.6", "--coupling", "1", "--sweeps", "20", "--burn-in", "9"]


@pytest.mark.long
def test_a_large_grey_picture_is_run_level_by_level(run, work):
    """The same bytes on any threads, errors of some pixels."""
    given = large_of_eight_levels(work)
    done = run(*given, "-o", "a.pgm", "--mean", "a-mean.pgm", "--summary", "a.json", "--threads", "1")
    assert done.status == 0 and "run without factors" in done.err and "variables spread evenly" in done.err
    assert run(*given, "-o", "b.pgm", "--mean", "b-mean.pgm", "--summary", "b.json", "--threads", "2").status == 0
    a, b = (json.loads((work / f"{name}.json").read_text()) for name in "ab")
    assert a["digest"] == b["digest"] and 0 < a["watched_variables"] < 512 * 600 and a["max_mcse"] > 0
    assert (work / "a.pgm").read_bytes() == (work / "b.pgm").read_bytes()
    assert (work / "a-mean.pgm").read_bytes() == (work / "b-mean.pgm").read_bytes()


@nightly
def test_levels_and_the_model_of_a_large_grey_picture_agree(run, work):
    given = large_of_eight_levels(work)
    assert run(*given, "-o", "a.pgm", "--mean", "a-mean.pgm").status == 0
    assert run(*given, "--lattice", "never", "-o", "c.pgm", "--mean", "c-mean.pgm").status == 0
    means = [(work / f"{name}-mean.pgm").read_bytes()[-2 * 512 * 600:] for name in "ac"]
    means = [[256 * m[2 * i] + m[2 * i + 1] for i in range(512 * 600)] for m in means]
    assert sum(abs(x - y) for x, y in zip(*means)) / len(means[0]) < 0.05 * 65535 / 7


@nightly
@pytest.mark.long
def test_a_large_grey_picture_has_its_model_where_that_is_named(run, work):
    rows = [[(j // 64 + i // 64) % 4 * 85 for j in range(512)] for i in range(512)]
    pgm(work / "large.pgm", rows, 255)
    given = ["denoise", "large.pgm", "--levels", "4", "--noise", "flip:0.1", "--coupling", "1", "--sweeps", "4", "--burn-in", "4"]
    done = run(*given, "-o", "a.pgm", "--map", "map.pgm", "--write-model", "m.gbm", "--time", "20s")
    assert done.status == 0 and "run without factors" in done.err
    assert json.loads(run("info", "m.gbm", "--json").out)["factors"] == 512 * 512 + 2 * 512 * 511
    (work / "start.txt").write_text("0 " * 512 * 512)
    done = run(*given, "-o", "b.pgm", "--start", "start.txt")
    assert "without factors" not in done.err


@pytest.mark.parametrize("draw, sweeps", [("random", 200), ("herded", 200), ("discretized", 200), ("cud", 255)])
def test_every_draw_restores(run, draw, sweeps):
    done = run("denoise", NOISY, *MODEL, "--draw", draw, "--sweeps", str(sweeps), "--truth", TRUTH)
    assert done.status == 0 and errors(done)["wrong"]["restored"] < 0.035


def test_the_model_is_what_marginals_answers(run, work):
    """Written and answered by the other verb, the model has the levels of the picture as its most probable states."""
    rows = [[0, 3, 200], [255, 90, 100]]
    pgm(work / "small.pgm", rows, 255)
    args = ["--levels", "3", "--noise", "gauss:0.6", "--coupling", "0.7", "--neighbours", "8", "--smoothing", "quadratic:2"]
    assert run("denoise", "small.pgm", *args, "--write-model", "m.gbm", "-o", "clean.pgm", "--mean", "mean.pgm").status == 0
    p = [v["probability"] for v in json.loads(run("marginals", "m.gbm", "--format", "json").out)["variables"]]
    mode = [max(range(3), key=lambda a: row[a]) for row in p]
    clean = (work / "clean.pgm").read_bytes()
    assert list(clean[-6:]) == [[0, 128, 255][a] for a in mode]
    mean = (work / "mean.pgm").read_bytes()[-12:]
    for i, row in enumerate(p):
        assert abs(int.from_bytes(mean[2 * i:2 * i + 2], "big") - 65535 * (row[1] + 2 * row[2]) / 2) <= 1


def test_labels(run, work):
    rng = random.Random(2)
    truth = [[(c // 24 + r // 24) % 3 for c in range(72)] for r in range(72)]
    noisy = [[v if rng.random() > 0.2 else rng.randrange(3) for v in row] for row in truth]
    pgm(work / "t.pgm", truth, 255)
    pgm(work / "n.pgm", noisy, 255)
    done = run("denoise", "n.pgm", "--labels", "--levels", "3", "--truth", "t.pgm", "-o", "clean.png", "--sweeps", "400")
    found = errors(done)
    assert done.status == 0 and list(found) == ["wrong"] and found["wrong"]["restored"] < found["wrong"]["noisy"] / 4


def test_a_table_for_people(run):
    done = run("denoise", NOISY, *GIVEN, "--truth", TRUTH, "--format", "table")
    assert done.out.splitlines()[0].split() == ["noisy", "restored", "expected"]
    assert done.out.splitlines()[1].startswith("share of pixels that are wrong ")


@pytest.mark.parametrize("args, said", [
    ([NOISY], "nothing to do"),
    ([NOISY, "-o", "x.jpg"], "expected a name that ends in"),
    ([NOISY, "-o", "x.png", "--mean", "x.png"], "name the same file"),
    ([NOISY, "-o", "x.png", "--noise", "salt:0.1"], 'found "salt:0.1", expected flip or gauss'),
    ([NOISY, "-o", "x.png", "--noise", "flip:0.7", "--coupling", "1"], "flip probability of 0.7"),
    ([NOISY, "-o", "x.png", "--noise", "flip:0"], 'found "flip:0", expected a number above 0'),
    ([NOISY, "-o", "x.png", "--neighbours", "6"], "--neighbours 6: expected 4|8"),
    ([NOISY, "-o", "x.png", "--coupling", "101"], "--coupling 101: must be at least 0 and at most 100 (J)"),
    ([NOISY, "-o", "x.png", "--format", "csv"], "--format applies with --truth only"),
    ([NOISY, "-o", "x.png", "--smoothing", "cubic"], 'found "cubic", expected potts'),
    ([NOISY, "-o", "x.png", "--levels", "4"], "a bitmap has 2 levels"),
    ([NOISY, "-o", "-", "--truth", TRUTH], "standard output is for the table"),
    ([NOISY, "--labels", "--mean", "x.png"], "labels have no mean"),
    (["-", "-o", "x.png", "--truth", "-"], "only one of the inputs"),
])
def test_mistakes(run, work, args, said):
    done = run("denoise", *args)
    assert done.status == 2 and said in done.err and not (work / "x.png").exists()


@pytest.mark.parametrize("name, text, said", [
    ("empty.pbm", b"", "empty.pbm"),
    ("cut.pgm", b"P5\n20 20\n255\nabc", "cut.pgm"),
    ("words.png", b"not a picture", "words.png"),
    ("none.pgm", None, "none.pgm"),
])
def test_bad_pictures(run, work, name, text, said):
    if text is not None:
        (work / name).write_bytes(text)
    for args in ([name], [NOISY, "--truth", name]):
        done = run("denoise", *args, "-o", "x.png", *GIVEN)
        assert done.status == 3 and said in done.err and not (work / "x.png").exists()


def test_a_truth_of_another_size_or_kind(run, work):
    pgm(work / "small.pgm", [[0, 1]], 1)
    pgm(work / "grey.pgm", [[0] * 96] * 72, 1)
    for name, said in (("small.pgm", "found 2 x 1 pixels, expected 96 x 72"), ("grey.pgm", "bitmap")):
        done = run("denoise", NOISY, *GIVEN, "--truth", name)
        assert done.status == 3 and said in done.err


def test_labels_beyond_their_number_are_placed(run, work):
    pgm(work / "n.pgm", [[0, 1], [2, 7]], 255)
    done = run("denoise", "n.pgm", "--labels", "--levels", "3", "-o", "x.png", "--noise", "flip:0.1", "--coupling", "1")
    assert done.status == 3 and "n.pgm: row 1, column 1: " in done.err and "7" in done.err


def test_the_verdict_and_any_number_of_threads(run, work):
    done = run("denoise", NOISY, *GIVEN, "--summary", "s.json", "-o", "clean.png", "--require-converged")
    assert done.status == (0 if ": converged" in done.err else 5)
    assert json.loads((work / "s.json").read_text())["converged"] is (done.status == 0)
    one = run("denoise", NOISY, *GIVEN, "--threads", "1", "-o", "one.png")
    assert one.status == 0 and (work / "one.png").read_bytes() == (work / "clean.png").read_bytes()


def test_a_bitmap_beside_a_picture_with_levels(run, work):
    """Which of them is inverted is not guessed: the message says what to save anew."""
    (work / "n.pbm").write_text("P1\n4 4\n" + "0 1 1 0\n" * 4)
    pgm(work / "t.pgm", [[255, 0, 0, 255]] * 4, 255)
    for noisy, truth, grey in (("n.pbm", "t.pgm", "t.pgm"), ("t.pgm", "n.pbm", "t.pgm")):
        done = run("denoise", noisy, "--truth", truth)
        assert done.status == 3 and done.out == ""
        assert f"{truth}: found a" in done.err and f"save {grey} as .pbm, or the other one as .png" in done.err


@pytest.mark.parametrize("level, said", [
    (20, "is larger than the 1 step from the lowest to the highest level; 20 grey values are gauss:0.07843"), (0.5, None)])
def test_noise_in_grey_values(run, work, level, said):
    """The number of gauss is in levels; one that was meant in grey values is told so."""
    pgm(work / "two.pgm", [[255 * (x > 3) for x in range(8)] for _ in range(8)], 255)
    done = run("denoise", "two.pgm", "--noise", f"gauss:{level}", "--coupling", "1", "-o", "out.pgm", "--sweeps", "20")
    assert (said in done.err) if said else ("larger than" not in done.err), done.err


def test_pixels_without_a_choice(run, work):
    """More sweeps would not move the pixels of a clean picture, and are not advised."""
    pgm(work / "two.pgm", [[255 * (x > 7) for x in range(16)] for _ in range(16)], 255)
    options = ["--coupling", "3", "-o", "out.pgm", "--method", "sample", "--sweeps", "200", "--lattice", "never"]
    done = run("denoise", "two.pgm", "--noise", "flip:0.0003", *options)
    assert "not converged" in done.err and "with this noise and coupling, pixels keep the level" in done.err, done.err
    assert "more --sweeps" not in done.err
