# SPDX-License-Identifier: Apache-2.0
"""Every test function of a file stands in the list of its main(): a compiler would not miss one."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
missing = []
for path in sorted([*root.glob("src/**/*_test.c"), *root.glob("lab/**/*_test.c"),
                    *root.glob("tests/**/*_test.c")]):
    text = path.read_text()
    missing += [f"{path.relative_to(root)}: {name}() is never run"
                for name in re.findall(r"^static void (\w+)\(void \*\*\w+\)", text, re.M)
                if len(re.findall(rf"\b{name}\b", text)) == 1]
print("\n".join(missing) or "every test function is run")
sys.exit(bool(missing))
