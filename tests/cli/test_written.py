# SPDX-License-Identifier: Apache-2.0
"""What users have on their disks: a file of every kind that the program writes, kept in tests/data/written as a version wrote it.

Each is read by the verb that it is for, and the answer is the one beside it in `expected`. A kept file that is not read, or that
says something else, is a defect of the program: the file is never written anew. An expected answer is written anew only where the
answer is meant to change: with GIBBSITE_WRITTEN=write the tests write what they find, in place of the comparison, and the commit
names the change and says why.
"""
import gzip
import html
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import zipfile

import pytest
from conftest import HANGS_S, ROOT, program

WRITTEN = ROOT / "tests" / "data" / "written"
EXPECTED = WRITTEN / "expected"
WROTE_CHECKPOINTS = "0.1.0"  # no other version goes on with them
GIBBSITE_MPI = os.environ.get("GIBBSITE_MPI", str(ROOT / "build" / "mpi" / "gibbsite-mpi"))

# A format of formats.def: the file that is kept of it.
FORMATS = {
    "uai": "network.uai", "lg": "network.LG", "bif": "network.bif", "xmlbif": "network.xml", "xdsl": "network.xdsl", "net": "network.net",
    "fg": "network.fg", "alchemy": "network.alchemy", "mtx": "spins.mtx", "rud": "couplings.rud", "coo": "spins.coo", "col": "spins.col",
    "wcnf": "clauses.wcnf", "mln": "smokers.mln", "gbm": "network.gbm", "dimmwitted": "friends/graph.meta",
    "dot": "expected/network.dot",
    "svg": "expected/network.svg",
}
# A value of --format of a verb: the file that is kept of it. A table is for people alone; marginals in NetCDF, which hold the time and
# are read by Python alone, are in test_draws.py.
RESULTS = {
    "marginals": {"mar": "exact.MAR", "csv": "exact.csv", "json": "sampled.json", "npz": "expected/marginals.npz", "netcdf": None,
                  "dimmwitted": "expected/friends.marginals", "pbm": "probability.pbm", "pgm": "probability.pgm", "ppm": "probable.ppm",
                  "png": "probability.png"},
    "sample": {"csv": "draws.csv", "tab": "draws.tab", "npz": "draws.npz", "npy": "draws.npy", "netcdf": "draws.nc.gz",
               "cmdstan": "stan_1.csv", "coda": "codaindex.txt", "pbm": "states.pbm", "pgm": "states.pgm", "ppm": "states.ppm",
               "png": "states.png"},
    "map": {"map": "spins.MAP", "csv": "map.csv", "json": "map.json"},
    "logz": {"pr": "exact.PR", "json": "logz.json"},
}

NOISE = "--noise gauss:0.5 --coupling 0.5 --method sample --sweeps 20 --burn-in 5"
FLIPS = "--noise flip:0.2 --coupling 0.5 --method sample --sweeps 20 --burn-in 5"
SHORT = "--method sample --chains 2 --seed 5 --burn-in 10"

