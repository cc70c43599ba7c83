# SPDX-License-Identifier: Apache-2.0
"""wheel.py WHEEL FOLDER: the wheel of a build on this machine becomes one for others.

Its modules may need glibc alone, or the status is 1; the tag names the largest version of glibc that they
ask for, as manylinux tags do (PEP 600). Licences of the libraries inside come with it, as Debian has them.
"""
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

GLIBC = re.compile(r"lib(c|m|pthread|dl|rt)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+")
INSIDE = ["zlib1g-dev", "libzstd-dev", "liblzma-dev", "libbz2-dev", "libpng-dev", "libjpeg62-turbo-dev",
          "libexpat1-dev", "liblbfgs-dev"]

wheel = pathlib.Path(sys.argv[1])
folder = pathlib.Path(sys.argv[2])
with zipfile.ZipFile(wheel) as archive:
    names = archive.namelist()
    files = {name: archive.read(name) for name in names}

versions = {(2, 17)}  # what the oldest tag of this kind stands for
for name in names:
    if ".so" in name:
        (folder / "module.so").write_bytes(files[name])
        said = subprocess.run(["readelf", "-dV", folder / "module.so"], check=True, stdout=subprocess.PIPE, text=True).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said)
        others = [library for library in needed if not GLIBC.fullmatch(library)]
        if others:
            sys.exit(f"{name} needs {', '.join(others)}")
        versions |= {tuple(int(n) for n in found.split(".")) for found in re.findall(r"\bGLIBC_(\d+\.\d+)", said)}
        print(f"{name} needs {', '.join(needed)}")

plain = re.search(r"-linux_(\w+)\.whl$", wheel.name)
tag = f"manylinux_{max(versions)[0]}_{max(versions)[1]}_{plain[1]}"
record = next(name for name in names if name.endswith(".dist-info/RECORD"))
about = record.removesuffix("RECORD")
files[about + "WHEEL"] = files[about + "WHEEL"].replace(b"linux_" + plain[1].encode(), tag.encode())
for package in INSIDE:
    licence = pathlib.Path("/usr/share/doc") / package / "copyright"
    if licence.exists():
        files[f"{about}licenses/{package}.txt"] = licence.read_bytes()
files[about + "licenses/NOTICE.txt"] = pathlib.Path("NOTICE").read_bytes()
del files[record]
digests = {name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() for name, data in files.items()}
files[record] = "".join([*(f"{name},sha256={digests[name]},{len(files[name])}\n" for name in digests), f"{record},,\n"]).encode()

made = folder / wheel.name.replace(plain[0], f"-{tag}.whl")
with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, data in files.items():
        archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
print(f"{made}: {made.stat().st_size} bytes")
