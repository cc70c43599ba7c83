# SPDX-License-Identifier: Apache-2.0
"""Evidence of several samples: a run and a file for each."""
import gzip
import json
import signal
import subprocess

import pytest
from conftest import SPRINKLER, only, program

# two samples and one without evidence; grass is variable 2
SET = "3\n1 2 0\n1 2 1\n0\n"


@pytest.fixture
def several(work):
    (work / "set.evid").write_text(SET)
    return "set.evid"


def files(work, stem):
    return sorted(p.name for p in work.iterdir() if p.name.startswith(stem))


@pytest.mark.parametrize("name, part, packed", [
    ("out.csv", "out.csv.{}", False), ("out.MAR", "out.MAR.{}", False),
    ("out.json", "out.json.{}", False), ("out.csv.gz", "out.csv.{}.gz", True),
])
def test_a_file_for_each(run, work, several, name, part, packed):
    """Sample k alone, by --evidence-index k, gives the same bytes."""
    done = run("marginals", SPRINKLER, "-e", several, "-o", name, "--sweeps", "50", "--seed", "3")
    assert done.status == 0 and done.out == ""
    assert files(work, "out") == [part.format(k) for k in range(3)]
    for k in range(3):
        alone = run("marginals", SPRINKLER, "-e", several, "--evidence-index", k, "-o",
                    f"alone-{k}-{name}", "--sweeps", "50", "--seed", "3")
        assert alone.status == 0
        read = (lambda p: gzip.open(p).read()) if packed else (lambda p: p.read_bytes())
        assert read(work / part.format(k)) == read(work / f"alone-{k}-{name}")


def test_samples_differ(run, work, several):
    assert run("marginals", SPRINKLER, "-e", several, "-o", "out.csv").status == 0
    for k, evidence in enumerate((["-e", "grass=dry"], ["-e", "grass=wet"], [])):
        assert (work / f"out.csv.{k}").read_text() == run("marginals", SPRINKLER, *evidence).out


def test_summaries(run, work, several):
    done = run("marginals", SPRINKLER, "-e", several, "-o", "out.csv", "--summary", "run.json")
    assert done.status == 0
    for k in range(3):
        s = json.loads((work / f"run.json.{k}").read_text())
        assert s["options"]["evidence_index"] == k
        assert s["model"]["free_variables"] == (3 if k == 2 else 2)
    only(work, several, *(f"out.csv.{k}" for k in range(3)), *(f"run.json.{k}" for k in range(3)))
    one = run("marginals", SPRINKLER, "-e", several, "--evidence-index", "1", "--summary", "s.json")
    assert one.status == 0
    assert json.loads((work / "s.json").read_text())["options"]["evidence_index"] == 1


def test_progress_is_told(run, several):
    done = run("marginals", SPRINKLER, "-e", several, "-o", "out.csv")
    assert "evidence sample 1 of 3: out.csv.1" in done.err
    assert run("marginals", SPRINKLER, "-e", several, "-o", "out.csv", "-qq").err == ""


@pytest.mark.parametrize("output", [[], ["-o", "-"], ["-o", "/dev/null"]])
@pytest.mark.parametrize("verb", ["marginals", "sample", "info"])
def test_one_output_is_refused(run, work, several, verb, output):
    if output == ["-o", "/dev/null"] and verb != "info":
        output = [*output, "--format", "csv"]
    done = run(verb, SPRINKLER, "-e", several, *output)
    assert done.status == 2 and done.out == ""
    assert "3 samples" in done.err and "-o FILE" in done.err and "--evidence-index" in done.err
    only(work, several)


def test_one_sample_needs_no_suffix(run, work):
    (work / "one.evid").write_text("1\n1 2 1\n")
    assert run("marginals", SPRINKLER, "-e", "one.evid", "-o", "out.csv").status == 0
    assert (work / "out.csv").read_text() == run("marginals", SPRINKLER, "-e", "grass=wet").out