# Kept file, what reads it, expected answer: the file called out that the command writes, or what it prints.
READ = [
    # Models.
    ("network.uai", "convert network.uai --format lg", "network.LG"),
    ("network.LG", "convert network.LG --format uai", "network.uai"),
    ("network.bif", "convert network.bif --format xdsl", "network.xdsl"),
    ("network.xml", "convert network.xml --format bif", "network.bif"),
    ("network.xdsl", "convert network.xdsl --format bif", "network.bif"),
    ("network.net", "convert network.net --format bif", "network.bif"),
    ("network.gbm", "convert network.gbm --format bif", "network.bif"),
    ("network.fg", "convert network.fg --format alchemy", "unnamed.alchemy"),
    ("network.alchemy", "marginals network.alchemy", "alchemy.csv"),
    ("fever.gbm", "convert fever.gbm --format net", "fever.net"),
    ("spins.gbm", "convert spins.gbm --format coo", "spins.coo"),
    ("spins.mtx", "convert spins.mtx --format coo", "spins.coo"),
    ("spins.coo", "convert spins.coo --format mtx", "spins.mtx"),
    ("spins.col", "convert spins.col --colors 3 --format fg", "colours.fg"),
    ("couplings.rud", "convert couplings.rud --format mtx", "couplings.mtx"),
    ("torus.gbm", "convert torus.gbm --format rud", "torus.rud"),
    ("patches.gbm", "convert patches.gbm --format alchemy", "patches.alchemy"),
    ("clauses.gbm", "convert clauses.gbm --format wcnf", "clauses.wcnf"),
    ("clauses.wcnf", "marginals clauses.wcnf", "clauses.csv"),
    ("smokers.wcnf", "marginals smokers.wcnf", "smokers-wcnf.csv"),
    ("smokers.mln", "marginals smokers.mln", "smokers-mln.csv"),
    ("smokers.gbm", "marginals smokers.gbm", "smokers-gbm.csv"),
    ("friends/graph.meta", "convert friends --format alchemy", "friends.alchemy"),
    ("dice/graph.meta", "marginals dice", "dice.csv"),
    ("fitted.bif", "convert fitted.bif --format uai", "fitted.uai"),
    ("denoise.gbm", "convert denoise.gbm --format mtx", "denoise.mtx"),
    ("segment.gbm", "marginals segment.gbm --method sample --sweeps 20 --burn-in 5 --seed 2", "segment.csv"),
    # Weights that factors share are learnt together.
    ("weights.gbm", "convert weights.gbm --format alchemy", "weights.alchemy"),
    ("weights.gbm", "learn weights weights.gbm friends.csv --l2 5 --format alchemy", "weights-l2.alchemy"),
    ("friends/graph.meta", "learn weights friends friends.csv --l2 5 --format alchemy", "friends-l2.alchemy"),
    # What was learnt.
    ("rbm.gbm", "marginals rbm.gbm --method sample --sweeps 50 --burn-in 10 --seed 2", "rbm.csv"),
    ("potts.gbm", "sample potts.gbm --method sample --sweeps 5 --burn-in 10 --chains 2", "potts.csv"),
    ("places.crf", "label places.crf places.txt --posterior all", "places.labels"),
    ("places.wapiti", "label places.wapiti places.txt --posterior all", "places.labels"),
    ("news.wapiti", "label news.wapiti news.txt --posterior best --sweeps 40 --seed 3", "news.labels"),
    ("places.labels", "label places.crf places.labels --truth 3", "labels.labels"),
    ("ground.aspects", "segment ground.aspects ground.pgm --sweeps 40 --burn-in 10 --format csv", "ground.csv"),
    ("ground.aspects", "segment ground.aspects ground.pgm --sweeps 40 --burn-in 10 -o out.pgm", "ground-kinds.pgm"),
    # Scans.
    ("all.scan", "marginals weak.gbm --scan all.scan --method sample --sweeps 20 --burn-in 5 --chains 2", "all-scan.csv"),
    ("all.scan", "certify weak.gbm --scan all.scan --steps 36,72", "all-scan.txt"),
    ("rows.scan", "certify weak.gbm --scan rows.scan --steps 36,72", "rows-scan.txt"),
    ("target.scan", "marginals weak.gbm --scan target.scan --partial-scan --query 4 --method sample --sweeps 20 --burn-in 5 --chains 2",
     "target-scan.csv"),
    ("target.scan", "certify weak.gbm --scan target.scan --target 4 --steps 6,12", "target-scan.txt"),
    # Answers.
    ("exact.MAR", "compare exact.MAR sampled.json --tolerance 1", "exact-mar.txt"),
    ("sampled.MAR", "compare sampled.MAR exact.MAR --tolerance 1", "sampled-mar.txt"),
    ("exact.csv", "compare exact.csv sampled.csv --tolerance 1", "exact-csv.txt"),
    ("sampled.csv", "compare sampled.csv exact.MAR --tolerance 1", "sampled-csv.txt"),
    ("sampled.json", "compare sampled.json exact.MAR --tolerance 1", "sampled-json.txt"),
    ("exact.PR", "compare exact.PR sampled.PR --tolerance 1", "exact-pr.txt"),
    ("sampled.PR", "compare sampled.PR exact.PR --tolerance 1", "sampled-pr.txt"),
    ("spins.MAP", "marginals spins.gbm --start spins.MAP --method sample --sweeps 2 --burn-in 0 --chains 1", "map-start.csv"),
    ("network.MPE", "compare network.MPE map.csv --model network.bif --tolerance 3", "mpe.txt"),
    ("map.csv", "compare map.csv network.MPE --model network.bif --tolerance 3", "mpe.txt"),
    ("network.MMAP", "compare network.MMAP prior.MMAP --tolerance 3", "mmap.txt"),
    ("map.json", "report map.json", "map.page"),
    ("logz.json", "report logz.json", "logz.page"),
    # Summaries.
    ("run.json", "report run.json", "run.page"),
    ("exact.json", "report exact.json", "exact.page"),
    ("ladder.json", "report ladder.json", "ladder.page"),
    ("picture.json", "report picture.json", "picture.page"),
    ("run.json", "report exact.json run.json", "several.page"),
    # Draws.
    ("draws.csv", "diagnose draws.csv --format csv", "draws-csv.csv"),
    ("draws.npz", "diagnose draws.npz --format csv", "draws-npz.csv"),
    ("draws.npy", "diagnose draws.npy --format csv", "draws-npy.csv"),
    ("draws.nc", "diagnose draws.nc --format csv", "draws-nc.csv"),
    ("stan_1.csv", "diagnose stan_1.csv stan_2.csv --format csv", "draws-stan.csv"),
    ("codaindex.txt", "diagnose codaindex.txt --format csv", "draws-coda.csv"),
    ("draws.npz", "report draws.npz", "draws.page"),
    ("draws.tab", "marginals network.bif -e draws.tab --evidence-index 7", "tab.csv"),
    # Pictures.
    ("states.pbm", f"denoise states.pbm {FLIPS} -o unused.pgm --mean out.pgm", "states-pbm.pgm"),
    ("states.pgm", "marginals patches.gbm --start states.pgm --method sample --sweeps 2 --burn-in 0 --chains 1", "start.csv"),
    ("states.png", "marginals patches.gbm --start states.png --method sample --sweeps 2 --burn-in 0 --chains 1", "start.csv"),
    ("states.png", "marginals patches.gbm -e states.png", "observed.csv"),
    ("states.ppm", f"denoise states.ppm --levels 4 {NOISE} -o unused.pgm --mean out.pgm", "states-ppm.pgm"),
    ("probable.ppm", f"denoise probable.ppm --levels 4 {NOISE} -o unused.pgm --mean out.pgm", "probable.pgm"),
    ("probability.pbm", f"denoise probability.pbm {FLIPS} -o unused.pgm --mean out.pgm", "probability-pbm.pgm"),
    ("probability.pgm", f"denoise probability.pgm --levels 8 {NOISE} -o unused.pgm --mean out.pgm", "probability.pgm"),
    ("probability.png", f"denoise probability.png --levels 8 {NOISE} -o unused.pgm --mean out.pgm", "probability.pgm"),
    ("clean.pgm", f"denoise ground.pgm {NOISE} --truth clean.pgm --format csv", "clean.csv"),
    ("clean.pbm", f"denoise states.pbm {FLIPS} --truth clean.pbm --format csv", "clean-pbm.csv"),
    ("best.png", f"denoise ground.pgm {NOISE} --truth best.png --format csv", "best.csv"),
    ("mean.png", f"denoise mean.png --levels 4 {NOISE} -o unused.pgm --mean out.pgm", "mean.pgm"),
    ("doubt.pgm", f"denoise doubt.pgm --levels 4 {NOISE} -o unused.pgm --mean out.pgm", "doubt.pgm"),
    ("kinds.pgm", "segment ground.aspects ground.pgm --sweeps 40 --burn-in 10 --truth kinds.pgm --format csv", "kinds.csv"),
    ("kinds.png", "segment ground.aspects ground.pgm --sweeps 40 --burn-in 10 --truth kinds.png --format csv", "kinds.csv"),
    ("overlay.ppm", "segment ground.aspects overlay.ppm --sweeps 40 --burn-in 10 --format csv", "overlay.csv"),
    ("overlay.png", "segment ground.aspects overlay.png --sweeps 40 --burn-in 10 --format csv", "overlay.csv"),
    # Where a run stands.
    ("run.ckpt", "info run.ckpt --json", "run-ckpt.json"),
    ("map.ckpt", "info map.ckpt --json", "map-ckpt.json"),
    ("logz.ckpt", "info logz.ckpt --json", "logz-ckpt.json"),
]

