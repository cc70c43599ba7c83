/* SPDX-License-Identifier: Apache-2.0 */
/* Tests native binary models. A written model is read back unchanged, damage is refused, and a
 * malicious file is refused or is a valid model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/test_scale.h"
#include "gibbsite/generate.h"
#include "gibbsite/gibbsite.h"
#include "models/gbm.h"
#include "store/test_builder.h"
#include "text/test_models.h"

enum { MOST_BYTES = 8192 };

typedef struct file {
    size_t n;
    char bytes[MOST_BYTES];
} file;

/* Makes a model with every kind of factor of a version, a shared table, and names and labels of
 * some variables. */
static gbs_model *everything_of(int version)
{
    static const uint32_t arity[8] = {2, 3, 4, 2, 2, 3, 1, 2};
    static const char *const labels[4] = {"north", "east", "south", "west"};
    static const double six[6] = {0, -1, -INFINITY, 2, 0.5, 1};
    static const uint32_t pair[2] = {0, 1};
    static const uint32_t other[2] = {3, 5};
    static const uint32_t spins[3] = {7, 0, 4};
    static const uint32_t state[3] = {1, 0, 1};
    static const uint32_t mixed_scope[3] = {2, 3, 5};
    static const uint32_t mixed_state[3] = {3, 0, 2};
    const double constant = 0.25;
    uint32_t table = 0;
    gbs_builder *b = new_builder(8, arity);
    assert_int_equal(gbs_builder_label_states(b, 2, labels, NULL), GBS_OK);
    assert_int_equal(gbs_builder_name_variable(b, 5, "zeta", NULL), GBS_OK);
    assert_int_equal(gbs_builder_name_variable(b, 2, "old", NULL), GBS_OK);
    assert_int_equal(gbs_builder_name_variable(b, 2, "wind", NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 6, six, &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 2, pair, table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 2, other, table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 1, &constant, &table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(b, 0, NULL, table, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_field(b, 7, -0.75, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_ising(b, 0, 7, 0.5, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_potts(b, 1, 5, -INFINITY, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_spin(b, 3, spins, 1.5, NULL), GBS_OK);
    assert_int_equal(
        gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 3, spins, state, INFINITY, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_IMPLY_NATURAL, 3, mixed_scope,
                                             mixed_state, 0.3, NULL),
                     GBS_OK);
    if (version == 2) {
        assert_int_equal(
            gbs_builder_add_logical(b, GBS_LOGICAL_PARITY, 3, spins, state, -0.5, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_cardinality(b, GBS_LOGICAL_AT_MOST, 1, 3, mixed_scope,
                                                     mixed_state, INFINITY, NULL),
                         GBS_OK);
        assert_int_equal(gbs_builder_add_noisy_or(b, 7, 2, spins + 1, six + 4, 0.01, NULL), GBS_OK);
    }
    gbs_model *m = build(b);
    gbs_builder_free(b);
    return m;
}

static gbs_model *everything(void)
{
    return everything_of(1);
}

static void write_file(const gbs_model *m, file *f)
{
    gbs_error err = {0};
    const char *path = scratch_path("model.gbm");
    if (gbs_model_write(m, path, NULL, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    f->n = read_file(path, f->bytes, sizeof f->bytes);
    assert_true(f->n < sizeof f->bytes - 1);
}

static gbs_status read_bytes(const char *bytes, size_t n, gbs_model **m, gbs_error *err)
{
    *m = NULL;
    return gbs_model_read_memory("m.gbm", bytes, n, NULL, m, err);
}

static gbs_model *read_back(const file *f)
{
    gbs_model *m = NULL;
    gbs_error err = {0};
    if (read_bytes(f->bytes, f->n, &m, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    return m;
}

static void seal(file *f)
{
    char text[GBSI_GBM_DIGEST_BYTES + 1];
    gbsi_digest *d = NULL;
    assert_int_equal(gbsi_digest_new(&d, NULL), GBS_OK);
    gbsi_digest_bytes(d, f->bytes, f->n - GBSI_GBM_DIGEST_BYTES);
    gbsi_digest_text(d, text);
    gbsi_digest_free(d);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): bytes, not a string */
    memcpy(f->bytes + f->n - GBSI_GBM_DIGEST_BYTES, text, GBSI_GBM_DIGEST_BYTES);
}

/* @return the position of a section of a file, which its name in the table gives. */
static size_t section(const file *f, const char *name)
{
    uint64_t n = 0;
    uint64_t offset = 0;
    memcpy(&n, f->bytes + GBSI_GBM_N_SECTIONS_AT, 8);
    for (size_t s = 0; s < n; s++) {
        const char *entry = f->bytes + GBSI_GBM_HEADER_BYTES + s * GBSI_GBM_ENTRY_BYTES;
        if (strcmp(entry, name) == 0) {
            memcpy(&offset, entry + GBSI_GBM_NAME_BYTES, 8);
            return offset;
        }
    }
    fail_msg("no section %s", name);
    return 0;
}

/* ---- in and out ------------------------------------------------------------------------------ */

static void smallest(void **unused)
{
    (void)unused;
    file f;
    gbs_model *m = read_model("a.uai", "MARKOV 0 0", NULL);
    write_file(m, &f);
    gbs_model_free(m);
    /* header, nine sections, three offsets of 0, checksum */
    assert_int_equal(f.n, 448 + 3 * 64 + 32);
    assert_memory_equal(f.bytes, "\x89GBM\r\n\x1a\n\x01\0\0\0\0\0\0\0", 16);
    m = read_back(&f);
    assert_int_equal(gbs_model_n_variables(m), 0);
    assert_int_equal(gbs_model_n_factors(m), 0);
    gbs_model_free(m);
}

static void expect_equal(const gbs_model *a, const gbs_model *b)
{
    assert_string_equal(gbs_model_digest(a), gbs_model_digest(b));
    assert_int_equal(gbs_model_is_directed(a), gbs_model_is_directed(b));
    assert_int_equal(a->factors.n_tables, b->factors.n_tables);
    assert_int_equal(a->n_named, b->n_named);
    for (uint32_t v = 0; v < a->n_variables; v++) {
        const char *name = gbs_model_variable_name(a, v);
        const char *other = gbs_model_variable_name(b, v);
        uint32_t found = 0;
        assert_true((name == NULL) == (other == NULL));
        if (name != NULL) {
            assert_string_equal(name, other);
            assert_int_equal(gbs_model_find_variable(b, name, &found, NULL), GBS_OK);
            assert_int_equal(found, v);
        }
        for (uint32_t s = 0; s < gbs_model_arity(a, v); s++) {
            const char *label = gbs_model_state_label(a, v, s);
            other = gbs_model_state_label(b, v, s);
            assert_true((label == NULL) == (other == NULL));
            assert_true(label == NULL || strcmp(label, other) == 0);
        }
    }
    for (uint32_t v = 0; a->directed && v < a->n_variables; v++) {
        assert_int_equal(a->cpt[v], b->cpt[v]);
        assert_int_equal(a->topological[v], b->topological[v]);
    }
}

static void round_trip(gbs_model *m)
{
    static file first;
    static file second;
    write_file(m, &first);
    gbs_model *n = read_back(&first);
    expect_equal(m, n);
    if (gbs_model_n_variables(m) <= 8) {
        double u[1200];
        double w[1200];
        const size_t k = enumerate(m, u, 1200);
        assert_int_equal(enumerate(n, w, 1200), k);
        assert_memory_equal(u, w, k * sizeof *u);
    }
    write_file(n, &second);
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.bytes, second.bytes, first.n);
    gbs_model_free(n);
    gbs_model_free(m);
}

static void round_trips(void **unused)
{
    (void)unused;
    static const char *const files[] = {"smallest.uai", "mixed.uai", "network.uai", "network.bif"};
    gbs_error err = {0};
    round_trip(everything());
    round_trip(everything_of(2));
    for (size_t i = 0; i < 4; i++) {
        gbs_model *m = NULL;
        assert_int_equal(gbs_model_read(data_path(files[i]), NULL, &m, &err), GBS_OK);
        round_trip(m);
    }
}

/* Tests the order of entries, by hand from the numbers in mixed.uai: the last variable runs
 * fastest. */
static void table_order(void **unused)
{
    (void)unused;
    static const double first[6] = {1, 2, 3, 4, 5, 6};
    gbs_model *m = NULL;
    gbs_error err;
    static file f;
    assert_int_equal(gbs_model_read(data_path("mixed.uai"), NULL, &m, &err), GBS_OK);
    write_file(m, &f);
    gbs_model_free(m);
    uint32_t scope[3];
    memcpy(scope, f.bytes + section(&f, "scope"), sizeof scope);
    assert_true(scope[0] == 2 && scope[1] == 0 && scope[2] == 1);
    for (size_t i = 0; i < 6; i++) {
        double logw = 0;
        memcpy(&logw, f.bytes + section(&f, "table") + 8 * i, sizeof logw);
        expect_near(exp(logw), first[i]);
    }
}

/* A file that is large enough is mapped. It may be removed while the model is used. */
static void mapped(void **unused)
{
    (void)unused;
    const gbs_generate_ising_options options = {
        .side = {120, 120, 1}, .coupling = 0.3, .random_field = 0.1, .seed = 3};
    gbs_error err = {0};
    gbs_model *m = NULL;
    gbs_model *n = NULL;
    gbs_model *zipped = NULL;
    const char *path = scratch_path("grid.gbm");
    const char *packed = scratch_path("grid.gbm.gz");
    assert_int_equal(gbs_generate_ising(&options, &m, &err), GBS_OK);
    assert_int_equal(gbs_model_write(m, path, NULL, &err), GBS_OK);
    assert_int_equal(gbs_model_read(path, NULL, &n, &err), GBS_OK);
    assert_true(n->mapping.mapped && n->mapping.n > 1 << 20);
    assert_int_equal(remove(path), 0);
    expect_equal(m, n);
    assert_int_equal(gbs_model_bytes(m), gbs_model_bytes(n));
    assert_int_equal(gbs_model_write(n, packed, NULL, &err), GBS_OK);
    assert_int_equal(gbs_model_read(packed, NULL, &zipped, &err), GBS_OK);
    assert_false(zipped->mapping.mapped);
    expect_equal(m, zipped);
    gbs_model_free(m);
    gbs_model_free(n);
    gbs_model_free(zipped);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void expect_refused(const char *bytes, size_t n, const char *part)
{
    gbs_model *m = NULL;
    gbs_error err = {0};
    char *copy = malloc(n == 0 ? 1 : n); /* a memory checker sees a read beyond the end */
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    const gbs_status status = read_bytes(copy, n, &m, &err);
    free(copy);
    assert_null(m);
    if (strstr(err.message, part) == NULL ||
        (status != GBS_ERR_FORMAT && status != GBS_ERR_UNSUPPORTED) ||
        strncmp(err.message, "m.gbm: byte ", 12) != 0) {
        fail_msg("status %d, \"%s\"; expected \"%s\"", status, err.message, part);
    }
}

static void damaged(void **unused)
{
    (void)unused;
    static file f;
    gbs_model *m = everything();
    write_file(m, &f);
    gbs_model_free(m);
    for (size_t n = 0; n < f.n; n++) {
        expect_refused(f.bytes, n, "found the end of the file");
    }
    f.bytes[f.n] = '\n';
    expect_refused(f.bytes, f.n + 1, "expected");
    for (size_t i = 0; i < f.n; i++) {
        for (int bit = 0; bit < 8; bit += 7) {
            f.bytes[i] ^= (char)(1 << bit);
            expect_refused(f.bytes, f.n,
                           i < 8    ? "as in every gbm file"
                           : i < 12 ? "found version"
                           : i < 16 ? "damaged"
                           : i < 24 ? "by its header"
                                    : "damaged");
            f.bytes[i] ^= (char)(1 << bit);
        }
    }
}

/* ---- malice ---------------------------------------------------------------------------------- */

/* Uses a model in all possible ways, so that a memory checker finds contents that should have
 * been refused. */
static void use(const gbs_model *m)
{
    uint32_t x[8];
    gbs_error err = {0};
    gbs_run *run = NULL;
    gbs_run_options options = gbs_run_options_default();
    uint32_t found = 0;
    for (uint32_t v = 0; v < gbs_model_n_variables(m); v++) {
        const char *name = gbs_model_variable_name(m, v);
        x[v] = gbs_model_arity(m, v) - 1;
        assert_true(name == NULL || gbs_model_find_variable(m, name, &found, &err) == GBS_OK ||
                    name[0] == '=' || (name[0] >= '0' && name[0] <= '9'));
        const gbs_status south = gbs_model_find_state(m, v, "south", &found, &err);
        assert_true(south == GBS_OK || south == GBS_ERR_ARGUMENT);
    }
    (void)gbs_model_log_density(m, x);
    options.method = GBS_METHOD_SAMPLE;
    options.chains = 1;
    options.sweeps = 1;
    options.burn_in = 0;
    if (gbs_run_new(m, NULL, &options, &run, &err) == GBS_OK) {
        assert_true(gbs_run_execute(run, NULL, &err) >= 0 || err.message[0] != '\0');
    }
    gbs_run_free(run);
}

static void forged(gbs_model *m)
{
    static const unsigned char values[] = {0, 1, 2, 0x7f, 0x80, 0xff};
    static file f;
    write_file(m, &f);
    gbs_model_free(m);
    const size_t step = test_share(1, 6); /* at small scale, a sixth of the values in turn */
    size_t n_read = 0;
    size_t n_refused = 0;
    for (size_t i = 0; i < f.n - GBSI_GBM_DIGEST_BYTES; i++) {
        const char before = f.bytes[i];
        for (size_t k = i % step; k < 2 * sizeof values; k += step) {
            const char with = (char)values[k / 2];
            f.bytes[i] = k % 2 == 0 ? with : (char)(before ^ with);
            gbs_error err = {0};
            seal(&f);
            if (read_bytes(f.bytes, f.n, &m, &err) == GBS_OK) {
                n_read++;
                use(m);
                gbs_model_free(m);
            } else {
                n_refused++;
                assert_null(m);
                assert_int_equal(strncmp(err.message, "m.gbm: byte ", 12), 0);
            }
        }
        f.bytes[i] = before;
    }
    /* other weights, entries and letters are valid; nearly all other changes are not */
    assert_true(n_read > 100 && n_refused > n_read);
}

static void forged_everything(void **unused)
{
    (void)unused;
    forged(everything_of(2));
}

static void forged_network(void **unused)
{
    (void)unused;
    gbs_model *m = NULL;
    gbs_error err = {0};
    assert_int_equal(gbs_model_read(data_path("network.bif"), NULL, &m, &err), GBS_OK);
    forged(m);
}

/* A value that is written at a place of a section before the file is sealed, and the message
 * about it. */
typedef struct forgery {
    const char *section; /* NULL: `place` is a place in the file */
    size_t place;
    uint64_t value;
    size_t n; /* bytes of `value` */
    const char *message;
} forgery;

static const uint64_t plus_infinity = 0x7ff0000000000000u;
static const uint64_t not_a_number = 0x7ff8000000000000u;

static const forgery forgeries[] = {
    {NULL, 12, 4, 4, "byte 12: found flags 4, expected at most 3"},
    {NULL, 24, 4294967281u, 8, "byte 24: found 4294967281 variables, expected at most"},
    {NULL, 24, (uint64_t)1 << 63, 8, "byte 24: found 9223372036854775808 variables"},
    {NULL, 40, (uint64_t)1 << 63, 8, "byte 24: found counts that do not make a file of"},
    {NULL, 40, UINT64_MAX, 8, "byte 24: found counts that do not make a file of"},
    {NULL, 48, 1000, 8, "byte 24: found counts that do not make a file of"},
    {NULL, 48, 19, 8, "byte 256: found another entry, expected section scope of 76 bytes"},
    {NULL, 56, UINT32_MAX + (uint64_t)1, 8, "byte 56: found 4294967296 tables"},
    {NULL, 96, 14, 8, "byte 96: found 14 sections, expected 15"},
    {NULL, 127, 7, 1, "byte 127: found 07, expected 0"},
    {NULL, 130, 'x', 1, "byte 128: found another entry, expected section arity of 32 bytes"},
    {NULL, 144, 0, 8, "byte 128: found another entry"},
    {"arity", 4, 0, 4, "variable 1 has 0 states"},
    {"arity", 4, 65536, 4, "variable 1 has 65536 states"},
    {"arity", 4, 4, 4, "found 5 as state_offset[2], expected 6"},
    {"state_offset", 64, 20, 8, "found 20 as state_offset[8], expected 19"},
    {"kind", 0, 99, 1, "factor 0: no kind of factor has number 99"},
    {"kind", 3, 2, 1, "factor 3: a coupling of 1 variables, expected 2"},
    {"scope_start", 0, 1, 8, "found 1 as scope_start[0], expected 0"},
    {"scope_start", 16, 1, 8, "found 1 as scope_start[2], expected at least 2"},
    {"scope_start", 16, 19, 8, "found 19 as scope_start[2], expected at most 18"},
    {"scope", 0, 8, 4, "factor 0: variable 8 in its scope, there are 8 variables"},
    {"scope", 0, 1, 4, "factor 0: variable 1 is twice in its scope"},
    {"scope", 0, 2, 4, "factor 0 has 6 entries, its scope (4 x 3) needs 12"},
    {"scope", 16, 5, 4, "factor 3: variable 5 has 3 states, a field needs 2"},
    {"literal", 0, 1, 4, "found 1 as a literal of factor 0, expected 0"},
    {"literal", 48, 2, 4, "factor 7: literal 0 is variable 7 in state 2"},
    {"weight", 0, 1, 8, "of factor 0, expected 0 (it has a table)"},
    {"weight", 24, plus_infinity, 8, "factor 3: field inf, expected a finite one"},
    {"weight", 40, not_a_number, 8, "factor 5: coupling nan"},
    {"weight", 64, plus_infinity, 8, "factor 8: function 0 cannot be hard"},
    {"aux", 0, 2, 4, "factor 0: table 2, there are 2 tables"},
    {"aux", 12, 1, 4, "found 1 as aux[3], expected 0"},
    {"aux", 28, 2, 4, "found 2 as aux[7], expected one of 2 logical descriptions"},
    {"table_start", 8, 0, 8, "found 0 as table_start[1], expected at least 1"},
    {"table", 8, plus_infinity, 8, "table 0: entry 1 is plus infinity"},
    {"table", 48, not_a_number, 8, "table 1: entry 0 is not a number"},
    {"logical", 0, 5, 1, "found function 5, head 0, cardinality 0, 0 true literals as logical[0]"},
    {"logical", 1, 2, 1, "found function 64, head 2, cardinality 0, 0 true literals as logical[0]"},
    {"logical", 3, 1, 1, "found function 64, head 0, cardinality 256, 0 true literals"},
    {"logical", 4, 1, 4, "factor 7 has 3 literals, its description (0) expects 2"},
    {"text", 0, 0, 1, "found nothing as the text of name[2], expected letters"},
    {"text", 4, 'x', 1, "found 5 as name[5], expected 2^64 - 1 (none) or 10"},
    {"text", 31, 'x', 1, "found the end of the text as the text of label[8]"},
    {"name", 16, UINT64_MAX, 8, "found 5 as name[5], expected 2^64 - 1 (none) or 0"},
    {"name", 0, 32, 8, "found 32 as name[0], expected 2^64 - 1 (none) or 0"},
    {"by_name", 0, 0, 4, "found 0 as by_name[0], expected a variable with a name"},
    {"by_name", 0, 8, 4, "found 8 as by_name[0], expected a variable with a name"},
    {"by_name", 0, 5, 4, "variables 5 and 5 are both named \"zeta\""},
    {"text", 0, 'z' + ('z' << 8), 2, "behind 2, expected the variables sorted by name"},
    {"label", 64, UINT64_MAX, 8, "variable 2: found labels of some states"},
};

static void messages(void **unused)
{
    (void)unused;
    static file f;
    gbs_model *m = everything();
    write_file(m, &f);
    gbs_model_free(m);
    for (size_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
        const forgery *g = &forgeries[i];
        file copy = f;
        const size_t base = g->section == NULL ? 0 : section(&f, g->section);
        memcpy(copy.bytes + base + g->place, &g->value, g->n);
        seal(&copy);
        expect_refused(copy.bytes, copy.n, g->message);
    }
}

/* The version must be the first one that can hold the file's content. */
static void versions(void **unused)
{
    (void)unused;
    static file f;
    for (char version = 1; version <= 2; version++) {
        gbs_model *m = everything_of(version);
        write_file(m, &f);
        gbs_model_free(m);
        assert_int_equal(f.bytes[8], version);
        for (char other = 0; other <= 3; other++) {
            f.bytes[8] = other;
            seal(&f);
            if (other == 0 || other == 3) {
                expect_refused(f.bytes, f.n, "expected at most 2");
            } else if (other != version) {
                expect_refused(f.bytes, f.n,
                               version == 1 ? "byte 8: found version 2, expected 1 for what"
                                            : "byte 8: found version 1, expected 2 for what");
            }
        }
    }
}

/* Tests two states with one label, a variable without its labels, and a network with a cycle. */
static void more_messages(void **unused)
{
    (void)unused;
    static file f;
    gbs_model *m = everything();
    char part[64];
    write_file(m, &f);
    gbs_model_free(m);
    /* "wind zeta north east south west": south becomes north */
    memcpy(f.bytes + section(&f, "text") + 21, "north", 5);
    seal(&f);
    expect_refused(f.bytes, f.n, "variable 2: states 0 and 2 are both \"north\"");
    m = read_model("a.uai", "MARKOV 0 0", NULL);
    write_file(m, &f);
    gbs_model_free(m);
    f.bytes[GBSI_GBM_COUNTS_AT + 8 * 8] = 5; /* found by fuzzing */
    seal(&f);
    expect_refused(f.bytes, f.n, "byte 88: found 5 bytes of text, expected 0 without names");
    m = everything();
    write_file(m, &f);
    gbs_model_free(m);
    memset(f.bytes + section(&f, "label") + 8 * 5, 0xff, 8 * 4);
    seal(&f);
    expect_refused(f.bytes, f.n, "found 22 bytes of text that are no name or label");
    m = read_model("a.uai", "MARKOV 2 2 2 2 2 0 1 2 1 0 4 1 1 1 1 4 1 1 1 1", NULL);
    write_file(m, &f);
    gbs_model_free(m);
    f.bytes[GBSI_GBM_FLAGS_AT] = GBSI_GBM_DIRECTED;
    seal(&f);
    (void)snprintf(part, sizeof part, "m.gbm: byte %zu: directed cycle 0 -> 1 -> 0",
                   section(&f, "scope"));
    expect_refused(f.bytes, f.n, part);
}

static void refused(void **unused)
{
    (void)unused;
    static file f;
    gbs_model *m = NULL;
    gbs_error err = {0};
    expect_refused("MARKOV", 6, "m.gbm: byte 0: found 4d, expected 89 as in every gbm file");
    expect_refused("\x89GBM\n", 5, "m.gbm: byte 4: found 0a, expected 0d");
    assert_int_equal(gbs_model_read(data_path("network.uai"), NULL, &m, &err), GBS_OK);
    write_file(m, &f);
    gbs_model_free(m);
    m = NULL;
    const gbs_read_options options = {.format = "gbm", .normalize_cpts = 1};
    assert_int_equal(gbs_model_read_memory("x", f.bytes, f.n, &options, &m, &err),
                     GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "--normalize-cpts"));
    assert_int_equal(gbs_model_read("/nonexistent/x.gbm", NULL, &m, &err), GBS_ERR_IO);
    assert_null(m);
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    gbs_error err = {0};
    for (int directed = 0; directed < 2; directed++) {
        gbs_model *m = NULL;
        const char *path = scratch_path("memory.gbm");
        if (directed) {
            assert_int_equal(gbs_model_read(data_path("network.bif"), NULL, &m, &err), GBS_OK);
        } else {
            m = everything();
        }
        gbs_status status = GBS_ERR_MEMORY;
        uint64_t n = 0;
        for (; status != GBS_OK; n++) {
            gbsi_alloc_fail_after(n);
            status = gbs_model_write(m, path, NULL, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        }
        gbs_model_free(m);
        status = GBS_ERR_MEMORY;
        for (n = 0; status != GBS_OK; n++) {
            m = NULL;
            gbsi_alloc_fail_after(n);
            status = gbs_model_read(path, NULL, &m, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
            assert_true((status == GBS_OK) == (m != NULL));
        }
        assert_true(n > 5);
        gbs_model_free(m);
    }
}

static int end(void **unused)
{
    (void)unused;
    remove_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smallest),       cmocka_unit_test(round_trips),
        cmocka_unit_test(table_order),    cmocka_unit_test(mapped),
        cmocka_unit_test(damaged),        cmocka_unit_test(forged_everything),
        cmocka_unit_test(forged_network), cmocka_unit_test(messages),
        cmocka_unit_test(versions),       cmocka_unit_test(more_messages),
        cmocka_unit_test(refused),        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
