# SPDX-License-Identifier: Apache-2.0
"""learn aspects and segment: classes of patches from pictures, and pictures cut into their regions."""
import csv
import io
import json

import pytest

LIST, SCENE, TRUTH = "examples/ground/list.txt", "examples/ground.png", "examples/ground-truth.png"
CLASSES = "examples/ground.aspects"
WORDS = ["--texture-words", "24", "--color-words", "4"]


def table(done):
    return {row["class"]: {k: int(v) for k, v in row.items() if k != "class"} for row in csv.DictReader(io.StringIO(done.out))}


def test_the_example_is_learnt(run, work):
    """The stored classes are those of the stored pictures, and four fifths of the patches are cut right."""
    done = run("learn", "aspects", LIST, *WORDS, "-o", "a.aspects", "--summary", "s.json", "--threads", "2")
    assert done.status == 0 and "converged after" in done.err
    from conftest import ROOT
    assert (work / "a.aspects").read_bytes() == (ROOT / CLASSES).read_bytes()
    summary = json.loads((work / "s.json").read_text())
    assert summary["pictures"] == 6 and summary["classes"] == 4 and summary["converged"] is True
    done = run("segment", "a.aspects", SCENE, "--truth", TRUTH, "-o", "map.png", "--overlay", "overlay.png", "--summary", "run.json")
    assert done.status == 0 and "converged" in done.err
    rows = table(done)
    assert rows["all"]["true"] == 285 and rows["all"]["patches"] == 285
    assert rows["all"]["right"] >= 240 and rows["all"]["right"] > rows["all"]["right_alone"]
    assert sum(rows[a]["right"] for a in rows if a != "all") == rows["all"]["right"]
    assert (work / "map.png").stat().st_size > 300 and (work / "overlay.png").stat().st_size > 3000
    assert json.loads((work / "run.json").read_text())["model"]["variables"] == 285


def test_a_map_is_its_own_truth(run):
    run("segment", CLASSES, SCENE, "-o", "map.png", "--sweeps", "300")
    rows = table(run("segment", CLASSES, SCENE, "--truth", "map.png", "--sweeps", "300"))
    assert rows["all"]["right"] > 0.9 * rows["all"]["true"]


def test_no_coupling_is_each_patch_alone(run):
    rows = table(run("segment", CLASSES, SCENE, "--truth", TRUTH, "--coupling", "0"))
    assert all(row["right"] == row["right_alone"] for row in rows.values())


def test_the_default_of_an_option_is_that_of_the_verb(run, work):
    """generate has a --coupling of another default."""
    run("segment", CLASSES, SCENE, "--write-model", "a.uai", "--sweeps", "10")
    run("segment", CLASSES, SCENE, "--write-model", "b.uai", "--sweeps", "10", "--coupling", "0.48")
    assert (work / "a.uai").read_bytes() == (work / "b.uai").read_bytes()


def test_a_rectangle(run):
    """A scan for it needs a fifth of the updates of a whole one, or a few more; what is right inside is about the same."""
    done = run("segment", CLASSES, SCENE, "--truth", TRUTH, "--target", "6x6+2+3", "--sweeps", "500")
    whole = run("segment", CLASSES, SCENE, "--truth", TRUTH, "--target", "6x6+2+3", "--sweeps", "500", "--scan", "systematic")
    n = int(done.err.split("a scan of ")[1].split()[0])
    assert n <= 285 / 4 and "not converged: the scan omits 249 variables" in done.err
    assert "the scan omits" in run("segment", CLASSES, SCENE, "--target", "6x6+2+3", "--sweeps", "9").err  # more would not do
    assert "--target:" not in whole.err
    inside, all_of_it = table(done)["all"], table(whole)["all"]
    assert inside["patches"] == inside["true"] == 36
    assert inside["right"] >= all_of_it["right"] - 2
    middle = run("segment", CLASSES, SCENE, "--target", "5x7", "--sweeps", "50")
    placed = run("segment", CLASSES, SCENE, "--target", "5x7+5+6", "--sweeps", "50")
    assert middle.out == placed.out and table(middle)["all"]["patches"] == 35


