# SPDX-License-Identifier: Apache-2.0
"""The help says what there is, and its examples run."""
import re
import shlex
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import man_lists

VERBS = ["info", "marginals", "sample", "generate", "generate ising", "generate potts",
         "generate ring", "generate complete", "generate regular", "generate powerlaw", "generate rbm",
         "generate bayes", "compare", "decompose", "reproduce", "convert", "exact", "uai", "map", "logz",
         "certify", "scan"]


def test_overview(run):
    done = run("help")
    assert done.status == 0 and done.err == ""
    for verb in VERBS:
        assert verb in done.out
    assert run("--help").out == done.out


@pytest.mark.parametrize("verb", VERBS)
def test_help_is_help(run, verb):
    by_verb = run("help", *verb.split())
    by_option = run(*verb.split(), "--help")
    assert by_verb.status == by_option.status == 0
    assert by_verb.out == by_option.out
    assert by_verb.out.startswith("usage: gibbsite " + verb)
    assert max(map(len, by_verb.out.split("\n"))) < 80


def examples(text):
    """The lines under each "Example:"."""
    return [line.strip() for part in text.split("Example:\n")[1:]
            for line in re.match(r"(?:  .*\n)+", part).group().splitlines()]


@pytest.mark.parametrize("verb", [v for v in VERBS if v != "generate"])
def test_help_examples_run(run, verb):
    lines = examples(run("help", *verb.split()).out)
    assert lines
    for line in lines:
        done = run(*shlex.split(line)[1:])
        assert done.status == 0, line + "\n" + done.err


def literal_displays(page):
    """Commands in the examples of a man page, continued lines joined."""
    text = page.read_text().split(".Sh EXAMPLES")[1].split(".Ed")[0].split(".Bd")[1]
    text = text.replace("\\e\n", " ")
    return [line for line in text.splitlines() if line.startswith("gibbsite ")]


@pytest.mark.parametrize("page", sorted((ROOT / "man").glob("gibbsite*")), ids=lambda p: p.name)
def test_man_page_examples_run(run, work, page):
    lines = literal_displays(page)
    assert lines
    for line in lines:
        command, _, target = line.partition(">")
        done = run(*shlex.split(command)[1:])
        assert done.status == 0, line + "\n" + done.err
        if target:
            (work / target.strip()).write_text(done.out)


@pytest.mark.parametrize("verb", ["info", "marginals", "sample", "generate", "compare", "convert",
                                  "decompose", "reproduce", "exact", "uai", "map", "logz", "certify", "scan"])
def test_man_page_has_every_option(run, verb):
    page = (ROOT / "man" / f"gibbsite-{verb}.1").read_text()
    for option in re.findall(r" --([a-z-]+)", run("help", verb).out.split("Example:")[0]):
        if option not in ("help",):
            assert f"-{option}" in page, option


def test_lists_in_the_pages():
    for row in man_lists.LISTS:
        assert row[0].read_text() == man_lists.updated(*row), "run tools/man_lists.py --update"
    assert len(man_lists.reasons()) >= 16


def test_formats_are_those_of_the_table(run):
    """The help, the refusal of a name, gibbsite-formats(5) and docs/formats.md against formats.def."""
    page = (ROOT / "man" / "gibbsite-formats.5").read_text()
    table = (ROOT / "docs" / "formats.md").read_text().split("## Everything else")[0]
    names = [name for name, _, _ in man_lists.formats()]
    assert len(names) > 10 and len(set(names)) == len(names)
    for name, endings, _ in man_lists.formats():
        assert f"`{name}`" in table and all(f"`{ending}`" in table for ending in endings), name
        assert re.search(rf"^\.Ss Models: (.*, )?{name}(,|$)", page, re.M), name
    for verb, option in (("convert", "format"), ("convert", "from"), ("marginals", "from")):
        text = " ".join(run("help", verb).out.split())
        assert re.search(rf"--{option} NAME [^:]*: {', '.join(names)} ", text), (verb, option)
    assert f"expected {'|'.join(names)};" in run("convert", "x.uai", "--format", "cop").err
