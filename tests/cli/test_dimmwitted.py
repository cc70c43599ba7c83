# SPDX-License-Identifier: Apache-2.0
"""DimmWitted factor graphs from end to end: the real ones, and marginals in DimmWitted's form."""
import math
import shutil
import struct

import pytest


def lines(text):
    """{(variable, value): probability}"""
    return {(int(v), int(a)): float(p) for v, a, p in map(str.split, text.splitlines())}


def records(folder, kind):
    """The lines of KIND*.tsv, as fields."""
    return [line.split() for file in sorted(folder.glob(f"{kind}*.tsv")) for line in file.read_text().splitlines()]


def text2bin(source, folder, weights=None):
    """The shared graphs are text: binary records from it, as DimmWitted's text2bin makes them. weights: others than in the text."""
    folder.mkdir()
    (folder / "graph.meta").write_text((source / "graph.meta").read_text())
    files = {kind: b"" for kind in ("weights", "variables", "domains", "factors")}
    for row, fields in enumerate(records(source, "weights")):
        value = float(fields[2]) if weights is None else weights[row]
        files["weights"] += struct.pack(">QBd", int(fields[0]), int(fields[1]), value)
    for fields in records(source, "variables"):
        files["variables"] += struct.pack(">QBQHQ", *map(int, fields))
    for fields in records(source, "domains"):
        values = [int(a) for a in fields[2].strip("{}").split(",")]
        files["domains"] += struct.pack(">QQ", int(fields[0]), len(values)) + b"".join(struct.pack(">Qd", a, 0.0) for a in values)
    for file in sorted(source.glob("factors*.tsv")):
        function, n, *equal_to = map(int, file.with_suffix(".text2bin-args").read_text().split())
        for line in file.read_text().splitlines():
            fields = line.split()
            values = fields[n:2 * n] if function == 12 else equal_to
            pairs = [int(x) for pair in zip(fields[:n], values) for x in pair]
            files["factors"] += struct.pack(f">HQ{2 * n}QQd", function, n, *pairs, int(fields[-2]), float(fields[-1]))
    for kind, content in files.items():
        if content:
            (folder / f"graph.{kind}").write_bytes(content)


@pytest.fixture
def graph(work, data):
    """One of the shared graphs, in binary form."""

    def make(name, weights=None):
        text2bin(data(f"mln/dimmwitted/{name}"), work / name, weights)

    return make


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


def test_evidence_is_omitted(run, work, graph):
    """biased_coin: evidence 0 to 8; with the weight that learning finds, about 1, marginals 0.89."""
    graph("biased_coin")
    done = run("marginals", "biased_coin", "--format", "dimmwitted", "-qq")
    assert done.out == "".join(f"{v} 1 0.5\n" for v in range(9, 18)) and done.err == ""
    shutil.rmtree(work / "biased_coin")
    graph("biased_coin", [1.0])
    p = lines(run("marginals", "biased_coin", "-e", "12=0", "--format", "dimmwitted").out)
    assert sorted(p) == [(v, 1) for v in range(9, 18) if v != 12]
    assert all(abs(q - 0.89) < 0.03 for q in p.values())
    assert all(abs(q - 1 / (1 + math.exp(-2))) < 1e-12 for q in p.values())
    csv = run("marginals", "biased_coin", "-q").out.splitlines()
    assert csv[1].startswith("0,0,0,") and csv[2].startswith("0,1,1,")


def test_partial_observation(run, graph):
    graph("partial_observation", [1.5, 1.5])
    p = lines(run("marginals", "partial_observation/graph.meta", "--format", "dimmwitted").out)
    assert sorted(p) == [(5, 1), (6, 1), (7, 1)] and min(p.values()) > 0.9
    assert all(abs(q - 1 / (1 + math.exp(-6))) < 1e-12 for q in p.values())


def test_weights_stay_tied(run, work, graph):
    """biased_coin has one weight, which learning may change, and its factors share it."""
    graph("biased_coin")
    for name in ("biased_coin", "x.gbm"):
        rows = [line.split() for line in run("info", "-v", name).out.splitlines()]
        at = rows.index(["tied", "weights", "1"])
        assert rows[at + 1] == ["fixed", "0"] and rows[at + 2][-1] == "18"
        assert run("convert", "biased_coin", "-o", "x.gbm").err == ""
    done = run("convert", "x.gbm", "--format", "uai")
    assert "lost the weights that factors share, which uai files cannot hold" in done.err


def test_other_models(run, work, small):
    """Labels that are no numbers are states; a Boolean variable has one line."""
    assert run("marginals", small, "--format", "dimmwitted", "-q").out == (
        "0 1 0.5\n1 1 0.5\n2 0 0.25\n2 1 0.25\n2 2 0.5\n")
    done = run("marginals", small, "-e", "0=1", "--format", "dimmwitted", "-q", "-o", "x.text")
    assert done.status == 0
    assert (work / "x.text").read_text() == "1 1 0.75\n2 0 0.25\n2 1 0.25\n2 2 0.5\n"


def test_refusals(run, work, graph):
    """What is not read or not written any more says what to do instead."""
    graph("biased_coin")
    done = run("convert", "biased_coin", "-o", "x.meta")
    assert done.status == 1 and ".gbm keeps the weights that factors share" in done.err
    done = run("convert", "biased_coin", "--format", "dimmwitted-tsv")
    assert done.status == 2 and "expected" in done.err and done.out == ""
    (work / "biased_coin" / "graph.factors").rename(work / "biased_coin" / "factors.tsv")
    done = run("marginals", "biased_coin")
    assert done.status == 3 and "DimmWitted's text2bin makes the binary files" in done.err
    done = run("marginals", "-", "--from", "dimmwitted", stdin="")
    assert done.status != 0 and "cannot be read from a stream" in done.err
