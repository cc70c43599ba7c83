/* SPDX-License-Identifier: Apache-2.0 */
/* Models on several ranks: gibbsite-mpi --distribute model, and folders of shares. */
#ifndef GIBBSITE_CLI_SHARES_H
#define GIBBSITE_CLI_SHARES_H

#include "job.h"

/* Write the paths FOLDER/000003.share, and FOLDER/variables.gbm, which has names and states of
 * all variables and no factors. */
void cli_share_path(const char *folder, uint32_t rank, char *path, size_t size);
void cli_variables_path(const char *folder, char *path, size_t size);

int cli_is_folder(const char *path);
/* Whether a path is a folder of shares, complete or not; models of DimmWitted are folders too. */
int cli_is_divided(const char *path);
/* Loads a folder as MODEL: the share of this rank, and the variables.
 * @return an exit status. */
int cli_load_folder(cli_job *job, const char *folder);

/* Checks, on all ranks together, that a model is divided on every rank or on none.
 * @return an exit status. */
int cli_meet_divided(const cli_job *job);

/* Makes the run of a share: of a folder, or of job->model, which every rank divides alike. */
gbs_status cli_new_shared_run(cli_job *job, int draws, gbs_error *err);
void cli_free_share(cli_job *job);

/* Prints what sweeps send and wait for; prints nothing if the model is not shared. */
void cli_tell_exchange(const cli_job *job);

#endif
