# SPDX-License-Identifier: Apache-2.0
"""syntax.py BUILD N: checks those of the files named on standard input that BUILD compiles, with its compiler and -fsyntax-only,
N files at a time. Prints the messages of the compiler, and returns status 1 if there are any."""
import json
import pathlib
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

build = pathlib.Path(sys.argv[1])


def look(entry):
    words = shlex.split(entry["command"])
    for option in ("-MQ", "-MF", "-o"):  # options that write files
        at = words.index(option)
        del words[at:at + 2]
    words.remove("-MD")
    done = subprocess.run([*words, "-fsyntax-only"], cwd=build, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout or (f"{entry['file']}: status {done.returncode}\n" if done.returncode else "")


with ThreadPoolExecutor(int(sys.argv[2])) as pool:
    named = {f"../{line}" for line in sys.stdin.read().split()}
    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text()) if entry["file"] in named]
    said = list(pool.map(look, entries))
print("".join(said), end="")
sys.exit(any(said) or not entries)
