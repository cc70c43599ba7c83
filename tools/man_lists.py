#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the lists of the manual pages that come from tables of the source: the model formats, and the
reasons for not converging.

    tools/man_lists.py            print them
    tools/man_lists.py --update   write them into the pages
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TEXT = r'\(((?:\s*"[^"]*")+)'
REASON = re.compile(r"^GBSI_REASON\((\w+),.*?SAY" + TEXT + r".*?TRY" + TEXT + r"(?:,\s*(\w+)\([^()]*\))?", re.M | re.S)
# Tables of scans and draws, in which rows of verdict.def find a name by a trait.
TRAITS = {"block_scan": "GBSI_SCAN_CANDIDATE", "larger_blocks": "GBSI_SCAN_CANDIDATE", "gbsi_scan_base_name": "GBSI_SCAN_BASE",
          "independent_draw": "GBSI_DRAW_INDEPENDENT"}


def formats():
    """(name, file name extensions, what it is, form, programs) of every format, in the order of formats.def."""
    text = (ROOT / "include" / "gibbsite" / "formats.def").read_text()
    rows = re.findall(r'^GBS_FORMAT\(\w+, "([^"]*)", "([^"]*)", "([^"]*)", (\w+),[^"]*"([^"]*)"\)', text, re.M)
    return [(name, endings.split(), what, form, programs) for name, endings, what, form, programs in rows]


def format_list(rows=None):
    """@return the list in mdoc. Extensions that are only read stand behind a '<', unless the whole format is only read."""
    lines = [".Bl -tag -width dimmwitted -compact"]
    for name, endings, what, form, programs in formats() if rows is None else rows:
        read_only = [ending.removeprefix("<") for ending in endings if ending.startswith("<") or form in ("READING", "FILES")]
        both = [ending for ending in endings if ending not in read_only and not ending.startswith("<")]
        lines += [f".It Cm {name}", what]
        lines += [".Pq Pa " + " , ".join(both)] if both else []
        lines += [f".Pq read only: Pa {ending}" for ending in read_only]
        lines += [f"from {programs}"]
    return "\n".join([*lines, ".El", ""])


def said(literals):
    """@return C literals joined to one text, with N for numbers and dots for words that are filled in."""
    text = "".join(re.findall(r'"([^"]*)"', literals))
    text = re.sub(r"%(\.\d+)?(ll)?[ugf]", "N", text)
    return re.sub(r"(N [a-z]+)%s", r"\1s", text).replace("%s", "...")


def name_with(trait):
    """The name of the scan or draw whose table has a trait."""
    for table in [*(ROOT / "src" / "engine" / "scan").glob("*.c"), *(ROOT / "src" / "engine" / "draw").glob("*.c")]:
        found = re.search(r'\.name = "([^"]*)",[^;]*\.traits = [^,;]*\b' + trait + r"\b", table.read_text())
        if found:
            return found[1]
    raise LookupError(trait)


def reasons():
    """(name, sentence, what to try) of every row of verdict.def, in order."""
    text = (ROOT / "src" / "run" / "drive" / "verdict.def").read_text()
    text = text[text.index("*/\nGBSI_REASON"):]
    rows = [(name, said(sentence), said(advice).replace("......", "--scan ...")
             .replace("...", name_with(TRAITS[by]) if by in TRAITS else "..."))
            for name, sentence, advice, by in REASON.findall(text)]
    assert len(rows) == text.count("GBSI_REASON(")
    return rows


def mdoc(text):
    """@return the text in mdoc, in which the two hyphens of an option must not become a dash."""
    return text.replace("\\", "\\e").replace("--", "\\-\\-")


def reason_list():
    """@return the list in mdoc."""
    lines = [".Bl -bullet"]
    for _, sentence, advice in reasons():
        lines += [".It", mdoc(f"{sentence}:"), mdoc(f"try {advice}.")]
    return "\n".join([*lines, ".El", ""])


# Page, word in the comments around the list, function that makes the list.
LISTS = [(ROOT / "man" / "gibbsite-formats.5", "formats", format_list),
         (ROOT / "man" / "gibbsite-marginals.1", "reasons", reason_list)]


def updated(page, word, made):
    """@return the text of a page with the current list."""
    begin, end = f'.\\" {word}: begin\n', f'.\\" {word}: end\n'
    head, rest = page.read_text().split(begin)
    return head + begin + made() + end + rest.split(end)[1]


if __name__ == "__main__":
    for row in LISTS:
        if sys.argv[1:] == ["--update"]:
            row[0].write_text(updated(*row))
        else:
            print(row[2](), end="")
