# SPDX-License-Identifier: Apache-2.0
"""Bad files, full disks, signals, limits: the status tells and files are whole or absent."""
import json
import os
import signal
import subprocess
import time

import pytest
from conftest import SMALL, SPRINKLER, on_terminal, only, program


def test_missing_model(run, work):
    done = run("marginals", "none.uai", "-o", "x.MAR")
    assert done.status == 3
    assert "none.uai" in done.err and "No such file" in done.err
    only(work)


def test_truncated_model(run, work):
    """Every prefix is refused with a place, except where the rest is white space."""
    for n in range(len(SMALL.rstrip())):
        (work / "cut.uai").write_text(SMALL[:n])
        done = run("info", "cut.uai")
        if done.status == 0:  # "1 1 2" cut inside a number would be another model: there is none
            pytest.fail(f"prefix of {n} bytes was accepted")
        assert done.status == 3 and done.out == ""
        assert "cut.uai:" in done.err and "Traceback" not in done.err


@pytest.mark.parametrize("text", [
    "", "\0\0\0", "MARKOV\n18446744073709551615\n", "MARKOV\n1\n0\n0\n", "MARKOV\n1\n2\n1\n1 7\n",
    "MARKOV\n1\n2\n1\n1 0\n2\n1 nan\n", "MARKOV\n1\n2\n1\n1 0\n2\n1 -1\n", "SPARSE\n1\n",
    "MARKOV\n1\n2\n1\n1 0\n2\n1 1\nmore",
])
def test_bad_model(run, work, text):
    (work / "bad.uai").write_text(text)
    done = run("marginals", "bad.uai", "-o", "x.csv", "--summary", "s.json")
    assert done.status == 3, done.err
    assert "bad.uai" in done.err
    only(work, "bad.uai")


def test_failure_leaves_the_old_file(run, work):
    (work / "x.csv").write_text("precious")
    (work / "never.uai").write_text("MARKOV\n1\n2\n1\n1 0\n2\n0 0\n")
    assert run("marginals", "never.uai", "-o", "x.csv").status != 0
    assert (work / "x.csv").read_text() == "precious"


def test_memory_limit(run, slow, work):
    done = run("marginals", slow, "--memory-limit", "1K", "-o", "x.csv")
    assert done.status == 1
    only(work, "slow.uai")


@pytest.mark.parametrize("option", ["-o", "--summary"])
def test_unwritable(run, work, option):
    done = run("marginals", SPRINKLER, option, "none/x.json")
    assert done.status == 1 and "none" in done.err
    (work / "folder.json").mkdir()
    done = run("marginals", SPRINKLER, option, "folder.json")
    assert done.status == 1
    only(work, "folder.json")


