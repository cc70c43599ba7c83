# SPDX-License-Identifier: Apache-2.0
"""What the verbs write: formats, names, labels, evidence."""
import csv
import gzip
import io
import json
import math
import subprocess

import pytest
from conftest import SPRINKLER, has_netcdf, only, program


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def probability(text, variable, state):
    return float(next(r["probability"] for r in rows(text)
                      if r["variable"] == variable and r["state"] == state))


def exact_sprinkler():
    """P(rain = yes), P(rain = yes | grass = wet) by summation of the file's tables."""
    p = {}
    for r, pr in ((0, 0.8), (1, 0.2)):
        for s in (0, 1):
            on = (0.4, 0.01)[r]
            wet = ((0.02, 0.8), (0.9, 0.99))[s][r]
            for g in (0, 1):
                p[r, s, g] = pr * (on if s else 1 - on) * (wet if g else 1 - wet)
    wet = sum(v for k, v in p.items() if k[2] == 1)
    return 0.2, sum(v for k, v in p.items() if k[2] == 1 and k[0] == 1) / wet


def test_csv_names_and_labels(run):
    done = run("marginals", SPRINKLER)
    assert done.status == 0
    assert done.out.splitlines()[0] == "variable,state,probability,mcse,ess,rhat"
    assert [(r["variable"], r["state"]) for r in rows(done.out)] == [
        ("rain", "no"), ("rain", "yes"), ("sprinkler", "off"), ("sprinkler", "on"),
        ("grass", "dry"), ("grass", "wet")]
    assert abs(probability(done.out, "rain", "yes") - exact_sprinkler()[0]) < 1e-9
    assert all(r["mcse"] == "0" and r["ess"] == "" and r["rhat"] == "" for r in rows(done.out))
    assert "converged" in done.err and "not converged" not in done.err


@pytest.mark.parametrize("evidence", ["grass=wet", "2=#1", "2=wet", "grass=#1", " grass = wet ",
                                      "grass!=dry", "grass=wet|dry,grass!=dry"])
def test_evidence_lists(run, evidence):
    done = run("marginals", SPRINKLER, "-e", evidence, "-q")
    assert done.status == 0 and done.err == "gibbsite: converged: exact\n"
    assert abs(probability(done.out, "rain", "yes") - exact_sprinkler()[1]) < 1e-9
    assert probability(done.out, "grass", "wet") == 1.0


def test_evidence_many(run, work):
    (work / "x.evid").write_text("1\n2 1\n")
    once = run("marginals", SPRINKLER, "-e", "grass=wet,sprinkler=on")
    again = run("marginals", SPRINKLER, "-e", "grass=wet", "-e", "sprinkler=on")
    file = run("marginals", SPRINKLER, "-e", "x.evid", "-e", "sprinkler=on")
    assert once.status == 0 and once.out == again.out == file.out


@pytest.mark.parametrize("evidence, status, part", [
    ("grass=damp", 2, "damp"),
    ("gras=wet", 2, "grass"),
    ("grass=wet,grass=dry", 2, ""),
    ("grass=1", 2, "# before it"),
    ("grass=", 2, "NAME=STATE"),
    ("grass=wet,", 2, "NAME=STATE"),
    ("=wet", 2, ""),
    ("9=1", 2, "9"),
    ("no-such.evid", 3, "no-such.evid"),
])
def test_bad_evidence(run, evidence, status, part):
    done = run("marginals", SPRINKLER, "-e", evidence)
    assert done.status == status and done.out == ""
    assert part in done.err


def test_sets_and_likelihoods(run):
    def rain(*args):
        done = run("marginals", SPRINKLER, *args)
        assert done.status == 0, done.err
        return probability(done.out, "rain", "yes")
    assert abs(rain("-e", "grass=wet|dry") - exact_sprinkler()[0]) < 1e-9
    dry, wet = rain("-e", "grass=dry"), rain("-e", "grass=wet")
    p_wet = (rain() - dry) / (wet - dry)
    soft = rain("--likelihood", "grass=wet:0.8|dry:0.2")
    expected = (wet * 0.8 * p_wet + dry * 0.2 * (1 - p_wet)) / (0.8 * p_wet + 0.2 * (1 - p_wet))
    assert abs(soft - expected) < 1e-9
    assert abs(rain("-e", "grass=wet", "--likelihood", "grass=wet:0.3") - wet) < 1e-9
    done = run("marginals", SPRINKLER, "--likelihood", "grass=wet")
    assert done.status == 2 and "STATE:NUMBER" in done.err


def test_awkward_names(run, work):
    (work / "odd.bif").write_text("""network odd { }
variable a=b { type discrete [ 2 ] { x=1, y }; }
variable 3 { type discrete [ 2 ] { no, yes }; }
probability ( a=b ) { table 0.5, 0.5; }
probability ( 3 | a=b ) { (x=1) 0.1, 0.9; (y) 0.6, 0.4; }
""")
    done = run("marginals", "odd.bif", "-e", "a=b=x=1,=3=yes")
    assert done.status == 0, done.err
    assert probability(done.out, "a=b", "x=1") == 1.0
    assert probability(done.out, "3", "yes") == 1.0


def test_virtual_evidence(run, work):
    (work / "soft.txt").write_text("1\n0 2 1 3\n")
    done = run("marginals", SPRINKLER, "--virtual-evidence", "soft.txt")
    assert done.status == 0, done.err
    assert abs(probability(done.out, "rain", "yes") - 0.6 / 1.4) < 1e-9


