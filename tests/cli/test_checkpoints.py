# SPDX-License-Identifier: Apache-2.0
"""Runs that end and go on: --checkpoint, --resume, and files that do not fit."""
import json
import os
import signal
import subprocess

import pytest
from conftest import SPRINKLER, nightly, only, program, wait_for_file

SHORT = ["--method", "sample", "--sweeps", "400", "--seed", "5"]


def digest(path):
    return json.loads(path.read_text())["digest"]


def start(work, *arguments):
    return subprocess.Popen([program(), *arguments], cwd=work, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def wait_for(process, phase, count):
    """Until so many progress lines told of a phase."""
    for line in process.stderr:
        if line.startswith("{") and json.loads(line)["phase"] == phase:
            count -= 1
            if count == 0:
                return
    pytest.fail("no " + phase)


def test_longer(run, work):
    done = run("marginals", SPRINKLER, *SHORT, "--checkpoint", "r.ckpt", "-o", "a.csv")
    assert done.status == 0, done.err
    done = run("marginals", SPRINKLER, "--resume", "r.ckpt", "--sweeps", "900", "-o", "b.csv")
    assert done.status == 0, done.err
    done = run("marginals", SPRINKLER, "--method", "sample", "--sweeps", "900", "--seed", "5",
               "-o", "c.csv")
    assert done.status == 0, done.err
    assert (work / "b.csv").read_text() == (work / "c.csv").read_text()
    assert (work / "a.csv").read_text() != (work / "b.csv").read_text()
    only(work, "a.csv", "b.csv", "c.csv", "r.ckpt", "r.ckpt~")


def test_short_burn_in(run, work):
    """What few sweeps cut short is told when the run goes on for more, here and in the summary."""
    few = ["--method", "sample", "--sweeps", "5", "--checkpoint", "r.ckpt", "-o", "a.csv"]
    assert run("marginals", SPRINKLER, *few).status == 0
    done = run("marginals", SPRINKLER, "--resume", "r.ckpt", "--sweeps", "900", "-o", "a.csv", "--summary", "s.json")
    told = json.loads((work / "s.json").read_text())
    assert done.status == 0 and told["burn_in"] == 5, done.err
    told = [text for text in told["warnings"] if "when burn-in ended, after 5 sweeps" in text]
    assert len(told) == 1 and "up to 900: begin again, or give --burn-in" in told[0] and "warning: " + told[0] in done.err
    (work / "r.ckpt").unlink()
    assert run("marginals", SPRINKLER, *few, "--burn-in", "5").status == 0
    done = run("marginals", SPRINKLER, "--resume", "r.ckpt", "--sweeps", "900", "-o", "a.csv")
    assert done.status == 0 and "burn-in ended" not in done.err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
@pytest.mark.long
def test_signals(run, work, slow, number):
    """Ended twice, in a run that would not end by itself, then led to an end; each time with
    another number of threads or instruction set."""
    options = ["--burn-in", "30", "--seed", "3"]
    keep = ["--checkpoint", "r.ckpt", "--checkpoint-every", "0.05", "--progress", "json"]
    for stretch in [[*options, "--sweeps", "100000000", "--threads", "2"],
                    ["--resume", "r.ckpt", "--threads", "1"]]:
        process = start(work, "marginals", slow, *stretch, *keep, "-o", "part.csv")
        wait_for(process, "sampling", 2)
        process.send_signal(number)
        process.stderr.read()
        assert process.wait() == (-number if number == signal.SIGKILL else 4)
    end = ["--sweeps", str(json.loads(run("info", "r.ckpt", "--json").out)["sweeps"] + 50)]
    done = run("marginals", slow, "--resume", "r.ckpt", *end, "-o", "x.csv", "--summary", "x.json",
               env={"GIBBSITE_SIMD": "portable"})
    assert done.status == 0, done.err
    done = run("marginals", slow, *options, *end, "-o", "y.csv", "--summary", "y.json")
    assert done.status == 0, done.err
    assert digest(work / "x.json") == digest(work / "y.json")


def contents(folder):
    """Of all files but for what tells of the time."""
    found = {}
    for path in sorted(folder.iterdir()):
        if ".ckpt" not in path.name:
            lines = path.read_bytes().split(b"\n")
            found[path.name] = [line for line in lines if b" seconds (" not in line]
    return found


@pytest.mark.parametrize("output", [["-o", "x.csv"], ["-o", "x.tab.gz"], ["-o", "x.npz"], ["-o", "x.npy"],
                                    ["-o", "x.csv", "--format", "cmdstan"], ["-o", "x", "--format", "coda"],
                                    ["-o", "x.png", "--picture", "1x3"]])
def test_draws(run, work, output):
    """Files of draws are those of a run that never stopped."""
    model = SPRINKLER
    if "--picture" in output:
        run("generate", "ising", "--grid", "1x3", "--coupling", "0.3", "-o", "m.uai")
        model = "m.uai"
    monitor = [] if "--picture" in output else ["--monitor", "grass,rain"]
    for folder in ["whole", "parts"]:
        (work / folder).mkdir()

    def sample(folder, *arguments):
        to = ["-o", f"{folder}/{output[1]}", *output[2:]]
        done = run("sample", model, *monitor, *to, *arguments)
        assert done.status == 0, done.err

    sample("whole", "--method", "sample", "--sweeps", "3000", "--thin", "2", "--seed", "5")
    sample("parts", "--method", "sample", "--sweeps", "1000", "--thin", "2", "--seed", "5",
           "--checkpoint", "parts/r.ckpt")
    sample("parts", "--sweeps", "2001", "--resume", "parts/r.ckpt", "--checkpoint", "parts/r.ckpt")
    assert "1000 of each chain" in run("info", "parts/r.ckpt").out
    sample("parts", "--sweeps", "3000", "--resume", "parts/r.ckpt")
    assert contents(work / "whole") == contents(work / "parts")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_draws_signals(run, work, slow, number):
    options = ["--burn-in", "30", "--seed", "3", "--thin", "4", "--monitor", "3-9", "--method", "sample"]
    process = start(work, "sample", slow, *options, "--sweeps", "100000000", "--checkpoint", "r.ckpt",
                    "--checkpoint-every", "0.05", "--progress", "json", "-o", "part.csv")
    wait_for(process, "sampling", 2)
    process.send_signal(number)
    process.stderr.read()
    assert process.wait() == (-number if number == signal.SIGKILL else 4)
    told = json.loads(run("info", "r.ckpt", "--json").out)
    assert told["task"] == "sample" and told["draws"] == told["sweeps"] // 4
    if number == signal.SIGTERM:
        rows = (work / "part.csv").read_text().splitlines()
        assert len(rows) == 1 + told["draws"] * told["chains"]
    end = ["--sweeps", str(told["sweeps"] + 50)]
    done = run("sample", slow, "--monitor", "3-9", "--resume", "r.ckpt", *end, "-o", "x.csv",
               env={"GIBBSITE_SIMD": "portable"})
    assert done.status == 0, done.err
    done = run("sample", slow, *options, *end, "-o", "y.csv")
    assert done.status == 0, done.err
    assert (work / "x.csv").read_text() == (work / "y.csv").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_map(run, work, number):
    """A search that would not end soon, stopped, and led to its end."""
    run("generate", "ising", "--grid", "40x40", "--coupling-spread", "1", "--seed", "2", "-o", "g.uai")
    options = ["--method", "sample", "--seed", "3", "--chains", "4"]
    process = start(work, "map", "g.uai", *options, "--sweeps", "100000000", "--checkpoint", "r.ckpt",
                    "--checkpoint-every", "0.05", "--progress", "json", "-o", "part.csv")
    wait_for(process, "burn-in", 3)
    process.send_signal(number)
    process.stderr.read()
    assert process.wait() == (-number if number == signal.SIGKILL else 4)
    told = json.loads(run("info", "r.ckpt", "--json").out)
    assert told["task"] == "map" and told["sweeps"] > 0
    assert f"log density {told['log_density']:.12g}" in run("info", "r.ckpt").out
    end = ["--max-updates", str(told["updates"] + 300000), "--format", "json"]
    done = run("map", "g.uai", "--resume", "r.ckpt", *end, env={"GIBBSITE_SIMD": "portable"})
    again = run("map", "g.uai", *options, "--sweeps", "100000000", *end, "--threads", "1")
    assert done.status == 4 and again.status == 4, done.err + again.err
    assert done.out == again.out
    done = run("map", "g.uai", "--resume", "r.ckpt", "--sweeps", "3", "-o", "x.csv")
    assert done.status == 3 and "temperatures of an annealing follow from its length" in done.err
    done = run("marginals", "g.uai", "--resume", "r.ckpt", "-o", "x.csv")
    assert done.status == 3 and "task map, this is marginals" in done.err
    done = run("map", SPRINKLER, "--checkpoint", "s.ckpt", "-o", "x.csv")
    assert done.status == 0 and "no checkpoint is written" in done.err
    assert not (work / "s.ckpt").exists()


def test_draws_refused(run, work):
    options = ["--method", "sample", "--sweeps", "99", "--monitor", "rain", "-o", "x.csv"]
    assert run("sample", SPRINKLER, *options, "--checkpoint", "r.ckpt").status == 0
    for verb, arguments, part in [("sample", [], "--monitor"), ("marginals", [], "task sample, this is marginals"),
                                  ("sample", ["--monitor", "rain", "--thin", "2"], "--thin")]:
        done = run(verb, SPRINKLER, *arguments, "--resume", "r.ckpt", "-o", "y.csv")
        assert done.status == 3 and part in done.err
    draws = work / "r.ckpt.draws"
    whole = draws.read_bytes()
    for damaged, part in [(whole[:-1], "bytes, and the file has"), (whole[:-1] + b"?", "of another run"),
                          (None, "cannot be opened")]:
        draws.unlink()
        if damaged is not None:
            draws.write_bytes(damaged)
        done = run("sample", SPRINKLER, "--monitor", "rain", "--resume", "r.ckpt", "-o", "y.csv")
        assert done.status == 3 and part in done.err and "r.ckpt.draws" in done.err
        if damaged is None:
            break
    only(work, "x.csv", "r.ckpt", "r.ckpt~")
    done = run("sample", SPRINKLER, "-o", "x.csv", "--checkpoint", "s.ckpt")
    assert done.status == 0 and "draws are exact and made at once, so that no checkpoint" in done.err
    only(work, "x.csv", "r.ckpt", "r.ckpt~")


@pytest.mark.parametrize("arguments, part", [
    ([SPRINKLER, "--seed", "6"], "with --seed 5, this run has --seed 6"),
    ([SPRINKLER, "-e", "rain=no"], "evidence"),
    (["examples/clinic.bif"], "model"),
    ([SPRINKLER, "--sweeps", "100"], "were kept already"),
])
def test_foreign(run, work, arguments, part):
    assert run("marginals", SPRINKLER, *SHORT, "--checkpoint", "r.ckpt", "-o", "a.csv").status == 0
    done = run("marginals", *arguments, "--resume", "r.ckpt", "-o", "b.csv")
    assert done.status == 3 and part in done.err and "r.ckpt" in done.err
    only(work, "a.csv", "r.ckpt", "r.ckpt~")


def test_damaged(run, work):
    assert run("marginals", SPRINKLER, *SHORT, "--checkpoint", "r.ckpt").status == 0
    whole = (work / "r.ckpt").read_bytes()
    for damaged in [b"", whole[:100], whole[:-1], whole[:700] + b"?" + whole[701:], whole + b"\n"]:
        (work / "r.ckpt").write_bytes(damaged)
        done = run("marginals", SPRINKLER, "--resume", "r.ckpt")
        assert done.status == 3 and "r.ckpt" in done.err and done.out == ""
    done = run("marginals", SPRINKLER, "--resume", "none.ckpt")
    assert done.status == 3 and "No such file" in done.err


def test_joint(run, work, slow):
    """Of what the tables read of the draws; another table is another run."""
    joint = ["--joint", "5,6", "--joint", "70"]
    options = ["--method", "sample", "--burn-in", "30", "--seed", "3", *joint]  # automatic burn-in follows from --sweeps
    process = start(work, "marginals", slow, *options, "--sweeps", "100000000", "--checkpoint", "r.ckpt",
                    "--checkpoint-every", "0.05", "--progress", "json", "-o", "part.csv")
    wait_for(process, "sampling", 2)
    process.send_signal(signal.SIGKILL)
    process.stderr.read()
    assert process.wait() == -signal.SIGKILL
    so_far = json.loads(run("info", "r.ckpt", "--json").out)
    assert so_far["draws"] > 0
    end = ["--sweeps", str(so_far["sweeps"] + 20)]
    done = run("marginals", slow, *joint, "--resume", "r.ckpt", *end, "-o", "x.csv", env={"GIBBSITE_SIMD": "portable"})
    assert done.status == 0, done.err
    done = run("marginals", slow, *options, *end, "-o", "y.csv")
    assert done.status == 0, done.err
    assert (work / "x.csv").read_bytes() == (work / "y.csv").read_bytes()
    assert os.path.getsize(work / "r.ckpt.draws") < 16 * (so_far["draws"] + 100) * 20
    done = run("marginals", slow, "--joint", "5,7", "--resume", "r.ckpt", *end)
    assert done.status == 3 and "--monitor" in done.err


@pytest.mark.parametrize("options", [["--temper", "8"], ["--temper", "off"]])
@pytest.mark.long
def test_logz(run, work, options):
    """Ended by a signal and by updates, and led to an end; in between `info` has the estimate so far."""
    assert run("generate", "ising", "--grid", "12x12", "--coupling", "0.3", "-o", "g.uai").status == 0
    options = ["--method", "sample", "--seed", "3", "--sweeps", "120", *options]
    done = run("logz", "g.uai", *options, "--format", "json")
    assert done.status == 0, done.err
    whole = json.loads(done.out)
    process = start(work, "logz", "g.uai", *options[:5], "100000000", *options[6:], "--checkpoint", "r.ckpt",
                    "--checkpoint-every", "0.02", "--progress", "json")
    wait_for(process, "burn-in" if "off" in options else "sampling", 1)
    process.send_signal(signal.SIGTERM)
    process.stderr.read()
    assert process.wait() == 4
    assert "logz" in run("info", "r.ckpt", "--json").out
    for most in [whole["updates"] // 3, 2 * whole["updates"] // 3]:
        resume = ["--resume", "r.ckpt"] if most > whole["updates"] // 2 else options
        done = run("logz", "g.uai", *resume, "--max-updates", str(most), "--checkpoint", "r.ckpt")
        assert done.status == 4, done.err
    assert "estimate" in run("info", "r.ckpt").out
    done = run("logz", "g.uai", "--resume", "r.ckpt", "--format", "json", "--max-updates", "1e15",
               env={"GIBBSITE_SIMD": "portable"})
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert {**found, "seconds": 0} == {**whole, "seconds": 0}
    done = run("logz", "g.uai", "--resume", "r.ckpt", "--sweeps", "999", "--max-updates", "1e15")
    assert done.status == (3 if "off" in options else 0), done.err


@pytest.mark.parametrize("number", [pytest.param(signal.SIGTERM, marks=nightly), signal.SIGKILL])
@pytest.mark.long
def test_ladders(run, work, slow, number):
    """Ended twice, in a run that would not end by itself, then led to an end; marginals and draws."""
    keep = ["--checkpoint", "r.ckpt", "--checkpoint-every", "0.02", "--progress", "json"]
    options = ["--method", "sample", "--temper", "8", "--burn-in", "40", "--seed", "3"]
    for verb in ["marginals", "sample"]:
        for stretch in [[*options, "--sweeps", "100000000"], ["--resume", "r.ckpt", "--threads", "1"]]:
            process = start(work, verb, slow, *stretch, *keep, "-o", "part.csv")
            wait_for(process, "sampling", 1)
            process.send_signal(number)
            process.stderr.read()
            assert process.wait() == (-number if number == signal.SIGKILL else 4)
        end = ["--sweeps", str(json.loads(run("info", "r.ckpt", "--json").out)["sweeps"] + 20)]
        done = run(verb, slow, "--resume", "r.ckpt", *end, "-o", "x.csv", env={"GIBBSITE_SIMD": "portable"})
        assert done.status == 0, done.err
        done = run(verb, slow, *options, *end, "-o", "y.csv")
        assert done.status == 0, done.err
        assert (work / "x.csv").read_bytes() == (work / "y.csv").read_bytes()
        for name in ["r.ckpt", "r.ckpt~", "r.ckpt.draws"]:
            (work / name).unlink(missing_ok=True)


@pytest.mark.parametrize("arguments, part", [
    (["marginals", SPRINKLER, "--checkpoint-every", "5"], "applies with --checkpoint only"),
    (["marginals", SPRINKLER, "--cases", "c.csv", "--checkpoint", "r.ckpt"], "--cases"),
    (["map", SPRINKLER, "--checkpoint-every", "5"], "applies with --checkpoint only"),
    (["marginals", SPRINKLER, "--sweeps", "9", "--checkpoint", "no/r.ckpt"], "no"),
])
def test_refused(run, work, arguments, part):
    done = run(*arguments)
    assert done.status in (1, 2) and part in done.err
    only(work)


def test_nothing_sampled(run, work):
    done = run("marginals", SPRINKLER, "--checkpoint", "r.ckpt")
    assert done.status == 0 and "no checkpoint is written" in done.err
    only(work)


def test_one_sample_of_the_evidence(run, work):
    """Found by tools/attack: a chosen sample was refused too."""
    (work / "two.evid").write_text("2\n0\n1 0 1\n")
    given = [SPRINKLER, "-e", "two.evid"]
    done = run("marginals", *given, *SHORT, "--checkpoint", "r.ckpt", "-o", "a.csv")
    assert done.status == 2 and "choose one with --evidence-index" in done.err
    given += ["--evidence-index", "1"]
    done = run("marginals", *given, *SHORT, "--checkpoint", "r.ckpt", "-o", "a.csv")
    assert done.status == 0, done.err
    done = run("marginals", *given, "--resume", "r.ckpt", "-o", "b.csv")
    assert done.status == 0, done.err
    assert (work / "a.csv").read_text() == (work / "b.csv").read_text()


@pytest.mark.parametrize("verb", ["marginals", "sample", "map", "logz"])
def test_no_room(run, work, verb):
    """A disk that holds one checkpoint but not two, and one that is read-only; only the superuser may make such disks."""
    small = work / "small"
    small.mkdir()
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32k", "none", str(small)],
        stderr=subprocess.DEVNULL).returncode == 0
    if not mounted:
        pytest.skip("no small disk")
    try:
        run("generate", "ising", "--grid", "40x40", "--coupling", "0.3", "-o", "g.uai")
        done = run(verb, "g.uai", *SHORT, "--checkpoint", "small/r.ckpt", "-o", "x.csv" if verb == "sample" else "x")
        assert done.status == 1 and "no room" in done.err, done.err
        assert list(small.iterdir()) == []
        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
        done = run(verb, "g.uai", *SHORT, "--checkpoint", "small/r.ckpt")
        assert done.status == 1 and "small/r.ckpt" in done.err and "Read-only" in done.err, done.err
        only(work, "g.uai", "small")
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_info(run, work):
    assert run("marginals", SPRINKLER, *SHORT, "--checkpoint", "r.ckpt", "-o", "a.csv").status == 0
    done = run("info", "r.ckpt")
    assert done.status == 0, done.err
    assert "sampling: 16 chains, 400 sweeps after" in done.out and "largest error" in done.out
    assert "--sweeps 400" in done.out and "--seed 5" in done.out
    told = json.loads(run("info", "r.ckpt", "--json").out)
    assert told["sweeps"] == 400 and told["options"]["seed"] == "5" and told["max_mcse"] > 0
    assert told["bytes"] == (work / "r.ckpt").stat().st_size
    done = run("marginals", SPRINKLER, "--resume", "r.ckpt", "--sweeps", "400", "-o", "b.csv")
    assert done.status == 0 and (work / "a.csv").read_text() == (work / "b.csv").read_text()
    done = run("info", "r.ckpt", "-e", "rain=no")
    assert done.status == 2 and "applies to models" in done.err
    (work / "r.ckpt").write_bytes((work / "r.ckpt").read_bytes()[:90])
    done = run("info", "r.ckpt")
    assert done.status == 3 and "cut short" in done.err


def test_question(work, slow):
    """SIGUSR1 is answered, and the run goes on."""
    process = start(work, "marginals", slow, "--sweeps", "100000000", "--burn-in", "1",
                    "--progress", "json", "-o", "x.csv")
    wait_for(process, "sampling", 1)
    process.send_signal(signal.SIGUSR1)
    for line in process.stderr:
        if line.startswith("gibbsite: sampling: "):
            break
    else:
        pytest.fail("no answer")
    wait_for(process, "sampling", 1)
    process.send_signal(signal.SIGINT)
    process.stderr.read()
    assert process.wait() == 4


ONE_JOB = [
    ("marginals", "examples/clinic.bif", "--method", "sample", "--sweeps", "1e9", "--target-error", "1e-9"),
    ("sample", "examples/clinic.bif", "--method", "sample", "--sweeps", "1e9", "-o", "draws.npz"),
    ("learn", "rbm", "examples/bars.csv", "--hidden", "4", "--epochs", "100000000", "-o", "bars.gbm")]


@pytest.mark.parametrize("command", ONE_JOB, ids=lambda c: c[0])
def test_one_job_at_a_time_writes_a_checkpoint(run, work, command):
    """The lock ends with the process, however that ends."""
    first = subprocess.Popen([program(), *command, "--checkpoint", "kept.gck", "-q"], cwd=work, stdout=subprocess.DEVNULL)
    wait_for_file(first, work / "kept.gck")
    assert first.poll() is None
    for again in ONE_JOB:
        second = run(*again, "--checkpoint", "kept.gck")
        assert second.status == 1 and "kept.gck: another run that is at work writes this file" in second.err
    first.kill()
    first.wait()
    assert (work / "kept.gck.lock").exists()  # which nobody has locked
    after = run("marginals", "examples/clinic.bif", "--method", "sample", "--sweeps", "100", "--checkpoint", "kept.gck", "-q")
    assert after.status in (0, 4), after.err
    assert not (work / "kept.gck.lock").exists()


@pytest.mark.parametrize("command", ONE_JOB, ids=lambda c: c[0])
def test_a_link_to_a_checkpoint_has_its_lock(run, work, command):
    """One file is written under both names, even before it exists."""
    (work / "link.gck").symlink_to("kept.gck")
    first = subprocess.Popen([program(), *command, "--checkpoint", "link.gck", "-q"], cwd=work, stdout=subprocess.DEVNULL)
    wait_for_file(first, work / "kept.gck")
    assert first.poll() is None
    for name in ("kept.gck", "link.gck"):
        second = run(*command, "--checkpoint", name)
        assert second.status == 1 and f"{name}: another run that is at work writes this file" in second.err
    first.kill()
    first.wait()


def test_files_beside_a_linked_checkpoint(run, work):
    """FILE~ and FILE.draws stand beside the file to which the link leads, and are found from both names."""
    (work / "there").mkdir()
    (work / "link.ck").symlink_to("there/kept.ck")
    asked = ["sample", SPRINKLER, *SHORT, "-o", "a.csv", "--checkpoint", "link.ck"]
    assert run(*asked).status == 0
    assert run(*asked).status == 0
    assert {p.name for p in (work / "there").iterdir()} == {"kept.ck", "kept.ck~", "kept.ck.draws"}
    assert not list(work.glob("link.ck?*")) and (work / "link.ck").is_symlink()
    first = (work / "a.csv").read_bytes()
    for name in ("link.ck", "there/kept.ck"):
        done = run("sample", SPRINKLER, *SHORT, "-o", "b.csv", "--resume", name)
        assert done.status == 0, done.err
        assert (work / "b.csv").read_bytes() == first


@pytest.mark.parametrize("name", ["n.ck", "n.ck~", "n.ck.lock", "n.ck.draws"])
@pytest.mark.parametrize("verb", [["sample"], ["marginals", "--joint", "rain,grass"]], ids=lambda v: v[0])
def test_files_beside_a_checkpoint_replace_nothing_else(run, work, verb, name):
    """FILE.draws too is only replaced where it is one; nor is a folder of such a name."""
    asked = [*verb, SPRINKLER, *SHORT, "-o", "a.csv", "--checkpoint", "n.ck"]
    for make in (lambda: (work / name).write_text("my thesis\n"), (work / name).mkdir):
        make()
        done = run(*asked)
        found = "a folder" if (work / name).is_dir() else "a file that is"
        if name == "n.ck" and found == "a folder":
            assert done.status == 1 and f"{name}: cannot write: it is a folder" in done.err
        else:
            assert done.status == 2 and f"{name}: found {found}" in done.err, done.err
        only(work, name)
        if not (work / name).is_dir():
            assert (work / name).read_text() == "my thesis\n"
            (work / name).unlink()
    (work / name).rmdir()
    assert run(*asked).status == 0
    assert run(*asked).status == 0  # its own files are replaced
    if name != "n.ck":
        done = run(*verb, SPRINKLER, *SHORT, "-o", name, "--format", "csv", "--checkpoint", "n.ck")
        assert done.status == 2 and f"--output {name}: --checkpoint n.ck writes a file of that name" in done.err


@pytest.mark.parametrize("verb", ["marginals", "sample", "map", "logz"])
@pytest.mark.parametrize("name", ["n.ck", "n.ck~", "n.ck.lock", "n.ck.draws"])
def test_a_result_takes_no_name_of_a_checkpoint(run, work, verb, name):
    done = run(verb, SPRINKLER, *SHORT, "-o", name, "--checkpoint", "n.ck")
    wanted = "name the same file n.ck" if name == "n.ck" else f"--output {name}: --checkpoint n.ck writes a file of that name"
    assert done.status == 2 and wanted in done.err, done.err
    only(work)


@pytest.mark.parametrize("verb", [["marginals", SPRINKLER], ["map", SPRINKLER]], ids=lambda v: v[0])
@pytest.mark.parametrize("name", ["n.ck", "n.ck~", "n.ck.lock"])
def test_a_checkpoint_replaces_nothing_else(run, work, verb, name):
    """A file that is no checkpoint, under its name or that of the one before, is left as it is."""
    (work / name).write_text("my thesis\n")
    done = run(*verb, *SHORT, "-o", "a.csv", "--checkpoint", "n.ck")
    assert done.status == 2 and f"{name}: found a file that is" in done.err, done.err
    assert (work / name).read_text() == "my thesis\n"
    only(work, name)
    (work / name).write_text("")
    assert run(*verb, *SHORT, "-o", "a.csv", "--checkpoint", "n.ck").status == 0
    assert run(*verb, *SHORT, "-o", "a.csv", "--checkpoint", "n.ck").status == 0  # its own file is replaced
