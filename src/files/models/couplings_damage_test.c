/* SPDX-License-Identifier: Apache-2.0 */
/* Tests files of couplings, graphs and clauses that are cut at every byte, mutated from a fixed
 * seed, or read and written while memory runs out. Nothing may crash or leak, and each failure
 * must name a place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/test_damage.h"

typedef struct sample {
    const char *format;
    const char *text;
    uint32_t states;
    /* true: a prefix of whole lines is a valid file; false: the file announces its length */
    bool lines;
} sample;

/* In files that announce their length the last number has one digit. Without this digit the file
 * is too short. */
static const sample SAMPLES[] = {
    {"mtx", "%%MatrixMarket matrix coordinate real symmetric\n% x\n3 3 3\n1 1 0.5\n2 1 1\n3 2 4\n",
     0, false},
    {"mtx", "%%MatrixMarket matrix array real general\n2 2\n1 2\n2 4\n", 0, false},
    {"rud", "3 3\n1 2 -1.5\n2 3 7\n1 3\n", 0, false},
    {"coo", "# vartype=BINARY\n0 0 2\n0 1 3\n# c\n2 1 4\n", 0, true},
    {"col", "c x\np edge 4 3\ne 1 2\ne 2 3\ne 4 1\n", 3, false},
    {"wcnf", "c x\np wcnf 3 3 10\n2 1 -2 0\n10 3 0\n-4 1 2 3 0\n", 0, false},
    {"wcnf", "1.5 1 -2 0\nc x\nh 3 0\n2 1 -1 2 0\n", 0, true},
    {"mln", "1.5 !A v B\n// x\nC v A.\n", 0, true},
};
#define N_SAMPLES (sizeof SAMPLES / sizeof SAMPLES[0])

static gbs_read_options options_of(const sample *s)
{
    return (gbs_read_options){.format = s->format, .states = s->states};
}

/* In formats without counts a prefix is a valid file if its last line is whole. */
static bool is_whole(const sample *s, size_t cut)
{
    const char *line = s->text + cut;
    while (line > s->text && line[-1] != '\n') {
        line--;
    }
    const size_t n = (size_t)(s->text + cut - line);
    char last[64];
    memcpy(last, line, n);
    last[n] = 0;
    if (strcmp(s->format, "coo") == 0) {
        const bool comment = last[0] == '#' && line != s->text;
        return (cut >= 16) && (n == 0 || comment || line == s->text || n == 5);
    }
    if (strcmp(s->format, "wcnf") == 0) {
        return cut >= 10 &&
               (n == 0 || last[0] == 'c' || (n > 2 && strcmp(last + n - 2, " 0") == 0));
    }
    const bool comment = n >= 2 && last[0] == '/';
    const bool weighted = last[0] == '1' && (n == 6 || n == 7 || n == 10);
    return (cut >= 6) && (n == 0 || comment || weighted || (n == 6 && last[5] == '.'));
}

static void cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const sample *s = &SAMPLES[i];
        const gbs_read_options options = options_of(s);
        const size_t n = strlen(s->text);
        for (size_t cut = 0; cut <= n; cut++) {
            bool expected =
                /* all lines except the last end with a line break */
                s->lines ? is_whole(s, cut) : cut + 1 >= n;
            if (read_exactly(s->text, cut, &options) != expected) {
                fail_msg("sample %zu cut to %zu bytes: expected %s", i, cut,
                         expected ? "a model" : "a refusal");
            }
        }
    }
}

static const char *const WORDS[] = {"99999999999999999999",
                                    "-1",
                                    "0",
                                    "1e999",
                                    "nan",
                                    "inf",
                                    " ",
                                    "\n",
                                    "c",
                                    "#",
                                    "h",
                                    "p",
                                    "e",
                                    "v",
                                    "!",
                                    "//",
                                    ".",
                                    "-",
                                    "%",
                                    "array",
                                    "pattern",
                                    "65536",
                                    "1 2",
                                    "integer"};
#define N_WORDS (sizeof WORDS / sizeof WORDS[0])

static gbs_read_options mutated_options(const void *of, int round)
{
    static const char *const diagonals[] = {"field", "ignore", "error"};
    const sample *s = of;
    gbs_read_options options = options_of(s);
    options.lenient = round % 5 == 0;
    if (strcmp(s->format, "mtx") == 0 || strcmp(s->format, "coo") == 0) {
        options.diagonal = diagonals[round / 3 % 3];
    }
    return options;
}

static void mutated(void **state)
{
    (void)state;
    uint64_t seed = 10;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const sample *s = &SAMPLES[i];
        /* some mutations do not change the model */
        assert_true(read_mutations(s->text, strlen(s->text), WORDS, N_WORDS, &seed, mutated_options,
                                   s) > 20);
    }
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLES; i++) {
        const gbs_read_options options = options_of(&SAMPLES[i]);
        gbs_model *model = read_starved("name", SAMPLES[i].text, &options);
        write_starved(model, SAMPLES[i].format);
        gbs_model_free(model);
    }
}

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(mutated),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
