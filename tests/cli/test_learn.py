# SPDX-License-Identifier: Apache-2.0
"""learn crf: a model from labelled data, and what is refused."""
import json

import pytest
from conftest import ROOT

TEMPLATES = ROOT / "examples" / "places.template"
DATA = ROOT / "examples" / "places.txt"


@pytest.mark.parametrize("style, first", [("crf++", "version: 100\n"), ("wapiti", "#mdl#2#")])
def test_what_is_learnt_labels(run, tmp_path, style, first):
    model = tmp_path / "model"
    done = run("learn", "crf", TEMPLATES, DATA, "--template-style", style, "-o", model, "--summary", tmp_path / "s.json")
    assert done.status == 0 and done.out == "" and "converged after" in done.err
    assert model.read_text().startswith(first)
    report = json.loads((tmp_path / "s.json").read_text())
    assert report["schema"] == "learn-crf/1" and report["converged"] and report["labels"] == 3
    assert report["log_likelihood"] < 0 < report["objective"]
    labelled = run("label", model, DATA, "--truth", "last", "--posterior", "best", "--summary", tmp_path / "l.json")
    assert "100.00 % of the labels are right" in labelled.err
    assert json.loads((tmp_path / "l.json").read_text())["log_probability"] == pytest.approx(report["log_likelihood"])


def test_threads_change_no_bit(run):
    one, three = (run("learn", "crf", TEMPLATES, DATA, "--threads", n) for n in ("1", "3"))
    assert one.status == 0 and one.out == three.out


def test_l1_leaves_out_features(run):
    few = run("learn", "crf", TEMPLATES, DATA, "--l1", "0.5", "--l2", "0")
    many = run("learn", "crf", TEMPLATES, DATA)
    assert few.status == 0 and 0 < few.out.count("\n") < many.out.count("\n") / 4


def test_iterations_end_it(run):
    done = run("learn", "crf", TEMPLATES, DATA, "--iterations", "2")
    assert done.status == 0 and "not converged after 2 iterations" in done.err


@pytest.mark.parametrize("templates, data, part", [
    ("U%x[0,0]\nX\n", "a O\n", "t:2:1: found 'X', expected a template"),
    ("U%x[0,1]\n", "a O\n", "the templates name column 1"),
    ("U%x[0,0]\n", "a O\nb\n", "d:2:2: found 1 column, expected 2"),
    ("U%x[0,0]\n", "", "d:1:1: found no tokens"),
])
def test_bad_files(run, tmp_path, templates, data, part):
    (tmp_path / "t").write_text(templates)
    (tmp_path / "d").write_text(data)
    done = run("learn", "crf", tmp_path / "t", tmp_path / "d", "-o", tmp_path / "out")
    assert done.status == 3 and part in done.err and not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments, part", [
    (["crf", TEMPLATES], "is missing"),
    (["rbm", TEMPLATES, DATA], "expected crf"),
    (["crf", "-", "-"], "standard input"),
    (["crf", TEMPLATES, DATA, "--l2", "0"], "without a penalty"),
    (["crf", TEMPLATES, DATA, "--least-count", "0"], "--least-count"),
])
def test_wrong_use(run, arguments, part):
    done = run("learn", *arguments)
    assert done.status == 2 and done.out == "" and part in done.err
