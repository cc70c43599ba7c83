/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Factor graphs: variables with finitely many values and factors over them,
 *
 *     p(x)  ∝  exp( sum over factors f of theta_f(x_f) )                              [M1]
 *
 * A gbs_builder collects variables and factors and checks each when it is added;
 * gbs_builder_build() turns it into an immutable gbs_model that any number of runs may share.
 * Log-weights are natural logarithms. Minus infinity (a forbidden combination of states) is legal;
 * NaN, plus infinity and finite log-weights beyond GBS_MAX_LOG_WEIGHT are not.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes this object; any number of threads can share a built model.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults; NULL evidence means no evidence.
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
#define GBS_MAX_VARIABLES 4294967280u /* 2^32 - 16; larger ids stand for "none" */
/** Largest absolute value of a finite log-weight, so that no sum over factors overflows a double.
 */
#define GBS_MAX_LOG_WEIGHT 1e280

typedef struct gbs_model gbs_model;
typedef struct gbs_builder gbs_builder;

/** How a factor computes its log-weight. The numbers never change, since files contain them. */
typedef enum gbs_factor_kind {
    GBS_FACTOR_TABLE = 0, /**< dense log-table, last variable of the scope fastest; may be shared */
    GBS_FACTOR_FIELD = 1, /**< h s_i, one binary variable, s = -1 in state 0 and +1 in state 1 */
    GBS_FACTOR_ISING = 2, /**< J s_i s_j, two binary variables */
    GBS_FACTOR_POTTS = 3, /**< J [x_i = x_j], two variables of equal arity */
    GBS_FACTOR_LOGICAL = 4,   /**< w phi(literals), see gbs_logical_function */
    GBS_FACTOR_SPIN = 5,      /**< J prod s_k, higher-order Ising, one or more binary variables */
    GBS_FACTOR_NOISY_OR = 6,  /**< ln P(child | parents), see gbs_builder_add_noisy_or() */
    GBS_FACTOR_NOISY_AND = 7, /**< ln P(child | parents), see gbs_builder_add_noisy_and() */
    GBS_FACTOR_NOISY_MAX = 8, /**< ln P(child | parents), see gbs_builder_add_noisy_max() */
    GBS_FACTOR_NOISY_MIN =
        9, /**< ln P(child | parents), as for GBS_FACTOR_NOISY_MAX but with the smallest effect */
} gbs_factor_kind;
#define GBS_N_FACTOR_KINDS 10
/** The value that gbs_model_factor() returns for a factor that does not exist. The value is not a
 * member of the enum, so that no switch needs a case for it. */
#define GBS_FACTOR_NONE ((gbs_factor_kind)255)

/**
 * Functions phi of literals l_1..l_m. A literal is 1 if its variable is in the literal's state,
 * otherwise 0; the last literal l_m is the head h, the others are the body. The factor adds weight
 * * phi to the log-weight. Functions with numbers below 64 have the numbers that DimmWitted gives
 * them. Functions marked (hard) also take a weight of plus infinity: log-weight 0 if phi is
 * largest, minus infinity elsewhere.
 */
typedef enum gbs_logical_function {
    GBS_LOGICAL_IMPLY_NATURAL = 0, /**< body false: 0; body and head: 1; body, not head: -1 */
    GBS_LOGICAL_OR = 1,            /**< any literal true: 1, none: -1 (hard) */
    GBS_LOGICAL_AND = 2,           /**< all literals true: 1, else -1 (hard) */
    GBS_LOGICAL_EQUAL = 3,         /**< all literals equal: 1, else -1 (hard) */
    GBS_LOGICAL_IS_TRUE = 4,       /**< same function as GBS_LOGICAL_AND (hard) */
    GBS_LOGICAL_LINEAR = 7,        /**< sum over the body of (not l_i or h); m = 1: h */
    GBS_LOGICAL_RATIO = 8,         /**< log2(1 + the sum of GBS_LOGICAL_LINEAR) */
    GBS_LOGICAL_LOGICAL = 9, /**< 1 if the sum of GBS_LOGICAL_LINEAR is positive, else 0 (hard) */
    GBS_LOGICAL_AND_CATEGORICAL = 12, /**< all literals true: 1, else 0 (hard) */
    GBS_LOGICAL_IMPLY_MLN = 13,       /**< body true and head false: 0, else 1 (hard) */
    GBS_LOGICAL_CLAUSE = 64,          /**< a weighted clause: any literal true: 1, none: 0 (hard) */
    GBS_LOGICAL_PARITY = 65,          /**< an odd number of literals true: 1, else 0 (hard) */
    /* marks the first function with a number k; factors with such functions are made by
     * gbs_builder_add_cardinality() */
    GBS_LOGICAL_AT_LEAST = 66, /**< k literals or more true: 1, else 0 (hard) */
    GBS_LOGICAL_AT_MOST = 67,  /**< no more than k literals true: 1, else 0 (hard) */
    GBS_LOGICAL_EXACTLY = 68,  /**< k literals true: 1, else 0 (hard) */
} gbs_logical_function;

