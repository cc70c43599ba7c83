/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_models.h"

#include <stdio.h>
#include <stdlib.h>

#include "gibbsite/generate.h"
#include "rng/philox.h"
#include "timing.h"

/* @return the n-th number of a fixed stream of test numbers. */
static uint32_t word(uint64_t n)
{
    return gbsi_word(1, 0, 0, n, GBSI_PURPOSE_TEST);
}

static double uniform(uint64_t n, double low, double high)
{
    return low + (high - low) * (word(n) * 0x1p-32);
}

static gbs_model *ising(uint32_t side)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    const gbs_generate_ising_options options = {.side = {side, side, 1},
                                                .torus = 1,
                                                .coupling = 0.2,
                                                .coupling_spread = 0.1,
                                                .random_field = 0.2,
                                                .seed = 1};
    bench_must(gbs_generate_ising(&options, &model, &err), &err);
    return model;
}

static gbs_model *uniform_ising(uint32_t side)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    const gbs_generate_ising_options options = {
        .side = {side, side, 1}, .torus = 1, .coupling = 0.3};
    bench_must(gbs_generate_ising(&options, &model, &err), &err);
    return model;
}

static gbs_model *regular(uint32_t n)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    const gbs_generate_regular_options options = {.variables = n,
                                                  .degree = 4,
                                                  .coupling = 0.2,
                                                  .coupling_spread = 0.1,
                                                  .random_field = 0.2,
                                                  .seed = 1};
    bench_must(gbs_generate_regular(&options, &model, &err), &err);
    return model;
}

static gbs_model *potts(uint32_t side)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    const gbs_generate_potts_options options = {
        .rows = side, .columns = side, .states = 5, .coupling = 1.0, .noise = 1.0, .seed = 1};
    bench_must(gbs_generate_potts(&options, &model, &err), &err);
    return model;
}

static gbs_model *bayes(uint32_t n)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    const gbs_generate_bayes_options options = {
        .variables = n, .parents = 3, .min_states = 2, .max_states = 4, .seed = 1};
    bench_must(gbs_generate_bayes(&options, &model, &err), &err);
    return model;
}

static gbs_builder *begin(uint32_t n, uint32_t arity)
{
    gbs_error err = {0};
    gbs_builder *builder = NULL;
    uint32_t *arities = bench_alloc(n, sizeof *arities);
    for (uint32_t v = 0; v < n; ++v) {
        arities[v] = arity;
    }
    bench_must(gbs_builder_new(&builder, &err), &err);
    bench_must(gbs_builder_add_variables(builder, n, arities, NULL, &err), &err);
    free(arities);
    return builder;
}

static gbs_model *end(gbs_builder *builder)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    bench_must(gbs_builder_build(builder, &model, &err), &err);
    gbs_builder_free(builder);
    return model;
}

/* Makes pairwise tables of 3 x 3 on the edges of a grid, and one table on every variable.
 * @param rarest one log-weight of each table. */
static gbs_model *tables_on_grid(uint32_t side, double rarest)
{
    enum { N_TABLES = 16, K = 3 };
    gbs_error err = {0};
    gbs_builder *builder = begin(side * side, K);
    uint32_t pair[N_TABLES];
    uint32_t single[N_TABLES];
    for (uint32_t t = 0; t < N_TABLES; ++t) {
        double logw[K * K];
        for (uint32_t i = 0; i < K * K; ++i) {
            logw[i] = uniform(K * K * t + i, -0.7, 0.7);
        }
        logw[2] = rarest;
        bench_must(gbs_builder_add_table(builder, K * K, logw, &pair[t], &err), &err);
        bench_must(gbs_builder_add_table(builder, K, logw + K, &single[t], &err), &err);
    }
    for (uint32_t v = 0; v < side * side; ++v) {
        const uint32_t right[2] = {v, v + 1};
        const uint32_t below[2] = {v, v + side};
        const uint32_t w = word(v + 1000);
        bench_must(gbs_builder_add_table_factor(builder, 1, &v, single[w % N_TABLES], &err), &err);
        if (v % side + 1 < side) {
            bench_must(gbs_builder_add_table_factor(builder, 2, right, pair[w >> 8 & 15], &err),
                       &err);
        }
        if (v / side + 1 < side) {
            bench_must(gbs_builder_add_table_factor(builder, 2, below, pair[w >> 16 & 15], &err),
                       &err);
        }
    }
    return end(builder);
}

/* Makes clauses. Each variable begins a clause with two of the next 64 variables. */
static gbs_model *clauses(uint32_t n)
{
    gbs_error err = {0};
    gbs_builder *builder = begin(n, 2);
    for (uint32_t v = 0; v < n; ++v) {
        const uint32_t w = word(v);
        const uint32_t near = 1 + w % 32;
        const uint32_t scope[3] = {v, (v + near) % n, (v + near + 1 + (w >> 8) % 32) % n};
        const uint32_t state[3] = {w >> 16 & 1, w >> 17 & 1, w >> 18 & 1};
        bench_must(gbs_builder_add_logical(builder, GBS_LOGICAL_CLAUSE, 3, scope, state,
                                           uniform(v, 0.5, 1.5), &err),
                   &err);
    }
    return end(builder);
}

