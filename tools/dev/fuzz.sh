# SPDX-License-Identifier: Apache-2.0
# ./dev fuzz SECONDS [NAME..]
# shellcheck shell=sh disable=SC2154

# fuzz_one NAME SECONDS: run one fuzzer. New inputs go to build-fuzz/corpus-NAME, failing inputs beside that folder.
fuzz_one() {
    mkdir -p "build-fuzz/corpus-$1"
    # Formats of several files need folders for a moment, which are in memory if possible.
    # A failed allocation must be an error of the reader, and must not end the program.
    TMPDIR=$(test -w /dev/shm && echo /dev/shm || echo "${TMPDIR:-/tmp}") \
        ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 \
        "build-fuzz/tests/fuzz/fuzz_$1" "build-fuzz/corpus-$1" "tests/fuzz/corpus/$1" \
        "-dict=tests/fuzz/dict/$1.dict" "-artifact_prefix=build-fuzz/$1-" \
        "-max_total_time=$2" -rss_limit_mb=2048 -malloc_limit_mb=1024 -timeout=10 \
        -print_final_stats=1 >"build-fuzz/$1.log" 2>&1 || { tail -n 40 "build-fuzz/$1.log"; return 1; }
}

seconds=${1:-}
case $seconds in '' | *[!0-9]*) die 'fuzz: how many seconds for each reader?' ;; esac
shift
# shellcheck disable=SC2046
need clang $(have clang || echo libclang_rt=libclang-rt-14-dev)
[ -f build-fuzz/build.ninja ] ||
    CC=clang meson setup build-fuzz --buildtype=debugoptimized -Dfuzz=true \
        -Db_sanitize=address,undefined -Db_lundef=false
for name; do
    [ -d "tests/fuzz/corpus/$name" ] || die "fuzz: no reader is called '$name'"
done
ninja -C build-fuzz fuzzers
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(ninja -C build-fuzz -t query fuzzers | sed -n 's,.*/fuzz_,,p')
for name; do
    check "$name" fuzz_one "$name" "$seconds"
    sed -n 's/^stat::number_of_executed_units: */      executions: /p' "build-fuzz/$name.log"
done
conclude
