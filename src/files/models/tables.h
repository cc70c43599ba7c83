/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that several formats of models need. They give factors as tables, check columns of
 * probabilities, and give names of variables. */
#ifndef GBSI_MODELS_TABLES_H
#define GBSI_MODELS_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/io.h"
#include "gibbsite/model.h"
#include "gibbsite/status.h"

/* ---- expand.c ------------------------------------------------------------------------------ */

/* Gives any factor as a table, for formats that have only tables. Also writes probabilities whose
 * logarithms are given. */

typedef struct gbsi_expander {
    const gbs_model *model; /* borrowed */
    uint32_t *x;            /* [n_variables] */
    void *logw;             /* double: the table of the last factor that was not a table */
    size_t capacity;
} gbsi_expander;

gbs_status gbsi_expander_init(gbsi_expander *expander, const gbs_model *model, gbs_error *err);
void gbsi_expander_free(gbsi_expander *expander);

/* Gives the table of a factor.
 * @param logw out: [*n] logarithms of the entries, in which the last variable of the scope runs
 *   fastest. The array is borrowed until the next call.
 * @return GBS_ERR_LIMIT if a factor that is not a table would have more than 2^24 entries. */
gbs_status gbsi_expand(gbsi_expander *expander, size_t factor, const double **logw, size_t *n,
                       gbs_error *err);

/* Writes exp(logw). If a short decimal number near this value has the logarithm logw, this number
 * is written, so that a probability read as 0.9 is written as 0.9.
 * @return GBS_ERR_ARGUMENT, with the factor in the message, if exp(logw) is beyond the range of
 *   doubles. */
gbs_status gbsi_output_exp(gbs_output *output, double logw, size_t factor, gbs_error *err);

/* ---- equal_tables.c ----------------------------------------------------------------------- */

/* A cache of tables that were added recently. Files often repeat a table, such as the table of
 * every edge of a grid. Small tables that are equal become one table of the builder. */

typedef struct gbsi_equal_tables gbsi_equal_tables;

gbs_status gbsi_equal_tables_new(gbsi_equal_tables **share, gbs_error *err);
void gbsi_equal_tables_free(gbsi_equal_tables *share);

/* Gives the id of a cached table that has the same bits, or otherwise calls
 * gbs_builder_add_table(). */
gbs_status gbsi_equal_tables_add(gbsi_equal_tables *share, gbs_builder *builder, size_t n,
                                 const double *logw, uint32_t *table, gbs_error *err);

/* ---- table_order.c ------------------------------------------------------------------------- */

/* Orders of the entries of a conditional table in a file. The order of a model is 0, in which the
 * first parent runs slowest and the child runs fastest. */

#define GBSI_CHILD_SLOWEST    1u
#define GBSI_PARENTS_REVERSED 2u /* among the parents, the first one runs fastest */

/* @return the value of the option --table-order for an order. */
const char *gbsi_table_order_name(unsigned order);
bool gbsi_table_order_typed(const gbs_read_options *options);
/* Whether the options name an existing order or no order. */
bool gbsi_table_order_known(const gbs_read_options *options);
/* @return the order that the options name; `standard` if they name no order.
 *   gbsi_table_order_known() must be true. */
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

/* Checks columns of conditional probability tables. A column is the distribution of the child for
 * one joint state of the parents. Columns should sum to 1, but numbers in files have only a few
 * digits. */

typedef struct gbsi_columns {
    bool normalize; /* scales columns that do not sum to 1, instead of counting such columns */
    /* accepts and counts also columns whose sum differs from 1 by more than rounding */
    bool lenient;
    /* the user named an order, so columns are accepted or scaled even if their sums suggest another
     * order */
    bool insists;
    /* The table in the order of the file, and this order. as_read is NULL if tables are not tested
     * for another order. */
    const double *as_read;
    unsigned order;
    /* the table has at least two parents, whose order cannot be found from sums */
    bool has_parents;
    /* number of columns whose sum differs from 1 by more than GBSI_COLUMN_TOLERANCE */
    size_t n_off;
    double worst; /* largest deviation of a column sum from 1 */
    double sum;   /* sum of the column for which the result was GBSI_COLUMN_OFF */
    /* number that the caller gave for the factor or child whose column deviates by `worst` */
    size_t worst_id;
    size_t n_missing;  /* number of columns of NaN only, which were made uniform */
    size_t missing_id; /* number of the factor or child of the first column that was made uniform */
    /* number of negative entries that gbsi_columns_rounded() replaced */
    size_t n_negative;
} gbsi_columns;

