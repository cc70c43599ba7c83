# SPDX-License-Identifier: Apache-2.0
"""Models as drawings for Graphviz, which need not be there: the text is checked."""
import re

from conftest import SPRINKLER


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
