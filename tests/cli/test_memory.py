# SPDX-License-Identifier: Apache-2.0
"""--memory-limit holds whatever is read, made or computed: a command ends well below it, or is
refused before it has used more."""
import gzip
import subprocess
import sys

import pytest

from conftest import program

MIB = 1 << 20
MODEL = "MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2\n2 1\n"


# A process counts what its parent was when it was made: so this small one makes it.
LAUNCH = """import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)"""


@pytest.fixture
def peak(work):
    """peak("info", "x.uai"): exit status, the most memory it held in bytes, and its messages."""

    def call(*arguments, stdin=subprocess.DEVNULL):
        done = subprocess.run([sys.executable, "-I", "-S", "-c", LAUNCH, program(), *map(str, arguments)],
                              cwd=work, stdin=stdin, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        *err, used = done.stderr.splitlines()
        return done.returncode, int(used) * 1024, "\n".join(err)

    return call


@pytest.fixture
def base(peak, work):
    """What the program is before it does anything, sanitized or not."""
    (work / "small.uai").write_text(MODEL)
    return peak("info", "small.uai")[1]


@pytest.fixture
def dense(run):
    """Spins all coupled: 2 million factors."""
    assert run("generate", "complete", "--variables", "2000", "--coupling", "0.0001", "-q", "-o",
               "k.gbm").status == 0
    return "k.gbm"


@pytest.mark.parametrize("verb, options", [
    ("logz", ["--method", "sample", "--temper", "off", "--max-updates", "1"]),
    ("certify", ["--steps", "1"]),
    ("scan", ["--steps", "1"]),
])
def test_dense_models(peak, base, dense, verb, options):
    ends = set()
    for more in (60, 150, 1000):
        limit = base + more * MIB
        status, used, err = peak(verb, dense, *options, "--memory-limit", limit)
        assert used <= limit, (more, used / MIB)
        assert status in (0, 4) or "memory limit" in err, err
        ends.add("memory limit" in err)
    assert ends == {True, False}  # refused by one limit, not by another


@pytest.mark.parametrize("arguments", [
    ["info", "/dev/zero", "--from", "uai"],
    ["convert", "/dev/zero", "--from", "uai", "--format", "lg"],
    ["info", "small.uai", "-e", "/dev/zero"],
    ["marginals", "small.uai", "--virtual-evidence", "/dev/zero"],
    ["marginals", "small.uai", "--start", "/dev/zero"],
    ["marginals", "small.uai", "--scan", "/dev/zero"],
    ["marginals", "small.uai", "--query", "@/dev/zero"],
], ids=lambda a: " ".join(a))
def test_endless_files(peak, base, arguments):
    limit = base + 60 * MIB
    status, used, err = peak(*arguments, "--memory-limit", limit)
    assert status in (1, 3) and "memory limit" in err, err
    assert used <= limit


@pytest.mark.parametrize("verb", [["info"], ["convert", "--format", "lg"]])
def test_endless_pipes(peak, base, verb):
    limit = base + 60 * MIB
    endless = subprocess.Popen(["yes", "1"], stdout=subprocess.PIPE)
    status, used, err = peak(*verb, "-", "--from", "uai", "--memory-limit", limit,
                             stdin=endless.stdout)
    endless.kill()
    endless.stdout.close()
    endless.wait()
    assert status in (1, 3) and "memory limit" in err, err
    assert used <= limit


@pytest.mark.parametrize("arguments", [["info", "bomb.uai.gz"], ["info", "small.uai", "-e", "bomb.uai.gz"],
                                       ["convert", "bomb.uai.gz", "--format", "lg"]])
def test_gzip_bombs(peak, base, work, arguments):
    """A file of 1 MiB of 1 GiB."""
    with gzip.open(work / "bomb.uai.gz", "wb", compresslevel=1) as bomb:
        for _ in range(1024):
            bomb.write(bytes(MIB))
    limit = base + 60 * MIB
    status, used, err = peak(*arguments, "--memory-limit", limit)
    assert status in (1, 3) and "limit" in err, err
    assert used <= limit


def test_models_that_are_made(peak, base, work):
    """Refused by what they would take, or by what they take; the rest is not."""
    for kind in (["complete", "--variables", "3000"], ["potts", "--grid", "1500x1500", "--states", "2"],
                 ["bayes", "--variables", "300000", "--parents", "3", "--states", "3:3"]):
        limit = base + 40 * MIB
        made = ["generate", *kind, "-q", "-o", "made.gbm", "--memory-limit"]
        status, used, err = peak(*made, limit)
        assert status == 1 and "memory limit" in err, err
        assert used <= limit and not (work / "made.gbm").exists()
    status, used, _ = peak("generate", "ring", "--variables", "1000", "-q", "-o", "made.gbm",
                           "--memory-limit", limit)
    assert status == 0 and used <= limit


def test_models_that_are_converted(peak, base, dense):
    ends = set()
    for more in (30, 1000):
        limit = base + more * MIB
        status, used, err = peak("convert", dense, "-o", "copy.gbm", "--memory-limit", limit)
        assert used <= limit and (status == 0) != ("memory limit" in err), err
        ends.add(status)
    assert ends == {0, 1}