def test_several_samples_ask_for_a_choice(run, work):
    (work / "two.evid").write_text("2\n1 2 0\n1 2 1\n")
    done = run("marginals", SPRINKLER, "-e", "two.evid")
    assert done.status == 2 and "--evidence-index" in done.err
    second = run("marginals", SPRINKLER, "-e", "two.evid", "--evidence-index", "1")
    assert second.out == run("marginals", SPRINKLER, "-e", "grass=wet").out


def test_impossible_evidence(run, work):
    (work / "never.uai").write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 0 0 1\n")
    done = run("marginals", "never.uai", "-e", "0=0,1=1", "-o", "x.csv")
    assert done.status == 1 and "probability zero" in done.err
    only(work, "never.uai")


def test_mar(run, work):
    done = run("marginals", SPRINKLER, "--sweeps", "50", "-o", "out.MAR")
    assert done.status == 0 and done.out == ""
    lines = (work / "out.MAR").read_text().splitlines()
    assert lines[0] == "MAR" and len(lines) == 2
    numbers = lines[1].split()
    assert numbers[0] == "3"
    at = 1
    for _ in range(3):
        k = int(numbers[at])
        assert k == 2 and abs(sum(map(float, numbers[at + 1:at + 1 + k])) - 1) < 1e-12
        at += 1 + k
    assert at == len(numbers)
    on_stdout = run("marginals", SPRINKLER, "--sweeps", "50", "--format", "mar")
    assert on_stdout.out == (work / "out.MAR").read_text()


def test_json(run, work):
    assert run("marginals", SPRINKLER, "--sweeps", "64", "-o", "out.json").status == 0
    result = json.loads((work / "out.json").read_text())
    assert result["schema"] == "marginals/2"
    rain = result["variables"][0]
    assert rain["name"] == "rain" and rain["states"] == ["no", "yes"]
    assert len(rain["probability"]) == len(rain["mcse"]) == len(rain["rhat"]) == 2
    assert abs(sum(rain["probability"]) - 1) < 1e-6


def test_compressed_output(run, work):
    assert run("marginals", SPRINKLER, "-o", "out.csv.gz").status == 0
    assert gzip.open(work / "out.csv.gz", "rt").read() == run("marginals", SPRINKLER).out


def test_unnamed_variables(run, small):
    done = run("marginals", small)
    assert done.status == 0
    assert [r["variable"] for r in rows(done.out)] == ["0", "0", "1", "1", "2", "2", "2"]
    assert abs(probability(done.out, "2", "2") - 0.5) < 1e-9


def test_standard_input(run, small, work):
    done = run("marginals", "-", "--from", "uai", stdin=(work / small).read_text())
    assert done.status == 0 and done.out == run("marginals", small).out


def test_auto_samples_if_told_how(run):
    assert "exact" in run("marginals", SPRINKLER).err
    for option in (["--scan", "systematic"], ["--chains", "8"], ["--sweeps", "30"],
                   ["--estimator", "count"], ["--burn-in", "5"], ["--max-updates", "100000000"],
                   ["--draw", "herded"], ["--origin", "0", "--scan", "systematic"]):
        done = run("marginals", SPRINKLER, *option)
        assert done.status == 0, done.err
        assert "sampled:" in done.err, option
    for option in (["--seed", "3"], ["--target-error", "0.01"], ["--time", "20s"],
                   ["--threads", "1"]):
        assert "exact:" in run("marginals", SPRINKLER, *option).err, option


def test_sampled_agrees_with_exact(run):
    done = run("marginals", SPRINKLER, "--method", "sample", "-e", "grass=wet", "--seed", "11")
    assert done.status == 0
    row = next(r for r in rows(done.out) if r["variable"] == "rain" and r["state"] == "yes")
    assert float(row["mcse"]) <= 0.005
    # six standard errors: a false alarm in 10^8 seeds, and the seed is fixed
    assert abs(float(row["probability"]) - exact_sprinkler()[1]) < 6 * float(row["mcse"])
    assert "seed 11" in done.err


def test_start_and_scan_files(run, small, work):
    (work / "s.scan").write_text("scan 1\nvariables 3\n0 1 2 1\n")
    (work / "zero.txt").write_text("0 0 0\n")
    done = run("marginals", small, "--scan", "s.scan", "--start", "zero.txt", "--sweeps", "200",
               "--burn-in", "10")
    assert done.status == 0, done.err
    (work / "short.scan").write_text("scan 1\nvariables 3\n0 1\n")
    assert run("marginals", small, "--scan", "short.scan").status == 2


def test_sample(run):
    done = run("sample", SPRINKLER, "--sweeps", "5", "--chains", "2", "--burn-in", "0", "-qq")
    assert done.status == 0 and done.err == ""
    one = run("sample", SPRINKLER, "--sweeps", "5", "--chains", "2", "--burn-in", "0", "-q")
    assert one.out == done.out and one.err.startswith("gibbsite: ") and one.err.count("\n") == 1
    table = rows(done.out)
    assert done.out.splitlines()[0] == "chain,draw,lp,rain,sprinkler,grass"
    assert len(table) == 10
    assert {(r["chain"], r["draw"]) for r in table} == {
        (str(c), str(d)) for c in range(2) for d in range(5)}
    for r in table:
        rain, on, wet = int(r["rain"]), int(r["sprinkler"]), int(r["grass"])
        p = (0.8, 0.2)[rain] * ((0.6, 0.4), (0.99, 0.01))[rain][on]
        q = ((0.02, 0.8), (0.9, 0.99))[on][rain]
        assert abs(float(r["lp"]) - math.log(p * (q if wet else 1 - q))) < 1e-9


