/* SPDX-License-Identifier: Apache-2.0 */
/* Tests graphs from a seed: their edges, their distribution, and that a seed always gives the
 * same model. */
#include <string.h>

#include "base/memory.h"
#include "generate/generators.h"
#include "generate/random_models.h"
#include "gibbsite/generate.h"

/* Checks that every pair occurs at most once, in either order, and that no variable is joined to
 * itself. @param degree [n], out. */
static void check_simple(const gbs_model *m, uint32_t *degree)
{
    const uint32_t n = gbs_model_n_variables(m);
    uint8_t *joined = calloc((size_t)n * n, 1);
    assert_non_null(joined);
    memset(degree, 0, n * sizeof *degree);
    for (size_t f = 0; f < gbs_model_n_factors(m); ++f) {
        uint32_t size = 0;
        const uint32_t *s = NULL;
        if (gbs_model_factor(m, f, &size, &s) != GBS_FACTOR_ISING) {
            continue;
        }
        assert_true(s[0] != s[1]);
        const size_t low = s[0] < s[1] ? s[0] : s[1];
        const size_t high = s[0] < s[1] ? s[1] : s[0];
        assert_int_equal(joined[low * n + high]++, 0);
        ++degree[s[0]];
        ++degree[s[1]];
    }
    free(joined);
}

static gbs_model *regular(uint32_t n, uint32_t degree, uint64_t seed)
{
    const gbs_generate_regular_options o = {
        .variables = n, .degree = degree, .coupling = 0.5, .seed = seed};
    gbs_model *m = NULL;
    gbs_error err = {0};
    if (gbs_generate_regular(&o, &m, &err) != GBS_OK) {
        fail_msg("%u of degree %u: %s", n, degree, err.message);
    }
    return m;
}

static void test_regular(void **unused)
{
    (void)unused;
    uint32_t degree[400];
    for (uint32_t n = 1; n < 14; ++n) { /* every possible degree; dense graphs are complements */
        for (uint32_t d = 0; d < n; ++d) {
            for (uint64_t seed = 0; n * d % 2 == 0 && seed < 20; ++seed) {
                gbs_model *m = regular(n, d, seed);
                assert_int_equal(gbs_model_n_factors(m), n * d / 2);
                check_simple(m, degree);
                for (uint32_t v = 0; v < n; ++v) {
                    assert_int_equal(degree[v], d);
                }
                gbs_model_free(m);
            }
        }
    }
    static const uint32_t large[][2] = {{400, 3}, {399, 198}, {400, 199}, {301, 40}, {300, 250}};
    for (unsigned i = 0; i < sizeof large / sizeof *large; ++i) {
        gbs_model *m = regular(large[i][0], large[i][1], 9);
        check_simple(m, degree);
        for (uint32_t v = 0; v < large[i][0]; ++v) {
            assert_int_equal(degree[v], large[i][1]);
        }
        /* edges are sorted by the lower end, then by the other end */
        const uint32_t *before = NULL;
        for (size_t f = 0; f < gbs_model_n_factors(m); ++f) {
            const uint32_t *s = NULL;
            (void)gbs_model_factor(m, f, NULL, &s);
            assert_true(s[0] < s[1]);
            assert_true(f == 0 || before[0] < s[0] || (before[0] == s[0] && before[1] < s[1]));
            before = s;
        }
        gbs_model_free(m);
    }
}

/* Returns the edges as bits, by the index of a pair among the fifteen pairs of six variables. */
static uint32_t graph_bits(const gbs_model *m)
{
    uint32_t bits = 0;
    for (size_t f = 0; f < gbs_model_n_factors(m); ++f) {
        const uint32_t *s = NULL;
        (void)gbs_model_factor(m, f, NULL, &s);
        bits |= 1u << (s[0] * (9 - s[0]) / 2 + s[1] - 1);
    }
    return bits;
}

