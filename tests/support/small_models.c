/* SPDX-License-Identifier: Apache-2.0 */
#include "support/small_models.h"
#include "gibbsite/generate.h"

#include <math.h>
#include <stdlib.h>

#include "rng/philox.h"
#include "support/making.h"

#define MAX_SCOPE 32

/* ---- numbers --------------------------------------------------------------------------------- */

uint32_t test_u32(test_stream *s)
{
    return gbsi_word(s->seed, 0, 0, s->n++, GBSI_PURPOSE_TEST);
}

uint32_t test_below(test_stream *s, uint32_t n)
{
    const uint32_t high = test_u32(s);
    return gbsi_below(high, test_u32(s), n);
}

double test_uniform(test_stream *s, double low, double high)
{
    const uint32_t word = test_u32(s);
    return low + (high - low) * gbsi_uniform(word, test_u32(s));
}

/* ---- scopes ---------------------------------------------------------------------------------- */

/* Draws n distinct variables, of which the first is given. */
static void random_scope(test_stream *s, uint32_t n_variables, uint32_t first, uint32_t n,
                         uint32_t *scope)
{
    scope[0] = first;
    for (uint32_t q = 1; q < n;) {
        const uint32_t v = test_below(s, n_variables);
        uint32_t seen = 0;
        for (uint32_t r = 0; r < q; ++r) {
            seen |= scope[r] == v;
        }
        if (!seen) {
            scope[q++] = v;
        }
    }
}

/* ---- families -------------------------------------------------------------------------------- */

static const gbs_logical_function functions[] = {
    GBS_LOGICAL_IMPLY_NATURAL,   GBS_LOGICAL_OR,        GBS_LOGICAL_AND,   GBS_LOGICAL_EQUAL,
    GBS_LOGICAL_IS_TRUE,         GBS_LOGICAL_LINEAR,    GBS_LOGICAL_RATIO, GBS_LOGICAL_LOGICAL,
    GBS_LOGICAL_AND_CATEGORICAL, GBS_LOGICAL_IMPLY_MLN, GBS_LOGICAL_CLAUSE};

static void random_logical(gbs_builder *b, test_stream *s, uint32_t n_variables, uint32_t first,
                           uint32_t n, const uint32_t *arity, double weight)
{
    gbs_error err = {0};
    uint32_t scope[MAX_SCOPE];
    uint32_t literal[MAX_SCOPE];
    random_scope(s, n_variables, first, n, scope);
    for (uint32_t q = 0; q < n; ++q) {
        literal[q] = test_below(s, arity[scope[q]]);
    }
    const uint32_t f = test_below(s, sizeof functions / sizeof functions[0]);
    must(gbs_builder_add_logical(b, functions[f], n, scope, literal, weight, &err), &err);
}

static void random_spin(gbs_builder *b, test_stream *s, uint32_t n_variables, uint32_t first,
                        uint32_t n)
{
    gbs_error err = {0};
    uint32_t scope[MAX_SCOPE];
    random_scope(s, n_variables, first, n, scope);
    must(gbs_builder_add_spin(b, n, scope, test_uniform(s, -0.8, 0.8), &err), &err);
}

static void pick_arities(test_family family, test_stream *s, uint32_t n, uint32_t *arity)
{
    const uint32_t equal = 3 + test_below(s, 3);
    for (uint32_t v = 0; v < n; ++v) {
        switch (family) {
        case TEST_ISING:
        case TEST_SPIN:
            arity[v] = 2;
            break;
        case TEST_POTTS:
            arity[v] = equal;
            break;
        case TEST_LOGICAL:
            arity[v] = 2 + (test_below(s, 3) == 0);
            break;
        default:
            arity[v] = 2 + test_below(s, 3);
            break;
        }
    }
}

