# SPDX-License-Identifier: Apache-2.0
"""Models as drawings: text for Graphviz, which need not be there, and SVG."""
import collections
import html
import itertools
import os
import re
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import ROOT, SPRINKLER, program


def test_networks_are_directed(run, work):
    done = run("convert", SPRINKLER, "-o", "s.dot")
    assert done.status == 0 and done.err == ""
    text = (work / "s.dot").read_text()
    assert text.startswith("digraph model {\n") and text.endswith("}\n")
    names = dict(re.findall(r'^  (v\d+) \[label="(\w+)", tooltip="\w+, \w+"\];$', text, re.M))
    arcs = {(names[a], names[b]) for a, b in re.findall(r"^  (v\d+) -> (v\d+);$", text, re.M)}
    assert arcs == {("rain", "sprinkler"), ("rain", "grass"), ("sprinkler", "grass")}
    assert run("convert", SPRINKLER, "--format", "dot").out == text


def test_other_models_are_factor_graphs(run, work):
    (work / "g.coo").write_text("# vartype=SPIN\n0 1 0.5\n1 2 -0.25\n1 1 2\n")
    assert run("convert", "g.coo", "-o", "g.gv").status == 0
    text = (work / "g.gv").read_text()
    assert text.startswith("graph model {\n")
    boxes = dict(re.findall(r'^  (f\d+) \[shape=box, label="(.*)"\];$', text, re.M))
    assert sorted(label.split()[0] for label in boxes.values()) == ["field", "ising", "ising"]
    edges = re.findall(r"^  (f\d+) -- v(\d+);$", text, re.M)
    assert sorted((boxes[f].split()[0], v) for f, v in edges) == [
        ("field", "1"), ("ising", "0"), ("ising", "1"), ("ising", "1"), ("ising", "2")]


def test_names_are_quoted(run, work):
    (work / "q.bif").write_text(r"""network m { }
variable "a & \b" { type discrete [ 2 ] { no, "y|s" }; }
probability ( "a & \b" ) { table 0.25, 0.75; }
""")
    done = run("convert", "q.bif", "--format", "dot")
    assert r'v0 [label="a &amp; \\b", tooltip="no, y|s"];' in done.out, done.err
    (work / "q.uai").write_text("MARKOV 1 40 0")
    assert 'tooltip="0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ..."' in run(
        "convert", "q.uai", "--format", "dot").out


def test_large_models(run, work):
    done = run("generate", "ising", "--grid", "50x50", "-o", "large.dot")
    assert done.status == 0 and "7400 nodes" in done.err and "sfdp" in done.err
    done = run("generate", "ising", "--grid", "300x300", "-o", "huge.dot")
    assert done.status != 0 and "at most 200000" in done.err and not (work / "huge.dot").exists()


def test_drawings_are_not_read(run, work):
    (work / "s.dot").write_text("digraph model {\n}\n")
    done = run("info", "s.dot")
    assert done.status == 3 and "dot files can be written, not read" in done.err


# ---- SVG ---------------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


def drawing_of(text):
    """The elements of a drawing by their classes; its text must be XML."""
    root = xml.etree.ElementTree.fromstring(text)
    assert root.tag == SVG + "svg"
    found = collections.defaultdict(list)
    for element in root.iter():
        for name in (element.get("class") or "").split():
            found[name].append(element)
    return found


def boxes_of(found):
    return [tuple(float(box.get(side)) for side in ("x", "y", "width", "height"))
            for box in found["box"] + found["square"]]


def check_geometry(found):
    """No two boxes overlap, and each line begins and ends at a box."""
    boxes = sorted(boxes_of(found))
    for i, (x, y, w, h) in enumerate(boxes):
        for u, v, s, t in itertools.takewhile(lambda box: box[0] < x + w, boxes[i + 1:]):
            assert v >= y + h or v + t <= y, ((x, y, w, h), (u, v, s, t))
    tops = collections.Counter(y for _, y, _, _ in boxes)
    bottoms = [(x + w / 2, y + h) for x, y, w, h in boxes]
    for line in found["edge"]:
        first, *_, last = re.findall(r"[MVC][^MVC]*", line.get("d"))
        x, y = map(float, first[1:].split())
        assert min(abs(x - u) + abs(y - v) for u, v in bottoms) < 0.25, line.get("d")
        assert any(abs(float(last[1:]) - top) < 0.15 for top in tops), line.get("d")