/* @param size number of columns. */
static gbs_model *ladder(uint32_t size)
{
    gbs_error err = {0};
    gbs_builder *builder = begin(2 * size, 2);
    for (uint32_t v = 0; v < 2 * size; ++v) {
        const double sign = (word(v) & 1u) == 0 ? 2.0 : -2.0;
        bench_must(gbs_builder_add_field(builder, v, uniform(v + 7000, -0.2, 0.2), &err), &err);
        if (v % 2 == 0) {
            bench_must(gbs_builder_add_ising(builder, v, v + 1, sign, &err), &err);
        }
        if (v + 2 < 2 * size) {
            const double along = (word(v) & 2u) == 0 ? 2.0 : -2.0;
            bench_must(gbs_builder_add_ising(builder, v, v + 2, along, &err), &err);
        }
    }
    return end(builder);
}

/* @param size number of columns. */
static gbs_model *strip(uint32_t size)
{
    enum { ROWS = 4 };
    gbs_error err = {0};
    gbs_builder *builder = begin(ROWS * size, 3);
    for (uint32_t v = 0; v < ROWS * size; ++v) {
        if (v % ROWS + 1 < ROWS) {
            bench_must(gbs_builder_add_potts(builder, v, v + 1, 1.6, &err), &err);
        }
        if (v + ROWS < ROWS * size) {
            bench_must(gbs_builder_add_potts(builder, v, v + ROWS, 1.6, &err), &err);
        }
    }
    return end(builder);
}

/* Makes running parities that are nearly certain: s_i is s_(i-1) xor bit i with probability 1 -
 * 1e-4.
 * @param n number of bits, and of parities. */
static gbs_model *parities(uint32_t n)
{
    const double q = -9.2;
    const double parity[8] = {0.0, q, q, 0.0, q, 0.0, 0.0, q};
    const double equal[4] = {0.0, q, q, 0.0};
    gbs_error err = {0};
    gbs_builder *builder = begin(2 * n, 2);
    uint32_t first = 0;
    uint32_t table = 0;
    bench_must(gbs_builder_add_table(builder, 4, equal, &first, &err), &err);
    bench_must(gbs_builder_add_table(builder, 8, parity, &table, &err), &err);
    for (uint32_t i = 0; i < n; ++i) {
        const uint32_t scope[3] = {n + i - 1, i, n + i};
        bench_must(gbs_builder_add_field(builder, i, uniform(i, -0.7, 0.7), &err), &err);
        bench_must(i == 0 ? gbs_builder_add_table_factor(builder, 2, scope + 1, first, &err)
                          : gbs_builder_add_table_factor(builder, 3, scope, table, &err),
                   &err);
    }
    bench_must(gbs_builder_add_field(builder, 2 * n - 1, 1.0, &err), &err);
    return end(builder);
}

gbs_model *bench_model(bench_family family, uint32_t size)
{
    switch (family) {
    case BENCH_ISING:
        return ising(size);
    case BENCH_UNIFORM:
        return uniform_ising(size);
    case BENCH_REGULAR:
        return regular(size);
    case BENCH_PAIRWISE:
        return tables_on_grid(size, 0.0);
    case BENCH_POTTS:
        return potts(size);
    case BENCH_TABLE:
        return bayes(size);
    case BENCH_LOGICAL:
        return clauses(size);
    case BENCH_PRECISE:
        return tables_on_grid(size, -200.0);
    case BENCH_LADDER:
        return ladder(size);
    case BENCH_STRIP:
        return strip(size);
    case BENCH_PARITY:
        return parities(size);
    }
    return NULL;
}

void bench_model_text(bench_family family, uint32_t size, char *text, size_t text_size)
{
    static const struct {
        bool square;
        const char *what;
    } form[] = {
        [BENCH_ISING] = {true, "torus"},
        [BENCH_UNIFORM] = {true, "torus, one coupling"},
        [BENCH_REGULAR] = {false, "random graph of degree 4"},
        [BENCH_PAIRWISE] = {true, "grid, 3 states"},
        [BENCH_POTTS] = {true, "grid, 5 states"},
        [BENCH_TABLE] = {false, "Bayesian network"},
        [BENCH_LOGICAL] = {false, "clauses of three"},
        [BENCH_PRECISE] = {true, "grid, 3 states"},
        [BENCH_LADDER] = {false, "ladder of +-2 couplings, in columns"},
        [BENCH_STRIP] = {false, "strip of four rows and 3 states, in columns"},
        [BENCH_PARITY] = {false, "nearly sure parities, in bits"},
    };
    if (form[family].square) {
        (void)snprintf(text, text_size, "%u x %u %s", size, size, form[family].what);
    } else {
        (void)snprintf(text, text_size, "%s, %u variables", form[family].what, size);
    }
}
