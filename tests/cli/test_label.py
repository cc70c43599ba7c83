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


def test_a_true_label_that_training_never_saw(run, tmp_path):
    data = tmp_path / "data.txt"
    data.write_text(DATA.read_text().replace("Tolmin\tCapital\tB-PLACE", "Tolmin\tCapital\tB-RIVER", 1))
    done = run("label", MODEL, data, "--truth", "last", "--summary", tmp_path / "s.json")
    assert done.status == 0 and done.out == run("label", MODEL, data).out
    assert "1 of 62 tokens has a true label that" in done.err and 'such as "B-RIVER": it counts as wrong' in done.err
    report = json.loads((tmp_path / "s.json").read_text())
    assert report["unseen_labels"] == 1 and report["accuracy"] == pytest.approx(61 / 62)
    assert [(of["class"], of["true"], of["found"], of["correct"]) for of in report["entities"]] == [
        ("", 9, 9, 8), ("PLACE", 8, 9, 8), ("RIVER", 1, 0, 0)]


def test_words_that_training_never_saw(run, tmp_path):
    """They are labelled by their neighbours alone, and counted."""
    (tmp_path / "t").write_text("U:%x[0,0]\nB\n")
    (tmp_path / "train").write_text("in O\nRome X\n\nin O\nBonn X\nis O\n")
    (tmp_path / "test").write_text("in O\nKiel X\nis O\n\nTrier Y\n")
    assert run("learn", "crf", tmp_path / "t", tmp_path / "train", "-o", tmp_path / "m").status == 0
    done = run("label", tmp_path / "m", tmp_path / "test", "--truth", "last", "--summary", tmp_path / "s.json")
    assert done.status == 0 and [row[2] for row in rows(done.out) if row != [""]][:3] == ["O", "X", "O"]
    assert "of 2 of 4 tokens the model knows no feature" in done.err and "1 of 4 tokens has a true label" in done.err
    report = json.loads((tmp_path / "s.json").read_text())
    assert report["unseen_tokens"] == 2 and report["unseen_labels"] == 1 and report["accuracy"] == 0.75
    assert "knows no feature" not in run("label", tmp_path / "m", tmp_path / "train").err


WORDS = "ba B\nna M\nna E\nan S\n\nan S\nba B\nna E\n\nan S\nan S\n"  # syllables of words


def test_words_cut_from_text(run, tmp_path):
    """Labels B M E S without a class: a word is right where both of its ends are."""
    (tmp_path / "t").write_text("U:%x[0,0]\nV:%x[1,0]\nB\n".replace("V", "U1"))
    (tmp_path / "train").write_text(WORDS)
    assert run("learn", "crf", tmp_path / "t", tmp_path / "train", "-o", tmp_path / "m").status == 0
    (tmp_path / "test").write_text("an S\nba B\nna E\nan S\n\nba B\nna M\nna M\n")
    done = run("label", tmp_path / "m", tmp_path / "test", "--truth", "last", "--summary", tmp_path / "s.json")
    found = [row[2] for row in rows(done.out) if row != [""]]
    assert done.status == 0 and found == ["S", "B", "E", "S", "B", "M", "E"]
    score = json.loads((tmp_path / "s.json").read_text())["entities"]
    assert len(score) == 1 and (score[0]["true"], score[0]["found"], score[0]["correct"]) == (4, 4, 4)
    assert "class " not in done.err