def test_standard_input(run, work, several):
    done = run("marginals", SPRINKLER, "-e", "-", stdin="1 2 1\n")
    assert done.status == 0 and done.out == run("marginals", SPRINKLER, "-e", "grass=wet").out
    assert run("marginals", SPRINKLER, "-e", "-", "-o", "out.csv", stdin=SET).status == 0
    assert (work / "out.csv.1").read_text() == done.out
    second = run("marginals", SPRINKLER, "-e", "-", "--evidence-index", "1", stdin=SET)
    assert second.out == done.out
    done = run("marginals", SPRINKLER, "-e", "-", "--evidence-format", "tab", stdin="grass\n\n1\n")
    assert done.status == 0 and done.out == second.out
    done = run("marginals", SPRINKLER, "-e", several, "--virtual-evidence", "-", "-o", "v.csv",
               stdin="1\n0 2 1 3\n")
    assert done.status == 2 and "--virtual-evidence -" in done.err


def test_together_with_other_evidence(run, work, several):
    """Lists, likelihoods and files of one sample go with every sample."""
    (work / "on.evid").write_text("1 1 1\n")
    (work / "soft.txt").write_text("1\n0 2 1 3\n")
    done = run("marginals", SPRINKLER, "-e", several, "-e", "on.evid", "--virtual-evidence",
               "soft.txt", "-o", "out.csv")
    assert done.status == 0, done.err
    for k, grass in enumerate((["-e", "grass=dry"], ["-e", "grass=wet"], [])):
        alone = run("marginals", SPRINKLER, *grass, "-e", "sprinkler=on", "--virtual-evidence",
                    "soft.txt")
        assert (work / f"out.csv.{k}").read_text() == alone.out
    (work / "three.evid").write_text("3 0 1 1 0 1 1 1\n")
    assert run("marginals", SPRINKLER, "-e", several, "-e", "three.evid", "-o", "o.csv").status == 0
    two = run("marginals", SPRINKLER, "-e", several, "-e", "three.evid", "--evidence-index", "2")
    assert (work / "o.csv.2").read_text() == two.out
    assert two.out == run("marginals", SPRINKLER, "-e", "sprinkler=on").out
    (work / "two.evid").write_text("2\n1 1 0\n1 1 1\n")
    done = run("marginals", SPRINKLER, "-e", several, "-e", "two.evid", "-o", "p.csv")
    assert done.status == 2
    assert "set.evid holds 3 evidence samples, two.evid 2" in done.err


@pytest.mark.parametrize("index, text", [("3", SET), ("1", "1 2 1\n"), ("1", "")])
def test_index_beyond(run, work, index, text):
    (work / "x.evid").write_text(text)
    done = run("marginals", SPRINKLER, "-e", "x.evid", "--evidence-index", index)
    assert done.status == 2 and done.out == ""
    assert f"--evidence-index {index}: the evidence has" in done.err


def test_first_failure_ends_it(run, work):
    """What was answered before stays, nothing comes after."""
    (work / "m.uai").write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 1 1 0\n")
    (work / "s.evid").write_text("3\n1 0 0\n2 0 1 1 1\n1 1 0\n")
    done = run("marginals", "m.uai", "-e", "s.evid", "-o", "out.csv")
    assert done.status == 1
    assert "probability zero" in done.err
    assert "ended at evidence sample 1 of 3" in done.err
    assert files(work, "out") == ["out.csv.0"]


def test_contradiction_is_placed(run, work, several):
    done = run("marginals", SPRINKLER, "-e", "grass=wet", "-e", several, "-o", "out.csv")
    assert done.status == 3 and "set.evid:2:3: found variable grass observed in state 0" in done.err
    assert files(work, "out") == []


def test_limits_are_of_each_run(run, work, slow, several):
    done = run("marginals", slow, "-e", several, "-o", "out.csv", "--time", "0.3s", "--sweeps",
               "100000000", "--burn-in", "1")
    assert done.status == 4
    assert [f"evidence sample {k} of 3" in done.err for k in range(3)] == [True] * 3
    # the time may end before the first draw where the machine does other things
    early = done.err.count("stopped before the first draw was kept")
    assert len(files(work, "out")) == 3 - early


