# SPDX-License-Identifier: Apache-2.0
"""Networks as other programs write them: what is read, what is told, and how names are typed."""

import pytest

OBSERVED = """<?xml version="1.0" encoding="US-ASCII"?>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>Pump</NAME><OUTCOME>on</OUTCOME><OUTCOME>off</OUTCOME>
<OBSERVED>{}</OBSERVED></VARIABLE>
<VARIABLE TYPE="nature"><NAME>Flow</NAME><OUTCOME>1</OUTCOME><OUTCOME>0</OUTCOME>{}</VARIABLE>
<DEFINITION><FOR>Pump</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>Flow</FOR><GIVEN>Pump</GIVEN><TABLE>0.9 0.1 0.2 0.8</TABLE></DEFINITION>
</NETWORK></BIF>
"""


def probability(done, variable, state):
    for line in done.out.splitlines():
        if line.startswith(f"{variable},{state},"):
            return float(line.split(",")[2])
    raise AssertionError(done.out + done.err)


@pytest.fixture
def pump(run, tmp_path):
    """@return a function that asks a file with those two observations."""
    def ask(*options, first="1", second=""):
        path = tmp_path / "pump.xml"
        path.write_text(OBSERVED.format(first, second))
        return run("marginals", path, *options)

    return ask


def test_observations_of_a_file(pump):
    told = pump()
    assert "1 observation ('Pump' = 'off')" in told.err and "--file-evidence" in told.err
    assert probability(told, "Flow", "1") == pytest.approx(0.375)
    taken = pump("--file-evidence")
    assert probability(taken, "Flow", "1") == pytest.approx(0.2)
    assert "warning" not in taken.err and "P(evidence) = 0.75" in taken.err
    by_label = pump("--file-evidence", "-e", "Flow=0", first="off")
    assert "P(evidence) = 0.6" in by_label.err


def test_observations_refused(pump):
    for options, first, second, status, message in [
        ((), "up", "", 3, "found the observation 'up'"),
        ((), "0", "<OBS>1</OBS>", 3, "found the observation '1'"),  # state 1 is called 0
        ((), "-1", "", 3, "found no observation"),
        (("-e", "Pump=on"), "1", "", 2, "observed in state"),
    ]:
        done = pump("--file-evidence", *options, first=first, second=second)
        assert done.status == status and message in done.err and done.out == ""


def test_file_evidence_of_other_formats(run, tmp_path):
    path = tmp_path / "a.bif"
    path.write_text("variable a { type discrete [ 1 ] { x }; } probability ( a ) { table 1; }")
    done = run("marginals", path, "--file-evidence")
    assert done.status == 2 and "expected an XMLBIF file" in done.err
