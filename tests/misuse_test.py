# SPDX-License-Identifier: Apache-2.0
"""misuse_test.py ROOT: every public function is called wrongly by tests/conformance/misuse*_test.c."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
EXCEPTIONS = {
    "gbs_version": "takes no argument",
    "gbs_simd_name": "takes no argument",
    "gbs_model_formats": "takes no argument",
    "gbs_set_memory_limit": "takes any number",
    "gbs_memory_limit": "takes no argument",
    "gbs_auto_memory_limit": "takes no argument",
}

headers = "".join(path.read_text() for path in sorted((root / "include/gibbsite").glob("*.h"))
                  if path.name != "mpi.h")  # of a library beside; tests/mpi
public = set(re.findall(r"^GBS_API\b[^;(]*?\b(gbs_\w+)\(", headers, re.M))
if len(public) < headers.count("\nGBS_API") or "gbs_run_new" not in public:
    sys.exit("the headers mark more functions than were found")
tests = "".join(path.read_text()
                for path in sorted((root / "tests/conformance").glob("misuse*_test.c")))
called = set(re.findall(r"\b(gbs_\w+)\(", tests))
if "REFUSES_NOTHING" in tests:  # gbs_generate_##type
    called |= {f"gbs_generate_{name}" for name in re.findall(r"REFUSES_NOTHING\((\w+)\)", tests)}
failures = [f"{name}() is in no misuse test" for name in sorted(public - called - set(EXCEPTIONS))]
failures += [f"{name}() is an exception without a need" for name in sorted(set(EXCEPTIONS) & called)]
failures += [f"{name}() is an exception, and no public function"
             for name in sorted(set(EXCEPTIONS) - public)]
print("\n".join(failures) or f"{len(public)} public functions, {len(EXCEPTIONS)} exceptions")
sys.exit(bool(failures))