def test_a_network_is_drawn(run, work):
    done = run("convert", SPRINKLER, "-o", "s.svg")
    assert done.status == 0 and done.err == ""
    found = drawing_of((work / "s.svg").read_text())
    assert [text.text for text in found["name"]] == ["rain", "sprinkler", "grass"]
    assert len(found["edge"]) == len(found["arrow"]) == 3 and not found["bar"]
    check_geometry(found)
    assert run("convert", SPRINKLER, "--format", "svg").out == (work / "s.svg").read_text()
    done = run("info", "s.svg")
    assert done.status == 3 and "svg files can be written, not read" in done.err


def test_the_answer_is_in_the_nodes(run, work):
    done = run("marginals", SPRINKLER, "-e", "grass=wet", "--drawing", "a.svg", "-o", "a.csv")
    assert done.status == 0, done.err
    found = drawing_of((work / "a.svg").read_text())
    check_geometry(found)
    numbers = [text.text for text in found["number"]]
    assert numbers == ["0.6498", "0.3502", "0.3668", "0.6332", "0.0000", "1.0000"]
    assert [seen.get("data-variable") for seen in found["seen"]] == ["2"] and not found["whisker"]
    done = run("marginals", SPRINKLER, "--method", "sample", "--drawing", "b.svg", "--sweeps", "100", "-q")
    found = drawing_of((work / "b.svg").read_text())
    assert len(found["whisker"]) == 6 and all(" ± " in text.text for text in found["number"])
    first = (work / "b.svg").read_bytes()
    run("marginals", SPRINKLER, "--method", "sample", "--drawing", "b.svg", "--sweeps", "100", "-q", "--threads", "1")
    assert (work / "b.svg").read_bytes() == first


def test_the_picture_of_the_tutorial(run, work):
    """docs/images/clinic.svg is what the command of docs/tutorials/network.md draws."""
    assert run("marginals", "examples/clinic.bif", "-e", "fever=yes,cough=yes", "--drawing", "clinic.svg", "-o", "c.csv").status == 0
    assert (work / "clinic.svg").read_text() == (ROOT / "docs/images/clinic.svg").read_text()