# Kinds that no verb reads, but programs of users do: what writes it, what is written.
AGAIN = [
    ("convert network.bif -o out.dot", "network.dot"),
    ("convert network.bif -o out.svg", "network.svg"),
    ("marginals network.bif -e grass=wet --method sample --sweeps 20 --burn-in 5 -o out.npz", "marginals.npz"),
    ("marginals friends -e 3=1 -o out --format dimmwitted", "friends.marginals"),
    ("marginals network.bif -e grass=wet --joint rain,sprinkler --joint rain", "joint.csv"),
    ("marginals network.bif -e grass=wet --joint rain,sprinkler --format json", "joint.json"),
    ("marginals network.bif --cases sprinkler.csv --query rain,grass", "cases.csv"),
    ("sensitivity network.bif --query rain=yes -e grass=wet", "sensitivity.csv"),
    ("sensitivity network.bif --query rain=yes -e grass=wet --top 4 --format json", "sensitivity.json"),
    ("certify spins.gbm --steps 9,18 --json", "certify.json"),
    ("diagnose draws.npz --format json", "diagnose.json"),
    ("decompose network.bif --focus rain --sweeps 32 --chains 4", "decompose.csv"),
    ("fit network.bif sprinkler.csv --prior bdeu:2 --intervals out.csv -o unused.bif", "fit-errors.csv"),
    ("learn weights friends friends.csv --intervals out.csv -o unused.gbm", "weights-errors.csv"),
    ("learn weights friends friends.csv --curve out.csv -o unused.gbm", "weights-curve.csv"),
    ("learn rbm bars.csv --hidden 3 --epochs 8 --batch 7 --rate 0.3 --held-out 0.2 --curve out.csv -o unused.gbm", "rbm-curve.csv"),
    ("learn crf places.template places.txt --least-count 2 --intervals out.csv -o unused.crf", "places-errors.csv"),
    ("learn potts friends.csv --intervals out.csv -o unused.gbm", "potts-errors.csv"),
]

