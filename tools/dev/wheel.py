# SPDX-License-Identifier: Apache-2.0
"""wheel.py WHEEL FOLDER: turns the wheel of a build on this machine into one for other machines.

The modules of the new wheel need only glibc. Other libraries are copied into the wheel, under own names and with their licences
from Debian, and patchelf changes the references to them. The tag names the largest required version of glibc, as manylinux
tags do (PEP 600).
"""
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

GLIBC = re.compile(r"lib(c|m|pthread|dl|rt)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+")
LIBRARIES = "gibbsite.libs"  # folder beside that of the module

wheel = pathlib.Path(sys.argv[1])
folder = pathlib.Path(sys.argv[2])
with zipfile.ZipFile(wheel) as archive:
    files = {name: archive.read(name) for name in archive.namelist()}
record = next(name for name in files if name.endswith(".dist-info/RECORD"))
about = record.removesuffix("RECORD")
versions = {(2, 17)}  # version of the oldest manylinux tag of this form


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", path))


def take(library, path):
    """Copies a library of this machine, its dependencies and its licence into the wheel, under a name that no other copy has."""
    ours = "gibbsite-" + library
    if f"{LIBRARIES}/{ours}" in files:
        return ours
    package = run("dpkg", "-S", f"*/{path.resolve().name}").split(":")[0]
    files[f"{about}licenses/{package}.txt"] = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_bytes()
    copy = folder / ours
    copy.write_bytes(path.read_bytes())
    files[f"{LIBRARIES}/{ours}"] = b""
    run("patchelf", "--set-soname", ours, copy)
    files[f"{LIBRARIES}/{ours}"] = of_its_own(copy, "$ORIGIN")
    return ours


def of_its_own(path, where):
    """Makes a file use copies of its libraries below `where`, except those of glibc."""
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", path), re.M))
    others = [library for library in needed(path) if not GLIBC.fullmatch(library)]
    for library in others:
        run("patchelf", "--replace-needed", library, take(library, pathlib.Path(found[library])), path)
    if others:
        run("patchelf", "--set-rpath", where, path)
    versions.update(tuple(int(n) for n in found.split(".")) for found in re.findall(r"\bGLIBC_(\d+\.\d+)", run("readelf", "-V", path)))
    return path.read_bytes()


for name in [name for name in files if ".so" in name]:
    module = folder / "module.so"
    module.write_bytes(files[name])
    files[name] = of_its_own(module, f"$ORIGIN/../{LIBRARIES}")
for name in [name for name in files if ".so" in name]:
    module.write_bytes(files[name])
    print(f"{name} needs {', '.join(needed(module))}")
    if any(not GLIBC.fullmatch(library) and f"{LIBRARIES}/{library}" not in files for library in needed(module)):
        sys.exit(f"{name} needs what is not in the wheel")

plain = re.search(r"-linux_(\w+)\.whl$", wheel.name)
tag = f"manylinux_{max(versions)[0]}_{max(versions)[1]}_{plain[1]}"
files[about + "WHEEL"] = files[about + "WHEEL"].replace(b"linux_" + plain[1].encode(), tag.encode())
files[about + "licenses/NOTICE.txt"] = pathlib.Path("NOTICE").read_bytes()
del files[record]
digests = {name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() for name, data in files.items()}
files[record] = "".join([*(f"{name},sha256={digests[name]},{len(files[name])}\n" for name in digests), f"{record},,\n"]).encode()

made = folder / wheel.name.replace(plain[0], f"-{tag}.whl")
with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, data in files.items():
        archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
print(f"{made}: {made.stat().st_size} bytes")
