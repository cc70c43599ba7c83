/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of states for dense models, whose sites all have the same number of states. */
#ifndef GBSI_LEARN_ROWS_H
#define GBSI_LEARN_ROWS_H

#include "gibbsite/machines.h"
#include "text/text.h"

enum { GBSI_ROWS_NOTE = 512 };

struct gbs_rows {
    uint32_t n_sites, n_states;
    size_t n;
    uint8_t *state; /* [n][n_sites] */
    double *weight; /* [n] */
    size_t state_capacity, weight_capacity;
    char *names;         /* each ended by 0; NULL: sites have none */
    const char **name;   /* [n_sites] into names, or NULL */
    uint64_t n_unknown;  /* letters read as gaps */
    const char *letters; /* [n_states] of states, or NULL */
    gbs_alphabet alphabet;
    char note[GBSI_ROWS_NOTE]; /* columns that were skipped when the rows were read, as a line of
                                  text; "": nothing */
};

/* The alignment that begins with '>' at text->at. */
gbs_status gbsi_rows_read_fasta(const gbsi_text *text, gbs_alphabet alphabet, gbs_rows **rows,
                                gbs_error *err);

/* rows_csv.c: a table of states. @param rows NULL before; free it in either case. */
gbs_status gbsi_rows_csv(const gbsi_text *text, gbs_rows **rows, gbs_error *err);

/* Room for n more rows, whose states and weights the caller writes before rows->n grows. */
gbs_status gbsi_rows_reserve(gbs_rows *rows, size_t n, gbs_error *err);

static inline const uint8_t *gbsi_row(const gbs_rows *rows, size_t row)
{
    return rows->state + row * rows->n_sites;
}

#endif
