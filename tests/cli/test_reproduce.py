# SPDX-License-Identifier: Apache-2.0
"""Every experiment, quick: its files, its charts, its claim; the same tables from any threads."""
import csv
import re
import signal
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import ROOT, nightly, only, program

EXPERIMENTS = {
    "hg-two-variables": ["errors.csv", "errors.svg", "estimates.csv", "estimates.svg", "inverse.svg", "largest.csv", "marginals.csv",
                         "marginals.svg"],
    "hg-incomplete": ["errors.csv", "errors.svg", "joint.svg"],
    "hg-ner": ["names.txt", "scores.csv", "scores.svg", "skip-template.txt", "template.txt", "times.csv"],
    "dogs-segment": ["errors.csv", "errors.svg", "pictures.svg", "training.txt", *(f"training-{i:02}.png" for i in range(20))],
    "hg-denoise": ["errors.csv", "errors.svg", "pictures.svg"],
    "ws-sharing": ["errors.csv", "errors.svg"],
    "ws-components": ["components.csv", "components.svg"],
    "ws-beg": ["components.csv", "components.svg"],
    "ws-rdhg": ["components.csv", "components.svg"],
    "ws-dcor": ["bins.csv", "dcor.svg", "keys.csv"],
    "ws-rao-blackwell": ["errors.csv", "errors.svg"],
    "ws-images": ["errors.csv", "errors.svg", "pictures.svg"],
    "pgs-adaptation": ["laws.csv", "laws.svg", "pictures.svg", "tree.csv", "trees.svg", "updates.csv"],
    "pgs-synchronous": ["averages.csv", "distances.csv", "synchronous.svg"],
    "pgs-relational": ["curves.csv", "curves.svg", "times.csv", "times.svg", "work.csv", "work.svg"],
    "pgs-denoise": ["curves.csv", "curves.svg", "times.csv", "times.svg", "work.csv", "work.svg"],
    "dogs-scans": ["bounds.csv", "bounds.svg"],
    "dogs-million": ["bias.csv", "bounds.csv", "million.svg", "times.csv"],
    "dogs-marginal": ["bias.csv", "bias.svg", "bounds.csv", "estimates.csv", "marginal.svg", "updates.csv"],
    "dogs-mle": ["errors.csv", "errors.svg"],
}


def test_list(run):
    done = run("reproduce", "--list")
    assert done.status == 0
    assert sorted(re.findall(r"^(\S+)$", done.out, re.M)) == sorted(EXPERIMENTS)


def check_chart(path):
    """Well-formed, told to those who do not see it, nothing fetched or run."""
    text = path.read_text()
    root = xml.etree.ElementTree.fromstring(text)
    svg = "{http://www.w3.org/2000/svg}"
    assert root.tag == svg + "svg"
    assert len(root.find(svg + "title").text) > 10
    assert len(root.find(svg + "desc").text) > 20
    assert "<script" not in text and "nan" not in re.sub(r'"data:image/png;base64,[^"]*', "", text)
    assert all(link.startswith("data:image/png;base64,") for link in re.findall(r'href="([^"]*)', text))


# test_denoise_any_picture runs hg-denoise.
@pytest.mark.parametrize("name", [pytest.param(name, marks=nightly) if name in ("dogs-million", "hg-denoise") else name
                                  for name in EXPERIMENTS])
@pytest.mark.long
def test_quick_check(run, work, name):
    done = run("reproduce", name, "--quick", "--check", "-o", "out")
    assert done.status == 0, done.out + done.err
    assert done.err == ""
    only(work, "out")
    found = sorted(p.name for p in (work / "out").iterdir())
    assert found == sorted(EXPERIMENTS[name] + ["verdict.txt"])
    for path in (work / "out").iterdir():
        if path.suffix == ".svg":
            check_chart(path)
        elif path.suffix == ".csv":
            rows = list(csv.reader(path.open()))
            assert len(rows) > 3 and len({len(row) for row in rows}) == 1
    if name == "dogs-segment":  # the picture, and two pictures of classes over it, which keep its noise
        sizes = [len(png) for png in re.findall(r'base64,([^"]*)', (work / "out" / "pictures.svg").read_text())]
        assert len(sizes) == 3 and min(sizes) > max(sizes) / 2
    verdict = (work / "out" / "verdict.txt").read_text()
    for word in ("claim: ", "measured:\n- ", "holds: yes"):
        assert word in verdict and word in done.out