def test_full_disk(run):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run([program(), "help"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and done.stderr != ""
    assert run("marginals", SPRINKLER, "-o", "/dev/full", "--format", "csv").status == 1


def test_closed_pipe(work, run, slow):
    """Like any filter: quiet, and status 1 although more draws were asked for than disks hold."""
    process = subprocess.Popen(
        [program(), "sample", slow, "--sweeps", "100000000", "-q"],
        cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.read(100)
    process.stdout.close()
    assert process.wait() == 1
    assert process.stderr.read() == b""


def start(work, *arguments):
    return subprocess.Popen([program(), *arguments], cwd=work, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def wait_for_sampling(process):
    """Until the progress lines say that draws are kept; @return what was read."""
    for line in process.stderr:
        told = json.loads(line) if line.startswith("{") else {"phase": ""}
        if told["phase"] == "sampling" and told["pass"] > 0:
            return
    pytest.fail("no sampling")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_gives_results(work, slow, number):
    process = start(work, "marginals", slow, "--sweeps", "100000000", "--burn-in", "1",
                    "--progress", "json", "-o", "x.csv", "--summary", "s.json")
    wait_for_sampling(process)
    process.send_signal(number)
    err = process.stderr.read()
    assert process.wait() == 4, err
    assert len((work / "x.csv").read_text().splitlines()) == 1 + 2 * 3600
    assert json.loads((work / "s.json").read_text())["sweeps"] > 0
    assert "stopped" in err


def test_second_signal_is_obeyed_at_once(work, slow):
    process = start(work, "marginals", slow, "--sweeps", "100000000", "--burn-in", "1",
                    "--progress", "json", "-o", "x.csv")
    wait_for_sampling(process)
    process.send_signal(signal.SIGSTOP)  # so that both wait for it, in either order
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    process.stderr.read()
    assert process.wait() == 130
    only(work, "slow.uai")


def test_signal_keeps_the_draws(work, slow):
    process = start(work, "sample", slow, "--sweeps", "100000000", "--burn-in", "1",
                    "--progress", "json", "-o", "x.csv")
    wait_for_sampling(process)
    process.send_signal(signal.SIGINT)
    process.stderr.read()
    assert process.wait() == 4
    columns = {line.count(",") for line in (work / "x.csv").open()}
    assert columns == {2 + 3600}


def test_time_limit(run, slow, work):
    """On a machine that does other things the time may end before the first draw."""
    done = run("marginals", slow, "--time", "0.5s", "--sweeps", "100000000", "--burn-in", "1",
               "-o", "x.MAR")
    assert done.status == 4
    if "stopped before the first draw was kept" in done.err:
        only(work, "slow.uai")
    else:
        assert "stopped before its target (time)" in done.err
        only(work, "slow.uai", "x.MAR")


def test_update_limit(run, slow):
    done = run("marginals", slow, "--max-updates", "20000000", "--target-error", "0.000001")
    assert done.status == 4
    assert len(done.out.splitlines()) == 1 + 2 * 3600


def test_progress_json(run, slow):
    done = run("marginals", slow, "--sweeps", "300", "--progress", "json", "-qq")
    assert done.status == 0
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert lines[-1]["phase"] == "done" and lines[-1]["pass"] == 300


def test_progress_on_a_descriptor(work, slow):
    """Lines of the documented fields, and nothing of them on standard error."""
    ours, theirs = os.pipe()
    process = subprocess.Popen([program(), "marginals", slow, "--burn-in", "100000000", "--time",
                                "1h", "--progress", f"json:{theirs}", "-qq", "-o", "x.csv"],
                               cwd=work, pass_fds=[theirs], stderr=subprocess.PIPE, text=True)
    os.close(theirs)
    with os.fdopen(ours) as lines:
        told = json.loads(next(lines))
        process.send_signal(signal.SIGINT)
        rest = [json.loads(line) for line in lines]
    assert process.stderr.read() == "" and process.wait() == 4
    assert list(told) == ["phase", "pass", "passes", "updates", "elapsed_s", "updates_per_second",
                          "worst_error", "target_error", "left_s", "rhat", "time_s"]
    assert (told["phase"], told["passes"], told["time_s"]) == ("burn-in", 100000000, 3600)
    assert list(rest[-1])[0] == "phase" and rest[-1]["phase"] == "done"
    assert rest[-1]["converged"] is False


def test_progress_tells_rhat(run, slow, work):
    """Automatic burn-in decides by R-hat, which its lines have after some passes."""
    process = start(work, "marginals", slow, "--sweeps", "100000000", "--progress", "json", "-qq",
                    "-o", "x.csv")
    wait_for_sampling(process)
    process.send_signal(signal.SIGINT)
    assert json.loads(process.stderr.readlines()[-1])["rhat"] is not None
    assert process.wait() == 4


@pytest.mark.parametrize("fd,said", [("1", "from 2 on"), ("x", "from 2 on"), ("0", "from 2 on"),
                                     ("99", "not open for writing")])
def test_progress_descriptors_refused(run, fd, said):
    done = run("marginals", SPRINKLER, "--progress", f"json:{fd}")
    assert done.status == 2 and said in done.err


def test_signal_in_burn_in(run, work, slow):
    """What there is then is one sweep, marked so: the bits of a run with this burn-in and it."""
    process = start(work, "marginals", slow, "--sweeps", "100000000", "--burn-in", "100000000",
                    "--progress", "json", "-o", "x.json", "--format", "json", "--summary", "s.json")
    for line in process.stderr:
        if line.startswith("{") and json.loads(line)["pass"] > 0:
            break
    process.send_signal(signal.SIGINT)
    err = process.stderr.read()
    assert process.wait() == 4 and "not converged: stopped during burn-in, after " in err
    s = json.loads((work / "s.json").read_text())
    x = json.loads((work / "x.json").read_text())
    assert s["in_burn_in"] and x["in_burn_in"] and not s["converged"] and not x["converged"]
    assert s["sweeps"] == 1 and len(x["variables"]) == 3600
    if s["burn_in"] < 200000:
        again = run("marginals", slow, "--sweeps", "1", "--burn-in", s["burn_in"], "-o", "y.csv",
                    "--summary", "t.json")
        assert again.status == 0 and "stopped during" not in again.err
        assert json.loads((work / "t.json").read_text())["digest"] == s["digest"]


def test_progress_never_and_quiet(run, slow):
    done = run("marginals", slow, "--sweeps", "100", "--progress", "never", "-qq")
    assert done.status == 0 and done.err == ""


def test_bar_on_a_terminal(work, slow):
    status, shown = on_terminal(work, "marginals", slow, "--time", "1s", "--sweeps", "100000000",
                                "--burn-in", "1", "-o", "x.csv", "--summary", "s.json")
    assert status == 4
    seconds = json.loads((work / "s.json").read_text())["sampling_seconds"]
    assert "M updates/s" in shown and "sampling" in shown
    assert shown.count("M updates/s") <= 1 + 10 * seconds  # ten a second at most, by its own clock
    assert "\r\033[K" in shown  # cleared at the end


def test_many_rows_on_a_terminal(run, work):
    assert run("generate", "ising", "--grid", "80x80", "-o", "big.uai").status == 0
    status, shown = on_terminal(work, "marginals", "big.uai", "--sweeps", "8", "--burn-in", "1")
    assert status == 0
    assert shown.count("\n") < 60 and "12800 rows" in shown and "R-hat" in shown
    status, shown = on_terminal(work, "marginals", "big.uai", "--sweeps", "8", "--burn-in", "1",
                                "--format", "csv")
    assert shown.count("\n") > 12800
