# SPDX-License-Identifier: Apache-2.0
"""Tests the border of the Python module for tools/attack: calls that are correct except for one or two arguments.

The family `module` runs in an own process, this file as a program, whose _core is built with the address sanitizer. Correct calls of
every function are made once, and their calls of _core are noted. A trial takes a call of either kind, replaces some of its arguments,
or parts of them, by odd values, and uses the result. The result must be a value or a Python exception, in time, and all reference
counts must be right. When the process ends, it reports memory that the library has not freed.
"""
import copy
import gc
import os
import random
import re
import select
import signal
import subprocess
import sys
import tempfile
import warnings

from attack_answers import Skipped, Wrong

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 10  # a longer call is interrupted, as by Ctrl-C
HANGS = 120

# ---- the family ------------------------------------------------------------------------------


class Module:
    """The process that is tested. It is started again after it has ended."""

    def __init__(self, core):
        self.core, self.process, self.said = core, None, tempfile.TemporaryFile()

    def begin(self):
        sanitizer = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()
        env = {**os.environ, "LD_PRELOAD": sanitizer, "PYTHONMALLOC": "malloc", "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1",
               "ASAN_OPTIONS": "detect_leaks=1:exitcode=99:allocator_may_return_null=1:max_allocation_size_mb=1024",
               "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99", "LSAN_OPTIONS": "exitcode=0:max_leaks=10000"}
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), self.core], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.said, env=env)

    def words(self):
        self.said.seek(0)
        return self.said.read().decode("utf-8", "replace")

    def ask(self, key):
        """@return the outcome of the trial."""
        if self.process is None:
            self.begin()
        self.process.stdin.write(f"{key}\n".encode())
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], HANGS)[0]:
            self.process.kill()
            self.process = None
            raise Wrong(f"hangs: no answer after {HANGS} s")
        line = self.process.stdout.readline().decode()
        if line == "":
            status, words = self.process.wait(), self.words()
            self.process = None
            self.said.truncate(0)
            if "No module named" in words:
                raise Skipped(words.strip().splitlines()[-1])
            raise Wrong(f"sanitizer: the process ends with {status}: " + next((x for x in words.splitlines() if "ERROR: Add" in x or "runtime error" in x), words[-300:]))
        outcome = line.rstrip("\n")
        if outcome.startswith("wrong"):
            raise Wrong(outcome)
        return outcome

    def end(self):
        """@return the report about memory that the library has not freed, or None."""
        if self.process is None:
            return None
        self.process.stdin.close()
        self.process.wait()
        leaks = [block for block in self.words().split("\n\n") if "leak of" in block and re.search(r" \.\./(src|python/core)/", block)]
        return None if not leaks else f"{len(leaks)} leaks, the first:\n{leaks[0]}"


def module(trial):
    if trial.program.core is None:
        raise Skipped("there is no --core, a _core that is built with -Db_sanitize=address")
    if trial.program.module is None:
        trial.program.module = Module(trial.program.core)
    return trial.program.module.ask(trial.r.random())


# ---- the process -----------------------------------------------------------------------------


def load(core):
    """@return the package of these sources with the given _core."""
    import importlib.machinery
    import importlib.util
    loader = importlib.machinery.ExtensionFileLoader("gibbsite._core", core)
    sys.path.insert(0, os.path.join(HERE, "..", "python"))
    built = importlib.util.module_from_spec(importlib.util.spec_from_loader("gibbsite._core", loader))
    loader.exec_module(built)
    sys.modules["gibbsite._core"] = built
    import gibbsite
    return gibbsite


class Odd:
    """Objects whose methods fail, or change the argument that they are asked about."""

    def __init__(self, r):
        self.r, self.list = r, [1, 2, 3]

    def fail(self, *_):
        raise self.r.choice([RuntimeError, StopIteration, MemoryError, KeyboardInterrupt])("odd")

    __index__ = __float__ = __iter__ = __len__ = __str__ = __fspath__ = __getitem__ = fail


class Shrinks(list):
    """A list that gets shorter each time its length is asked for."""

    def __len__(self):
        if super().__len__() > 0:
            self.pop()
        return super().__len__()

    def __getitem__(self, i):
        self.clear()
        return 0