/* One factor of a family on a variable and others. */
static void add_factor(gbs_builder *b, test_family family, test_stream *s, uint32_t n, uint32_t v,
                       const uint32_t *arity)
{
    uint32_t scope[4];
    const uint32_t order = n < 4 ? n : 4;
    const uint32_t longer = n < 7 ? n : 7; /* beyond what plans tabulate */
    random_scope(s, n, v, order, scope);
    switch (family) {
    case TEST_ISING:
        if (test_below(s, 3) == 0) {
            random_table(b, s, 2, scope, arity, 0.8, 0.0);
        } else {
            ising(b, scope[0], scope[1], test_uniform(s, -0.7, 0.7));
        }
        return;
    case TEST_POTTS:
        potts(b, scope[0], scope[1], v % 2 == 0 ? 0.5 : test_uniform(s, -0.7, 0.7));
        return;
    case TEST_PAIRWISE:
        random_table(b, s, 2, scope, arity, 1.0, 0.0);
        return;
    case TEST_LOGICAL:
        random_logical(b, s, n, v, 2 + test_below(s, longer - 1), arity,
                       test_uniform(s, -0.8, 0.8));
        return;
    case TEST_SPIN:
        random_spin(b, s, n, v, 2 + test_below(s, longer - 1));
        return;
    case TEST_PRECISE:
        /* Two opposite tables: the sums are large, what is left is not. */
        {
            double up[256];
            double down[256];
            const size_t entries = (size_t)arity[scope[0]] * arity[scope[1]];
            for (size_t i = 0; i < entries; ++i) {
                const double large = test_uniform(s, -900.0, 900.0);
                up[i] = large + test_uniform(s, -0.5, 0.5);
                down[i] = -large;
            }
            table(b, 2, scope, entries, up);
            table(b, 2, scope, entries, down);
        }
        return;
    default:
        random_table(b, s, 2 + test_below(s, order - 1), scope, arity, 1.0, 0.0);
        return;
    }
}

const char *test_family_name(test_family family)
{
    static const char *const name[TEST_N_FAMILIES] = {
        "ising", "potts", "pairwise", "table", "logical", "spin", "mixed", "bayes", "precise"};
    return name[family];
}

gbs_model *test_model(test_family family, uint64_t seed, uint32_t n)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    if (family == TEST_BAYES) {
        const gbs_generate_bayes_options options = {
            .variables = n, .parents = 3, .min_states = 2, .max_states = 4, .seed = seed};
        must(gbs_generate_bayes(&options, &model, &err), &err);
        return model;
    }
    test_stream s = {.seed = seed * 977 + family, .n = 0};
    uint32_t arity[64];
    pick_arities(family, &s, n, arity);
    gbs_builder *b = begin(n, arity);
    for (uint32_t v = 0; v < n; ++v) {
        random_table(b, &s, 1, &v, arity, 0.7, 0.0);
        for (uint32_t i = 0; n > 1 && i < 2; ++i) {
            test_family one = family;
            if (family == TEST_MIXED) {
                one = i == 0 ? TEST_LOGICAL : TEST_TABLE;
            }
            add_factor(b, one, &s, n, v, arity);
        }
    }
    return finish(b);
}

/* ---- the table ------------------------------------------------------------------------------- */

static gbs_model *make_empty(void)
{
    return finish(begin_equal(0, 2));
}

static gbs_model *make_one(void)
{
    gbs_builder *b = begin_equal(1, 3);
    const uint32_t v = 0;
    const double logw[3] = {0.0, 1.0, -1.0};
    table(b, 1, &v, 3, logw);
    return finish(b);
}

static gbs_model *make_chain(void)
{
    gbs_builder *b = begin_equal(8, 2);
    for (uint32_t v = 0; v < 7; ++v) {
        ising(b, v, v + 1, 0.4);
    }
    field(b, 0, 0.5);
    return finish(b);
}

static gbs_model *make_loop(void)
{
    gbs_builder *b = begin_equal(7, 2);
    for (uint32_t v = 0; v < 7; ++v) {
        ising(b, v, (v + 1) % 7, 0.3);
        field(b, v, 0.1 * v - 0.3);
    }
    return finish(b);
}

