# SPDX-License-Identifier: Apache-2.0
"""The competition's call, and comparing its answers."""
import itertools
import math
import signal
import json
import re
import subprocess
import time

import pytest
from conftest import FULL, SMALL, only, program

# x0, x1 tend to be equal; of x2 given x1 the last state is the most probable.
EVID = "1\n1 0\n"


def weight(x):
    return (3 if x[0] == x[1] else 1) * (1, 1, 2)[x[2]]


def states(evidence=None):
    return [x for x in itertools.product(range(2), range(2), range(3))
            if all(x[v] == s for v, s in (evidence or {}).items())]


@pytest.fixture
def uai(run, work):
    """uai("PR", env={...}): the call on small.uai with the evidence x1 = 0 and the query 2 0."""
    (work / "deep").mkdir()
    (work / "deep" / "small.uai").write_text(SMALL)
    (work / "small.evid").write_text(EVID)
    (work / "small.query").write_text("2 2 0\n")

    def call(task, *more, **kw):
        return run("uai", "deep/small.uai", "small.evid", "small.query", task, *more, **kw)

    return call


def test_pr(uai, work):
    z = sum(weight(x) for x in states({1: 0}))
    done = uai("PR")
    assert done.status == 0 and done.out == ""
    word, value = (work / "small.uai.PR").read_text().split()
    assert word == "PR" and abs(float(value) - math.log10(z)) < 1e-12
    assert uai("PR", "--log-base", "e", "-o", "other").status == 0
    assert abs(float((work / "other").read_text().split()[1]) - math.log(z)) < 1e-12


def test_mar(uai, work):
    done = uai("MAR")
    assert done.status == 0
    lines = (work / "small.uai.MAR").read_text().splitlines()
    assert len(lines) == 2 and lines[0] == "MAR"
    numbers = [float(t) for t in lines[1].split()]
    total = sum(weight(x) for x in states({1: 0}))
    expected = [3]
    for v, k in enumerate((2, 2, 3)):
        expected += [k] + [sum(weight(x) for x in states({1: 0, v: s})) / total
                           if v != 1 or s == 0 else 0 for s in range(k)]
    assert numbers == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("task, more, word", [
    ("MAP", [], "MAP"), ("MPE", [], "MPE"), ("MAP", ["--uai-mpe"], "MPE"),
])
def test_map(uai, work, task, more, word):
    assert uai(task, *more).status == 0
    assert (work / f"small.uai.{task}").read_text() == f"{word}\n3 0 0 2\n"


def test_mmap(uai, work, run):
    assert uai("MMAP").status == 0
    assert (work / "small.uai.MMAP").read_text() == "MMAP\n2 2 2 0 0\n"
    # where the most probable state of one variable is not that of the most probable whole
    (work / "m.uai").write_text("MARKOV\n2\n2 3\n1\n2 0 1\n6\n 4 0 0\n 3 3 1\n")
    (work / "m.query").write_text("1 0\n")
    (work / "none.evid").write_text("0\n")
    for task, answer in (("MAP", "MAP\n2 0 0\n"), ("MMAP", "MMAP\n1 0 1\n")):
        assert run("uai", "m.uai", "none.evid", "m.query", task).status == 0
        assert (work / f"m.uai.{task}").read_text() == answer


@pytest.mark.parametrize("task", ["PR", "MAR", "MAP", "MMAP"])
def test_impossible_evidence(run, work, task):
    (work / "never.uai").write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 0 0 1\n")
    (work / "never.evid").write_text("2\n0 0\n1 1\n")
    (work / "never.query").write_text("1 0\n")
    done = run("uai", "never.uai", "never.evid", "never.query", task)
    assert done.status == 1 and "probability zero" in done.err
    only(work, "never.uai", "never.evid", "never.query")


@pytest.mark.parametrize("task, env, part", [
    ("pr", {}, "PR, MAR, MAP, MPE or MMAP"),
    ("BEL", {}, "BEL"),
    ("PR", {"INF_TIME": "soon"}, "INF_TIME=soon"),
    ("PR", {"INF_TIME": "0"}, "INF_TIME=0"),
    ("PR", {"INF_MEMORY": "-1"}, "INF_MEMORY=-1"),
])
def test_wrong_calls(uai, work, task, env, part):
    done = uai(task, env=env)
    assert done.status == 2 and part in done.err
    only(work, "deep", "small.evid", "small.query")