def test_sample_default_and_thin(run, small):
    done = run("sample", small, "--chains", "2")
    assert len(done.out.splitlines()) == 1 + 2 * 1000
    assert done.out.splitlines()[0] == "chain,draw,lp,x0,x1,x2"
    thin = run("sample", small, "--chains", "2", "--sweeps", "100", "--thin", "10")
    assert len(thin.out.splitlines()) == 1 + 2 * 10


def test_same_seed_same_bytes(run, small):
    a, b, c = (run("sample", small, "--sweeps", "50", "--seed", s) for s in ("5", "5", "6"))
    assert a.out == b.out != c.out


def test_info(run):
    done = run("info", "-v", SPRINKLER, "-e", "grass=wet")
    assert done.status == 0
    for word in ("variables", "factors", "components", "colours", "memory", "Bayesian"):
        assert word in done.out
    result = json.loads(run("info", SPRINKLER, "-e", "grass=wet", "--json").out)
    assert result["schema"] == "info/1"
    assert (result["variables"], result["observed"], result["factors"]) == (3, 1, 3)
    assert result["bayesian_network"] is True
    assert result["min_arity"] == result["max_arity"] == 2


def test_convert(run, work):
    assert run("convert", SPRINKLER, "-o", "a.uai").status == 0
    assert run("convert", "a.uai", "-o", "b.LG").status == 0
    assert run("convert", "b.LG", "-o", "c.uai.gz").status == 0
    first = rows(run("marginals", SPRINKLER).out)
    for name in ("a.uai", "b.LG", "c.uai.gz"):
        other = rows(run("marginals", name).out)
        for x, y in zip(first, other):
            assert abs(float(x["probability"]) - float(y["probability"])) < 1e-12


def test_convert_refuses_a_network_of_no_network(run, small, work):
    done = run("convert", small, "-o", "x.bif")
    assert done.status in (1, 2) and done.err != ""
    only(work, "small.uai")


@pytest.mark.parametrize("kind", [
    ["ising", "--grid", "4x5", "--coupling-spread", "0.5", "--random-field", "1"],
    ["ising", "--grid", "3x3x3", "--torus"],
    ["potts", "--grid", "4x4", "--states", "3", "--noise", "0.7"],
    ["potts", "--grid", "3x4x5", "--states", "3", "--noise", "0.7", "--torus"],
    ["ring", "--variables", "9"],
    ["complete", "--variables", "7", "--coupling-spread", "0.5"],
    ["regular", "--variables", "10", "--degree", "3", "--random-field", "1"],
    ["regular", "--variables", "10", "--degree", "0"],
    ["powerlaw", "--variables", "12", "--edges", "2", "--coupling", "-0.3"],
    ["rbm", "--visible", "6", "--hidden", "3", "--coupling", "0", "--coupling-spread", "1"],
    ["bayes", "--variables", "9", "--parents", "2", "--states", "2:4"],
])
def test_generate(run, kind):
    a = run("generate", *kind, "--seed", "4", "--format", "lg")
    b = run("generate", *kind, "--seed", "4", "--format", "lg")
    assert a.status == 0 and a.out == b.out and a.out.split()[0] in ("MARKOV", "BAYES")
    assert run("info", "-", "--from", "lg", stdin=a.out).status == 0


def structure(run, *kind):
    """What info says of a generated model."""
    made = run("generate", *kind, "--format", "lg")
    assert made.status == 0, made.err
    return json.loads(run("info", "-", "--from", "lg", "--json", stdin=made.out).out)


def test_generate_graphs(run):
    complete = structure(run, "complete", "--variables", "7")
    assert (complete["variables"], complete["factors"]) == (7, 21)
    assert complete["variables_of_degree"][6] == 7
    regular = structure(run, "regular", "--variables", "20", "--degree", "7")
    assert (regular["variables"], regular["factors"]) == (20, 70)
    assert regular["variables_of_degree"][7] == 20
    powerlaw = structure(run, "powerlaw", "--variables", "50", "--edges", "3")
    assert (powerlaw["variables"], powerlaw["factors"]) == (50, 6 + 46 * 3)
    assert sum(powerlaw["variables_of_degree"][3:]) == 50 and powerlaw["components"] == 1
    rbm = structure(run, "rbm", "--visible", "5", "--hidden", "9")
    assert (rbm["variables"], rbm["factors"], rbm["bipartite"]) == (14, 45, True)
    assert (rbm["variables_of_degree"][9], rbm["variables_of_degree"][5]) == (5, 9)
    solid = structure(run, "potts", "--grid", "3x4x5", "--states", "3")
    assert (solid["variables"], solid["factors"]) == (60, 2 * 20 + 3 * 15 + 4 * 12)


@pytest.mark.parametrize("kind, part", [
    (["regular", "--variables", "7", "--degree", "3"], "one of the two numbers must be even"),
    (["regular", "--variables", "6", "--degree", "6"], "a degree below their number"),
    (["powerlaw", "--variables", "6", "--edges", "6"], "fewer than variables"),
    (["complete", "--variables", "4000000000"], "7999999998000000000 couplings take 201.2 EiB"),
    (["rbm", "--visible", "3000000000", "--hidden", "3000000000"], "6000000000 variables"),
    (["potts", "--grid", "9999x9999x9999", "--states", "2"], "more than the 4294967280"),
])
def test_generate_refuses(run, work, kind, part):
    done = run("generate", *kind, "--format", "uai")
    assert done.status in (1, 2) and done.out == ""
    assert part in done.err
    only(work)


