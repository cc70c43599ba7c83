/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the tests in this folder. Include cmocka.h first. */
#ifndef GBSI_TEXT_TEST_MODELS_H
#define GBSI_TEXT_TEST_MODELS_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "gibbsite/io.h"

/* The text of the last warning, and the number of warnings so far. */
typedef struct warnings {
    int n;
    char last[1024];
} warnings;

static inline void take_warning(void *context, const char *message)
{
    warnings *w = context;
    w->n++;
    (void)snprintf(w->last, sizeof w->last, "%s", message);
}

/* Whether this build reads the file or format of that name. XML needs expat. */
static inline bool can_read(const char *name)
{
#ifdef GBSI_HAVE_EXPAT
    (void)name;
    return true;
#else
    return strstr(name, "xml") == NULL && strstr(name, "xdsl") == NULL;
#endif
}

/* @return the path of tests/data/NAME in the source tree. */
static inline const char *data_path(const char *name)
{
    static char path[1024];
    const char *here = __FILE__;
    const char *slash = strrchr(here, '/');
    int n = slash == NULL ? 0 : (int)(slash - here) + 1;
    (void)snprintf(path, sizeof path, "%.*s../../../tests/data/%s", n, here, name);
    return path;
}

/* @return the path of a name in a fresh folder, which the first call makes. */
static inline const char *scratch_path(const char *name)
{
    static char folder[512];
    static char path[4][1024];
    static int turn;
    if (folder[0] == 0) {
        const char *base = getenv("TMPDIR");
        (void)snprintf(folder, sizeof folder, "%s/gibbsite-io-XXXXXX",
                       base != NULL ? base : P_tmpdir);
        assert_non_null(mkdtemp(folder));
    }
    turn = (turn + 1) % 4;
    (void)snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static inline void remove_scratch(void)
{
    char command[1024];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", scratch_path(""));
    assert_int_equal(system(command), 0);
}

static inline const char *scratch_file(const char *name, const char *text)
{
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline size_t read_file(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, size - 1, file);
    assert_int_equal(fclose(file), 0);
    bytes[n] = 0;
    return n;
}

static inline gbs_model *read_model(const char *name, const char *text,
                                    const gbs_read_options *options)
{
    gbs_model *model = NULL;
    gbs_error err = {0};
    if (gbs_model_read_memory(name, text, strlen(text), options, &model, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    return model;
}

/* Asserts that reading the text fails with `status`, and that the message contains `part`. */
static inline void refuse_model(const char *name, const char *text, const gbs_read_options *options,
                                gbs_status status, const char *part)
{
    gbs_model *model = NULL;
    gbs_error err = {0};
    gbs_status got = gbs_model_read_memory(name, text, strlen(text), options, &model, &err);
    if (got != status || strstr(err.message, part) == NULL || err.status != got) {
        fail_msg("status %d, \"%s\"; expected %d, \"%s\"", got, err.message, status, part);
    }
    assert_null(model);
    assert_int_equal(gbs_model_read_memory(name, text, strlen(text), options, &model, NULL),
                     status);
}

/* A text that is not a model, and a part of the message about it. */
typedef struct refusal {
    const char *text;
    const char *part;
} refusal;

/* Asserts that each of n texts, as a file of that name, is refused as wrongly formatted. */
static inline void refuse_all(const char *name, const refusal *cases, size_t n,
                              const gbs_read_options *options)
{
    for (size_t i = 0; i < n; i++) {
        refuse_model(name, cases[i].text, options, GBS_ERR_FORMAT, cases[i].part);
    }
}

/* Asserts that each of n texts, as a file of that name, is this model. */
static inline void expect_same_model(const gbs_model *model, const char *name,
                                     const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gbs_model *read = read_model(name, texts[i], NULL);
        assert_string_equal(gbs_model_digest(read), gbs_model_digest(model));
        for (uint32_t v = 0; v < gbs_model_n_variables(model); v++) {
            /* names are not part of a digest */
            const char *expected = gbs_model_variable_name(model, v);
            const char *found = gbs_model_variable_name(read, v);
            assert_true((found == NULL) == (expected == NULL));
            assert_true(found == NULL || strcmp(found, expected) == 0);
        }
        gbs_model_free(read);
    }
}

/* Computes exp(log density) of every assignment, at most n of them. The last variable runs
 * fastest. */
static inline size_t enumerate(const gbs_model *model, double *weight, size_t n)
{
    uint32_t x[16] = {0};
    uint32_t n_variables = gbs_model_n_variables(model);
    assert_true(n_variables <= 16);
    size_t i = 0;
    for (;;) {
        assert_true(i < n);
        weight[i++] = exp(gbs_model_log_density(model, x));
        uint32_t v = n_variables;
        while (v > 0 && ++x[v - 1] == gbs_model_arity(model, v - 1)) {
            x[--v] = 0;
        }
        if (v == 0) {
            return i;
        }
    }
}

static inline void expect_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-12 * (1 + fabs(expected)))) {
        fail_msg("%.17g, expected %.17g", found, expected);
    }
}

/* Asserts that a file in another format has the density of mixed.uai, whose tables were made by
 * hand. */
static inline void expect_mixed(const char *name)
{
    gbs_error err = {0};
    gbs_model *m[2] = {NULL, NULL};
    double w[2][24];
    const char *const names[] = {"mixed.uai", name};
    for (size_t i = 0; i < 2; i++) {
        if (gbs_model_read(data_path(names[i]), NULL, &m[i], &err) != GBS_OK) {
            fail_msg("%s", err.message);
        }
        assert_int_equal(enumerate(m[i], w[i], 24), 24);
        gbs_model_free(m[i]);
    }
    for (size_t i = 0; i < 24; i++) {
        expect_near(w[1][i], w[0][i]);
    }
}

#endif
