/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of Bayesian networks share: once the network is declared, tables over
 * (parents..., child), the child fastest, become a model one by one. */
#ifndef GBSI_IO_BIF_TABLES_H
#define GBSI_IO_BIF_TABLES_H

#include "io/bif_network.h"
#include "io/columns.h"
#include "io/share.h"

typedef struct gbsi_bif_tables {
    gbsi_text *text;
    const char *what; /* what the format calls a table, for messages: "probability block" */
    size_t n_spare;   /* entries that the file may leave to a default */
    gbsi_bif_network network;
    gbs_builder *builder;
    gbsi_share *share;
    size_t *seen;     /* [n_variables] 1 + the last table that named the variable */
    uint8_t *defined; /* [n_variables] 1: has a table */
    size_t n_underflow;
    gbsi_columns columns;
    /* the table being read */
    size_t n_begun; /* tables so far, this one included */
    gbsi_bif_token child;
    void *scope; /* uint32_t [n_scope]: child first, then parents; turned round at the end */
    size_t scope_capacity;
    uint32_t n_scope;
    uint32_t arity; /* of the child */
    size_t n_rows;  /* states of the parents */
    void *value;    /* double [n_rows * arity], then room for a row [arity] */
    size_t value_capacity;
} gbsi_bif_tables;

/* Free also on failure. text is borrowed, what a constant. */
gbs_status gbsi_bif_tables_init(gbsi_bif_tables *tables, gbsi_text *text, const char *what,
                                gbs_error *err);
void gbsi_bif_tables_free(gbsi_bif_tables *tables);

/* Once the network is declared: its variables, names and states. */
gbs_status gbsi_bif_tables_begin(gbsi_bif_tables *tables, gbs_error *err);

/* A table: its child, its parents, then room for its values (GBS_ERR_LIMIT where the rest of the
 * file and the spare entries cannot fill it). */
gbs_status gbsi_bif_table_child(gbsi_bif_tables *tables, const gbsi_bif_token *name,
                                gbs_error *err);
gbs_status gbsi_bif_table_parent(gbsi_bif_tables *tables, const gbsi_bif_token *name,
                                 gbs_error *err);
gbs_status gbsi_bif_table_size(gbsi_bif_tables *tables, gbs_error *err);
gbs_status gbsi_bif_table_too_large(const gbsi_bif_tables *tables, gbs_error *err);
/* One value of it, as text: finite and not negative. */
gbs_status gbsi_bif_table_value(gbsi_bif_tables *tables, const gbsi_bif_token *token, double *value,
                                gbs_error *err);
/* When value[0 .. n_rows * arity) is filled: check its columns and make it a factor. */
gbs_status gbsi_bif_table_add(gbsi_bif_tables *tables, gbs_error *err);

/* Every variable has a table, no cycle: the model. */
gbs_status gbsi_bif_tables_build(gbsi_bif_tables *tables, gbs_model **model, gbs_error *err);

uint32_t gbsi_bif_scope_at(const gbsi_bif_tables *tables, uint32_t position);
/* "(a, b)": the states of the parents that a row stands for. */
const char *gbsi_bif_show_row(const gbsi_bif_tables *tables, size_t row, char *text, size_t size);

/* A name that is not ended by 0, for messages only: cut at 64 bytes. */
#define GBSI_BIF_NAME_BYTES 65
const char *gbsi_bif_copy_name(gbsi_token token, char name[GBSI_BIF_NAME_BYTES]);

#endif
