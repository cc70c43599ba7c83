/* SPDX-License-Identifier: Apache-2.0 */
/* What several formats need. */
#ifndef GBSI_TEXT_COMMON_H
#define GBSI_TEXT_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/io.h"
#include "gibbsite/model.h"
#include "gibbsite/status.h"

/* ---- system.c ------------------------------------------------------------------------------ */

/* "NAME: WHAT: reason of code"; GBS_ERR_IO. @param code a value of errno. */
gbs_status gbsi_fail_errno(gbs_error *err, const char *name, const char *what, int code);

/* ---- extension.c ---------------------------------------------------------------------------- */

/* What a path ends in. Letters of either case are the same, everywhere. */

bool gbsi_equal_any_case(const char *a, const char *b, size_t n);

/* Whether text[0 .. n) ends in ending[0 .. m), with something before it. */
bool gbsi_ends_in(const char *text, size_t n, const char *ending, size_t m);

/* Whether path has that ending (".tab"), perhaps with .gz or .zst behind it. */
bool gbsi_has_ending(const char *path, const char *ending);

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

/* @param logw out: [*n], last variable of the scope fastest, borrowed until the next call.
 * @return GBS_ERR_LIMIT if a factor that is no table would have more than 2^24 entries. */
gbs_status gbsi_expand(gbsi_expander *expander, size_t factor, const double **logw, size_t *n,
                       gbs_error *err);

/* Write exp(logw): a short decimal whose logarithm is logw again if there is one near, so that a
 * probability that was read as 0.9 is written as 0.9.
 * @return GBS_ERR_ARGUMENT if it is beyond the range of doubles, naming the factor. */
gbs_status gbsi_output_exp(gbs_output *output, double logw, size_t factor, gbs_error *err);

/* ---- equal_tables.c
 * ------------------------------------------------------------------------------- */

/* Files repeat equal tables, one per factor: a grid has as many as edges. Small ones seen lately
 * become one table of the builder. */

typedef struct gbsi_share gbsi_share;

gbs_status gbsi_share_new(gbsi_share **share, gbs_error *err);
void gbsi_share_free(gbsi_share *share);

/* gbs_builder_add_table, or the id of a table with the same bits. */
gbs_status gbsi_share_table(gbsi_share *share, gbs_builder *builder, size_t n, const double *logw,
                            uint32_t *table, gbs_error *err);

/* ---- columns.c ----------------------------------------------------------------------------- */

/* Columns of conditional probability tables: the child's states for one state of its parents. They
 * should sum to one, which files keep to a few digits only. */

typedef struct gbsi_columns {
    bool normalize;  /* scale columns to sum to one instead of counting */
    bool lenient;    /* count columns that are off by more than rounding too */
    size_t n_off;    /* columns off by more than GBSI_COLUMN_TOLERANCE */
    double worst;    /* by how much the worst is off */
    double sum;      /* of the column that is GBSI_COLUMN_OFF */
    size_t worst_id; /* its factor or child, as given */
} gbsi_columns;

#define GBSI_COLUMN_ROUNDING 0.005 /* of an entry written with two digits: more is a mistake */

typedef enum gbsi_column_status {
    GBSI_COLUMN_OK,
    GBSI_COLUMN_ZERO,     /* nothing but zeros: no distribution */
    GBSI_COLUMN_OVERFLOW, /* the sum is beyond the largest double */
    GBSI_COLUMN_OFF,      /* the sum is off by more than rounding, see sum */
} gbsi_column_status;

/* Checks a table whose columns are stored one after the other (child fastest).
 * @param value [n_columns * arity] probabilities, or their logarithms if in_logs.
 * @param bad   out: the column in question unless GBSI_COLUMN_OK. */
gbsi_column_status gbsi_columns_check(gbsi_columns *columns, size_t id, double *value,
                                      size_t n_columns, uint32_t arity, bool in_logs, size_t *bad);

/* ---- name_map.c ---------------------------------------------------------------------------- */

/* From names in the text of a file to numbers: variables, and states of each variable. */

typedef struct gbsi_name_entry {
    const char *at; /* borrowed; NULL: empty */
    size_t n;
    uint32_t owner;
    uint32_t value;
} gbsi_name_entry;

/* Open addressing, at most half full. Zero-initialise. */
typedef struct gbsi_name_map {
    gbsi_name_entry *entry;
    size_t n_slots; /* a power of 2, or 0 */
    size_t n_used;
} gbsi_name_map;

/* Adds a name under its owner. *added is false, and nothing changes, if it is there already. */
gbs_status gbsi_name_map_add(gbsi_name_map *map, uint32_t owner, const char *at, size_t n,
                             uint32_t value, bool *added, gbs_error *err);
bool gbsi_name_map_find(const gbsi_name_map *map, uint32_t owner, const char *at, size_t n,
                        uint32_t *value);
void gbsi_name_map_free(gbsi_name_map *map);

/* ---- written_name.c ------------------------------------------------------------------------ */

/* Names for formats that cannot do without, and finding one. */

#define GBSI_MADE_NAME 64

/* A variable's name, or x and its number with underscores until that is nobody's.
 * @param made [GBSI_MADE_NAME], holds a name that was made. @param name out, borrowed. */
gbs_status gbsi_written_name(const gbs_model *model, uint32_t variable, char *made,
                             const char **name, gbs_error *err);

/* The variable of that name. Unlike gbs_model_find_variable() it looks for no near misses. */
bool gbsi_find_name(const gbs_model *model, const char *name, uint32_t *variable);

/* Refuses what is no Bayesian network, and one without variables, which no reader of such a format
 * takes. */
gbs_status gbsi_check_network(const gbs_model *model, const char *format, gbs_error *err);

/* GBS_ERR_UNSUPPORTED "the name NAME cannot be written in FORMAT: WHY". */
gbs_status gbsi_refuse_name(const char *name, const char *format, const char *why, gbs_error *err);

/* Refuses what is no identifier: letters, digits and '_', no digit first. */
gbs_status gbsi_check_identifier(const char *name, const char *format, gbs_error *err);

#endif
