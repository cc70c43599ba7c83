# SPDX-License-Identifier: Apache-2.0
"""exact, and what auto does with it: answers by junction tree, their limits, samples."""
import collections
import csv
import importlib.machinery
import importlib.util
import io
import json
import math
import re

import pytest
from conftest import DATA, ROOT, SMALL, SPRINKLER, program

GRID = ["generate", "ising", "--grid", "12x12", "--coupling", "0.4", "--random-field", "0.5", "-q"]


@pytest.fixture
def grid(run, work):
    assert run(*GRID, "-o", "grid.uai").status == 0
    return "grid.uai"


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


# ---- tasks -----------------------------------------------------------------------------------


def test_marginals_are_those_of_marginals(run):
    done = run("exact", SPRINKLER, "-e", "grass=wet")
    assert done.status == 0 and "converged: exact" in done.err
    assert done.out == run("marginals", SPRINKLER, "-e", "grass=wet").out
    mar = run("exact", SPRINKLER, "--format", "mar", "-q").out
    assert mar == run("marginals", SPRINKLER, "--format", "mar", "-q").out
    assert mar.startswith("MAR\n3 2 ")


def test_partition_function(run, work):
    (work / "small.uai").write_text(SMALL)
    ten = run("exact", "small.uai", "--task", "pr").out.split()
    assert ten[0] == "PR"
    e = run("exact", "small.uai", "--task", "pr", "--log-base", "e").out.split()
    assert math.isclose(float(ten[1]) * math.log(10), float(e[1]), rel_tol=1e-14)
    # one variable x 1 + three states of another: (3 + 1 + 1 + 3) times the sum of the second table
    (work / "e").write_text("0\n")
    assert run("uai", "small.uai", "e", "-", "PR", "-o", "x.PR").status == 0
    assert (work / "x.PR").read_text().split()[1] == ten[1]


def test_most_probable_state(run):
    done = run("exact", SPRINKLER, "-e", "grass=wet", "--task", "map")
    assert done.out == "MAP\n3 0 1 1\n" and done.err == ""
    assert run("exact", SPRINKLER, "--task", "map", "--uai-mpe").out.startswith("MPE\n3 ")


def test_samples(run, grid):
    """Independent: frequencies within 5 standard errors of the marginals, 288 of them."""
    n = 4000
    done = run("exact", grid, "--task", "sample", "--samples", n, "--seed", "5")
    assert done.status == 0 and "exact" in done.err
    draws = rows(done.out)
    assert [int(d["draw"]) for d in draws] == list(range(n)) and {d["chain"] for d in draws} == {"0"}
    for row in rows(run("exact", grid, "-q").out):
        p = float(row["probability"])
        share = sum(d["x" + row["variable"]] == row["state"] for d in draws) / n
        assert abs(share - p) < 5 * math.sqrt(p * (1 - p) / n) + 1e-9, row
    again = run("exact", grid, "--task", "sample", "--samples", 7, "--seed", "5", "-q")
    assert rows(again.out) == draws[:7]  # the same however many are drawn
    assert rows(run("exact", grid, "--task", "sample", "--samples", 7, "-q").out) != draws[:7]


def test_sample_draws_independently(run, grid):
    """Where trees are cheap, unless an option asks for chains."""
    few = ["sample", grid, "--sweeps", "6", "--chains", "2", "--thin", "2", "--seed", "4"]
    done = run(*few)
    assert done.status == 0 and "converged: exact" in done.err
    draws = rows(done.out)
    assert [(d["chain"], d["draw"]) for d in draws] == [(c, k) for k in "012" for c in "01"]
    one = rows(run("exact", grid, "--task", "sample", "--samples", 3, "--seed", "4").out)
    assert [d for d in draws if d["chain"] == "0"] == one
    for more in (["--method", "sample"], ["--scan", "random"], ["--budget", "0.001s"]):
        assert "sampled: " in run(*few, *more).err
    limit = json.loads(run("info", grid, "--json").out)["exact_least_bytes"]
    assert "sampled: " in run(*few, "--memory-limit", limit).err
    assert "sampled: " in run("sample", grid, "--target-error", "0.05").err