def test_signal_ends_all(work, slow, several):
    process = subprocess.Popen(
        [program(), "marginals", slow, "-e", several, "-o", "out.csv", "--sweeps", "100000000",
         "--burn-in", "1", "--progress", "json"],
        cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("{") and json.loads(line)["phase"] == "sampling":
            break  # a draw is kept
    process.send_signal(signal.SIGINT)
    err = process.stderr.read()
    assert process.wait() == 4, err
    assert files(work, "out") == ["out.csv.0"]
    assert "ended at evidence sample 0 of 3" in err


def test_info(run, work, several):
    assert run("info", SPRINKLER, "-e", several, "--json", "-o", "i.json").status == 0
    observed = [json.loads((work / f"i.json.{k}").read_text())["observed"] for k in range(3)]
    assert observed == [1, 1, 0]


def test_sample(run, work, several):
    done = run("sample", SPRINKLER, "-e", several, "-o", "d.csv", "--sweeps", "4")
    assert done.status == 0
    for k in range(2):
        lines = (work / f"d.csv.{k}").read_text().splitlines()
        assert len(lines) == 1 + 16 * 4
        assert {line.split(",")[5] for line in lines[1:]} == {str(k)}


# ---- .tab ------------------------------------------------------------------------------------


def test_tab_evidence(run, work):
    """A row is a sample; an empty field is not observed, at the end of a line too."""
    (work / "d.tab").write_text("grass\t0\n\n1\t\n\t1\n0\t0\n\t\n")
    assert run("marginals", SPRINKLER, "-e", "d.tab", "-o", "out.csv").status == 0
    for k, evidence in enumerate(("grass=wet", "rain=yes", "grass=dry,rain=no")):
        alone = run("marginals", SPRINKLER, "-e", evidence)
        assert (work / f"out.csv.{k}").read_text() == alone.out
    assert (work / "out.csv.3").read_text() == run("marginals", SPRINKLER).out


@pytest.mark.parametrize("text, place", [
    ("grass\tcloud\n\n1\t1\n", "d.tab:1:7: found 'cloud'"),
    ("grass\train\n1\t1\n", "d.tab:2:1: found '1\\x091', expected an empty line"),
    ("grass\train\n\n1\t2\n", "d.tab:3:3: found '2' in column 1"),
    ("grass\train\n\n1\n", "d.tab:3:2: found the end of the line after 1 field, expected 2"),
])
def test_bad_tab(run, work, text, place):
    (work / "d.tab").write_text(text)
    done = run("marginals", SPRINKLER, "-e", "d.tab", "-o", "out.csv")
    assert done.status == 3 and place in done.err
    only(work, "d.tab")


def test_draws_as_tab(run, work):
    options = [SPRINKLER, "--sweeps", "5", "--chains", "2", "--seed", "4"]
    assert run("sample", *options, "-o", "d.tab").status == 0
    lines = (work / "d.tab").read_text().split("\n")
    assert lines[0] == "rain\tsprinkler\tgrass" and lines[1] == "" and lines[-1] == ""
    table = run("sample", *options).out.splitlines()[1:]
    assert [line.split("\t") for line in lines[2:-1]] == [row.split(",")[3:] for row in table]
    assert run("sample", *options, "--format", "tab").out == "\n".join(lines)
    # and in again, every draw a sample of evidence
    assert run("info", SPRINKLER, "-e", "d.tab", "--json", "-o", "i.json").status == 0
    assert json.loads((work / "i.json.9").read_text())["observed"] == 3
    assert not (work / "i.json.10").exists()


def test_draws_of_unnamed_variables(run, small):
    done = run("sample", small, "--sweeps", "1", "--chains", "1", "--format", "tab")
    assert done.out.startswith("0\t1\t2\n\n")


def test_labels_of_fg_are_labels_of_tab(run, work):
    (work / "m.fg").write_text("1\n\n2\n5 2\n2 3\n3\n0 1.5\n3 2\n4 0.25\n")
    done = run("sample", "m.fg", "--sweeps", "3", "--chains", "1", "-o", "d.tab")
    assert done.status == 0
    assert (work / "d.tab").read_text().startswith("2\t5\n\n")
    assert run("marginals", "m.fg", "-e", "d.tab", "--evidence-index", "2").status == 0