def test_compare(run, work):
    (work / "a.MAR").write_text("MAR\n2 2 0.25 0.75 3 0.1 0.2 0.7\n")
    (work / "b.MAR").write_text("MAR\n2 2 0.30 0.70 3 0.1 0.2 0.7\n")
    (work / "c.MAR").write_text("MAR\n1 2 0.30 0.70\n")
    (work / "bad.MAR").write_text("MAR\n2 2 0.3\n")
    assert run("compare", "a.MAR", "a.MAR").status == 0
    done = run("compare", "a.MAR", "b.MAR")
    assert done.status == 1 and "0.05" in done.out and "beyond" in done.out
    assert run("compare", "a.MAR", "b.MAR", "--tolerance", "0.06").status == 0
    assert run("compare", "a.MAR", "b.MAR", "--tolerance", "0").status == 1
    assert run("compare", "a.MAR", "a.MAR", "--tolerance", "0").status == 0
    assert run("compare", "a.MAR", "b.MAR", "--tolerance", "0.04", "-q").out == ""
    assert run("compare", "a.MAR", "c.MAR").status == 2
    assert run("compare", "a.MAR", "bad.MAR").status == 3
    assert run("compare", "a.MAR", "none.MAR").status == 3


def test_alarm(run, data):
    """A network of 37 variables against its reference marginals: its zeros are crossed, but slowly."""
    done = run("marginals", data("bn/alarm.bif"), "--method", "sample", "--sweeps", "20000")
    assert done.status == 0, done.err
    assert "not converged: the chains disagree" in done.err
    found = {(r["variable"], r["state"]): r for r in rows(done.out)}
    assert len(found) == 105
    near = 0
    for line in data("bn/alarm.prior.ref.tsv").read_text().splitlines()[1:]:
        variable, state, p = line.split("\t")
        if variable == "variable":
            continue
        row = found[variable, state]
        near += abs(float(row["probability"]) - float(p)) <= 6 * float(row["mcse"]) + 1e-3
    assert near >= 104


def test_compare_our_own_results(run, work):
    """CSV, JSON and UAI files of one answer agree; of two states it is said which weighs more."""
    clinic = "examples/clinic.bif"
    for name in ("a.csv", "a.json", "a.MAR"):
        assert run("marginals", clinic, "-o", name).status == 0
    for name in ("a.json", "a.MAR"):
        assert run("compare", "a.csv", name, "--tolerance", "1e-12").status == 0
    for name in ("b.csv", "b.json", "b.MAP"):
        assert run("map", clinic, "-e", "fever=yes", "-o", name).status == 0
    assert run("map", clinic, "-o", "free.csv").status == 0
    assert "needed to compare" in run("compare", "b.csv", "b.MAP").err
    done = run("compare", "b.csv", "b.MAP", "--model", clinic)
    assert done.status == 0 and "both states weigh the same" in done.out
    done = run("compare", "b.json", "free.csv", "--model", clinic, "--tolerance", "15")
    assert done.status == 0 and "the second state weighs exp(3.38999) times more" in done.out


def test_errors_of_chains_that_disagree(run, work):
    """The printed error says so, in the heading and in the summary line."""
    assert run("generate", "ising", "--grid", "12x12", "--torus", "--coupling", "0.8", "-o",
               "g.uai").status == 0
    asked = ["marginals", "g.uai", "--sweeps", "600", "--scan", "systematic", "--format"]
    done = run(*asked, "table")
    assert "error: standard error within chains, not reliable, because the chains disagree" in done.out
    assert "largest standard error within chains, not reliable: " in done.err
    assert json.loads(run(*asked, "json").out)["chains_disagree"] is True
    agreeing = run("marginals", SPRINKLER, "--method", "sample", "--format", "table")
    assert "not reliable" not in agreeing.out + agreeing.err


def test_estimates_are_compared_by_their_errors(run, work):
    """Without --tolerance: agree within what chance explains, in CSV and JSON; the worst is named."""
    run("marginals", SPRINKLER, "-o", "exact.csv")
    run("marginals", SPRINKLER, "-o", "exact.MAR")
    run("marginals", SPRINKLER, "-e", "grass=wet", "-o", "given.csv")
    run("marginals", SPRINKLER, "--method", "mean-field", "-o", "bound.csv")
    for end in ("csv", "json"):
        run("marginals", SPRINKLER, "--method", "sample", "--seed", "5", "-o", f"sampled.{end}")
        for exact in ("exact.csv", "exact.MAR"):
            done = run("compare", exact, f"sampled.{end}")
            assert done.status == 0 and "standard errors (" in done.out and done.out.endswith("agree\n")
        done = run("compare", "given.csv", f"sampled.{end}")
        assert done.status == 1 and "standard errors (grass)" in done.out and done.out.endswith("differ by more than chance\n")
        assert run("compare", "exact.csv", f"sampled.{end}", "--tolerance", "1e-7").status == 1
        done = run("compare", "bound.csv", f"sampled.{end}")  # errors of mean field are not known: an empty column is none
        assert done.status == 1 and "standard errors (" in done.out
    (work / "bad.csv").write_text("variable,state,probability,mcse\na,0,0.5,0.1\na,1,0.5,-1\n")
    done = run("compare", "bad.csv", "bad.csv")
    assert done.status == 3 and "bad.csv:3:9: found '-1', expected a standard error" in done.err