def test_the_picture_of_the_readme(work):
    """docs/images/curve.svg is what the commands of README.md draw."""
    block = re.search(r"```sh\n(for T in .*?)```", (ROOT / "README.md").read_text(), re.S)[1]
    (work / "bin").mkdir()
    (work / "bin/gibbsite").symlink_to(program())
    done = subprocess.run(["sh", "-e", "-c", block], cwd=work, capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    assert (work / "curve.svg").read_text() == (ROOT / "docs/images/curve.svg").read_text()


def test_a_query_draws_a_part(run, work):
    done = run("marginals", "examples/clinic.bif", "--query", "xray", "--drawing", "q.svg")
    assert done.status == 0, done.err
    found = drawing_of((work / "q.svg").read_text())
    assert [text.text for text in found["name"]] == ["pneumonia", "xray"] and len(found["bar"]) == 3
    check_geometry(found)


def test_a_drawing_for_each_sample(run, work):
    (work / "s.evid").write_text("2\n1 0 1\n1 2 1\n")
    done = run("marginals", SPRINKLER, "-e", "s.evid", "--evidence-format", "multi", "-o", "r.csv", "--drawing", "r.svg")
    assert done.status == 0, done.err
    seen = [[node.get("data-variable") for node in drawing_of((work / f"r.{k}.svg").read_text())["seen"]] for k in (0, 1)]
    assert seen == [["0"], ["2"]]


def test_names_in_a_drawing(run, work):
    name, label = 'a <b> & "c"', "<script>"
    (work / "n.xml").write_text(f"""<?xml version="1.0"?><BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>{html.escape(name)}</NAME><OUTCOME>{html.escape(label)}</OUTCOME><OUTCOME>é{'x' * 60}</OUTCOME></VARIABLE>
<DEFINITION><FOR>{html.escape(name)}</FOR><TABLE>0.25 0.75</TABLE></DEFINITION></NETWORK></BIF>""")
    done = run("marginals", "n.xml", "--drawing", "n.svg")
    assert done.status == 0, done.err
    found = drawing_of((work / "n.svg").read_text())
    assert [text.text for text in found["name"]] == [name]
    assert [text.text for text in found["label"]] == [label, "é" + 17 * "x" + "…"]
    assert found["variable"][0].find(SVG + "title").text == f"{name}:\n{label} 0.2500\né{'x' * 60} 0.7500"


def test_models_of_factors(run, work):
    (work / "g.uai").write_text("MARKOV 5 2 2 2 2 2 4 2 0 1 2 1 0 3 1 2 3 1 4 4 1 1 1 2 4 1 2 3 4 8 1 1 1 1 1 1 1 2 2 1 2")
    assert run("convert", "g.uai", "-o", "g.svg").status == 0
    found = drawing_of((work / "g.svg").read_text())
    assert len(found["edge"]) == 4 and len(found["square"]) == 1 and not found["arrow"]
    check_geometry(found)
    (work / "e.uai").write_text("MARKOV 0 0")
    assert run("convert", "e.uai", "-o", "e.svg").status == 0
    assert "a model without variables" in (work / "e.svg").read_text()
    drawing_of((work / "e.svg").read_text())
    (work / "w.uai").write_text("MARKOV 1 40 0")
    title = drawing_of(run("convert", "w.uai", "--format", "svg").out)["variable"][0].find(SVG + "title").text
    assert title == "0: 0, 1, 2, 3, 4, 5, 6, 7, and 32 more"


@pytest.mark.long
def test_a_drawing_of_2000_nodes(run, work):
    """A network in which each node has up to three parents among the 40 before it."""
    n = 2000
    parents = [sorted({max(0, v - 1 - (v * k) % 40) for k in (7, 11, 13)}) if v else [] for v in range(n)]
    tables = [len(p) + 1 for p in parents]
    scopes = "\n".join(" ".join(map(str, [len(p) + 1, *p, v])) for v, p in enumerate(parents))
    values = "\n".join(f"{2 ** m} " + "0.5 " * 2 ** m for m in tables)
    (work / "l.uai").write_text(f"BAYES {n} {'2 ' * n} {n}\n{scopes}\n{values}")
    done = run("convert", "l.uai", "-o", "l.svg")
    if done.status == 0:
        found = drawing_of((work / "l.svg").read_text())
        assert len(found["box"]) == n and len(found["edge"]) == sum(map(len, parents))
        check_geometry(found)
    else:
        assert "cross layers" in done.err


def test_too_large_drawings(run, work):
    done = run("generate", "ising", "--grid", "50x50", "-o", "large.svg")
    assert done.status != 0 and "2500 nodes, at most 2000" in done.err and not (work / "large.svg").exists()
    assert run("generate", "ising", "--grid", "50x50", "-o", "large.uai").status == 0
    done = run("marginals", "large.uai", "--drawing", "l.svg", "--sweeps", "10")
    assert done.status == 2 and "--query" in done.err and not (work / "l.svg").exists()
    done = run("marginals", "large.uai", "--drawing", "l.svg", "--sweeps", "10", "--query", "60,61", "-q")
    found = drawing_of((work / "l.svg").read_text())
    assert len(found["box"]) == 8 and len(found["bar"]) == 4
    check_geometry(found)


def test_refused_drawings(run, work):
    for options, words in ((["--cases", "examples/clinic.csv"], "--cases"), (["--joint", "rain,grass"], "--joint"),
                           (["--estimator", "traces"], "--drawing"), (["-o", "x.svg", "--format", "csv"], "same file"),
                           (["--report", "x.svg"], ""), (["--summary", "x.svg"], ""), (["--drawing", "-"], "twice")):
        done = run("marginals", SPRINKLER, "--drawing", "x.svg", *options)
        assert done.status == 2 and words in done.err, done.err
    done = run("marginals", SPRINKLER, "--drawing", "-")
    assert done.status == 2 and "name a file instead" in done.err
    done = run("marginals", SPRINKLER, "--drawing", "x.csv")
    assert done.status == 2 and "extension of tables" in done.err
    done = run("marginals", SPRINKLER, "-o", "x.svg")
    assert done.status == 2 and "extension of" in done.err
