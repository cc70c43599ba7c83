# SPDX-License-Identifier: Apache-2.0
"""Which file calls which, read from the symbols of the object files.

calls_test.py NM BUILD ROOT release|debug. A file calls another if one of its objects takes a symbol,
function or data, that an object of the other defines; the objects of all instruction sets are one file.
- No file of a group of src/ calls one of a later group, nor of lab/, cli/ or mpi/.
- A circle is a set of files that all reach one another by calls within their group. The largest of
  each group is no larger than what stands in LARGEST, and no smaller: these numbers only fall.
- What is not static has a caller in another file, or a test that names it.
- What only tests call stands in MADE_FOR_TESTS.
- The program takes, of all that no public header marks GBS_API, what the headers of FOR_THE_PROGRAM
  declare.
A build with assertions calls more, and one without optimization also has what it does not call: there
only the names of the groups and of their folders are looked at, and the rest is skipped.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

# Files in the largest circle of each group; others have none. Make it smaller, then lower the number.
LARGEST = {"model": 4, "exact": 2, "engine": 5, "files": 4, "apps": 4, "cli": 4}

# Tables of all there is, which what is in them may call: for these there is no circle.
REGISTRIES = {"lab/experiment_table.c", "cli/verbs/verbs.c", "src/run/drive/runners.c"}

MADE_FOR_TESTS = {
    "gbsi_alloc_fail_after": "lets the n-th allocation fail",
    "gbsi_bits_look_every": "looks at the watch after other numbers of updates",
    "gbsi_levels_look_every": "looks at the watch after other numbers of updates",
    "gbsi_tiles_words": "puts forbidden random words in place of those that a draw gets",
    "gbsi_estimate_df": "degrees of freedom that errors are held against",
    "gbsi_student_cdf": "the distribution that errors and its own quantiles are held against",
}

# What the program may use of the inside.
FOR_THE_PROGRAM = ["src/engine/options/needs.h", "src/files/answers/answers.h", "src/files/arrays/arrays.h",
                   "src/files/models/format_names.h", "src/files/text/output.h", "src/show/chart/chart.h", "src/core/base/plural.h", "lab/reproduction.h", "lab/decomposition.h"]

SKIPPED = 77  # to meson


def names_of_groups(root):
    """The groups in their order, and what is wrong with names of groups and folders."""
    stated = re.findall(r"'(\w+)'", re.search(r"foreach group : \[([^]]*)\]", (root / "meson.build").read_text())[1])
    said = re.findall(r"^\| `(\w+)/` \|", (root / "src/README.md").read_text(), re.M)
    there = sorted(path.name for path in (root / "src").iterdir() if path.is_dir())
    faults = []
    if sorted(stated) != there:
        faults.append(f"meson.build builds the groups {stated}, src/ has {there}")
    if said != stated:
        faults.append(f"src/README.md says {said}, meson.build {stated}")
    folders = collections.Counter(path.name for path in root.glob("src/*/*") if path.is_dir())
    faults += [f"{n} folders of src/ are called {name}; headers are included by FOLDER/NAME.h"
               for name, n in folders.items() if n > 1]
    return stated, faults


def objects_of_files(build, root):
    """The objects of each file of the library, lab/, cli/ and mpi/, and the file's group."""
    objects, group_of = collections.defaultdict(list), {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        match = re.match(r"(?:libgibbsite-(\w+)(?:-\w+)?\.a|(lab|cli|mpi)/[^/]+)\.p/", entry["output"])
        if match:
            file = (build / entry["file"]).resolve().relative_to(root).as_posix()
            objects[file].append(entry["output"])
            group_of[file] = match[1] or match[2]
    return objects, group_of


def symbols(nm, build, objects):
    """What each file takes from others, and the file that defines each symbol."""
    file_of = {name: file for file, names in objects.items() for name in names}
    text = subprocess.run([nm, "-A", "-P", *file_of], cwd=build, check=True, text=True, stdout=subprocess.PIPE).stdout
    taken, home = collections.defaultdict(set), {}
    for line in text.splitlines():
        name, rest = line.split(": ", 1)
        symbol, kind = rest.split()[:2]
        if kind in "Uw":
            taken[file_of[name]].add(symbol)
        elif kind.isupper() and symbol != "main":
            home[symbol] = file_of[name]
    return taken, home


def calls_of(taken, home):
    """calls[a][b]: the symbols that file a takes from file b."""
    calls = collections.defaultdict(lambda: collections.defaultdict(set))
    for file, names in taken.items():
        for name in names:
            if home.get(name, file) != file:
                calls[file][home[name]].add(name)
    return calls


def reached(calls, files, start):
    """The files of a set that one of them calls, directly or not."""
    seen, left = set(), [start]
    while left:
        for file in calls[left.pop()]:
            if file in files and file not in seen:
                seen.add(file)
                left.append(file)
    return seen


def largest_circle(calls, files):
    """The first of the largest sets of files that all reach one another; empty if there is none."""
    reach = {file: reached(calls, files, file) for file in files}
    circles = [[b for b in sorted(reach[a]) if a in reach[b]] for a in sorted(files)]
    return max((circle for circle in circles if len(circle) > 1), key=len, default=[])


def upward(calls, group_of, order):
    """Calls from a group to a later one."""
    return [f"{a} calls {b} of a later group: {', '.join(sorted(names))}"
            for a in sorted(calls) for b, names in sorted(calls[a].items())
            if order.index(group_of[a]) < order.index(group_of[b])]


def wrong_circles(calls, group_of, order, largest):
    """Circles that are not as large as they may be."""
    faults = []
    for group in order:
        files = {file for file in group_of if group_of[file] == group} - REGISTRIES
        circle = largest_circle(calls, files)
        most = largest.get(group, 0)
        if len(circle) > most:
            faults.append(f"{group}: {len(circle)} files call one another in a circle, at most {most} may: "
                          + " ".join(circle))
        elif len(circle) < most:
            faults.append(f"{group}: the largest circle has {len(circle)} files, not {most}: "
                          "lower the number in LARGEST")
    return faults


def declared_public(root):
    """Names that public headers mark GBS_API."""
    text = "".join(path.read_text() for path in sorted((root / "include/gibbsite").glob("*.h")))
    return set(re.findall(r"^GBS_API\b[^;(]*?\b(gbs_\w+)\(", text, re.M))


def words(paths):
    """How often each word occurs in the code of some files, comments and texts left out."""
    count = collections.Counter()
    for path in paths:
        text = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', " ", path.read_text(), flags=re.S)
        count.update(re.findall(r"\w+", text))
    return count


def is_for_tests(path, root):
    """Whether a source or header is a test's."""
    name = path.relative_to(root).as_posix()
    return name.startswith("tests/") or name.endswith("_test.c") or (
        name.endswith(".h") and ("test" in path.name or path.name == "random_models.h"))


def without_callers(root, taken, home, public):
    """Symbols that are not public and have no caller, or none but in their own file."""
    sources = [path for folder in ("src", "lab", "cli", "mpi", "bench", "tools", "tests")
               for path in (root / folder).rglob("*.[ch]")]
    of_tests = words(path for path in sources if is_for_tests(path, root))
    # Code that is left out of this build calls too.
    of_file = {path.relative_to(root).as_posix(): words([path]) for path in sources
               if path.suffix == ".c" and not is_for_tests(path, root)}
    files_with = collections.Counter(word for count in of_file.values() for word in count)
    called = set().union(*taken.values())
    faults, needed = [], set()
    for name, file in sorted(home.items()):
        own = of_file[file][name]
        if name in public or name in called or files_with[name] > (own > 0):
            continue
        if own > 1 and not of_tests[name]:
            faults.append(f"{file}: only this file calls {name}: make it static")
        elif own <= 1 and name in MADE_FOR_TESTS:
            needed.add(name)
        elif own <= 1:
            faults.append(f"{file}: {'only tests call' if of_tests[name] else 'nothing calls'} {name}: delete it, "
                          "or say in MADE_FOR_TESTS what tests need it for")
    return faults + [f"{name} does not have to be in MADE_FOR_TESTS" for name in sorted(MADE_FOR_TESTS.keys() - needed)]


def taken_by_program(root, calls, group_of, public):
    """What the program takes of the inside and should not."""
    offered = words(root / name for name in FOR_THE_PROGRAM)
    return [f"{a} calls {b}: {name} is declared neither in a public header nor in {', '.join(FOR_THE_PROGRAM)}"
            for a in sorted(calls) if group_of[a] in ("cli", "mpi")
            for b in sorted(calls[a]) if group_of[b] not in ("cli", "mpi")
            for name in sorted(calls[a][b]) if name not in public and name not in offered]


def check_myself():
    """A test that lets everything pass must not pass."""
    group_of = {"a": "low", "b": "low", "c": "low", "d": "high"}
    home = {"fa": "a", "fb": "b", "fc": "c", "fd": "d"}
    taken = {"a": {"fb", "puts"}, "b": {"fa", "fb"}, "c": {"fa"}, "d": {"fc"}}
    calls = calls_of(taken, home)
    order = ["low", "high"]
    assert largest_circle(calls, {"a", "b", "c"}) == ["a", "b"] and largest_circle(calls, {"c", "d"}) == []
    assert wrong_circles(calls, group_of, order, {"low": 2}) == []
    assert len(wrong_circles(calls, group_of, order, {"high": 2})) == 2
    assert upward(calls, group_of, order) == []
    assert len(upward(calls_of({"c": {"fd"}}, home), group_of, order)) == 1


def main():
    nm, build, root, kind = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve(), sys.argv[4]
    check_myself()
    groups, faults = names_of_groups(root)
    if kind == "release":
        order = groups + ["lab", "cli", "mpi"]
        objects, group_of = objects_of_files(build, root)
        taken, home = symbols(nm, build, objects)
        public = declared_public(root)
        if set(groups) - set(group_of.values()) or "gbs_run_new" not in home:
            sys.exit(f"{build}: compile_commands.json or {nm} does not list what the library has; nothing was tested")
        calls = calls_of(taken, home)
        faults += upward(calls, group_of, order)
        faults += wrong_circles(calls, group_of, order, LARGEST)
        faults += without_callers(root, taken, home, public)
        faults += taken_by_program(root, calls, group_of, public)
    print("\n".join(faults) or f"{len(groups)} groups in order")
    if faults:
        sys.exit(1)
    if kind != "release":
        print("not a release build: its objects were not looked at")
        sys.exit(SKIPPED)
    print(f"{len(group_of)} files, {sum(len(to) for to in calls.values())} pairs of which one calls the other")


if __name__ == "__main__":
    main()