@pytest.mark.long
def test_samples_in_less_memory(run, work):
    """Where the tables do not fit, rows are made again: the same samples."""
    long = ["--grid", "16x40", "--coupling", "0.4", "--random-field", "0.5"]
    assert run("generate", "ising", *long, "-q", "-o", "long.uai").status == 0
    few = ["exact", "long.uai", "--task", "sample", "--samples", "5", "-q"]
    found = json.loads(run("info", "long.uai", "--json").out)
    least = found["exact_least_bytes"]
    assert 2 * least < found["exact_bytes"]
    assert run(*few, "--memory-limit", 2 * least).out == run(*few).out != ""


def test_samples_of_a_fixed_model(run):
    done = run("exact", SPRINKLER, "-e", "grass=wet,rain=yes,sprinkler=on", "--task", "sample",
               "--samples", "3", "-q")
    assert [d["grass"] for d in rows(done.out)] == ["1"] * 3


@pytest.mark.parametrize("ending", ["npz", "npy", "tab", "csv.gz"])
def test_samples_in_files(run, work, ending):
    assert run("exact", SPRINKLER, "--task", "sample", "--samples", "9", "-o",
               f"x.{ending}").status == 0
    assert (work / f"x.{ending}").stat().st_size > 30


def test_each_sample_of_the_evidence(run, work):
    (work / "two.evid").write_text("2\n1 2 1\n1 2 0\n")
    for task in ("pr", "mar", "map", "sample"):
        done = run("exact", SPRINKLER, "-e", "two.evid", "--task", task, "-o", f"{task}.csv"
                   if task in ("mar", "sample") else f"x.{task}")
        assert done.status == 0, done.err
    a, b = ((work / f"x.pr.{k}").read_text().split()[1] for k in (0, 1))
    assert math.isclose(10 ** float(a) + 10 ** float(b), 1.0, rel_tol=1e-12)


@pytest.mark.parametrize("arguments, said", [
    (["--task", "pr", "--samples", "4"], "--samples applies with --task sample only"),
    (["--task", "mar", "--seed", "4"], "--seed applies with --task sample only"),
    (["--task", "map", "--log-base", "e"], "--log-base applies with --task pr only"),
    (["--task", "pr", "--format", "csv"], "has one output format"),
    (["--task", "sample", "--format", "mar"], "takes csv|tab"),
    (["--task", "sample", "--query", "q"], "--query applies with --task mar only"),
    (["--task", "mar", "--monitor", "0"], "--monitor applies with --task sample only"),
    (["--task", "pr", "--summary", "s.json"], "--summary applies with --task mar|sample only"),
    (["--task", "mmap"], "expected mar|pr|map|sample"),
    (["--task", "sample", "--samples", "0"], "must be from 1"),
    (["--chains", "3"], "chains"),
])
def test_wrong_use(run, arguments, said):
    done = run("exact", SPRINKLER, *arguments)
    assert done.status == 2 and said in done.err and done.out == ""


def test_impossible_evidence(run, work):
    (work / "xor.uai").write_text("MARKOV\n2\n2 2\n2\n2 0 1\n2 0 1\n4\n1 0\n0 1\n4\n0 1\n1 0\n")
    for task in ("mar", "pr", "map", "sample"):
        done = run("exact", "xor.uai", "--task", task)
        assert done.status == 1 and "no state has positive weight" in done.err and done.out == ""


# ---- limits ----------------------------------------------------------------------------------


def test_refused_with_the_figure(run, work):
    assert run("generate", "ising", "--grid", "40x40", "-q", "-o", "g.uai").status == 0
    for task in ("mar", "pr", "map", "sample"):
        done = run("exact", "g.uai", "--task", task, "--memory-limit", "20M")
        assert done.status == 1 and done.out == ""
        assert re.search(r"needs \d+ table entries|width of at least \d+", done.err)
        assert "are the most: sample" in done.err
    assert run("generate", "ising", "--grid", "18x18", "-q", "-o", "h.uai").status == 0
    done = run("exact", "h.uai", "--memory-limit", "20M")  # the program and 8 MiB
    assert done.status == 1 and "memory limit leaves" in done.err and done.out == ""


@pytest.fixture
def wide(run, work):
    """A grid whose tables take more than the search for their order."""
    assert run("generate", "ising", "--grid", "18x18", "--coupling", "0.2", "-q", "-o",
               "wide.uai").status == 0
    return "wide.uai"


