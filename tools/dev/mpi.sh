# SPDX-License-Identifier: Apache-2.0
# ./dev mpi [TEST..]: install Open MPI, build gibbsite-mpi and run the tests that need MPI, with 2 to 4
# ranks on any number of cores. Suites whose ranks are threads belong to ./dev test. Read by ./dev.
# shellcheck shell=sh

need mpirun=openmpi-bin
mpicc --showme >/dev/null 2>&1 || install libopenmpi-dev
build >/dev/null
[ -d build/mpi ] || { meson setup --reconfigure build -Dmpi=enabled >/dev/null && ninja -C build >/dev/null; } ||
    die 'the build with MPI failed: see meson setup --reconfigure build -Dmpi=enabled; ninja -C build'

ninja -C build tests/ranks_check tests/other_version tests/scale_figures mpi/gibbsite-mpi >/dev/null
say 'mpi: ranks of a job'
# ranks_share I/N [TEST..]: run a share of the tests. Jobs start one after the other and mostly wait, so two shares run in parallel.
ranks_share() {
    share=$1
    shift
    GIBBSITE=$PWD/build/cli/gibbsite GIBBSITE_MPI=$PWD/build/mpi/gibbsite-mpi RANKS_CHECK=$PWD/build/tests/ranks_check \
        "$python" -m pytest -q -p no:cacheprovider --share="$share" tests/mpi tests/cli/test_written.py::test_shares "$@" \
        >"build/mpi-${share%/*}.log" 2>&1
}
ranks_share 1/2 "$@" &
first=$!
status=0
# status 5: none of the named tests is in the share
ranks_share 2/2 "$@" || [ $? -eq 5 ] || status=1
wait "$first" || [ $? -eq 5 ] || status=1
cat build/mpi-1.log build/mpi-2.log
sum() {
    sed -n "s/.*\([^0-9]\|^\)\([0-9][0-9]*\) $1.*/\2/p" build/mpi-1.log build/mpi-2.log | awk '{ n += $1 } END { print n + 0 }'
}
passed=$(sum passed)
failed=$(($(sum failed) + $(sum error)))
echo "$passed passed, $failed failed"
[ "$status" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
