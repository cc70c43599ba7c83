# SPDX-License-Identifier: Apache-2.0
"""The help says what there is, and its examples run."""
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import blocks
import man_lists

VERBS = ["info", "marginals", "sample", "sensitivity", "fit", "generate", "generate ising", "generate potts",
         "generate ring", "generate complete", "generate regular", "generate powerlaw", "generate rbm",
         "generate bayes", "compare", "denoise", "segment", "label", "learn", "learn crf", "learn weights", "learn potts", "learn rbm", "learn aspects", "ground", "diagnose", "report", "decompose", "reproduce", "convert", "exact", "uai", "map", "logz",
         "certify", "scan", "formats", "completion"]


def test_overview(run):
    done = run("help")
    assert done.status == 0 and done.err == ""
    for verb in VERBS:
        assert verb in done.out
    assert run("--help").out == done.out


def test_no_arguments(run):
    done = run()
    assert done.status == 2 and done.out == "" and done.err.startswith("usage: gibbsite VERB")
    assert len(re.findall(r"^  gibbsite \w+ clinic.bif", done.err, re.M)) == 3


@pytest.mark.parametrize("verb", VERBS)
def test_help_is_one_screen(run, verb):
    by_verb = run("help", *verb.split())
    assert by_verb.status == 0
    assert by_verb.out == run(*verb.split(), "--help").out == run("--help", *verb.split()).out
    assert by_verb.out.startswith("usage: gibbsite " + verb)
    assert max(map(len, by_verb.out.split("\n"))) < 80
    assert by_verb.out.count("\n") <= 26


def examples(text):
    """The lines under "Example:"."""
    return [line.strip() for part in text.split("Example:\n")[1:]
            for line in re.match(r"(?:  .*\n)+", part).group().splitlines()]


def options(text):
    """Names in the order of a page of the help."""
    return re.findall(r"^  (?:-\w|  ) --([a-z0-9-]+)", text, re.M)


@pytest.mark.parametrize("verb", [v for v in VERBS if v not in ("generate", "learn")])
def test_pages_of_the_help(run, verb):
    """The first screen and the pages it names show every option once; so does the page 'all'."""
    first = run("help", *verb.split()).out
    more = re.search(r"^More: gibbsite help .* (\S+)$", first, re.M)[1].split("|")
    assert more.pop() == "all"
    pages = [first] + [run("help", *verb.split(), page).out for page in more]
    everything = run("help", *verb.split(), "all")
    assert everything.status == 0 and max(map(len, everything.out.split("\n"))) < 80
    assert [name for page in pages for name in options(page)] == options(everything.out)
    assert len(set(options(everything.out))) == len(options(everything.out))
    assert run("help", *verb.split(), "nothing").status == 2


def test_every_option_has_a_topic(run):
    """Every row of the tables of options is on some page of the help."""
    tables = "".join(path.read_text() for path in (ROOT / "include/gibbsite/questions").iterdir())
    rows = set(re.findall(r'^GBS_OPTION_\w+\(\s*\w+, "([a-z0-9-]+)"',
                          (ROOT / "include/gibbsite/options.def").read_text(), re.M))
    rows |= set(re.findall(r"GBS_(?:ROW|FIELD)_\w+\((?:0, |'.', )?\w+, \"([a-z0-9-]+)\"", tables))
    shown = {name for verb in VERBS if verb not in ("generate", "learn")
             for page in ("all", "lab") for name in options(run("help", *verb.split(), page).out)}
    assert rows == shown and len(rows) > 90


ROW = re.compile(r"GBS_(?:ROW|FIELD)_\w+\((?:0, |'.', )?\w+, \"([a-z0-9-]+)\"(?:\"(?:\\.|[^\"])*\"|[^\"()]|\([^()]*\))*?"
                 r",\s+[A-Z]+,\s+(?:\"([^\"]*)\"|needs)\)", re.S)


@pytest.mark.parametrize("table", sorted((ROOT / "include/gibbsite/questions").glob("*.def")), ids=lambda p: p.stem)
def test_what_options_need_is_there(table):
    """Every condition in the last column of a row speaks of an option of the same verb."""
    shared = dict(re.findall(r"#define (GBS_SHARED_\w+)(?:\(\w+\))? (.*?)(?=\n#define|\n\n)",
                             (table.parent / "shared.h").read_text().replace("\\\n", ""), re.S))

    def rows_in(text, given):
        for name, argument in re.findall(r"\b(GBS_SHARED_\w+)\b(?:\(\"([^\"]*)\"\))?", text):
            yield from rows_in(shared[name], argument)
        yield from ((row, needs or given) for row, needs in ROW.findall(text))

    rows = list(rows_in(table.read_text(), ""))
    names = {name for name, _ in rows}
    assert {"quiet", "help"} <= names
    for name, needs in rows:
        for need in filter(None, re.split("[;,] ", needs)):
            assert need.removeprefix("no ").split(" = ")[0] in names | {"sampled", "draw has keys"}, (name, needs)


@pytest.mark.parametrize("verb", [v for v in VERBS if v not in ("generate", "learn")])
@pytest.mark.long
def test_help_examples_run(run, verb):
    lines = examples(run("help", *verb.split(), "all").out)
    short = examples(run("help", *verb.split()).out)
    assert len(short) == 1 and short[0] in lines and f"gibbsite {verb} " in short[0]
    in_manual = {line for page in (ROOT / "man").glob("gibbsite*") for line in blocks.commands_of_manual(page.read_text())}
    if set(lines) <= in_manual:
        return  # test_man_page_examples_run runs all of them
    for line in lines:
        done = run(*shlex.split(line)[1:])
        assert done.status == 0, line + "\n" + done.err


