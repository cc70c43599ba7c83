# SPDX-License-Identifier: Apache-2.0
"""order_test.py ROOT: who includes whom, read from the #include lines.

A folder of src/ includes itself and those that stand before it in meson.build;
public headers include public headers, and so do the Python module and the library of MPI; the
program includes those, its own, two of the laboratory and that of charts. CONTRIBUTING.md states the same order.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
stated = re.search(r"foreach folder : \[([^]]*)\]\s*subdir\('src' / folder\)",
                   (root / "meson.build").read_text())[1]
order = re.findall(r"'(\w+)'", stated)
failures = []


def includes(path):
    text = path.read_text()
    return re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M)


def check(path, allowed):
    for name in includes(path):
        folder = name.split("/")[0] if "/" in name else None
        beside = folder is None and (path.parent / name).is_file()
        if not beside and folder not in allowed and name not in allowed:
            failures.append(f"{path.relative_to(root)} includes {name}")


# Made by the build, or by others.
outside = {"config.h", "xxhash.h", "Random123", "gibbsite"}
for path in sorted((root / "src").rglob("*.[ch]")):
    folder = path.relative_to(root / "src").parts[0]
    if folder not in order:
        failures.append(f"src/{folder} is not in the list of meson.build")
        continue
    check(path, outside | set(order[:order.index(folder) + 1]))
for path in sorted((root / "include").rglob("*.[ch]")):
    check(path, {"gibbsite"})
for path in sorted((root / "mpi").rglob("*.[ch]")):
    check(path, {"gibbsite", "cli"} if path.name != "ranks_mpi.c" else {"gibbsite"})
for path in sorted((root / "python" / "core").rglob("*.[ch]")):
    check(path, {"gibbsite"})
for path in sorted((root / "cli").rglob("*.[ch]")):
    check(path, {"gibbsite", "lab/reproduction.h", "lab/decomposition.h", "src/chart/chart.h"})

text = re.sub(r"\s+", " ", (root / "CONTRIBUTING.md").read_text())
said = re.search(r"stand before it in this list: ([\w, ]+)\.", text)[1].split(", ")
if said != order:
    failures.append(f"CONTRIBUTING.md says {said}, meson.build {order}")
print("\n".join(failures) or f"{len(order)} folders in order")
sys.exit(bool(failures))
