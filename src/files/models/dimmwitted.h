/* SPDX-License-Identifier: Apache-2.0 */
/* Reads factor graphs of DimmWitted, which consist of several files: finds the files, cuts them
 * into records, and makes a model. */
#ifndef GBSI_MODELS_DIMMWITTED_H
#define GBSI_MODELS_DIMMWITTED_H

#include <stdbool.h>
#include <stddef.h>

#include "gibbsite/io.h"
#include "gibbsite/model.h"
#include "gibbsite/status.h"
#include "text/input.h"

/* ---- dimmwitted_files.c -------------------------------------------------------------------- */

/* The files of a DimmWitted factor graph. The meta file FOLDER/BASE.meta has companions in its
 * folder: BASE.weights*, BASE.variables*, BASE.factors* and BASE.domains*. Each kind is one
 * file, or several files that are read in the order of their names. Files that end in .tsv or
 * .text2bin-args are not companions, but the text from which DimmWitted makes the companions.
 * Files that end in '~' and unfinished files are not companions either. Any name may end in .gz. */
typedef enum gbsi_dw_kind {
    GBSI_DW_WEIGHTS,
    GBSI_DW_VARIABLES,
    GBSI_DW_FACTORS,
    GBSI_DW_DOMAINS,
    GBSI_DW_N_KINDS,
} gbsi_dw_kind;

/* @return "weights", "variables", ... */
const char *gbsi_dw_kind_name(gbsi_dw_kind kind);

/* The meta file that a path stands for: the path itself, or FOLDER/graph.meta if the path is a
 * folder. */
typedef struct gbsi_dw_place {
    char *meta;
    size_t n_folder; /* bytes of `meta` before the file's name, including the '/' */
    size_t n_base;   /* bytes of the name before ".meta" */
    bool packed;     /* the name ends in .gz */
} gbsi_dw_place;

gbs_status gbsi_dw_place_find(const char *path, gbsi_dw_place *place, gbs_error *err);
void gbsi_dw_place_free(gbsi_dw_place *place);

/* Writes the pattern of the names of one kind of companion, without the folder, for messages:
 * "graph.weights*". @return text. */
const char *gbsi_dw_pattern(const gbsi_dw_place *place, gbsi_dw_kind kind, char *text, size_t size);

/* Companions that the folder has. */
typedef struct gbsi_dw_files {
    bool text;                   /* the folder has files of the text form, which is not read */
    void *path[GBSI_DW_N_KINDS]; /* char *, sorted by name */
    size_t n[GBSI_DW_N_KINDS];
    size_t capacity[GBSI_DW_N_KINDS];
} gbsi_dw_files;

gbs_status gbsi_dw_files_find(const gbsi_dw_place *place, gbsi_dw_files *files, gbs_error *err);
const char *gbsi_dw_files_path(const gbsi_dw_files *files, gbsi_dw_kind kind, size_t i);
void gbsi_dw_files_free(gbsi_dw_files *files);

/* ---- dimmwitted_graph.c -------------------------------------------------------------------- */

/* A DimmWitted factor graph while records become a model.
 * Domains come before variables, variables before weights, and factors last. Functions return
 * GBS_ERR_ARGUMENT for a faulty record, without a place in the message. `field` is then the
 * number of the faulty field, from which the reader computes the place. */

/* The counts in the line of the meta file. */
typedef struct gbsi_dw_counts {
    uint64_t n_weights, n_variables, n_factors, n_edges;
} gbsi_dw_counts;

typedef struct gbsi_dw_graph {
    gbsi_dw_counts counts; /* n_variables at most GBS_MAX_VARIABLES */
    size_t field;          /* number of the faulty field in a refused record */
    gbs_builder *builder;
    uint32_t *arity;   /* [n_variables] 0 if the variable has no record yet */
    uint32_t *clamped; /* [n_variables] observed state, UINT32_MAX if the variable is a query */
    /* [n_variables] start of the domain in `value`; SIZE_MAX: the values are 0 .. cardinality-1 */
    size_t *domain;
    uint32_t *n_domain; /* [n_variables] number of values in the domain */
    void *value;        /* uint64_t [n_values] values of the domains, each domain ascending */
    size_t n_values, value_capacity;
    double *weight;      /* [n_weights] */
    uint8_t *fixed;      /* [n_weights] 1 if learning does not change the weight */
    uint8_t *weighed;    /* [n_weights] 1 if the weight has a record */
    void *scope, *state; /* uint32_t: variables and states of the factor that is being added */
    size_t scope_capacity, state_capacity;
    uint64_t n_factors, n_edges; /* numbers until now */
    uint64_t n_truthful;         /* number of domain values whose truthiness is not 0 */
} gbsi_dw_graph;

/* Allocates the arrays for variables. The counts must be set, and checked against the size of
 * the files. */
gbs_status gbsi_dw_graph_init(gbsi_dw_graph *graph, gbs_error *err);
gbs_status gbsi_dw_graph_init_weights(gbsi_dw_graph *graph, gbs_error *err);
void gbsi_dw_graph_free(gbsi_dw_graph *graph);

/* Adds a domain. Fields: id 0, cardinality 1, value i 2 + 2 i, truthiness i 3 + 2 i.
 * @param value [n]; sorted by the call.
 * @param truthiness [n], or NULL for zeros. */
gbs_status gbsi_dw_add_domain(gbsi_dw_graph *graph, uint64_t id, uint64_t n, uint64_t *value,
                              const double *truthiness, gbs_error *err);
/* Adds a variable. Fields: id 0, role 1, initial value 2, type 3, cardinality 4. */
gbs_status gbsi_dw_add_variable(gbsi_dw_graph *graph, uint64_t id, uint64_t role, uint64_t initial,
                                uint64_t type, uint64_t cardinality, gbs_error *err);
/* Adds a weight. Fields: id 0, isFixed 1, value 2. */
gbs_status gbsi_dw_add_weight(gbsi_dw_graph *graph, uint64_t id, uint64_t fixed, double value,
                              gbs_error *err);
/* Adds a factor. Fields: function 0, arity 1, variable i 2 + 2 i, equalTo i 3 + 2 i, weight 2 +
 * 2 n, feature 3 + 2 n.
 * @param n 1 to GBS_MAX_ARITY. */
gbs_status gbsi_dw_add_factor(gbsi_dw_graph *graph, uint64_t function, uint32_t n,
                              const uint64_t *variable, const uint64_t *equal_to, uint64_t weight,
                              double feature, gbs_error *err);

/* Checks that every variable has a record, and gives variables and labels to the builder. To be
 * called after the last variable.
 * @param n_bytes bytes of the files read until now, which limit the number of labels. */
gbs_status gbsi_dw_finish_variables(gbsi_dw_graph *graph, size_t n_bytes, gbs_error *err);
gbs_status gbsi_dw_finish_weights(gbsi_dw_graph *graph, gbs_error *err);
/* Checks the number of factors, and adds a hard factor for each observation. To be called after
 * the last factor. */
gbs_status gbsi_dw_finish_factors(gbsi_dw_graph *graph, gbs_model **model, gbs_error *err);

/* ---- dimmwitted_binary.c ------------------------------------------------------------------- */

/* Bytes of a record of each kind, 0 if the size varies. */
extern const size_t gbsi_dw_record_bytes[GBSI_DW_N_KINDS];

/* Reads one file of records. */
gbs_status gbsi_dw_read_records(gbsi_dw_graph *graph, gbsi_dw_kind kind, const gbsi_input *input,
                                gbs_error *err);

#endif