static gbs_model *make_frustrated(void)
{
    gbs_builder *b = begin_equal(9, 2);
    for (uint32_t r = 0; r < 3; ++r) {
        for (uint32_t c = 0; c < 3; ++c) {
            const double j = (r * 3 + c) % 4 == 0 ? -0.6 : 0.6;
            ising(b, r * 3 + c, r * 3 + (c + 1) % 3, j);
            ising(b, r * 3 + c, (r + 1) % 3 * 3 + c, -j);
        }
    }
    return finish(b);
}

/* Neighbouring states differ, four colours on a ring of five: Potts couplings of minus infinity. */
static gbs_model *make_coloring(void)
{
    gbs_builder *b = begin_equal(5, 4);
    for (uint32_t v = 0; v < 5; ++v) {
        potts(b, v, (v + 1) % 5, -INFINITY);
        const double logw[4] = {0.0, 0.3, -0.2, 0.1 * v};
        table(b, 1, &v, 4, logw);
    }
    return finish(b);
}

/* x0 xor x1 = x2: single-variable updates cannot cross. */
static gbs_model *make_xor(void)
{
    gbs_builder *b = begin_equal(4, 2);
    const uint32_t scope[3] = {0, 1, 2};
    double logw[8];
    for (uint32_t i = 0; i < 8; ++i) {
        logw[i] = ((i >> 2) ^ (i >> 1) ^ i) & 1 ? -INFINITY : 0.0;
    }
    table(b, 3, scope, 8, logw);
    ising(b, 2, 3, 0.5);
    return finish(b);
}

static gbs_model *make_sparse_zeros(void)
{
    test_stream s = {.seed = 11, .n = 0};
    const uint32_t arity[6] = {2, 3, 4, 2, 3, 2};
    gbs_builder *b = begin(6, arity);
    for (uint32_t v = 0; v < 6; ++v) {
        uint32_t scope[3] = {v, (v + 1) % 6, (v + 3) % 6};
        random_table(b, &s, 3, scope, arity, 0.8, 0.12);
    }
    return finish(b);
}

static gbs_model *make_mixed_arities(void)
{
    test_stream s = {.seed = 12, .n = 0};
    const uint32_t arity[6] = {1, 2, 5, 3, 1, 7};
    gbs_builder *b = begin(6, arity);
    for (uint32_t v = 0; v < 6; ++v) {
        const uint32_t scope[3] = {v, (v + 2) % 6, (v + 3) % 6};
        random_table(b, &s, 2 + v % 2, scope, arity, 0.8, 0.0);
    }
    return finish(b);
}

/* Sixteen-bit states, more than 32 states: double cumulative sums. */
static gbs_model *make_wide(void)
{
    test_stream s = {.seed = 13, .n = 0};
    const uint32_t arity[4] = {300, 2, 40, 3};
    gbs_builder *b = begin(4, arity);
    for (uint32_t v = 0; v < 4; ++v) {
        const uint32_t scope[2] = {v, (v + 1) % 4};
        random_table(b, &s, 2, scope, arity, 0.8, 0.0);
    }
    return finish(b);
}

static gbs_model *make_disconnected(void)
{
    gbs_builder *b = begin_equal(9, 2);
    ising(b, 0, 1, 0.7);
    ising(b, 3, 4, -0.7);
    field(b, 6, 0.4);
    ising(b, 7, 8, 0.2);
    return finish(b);
}

/* Clauses longer than GBSI_LONG_TERM keep counters; one is hard. */
/* One more than terms that keep no counters have, so that enumeration stays cheap. */
enum { N_LONG = 17 };

static gbs_model *make_long_clauses(void)
{
    gbs_error err = {0};
    test_stream s = {.seed = 14, .n = 0};
    uint32_t arity[N_LONG];
    uint32_t scope[N_LONG];
    uint32_t literal[N_LONG];
    for (uint32_t v = 0; v < N_LONG; ++v) {
        arity[v] = 2;
        scope[v] = v;
        literal[v] = v % 3 != 0;
    }
    gbs_builder *b = begin(N_LONG, arity);
    for (uint32_t i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
        must(gbs_builder_add_logical(b, functions[i], N_LONG, scope, literal, 0.02 * (i + 1), &err),
             &err);
    }
    must(gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, N_LONG, scope, literal, INFINITY, &err),
         &err);
    must(gbs_builder_add_spin(b, N_LONG, scope, 0.3, &err), &err);
    for (uint32_t v = 0; v < N_LONG; ++v) {
        field(b, v, test_uniform(&s, -0.5, 0.5));
    }
    return finish(b);
}

