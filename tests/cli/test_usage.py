# SPDX-License-Identifier: Apache-2.0
"""Verbs, options and their refusals: status 2 with a message that helps."""
import pytest
from conftest import ROOT, SPRINKLER, only

GRID = ROOT / "examples" / "grid.uai"
LATER_OPTIONS = ["--trace", "--anytime"]


def test_version(run):
    done = run("--version")
    assert done.status == 0
    assert done.out.startswith("gibbsite ")
    assert len(done.out.split()[1].split(".")) == 3
    assert run("version").out == run("-V").out == done.out


@pytest.mark.parametrize("option", LATER_OPTIONS)
def test_later_options(run, option):
    done = run("marginals", SPRINKLER, option, "1")
    assert done.status == 2 and done.out == ""
    assert f"'{option}' is not in this version" in done.err


@pytest.mark.parametrize("arguments, near", [
    (["marginls", "x"], "marginals"),
    (["inf", "x"], "info"),
    (["marginals", SPRINKLER, "--sweps", "5"], "--sweeps"),
    (["marginals", SPRINKLER, "--scan", "sistematic"], "systematic"),
    (["generate", "isin"], "ising"),
])
def test_near_misses(run, arguments, near):
    done = run(*arguments)
    assert done.status == 2
    assert f"did you mean '{near}'" in done.err


@pytest.mark.parametrize("arguments, part", [
    (["frobnicate"], "unknown verb 'frobnicate'"),
    (["marginals"], "MODEL is missing"),
    (["marginals", SPRINKLER, "more"], "unexpected 'more'"),
    (["marginals", SPRINKLER, "--frobnicate"], "unknown option '--frobnicate'"),
    (["marginals", SPRINKLER, "-z"], "unknown option '-z'"),
    (["marginals", SPRINKLER, "--seed"], "needs a value"),
    (["marginals", SPRINKLER, "--lenient=1"], "takes no value"),
    (["marginals", SPRINKLER, "--burn-", "5"], "unknown option '--burn-'"),  # no abbreviations
    (["marginals", SPRINKLER, "--seed", "1", "--seed", "2"], "twice"),
    (["marginals", SPRINKLER, "--thin", "2"], "no option '--thin'"),
    (["info", SPRINKLER, "--sweeps", "2"], "no option '--sweeps'"),
    (["marginals", SPRINKLER, "--target-error", "0"], "above 0"),
    (["marginals", SPRINKLER, "--target-error", "nan"], "expected a number"),
    (["marginals", SPRINKLER, "--target-error", "0x1p-3"], "expected a number"),
    (["marginals", SPRINKLER, "--target-error", "1.5"], "at most 1"),
    (["marginals", SPRINKLER, "--threads", "0"], "must be from 1"),
    (["marginals", SPRINKLER, "--chains", "0"], "from 1 to 4096"),
    (["marginals", SPRINKLER, "--chains", "4097"], "from 1 to 4096"),
    (["marginals", SPRINKLER, "--sweeps", "0"], "must be from 1"),
    (["marginals", SPRINKLER, "--sweeps", "-3"], "expected a whole number below 2^64, such as 5000, 5k or 2e6\n"),
    (["marginals", SPRINKLER, "--sweeps", "unset"], "leave the option out"),
    (["marginals", SPRINKLER, "--time", "unset"], "leave the option out"),
    (["marginals", SPRINKLER, "--sweeps", "3x"], "whole number"),
    (["marginals", SPRINKLER, "--seed", "18446744073709551616"], "whole number below 2^64"),
    (["marginals", SPRINKLER, "--burn-in", "18446744073709551615"], "must be from 0"),
    (["marginals", SPRINKLER, "--time", "10x"], "such as 90s"),
    (["marginals", SPRINKLER, "--time", "0s"], "above 0"),
    (["marginals", SPRINKLER, "--memory-limit", "4Q"], "such as 512M"),
    (["marginals", SPRINKLER, "--memory-limit", "99999999999T"], "such as 512M"),
    (["marginals", SPRINKLER, "--damping", "0.5"], "apply with --method mean-field"),
    (["marginals", SPRINKLER, "--method", "mean-field", "--chains", "4"], "cannot apply"),
    (["marginals", SPRINKLER, "--method", "mean-field", "--damping", "0"], "1"),
    (["sample", SPRINKLER, "--method", "mean-field"], "takes --method auto or sample"),
    (["marginals", SPRINKLER, "--width", "3"], "applies with --scan splash"),
    (["marginals", SPRINKLER, "--scan", "auto", "--splashes", "2"], "applies with --scan splash"),
    (["marginals", SPRINKLER, "--scan", "splash", "--width", "17"], "from 1 to 16"),
    (["marginals", SPRINKLER, "--scan", "splash", "--grow", "adaptive"], "must be given together"),
    (["marginals", SPRINKLER, "--scan", "splash", "--score", "literal"], "--grow adaptive"),
    (["marginals", SPRINKLER, "--scan", "splash", "--draw", "herded"], "--keys bins"),
    (["marginals", SPRINKLER, "--scan", "splash", "--certified", "0.1"], "one variable at a time"),
    (["certify", SPRINKLER, "--scan", "splash"], "draws blocks"),
    (["marginals", SPRINKLER, "--scan", "wolff", "--clusters", "0"], "from 1 to"),
    (["marginals", SPRINKLER, "--scan", "cluster", "--clusters", "2"], "applies with --scan wolff only"),
    (["certify", SPRINKLER, "--scan", "cluster"], "the cluster scan moves clusters"),
    (["certify", SPRINKLER, "--scan", "wolff", "--couplings", "4"], "the wolff scan moves clusters"),
    (["marginals", SPRINKLER, "--method", "exact", "--width", "3"], "--width cannot apply"),
    (["marginals", SPRINKLER, "--scan", "no-such-file"], "expected chromatic|"),
    (["marginals", SPRINKLER, "--herd-init", "random"], "applies to herded draws only"),
    (["marginals", SPRINKLER, "--dummy-edges", "ring:2"], "applies to herded draws only"),
    (["marginals", SPRINKLER, "--keys", "auto"], "--keys applies to herded draws only; choose one with --draw"),
    (["sample", SPRINKLER, "--draw", "cud", "--keys", "auto"], "--keys applies to herded draws only"),
    (["marginals", SPRINKLER, "--draw", "herded", "--dummy-edges", "ring:3"], "from 2 to half"),
    (["marginals", SPRINKLER, "--draw", "one-bin", "--keys", "sum"], "has fixed keys"),
    (["marginals", SPRINKLER, "--draw", "herded", "--bins", "4"], "has no bins"),
    (["marginals", SPRINKLER, "--draw", "herded", "--bin-edge", "left"], "has no bins"),
    (["marginals", SPRINKLER, "--draw", "herded", "--keys", "sum"], "use --keys shared"),
    (["marginals", SPRINKLER, "--cud-bits", "5"], "applies with --draw cud"),
    (["marginals", SPRINKLER, "--draw", "cud", "--sweeps", "1000"], "--sweeps 1023"),
    (["marginals", SPRINKLER, "--draw", "cud", "--scan", "random"], "once per pass"),
    (["marginals", SPRINKLER, "--method", "exact", "--sweeps", "9"], "--sweeps cannot apply"),
    (["marginals", SPRINKLER, "--method", "exact", "--start", "x"], "--start cannot apply"),
    (["sample", SPRINKLER, "--method", "exact"], "takes auto|sample"),
    (["sample", SPRINKLER, "--format", "json"], "expected csv"),
    (["marginals", SPRINKLER, "-q", "-v"], "exclude"),
    (["marginals", SPRINKLER, "-o", "x.npy"], "--format mar|csv|table|json"),
    (["marginals", SPRINKLER, "--summary", "-"], "standard output is for the result"),
    (["marginals", SPRINKLER, "-o", "a.json", "--summary", "a.json"], "same file"),
    (["marginals", SPRINKLER, "--evidence-index", "1"], "evidence file"),
    (["marginals", "-"], "--from"),
    (["marginals", "-", "--from", "uai", "-e", "-"], "only one of the inputs"),
    (["generate"], "ising, potts, ring, complete, regular, powerlaw, rbm or bayes"),
    (["generate", "tree"], "expected ising, potts, ring, complete, regular, powerlaw, rbm or bayes"),
    (["generate", "complete", "--format", "uai"], "--variables is missing"),
    (["generate", "regular", "--variables", "8", "--format", "uai"], "--degree is missing"),
    (["generate", "powerlaw", "--variables", "8", "--format", "uai"], "--edges is missing"),
    (["generate", "rbm", "--visible", "8", "--format", "uai"], "--hidden is missing"),
    (["generate", "rbm", "--variables", "8"], "no option '--variables'"),
    (["generate", "complete", "--variables", "5000000000"], "must be from 1 to 4294967280"),
    (["generate", "ising", "--format", "uai"], "--grid is missing"),
    (["generate", "ising", "--grid", "4", "--format", "uai"], "expected RxC"),
    (["generate", "ising", "--grid", "4x0", "--format", "uai"], "expected RxC"),
    (["generate", "ising", "--grid", "4x4x4x4", "--format", "uai"], "expected RxC"),
    (["generate", "ising", "--grid", "4x4"], "needs --format"),
    (["generate", "potts", "--grid", "4x4", "--format", "uai"], "--states is missing"),
    (["generate", "bayes", "--variables", "4", "--parents", "1", "--states", "4:2"], "A <= B"),
    (["generate", "ring", "--grid", "4x4"], "no option '--grid'"),
    (["convert", SPRINKLER], "needs --format"),
    (["compare", "one.MAR"], "compare: B is missing"),
    (["help", "frobnicate"], "unknown verb"),
])
def test_refused(run, work, arguments, part):
    done = run(*arguments)
    assert done.status == 2, done.err
    assert part in done.err
    assert done.out == ""
    assert done.err.startswith("gibbsite: ") and done.err.count("\n") == 1
    only(work)


