/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of states for dense models, whose sites all have the same number of states. */
#ifndef GBSI_LEARN_ROWS_H
#define GBSI_LEARN_ROWS_H

#include "gibbsite/fit.h"
#include "gibbsite/machines.h"
#include "store/model.h"
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

/* ---- data.c --------------------------------------------------------------------------------- */

/* Rows of states, in which equal rows are kept once. */
#define GBSI_MISSING UINT16_MAX /* in place of a state: these are below GBS_MAX_ARITY */

struct gbs_data {
    const gbs_model *model;
    uint32_t n_columns;
    uint32_t *column;    /* [n_columns] variables */
    uint64_t *n_missing; /* [n_columns] rows without a value */
    uint64_t n_rows;     /* all */
    size_t n_distinct;   /* distinct rows in the order of their first occurrence: */
    uint16_t *state;     /* [n_distinct][n_columns] */
    uint64_t *count;     /* [n_distinct] number of rows that are equal */
    double *weight;      /* [n_distinct] sum of the weights of these rows */
    double sum;          /* sum of all weights: n_rows if no weights were given */
    uint64_t *first;     /* [n_distinct] the first of them, from 0 */
    size_t state_capacity, count_capacity, weight_capacity, first_capacity;
    size_t *slot; /* [n_slots] distinct rows by hash, SIZE_MAX: free; a power of two, half free */
    size_t n_slots;
};

#endif