/* Six variables of degree 2 give 60 hexagons and 10 pairs of triangles; degree 3 gives their
 * complements. Pearson's statistic over 70 graphs and 7000 seeds has 69 degrees of freedom, with
 * mean 69 and deviation 11.7. The bound 128 is five deviations above the mean, and is exceeded
 * for about 10^-5 of all choices of seeds. */
static void test_regular_is_uniform(void **unused)
{
    (void)unused;
    enum { N_SEEDS = 7000, N_GRAPHS = 70 };
    for (uint32_t d = 2; d <= 3; ++d) {
        uint16_t *count = calloc(1u << 15, sizeof *count);
        assert_non_null(count);
        for (uint64_t seed = 0; seed < N_SEEDS; ++seed) {
            gbs_model *m = regular(6, d, seed);
            ++count[graph_bits(m)];
            gbs_model_free(m);
        }
        const double expected = (double)N_SEEDS / N_GRAPHS;
        double statistic = 0.0;
        int n_seen = 0;
        for (uint32_t g = 0; g < 1u << 15; ++g) {
            n_seen += count[g] > 0;
            statistic += count[g] > 0 ? (count[g] - expected) * (count[g] - expected) : 0.0;
        }
        assert_int_equal(n_seen, N_GRAPHS);
        if (statistic / expected > 128.0) {
            fail_msg("degree %u: %g", d, statistic / expected);
        }
        free(count);
    }
}

/* In the limit, degree k has the share 2 m (m + 1) / (k (k + 1) (k + 2)) (Bollobas, Riordan,
 * Spencer & Tusnady 2001, Random Struct. Algorithms 18:279-290). */
static void test_powerlaw(void **unused)
{
    (void)unused;
    gbs_generate_powerlaw_options o = {.variables = 3000, .edges = 2, .coupling = 1.0, .seed = 4};
    gbs_model *m = NULL;
    uint32_t degree[3000];
    uint32_t of[3000] = {0};
    uint32_t most = 0;
    assert_int_equal(gbs_generate_powerlaw(&o, &m, NULL), GBS_OK);
    assert_int_equal(gbs_model_n_factors(m), 3 + 2997 * 2);
    check_simple(m, degree);
    for (uint32_t v = 0; v < 3000; ++v) {
        assert_true(degree[v] >= 2);
        ++of[degree[v]];
        most = degree[v] > most ? degree[v] : most;
    }
    for (uint32_t k = 2; k < 7; ++k) { /* five standard deviations of a binomial count */
        const double share = 12.0 / (k * (k + 1.0) * (k + 2.0));
        const double deviation = sqrt(3000 * share * (1.0 - share));
        assert_true(fabs(of[k] - 3000 * share) < 5.0 * deviation);
    }
    assert_true(most > 50 && most < 600); /* of order 2 sqrt(3000) = 110 */
    /* the oldest variables have the largest degrees */
    assert_true(degree[0] + degree[1] + degree[2] > 60);
    gbs_model_free(m);
    for (o.variables = 2; o.variables < 9; ++o.variables) {
        for (o.edges = 1; o.edges < o.variables; ++o.edges) {
            assert_int_equal(gbs_generate_powerlaw(&o, &m, NULL), GBS_OK);
            check_simple(m, degree);
            for (uint32_t v = 0; v < o.variables; ++v) {
                assert_true(degree[v] >= o.edges);
            }
            gbs_model_free(m);
        }
    }
}

