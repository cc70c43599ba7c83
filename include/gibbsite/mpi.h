/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The processes of an MPI job as ranks of a run (gibbsite/ranks.h). These functions are in a
 * separate library, libgibbsite-mpi, so that libgibbsite does not need MPI. libgibbsite-mpi is
 * installed if MPI was found when gibbsite was built.
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
 * Make a table of ranks from a communicator. The communicator is duplicated, so that messages of
 * the table cannot mix with messages of the caller. The call is collective over the communicator.
 *
 * @param ranks out; call gbs_mpi_ranks_free() before MPI_Finalize().
 * @return GBS_ERR_STATE if MPI is not initialised, or was initialised without support for threads
 * (MPI_THREAD_FUNNELED); GBS_ERR_IO with MPI's message if a call of MPI failed.
 */
GBS_API GBS_MUST_USE gbs_status gbs_mpi_ranks(MPI_Comm communicator, gbs_ranks *ranks,
                                              gbs_error *err);

/** Free the memory of the table and set the table to zeros. The call is collective; NULL, or a
 * table of all zeros, is allowed. */
GBS_API void gbs_mpi_ranks_free(gbs_ranks *ranks);

/** End the processes of all ranks at once. Any rank may call it; the call does not return.
 * @param exit_status exit status of the job, which MPI passes on. */
GBS_API void gbs_mpi_abort(const gbs_ranks *ranks, int exit_status);

#ifdef __cplusplus
}
#endif

#endif
