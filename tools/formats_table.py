#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads every file of a folder of real models, and reports the results.

    tools/formats_table.py GIBBSITE DATA            the table, as Markdown
    tools/formats_table.py GIBBSITE DATA --update   the same into docs/formats.md

A file of an unknown format is not listed. REFUSED names the files that must be refused, with words of the
message. Any other failure is an error and gives status 1.
"""
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- files: begin -->", "<!-- files: end -->"

# Files that must be refused, and a part of the message.
REFUSED = {
    "uai-misc/pedigree1.uai": "all zero",
    "bn/other-formats/alarm.dsl": "save it in GeNIe as .xdsl",
    "mln/uwcse.mln": ":2:19: found",
    "mln/cora/cora-er-learned.mln": ":8:13: found",  # first-order formulas, not ground clauses
    **{f"mln/dimmwitted/{name}/graph.meta": "text2bin makes the binary files"
       for name in ("biased_coin", "partial_observation", "sparse_multinomial2")},
    "mln/imdb/empty.mln": ":1:17: found",
    "mln/imdb/out.mln": ":2:18: found",
    "mln/smokers/smoking.mln": ":4:17: found",
    "mln/smokers/wts.pybpll.smoking-train-smoking.mln": ":4:15: found",
    "uai-misc/uai-test-model.uai.evid": "evidence has probability zero",
}
LATTICE = re.compile(r"\.latfile$")  # its first line is not COO, and the extension is unknown
MODEL = re.compile(r"\.(uai|bif|bifxml|fg|mln|dsl|net|xdsl|latfile)(\.gz)?$")
RESULT = re.compile(r"\.(MAR|PR|MAP)(\.gz)?$")


def run(gibbsite, *arguments):
    return subprocess.run([gibbsite, *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=300)


def first_line(text):
    for line in text.splitlines():
        if "warning" not in line and line.strip():
            return line.replace("gibbsite: ", "", 1)
    return ""


def model_of(path):
    """@return the model that evidence or results belong to: their name without the last extensions."""
    name = re.sub(r"\.(evid|MAR|PR|MAP)(\.gz)?$", "", path.name)
    for candidate in (path.parent / name, path.parent / (name + ".gz")):
        if candidate.exists():
            return candidate
    return None


def info(gibbsite, path, *more):
    done = run(gibbsite, "info", path, "--json", "-q", *more)
    if done.returncode != 0:
        return False, first_line(done.stderr), done.stderr
    facts = json.loads(done.stdout)
    text = f"{facts['variables']} variables, {facts['factors']} factors"
    if facts["observed"]:
        text += f", {facts['observed']} observed"
    return True, text, done.stderr


def picture(gibbsite, path, scratch):
    """Reads a picture as the start of a lattice with one variable for each pixel."""
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    lattice = scratch / "lattice.gbm"
    made = run(gibbsite, "generate", "ising", "--grid", f"{height}x{width}", "--coupling", "0.1",
               "-o", lattice)
    assert made.returncode == 0, made.stderr
    done = run(gibbsite, "sample", lattice, "--start", path, "--chains", "1", "--sweeps", "1",
               "--burn-in", "0", "-q", "-o", scratch / "draws.npz")
    if done.returncode != 0:
        return False, first_line(done.stderr), done.stderr
    return True, f"{height} x {width} pixels, as a start", done.stderr


def attempt(gibbsite, path, scratch):
    """@return (whether the file was read, its content or the reason for the failure, stderr), or None for an unknown format."""
    name = path.name
    if "ising/maxcut" in path.as_posix():
        return info(gibbsite, path, "--from", "rud")
    if name == "graph.meta":
        return info(gibbsite, path)
    if name.endswith(".png"):
        return picture(gibbsite, path, scratch)
    if name.endswith(".evid") or name.endswith(".evid.gz"):
        model = model_of(path)
        lenient = ["--lenient"] if "pedigree1" in name else []
        return info(gibbsite, model, "-e", path, *lenient) if model else None
    if RESULT.search(name):
        done = run(gibbsite, "compare", path, path)
        return done.returncode == 0, "equal to itself" if done.returncode == 0 else \
            first_line(done.stderr), done.stderr
    if MODEL.search(name):
        lenient = ["--lenient"] if path.parent.name == "na" else []  # rows of NA
        return info(gibbsite, path, *lenient)
    return None


def check(gibbsite, data, step=1):
    """Yields (file, verdict, detail, whether this was expected) for every step-th file."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for path in sorted(p for p in data.rglob("*") if p.is_file())[::step]:
            name = path.relative_to(data).as_posix()
            tried = attempt(gibbsite, path, scratch)
            if tried is None:
                continue
            read, detail, messages = tried
            detail = detail.replace(str(data) + "/", "")
            expected = REFUSED.get(name, "cannot tell the format from the file name extension" if LATTICE.search(name)
                                   else None)
            good = read if expected is None else (not read and expected in messages)
            if read and "warning" in messages:
                detail += "; " + messages.strip().splitlines()[-1].split("warning: ")[-1].replace(
                    str(data) + "/", "")
            yield name, "read" if read else "refused", detail, good


def table(rows):
    lines = ["| file | | content, or the reason for the refusal |", "| --- | --- | --- |"]
    lattices = [row for row in rows if LATTICE.search(row[0])]
    for name, verdict, detail, _ in rows:
        if LATTICE.search(name):
            if name != lattices[0][0]:
                continue  # one line stands for all these files
            name, detail = f"{name.rsplit('/', 1)[0]}/*.latfile ({len(lattices)})", \
                "cannot tell the format from the file name extension"
        shown = detail.split(", expected one of")[0].replace(f"{name}: the", "the").replace(
            f"{name}:", "").strip()
        shown = shown.replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| {name} | {verdict} | {shown[:240]} |")
    return "\n".join(lines)


def main():
    gibbsite, data = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    rows = list(check(gibbsite, data))
    text = table(rows)
    if "--update" in sys.argv:
        page = ROOT / "docs" / "formats.md"
        old = page.read_text(encoding="utf-8")
        begin, end = old.index(BEGIN) + len(BEGIN), old.index(END)
        page.write_text(old[:begin] + "\n" + text + "\n" + old[end:], encoding="utf-8")
    else:
        print(text)
    wrong = [row for row in rows if not row[3]]
    for name, verdict, detail, _ in wrong:
        print(f"unexpected: {name}: {verdict}: {detail}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
