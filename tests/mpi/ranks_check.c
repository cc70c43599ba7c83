/* SPDX-License-Identifier: Apache-2.0 */
/* mpirun -n N ranks_check: the table of functions made from MPI_COMM_WORLD. */
#include "support/ranks_check.h"

#include <stdio.h>

#include "gibbsite/mpi.h"

int main(int argc, char **argv)
{
    gbs_error err = {GBS_OK, ""};
    gbs_ranks ranks;
    int provided = 0;
    if (gbs_mpi_ranks(MPI_COMM_WORLD, &ranks, &err) != GBS_ERR_STATE) {
        return 1; /* before MPI_Init_thread() */
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (gbs_mpi_ranks(MPI_COMM_WORLD, &ranks, &err) < 0 || test_ranks_check(&ranks, &err) < 0) {
        fprintf(stderr, "ranks_check: %s\n", err.message);
        gbs_mpi_abort(&ranks, 1);
    }
    gbs_mpi_ranks_free(&ranks);
    gbs_mpi_ranks_free(&ranks);
    MPI_Finalize();
    return ranks.n_ranks == 0 ? 0 : 1;
}