static void test_complete_and_layers(void **unused)
{
    (void)unused;
    gbs_generate_complete_options c = {
        .variables = 1, .coupling = 0.5, .coupling_spread = 0.25, .field = 0.125, .seed = 6};
    gbs_generate_rbm_options r = {
        .visible = 5, .hidden = 3, .coupling = 0.5, .random_field = 0.25, .seed = 6};
    gbs_model *m = NULL;
    uint32_t degree[40];
    for (; c.variables < 40; ++c.variables) {
        assert_int_equal(gbs_generate_complete(&c, &m, NULL), GBS_OK);
        assert_int_equal(gbs_model_n_factors(m), c.variables * (c.variables + 1) / 2);
        check_simple(m, degree);
        for (uint32_t v = 0; v < c.variables; ++v) {
            assert_int_equal(degree[v], c.variables - 1);
        }
        for (size_t f = 0; f < gbs_model_n_factors(m); ++f) {
            const int field = m->factors.kind[f] == GBS_FACTOR_FIELD;
            assert_true(field ? m->factors.weight[f] == 0.125
                              : fabs(m->factors.weight[f] - 0.5) <= 0.25);
        }
        gbs_model_free(m);
    }
    assert_int_equal(gbs_generate_rbm(&r, &m, NULL), GBS_OK);
    assert_int_equal(gbs_model_n_variables(m), 8);
    assert_int_equal(gbs_model_n_factors(m), 15 + 8);
    check_simple(m, degree);
    for (size_t f = 0; f < 15; ++f) {
        const uint32_t *s = NULL;
        assert_int_equal(gbs_model_factor(m, f, NULL, &s), GBS_FACTOR_ISING);
        assert_true(s[0] == f / 3 && s[1] == 5 + f % 3);
    }
    gbs_model_free(m);
}

static void test_potts_in_layers(void **unused)
{
    (void)unused;
    gbs_generate_potts_options o = {
        .rows = 12, .columns = 13, .states = 4, .coupling = 0.5, .noise = 1e-9, .seed = 5};
    gbs_model *flat = NULL;
    gbs_model *m = NULL;
    assert_int_equal(gbs_generate_potts(&o, &flat, NULL), GBS_OK);
    o.layers = 1; /* gives the same model */
    assert_int_equal(gbs_generate_potts(&o, &m, NULL), GBS_OK);
    assert_string_equal(gbs_model_digest(m), gbs_model_digest(flat));
    gbs_model_free(m);
    gbs_model_free(flat);
    o.layers = 11;
    assert_int_equal(gbs_generate_potts(&o, &m, NULL), GBS_OK);
    assert_int_equal(gbs_model_n_variables(m), 12 * 13 * 11);
    assert_int_equal(gbs_model_n_factors(m),
                     12 * 13 * 11 + 11 * (11 * 13 + 12 * 12) + 10 * 12 * 13);
    /* without noise the picture can be read from the data: neighbours along each axis mostly
     * agree, and no two layers are equal */
    uint8_t level[12 * 13 * 11];
    for (size_t f = 0; f < gbs_model_n_factors(m); ++f) {
        const uint32_t *s = NULL;
        if (gbs_model_factor(m, f, NULL, &s) == GBS_FACTOR_TABLE) {
            const double *logw = &m->factors.table[m->factors.table_start[m->factors.aux[f]]];
            for (uint32_t k = 0; k < 4; ++k) {
                level[*s] = logw[k] > -10.0 ? (uint8_t)k : level[*s];
            }
        }
    }
    for (uint32_t l = 0; l + 1 < 11; ++l) {
        uint32_t agree = 0;
        for (uint32_t i = 0; i < 156; ++i) {
            agree += level[l * 156 + i] == level[(l + 1) * 156 + i];
        }
        assert_true(agree > 80);
    }
    assert_true(memcmp(level, level + 5 * 156, 156) != 0);
    gbs_model_free(m);
    o.torus = 1;
    assert_int_equal(gbs_generate_potts(&o, &m, NULL), GBS_OK);
    assert_int_equal(gbs_model_n_factors(m), 4 * 12 * 13 * 11);
    gbs_model_free(m);
}

/* ---- all kinds ----------------------------------------------------------------------------- */

enum { N_KINDS = 9 };

