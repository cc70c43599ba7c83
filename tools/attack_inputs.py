# SPDX-License-Identifier: Apache-2.0
"""Damages binary inputs for tools/attack: cuts, changes and forges NetCDF files and folders of shares."""
import math
import os

from attack_answers import Skipped, Wrong, rows_of

MOST_KIB = 1 << 20  # most memory for a damaged file of some KiB
NUMBERS = [0, 1, 2, 7, 2 ** 15, 2 ** 16 - 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 40, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1]


def forge(r, data, at):
    """Replaces a number of a header by any other number, or by one near the old number."""
    width = r.choice([1, 2, 4, 8])
    at -= at % width
    old = int.from_bytes(data[at:at + width], "little")
    new = r.choice([*NUMBERS, old + 1, old - 1, 2 * old, old >> 1]) % 256 ** width
    return data[:at] + new.to_bytes(width, "little") + data[at + width:]


def damage(r, data):
    """@return damaged bytes: cut off, with flipped bits, with forged numbers, or with a piece moved."""
    worse = data
    while worse == data:
        kind = r.choice(["cut", "flip", "flip", "forge", "forge", "forge", "splice"])
        for _ in range(r.choice([1, 1, 2, 5])):
            at = int(len(worse) * r.random() ** r.choice([1, 4]))  # often near the beginning, where headers are
            if kind == "cut":
                worse = worse[:at]
            elif kind == "flip":
                worse = worse[:at] + bytes([worse[at] ^ 1 << r.randrange(8)]) + worse[at + 1:] if worse else worse
            elif kind == "forge":
                worse = forge(r, worse, at)[:len(data)]
            else:
                n, other = r.randrange(1, 64), r.randrange(len(data))
                worse = worse[:at] + data[other:other + n] + worse[at + r.choice([0, n]):]
    return worse


def judge(trial, command, name):
    """Checks that a damaged file is answered, twice alike, or refused by name with nothing on standard output.
    @return status, standard output."""
    status, out, words = trial.program.run(trial.folder, command, {}, most_kib=MOST_KIB)
    if status in (1, 2, 3) and (status == 3 and name not in words or out.strip() or not words.strip()):
        raise Wrong(f"refused: status {status}, {len(out)} bytes of output, not a word of {name}: {words[-300:]}")
    if trial.program.run(trial.folder, command, {})[:2] != (status, out):
        raise Wrong(f"twice: {' '.join(command)} says something else the second time")
    return status, out


def overwrite(trial, name, data):
    with open(trial.path(name), "wb") as file:
        file.write(data)


def netcdf(trial):
    """Checks that draws in a damaged NetCDF file are diagnosed or refused."""
    r = trial.r
    chains, sweeps = r.choice([1, 2, 5]), r.choice([1, 4, 30])
    status, _, words = trial.run("sample", "model.gbm", *trial.q.evidence(), "--method", "sample", "--chains", chains, "--sweeps", sweeps,
                                 "--max-updates", 10000, "-o", "draws.nc")
    if "libnetcdf" in words:
        raise Skipped("libnetcdf is not there")
    if status not in (0, 4, 5) or not os.path.exists(trial.path("draws.nc")):
        return status
    verb = ["diagnose", "draws.nc", *r.choice([[], ["--format", "json"], ["--format", "csv"]])]
    good = trial.program.run(trial.folder, verb, {})
    overwrite(trial, "draws.nc", damage(r, trial.read("draws.nc")))
    status, out = judge(trial, verb, "draws.nc")
    if status == 0 and out and not good[1]:
        raise Wrong("damaged: an answer where the whole file had none")
    if "csv" in verb and status == 0:
        for row in rows_of(out.decode(), "mean"):
            if row["sd"] and not float(row["sd"]) >= 0:
                raise Wrong(f"damaged: {row}")
    return status


# ---- shares ----------------------------------------------------------------------------------

RUN = ["--method", "sample", "--lattice", "never", "--scan", "chromatic", "--burn-in", "3"]


def shares(trial):
    """Checks that a folder of shares gives the bytes of the whole model. A damaged folder must be refused, with the name of the
    damaged file. With a new seal its contents must be checked, and an accepted folder must give a distribution."""
    r, q = trial.r, trial.q
    verb = r.choice(["marginals", "marginals", "sample"])
    chains = ["--chains", str(r.choice([1, 4, 17])), "--seed", str(r.randrange(2 ** 64))]
    status, _, words = trial.run("gibbsite-mpi", "partition", "model.gbm", *q.evidence(), "--scan", "chromatic", *chains, "-n", 1, "-o",
                                 "parts")
    if status != 0:
        return status
    more = ["--sweeps", str(r.choice([1, 10])), *chains]
    expected = trial.program.run(trial.folder, [verb, "model.gbm", *q.evidence(), *RUN, *more], {})
    command = ["gibbsite-mpi", verb, "parts", *RUN, *more]
    status, out, words = trial.program.run(trial.folder, command, {})
    if (status, out) != expected[:2]:
        raise Wrong(f"shares: status {status} and {expected[0]}, other bytes than of the whole model: {words[-300:]}")
    sealed = r.random() < 0.7
    name = "parts/000000.share" if sealed or r.random() < 0.7 else "parts/variables.gbm"
    data = trial.read(name)
    if sealed:
        overwrite(trial, name, damage(r, data[:-32])[:len(data) - 32].ljust(len(data) - 32, b"\0") + bytes(32))
        trial.program.run(trial.folder, ["seal", name], {})
    else:
        overwrite(trial, name, damage(r, data))
    status, out = judge(trial, command, "parts/")
    if status in (0, 4, 5) and not sealed and name.endswith(".share"):
        raise Wrong("damaged: a share with another checksum is read")
    if status in (0, 4, 5) and verb == "marginals":
        check_distribution(out.decode())
    return status


def check_distribution(text):
    total = {}
    for row in rows_of(text, "variable", "probability"):
        if row["probability"] == "":
            continue  # a variable that the schedule does not visit
        p = float(row["probability"])
        if not -1e-12 <= p <= 1 + 1e-12:
            raise Wrong(f"damaged: {row}")
        total.setdefault(row["variable"], []).append(p)
    if any(abs(math.fsum(p) - 1) > 1e-5 for p in total.values()):
        raise Wrong("damaged: probabilities of a variable do not sum to 1")