HALVES = "variable,state,probability,mcse\na,0,0.5,{0}\na,1,0.5,{0}\nb,0,0.25,{1}\nb,1,0.75,{1}\n"


def test_errors_that_a_file_does_not_tell(run, work):
    """An empty column means what a missing one does; in a column that is partly empty the rest is judged, which is told."""
    (work / "bare.csv").write_text("variable,state,probability\na,0,0.5\na,1,0.5\nb,0,0.3\nb,1,0.7\n")
    for name, errors in [("empty", ("", "")), ("all", ("0.1", "0.1")), ("some", ("0.1", "")), ("other", ("", "0.001"))]:
        (work / f"{name}.csv").write_text(HALVES.format(*errors))
    for first, second, verdict in [("bare", "empty", "beyond tolerance"), ("empty", "all", "agree"), ("bare", "all", "agree"),
                                   ("bare", "some", "agree"), ("bare", "other", "differ by more than chance")]:
        done = run("compare", f"{first}.csv", f"{second}.csv")
        assert done.out.endswith(verdict + "\n") and (done.status == 0) == (verdict == "agree"), done.out
        partly = second in ("some", "other")
        assert (f"{second}.csv: 2 values have no standard error and are not judged; --tolerance" in done.err) == partly
    assert run("compare", "bare.csv", "some.csv", "--tolerance", "0.01").status == 1


def test_variables_of_other_sizes_are_named(run, work):
    (work / "two.csv").write_text("variable,state,probability\nrain,0,0.5\nrain,1,0.5\n")
    (work / "three.csv").write_text("variable,state,probability\nrain,0,0.5\nrain,1,0.5\nrain,2,0\n")
    assert "variable rain has 2 states and 3 states" in run("compare", "two.csv", "three.csv").err


def test_rounding_is_no_difference(run, work):
    """Unless a tolerance is typed; --tolerance 0 means what it says."""
    for name, p, q in [("a", "0.3", "0.7"), ("b", "0.30000000000000004", "0.7"), ("c", "0.3000001", "0.6999999")]:
        (work / f"{name}.csv").write_text(f"variable,state,probability,mcse\nx,0,{p},0\nx,1,{q},0\n")
    for name, z in [("a", "-1234.5"), ("b", "-1234.5000000001"), ("c", "-1234.501")]:
        (work / f"{name}.PR").write_text(f"PR\n{z}\n")
    for end in "csv", "PR":
        done = run("compare", f"a.{end}", f"b.{end}")
        assert done.status == 0 and done.out.endswith("within tolerance\n"), done.out
        assert run("compare", f"a.{end}", f"b.{end}", "--tolerance", "0").status == 1
        done = run("compare", f"a.{end}", f"c.{end}")
        assert done.status == 1 and done.out.endswith("beyond tolerance\n")
    for bad in "-1", "-1e-9", "1e10":
        done = run("compare", "a.csv", "b.csv", "--tolerance", bad)
        assert done.status == 2 and f"--tolerance {bad}: must be at least 0 and at most 1e+09" in done.err


def test_tables_of_another_kind_are_called_what_they_are(run, work):
    (work / "cases.csv").write_text("rain,grass\nno,dry\nyes,wet\n")
    run("marginals", SPRINKLER, "-o", "marginals.csv")
    run("marginals", SPRINKLER, "--joint", "rain,grass", "-o", "joint.csv")
    run("marginals", SPRINKLER, "--cases", "cases.csv", "-o", "of_cases.csv")
    run("map", SPRINKLER, "-o", "states.csv")
    run("sample", SPRINKLER, "--sweeps", "400", "-o", "draws.csv")
    run("diagnose", "draws.csv", "-o", "diagnosis.csv")
    (work / "summary.csv").write_text('"variable","mean","median","sd","mad","q5","q95","rhat"\n"mu",0.1,0.1,1,1,-2,2,1.01\n')
    kinds = {"marginals": "marginals", "joint": "a joint table", "of_cases": "marginals of cases",
             "states": "states of variables", "diagnosis": "a diagnosis of draws", "summary": "a summary of draws"}
    for name, what in kinds.items():
        for asked in (["diagnose"], ["fit", SPRINKLER, "-o", "o.bif"], ["marginals", SPRINKLER, "--cases"],
                      ["learn", "rbm", "--hidden", "2", "-o", "o.gbm"]):
            done = run(*asked, f"{name}.csv")
            assert done.status == 3 and f"{name}.csv:1:1: found {what}, expected " in done.err, done.err
            assert ("; gibbsite compare reads" in done.err) == (name in ("marginals", "joint", "states"))
        done = run("compare", f"{name}.csv", "marginals.csv")
        if name not in ("marginals", "joint", "states"):
            assert done.status == 3 and f"{name}.csv:1:1: found {what}, expected marginals, joint tables, a state or ln Z" in done.err
    done = run("compare", "marginals.csv", "draws.csv")
    assert done.status == 3 and "found draws, expected" in done.err and "gibbsite diagnose reads draws" in done.err
    done = run("compare", "marginals.csv", "cases.csv")
    assert done.status == 3 and "found a table of other columns" in done.err and "gibbsite fit reads tables of cases" in done.err
    done = run("fit", SPRINKLER, "joint.csv", "--weights", "probability", "-o", "o.bif")
    assert done.status == 0, done.err  # rows with their weights


