# SPDX-License-Identifier: Apache-2.0
"""Where results are written: standard streams by name, links, closed descriptors, signals."""
import os
import resource
import signal
import subprocess

import pytest
from conftest import ROOT, SPRINKLER, only, program


def shell(work, command):
    return subprocess.run(["sh", "-c", command], cwd=work, env={**os.environ, "G": program()},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=180)


def test_names_of_standard_output(work):
    """The redirected file is written, not replaced: what else goes to it stays."""
    done = shell(work, f"{{ echo before; $G exact {SPRINKLER} -q -o /dev/stdout --format csv && echo after; }} > log")
    assert done.returncode == 0, done.stderr
    lines = (work / "log").read_text().splitlines()
    assert lines[0] == "before" and lines[-1] == "after" and len(lines) > 5
    only(work, "log")


def test_summary_to_standard_output(work):
    done = shell(work, f"$G marginals {SPRINKLER} -q -o x.csv --summary /dev/stdout > log; "
                       f"$G marginals {SPRINKLER} -q -o x.csv --summary /dev/fd/3 3> other")
    assert done.returncode == 0, done.stderr
    assert (work / "log").read_text().startswith("{")
    assert (work / "other").read_text().startswith("{")
    only(work, "log", "other", "x.csv")


@pytest.mark.parametrize("closed", ["2>&-", "0<&- 2>&-"])
def test_messages_stay_out_of_results(run, work, closed):
    """Without a standard error a result would get its number, and the messages with it."""
    done = shell(work, f"$G marginals {SPRINKLER} -o x.csv {closed}")
    assert done.returncode == 0
    found = (work / "x.csv").read_text()
    assert run("marginals", SPRINKLER, "-o", "y.csv").status == 0
    assert found == (work / "y.csv").read_text()


def test_closed_standard_output_is_a_failure(work):
    done = shell(work, f"$G exact {SPRINKLER} >&-")
    assert done.returncode == 1 and "cannot be written" in done.stderr


@pytest.mark.parametrize("link, target", [("l", "there.csv"), ("l", "none.csv"), ("d/l", "../none.csv")])
def test_links_stay_links(run, work, link, target):
    (work / "d").mkdir()
    (work / "there.csv").write_text("old")
    (work / link).symlink_to(target)
    assert run("exact", SPRINKLER, "-o", link, "--format", "csv").status == 0
    assert (work / link).is_symlink()
    assert (work / target.removeprefix("../")).read_text().startswith("variable,")


def test_link_to_itself(run, work):
    (work / "l.csv").symlink_to("l.csv")
    done = run("exact", SPRINKLER, "-o", "l.csv")
    assert done.status == 1 and "l.csv" in done.err
    only(work, "l.csv")


def unnamed_files(folder):
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
        return True
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("verb", ["convert", "generate"])
def test_signals_have_a_status(run, work, verb, number):
    """The program writes to a pipe that nobody empties, so that it is at work when the signal comes."""
    large = ["generate", "ising", "--grid", "400x400", "--coupling", "0.3"]
    if verb == "convert":
        assert run(*large, "-o", "large.gbm").status == 0
        large = ["convert", "large.gbm"]
    os.mkfifo(work / "fifo")
    child = subprocess.Popen([program(), *large, "--format", "uai", "-o", "fifo"], cwd=work,
                             stderr=subprocess.PIPE, text=True)
    with open(work / "fifo", "rb") as reader:
        assert reader.read(1)
        child.send_signal(number)
        assert child.wait() == 4
    assert child.stderr.read() == "gibbsite: stopped by a signal\n"
    child.stderr.close()


@pytest.mark.parametrize("verb", ["convert", "generate"])
def test_a_process_that_ends_leaves_nothing(run, work, verb):
    """The system ends it in the middle of a file, at the limit on the size of files."""
    if not unnamed_files(work):
        pytest.skip("this file system has no files without a name")
    large = ["generate", "ising", "--grid", "100x100", "--coupling", "0.3"]
    if verb == "convert":
        assert run(*large, "-o", "large.gbm").status == 0
        large = ["convert", "large.gbm"]
    done = subprocess.run([program(), *large, "-o", "x.uai"], cwd=work, stderr=subprocess.PIPE,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (80000, 80000)))
    assert done.returncode == -signal.SIGXFSZ
    only(work, *["large.gbm"] * (verb == "convert"))


