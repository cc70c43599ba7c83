/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the model that standard input describes, with factors of every kind, for tools/attack:
 *
 *     attack_server model FILE.gbm < DESCRIPTION
 *
 * A line is a call of the builder: a word, then numbers and names between blanks. States and
 * variables are numbered from 0, and a literal is a variable and the state that makes it true.
 *
 *     variables N ARITY...                   name V NAME            label V LABEL...
 *     table N V... LOGWEIGHT...              potential N V... WEIGHT...
 *     field V H        ising A B J           potts A B J            spin N V... J
 *     logical FUNCTION N LITERAL... WEIGHT   cardinality FUNCTION K N LITERAL... WEIGHT
 *     noisy KIND CHILD N PARENT... LEAK INHIBITION...
 *     extreme KIND CHILD N PARENT... LEAK... EFFECT...              (a noisy-max or noisy-min)
 *     count N LITERAL... LOGWEIGHT...                               directed
 *     keep ENTRIES LOGWEIGHT...              shared TABLE N V...    (a kept table; from 0)
 *     weights N VALUE...                     tied WEIGHT FEATURE
 *
 * A line `tied` ends with the words of a factor that has a weight. It must not stand after a
 * `count`.
 */
#include <gibbsite/gibbsite.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attack_model.h"

enum { MOST = 1 << 20, WORD = 64, MOST_STATES = 64 };

static gbs_builder *builder;
static uint32_t arity[MOST];
static uint32_t variable[MOST], state[MOST];
static double number[MOST];
static gbs_error err;
static size_t n_factors; /* number of factors until now */

static void fail(const char *text)
{
    (void)fprintf(stderr, "attack_model: %s\n", text);
    exit(2);
}

static void ok(gbs_status status)
{
    if (status < 0) {
        fail(err.message);
    }
}

static void next_word(char word[WORD])
{
    if (scanf("%63s", word) != 1) {
        fail("found the end in the middle of a line");
    }
}

static uint32_t next_count(void)
{
    char word[WORD];
    char *end = word;
    next_word(word);
    const unsigned long n = strtoul(word, &end, 10);
    if (end == word || *end != '\0' || n >= MOST) {
        fail("found something else than a number below 2^20");
    }
    return (uint32_t)n;
}

static double next_number(void)
{
    char word[WORD];
    char *end = word;
    next_word(word);
    const double x = strtod(word, &end);
    if (end == word || *end != '\0') {
        fail("found something else than a number");
    }
    return x;
}

static void next_numbers(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        number[i] = next_number();
    }
}

/* Reads the scope of a factor. @param literals whether a state follows each variable. @return
 * the number of joint states of the scope. */
static size_t next_scope(uint32_t n, int literals)
{
    size_t n_joint = 1;
    for (uint32_t i = 0; i < n; i++) {
        variable[i] = next_count();
        state[i] = literals ? next_count() : 0;
        n_joint *= arity[variable[i]];
        if (n_joint >= MOST && !literals) {
            fail("a table with more than 2^20 entries");
        }
    }
    return n_joint;
}

/* ---- one function for each word -------------------------------------------------------------- */

static void add_variables(void)
{
    const uint32_t n = next_count();
    for (uint32_t v = 0; v < n; v++) {
        arity[v] = next_count();
    }
    ok(gbs_builder_add_variables(builder, n, arity, NULL, &err));
}

static void add_name(void)
{
    char word[WORD];
    const uint32_t v = next_count();
    next_word(word);
    ok(gbs_builder_name_variable(builder, v, word, &err));
}

static void add_labels(void)
{
    static char word[MOST_STATES][WORD];
    const char *label[MOST_STATES];
    const uint32_t v = next_count();
    for (uint32_t a = 0; a < arity[v] && a < MOST_STATES; a++) {
        next_word(word[a]);
        label[a] = word[a];
    }
    ok(gbs_builder_label_states(builder, v, label, &err));
}

static void add_table(void)
{
    uint32_t table = 0;
    const uint32_t n = next_count();
    const size_t entries = next_scope(n, 0);
    next_numbers(entries);
    ok(gbs_builder_add_table(builder, entries, number, &table, &err));
    ok(gbs_builder_add_table_factor(builder, n, variable, table, &err));
}

static void add_potential(void)
{
    const uint32_t n = next_count();
    const size_t entries = next_scope(n, 0);
    next_numbers(entries);
    ok(gbs_builder_add_potential(builder, n, variable, entries, number, &err));
}

static void add_field(void)
{
    const uint32_t v = next_count();
    ok(gbs_builder_add_field(builder, v, next_number(), &err));
}

static void add_ising(void)
{
    const uint32_t a = next_count();
    const uint32_t b = next_count();
    ok(gbs_builder_add_ising(builder, a, b, next_number(), &err));
}

static void add_potts(void)
{
    const uint32_t a = next_count();
    const uint32_t b = next_count();
    ok(gbs_builder_add_potts(builder, a, b, next_number(), &err));
}

