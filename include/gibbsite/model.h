/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Factor graphs: variables with finitely many values and factors over them,
 *
 *     p(x)  ∝  exp( sum over factors f of theta_f(x_f) )                              [M1]
 *
 * A gbs_builder collects variables and factors and checks each as it comes; gbs_builder_build()
 * turns it into an immutable gbs_model that any number of runs may share. Log-weights are natural
 * logarithms; minus infinity (a forbidden combination) is legal, NaN, plus infinity and finite ones
 * beyond GBS_MAX_LOG_WEIGHT are not.
 *
 * Threads: different objects may be used from different threads at the same time; one object from
 * several threads only where nothing changes it (a built model may be shared by all).
 * Out of range: an id or number that does not exist, and NULL for an object or output, is
 * GBS_ERR_ARGUMENT
 * from calls that return a status; from others 0, NULL or NAN, as stated. NULL options and NULL
 * evidence stand for the defaults and for none.
 */
#ifndef GIBBSITE_MODEL_H
#define GIBBSITE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "gibbsite/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GBS_MAX_ARITY     65535u
#define GBS_MAX_VARIABLES 4294967280u /* 2^32 - 16: the largest ids mean "none" */
/** Finite log-weights go no further from zero, so that no sum over factors leaves double range. */
#define GBS_MAX_LOG_WEIGHT 1e280

typedef struct gbs_model gbs_model;
typedef struct gbs_builder gbs_builder;

/** How a factor computes its log-weight. Numbers never change; files may hold them. */
typedef enum gbs_factor_kind {
    GBS_FACTOR_TABLE = 0, /**< dense log-table, last variable of the scope fastest; may be shared */
    GBS_FACTOR_FIELD = 1, /**< h s_i, one binary variable, s = -1 in state 0 and +1 in state 1 */
    GBS_FACTOR_ISING = 2, /**< J s_i s_j, two binary variables */
    GBS_FACTOR_POTTS = 3, /**< J [x_i = x_j], two variables of one arity */
    GBS_FACTOR_LOGICAL = 4, /**< w phi(literals), see gbs_logical_function */
    GBS_FACTOR_SPIN = 5, /**< J prod s_k: higher-order Ising; scope of 1 or more binary variables */
} gbs_factor_kind;
/** What gbs_model_factor() returns for a factor that does not exist: no kind, so that no switch
 * needs a case for it. */
#define GBS_FACTOR_NONE ((gbs_factor_kind)255)

/**
 * Functions of literals l_1..l_m, l = 1 if x_v is the literal's state; head h = l_m, the rest is
 * the body. The factor adds weight * phi to the log-weight. Numbers are those of DimmWitted.
 * For the functions marked (hard) a weight of plus infinity makes the factor hard: log-weight 0
 * where phi is largest, minus infinity elsewhere.
 */
typedef enum gbs_logical_function {
    GBS_LOGICAL_IMPLY_NATURAL = 0, /**< body false: 0; body and head: 1; body, not head: -1 */
    GBS_LOGICAL_OR = 1,            /**< any literal: 1, none: -1 (hard) */
    GBS_LOGICAL_AND = 2,           /**< all literals: 1, else -1 (hard) */
    GBS_LOGICAL_EQUAL = 3,         /**< all literals equal: 1, else -1 (hard) */
    GBS_LOGICAL_IS_TRUE = 4,       /**< as GBS_LOGICAL_AND (hard) */
    GBS_LOGICAL_LINEAR = 7,        /**< sum over the body of (not l_i or h); m = 1: h */
    GBS_LOGICAL_RATIO = 8,         /**< log2(1 + the sum of GBS_LOGICAL_LINEAR) */
    GBS_LOGICAL_LOGICAL = 9, /**< 1 if the sum of GBS_LOGICAL_LINEAR is positive, else 0 (hard) */
    GBS_LOGICAL_AND_CATEGORICAL = 12, /**< all literals: 1, else 0 (hard) */
    GBS_LOGICAL_IMPLY_MLN = 13,       /**< body true and head false: 0, else 1 (hard) */
    GBS_LOGICAL_CLAUSE = 64,          /**< any literal: 1, none: 0 (hard): a weighted clause */
} gbs_logical_function;

