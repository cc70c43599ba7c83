# SPDX-License-Identifier: Apache-2.0
"""diagnose: every format of draws gives the same figures, those of R's package posterior."""
import csv
import io
import json
import math
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import SPRINKLER

COLUMNS = ["mean", "sd", "median", "q5", "q95", "mcse_mean", "mcse_sd", "mcse_median", "rhat", "rhat_bulk", "rhat_folded",
           "ess_bulk", "ess_tail"]


def chains(n_chains=4, n=101, apart=0.0):
    """Draws that anyone can make again: two quantities, and one that never changes."""
    for c in range(n_chains):
        at = range(c * n + 1, (c + 1) * n + 1)
        yield [(math.sin(i) + math.sin(i * i) / 2 + apart * c, math.floor(3 * math.sin(7 * i)) ** 2, 0.5) for i in at]


def write_csv(work, drawn, head=""):
    paths = []
    for c, draws in enumerate(drawn):
        paths.append(f"c{c}.csv")
        lines = [",".join(map(repr, draw)) for draw in draws]
        (work / paths[-1]).write_text(head + "a,stepsize__,b,same\n" + "\n".join(
            line.replace(",", ",1,", 1) for line in lines) + "\n# the end\n")
    return paths


def rows(text):
    return {row["name"]: row for row in csv.DictReader(io.StringIO(text))}