def odd_array(r, numpy):
    shape = r.choice([(), (0,), (1,), (2,), (3,), (2, 2), (0, 3), (3, 0), (2, 3), (2, 2, 2), (1, 1, 1, 1), (5,)])
    kind = r.choice(["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16", "?", ">i4", ">f8", "O", "U3", "S2", "M8[s]",
                     "m8[s]", "V3", "i4,f8"])
    x = numpy.zeros(shape, kind)
    if kind[-2:-1] in "iufg" or kind == "g":
        with numpy.errstate(all="ignore"):
            x = numpy.array([r.choice([0, 1, 2, 0.5, -1, numpy.nan, numpy.inf, 1e300, 2 ** 31, 2 ** 32, 255]) for _ in range(x.size)]).reshape(shape).astype(kind)
    way = r.choice(["", "", "turned", "every other", "broadcast", "fortran", "read only", "misaligned"])
    if way == "turned" and x.ndim > 0:
        x = x[::-1]
    elif way == "every other" and x.ndim > 0:
        x = numpy.repeat(x, 2, axis=0)[::2]
    elif way == "broadcast":
        x = numpy.broadcast_to(x, (2, *shape))
    elif way == "fortran":
        x = numpy.asfortranarray(x)
    elif way == "read only":
        x.setflags(write=False)
    elif way == "misaligned" and not x.dtype.hasobject:
        x = numpy.frombuffer(b"\0" + x.tobytes(), x.dtype, x.size, 1).reshape(shape)
    return x


def odd_frame(r, numpy):
    try:
        import pandas
    except ImportError:
        return None
    columns = r.sample(["cold", "fever", "influenza", "cough", "a", "Cold", 0, None, "\0", ("a", 1)], r.randint(0, 4))
    cells = ["yes", "no", None, numpy.nan, 0, 1, 2.5, True, pandas.NA, pandas.Timestamp(0), 2 ** 40, "?", "a\0b", b"yes"]  # no half of a surrogate pair: pandas crashes
    data = pandas.DataFrame({c: [r.choice(cells) for _ in range(3)] for c in columns})
    return r.choice([data, data.astype("category") if columns else data, data.iloc[:0], data.iloc[::-1], pandas.concat([data, data], axis=1), data.T])


def odd_value(r, gibbsite, numpy):
    plain = [None, True, False, 0, 1, -1, 2, 3, 7, 255, 256, 65535, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 63, 2 ** 64, -2 ** 63, 10 ** 30, 0.0, -0.0, 0.5,
             1e-320, 1e300, float("nan"), float("inf"), -float("inf"), 1j, "", "a", "yes", "cold", "0", "1", "a\0b", "\ud800", "x" * 3000, "\u202e", "%s%n", b"", b"yes",
             b"\xff", bytearray(b"abc"), memoryview(b"abcd"), [], [1, 2], [None], (), (1, 2), (0, 1), {}, {"cold": "yes"}, {"cold": None}, {0: 1}, set(), {1}, ..., object,
             object(), len, int, numpy.float64(1), numpy.uint64(2 ** 64 - 1), numpy.str_("yes"), numpy.ma.array([1, 2], mask=[0, 1]), range(3), gibbsite.index(2),
             gibbsite.index(10 ** 9), iter([1]), (x for x in [1, 2]), [[1, 2], [3]], [[]], "/dev/null", "/dev/zero", "/nonexistent/x", "/", "auto", "exact", "sample"]
    kind = r.random()
    if kind < 0.55:
        return r.choice(plain)
    if kind < 0.8:
        return odd_array(r, numpy)
    if kind < 0.88:
        return odd_frame(r, numpy)
    return r.choice([lambda: Odd(r), lambda: Shrinks([1, 2, 3]), lambda: [Odd(r)], lambda: [odd_value(r, gibbsite, numpy) for _ in range(3)],
                     lambda: {r.choice(["cold", 0, None]): odd_value(r, gibbsite, numpy)}, lambda: r.choice(HANDLES) if HANDLES else None])()


def changed(r, x, odd, depth=0):
    """@return x, or a part of x, replaced by an odd value."""
    if depth < 4 and r.random() < 0.75:
        if isinstance(x, dict) and x:
            key = r.choice(list(x))
            if r.random() < 0.15:
                return {k: v for k, v in x.items() if k is not key}
            if r.random() < 0.1:
                return {**x, r.choice([None, 0, 1.5, "\0", "\ud800", b"a", ("a", 1), object()]): 1}
            return {**x, key: changed(r, x[key], odd, depth + 1)}
        if type(x) in (list, tuple) and len(x) > 0:
            i = r.randrange(len(x))
            parts = [*x[:i], changed(r, x[i], odd, depth + 1), *x[i + 1:]] if r.random() < 0.85 else [*x[:i], *x[i + r.choice([0, 1]):], x[i]]
            return type(x)(parts)
    try:
        return odd()
    except TypeError:
        return None


