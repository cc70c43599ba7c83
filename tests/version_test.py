# SPDX-License-Identifier: Apache-2.0
"""version_test.py ROOT PROGRAM: the version stands in meson.build, and nothing says another.

CITATION.cff is read where nothing is built and repeats it; the Python module takes it from
meson.build. Headers and sources of the library name no version of it: what a struct had is told by its size.
"""
import pathlib
import re
import subprocess
import sys
import tomllib

root = pathlib.Path(sys.argv[1])
failures = []
version = re.search(r"^project\([^)]*?\bversion: '([0-9.]+)'", (root / "meson.build").read_text(), re.M)[1]
cited = re.search(r"^version: (.*)$", (root / "CITATION.cff").read_text(), re.M)[1]
if cited != version:
    failures.append(f"CITATION.cff says {cited}, meson.build {version}")
module = tomllib.loads((root / "pyproject.toml").read_text())["project"]
if "version" in module or "version" not in module["dynamic"]:
    failures.append("pyproject.toml has a version of its own")
said = subprocess.run([sys.argv[2], "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
if said != f"gibbsite {version}":
    failures.append(f"{sys.argv[2]} --version says '{said}', meson.build {version}")
n = 0
for folder in ("include", "src", "cli", "mpi", "lab", "python"):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix in {".c", ".h", ".def", ".py", ".pyi"}:
            n += 1
            failures += [f"{path.relative_to(root)} names a version: {found[0]}"
                         for found in re.finditer(r"\bversions? 0\.\d+\b|\b(since|from) 0\.\d+ on\b", path.read_text())]
print("\n".join(failures) or f"{version}, and {n} files name none")
sys.exit(bool(failures or n == 0))
