# SPDX-License-Identifier: Apache-2.0
"""Error components and what one of them tends to."""
import csv
import io
import math

import pytest
from conftest import SPRINKLER


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_components(run):
    done = run("decompose", SPRINKLER, "--focus", "grass", "--sweeps", 1000, "--chains", 8)
    assert done.status == 0, done.err
    table = rows(done.out)
    assert [r["sweeps"] for r in table[::6]] == [str(2**k) for k in range(10)]
    for k in range(10):
        part = {r["component"]: float(r["mean"]) for r in table[6 * k : 6 * k + 6]}
        assert list(part) == ["cor", "herding", "approx", "z", "bin", "all"]
        rest = sum(v for c, v in part.items() if c != "all")
        assert part["all"] <= rest + 1e-12
        assert part["bin"] == 0 and part["approx"] < 1e-12
    assert all(float(r["min"]) <= float(r["mean"]) <= float(r["max"]) for r in table)
    assert "after 512 sweeps, mean of 8 chains: cor" in done.err


def test_same_bits(run):
    one = run("decompose", SPRINKLER, "--focus", 0, "--sweeps", 500, "--threads", 1)
    two = run("decompose", SPRINKLER, "--focus", "rain", "--sweeps", 500, "--threads", 3)
    assert one.status == two.status == 0
    assert one.out == two.out


def test_evidence(run):
    done = run("decompose", SPRINKLER, "--focus", "rain", "-e", "grass=wet", "--sweeps", 256)
    assert done.status == 0, done.err
    done = run("decompose", SPRINKLER, "--focus", "grass", "-e", "grass=wet", "--sweeps", 256)
    assert done.status == 2 and "only one possible state" in done.err


@pytest.mark.long
def test_herded_keys(run):
    """Dummy edges and complete keys tell all seven others apart; the ring alone two of them."""
    assert run("generate", "ring", "--variables", 8, "--coupling", 0.4, "-o", "ring.gbm").status == 0
    for options, keys in (([], 4), (["--dummy-edges", "ring:2"], 16), (["--dummy-edges", "ring:4"], 128),
                          (["--keys", "complete"], 128), (["--keys", "shared"], 3)):
        done = run("decompose", "ring.gbm", "--focus", 3, "--draw", "herded", "--sweeps", 64, *options)
        assert done.status == 0, done.err
        assert f"gibbsite: {keys} keys;" in done.err
    done = run("decompose", "ring.gbm", "--focus", 3, "--asymptotic", "--dummy-edges", "ring:4")
    assert done.status == 0 and len(rows(done.out)) == 129
    assert float(rows(done.out)[-1]["part"]) < 2e-10  # complete keys leave nothing


def test_refusals(run):
    assert run("decompose", SPRINKLER).status == 2
    assert "--focus is missing" in run("decompose", SPRINKLER).err
    assert "snow" in run("decompose", SPRINKLER, "--focus", "snow").err
    assert run("decompose", SPRINKLER, "--focus", "rain", "--scan", "random").status == 2
    done = run("decompose", SPRINKLER, "--focus", "rain", "--asymptotic", "--sweeps", 9)
    assert done.status == 2 and "--asymptotic cannot apply with --sweeps" in done.err
    assert run("generate", "ring", "--variables", 17, "-o", "ring.gbm").status == 0
    done = run("decompose", "ring.gbm", "--focus", 0)
    assert done.status == 1 and "131072" in done.err and "65536" in done.err


def write_spins(path, text):
    """An Ising model as fields and couplings, as UAI tables."""
    word = text.split()
    n, m = int(word[0]), int(word[1])
    field = [float(w) for w in word[2 : 2 + n]]
    edge = [word[2 + n + 3 * k : 5 + n + 3 * k] for k in range(m)]
    out = ["MARKOV", str(n), " ".join(["2"] * n), str(n + m)]
    out += [f"1 {i}" for i in range(n)] + [f"2 {i} {j}" for i, j, _ in edge]
    for h in field:
        out += ["2", f"{math.exp(-h)!r} {math.exp(h)!r}"]
    for _, _, coupling in edge:
        weight = [math.exp(float(coupling) * a * b) for a in (-1, 1) for b in (-1, 1)]
        out += ["4", " ".join(map(repr, weight))]
    path.write_text("\n".join(out) + "\n")


@pytest.mark.parametrize("name,total", [("G1_largec", 7.357e-3), ("G2_largec", 4.756e-3)])
def test_printed_totals(run, work, data, name, total):
    """Yamashita & Suzuki (2019), Table 1, prints 7.34e-3 and 4.75e-3, from 2^32 draws."""
    write_spins(work / "ring.uai", data(f"herding/{name}.txt").read_text())
    done = run("decompose", "ring.uai", "--focus", 7, "--asymptotic")
    assert done.status == 0, done.err
    table = rows(done.out)
    assert [r["state"] for r in table] == ["x0=0 x6=0", "x0=0 x6=1", "x0=1 x6=0", "x0=1 x6=1", ""]
    assert float(table[-1]["part"]) == pytest.approx(total, rel=1e-3)
    if name == "G1_largec":
        assert float(table[2]["p"]) == pytest.approx(0.0935, abs=1e-4)
        assert float(table[2]["t"]) == pytest.approx(0.4849, abs=1e-4)
        assert float(table[2]["distance"]) == pytest.approx(0.151, abs=1e-3)


def test_bound(run):
    """The theorem beside what was measured: it says nothing at first, and is kept later."""
    assert run("generate", "complete", "--variables", 3, "--coupling", 0.15, "--field", 0.1, "-o", "all.gbm").status == 0
    done = run("decompose", "all.gbm", "--focus", 1, "--bound", "--draw", "herded", "--sweeps", "1e5")
    assert done.status == 0, done.err
    table = rows(done.out)
    assert list(table[0]) == "sweeps mean max bound eta p steps l b lambda t_star tau".split()
    assert float(table[0]["bound"]) == 1 and 0 < float(table[-1]["bound"]) < 0.05
    assert all(float(row["mean"]) <= float(row["max"]) <= float(row["bound"]) for row in table)
    assert table[0]["steps"] == "3" and "any state after 3 updates" in done.err
    for options, why in ((["--draw", "random"], "herded-complete"), (["--draw", "herded", "--asymptotic"], "--asymptotic")):
        done = run("decompose", "all.gbm", "--focus", 1, "--bound", *options)
        assert done.status == 2 and why in done.err and not done.out
