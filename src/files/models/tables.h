/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that several formats of models need: factors as tables, columns of probabilities,
 * names. */
#ifndef GBSI_MODELS_TABLES_H
#define GBSI_MODELS_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/io.h"
#include "gibbsite/model.h"
#include "gibbsite/status.h"

/* ---- expand.c ------------------------------------------------------------------------------ */

/* Any factor as a table, for formats that know nothing else; and logarithms as probabilities. */

typedef struct gbsi_expander {
    const gbs_model *model; /* borrowed */
    uint32_t *x;            /* [n_variables] */
    void *logw;             /* double, the table made last */
    size_t capacity;
} gbsi_expander;

gbs_status gbsi_expander_init(gbsi_expander *expander, const gbs_model *model, gbs_error *err);
void gbsi_expander_free(gbsi_expander *expander);

/* Gives the table of a factor.
 * @param logw out: [*n], last variable of the scope fastest, borrowed until the next call.
 * @return GBS_ERR_LIMIT if a factor that is not a table would have more than 2^24 entries. */
gbs_status gbsi_expand(gbsi_expander *expander, size_t factor, const double **logw, size_t *n,
                       gbs_error *err);

/* Writes exp(logw) as a short decimal whose logarithm is logw again if there is one near, so that
 * a probability that was read as 0.9 is written as 0.9.
 * @return GBS_ERR_ARGUMENT if it is beyond the range of doubles, naming the factor. */
gbs_status gbsi_output_exp(gbs_output *output, double logw, size_t factor, gbs_error *err);

/* ---- equal_tables.c ----------------------------------------------------------------------- */

/* Tables that were added lately. Files repeat equal tables, one per factor: a grid has as many as
 * edges. Small equal ones become one table of the builder. */

typedef struct gbsi_equal_tables gbsi_equal_tables;

gbs_status gbsi_equal_tables_new(gbsi_equal_tables **share, gbs_error *err);
void gbsi_equal_tables_free(gbsi_equal_tables *share);

/* Calls gbs_builder_add_table(), or gives the id of a table with the same bits if there is one. */
gbs_status gbsi_equal_tables_add(gbsi_equal_tables *share, gbs_builder *builder, size_t n,
                                 const double *logw, uint32_t *table, gbs_error *err);

/* ---- table_order.c ------------------------------------------------------------------------- */

/* The order in which the entries of a conditional table stand in a file. Ours is 0: the parents as
 * they are named, the first slowest, and the child fastest. */

#define GBSI_CHILD_SLOWEST    1u
#define GBSI_PARENTS_REVERSED 2u /* the first parent is the fastest of the parents */

/* @return the value of --table-order for an order. */
const char *gbsi_table_order_name(unsigned order);
bool gbsi_table_order_typed(const gbs_read_options *options);
/* Whether no order was typed, or one that exists. */
bool gbsi_table_order_known(const gbs_read_options *options);
/* @return the order that was typed, which must be known, else the standard one. */
unsigned gbsi_table_order(const gbs_read_options *options, unsigned standard);

/* The parents of a table of at most 2^64 entries that have more than one state. */
#define GBSI_MAX_PARENT_AXES 64
typedef struct gbsi_axes {
    uint32_t n_parents;
    uint32_t arity[GBSI_MAX_PARENT_AXES];
} gbsi_axes;

void gbsi_axes_add_parent(gbsi_axes *axes, uint32_t arity);
/* Reorders a table from the order of a file to ours. */
void gbsi_axes_turn(const gbsi_axes *axes, uint32_t child_arity, unsigned order, const double *from,
                    double *to);

/* ---- columns.c ----------------------------------------------------------------------------- */

/* Columns of conditional probability tables: the child's states for one state of its parents. The
 * columns of a conditional table should sum to one, but files only have a few digits. */

typedef struct gbsi_columns {
    bool normalize; /* scale columns to sum to one instead of counting */
    bool lenient;   /* count columns that are off by more than rounding too */
    bool insists;   /* off columns are taken as they are, or scaled, in the order that was typed */
    /* the table to be checked, as the file has it, and its order; NULL: the table is not checked as
     * a whole */
    const double *as_read;
    unsigned order;
    bool has_parents;  /* two or more, whose order no sum can tell */
    size_t n_off;      /* columns off by more than GBSI_COLUMN_TOLERANCE */
    double worst;      /* by how much the worst is off */
    double sum;        /* sum of the column that is GBSI_COLUMN_OFF */
    size_t worst_id;   /* number of its factor or child, as the caller gave it */
    size_t n_missing;  /* columns of NaN alone, made uniform where lenient */
    size_t missing_id; /* the factor or child of the first */
    size_t n_negative; /* entries that rounding made negative, see gbsi_columns_rounded() */
} gbsi_columns;

