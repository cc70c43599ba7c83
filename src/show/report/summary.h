/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that writers of summaries share. */
#ifndef GBSI_REPORT_SUMMARY_H
#define GBSI_REPORT_SUMMARY_H

#include "base/status.h"
#include "gibbsite/report.h"
#include "text/output.h"

/* Copies the whole content of *memory to the output; copies no part of it if the function fails.
 * *memory is NULL afterwards. */
gbs_status gbsi_report_give(gbs_output **memory, gbs_output *output, gbs_error *err);

/* These functions write a member that is not the first of its object: ,"name": value. A text of
 * NULL is written as null. */
void gbsi_summary_real(gbs_output *output, const char *name, double value);
void gbsi_summary_uint(gbs_output *output, const char *name, uint64_t value);
void gbsi_summary_text(gbs_output *output, const char *name, const char *text);
void gbsi_summary_reals(gbs_output *output, const char *name, const double *value, size_t n);

/* summary_marginals.c: the member "marginals" of a run. */
gbs_status gbsi_summary_marginals(const gbs_run *run, const gbs_summary_about *about,
                                  gbs_output *output, gbs_error *err);

/* summary_map.c: writes the marginals of all variables as a picture, or null if the variables do
 * not form a grid or the build writes no PNG.
 * @param p, mcse results of gbs_run_marginals(). */
gbs_status gbsi_summary_map(const gbs_model *model, uint32_t rows, uint32_t columns,
                            const double *p, const double *mcse, gbs_output *output,
                            gbs_error *err);

#endif