static void add_spin(void)
{
    const uint32_t n = next_count();
    (void)next_scope(n, 0);
    ok(gbs_builder_add_spin(builder, n, variable, next_number(), &err));
}

static void add_logical(void)
{
    const gbs_logical_function function = (gbs_logical_function)next_count();
    const uint32_t n = next_count();
    (void)next_scope(n, 1);
    ok(gbs_builder_add_logical(builder, function, n, variable, state, next_number(), &err));
}

static void add_cardinality(void)
{
    const gbs_logical_function function = (gbs_logical_function)next_count();
    const uint32_t k = next_count();
    const uint32_t n = next_count();
    (void)next_scope(n, 1);
    ok(gbs_builder_add_cardinality(builder, function, k, n, variable, state, next_number(), &err));
}

static void add_noisy(void)
{
    const gbs_factor_kind kind = (gbs_factor_kind)next_count();
    const uint32_t child = next_count();
    const uint32_t n = next_count();
    size_t entries = 0;
    (void)next_scope(n, 0);
    const double leak = next_number();
    for (uint32_t i = 0; i < n; i++) {
        entries += arity[variable[i]];
    }
    next_numbers(entries);
    ok(gbs_builder_add_noisy(builder, kind, child, n, variable, entries, number, leak, &err));
}

static void add_extreme(void)
{
    const gbs_factor_kind kind = (gbs_factor_kind)next_count();
    const uint32_t child = next_count();
    const uint32_t n = next_count();
    const uint32_t k = arity[child];
    size_t entries = k; /* the leak, then the inhibitions of the parents */
    (void)next_scope(n, 0);
    for (uint32_t i = 0; i < n; i++) {
        entries += (size_t)arity[variable[i]] * k;
    }
    next_numbers(entries);
    ok(gbs_builder_add_noisy_max(builder, kind, child, n, variable, entries - k, number + k, number,
                                 &err));
}

static void add_count(void)
{
    const uint32_t n = next_count();
    (void)next_scope(n, 1);
    next_numbers((size_t)n + 1);
    ok(gbs_builder_add_count_table(builder, n, variable, state, number, &err));
}

static void keep_table(void)
{
    uint32_t table = 0;
    const uint32_t n = next_count();
    next_numbers(n);
    ok(gbs_builder_add_table(builder, n, number, &table, &err));
}

static void add_shared(void)
{
    const uint32_t table = next_count();
    const uint32_t n = next_count();
    (void)next_scope(n, 0);
    ok(gbs_builder_add_table_factor(builder, n, variable, table, &err));
}

static void add_weights(void)
{
    const uint32_t n = next_count();
    next_numbers(n);
    ok(gbs_builder_add_weights(builder, n, number, NULL, NULL, &err));
}

static int add_line(const char *word);

/* Adds a factor, and ties the factor's weight to a shared one. The next words describe the
 * factor. */
static void add_tied(void)
{
    char word[WORD];
    const uint32_t weight = next_count();
    const double feature = next_number();
    next_word(word);
    if (!add_line(word)) {
        fail("tied: found no factor");
    }
    ok(gbs_builder_tie_factor(builder, n_factors - 1, weight, feature, &err));
}

static void set_directed(void)
{
    gbs_builder_set_directed(builder);
}

static const struct {
    const char *word;
    void (*add)(void);
    int factors; /* number of factors that it adds */
} lines[] = {{"variables", add_variables, 0}, {"name", add_name, 0},
             {"label", add_labels, 0},        {"keep", keep_table, 0},
             {"weights", add_weights, 0},     {"table", add_table, 1},
             {"shared", add_shared, 1},       {"potential", add_potential, 1},
             {"field", add_field, 1},         {"ising", add_ising, 1},
             {"potts", add_potts, 1},         {"spin", add_spin, 1},
             {"logical", add_logical, 1},     {"cardinality", add_cardinality, 1},
             {"noisy", add_noisy, 1},         {"extreme", add_extreme, 1},
             {"count", add_count, MOST}, /* number not known */
             {"tied", add_tied, 0},      /* the words that follow count the factor */
             {"directed", set_directed, 0}};

/* Reads the rest of a line that begins with `word`. @return 1, or 0 if no line begins with the
 * word. */
static int add_line(const char *word)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (strcmp(word, lines[i].word) == 0) {
            n_factors += (size_t)lines[i].factors;
            lines[i].add();
            return 1;
        }
    }
    return 0;
}

int attack_model(int argc, char **argv)
{
    char word[WORD];
    gbs_model *model = NULL;
    if (argc != 2) {
        fail("usage: attack_server model FILE.gbm < DESCRIPTION");
    }
    ok(gbs_builder_new(&builder, &err));
    while (scanf("%63s", word) == 1) {
        if (!add_line(word)) {
            fail("a line begins with an unknown word");
        }
    }
    ok(gbs_builder_build(builder, &model, &err));
    ok(gbs_model_write(model, argv[1], NULL, &err));
    gbs_model_free(model);
    gbs_builder_free(builder);
    return 0;
}