/* ---- building ---------------------------------------------------------------------------- */

GBS_API gbs_status gbs_builder_new(gbs_builder **builder, gbs_error *err);
GBS_API void gbs_builder_free(gbs_builder *builder); /**< NULL is allowed */

/**
 * Add n variables.
 *
 * @param arity  [n] number of states, 1 to GBS_MAX_ARITY; copied.
 * @param first  out or NULL: id of the first of them; ids count up from 0.
 */
GBS_API gbs_status gbs_builder_add_variables(gbs_builder *builder, uint32_t n,
                                             const uint32_t *arity, uint32_t *first,
                                             gbs_error *err);

/** Name a variable: copied, not empty, without control characters, unique among the names of the
 *  model (checked by build). */
GBS_API gbs_status gbs_builder_name_variable(gbs_builder *builder, uint32_t variable,
                                             const char *name, gbs_error *err);

/** Label the states of a variable. @param label [arity], copied, unique within the variable, not
 *  empty, without control characters. */
GBS_API gbs_status gbs_builder_label_states(gbs_builder *builder, uint32_t variable,
                                            const char *const *label, gbs_error *err);

/**
 * Add a log-table that any number of factors may share.
 *
 * @param logw  [n_entries], natural log, last variable fastest; copied. Minus infinity is legal.
 * @param table out: its id, counting up from 0.
 */
GBS_API gbs_status gbs_builder_add_table(gbs_builder *builder, size_t n_entries, const double *logw,
                                         uint32_t *table, gbs_error *err);

/**
 * Add a factor that looks its log-weight up in a table.
 *
 * @param n      size of the scope; 0 makes a constant (a table of one entry).
 * @param scope  [n] distinct variables, slowest first; copied.
 * @return GBS_ERR_ARGUMENT if the table's size is not the product of the arities.
 */
GBS_API gbs_status gbs_builder_add_table_factor(gbs_builder *builder, uint32_t n,
                                                const uint32_t *scope, uint32_t table,
                                                gbs_error *err);

GBS_API gbs_status gbs_builder_add_field(gbs_builder *builder, uint32_t i, double h,
                                         gbs_error *err);
GBS_API gbs_status gbs_builder_add_ising(gbs_builder *builder, uint32_t i, uint32_t j,
                                         double coupling, gbs_error *err);
GBS_API gbs_status gbs_builder_add_potts(gbs_builder *builder, uint32_t i, uint32_t j,
                                         double coupling, gbs_error *err);
GBS_API gbs_status gbs_builder_add_spin(gbs_builder *builder, uint32_t n, const uint32_t *scope,
                                        double coupling, gbs_error *err);

/** Add weight * phi(literals). @param state [n] the state that makes each literal true; copied. */
GBS_API gbs_status gbs_builder_add_logical(gbs_builder *builder, gbs_logical_function function,
                                           uint32_t n, const uint32_t *scope, const uint32_t *state,
                                           double weight, gbs_error *err);

/**
 * Declare the model a Bayesian network: factor v is the conditional probability table of the last
 * variable of its scope, one factor per variable (in any order), no directed cycle. build() checks
 * all of it; whether columns sum to one is the reader's business.
 */
GBS_API void gbs_builder_set_directed(gbs_builder *builder);

/**
 * Check what concerns the whole and make the model. The builder is empty afterwards and may be
 * freed or used again; on failure it is unchanged.
 */
GBS_API gbs_status gbs_builder_build(gbs_builder *builder, gbs_model **model, gbs_error *err);

/* ---- looking ----------------------------------------------------------------------------- */