/* Potts couplings as text formats write them, beside one of the kind and one table that is none. */
static gbs_model *make_potts_tables(void)
{
    gbs_builder *b = begin_equal(6, 3);
    for (uint32_t v = 0; v < 6; ++v) {
        const uint32_t scope[2] = {v, (v + 1) % 6};
        double logw[9];
        for (uint32_t i = 0; i < 9; ++i) {
            logw[i] = i % 4 == 0 ? 0.9 - 0.1 * v : 0.3;
        }
        table(b, 2, scope, 9, logw);
        const double unary[3] = {0.0, 0.2 * v, -0.1};
        table(b, 1, &v, 3, unary);
    }
    potts(b, 0, 3, 0.4);
    const uint32_t scope[2] = {1, 4};
    const double skew[9] = {0.5, 0.0, 0.0, 0.0, 0.5, 0.1, 0.0, 0.0, 0.5};
    table(b, 2, scope, 9, skew);
    return finish(b);
}

static gbs_model *make_ising_family(void)
{
    return test_model(TEST_ISING, 1, 10);
}
static gbs_model *make_potts_family(void)
{
    return test_model(TEST_POTTS, 2, 7);
}
static gbs_model *make_pairwise_family(void)
{
    return test_model(TEST_PAIRWISE, 3, 8);
}
static gbs_model *make_table_family(void)
{
    return test_model(TEST_TABLE, 4, 8);
}
static gbs_model *make_logical_family(void)
{
    return test_model(TEST_LOGICAL, 5, 9);
}
static gbs_model *make_spin_family(void)
{
    return test_model(TEST_SPIN, 13, 10);
}
static gbs_model *make_mixed_family(void)
{
    return test_model(TEST_MIXED, 7, 8);
}
static gbs_model *make_bayes_family(void)
{
    return test_model(TEST_BAYES, 8, 9);
}
static gbs_model *make_precise_family(void)
{
    return test_model(TEST_PRECISE, 9, 6);
}

const test_case test_cases[] = {
    {"empty", make_empty, -1, 1},
    {"one", make_one, -1, 1},
    {"one-observed", make_one, 0, 1},
    {"chain", make_chain, -1, 1},
    {"chain-observed", make_chain, 3, 1},
    {"loop", make_loop, -1, 1},
    {"frustrated", make_frustrated, -1, 1},
    {"coloring", make_coloring, -1, 1},
    {"xor", make_xor, -1, 0},
    {"xor-observed", make_xor, 0, 0},
    {"sparse-zeros", make_sparse_zeros, -1, 1},
    {"mixed-arities", make_mixed_arities, -1, 1},
    {"wide", make_wide, -1, 1},
    {"disconnected", make_disconnected, -1, 1},
    {"long-clauses", make_long_clauses, -1, 1},
    {"ising", make_ising_family, -1, 1},
    {"potts", make_potts_family, -1, 1},
    {"potts-tables", make_potts_tables, -1, 1},
    {"potts-observed", make_potts_family, 2, 1},
    {"pairwise", make_pairwise_family, -1, 1},
    {"table", make_table_family, -1, 1},
    {"table-observed", make_table_family, 1, 1},
    {"logical", make_logical_family, -1, 1},
    {"logical-observed", make_logical_family, 4, 1},
    {"spin", make_spin_family, -1, 1},
    {"spin-observed", make_spin_family, 5, 1},
    {"mixed", make_mixed_family, -1, 1},
    {"bayes", make_bayes_family, -1, 1},
    {"bayes-observed", make_bayes_family, 8, 1},
    {"precise", make_precise_family, -1, 1},
    /* later than those above, and so behind what tests/conformance/digests.txt began with */
    {"parities", test_parities, -1, 1},
    {"parities-observed", test_parities, 6, 1},
    {"long-parities", test_long_parities, -1, 1},
    {"hard-parity", test_hard_parity, -1, 0},
    {"cardinalities", test_cardinalities, -1, 1},
    {"cardinalities-observed", test_cardinalities, 5, 1},
    {"long-cardinalities", test_long_cardinalities, -1, 1},
    {"hard-cardinalities", test_hard_cardinalities, -1, 1},
    {"noisy", test_noisy, -1, 1},
    {"noisy-observed", test_noisy, 7, 1}, /* in its effect */
    {"long-noisy", test_long_noisy, -1, 1},
    {"hard-noisy", test_hard_noisy, -1, 0},
    {"maxima", test_maxima, -1, 1},
    {"hard-maxima", test_hard_maxima, -1, 1},
    {"counts", test_counts, -1, 1},
};
const size_t n_test_cases = sizeof test_cases / sizeof test_cases[0];
const size_t n_first_test_cases = 30;

