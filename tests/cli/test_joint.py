# SPDX-License-Identifier: Apache-2.0
"""marginals --joint: tables of joint states."""
import csv
import io
import json

import pytest
from conftest import SPRINKLER, on_terminal

CLINIC = "examples/clinic.bif"


def tables(text):
    """Rows of each table: an empty line stands between two."""
    return [list(csv.reader(io.StringIO(part))) for part in text.split("\n\n")]


def test_exact(run):
    done = run("marginals", SPRINKLER, "-e", "grass=wet", "--joint", "sprinkler,rain")
    assert done.status == 0 and "P(evidence) = 0.45798" in done.err, done.err
    table = tables(done.out)[0]
    assert table[0] == ["sprinkler", "rain", "probability", "mcse", "ess", "rhat"]
    assert [row[:2] for row in table[1:]] == [["off", "no"], ["off", "yes"], ["on", "no"], ["on", "yes"]]
    p = [float(row[2]) for row in table[1:]]
    assert abs(sum(p) - 1) < 1e-12 and all(row[3:] == ["0", "", ""] for row in table[1:])
    marginal = list(csv.reader(io.StringIO(run("marginals", SPRINKLER, "-e", "grass=wet", "--query", "rain").out)))
    assert abs(p[1] + p[3] - float(marginal[2][2])) < 1e-12


def test_several_tables_and_evidence_among_them(run):
    done = run("marginals", CLINIC, "-e", "fever=yes", "--joint", "influenza,fever", "--joint", "cold")
    assert done.status == 0, done.err
    first, second = tables(done.out)
    assert first[0][:2] == ["influenza", "fever"] and second[0][:2] == ["cold", "probability"]
    assert [row[2] for row in first[1:] if row[1] == "no"] == ["0", "0"]
    told = json.loads(run("marginals", CLINIC, "-e", "fever=yes", "--joint", "influenza,fever", "--joint", "cold",
                          "--format", "json").out)
    assert told["schema"] == "joints/1" and [v["name"] for v in told["tables"][0]["variables"]] == ["influenza", "fever"]
    assert told["tables"][0]["probability"] == [float(row[2]) for row in first[1:]]


@pytest.mark.parametrize("options", [[], ["--draw", "herded"], ["--scan", "random"]])
def test_sampled(run, options):
    exact = tables(run("marginals", CLINIC, "-e", "fever=yes", "--joint", "pneumonia,influenza").out)[0]
    done = run("marginals", CLINIC, "-e", "fever=yes", "--joint", "pneumonia,influenza", "--method", "sample",
               "--sweeps", "8k", *options)
    assert done.status == 0, done.err
    table = tables(done.out)[0]
    for row, known in zip(table[1:], exact[1:]):
        assert row[:2] == known[:2] and float(row[4]) > 0 and float(row[5]) < 1.1
        bias = 0.01 if "--draw" in options else 0.0
        assert abs(float(row[2]) - float(known[2])) < 6 * float(row[3]) + bias
    again = run("marginals", CLINIC, "-e", "fever=yes", "--joint", "pneumonia,influenza", "--method", "sample",
                "--sweeps", "8k", "--threads", "2", *options)
    assert again.out == done.out


def test_nothing_left_to_draw(run):
    """Found by tools/attack: evidence on every variable, and no draw to count."""
    seen = ["-e", "rain=yes,sprinkler=off,grass=wet"]
    done = run("marginals", SPRINKLER, *seen, "--joint", "grass", "--method", "sample")
    assert done.status == 0 and done.out == run("marginals", SPRINKLER, *seen, "--joint", "grass").out
    assert tables(done.out)[0][2][:2] == ["wet", "1"]


def test_sampled_where_no_tree_fits(run, work):
    assert run("generate", "ising", "--grid", "40x40", "--coupling", "0.1", "-o", "g.gbm").status == 0
    done = run("marginals", "g.gbm", "--joint", "0,1", "--target-error", "0.05")
    assert done.status == 0 and "sampled" in done.err, done.err
    assert float(tables(done.out)[0][1][3]) > 0
    done = run("marginals", "g.gbm", "--joint", "0,1", "--method", "exact", "--memory-limit", "200M")
    assert done.status == 1 and "exact inference" in done.err, done.err


def test_refused(run):
    for arguments, said in [(["--joint", "rain", "--query", "rain"], "--joint cannot apply with --query"),
                            (["--joint", "rain,rain"], "named twice"), (["--joint", "wind"], "no variable"),
                            (["--joint", "rain", "--format", "npz"], "csv, table or json"),
                            (["--joint", "rain", "--temper", "4"], "--joint cannot apply with --temper"),
                            (["--joint", "rain", "--method", "mean-field"], "no joint distributions")]:
        done = run("marginals", SPRINKLER, *arguments)
        assert done.status == 2 and said in done.err, done.err


def test_too_many_states(run, work):
    assert run("generate", "ring", "--variables", "30", "-o", "r.uai").status == 0
    done = run("marginals", "r.uai", "--joint", "0-29")
    assert done.status == 2 and "more than 16777216 joint states" in done.err
    done = run("marginals", "r.uai", "--joint", "0-19", "--method", "sample", "--sweeps", "100")
    assert done.status == 1 and "ask for fewer variables" in done.err, done.err


def test_on_a_terminal(work):
    status, shown = on_terminal(work, "marginals", SPRINKLER, "--joint", "rain,grass", "-q", env={"LC_ALL": "C"})
    lines = shown.replace("\r\n", "\n").splitlines()
    assert status == 0 and lines[0].startswith("Joint distribution of") and lines[2].split() == ["rain", "grass", "probability"]
    assert lines[3].split()[:2] == ["no", "dry"]