def test_ignored_signals_stay_ignored(run, work):
    """As under nohup."""
    os.mkfifo(work / "fifo")
    child = subprocess.Popen(["sh", "-c", "trap '' HUP; exec \"$0\" \"$@\"", program(), "generate",
                              "ising", "--grid", "400x400", "--coupling", "0.3", "--format", "uai",
                              "-o", "fifo"], cwd=work)
    with open(work / "fifo", "rb") as reader:
        assert reader.read(1)
        child.send_signal(signal.SIGHUP)
        while reader.read(1 << 16):
            pass
    assert child.wait() == 0


def test_sets_of_files_appear_together(run, work):
    """The last file cannot be written: none of the others has appeared."""
    model = ["generate", "ising", "--grid", "3x3", "--coupling", "0.3"]
    assert run(*model, "-o", "m.uai").status == 0
    (work / "set").mkdir()
    draws = ["sample", "m.uai", "--method", "sample", "--chains", "2", "--sweeps", "5", "--format", "coda"]
    assert run(*draws, "-o", "set/coda").status == 0
    names = sorted(p.name for p in (work / "set").iterdir())
    assert len(names) > 2
    (work / "part").mkdir()
    (work / "part" / "codachain2.txt").symlink_to("/dev/full")
    done = run(*draws, "-o", "part/coda")
    assert done.status == 1, done.err
    assert [p.name for p in (work / "part").iterdir()] == ["codachain2.txt"]


@pytest.mark.parametrize("command", [
    ["marginals", SPRINKLER, "-o", "first", "--format", "csv", "--summary", "full"],
    ["denoise", "examples/leaf-noisy.pbm", "--noise", "flip:0.1", "--coupling", "1", "--sweeps", "20", "-o", "first.png", "--uncertainty", "full.png"],
    ["fit", SPRINKLER, "examples/sprinkler.csv", "-o", "first.bif", "--intervals", "full"],
    ["learn", "potts", "examples/bars.csv", "--summary", "full", "-o", "first.gbm"]])
def test_files_of_one_verb_appear_together(run, work, command):
    """The last one cannot be written: the others do not appear, and what was there before stays."""
    name = next(word for word in command if word.startswith("full"))
    first = next(word for word in command if word.startswith("first"))
    (work / name).symlink_to("/dev/full")
    (work / first).write_text("before")
    done = run(*command, "-q")
    assert done.status == 1 and "No space left" in done.err, done.err
    assert (work / first).read_text() == "before"
    only(work, name, first)
    (work / name).unlink()
    assert run(*command, "-q").status == 0
    assert (work / first).read_bytes() != b"before" and (work / name).exists()


def test_compare_tells_trouble_from_difference(run, work):
    for k in range(2):
        (work / f"{k}.MAR").write_text("MAR\n1 2 0.5 0.5\n")
    assert run("compare", "0.MAR", "1.MAR").status == 0
    (work / "1.MAR").write_text("MAR\n1 2 0.25 0.75\n")
    assert run("compare", "0.MAR", "1.MAR").status == 1
    done = shell(work, "ulimit -v 60000; $G compare 0.MAR /dev/zero")
    assert done.returncode >= 2
    assert shell(work, "$G compare 0.MAR 1.MAR >/dev/full").returncode == 2


@pytest.mark.parametrize("verb", ["certify", "scan"])
def test_grid_is_looked_at(run, work, verb):
    assert run("generate", "ising", "--grid", "3x4", "--coupling", "0.1", "-o", "m.uai").status == 0
    rectangle = ["--target", "rectangle:0,0,1,1"]
    for options, status in [(["--grid", "7x7"], 2), (["--grid", "3x4"], 2),
                            (["--grid", "7x7", *rectangle], 2), (["--grid", "3x4", *rectangle], 0)]:
        output = ["-o", "s.txt", "--steps", "20"] if verb == "scan" else []
        assert run(verb, "m.uai", *options, *output).status == status, options


EXAMPLES = ROOT / "examples"
SEVERAL = [
    ["label", EXAMPLES / "places.crf", EXAMPLES / "places.txt", "-o", "x", "--summary", "x"],
    ["learn", "crf", EXAMPLES / "places.template", EXAMPLES / "places.txt", "-o", "x", "--intervals", "x"],
    ["learn", "weights", EXAMPLES / "friends.gbm", EXAMPLES / "friends.csv", "-o", "y.gbm", "--curve", "x", "--intervals", "x"],
    ["learn", "potts", EXAMPLES / "bars.csv", "-o", "x", "--format", "gbm", "--curve", "x"],
    ["learn", "rbm", EXAMPLES / "bars.csv", "--hidden", "2", "-o", "x", "--format", "gbm", "--summary", "x"],
    ["learn", "aspects", EXAMPLES / "ground" / "list.txt", "-o", "x", "--summary", "x"],
    ["fit", SPRINKLER, EXAMPLES / "sprinkler.csv", "-o", "x", "--format", "bif", "--summary", "x"],
]