GBS_API void gbs_model_free(gbs_model *model); /**< NULL is allowed */
GBS_API uint32_t gbs_model_n_variables(const gbs_model *model);
GBS_API size_t gbs_model_n_factors(const gbs_model *model);
GBS_API int gbs_model_is_directed(const gbs_model *model); /**< 1 for a Bayesian network, else 0 */
GBS_API uint32_t gbs_model_arity(const gbs_model *model, uint32_t variable);

/** @return [n_variables + 1]: state a of variable v stands at offsets[v] + a in ragged arrays. */
GBS_API const size_t *gbs_model_state_offsets(const gbs_model *model);

/** @return the variable's name, or NULL if it has none. */
GBS_API const char *gbs_model_variable_name(const gbs_model *model, uint32_t variable);
/** @return the state's label, or NULL if it has none. */
GBS_API const char *gbs_model_state_label(const gbs_model *model, uint32_t variable,
                                          uint32_t state);

/**
 * Find a variable by what a user types: digits are a 0-based index, "=3" forces the name "3",
 * anything else is a name. @return GBS_ERR_ARGUMENT with a message naming near misses.
 */
GBS_API gbs_status gbs_model_find_variable(const gbs_model *model, const char *text,
                                           uint32_t *variable, gbs_error *err);
/** The same for a state of a variable: a label if the states have labels and one fits, else an
 * index. */
GBS_API gbs_status gbs_model_find_state(const gbs_model *model, uint32_t variable, const char *text,
                                        uint32_t *state, gbs_error *err);

/** @return the kind of a factor, and in *n and *scope (borrowed) its scope; both may be NULL. */
GBS_API gbs_factor_kind gbs_model_factor(const gbs_model *model, size_t factor, uint32_t *n,
                                         const uint32_t **scope);

/**
 * Evidence that the model itself carries (a hard factor on one variable that leaves one state), as
 * readers of files that hold model and evidence keep it.
 *
 * @param state [n_variables] out: that state, UINT32_MAX for variables that no such factor fixes.
 */
GBS_API void gbs_model_clamped(const gbs_model *model, uint32_t *state);

/** Unnormalised log density ln p(x) + ln Z of one assignment. @param state [n_variables]. */
GBS_API double gbs_model_log_density(const gbs_model *model, const uint32_t *state);

/** @return 32 hexadecimal digits (XXH3-128 of the content: arities, scopes, kinds, weights; names
 *          and labels do not count), static as long as the model. */
GBS_API const char *gbs_model_digest(const gbs_model *model);

/** @return memory held by the model, bytes. */
GBS_API size_t gbs_model_bytes(const gbs_model *model);

/* ---- evidence ---------------------------------------------------------------------------- */

/** What was observed: states of variables (hard) and likelihoods on them (virtual). */
typedef struct gbs_evidence gbs_evidence;

/** @param model borrowed, outlives the evidence. */
GBS_API gbs_status gbs_evidence_new(const gbs_model *model, gbs_evidence **evidence,
                                    gbs_error *err);
GBS_API void gbs_evidence_free(gbs_evidence *evidence);

/** Observe a state. Twice the same state is fine; a different one is GBS_ERR_ARGUMENT. */
GBS_API gbs_status gbs_evidence_observe(gbs_evidence *evidence, uint32_t variable, uint32_t state,
                                        gbs_error *err);

/** Multiply a likelihood in. @param likelihood [arity], finite, >= 0, not all zero; copied. */
GBS_API gbs_status gbs_evidence_likelihood(gbs_evidence *evidence, uint32_t variable,
                                           const double *likelihood, gbs_error *err);

GBS_API uint32_t gbs_evidence_n_observed(const gbs_evidence *evidence);
/** @return 1 and the state if the variable is observed, else 0. @param state may be NULL. */
GBS_API int gbs_evidence_state(const gbs_evidence *evidence, uint32_t variable, uint32_t *state);

#ifdef __cplusplus
}
#endif
#endif