def test_bad_files(run, uai, work):
    assert run("uai", "none.uai", "small.evid", "-", "PR").status == 3
    assert run("uai", "deep/small.uai", "none.evid", "-", "PR").status == 3
    assert run("uai", "deep/small.uai", "small.evid", "none.query", "MMAP").status == 3
    assert run("uai", "deep/small.uai", "small.evid", "none.query", "PR").status == 0  # not read
    assert run("uai", "deep/small.uai", "small.evid", "-").status == 2
    assert run("uai", "-", "small.evid", "-", "PR").status == 2


def test_evidence_file_with_an_equals_sign(run, uai, work):
    (work / "a=b").write_text(EVID)
    assert uai("PR").status == 0
    assert run("uai", "deep/small.uai", "a=b", "-", "PR", "-o", "again").status == 0
    assert (work / "again").read_text() == (work / "small.uai.PR").read_text()


# ---- what exact inference cannot hold ----------------------------------------------------------------


def chunks(text):
    """The solutions of a file that is being improved."""
    head, *solutions = text.split("-BEGIN-\n")
    return head, solutions


def check_mar(text, n):
    head, solutions = chunks(text)
    assert head == "MAR\n" and solutions
    for solution in solutions:
        assert solution.endswith("\n") and solution.count("\n") == 1
        numbers = [float(t) for t in solution.split()]
        assert numbers[0] == n and len(numbers) == 1 + 3 * n
        for v in range(n):
            assert numbers[1 + 3 * v] == 2
            assert abs(numbers[2 + 3 * v] + numbers[3 + 3 * v] - 1) < 1e-6
    return len(solutions)


@pytest.fixture
def slow(run, work):
    """Spins near the critical coupling: no run of a minute meets the default target."""
    done = run("generate", "ising", "--grid", "60x60", "--torus", "--coupling", "0.45", "-o",
               "slow.uai")
    assert done.status == 0, done.err
    return "slow.uai"


@pytest.fixture
def glass(run, work):
    """Couplings of both signs, whose best state no bound proves."""
    assert run("generate", "ising", "--grid", "60x60", "--torus", "--coupling-spread", "3", "-o", "glass.uai").status == 0
    return "glass.uai"


@pytest.fixture
def none(work):
    (work / "none.evid").write_text("0\n")
    return "none.evid"


@pytest.mark.long
def test_limits_are_no_failure(run, work, slow, none):
    """On a machine that does other things the time may end before the first draw."""
    done = run("uai", slow, none, "-", "MAR", env={"INF_TIME": "2"})
    assert done.status == 0
    early = "stopped before the first draw was kept" in done.err
    assert early or "stopped before its target (time)" in done.err
    assert check_mar((work / "slow.uai.MAR").read_text(), 3600) >= (1 if early else 2)
    assert run("compare", "slow.uai.MAR", "slow.uai.MAR").status == 0


def test_little_memory_means_fewer_chains(run, work, slow, none):
    need = json.loads(run("info", slow, "--json").out)["run_bytes"]
    limit = f"{(need - 1) / 2**30:.17g}"
    done = run("uai", slow, none, "-", "MAR", env={"INF_TIME": "1", "INF_MEMORY": limit})
    assert done.status == 0, done.err
    assert "chains instead of 16, as many as the memory limit allows" in done.err
    done = run("uai", slow, none, "-", "MAR", "-o", "x", env={"INF_MEMORY": "0.00001"})
    assert done.status == 1 and "limit" in done.err and not (work / "x").exists()
    assert "try a larger INF_MEMORY" in done.err and "--memory-limit" not in done.err


def wait_for_solutions(child, answer, n):
    """Until the file holds so many, or the program has ended."""
    while child.poll() is None and not (answer.exists() and answer.read_text().count("-BEGIN-") >= n):
        time.sleep(0.01)


@pytest.mark.parametrize("task", ["MAR", "MAP"])
@pytest.mark.long
def test_killed_at_any_moment(work, slow, glass, none, task):
    """From the first solution on the file holds whole ones, and a reader takes it."""
    model = slow if task == "MAR" else glass
    answer = work / f"{model}.{task}"
    for n in (1, 3) if FULL else (1,):
        answer.unlink(missing_ok=True)
        child = subprocess.Popen([program(), "uai", model, none, "-", task, "-q"], cwd=work)
        wait_for_solutions(child, answer, n)
        child.send_signal(signal.SIGKILL)
        child.wait()
        text = answer.read_text()
        if task == "MAR":
            check_mar(text, 3600)
        else:
            head, solutions = chunks(text)
            assert head == "MAP\n" and all(len(s.split()) == 3601 for s in solutions) and solutions
    assert subprocess.run([program(), "compare", answer, answer, "-q"]).returncode == 0