@pytest.mark.parametrize("experiment, names", [
    ("ws-components", ("components.csv", "components.svg", "verdict.txt")),
    ("pgs-denoise", ("curves.csv", "curves.svg", "work.csv", "work.svg")),  # times are not
])
@pytest.mark.long
def test_same_bits(run, work, experiment, names):
    for threads in (1, 3):
        done = run("reproduce", experiment, "--quick", "--threads", threads, "-o", str(threads))
        assert done.status == 0
    for name in names:
        assert (work / "1" / name).read_bytes() == (work / "3" / name).read_bytes()


def test_check_fails(run, work):
    """Variables that hardly touch give splashes nothing to win: the status tells, the files are there."""
    (work / "data").mkdir()
    assert run("generate", "ising", "--grid", "20x20", "--coupling", "0.01", "-o", "data/weak.uai").status == 0
    done = run("reproduce", "pgs-relational", "--quick", "--check", "--data", "data", "-o", "out")
    assert done.status == 1
    assert "holds: no" in done.out and "[fails]" in done.out
    assert "holds: no" in (work / "out" / "verdict.txt").read_text()
    done = run("reproduce", "pgs-relational", "--quick", "--data", "data", "-o", "out")
    assert done.status == 0


def test_refusals(run, work):
    assert "--list" in run("reproduce").err
    assert "-o FOLDER" in run("reproduce", "hg-two-variables").err
    done = run("reproduce", "hg-two-variable", "-o", "out")
    assert done.status == 2 and "hg-two-variables" in done.err
    assert run("reproduce", "hg-two-variables", "--data", ".", "-o", "out").status == 2
    assert run("reproduce", "--list", "ws-dcor").status == 2
    (work / "file").write_text("")
    done = run("reproduce", "hg-two-variables", "-o", "file")
    assert done.status == 1 and "a file of that name" in done.err
    done = run("reproduce", "hg-two-variables", "-o", "no/such")
    assert done.status == 1 and "folder above" in done.err


def test_damaged_data(run, work):
    (work / "data").mkdir()
    done = run("reproduce", "ws-images", "--data", "data", "-o", "out")
    assert done.status == 2 and "data: no .png" in done.err
    (work / "data" / "a.pgm").write_text("P2 2 2 255 0 0")
    assert run("reproduce", "ws-images", "--data", "data", "-o", "out").status == 3
    (work / "data" / "G1_largec.txt").write_text("2 1\n0.5\n0.5\n0 7 0.1\n")
    done = run("reproduce", "ws-dcor", "--quick", "--data", "data", "-o", "out")
    assert done.status == 3 and "G1_largec.txt:4:3" in done.err


@pytest.mark.long
def test_authors_models(run, data):
    """The totals of Table 1 of Yamashita & Suzuki (2019) on their own models."""
    folder = data("herding/G1_largec.txt").parent
    done = run("reproduce", "ws-dcor", "--quick", "--check", "--data", folder, "-o", "out")
    assert done.status == 0, done.out
    assert "estimate 0.007357" in done.out and "estimate 0.004756" in done.out


def test_pictures_of_a_folder(run, work):
    """Pictures of several sizes, in the order of their names."""
    (work / "data").mkdir()
    for name, side in (("b.pgm", 20), ("a.pgm", 30)):
        pixels = " ".join("255" if 5 < i // side < 14 and 5 < i % side < 14 else "0"
                          for i in range(side * side))
        (work / "data" / name).write_text(f"P2 {side} {side} 255 {pixels}\n")
    (work / "data" / "notes.txt").write_text("no picture")
    done = run("reproduce", "ws-images", "--quick", "--data", "data", "-o", "out")
    assert done.status == 0, done.err
    assert "2 pictures" in (work / "out" / "errors.svg").read_text()


def test_networks_of_a_folder(run, work):
    """Models in the order of their names, evidence beside them; what cannot be used is refused."""
    (work / "data").mkdir()
    done = run("reproduce", "pgs-relational", "--quick", "--data", "data", "-o", "out")
    assert done.status == 2 and "data: no .uai" in done.err
    for name in ("b", "a"):
        assert run("generate", "ising", "--grid", "12x9", "--coupling", "0.5",
                   "-o", f"data/{name}.uai.gz").status == 0
    (work / "data" / "a.uai.evid").write_text("1 7 0\n")
    done = run("reproduce", "pgs-relational", "--quick", "--data", "data", "-o", "out")
    assert done.status == 0, done.err
    assert "a by the clock" in done.out and "b by the clock" in done.out
    rows = list(csv.DictReader((work / "out" / "curves.csv").open()))
    assert [row["model"] for row in rows] == sorted(row["model"] for row in rows)
    assert {row["model"] for row in rows} == {"a", "b"}
    first = {row["model"]: row["log_density"] for row in reversed(rows)}
    assert first["a"] != first["b"]  # the same model but for the evidence
    (work / "data" / "a.uai.evid").write_text("1 500 1\n")
    assert run("reproduce", "pgs-relational", "--quick", "--data", "data", "-o", "out").status == 3
    for name in "cde":
        (work / "data" / f"{name}.uai").write_text("")
    done = run("reproduce", "pgs-relational", "--quick", "--data", "data", "-o", "out")
    assert done.status == 2 and "5 models" in done.err


