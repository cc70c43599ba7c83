/* SPDX-License-Identifier: Apache-2.0 */
/* Writes UAI results: the task word on one line, then the solution on one line. */
#include <math.h>

#include "answers/answers.h"
#include "answers/result.h"
#include "text/output.h"

static void write_pair(gbs_output *output, const char *before, uint64_t value)
{
    gbsi_output_text(output, before);
    gbsi_output_uint(output, value);
}

/* Writes marginals. Rows must sum to 1 within 1e-6. Each row is scaled, because averages of float32
 * conditionals are less exact. */
static void write_marginals(gbs_output *output, const gbs_marginals *m)
{
    gbsi_output_uint(output, m->n_variables);
    for (uint32_t v = 0; v < m->n_variables; v++) {
        double sum = 0.0;
        for (size_t i = m->offset[v]; i < m->offset[v + 1]; i++) {
            sum += m->p[i];
        }
        const double scale = sum > 0.0 ? sum : 1.0; /* a row of zeros stays a row of zeros */
        write_pair(output, " ", m->offset[v + 1] - m->offset[v]);
        for (size_t i = m->offset[v]; i < m->offset[v + 1]; i++) {
            gbsi_output_text(output, " ");
            gbsi_output_double(output, m->p[i] / scale);
        }
    }
}

void gbsi_result_write_solution(gbs_output *output, const gbs_result *result, gbs_log_base base)
{
    if (result == NULL) {
        return;
    }
    switch (result->task) {
    case GBS_TASK_PR:
        gbsi_output_double(output,
                           base == GBS_LOG_BASE_E ? result->log10_z * GBSI_LN10 : result->log10_z);
        break;
    case GBS_TASK_MAR:
        write_marginals(output, &result->marginals);
        break;
    case GBS_TASK_MAP:
    case GBS_TASK_MMAP:
        gbsi_output_uint(output, result->n);
        for (uint32_t i = 0; i < result->n; i++) {
            if (result->variable != NULL) {
                write_pair(output, " ", result->variable[i]);
            }
            write_pair(output, " ", result->state[i]);
        }
        break;
    }
    gbsi_output_text(output, "\n");
}

const char *gbs_task_word(gbs_task task)
{
    static const char *const word[] = {"PR", "MAR", "MAP", "MMAP"};
    return (unsigned)task < sizeof word / sizeof word[0] ? word[task] : NULL;
}