#define GBSI_COLUMN_ROUNDING 0.005 /* the rounding of an entry written with two digits */

typedef enum gbsi_column_status {
    GBSI_COLUMN_OK,
    GBSI_COLUMN_ZERO,     /* nothing but zeros: no distribution */
    GBSI_COLUMN_OVERFLOW, /* the sum is beyond the largest double */
    GBSI_COLUMN_OFF,      /* the sum is off by more than rounding, see sum */
    GBSI_COLUMN_MISSING,  /* nothing but NaN, and not lenient */
    GBSI_COLUMN_HOLED,    /* NaN beside numbers */
    GBSI_COLUMN_TURNED,   /* the same or zero, and all sums are one if the child varies slowest and
                             not fastest, or the other way */
} gbsi_column_status;

/* Whether a negative number is 0 apart from a rounding error, as in 1 - p - q, with the same
 * tolerance as for sums: such a number becomes 0 and is counted. */
bool gbsi_columns_rounded(gbsi_columns *columns, double *value);

/* Makes the state of checks from the options on columns and their order. */
gbsi_columns gbsi_columns_begin(const gbs_read_options *options);

/* Checks a table whose columns are stored one after the other (child fastest).
 * @param value [n_columns * arity] probabilities, or their logarithms if in_logs.
 * @param bad   out: the column in question unless GBSI_COLUMN_OK. */
gbsi_column_status gbsi_columns_check(gbsi_columns *columns, size_t id, double *value,
                                      size_t n_columns, uint32_t arity, bool in_logs, size_t *bad);

/* Gives advice on a column that is GBSI_COLUMN_OFF or GBSI_COLUMN_TURNED, for the end of a
 * message. */
#define GBSI_ADVICE 224
const char *gbsi_columns_advice(const gbsi_columns *columns, gbsi_column_status status,
                                char text[GBSI_ADVICE]);

/* ---- written_name.c ------------------------------------------------------------------------ */

/* Names of variables for formats that need them, and the search for a free name. */

#define GBSI_MADE_NAME 64

/* Gives a variable's name, or x and its number, with underscores added until no other variable
 * has that name.
 * @param made [GBSI_MADE_NAME], holds a name that was made.
 * @param name out, borrowed. */
gbs_status gbsi_written_name(const gbs_model *model, uint32_t variable, char *made,
                             const char **name, gbs_error *err);

/* Refuses a model that is not a Bayesian network, and a model without variables, which no reader of
 * such a format accepts. */
gbs_status gbsi_check_network(const gbs_model *model, const char *format, gbs_error *err);

/* ---- legal_names.c ------------------------------------------------------------------------- */

/* The names of a model in a form that a format holds. */
typedef struct gbsi_names {
    const gbs_model *model; /* borrowed */
    const char **variable;  /* [n_variables] */
    const char **state;     /* [state_offset[n_variables]], NULL if a variable has no labels */
    void *owned;            /* char * [n_owned] */
    size_t capacity, n_owned;
} gbsi_names;

/* Writes the form of a name that is legal in some format, itself if it is. @param legal out: at
 * least as long as name and 8 bytes. */
typedef void gbsi_legal(const char *name, bool is_state, char *legal);

/* Warns where names were changed. Free also on failure. */
gbs_status gbsi_names_init(gbsi_names *names, const gbs_model *model, gbsi_legal *make,
                           const char *format, const gbs_output *output,
                           const gbs_write_options *options, gbs_error *err);
void gbsi_names_free(gbsi_names *names);
/* @return the label of a state, NULL if the variable has no labels. */
const char *gbsi_names_state(const gbsi_names *names, uint32_t variable, uint32_t state);

/* Makes an identifier of ASCII letters, digits and '_' that begins with a letter: other
 * characters become '_', and a prefix goes in front if needed.
 * @param underscore_first whether an identifier may begin with '_' too. */
void gbsi_legal_identifier(const char *name, char prefix, bool underscore_first, char *legal);

#endif
