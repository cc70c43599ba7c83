# SPDX-License-Identifier: Apache-2.0
# ./dev mpi [TEST..]: install Open MPI, build gibbsite-mpi and run what needs MPI, 2 to 4 ranks on
# whatever cores there are, and the suites of ranks that need none. Read by ./dev.
# shellcheck shell=sh

need mpirun=openmpi-bin
mpicc --showme >/dev/null 2>&1 || install libopenmpi-dev
build >/dev/null
[ -d build/mpi ] || { meson setup --reconfigure build -Dmpi=enabled >/dev/null && ninja -C build >/dev/null; } ||
    die 'the build with MPI failed: see meson setup --reconfigure build -Dmpi=enabled; ninja -C build'

say 'mpi: ranks of one process'
ninja -C build tests/ranks_table_suite tests/ranks_suite tests/ranks_log_z_suite tests/shares_suite tests/ranks_check tests/other_version tests/scale_figures mpi/gibbsite-mpi >/dev/null
meson test -C build --no-rebuild ranks_table ranks shares >build/mpi.log 2>&1 || { cat build/mpi.log; die 'mpi: the suites of ranks failed'; }
say 'mpi: ranks of a job'
GIBBSITE=$PWD/build/cli/gibbsite GIBBSITE_MPI=$PWD/build/mpi/gibbsite-mpi RANKS_CHECK=$PWD/build/tests/ranks_check \
    "$python" -m pytest -q -p no:cacheprovider tests/mpi tests/cli/test_written.py::test_shares "$@" | tee build/mpi.log
passed=$(sed -n 's/.*\([^0-9]\|^\)\([0-9][0-9]*\) passed.*/\2/p' build/mpi.log | tail -1)
failed=$(sed -n 's/.*\([^0-9]\|^\)\([0-9][0-9]*\) failed.*/\2/p' build/mpi.log | tail -1)
passed=$((${passed:-0} + 3)) # with the suites
echo "$passed passed, ${failed:-0} failed"
[ "${failed:-0}" -eq 0 ] && [ "$passed" -gt 3 ]