/* ---- building ---------------------------------------------------------------------------- */

GBS_API GBS_MUST_USE gbs_status gbs_builder_new(gbs_builder **builder, gbs_error *err);
GBS_API void gbs_builder_free(gbs_builder *builder); /**< NULL is allowed */

/**
 * Add n variables.
 *
 * @param arity  [n] number of states, 1 to GBS_MAX_ARITY; copied.
 * @param first  out or NULL: id of the first new variable; ids count up from 0.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_variables(gbs_builder *builder, uint32_t n,
                                                          const uint32_t *arity, uint32_t *first,
                                                          gbs_error *err);

/** Name a variable. @param name copied; not empty, without control characters, and unique in the
 *  model, which gbs_builder_build() checks. */
GBS_API GBS_MUST_USE gbs_status gbs_builder_name_variable(gbs_builder *builder, uint32_t variable,
                                                          const char *name, gbs_error *err);

/** Label the states of a variable. @param label [arity], copied; unique within the variable, not
 *  empty, without control characters. */
GBS_API GBS_MUST_USE gbs_status gbs_builder_label_states(gbs_builder *builder, uint32_t variable,
                                                         const char *const *label, gbs_error *err);

/**
 * Add a log-table that any number of factors may share.
 *
 * @param logw  [n_entries], natural log, last variable fastest; copied. Minus infinity is legal.
 * @param table out: id of the table, counting up from 0.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_table(gbs_builder *builder, size_t n_entries,
                                                      const double *logw, uint32_t *table,
                                                      gbs_error *err);

/**
 * Add a factor that looks its log-weight up in a table.
 *
 * @param n      size of the scope; 0 makes a constant (a table of one entry).
 * @param scope  [n] distinct variables, slowest first; copied.
 * @return GBS_ERR_ARGUMENT if the table's size is not the product of the arities.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_table_factor(gbs_builder *builder, uint32_t n,
                                                             const uint32_t *scope, uint32_t table,
                                                             gbs_error *err);

/**
 * Add a factor from plain weights instead of their logarithms, such as probabilities that need not
 * sum to one: gbs_builder_add_table() and gbs_builder_add_table_factor() in one call.
 *
 * @param n         size of the scope.
 * @param scope     [n] distinct variables, slowest first; copied.
 * @param n_entries product of the arities in the scope.
 * @param weight    [n_entries], finite and not negative, last variable of the scope fastest. A
 *                  weight of 0 forbids a combination of states.
 * @return GBS_ERR_ARGUMENT, with the builder as it was, for any other number of entries, a weight
 *         that is negative or not finite, and a scope that gbs_builder_add_table_factor() refuses.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_potential(gbs_builder *builder, uint32_t n,
                                                          const uint32_t *scope, size_t n_entries,
                                                          const double *weight, gbs_error *err);

/**
 * Add a conditional probability table P(child | parents), as a factor with the scope
 * (parents, child). Call gbs_builder_set_directed() as well if every variable has one.
 *
 *     // P(rain) = 0.2, P(wet | rain) = 0.9, P(wet | no rain) = 0.1, states in the order no, yes
 *     const double p_rain[2] = {0.8, 0.2};
 *     const double p_wet[4] = {0.9, 0.1, 0.1, 0.9};
 *     gbs_builder_add_cpt(builder, rain, 0, NULL, 2, p_rain, &err);
 *     gbs_builder_add_cpt(builder, wet, 1, &rain, 4, p_wet, &err);
 *
 * @param child     the variable that is conditioned on its parents.
 * @param parent    [n_parents] distinct variables, slowest first; copied. NULL if there are none.
 * @param n_entries product of the arities of the parents and of the child.
 * @param p         [n_entries] probabilities from 0 to 1: for each joint state of the parents, the
 *                  probabilities of the child's states, which must sum to one within 1e-6. The
 *                  state of the last parent varies fastest among the parents. Zeros are allowed.
 *                  Columns are stored as they are, not rescaled.
 * @return GBS_ERR_ARGUMENT, with the builder as it was, for any other number of entries, an entry
 * that is not a probability, a column that does not sum to 1 (the message says which), and
 * variables that do not exist or occur twice.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_cpt(gbs_builder *builder, uint32_t child,
                                                    uint32_t n_parents, const uint32_t *parent,
                                                    size_t n_entries, const double *p,
                                                    gbs_error *err);

/* Factors with a formula: see the member of gbs_factor_kind with the same name. */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_field(gbs_builder *builder, uint32_t i, double h,
                                                      gbs_error *err);
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_ising(gbs_builder *builder, uint32_t i, uint32_t j,
                                                      double coupling, gbs_error *err);
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_potts(gbs_builder *builder, uint32_t i, uint32_t j,
                                                      double coupling, gbs_error *err);
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_spin(gbs_builder *builder, uint32_t n,
                                                     const uint32_t *scope, double coupling,
                                                     gbs_error *err);

