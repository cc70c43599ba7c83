/* SPDX-License-Identifier: Apache-2.0 */
/* A DimmWitted factor graph while it is read: records, from whichever form, become a model.
 *
 * Domains come before variables, these before weights, and factors last. What is wrong with a
 * record is GBS_ERR_ARGUMENT without a place; `field` then tells which of its fields (numbered as
 * in the binary form) is at fault, so that the reader can say where it stands. */
#ifndef GBSI_IO_DIMMWITTED_GRAPH_H
#define GBSI_IO_DIMMWITTED_GRAPH_H

#include <stdbool.h>

#include "gibbsite/io.h"

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

#endif