HANDLES = []  # handles of _core, of any kind
PLAIN = (bool, int, float, str, bytes, dict, list, tuple, type(None))


def right_calls(gibbsite, numpy, folder):
    """@return functions without arguments that return (function, positional arguments, keywords)."""
    gb = gibbsite
    clinic = gb.read(os.path.join(HERE, "..", "examples", "clinic.bif"))
    grid = gb.from_tables([2, 3, 2], [([0, 1], numpy.arange(1.0, 7).reshape(2, 3)), ([1, 2], numpy.ones((3, 2)))])
    short = {"sweeps": 20, "chains": 4, "method": "sample", "max_updates": 20000, "threads": 1}
    rows = [[0, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, 0], [1, 1, 0]]
    tokens = [[("a", "s", "O"), ("b", "s", "B-X")], [("a", "s", "O")]]
    for name, text in (("t", "U:%x[0,0]\nB\n"), ("p.mln", "P(x)\n1.5 P(x)\n"), ("d.db", "P(A)\n")):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    crf = gb.learn_crf("t", tokens)
    picture = numpy.arange(64, dtype=numpy.uint8).reshape(8, 8) * 3
    marginals, draws = clinic.query("cold", "fever"), clinic.sample(50, **short)
    aspects = gb.learn_aspects([(picture, ["a"]), (255 - picture, ["b"]), (picture[::-1].copy(), ["a", "b"])], patch=4) if hasattr(gb, "learn_aspects") else None
    given = {"fever": "yes"}
    names = ["cold", "influenza"]
    calls = [
        (clinic.query, names, {"evidence": given}), (clinic.query, names, {"evidence": given, **short}), (clinic.joint, names, {"evidence": given}),
        (clinic.query, names, {"likelihood": {"fever": [0.2, 0.8]}}), (clinic.logz, [given], {}), (clinic.prob, [given], {}), (clinic.map, [given], {"max_updates": 10000}),
        (clinic.mpe, [given], {}), (clinic.mmap, ["cold"], {"evidence": given}), (clinic.sample, [20, "cold"], short), (clinic.exact_samples, [20], {}),
        (clinic.query_table, [{"fever": ["yes", None, "no"]}, "cold"], {}), (clinic.influences, [], {}), (clinic.certify, [given], {"steps": [1, 2]}),
        (clinic.couplings, [[1, 2], given], {"pairs": 4}),
        (clinic.optimise_scan, [5], {}), (clinic.sensitivity, [{"cold": "yes"}, given], {}), (clinic.log_density, [dict(clinic.mpe(given))], {}), (clinic.info, [], {}),
        (clinic.fit, [draws], {"prior": "bdeu:3"}), (clinic.fit, [{n: ["yes", "no"] for n in names}], {"iterations": 3}), (clinic.states, ["cold"], {}),
        (clinic.write, [os.path.join(folder, "m.uai")], {}), (grid.query, [0, 1], {"evidence": {2: 1}}), (grid.query_table, [numpy.array([[0, -1, 1], [1, 2, 0]])], {}),
        (grid.log_density, [[0, 1, 1]], {}), (grid.map, [], {}), (lambda *a, **k: gb.Model().add("x", ["0", "1"], p=[0.5, 0.5]).add(*a, **k).query("x"), ["y", ["a", "b"]], {"parents": ["x"], "p": [[0.1, 0.9], [0.5, 0.5]]}),
        (lambda *a: gb.Model().add("x", 2).add("y", 3).factor(*a).query("x"), [["x", "y"], [[1, 2, 3], [4, 5, 6]]], {}),
        (gb.from_tables, [[2, 3], [([0, 1], [[1, 2, 3], [4, 5, 6]])]], {"names": ["a", "b"]}), (gb.from_arrays, [numpy.array([[0, 1.0], [1, 0]]), [0.1, 0.2]], {}),
        (gb.ising, [(2, 3), 0.4], {"field": 0.1}), (gb.potts, [(2, 2), 3, 0.5], {}), (gb.read, [os.path.join(HERE, "..", "examples", "grid.uai")], {}),
        (gb.loads, ["MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n", "uai"], {}), (gb.generate, ["ising"], {"grid": (2, 3), "coupling": 0.3}), (gb.options, ["learn rbm"], {}),
        (gb.learn_potts, [rows], {"iterations": 5}), (gb.learn_rbm, [rows], {"hidden": 2, "epochs": 2, "batch": 4}), (gb.learn_crf, ["t", tokens], {"iterations": 3}),
        (crf.label, [tokens], {"probabilities": True, "truth": "last"}), (crf.sequence_model, [tokens, 0], {}), (gb.denoise, [picture[:4, :4]], {"sweeps": 5, "levels": 4}),
        (gb.denoise, [picture > 90], {"sweeps": 5}), (gb.diagnose, [numpy.arange(80.0).reshape(4, 20)], {}), (gb.diagnose, [draws], {}), (gb.compare, [marginals, marginals], {}),
        (gb.report, [os.path.join(folder, "r.html"), marginals], {}), (gb.ground, ["p.mln", "d.db"], {"query_predicates": "P"}), (aspects.segment, [picture], {"sweeps": 5}),
        (gb.learn_aspects, [[(picture, ["a"]), (255 - picture, ["b"])]], {"patch": 4, "iterations": 2})]
    return calls