def test_an_ending_without_a_format_is_told(run, work):
    done = run("marginals", SPRINKLER, "-o", "x.foo")
    assert done.status == 0 and (work / "x.foo").read_text().startswith("variable,state,probability"), done.err
    assert "x.foo: its ending names no format: written as csv; --format mar|csv|table" in done.err
    assert "no format" not in run("marginals", SPRINKLER, "-o", "x.foo", "--format", "csv").err
    assert "no format" not in run("marginals", SPRINKLER, "-o", "x.csv.gz").err
    assert "no format" not in run("marginals", SPRINKLER, "-o", "/dev/null").err


def test_no_error_below_the_resolution(run, work):
    """Independent variables: every pass adds the same conditional, in floats, and no chain tells what that rounds."""
    (work / "m.bif").write_text("""network x { }
variable A { type discrete [ 2 ] { n, y }; }
variable B { type discrete [ 2 ] { n, y }; }
probability ( A ) { table 0.3333333333333, 0.6666666666667; }
probability ( B | A ) { (n) 0.1234567891, 0.8765432109; (y) 0.1234567891, 0.8765432109; }
""")
    exact = {(r["variable"], r["state"]): float(r["probability"]) for r in rows(run("marginals", "m.bif").out)}
    for sweeps in "1000", "60000":
        for r in rows(run("marginals", "m.bif", "--method", "sample", "--sweeps", sweeps).out):
            off = abs(float(r["probability"]) - exact[r["variable"], r["state"]])
            assert 2 * float(r["mcse"]) > off and r["ess"] == "", r


def test_a_target_that_sums_of_floats_cannot_meet(run, work):
    asked = ["marginals", SPRINKLER, "--method", "sample", "--sweeps", "400", "--target-error"]
    said = "--target-error 1e-06 is below 8.1e-06, and no standard error"
    assert run(*asked, "1e-6").err.count(said) == 1
    assert said not in run(*asked, "1e-6", "--estimator", "count").err
    assert said not in run("marginals", SPRINKLER, "--target-error", "1e-6").err  # exact
    assert "is below" not in run(*asked, "1e-5").err


POND = """network pond { }
variable frost { type discrete [ 2 ] { no, yes }; }
variable ice { type discrete [ 3 ] { none, thin, thick }; }
variable duck { type discrete [ 2 ] { out, in }; }
probability ( frost ) { table 0.5, 0.5; }
probability ( ice | frost ) { (no) 0.6, 0.2, 0.2; (yes) 0.2, 0.2, 0.6; }
probability ( duck | ice ) { (none) 0.1, 0.9; (thin) 0.5, 0.5; (thick) 0.9, 0.1; }
"""


def test_compare_by_names(run, work):
    """Variables in another order, or some of them; what is left out is told, and the worst one has its name."""
    (work / "m.bif").write_text(POND)
    for name, query in ("all.csv", "frost,ice,duck"), ("turned.json", "duck,frost,ice"), ("some.csv", "duck,ice"):
        assert run("marginals", "m.bif", "--query", query, "-e", "frost=yes", "-o", name).status == 0
    same = run("compare", "all.csv", "turned.json")
    assert same.status == 0 and "max |p - q|            0\n" in same.out and same.err == "", same.out + same.err
    some = run("compare", "some.csv", "all.csv")
    assert some.status == 0 and "left out: 1 variable of all.csv that is not in some.csv" in some.err, some.err
    (work / "off.csv").write_text((work / "all.csv").read_text().replace("thick,0.6", "thick,0.7"))
    off = run("compare", "all.csv", "off.csv")
    assert off.status == 1 and "worst variable         ice" in off.out, off.out
    (work / "other.csv").write_text("variable,state,probability\nfox,no,0.5\nfox,yes,0.5\n")
    done = run("compare", "other.csv", "all.csv")
    assert done.status == 2 and "no variable is in both results" in done.err
    assert run("map", "m.bif", "-o", "s.csv").status == 0
    lines = (work / "s.csv").read_text().splitlines()
    (work / "r.csv").write_text("\n".join([lines[0], lines[3], lines[1].replace(",no", ",yes"), ""]))
    states = run("compare", "r.csv", "s.csv")
    assert "variables              2\n" in states.out and "left out: 1 variable of s.csv" in states.err, states.out + states.err


def test_compare_by_labels(run, work):
    """States of one variable in another order; other states and numbers of states are refused."""
    (work / "m.bif").write_text(POND)
    (work / "turned.bif").write_text(
        POND.replace("none, thin, thick", "thick, thin, none").replace("0.6, 0.2, 0.2", "_").replace("0.2, 0.2, 0.6", "0.6, 0.2, 0.2")
        .replace("_", "0.2, 0.2, 0.6").replace("(none)", "(_)").replace("(thick)", "(none)").replace("(_)", "(thick)")
        .replace("(thick) 0.1, 0.9", "(thick) 0.9, 0.1").replace("(none) 0.9, 0.1", "(none) 0.1, 0.9"))
    for model in "m", "turned":
        for end in "csv", "json", "MAR":
            assert run("marginals", f"{model}.bif", "-e", "frost=yes", "-o", f"{model}.{end}").status == 0
    for other in "csv", "json":
        done = run("compare", "m.csv", f"turned.{other}", "--tolerance", "1e-12")
        assert done.status == 0, done.out + done.err
    (work / "other.csv").write_text((work / "m.csv").read_text().replace("ice,none", "ice,open"))
    done = run("compare", "m.csv", "other.csv")
    assert done.status == 2 and "variable ice: state none is only in the first result" in done.err, done.err
    assert run("convert", "m.bif", "-o", "m.uai").status == 0
    assert run("marginals", "m.uai", "-e", "0=1", "-o", "numbers.csv").status == 0
    assert run("compare", "numbers.csv", "m.MAR", "--tolerance", "1e-12").status == 0
    (work / "numbers.csv").write_text("variable,state,probability\nice,0,0.2\nice,1,0.2\nice,2,0.6\n")
    done = run("compare", "numbers.csv", "m.csv")
    assert done.status == 2 and "variable ice: the first result has numbers of states" in done.err, done.err
    assert "--model" in done.err
    assert run("compare", "numbers.csv", "m.csv", "--model", "m.bif", "--tolerance", "1e-12").status == 0


