/* SPDX-License-Identifier: Apache-2.0 */
/* Reads factor graphs of DimmWitted, which consist of several files. The functions below find the
 * files, cut them into records, and make a model. */
#ifndef GBSI_MODELS_DIMMWITTED_H
#define GBSI_MODELS_DIMMWITTED_H

#include <stdbool.h>
#include <stddef.h>

#include "gibbsite/io.h"
#include "gibbsite/model.h"
#include "gibbsite/status.h"
#include "text/input.h"

/* ---- dimmwitted_files.c -------------------------------------------------------------------- */

/* Kinds of companion files. The companions of a meta file FOLDER/BASE.meta are BASE.weights*,
 * BASE.variables*, BASE.factors* and BASE.domains* in the same folder. Several files of one kind
 * are read in the order of their names. Files that end in .tsv or .text2bin-args are no companions:
 * they are the text from which DimmWitted makes the companions. Files that end in '~' and
 * unfinished files are no companions either. Any name may end in .gz. */
typedef enum gbsi_dw_kind {
    GBSI_DW_WEIGHTS,
    GBSI_DW_VARIABLES,
    GBSI_DW_FACTORS,
    GBSI_DW_DOMAINS,
    GBSI_DW_N_KINDS,
} gbsi_dw_kind;

/* @return the name of a kind of companions, such as "weights" or "variables". */
const char *gbsi_dw_kind_name(gbsi_dw_kind kind);

/* The meta file of a graph: the path that the user gave, or graph.meta in this folder if the path
 * is a folder. */
typedef struct gbsi_dw_place {
    char *meta;
    size_t n_folder; /* number of bytes of `meta` before the name of the file, with the '/' */
    size_t n_base;   /* number of bytes of the name before ".meta" */
    bool packed;     /* the name of the meta file ends in .gz */
} gbsi_dw_place;

gbs_status gbsi_dw_place_find(const char *path, gbsi_dw_place *place, gbs_error *err);
void gbsi_dw_place_free(gbsi_dw_place *place);

/* Writes the pattern of the file names of one kind of companions, without the folder, for messages:
 * "graph.weights*".
 * @return `text`. */
const char *gbsi_dw_pattern(const gbsi_dw_place *place, gbsi_dw_kind kind, char *text, size_t size);

/* Companions that are in the folder. */
typedef struct gbsi_dw_files {
    bool text;                   /* the folder has files of the text form, which is not read */
    void *path[GBSI_DW_N_KINDS]; /* char * [n] paths of the files of each kind, sorted by name */
    size_t n[GBSI_DW_N_KINDS];
    size_t capacity[GBSI_DW_N_KINDS];
} gbsi_dw_files;

gbs_status gbsi_dw_files_find(const gbsi_dw_place *place, gbsi_dw_files *files, gbs_error *err);
const char *gbsi_dw_files_path(const gbsi_dw_files *files, gbsi_dw_kind kind, size_t i);
void gbsi_dw_files_free(gbsi_dw_files *files);

/* ---- dimmwitted_graph.c -------------------------------------------------------------------- */

/* A DimmWitted factor graph whose records are being made into a model. Records must be added in the
 * order domains, variables, weights, factors. For a faulty record the functions return
 * GBS_ERR_ARGUMENT, and the message has no place. `field` is then the number of the faulty field,
 * from which the reader computes the place. */

/* Counts in the line of the meta file. */
typedef struct gbsi_dw_counts {
    uint64_t n_weights, n_variables, n_factors, n_edges;
} gbsi_dw_counts;

