# SPDX-License-Identifier: Apache-2.0
"""marginals --monitor: traces are draws of the same run, and their figures those of `diagnose`."""
import csv
import io
import json

import pytest
from conftest import SPRINKLER

CLINIC = "examples/clinic.bif"

LONG = ["--method", "sample", "--sweeps", "3000", "--chains", "8"]


@pytest.fixture(name="monitored")
def answer(run, work):
    """monitored(MODEL, ...) as a user types it. @return what was printed, and "monitored" of the summary."""

    def call(*args):
        done = run("marginals", *args, "--summary", "s.json", "-o", "x.csv")
        return done, json.loads((work / "s.json").read_text())["monitored"] if done.status == 0 else None

    return call


def test_figures_are_those_of_draws(run, monitored):
    done, found = monitored(CLINIC, *LONG, "-e", "fever=yes", "--monitor", "influenza,crp")
    assert done.status == 0 and found["stride"] == 4 and found["draws"] == 750 and found["chains"] == 8
    assert run("sample", CLINIC, *LONG, "-e", "fever=yes", "--monitor", "influenza,crp", "--thin", "4", "-o",
               "d.npz").status == 0
    drawn = {row["name"]: row for row in csv.DictReader(io.StringIO(run("diagnose", "d.npz").out))}
    of = {row["name"]: row for row in found["quantities"]}
    assert list(of) == ["log density", "influenza=yes", "crp=low", "crp=raised", "crp=high"]
    for ours, theirs in (("log density", "lp"), ("influenza=yes", "influenza")):
        for column in ("mean", "sd", "rhat", "ess_bulk", "mcse_mean"):
            assert of[ours][column] == pytest.approx(float(drawn[theirs][column]), rel=1e-9)
    assert sum(of[name]["mean"] for name in ("crp=low", "crp=raised", "crp=high")) == pytest.approx(1)


def test_a_table_stands_above_the_verdict(run, monitored):
    done, _ = monitored(CLINIC, *LONG, "-e", "fever=yes", "--monitor", "influenza,fever")
    assert "1 of 2 variables has no trace: not sampled" in done.err
    lines = done.err.splitlines()
    table = next(i for i, line in enumerate(lines) if line.startswith("2 quantities, 8 chains of 750 draws"))
    verdict = next(i for i, line in enumerate(lines) if "converged" in line)
    assert table < verdict
    assert run("marginals", CLINIC, *LONG, "--monitor", "0", "-q", "-o", "x.csv").err.count("\n") == 1


def test_exact_answers_have_no_traces(monitored):
    done, found = monitored(SPRINKLER, "--monitor", "rain")
    assert "there are no traces: nothing was sampled" in done.err
    assert found["draws"] == 0 and found["quantities"] == []


def test_traces_go_on_with_the_run(monitored):
    monitor = [CLINIC, *LONG, "-e", "fever=yes", "--monitor", "influenza"]
    _, whole = monitored(*monitor)
    done, _ = monitored(*monitor[:2], "sample", "--sweeps", "1000", *monitor[5:], "--checkpoint", "c")
    assert done.status == 0
    done, resumed = monitored(*monitor, "--resume", "c")
    assert done.status == 0 and resumed == whole
    done, _ = monitored(*monitor[:-1], "cold", "--resume", "c")
    assert done.status == 3 and "--monitor: not the variables of the checkpoint's run" in done.err


@pytest.mark.parametrize("args, part", [
    (["--monitor", "nobody"], 'there is no variable "nobody"'),
    (["--monitor", "0", "--joint", "0,1"], "leave out --joint"),
    (["--monitor", "0", "--temper", "4"], "leave out --temper"),
])
def test_refused(run, work, args, part):
    done = run("marginals", CLINIC, "-o", "x.csv", *args)
    assert done.status == 2 and part in done.err
    assert not (work / "x.csv").exists()
