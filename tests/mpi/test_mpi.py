# SPDX-License-Identifier: Apache-2.0
"""What needs MPI: `./dev mpi`.

GIBBSITE, GIBBSITE_MPI and RANKS_CHECK name the programs, MPIRUN what starts the ranks; beside
RANKS_CHECK is other_version, gibbsite-mpi that says it is version 0.0.9. Answers are
those of one process, byte by byte; failures are one line of ours on standard error, beside what
mpirun says.
"""
import json
import os
import pathlib
import signal
import subprocess

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
CLINIC = str(EXAMPLES / "clinic.bif")
GIBBSITE = os.environ["GIBBSITE"]
GIBBSITE_MPI = os.environ["GIBBSITE_MPI"]
MPIRUN = os.environ.get("MPIRUN", "mpirun")

# As root, and with more ranks than cores.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}


def run(*command, **more):
    return subprocess.run(command, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600, **more)


def mpirun(n, *arguments, **more):
    return run(MPIRUN, "-n", str(n), GIBBSITE_MPI, *arguments, **more)


def each_rank(*commands, **more):
    """One rank for each list of arguments."""
    command = [MPIRUN]
    for i, arguments in enumerate(commands):
        command += ([":"] if i > 0 else []) + ["-n", "1", *arguments]
    return run(*command, **more)


def ours(done):
    """Lines of the program, without those of mpirun."""
    return [line for line in done.stderr.splitlines() if line.startswith("gibbsite-mpi: ")]


def without_times(text):
    return [line for line in text.splitlines() if " updates in " not in line]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_table_of_ranks(n):
    done = run(MPIRUN, "-n", str(n), os.environ["RANKS_CHECK"])
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_help_and_version_need_no_mpirun():
    done = run(GIBBSITE_MPI, "--help")
    assert done.returncode == 0 and "--distribute chains|model" in done.stdout
    assert run(GIBBSITE_MPI, "--version").stdout.startswith("gibbsite-mpi ")