@pytest.mark.long
def test_against_posterior(run, work):
    if shutil.which("Rscript") is None or subprocess.run(["Rscript", "-e", "library(posterior)"],
                                                         capture_output=True).returncode != 0:
        pytest.skip("R and its package posterior are not installed: compared with figures in diagnose_test.c alone")
    paths = write_csv(work, chains(apart=0.2))
    (work / "r.R").write_text("""suppressMessages(library(posterior))
x <- lapply(commandArgs(TRUE), read.csv, comment.char = "#")
for (name in c("a", "b")) {
    m <- sapply(x, function(chain) chain[[name]])
    half <- posterior:::.split_chains
    figures <- suppressWarnings(c(mean(m), sd(m), median(m), quantile(m, .05), quantile(m, .95), mcse_mean(m), mcse_sd(m),
        mcse_median(m), rhat(m), posterior:::.rhat(posterior:::z_scale(half(m))),
        posterior:::.rhat(posterior:::z_scale(half(abs(m - median(m))))), ess_bulk(m), ess_tail(m)))
    cat(sprintf("%.15g", figures), "\\n")
}
""")
    done = subprocess.run(["Rscript", "r.R", *paths], cwd=work, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ours = rows(run("diagnose", *paths).out)
    for name, line in zip("ab", done.stdout.splitlines()):
        for column, theirs in zip(COLUMNS, line.split()):
            found = ours[name][column]
            assert found == "" if theirs == "NA" else float(found) == pytest.approx(float(theirs), rel=1e-6), (name, column)


def test_same_figures_from_every_format(run, work):
    paths = write_csv(work, chains())
    whole = rows(run("diagnose", *paths).out)
    assert list(whole) == ["a", "b", "same"] and whole["same"]["constant"] == "1" and whole["same"]["rhat"] == ""
    index = []
    for k, name in enumerate(("a", "b", "same")):
        index.append(f"{name} {101 * k + 1} {101 * (k + 1)}\n")
    (work / "xindex.txt").write_text("".join(index))
    for c, draws in enumerate(chains()):
        (work / f"xchain{c + 1}.txt").write_text("".join(
            f"{i + 1} {draw[k]!r}\n" for k in range(3) for i, draw in enumerate(draws)))
    assert rows(run("diagnose", "xindex.txt").out) == whole
    numpy = pytest.importorskip("numpy")
    x = numpy.array(list(chains()))
    numpy.savez(work / "x.npz", a=x[:, :, 0], b=x[:, :, 1], same=x[:, :, 2], other=numpy.arange(5), label=numpy.array(["a"]))
    numpy.savez_compressed(work / "z.npz", y=x.reshape(4, 101, 3, 1))
    numpy.save(work / "x.npy", x)
    assert rows(run("diagnose", "x.npz").out) == whole
    for name, path in ("y[{},0]", "z.npz"), ("x[{}]", "x.npy"):
        found = rows(run("diagnose", path).out)
        assert {k: dict(v, name="") for k, v in zip("abs", found.values())} == {
            k: dict(v, name="") for k, v in zip("abs", whole.values())}
        assert list(found) == [name.format(k) for k in range(3)]


def test_draws_of_this_program(run, work):
    asked = ["sample", SPRINKLER, "--method", "sample", "--sweeps", "400", "--chains", "4", "-q"]
    figures = []
    for output in (["-o", "d.npz"], ["-o", "e", "--format", "coda"], ["-o", "f", "--format", "cmdstan"]):
        assert run(*asked, *output).status == 0
    for paths in ["d.npz"], ["eindex.txt"], [f"f_{c}.csv" for c in (1, 2, 3, 4)]:
        done = run("diagnose", *paths)
        assert done.status == 0, done.err
        found = rows(done.out)
        figures.append({name: row["rhat"] for name, row in found.items() if not name.startswith("lp")})
    assert figures[0] == figures[1] == figures[2] and float(figures[0]["rain"]) > 0.99


def stuck(separator=",", names=("chain", "iteration"), states=("0", "1"), n=100, by_chain=False):
    """Four chains, "lamp" stuck in each, "door" moving; rows in the order of iterations or of chains."""
    def row(i, c):
        line = {"iter": i + 1, "chain": c + 1, "iteration": i + 1, "draw": c * n + i + 1}
        values = [line[name.strip("._").lower().removesuffix("_id")] for name in names]
        return separator.join(map(str, [*values, states[c % 2], states[int(math.sin(7 * (i + 31 * c)) > 0)]]))
    cells = [(i, c) for c in range(4) for i in range(n)] if by_chain else [(i, c) for i in range(n) for c in range(4)]
    return separator.join([*names, "lamp", "door"]) + "\n" + "".join(row(i, c) + "\n" for i, c in cells)


@pytest.mark.parametrize("options", [
    {}, {"by_chain": True}, {"names": (".chain", ".iteration", ".draw"), "by_chain": True}, {"names": ("chain__", "iter__", "draw__")},
    {"names": ("Chain", "Iteration")}, {"names": ("chain_id", "iter")}, {"names": ("draw", "chain"), "by_chain": True}, {"separator": ";"}, {"states": ("off", "on")},
    {"states": ("False", "True"), "names": ("chain", "draw"), "by_chain": True},
], ids=str)
def test_columns_that_tell_chains_and_order(run, work, options):
    (work / "d.csv").write_text(stuck(**options))
    done = run("diagnose", "d.csv")
    found = rows(done.out)
    assert done.status == 0 and list(found) == ["lamp", "door"], done.err
    assert found["lamp"]["rhat"] == "inf" and found["lamp"]["mean"] == "0.5" and "R-hat of lamp is inf" in done.err
    assert "4 chains of 100 draws" in run("diagnose", "d.csv", "--format", "table").out
    answer = json.loads(run("diagnose", "d.csv", "--format", "json").out)["quantities"]
    assert answer[0]["rhat"] is None and answer[0]["stuck"] is True and "stuck" not in answer[1]
    (work / "plain.csv").write_text(stuck())
    assert found == rows(run("diagnose", "plain.csv").out)
    assert ("labels, numbered from 0 in alphabetical order" in done.err) == ("states" in options), done.err


def test_own_draws_and_several_files_of_chains(run, work):
    """The columns chain and draw of `sample` are no quantities; files with several chains add up."""
    assert run("sample", SPRINKLER, "--method", "sample", "--sweeps", "300", "--chains", "4", "-o", "d.csv").status == 0
    done = run("diagnose", "d.csv")
    assert done.status == 0 and list(rows(done.out)) == ["lp", "rain", "sprinkler", "grass"], done.err
    assert run("sample", SPRINKLER, "--method", "sample", "--sweeps", "300", "--chains", "4", "-o", "d.npz").status == 0
    assert rows(run("diagnose", "d.npz").out)["rain"] == rows(done.out)["rain"]
    text = stuck(by_chain=True).splitlines(True)
    (work / "a.csv").write_text("".join(text[:201]))
    (work / "b.csv").write_text(text[0] + "".join(text[201:]))
    (work / "whole.csv").write_text(stuck())
    assert run("diagnose", "a.csv", "b.csv").out == run("diagnose", "whole.csv").out


@pytest.mark.parametrize("order", [(2, 0, 1, 3), (1, 0, 3, 2), (3, 2, 1, 0)], ids=str)
def test_order_of_columns_does_not_count(run, work, order):
    """Columns of later files are found by their names, those that tell chain and draw as well."""
    head, *lines = stuck(names=("chain", "draw"), by_chain=True).splitlines()
    (work / "a.csv").write_text("\n".join([head, *lines[:200], ""]))
    (work / "b.csv").write_text("\n".join([head, *lines[200:], ""]))
    turned = [",".join(line.split(",")[k] for k in order) for line in [head, *lines[200:]]]
    (work / "turned.csv").write_text("\n".join([*turned, ""]))
    asked = run("diagnose", "a.csv", "turned.csv")
    assert asked.status == 0 and asked.out == run("diagnose", "a.csv", "b.csv").out, asked.err


def test_order_of_rows_does_not_count(run, work):
    (work / "whole.csv").write_text(stuck())
    head, *lines = stuck().splitlines(True)
    (work / "turned.csv").write_text(head + "".join(reversed(lines)))
    assert run("diagnose", "turned.csv").out == run("diagnose", "whole.csv").out


def test_missing_values_and_an_index(run, work):
    (work / "d.csv").write_text(",a,b\n" + "".join(f"{i},{math.sin(i)!r},{'NA' if i == 7 else i % 3}\n" for i in range(40)))
    done = run("diagnose", "d.csv")
    assert done.status == 0 and list(rows(done.out)) == ["a", "b"] and "1 cell has no value: 1 NA" in done.err, done.err
    assert rows(done.out)["b"]["rhat"] == ""
    (work / "e.csv").write_text("win,draw,loss\n" + "".join(f"{math.sin(i)!r},{math.cos(i) / 2!r},{i % 3}\n" for i in range(40)))
    assert list(rows(run("diagnose", "e.csv").out)) == ["win", "draw", "loss"]  # no whole numbers: a quantity


@pytest.mark.long
def test_netcdf(run, work):
    asked = ["sample", SPRINKLER, "--method", "sample", "--sweeps", "400", "--chains", "4", "-q"]
    if "libnetcdf" in run(*asked, "-o", "d.nc").err:
        pytest.skip("libnetcdf is not installed")
    assert run(*asked, "-o", "d.npz").status == 0
    here, there = (list(rows(run("diagnose", path).out).values()) for path in ("d.nc", "d.npz"))
    assert [dict(r, name="") for r in here] == [dict(r, name="") for r in there]
    assert [r["name"] for r in here] == [f"x[{r['name']}]" if r["name"] != "lp" else "lp" for r in there]
    (work / "bad.nc").write_text("no such thing")
    assert run("diagnose", "bad.nc").status == 3
    whole = (work / "d.nc").read_bytes()
    at = whole.index(b"GCOL") + 16  # a free object of no length: HDF5 looks for the end of it for ever
    (work / "bad.nc").write_bytes(whole[:at] + bytes(16) + whole[at + 16:])
    done = run("diagnose", "bad.nc")
    assert (done.status, done.out) == (3, "") and done.err.startswith("gibbsite: bad.nc: "), done.err
    (work / "bad.nc").write_bytes(whole.replace(b"sprinkler", b"\xffprinkler"))
    done = run("diagnose", "bad.nc")
    assert (done.status, done.out) == (3, "") and "bad.nc: found a name that is not UTF-8" in done.err, done.err


def test_long_names_in_netcdf(run, work):
    """Nothing is cut off, least of all a letter in two."""
    name = "\u0434\u043e\u0436\u0434\u044c" * 40
    (work / "m.bif").write_text((work / SPRINKLER).read_text().replace("rain", name))
    done = run("sample", "m.bif", "--method", "sample", "--sweeps", "100", "-q", "-o", "d.nc")
    if "libnetcdf" in done.err:
        pytest.skip("libnetcdf is not installed")
    assert f"x[{name}]" in rows(run("diagnose", "d.nc").out)


def test_verdicts(run, work):
    for draws, options, says in ((chains(n=4000), [], "converged: R-hat is at most"),
                                 (chains(n=4000, apart=1.0), [], "chains disagree"),
                                 (chains(n_chains=3, n=4000), [], "fewer than 4 chains"),
                                 (chains(n=100), [], "400 are needed"),
                                 (chains(n=2), [], "no quantity has an R-hat")):
        done = run("diagnose", *write_csv(work, draws), *options)
        assert done.status == 0 and says in done.err, done.err
        assert "1 of 3 quantities never change" in done.err
        assert ("not converged" in done.err) == (not says.startswith("converged"))


def test_warm_up_is_left_out(run, work):
    draws = [[(99.0, 0, 0.5)] * 50 + chain for chain in chains()]
    head = "#   num_warmup = 100 (Default)\n#   save_warmup = {}\n#   thin = 2\n"
    expected = run("diagnose", *write_csv(work, chains())).out
    assert run("diagnose", *write_csv(work, draws, head.format("true"))).out == expected
    assert run("diagnose", *write_csv(work, draws, head.format("1"))).out == expected
    assert run("diagnose", *write_csv(work, draws, head.format("false"))).out != expected


def test_shown(run, work):
    paths = write_csv(work, chains(apart=0.3))
    table = run("diagnose", *paths, "--format", "table", "--top", "2")
    assert "3 quantities, 4 chains of 101 draws; largest R-hat first" in table.out
    assert [line.split()[0] for line in table.out.splitlines()[2:]] == ["a", "b"]
    answer = json.loads(run("diagnose", *paths, "-o", "d.json").out or (work / "d.json").read_text())
    assert answer["schema"] == "diagnose/1" and answer["chains"] == 4 and answer["draws"] == 101
    assert answer["quantities"][2]["rhat"] is None and answer["quantities"][2]["constant"] is True
    assert run("diagnose", *paths, "--plot", "ranks.svg").status == 0
    text = "".join(xml.etree.ElementTree.parse(work / "ranks.svg").getroot().itertext())
    assert "a: R-hat" in text and "chain 4" in text
    assert run("diagnose", *paths, "--plot", "ranks.png").status == 2


@pytest.mark.parametrize("files, place, message", [
    ({"a.csv": "x,y\n1,2\n3\n"}, "a.csv:3:1:", "found 1 field, expected 2"),
    ({"a.csv": "x,y\n1,2\n3,z\n"}, "a.csv:3:3:", "a number, as in the rows before"),
    ({"a.csv": "x,y\n1,2,3\n"}, "a.csv:2:1:", "more than 2 fields"),
    ({"a.csv": "1,2\n1,2\n"}, "a.csv:1:1:", "the name of a quantity"),
    ({"a.csv": "x,\n1,2\n"}, "a.csv:1:3:", "the name of a quantity"),
    ({"a.csv": ""}, "a.csv:", "found no draw"),
    ({"a.csv": "x\n1\n\0\n"}, "a.csv:3:1:", "a NUL byte"),
    ({"a.csv": "x\n1\n2\n", "b.csv": "x\n1\n"}, "b.csv:", "found 1 draw, expected 2"),
    ({"a.csv": "x\n1\n", "b.csv": "y\n1\n"}, "b.csv:", "other columns"),
    ({"a.csv": "x,y\n1,2\n", "b.csv": "y,z\n1,2\n"}, "b.csv:", "other columns"),
    ({"a.csv": "chain,x\n1,2\n", "b.csv": "x,y\n1,2\n"}, "b.csv:", "other columns"),
    ({"a.csv": "chain,x\n1,1\n1,2\n2,3\n"}, "a.csv:4:1:", "found 1 draw, expected 2"),
    ({"a.csv": "iteration,x\n1,1\n2,2\n1,3\n2,4\n"}, "a.csv:4:1:", "found draw 1 of a chain again"),
    ({"a.csv": "chain,x\n1,1\n1.5,2\n"}, "a.csv:3:1:", "a chain, by numbers or by labels"),
    ({"a.csv": "x,draw\n1,1\n2,\n"}, "a.csv:3:3:", "the number of a draw"),
    ({"a.csv": "x,y\n1,on\n2,3\n"}, "a.csv:3:3:", "a label, as in the rows before"),
    ({"a.csv": "chain,draw\n1,1\n"}, "a.csv:1:1:", "the name of a quantity"),
    ({"i_index.txt": "x 1 2\ny 4 5\n", "i_chain1.txt": "1 1\n2 1\n"}, "i_index.txt:2:2:", "lines that follow"),
    ({"j_index.txt": "x 1 2\n", "j_chain1.txt": "1 1\n"}, "j_chain1.txt:", "found 1 line, expected 2"),
    ({"k_index.txt": "x 1 1\n", "k_chain1.txt": "1 1\n2 2\n"}, "k_chain1.txt:2:1:", "the end of the file"),
    ({"l_index.txt": "x 1 1\n"}, "l_chain1.txt:", "the first chain"),
    ({"m_index.txt": "x 1 99999999999999999\n", "m_chain1.txt": "1 1\n"}, "m_index.txt:1:2:", "lines that follow"),
    ({"a.npz": "no archive"}, "a.npz", ""),
])
def test_bad_input(run, work, files, place, message):
    for name, text in files.items():
        (work / name).write_text(text)
    named = [name for name in files if "chain" not in name]
    done = run("diagnose", *named, "-o", "out.csv")
    assert done.status == 3 and place in done.err and message in done.err, done.err
    assert not (work / "out.csv").exists() and done.out == ""


def test_misuse(run, work):
    assert run("diagnose").status == 2
    (work / "a.csv").write_text("x\n1\n")
    assert "expected no file beside it" in run("diagnose", "a.npz", "a.csv").err
    assert run("diagnose", "nowhere.csv").status == 3


def test_convergence_is_required(run, work):
    """The answer is written all the same, and only what is not called converged has another status."""
    paths = write_csv(work, chains(n=4000))
    assert run("diagnose", *paths, "--require-converged").status == 0
    for asked, status in ((["marginals", SPRINKLER], 0),
                          (["marginals", SPRINKLER, "--method", "sample", "--sweeps", "40"], 5),
                          (["marginals", SPRINKLER, "--method", "sample", "--sweeps", "1e9", "--max-updates", "9999"], 5),
                          (["sample", SPRINKLER, "--method", "sample", "--sweeps", "20"], 5),
                          (["logz", SPRINKLER, "--method", "sample", "--temper", "off", "--sweeps", "4"], 5),
                          (["sensitivity", SPRINKLER, "--query", "rain=yes", "--method", "sample", "--sweeps", "64"], 5),
                          (["diagnose", "c0.csv"], 5)):
        plain = run(*asked)
        required = run(*asked, "--require-converged")
        assert required.status == status and plain.status in (0, 4), (asked, required.err)
        assert required.out == plain.out != ""


def test_plot_without_r_hat_writes_nothing(run, work):
    """Found by tools/attack: the figures were written, and then the plot was refused."""
    paths = write_csv(work, chains(n=1))
    done = run("diagnose", *paths, "--plot", "ranks.svg", "-o", "figures.csv")
    assert (done.status, done.out) == (1, "")
    assert "no quantity has an R-hat" in done.err
    assert not (work / "figures.csv").exists() and not (work / "ranks.svg").exists()


def test_one_chain_has_halves(run, work):
    (work / "d.csv").write_text("x\n" + "".join(f"{i // 50 + 0.01 * (i * 37 % 11)}\n" for i in range(100)))
    done = run("diagnose", "d.csv")
    assert "the halves of the chain disagree" in done.err and "chains disagree" not in done.err


def test_rhat_shows_that_it_is_above(run, work):
    """Rounded to 1.01 it would not be above 1.01."""
    found = []
    for step in range(100):
        rows = [f"{c},{((i * 7919 + c * 104729) % 1009) / 1009 + c * step * 0.0006}" for c in range(4) for i in range(400)]
        (work / "d.csv").write_text("chain,x\n" + "\n".join(rows) + "\n")
        said = re.search(r"R-hat of x is ([0-9.]+), above", run("diagnose", "d.csv").err)
        if said:
            found.append(said[1])
            if float(said[1]) > 1.02:
                break
    assert found and all(float(x) > 1.01 for x in found)
