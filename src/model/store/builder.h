/* SPDX-License-Identifier: Apache-2.0 */
/* Internal state of a gbs_builder: the model so far, in arrays that still grow. */
#ifndef GBSI_STORE_BUILDER_H
#define GBSI_STORE_BUILDER_H

#include "base/watch.h"
#include "store/checks.h"

/* Number of elements that each array of the model has room for. */
typedef struct gbsi_capacities {
    size_t arity, state_offset, name, label, text;
    size_t kind, scope_start, scope, literal, weight, aux;
    size_t table_start, table, logical;
    size_t tied_value, tied_fixed, tied_number, tied_feature;
} gbsi_capacities;

struct gbs_builder {
    gbs_model model; /* the model so far; gbs_builder_build() makes its fields digest, by_name, cpt
                        and topological */
    gbsi_capacities capacity;
    size_t text_bytes; /* number of bytes of model.text in use */
    gbsi_stamps stamps;
    gbsi_watch *watch; /* the watch in force when the builder was made, for example by a reader */
};

/* Grows an array of the builder to at least n elements; the caller names the array by its path in
 * the struct. */
#define GBSI_GROW(builder, array, field, n, err)                                    \
    gbsi_reserve((void **)(void *)&(builder)->array, &(builder)->capacity.field, n, \
                 sizeof *(builder)->array, "model", err)

/* Adds a factor of a kind that has a table (builder_factors.c). @param scope [n]. */
gbs_status gbsi_builder_add_tabled(gbs_builder *builder, gbs_factor_kind kind, uint32_t n,
                                   const uint32_t *scope, uint32_t table, gbs_error *err);

/* Returns the name or the number of a variable, for messages.
 * @param text [size] out. @return text. */
const char *gbsi_variable_text(const gbs_model *model, uint32_t variable, char *text, size_t size);
const char *gbsi_state_text(const gbs_model *model, uint32_t variable, uint32_t state, char *text,
                            size_t size);
/* Returns the scope of a factor as a text such as "(a, b, 7)"; long scopes are cut with "...". */
const char *gbsi_scope_text(const gbs_model *model, size_t factor, char *text, size_t size);

/* Sorts ids by the texts at the offsets of the ids; ids of equal texts are in ascending order.
 * @param scratch [n]. */
void gbsi_sort_by_text(const char *text, const size_t *offset, uint32_t *id, uint32_t *scratch,
                       size_t n);

/* Fills model->by_name; returns GBS_ERR_ARGUMENT if two variables share a name. */
gbs_status gbsi_model_index_names(gbs_model *model, gbs_error *err);
/* Fills the computed fields of a model except by_name: the order of a Bayesian network, the
 * digest, the number of bytes. On failure the model is unchanged. @param text_bytes number of
 * bytes of model->text. */
gbs_status gbsi_model_index(gbs_model *model, size_t text_bytes, gbs_error *err);
/* Fills model->cpt and topological, or refuses a model that is not a Bayesian network. */
gbs_status gbsi_model_index_network(gbs_model *model, gbs_error *err);
/* Fills model->digest. */
gbs_status gbsi_model_make_digest(gbs_model *model, gbs_error *err);
void gbsi_tied_free(gbsi_tied *tied);
/* Frees the arrays of a model, but not the struct. */
void gbsi_model_clear(gbs_model *model);

#endif
