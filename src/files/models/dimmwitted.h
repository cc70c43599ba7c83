/* SPDX-License-Identifier: Apache-2.0 */
/* Factor graphs of DimmWitted, which are several files: finding, cutting, making a model, and back.
 */
#ifndef GBSI_MODELS_DIMMWITTED_H
#define GBSI_MODELS_DIMMWITTED_H

#include <stdbool.h>
#include <stddef.h>

#include "gibbsite/io.h"
#include "gibbsite/model.h"
#include "gibbsite/status.h"
#include "text/input.h"

/* ---- dimmwitted_files.c -------------------------------------------------------------------- */

/* Which files make up a DimmWitted factor graph. The meta file FOLDER/BASE.meta has companions in
 * the same folder, each kind in one file or in several that are read in the order of their names:
 *
 *     binary  BASE.weights*  BASE.variables*  BASE.factors*  BASE.domains*
 *     text    weights*.tsv   variables*.tsv   factors*.tsv   domains*.tsv
 *             and for each factors*.tsv a factors*.text2bin-args
 *
 * In text form the names begin with "BASE." unless BASE is "graph". What ends in .tsv or
 * .text2bin-args is no binary companion, nor is what ends in '~' or a writer left unfinished. Any
 * file but the args may end in a further .gz. */

typedef enum gbsi_dw_kind {
    GBSI_DW_WEIGHTS,
    GBSI_DW_VARIABLES,
    GBSI_DW_FACTORS,
    GBSI_DW_DOMAINS,
    GBSI_DW_N_KINDS,
} gbsi_dw_kind;

/* "weights", "variables", ... */
const char *gbsi_dw_kind_name(gbsi_dw_kind kind);

typedef enum gbsi_dw_form { GBSI_DW_ANY, GBSI_DW_BINARY, GBSI_DW_TEXT } gbsi_dw_form;

/* The meta file that a path stands for: itself, or FOLDER/graph.meta. */
typedef struct gbsi_dw_place {
    char *meta;
    size_t n_folder; /* bytes of meta before its name, the '/' included */
    size_t n_base;   /* bytes of the name before ".meta" */
    bool packed;     /* a final .gz */
} gbsi_dw_place;

gbs_status gbsi_dw_place_find(const char *path, gbsi_dw_place *place, gbs_error *err);
void gbsi_dw_place_free(gbsi_dw_place *place);

/* What companions of a kind are called up to where they may differ: FOLDER/graph.weights or
 * FOLDER/weights, then tail. Caller frees. */
gbs_status gbsi_dw_place_name(const gbsi_dw_place *place, gbsi_dw_form form, gbsi_dw_kind kind,
                              const char *tail, char **path, gbs_error *err);
/* The same without the folder, for messages: "graph.weights*", "weights*.tsv". @return text. */
const char *gbsi_dw_pattern(const gbsi_dw_place *place, gbsi_dw_form form, gbsi_dw_kind kind,
                            char *text, size_t size);

/* Companions that are there. */
typedef struct gbsi_dw_files {
    gbsi_dw_form form;
    bool other_form;             /* files of the other form are there too */
    void *path[GBSI_DW_N_KINDS]; /* char *, sorted */
    size_t n[GBSI_DW_N_KINDS];
    size_t capacity[GBSI_DW_N_KINDS];
} gbsi_dw_files;

/* @param form GBSI_DW_ANY: the one that is there (binary if none is), refused if both are. */
gbs_status gbsi_dw_files_find(const gbsi_dw_place *place, gbsi_dw_form form, gbsi_dw_files *files,
                              gbs_error *err);
const char *gbsi_dw_files_path(const gbsi_dw_files *files, gbsi_dw_kind kind, size_t i);
void gbsi_dw_files_free(gbsi_dw_files *files);

/* ---- dimmwitted_outputs.c ------------------------------------------------------------------ */

/* The files of a graph being written: open side by side, put into place together. */

typedef struct gbsi_dw_outputs {
    gbsi_dw_form form;
    gbsi_dw_place place;
    bool fixed_floats;
    gbs_output *meta;
    void *companion; /* gbs_output * [n_companions] */
    void *name;      /* char * [n_companions] */
    size_t n_companions, companion_capacity, name_capacity;
} gbsi_dw_outputs;

/* @param path as the user named the graph. */
gbs_status gbsi_dw_outputs_init(gbsi_dw_outputs *outputs, const char *path, gbsi_dw_form form,
                                const gbs_write_options *options, gbs_error *err);
/* Drops what is not committed. */
void gbsi_dw_outputs_free(gbsi_dw_outputs *outputs);

/* Open the companion kind + tail, with .gz if the meta file has it (but for arguments).
 * @param output out, borrowed. */
gbs_status gbsi_dw_outputs_open(gbsi_dw_outputs *outputs, gbsi_dw_kind kind, const char *tail,
                                gbs_output **output, gbs_error *err);
gbs_status gbsi_dw_outputs_open_meta(gbsi_dw_outputs *outputs, gbs_output **output, gbs_error *err);

/* Everything into place, the meta file last. GBS_ERR_ARGUMENT, and nothing is, if a companion that
 * is there already would stay. */
gbs_status gbsi_dw_outputs_commit(gbsi_dw_outputs *outputs, gbs_error *err);

/* ---- dimmwitted_graph.c -------------------------------------------------------------------- */

