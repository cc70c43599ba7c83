# SPDX-License-Identifier: Apache-2.0
"""Whether programs that were linked with the first 0.2.0 run with this library.

abi_test.py [--update] CC: compares the interface of the public headers with debian/libgibbsite0.2.abi, by abidiff. The
interface is that of a library with an empty body for each declared function, so that no library has to be compiled with
debug information. Additions are allowed: new functions, and new fields at the end of a struct whose first field is its
size. --update writes the dump anew, which is allowed until 0.2.0 is released.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from symbols_test import ROOT, declared

DUMP = ROOT / "debian" / "libgibbsite0.2.abi"
ALLOWED = DUMP.with_suffix(".abignore")
SKIPPED = 77  # to meson


def prototypes(cc, folder):
    """The declarations of all public functions, as the compiler sees them."""
    headers = sorted(path.name for path in (ROOT / "include/gibbsite").glob("*.h") if path.name != "mpi.h")
    (folder / "all.h").write_text("".join(f"#include <gibbsite/{name}>\n" for name in headers))
    subprocess.run([*cc, f"-I{ROOT}/include", "-std=c11", "-x", "c", "-fsyntax-only", "-aux-info", folder / "all.txt",
                    folder / "all.h"], check=True)
    wanted = declared()
    found = {}
    for line in (folder / "all.txt").read_text().splitlines():
        match = re.fullmatch(r"/\* .*? \*/ extern (.*?\b(gbs_\w+) \(.*\));", line)
        if match and match[2] in wanted:
            found[match[2]] = match[1]
    lost = wanted - set(found)
    assert not lost, f"no declaration of {', '.join(sorted(lost))} was understood"
    return [found[name] for name in sorted(found)]


def dump(cc, folder, path):
    """Writes the interface as text that depends on the headers alone."""
    bodies = "".join(f"{text}\n{{\n    __builtin_trap();\n}}\n" for text in prototypes(cc, folder))
    (folder / "all.c").write_text('#include "all.h"\n' + bodies)
    subprocess.run([*cc, f"-I{ROOT}/include", "-std=c2x", "-g", "-O0", "-shared", "-fPIC", "-Wl,-soname,libgibbsite.so.0.2",
                    f"-ffile-prefix-map={ROOT}=.", "-o", folder / "libgibbsite.so.0.2", folder / "all.c"], check=True)
    subprocess.run(["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--out-file", path,
                    folder / "libgibbsite.so.0.2"], check=True)


def main():
    update = "--update" in sys.argv
    cc = [word for word in sys.argv[1:] if word != "--update"]
    if not shutil.which("abidiff") or "free software foundation" not in subprocess.run([*cc, "--version"], text=True, check=True,
                                                                   stdout=subprocess.PIPE).stdout.lower():
        print("needs abidiff of abigail-tools, and GCC")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        now = DUMP if update else folder / "now.abi"
        dump(cc, folder, now)
        if update:
            return 0
        return subprocess.run(["abidiff", "--no-added-syms", "--suppressions", ALLOWED, DUMP, now]).returncode


if __name__ == "__main__":
    sys.exit(main())
