# SPDX-License-Identifier: Apache-2.0
"""The native format, read by the reader that its page prints."""
import math
import os
import re
import subprocess

from conftest import ROOT, SMALL, SPRINKLER, program


def page_reader():
    page = (ROOT / "docs" / "gbm.md").read_text()
    scope = {}
    exec(re.search(r"```python\n(.*?)```", page, re.S).group(1), scope)  # our own page
    return scope["read_gbm"]


def texts(sections, name):
    text = sections["text"].tobytes()
    return [None if at == 2**64 - 1 else text[at:text.index(b"\0", at)].decode()
            for at in sections[name]]


def test_a_file_cut_while_it_is_used(run, work):
    """The model is mapped once the pipe of evidence is opened, and cut before the evidence is there."""
    assert run("generate", "potts", "--grid", "300x300", "--states", "5", "-o", "m.gbm").status == 0
    assert (work / "m.gbm").stat().st_size > 1 << 20
    os.mkfifo(work / "e.evid")
    child = subprocess.Popen([program(), "marginals", "m.gbm", "-e", "e.evid", "-o", "o.csv", "--sweeps", "10"], cwd=work,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(work / "e.evid", "w") as pipe:
        os.truncate(work / "m.gbm", 4096)
        pipe.write("1 0 1\n")
    out, err = child.communicate(timeout=300)
    assert child.returncode == 3 and not (work / "o.csv").exists() and out == ""
    assert err.splitlines()[-1] == "gibbsite: the file of the model became shorter while it was in use: work on a copy of it"


def noisy_max(n):
    """GeNIe's file of n causes of an effect of three states, the first the strongest, with a leak."""
    cause = '<cpt id="c{}"><state id="yes"/><state id="no"/><probabilities>0.3 0.7</probabilities></cpt>'
    return (f'<smile version="1.0" id="n"><nodes>{"".join(cause.format(i) for i in range(n))}<noisymax id="e">'
            '<state id="ill"/><state id="weak"/><state id="well"/>'
            f'<parents>{" ".join(f"c{i}" for i in range(n))}</parents><strengths>{"0 1 " * n}</strengths>'
            f'<parameters>{"0.05 0.15 0.8 0 0 1 " * n}0.01 0.02 0.97</parameters></noisymax></nodes></smile>')


def test_noisy_maxima_stay_whole(run, work):
    """P(e is well) = 0.97 (0.3 0.8 + 0.7)^n, that it is no more than weak 0.99 (0.3 0.95 + 0.7)^n."""
    n = 60
    (work / "n.xdsl").write_text(noisy_max(n))
    assert run("convert", "n.xdsl", "-o", "n.gbm").status == 0
    assert (work / "n.gbm").stat().st_size < 50_000
    well, weak = .97 * .94 ** n, .99 * .985 ** n
    for name in "n.xdsl", "n.gbm":
        done = run("marginals", name, "--query", "e", "--format", "csv")
        assert done.status == 0, done.err
        p = [float(line.split(",")[2]) for line in done.out.splitlines()[1:]]
        assert max(abs(a - b) for a, b in zip(p, [1 - weak, weak - well, well])) < 1e-12
    sampled = run("marginals", "n.gbm", "--query", "c7", "-e", "e=weak", "--method", "sample", "--sweeps", "500",
                  "--format", "csv").out.splitlines()[1].split(",")
    exact = run("marginals", "n.gbm", "--query", "c7", "-e", "e=weak", "--format", "csv").out.splitlines()[1].split(",")
    assert abs(float(sampled[2]) - float(exact[2])) < 5 * float(sampled[3])
    (work / "short.xdsl").write_text(noisy_max(8))
    assert run("convert", "short.xdsl", "-o", "short.gbm").status == 0
    assert run("convert", "short.gbm", "-o", "short.uai").status == 0
    answers = [run("marginals", name, "-e", "8=#1", "--query", "3", "--format", "csv").out.splitlines()
               for name in ("short.gbm", "short.uai")]
    p = [[float(line.split(",")[2]) for line in lines[1:]] for lines in answers]
    assert max(abs(a - b) for a, b in zip(*p)) < 1e-12
    assert "noisy-max" in run("sensitivity", "short.gbm", "--query", "c0=yes").err


def test_the_page_is_enough_to_read_a_file(run, work):
    assert run("convert", SPRINKLER, "-o", "s.gbm").status == 0
    flags, counts, sections = page_reader()(work / "s.gbm")
    assert flags == 3
    assert [counts[c] for c in "VSFNTLM"] == [3, 6, 3, 6, 3, 0, 3]
    assert list(sections["arity"]) == [2, 2, 2]
    assert texts(sections, "name") == ["rain", "sprinkler", "grass"]
    assert texts(sections, "label") == ["no", "yes", "off", "on", "dry", "wet"]
    assert list(sections["by_name"]) == [2, 0, 1]
    start = sections["table_start"]
    tables = [[math.exp(x) for x in sections["table"][a:b]] for a, b in zip(start, start[1:])]
    expected = {0: [0.8, 0.2], 1: [0.6, 0.4, 0.99, 0.01]}
    for factor, table in expected.items():
        assert all(abs(a - b) < 1e-15 for a, b in zip(tables[sections["aux"][factor]], table))
    f = sections["scope_start"]
    assert [list(sections["scope"][a:b])[-1] for a, b in zip(f, f[1:])] == [0, 1, 2]


def test_through_a_pipe_and_packed(run, work):
    (work / "small.uai").write_text(SMALL)
    digest = run("info", "-v", "small.uai").out.splitlines()[0]
    for name in ("x.gbm", "x.gbm.gz"):
        assert run("convert", "small.uai", "-o", name).status == 0
        assert run("info", "-v", name).out.splitlines()[0] == digest
    assert run("convert", "x.gbm.gz", "-o", "y.gbm").status == 0
    assert (work / "x.gbm").read_bytes() == (work / "y.gbm").read_bytes()


def test_damage_is_a_bad_file(run, work):
    assert run("convert", SPRINKLER, "-o", "s.gbm").status == 0
    whole = (work / "s.gbm").read_bytes()
    (work / "cut.gbm").write_bytes(whole[:-1])
    done = run("info", "cut.gbm")
    assert done.status == 3
    assert f"cut.gbm: byte {len(whole) - 1}: found the end of the file" in done.err
    (work / "bad.gbm").write_bytes(whole[:700] + b"?" + whole[701:])
    done = run("info", "bad.gbm")
    assert done.status == 3
    assert f"bad.gbm: byte {len(whole) - 32}: found another checksum" in done.err


def test_from_a_pipe(run, work):
    """Bytes with NULs, from another program at once or in pieces."""
    assert run("convert", SPRINKLER, "-o", "m.gbm").status == 0
    whole = (work / "m.gbm").read_bytes()
    expected = run("exact", "m.gbm")
    for first in (0, 10, 200):
        child = subprocess.Popen([program(), "exact", "-", "--from", "gbm"], cwd=work, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        child.stdin.write(whole[:first])
        child.stdin.flush()
        out, err = child.communicate(whole[first:], timeout=300)
        assert (child.returncode, out.decode()) == (0, expected.out), err
