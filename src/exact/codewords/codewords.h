/* SPDX-License-Identifier: Apache-2.0 */
/* Components whose states are listed by their hard parities [M93]. The states that the parities of
 * a component of Booleans allow are x = first + N y over GF(2), with N a basis of the null space
 * and y the free bits. If there are few free bits, all these states are visited in the order of a
 * Gray code: each step adds one word of the basis, and reads only the factors that this word
 * touches. Factors of any kind take part; other hard zeros give states of weight 0.
 *
 * One thread does all the work of a component, so that the bits of results do not depend on the
 * number of threads. */
#ifndef GBSI_CODEWORDS_CODEWORDS_H
#define GBSI_CODEWORDS_CODEWORDS_H

#include "reference/exact_components.h"
#include "trees/exact_plan.h"

#define GBSI_CODEWORDS_BITS 24u /* most free bits */

/* A factor that a word touches, and the bits of the word in the number of the factor's entry. */
typedef struct gbsi_touch {
    uint32_t read; /* index in gbsi_codewords.read */
    uint32_t mask;
} gbsi_touch;

/* A factor that does not have one value for all solutions. */
typedef struct gbsi_read_factor {
    size_t factor;
    size_t table; /* start in gbsi_codewords.table of the values for all joint states, of which the
                     last variable moves fastest; SIZE_MAX if the factor has more than 8 variables,
                     and is computed at each step */
} gbsi_read_factor;

typedef struct gbsi_codewords {
    const gbsi_components *components; /* borrowed */
    uint32_t component;
    bool impossible;     /* the parities contradict one another; the arrays are then NULL */
    uint32_t n_words;    /* number of free bits; there are 2^n_words solutions */
    uint8_t *first;      /* [variables of the component] a solution */
    size_t *flip_start;  /* [n_words + 1] */
    uint32_t *flip;      /* variables that each word flips, by their numbers in the whole model */
    size_t *touch_start; /* [n_words + 1] */
    gbsi_touch *touch;   /* factors that each word touches */
    size_t n_read;
    gbsi_read_factor *read; /* [n_read] */
    double *table;
    double constant;       /* sum of the factors that have one value for all solutions */
    size_t *settled_start; /* [n_words + 2] */
    uint32_t *settled;     /* variables of the component, by their places in it, sorted by the first
                              word     that flips them; n_words if none does. A variable has one state
                              during     2^w steps if w is its first word */
    double n_steps;        /* number of solutions, 2^n_words */
    double ns;             /* predicted nanoseconds */
    uint64_t bytes;        /* bytes of the object and the work on it */
    struct gbsi_codewords *next; /* owned: codewords of another component */
} gbsi_codewords;

typedef struct gbsi_codewords_limits {
    double ns;      /* limit on the predicted nanoseconds of all components together */
    uint64_t bytes; /* limit on the bytes of all components together */
    bool maximise;  /* whether a most probable state is wanted, instead of sums */
    gbsi_watch *watch;
} gbsi_codewords_limits;

/* Finds components of Booleans whose hard parities leave at most GBSI_CODEWORDS_BITS free bits. A
 * component gets codewords if no dense tables fit, or if the search for sparse tables would try it
 * and its codewords are predicted to take less time than dense tables.
 *
 * @param dense    [components] 1: dense tables of the component fit.
 * @param dense_ns nanoseconds that one entry of dense tables takes.
 * @param out list of the components found, ascending; NULL: none was found. */
gbs_status gbsi_codewords_new(const gbsi_components *components, const gbsi_exact_plan *plan,
                              const gbsi_codewords_limits *limits, const uint8_t *dense,
                              double dense_ns, gbsi_codewords **out, gbs_error *err);
/* Frees `codewords` and all objects after it in the list. */
void gbsi_codewords_free(gbsi_codewords *codewords);
/* Sets to[c] = mark for each component c of the list. */
void gbsi_codewords_mark(const gbsi_codewords *codewords, uint8_t mark, uint8_t *to);

/* Computes ln of the sum over all states of the component, without log_constant; the result is
 * minus infinity if no state has positive weight. @param watch borrowed or NULL; after a stop,
 * results are undefined.
 * @param p NULL, or [states of the whole model] out: marginals of the component's variables. */
gbs_status gbsi_codewords_sum(const gbsi_codewords *codewords, gbsi_watch *watch, double *p,
                              double *log_z, gbs_error *err);

/* Finds a most probable state of the component, and ln of its weight. The first of several such
 * states in the order of the visits is taken.
 * @param x [whole variables] out: the states of the component's variables. */
gbs_status gbsi_codewords_maximise(const gbsi_codewords *codewords, gbsi_watch *watch, uint32_t *x,
                                   double *log_weight, gbs_error *err);

#endif
