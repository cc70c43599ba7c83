# SPDX-License-Identifier: Apache-2.0
"""Runs the code of the documentation and compares what it prints with what the page shows.

    python tools/blocks.py [--update] [--list] [PAGE...]      all pages where none is named

The blocks of a page run one after the other in an empty folder that has the examples of the sources as `examples` and the program in
PATH and as `build/gibbsite`. What they are is told by how they look:

- a block with lines that begin with `$ ` is a session on a terminal 80 columns wide: each command runs, and what stands below it is
  compared with what the terminal shows. A line `...` stands for any lines, a command ends with `\\` where the next line goes on;
- any other block whose first line begins with `gibbsite ` or `build/gibbsite ` is a list of commands that succeed (```sh: a script);
- ```python with `>>>` is a session of Python, compared likewise; without, it is a script that succeeds;
- a block whose first line is the comment `/* NAME */`, `// NAME` or `# NAME`, where NAME has a dot, is kept as that file.

Numbers are compared digit by digit, as the bits are the same everywhere. Only what a clock or the machine says is masked: `MASKED`
has the patterns. A page keeps the figures that it shows for these until what stands around them changes.

A block after `<!-- not run: REASON -->` is left alone. With --update pages are written anew from what was printed; `...` keeps its place:
as many lines stand before and after it as did.
"""
import argparse
import codeop
import contextlib
import dataclasses
import difflib
import fcntl
import io
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[1]
COLUMNS = 80
HANGS_S = 1200  # far above the time of any block: a block that takes this long will not end

# Texts that depend on a clock or the machine: seconds, rates, threads, bytes held, estimated times; and the version in JSON.
MASKED = re.compile(r"(?<![\w.])\d[\d.,]*(?:e[+-]?\d+)? (?:s|ms|seconds?|minutes?|threads?|[KMG]iB|M updates/s)\b"
                    r"|(?<![\w.])\d[\d.]*(?:e[+-]?\d+)?/s\b|less than a (?:milli)?second\b|\"version\": \"[^\"]*\"")
NOT_RUN = re.compile(r"\s*<!-- not run: (.*?) ?-->")
KEPT_AS = re.compile(r"(?:/\* | *// |# )(\w[\w/-]*\.\w+)(?: \*/)?$")
MISSING = re.compile(r"built without (\w+)")


class Missing(Exception):
    """The build, or this Python, lacks something that a block needs."""


@dataclasses.dataclass
class Block:
    kind: str  # session, commands, script, python, file or other
    first: int  # number of the block's first line of text in the page, from 0
    lines: list  # without indentation
    indent: str
    not_run: str = ""  # the reason why the block is not run


# ---- reading pages -------------------------------------------------------------------------

def kind_of(word, lines):
    text = [line for line in lines if line]
    if not text or word.startswith("{"):
        return "other"
    if KEPT_AS.match(text[0]):
        return "file"
    if any(line.startswith("$ ") for line in text):
        return "session"
    if word in ("python", "pycon"):
        return "python"
    if word == "sh":
        return "script"
    return "commands" if re.match(r"(build/)?gibbsite ", text[0]) else "other"


def chunks(lines):
    """@return word, begin, number of the first line of text, end, indentation of fenced and indented blocks."""
    i = 0
    while i < len(lines):
        fence = re.match(r"( *)(`{3,})(.*)$", lines[i])
        if fence:
            end = i + 1
            while end < len(lines) and not re.match(fence[1] + fence[2] + "`*$", lines[end]):
                end += 1
            yield fence[3].strip(), i, i + 1, end, fence[1]
            i = end
        elif lines[i].startswith("    ") and (i == 0 or not lines[i - 1].strip()):
            end = i
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            after = end
            while not lines[end - 1].strip():
                end -= 1
            yield "", i, i, end, "    "
            i = after - 1
        i += 1


def read(text):
    """@return the blocks of a page in Markdown, or of the examples of a manual page."""
    lines = text.split("\n")
    blocks = []
    for word, begin, first, end, indent in chunks(lines):
        above = next((line for line in reversed(lines[:begin]) if line.strip()), "")
        reason = NOT_RUN.match(above)
        inside = [line.removeprefix(indent) for line in lines[first:end]]
        blocks.append(Block(kind_of(word, inside), first, inside, indent, reason[1] if reason else ""))
    return blocks


def commands_of_manual(text):
    """@return the commands of the first display of the examples of a manual page."""
    display = text.split(".Sh EXAMPLES")[1].split(".Ed")[0].split(".Bd")[1]
    display = re.sub(r"\\e\n *", "", display)
    return [line for line in display.splitlines() if line.startswith("gibbsite ")]


