/* SPDX-License-Identifier: Apache-2.0 */
/* --series: the quantities of every sweep of a run with observables, as arrays in an .npz file. */
#ifndef GIBBSITE_CLI_SERIES_H
#define GIBBSITE_CLI_SERIES_H

#include "gibbsite/observables.h"
#include "job/job.h"

typedef struct cli_series cli_series;

/* @param path path of the .npz file, borrowed. */
gbs_status cli_series_new(const char *path, uint32_t n_chains, cli_series **series, gbs_error *err);
void cli_series_free(cli_series *series);
/* Adds the quantities of one chain after a sweep; chains come in turn. */
gbs_status cli_series_put(cli_series *series, uint32_t chain, const gbs_observed *observed,
                          gbs_error *err);
/* Writes the file after the run. @return an exit status. */
int cli_series_write(const cli_series *series, const cli_job *job);

#endif