/** A pair of variables with a number. */
typedef struct gbs_pair {
    uint32_t i, j;
    double value;
} gbs_pair;

#define GBS_NO_PAIR UINT32_MAX /**< value of `i` of a pair that must be skipped */

/** A polynomial of second degree in variables of two states, which are spins -1 and +1 or bits 0
 *  and 1:
 *     p(x) = constant + sum over v of linear_v x_v + sum over pairs of value x_i x_j.
 * Set the struct to zero, then set the fields that apply. */
typedef struct gbs_quadratic {
    size_t size;     /**< sizeof(gbs_quadratic) */
    double scale;    /**< factor of the polynomial p: the log-weight is scale * p(x). 1, or -1 /
                        temperature if p is an energy */
    double constant; /**< constant term, such as the offset of a binary quadratic model */
    const double *linear; /**< [n_variables] linear terms of variables 0, 1, ...; NULL: all are 0 */
    const gbs_pair *pair; /**< [n_pairs] pairs of different variables */
    size_t n_pairs;
    uint32_t n_variables;
    int bits; /**< 1: states 0 and 1 are bits 0 and 1; 0: they are spins -1 and +1 */
} gbs_quadratic;

/**
 * Add a polynomial of second degree as a constant factor, fields and couplings of spins; terms that
 * are zero add no factor.
 *
 * @param quadratic borrowed during the call.
 * @return GBS_ERR_ARGUMENT for a pair of a variable with itself or with an id of n_variables or
 *         more, for a variable that does not exist or does not have two states, and for a number
 *         that is not finite or larger in size than GBS_MAX_LOG_WEIGHT; terms before the wrong one
 *         may have been added.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_quadratic(gbs_builder *builder,
                                                          const gbs_quadratic *quadratic,
                                                          gbs_error *err);

/** Add a logical factor. @param scope [n] the variable of each literal; copied. @param state [n]
 * the state that makes each literal true; copied. @param weight in units of the log-weight. */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_logical(gbs_builder *builder,
                                                        gbs_logical_function function, uint32_t n,
                                                        const uint32_t *scope,
                                                        const uint32_t *state, double weight,
                                                        gbs_error *err);

/**
 * Add a logical factor that compares the number of its true literals with k.
 *
 * @param function GBS_LOGICAL_AT_LEAST (1 <= k <= n), GBS_LOGICAL_AT_MOST (k < n) or
 *                 GBS_LOGICAL_EXACTLY (k <= n).
 * @param k        at most 65535. @param weight in units of the log-weight; INFINITY: the condition
 * must hold.
 * @param scope, state see gbs_builder_add_logical().
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_cardinality(
    gbs_builder *builder, gbs_logical_function function, uint32_t k, uint32_t n,
    const uint32_t *scope, const uint32_t *state, double weight, gbs_error *err);

/**
 * Add a cardinality potential: log-weights t_0 .. t_n that depend on the number of true literals.
 * The call adds a constant t_0 and, for each k with t_k - t_(k-1) not 0, a factor AT_LEAST k of
 * this weight. In samplers, these factors share one counter of true literals. In exact inference,
 * they share one chain of auxiliary variables (up to 256 steps [M23]).
 *
 * @param n     number of literals. @param scope, state see gbs_builder_add_logical().
 * @param logw  [n + 1] natural logarithms; the first values and the last values may be minus
 *         infinity.
 * @return GBS_ERR_UNSUPPORTED if minus infinity is between two finite values; the builder is then
 *         not changed.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_count_table(gbs_builder *builder, uint32_t n,
                                                            const uint32_t *scope,
                                                            const uint32_t *state,
                                                            const double *logw, gbs_error *err);

/* Tied weights: numbered parameters for learning, each shared by any number of factors. If a factor
 * is tied to a weight, its h, J or w is value * feature. Tables are tied if factors share them.
 * Files of .gbm format and of DimmWitted keep ties. Ties are not part of the distribution or its
 * digest, and conditioned models have no ties. */

