# SPDX-License-Identifier: Apache-2.0
"""convert --unroll T: networks of two slices over time."""
import csv
import io

UMBRELLA = "examples/umbrella.bif"


def probabilities(run, *arguments):
    done = run("marginals", *arguments, "-q")
    assert done.status == 0, done.err
    return {(row["variable"], row["state"]): float(row["probability"])
            for row in csv.DictReader(io.StringIO(done.out))}


def test_umbrellas(run, work):
    """Two days with umbrellas (Russell & Norvig, Artificial Intelligence): 0.883 that it rains."""
    for name in ("days.bif", "days.gbm"):
        done = run("convert", UMBRELLA, "--unroll", "2", "-o", name)
        assert done.status == 0 and done.err == ""
    text = (work / "days.bif").read_text()
    assert text.count("probability") == 4 and '"rain[1]" | "rain[0]"' in text
    for name in ("days.bif", "days.gbm"):
        p = probabilities(run, name, "-e", "umbrella[0]=yes")
        assert abs(p["rain[0]", "yes"] - 0.45 / 0.55) < 1e-12
        p = probabilities(run, name, "-e", "umbrella[0]=yes,umbrella[1]=yes")
        assert abs(p["rain[1]", "yes"] - 0.883) < 5e-4


def test_many_days(run, work):
    """Far from what was seen both states are equally likely."""
    assert run("convert", UMBRELLA, "--unroll", "2000", "-o", "days.gbm").status == 0
    p = probabilities(run, "days.gbm", "-e", "umbrella[0]=yes")
    assert len(p) == 8000 and abs(p["rain[1999]", "no"] - 0.5) < 1e-12


def test_as_it_is(run):
    p = probabilities(run, UMBRELLA, "-e", "umbrella=yes")
    assert abs(p["rain'", "yes"] - (0.7 * 0.45 + 0.3 * 0.1) / 0.55) < 1e-12


def test_refusals(run, work):
    done = run("convert", "examples/sprinkler.bif", "--unroll", "3", "--format", "bif")
    assert done.status == 3
    assert done.err.startswith("gibbsite: examples/sprinkler.bif: found no network of two slices")
    done = run("convert", UMBRELLA, "--unroll", "4000000000", "-o", "x.gbm")
    assert done.status == 1 and "more than the 4294967280 possible" in done.err
    done = run("convert", UMBRELLA, "--unroll", "1e8", "--memory-limit", "256M", "-o", "x.gbm")
    assert done.status == 1 and "100000000 slices take" in done.err
    assert not (work / "x.gbm").exists()
    assert run("convert", UMBRELLA, "--unroll", "0", "-o", "x.gbm").status == 2
