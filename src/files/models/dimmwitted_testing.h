/* SPDX-License-Identifier: Apache-2.0 */
/* Functions with which tests write folders of DimmWitted files. Include cmocka.h first. */
#ifndef GBSI_MODELS_DIMMWITTED_TESTING_H
#define GBSI_MODELS_DIMMWITTED_TESTING_H

#include <stdbool.h>
#include <sys/stat.h>

#include "text/test_models.h"

typedef struct bytes {
    unsigned char at[8192];
    size_t n;
} bytes;

static inline void put(bytes *b, uint64_t value, unsigned n)
{
    assert_true(b->n + n <= sizeof b->at);
    while (n-- > 0) {
        b->at[b->n++] = (unsigned char)(value >> 8 * n);
    }
}

static inline void put_number(bytes *b, double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    put(b, bits, 8);
}

static inline void put_weight(bytes *b, uint64_t id, unsigned fixed, double value)
{
    put(b, id, 8);
    put(b, fixed, 1);
    put_number(b, value);
}

static inline void put_variable(bytes *b, uint64_t id, unsigned role, uint64_t initial,
                                unsigned type, uint64_t cardinality)
{
    put(b, id, 8);
    put(b, role, 1);
    put(b, initial, 8);
    put(b, type, 2);
    put(b, cardinality, 8);
}

static inline void put_domain(bytes *b, uint64_t id, uint64_t n, const uint64_t *value,
                              double truthiness)
{
    put(b, id, 8);
    put(b, n, 8);
    for (uint64_t i = 0; i < n; i++) {
        put(b, value[i], 8);
        put_number(b, truthiness);
    }
}

static inline void put_factor(bytes *b, unsigned function, uint64_t n, const uint64_t *variable,
                              const uint64_t *equal_to, uint64_t weight, double feature)
{
    put(b, function, 2);
    put(b, n, 8);
    for (uint64_t i = 0; i < n; i++) {
        put(b, variable[i], 8);
        put(b, equal_to[i], 8);
    }
    put(b, weight, 8);
    put_number(b, feature);
}

/* Makes an empty folder, under the same name at each call, in the scratch folder.
 * @return its path, which is static. */
static inline const char *fresh_folder(void)
{
    static char folder[1024];
    char command[2048];
    (void)snprintf(folder, sizeof folder, "%s", scratch_path("graph"));
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(mkdir(folder, 0777), 0);
    return folder;
}

static inline const char *in_folder(const char *name)
{
    static char path[4][1100];
    static int turn;
    turn = (turn + 1) % 4;
    (void)snprintf(path[turn], sizeof path[turn], "%s/%s", scratch_path("graph"), name);
    return path[turn];
}

static inline void save(const char *name, const void *content, size_t n)
{
    FILE *file = fopen(in_folder(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static inline void save_text(const char *name, const char *text)
{
    save(name, text, strlen(text));
}

static inline void save_bytes(const char *name, const bytes *b)
{
    save(name, b->at, b->n);
}

static inline void expect_text(const char *name, const char *text)
{
    char found[8192];
    (void)read_file(in_folder(name), found, sizeof found);
    assert_string_equal(found, text);
}

static inline gbs_model *read_graph(const char *path, const gbs_read_options *options)
{
    gbs_model *model = NULL;
    gbs_error err = {0};
    if (gbs_model_read(path, options, &model, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    return model;
}

/* Asserts that reading the graph fails, and that `part` is the whole message behind the folder's
 * path. */
static inline void refuse_graph(const gbs_read_options *options, gbs_status status,
                                const char *part)
{
    gbs_model *model = NULL;
    gbs_error err = {0};
    const gbs_status got = gbs_model_read(in_folder("graph.meta"), options, &model, &err);
    if (got != status || strstr(err.message, part) == NULL || err.status != got) {
        fail_msg("status %d, \"%s\"; expected %d, \"%s\"", got, err.message, status, part);
    }
    assert_null(model);
    assert_int_equal(strncmp(err.message, in_folder(""), strlen(in_folder(""))), 0);
    assert_int_equal(gbs_model_read(in_folder("graph.meta"), options, &model, NULL), status);
}

/* the values are not ascending, in order to test sorting: states 0, 1 and 2 have the values 2, 5
 * and 9 */
static const uint64_t THREE_VALUES[3] = {9, 2, 5};

/* A graph of four variables. Variable 0 is Boolean, variable 1 has the values 2, 5 and 9, variable
 * 2 has four values, and variable 3 is Boolean and observed in state 1. For each function the graph
 * has a factor over the first three variables and a factor of one variable. One more factor is over
 * variables 3 and 0. Weights are numbered in the order in which factors use them. */
enum { N_FUNCTIONS = 10, N_WEIGHTS = 2 * N_FUNCTIONS + 1 };
static const unsigned FUNCTIONS[N_FUNCTIONS] = {0, 1, 2, 3, 4, 7, 8, 9, 12, 13};

static inline double weight_of(unsigned i)
{
    return 0.25 * (i + 1) * (i % 2 == 0 ? 1 : -1);
}

typedef struct graph {
    bytes weights, variables, domains, factors;
    char meta[128];
} graph;

static inline void make_graph(graph *g)
{
    static const uint64_t scope[3] = {2, 0, 1};
    static const uint64_t value[3] = {3, 1, 5};
    static const uint64_t pair[2] = {3, 0};
    static const uint64_t ones[2] = {1, 1};
    *g = (graph){.meta = "21,4,21,42\n"};
    for (unsigned w = 0; w < N_WEIGHTS; w++) {
        put_weight(&g->weights, w, 1, weight_of(w));
    }
    put_variable(&g->variables, 0, 0, 0, 0, 2);
    put_variable(&g->variables, 1, 0, 2, 1, 3);
    put_variable(&g->variables, 2, 0, 0, 1, 4);
    put_variable(&g->variables, 3, 1, 1, 0, 2);
    put_domain(&g->domains, 1, 3, THREE_VALUES, 0);
    for (unsigned i = 0; i < N_FUNCTIONS; i++) {
        put_factor(&g->factors, FUNCTIONS[i], 3, scope, value, 2 * i, 1);
        put_factor(&g->factors, FUNCTIONS[i], 1, scope + 2, value + 2, 2 * i + 1, 1);
    }
    put_factor(&g->factors, 3, 2, pair, ones, 20, 1);
}

static inline void save_graph(const graph *g)
{
    (void)fresh_folder();
    save_text("graph.meta", g->meta);
    save_bytes("graph.weights", &g->weights);
    save_bytes("graph.variables", &g->variables);
    save_bytes("graph.factors", &g->factors);
    save_bytes("graph.domains", &g->domains);
}

#endif
