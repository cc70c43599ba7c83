# SPDX-License-Identifier: Apache-2.0
"""Makes pages of the site from the sources: manual pages by mandoc, and a page for each public header.

    python tools/site_pages.py FOLDER XML

XML is the folder that Doxygen made. It is changed into the form that Sphinx can read.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def toctree(caption, names):
    return "\n".join(["```{toctree}", f":caption: {caption}", ":maxdepth: 1", "", *names, "```", ""])


def manual(path, names):
    """@return a manual page as a page of the site. Links to pages that the site lacks become text."""
    made = subprocess.run(["mandoc", "-Thtml", "-O", "fragment,man=%N.%S.html", path], check=True, capture_output=True, text=True).stdout
    made = re.sub(r'<a class="Xr" href="([^"]*)\.html"[^>]*>(.*?)</a>', lambda m: m[0] if m[1] in names else m[2], made, flags=re.S)
    places = set(re.findall(r'\bid="([^"]*)"', made))
    made = re.sub(r'<a class="Sx" href="#([^"]*)"[^>]*>(.*?)</a>', lambda m: m[0] if m[1] in places else m[2], made, flags=re.S)
    # The page has an own heading, so the headings of the manual move one level down.
    made = re.sub(r"<(/?)h([12])\b", lambda m: f"<{m[1]}h{int(m[2]) + 1}", made)
    made = re.sub(r"<table class=\"(head|foot)\">.*?</table>", "", made, flags=re.S)
    title = f"{path.stem}({path.suffix[1:]})"
    return f"# {title}\n\n````{{raw}} html\n<div class=\"manual\">\n{made}</div>\n````\n"


def write_manuals(folder):
    folder.mkdir(parents=True)
    paths = sorted((ROOT / "man").iterdir(), key=lambda path: (path.suffix, path.name))
    names = {path.name for path in paths}
    for path in paths:
        (folder / f"{path.name}.md").write_text(manual(path, names))
    sections = [("The program", ".1"), ("The library", ".3"), ("Files", ".5")]
    (folder / "index.md").write_text("# Manual pages\n\n" + "\n".join(
        toctree(caption, [name for name in sorted(names) if name.endswith(end)])
        for caption, end in sections if any(name.endswith(end) for name in names)))


def headers():
    """@return the public headers in the order of their README, and the number of headers that gibbsite.h includes."""
    named = re.findall(r"`(\w+\.h)`", "".join(line.split("|")[1] for line in
                                             (ROOT / "include/gibbsite/README.md").read_text().split("\n") if line.startswith("| `")))
    first = set(re.findall(r'#include "gibbsite/(\w+\.h)"', (ROOT / "include/gibbsite/gibbsite.h").read_text()))
    assert {path.name for path in (ROOT / "include/gibbsite").glob("*.h")} == {*named, "gibbsite.h"}, "a header without a line in its README"
    assert set(named[:len(first)]) == first
    return named, len(first)


def write_headers(folder):
    folder.mkdir(parents=True)
    named, n_first = headers()
    for name in named:
        place = name.replace("_", "__").replace(".", "_8")  # Doxygen's name for the file
        (folder / f"{name}.rst").write_text(f".. _{place}:\n\n{name}\n{'=' * len(name)}\n\n.. doxygenfile:: {name}\n")
    text = (ROOT / "include/gibbsite/README.md").read_text().replace("# The public headers", "# C library", 1)
    text = re.sub(r"`(\w+\.h)`", lambda m: f"[{m[1]}]({m[1]}.rst)" if m[1] in named else m[0], text)
    (folder / "index.md").write_text("\n".join([text, toctree("gibbsite.h includes", [name for name in named[:n_first]]),
                                                toctree("further headers", named[n_first:])]))


def part_parameters(folder):
    """Gives each parameter name an own description. Doxygen joins several names, but Breathe reads only one."""
    names = re.compile(r"<parametername[^>]*>[^<]*</parametername>")
    item = re.compile(r"<parameteritem>\s*<parameternamelist>(.*?)</parameternamelist>(.*?)</parameteritem>", re.S)
    for path in folder.glob("*_8h.xml"):
        path.write_text(item.sub(lambda m: "".join(
            f"<parameteritem><parameternamelist>{name}</parameternamelist>{m[2]}</parameteritem>" for name in names.findall(m[1])),
            path.read_text()))


if __name__ == "__main__":
    write_manuals(pathlib.Path(sys.argv[1]) / "man")
    write_headers(pathlib.Path(sys.argv[1]) / "c")
    part_parameters(pathlib.Path(sys.argv[2]))
