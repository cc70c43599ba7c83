# SPDX-License-Identifier: Apache-2.0
"""DimmWitted factor graphs from end to end: the real ones, and marginals in DimmWitted's form."""
import math
import shutil

import pytest


def lines(text):
    """{(variable, value): probability}"""
    return {(int(v), int(a)): float(p) for v, a, p in map(str.split, text.splitlines())}


@pytest.fixture
def graph(work, data):
    """A copy of one of the shared graphs."""

    def copy(name):
        folder = work / name
        shutil.copytree(data(f"mln/dimmwitted/{name}"), folder)
        folder.chmod(0o755)
        for file in folder.iterdir():
            file.chmod(0o644)
        return folder

    return copy


def test_sparse_multinomial(run, graph):
    """Three factor files, domains; the origin expects 1, 1, 0.05 and 0.95 within 0.04."""
    graph("sparse_multinomial2")
    p = lines(run("marginals", "sparse_multinomial2/graph.meta", "--format", "dimmwitted").out)
    assert sorted(p) == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (1, 3), (2, 1), (2, 3)]
    for key, expected in {(0, 1): 1, (1, 1): 1, (2, 1): 0.05, (2, 3): 0.95}.items():
        assert abs(p[key] - expected) < 0.04
    weight = [10 if (a, b) == (1, 1) else 0 for a in range(3) for b in range(1, 4)]
    z = sum(map(math.exp, weight))
    assert abs(p[0, 1] - (math.exp(10) + 2) / z) < 1e-12
    assert abs(p[2, 3] - math.exp(4) / (math.exp(4) + math.e)) < 1e-12
    sampled = run("marginals", "sparse_multinomial2", "--method", "sample", "--sweeps", "4000",
                  "--format", "dimmwitted")
    assert sampled.status == 0, sampled.err
    assert all(abs(q - p[key]) < 0.04 for key, q in lines(sampled.out).items())


def test_evidence_is_omitted(run, graph):
    """biased_coin: evidence 0 to 8; with the weight that learning finds, about 1, marginals 0.89."""
    folder = graph("biased_coin")
    done = run("marginals", "biased_coin", "--format", "dimmwitted", "-qq")
    assert done.out == "".join(f"{v} 1 0.5\n" for v in range(9, 18)) and done.err == ""
    (folder / "weights.tsv").write_text("0\t0\t1\n")
    p = lines(run("marginals", "biased_coin", "-e", "12=0", "--format", "dimmwitted").out)
    assert sorted(p) == [(v, 1) for v in range(9, 18) if v != 12]
    assert all(abs(q - 0.89) < 0.03 for q in p.values())
    assert all(abs(q - 1 / (1 + math.exp(-2))) < 1e-12 for q in p.values())
    csv = run("marginals", "biased_coin", "-q").out.splitlines()
    assert csv[1].startswith("0,0,0,") and csv[2].startswith("0,1,1,")


def test_partial_observation(run, graph):
    folder = graph("partial_observation")
    (folder / "weights.tsv").write_text("0 0 1.5\n1 0 1.5\n")
    p = lines(run("marginals", "partial_observation/graph.meta", "--format", "dimmwitted").out)
    assert sorted(p) == [(5, 1), (6, 1), (7, 1)] and min(p.values()) > 0.9
    assert all(abs(q - 1 / (1 + math.exp(-6))) < 1e-12 for q in p.values())


@pytest.mark.parametrize("name", ["biased_coin", "partial_observation", "sparse_multinomial2"])
def test_convert(run, work, graph, name):
    """Text to binary to text; the answers stay, to the last bit."""
    graph(name)
    (work / "out").mkdir()
    done = run("convert", name, "-o", "x.meta")
    assert done.status == 0 and done.err == ""
    assert (work / "x.domains").exists() == (name == "sparse_multinomial2")
    done = run("convert", "x.meta", "--format", "dimmwitted-tsv", "-o", "out/graph.meta")
    assert done.status == 0, done.err
    expected = run("marginals", name)
    assert expected.out.count("\n") > 5
    assert run("marginals", "x.meta").out == expected.out
    assert run("marginals", "out").out == expected.out


def test_weights_stay_tied(run, work, graph):
    """biased_coin has one weight, which learning may change, and its factors share it."""
    folder = graph("biased_coin")
    rows = [line.split() for line in run("info", "-v", "biased_coin").out.splitlines()]
    at = rows.index(["tied", "weights", "1"])
    assert rows[at + 1] == ["fixed", "0"] and rows[at + 2][-1] == "18"
    assert run("convert", "biased_coin", "-o", "x.gbm").err == ""
    (work / "out").mkdir()
    assert run("convert", "x.gbm", "--format", "dimmwitted-tsv", "-o", "out/graph.meta").err == ""
    back = (work / "out" / "weights.tsv").read_text().split()
    assert back[:2] == ["0", "0"] and float(back[2]) == 0
    meta = (work / "out" / "graph.meta").read_text().strip()
    assert (folder / "graph.meta").read_text().strip().startswith(meta)
    done = run("convert", "x.gbm", "--format", "uai")
    assert "lost the weights that factors share, which uai files cannot hold" in done.err


def test_other_models(run, work, small):
    """Labels that are no numbers are states; a Boolean variable has one line."""
    assert run("marginals", small, "--format", "dimmwitted", "-q").out == (
        "0 1 0.5\n1 1 0.5\n2 0 0.25\n2 1 0.25\n2 2 0.5\n")
    done = run("marginals", small, "-e", "0=1", "--format", "dimmwitted", "-q", "-o", "x.text")
    assert done.status == 0
    assert (work / "x.text").read_text() == "1 1 0.75\n2 0 0.25\n2 1 0.25\n2 2 0.5\n"
    done = run("convert", small, "-o", "small.meta")
    assert done.status == 0
    assert run("marginals", "small.meta").out == run("marginals", small).out


def test_refusals(run, work, graph):
    folder = graph("biased_coin")
    done = run("marginals", "biased_coin", "--from", "dimmwitted")
    assert done.status == 3 and "companions of the format dimmwitted-tsv" in done.err
    (folder / "graph.weights").write_bytes(b"")
    done = run("marginals", "biased_coin/graph.meta")
    assert done.status != 0 and "--from dimmwitted or --from dimmwitted-tsv" in done.err
    done = run("marginals", "biased_coin/graph.meta", "--from", "dimmwitted-tsv")
    assert done.status == 0
    (folder / "factors.text2bin-args").write_text("5 1 1\n")
    done = run("marginals", "biased_coin", "--from", "dimmwitted-tsv")
    assert done.status == 3
    assert "biased_coin/factors.text2bin-args:1:1: found '5', expected one of the" in done.err
    done = run("convert", "biased_coin", "--format", "dimmwitted")
    assert done.status != 0 and done.out == ""
    done = run("marginals", "-", "--from", "dimmwitted", stdin="")
    assert done.status != 0 and "cannot be read from a stream" in done.err
