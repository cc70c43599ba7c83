# SPDX-License-Identifier: Apache-2.0
"""order_test.py ROOT: what clients of the library include, read from the #include lines.

The groups of src/ are held in order by the compiler: see meson.build. Public headers include public
headers, and so do the Python module and the library of MPI; the program includes those, its own, two
of the laboratory and that of charts. A group is one folder of src/ with folders in it; no two folders
have the same name, as headers are included by FOLDER/NAME.h.
"""
import collections
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
failures = []


def check(pattern, *allowed):
    for path in sorted(root.glob(pattern)):
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.M):
            beside = "/" not in name and (path.parent / name).is_file()
            if not beside and name.split("/")[0] not in allowed and name not in allowed:
                failures.append(f"{path.relative_to(root)} includes {name}")


check("include/**/*.[ch]", "gibbsite")
check("mpi/ranks_mpi.c", "gibbsite")
check("mpi/*.[ch]", "gibbsite", "cli", "options", "job")
check("python/core/*.[ch]", "gibbsite")
check("cli/**/*.[ch]", "gibbsite", "cli", "options", "verbs", "draws", "screen", "job", "lab/reproduction.h", "lab/decomposition.h", "src/show/chart/chart.h")

stated = re.findall(r"'(\w+)'", re.search(r"foreach group : \[([^]]*)\]", (root / "meson.build").read_text())[1])
said = re.findall(r"^\| `(\w+)/` \|", (root / "src/README.md").read_text(), re.M)
there = sorted(path.name for path in (root / "src").iterdir() if path.is_dir())
if sorted(stated) != there:
    failures.append(f"meson.build builds the groups {stated}, src/ has {there}")
if said != stated:
    failures.append(f"src/README.md says {said}, meson.build {stated}")
for name, n in collections.Counter(path.name for path in root.glob("src/*/*") if path.is_dir()).items():
    if n > 1:
        failures.append(f"{n} folders of src/ are called {name}")
print("\n".join(failures) or f"{len(stated)} groups in order")
sys.exit(bool(failures))
