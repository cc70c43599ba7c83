# SPDX-License-Identifier: Apache-2.0
# ./dev mpi [TEST..]: install Open MPI, build gibbsite-mpi and run what needs MPI, 2 to 4 ranks on
# whatever cores there are. Suites whose ranks are threads belong to ./dev test. Read by ./dev.
# shellcheck shell=sh

need mpirun=openmpi-bin
mpicc --showme >/dev/null 2>&1 || install libopenmpi-dev
build >/dev/null
[ -d build/mpi ] || { meson setup --reconfigure build -Dmpi=enabled >/dev/null && ninja -C build >/dev/null; } ||
    die 'the build with MPI failed: see meson setup --reconfigure build -Dmpi=enabled; ninja -C build'

ninja -C build tests/ranks_check tests/other_version tests/scale_figures mpi/gibbsite-mpi >/dev/null
say 'mpi: ranks of a job'
GIBBSITE=$PWD/build/cli/gibbsite GIBBSITE_MPI=$PWD/build/mpi/gibbsite-mpi RANKS_CHECK=$PWD/build/tests/ranks_check \
    "$python" -m pytest -q -p no:cacheprovider tests/mpi tests/cli/test_written.py::test_shares "$@" | tee build/mpi.log
passed=$(sed -n 's/.*\([^0-9]\|^\)\([0-9][0-9]*\) passed.*/\2/p' build/mpi.log | tail -1)
failed=$(sed -n 's/.*\([^0-9]\|^\)\([0-9][0-9]*\) failed.*/\2/p' build/mpi.log | tail -1)
echo "${passed:-0} passed, ${failed:-0} failed"
[ "${failed:-0}" -eq 0 ] && [ "${passed:-0}" -gt 0 ]
