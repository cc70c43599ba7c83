# SPDX-License-Identifier: Apache-2.0
"""headers_test.py INCLUDE CC...: the public headers as others use them.

Each compiles alone, as C and, where a C++ compiler is there, as C++, stands in the README.md
beside it, and is installed; the umbrella includes SIX; a status that is ignored is warned of;
and every block of code in their comments, lines behind " *     " of which one ends with a semicolon,
compiles below CONTEXT, blocks of one comment as one function, statuses ignored.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SIX = ["exact", "io", "model", "query", "run", "status"]
BESIDE = {"question.h": ["machines.h"], "traces.h": ["diagnose.h"]}  # what their examples name

CONTEXT = """#include <stdio.h>

#include <gibbsite/gibbsite.h>
HEADERS
void block(const gbs_model *model, const gbs_evidence *evidence, uint32_t n_chains, uint32_t chain,
           const uint32_t *state, const double *draws, double *p, double *mcse, gbs_builder *builder, uint32_t rain, uint32_t wet);
void block(const gbs_model *model, const gbs_evidence *evidence, uint32_t n_chains, uint32_t chain,
           const uint32_t *state, const double *draws, double *p, double *mcse, gbs_builder *builder, uint32_t rain, uint32_t wet)
{
gbs_error err = {GBS_OK, ""};
(void)model, (void)evidence, (void)n_chains, (void)chain, (void)state, (void)draws, (void)p, (void)mcse;
(void)builder, (void)rain, (void)wet;
"""

include = pathlib.Path(sys.argv[1])
c = [*sys.argv[2:], "-std=c11", "-Wall", "-Wextra", "-Wpedantic"]
cxx = next(([name, "-std=c++17", "-Wall", "-Wextra"] for name in ("g++", "clang++", "c++")
            if shutil.which(name)), None)
headers = [path for path in sorted(include.glob("gibbsite/*.h"))
           if path.name != "mpi.h"]  # of another library; mpi/ranks_mpi.c includes it first
umbrella = include / "gibbsite" / "gibbsite.h"
failures = 0


def complain(text):
    global failures
    failures += 1
    print(text)


def compiles(what, command, text, ending):
    """GCC notices a status that is ignored only while it writes code."""
    with tempfile.NamedTemporaryFile("w", suffix=ending) as f:
        f.write(text)
        f.flush()
        done = subprocess.run([*command, "-Werror", "-S", "-o", "/dev/null", f"-I{include}", f.name],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        complain(f"{what} does not compile: {' '.join(command)}\n{done.stdout}")


def blocks(text):
    """(line number, code) of every comment with code. Deeper lines are code behind code alone."""
    for comment in re.finditer(r"/\*.*?\*/", text, re.S):
        lines = []
        in_block = False
        for line in comment[0].split("\n"):
            in_block = bool(re.match(r" \*     \S", line)) or in_block and line.startswith(" *      ")
            lines += [line[7:]] if in_block else []
        if any(line.split("//")[0].rstrip().endswith(";") for line in lines):
            yield text[:comment.start()].count("\n") + 1, "\n".join(lines)


IGNORES = """#include <gibbsite/gibbsite.h>
void ignores(gbs_builder *builder);
void ignores(gbs_builder *builder)
{
    gbs_builder_add_variables(builder, 0, NULL, NULL, NULL);
}
"""


def warns(*options):
    done = subprocess.run([*c, *options, f"-I{include}", "-xc", "-S", "-o", "/dev/null", "-"], input=IGNORES,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0 and "unused-result" in done.stdout


if not warns():
    complain("a status is ignored, and no warning says so")
if warns("-DGBS_NO_MUST_USE"):
    complain("-DGBS_NO_MUST_USE does not switch the warning off")

n_blocks = 0
included = re.findall(r'#include "gibbsite/(\w+)\.h"', umbrella.read_text())
if included != SIX:
    complain(f"gibbsite.h includes {included}, not {SIX}")
named = set(re.findall(r"`(\w+\.h)`", (umbrella.parent / "README.md").read_text()))
for name in sorted(named ^ {path.name for path in include.glob("gibbsite/*.h")}):
    complain(f"{name}: in gibbsite/README.md or a header, not both")
installed = set(re.findall(r"'gibbsite/(\w+\.\w+)'", (include / "meson.build").read_text())) | {"mpi.h"}  # by mpi/meson.build
for name in sorted(installed ^ {path.name for path in include.glob("gibbsite/*.[hd]*")}):
    complain(f"{name}: installed by include/meson.build or there, not both")
for header in headers:
    name = f"gibbsite/{header.name}"
    compiles(name, c, f"#include <{name}>\n", ".c")
    if cxx is not None:
        compiles(name, cxx, f"#include <{name}>\nint main() {{ return 0; }}\n", ".cpp")
    for line in re.findall(r"^GBS_API gbs_status.*", header.read_text(), re.M):
        complain(f"{name}: without GBS_MUST_USE: {line}")
    beside = "\n".join(f"#include <gibbsite/{also}>" for also in [header.name, *BESIDE.get(header.name, [])])
    for line, code in blocks(header.read_text()):
        n_blocks += 1
        compiles(f"{name}:{line}: the code", [*c, "-Wno-unused-variable", "-DGBS_NO_MUST_USE"], f"{CONTEXT.replace('HEADERS', beside)}{{\n{code}\n}}\n}}\n", ".c")
print(f"{len(headers)} headers, {n_blocks} blocks of code" + (", no C++ compiler" if cxx is None else ""))
sys.exit(failures > 0 or n_blocks == 0)