/**
 * Add n weights that factors can be tied to.
 *
 * @param value [n] the values of the weights, finite; copied.
 * @param fixed [n] for each weight, 1 if learning does not change the value, else 0; copied. NULL:
 *         all 0.
 * @param first out or NULL: number of the first new weight; numbers count up from 0.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_weights(gbs_builder *builder, size_t n,
                                                        const double *value, const uint8_t *fixed,
                                                        uint32_t *first, gbs_error *err);

/**
 * Tie a factor to a weight; a later call replaces an earlier one.
 *
 * @param factor number of the factor; numbers count up from 0 in the order of adding.
 * @param weight  number of the weight. @param feature finite.
 * @return GBS_ERR_ARGUMENT if the factor has a table, or if its weight is not value * feature.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_tie_factor(gbs_builder *builder, size_t factor,
                                                       uint32_t weight, double feature,
                                                       gbs_error *err);

/**
 * Add a noisy-or: each parent in state 1 is a cause that makes the child 1 unless the cause is
 * inhibited. Causes are inhibited independently (Pearl 1988, Probabilistic Reasoning in Intelligent
 * Systems, section 4.3.2): P(child = 0 | parents) = (1 - leak) product over parents i in state 1 of
 * inhibition_i. The factor has the scope (parents, child) and serves as the conditional table of
 * the child, but the table is never built. Memory, and the time of an update, are proportional to
 * the number of parents.
 *
 * @param child      a variable of two states, like the parents.
 * @param parent     [n_parents] distinct ids; copied.
 * @param inhibition [n_parents] probabilities, 0 to 1, that a parent in state 1 has no effect.
 * @param leak probability, 0 to 1, that the child is 1 although all parents are 0.
 * @return GBS_ERR_ARGUMENT, with the builder as it was, for any other arguments.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_noisy_or(gbs_builder *builder, uint32_t child,
                                                         uint32_t n_parents, const uint32_t *parent,
                                                         const double *inhibition, double leak,
                                                         gbs_error *err);

/**
 * Add a noisy-and, the mirror image of a noisy-or: each parent in state 0 keeps the child from
 * being 1, unless this effect is inhibited,
 *     P(child = 1 | parents) = (1 - leak) product over parents i in state 0 of inhibition_i.
 *
 * @param inhibition [n_parents] probabilities that a parent in state 0 has no effect.
 * @param leak probability that the child is 0 although all parents are 1.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_noisy_and(gbs_builder *builder, uint32_t child,
                                                          uint32_t n_parents,
                                                          const uint32_t *parent,
                                                          const double *inhibition, double leak,
                                                          gbs_error *err);

/**
 * Add a noisy-or or noisy-and whose parents have any number of states:
 *     P(child = none | parents) = (1 - leak) product over parents i of inhibition_i(state of i),
 * with none = 0 for GBS_FACTOR_NOISY_OR and 1 for GBS_FACTOR_NOISY_AND.
 *
 * @param n_entries  sum of the parents' numbers of states.
 * @param inhibition [n_entries] probabilities: for each parent in turn, one for each of its states.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_noisy(gbs_builder *builder, gbs_factor_kind kind,
                                                      uint32_t child, uint32_t n_parents,
                                                      const uint32_t *parent, size_t n_entries,
                                                      const double *inhibition, double leak,
                                                      gbs_error *err);

/**
 * Add a noisy-max. Each parent, and the leak, has an effect of its own, which is a state of the
 * child; the child takes the largest of these effects (Diez 1993, Parameter adjustment in Bayes
 * networks: the generalized noisy OR-gate, UAI). With C_i(y | u_i) = P(effect of parent i <= y |
 * its state u_i), P(child <= y | parents) = P(leak <= y) product over parents i of C_i(y | u_i).
 * With GBS_FACTOR_NOISY_MIN the child takes the smallest effect, with >= in place of <=. State 0
 * (for a minimum, the last state) is the absence of an effect. The factor takes as much memory and
 * time as the factor of gbs_builder_add_noisy_or(), times the child's number of states minus 1.
 *
 * @param kind      GBS_FACTOR_NOISY_MAX or GBS_FACTOR_NOISY_MIN.
 * @param child     a variable of two states or more.
 * @param parent    [n_parents] distinct ids; copied.
 * @param n_entries sum of the parents' numbers of states, times the child's number of states.
 * @param effect    [n_entries] for each state of each parent in turn, a distribution over the
 *         states of the child that sums to one within 1e-6.
 * @param leak      [child's number of states] the distribution of the leak's effect. NULL: no leak.
 * @return GBS_ERR_ARGUMENT, with the builder as it was, for any other arguments.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_add_noisy_max(gbs_builder *builder,
                                                          gbs_factor_kind kind, uint32_t child,
                                                          uint32_t n_parents,
                                                          const uint32_t *parent, size_t n_entries,
                                                          const double *effect, const double *leak,
                                                          gbs_error *err);

/**
 * Declare the model a Bayesian network. Every factor must be the conditional probability table of
 * the last variable of its scope, or a noisy factor in its place; there must be one factor per
 * variable (in any order) and no directed cycle. gbs_builder_build() checks this; it does not check
 * that columns sum to one.
 */