@pytest.mark.long
def test_all_of_them_until_it_is_stopped(work):
    """Each in its own folder; what was done before the signal stays, and the one that it met says so."""
    with subprocess.Popen([program(), "reproduce", "all", "--quick", "-o", "all"], cwd=work, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        while "holds: " not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate()
    assert process.returncode == 4 and "verdict.txt says what was found until then" in said
    verdicts = [(path / "verdict.txt").read_text() for path in sorted((work / "all").iterdir())]
    assert [text.count("not decided, the run was stopped") for text in verdicts].count(1) == 1
    assert any("holds: yes" in text for text in verdicts)


def test_data_for_all_is_refused(run):
    done = run("reproduce", "all", "--data", ".", "-o", "all")
    assert done.status == 2 and "run them one by one" in done.err


@pytest.mark.long
def test_models_of_ones_own(run, work):
    """--data takes .uai models in place of the authors' files, and refuses those that do not suit."""
    (work / "own").mkdir()
    for name in ("G1_largec", "G2_largec"):
        assert run("generate", "ring", "--variables", "8", "--coupling", "0.3", "--field", "0.2",
                   "-o", f"own/{name}.uai").status == 0
    assert run("generate", "complete", "--variables", "8", "--coupling", "0.1", "-o", "own/G4_largec.uai").status == 0
    done = run("reproduce", "ws-components", "--quick", "--data", "own", "-o", "out")
    assert done.status == 0 and "G1_largec of the folder of data" in done.out
    assert run("generate", "ring", "--variables", "13", "--coupling", "0.3", "-o", "own/G1_largec.uai").status == 0
    done = run("reproduce", "ws-components", "--quick", "--data", "own", "-o", "out")
    assert done.status == 3 and "G1_largec.uai: expected 1 to 12 variables of two states" in done.err


@pytest.mark.long
def test_denoise_any_picture(run, work):
    """A wall of bricks: mean field, which restores it badly, is no part of the claim."""
    (work / "data").mkdir()
    bricks = ["0" if y % 8 == 0 or (x + 8 * (y // 8 % 2)) % 16 == 0 else "255" for y in range(64) for x in range(64)]
    (work / "data" / "wall.pgm").write_text(f"P2 64 64 255 {' '.join(bricks)}\n")
    done = run("reproduce", "hg-denoise", "--quick", "--check", "--data", "data", "-o", "out")
    assert done.status == 0, done.out
    measured, note = done.out.split("note: ")
    assert "mean field" not in measured
    means, randoms = (re.search(pattern, note).group(1) for pattern in (r"D = 0.5, [^:]*: ([\d.]+),", r"random draws: ([\d.]+),"))
    assert float(means) > float(randoms)


def test_table_of_the_papers(run):
    """Every row of docs/reproduce.md on the papers names files, experiments and charts that exist, and says what is there."""
    text = (ROOT / "docs" / "reproduce.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in text.split("| paper | item |")[1].split("\n\n")[0].split("\n")[2:]]
    assert len(rows) >= 68 and all(len(row) in (4, 5) for row in rows)  # a row without a paper is of the paper above
    known = set(re.findall(r"^(\S+)$", run("reproduce", "--list").out, re.M))
    for row in rows:
        *_, where, shown, there = row
        assert len(there) > 1 and len(shown) > 3, row
        folder = None
        for name in re.findall(r"`([a-z_/]+(?:\.[a-z]+|/))`", where):
            path = ROOT / name if "/" in name else folder / name
            assert path.exists(), row
            folder = path.parent
        for name in re.findall(r"(?:hg|ws|pgs|dogs)-[a-z-]+", shown):
            assert name in known, row
            for file in re.findall(r"`([a-z]+\.(?:svg|csv|txt))`", shown.split(name, 1)[1]):
                assert file in EXPERIMENTS[name], row