def test_info_says_what_exact_does(run, wide):
    """The limit that info says is just enough is, and a byte less is not."""
    said = json.loads(run("info", wide, "--json").out)
    assert said["exact_fits"] is True and said["exact_bytes"] > 8 * said["elimination_entries"]
    enough = said["exact_least_bytes"]
    for limit, status, fits in ((enough, 0, True), (enough - 1, 1, False)):
        done = run("exact", wide, "--memory-limit", limit, "-q")
        assert done.status == status, done.err
        info = json.loads(run("info", wide, "--json", "--memory-limit", limit).out)
        assert info["exact_fits"] is fits


def test_threads_do_not_matter(run, work):
    assert run("generate", "potts", "--grid", "9x9", "--states", "4", "--noise", "0.8", "-q", "-o",
               "p.uai").status == 0
    out = {run("exact", "p.uai", "--threads", t, "-q").out for t in (1, 2, 5)}
    assert len(out) == 1 and len(out.pop()) > 1000
    draws = {run("exact", "p.uai", "--threads", t, "--task", "sample", "--samples", "20", "-q").out
             for t in (1, 3)}
    assert len(draws) == 1


@pytest.mark.parametrize("simd", ["portable", "avx2", "avx512", "neon"])
def test_instruction_sets_do_not_matter(run, grid, simd):
    for task in ("mar", "pr", "sample"):
        assert (run("exact", grid, "--task", task, "-q", env={"GIBBSITE_SIMD": simd}).out ==
                run("exact", grid, "--task", task, "-q").out)


# ---- auto ------------------------------------------------------------------------------------


def method_of(run, work, *arguments):
    done = run("marginals", *arguments, "-q", "-o", "x.csv", "--summary", "s.json")
    assert done.status == 0, done.err
    return json.loads((work / "s.json").read_text())["method"]


def test_auto(run, work, grid, wide):
    assert method_of(run, work, grid) == "exact"
    assert method_of(run, work, grid, "--target-error", "0.02", "--seed", "3") == "exact"
    assert method_of(run, work, grid, "--sweeps", "9") == "sampled"
    assert method_of(run, work, grid, "--method", "sample", "--sweeps", "9") == "sampled"
    limit = json.loads(run("info", wide, "--json").out)["exact_least_bytes"]
    assert method_of(run, work, wide, "--memory-limit", limit, "--target-error", "0.05") == "exact"
    assert method_of(run, work, wide, "--memory-limit", limit - 1, "--target-error", "0.05") == "sampled"
    assert method_of(run, work, wide, "--budget", "0.001s", "--target-error", "0.05") == "sampled"


def test_auto_by_component(run, work):
    """A grid that is too wide for a tree beside a chain of 60 spins, more than enumeration holds."""
    side, n = 40, 60
    edges = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    edges += [(v, v + side) for v in range(side * (side - 1))]
    first = side * side
    edges += [(first + i, first + i + 1) for i in range(n - 1)]
    text = ["MARKOV", str(first + n), " ".join(["2"] * (first + n)), str(len(edges) + 1)]
    text += [f"2 {u} {v}" for u, v in edges] + [f"1 {first}"]
    text += ["4\n 1.3 1\n 1 1.3"] * len(edges) + ["2\n 3 1"]
    (work / "m.uai").write_text("\n".join(text) + "\n")
    assert method_of(run, work, "m.uai", "--target-error", "0.05") == "exact+sampled"
    table = rows((work / "x.csv").read_text())
    for i in range(n):
        row = table[2 * (first + i)]
        expected = 0.5 + 0.25 * (0.3 / 2.3) ** i
        assert abs(float(row["probability"]) - expected) < 1e-13 and row["mcse"] == "0"
    assert float(table[0]["mcse"]) > 0


# ---- references ------------------------------------------------------------------------------


