/* SPDX-License-Identifier: Apache-2.0 */
/* Any input as a model of one format, FUZZ_FORMAT: read strictly, leniently and with the rarer
 * options, and if it can be read, written and read again. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "store/model.h"

#ifndef FUZZ_OPTIONS
#define FUZZ_OPTIONS ""
#endif
#ifndef FUZZ_MAIN_FILE
#define FUZZ_MAIN_FILE NULL
#endif

/* The file that a user names, for formats of several files; NULL for all other formats. */
static const char *const main_file = FUZZ_MAIN_FILE;

/* Options that mean nothing to a format are refused: FUZZ_OPTIONS names those it takes. */
static bool takes(const char *option)
{
    return strstr(FUZZ_OPTIONS, option) != NULL;
}

static gbs_read_options plain_options(int lenient)
{
    return (gbs_read_options){.format = FUZZ_FORMAT,
                              .lenient = lenient,
                              .states = takes("states") ? 3 : 0,
                              .warn = fuzz_take_warning};
}

/* One of the rest, as the input has it. */
static gbs_read_options rare_options(const uint8_t *data, size_t size)
{
    static const char *const conventions[] = {"physics", "bqm", "maxcut"};
    static const char *const diagonals[] = {"field", "ignore", "error"};
    static const char *const orders[] = {"parents-child", "child-parents", "reversed-child",
                                         "child-reversed"};
    uint32_t choice = fuzz_choose(data, size, 9);
    gbs_read_options options = plain_options(1);
    options.normalize_cpts = 1;
    options.convention = takes("convention") ? conventions[choice % 3] : NULL;
    options.diagonal = takes("diagonal") ? diagonals[choice / 3] : NULL;
    options.weight_scale = takes("scale") ? 0.5 : 0;
    options.states = takes("states") ? 1 + choice : 0;
    options.size = sizeof options;
    options.table_order = takes("order") ? orders[choice % 4] : NULL;
    return options;
}

/* @param folder the input as files, or NULL. */
static gbs_model *read_input(const uint8_t *data, size_t size, const char *folder,
                             const gbs_read_options *options)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    gbs_status status = folder != NULL
                            ? gbs_model_read(folder, options, &model, &err)
                            : gbs_model_read_memory("input", data, size, options, &model, &err);
    FUZZ_REQUIRE((status >= 0) == (model != NULL));
    if (status >= 0) {
        fuzz_check_model(model);
    } else if (folder == NULL || status != GBS_ERR_IO) { /* a file may be missing */
        fuzz_check_refusal(folder != NULL ? folder : "input", status, &err);
        /* The contents of a file are no wrong argument; but options may not fit the file. */
        FUZZ_REQUIRE(status != GBS_ERR_ARGUMENT || options->convention != NULL);
    }
    return model;
}

static bool equal(const gbs_model *a, const gbs_model *b)
{
    return strcmp(gbs_model_digest(a), gbs_model_digest(b)) == 0;
}

/* @return the sum of the absolute values that a state gets from each factor: rounding errors
 * scale with it. */
static double magnitude(const gbs_model *m, const uint32_t *x)
{
    double sum = 0;
    for (size_t f = 0; f < m->factors.n_factors; f++) {
        sum += fabs(gbsi_factor_value(&m->factors, m->arity, f, x));
    }
    return sum;
}

/* Checks that log densities are the same up to a constant. */
static void check_same_density(const gbs_model *a, const gbs_model *b, uint32_t seed)
{
    const double tolerance = 1e-9;
    uint32_t n = gbs_model_n_variables(a);
    uint32_t *x = calloc((size_t)n + 1, sizeof *x);
    FUZZ_REQUIRE(x != NULL && gbs_model_n_variables(b) == n);
    double a0 = gbs_model_log_density(a, x);
    double b0 = gbs_model_log_density(b, x);
    double size = 1 + magnitude(a, x);
    FUZZ_REQUIRE((a0 == -INFINITY) == (b0 == -INFINITY));
    for (uint32_t v = 0; v < n; v++) {
        FUZZ_REQUIRE(gbs_model_arity(a, v) == gbs_model_arity(b, v));
        seed = seed * 1664525u + 1013904223u; /* Knuth, volume 2, 3.3.4 */
        x[v] = (seed >> 16) % gbs_model_arity(a, v);
    }
    double a1 = gbs_model_log_density(a, x);
    double b1 = gbs_model_log_density(b, x);
    size += magnitude(a, x);
    FUZZ_REQUIRE((a1 == -INFINITY) == (b1 == -INFINITY));
    if (a0 != -INFINITY && a1 != -INFINITY) {
        FUZZ_REQUIRE(fabs((a1 - a0) - (b1 - b0)) <= tolerance * size);
    }
    free(x);
}

