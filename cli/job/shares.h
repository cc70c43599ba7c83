/* SPDX-License-Identifier: Apache-2.0 */
/* Models on several ranks: gibbsite-mpi --distribute model, and folders of shares. */
#ifndef GIBBSITE_CLI_SHARES_H
#define GIBBSITE_CLI_SHARES_H

#include "job.h"

/* Write a path into `path`: FOLDER/000003.share for rank 3; or FOLDER/variables.gbm, a model with
 * the names and states of all variables and no factors. */
void cli_share_path(const char *folder, uint32_t rank, char *path, size_t size);
void cli_variables_path(const char *folder, char *path, size_t size);

int cli_is_folder(const char *path);
/* @return whether a path is a complete or incomplete folder of shares. (Models of DimmWitted are
 *         folders, too.) */
int cli_is_divided(const char *path);
/* Loads a folder that was given as MODEL: the share of this rank, and names and states of all
 * variables.
 * @return an exit status. */
int cli_load_folder(cli_job *job, const char *folder);

/* Checks, on all ranks together, that a model is divided either on every rank or on no rank.
 * @return an exit status. */
int cli_meet_divided(const cli_job *job);

/* Makes the run of a share. The share was read from a folder, or is a part of job->model, which
 * every rank divides in the same way. */
gbs_status cli_new_shared_run(cli_job *job, int draws, gbs_error *err);
void cli_free_share(cli_job *job);

/* Prints the number of messages that sweeps sent and the time that the messages took; prints
 * nothing if the model is not shared. */
void cli_tell_exchange(const cli_job *job);

#endif
