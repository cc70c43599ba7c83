# SPDX-License-Identifier: Apache-2.0
# ./dev sanitize [asan|tsan] [--all]
# shellcheck shell=sh disable=SC2154

kind=${1:-asan}
case $kind in
# Without recovery after a finding, the code compiles in three quarters of the time. UBSAN_OPTIONS halts anyway.
# The linker gold needs half the time of the usual linker.
asan) sanitizers=address,undefined sets=neon,avx2 flags=-fno-sanitize-recover=undefined CC_LD=${CC_LD:-gold}
    export CC_LD ;;
# Threads do the same on every instruction set and with every library. ./dev builds compares the bits
# of this build, in portable C without an optional library, with those of build/.
tsan) sanitizers=thread sets='' optional='-Dauto_features=disabled -Dtests=enabled' ;;
*) die "sanitize: '$kind' is neither asan nor tsan" ;;
esac
# names_in_turn: unit tests, and every third suite of conformance, the next third at the next commit.
names_in_turn() {
    turn=$(($(git rev-list --count HEAD 2>/dev/null || echo 0) % 3))
    meson test -C "$dir" --no-rebuild --list --no-suite cli --no-suite statistics 2>/dev/null |
        awk -v turn="$turn" '/:conformance/ && n++ % 3 != turn { next } / \/ / { print $NF }'
}

case ${2:-} in
'') dir=build-$kind ;;
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
    targets='product pool_test tests/threads_suite tests/splash_suite' \
        run_tests "$dir" -t 5 pool threads splash_threads
else
    # shellcheck disable=SC2046
    targets=meson-test-prereq run_tests "$dir" -t 5 $(names_in_turn)
fi
conclude