static bool has_tables_only(const gbs_model *m)
{
    for (size_t f = 0; f < m->factors.n_factors; f++) {
        if (m->factors.kind[f] != GBS_FACTOR_TABLE) {
            return false;
        }
    }
    return true;
}

/* Logarithms are written exactly, so tables come back as they were. */
static void check_as_tables(const gbs_model *model, int lenient, uint32_t seed)
{
    const gbs_read_options plain = {.lenient = lenient, .warn = fuzz_take_warning};
    gbs_model *back = fuzz_through_file(model, "lg", &plain);
    if (back == NULL) {
        return;
    }
    fuzz_check_model(back);
    if (has_tables_only(model)) {
        FUZZ_REQUIRE(equal(model, back));
    } else {
        check_same_density(model, back, seed);
    }
    gbs_model_free(back);
}

static gbs_model *write_and_read(const gbs_model *model, const gbs_read_options *options)
{
    return main_file == NULL ? fuzz_through_file(model, FUZZ_FORMAT, options)
                             : fuzz_through_folder(model, FUZZ_FORMAT, main_file, options);
}

/* The format's own writer, and what it wrote once more: that must have settled. */
static void check_as_itself(const gbs_model *model, int lenient, uint32_t seed)
{
    const gbs_read_options options = plain_options(lenient);
    gbs_model *back = write_and_read(model, &options);
    gbs_model *again = back == NULL ? NULL : write_and_read(back, &options);
    if (back != NULL) {
        fuzz_check_model(back);
        check_same_density(model, back, seed);
    }
    if (again != NULL) {
        check_same_density(model, again, seed);
    }
    gbs_model_free(back);
    gbs_model_free(again);
}

/* Checks that columns of conditional tables sum to one if that was asked for. */
static void check_normalized(const gbs_model *m)
{
    const double tolerance = 1e-9;
    for (uint32_t v = 0; m->directed && v < m->n_variables; v++) {
        const size_t *start = &m->factors.table_start[m->factors.aux[m->cpt[v]]];
        for (size_t at = start[0]; at < start[1]; at += m->arity[v]) {
            double sum = 0;
            for (uint32_t a = 0; a < m->arity[v]; a++) {
                sum += exp(m->factors.table[at + a]);
            }
            FUZZ_REQUIRE(fabs(sum - 1) <= tolerance);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint32_t some = 2; /* one of as many inputs is written, fewer where that takes files */
    const uint32_t few = 64;
    const gbs_read_options strict = plain_options(0);
    const gbs_read_options lenient = plain_options(1);
    const gbs_read_options rare = rare_options(data, size);
    uint32_t seed = fuzz_choose(data, size, UINT32_MAX);
    const char *folder = main_file == NULL ? NULL : fuzz_files(data, size);
    gbs_model *exact = read_input(data, size, folder, &strict);
    gbs_model *kind = read_input(data, size, folder, &lenient);
    gbs_model *other = read_input(data, size, folder, &rare);
    if (exact != NULL) { /* lenience changes nothing where nothing is wrong */
        FUZZ_REQUIRE(kind != NULL && equal(exact, kind));
    }
    if (kind != NULL && seed % (folder == NULL ? some : few) == 0) {
        check_as_tables(kind, exact == NULL, seed); /* what took lenience takes it again */
        check_as_itself(kind, exact == NULL, seed);
    }
    if (other != NULL) {
        check_normalized(other);
    }
    gbs_model_free(exact);
    gbs_model_free(kind);
    gbs_model_free(other);
    return 0;
}