@pytest.mark.parametrize("text, part", [
    ("", ":1:1: found no tokens"),
    ("a b\nc\n", ":2:2: found 1 column, expected 2"),
    ("a\nb\n", "found 1 column, expected the 2 that the templates name"),
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


def test_options_of_sampling_without_sampling(run):
    """--draw and --sweeps change nothing where all labels are exact: that is said, or refused."""
    done = run("label", MODEL, DATA, "--draw", "herded", "--sweeps", "100")
    assert done.status == 0 and done.out == run("label", MODEL, DATA).out
    assert "all labels were found exactly: --sweeps applies with --method sample" in done.err
    assert "--method sample" not in run("label", MODEL, DATA).err
    assert "were found exactly" not in run("label", MODEL, DATA, "--method", "sample", "--sweeps", "100").err
    done = run("label", MODEL, DATA, "--method", "exact", "--sweeps", "100")
    assert done.status == 2 and done.out == "" and "--sweeps cannot apply with --method exact" in done.err


def test_models_refused(run, tmp_path):
    done = run("label", DATA, DATA)
    assert done.status == 3 and ":1:1: found 'We', expected" in done.err
    assert run("label", tmp_path / "none", DATA).status == 3
    assert run("label", "-", "-").status == 2


# ---- sampling, and links between tokens ------------------------------------------------------------


def labels_of(done):
    return [row[3] for row in rows(done.out) if row != [""]]


@pytest.mark.parametrize("draw", ["random", "herded"])
def test_sampled_labels(run, draw):
    exact = run("label", MODEL, DATA)
    command = ["label", MODEL, DATA, "--method", "sample", "--draw", draw, "--chains", "1", "--sweeps", "400", "--block-time", "0"]
    done = run(*command)
    assert done.status == 0
    # upper bounds prove the labels of these sequences before the first sweep
    assert "not proved" not in done.err and labels_of(done) == labels_of(exact)
    assert run(*command, "--threads", "3").out == done.out


@pytest.mark.long
def test_sampled_probabilities(run, tmp_path):
    exact = run("label", MODEL, DATA, "--posterior", "all")
    done = run("label", MODEL, DATA, "--posterior", "all", "--method", "sample", "--summary", tmp_path / "s.json")
    assert done.status == 0
    for a, b in zip(rows(exact.out), rows(done.out)):
        for x, y in zip(a[4:], b[4:]):
            assert float(x.rsplit("/", 1)[1]) == pytest.approx(float(y.rsplit("/", 1)[1]), abs=0.03)
    report = json.loads((tmp_path / "s.json").read_text())
    assert report["proved_sequences"] == 8 and report["log_probability"] is None
    assert report["unconverged_sequences"] == 0 and report["updates"] > 0


def text_of(name, kind):
    """One mention of a name that tells what it is, and one that does not."""
    tell = {"PER": "Doctor {} spoke first .", "LOC": "The road to {} is long ."}[kind]
    return "".join("".join(f"{word.format(name)}\t{'B-' + kind if word == '{}' else 'O'}\n" for word in text.split())
                   for text in ("Then {} changed .", tell)) + "\n"


@pytest.mark.parametrize("objective", ["likelihood", "pseudo"])
def test_links_tell_what_a_mention_does_not(run, tmp_path, objective):
    names = ["Oru", "Tolmin", "Mara", "Senn", "Ives", "Halden", "Corra", "Ellery"]
    (tmp_path / "train.txt").write_text("".join(text_of(name, kind) for name in names for kind in ("PER", "LOC")))
    (tmp_path / "test.txt").write_text("".join(text_of(name, kind) for name in ("Vael", "Rion") for kind in ("PER", "LOC")))
    template = (ROOT / "examples" / "news.template").read_text()
    (tmp_path / "skip").write_text(template)
    (tmp_path / "chain").write_text("".join(line + "\n" for line in template.splitlines() if line[0] not in "=s"))
    right = {}
    for kind in ("skip", "chain"):
        more = ["--objective", objective] if kind == "skip" else []
        done = run("learn", "crf", tmp_path / kind, tmp_path / "train.txt", "--template-style", "wapiti", "--l2", "0.1", *more,
                   "-o", tmp_path / "model")
        assert done.status == 0, done.err
        assert (tmp_path / "model").read_text().startswith("#mdl#skip-chain#" if kind == "skip" else "#mdl#2#")
        done = run("label", tmp_path / "model", tmp_path / "test.txt", "--truth", "last", "--summary", tmp_path / "s.json")
        report = json.loads((tmp_path / "s.json").read_text())
        assert report["links"] == (4 if kind == "skip" else 0) and report["proved_sequences"] == 4
        right[kind] = report["entities"][0]["correct"]
    assert right["skip"] == 8 and right["chain"] < 8


def test_wrong_use_of_links(run, tmp_path):
    template, data = ROOT / "examples" / "news.template", ROOT / "examples" / "news.txt"
    for arguments, status, part in [
            (["--template-style", "crf++"], 3, "expected a template, which begins with U or B"),
            (["--template-style", "wapiti", "--l1", "1"], 2, "choose the pseudo-likelihood"),
            (["--template-style", "wapiti", "--objective", "best"], 2, "--objective")]:
        done = run("learn", "crf", template, data, *arguments, "-o", tmp_path / "model")
        assert done.status == status and part in done.err and not (tmp_path / "model").exists()
    done = run("learn", "crf", ROOT / "examples" / "places.template", DATA, "--objective", "pseudo")
    assert done.status == 2 and "without them the likelihood is exact" in done.err
    done = run("label", MODEL, DATA, "--method", "mean-field")
    assert done.status == 2 and "choose auto, exact or sample" in done.err