/* A DimmWitted factor graph while it is read: records, from whichever form, become a model.
 *
 * Domains come before variables, these before weights, and factors last. What is wrong with a
 * record is GBS_ERR_ARGUMENT without a place; `field` then tells which of its fields (numbered as
 * in the binary form) is at fault, so that the reader can say where it stands. */

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
    uint8_t *fixed;      /* [n_weights] 1: learning leaves it as it is */
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
bool gbsi_dw_function_known(uint64_t function);

/* After the last variable: every one has a record; they and their labels go to the builder.
 * @param n_bytes of the files read so far, which bound how many states get a label. */
gbs_status gbsi_dw_finish_variables(gbsi_dw_graph *graph, size_t n_bytes, gbs_error *err);
gbs_status gbsi_dw_finish_weights(gbsi_dw_graph *graph, gbs_error *err);
/* After the last factor: as many as announced; evidence becomes hard factors. */
gbs_status gbsi_dw_finish_factors(gbsi_dw_graph *graph, gbs_model **model, gbs_error *err);

/* ---- dimmwitted_read.c --------------------------------------------------------------------- */

/* What the two forms of a DimmWitted factor graph differ in while reading: one file of records. */

typedef gbs_status (*gbsi_dw_read_fn)(gbsi_dw_graph *graph, gbsi_dw_kind kind,
                                      const gbsi_input *input, const gbs_read_options *options,
                                      gbs_error *err);

/* Bytes that a record takes at least (a text file may lack the last line's end), 0: not asked. */
extern const size_t gbsi_dw_binary_bytes[GBSI_DW_N_KINDS];
extern const size_t gbsi_dw_text_bytes[GBSI_DW_N_KINDS];

gbs_status gbsi_dw_read_binary(gbsi_dw_graph *graph, gbsi_dw_kind kind, const gbsi_input *input,
                               const gbs_read_options *options, gbs_error *err);
gbs_status gbsi_dw_read_text(gbsi_dw_graph *graph, gbsi_dw_kind kind, const gbsi_input *input,
                             const gbs_read_options *options, gbs_error *err);

/* ---- dimmwitted_factor.c ------------------------------------------------------------------- */

/* Factors of a model in terms of DimmWitted's functions, and what numbers its records. */

typedef enum gbsi_dw_how {
    GBSI_DW_NOT,     /* a constant, or evidence, which is written with its variable */
    GBSI_DW_ONE,     /* one factor */
    GBSI_DW_STATES,  /* a Potts coupling: one and-categorical factor per state */
    GBSI_DW_ENTRIES, /* one and-categorical factor per table entry that is not 0 */
} gbsi_dw_how;

typedef struct gbsi_dw_rule {
    gbsi_dw_how how;
    unsigned function;
    uint32_t n;
    const uint32_t *scope;   /* [n] */
    const uint32_t *literal; /* [n] states, NULL: state 1 of each; of GBSI_DW_ONE */
    double weight;
    double scale;   /* weight over that of the model's factor; GBSI_DW_ONE and _STATES */
    bool rewritten; /* by another function than the model's */
    bool shifted;   /* equal but for a constant */
} gbsi_dw_rule;

/* @param clamped as gbs_model_clamped() gives it.
 * @return GBS_ERR_UNSUPPORTED naming the factor if no sum of finite factors is equal to it. */
gbs_status gbsi_dw_rule_of(const gbs_model *model, const uint32_t *clamped, size_t factor,
                           gbsi_dw_rule *rule, gbs_error *err);

/* Numbers for things that are equal, from 0 as they come. Zero-initialise. */
typedef struct gbsi_dw_index {
    struct gbsi_dw_slot *slot; /* open addressing, at most half full */
    size_t n_slots;            /* a power of 2, or 0 */
    size_t n;
} gbsi_dw_index;

/* @param equal whether the thing is the one numbered id. @param id out. @param added out: new. */
gbs_status gbsi_dw_index_find(gbsi_dw_index *index, uint64_t hash,
                              bool (*equal)(const void *context, size_t id), const void *context,
                              size_t *id, bool *added, gbs_error *err);
void gbsi_dw_index_free(gbsi_dw_index *index);

/* Mixes a number into a hash. */
uint64_t gbsi_dw_hash(uint64_t hash, uint64_t value);

/* ---- dimmwitted_plan.c --------------------------------------------------------------------- */

/* What will be written of a model as a DimmWitted factor graph, settled (and refused) before any
 * file is touched. */

typedef struct gbsi_dw_plan {
    const gbs_model *model; /* borrowed */
    uint32_t *clamped;      /* [n_variables] gbs_model_clamped() */
    uint8_t *own_values;    /* [n_variables] 1: its labels are its domain values */
    bool any_own_values;
    size_t n_groups;      /* text form: factors of one function, arity and literals; else 1 */
    size_t *group_start;  /* [n_groups + 1] */
    size_t *order;        /* [group_start[n_groups]] factors, by group */
    size_t n_labels_lost; /* variables whose labels are no domain values */
    size_t n_rewritten, n_shifted;
} gbsi_dw_plan;

/* @param grouped text form. */
gbs_status gbsi_dw_plan_init(gbsi_dw_plan *plan, const gbs_model *model, bool grouped,
                             gbs_error *err);
void gbsi_dw_plan_free(gbsi_dw_plan *plan);

/* The domain value of a state. */
uint64_t gbsi_dw_value(const gbsi_dw_plan *plan, uint32_t variable, uint32_t state);
/* What literal i of a group is compared with, outside its factors. */
uint64_t gbsi_dw_fixed_value(const gbsi_dw_plan *plan, const gbsi_dw_rule *rule, uint32_t i);

#endif
