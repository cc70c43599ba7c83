# SPDX-License-Identifier: Apache-2.0
"""A verb is added by one file, one table of options and one line: tests/door has it. Here is all that
follows from them: help, completion, values that are refused, and what options need."""
import os
import re
import subprocess

import pytest
from conftest import ROOT

DOOR = os.environ.get("GIBBSITE_DOOR", str(ROOT / "build" / "tests" / "door_program"))
CLINIC = str(ROOT / "examples" / "clinic.bif")

pytestmark = pytest.mark.skipif(not os.path.exists(DOOR), reason=f"{DOOR} was not built")


def door(*arguments):
    done = subprocess.run([DOOR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def test_runs():
    n_variables = door("survey", CLINIC, "--least", "1")[1]
    status, out, err = door("survey", CLINIC)
    assert (status, err) == (0, "") and out == n_variables
    several = int(door("survey", CLINIC, "--least", "3")[1])
    assert 0 < several < int(n_variables)
    share = float(door("survey", CLINIC, "--least", "3", "--as", "share")[1])
    assert share == pytest.approx(several / int(n_variables), abs=1e-3)


def test_help():
    assert "  survey           how many variables have many states" in door("help")[1].split("\n")
    status, out, _ = door("help", "survey")
    assert status == 0 and out.startswith("usage: gibbsite survey [options] MODEL\nHow many")
    assert "     --least K              fewest states of a variable that counts [2]\n" in out
    everything = door("help", "survey", "all")[1]
    assert re.findall(r"^  (?:-\w|  ) --([a-z-]+)", everything, re.M) == [
        "least", "as", "from", "quiet", "verbose", "help"]
    assert "unset: number; with --least\n" in everything
    assert door("survey", "--help")[1] == out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    out = door("completion", shell)[1]
    assert "survey" in out and "number share" in out


@pytest.mark.parametrize("arguments, said", [
    (["--least", "0"], "--least 0: must be from 1 to 65535 (K)"),
    (["--least", "many"], "--least many: expected a whole number"),
    (["--least"], "option '--least' needs a value (K)"),
    (["--least", "2", "--least", "3"], "--least is given twice"),
    (["--as", "part", "--least", "2"], "--as part: expected number|share"),
    (["--as", "share"], "--as applies with --least only"),
    (["--leest", "2"], "unknown option '--leest'; did you mean '--least'?"),
    (["--sweeps", "2"], "'survey' has no option '--sweeps'; see 'gibbsite help survey'"),
    (["more"], "survey: unexpected 'more'"),
])
def test_refused(arguments, said):
    status, out, err = door("survey", CLINIC, *arguments)
    assert (status, out) == (2, "") and said in err


def test_other_verbs_are_as_before(run):
    assert door("help", "marginals", "all")[1] == run("help", "marginals", "all").out
    assert run("survey", CLINIC).status == 2
    assert door("servey", CLINIC)[2].rstrip().endswith("did you mean 'survey'?")
