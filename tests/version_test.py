# SPDX-License-Identifier: Apache-2.0
"""version_test.py ROOT PROGRAM: the version stands in meson.build, and nothing says another.

Files that are read where nothing is built repeat it, and the name of the shared library has its first two numbers; the
Python module takes it from meson.build, and Zenodo from the tag. Headers and sources of the library name no version of
it: what a struct had is told by its size.
"""
import json
import pathlib
import re
import subprocess
import sys
import tomllib

root = pathlib.Path(sys.argv[1])
failures = []
version = re.search(r"^project\([^)]*?\bversion: '([0-9.]+)'", (root / "meson.build").read_text(), re.M)[1]
soname = "libgibbsite.so." + version.rpartition(".")[0]
repeated = [
    ("CITATION.cff", r"^version: (.*)$", version),
    ("SECURITY.md", r"latest release, which is ([0-9.]+);", version),
    ("debian/changelog", r"\Agibbsite \(([0-9.]+)-", version),
    ("packaging/npm/package.json", r'"version": "(.*)"', version),
    ("python/gibbsite/ffi.py", r"\bGIBBSITE_LIBRARY\", \"(.*?)\"", soname),
    ("python/README.md", r"`(libgibbsite\.so[0-9.]*)`", soname),
]
for name, pattern, expected in repeated:
    found = re.search(pattern, (root / name).read_text(), re.M)
    if found is None or found[1] != expected:
        failures.append(f"{name} says {found and found[1]}, by meson.build it is {expected}")
module = tomllib.loads((root / "pyproject.toml").read_text())["project"]
if "version" in module or "version" not in module["dynamic"]:
    failures.append("pyproject.toml has a version of its own")
if "version" in json.loads((root / ".zenodo.json").read_text()):
    failures.append(".zenodo.json has a version of its own")
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
