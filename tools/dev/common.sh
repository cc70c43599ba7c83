# SPDX-License-Identifier: Apache-2.0
# Functions that ./dev and the scripts of this folder share. ./dev reads this file and the scripts in the root of the sources.
# shellcheck shell=sh disable=SC2034

# Debian's Python modules belong to Debian's Python, which need not come first in PATH.
python=/usr/bin/python3
cores=$(getconf _NPROCESSORS_ONLN)
# Use Debian's ccache if it is installed.
[ ! -d /usr/lib/ccache ] || PATH=/usr/lib/ccache:$PATH
# A file that ccache has not seen is compiled at once, and not run through the preprocessor before: a tenth of the time.
export CCACHE_DEPEND="${CCACHE_DEPEND:-1}"

say() {
    printf '\n== %s\n' "$*"
}

die() {
    printf 'dev: %s\n' "$*" >&2
    exit 1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# ---- packages ------------------------------------------------------------------------------

missing_for_tests() {
    have meson || echo meson
    have ninja || echo ninja-build
    have cc || echo gcc libc6-dev
    have pkg-config || echo pkg-config
    pkg-config --exists zlib 2>/dev/null || echo zlib1g-dev
    pkg-config --exists libzstd 2>/dev/null || echo libzstd-dev
    pkg-config --exists liblzma 2>/dev/null || echo liblzma-dev
    [ -e /usr/include/bzlib.h ] || echo libbz2-dev
    pkg-config --exists libpng 2>/dev/null || echo libpng-dev
    pkg-config --exists libjpeg 2>/dev/null || echo libjpeg62-turbo-dev
    pkg-config --exists expat 2>/dev/null || echo libexpat1-dev
    [ -e /usr/include/lbfgs.h ] || echo liblbfgs-dev
    [ -e /usr/include/metis.h ] || echo libmetis-dev
    pkg-config --exists cmocka 2>/dev/null || echo libcmocka-dev
    "$python" -c 'import pytest' 2>/dev/null || echo python3-pytest
    "$python" -c 'import numpy' 2>/dev/null || echo python3-numpy
}

# need [COMMAND=]PACKAGE...: install the packages whose commands are missing.
need() {
    missing=$(missing_for_tests)
    lacked=$missing
    for pair; do
        have "${pair%%=*}" || missing="$missing ${pair#*=}"
    done
    # shellcheck disable=SC2086
    install $missing
    # A build that was set up without a library must be set up again to find the library.
    [ -z "$lacked" ] || [ ! -f build/build.ninja ] || meson setup --wipe build >/dev/null
}

# install PACKAGE...: install packages; does nothing without arguments.
install() {
    [ $# -gt 0 ] || return 0
    have apt-get || die "please install what Debian calls: $*"
    if [ "$(id -u)" -ne 0 ]; then
        printf 'dev: needed and not there: %s\ndev: run\n    sudo apt-get install %s\n' "$*" "$*" >&2
        exit 1
    fi
    say "installing $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1 ||
        { apt-get update -q && apt-get install -y --no-install-recommends "$@"; } ||
        die "apt-get could not install: $*"
}

# ---- building ------------------------------------------------------------------------------

# configure DIR OPTION...: set up a build folder, unless this was done before.
configure() {
    dir=$1
    shift
    [ -f "$dir/build.ninja" ] || meson setup "$dir" "$@"
}

# Write include/gibbsite/option_fields.h again if the tables have changed. The header is kept with the sources.
write_option_fields() {
    made=include/gibbsite/option_fields.h
    ninja -C build --quiet option_fields || return 1
    build/option_fields "$made" 2>/dev/null && return 0
    build/option_fields >"$made.new" && mv "$made.new" "$made" && say "$made is written anew"
}

# Build the library and the program, and make build/gibbsite.
build() {
    configure build --buildtype=release -Dfallback_optimization=1 && write_option_fields && ninja -C build product &&
        ln -sf cli/gibbsite build/gibbsite
}

# answers GIBBSITE: print answers of a program for comparison: tables, spins and states, with 16 chains and with one.
answers() {
    program=$1
    set -- --method sample --sweeps 500 --burn-in 50 -q
    "$program" marginals examples/clinic.bif -e fever=yes,cough=yes "$@" &&
        "$program" marginals examples/grid.uai --chains 1 "$@" &&
        "$program" generate potts --grid 12x12 --states 3 --noise 0.8 --format uai -q |
        "$program" marginals - --from uai "$@" &&
        "$program" generate ising --grid 20x20 --coupling 0.4 --format uai -q |
        "$program" marginals - --from uai --estimator count --lattice always "$@" &&
        "$program" generate regular --variables 60 --degree 5 --coupling 0.2 --format uai -q |
        "$program" marginals - --from uai --estimator count --chains 40 --lattice always "$@"
}

# playground FOLDER: put the playground into a folder, with the program of build-wasm and the files of its examples.
playground() {
    mkdir -p "$1/samples"
    cp docs/playground/* packaging/npm/gibbsite.js build-wasm/cli/gibbsite-web.js build-wasm/cli/gibbsite-web.wasm "$1/"
    cp examples/clinic.bif examples/sprinkler.bif examples/grid.uai examples/leaf-noisy.pbm "$1/samples/"
}

# ---- checks and their counts ---------------------------------------------------------------

passed=0
failed=0

# check NAME COMMAND...: run a command and count it. Its output is shown if it fails.
check() {
    name=$1
    shift
    begun=$(date +%s)
    if said=$("$@" 2>&1); then
        passed=$((passed + 1))
        printf 'ok    %-42s %4d s\n' "$name" $(($(date +%s) - begun))
    else
        failed=$((failed + 1))
        printf '%s\nFAIL  %s\n' "$said" "$name"
    fi
}

# Print the last line of a command that checks something, and return its status.
conclude() {
    printf '\n%d passed, %d failed%s\n' "$passed" "$failed" "${1:-}"
    [ "$failed" -eq 0 ]
}

# count FILE RESULT...: print the number of tests in a meson log with one of these results.
count() {
    log=$1
    shift
    n=0
    for result; do
        m=$(grep -c "\"result\": \"$result\"" "$log") || true
        n=$((n + m))
    done
    echo "$n"
}

# List tracked C files, or all C files without git. Files by others and files of a build are left out.
c_files() {
    { git ls-files -- '*.c' '*.h' 2>/dev/null | grep . ||
        find . -path './build*' -prune -o -type f -name '*.[ch]' -print | sed 's,^\./,,'; } |
        grep -v '^third_party/' | sort
}

# List the C files that this branch has changed since it left main, or that the last 30 commits of main have changed.
# All files are listed if git or its history is missing.
changed_names() {
    mkdir -p build
    base=$(git merge-base HEAD main 2>/dev/null) || base=
    [ -n "$base" ] && [ "$base" != "$(git rev-parse HEAD)" ] || base=HEAD~30
    if ! git diff --name-status -M "$base" >build/changed 2>/dev/null; then
        base=
        c_files
    else # a file that only moved has not changed
        sed -e '/^R100/d' -e 's/.*\t//' build/changed >build/changed_names
        c_files | grep -Fx -f build/changed_names || true
    fi
}

# List those of them whose code has changed, and not only their comments.
changed_files() {
    changed_names >build/changed_texts
    if [ -z "$base" ]; then cat build/changed_texts; else "$python" tools/dev/changed.py "$base" <build/changed_texts; fi
}

# Commits are counted, so that what runs in turn at one commit makes room for the next part at the next one.
turn=$(git rev-list --count HEAD 2>/dev/null || echo 0)

# in_turn N: every N-th of the lines of standard input, the next ones at the next commit.
in_turn() {
    awk -v n="$1" -v turn="$turn" '(NR - turn) % n == 0'
}

# list_tests DIR [OPTION...]: list meson's tests as lines "suites / name".
list_tests() {
    dir=$1
    shift
    meson test -C "$dir" --no-rebuild --list "$@" 2>/dev/null | grep ' / '
}

# run_tests DIR [OPTION...]: run meson's tests and add them to the counts. If $targets is set, only these targets are built.
run_tests() {
    dir=$1
    shift
    # The folder was set up without cmocka: configure it again.
    if [ "$(cat "$dir/meson-info/intro-tests.json" 2>/dev/null)" = '[]' ]; then
        meson setup --reconfigure -Dtests=enabled "$dir"
    fi
    # shellcheck disable=SC2086
    ninja -C "$dir" ${targets:-}
    log=$dir/meson-logs/testlog.json
    rm -f "$log"
    status=0
    meson test -C "$dir" --no-rebuild --print-errorlogs "$@" || status=$?
    [ -f "$log" ] || die "no test was run in $dir"
    n_passed=$(count "$log" OK EXPECTEDFAIL)
    n_failed=$(count "$log" FAIL TIMEOUT ERROR UNEXPECTEDPASS INTERRUPT)
    skipped=$(count "$log" SKIP)
    # Any other failure of meson must not look like success.
    if [ "$status" -ne 0 ] && [ "$n_failed" -eq 0 ] || [ "$n_passed" -eq 0 ]; then
        n_failed=$((n_failed + 1))
    fi
    passed=$((passed + n_passed))
    failed=$((failed + n_failed))
}

# Run the tests of build/: an eighth at the scale that is asked for, the others at the small scale, and an eighth of the
# long tests of the command line.
run_tests_in_turn() {
    ninja -C build
    list_tests build | grep -v ':cli' >build/tests_listed
    in_turn 8 <build/tests_listed | sed 's,.* / ,,' >build/tests_in_turn
    sed 's,.* / ,,' build/tests_listed | grep -vxF -f build/tests_in_turn >build/tests_small
    export GIBBSITE_TEST_TURN="$turn"
    # shellcheck disable=SC2046
    run_tests build -t 5 $(list_tests build --suite cli | sed 's,.* / ,,') $(cat build/tests_in_turn)
    skipped_before=$skipped
    export GIBBSITE_TEST_SCALE=small
    # shellcheck disable=SC2046
    run_tests build -t 5 $(cat build/tests_small)
    skipped=$((skipped + skipped_before))
}

# program_tests GIBBSITE FILE...: run tests of the command line.
program_tests() {
    GIBBSITE=$1
    export GIBBSITE
    shift
    "$python" -m pytest -q -p no:cacheprovider "$@"
}
