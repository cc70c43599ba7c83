# SPDX-License-Identifier: Apache-2.0
"""Tests MPI jobs for tools/attack: ranks that share chains, models or folders must give the bytes of one process."""
import os
import subprocess

from attack_answers import Skipped, Wrong
from attack_inputs import RUN

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}
# Messages about questions that one process answers and several ranks refuse.
REFUSED = ("several ranks", "starts of this model depend on all of it", "the model has no variables", "applies with")


def job(trial, n, *words):
    """@return status, standard output, standard error of gibbsite-mpi on n ranks."""
    command = [*(["mpirun", "-n", str(n)] if n > 0 else []), trial.program.mpi, *map(str, words)]
    try:
        done = subprocess.run(command, cwd=trial.folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        raise Wrong(f"hangs: no answer of {n} ranks") from None
    except FileNotFoundError:
        raise Skipped("mpirun is not there") from None
    trial.program.runs["mpirun"] += 1
    words = done.stderr.decode("utf-8", "replace")
    if done.returncode not in range(6) or "runtime error" in words or "Sanitizer" in words:
        raise Wrong(f"status: {done.returncode} of {n} ranks: {words[-500:]}")
    return done.returncode, done.stdout, words


def ranks(trial):
    if trial.program.mpi is None:
        raise Skipped("there is no --mpi")
    r, n = trial.r, trial.r.choice([1, 2, 2, 3])
    shared = r.choice(["chains", "model", "folder"])
    verb = r.choice(["marginals", "marginals", "sample", "logz"] if shared == "chains" else ["marginals", "sample"])
    chains = ["--chains", r.choice([1, 3, 17]), "--seed", r.randrange(2 ** 64)]
    words = [*chains, "--sweeps", r.choice([1, 10, 100])]
    if shared == "chains":
        words += ["--method", "sample", "--max-updates", 20000] if verb != "logz" else ["--method", "sample", "--temper", "off"]
        words += r.choice([[], ["--draw", "herded"], ["--scan", "systematic"], ["--temper", 4]]) if verb != "logz" else []
    else:
        words += RUN
    given = trial.q.evidence()
    status, out, said = trial.run(verb, "model.gbm", *given, *words)
    if shared == "folder":
        made, _, why = job(trial, 0, "partition", "model.gbm", *given, "--scan", "chromatic", *chains, "-n", n, "-o", "parts")
        found = job(trial, n, verb, "parts", *words) if made == 0 else (made, b"", why)
    else:
        found = job(trial, n, verb, "model.gbm", *given, *words, *(["--distribute", "model"] if shared == "model" else []))
    if found[0] != status or found[1] != out:
        lines = [line for line in found[2].splitlines() if line.startswith("gibbsite-mpi: ")]
        if found[0] in (1, 2) and not found[1] and (any(x in found[2] for x in REFUSED) or "evidence fixes" in found[2]):
            return found[0]
        raise Wrong(f"ranks: status {found[0]} of {n} ranks, {status} of one process, {shared}: {lines[-3:]} {said[-200:]}")
    return status