@pytest.mark.parametrize("draw", ["herded", "discretized", "cud"])
def test_draws(run, draw):
    rows = table(run("segment", CLASSES, SCENE, "--truth", TRUTH, "--draw", draw, "--sweeps", "255"))
    assert rows["all"]["right"] >= 240


@pytest.mark.parametrize("args, message", [
    (["--target", "6"], "--target: found \"6\", expected ROWSxCOLUMNS"),
    (["--target", "16x2"], "inside the 15 x 19 patches"),
    (["--target", "3x3+13+0"], "inside the 15 x 19 patches"),
    (["--target", "0x3"], "--target: found"),
    (["--target", "3x3x"], "--target: found"),
    (["--overlay", "a.jpg"], "expected a name that ends in .png or .ppm"),
    (["-o", "a.png", "--overlay", "a.png"], "two results have the same file"),
    (["--coupling", "-1"], "--coupling -1: must be"),
    (["--neighbours", "6"], "--neighbours"),
    (["--levels", "3"], "--levels"),
])
def test_wrong_use(run, work, args, message):
    done = run("segment", CLASSES, SCENE, *args)
    assert done.status == 2 and message in done.err and done.out == ""
    assert not (work / "a.png").exists()


def test_strong_couplings_have_no_scan(run):
    done = run("segment", CLASSES, SCENE, "--target", "6x8", "--coupling", "3")
    assert done.status in (0, 1)
    assert done.status == 0 or "choose a smaller --coupling" in done.err


def test_bad_files(run, work):
    (work / "small.pgm").write_text("P2\n3 3\n255\n" + "0 " * 9)
    (work / "list").write_text("small.pgm grass\nsmall.pgm sky\n")
    (work / "one").write_text("small.pgm grass\n")
    (work / "both").write_text("small.pgm grass sky\n")
    (work / "bad.aspects").write_text("gibbsite-aspects 1\nside 3\n")
    (work / "empty").write_text("")
    for args, message in [
            (["segment", CLASSES, "small.pgm"], "small.pgm: found a picture of 3 x 3 pixels, expected at least one patch, 20 x 20"),
            (["segment", CLASSES, "none.png"], "none.png"),
            (["segment", "bad.aspects", SCENE], "bad.aspects:2:6: found '3', expected a number from 4 to 1024"),
            (["segment", "empty", SCENE], "empty:1:1: found the end of the file, expected 'gibbsite-aspects'"),
            (["segment", CLASSES, SCENE, "--truth", "small.pgm"], "expected grey or a palette of 200 x 160 pixels"),
            (["learn", "aspects", "list"], "list:1:1: small.pgm: found a picture of 3 x 3 pixels"),
            (["learn", "aspects", "one"], "one:1:11: found no class but grass, expected at least two"),
            (["learn", "aspects", "both"], "both:1:17: found the classes grass and sky in the same pictures"),
            (["learn", "aspects", "empty"], "empty:1:1: found the end of the file, expected a picture")]:
        out = "out.png" if args[0] == "segment" else "out.aspects"
        done = run(*args, "-o", out)
        assert done.status == 3 and message in done.err, args
        assert not (work / out).exists()


def test_wrong_use_of_learn(run):
    for args, message in [(["--patch", "3"], "--patch: found"), (["--patch", "20,0"], "--patch: found"),
                          (["--patch", "20,10,5"], "--patch: found"), (["--l2", "1"], "'learn aspects' has no option '--l2'"),
                          (["--hidden", "3"], "'learn aspects' has no option '--hidden'")]:
        done = run("learn", "aspects", LIST, *args)
        assert done.status == 2 and message in done.err
    done = run("learn", "rbm", LIST, "--patch", "20")
    assert done.status == 2 and "'learn rbm' has no option '--patch', which is for learn aspects" in done.err
