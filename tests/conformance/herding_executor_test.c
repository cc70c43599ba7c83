/* SPDX-License-Identifier: Apache-2.0 */
/* Herded chains, state by state, against a reference that follows algorithms of the papers one
 * update at a time: weights w by context in a list, x = argmax w, w += p, w_x -= 1. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "chains/tiles.h"
#include "draw/herd.h"
#include "graph/graph.h"
#include "rng/philox.h"
#include "simd/math.h"
#include "support/bare_chains.h"
#include "support/small_models.h"

enum { N_PASSES = 5, MOST_STATES = 8, MOST_VARIABLES = 80 };

static void set_up(test_chains *f, gbs_model *model, const gbsi_edges *extra,
                   const uint32_t *sequence, size_t n, gbs_run_options options)
{
    const gbsi_plan_options how = {.repeats = true, .sell = options.chains < 8};
    test_chains_set_up(f, model, extra, sequence, n, how, options);
}

/* ---- the reference --------------------------------------------------------------------------- */

typedef struct weight {
    uint64_t key;
    double p[MOST_STATES];
    double w[MOST_STATES];
} weight;

typedef struct herd_of_variable {
    size_t n, capacity;
    weight *weight;
} herd_of_variable;

typedef struct reference {
    const test_chains *f;
    uint32_t chain;
    bool adjacent[MOST_VARIABLES][MOST_VARIABLES];
    herd_of_variable herd[MOST_VARIABLES];
    uint32_t x[MOST_VARIABLES];
} reference;

static void find_neighbours(reference *r, const gbsi_edges *extra, bool all)
{
    const gbsi_factors *factors = &r->f->conditioned->factors;
    memset(r->adjacent, all ? 1 : 0, sizeof r->adjacent);
    for (size_t g = 0; g < factors->n_factors; ++g) {
        for (size_t i = factors->scope_start[g]; i < factors->scope_start[g + 1]; ++i) {
            for (size_t j = factors->scope_start[g]; j < factors->scope_start[g + 1]; ++j) {
                r->adjacent[factors->scope[i]][factors->scope[j]] = true;
            }
        }
    }
    for (size_t e = 0; extra != NULL && e < extra->n; ++e) {
        r->adjacent[extra->pair[2 * e]][extra->pair[2 * e + 1]] = true;
        r->adjacent[extra->pair[2 * e + 1]][extra->pair[2 * e]] = true;
    }
}

static void conditional(const reference *r, uint32_t v, double *p)
{
    const gbsi_conditioned *model = r->f->conditioned;
    const gbsi_factors *factors = &model->factors;
    uint32_t x[MOST_VARIABLES];
    const uint32_t k = model->arity[v];
    double top = -INFINITY;
    double total = 0.0;
    memcpy(x, r->x, sizeof x);
    for (uint32_t a = 0; a < k; ++a) {
        x[v] = a;
        p[a] = 0.0;
        for (size_t g = 0; g < factors->n_factors; ++g) {
            bool has = false;
            for (size_t i = factors->scope_start[g]; i < factors->scope_start[g + 1]; ++i) {
                has |= factors->scope[i] == v;
            }
            p[a] += has ? gbsi_factor_value(factors, model->arity, g, x) : 0.0;
        }
        top = p[a] > top ? p[a] : top;
    }
    for (uint32_t a = 0; a < k; ++a) {
        p[a] = gbsi_exp(p[a] - top);
        total += p[a];
    }
    for (uint32_t a = 0; a < k; ++a) {
        p[a] /= total;
    }
}

/* First neighbour least significant, all in the order of variables. */
static uint64_t context_key(const reference *r, uint32_t v, bool own_digit)
{
    uint64_t key = 0;
    uint64_t step = 1;
    for (uint32_t u = 0; u < r->f->conditioned->n_variables; ++u) {
        const bool seen = r->adjacent[v][u] && u != v;
        key += seen ? step * r->x[u] : 0;
        step *= seen || (own_digit && u == v) ? r->f->conditioned->arity[u] : 1;
    }
    return key;
}