# A checkpoint, how its run goes on, the same run in one piece (None: it depends on the libLBFGS of the build), the answer of both.
RBM = "learn rbm bars.csv --hidden 2 --epochs 200 --batch 7 --format alchemy"
POTTS = "learn potts friends.csv --method pcd --steps 200 --chains 16 --format alchemy"
WEIGHTS = "learn weights weights.gbm friends.csv --objective sampled --steps 200 --chains 8 --format alchemy"
CHECKPOINTS = [
    ("run.ckpt", "marginals network.bif --sweeps 80", f"marginals network.bif {SHORT} --sweeps 80", "resumed.csv"),
    ("burn-in.ckpt", "marginals network.bif --max-updates 1e6",
     "marginals network.bif --method sample --chains 2 --seed 5 --burn-in 100 --sweeps 30", "resumed-burn-in.csv"),
    ("herded.ckpt", "marginals network.bif --sweeps 80", f"marginals network.bif {SHORT} --draw herded --sweeps 80", "resumed-herded.csv"),
    ("splash.ckpt", "marginals spins.gbm --sweeps 80", f"marginals spins.gbm {SHORT} --scan splash --splash-size 4 --sweeps 80",
     "resumed-splash.csv"),
    ("bits.ckpt", "marginals torus.gbm --sweeps 80", f"marginals torus.gbm {SHORT} --lattice always --sweeps 80", "resumed-bits.csv"),
    ("monitor.ckpt", "marginals network.bif --monitor grass --sweeps 80",
     "marginals network.bif --method sample --chains 1 --seed 5 --burn-in 10 --monitor grass --sweeps 80", "resumed-monitor.csv"),
    ("ladder.ckpt", "marginals spins.gbm --sweeps 80",
     "marginals spins.gbm --method sample --temper 3 --chains 1 --seed 5 --burn-in 20 --sweeps 80", "resumed-ladder.csv"),
    ("sample.ckpt", "sample network.bif --sweeps 45", f"sample network.bif {SHORT} --sweeps 45", "resumed-sample.csv"),
    ("map.ckpt", "map spins.gbm --max-updates 1e6", "map spins.gbm --method sample --chains 2 --seed 5 --sweeps 40", "resumed-map.csv"),
    ("logz.ckpt", "logz spins.gbm --sweeps 80", "logz spins.gbm --method sample --temper 3 --chains 1 --seed 5 --sweeps 80", "resumed.PR"),
    ("annealing.ckpt", "logz spins.gbm --max-updates 1e6", "logz spins.gbm --method sample --temper off --chains 2 --seed 5 --sweeps 64",
     "resumed-annealing.PR"),
    ("rbm.ckpt", RBM, RBM, "resumed-rbm.alchemy"),
    ("potts.ckpt", POTTS, None, "resumed-potts.alchemy"),
    ("weights.ckpt", WEIGHTS, WEIGHTS, "resumed-weights.alchemy"),
]

