# SPDX-License-Identifier: Apache-2.0
"""The site: ./dev docs copies this folder to build/site-source, adds manual pages and the pages of headers (tools/site_pages.py),
and lets Sphinx make build/site. Nothing is fetched from a network."""
import os
import pathlib
import re
import sys

import furo

ROOT = pathlib.Path(os.environ["GIBBSITE_SOURCES"])
sys.path.insert(0, str(ROOT / "build/site-python"))

project = "gibbsite"
author = "The gibbsite authors"
copyright = "The gibbsite authors, Apache-2.0"
release = version = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]
exclude_patterns = ["site", "examples"]
highlight_language = "none"
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

breathe_projects = {"gibbsite": str(ROOT / "build/doxygen/xml")}
breathe_default_project = "gibbsite"
breathe_domain_by_extension = {"h": "c"}
c_id_attributes = ["GBS_API", "GBS_MUST_USE"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
# Names of other libraries, which are not on this site.
nitpick_ignore_regex = [("c:identifier", r"(u?int\d+_t|size_t|FILE|time_t|va_list|MPI_Comm)"), ("py:.*", r".*")]

html_theme = "furo"
html_title = "gibbsite"
html_static_path = ["site"]
html_css_files = ["site.css", "dark.css"]
html_js_files = []
html_extra_path = ["llms.txt"]
html_copy_source = html_show_sphinx = False
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}

# Pages that stand elsewhere in the sources, and where the site has them.
ELSEWHERE = {"python/README.md": "python.md", "examples/README.md": "examples.md", "bench/README.md": "bench.md",
             "include/gibbsite/README.md": "c/index.md"}
MANUALS = {path.name for path in (ROOT / "man").iterdir()}


def moved(name, target):
    """@return a link of a page of the site, as the site has it."""
    path, _, anchor = target.partition("#")
    if "://" in path or not path:
        return target
    stands = {page: source for source, page in ELSEWHERE.items()}.get(f"{name}.md", f"docs/{name}.md")
    source = os.path.normpath(os.path.join(os.path.dirname(stands), path))
    if source not in ELSEWHERE and not source.startswith("docs/"):
        return target  # of a page that is made for the site
    found = ELSEWHERE.get(source, source.removeprefix("docs/"))
    return os.path.relpath(found, os.path.dirname(name) or ".") + ("#" + anchor if anchor else "")


def linked(line, name):
    """A line of text with its links, names of manual pages and numbers of formulas as links of the site."""
    up = os.path.relpath(".", os.path.dirname(name) or ".")
    parts = re.split(r"(`[^`]*`|\[[^\]]*\]\([^)]*\))", line)
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = re.sub(r"(?<=\]\()([^)]*)(?=\)$)", lambda m: moved(name, m[1]), part)
            continue
        part = re.sub(r"\b(gibbsite[a-z-]*)\((\d)\)",
                      lambda m: f"[{m[0]}]({up}/man/{m[1]}.{m[2]}.md)" if f"{m[1]}.{m[2]}" in MANUALS else m[0], part)
        parts[i] = re.sub(r"\[M(\d+)\](?![(:])", r"[\\[M\1\\]](m\1)", part)
    return "".join(parts)


def read_page(app, name, source):
    """What GitHub and the site do not read alike."""
    lines, code, fence = source[0].split("\n"), False, None
    for i, line in enumerate(lines):
        mark = re.match(r" *(`{3,})", line)
        if mark and fence in (None, mark[1]):
            fence = None if fence else mark[1]
        before = i == 0 or not lines[i - 1].strip()
        code = line.startswith("    ") and (code or before) or not line.strip() and code
        if fence or mark or code:
            continue
        formula = re.match(r"## \[M(\d+)\] ", line)
        lines[i] = f"(m{formula[1]})=\n{line}" if formula else line if line.startswith("#") else linked(line, name)
    source[0] = "\n".join(lines)


def read_docstring(app, what, name, thing, options, lines):
    """For Sphinx: `name : text` of arguments and attributes as a list, code that is only indented as code."""
    made, listed = [], False
    for i, line in enumerate(lines):
        if not listed and line.startswith("    ") and not lines[i - 1] and (i < 2 or not lines[i - 2].startswith("    ")):
            made += ["::", ""]
        item = re.match(r"(\*{0,2}\w[\w, *]*) : (.*)", line)
        if item:
            made += ([] if listed else [""]) + [f"- **{item[1].replace('*', chr(92) + '*')}**: {item[2]}"]
        else:
            made += ["", line] if listed and line and not line.startswith(" ") else ["  " + line.strip() if listed else line]
        listed = bool(item) or listed and line.startswith(" ")
    lines[:] = made


def mend_theme(app):
    """Debian builds furo without its tools: dark colours are only for those who choose them. They are made whole from the files that are
    installed, as the script is by mend_script()."""
    static = pathlib.Path(furo.__file__).parent / "theme/furo/static"
    colours = re.search(r'body\[data-theme="?dark"?\] *\{([^}]*)\}', (static / "styles/furo.css").read_text())[1]
    site = pathlib.Path(app.srcdir) / "site"
    (site / "dark.css").write_text(f"@media (prefers-color-scheme: dark) {{ body:not([data-theme=light]) {{{colours}}} }}\n")


def mend_script(app, failure):
    """The script of Debian's furo is a module that a page cannot load: the site gets it as one file without imports."""
    static = pathlib.Path(furo.__file__).parent / "theme/furo/static/scripts"
    scripts = [static / "gumshoe-patched.js", static / "furo.js"]
    if failure is None and scripts[1].read_text().startswith("import ") and scripts[0].exists():
        text = re.sub(r"^import .*$", "", "\n".join(path.read_text() for path in scripts), flags=re.M)
        (pathlib.Path(app.outdir) / "_static/scripts/furo.js").write_text(text)


def setup(app):
    app.connect("builder-inited", mend_theme)
    app.connect("build-finished", mend_script)
    app.connect("autodoc-process-docstring", read_docstring)
    app.connect("source-read", read_page)
    return {"parallel_read_safe": True}
