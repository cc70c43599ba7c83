#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The reasons for not converging in man/gibbsite-marginals.1, from src/sampler/verdict.def.

    tools/verdict_reasons.py            print them
    tools/verdict_reasons.py --update   write them into the page
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "man" / "gibbsite-marginals.1"
BEGIN, END = '.\\" reasons: begin\n', '.\\" reasons: end\n'
TEXT = r'\(((?:\s*"[^"]*")+)'
ROW = re.compile(r"^GBSI_REASON\((\w+),.*?SAY" + TEXT + r".*?TRY" + TEXT, re.M | re.S)


def said(literals):
    """C literals as one text, their figures as N and their words as dots."""
    text = "".join(re.findall(r'"([^"]*)"', literals))
    return re.sub(r"%(\.\d+)?(ll)?[ugf]", "N", text).replace("%s", "...")


def reasons():
    """(name, sentence, what to try) of every row, in order."""
    text = (ROOT / "src" / "sampler" / "verdict.def").read_text()
    text = text[text.index("*/\nGBSI_REASON"):]
    rows = [(name, said(sentence), said(advice)) for name, sentence, advice in ROW.findall(text)]
    assert len(rows) == text.count("GBSI_REASON(")
    return rows


def mdoc(text):
    """Options stand with two hyphens, which are no dash."""
    return text.replace("\\", "\\e").replace("--", "\\-\\-")


def page_list():
    """The list in mdoc."""
    lines = [".Bl -bullet"]
    for _, sentence, advice in reasons():
        lines += [".It", mdoc(f"{sentence}:"), mdoc(f"try {advice}.")]
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
