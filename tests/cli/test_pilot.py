# SPDX-License-Identifier: Apache-2.0
"""--scan auto and usual: what the terminal and the summary say of the pilot."""
import json

import pytest

# x1 = x0 xor b1, x2 = x1 xor b2: parities of bits; sampled one variable at a time nothing moves.
PARITY = """MARKOV
5
2 2 2 2 2
5
1 0
1 1
1 2
3 0 1 3
3 3 2 4
2
 0.7 0.3
2
 0.4 0.6
2
 0.2 0.8
8
 1 0 0 1 0 1 1 0
8
 1 0 0 1 0 1 1 0
"""


def summary(work):
    return json.loads((work / "run.json").read_text())


@pytest.fixture
def parity(work):
    (work / "parity.uai").write_text(PARITY)
    return "parity.uai"


@pytest.mark.parametrize("scan", [[], ["--scan", "usual"], ["--scan", "auto"]])
@pytest.mark.long
def test_zeros_are_crossed(run, work, parity, scan):
    done = run("marginals", parity, "--method", "sample", *scan, "-v", "--summary", "run.json", "--format", "json")
    assert done.status == 0, done.err
    assert "scan splash: its splashes hold every block of hard zeros" in done.err
    assert "pilot: chosen: splash --width" in done.err
    s = summary(work)
    assert s["converged"] is True
    pilot = s["pilot"]
    assert list(pilot) == ["scan", "reason", "seconds", "chosen", "trials"]
    assert pilot["scan"] == "splash"
    chosen = pilot["trials"][pilot["chosen"]]
    assert chosen["crosses_zeros"] is True and chosen["ess_per_operation"] > 0
    assert pilot["trials"][0]["scan"] == "chromatic" and "width" not in pilot["trials"][0]
    named = run("marginals", parity, "--method", "sample", "--scan", "splash", "--width", str(chosen["width"]),
                "--splash-size", str(chosen["splash_size"]), "--grow", "fifo", "--summary", "run.json")
    assert named.status == 0, named.err
    assert summary(work)["digest"] == s["digest"] and summary(work)["pilot"] is None


def test_a_named_scan_is_kept(run, work, parity):
    done = run("marginals", parity, "--method", "sample", "--scan", "chromatic", "--summary", "run.json")
    assert done.status == 4 and "split the support" in done.err
    assert summary(work)["pilot"] is None


def test_easy(run, work):
    assert run("generate", "ising", "--grid", "12x12", "--coupling", "0.2", "--field", "0.1", "-o", "g.uai").status == 0
    digests = set()
    for scan in ("auto", "chromatic", "usual"):
        done = run("marginals", "g.uai", "--sweeps", "200", "--scan", scan, "--summary", "run.json")
        assert done.status == 0, done.err
        digests.add(summary(work)["digest"])
        pilot = summary(work)["pilot"]
        assert (pilot is not None) == (scan == "auto") == ("scan chromatic: " in done.err)
        assert "pilot: " not in done.err  # which scan how efficient: with --verbose
    assert len(digests) == 1


@pytest.mark.parametrize("more", [["--draw", "herded"], ["--certified", "0.1"],
                                  ["--estimator", "count", "--lattice", "always"]])
def test_nothing_to_choose(run, work, more):
    assert run("generate", "ising", "--grid", "8x8", "--coupling", "0.1", "-o", "g.uai").status == 0
    done = run("marginals", "g.uai", "--scan", "auto", "--sweeps", "100", *more, "--summary", "run.json")
    assert done.status == 0, done.err
    pilot = summary(work)["pilot"]
    assert pilot["scan"] == "chromatic" and pilot["trials"] == [] and pilot["chosen"] is None
    assert "do not support these options" in done.err


@pytest.mark.long
def test_where_it_is_no_scan(run, work, parity):
    done = run("certify", parity, "--scan", "auto")
    assert done.status == 2 and "a bound needs one given scan" in done.err
    done = run("marginals", parity, "--scan", "auto", "--width", "3")
    assert done.status == 2 and "applies with --scan splash" in done.err
    assert run("sample", parity, "--scan", "auto", "--sweeps", "5").status == 0
    assert run("map", parity, "--scan", "auto", "--method", "sample", "--sweeps", "50").status == 0
    assert run("logz", parity, "--scan", "auto", "--method", "sample").status == 0
