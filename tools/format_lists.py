#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The list of model formats in man/gibbsite-formats.5, from include/gibbsite/formats.def.

    tools/format_lists.py            print it
    tools/format_lists.py --update   write it into the page
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "man" / "gibbsite-formats.5"
BEGIN, END = '.\\" formats: begin\n', '.\\" formats: end\n'


def formats():
    """(name, endings, what it is) of every format, in order."""
    text = (ROOT / "include" / "gibbsite" / "formats.def").read_text()
    rows = re.findall(r'^GBS_FORMAT\(\w+, "([^"]*)", "([^"]*)", "([^"]*)"', text, re.M)
    return [(name, endings.split(), what) for name, endings, what in rows]


def page_list():
    """The list in mdoc."""
    lines = [".Bl -tag -width dimmwitted-tsv -compact"]
    for name, endings, what in formats():
        lines += [f".It Cm {name}", what, ".Pq Pa " + " , ".join(endings)]
    return "\n".join([*lines, ".El", ""])


def updated(page):
    """The page with the list as it should be."""
    head, rest = page.split(BEGIN)
    return head + BEGIN + page_list() + END + rest.split(END)[1]


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        PAGE.write_text(updated(PAGE.read_text()))
    else:
        print(page_list(), end="")
