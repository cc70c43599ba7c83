# SPDX-License-Identifier: Apache-2.0
"""label: column data with labels added, scores, and what is refused."""
import json

import pytest
from conftest import ROOT

MODEL = ROOT / "examples" / "places.crf"
DATA = ROOT / "examples" / "places.txt"


def rows(text):
    return [line.split("\t") for line in text.splitlines()]


def test_adds_a_column(run):
    done = run("label", MODEL, DATA)
    assert done.status == 0 and "62 tokens in 8 sequences" in done.err
    given = rows(DATA.read_text())
    assert [row[:3] for row in rows(done.out)] == given
    assert all(len(row) == 4 for row in rows(done.out) if row != [""])
    assert run("label", MODEL, "-", stdin=DATA.read_text()).out == done.out


def test_probabilities(run):
    best = rows(run("label", MODEL, DATA, "--posterior", "best").out)
    every = rows(run("label", MODEL, DATA, "--posterior", "all", "--threads", "1").out)
    for one, of_all in zip(best, every):
        if one == [""]:
            assert of_all == [""]
            continue
        labels = dict(text.rsplit("/", 1) for text in of_all[4:])
        assert list(labels) == ["O", "B-PLACE", "I-PLACE"]
        assert abs(sum(map(float, labels.values())) - 1) < 1e-12
        assert one[4] == f"{one[3]}/{labels[one[3]]}"


def test_scores(run, tmp_path):
    data = tmp_path / "data.txt"
    data.write_text(DATA.read_text().replace("Tolmin\tCapital\tB-PLACE", "Tolmin\tCapital\tO", 1))
    done = run("label", MODEL, data, "--truth", "last", "--posterior", "best", "--summary", tmp_path / "s.json",
               "-o", tmp_path / "out.txt")
    assert done.status == 0 and done.out == ""
    assert "all classes: 8 entities, 9 found, 8 right; precision 88.89 %, recall 100.00 %, F1 94.12" in done.err
    report = json.loads((tmp_path / "s.json").read_text())
    assert report["schema"] == "label/1" and report["tokens"] == 62 and report["log_probability"] < 0
    assert report["accuracy"] == pytest.approx(61 / 62)
    assert [of["class"] for of in report["entities"]] == ["", "PLACE"]
    assert report["entities"][1]["correct"] == 8
    assert len((tmp_path / "out.txt").read_text().splitlines()) == 70
    assert run("label", MODEL, data, "--truth", "2").err == run("label", MODEL, data, "--truth", "last").err


@pytest.mark.parametrize("text, part", [
    ("", ":1:1: found no tokens"),
    ("a b\nc\n", ":2:2: found 1 column, expected 2"),
    ("a\nb\n", "found 1 column, expected the 2 that the templates name"),
    ("a small O\nb small X\n", ":2:9: found the label 'X', expected one of the model's"),
])
def test_bad_data(run, tmp_path, text, part):
    data = tmp_path / "data.txt"
    data.write_text(text)
    done = run("label", MODEL, data, "--truth", "last", "-o", tmp_path / "out", "--summary", tmp_path / "s.json")
    assert done.status == 3 and part in done.err
    assert not (tmp_path / "out").exists() and not (tmp_path / "s.json").exists()


@pytest.mark.parametrize("arguments, part", [
    (["--truth", "3"], "expected last, or a column"),
    (["--truth", "first"], "expected last, or a column"),
    (["--posterior", "some"], "--posterior"),
])
def test_wrong_use(run, arguments, part):
    done = run("label", MODEL, DATA, *arguments)
    assert done.status == 2 and done.out == "" and part in done.err


def test_models_refused(run, tmp_path):
    done = run("label", DATA, DATA)
    assert done.status == 3 and ":1:1: found 'We', expected" in done.err
    assert run("label", tmp_path / "none", DATA).status == 3
    assert run("label", "-", "-").status == 2
