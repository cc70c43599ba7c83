# SPDX-License-Identifier: Apache-2.0
"""Every file of the collection of small inputs of kinds that were once misread or refused: the command of its README gives
the right value. GIBBSITE_SHARED names the folder of collections."""
import csv
import io
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import FULL, ROOT

INPUTS = pathlib.Path(os.environ.get("GIBBSITE_SHARED", ROOT.parent / "shared")) / "inputs" / "bugs"
pytestmark = pytest.mark.skipif(not INPUTS.is_dir(), reason=f"no small inputs: {INPUTS} is not there")


@pytest.fixture
def inputs(work):
    shutil.copytree(INPUTS, work, dirs_exist_ok=True)
    return work


def marginals(run, *arguments):
    """@return probabilities by (variable, state), and what was said"""
    done = run("marginals", *arguments)
    assert done.status == 0, done.err
    return {(r["variable"], r["state"]): float(r["probability"]) for r in csv.DictReader(io.StringIO(done.out))}, done.err


# file: the number of an entry's variable and state, its probability, and what is said
READ = {
    "k03_states_with_blanks.bif": ("Sleep", "7 h or more", .555, ""),
    "k03_states_with_commas.bif": ("Rent", "low", .54, ""),
    "k07_bayes_comments.uai": ("1", "1", .22, "--table-order parents-child"),
    "k07_line_comment.uai": ("1", "0", .4, ""),
    "k07_bayes_two_parents.uai": ("2", "0", .676, "the first parent fastest"),
    "k08_latin1.xdsl": ("Regen", "ja", .25, ""),
    "k08_latin1.net": ("Straße", "trocken", .75, ""),
    "k10_samiam_observed.xml": ("Wet", "True", .35, "the file holds 1 observation"),
    "k10_blank_before_xml.xml": ("a", "n", .3, "blanks stand before"),
    "k15_glued_comments.bif": ("p1", "1", .5, ""),
    "k15_glued_block_comment.bif": ("a", "no", .8, ""),
    "k16_network_not_closed.bif": ("Wet", "state0", .78, "is not closed"),
    "k17_rounding.net": ("a", "n", .9, "below zero by rounding"),
    "k17_rounding.bif": ("a", "m", .1, "below zero by rounding"),
    "k19_class.oobn": ("a", "y", .7, ""),
    "k20_model_and_data.net": ("b", "y", .83, ""),
    "k21_strength_order.xdsl": ("Ill", "yes", .33785, ""),
}


@pytest.mark.parametrize("name", READ)
def test_networks(run, inputs, name):
    variable, state, p, said = READ[name]
    found, err = marginals(run, name)
    assert found[variable, state] == pytest.approx(p, abs=2e-7) and said in err, (found, err)


@pytest.mark.parametrize("name, said", [
    ("k19_utf16.bif", "found UTF-16"), ("k22_child_slowest.uai", "--table-order child-parents"),
    ("k22_table_by_rows.bif", "--table-order parents-child"), ("k14_no_header.coo", "or --vartype")])
def test_refused_with_the_cause(run, inputs, name, said):
    done = run("marginals", name)
    assert done.status in (2, 3) and said in done.err and "--lenient" not in done.err and "--normalize" not in done.err, done.err


def test_networks_with_an_option(run, inputs):
    assert marginals(run, "k22_child_slowest.uai", "--table-order", "child-parents")[0]["1", "1"] == pytest.approx(.45)
    assert marginals(run, "k22_table_by_rows.bif", "--table-order", "parents-child")[0]["b", "y"] == pytest.approx(.45)
    packed = run("marginals", "k19_packed.bif.xz")
    assert packed.status == 0 or "xz" in packed.err, packed.err


@pytest.mark.parametrize("name, reference, options", [
    ("index_pandas", "plain", []), ("extra_columns", "plain", []), ("semicolon", "plain", []), ("blank_line", "plain", []),
    ("codes", "plain", ["--states", "numbers"]), ("float", "reference", []), ("nan", "reference", [])])
def test_tables(run, inputs, name, reference, options):
    for file, more in (name, options), (reference, []):
        done = run("fit", "shop.bif", f"k01_{file}.csv", *more, "-o", f"{file}.bif")
        assert done.status == 0, done.err
        assert run("marginals", "shop.bif", "--cases", f"k01_{file}.csv", *more, "-o", f"{file}.cases").status == 0
    read = [marginals(run, f"{file}.bif")[0] for file in (name, reference)]
    assert read[0] == read[1]
    assert read[0]["season", "0"] == pytest.approx(.4 if reference == "plain" else .6, abs=1e-5)
    assert (inputs / f"{name}.cases").read_text() == (inputs / f"{reference}.cases").read_text()


def test_sequences(run, inputs):
    assert run("learn", "crf", "k04.template", "k04_train.txt", "-o", "k.crf").status == 0
    done = run("label", "k.crf", "k04_test.txt", "--truth", "last")
    assert done.status == 0 and [line.split("\t")[-1] for line in done.out.split("\n")[:3]] == ["O", "O", "DATE"]
    assert "66.67 % of the labels are right" in done.err
    assert "2 entities, 1 found, 1 right; precision 100.00 %, recall 50.00 %, F1 66.67" in done.err, done.err
    done = run("learn", "crf", "k05_padded.wapiti", "k04_train.txt", "--template-style", "wapiti", "-o", "k.crf")
    assert done.status == 0 and "objective 2.0268548" in done.err, done.err
    assert run("learn", "crf", "k18.template", "k18_train.txt", "-o", "k.crf").status == 0
    done = run("label", "k.crf", "k18_test.txt", "--truth", "last")
    assert "2 entities, 2 found, 1 right; precision 50.00 %, recall 50.00 %, F1 50.00" in done.err, done.err


