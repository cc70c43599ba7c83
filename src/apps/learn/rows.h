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
    uint8_t *state; /* [n][n_sites] states of the rows */
    double *weight; /* [n] weights of the rows */
    size_t state_capacity, weight_capacity;
    char *names;         /* names of the sites, each followed by 0; NULL: sites have no names */
    const char **name;   /* [n_sites] names of the sites, which point into `names`, or NULL */
    uint64_t n_unknown;  /* number of letters that were read as gaps */
    const char *letters; /* [n_states] letters of the states, or NULL */
    gbs_alphabet alphabet;
    char note[GBSI_ROWS_NOTE]; /* a line of text about columns that were skipped when the rows were
                                  read; "" if there were none */
};

/* Reads the alignment that begins with '>' at text->at. */
gbs_status gbsi_rows_read_fasta(const gbsi_text *text, gbs_alphabet alphabet, gbs_rows **rows,
                                gbs_error *err);

/* rows_csv.c: reads a table of states. @param rows in: NULL; out: the rows, which the caller frees
 * even after a failure. */
gbs_status gbsi_rows_csv(const gbsi_text *text, gbs_rows **rows, gbs_error *err);

/* Allocates memory for n more rows. The caller writes their states and weights, then increases
 * rows->n. */
gbs_status gbsi_rows_reserve(gbs_rows *rows, size_t n, gbs_error *err);

static inline const uint8_t *gbsi_row(const gbs_rows *rows, size_t row)
{
    return rows->state + row * rows->n_sites;
}

/* ---- data.c --------------------------------------------------------------------------------- */

/* Rows of states, in which equal rows are kept once. */
#define GBSI_MISSING UINT16_MAX /* stands for a missing state; states are below GBS_MAX_ARITY */

struct gbs_data {
    const gbs_model *model;
    uint32_t n_columns;
    uint32_t *column;    /* [n_columns] variable of each column */
    uint64_t *n_missing; /* [n_columns] number of rows without a value */
    uint64_t n_rows;     /* number of all rows */
    /* number of distinct rows, which are in the order of their first occurrence */
    size_t n_distinct;
    uint16_t *state; /* [n_distinct][n_columns] states */
    uint64_t *count; /* [n_distinct] number of rows that equal each distinct row */
    double *weight;  /* [n_distinct] sum of the weights of the rows that equal each distinct row */
    double sum;      /* sum of all weights: n_rows if no weights were given */
    uint64_t
        *first; /* [n_distinct] number, from 0, of the first row that equals each distinct row */
    size_t state_capacity, count_capacity, weight_capacity, first_capacity;
    size_t *slot; /* [n_slots] hash table of distinct rows; SIZE_MAX: free. n_slots is a power of
                     two, and half of the slots are free */
    size_t n_slots;
};

#endif