GBS_API void gbs_builder_set_directed(gbs_builder *builder);

/**
 * Check the model as a whole and build it. Afterwards the builder is empty and may be freed or used
 * again. If the call fails, the builder is unchanged.
 */
GBS_API GBS_MUST_USE gbs_status gbs_builder_build(gbs_builder *builder, gbs_model **model,
                                                  gbs_error *err);

/* ---- looking ----------------------------------------------------------------------------- */

GBS_API void gbs_model_free(gbs_model *model); /**< NULL is allowed */
GBS_API uint32_t gbs_model_n_variables(const gbs_model *model);
GBS_API size_t gbs_model_n_factors(const gbs_model *model);
GBS_API int gbs_model_is_directed(const gbs_model *model); /**< 1 for a Bayesian network, else 0 */
/** @return 1 if the model is a Bayesian network and every column of its tables sums to one within
 *  1e-6, so that Z is 1 and ln Z given evidence is ln P(evidence); else 0. Takes O(table
 * entries). */
GBS_API int gbs_model_is_normalized(const gbs_model *model);
GBS_API uint32_t gbs_model_arity(const gbs_model *model, uint32_t variable);

/** @return [n_variables + 1] offsets: arrays with an element for each state of each variable have
 *  state a of variable v at index offsets[v] + a. Borrowed. */
GBS_API const size_t *gbs_model_state_offsets(const gbs_model *model);

/** @return the name of a variable, or NULL if it has none. */
GBS_API const char *gbs_model_variable_name(const gbs_model *model, uint32_t variable);
/** @return the label of a state, or NULL if it has none. */
GBS_API const char *gbs_model_state_label(const gbs_model *model, uint32_t variable,
                                          uint32_t state);

/**
 * Find a variable from text that a user typed: a name or, if no variable has this name, digits for
 * a 0-based index. "#3" means the index 3, and "=3" the name "3". @return GBS_ERR_ARGUMENT if no
 * variable has this name; the message lists similar names.
 */
GBS_API GBS_MUST_USE gbs_status gbs_model_find_variable(const gbs_model *model, const char *text,
                                                        uint32_t *variable, gbs_error *err);
/** Find a state of a variable from text that a user typed: the label of a state, "#0" for the first
 * state, or a 0-based index if the variable has no labels. "=#0" is the label "#0".
 */
GBS_API GBS_MUST_USE gbs_status gbs_model_find_state(const gbs_model *model, uint32_t variable,
                                                     const char *text, uint32_t *state,
                                                     gbs_error *err);

/** @return the name of a kind of factor; NULL for a number that is not a kind of factor. */
GBS_API const char *gbs_factor_kind_name(gbs_factor_kind kind);
/** @return the kind of a factor. @param n out or NULL: number of variables. @param scope out or
 * NULL: [n] the variables, borrowed. */