def test_compare_uai_with_another_order(run, work):
    """A .mar has neither names nor labels; with the model the places are its numbers of variables."""
    (work / "m.bif").write_text(POND)
    assert run("marginals", "m.bif", "-o", "m.MAR").status == 0
    assert run("marginals", "m.bif", "--query", "duck,frost,ice", "-o", "turned.csv").status == 0
    done = run("compare", "m.MAR", "turned.csv", "--model", "m.bif", "--tolerance", "1e-12")
    assert done.status == 0 and "variables              3\n" in done.out, done.out + done.err
    assert run("map", "m.bif", "-o", "m.MAP").status == run("map", "m.bif", "-o", "s.csv").status == 0
    lines = (work / "s.csv").read_text().splitlines()
    (work / "s.csv").write_text("\n".join([lines[0], *lines[:0:-1], ""]))
    done = run("compare", "m.MAP", "s.csv", "--model", "m.bif")
    assert done.status == 0 and "both states weigh the same" in done.out, done.out + done.err
    (work / "z.PR").write_text("PR\n-1\n")
    done = run("compare", "z.PR", "z.PR", "--model", "m.bif")
    assert done.status == 2 and "--model needs marginals, or states of all 3 variables" in done.err, done.err


def test_compare_reads_arrays(run, work):
    """Marginals in .npz and .nc are what they are in CSV: names, labels, errors and probabilities."""
    (work / "m.bif").write_text(POND)
    (work / "m.uai").write_text("MARKOV\n2\n2 3\n1\n2 0 1\n6\n1 2 3 4 5 6\n")
    ends = ["npz", "nc"] if has_netcdf(run) else ["npz"]
    for end in ("csv", *ends):
        for name, question in [("m", ["m.bif"]), ("some", ["m.bif", "--query", "duck,ice"]), ("given", ["m.bif", "-e", "duck=in"]),
                               ("sampled", ["m.bif", "--method", "sample"]), ("numbers", ["m.uai"])]:
            assert run("marginals", *question, "-o", f"{name}.{end}").status == 0
    for end in ends:
        for name in ("m", "given", "sampled", "numbers"):
            done = run("compare", f"{name}.csv", f"{name}.{end}", "--tolerance", "1e-15")
            assert done.status == 0 and done.err == "", done.err
        assert run("compare", f"m.{end}", f"given.{end}").status == 1
        done = run("compare", f"m.{end}", f"sampled.{end}")
        assert done.status == 0 and "standard errors" in done.out, done.out
        done = run("compare", "m.csv", f"some.{end}")
        assert done.status == 0 and "left out: 1 variable of m.csv" in done.err, done.err
        done = run("compare", f"m.{end}", "m.csv", "--model", "m.bif")
        assert done.status == 0 and "variables              3\n" in done.out
        assert "no variable is in both results" in run("compare", f"numbers.{end}", "m.csv").err


def test_compare_reads_joint_tables(run, work):
    """A joint table is one variable, whose name lists the variables: their order in the files does not matter."""
    (work / "m.bif").write_text(POND)
    for name, joints, *evidence in [("a.csv", ["duck,ice"]), ("a.json", ["ice,duck"]), ("one.csv", ["ice"]),
                                    ("both.csv", ["frost,ice,duck", "ice,duck"]), ("both.json", ["ice,duck", "duck,ice,frost"]),
                                    ("given.csv", ["duck,ice"], "-e", "frost=yes")]:
        asked = [a for joint in joints for a in ("--joint", joint)]
        assert run("marginals", "m.bif", *asked, *evidence, "-o", name).status == 0
    done = run("compare", "a.csv", "a.json", "--tolerance", "1e-15")
    assert done.status == 0 and "worst variable         duck,ice\n" in done.out, done.out + done.err
    done = run("compare", "both.csv", "both.json", "--tolerance", "1e-15")
    assert done.status == 0 and "variables              2\n" in done.out, done.out + done.err
    assert "left out: 1 variable of both.json" in run("compare", "a.csv", "both.json").err
    assert run("compare", "a.csv", "given.csv").status == 1
    assert run("marginals", "m.bif", "-o", "m.csv").status == 0
    done = run("compare", "m.csv", "one.csv", "--tolerance", "1e-15")
    assert done.status == 0 and "worst variable         ice\n" in done.out, done.out + done.err
    text = (work / "a.csv").read_text()
    (work / "index.csv").write_text("".join(f"{'' if i == 0 else i - 1},{line}\r\n" for i, line in enumerate(text.splitlines())))
    assert run("compare", "a.csv", "index.csv").status == 0
    for name, bad, found in [("none.csv", text.splitlines()[0] + "\n", "expected rows behind the line of names"), ("x.csv", text.replace(",0,,\n", ",0,\n", 1), "x.csv:2:"), ("y.csv", text.replace("duck,ice", "ice,ice"), "variable ice once in a joint table"),
                             ("z.json", (work / "a.json").read_text().replace('"states"', '"others"', 1), "as many probabilities as joint states")]:
        (work / name).write_text(bad)
        done = run("compare", name, "a.csv")
        assert done.status == 3 and found in done.err, done.err


