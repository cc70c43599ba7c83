/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The processes of an MPI job as ranks of a run (gibbsite/ranks.h). These functions are in a
 * separate library, libgibbsite-mpi, so that libgibbsite does not need MPI; it is installed if MPI
 * was found when it was built.
 *
 *     MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
 *     gbs_mpi_ranks(MPI_COMM_WORLD, &ranks, &err);
 *
 * Only the thread that called gbs_mpi_ranks() calls MPI.
 */
#ifndef GIBBSITE_MPI_H
#define GIBBSITE_MPI_H

#include <mpi.h>

#include "gibbsite/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A table of ranks from a communicator, which is duplicated: messages of the table do not meet
 * those of the caller. Collective over the communicator.
 *
 * @param ranks out; gbs_mpi_ranks_free() before MPI_Finalize().
 * @return GBS_ERR_STATE if MPI is not initialised, or was initialised without support for threads
 * (MPI_THREAD_FUNNELED); GBS_ERR_IO with MPI's message if a call of MPI failed.
 */
GBS_API GBS_MUST_USE gbs_status gbs_mpi_ranks(MPI_Comm communicator, gbs_ranks *ranks,
                                              gbs_error *err);

/** Free what the table holds and set it to zeros. Collective; a table of all zeros, or NULL, is
 * left alone. */
GBS_API void gbs_mpi_ranks_free(gbs_ranks *ranks);

/** End the processes of all ranks at once, from any one of them; does not return.
 * @param exit_status exit status of the job, which MPI passes on. */
GBS_API void gbs_mpi_abort(const gbs_ranks *ranks, int exit_status);

#ifdef __cplusplus
}
#endif

#endif