GBS_API gbs_factor_kind gbs_model_factor(const gbs_model *model, size_t factor, uint32_t *n,
                                         const uint32_t **scope);

/** @return the number of tied weights. */
GBS_API uint32_t gbs_model_n_weights(const gbs_model *model);
/** @return the value of a tied weight, or NAN if there is no weight with this number. @param fixed
 * out or NULL: 1 if learning does not change the weight, else 0. */
GBS_API double gbs_model_weight(const gbs_model *model, uint32_t weight, int *fixed);
/** @return the number of the weight that a factor is tied to, or UINT32_MAX if the factor is not
 * tied.
 * @param feature out or NULL: the number that the weight is multiplied by; 0 if the factor is not
 * tied. */
GBS_API uint32_t gbs_model_tied_weight(const gbs_model *model, size_t factor, double *feature);

/**
 * List the evidence that is part of the model: factors on one variable that allow one state only.
 * Such factors are made by readers of formats that have model and evidence in one file.
 *
 * @param state [n_variables] out: the only allowed state, or UINT32_MAX if there is no such factor.
 */
GBS_API void gbs_model_clamped(const gbs_model *model, uint32_t *state);

/** @return the unnormalised log density ln p(x) + ln Z of a state. @param state [n_variables]. */
GBS_API double gbs_model_log_density(const gbs_model *model, const uint32_t *state);

/** @return 32 hexadecimal digits: the XXH3-128 hash of arities, scopes, kinds and weights, but not
 *         of names, labels and ties. The text is valid until the model is freed. */
GBS_API const char *gbs_model_digest(const gbs_model *model);

/** @return the memory that the model takes, in bytes. */
GBS_API size_t gbs_model_bytes(const gbs_model *model);

/* ---- time -------------------------------------------------------------------------------- */

/**
 * Unroll a network of two time slices over time [M57]. In such a network, variable X' is X in the
 * next slice. The tables of the variables X are the tables of the first slice. The table of X' is
 * P(X at t | its parents at t and t - 1), where a parent Y' is Y at t and a parent Y is Y at t - 1.
 * Variables without a primed partner are outside of time: they may be parents of variables in every
 * slice, but have no parents in a slice.
 *
 * @param model    a Bayesian network; not changed.
 * @param n_slices number of slices T, 1 or more.
 * @param unrolled out, caller frees: a Bayesian network. The first variables are the variables
 * outside of time. The variables X[0] of slice 0 follow, then the variables X[1] of slice 1, and so
 * on. X[T - 1] of every pair. Within a slice, variables have the order of the model. Noisy factors
 * stay noisy. Slices share their tables.
 * @return GBS_ERR_ARGUMENT if no pair is found, X' has no X or has other states than X, a variable
 *         outside of time has a parent X, or a variable X has a parent Y'; GBS_ERR_LIMIT, before
 *         any memory is allocated, if the network would not fit the memory limit
 *         (gbs_set_memory_limit()).
 */
GBS_API GBS_MUST_USE gbs_status gbs_unroll(const gbs_model *model, uint32_t n_slices,
                                           gbs_model **unrolled, gbs_error *err);

/* ---- evidence ---------------------------------------------------------------------------- */

/** Observations: states of variables (hard evidence) and likelihoods of states (virtual evidence).
 */
typedef struct gbs_evidence gbs_evidence;

/** @param model borrowed, outlives the evidence. */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_new(const gbs_model *model, gbs_evidence **evidence,
                                                 gbs_error *err);
GBS_API void gbs_evidence_free(gbs_evidence *evidence);

/** Observe a state. @return GBS_ERR_ARGUMENT if another state of the variable was observed before;
 *  observing the same state again is allowed. */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_observe(gbs_evidence *evidence, uint32_t variable,
                                                     uint32_t state, gbs_error *err);

/** Multiply the weight of each state of a variable by a likelihood. @param likelihood [arity],
 * finite,
 *  >= 0, not all zero; copied. */
GBS_API GBS_MUST_USE gbs_status gbs_evidence_likelihood(gbs_evidence *evidence, uint32_t variable,
                                                        const double *likelihood, gbs_error *err);

GBS_API uint32_t gbs_evidence_n_observed(const gbs_evidence *evidence);
/** @return 1 and the state if the variable is observed, else 0. @param state may be NULL. */
GBS_API int gbs_evidence_state(const gbs_evidence *evidence, uint32_t variable, uint32_t *state);

#ifdef __cplusplus
}
#endif
#endif