typedef struct gbsi_dw_graph {
    gbsi_dw_counts counts; /* counts of the meta file; n_variables is at most GBS_MAX_VARIABLES */
    size_t field;          /* number of the faulty field if a record was refused */
    gbs_builder *builder;
    uint32_t *arity; /* [n_variables] number of states; 0 if the variable has no record yet */
    /* [n_variables] observed state; UINT32_MAX if the variable is not observed */
    uint32_t *clamped;
    /* [n_variables] index of the first value of the variable's domain in `value`; SIZE_MAX if the
     * values are 0 .. cardinality-1 */
    size_t *domain;
    uint32_t *n_domain; /* [n_variables] number of values in the domain */
    /* uint64_t [n_values] values of all domains, ascending within each domain */
    void *value;
    size_t n_values, value_capacity;
    double *weight;      /* [n_weights] value of each weight */
    uint8_t *fixed;      /* [n_weights] 1 if learning must not change the weight */
    uint8_t *weighed;    /* [n_weights] 1 if the weight has a record */
    void *scope, *state; /* uint32_t: variables and states of the factor that is being added */
    size_t scope_capacity, state_capacity;
    uint64_t n_factors, n_edges; /* numbers of factors and edges that were added */
    uint64_t n_truthful;         /* number of domain values whose truthiness is not 0 */
} gbsi_dw_graph;

/* Allocates the arrays for variables. The caller must have set `counts` and compared them with the
 * sizes of the files. */
gbs_status gbsi_dw_graph_init(gbsi_dw_graph *graph, gbs_error *err);
gbs_status gbsi_dw_graph_init_weights(gbsi_dw_graph *graph, gbs_error *err);
void gbsi_dw_graph_free(gbsi_dw_graph *graph);

/* Adds a domain. The numbers of the fields are 0 for the id, 1 for the cardinality, 2 + 2 i for
 * value i, and 3 + 2 i for truthiness i.
 * @param value [n] values of the domain, which the call sorts.
 * @param truthiness [n] truthiness of each value; NULL if all are 0. */
gbs_status gbsi_dw_add_domain(gbsi_dw_graph *graph, uint64_t id, uint64_t n, uint64_t *value,
                              const double *truthiness, gbs_error *err);
/* Adds a variable. The numbers of the fields are 0 for the id, 1 for the role, 2 for the initial
 * value, 3 for the type, and 4 for the cardinality. */
gbs_status gbsi_dw_add_variable(gbsi_dw_graph *graph, uint64_t id, uint64_t role, uint64_t initial,
                                uint64_t type, uint64_t cardinality, gbs_error *err);
/* Adds a weight. The numbers of the fields are 0 for the id, 1 for isFixed, and 2 for the value. */
gbs_status gbsi_dw_add_weight(gbsi_dw_graph *graph, uint64_t id, uint64_t fixed, double value,
                              gbs_error *err);
/* Adds a factor. The numbers of the fields are 0 for the function, 1 for the arity, 2 + 2 i for
 * variable i, 3 + 2 i for its equalTo, 2 + 2 n for the weight, and 3 + 2 n for the feature.
 * @param n number of variables, 1 to GBS_MAX_ARITY. */
gbs_status gbsi_dw_add_factor(gbsi_dw_graph *graph, uint64_t function, uint32_t n,
                              const uint64_t *variable, const uint64_t *equal_to, uint64_t weight,
                              double feature, gbs_error *err);

/* Checks that every variable has a record, and gives variables and labels to the builder. Must be
 * called after the last variable.
 * @param n_bytes size of the files of variables and domains, which limits the number of labels. */
gbs_status gbsi_dw_finish_variables(gbsi_dw_graph *graph, size_t n_bytes, gbs_error *err);
gbs_status gbsi_dw_finish_weights(gbsi_dw_graph *graph, gbs_error *err);
/* Checks the number of factors, and adds a hard factor for each observation. Must be called after
 * the last factor. */
gbs_status gbsi_dw_finish_factors(gbsi_dw_graph *graph, gbs_model **model, gbs_error *err);

/* ---- dimmwitted_binary.c ------------------------------------------------------------------- */

/* Number of bytes of a record of each kind, 0 if records of the kind have different sizes. */
extern const size_t gbsi_dw_record_bytes[GBSI_DW_N_KINDS];

/* Reads all records of one file and adds them to the graph. */
gbs_status gbsi_dw_read_records(gbsi_dw_graph *graph, gbsi_dw_kind kind, const gbsi_input *input,
                                gbs_error *err);

#endif