def load_tool():
    loader = importlib.machinery.SourceFileLoader("exact_tool", str(ROOT / "tools" / "exact"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("exact_tool", loader))
    loader.exec_module(module)
    return module


# The others take longer: tools/exact has them all, docs/exact.md what came of it.
QUICK = ["uai/Grids_12", "uai/Pedigree_1*", "uai/Promedus_13", "uai/Promedus_15", "uai/Promedus_2*",
         "uai/cpcs54", "uai/or_chain*", "uai/smokers*", "uai-misc/*", "uai-large/relational_3",
         "bn/alarm*", "bn/andes*", "bn/asia*", "bn/child*", "bn/hailfinder*", "bn/hepar2*",
         "bn/insurance*", "bn/pathfinder*", "bn/pigs*", "bn/water*", "bn/win95pts*"]


def test_references(work):
    if not DATA.exists():
        pytest.skip("no shared test data")
    tool = load_tool()
    n_checked = collections.Counter()
    for case in tool.cases(str(DATA)):
        if any(tool.fnmatch.fnmatch(case[0], pattern) for pattern in QUICK):
            row = tool.run_case(case, program(), str(work))
            assert row["fits"] and row["ok"], row
            n_checked.update(row["worst"].keys())
    assert n_checked["mar"] > 30 and n_checked["pr"] > 15 and n_checked["map"] > 5


# ---- conditioning ----------------------------------------------------------------------------


@pytest.fixture
def equal(work):
    """A 12 x 12 grid of binary variables that hard zeros make equal to their neighbours: a tree needs 2^18 entries, two
    cases need none. The first table prefers state 1 by a factor of 4."""
    n = 144
    edges = [(v, v + 1) for v in range(n) if v % 12 < 11] + [(v, v + 12) for v in range(n - 12)]
    scopes = [(0,)] + edges
    tables = ["2 0.5 2"] + ["4 1.25 0 0 1.25"] * len(edges)
    lines = ["MARKOV", str(n), " ".join(["2"] * n), str(len(scopes))]
    lines += [" ".join(map(str, (len(s),) + s)) for s in scopes]
    (work / "equal.uai").write_text("\n".join(lines + tables) + "\n")
    return "equal.uai", math.log(2.5) + len(edges) * math.log(1.25)


FEW = ["--budget", "0.001s"]  # 10^5 entries of a tree


@pytest.fixture
def agreeing(work, equal):
    """The same model with a variable of three states beside the first one, so that its hard zeros are not parities alone."""
    lines = (work / "equal.uai").read_text().splitlines()
    lines[1:3] = ["145", lines[2] + " 3"]
    lines[4] = "2 0 144"
    lines[lines.index("2 0.5 2")] = "6 0.1 0.2 0.2 1 0.5 0.5"
    (work / "agreeing.uai").write_text("\n".join(lines) + "\n")
    return "agreeing.uai", equal[1]


def test_parities(run, work, equal):
    """Equality of two binary variables is a parity. Two states satisfy all of them, and both are visited."""
    model, log_z = equal
    done = run("marginals", model, *FEW, "--summary", "s.json")
    assert done.status == 0 and "2 of them states that hard parities allow" in done.err and "converged: exact" in done.err
    for row in rows(done.out):
        assert math.isclose(float(row["probability"]), 0.8 if row["state"] == "1" else 0.2, rel_tol=1e-12)
    assert done.out == run("marginals", model, *FEW, "--threads", "1").out
    done = run("logz", model, *FEW)
    assert done.status == 0 and math.isclose(float(done.out.split()[1]), log_z / math.log(10), rel_tol=1e-9)
    done = run("map", model, *FEW)
    assert done.status == 0 and [row["state"] for row in rows(done.out)] == ["1"] * 144
    found = json.loads(run("info", model, *FEW, "--json").out)
    assert (found["auto_components"], found["auto_forms"], found["auto_cases"]) == (1, "states of parities", 0)


def test_parities_that_contradict_one_another(run, work):
    """The sum of three of the four parities is 0 = 1. The message names them, and not the fourth."""
    (work / "c.cnf").write_text("p cnf 30 4\n" + "\n".join(
        "x" + " ".join(map(str, scope)) + " 0" for scope in
        (range(1, 21), [*range(1, 11), *range(21, 31)], range(11, 31), range(5, 15))) + "\n")
    done = run("exact", "c.cnf")
    assert done.status == 1 and done.out == ""
    assert "3 factors contradict one another, and each of them is needed" in done.err
    assert all(f"factor {k} (" in done.err for k in range(3)) and "factor 3" not in done.err


def test_conditioning(run, work, agreeing):
    model, log_z = agreeing
    done = run("marginals", model, *FEW, "--summary", "s.json")
    assert done.status == 0 and "6 cases of a cutset" in done.err and "converged: exact" in done.err
    assert json.loads((work / "s.json").read_text())["method"] == "exact"
    for row in rows(done.out)[:288]:
        assert math.isclose(float(row["probability"]), 0.8 if row["state"] == "1" else 0.2, rel_tol=1e-12)
    assert done.out == run("marginals", model, *FEW, "--threads", "1").out
    done = run("logz", model, *FEW)
    assert done.status == 0 and math.isclose(float(done.out.split()[1]), log_z / math.log(10), rel_tol=1e-9)
    done = run("map", model, *FEW)
    assert done.status == 0 and [row["state"] for row in rows(done.out)] == ["1"] * 144 + ["0"]
    found = json.loads(run("info", model, *FEW, "--json").out)
    assert (found["auto_components"], found["auto_cases"]) == (1, 6)
    found = json.loads(run("info", model, "--json").out)
    assert (found["auto_components"], found["auto_cases"]) == (1, 0)


@pytest.fixture
def latin(work):
    """Latin squares of order 4: 16 cells, no two of a row or column alike; 576 of them."""
    n = 4
    rows_of = [[i * n + j for j in range(n)] for i in range(n)]
    lines = rows_of + [list(column) for column in zip(*rows_of)]
    pairs = [(line[j], line[k]) for line in lines for j in range(n) for k in range(j + 1, n)]
    table = "16 " + " ".join("0" if a == b else "1" for a in range(n) for b in range(n))
    text = ["MARKOV", str(n * n), " ".join([str(n)] * n * n), str(len(pairs))]
    text += ["2 %d %d" % pair for pair in pairs] + [table] * len(pairs)
    (work / "latin.uai").write_text("\n".join(text) + "\n")
    return "latin.uai"


def is_latin(cells):
    square = [list(cells[4 * i : 4 * i + 4]) for i in range(4)]
    return all(sorted(line) == [0, 1, 2, 3] for line in square + [list(c) for c in zip(*square)])


def test_sparse_tables(run, work, latin):
    found = json.loads(run("info", latin, "--json").out)
    assert (found["auto_components"], found["auto_forms"]) == (1, "sparse tables")
    assert 8 * found["auto_nonzero_entries"] < found["elimination_entries"]
    assert " by sparse tables; %.4g nonzero entries" % found["auto_nonzero_entries"] in run("info", latin).out
    for threads in "1", "2":
        done = run("marginals", latin, "--threads", threads)
        assert done.status == 0 and "in sparse tables" in done.err and "converged: exact" in done.err
        assert all(math.isclose(float(row["probability"]), 0.25, rel_tol=1e-12) for row in rows(done.out))
    done = run("logz", latin)
    assert math.isclose(float(done.out.split()[1]), math.log10(576), rel_tol=1e-12)
    assert is_latin([int(row["state"]) for row in rows(run("map", latin).out)])


def test_samples_of_sparse_tables(run, latin):
    """Each of the 576 squares is as probable as any other."""
    done = run("sample", latin, "--sweeps", "125", "--chains", "4")
    assert done.status == 0 and "in sparse tables" in done.err and "converged: exact" in done.err
    draws = [tuple(int(row["x%d" % v]) for v in range(16)) for row in rows(done.out)]
    assert len(draws) == 500 and all(is_latin(cells) for cells in draws)
    assert 288 < len(set(draws)) < 384  # 576 (1 - exp(-500/576)) = 334 are expected
    one = [tuple(int(row["x%d" % v]) for v in range(16))
           for row in rows(run("exact", latin, "--task", "sample", "--samples", "125").out)]
    assert one == [cells for cells, row in zip(draws, rows(done.out)) if row["chain"] == "0"]


def test_rounding_in_the_probability_of_evidence(run, work):
    """Evidence that is certain has the logarithm 0, not that of its last bits."""
    (work / "sure.bif").write_text("network n {\n}\n" + "".join(
        f"variable {v} {{\n type discrete [ 3 ] {{ a, b, c }};\n}}\n" for v in "xy") +
        "probability ( x ) {\n table 0.7, 0.2, 0.1;\n}\nprobability ( y | x ) {\n (a) 1, 0, 0;\n (b) 1, 0, 0;\n (c) 1, 0, 0;\n}\n")
    done = run("marginals", "sure.bif", "--method", "exact", "-e", "y=a")
    assert done.status == 0 and "P(evidence) = 1, ln P(evidence) = 0" in done.err.replace("= 0\n", "= 0"), done.err
