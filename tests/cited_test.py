# SPDX-License-Identifier: Apache-2.0
"""cited_test.py ROOT: [M7] is one section of docs/math.md, wherever it is cited."""
import collections
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sections = collections.Counter(re.findall(r"^#+ \[(M\d+)\]", (root / "docs/math.md").read_text(), re.M))
failures = [f"docs/math.md has {n} sections [{m}]" for m, n in sections.items() if n > 1]
cited = collections.Counter()
for folder in ("src", "include", "cli", "lab", "bench", "docs", "man", "tests"):
    for path in (root / folder).rglob("*.*"):
        if path.suffix in {".c", ".h", ".def", ".md", ".1", ".5", ".7"}:
            for m in set(re.findall(r"\[(M\d+)\]", path.read_text())):
                cited[m] += 1
                if m not in sections:
                    failures.append(f"{path.relative_to(root)} cites [{m}]")
print("\n".join(failures) or f"{len(sections)} sections, {sum(cited.values())} citations")
sys.exit(bool(failures or not cited))