static uint64_t mix(uint64_t a)
{
    a = (a ^ a >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    a = (a ^ a >> 27) * UINT64_C(0x94D049BB133111EB);
    return a ^ a >> 31;
}

/* w = p - v on the simplex: v = 1/k, or for two states a word, for more exponentials of words. */
static void start_weight(const reference *r, uint32_t v, weight *made)
{
    const uint32_t k = r->f->conditioned->arity[v];
    double share[MOST_STATES];
    double total = 0.0;
    const bool random = r->f->options.herd_init == GBS_HERD_RANDOM;
    for (uint32_t a = 0; a < k; ++a) {
        uint32_t word[4];
        const uint64_t mixed = mix(made->key + (a / 4) * UINT64_C(0x9E3779B97F4A7C15)) >> 8;
        gbsi_philox(r->f->options.seed, r->chain, mixed, v, GBSI_PURPOSE_HERD, word);
        share[a] = random ? -gbsi_log(((double)word[a % 4] + 0.5) * 0x1p-32) : 1.0;
        total += share[a];
        if (k == 2 && random) {
            made->w[1] = made->p[1] - (double)word[0] * 0x1p-32;
            return;
        }
    }
    for (uint32_t a = 0; a < k; ++a) {
        made->w[a] = made->p[a] - share[a] / total;
    }
}

static weight *weight_of(reference *r, uint32_t v, uint64_t key)
{
    herd_of_variable *herd = &r->herd[v];
    for (size_t i = 0; i < herd->n; ++i) {
        if (herd->weight[i].key == key) {
            return &herd->weight[i];
        }
    }
    if (herd->n == herd->capacity) {
        herd->capacity = 2 * herd->capacity + 4;
        herd->weight = realloc(herd->weight, herd->capacity * sizeof *herd->weight);
        assert_non_null(herd->weight);
    }
    weight *made = &herd->weight[herd->n++];
    made->key = key;
    conditional(r, v, made->p);
    if (r->f->conditioned->arity[v] == 2) { /* multiples of 2^-32 */
        made->p[1] = floor(made->p[1] * 0x1p32 + 0.5) * 0x1p-32;
    }
    start_weight(r, v, made);
    return made;
}

/* Sharing: the key of the first context that had the same conditional. */
static uint64_t shared_key(reference *r, uint32_t v)
{
    double p[MOST_STATES];
    conditional(r, v, p);
    for (size_t i = 0; i < r->herd[v].n; ++i) {
        double most = 0.0;
        for (uint32_t a = 0; a < r->f->conditioned->arity[v]; ++a) {
            most = fmax(most, fabs(p[a] - r->herd[v].weight[i].p[a]));
        }
        if (most < 1e-9) {
            return r->herd[v].weight[i].key;
        }
    }
    return context_key(r, v, false);
}

static void update(reference *r, uint32_t v)
{
    const uint32_t k = r->f->conditioned->arity[v];
    const bool complete = r->f->options.draw == GBS_DRAW_HERDED_COMPLETE;
    const uint64_t key = r->f->options.draw == GBS_DRAW_HERDED_SHARED ? shared_key(r, v)
                                                                      : context_key(r, v, complete);
    weight *own = weight_of(r, v, key);
    uint32_t value = 0;
    if (k == 2) { /* exact in double: w and p are multiples of 2^-32 */
        value = own->w[1] > 0.0;
        own->w[1] += own->p[1] - (double)value;
        r->x[v] = value;
        return;
    }
    for (uint32_t a = 1; a < k; ++a) {
        value = own->w[a] > own->w[value] ? a : value;
    }
    for (uint32_t a = 0; a < k; ++a) {
        own->w[a] += own->p[a];
    }
    own->w[value] -= 1.0;
    r->x[v] = value;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* Words must not be made: tables whose functions fail the test. */
static void no_words(uint64_t seed, uint32_t chain, uint64_t pass, uint32_t first_block,
                     uint32_t n_blocks, uint32_t *word)
{
    (void)seed;
    (void)chain;
    (void)pass;
    (void)first_block;
    (void)n_blocks;
    (void)word;
    fail_msg("a deterministic draw asked for random words");
}
static void no_words16(uint64_t seed, uint32_t chain, uint64_t pass, uint32_t first_block,
                       uint32_t n_blocks, gbsi_purpose purpose, uint32_t *word)
{
    (void)purpose;
    no_words(seed, chain, pass, first_block, n_blocks, word);
}
static const gbsi_words forbidden = {no_words16, no_words};

static void start_executor(const test_chains *f, gbsi_simd level, uint64_t room, gbsi_executor *x)
{
    const bool by_chance = f->options.draw == GBS_DRAW_RANDOMLY_DISCRETIZED ||
                           f->options.draw == GBS_DRAW_BOUNDED_ERROR;
    test_chains_start(f, level, NULL, room, x);
    assert_int_equal(x->draw->n_words, by_chance);
    if (!by_chance) {
        gbsi_tiles_words(x->pass_state, &forbidden);
    }
}

static void check(gbs_model *model, const gbsi_edges *extra, const uint32_t *sequence, size_t n,
                  gbs_run_options options)
{
    gbs_error err = {0};
    test_chains f;
    gbsi_executor x;
    const bool all = options.draw == GBS_DRAW_HERDED_COMPLETE;
    const gbsi_edges every = {.all = true};
    set_up(&f, model, all ? &every : extra, sequence, n, options);
    start_executor(&f, gbsi_simd_level(), UINT64_MAX, &x);
    for (uint64_t pass = 0; pass < N_PASSES; ++pass) {
        assert_int_equal(gbsi_executor_pass(&x, &f.schedule, pass, NULL, false, &err), GBS_OK);
    }
    reference *r = calloc(1, sizeof *r);
    assert_non_null(r);
    for (uint32_t chain = 0; chain < x.n_chains; ++chain) {
        uint32_t found[MOST_VARIABLES];
        memset(r, 0, sizeof *r);
        r->f = &f;
        r->chain = chain;
        find_neighbours(r, extra, all);
        test_chains_start_of(&f, chain, r->x);
        for (size_t t = 0; t < N_PASSES * n; ++t) {
            update(r, sequence[t % n]);
        }
        gbsi_executor_get(&x, chain, found);
        for (uint32_t v = 0; v < f.conditioned->n_variables; ++v) {
            assert_int_equal(found[v], r->x[v]);
            free(r->herd[v].weight);
        }
    }
    free(r);
    gbsi_executor_free(&x);
    test_chains_tear_down(&f);
}

static gbs_run_options herded(int draw, int init, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.draw = draw;
    options.herd_init = init;
    options.chains = chains;
    options.seed = 77;
    return options;
}

static size_t random_sequence(test_stream *s, uint32_t n_variables, uint32_t *sequence)
{
    const size_t n = 1 + test_below(s, 200);
    for (size_t t = 0; t < n; ++t) {
        sequence[t] = test_below(s, n_variables);
    }
    return n;
}

static void against_the_reference(int draw, bool random_too)
{
    static const uint64_t chains[] = {1, 3, 8, 21};
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        for (uint64_t seed = 0; seed < 8; ++seed) {
            test_stream s = {.seed = 31 * seed + (uint64_t)family, .n = 0};
            const uint32_t n_variables = 4 + test_below(&s, 24);
            uint32_t sequence[200];
            const size_t n = random_sequence(&s, n_variables, sequence);
            const int init = random_too && seed % 2 == 0 ? GBS_HERD_RANDOM : GBS_HERD_CENTRE;
            check(test_model((test_family)family, seed, n_variables), NULL, sequence, n,
                  herded(draw, init, chains[seed % 4]));
        }
    }
}

static void by_neighbours(void **state)
{
    (void)state;
    against_the_reference(GBS_DRAW_HERDED, true);
}

static void by_conditional(void **state)
{
    (void)state;
    against_the_reference(GBS_DRAW_HERDED_SHARED, false);
}

static void by_everything(void **state)
{
    (void)state;
    against_the_reference(GBS_DRAW_HERDED_COMPLETE, true);
}

static void with_dummy_edges(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; ++seed) {
        uint32_t pair[2 * 12];
        uint32_t sequence[12];
        for (uint32_t i = 0; i < 12; ++i) {
            pair[2 * i] = i;
            pair[2 * i + 1] = (i + 2) % 12;
            sequence[i] = i;
        }
        const gbsi_edges extra = {.n = 12, .pair = pair};
        check(test_model(seed % 2 == 0 ? TEST_ISING : TEST_PAIRWISE, seed, 12), &extra, sequence,
              12, herded(GBS_DRAW_HERDED, GBS_HERD_RANDOM, seed < 3 ? 1 : 16));
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* What fits no dense table is hashed: the same chains. */
static void hashed_as_dense(void **state)
{
    (void)state;
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        for (int draw = GBS_DRAW_HERDED; draw <= GBS_DRAW_HERDED_SHARED; ++draw) {
            for (uint64_t chains = 1; chains <= 17; chains += 16) {
                gbs_error err = {0};
                test_chains f;
                gbsi_executor dense;
                gbsi_executor hashed;
                uint32_t sequence[14];
                for (uint32_t v = 0; v < 14; ++v) {
                    sequence[v] = v;
                }
                set_up(&f, test_model((test_family)family, 5, 14), NULL, sequence, 14,
                       herded(draw, GBS_HERD_RANDOM, chains));
                start_executor(&f, gbsi_simd_level(), UINT64_MAX, &dense);
                start_executor(&f, gbsi_simd_level(), 1, &hashed);
                assert_int_equal(((gbsi_herd *)hashed.draw_state)->keys.n_hashed, 14);
                for (uint64_t pass = 0; pass < 9; ++pass) {
                    /* room by force: what is tested is not the limit */
                    ((gbsi_herd *)hashed.draw_state)->room = UINT64_MAX;
                    assert_int_equal(
                        gbsi_executor_pass(&dense, &f.schedule, pass, NULL, false, &err), GBS_OK);
                    assert_int_equal(
                        gbsi_executor_pass(&hashed, &f.schedule, pass, NULL, false, &err), GBS_OK);
                }
                test_chains_same(&f, &dense, &hashed);
                gbsi_executor_free(&dense);
                gbsi_executor_free(&hashed);
                test_chains_tear_down(&f);
            }
        }
    }
}

/* ---- in parallel ---------------------------------------------------------------------------- */

/* Variables in the order of their colours. */
static void color_order(gbs_model *model, uint32_t *sequence)
{
    gbs_error err = {0};
    gbsi_conditioned *conditioned = NULL;
    gbsi_graph *graph = NULL;
    uint32_t color[MOST_VARIABLES];
    uint32_t n_colors = 0;
    size_t n = 0;
    assert_int_equal(gbsi_condition(model, NULL, &conditioned, &err), GBS_OK);
    assert_int_equal(gbsi_graph_new(conditioned, NULL, &graph, &err), GBS_OK);
    assert_int_equal(gbsi_graph_color(graph, NULL, color, &n_colors, &err), GBS_OK);
    for (uint32_t c = 0; c < n_colors; ++c) {
        for (uint32_t v = 0; v < conditioned->n_variables; ++v) {
            if (color[v] == c) {
                sequence[n++] = v;
            }
        }
    }
    gbsi_graph_free(graph);
    gbsi_conditioned_free(conditioned);
}

/* By bins nothing beyond the conditional is seen, so that an edge between all variables changes no
 * key: then batches are of one update each. */
static void batches_as_single_updates(gbs_run_options options, test_family family)
{
    gbs_error err = {0};
    uint32_t sequence[30];
    test_chains batched;
    test_chains single;
    gbsi_executor x;
    gbsi_executor y;
    const gbsi_edges every = {.all = true};
    gbs_model *first = test_model(family, 7, 30);
    color_order(first, sequence);
    set_up(&batched, first, NULL, sequence, 30, options);
    set_up(&single, test_model(family, 7, 30), &every, sequence, 30, options);
    assert_true(batched.schedule.n_batches < 30 && single.schedule.n_batches == 30);
    start_executor(&batched, gbsi_simd_level(), UINT64_MAX, &x);
    start_executor(&single, gbsi_simd_level(), UINT64_MAX, &y);
    for (uint64_t pass = 0; pass < 12; ++pass) {
        assert_int_equal(gbsi_executor_pass(&x, &batched.schedule, pass, NULL, false, &err),
                         GBS_OK);
        assert_int_equal(gbsi_executor_pass(&y, &single.schedule, pass, NULL, false, &err), GBS_OK);
    }
    for (uint32_t chain = 0; chain < x.n_chains; ++chain) {
        uint32_t a[MOST_VARIABLES];
        uint32_t b[MOST_VARIABLES];
        gbsi_executor_get(&x, chain, a);
        gbsi_executor_get(&y, chain, b);
        assert_memory_equal(a, b, 30 * sizeof *a);
    }
    gbsi_executor_free(&x);
    gbsi_executor_free(&y);
    test_chains_tear_down(&batched);
    test_chains_tear_down(&single);
}

/* A parallel sweep is the sequential one in the order of the colours. Other tests show that threads
 * change nothing. */
static void in_parallel_as_in_color_order(void **state)
{
    (void)state;
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        for (uint64_t chains = 1; chains <= 16; chains += 15) {
            for (int draw = GBS_DRAW_HERDED; draw <= GBS_DRAW_HERDED_SHARED; ++draw) {
                uint32_t sequence[30];
                gbs_model *model = test_model((test_family)family, 7, 30);
                const int init =
                    draw == GBS_DRAW_HERDED ? GBS_HERD_RANDOM : GBS_HERD_CENTRE; /* by context */
                color_order(model, sequence);
                check(model, NULL, sequence, 30, herded(draw, init, chains));
            }
            for (int rule = GBS_BIN_STICK; rule <= GBS_BIN_ARGMAX; ++rule) {
                gbs_run_options options = herded(GBS_DRAW_DISCRETIZED, GBS_HERD_RANDOM, chains);
                options.bin_rule = rule;
                options.bins = 6;
                batches_as_single_updates(options, (test_family)family);
            }
            batches_as_single_updates(herded(GBS_DRAW_ONE_BIN, GBS_HERD_RANDOM, chains),
                                      (test_family)family);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_neighbours),   cmocka_unit_test(by_conditional),
        cmocka_unit_test(by_everything),   cmocka_unit_test(with_dummy_edges),
        cmocka_unit_test(hashed_as_dense), cmocka_unit_test(in_parallel_as_in_color_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