@pytest.mark.parametrize("value, status", [
    ("portable", 0), ("neon", 0), ("avx2", 0), ("avx512", 0), ("sse", 2), ("AVX2", 2), ("", 2),
])
def test_simd_environment(run, value, status):
    done = run("info", SPRINKLER, env={"GIBBSITE_SIMD": value})
    assert done.status == status
    assert status == 0 or "portable, neon, avx2 or avx512" in done.err


def test_options_before_and_after_the_model(run):
    a = run("marginals", "--seed", "7", "--sweeps", "20", SPRINKLER)
    b = run("marginals", SPRINKLER, "--sweeps=20", "--seed=7")
    assert a.status == b.status == 0
    assert a.out == b.out


@pytest.mark.parametrize("words", [["certify", GRID], ["scan", GRID, "--steps", "4", "-o", "-"], ["info", GRID],
                                   ["ground", ROOT / "examples" / "smokers.mln", ROOT / "examples" / "smokers.db", "--format", "uai"]])
def test_threads_of_verbs_that_take_one(run, words):
    """Scripts give all verbs the same options."""
    one = run(*words)
    done = run(*words, "--threads", "2")
    said = [[line for line in result.out.splitlines() if "MiB were" not in line] for result in (one, done)]
    assert one.status == done.status == 0 and said[0] == said[1] != []  # MiB were: what was used
    assert run(*words, "--threads", "0").status == 2