def test_compare_refuses_draws_and_other_arrays(run, work):
    """Draws are named, and the verb that reads them; damage and arrays of other programs are refused."""
    (work / "m.bif").write_text(POND)
    assert run("marginals", "m.bif", "-o", "m.npz").status == 0
    ends = ["npz", "npy", "csv", "nc"] if has_netcdf(run) else ["npz", "npy", "csv"]
    for end in ends:
        assert run("sample", "m.bif", "--sweeps", "50", "-o", f"d.{end}").status == 0
        done = run("compare", f"d.{end}", "m.npz")
        assert done.status == 3 and "gibbsite diagnose reads draws" in done.err and done.out == "", done.err
    whole = (work / "m.npz").read_bytes()
    for name, content, found in [("cut.npz", whole[:-30], "cut.npz"), ("other.npz", whole.replace(b"offsets.npy", b"offset2.npy"), "found no array 'offsets'"),
                                 ("names.npz", whole.replace(b'"names": [', b'"games": ['), "damaged"),
                                 ("m.gz", gzip.compress((work / "d.npy").read_bytes()), "an array of NumPy")]:
        (work / name).write_bytes(content)
        done = run("compare", name, "m.npz")
        assert done.status == 3 and name in done.err and (found in done.err or found == "damaged"), done.err
    with open(work / "m.npz", "rb") as file:
        piped = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        done = subprocess.run([program(), "compare", "-", "m.npz"], cwd=work, stdin=piped.stdout, stderr=subprocess.PIPE, text=True)
        piped.stdout.close()
        piped.wait()
    assert done.returncode == 3 and "an archive cannot be read from a pipe" in done.stderr, done.stderr


@pytest.mark.long
def test_compare_values_of_ln_z(run, work):
    """JSON has an error, which judges; a file of UAI has none."""
    (work / "m.bif").write_text(POND)
    for name, options in ("x.json", ()), ("y.json", ("--method", "sample")), ("z.PR", ()):
        assert run("logz", "m.bif", "-e", "duck=in", *options, "-o", name).status == 0
    for first in "x.json", "z.PR":
        done = run("compare", first, "y.json")
        assert done.status == 0 and "in standard errors" in done.out and "agree" in done.out, done.out + done.err
    assert run("compare", "x.json", "z.PR", "--tolerance", "1e-6").status == 0
    assert run("compare", "x.json", "y.json", "--tolerance", "1e-12").status == 1
    (work / "none.json").write_text('{"schema": "logz/1", "log_z": null, "error": null}')
    assert run("compare", "none.json", "x.json").status == 3


def test_variables_without_names_are_numbers_in_json_as_in_csv(run, work):
    for name in ("a.json", "a.csv"):
        assert run("marginals", "examples/grid.uai", "-o", name).status == 0
    for pair in (("a.json", "a.json"), ("a.csv", "a.json"), ("a.json", "a.csv")):
        done = run("compare", *pair, "--tolerance", "1e-12")
        assert done.status == 0 and "variables              9" in done.out, done.out + done.err


def test_places_are_told_where_a_file_has_no_names(run, work):
    for name in ("a.MAR", "a.csv"):
        assert run("marginals", SPRINKLER, "-o", name).status == 0
        assert run("marginals", "examples/grid.uai", "-o", "grid" + name[1:]).status == 0
    done = run("compare", "a.MAR", "a.csv", "--tolerance", "1e-9")
    assert done.status == 0 and "a.MAR has no names: variables and states are paired by their places" in done.err
    assert "no names" not in run("compare", "a.MAR", "a.csv", "--model", SPRINKLER, "--tolerance", "1e-9").err
    assert "no names" not in run("compare", "grid.MAR", "grid.csv", "--tolerance", "1e-9").err


def test_json_of_other_writers(run, work):
    """Escapes, compact JSON, deep nesting, and schemas of later versions."""
    answer = {"schema": "marginals/2", "variables": [{"id": 0, "name": "\u00e9\U0001d54f", "states": ["a\n", "b"], "probability": [0.25, 0.75]}]}
    (work / "a.json").write_text(json.dumps(answer, separators=(",", ":")))
    (work / "b.json").write_text(json.dumps(answer, ensure_ascii=False))
    done = run("compare", "a.json", "b.json")
    assert done.status == 0, done.err
    (work / "c.json").write_text(json.dumps({**answer, "variables": [{**answer["variables"][0], "name": "u00e9\U0001d54f"}]}))
    assert run("compare", "a.json", "c.json").status == 2
    (work / "d.json").write_text('{"schema":"marginals/2","x":' + "[" * 100000 + "]" * 100000 + "}")
    done = run("compare", "d.json", "d.json")
    assert done.status == 3 and "expected at most 64 levels" in done.err, done.err
    (work / "e.json").write_text(json.dumps({**answer, "schema": "marginals/3"}))
    done = run("compare", "e.json", "a.json")
    assert done.status == 3 and "e.json:1:12: found '\"marginals/3\"', expected marginals/2" in done.err, done.err
