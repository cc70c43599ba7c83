# SPDX-License-Identifier: Apache-2.0
"""targets.py BUILD NAME..: prints the ninja targets that the named tests of a meson build run."""
import json
import pathlib
import sys

build = pathlib.Path(sys.argv[1])
names = set(sys.argv[2:])
info = build / "meson-info"
tests = [test for test in json.loads((info / "intro-tests.json").read_text()) if test["name"] in names]
wanted = {target for test in tests for target in test["depends"]}
for target in json.loads((info / "intro-targets.json").read_text()):
    if target["id"] in wanted:
        print(*(pathlib.Path(file).relative_to(build.resolve()) for file in target["filename"]), sep="\n")