# A checkpoint whose version was altered, and its checksum with it: what its message names.
OTHER_VERSIONS = [
    ("program.ckpt", "marginals network.bif --resume program.ckpt -o out.csv", ["gibbsite 0.0.9"]),
    ("form.ckpt", "marginals network.bif --resume form.ckpt -o out.csv", ["format version 2", "reads version 1"]),
    ("form.ckpt", "info form.ckpt -o out.txt", ["format version 2", "reads version 1"]),
    ("learning.ckpt", f"{RBM} --resume learning.ckpt -o out", ["format version 2", "reads version 1"]),
]

# Two ranks, each with its share of the model.
SHARES = "marginals shares --method sample --sweeps 30 --burn-in 5 --chains 3 --seed 4"
# Learnt through libLBFGS.
BY_LBFGS = {"places-errors.csv", "potts-errors.csv"}
# Read with kept files, but not written by the program.
BESIDE = {"bars.csv", "friends.csv", "ground.pgm", "news.txt", "places.template", "places.txt", "sprinkler.csv"}

SKIPPED = {"built without expat": "expat", "built without libLBFGS": "libLBFGS", "built without libpng": "libpng",
           "libnetcdf, which cannot be found": "libnetcdf"}


@pytest.fixture
def kept(work):
    """All kept files, in the folder where the program runs."""
    shutil.copytree(WRITTEN, work, dirs_exist_ok=True, ignore=shutil.ignore_patterns("expected", "sources", "README.md", "commands.txt"))
    for packed in work.glob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    return work


def start(folder, command, words=(), **environment):
    """@return a program that has ended. Skips where the build has not the library that the command needs."""
    environment = {**{k: v for k, v in os.environ.items() if k != "GIBBSITE_SIMD"}, **environment}
    done = subprocess.run([*(words or [program()]), *shlex.split(command)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=HANGS_S)
    for text, library in SKIPPED.items():
        if text in done.stderr.decode():
            pytest.skip(f"this build has no {library}")
    return done


def call(folder, command, **more):
    """@return standard output."""
    done = start(folder, command, **more)
    assert done.returncode == 0, f"gibbsite {command}\n{done.stderr.decode()}"
    return done.stdout


def refused(folder, command):
    """@return the message where an input file is refused."""
    done = start(folder, command)
    assert (done.returncode, done.stdout) == (3, b""), done.stderr.decode()
    return done.stderr.decode()


def answer(folder, command):
    """What the command writes to a file called out, or prints."""
    printed = call(folder, command)
    files = list(folder.glob("out*"))
    return files[0].read_bytes() if files else printed


def page(text):
    """The words of a page, a line each; not how it looks."""
    text = re.sub(r"<style>.*?</style>", "", text, flags=re.S)
    return "\n".join(filter(None, map(str.strip, html.unescape(re.sub(r"<[^>]*>", "\n", text)).splitlines()))) + "\n"


def arrays(archive):
    """The arrays of an archive of NumPy, and what it says of the run; a new version has the same."""
    with zipfile.ZipFile(io.BytesIO(archive)) as z:
        found = {name: z.read(name) for name in z.namelist()}
    meta = json.loads(re.search(rb'\{"schema.*\}', found.pop("meta.npy"), re.S).group())
    return {**found, "meta": {key: value for key, value in meta.items() if key != "version"}}


def near(found, expected):
    """CSV with equal words, and numbers equal to six digits: bits of what libLBFGS finds are not ours."""
    def same(a, b):
        try:
            return float(a) == pytest.approx(float(b), rel=1e-6, abs=1e-9)
        except ValueError:
            return a == b
    rows = [[line.split(",") for line in text.decode().splitlines()] for text in (found, expected)]
    return ([len(row) for row in rows[0]] == [len(row) for row in rows[1]]
            and all(same(a, b) for row in zip(*rows) for a, b in zip(*row)))


def check(found, name, command):
    """The answer is the expected one. GIBBSITE_WRITTEN=write: it becomes the expected one."""
    path = EXPECTED / name
    if name.endswith(".page"):
        found = page(found.decode()).encode()
    if name.endswith(".json"):  # a new version has the same answer
        found = re.sub(rb'"version": "[^"]*"', b'"version": "..."', found)
    if os.environ.get("GIBBSITE_WRITTEN") == "write":
        path.write_bytes(found)
    expected = path.read_bytes()
    how = f"gibbsite {command}: the answer is not {path.relative_to(ROOT)}; see {WRITTEN.relative_to(ROOT)}/README.md"
    if name.endswith(".npz"):
        assert arrays(found) == arrays(expected), how
    elif name in BY_LBFGS:
        assert near(found, expected), how
    elif name.endswith((".pgm", ".ppm")):
        assert found == expected, how
    else:
        assert found.decode() == expected.decode(), how


@pytest.mark.parametrize("name, command, expected", READ, ids=[row[0] for row in READ])
def test_is_read(kept, name, command, expected):
    assert name in command or pathlib.Path(name).parent.name in shlex.split(command)
    check(answer(kept, command), expected, command)


@pytest.mark.parametrize("command, expected", AGAIN, ids=[row[1] for row in AGAIN])
def test_is_written_as_before(kept, command, expected):
    check(answer(kept, command), expected, command)


@pytest.mark.parametrize("name, command, whole, expected", CHECKPOINTS, ids=[row[0] for row in CHECKPOINTS])
def test_goes_on(kept, name, command, whole, expected):
    """From the kept file to the bytes of a run that never stopped. Another version refuses it: its bits may be others."""
    command += f" --resume {name}"
    version = call(kept, "--version").decode().split()[1]
    if version != WROTE_CHECKPOINTS:
        said = refused(kept, command)
        assert "version" in said if "learn" in command else WROTE_CHECKPOINTS in said and version in said
        return
    found = call(kept, command)
    check(found, expected, command)
    assert whole is None or found == call(kept, whole)


@pytest.mark.parametrize("name, command, parts", OTHER_VERSIONS, ids=[row[0] for row in OTHER_VERSIONS])
def test_another_version_is_named(kept, name, command, parts):
    said = refused(kept, command)
    assert name in said and all(part in said for part in parts), said
    assert not list(kept.glob("out*"))


def test_shares(kept):
    if not os.path.isfile(GIBBSITE_MPI):
        pytest.skip("this build has no gibbsite-mpi")
    mpirun = shutil.which(os.environ.get("MPIRUN", "mpirun"))
    if mpirun is None:
        pytest.skip("there is no mpirun")
    # As root, and with more ranks than cores. What MPI does not free is not ours.
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                   "MPIR_CVAR_POLLS_BEFORE_YIELD": "1", "ASAN_OPTIONS": "detect_leaks=0"}
    found = call(kept, SHARES, words=[mpirun, "-n", "2", GIBBSITE_MPI], **environment)
    check(found, "shares.csv", SHARES)
    assert found == call(kept, SHARES.replace("shares", "spins.gbm") + " --lattice never")


