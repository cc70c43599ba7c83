/* SPDX-License-Identifier: Apache-2.0 */
/* marginals --monitor: traces of a run and their diagnostics. */
#ifndef GIBBSITE_CLI_TRACES_H
#define GIBBSITE_CLI_TRACES_H

#include "draws/diagnosis.h"
#include "kept_draws.h"

/* Makes job->run keep the traces that --monitor asks for and, for --report, the trace of the log
 * density.
 * @return an exit status. */
int cli_monitor(cli_job *job);
int cli_monitors(const cli_arguments *arguments);
/* Takes the traces after the run, with their diagnostics.
 * @return an exit status. The caller must call cli_diagnosis_free() in either case. */
int cli_traces_take(const cli_job *job, cli_diagnosis *a);
/* Prints the diagnostics as a table on standard error. If there are many quantities, the quantities
 * with the largest R-hat come first.
 * @param tempered 1: the run went on with ladders of temperatures.
 * @return an exit status. */
int cli_traces_tell(cli_diagnosis *a, int tempered);

#endif