@pytest.mark.parametrize("words", SEVERAL, ids=lambda words: " ".join(words[:2]) if words[0] == "learn" else words[0])
def test_two_results_have_two_files(run, work, words):
    """The second would replace the first."""
    done = run(*words)
    assert done.status == 2 and done.out == "" and " name the same file x" in done.err
    only(work)


def test_one_result_on_standard_output(run, work):
    label = SEVERAL[0][:3]
    done = run(*label, "--summary", "-")
    assert done.status == 2 and done.out == "" and "--summary -: standard output is for the result" in done.err
    done = run(*label, "--summary", "-", "-o", "x")
    assert done.status == 0 and done.out.startswith("{")
    assert run(*label, "--summary", "/dev/null", "-o", "/dev/null").status == 0
    only(work, "x")


CLINIC = ROOT / "examples" / "clinic.bif"


@pytest.mark.parametrize("words, says", [
    (["exact", CLINIC, "-o", "r.xml"], "r.xml: found the extension of models (xmlbif), which this verb does not write"),
    (["exact", CLINIC, "--task", "pr", "-o", "r.Net"], "expected a name that ends in .MAP or .PR"),
    (["exact", CLINIC, "--task", "map", "-o", "r.csv"], "found the extension of tables"),
    (["exact", CLINIC, "--task", "sample", "-o", "r.html"], "pages for a browser"),
    (["marginals", CLINIC, "-o", "r.dot"], "found the extension of models (dot)"),
    (["marginals", CLINIC, "-o", "r.svg"], "found the extension of drawings"),
    (["sample", CLINIC, "-o", "r.uai.gz"], "found the extension of models (uai)"),
    (["map", CLINIC, "-o", "r.parquet"], "files of other programs"),
    (["logz", CLINIC, "-o", "r.gbm"], "found the extension of models (gbm)"),
    (["certify", CLINIC, "-o", "r.cnf"], "--output r.cnf: found the extension of models (wcnf)"),
    (["scan", CLINIC, "--target", "cold", "-o", "r.fg"], "found the extension of models (fg)"),
    (["info", CLINIC, "-o", "r.bif"], "expected a name that ends in .txt or .json"),
    (["diagnose", ROOT / "examples" / "clinic.csv", "-o", "r.mln"], "found the extension of models (mln)"),
    (["report", "s.json", "-o", "r.csv"], "a page for a browser is written"),
    (["learn", "crf", "t", "d", "-o", "r.gbm"], "a conditional random field is written"),
    (["learn", "aspects", "l.txt", "-o", "r.json"], "found the extension of JSON"),
    (["label", "m", "d", "-o", "r.uai"], "a labelled text is written"),
    (["fit", SPRINKLER, "d.csv", "-o", "r.csv"], "found the extension of tables, but a model is written"),
    (["generate", "ising", "--grid", "3x3", "-o", "r.npz"], "found the extension of arrays, but a model is written"),
    (["marginals", CLINIC, "--summary", "r.bif"], "--summary r.bif: found the extension of models (bif), but JSON is written"),
    (["marginals", CLINIC, "--report", "r.json"], "--report r.json: found the extension of JSON"),
    (["marginals", CLINIC, "--checkpoint", "r.csv"], "a checkpoint is written"),
    (["fit", SPRINKLER, "d.csv", "-o", "r.bif", "--intervals", "r.xml"], "--intervals r.xml"),
])
def test_names_of_other_kinds_of_files(run, work, words, says):
    """A result does not take the place of a file of another kind, nor a name that other programs would misread."""
    for old in (None, "mine"):
        path = work / next(str(w) for w in reversed(words) if str(w).startswith("r."))
        if old is not None:
            path.write_text(old)
        done = run(*words)
        assert done.status == 2 and says in done.err and done.out == "", done.err
        assert not path.exists() if old is None else path.read_text() == old


def test_names_that_are_typed_with_a_format(run, work):
    """--format says what is written, whatever the name; .txt is for any text."""
    for words in (["-o", "r.xml", "--format", "csv"], ["-o", "r.txt"], ["-o", "r"], ["-o", "r.v2"]):
        assert run("exact", CLINIC, *words).status == 0
        assert (work / words[1]).read_text().startswith("variable,")