@pytest.mark.parametrize("name", ["k06_flipped.png", "k06_flipped1.png"])
def test_pictures(run, inputs, name):
    """At full scale as anybody would type it, else with fewer sweeps."""
    done = run("denoise", name, "--truth", "k06_true.png", "-o", "d.png", *([] if FULL else ["--sweeps", "60", "--temper", "off"]))
    wrong = next(row for row in csv.reader(io.StringIO(done.out)) if row[0] == "wrong")
    assert float(wrong[1]) == .091875 and float(wrong[2]) == pytest.approx(.00625, abs=0 if FULL else .002), done.out


def test_writers(run, inputs):
    for end in "xdsl", "net":
        done = run("convert", "k09_r_names.bif", "-o", f"o.{end}")
        assert done.status == 0 and "'Age.group' became 'Age_group'" in done.err, done.err
        assert .075075 in [round(p, 12) for p in marginals(run, f"o.{end}")[0].values()]


def test_rules(run, inputs):
    right = {("closed_star", "closed_star"): {"Votes(Ann)": .26886, "Votes(Bo)": .33478, "Votes(Cy)": .44346},
             ("log_weight", "log_weight"): {"flies(Tux)": .01, "flies(Polly)": .9},
             ("range", "empty"): {"Heads(1)": .73106}, ("no_weight", "empty"): {"Cancer(Ann)": .5}}
    for (rules, facts), values in right.items():
        done = run("ground", f"k11_{rules}.mln", f"k11_{facts}.db", "-o", "o.gbm")
        assert done.status == 0 and (rules != "no_weight" or "gibbsite learn weights" in done.err), done.err
        found, _ = marginals(run, "o.gbm")
        assert {name: found[name, "1"] for name in values} == pytest.approx(values, abs=5e-6)


def test_alignments(run, inputs):
    for name in "rna", "dna":
        assert run("learn", "potts", f"k12_{name}.fa", "-o", "o.gbm").status == 0
        assert "variables of 5 states" in run("info", "o.gbm").out


@pytest.mark.parametrize("name, options, log10_z", [
    ("k13_weighted_count.cnf", [], math.log10(.57)), ("k13_percent_end.cnf", [], math.log10(4)),
    ("k14_no_header.coo", ["--vartype", "BINARY"], 2.006409 / math.log(10)), ("k14_large.coo", [], 1001.7918 / math.log(10))])
def test_sums(run, inputs, name, options, log10_z):
    done = run("logz", name, *options)
    assert done.status == 0 and float(done.out.split()[-1]) == pytest.approx(log10_z, abs=5e-5), done.err


def test_draws(run, inputs):
    done = run("diagnose", "k24_chain_column.csv")
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(done.out))}
    assert set(rows) == {"smoker", "fever"} and rows["smoker"]["rhat"] == "inf" and "the chains disagree" in done.err, done.err
    assert run("sample", "shop.bif", "--sweeps", "300", "--chains", "4", "-o", "d.csv").status == 0
    done = run("diagnose", "d.csv")
    assert {row["name"] for row in csv.DictReader(io.StringIO(done.out))} == {"lp", "season", "sale"} and "disagree" not in done.err


@pytest.mark.parametrize("name, values", [
    ("k02_numbers.py", [.6, .1, .6, .475]), ("k14_from_dimod.py", [-.0598, -.5]), ("k14_from_dimod_large.py", [1001.7918]),
    ("k23_networkx_fields.py", None)])
def test_python(inputs, name, values):
    """GIBBSITE_PYTHON is an interpreter that has the module."""
    python = os.environ.get("GIBBSITE_PYTHON", sys.executable)
    needed = ["gibbsite"] + [m for m in ("dimod", "networkx", "numpy") if m in (inputs / name).read_text()]
    for module in needed:
        if subprocess.run([python, "-c", f"import {module}"], cwd=inputs, capture_output=True).returncode != 0:
            pytest.skip(f"{python} does not have the module {module}")
    done = subprocess.run([python, name], cwd=inputs, capture_output=True, text=True)
    if values is None:  # its second model has fields of another shape than its states
        assert "ValueError: found a field of the shape ()" in done.stderr, done.stdout + done.stderr
        return
    assert done.returncode == 0, done.stderr
    numbers = [float(number) for number in re.findall(r"-?\d*\.?\d+(?:e[-+]?\d+)?", done.stdout)]
    assert all(any(abs(x - value) <= 6e-4 for x in numbers) for value in values), done.stdout


def test_no_file_is_left_out():
    """Every input of the collection stands in this file."""
    here = pathlib.Path(__file__).read_text()
    kinds = {"k01_plain.csv", "k01_reference.csv", "k06_make.py"}
    for path in INPUTS.glob("k*"):
        name = path.stem.split("_", 1)[1] if path.name.startswith(("k01_", "k11_", "k12_")) else path.name
        assert name in here or path.name in kinds, path.name