def pages():
    """All pages whose blocks run."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "examples/README.md", ROOT / "python/README.md"]


# ---- running -------------------------------------------------------------------------------

def program():
    return os.path.abspath(os.environ.get("GIBBSITE", ROOT / "build" / "gibbsite"))


def parallel():
    """@return the path of gibbsite-mpi where it is built and can be started, else None."""
    path = os.path.abspath(os.environ.get("GIBBSITE_MPI") or ROOT / "build/mpi/gibbsite-mpi")
    return path if os.path.isfile(path) and shutil.which("mpirun") else None


def prepare(folder):
    """Puts the files into a folder that pages expect there."""
    (folder / "examples").symlink_to(ROOT / "examples")
    for place in ("build", ".bin"):
        (folder / place).mkdir()
        (folder / place / "gibbsite").symlink_to(program())
    if parallel():
        (folder / ".bin/gibbsite-mpi").symlink_to(parallel())


def environment(folder):
    library = (folder / ".bin/gibbsite").resolve().parents[1]
    kept = {k: v for k, v in os.environ.items() if k not in ("GIBBSITE_SIMD", "LD_LIBRARY_PATH", "COLUMNS")}
    # Open MPI must allow more ranks than cores, and the user root.
    mpi = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "MPIR_CVAR_POLLS_BEFORE_YIELD": "1"}
    return {**kept, **mpi, "LC_ALL": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "HOME": str(folder), "LD_LIBRARY_PATH": str(library),
            "PATH": f"{folder}/.bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": str(library / "meson-uninstalled")}


def shown(text):
    """@return the text that stays on the screen, without overwritten progress and without colours."""
    lines = []
    for line in re.sub(r"\x1b\[[0-9;]*m", "", text.replace("\r\n", "\n")).split("\n"):
        screen = ""
        for part in line.split("\r"):
            screen = part.replace("\x1b[K", "") if "\x1b[K" in part else part + screen[len(part):]
        lines.append(screen.rstrip())
    return [] if lines == [""] else lines[:-1] if lines[-1] == "" else lines


def on_terminal(command, folder):
    """@return status, lines that are shown."""
    if "gibbsite-mpi" in command and not parallel():
        raise Missing("a build with MPI")
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    with subprocess.Popen(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                          close_fds=True, env=environment(folder)) as process:
        os.close(slave)
        parts = []
        with contextlib.suppress(OSError):  # Linux says EIO when the other side has closed
            while part := os.read(master, 65536):
                parts.append(part)
        status = process.wait()
    os.close(master)
    text = b"".join(parts).decode()
    if missing := MISSING.search(text):
        raise Missing(f"a build with {missing[1]}")
    return status, shown(text)


def succeed(command, folder):
    """@return mistakes of a command that must succeed, as lines."""
    status, lines = on_terminal(command, folder)
    return [] if status == 0 else [f"status {status} of: {command}", *lines]


def same(found, expected):
    """@return whether the lines are the expected ones. `...` stands for any lines."""
    if "..." not in expected:
        return [MASKED.sub("#", line) for line in found] == [MASKED.sub("#", line) for line in expected]
    first = expected.index("...")
    last = expected[first + 1:]
    return (len(found) >= first + len(last) and same(found[:first], expected[:first])
            and same(found[len(found) - len(last):], last))


def renewed(found, expected):
    """@return the lines that the page must show: the lines found, with `...` and masked figures as before."""
    if same(found, expected):
        return expected
    if "..." in expected:
        first = expected.index("...")
        last = len(expected) - first - 1
        if len(found) > first + last:
            return found[:first] + ["..."] + found[len(found) - last:]
    return found


def steps(lines):
    """@return the commands of a session: lines typed, lines expected."""
    i = 0
    while i < len(lines):
        end = i + 1
        while end < len(lines) and lines[end - 1].endswith("\\"):
            end += 1
        after = end
        while after < len(lines) and not lines[after].startswith("$ "):
            after += 1
        yield lines[i:end], lines[end:after]
        i = after


def trimmed(lines):
    """@return lines without the blank lines at the end."""
    return lines[:-1] if lines and not lines[-1] else lines


def run_session(block, folder):
    """@return what is wrong, lines as they ought to be."""
    new, wrong = [], []
    for typed, expected in steps(block.lines):
        status, found = on_terminal("\n".join(typed).removeprefix("$ "), folder)
        gap = [""] if expected and not expected[-1] else []
        expected = trimmed(expected)
        new += [*typed, *renewed(found, expected), *gap]
        if status < 0 or status > 128:
            wrong += [typed[0], f"ended by signal {abs(status) % 128}"]
        elif status in (126, 127):
            wrong += [typed[0], "is no command", *found]
        elif not same(found, expected):
            wrong += [typed[0], *difflib.unified_diff(expected, found, "page", "printed", lineterm="", n=2)]
    return wrong, new


def statements(lines):
    """@return the statements of a Python session: lines typed, their text, lines expected."""
    i = 0
    while i < len(lines):
        end = i + 1
        while end < len(lines) and re.match(r"\.\.\.( |$)", lines[end]):
            end += 1
        after = end
        while after < len(lines) and not lines[after].startswith(">>>"):
            after += 1
        yield lines[i:end], "\n".join(line[4:] for line in lines[i:end]) + "\n", lines[end:after]
        i = after


def run_python(block, names):
    """@return what is wrong, lines as they ought to be."""
    if not any(line.startswith(">>>") for line in block.lines):
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile("\n".join(block.lines), f"<line {block.first + 1}>", "exec"), names)
        except Exception:
            return [traceback.format_exc()], block.lines
        return [], block.lines
    new, wrong = [], []
    for typed, source, expected in statements(block.lines):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(codeop.compile_command(source, "<page>", "single"), names)
            except Exception as error:
                print(f"{type(error).__name__}: {error}")
        found = trimmed([line.rstrip() for line in printed.getvalue().split("\n")])
        gap = [""] if expected and not expected[-1] else []
        expected = trimmed(expected)
        new += [*typed, *renewed(found, expected), *gap]
        if not same(found, expected):
            wrong += [typed[0], *difflib.unified_diff(expected, found, "page", "printed", lineterm="", n=2)]
    return wrong, new


def run_block(block, folder, names):
    """@return what is wrong, lines as they ought to be."""
    if block.kind == "session":
        return run_session(block, folder)
    if block.kind == "python":
        return run_python(block, names)
    wrong = []
    if block.kind == "file":
        (folder / KEPT_AS.match(block.lines[0])[1]).write_text("\n".join(block.lines) + "\n")
    elif block.kind == "script":
        wrong = succeed("set -e\n" + "\n".join(block.lines), folder)
    elif block.kind == "commands":
        for typed in re.sub(r"\\\n", " ", "\n".join(block.lines)).split("\n"):
            wrong += succeed(typed, folder) if typed.strip() else []
    return wrong, block.lines


def with_module():
    """Whether this Python has the module."""
    try:
        import gibbsite  # noqa: F401
    except ImportError:
        return False
    return True


@dataclasses.dataclass
class Outcome:
    wrong: list  # texts, each with the line of the page
    text: str  # the page as it ought to be
    run: int = 0
    skipped: list = dataclasses.field(default_factory=list)  # line of the page and reason


def run_page(text, folder, python=None):
    """Run the blocks of a page. @param python whether blocks of Python run too; None: where this Python has the module."""
    python = with_module() if python is None else python
    folder = pathlib.Path(folder)
    prepare(folder)
    outcome = Outcome([], text)
    names = {"__name__": "__main__"}
    lines = text.split("\n")
    before = os.getcwd()
    os.chdir(folder)
    try:
        done = list(run_blocks(read(text), folder, names, python, outcome))
    finally:
        os.chdir(before)
    for block, new in reversed(done):
        lines[block.first:block.first + len(block.lines)] = [block.indent + line if line else line for line in new]
    outcome.text = "\n".join(lines)
    return outcome


def run_blocks(blocks, folder, names, python, outcome):
    """Count blocks in the outcome. @return those that ran, with their lines as they ought to be."""
    for block in blocks:
        reason = block.not_run or ("no Python module" if block.kind == "python" and not python else "")
        if reason or block.kind == "other":
            outcome.skipped += [(block.first + 1, reason)] if reason else []
            continue
        try:
            wrong, new = run_block(block, folder, names)
        except Missing as error:
            outcome.skipped.append((block.first + 1, f"needs {error}"))
            return  # later blocks may need the files of this block
        outcome.run += 1
        outcome.wrong += ["\n".join([f"line {block.first + 1}:", *wrong])] if wrong else []
        yield block, new


# ---- the command line ----------------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--update", action="store_true", help="write pages anew from what is printed")
    parser.add_argument("--list", action="store_true", help="print blocks that do not run, with the reason")
    parser.add_argument("page", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    os.environ["GIBBSITE"] = program()  # blocks run in folders of their own
    n_run = n_wrong = 0
    for page in options.page or pages():
        text = page.read_text()
        with tempfile.TemporaryDirectory() as folder:
            outcome = run_page(text, folder)
        n_run += outcome.run
        n_wrong += len(outcome.wrong)
        if options.list:
            print(*(f"{page}:{line}: not run: {reason}" for line, reason in outcome.skipped), sep="\n", end="\n" * bool(outcome.skipped))
        if options.update and outcome.text != text:
            page.write_text(outcome.text)
            print(f"{page}: written anew")
        elif not options.update:
            print(*(f"{page}: {wrong}" for wrong in outcome.wrong), sep="\n", end="\n" * bool(outcome.wrong))
    print(f"{n_run} blocks run, {n_wrong} {'changed' if options.update else 'wrong'}")
    return 1 if n_wrong and not options.update else 0


if __name__ == "__main__":
    sys.exit(main())
