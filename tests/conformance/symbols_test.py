# SPDX-License-Identifier: Apache-2.0
"""What the shared library takes from outside and what it shows.

symbols_test.py NM LIBRARY debug|release: `nm -D` must list nothing that computes with libm (results
must not depend on whose libm it is; fma and fmaf are exact by definition), nothing that prints to
the standard streams, ends the process or reads a hidden state or the date; and what is defined must
be what the public headers declare, no less and no more; and so does the list of Debian's package, which
tells the version that each came with (`./dev packages --symbols` adds new ones). Assertions call __assert_fail, and with them
abort is allowed.
"""

import pathlib
import re
import subprocess
import sys

# C11 7.12, without fma; f and l variants are derived.
LIBM = """
    acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb
    ldexp log log10 log1p log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma
    tgamma ceil floor nearbyint rint lrint llrint round lround llround trunc fmod remainder remquo
    copysign nan nextafter nexttoward fdim fmax fmin
    exp10 pow10 sincos gamma drem significand finite isnan isinf j0 j1 jn y0 y1 yn scalb
""".split()

PRINTING = """
    printf vprintf puts putchar putchar_unlocked perror psignal stdout stderr stdin fprintf vfprintf
    dprintf vdprintf syslog
""".split()

ENDING = "exit _exit _Exit quick_exit raise kill signal sigaction longjmp system".split()

HIDDEN_STATE = """
    rand srand rand_r random srandom random_r drand48 erand48 lrand48 mrand48 srand48 getrandom
    getentropy arc4random time gettimeofday localtime localtime_r gmtime gmtime_r ctime strtok
    setlocale strtod strtof atof
""".split()


def undefined(nm, library):
    """Names the library takes from others, without versions."""
    text = subprocess.run([nm, "-D", "--undefined-only", library], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines() if line.strip()}


def defined(nm, library):
    """Names the library shows."""
    text = subprocess.run([nm, "-D", "--defined-only", library], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return {line.split()[-1].split("@")[0] for line in text.splitlines() if line.strip()}


ROOT = pathlib.Path(__file__).resolve().parents[2]


def packaged():
    """Names in the list of Debian's package."""
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "debian").glob("libgibbsite0*.symbols"))
    return set(re.findall(r"^ (gbs_\w+)@Base ", text, re.MULTILINE))


def declared():
    """Names that the public headers mark GBS_API."""
    headers = ROOT / "include" / "gibbsite"
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(headers.glob("*.h"))
                   if path.name != "mpi.h")  # of a library beside
    return set(re.findall(r"^GBS_API\b[^;(]*?\b(gbs_\w+)\(", text, re.MULTILINE))


def plain(name):
    """The C name behind a fortified, finite or glibc-internal one: __printf_chk, __exp_finite."""
    match = re.fullmatch(r"_*(.+?)(_chk|_finite)?", name)
    return match.group(1)


def forbidden(name, release):
    """Why a name may not be there; None if it may."""
    bare = plain(name)
    variants = {bare, bare[:-1]} if bare[-1:] in "fl" else {bare}
    if variants & set(LIBM) or name.startswith("_ZGV"):
        return "a function of libm other than fma and fmaf"
    if {name, bare} & set(PRINTING):
        return "prints, or knows the standard streams"
    if {name, bare} & set(ENDING) or (bare == "abort" and release):
        return "ends the process"
    if {name, bare} & set(HIDDEN_STATE):
        return "depends on a hidden state, the date or the locale"
    return None


def check_myself():
    """A filter that lets everything pass must not pass."""
    for name in ("exp", "expf", "log2l", "sqrtf", "__pow_finite", "_ZGVdN8v_expf", "ldexp",
                 "__printf_chk", "puts", "stdout", "exit", "abort", "rand", "time", "frexp"):
        assert forbidden(name, True), name
    for name in ("fma", "fmaf", "snprintf", "__snprintf_chk", "memcpy", "free", "realloc",
                 "__assert_fail", "clock_gettime", "qsort", "__errno_location"):
        assert forbidden(name, True) is None, name
    assert forbidden("abort", False) is None


def main():
    nm, library, build = sys.argv[1:]
    check_myself()
    taken = undefined(nm, library)
    shown = defined(nm, library)
    if "malloc" not in taken or "gbs_run_new" not in shown:
        sys.exit(f"{library}: {nm} lists neither malloc nor gbs_run_new; nothing was tested")
    if "png_set_longjmp_fn" in taken:
        taken -= {"longjmp", "__longjmp_chk"}  # libpng's one way to report an error takes its address
    faults = [f"takes {name}: {why}" for name in sorted(taken)
              if (why := forbidden(name, build == "release")) is not None]
    public = declared()
    shown = {name for name in shown if not name.startswith("__")}
    shown -= {"_init", "_fini", "_edata", "_end"}
    faults += [f"shows {name}, which no public header declares" for name in sorted(shown - public)]
    faults += [f"does not show {name}, which a public header declares"
               for name in sorted(public - shown)]
    faults += [f"{'lacks' if name in public else 'has'} {name} in debian/*.symbols: see ./dev packages --symbols"
               for name in sorted(public ^ packaged())]
    for fault in faults:
        print(f"{library}: {fault}")
    print(f"{len(taken)} symbols taken, {len(shown)} shown, {len(faults)} at fault")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