@pytest.mark.parametrize("page", sorted((ROOT / "man").glob("gibbsite*")), ids=lambda p: p.name)
def test_displays_of_man_pages_fit_80_columns(page):
    """A section is indented by 5 columns, and a display by 6 more."""
    for display in re.findall(r"^\.Bd -literal(.*?)^\.Ed", page.read_text(), re.M | re.S):
        indent = 11 if display.startswith(" -offset indent") else 5
        for line in display.splitlines()[1:]:
            shown = re.sub(r"\\[&-]|\\e", lambda m: {"\\&": ""}.get(m[0], "-"), line)
            assert indent + len(shown) <= 80, line


@pytest.mark.parametrize("page", sorted((ROOT / "man").glob("gibbsite*")), ids=lambda p: p.name)
@pytest.mark.long
def test_man_page_examples_run(run, work, page):
    lines = blocks.commands_of_manual(page.read_text())
    assert lines
    for line in lines:
        command, _, target = line.partition(">")
        done = run(*shlex.split(command)[1:])
        assert done.status == 0, line + "\n" + done.err
        if target:
            (work / target.strip()).write_text(done.out)


@pytest.mark.parametrize("verb", ["info", "marginals", "sample", "sensitivity", "fit", "generate", "compare", "convert",
                                  "denoise", "segment", "ground", "diagnose", "report", "decompose", "reproduce", "exact", "uai", "map", "logz", "certify", "scan",
                                  "formats", "completion"])
def test_man_page_has_every_option(run, verb):
    """Short pages refer to that of marginals for the options that they share; those of their own
    come in the order of the help."""
    page = (ROOT / "man" / f"gibbsite-{verb}.1").read_text()
    shown = []
    for kind in [v for v in VERBS if v.startswith("generate ")] if verb == "generate" else [verb]:
        shown += [name for name in options(run("help", *kind.split(), "all").out) if name not in shown]
    of_lab = options(run("help", *verb.split(), "lab").out)
    for name in shown + of_lab:
        assert name == "help" or f"-{name}" in page, name
    items = re.findall(r"^\.It Fl (?:\w , )?-([a-z0-9-]+)", page, re.M)
    if verb not in ("generate", "learn"):
        items = [name for name in items if name not in of_lab]
        assert items == sorted(items, key=shown.index)


def test_completion(run, work):
    """What bash offers for the last word of a line; other shells read their scripts."""
    def offered(*words):
        line = "COMP_WORDS=({}); COMP_CWORD={}; _gibbsite; echo ${{COMPREPLY[*]}}".format(
            " ".join(map(shlex.quote, ["gibbsite", *words])), len(words))
        done = subprocess.run(["bash", "-c", run("completion", "bash").out + line],
                              stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.split()

    assert offered("marg") == ["marginals"]
    assert {"help", "generate", "info"} <= set(offered(""))
    assert offered("generate", "is") == ["ising"]
    assert offered("generate", "ising", "--to") == ["--torus"]
    assert offered("marginals", "x.uai", "--method", "") == ["auto", "exact", "sample", "mean-field", "bp"]
    assert offered("marginals", "x.uai", "--method", "=", "e") == ["exact"]
    assert offered("map", "--thin") == [] and offered("sample", "--thin") == ["--thin"]
    assert offered("marginals", "x") == [] == offered("marginals", "-o", "")
    for shell in ("zsh", "fish"):
        script = run("completion", shell)
        assert script.status == 0 and "--method" in script.out.replace("-l method", "--method")
        if shutil.which(shell):
            (work / "script").write_text(script.out)
            subprocess.run([shell, "-n", work / "script"], check=True)
    assert "expected bash, zsh or fish" in run("completion", "sh").err


def test_lists_in_the_pages():
    for row in man_lists.LISTS:
        assert row[0].read_text() == man_lists.updated(*row), "run tools/man_lists.py --update"
    assert len(man_lists.reasons()) >= 16


def test_list_of_a_format_that_is_read_only():
    rows = [("levels", [".levels", ".lvl"], "levels of a test", "READING", "nobody"),
            ("wcnf", [".wcnf", "<.cnf"], "clauses", "TEXT", "solvers")]
    assert man_lists.format_list(rows).splitlines()[1:-1] == [
        ".It Cm levels", "levels of a test", ".Pq read only: Pa .levels", ".Pq read only: Pa .lvl", "from nobody",
        ".It Cm wcnf", "clauses", ".Pq Pa .wcnf", ".Pq read only: Pa .cnf", "from solvers"]


def test_formats_are_those_of_the_table(run):
    """The help, the refusal of a name, gibbsite-formats(5) and docs/formats.md against formats.def."""
    page = (ROOT / "man" / "gibbsite-formats.5").read_text()
    table = (ROOT / "docs" / "formats.md").read_text().split("## Everything else")[0]
    names = [name for name, *_ in man_lists.formats()]
    assert len(names) > 10 and len(set(names)) == len(names)
    for name, endings, *_ in man_lists.formats():
        assert f"`{name}`" in table and all(
            f"`{ending.removeprefix('<')}`" in table for ending in endings), name
        assert re.search(rf"^\.Ss Models: (.*, )?{name}(,|$)", page, re.M), name
    sources = [name for name, _, _, form, _ in man_lists.formats() if form != "DRAWING"]
    targets = [name for name, _, _, form, _ in man_lists.formats() if form not in ("READING", "FILES")]
    assert "dot" in targets and "dot" not in sources
    for verb, option, of in (("convert", "format", targets), ("convert", "from", sources),
                             ("marginals", "from", sources)):
        text = " ".join(run("help", verb, "all").out.split())
        assert re.search(rf"--{option} NAME [^:]*: {', '.join(of)} ", text), (verb, option)
    assert f"expected {'|'.join(targets)};" in run("convert", "x.uai", "--format", "cop").err