def test_every_model_format_has_a_kept_file():
    table = (ROOT / "include" / "gibbsite" / "formats.def").read_text()
    formats = set(re.findall(r'^GBS_FORMAT\(\w+, "([^"]+)"', table, re.M))
    assert formats == set(FORMATS), (
        "a format of formats.def without a kept file, or the reverse: write a small file of it with 'gibbsite convert', keep it in "
        "tests/data/written with its command in commands.txt, and add it to FORMATS and READ of this file")
    assert [name for name in FORMATS.values() if not (WRITTEN / name).exists()] == []
    read = {name for name, *_ in READ} | {f"expected/{name}" for _, name in AGAIN}
    assert set(FORMATS.values()) <= read


@pytest.mark.parametrize("verb", RESULTS)
def test_every_format_of_answers_has_a_kept_file(kept, verb):
    choices = re.search(r"^ {5}--format ([\w|-]+)", call(kept, f"help {verb} all").decode(), re.M).group(1)
    assert set(choices.split("|")) - {"table"} == set(RESULTS[verb]), (
        f"a --format of {verb} without a kept file, or the reverse: write a small file of it, keep it in tests/data/written with its "
        "command in commands.txt, and add it to RESULTS and READ of this file, or to AGAIN if no verb reads it")
    assert [name for name in RESULTS[verb].values() if name is not None and not (WRITTEN / name).exists()] == []


def test_every_kept_file_is_tested():
    words = {"README.md", "commands.txt", "sources", "expected", "shares", "sample.ckpt.draws", "codachain1.txt", "codachain2.txt"}
    words |= BESIDE | {name for name, *_ in CHECKPOINTS}
    for command in [row[1] for row in READ + OTHER_VERSIONS] + [row[0] for row in AGAIN]:
        words |= set(shlex.split(command))
    assert [path.name for path in WRITTEN.iterdir() if path.name.removesuffix(".gz") not in words] == []
    expected = {row[-1] for row in READ + AGAIN + CHECKPOINTS} | {"shares.csv"}
    assert {path.name for path in EXPECTED.iterdir()} == expected
