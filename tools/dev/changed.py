# SPDX-License-Identifier: Apache-2.0
"""changed.py BASE: of the names of C files on standard input, those whose code is another one than in the commit BASE. Comments,
blanks and line breaks are no code."""
import pathlib
import re
import subprocess
import sys

TOKENS = re.compile(rb'(/\*.*?\*/|//[^\n]*|(?:\s|\\\n)+)|("(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')', re.DOTALL)


def code(text):
    """The text without comments and blanks: what is between quotes stays."""
    return TOKENS.sub(lambda m: m[2] or b"", text)


def of_commit(base, names):
    """The text of each file in a commit, None where it has none."""
    asked = "".join(f"{base}:{name}\n" for name in names).encode()
    answer = subprocess.run(["git", "cat-file", "--batch"], input=asked, stdout=subprocess.PIPE, check=True).stdout
    at = 0
    for name in names:
        end = answer.index(b"\n", at)
        words = answer[at:end].split()
        size = int(words[2]) if words[1] == b"blob" else None
        yield name, None if size is None else answer[end + 1:end + 1 + size]
        at = end + 1 if size is None else end + size + 2


for name, before in of_commit(sys.argv[1], sys.stdin.read().split()):
    if before is None or code(before) != code(pathlib.Path(name).read_bytes()):
        print(name)
