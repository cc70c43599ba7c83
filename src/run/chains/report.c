/* SPDX-License-Identifier: Apache-2.0 */
/* Initialises the report of a run, and adds warnings to it. */
#include "chains/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void gbsi_report_init(gbsi_report *report)
{
    *report = (gbsi_report){.bias_at_most = NAN,
                            .public = {.size = sizeof report->public,
                                       .max_mcse = NAN,
                                       .max_rhat = NAN,
                                       .min_ess = NAN,
                                       .energy = NAN,
                                       .energy_mcse = NAN,
                                       .magnetisation = NAN,
                                       .magnetisation_mcse = NAN,
                                       .abs_magnetisation = NAN,
                                       .abs_magnetisation_mcse = NAN,
                                       .bias_estimate = NAN,
                                       .threshold = NAN,
                                       .certified = NAN,
                                       .residual = NAN,
                                       .exact.seconds = NAN,
                                       .log_z_bound = NAN,
                                       .log_z_bethe = NAN,
                                       .log_z = NAN}};
}

void gbsi_report_free(gbsi_report *report)
{
    for (size_t i = 0; i < report->public.n_warnings; ++i) {
        gbsi_free(report->warning[i]);
    }
    gbsi_free(report->warning);
}

gbs_status gbsi_report_warn(gbsi_report *report, gbs_error *err, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    gbsi_say_list(text, sizeof text, format, arguments);
    va_end(arguments);
    const size_t n = report->public.n_warnings;
    char *copy = gbsi_alloc(strlen(text) + 1);
    char **grown = copy == NULL ? NULL : gbsi_realloc_array(report->warning, n + 1, sizeof *grown);
    if (grown == NULL) {
        gbsi_free(copy);
        return gbsi_no_memory(err, "warnings", sizeof text);
    }
    memcpy(copy, text, strlen(text) + 1);
    report->warning = grown;
    report->warning[n] = copy;
    report->public.warning = (const char *const *)report->warning;
    report->public.n_warnings = n + 1;
    return GBS_OK;
}