/* Adds the weight of x relative to *top, raising it (and scaling what was summed) where x is above.
 */
static void add_state(const gbs_model *model, const uint32_t *x, double *p, double *total,
                      double *top)
{
    const uint32_t n = gbs_model_n_variables(model);
    const size_t *offset = gbs_model_state_offsets(model);
    const double l = gbs_model_log_density(model, x);
    if (!(l > -INFINITY)) {
        return;
    }
    if (l > *top) {
        const double scale = exp(*top - l);
        for (size_t i = 0; i < offset[n]; ++i) {
            p[i] *= scale;
        }
        *total *= scale;
        *top = l;
    }
    const double w = exp(l - *top);
    *total += w;
    for (uint32_t v = 0; v < n; ++v) {
        p[offset[v] + x[v]] += w;
    }
}

void test_exact(const gbs_model *model, const gbs_evidence *evidence, double *p)
{
    const uint32_t n = gbs_model_n_variables(model);
    const size_t *offset = gbs_model_state_offsets(model);
    uint32_t *x = calloc((size_t)n + 1, sizeof *x);
    double total = 0.0;
    double top = -INFINITY;
    for (size_t i = 0; i < offset[n]; ++i) {
        p[i] = 0.0;
    }
    uint32_t v = 0;
    do {
        int consistent = 1;
        for (uint32_t u = 0; evidence != NULL && u < n; ++u) {
            uint32_t state = 0;
            consistent &= !gbs_evidence_state(evidence, u, &state) || state == x[u];
        }
        if (consistent) {
            add_state(model, x, p, &total, &top);
        }
        for (v = 0; v < n && ++x[v] == gbs_model_arity(model, v); ++v) {
            x[v] = 0;
        }
    } while (v < n);
    for (size_t i = 0; i < offset[n]; ++i) {
        p[i] /= total;
    }
    free(x);
}

bool test_all_binary(const gbs_model *model)
{
    for (uint32_t v = 0; v < gbs_model_n_variables(model); ++v) {
        if (gbs_model_arity(model, v) > 2) {
            return false;
        }
    }
    return true;
}

gbs_model *test_picture(void)
{
    const gbs_generate_potts_options options = {
        .rows = 40, .columns = 37, .states = 5, .coupling = 0.7, .noise = 1.0, .seed = 3};
    gbs_error err = {0};
    gbs_model *model = NULL;
    must(gbs_generate_potts(&options, &model, &err), &err);
    return model;
}

gbs_model *test_strip(void)
{
    const gbs_generate_ising_options options = {.side = {400, 6, 1},
                                                .coupling = 0.3,
                                                .coupling_spread = 0.5,
                                                .random_field = 0.5,
                                                .seed = 7};
    gbs_error err = {0};
    gbs_model *model = NULL;
    must(gbs_generate_ising(&options, &model, &err), &err);
    return model;
}
