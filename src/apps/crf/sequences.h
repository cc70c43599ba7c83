/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_CRF_SEQUENCES_H
#define GBSI_CRF_SEQUENCES_H

#include "base/status.h"
#include "gibbsite/crf.h"

struct gbs_sequences {
    char *name;  /* of the file */
    char *bytes; /* of the file, each text ended by 0 */
    uint32_t n_columns;
    size_t n, n_tokens;
    size_t *first;        /* [n + 1] */
    const char **text;    /* [n_tokens][n_columns], into bytes */
    uint64_t *line;       /* [n_tokens] from 1 */
    size_t text_capacity; /* capacity while the file is read */
    size_t line_capacity, first_capacity;
};

#endif
