# SPDX-License-Identifier: Apache-2.0
"""--memory-limit holds whatever is read, made or computed: a command ends well below it, or is
refused before it has used more."""
import gzip
import subprocess
import sys
import zipfile

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
@pytest.mark.long
def test_dense_models(peak, base, dense, verb, options):
    ends = set()
    for more in (60, 150, 1000):
        limit = base + more * MIB
        status, used, err = peak(verb, dense, *options, "--memory-limit", limit)
        assert used <= limit, (more, used / MIB)
        assert status in (0, 4) or "--memory-limit" in err or "memory limit" in err, err
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
    assert status in (2, 3) and "found a NUL byte" in err, err
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
@pytest.mark.long
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


def write_npz(path, n, compress=zipfile.ZIP_DEFLATED, members=("lp",), shape="(2, %d)"):
    """Members of n zeros each for two chains."""
    with zipfile.ZipFile(path, "w", compress) as archive:
        for name in members:
            header = ("{'descr': '<f8', 'fortran_order': False, 'shape': %s, }" % (shape % n)).ljust(117) + "\n"
            with archive.open(name + ".npy", "w", force_zip64=True) as file:
                file.write(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode())
                for _ in range(16 * n // MIB):
                    file.write(bytes(MIB))


@pytest.mark.parametrize("verb", ["diagnose", "report"])
@pytest.mark.long
def test_draws_that_unpack_to_much_more_than_is_there(peak, base, work, verb):
    write_npz(work / "zeros.npz", 16 * MIB)
    assert (work / "zeros.npz").stat().st_size < MIB
    status, used, err = peak(verb, "zeros.npz", "-o", "out")
    assert status == 1 and "unpack to more" in err
    assert used < base + 16 * MIB and not (work / "out").exists()


@pytest.mark.parametrize("verb", ["diagnose", "report"])
@pytest.mark.parametrize("stored, limit, fits", [("one", "60M", False), ("two", "60M", False), ("one", "400M", True)])
@pytest.mark.long
def test_draws_in_arrays_count(peak, base, work, verb, stored, limit, fits):
    """40 MB of draws: the file, an array of it, and numbers of both chains."""
    write_npz(work / "draws.npz", 5 * MIB // (4 if stored == "two" else 2), zipfile.ZIP_STORED, ("a", "b") if stored == "two" else ("a",))
    status, used, err = peak(verb, "draws.npz", "-o", "out", "--memory-limit", limit)
    assert (status == 0) == fits, err
    assert fits or ("memory limit" in err and used < base + 80 * MIB)


@pytest.mark.parametrize("verb", ["diagnose", "report"])
def test_draws_in_text_count(peak, base, work, verb):
    (work / "draws.csv").write_text("a,b\n" + "1.5,2\n" * 3_000_000)
    status, used, err = peak(verb, "draws.csv", "-o", "out", "--memory-limit", "50M")
    assert status == 1 and "would exceed the memory limit of 50.0 MiB" in err
    assert used < base + 60 * MIB


@pytest.mark.parametrize("command", [
    ["report", "/dev/zero", "-o", "out"], ["diagnose", "/dev/zero"], ["compare", "/dev/zero", "/dev/zero"], ["info", "/dev/zero", "--from", "bif"],
    ["label", "examples/places.crf", "/dev/zero"], ["marginals", "examples/sprinkler.bif", "-e", "/dev/zero"],
    ["ground", "/dev/zero", "examples/smokers.db", "-o", "out.gbm"]])
def test_text_ends_at_the_first_nul(peak, base, work, command):
    status, used, err = peak(*command)
    assert status == 3 and "/dev/zero:1:1: found a" in err
    assert used < base + 16 * MIB and not (work / "out").exists()


@pytest.mark.parametrize("command, found", [
    (["denoise", "/dev/zero", "-o", "out.png"], "byte 0: found no picture"),
    (["denoise", "examples/leaf-noisy.pbm", "--truth", "/dev/zero"], "byte 0: found no picture"),
    (["segment", "examples/ground.aspects", "/dev/zero", "-o", "out.png"], "byte 0: found no picture"),
    (["convert", "/dev/zero", "--from", "gbm", "-o", "out.uai"], "byte 0: found 00, expected 89"),
], ids=lambda c: c[0] if isinstance(c, list) else "")
def test_a_binary_file_is_known_by_its_first_bytes(peak, base, work, command, found):
    """Nothing more is read of what is no picture and no .gbm file."""
    status, used, err = peak(*command)
    assert status == 3 and f"/dev/zero: {found}" in err, err
    assert used < base + 16 * MIB and not list(work.glob("out*"))


def test_a_binary_pipe_is_known_by_its_first_bytes(peak, base, work):
    with open("/dev/zero", "rb") as zero:
        status, used, err = peak("info", "-", "--from", "gbm", stdin=zero)
    assert status == 3 and "<stdin>: byte 0: found 00, expected 89" in err, err
    assert used < base + 16 * MIB


def test_a_nul_far_into_a_pipe(peak, base, work):
    """Nothing is read behind it, and its place is told."""
    text = MODEL.encode() + b"\n" * 300_000
    (work / "text").write_bytes(text)
    with subprocess.Popen(["sh", "-c", "cat text; cat /dev/zero"], cwd=work, stdout=subprocess.PIPE) as pipe:
        status, used, err = peak("info", "-", "--from", "uai", stdin=pipe.stdout)
        pipe.stdout.close()
        pipe.kill()
    assert status == 3 and "<stdin>:%d:1: found a NUL byte" % (text.count(b"\n") + 1) in err
    assert used < base + 32 * MIB
