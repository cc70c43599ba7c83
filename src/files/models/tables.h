/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that several formats of models need: factors as tables, columns of probabilities,
 * names of variables. */
#ifndef GBSI_MODELS_TABLES_H
#define GBSI_MODELS_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/io.h"
#include "gibbsite/model.h"
#include "gibbsite/status.h"

/* ---- expand.c ------------------------------------------------------------------------------ */

/* Gives any factor as a table, for formats that have only tables. Also writes probabilities from
 * logarithms. */

typedef struct gbsi_expander {
    const gbs_model *model; /* borrowed */
    uint32_t *x;            /* [n_variables] */
    void *logw;             /* double: the table that was made last */
    size_t capacity;
} gbsi_expander;

gbs_status gbsi_expander_init(gbsi_expander *expander, const gbs_model *model, gbs_error *err);
void gbsi_expander_free(gbsi_expander *expander);

/* Gives the table of a factor.
 * @param logw out: [*n] logarithms, the last variable of the scope fastest; borrowed until the
 *   next call.
 * @return GBS_ERR_LIMIT if a factor that is not a table would have more than 2^24 entries. */
gbs_status gbsi_expand(gbsi_expander *expander, size_t factor, const double **logw, size_t *n,
                       gbs_error *err);

/* Writes exp(logw) as a short decimal whose logarithm is logw, if there is one near. A
 * probability that was read as 0.9 is then written as 0.9.
 * @return GBS_ERR_ARGUMENT, with the factor in the message, if the number is beyond the range of
 *   doubles. */
gbs_status gbsi_output_exp(gbs_output *output, double logw, size_t factor, gbs_error *err);

/* ---- equal_tables.c ----------------------------------------------------------------------- */

/* A cache of recently added tables. Files repeat equal tables: a grid may have one for each
 * edge. Small tables that are equal become one table of the builder. */

typedef struct gbsi_equal_tables gbsi_equal_tables;

gbs_status gbsi_equal_tables_new(gbsi_equal_tables **share, gbs_error *err);
void gbsi_equal_tables_free(gbsi_equal_tables *share);

/* Calls gbs_builder_add_table(), or gives the id of a cached table with the same bits. */
gbs_status gbsi_equal_tables_add(gbsi_equal_tables *share, gbs_builder *builder, size_t n,
                                 const double *logw, uint32_t *table, gbs_error *err);

/* ---- table_order.c ------------------------------------------------------------------------- */

/* Orders of the entries of a conditional table in a file. The order of a model is 0: the first
 * parent slowest, and the child fastest. */

#define GBSI_CHILD_SLOWEST    1u
#define GBSI_PARENTS_REVERSED 2u /* the first parent runs fastest of the parents */

/* @return the value of --table-order that names an order. */
const char *gbsi_table_order_name(unsigned order);
bool gbsi_table_order_typed(const gbs_read_options *options);
/* Whether the options name an order that exists, or no order. */
bool gbsi_table_order_known(const gbs_read_options *options);
/* @return the order that the options name, otherwise the standard order. A named order must
 *   exist. */
unsigned gbsi_table_order(const gbs_read_options *options, unsigned standard);

/* Largest number of parents with more than one state in a table of at most 2^64 entries. */
#define GBSI_MAX_PARENT_AXES 64
typedef struct gbsi_axes {
    uint32_t n_parents;
    uint32_t arity[GBSI_MAX_PARENT_AXES];
} gbsi_axes;

void gbsi_axes_add_parent(gbsi_axes *axes, uint32_t arity);
/* Reorders a table from the order of a file to the order of the model. */
void gbsi_axes_turn(const gbsi_axes *axes, uint32_t child_arity, unsigned order, const double *from,
                    double *to);

/* ---- columns.c ----------------------------------------------------------------------------- */

/* Checks columns of conditional probability tables. A column holds the probabilities of the
 * child's states for one state of its parents. Columns should sum to 1, but files have only a
 * few digits. */

typedef struct gbsi_columns {
    bool normalize; /* scales columns to sum to 1 instead of counting them */
    bool lenient;   /* also accepts and counts columns whose sum is off by more than rounding */
    /* the user named the order, in which columns are accepted or scaled although their sums are
     * off */
    bool insists;
    /* The table to be checked, in the order of the file, and that order. NULL: the table is not
     * checked as a whole. */
    const double *as_read;
    unsigned order;
    bool has_parents; /* there are at least two parents, whose order no sum can tell */
    size_t n_off;     /* number of columns that are off by more than GBSI_COLUMN_TOLERANCE */
    double worst;     /* largest deviation of a column sum from 1 */
    double sum;       /* sum of the column that is GBSI_COLUMN_OFF */
    /* number of the factor or child with that deviation, as the caller gave it */
    size_t worst_id;
    size_t n_missing;  /* number of columns with only NaN that were made uniform */
    size_t missing_id; /* factor or child of the first such column */
    /* number of entries that rounding made negative, see gbsi_columns_rounded() */
    size_t n_negative;
} gbsi_columns;

