# SPDX-License-Identifier: Apache-2.0
"""What needs MPI: `./dev mpi`, or RANKS_CHECK=build/tests/ranks_check pytest tests/mpi."""
import os
import subprocess

import pytest

# As root, and with more ranks than cores.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_orte_base_help_aggregate": "1"}


def mpirun(n, *command):
    return subprocess.run(["mpirun", "-n", str(n), *command], env=ENVIRONMENT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_table_of_ranks(n):
    done = mpirun(n, os.environ["RANKS_CHECK"])
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