def note_core(core, noted):
    """Replaces the functions of _core by functions that also note their arguments."""
    for name in dir(core):
        function = getattr(core, name)
        if name.startswith("_") or not callable(function) or isinstance(function, type):
            continue

        def noting(*arguments, _function=function, **keywords):
            noted.append((_function, list(arguments), keywords))
            found = _function(*arguments, **keywords)
            HANDLES.extend(x for x in (found if isinstance(found, tuple) else (found,)) if type(x) not in PLAIN)
            return found
        setattr(core, name, noting)
        yield name, function


def use(r, found):
    """Uses a result in all possible ways."""
    for _ in range(3):
        way = r.choice(["repr", "iterate", "attribute", "copy", "index", "method"])
        if way == "repr":
            repr(found), str(found)
        elif way == "iterate" and hasattr(found, "__iter__") and not isinstance(found, (str, bytes)):
            for i, _ in zip(range(20), found):
                pass
        elif way == "copy":
            copy.copy(found)
        elif way == "index" and hasattr(found, "__getitem__"):
            found[r.choice([0, -1, 2 ** 63, "cold", None, ()])]
        elif way in ("attribute", "method"):
            name = r.choice([x for x in dir(found) if not x.startswith("__")] or ["__class__"])
            value = getattr(found, name)
            if callable(value) and way == "method" and name.startswith("to_"):
                value()


def one(r, gibbsite, numpy, calls):
    """Makes one trial. @return the name of its outcome."""
    function, arguments, keywords = r.choice(calls)
    def odd():
        return odd_value(r, gibbsite, numpy)
    for _ in range(r.choice([1, 1, 1, 2, 3])):
        if len(keywords) > 0 and (r.random() < 0.4 or not arguments):
            name = r.choice([*keywords, *keywords, "seed", "time", "threads", "chains", "evidence", "names"])
            keywords = {**keywords, name: changed(r, keywords.get(name), odd)}
        elif arguments:
            i = r.randrange(len(arguments))
            arguments = [*arguments[:i], changed(r, arguments[i], odd), *arguments[i + 1:]]
        elif r.random() < 0.5:
            arguments = [odd()]
    kept = [x for x in [*arguments, *keywords.values()] if type(x) in (numpy.ndarray, list, Odd, Shrinks)]
    before = [sys.getrefcount(x) for x in kept]
    outcome = "done"
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        try:
            use(r, function(*arguments, **keywords))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except SystemError as error:
        outcome = f"wrong: SystemError {error} of {getattr(function, '__name__', function)}"
    except BaseException as error:  # any other exception is a valid answer
        outcome = type(error).__name__
        error.__traceback__ = None
        del error
    after = [sys.getrefcount(x) for x in kept]
    if outcome.startswith("wrong") or after == before:
        return outcome
    gc.collect()
    after = [sys.getrefcount(x) for x in kept]
    if any(a < b for a, b in zip(after, before)):
        return f"wrong: an argument of {getattr(function, '__name__', function)} is dropped: {before} references, then {after}"
    return outcome


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, interrupt)
    gibbsite = load(sys.argv[1])
    import numpy
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        calls = right_calls(gibbsite, numpy, folder)
        noted = []
        core = dict(note_core(sys.modules["gibbsite._core"], noted))
        for function, arguments, keywords in calls:
            function(*arguments, **keywords)
        for name, function in core.items():
            setattr(sys.modules["gibbsite._core"], name, function)
        print(f"attack_module: {len(calls)} right calls, {len(noted)} of _core, {len({f for f, _, _ in noted})} functions", file=sys.stderr)
        for line in sys.stdin:
            r = random.Random(line)
            answers.write(one(r, gibbsite, numpy, calls if r.random() < 0.5 else noted).replace("\n", " ") + "\n")
            answers.flush()
        HANDLES.clear()


if __name__ == "__main__":
    main()