/* Generates a small model of each kind, with all options in use. */
static gbs_status generate_kind(unsigned kind, uint64_t seed, gbs_model **m, gbs_error *err)
{
#define SPINS \
    .coupling = 0.5, .coupling_spread = 0.25, .field = -0.5, .random_field = 1.0, .seed = seed
    const gbs_generate_ising_options ising = {.side = {4, 5, 3}, .torus = 1, SPINS};
    const gbs_generate_potts_options potts = {
        .rows = 9, .columns = 14, .states = 3, .coupling = 0.75, .noise = 0.7, .seed = seed};
    const gbs_generate_potts_options solid = {
        .rows = 4, .columns = 5, .layers = 6, .states = 3, .torus = 1, .noise = 0.7, .seed = seed};
    const gbs_generate_ring_options ring = {.variables = 9, SPINS};
    const gbs_generate_bayes_options bayes = {
        .variables = 19, .parents = 2, .min_states = 2, .max_states = 4, .seed = seed};
    const gbs_generate_complete_options complete = {.variables = 7, SPINS};
    const gbs_generate_regular_options regular = {.variables = 40, .degree = 5, SPINS};
    const gbs_generate_powerlaw_options powerlaw = {.variables = 40, .edges = 3, SPINS};
    const gbs_generate_rbm_options rbm = {.visible = 6, .hidden = 4, SPINS};
#undef SPINS
    switch (kind) {
    case 0:
        return gbs_generate_ising(&ising, m, err);
    case 1:
        return gbs_generate_potts(&potts, m, err);
    case 2:
        return gbs_generate_potts(&solid, m, err);
    case 3:
        return gbs_generate_ring(&ring, m, err);
    case 4:
        return gbs_generate_bayes(&bayes, m, err);
    case 5:
        return gbs_generate_complete(&complete, m, err);
    case 6:
        return gbs_generate_regular(&regular, m, err);
    case 7:
        return gbs_generate_powerlaw(&powerlaw, m, err);
    default:
        return gbs_generate_rbm(&rbm, m, err);
    }
}

/* The model of a seed never changes within a version: a different digest means a different
 * model. */
static void test_golden(void **unused)
{
    (void)unused;
    static const char *const digest[N_KINDS] = {
        "81b964892b1d56a8f5ed2b303b2a7d65", "1b9eb433d460d5377d6babdb315e7776",
        "d2f22865c900d3ae92689ef3a51e59bf", "cb5afb5dacdff3b699774d65c469c710",
        "984d3d6317c9b54b68b63869ff422315", "b015cced454af4510e5c6ec5b26f0561",
        "4c1cc271ddfccd9f001a90146979b25b", "3fa3033cb50d238a5a783ca8f44352b7",
        "a4ed4a698dfe7400f3a30df5290f873d",
    };
    for (unsigned kind = 0; kind < N_KINDS; ++kind) {
        gbs_model *m = NULL;
        gbs_model *other = NULL;
        assert_int_equal(generate_kind(kind, 7, &m, NULL), GBS_OK);
        assert_int_equal(generate_kind(kind, 8, &other, NULL), GBS_OK);
        if (strcmp(gbs_model_digest(m), digest[kind]) != 0) {
            print_message("kind %u: found %s, expected %s\n", kind, gbs_model_digest(m),
                          digest[kind]);
        }
        assert_string_equal(gbs_model_digest(m), digest[kind]);
        assert_string_not_equal(gbs_model_digest(m), gbs_model_digest(other));
        gbs_model_free(m);
        gbs_model_free(other);
    }
}