RUNS = {
    "marginals": ["marginals", CLINIC, "--method", "sample", "--chains", "40", "--sweeps", "300"],
    "few chains": ["marginals", CLINIC, "--chains", "3", "--sweeps", "300", "-e", "fever=yes"],
    "herded": ["marginals", CLINIC, "--draw", "herded", "--chains", "17", "--sweeps", "100"],
    "target": ["marginals", CLINIC, "--method", "sample", "--target-error", "0.01"],
    "exact": ["marginals", CLINIC],
    "ladders": ["marginals", CLINIC, "--method", "sample", "--temper", "8", "--burn-in", "50", "--sweeps", "100"],
    "draws of ladders": ["sample", CLINIC, "--temper", "4", "--burn-in", "50", "--sweeps", "20"],
    "joint": ["marginals", CLINIC, "--joint", "influenza,cold", "--method", "sample", "--sweeps",
              "100"],
    "monitor": ["marginals", CLINIC, "--method", "sample", "--monitor", "fever", "--sweeps", "200"],
    "draws": ["sample", CLINIC, "--chains", "17", "--sweeps", "9", "--thin", "3"],
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("n, threads", [(2, 1), (3, 2)])
def test_the_bytes_of_one_process(name, n, threads):
    expected = run(GIBBSITE, *RUNS[name])
    done = mpirun(n, *RUNS[name], "--threads", str(threads))
    assert done.returncode == expected.returncode == 0, done.stderr
    assert done.stdout == expected.stdout
    assert without_times(done.stderr) == without_times(expected.stderr.replace("gibbsite: ", "gibbsite-mpi: "))


def test_files_are_those_of_one_process(tmp_path):
    for name, command in [("one", [GIBBSITE]), ("two", [MPIRUN, "-n", "2", GIBBSITE_MPI])]:
        folder = tmp_path / name
        folder.mkdir()
        done = run(*command, *RUNS["marginals"], "-o", "p.csv", "--summary", "s.json", cwd=folder)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        done = run(*command, *RUNS["draws"], "-o", "draws.npz", cwd=folder)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    for file in ("p.csv", "draws.npz"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    summary = [json.loads((tmp_path / name / "s.json").read_text()) for name in ("one", "two")]
    assert summary[0]["digest"] == summary[1]["digest"]
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["draws.npz", "p.csv", "s.json"]


def test_a_run_goes_on_on_another_number_of_ranks(tmp_path):
    command = ["marginals", CLINIC, "--method", "sample", "--chains", "40", "--burn-in", "20", "--sweeps"]
    expected = run(GIBBSITE, *command, "300").stdout
    for begins, ends in [([MPIRUN, "-n", "3", GIBBSITE_MPI], [MPIRUN, "-n", "2", GIBBSITE_MPI]),
                         ([MPIRUN, "-n", "3", GIBBSITE_MPI], [GIBBSITE]),
                         ([GIBBSITE], [MPIRUN, "-n", "2", GIBBSITE_MPI])]:
        done = run(*begins, *command, "70", "--checkpoint", "run.ckpt", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        done = run(*ends, *command, "300", "--resume", "run.ckpt", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, expected), done.stderr


@pytest.mark.parametrize("arguments, status, message", [
    (["info", CLINIC], 2, "'info': the verbs are marginals, sample, logz and partition"),
    (["marginals", CLINIC, "--chain", "3"], 2, "--chain"),
    (["marginals", CLINIC, "--distribute", "rows"], 2, "--distribute rows: expected chains or model"),
    (["marginals", "-"], 2, "-: standard input reaches the first rank only"),
    (["marginals", CLINIC, "--temper", "8", "--scan", "splash"], 2, "--temper applies with --scan chromatic only"),
    (["marginals", "nothing.bif"], 3, "nothing.bif: "),
])
def test_what_fails_everywhere_is_said_once(arguments, status, message):
    done = mpirun(3, *arguments)
    assert (done.returncode, done.stdout) == (status, "")
    assert len(ours(done)) == 1 and message in ours(done)[0]
    assert not ours(done)[0].startswith("gibbsite-mpi: rank")


def test_a_file_missing_on_one_node_is_named_with_its_rank(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    (here / "m.bif").write_text(pathlib.Path(CLINIC).read_text())
    program = [GIBBSITE_MPI, "marginals", "m.bif", "--method", "sample", "--sweeps", "10"]
    done = each_rank(["-wdir", str(here), *program], ["-wdir", str(there), *program])
    assert (done.returncode, done.stdout) == (3, "")
    assert len(ours(done)) == 1 and ours(done)[0].startswith("gibbsite-mpi: rank 1: m.bif: ")


def test_other_models_and_options_are_named(tmp_path):
    text = pathlib.Path(CLINIC).read_text()
    for name, model in [("a", text), ("b", text.replace("0.95", "0.94").replace("0.05", "0.06"))]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.bif").write_text(model)
    program = [GIBBSITE_MPI, "marginals", "m.bif", "--method", "sample", "--sweeps", "10"]
    done = each_rank(["-wdir", str(tmp_path / "a"), *program], ["-wdir", str(tmp_path / "b"), *program])
    assert done.returncode == 1 and len(ours(done)) == 1
    assert ours(done)[0].startswith("gibbsite-mpi: rank 1: this rank has model=")
    done = each_rank([*program[:2], CLINIC, *program[3:]], [*program[:2], CLINIC, *program[3:], "--seed", "5"])
    assert done.returncode == 1 and "--seed=5" in ours(done)[0]


def test_another_version_is_named():
    other = str(pathlib.Path(os.environ["RANKS_CHECK"]).with_name("other_version"))
    version = run(GIBBSITE_MPI, "--version").stdout.split()[1]
    done = each_rank([GIBBSITE_MPI, *RUNS["marginals"]], [other, *RUNS["marginals"]])
    assert (done.returncode, done.stdout) == (1, "")
    assert ours(done) == [f"gibbsite-mpi: rank 1: has version 0.0.9, rank 0 has {version}: all ranks need the same"]


@pytest.mark.parametrize("words", [[], ["--distribute", "model", "--scan", "chromatic", "--lattice", "never"]], ids=["chains", "model"])
@pytest.mark.parametrize("more, message", [
    (["--seed", "5"], "this rank has --seed=5, rank 0 has --seed=1"),
    (["--burn-in", "7"], "this rank has --burn-in=7, rank 0 has --burn-in="),
    (["--checkpoint", "run.ckpt"], "this rank has --checkpoint=yes, rank 0 has --checkpoint=no"),
])
def test_one_of_four_ranks_differs(tmp_path, words, more, message):
    program = [GIBBSITE_MPI, "marginals", CLINIC, "--method", "sample", "--chains", "70", "--sweeps", "50", *words]
    done = each_rank(program, [*program, *more], program, program, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(ours(done)) == 1 and ours(done)[0].startswith("gibbsite-mpi: rank 1: " + message)


def test_files_and_verbs_that_differ(tmp_path):
    program = [GIBBSITE_MPI, *RUNS["marginals"]]
    for name, sweeps in [("a", "50"), ("b", "70")]:
        done = run(GIBBSITE, *RUNS["marginals"][:-1], sweeps, "--checkpoint", f"{name}.ckpt", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    for first, second, message in [
            ([*program, "--resume", "a.ckpt"], [*program, "--resume", "b.ckpt"], "this rank has --resume="),
            ([*program, "--resume", "a.ckpt"], program, "this rank has --resume=no"),
            ([*program, "--monitor", "fever"], [*program, "--monitor", "cold"], "this rank has monitor="),
            (program, [*program, "-e", "fever=yes"], "this rank has evidence="),
            (program, [GIBBSITE_MPI, "logz", CLINIC], "has verb logz, rank 0 has marginals"),
            (program, [*program, "--distribute", "model"], "has --distribute model, rank 0 has chains")]:
        done = each_rank(first, second, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert len(ours(done)) == 1 and ours(done)[0].startswith("gibbsite-mpi: rank 1: ") and message in ours(done)[0]


def test_one_rank_that_fails_ends_all(tmp_path):
    program = [GIBBSITE_MPI, *RUNS["marginals"]]
    done = each_rank(program, [*program, "--memory-limit", "1K"])
    assert done.returncode == 1 and len(ours(done)) == 1
    assert ours(done)[0].startswith("gibbsite-mpi: rank 1: ") and "memory limit" in ours(done)[0]
    done = mpirun(2, *RUNS["marginals"], "-o", "/dev/full")
    assert done.returncode == 1 and len(ours(done)) == 1
    assert ours(done)[0].startswith("gibbsite-mpi: rank 0: /dev/full: ")
    """No state satisfies the table, which is found out within the run."""
    model = tmp_path / "never.uai"
    model.write_text("MARKOV\n2\n2 2\n2\n2 0 1\n2 0 1\n4\n1 0 0 1\n4\n0 1 1 0\n")
    done = mpirun(3, "marginals", str(model), "--method", "sample")
    assert (done.returncode, done.stdout) == (1, "")
    assert ours(done)


def test_instruction_sets_may_differ():
    program = [GIBBSITE_MPI, *RUNS["marginals"]]
    done = each_rank(["env", "GIBBSITE_SIMD=portable", *program], program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == run(GIBBSITE, *RUNS["marginals"]).stdout


# ---- ln Z --------------------------------------------------------------------------------------

ANNEALED = ["--method", "sample", "--temper", "off", "--chains", "40", "--sweeps", "300"]


def json_but_seconds(path):
    answer = json.loads(pathlib.Path(path).read_text())
    del answer["seconds"]
    return answer


@pytest.mark.parametrize("n, threads", [(1, 2), (2, 1), (3, 2), (4, 1)])
@pytest.mark.parametrize("arguments", [
    ["spins.gbm", *ANNEALED],
    ["clauses.wcnf", *ANNEALED],
    [CLINIC, "-e", "fever=yes", *ANNEALED],
    [CLINIC, "-e", "fever=yes"],
], ids=["spins", "clauses", "clinic", "exact"])
def test_log_z_is_that_of_one_process(made, tmp_path, arguments, n, threads):
    alone = run(GIBBSITE, "logz", *arguments, "--format", "json", "-o", str(tmp_path / "one"), cwd=made)
    done = mpirun(n, "logz", *arguments, "--format", "json", "-o", str(tmp_path / "many"), "--threads", str(threads), cwd=made)
    assert done.returncode == alone.returncode == 0, done.stderr
    assert json_but_seconds(tmp_path / "many") == json_but_seconds(tmp_path / "one")


def test_ladders_give_the_log_z_of_one_process(tmp_path):
    command = ["logz", CLINIC, "--method", "sample", "--temper", "4", "--chains", "5", "--sweeps", "100", "--format", "json", "-o"]
    alone = run(GIBBSITE, *command, "one", cwd=tmp_path)
    done = mpirun(2, *command, "two", cwd=tmp_path)
    assert done.returncode == alone.returncode == 0, done.stderr
    assert json_but_seconds(tmp_path / "two") == json_but_seconds(tmp_path / "one")


def test_log_z_goes_on_on_another_number_of_ranks(made, tmp_path):
    command = ["logz", str(made / "spins.gbm"), *ANNEALED, "--format", "json"]
    assert run(GIBBSITE, *command, "-o", "whole", cwd=tmp_path).returncode == 0
    updates = json_but_seconds(tmp_path / "whole")["updates"]
    kept = ["--checkpoint", "run.ckpt"]
    for i, program in enumerate([[MPIRUN, "-n", "3", GIBBSITE_MPI], [GIBBSITE], [MPIRUN, "-n", "2", GIBBSITE_MPI]]):
        resumed = ["--resume", "run.ckpt"] if i > 0 else []
        done = run(*program, *command, "--max-updates", str(updates * (i + 1) // 4), *kept, *resumed, cwd=tmp_path)
        assert done.returncode == 4, done.stderr
    done = mpirun(4, *command, "--max-updates", str(2 * updates), "--resume", "run.ckpt", "-o", "last", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json_but_seconds(tmp_path / "last") == json_but_seconds(tmp_path / "whole")


@pytest.mark.parametrize("arguments, status, message", [
    (["--distribute", "model"], 2, "ln Z of a model that ranks share is not estimated"),
    ([*ANNEALED, "--checkpoint", "/dev/full"], 2, "/dev/full"),
    ([*ANNEALED, "--resume", "nothing.ckpt"], 3, "nothing.ckpt"),
])
def test_what_log_z_refuses(made, tmp_path, arguments, status, message):
    done = mpirun(3, "logz", str(made / "spins.gbm"), *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (status, "")
    assert len(ours(done)) == 1 and message in ours(done)[0]


def test_one_rank_ends_log_z_of_all(made, tmp_path):
    """A signal to the last of three ranks, which has passes to do for hours; and another seed."""
    program = [GIBBSITE_MPI, "logz", str(made / "spins.gbm"), *ANNEALED]
    done = each_rank(program, program, [*program, "--seed", "5"])
    assert (done.returncode, done.stdout) == (1, "")
    assert len(ours(done)) == 1 and ours(done)[0].startswith("gibbsite-mpi: rank 2: this rank has --seed=5")
    long = [*program[:-1], "1000000000", "--checkpoint", "run.ckpt"]
    stopped = " ".join(long) + " & job=$!; until [ -e run.ckpt ]; do sleep 0.1; done; kill -TERM $job; wait $job"
    done = each_rank(long, long, ["sh", "-c", stopped], cwd=tmp_path)
    assert done.returncode == 4 and (done.stdout.startswith("PR\n") or "stopped before the first annealing" in done.stderr)


# ---- models that ranks share -------------------------------------------------------------------

BY_MODEL = ["--distribute", "model", "--method", "sample", "--scan", "chromatic", "--lattice", "never", "--sweeps", "200"]
ALONE = ["--method", "sample", "--scan", "chromatic", "--lattice", "never", "--sweeps", "200"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Spins with couplings of their own, and hard clauses."""
    folder = tmp_path_factory.mktemp("made")
    done = run(GIBBSITE, "generate", "ising", "--grid", "24x20", "--coupling-spread", "0.4", "-o", "spins.gbm", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "clauses.wcnf").write_text("p wcnf 6 6 90\n90 1 2 0\n90 -2 3 0\n3 4 -1 0\n2 5 6 0\n90 -5 4 0\n1 -6 2 0\n")
    return folder


@pytest.mark.parametrize("n, threads", [(1, 1), (2, 2), (3, 1), (4, 1)])
@pytest.mark.parametrize("arguments", [
    ["marginals", "spins.gbm"],
    ["marginals", "spins.gbm", "--draw", "herded", "--chains", "3", "--format", "json"],
    ["marginals", "clauses.wcnf", "--estimator", "count"],
    ["marginals", CLINIC, "-e", "fever=yes", "--query", "influenza,cold"],
    ["sample", CLINIC, "-e", "fever=yes", "--thin", "20"],
], ids=["spins", "herded", "clauses", "clinic", "draws"])
def test_a_shared_model_has_the_bytes_of_one_process(made, arguments, n, threads):
    expected = run(GIBBSITE, *arguments, *ALONE, cwd=made)
    done = mpirun(n, *arguments, *BY_MODEL, "--threads", str(threads), cwd=made)
    assert done.returncode == expected.returncode == 0, done.stderr
    assert done.stdout == expected.stdout


@pytest.mark.parametrize("model, more", [("spins.gbm", []), ("clauses.wcnf", []), (CLINIC, ["-e", "fever=yes"])],
                         ids=["spins", "clauses", "clinic"])
def test_a_folder_of_shares(made, tmp_path, model, more):
    expected = run(GIBBSITE, "marginals", model, *more, *ALONE, "--format", "json", cwd=made)
    done = run(GIBBSITE_MPI, "partition", model, *more, "--scan", "chromatic", "-n", "3", "-o", str(tmp_path / "parts"), cwd=made)
    assert done.returncode == 0 and "3 ranks, divided by" in done.stdout, done.stderr
    done = mpirun(3, "marginals", str(tmp_path / "parts"), *ALONE, "--format", "json", "--threads", "1",
                  "--summary", str(tmp_path / "s.json"))
    assert done.returncode == 0, done.stderr
    answer, whole = json.loads(done.stdout), json.loads(expected.stdout)
    for key in ("model", "digest", "variables"):   # what is advised may differ
        assert answer[key] == whole[key]
    summary = json.loads((tmp_path / "s.json").read_text())
    assert summary["model"]["digest"] == whole["model"]
    exchange = summary["exchange"]
    assert exchange["ranks"] == 3 and exchange["messages"] > 0 and exchange["bytes"] > 0


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("generated, value_bytes", [(["ising"], 2), (["potts", "--states", "3"], 16)], ids=["spins", "levels"])
def test_a_sweep_sends_what_tools_scale_counts(tmp_path, generated, value_bytes, n):
    assert run(GIBBSITE, "generate", *generated, "--grid", "24x20", "-o", "m.gbm", cwd=tmp_path).returncode == 0
    figures = run(str(pathlib.Path(os.environ["RANKS_CHECK"]).with_name("scale_figures")), "m.gbm", "--partition", "bisection", str(n),
                  cwd=tmp_path)
    counted = json.loads(figures.stdout)["partitions"][0]["total"]
    done = mpirun(n, "marginals", "m.gbm", "--method", "sample", "--lattice", "never", "--chains", "16", "--burn-in", "10", "--sweeps", "30",
                  "--distribute", "model", "--parts", "bisection", "--summary", "s.json", "-o", "p.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    exchange = json.loads((tmp_path / "s.json").read_text())["exchange"]
    assert (exchange["messages"], exchange["bytes"]) == (40 * counted["messages"], 40 * value_bytes * counted["values"])


SPLASHES = ["--method", "sample", "--lattice", "never", "--scan", "splash", "--splash-size", "20", "--width", "3", "--burn-in", "20", "--sweeps"]


@pytest.mark.parametrize("model", ["spins.gbm", "clauses.wcnf"])
def test_splashes_depend_on_the_parts_alone(made, tmp_path, model):
    shared = ["marginals", str(made / model), "--distribute", "model", *SPLASHES]
    alone = run(GIBBSITE, "marginals", str(made / model), *SPLASHES, "60")
    assert mpirun(1, *shared, "60").stdout == alone.stdout and alone.returncode == 0
    expected = mpirun(3, *shared, "60", "--threads", "1").stdout
    assert expected not in ("", alone.stdout)
    assert mpirun(3, *shared, "60", "--threads", "2").stdout == expected
    assert run(GIBBSITE_MPI, "partition", str(made / model), "--scan", "splash", "-n", "3", "-o", "3", cwd=tmp_path).returncode == 0
    assert mpirun(3, "marginals", "3", *SPLASHES, "60", cwd=tmp_path).stdout == expected
    assert mpirun(3, *shared, "20", "--checkpoint", "run.ckpt", cwd=tmp_path).returncode == 0
    assert mpirun(3, "marginals", "3", *SPLASHES, "60", "--resume", "run.ckpt", cwd=tmp_path).stdout == expected
    done = mpirun(2, *shared, "60", "--resume", "run.ckpt", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "") and "splashes follow the parts of the model" in ours(done)[0]


@pytest.mark.parametrize("kind, lattice", [
    ("ising", ["--torus", "--coupling", "0.3", "--coupling-spread", "0.2", "--random-field", "0.4"]),
    ("potts", ["--states", "4", "--coupling", "0.6", "--noise", "1.2"]),
])
def test_a_lattice_divided_without_the_model(tmp_path, kind, lattice):
    lattice = [kind, "--grid", "40x44", *lattice, "--seed", "5"]
    assert run(GIBBSITE, "generate", *lattice, "-o", "lattice.gbm", cwd=tmp_path).returncode == 0
    done = run(GIBBSITE_MPI, "partition", "lattice.gbm", "-n", "4", "-o", "whole", "--parts", "bisection", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run(GIBBSITE_MPI, "partition", "generate", *lattice, "-n", "4", "-o", "formulas", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = sorted(p.name for p in (tmp_path / "whole").iterdir())
    assert names == [f"{rank:06}.share" for rank in range(4)] + ["variables.gbm"]
    for name in names:
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "formulas" / name).read_bytes()
    expected = run(GIBBSITE, "marginals", "lattice.gbm", *ALONE, cwd=tmp_path)
    done = mpirun(4, "marginals", "formulas", *ALONE, "--threads", "1", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, expected.stdout), done.stderr


@pytest.mark.parametrize("words, message", [
    (["ring", "--variables", "40", "-n", "2", "-o", "x"], "only ising and potts can be divided without a model file"),
    (["potts", "--grid", "40x40", "-n", "2", "-o", "x"], "--states is missing"),
    (["potts", "--grid", "40x40", "--states", "3:4", "-n", "2", "-o", "x"], "--states 3:4: expected a whole number"),
    (["potts", "--grid", "40x40", "--states", "1", "-n", "2", "-o", "x"], "variables of one state"),
    (["ising", "-n", "2", "-o", "x"], "--grid is missing"),
    (["ising", "--grid", "40x40", "-o", "x"], "type -n RANKS"),
    (["ising", "--grid", "40x40", "-n", "2"], "type -o FOLDER"),
    (["ising", "--grid", "40x40", "-n", "2", "-o", "x", "--parts", "metis"], "divided by bisection"),
    (["ising", "--grid", "40x40", "-n", "2", "-o", "x", "--format", "uai"], "--format applies to models"),
    (["ising", "--grid", "41x40", "--torus", "-n", "2", "-o", "x"], "expected an even length"),
])
def test_what_dividing_a_lattice_refuses(tmp_path, words, message):
    done = run(GIBBSITE_MPI, "partition", "generate", *words, cwd=tmp_path)
    assert done.returncode != 0 and message in done.stderr and not list(tmp_path.iterdir())


def test_a_signal_ends_dividing(tmp_path):
    """What is there is whole shares, without the names that make a folder of them."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "variables.gbm").write_bytes(b"of an earlier partition")
    process = subprocess.Popen([GIBBSITE_MPI, "partition", "generate", "ising", "--grid", "1024x1024", "-n", "2048", "-o", "parts"],
                               cwd=tmp_path, env=ENVIRONMENT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while process.poll() is None and not (tmp_path / "parts" / "000000.share").exists():
        pass
    process.send_signal(signal.SIGINT)
    assert process.wait(600) == 4 and process.stderr.read() == "gibbsite: stopped by a signal\n"
    left = sorted(path.name for path in (tmp_path / "parts").iterdir())
    assert left == [f"{rank:06}.share" for rank in range(len(left))]
    process.stderr.close()


SAMPLED = ["--method", "sample", "--lattice", "never", "--scan", "chromatic", "--draw", "herded", "--burn-in", "20"]


@pytest.mark.parametrize("verb", ["marginals", "sample"])
def test_a_shared_model_goes_on_divided_otherwise(made, tmp_path, verb):
    spins = str(made / "spins.gbm")
    expected = run(GIBBSITE, verb, spins, *SAMPLED, "--sweeps", "90").stdout
    for n in (2, 3):
        assert run(GIBBSITE_MPI, "partition", spins, "-n", str(n), "-o", f"{n}", cwd=tmp_path).returncode == 0
    parts = [([MPIRUN, "-n", "3", GIBBSITE_MPI], ["3", *SAMPLED]), ([MPIRUN, "-n", "2", GIBBSITE_MPI], ["2"]),
             ([GIBBSITE], [spins]), ([MPIRUN, "-n", "4", GIBBSITE_MPI], [spins, "--distribute", "model"])]
    for i, (program, arguments) in enumerate(parts):
        resumed = ["--resume", "run.ckpt"] if i > 0 else []
        done = run(*program, verb, *arguments, "--sweeps", str([20, 50, 70, 90][i]), "--checkpoint", "run.ckpt", *resumed, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert done.stdout == expected
    damaged = bytearray((tmp_path / "run.ckpt").read_bytes())
    damaged[5000] ^= 1
    (tmp_path / "run.ckpt").write_bytes(damaged)
    done = run(MPIRUN, "-n", "2", GIBBSITE_MPI, verb, "2", "--sweeps", "95", "--resume", "run.ckpt", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert ours(done) == ["gibbsite-mpi: run.ckpt: the checkpoint is damaged: its checksum is wrong"]


def test_what_one_process_begins_for_ranks(made, tmp_path):
    spins = str(made / "spins.gbm")
    assert run(GIBBSITE, "marginals", spins, "--sweeps", "20", "--checkpoint", "run.ckpt", cwd=tmp_path).returncode == 0
    done = mpirun(2, "marginals", spins, "--distribute", "model", "--sweeps", "30", "--resume", "run.ckpt", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert ours(done) == ["gibbsite-mpi: run.ckpt: a checkpoint of a run with --lattice auto, this run has --lattice never: "
                          "ranks that share a model go on with runs begun with --method sample --lattice never"]


def test_time_leaves_a_checkpoint_of_a_shared_model(made, tmp_path):
    ended = mpirun(2, "marginals", str(made / "spins.gbm"), "--distribute", "model", *SAMPLED, "--sweeps", "1000000000",
                   "--time", "1", "--checkpoint", "run.ckpt", cwd=tmp_path)
    kept = json.loads(run(GIBBSITE, "info", "run.ckpt", "--json", cwd=tmp_path).stdout)
    sweeps = ["--sweeps", str(kept["sweeps"]), "--resume", "run.ckpt"]
    done = mpirun(3, "marginals", str(made / "spins.gbm"), "--distribute", "model", *sweeps, cwd=tmp_path)
    assert (ended.returncode, done.returncode, done.stdout) == (4, 0, ended.stdout), done.stderr


def test_folders_that_do_not_fit_are_refused(made, tmp_path):
    parts = tmp_path / "parts"
    assert run(GIBBSITE_MPI, "partition", "spins.gbm", "-n", "2", "-o", str(parts), cwd=made).returncode == 0
    done = run(GIBBSITE, "marginals", str(parts))
    assert done.returncode == 2 and "divided for several processes" in done.stderr
    done = mpirun(3, "marginals", str(parts), "--sweeps", "5")
    assert done.returncode == 3 and "000002.share" in ours(done)[0]
    done = mpirun(1, "marginals", str(parts), "--sweeps", "5")
    assert done.returncode != 0 and "share 0 of 2 for rank 0 of 1" in ours(done)[0]
    done = mpirun(2, "marginals", str(parts), "-e", "0=1", "--sweeps", "5")
    assert done.returncode == 2 and "evidence is given where the model is divided" in ours(done)[0]
    share = parts / "000001.share"
    bytes_ = bytearray(share.read_bytes())
    bytes_[len(bytes_) // 2] ^= 1
    share.write_bytes(bytes_)
    done = mpirun(2, "marginals", str(parts), "--sweeps", "5")
    assert (done.returncode, done.stdout) == (3, "") and "rank 1" in ours(done)[0]


def test_shares_of_two_partitions_are_named(made, tmp_path):
    for folder, kind in [("a", "bisection"), ("b", "intervals")]:
        done = run(GIBBSITE_MPI, "partition", str(made / "spins.gbm"), "-n", "3", "--parts", kind, "-o", folder, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    (tmp_path / "a" / "000001.share").write_bytes((tmp_path / "b" / "000001.share").read_bytes())
    done = mpirun(3, "marginals", "a", "--sweeps", "5", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert ours(done) == ["gibbsite-mpi: rank 1: a/000001.share: share 1 of 3, of another partition than rank 0, for rank 1 of 3: "
                          "every rank needs its own share of one partition"]
    assert run(GIBBSITE_MPI, "partition", CLINIC, "-n", "3", "-o", "c", cwd=tmp_path).returncode == 0
    (tmp_path / "b" / "variables.gbm").write_bytes((tmp_path / "c" / "variables.gbm").read_bytes())
    done = mpirun(3, "marginals", "b", "--sweeps", "5", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert ours(done) == ["gibbsite-mpi: b/variables.gbm: other variables than those of the shares beside it"]


def test_a_model_beside_shares_is_named(made, tmp_path):
    spins = str(made / "spins.gbm")
    assert run(GIBBSITE_MPI, "partition", spins, "-n", "2", "-o", "parts", cwd=tmp_path).returncode == 0
    whole, share = ([GIBBSITE_MPI, "marginals", model, *ALONE] for model in (spins, "parts"))
    for first, second, message in [(whole, share, "parts is a folder of shares, rank 0 has a whole model"),
                                   (share, whole, f"{spins} is a whole model, rank 0 has a folder of shares")]:
        done = each_rank(first, second, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert ours(done) == [f"gibbsite-mpi: rank 1: {message}: all ranks need the same"]


def test_estimates_in_every_format(made, tmp_path):
    """Written as they come, or kept where they are asked for in another order."""
    few = [str(made / "spins.gbm"), "--method", "sample", "--lattice", "never", "--sweeps", "9"]
    for more in (["--query", "7,3,11", "--format", "csv"], ["--query", "7,3", "--format", "json"], ["--format", "json"],
                 ["--format", "mar"], ["--query", "5", "--format", "table"]):
        expected = run(GIBBSITE, "marginals", *few, *more)
        done = mpirun(2, "marginals", *few, "--distribute", "model", *more, "--threads", "1", "--summary", "s.json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        if "json" in more:  # the verdict does not advise ladders
            assert json.loads(done.stdout)["variables"] == json.loads(expected.stdout)["variables"]
        else:
            assert done.stdout == expected.stdout
        assert json.loads((tmp_path / "s.json").read_text())["marginals"] is not None


def test_a_folder_is_divided_again(made, tmp_path):
    """A file of someone else's stays; without names shares are no folder."""
    spins, parts = str(made / "spins.gbm"), tmp_path / "parts"
    for n in ("3", "2", "2"):
        done = run(GIBBSITE_MPI, "partition", spins, "-n", n, "-o", str(parts))
        assert done.returncode == 0, done.stderr
        (parts / "1.shares").write_text("mine")
    assert sorted(path.name for path in parts.iterdir()) == ["000000.share", "000001.share", "1.shares", "variables.gbm"]
    assert mpirun(2, "marginals", str(parts), "--sweeps", "5").returncode == 0
    (parts / "variables.gbm").unlink()
    done = mpirun(2, "marginals", str(parts), "--sweeps", "5")
    assert (done.returncode, done.stdout) == (3, "")
    assert ours(done) == [f"gibbsite-mpi: {parts}/variables.gbm is not there: the division was not finished, divide again"]


@pytest.mark.parametrize("arguments, message", [
    (["-o", "x"], "type -n RANKS"),
    (["-n", "2"], "type -o FOLDER"),
    (["-n", "0", "-o", "x"], "expected a number of ranks"),
    (["-n", "9999", "-o", "x"], "9999 ranks for 480 sampled variables"),
    (["-n", "2", "-o", "x", "--parts", "fair"], "--parts fair: expected auto, metis"),
    (["-n", "2", "-o", "x", "--scan", "random"], "scan random"),
    (["-n", "2", "-o", "x", "--scan", "splash", "--locking", "blanket"], "--locking blanket"),
])
def test_what_partition_refuses(made, arguments, message):
    done = run(GIBBSITE_MPI, "partition", "spins.gbm", *arguments, cwd=made)
    assert done.returncode != 0 and message in done.stderr and not (made / "x").exists()


@pytest.mark.parametrize("arguments, message", [
    (["--temper", "8"], "--temper"),
    (["--monitor", "fever"], "monitor"),
    (["--method", "exact"], "--method"),
])
def test_what_a_shared_model_refuses(tmp_path, arguments, message):
    done = mpirun(2, "marginals", CLINIC, "--distribute", "model", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "") and message in ours(done)[0]
    assert not list(tmp_path.iterdir())
