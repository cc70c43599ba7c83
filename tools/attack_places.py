# SPDX-License-Identifier: Apache-2.0
"""Runs the program for tools/attack in odd places: slow pipes, closed folders, control groups, bare environments."""
import os
import threading
import time

from attack_answers import Skipped, Wrong

NOBODY = 65534
GROUPS = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]
GROUP_BYTES = 192 << 20


class Pipes:
    """Makes pipes of standard input and output of a command, with a slow process at the other end of each pipe."""

    def __init__(self, trial, r, given, taken):
        """@param given: bytes for standard input. @param taken: number of bytes of the output that are read, None: all."""
        self.trial, self.got = trial, b""
        pauses = [r.choice([0, 0, 0.0005, 0.003]) for _ in range(7)]
        sizes = [r.choice([1, 7, 100, 4096, 65536]) for _ in range(5)]
        if len(given) > 2000:
            sizes.append(4096)
        os.remove(trial.path("stdout"))  # output of the previous command
        for name in ("stdin", "stdout"):
            os.mkfifo(trial.path(name))
        self.threads = [threading.Thread(target=self.feed, args=(given, sizes, pauses)),
                        threading.Thread(target=self.drain, args=(taken, sizes, pauses))]
        for thread in self.threads:
            thread.start()

    def feed(self, given, sizes, pauses):
        at, i = 0, 0
        try:
            with open(self.trial.path("stdin"), "wb", buffering=0) as pipe:
                while at < len(given):
                    n = max(sizes[i % len(sizes)], len(given) // 200)
                    at += pipe.write(given[at:at + n])
                    time.sleep(pauses[i % len(pauses)])
                    i += 1
        except BrokenPipeError:
            pass  # the program has read enough

    def drain(self, taken, sizes, pauses):
        with open(self.trial.path("stdout"), "rb", buffering=0) as pipe:
            i = 0
            while (taken is None or len(self.got) < taken) and (part := pipe.read(max(sizes[i % len(sizes)], len(self.got) // 100))):
                self.got += part
                time.sleep(pauses[i % len(pauses)])
                i += 1

    def finish(self):
        for thread in self.threads:
            thread.join()
        os.remove(self.trial.path("stdin"))
        os.remove(self.trial.path("stdout"))
        with open(self.trial.path("stdout"), "wb") as file:
            file.write(self.got)


def pipes(trial):
    """Checks slow pipes: a slow model gives the answer of a file, the answer can be read slowly, and a reader that leaves ends
    the program."""
    r = trial.r
    verb = r.choice(["marginals", "sample", "map", "exact", "convert", "info"])
    style = r.choice(["gbm", "uai", "lg"])
    trial.run("convert", "model.gbm", "--format", style, "-o", "m")
    if not os.path.exists(trial.path("m")):
        return 1
    more = {"convert": ["--format", "uai"], "sample": ["--method", "sample", "--sweeps", r.choice([10, 200])]}.get(verb, [])
    more += ["--max-updates", 20000] if verb in ("marginals", "sample", "map") else []
    words = ["--from", style, *map(str, more)]
    status, out, said = trial.program.run(trial.folder, [verb, "m", *words], {})
    taken = r.randrange(1 + len(out)) if r.random() < 0.2 else None
    command = [verb, "-", *words]
    try:
        found = trial.program.run(trial.folder, command, {}, pipes=Pipes(trial, r, trial.read("m"), taken))
    except Wrong as wrong:
        if taken is not None and str(wrong) == "signal: 13":
            return status  # nobody reads the output
        raise
    if taken is not None and found[0] == 1 and (not found[2].strip() or "cannot be written" in found[2]):
        return status  # some writes get an error in place of the signal
    if verb == "info" and status == found[0] == 0:
        return status  # the message names its file
    if found[0] != status or (found[1] != out if taken is None else not out.startswith(found[1][:taken])):
        raise Wrong(f"pipes: status {found[0]} and {status}, other bytes of {verb}: {found[2][-300:]} {said[-300:]}")
    return status


# ---- environments ----------------------------------------------------------------------------


def as_nobody():
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def closed(trial):
    """Checks folders and devices where nothing can be written: the message names the place, and nothing changes."""
    r = trial.r
    os.chmod(trial.folder, 0o777)
    for name in ("stdout", "stderr"):
        os.remove(trial.path(name))  # a file that the maker of the model owns
    os.chmod(trial.path("model.gbm"), 0o644)
    os.mkdir(trial.path("closed"))
    trial.write("closed/old", "as it was\n")
    os.chmod(trial.path("closed/old"), r.choice([0o444, 0o400]))
    os.chmod(trial.path("closed"), 0o555)
    where = r.choice(["closed/new", "closed/old", "closed/none/new", "/dev/full"])
    verb, options = r.choice([("marginals", ["-o", "--summary", "--report"]), ("sample", ["-o", "--summary"]), ("convert", ["-o"]),
                              ("map", ["-o", "--report"]), ("marginals", ["--checkpoint"])])
    option = r.choice(options)
    words = ["--method", "sample", "--max-updates", "10000"] if verb != "convert" else ["--format", "uai"]
    words += ["--sweeps", "20"] if verb in ("marginals", "sample") else []
    status, out, said = trial.program.run(trial.folder, [verb, "model.gbm", *words, option, where], {}, place=as_nobody)
    fine = trial.program.run(trial.folder, [verb, "model.gbm", *words], {}, place=as_nobody)
    if sorted(os.listdir(trial.path("closed"))) != ["old"] or trial.read("closed/old") != b"as it was\n":
        raise Wrong("closed: what could not be written was")
    if "no checkpoint is written" in said:
        return status  # because nothing is sampled
    if fine[0] in (0, 4, 5) and fine[1] and (status not in (1, 2) or where not in said):
        raise Wrong(f"closed: status {status} with {verb} {option} {where}: {said[-300:]}")
    if fine[0] in (0, 4, 5) and fine[1] and option == "-o" and out:
        raise Wrong("closed: an answer on standard output")
    return status


def bare(trial):
    """Checks that every byte is the same if variables such as HOME and TERM are missing or odd."""
    r = trial.r
    verb = r.choice(["marginals", "map", "logz", "sample", "info"])
    words = ["--method", "sample", "--max-updates", "10000"] if verb != "info" else ["--variables"]
    words += r.choice([[], ["--format", "json"]]) if verb in ("marginals", "map") else []
    expected = trial.program.run(trial.folder, [verb, "model.gbm", *words], {})
    odd = {"HOME": [None, "", "/none", "\n"], "TERM": [None, "", "dumb", "xterm-256color", "x" * 300], "LANG": [None, "de_DE.UTF-8", "C", "%s"],
           "LC_ALL": [None, "tr_TR.UTF-8", "nonsense"], "TMPDIR": [None, "/none"], "COLUMNS": [None, "0", "-1", "4294967297", "x"],
           "PATH": [None, ""], "PWD": [None, "/none"], "SHELL": [None]}
    environment = {name: r.choice(values) for name, values in odd.items() if r.random() < 0.7}
    found = trial.program.run(trial.folder, [verb, "model.gbm", *words], environment)
    if found[:2] != expected[:2]:
        raise Wrong(f"bare: status {found[0]} and {expected[0]}, other bytes with {environment}: {found[2][-300:]}")
    return found[0]


def joined():
    """Joins a control group with little memory. The group is made once for each server."""
    for root, limit in GROUPS:
        folder = os.path.join(root, f"gibbsite-attack-{os.getppid()}")
        try:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, limit), "w", encoding="ascii") as file:
                file.write(str(GROUP_BYTES))
            with open(os.path.join(folder, "cgroup.procs"), "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
            return
        except OSError:
            continue


def group(trial):
    """Checks that the program in a control group answers or refuses, and is never killed. By default the program uses half the
    memory of the group. Files are small, because files of a folder in memory count too."""
    with open(trial.program.server, "rb") as file:
        if b"__asan_init" in file.read():
            raise Skipped("control groups: a sanitizer needs more memory itself")
    r = trial.r
    n = r.choice([10, 100, 1000, 3000])
    verb, words = r.choice([("generate", ["ising", "--grid", f"{n}x{n}", "-o", "big.gbm"]),
                            ("marginals", ["model.gbm", "--method", "sample", "--chains", 10 ** r.randint(1, 9), "--sweeps", 1]),
                            ("sample", ["model.gbm", "--method", "sample", "--sweeps", 10 ** r.randint(1, 6), "--max-updates", 10 ** 6, "-o", "d.npz"]),
                            ("denoise", ["none.png"])])
    command = [verb, *map(str, words)]
    status, _, said = trial.program.run(trial.folder, command, {}, place=joined)
    if not any(os.path.isdir(os.path.join(root, f"gibbsite-attack-{os.getpid()}")) for root, _ in GROUPS):
        raise Skipped("control groups cannot be written here")
    if status == 1 and "memory limit" not in said:
        trial.answers.check_reason(said)
    if status not in (0, 4, 5) and not said.strip():
        raise Wrong(f"group: status {status} without a reason")
    return status


def places(trial):
    return trial.r.choice([closed, closed, bare, bare, bare, group])(trial)
