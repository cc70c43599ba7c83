/* SPDX-License-Identifier: Apache-2.0 */
/* Factor graphs of DimmWitted, which are several files: finding, cutting, making a model. */
#ifndef GBSI_MODELS_DIMMWITTED_H
#define GBSI_MODELS_DIMMWITTED_H

#include <stdbool.h>
#include <stddef.h>

#include "gibbsite/io.h"
#include "gibbsite/model.h"
#include "gibbsite/status.h"
#include "text/input.h"

/* ---- dimmwitted_files.c -------------------------------------------------------------------- */

/* The files that make up a DimmWitted factor graph. The meta file FOLDER/BASE.meta has companions
 * in the same folder: BASE.weights*, BASE.variables*, BASE.factors* and BASE.domains*. Each kind is
 * one file, or several that are read in the order of their names. Files that end in .tsv or
 * .text2bin-args are not companions (they are the text from which DimmWitted makes these files).
 * Files that end in '~' and files that a writer left unfinished are not companions either. Any file
 * may end in a further .gz. */
typedef enum gbsi_dw_kind {
    GBSI_DW_WEIGHTS,
    GBSI_DW_VARIABLES,
    GBSI_DW_FACTORS,
    GBSI_DW_DOMAINS,
    GBSI_DW_N_KINDS,
} gbsi_dw_kind;

/* @return "weights", "variables", ... */
const char *gbsi_dw_kind_name(gbsi_dw_kind kind);

/* The meta file that a path stands for: itself, or FOLDER/graph.meta. */
typedef struct gbsi_dw_place {
    char *meta;
    size_t n_folder; /* bytes of meta before its name, the '/' included */
    size_t n_base;   /* bytes of the name before ".meta" */
    bool packed;     /* a final .gz */
} gbsi_dw_place;

gbs_status gbsi_dw_place_find(const char *path, gbsi_dw_place *place, gbs_error *err);
void gbsi_dw_place_free(gbsi_dw_place *place);

/* Writes the name of companions of a kind, without the folder, for messages: "graph.weights*".
 * @return text. */
const char *gbsi_dw_pattern(const gbsi_dw_place *place, gbsi_dw_kind kind, char *text, size_t size);

/* Companions that are there. */
typedef struct gbsi_dw_files {
    bool text;                   /* there are files of the text form, which is not read */
    void *path[GBSI_DW_N_KINDS]; /* char *, sorted */
    size_t n[GBSI_DW_N_KINDS];
    size_t capacity[GBSI_DW_N_KINDS];
} gbsi_dw_files;

gbs_status gbsi_dw_files_find(const gbsi_dw_place *place, gbsi_dw_files *files, gbs_error *err);
const char *gbsi_dw_files_path(const gbsi_dw_files *files, gbsi_dw_kind kind, size_t i);
void gbsi_dw_files_free(gbsi_dw_files *files);

/* ---- dimmwitted_graph.c -------------------------------------------------------------------- */

/* A DimmWitted factor graph while it is read: records become a model.
 *
 * Domains come before variables, these before weights, and factors last. Functions return
 * GBS_ERR_ARGUMENT for a faulty record, without a place in the message; `field` then has the number
 * of the faulty field in the file, from which the reader computes the place. */

/* The line of the meta file. */
typedef struct gbsi_dw_counts {
    uint64_t n_weights, n_variables, n_factors, n_edges;
} gbsi_dw_counts;

typedef struct gbsi_dw_graph {
    gbsi_dw_counts counts; /* n_variables at most GBS_MAX_VARIABLES */
    size_t field;          /* of the record refused */
    gbs_builder *builder;
    uint32_t *arity;    /* [n_variables] 0: no record yet */
    uint32_t *clamped;  /* [n_variables] state of evidence, UINT32_MAX for queries */
    size_t *domain;     /* [n_variables] start in value, SIZE_MAX: 0 .. cardinality-1 */
    uint32_t *n_domain; /* [n_variables] values in the domain */
    void *value;        /* uint64_t [n_values] domains, each ascending */
    size_t n_values, value_capacity;
    double *weight;      /* [n_weights] */
    uint8_t *fixed;      /* [n_weights] 1: learning does not change the weight */
    uint8_t *weighed;    /* [n_weights] 1: has a record */
    void *scope, *state; /* uint32_t, of the factor being added */
    size_t scope_capacity, state_capacity;
    uint64_t n_factors, n_edges; /* so far */
    uint64_t n_truthful;         /* domain values of truthiness other than 0 */
} gbsi_dw_graph;

/* Arrays for variables; counts are set, and what the files can hold was checked. */
gbs_status gbsi_dw_graph_init(gbsi_dw_graph *graph, gbs_error *err);
gbs_status gbsi_dw_graph_init_weights(gbsi_dw_graph *graph, gbs_error *err);
void gbsi_dw_graph_free(gbsi_dw_graph *graph);

/* Fields: id 0, cardinality 1, value i 2 + 2 i, truthiness i 3 + 2 i. @param value [n] is sorted.
 * @param truthiness [n], or NULL for zeros. */
gbs_status gbsi_dw_add_domain(gbsi_dw_graph *graph, uint64_t id, uint64_t n, uint64_t *value,
                              const double *truthiness, gbs_error *err);
/* Fields: id 0, role 1, initial value 2, type 3, cardinality 4. */
gbs_status gbsi_dw_add_variable(gbsi_dw_graph *graph, uint64_t id, uint64_t role, uint64_t initial,
                                uint64_t type, uint64_t cardinality, gbs_error *err);
/* Fields: id 0, isFixed 1, value 2. */
gbs_status gbsi_dw_add_weight(gbsi_dw_graph *graph, uint64_t id, uint64_t fixed, double value,
                              gbs_error *err);
/* Fields: function 0, arity 1, variable i 2 + 2 i, equalTo i 3 + 2 i, weight 2 + 2 n, feature
 * 3 + 2 n. @param n 1 to GBS_MAX_ARITY. */
gbs_status gbsi_dw_add_factor(gbsi_dw_graph *graph, uint64_t function, uint32_t n,
                              const uint64_t *variable, const uint64_t *equal_to, uint64_t weight,
                              double feature, gbs_error *err);

/* Called after the last variable: checks that every variable has a record, and gives variables and
 * labels to the builder.
 * @param n_bytes bytes of the files read so far, which limit how many states get a label. */
gbs_status gbsi_dw_finish_variables(gbsi_dw_graph *graph, size_t n_bytes, gbs_error *err);
gbs_status gbsi_dw_finish_weights(gbsi_dw_graph *graph, gbs_error *err);
/* Called after the last factor: checks that there are as many factors as announced, and makes hard
 * factors of the evidence. */
gbs_status gbsi_dw_finish_factors(gbsi_dw_graph *graph, gbs_model **model, gbs_error *err);

/* ---- dimmwitted_binary.c ------------------------------------------------------------------- */

/* Bytes that a record takes, 0: not asked. */
extern const size_t gbsi_dw_record_bytes[GBSI_DW_N_KINDS];

/* One file of records. */
gbs_status gbsi_dw_read_records(gbsi_dw_graph *graph, gbsi_dw_kind kind, const gbsi_input *input,
                                gbs_error *err);

#endif