@pytest.mark.long
def test_terminated(work, slow, none):
    child = subprocess.Popen([program(), "uai", slow, none, "-", "MAR"], cwd=work,
                             stderr=subprocess.PIPE, text=True)
    answer = work / "slow.uai.MAR"
    wait_for_solutions(child, answer, 2)
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate()
    assert child.returncode == 0, err
    assert check_mar(answer.read_text(), 3600) >= 3


def test_best_draw(run, work, glass, none):
    done = run("uai", glass, none, "-", "MAP", env={"INF_TIME": "1"})
    assert done.status == 0
    assert "sampled: exact answers would take" in done.err and "not proved to be the most probable" in done.err
    head, solutions = chunks((work / "glass.uai.MAP").read_text())
    assert head == "MAP\n" or not solutions
    last = (solutions or [head.split("\n", 1)[1]])[-1].split()
    assert last[0] == "3600" and len(last) == 3601 and set(last[1:]) <= {"0", "1"}


def test_no_time_for_pr(run, work):
    """No annealing ends, but a lower bound is there."""
    assert run("generate", "complete", "--variables", "300", "--coupling", "0.01", "-q", "-o",
               "c.uai").status == 0
    (work / "none.evid").write_text("0\n")
    done = run("uai", "c.uai", "none.evid", "-", "PR", env={"INF_TIME": "0.001"})
    assert done.status == 0 and "lower bound by mean field" in done.err, done.err
    bound = float((work / "c.uai.PR").read_text().split()[1])
    # with u spins up, pairs sum to ((2u - n)^2 - n) / 2
    n = 300
    terms = [math.log(math.comb(n, u)) + 0.01 * ((2 * u - n) ** 2 - n) / 2 for u in range(n + 1)]
    log_z = max(terms) + math.log(sum(math.exp(t - max(terms)) for t in terms))
    assert 0 < bound < log_z / math.log(10)


@pytest.mark.parametrize("task, lines", [("PR", 1), ("MAR", 1), ("MAP", 1)])
@pytest.mark.long
def test_no_time_to_prepare(run, work, task, lines):
    """Time may end while 400 long clauses are coloured, or later: there is an answer."""
    clauses = [" ".join(str((7 * i + 3 * k) % 1500 + 1) for k in range(450)) for i in range(400)]
    (work / "c.wcnf").write_text("p wcnf 1500 400\n" + "".join(f"0.1 {c} 0\n" for c in clauses))
    assert run("convert", "c.wcnf", "-q", "-o", "c.gbm").status == 0
    (work / "none.evid").write_text("0\n")
    done = run("uai", "c.gbm", "none.evid", "-", task, env={"INF_TIME": "0.001"})
    assert done.status == 0 and "exact" not in done.err, done.err
    assert len((work / f"c.gbm.{task}").read_text().splitlines()) == lines + 1


def test_small_components_are_solved_beside_large_ones(run, work, none):
    """Forty spins all coupled to one another, which are sampled, and x40 whose better state is 2."""
    n = 40
    pairs = [(u, v) for v in range(n) for u in range(v)]
    text = ["MARKOV", str(n + 1), " ".join(["2"] * n + ["3"]), str(len(pairs) + 1)]
    text += [f"2 {u} {v}" for u, v in pairs] + [f"1 {n}"]
    text += ["4\n 1.1 1\n 1 1.1"] * len(pairs) + ["3\n 1 1 1.001"]
    (work / "m.uai").write_text("\n".join(text) + "\n")
    done = run("uai", "m.uai", none, "-", "MAP", "--seed", "2", env={"INF_TIME": "1"})
    assert done.status == 0 and "MAP: 40 variables were annealed" in done.err
    assert (work / "m.uai.MAP").read_text().split()[-1] == "2"


def test_mmap_beyond_memory(run, work, slow, none):
    """A grid, whose sum is too large or, on a slow machine, not found in time. And a chain of hidden spins with a spin of the query
    beside each: summing the chain first takes 2^22 entries."""
    (work / "q").write_text("2 0 5\n")
    done = run("uai", slow, none, "q", "MMAP", env={"INF_TIME": "3"})
    assert done.status == 0 and re.search("MMAP: the (sum over the other variables is too large|best of)", done.err)
    words = (work / "slow.uai.MMAP").read_text().split()
    assert words[0] == "MMAP" and words[1] == "2" and words[2] == "0" and words[4] == "5"
    n = 22
    pairs = [(v, v + 1) for v in range(n - 1)] + [(v, n + v) for v in range(n)]
    text = ["MARKOV", str(2 * n), " ".join(["2"] * 2 * n), str(len(pairs) + 2 * n)]
    text += [f"2 {u} {v}" for u, v in pairs] + [f"1 {v}" for v in range(2 * n)]
    text += ["4\n 2 1\n 1 2"] * len(pairs) + ["2\n 1 1.01"] * (2 * n)
    (work / "comb.uai").write_text("\n".join(text) + "\n")
    (work / "q").write_text(" ".join(map(str, [n, *range(n, 2 * n)])) + "\n")
    done = run("uai", "comb.uai", none, "q", "MMAP", env={"INF_MEMORY": "0.02"})
    assert done.status == 0 and re.search(r"MMAP: the best of \d+ states \(log weight \S+, ended by: (settled|bound)\)", done.err)
    assert (work / "comb.uai.MMAP").read_text().split()[2:] == [w for v in range(n, 2 * n) for w in (str(v), "1")]