#define GBSI_COLUMN_ROUNDING 0.005 /* largest rounding error of an entry with two digits */

typedef enum gbsi_column_status {
    GBSI_COLUMN_OK,
    GBSI_COLUMN_ZERO,     /* the column has only zeros, so it is no distribution */
    GBSI_COLUMN_OVERFLOW, /* the sum is larger than the largest double */
    GBSI_COLUMN_OFF,      /* the sum differs from 1 by more than rounding */
    GBSI_COLUMN_MISSING,  /* the column has only NaN, and reading is not lenient */
    GBSI_COLUMN_HOLED,    /* the column has NaN and numbers */
    /* the sum is 0 or differs from 1, but all columns sum to 1 if the child runs slowest instead of
     * fastest, or fastest instead of slowest */
    GBSI_COLUMN_TURNED,
} gbsi_column_status;

/* Replaces a negative number by 0, and counts it, if rounding can be the cause, as in 1 - p - q.
 * The number must not be below -GBSI_COLUMN_TOLERANCE.
 * @return whether the number was replaced. */
bool gbsi_columns_rounded(gbsi_columns *columns, double *value);

/* @return a new struct with the options for columns and for the order of tables. */
gbsi_columns gbsi_columns_begin(const gbs_read_options *options);

/* Checks a table whose columns are stored one after the other, so that the child runs fastest.
 * @param value [n_columns * arity] probabilities, or their logarithms if in_logs.
 * @param bad out: index of the faulty column, unless the result is GBSI_COLUMN_OK. */
gbsi_column_status gbsi_columns_check(gbsi_columns *columns, size_t id, double *value,
                                      size_t n_columns, uint32_t arity, bool in_logs, size_t *bad);

/* Writes advice for the end of a message about a column whose status is GBSI_COLUMN_OFF or
 * GBSI_COLUMN_TURNED. */
#define GBSI_ADVICE 224
const char *gbsi_columns_advice(const gbsi_columns *columns, gbsi_column_status status,
                                char text[GBSI_ADVICE]);

/* ---- written_name.c ------------------------------------------------------------------------ */

/* Finds unused names of variables for formats that need names. */

#define GBSI_MADE_NAME 64

/* Gives a variable's name. The name of a variable without a name is x with its number, to which
 * underscores are added until no other variable has this name.
 * @param made [GBSI_MADE_NAME] room for a new name.
 * @param name out: name of the variable, borrowed from the model or from `made`. */
gbs_status gbsi_written_name(const gbs_model *model, uint32_t variable, char *made,
                             const char **name, gbs_error *err);

/* Refuses a model that is not a Bayesian network or has no variables. Readers of formats of
 * Bayesian networks do not accept a file without variables. */
gbs_status gbsi_check_network(const gbs_model *model, const char *format, gbs_error *err);

/* ---- legal_names.c ------------------------------------------------------------------------- */

/* The names of a model in forms that are legal in a format. */
typedef struct gbsi_names {
    const gbs_model *model; /* borrowed */
    const char **variable;  /* [n_variables] */
    /* [state_offset[n_variables]] label of each state; NULL if the variable has no labels */
    const char **state;
    void *owned; /* char * [n_owned] */
    size_t capacity, n_owned;
} gbsi_names;

/* Writes a form of a name that is legal in some format. A legal name does not change.
 * @param legal out: legal name, with room for 8 bytes more than `name` has. */
typedef void gbsi_legal(const char *name, bool is_state, char *legal);

/* Makes the legal names, and warns if a name was changed. The struct `names` must be freed even
 * after a failure. */
gbs_status gbsi_names_init(gbsi_names *names, const gbs_model *model, gbsi_legal *make,
                           const char *format, const gbs_output *output,
                           const gbs_write_options *options, gbs_error *err);
void gbsi_names_free(gbsi_names *names);
/* @return the label of a state; NULL if the variable has no labels. */
const char *gbsi_names_state(const gbsi_names *names, uint32_t variable, uint32_t state);

/* Makes an identifier of ASCII letters, digits and '_' that begins with a letter. Other characters
 * become '_', and `prefix` is put before a name that could not begin an identifier.
 * @param underscore_first whether '_' may also begin an identifier. */
void gbsi_legal_identifier(const char *name, char prefix, bool underscore_first, char *legal);

#endif