#define GBSI_COLUMN_ROUNDING 0.005 /* rounding error of an entry with two digits */

typedef enum gbsi_column_status {
    GBSI_COLUMN_OK,
    GBSI_COLUMN_ZERO,     /* only zeros, which is no distribution */
    GBSI_COLUMN_OVERFLOW, /* the sum is larger than the largest double */
    GBSI_COLUMN_OFF,      /* the sum is off by more than rounding */
    GBSI_COLUMN_MISSING,  /* only NaN, and not lenient */
    GBSI_COLUMN_HOLED,    /* NaN beside numbers */
    /* the sum is off or zero, but all columns sum to 1 if the child is slowest instead of
     * fastest, or fastest instead of slowest */
    GBSI_COLUMN_TURNED,
} gbsi_column_status;

/* Replaces a negative number by 0, and counts it, if rounding explains it, as in 1 - p - q. The
 * tolerance is that of sums. @return whether the number was replaced. */
bool gbsi_columns_rounded(gbsi_columns *columns, double *value);

/* @return a struct for checks, with the options for columns and their order. */
gbsi_columns gbsi_columns_begin(const gbs_read_options *options);

/* Checks a table whose columns are stored one after the other (child fastest).
 * @param value [n_columns * arity] probabilities, or their logarithms if in_logs.
 * @param bad out: the faulty column unless the result is GBSI_COLUMN_OK. */
gbsi_column_status gbsi_columns_check(gbsi_columns *columns, size_t id, double *value,
                                      size_t n_columns, uint32_t arity, bool in_logs, size_t *bad);

/* Writes advice about a column that is GBSI_COLUMN_OFF or GBSI_COLUMN_TURNED, for the end of a
 * message. */
#define GBSI_ADVICE 224
const char *gbsi_columns_advice(const gbsi_columns *columns, gbsi_column_status status,
                                char text[GBSI_ADVICE]);

/* ---- written_name.c ------------------------------------------------------------------------ */

/* Finds free names of variables for formats that need names. */

#define GBSI_MADE_NAME 64

/* Gives a variable's name. A variable without a name gets x and its number, with underscores
 * added until no other variable has that name.
 * @param made [GBSI_MADE_NAME] room for a name that is made.
 * @param name out, borrowed. */
gbs_status gbsi_written_name(const gbs_model *model, uint32_t variable, char *made,
                             const char **name, gbs_error *err);

/* Refuses a model that is not a Bayesian network or has no variables. No reader of such a format
 * accepts a model without variables. */
gbs_status gbsi_check_network(const gbs_model *model, const char *format, gbs_error *err);

/* ---- legal_names.c ------------------------------------------------------------------------- */

/* The names of a model in a form that is legal in a format. */
typedef struct gbsi_names {
    const gbs_model *model; /* borrowed */
    const char **variable;  /* [n_variables] */
    /* [state_offset[n_variables]] labels, NULL if the variable has no labels */
    const char **state;
    void *owned; /* char * [n_owned] */
    size_t capacity, n_owned;
} gbsi_names;

/* Writes the form of a name that is legal in some format. A legal name does not change.
 * @param legal out: room for 8 bytes more than name. */
typedef void gbsi_legal(const char *name, bool is_state, char *legal);

/* Makes the legal names, and warns if names were changed. names must be freed even after a
 * failure. */
gbs_status gbsi_names_init(gbsi_names *names, const gbs_model *model, gbsi_legal *make,
                           const char *format, const gbs_output *output,
                           const gbs_write_options *options, gbs_error *err);
void gbsi_names_free(gbsi_names *names);
/* @return the label of a state, NULL if the variable has no labels. */
const char *gbsi_names_state(const gbsi_names *names, uint32_t variable, uint32_t state);

/* Makes an identifier of ASCII letters, digits and '_' that begins with a letter. Other
 * characters become '_', and a prefix is added if necessary.
 * @param underscore_first whether '_' may also begin an identifier. */
void gbsi_legal_identifier(const char *name, char prefix, bool underscore_first, char *legal);

#endif
