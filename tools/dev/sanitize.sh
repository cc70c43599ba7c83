# SPDX-License-Identifier: Apache-2.0
# ./dev sanitize [asan|tsan] [--all]
# shellcheck shell=sh disable=SC2154

kind=${1:-asan}
case $kind in
# Without recovery after a finding, the code compiles in three quarters of the time. UBSAN_OPTIONS halts anyway.
# The linker gold needs half the time of the usual linker.
asan) sanitizers=address,undefined sets='' flags=-fno-sanitize-recover=undefined CC_LD=${CC_LD:-gold}
    export CC_LD ;;
# Threads do the same on every instruction set and with every library. ./dev builds compares the bits
# of this build, in portable C without an optional library, with those of build/.
tsan) sanitizers=thread sets='' optional='-Dauto_features=disabled -Dtests=enabled' ;;
*) die "sanitize: '$kind' is neither asan nor tsan" ;;
esac
# names_in_turn: the unit tests named as a changed file, and an eighth of all tests, the next eighth at the next commit.
names_in_turn() {
    changed_files | sed 's,.*/,,; s,\(_test\)\{0\,1\}\.[ch]$,,' >"$dir/names_changed"
    list_tests "$dir" --no-suite cli --no-suite statistics >"$dir/tests_listed"
    {
        grep -v ':' "$dir/tests_listed" | sed 's,.* / ,,' | grep -xF -f "$dir/names_changed" || true
        in_turn 8 <"$dir/tests_listed"
    } | sed 's,.* / ,,' | sort -u
}

case ${2:-} in
'') dir=build-$kind
    # What these find is mostly what the address sanitizer finds too. The code compiles in five sixths of the time without them.
    [ "$kind" = tsan ] || flags="$flags -fno-sanitize=null,alignment,object-size,pointer-overflow" ;;
--all) dir=build-$kind-all sets=neon,avx2,avx512 optional='' ;;
*) die "sanitize: unknown option '$2'" ;;
esac
need
# shellcheck disable=SC2086
configure "$dir" --buildtype=plain -Doptimization=1 "-Dc_args=-g1${flags:+ $flags}" -Db_ndebug=false \
    "-Db_sanitize=$sanitizers" -Db_lundef=false "-Dsimd=$sets" ${optional:-}
# The tests let allocations fail on purpose.
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1
export GIBBSITE_TEST_SCALE="${GIBBSITE_TEST_SCALE:-small}"
if [ "${2:-}" = --all ]; then
    run_tests "$dir" -t 5
elif [ "$kind" = tsan ]; then
    # One of the two suites of threads, and the other one at the next commit.
    suite=$(printf '%s\n' threads splash_threads | in_turn 2)
    targets="product $("$python" tools/dev/targets.py "$dir" pool "$suite")" run_tests "$dir" -t 5 pool "$suite"
else
    names=$(names_in_turn)
    # shellcheck disable=SC2086
    targets=$("$python" tools/dev/targets.py "$dir" $names) run_tests "$dir" -t 5 $names
fi
conclude
