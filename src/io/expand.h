/* SPDX-License-Identifier: Apache-2.0 */
/* Any factor as a table, for formats that know nothing else; and logarithms as probabilities. */
#ifndef GBSI_IO_EXPAND_H
#define GBSI_IO_EXPAND_H

#include "gibbsite/io.h"

typedef struct gbsi_expander {
    const gbs_model *model; /* borrowed */
    uint32_t *x;            /* [n_variables] */
    void *logw;             /* double, the table made last */
    size_t capacity;
} gbsi_expander;

gbs_status gbsi_expander_init(gbsi_expander *expander, const gbs_model *model, gbs_error *err);
void gbsi_expander_free(gbsi_expander *expander);

/* @param logw out: [*n], last variable of the scope fastest, borrowed until the next call.
 * @return GBS_ERR_LIMIT if a factor that is no table would have more than 2^24 entries. */
gbs_status gbsi_expand(gbsi_expander *expander, size_t factor, const double **logw, size_t *n,
                       gbs_error *err);

/* Write exp(logw): a short decimal whose logarithm is logw again if there is one near, so that a
 * probability that was read as 0.9 is written as 0.9.
 * @return GBS_ERR_ARGUMENT if it is beyond the range of doubles, naming the factor. */
gbs_status gbsi_output_exp(gbs_output *output, double logw, size_t factor, gbs_error *err);

#endif