# ---- references ----------------------------------------------------------------------------------


def test_pr_against_reference(run, data):
    model = data("uai/or_chain_218.fg.uai")
    done = run("uai", model, data("uai/or_chain_218.fg.uai.evid"), "-", "PR", "-o", "ours.PR")
    assert done.status == 0, done.err
    done = run("compare", "ours.PR", data("uai/or_chain_218.fg.uai.PR"), "--tolerance", "1e-6")
    assert done.status == 0, done.out


@pytest.mark.parametrize("name", ["Grids_11", "Grids_12", "Promedus_13", "Segmentation_11"])
def test_map_against_reference(run, data, name):
    done = run("uai", data(f"uai/{name}.uai"), data(f"uai/{name}.uai.evid"), "-", "MAP", "-o",
               "ours.MAP")
    assert done.status == 0 and "sampling" not in done.err, done.err
    done = run("compare", "ours.MAP", data(f"uai/{name}.uai.MAP"))
    assert done.status == 0, done.out


def test_memory_of_the_call(run, work, none):
    """INF_MEMORY is a limit of exact answers too."""
    assert run("generate", "complete", "--variables", "22", "-q", "-o", "c.uai").status == 0
    assert run("uai", "c.uai", none, "-", "PR", env={"INF_MEMORY": "0.1"}).status == 0
    done = run("uai", "c.uai", none, "-", "PR", "-o", "x",
               env={"INF_MEMORY": "0.03", "INF_TIME": "1"})
    assert done.status == 0 and "sampled: exact answers would take 4.19e+06 table entries" in done.err


# ---- compare -------------------------------------------------------------------------------------


@pytest.fixture
def files(work):
    def make(**texts):
        for name, text in texts.items():
            (work / name).write_text(text)
    return make


def test_compare_pr(run, files):
    files(a="PR\n-3.5\n", b="PR\n-3.25\n", zero="PR\n-inf\n", e="PR\n-8.059047825479161\n")
    assert run("compare", "a", "a").status == 0
    done = run("compare", "a", "b", "--tolerance", "0.2")
    assert done.status == 1 and "difference             0.25" in done.out
    assert run("compare", "a", "b", "--tolerance", "0.25").status == 0
    assert run("compare", "zero", "zero").status == 0
    assert run("compare", "a", "zero", "--tolerance", "100").status == 1
    assert run("compare", "a", "e", "--log-base", "10,e", "--tolerance", "1e-12").status == 0
    assert run("compare", "e", "a", "--log-base", "e,10", "--tolerance", "1e-12").status == 0
    assert run("compare", "e", "e", "--log-base", "e").status == 0
    assert run("compare", "a", "e", "--tolerance", "1").status == 1


def test_compare_states(run, files):
    files(a="MAP\n3 0 1 2\n", b="MPE\n3 0 0 2\n", c="MAP\n2 0 0\n", m="MMAP\n2 4 0 2 1\n",
          n="MMAP\n2 2 1 4 1\n", s="MMAP\n2 1 1\n")
    assert run("compare", "a", "a").status == 0
    done = run("compare", "a", "b")
    assert done.status == 1 and "different              1" in done.out
    assert "first variable         1" in done.out
    assert run("compare", "a", "b", "--tolerance", "1").status == 0
    assert run("compare", "a", "c").status == 2
    assert run("compare", "a", "m").status == 2
    done = run("compare", "m", "n")
    assert done.status == 1 and "first variable         4" in done.out
    assert run("compare", "m", "s").status == 3
    assert run("compare", "m", "s", "--lenient").status == 1


def test_compare_kinds(run, files):
    files(a="PR\n1\n", b="MAR\n1 1 1\n", c="PR\n1\n1\n")
    done = run("compare", "a", "b")
    assert done.status == 2 and "results of PR and of MAR" in done.err
    assert run("compare", "b", "b", "--log-base", "10").status == 2
    assert run("compare", "a", "c").status == 3
    assert run("compare", "a", "c", "--lenient").status == 0