static void test_no_memory(void **unused)
{
    (void)unused;
    for (unsigned kind = 0; kind < N_KINDS; ++kind) {
        for (uint64_t n = 0;; ++n) {
            gbs_model *m = NULL;
            gbs_error err = {0};
            gbsi_alloc_fail_after(n);
            const gbs_status status = generate_kind(kind, 1, &m, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_int_equal(err.status, status);
            assert_true((m != NULL) == (status == GBS_OK));
            gbs_model_free(m);
            if (status == GBS_OK) {
                assert_true(n > 5);
                break;
            }
            assert_int_equal(status, GBS_ERR_MEMORY);
        }
    }
}

#define REFUSES(call, code, text)                               \
    do {                                                        \
        gbs_error err = {0};                                    \
        gbs_model *m = NULL;                                    \
        assert_int_equal(call, code);                           \
        assert_null(m);                                         \
        if (strstr(err.message, text) == NULL) {                \
            fail_msg("\"%s\" lacks \"%s\"", err.message, text); \
        }                                                       \
    } while (0)

static void test_refused(void **unused)
{
    (void)unused;
    gbs_generate_regular_options r = {.variables = 7, .degree = 3};
    REFUSES(gbs_generate_regular(&r, &m, &err), GBS_ERR_ARGUMENT, "one of the two");
    r.degree = 7;
    REFUSES(gbs_generate_regular(&r, &m, &err), GBS_ERR_ARGUMENT, "degree below");
    r.variables = 0;
    r.degree = 0;
    REFUSES(gbs_generate_regular(&r, &m, &err), GBS_ERR_ARGUMENT, "1 variable");
    r.variables = UINT32_MAX;
    r.degree = 2;
    REFUSES(gbs_generate_regular(&r, &m, &err), GBS_ERR_LIMIT, "4294967280");
    r.variables = 1u << 31;
    r.degree = 1u << 30; /* 2^60 couplings */
    REFUSES(gbs_generate_regular(&r, &m, &err), GBS_ERR_LIMIT,
            "1152921504606846976 couplings take 29.0 EiB");
    r.variables = 8;
    r.degree = 3;
    r.coupling = INFINITY;
    REFUSES(gbs_generate_regular(&r, &m, &err), GBS_ERR_ARGUMENT, "coupling: inf");
    gbs_generate_powerlaw_options p = {.variables = 5, .edges = 5};
    REFUSES(gbs_generate_powerlaw(&p, &m, &err), GBS_ERR_ARGUMENT, "fewer than variables");
    p.edges = 0;
    REFUSES(gbs_generate_powerlaw(&p, &m, &err), GBS_ERR_ARGUMENT, "1 edge");
    p.variables = GBS_MAX_VARIABLES;
    p.edges = GBS_MAX_VARIABLES - 1;
    REFUSES(gbs_generate_powerlaw(&p, &m, &err), GBS_ERR_LIMIT, "couplings take 232.0 EiB");
    gbs_generate_complete_options c = {.variables = 0};
    REFUSES(gbs_generate_complete(&c, &m, &err), GBS_ERR_ARGUMENT, "0 variables");
    c.variables = UINT32_MAX;
    REFUSES(gbs_generate_complete(&c, &m, &err), GBS_ERR_LIMIT, "more than the 4294967280");
    c.variables = GBS_MAX_VARIABLES;
    REFUSES(gbs_generate_complete(&c, &m, &err), GBS_ERR_LIMIT, "the memory limit is");
    c.variables = 3;
    c.random_field = -1.0;
    REFUSES(gbs_generate_complete(&c, &m, &err), GBS_ERR_ARGUMENT, "random field: -1");
    gbs_generate_rbm_options b = {.visible = 3};
    REFUSES(gbs_generate_rbm(&b, &m, &err), GBS_ERR_ARGUMENT, "1 or more of both");
    b.visible = b.hidden = 1u << 31;
    REFUSES(gbs_generate_rbm(&b, &m, &err), GBS_ERR_LIMIT, "4294967296 variables");
    b.visible = b.hidden = 1u << 30;
    REFUSES(gbs_generate_rbm(&b, &m, &err), GBS_ERR_LIMIT, "couplings take 29.0 EiB");
    gbs_generate_potts_options q = {
        .rows = 1u << 11, .columns = 1u << 11, .layers = 1u << 11, .states = 2};
    REFUSES(gbs_generate_potts(&q, &m, &err), GBS_ERR_LIMIT, "2048 x 2048 x 2048");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regular),         cmocka_unit_test(test_regular_is_uniform),
        cmocka_unit_test(test_powerlaw),        cmocka_unit_test(test_complete_and_layers),
        cmocka_unit_test(test_potts_in_layers), cmocka_unit_test(test_golden),
        cmocka_unit_test(test_no_memory),       cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
