/* SPDX-License-Identifier: Apache-2.0 */
/* Compares ground programs with enumerated worlds. Each formula is a function in C that counts its
 * true groundings over all constants. In every world the log density of the model must be the sum
 * of the weights times the counts, up to one constant. */
#include "gibbsite/ground.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

enum { N = 3, MOST_ATOMS = 21 }; /* people; atoms of a world */

static const char *const person[N] = {"A", "B", "C"};

/* A world of three people. */
typedef struct world {
    bool smokes[N], cancer[N];
    bool friends[N][N];
} world;

static gbs_status ground(const char *program, const char *database, const char *query,
                         gbs_model **model, gbs_ground_report *report, gbs_error *err)
{
    const gbs_ground_options options = {.size = sizeof options, .query_predicates = query};
    report->size = sizeof *report;
    return gbs_ground_memory("p.mln", program, strlen(program), "d.db", database, strlen(database),
                             &options, NULL, model, report, err);
}

/* @return the atom of a name in a world. */
static bool *atom_of(world *w, const char *name)
{
    char text[32];
    for (int x = 0; x < N; x++) {
        (void)snprintf(text, sizeof text, "Smokes(%s)", person[x]);
        if (strcmp(text, name) == 0) {
            return &w->smokes[x];
        }
        (void)snprintf(text, sizeof text, "Cancer(%s)", person[x]);
        if (strcmp(text, name) == 0) {
            return &w->cancer[x];
        }
        for (int y = 0; y < N; y++) {
            (void)snprintf(text, sizeof text, "Friends(%s,%s)", person[x], person[y]);
            if (strcmp(text, name) == 0) {
                return &w->friends[x][y];
            }
        }
    }
    fail_msg("no atom is called %s", name);
    return NULL;
}

/* Checks the model of a program in all worlds. @param evidence values of the atoms that are not
 * open. @param log_weight log-weight of a world, up to a constant. */
static void check(const char *formulas, const char *database, const char *query,
                  const world *evidence, double (*log_weight)(const world *w))
{
    char program[2000];
    gbs_model *model = NULL;
    gbs_ground_report report;
    gbs_error err = {GBS_OK, ""};
    uint32_t state[MOST_ATOMS];
    double constant = NAN;
    (void)snprintf(program, sizeof program,
                   "person = {A, B, C}\nSmokes(person)\nCancer(person) // comment\n"
                   "Friends(person, person)\n%s",
                   formulas);
    if (ground(program, database, query, &model, &report, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    const uint32_t n = gbs_model_n_variables(model);
    assert_int_equal(n, report.n_variables);
    assert_int_equal(gbs_model_n_factors(model), report.n_factors);
    assert_in_range(n, 1, MOST_ATOMS);
    for (uint32_t bits = 0; bits < UINT32_C(1) << n; bits++) {
        world w = *evidence;
        for (uint32_t v = 0; v < n; v++) {
            state[v] = bits >> v & 1;
            *atom_of(&w, gbs_model_variable_name(model, v)) = state[v] != 0;
        }
        const double expected = log_weight(&w);
        const double found = gbs_model_log_density(model, state);
        assert_int_equal(isinf(expected) != 0, isinf(found) != 0);
        if (isfinite(found)) {
            constant = isnan(constant) ? found - expected : constant;
            assert_true(fabs(found - expected - constant) < 1e-12);
        }
    }
    gbs_model_free(model);
}

/* ---- formulas ------------------------------------------------------------------------------- */

/* Smoking causes cancer; friends smoke alike. */
static double smokers(const world *w)
{
    double sum = 0.0;
    for (int x = 0; x < N; x++) {
        sum += 1.126769 * (!w->smokes[x] || w->cancer[x]);
        for (int y = 0; y < N; y++) {
            sum += 1.577776 * (!w->friends[x][y] || w->smokes[x] == w->smokes[y]);
        }
    }
    return sum;
}

#define SMOKERS                         \
    "1.126769 Smokes(x) => Cancer(x)\n" \
    "1.577776 Friends(x, y) => (Smokes(x) <=> Smokes(y))\n"

static void test_smokers(void **unused)
{
    const world some = {.friends = {{false, true, true}, {true, false, false}, {false}}};
    const world seen = {.friends = {{false, true, true}, {true, false, false}, {false}},
                        .smokes = {true},
                        .cancer = {false, true}};
    (void)unused;
    check(SMOKERS, "Friends(A, B)\nFriends(B, A)\nFriends(A,C)\n", NULL, &some, smokers);
    check(SMOKERS, "Friends(A,B).\nFriends(B,A)\nFriends(A,C)\nSmokes(A)\nCancer(B)\n!Smokes(B)\n",
          "Smokes,Cancer", &seen, smokers);
    check(SMOKERS, "", "Smokes,Cancer,Friends", &(world){0}, smokers);
}

/* Clauses with negative weights, equality, a constant, and a conjunction. */
static double mixed(const world *w)
{
    double sum = 0.0;
    for (int x = 0; x < N; x++) {
        sum += 0.75 * (w->smokes[x] && w->cancer[x]) - 0.25 * w->smokes[x];
        for (int y = 0; y < N; y++) {
            sum -= 1.5 * (!w->friends[x][y] || !w->smokes[x] || w->smokes[y]);
            sum += 0.5 * (x == y || !w->cancer[x] || !w->cancer[y]);
            sum += 2.0 * (w->friends[x][y] && w->smokes[y]);
        }
    }
    return sum + 0.375 * (w->smokes[1] || w->cancer[2]);
}

static void test_mixed(void **unused)
{
    const world some = {.friends = {{true, true}, {false}, {true, false, false}}};
    (void)unused;
    check("-1.5 !Friends(x,y) v !Smokes(x) v Smokes(y)\n0.75 Smokes(x) ^ Cancer(x)\n"
          "-0.25 Smokes(x)\n0.5 x = y v !Cancer(x) v !Cancer(y)\n"
          "2 Friends(x,y) ^ Smokes(y)\n.375 Smokes(B) v Cancer(C)\n",
          "Friends(A,A)\nFriends(A,B)\nFriends(C,A)\n", "Smokes,Cancer", &some, mixed);
}

/* Hard formulas, quantifiers, a formula that becomes a table. */
static double quantified(const world *w)
{
    double sum = 0.0;
    bool allowed = true;
    for (int x = 0; x < N; x++) {
        bool any = false;
        bool all = true;
        for (int y = 0; y < N; y++) {
            any = any || (w->friends[x][y] && w->smokes[y]);
            all = all && (!w->friends[x][y] || w->cancer[y]);
            allowed = allowed && (!w->friends[x][y] || w->friends[y][x]);
        }
        sum += 0.625 * any + 1.25 * (w->cancer[x] == all);
        allowed = allowed && (w->smokes[0] || w->cancer[x]);
    }
    return allowed ? sum : -INFINITY;
}

static void test_quantified(void **unused)
{
    (void)unused;
    check("0.625 EXIST y (Friends(x,y) ^ Smokes(y))\n"
          "1.25 Cancer(x) <=> (FORALL y (Friends(x,y) => Cancer(y)))\n"
          "Friends(x,y) => Friends(y,x).\n(Smokes(A) v Cancer(x)) ^ (x = x).\n",
          "", NULL, &(world){0}, quantified);
}

/* ---- exactly one value ---------------------------------------------------------------------- */

enum { N_THINGS = 2, N_PLACES = 3 };

/* 1.5 Big(t) => At(t,X), 0.7 At(A,p) ^ At(B,p) v Near(p,X) where each thing is at one place, and
 * each place is near one place. */
typedef struct choices {
    bool at[N_THINGS][N_PLACES], near[N_PLACES][N_PLACES], big[N_THINGS];
} choices;

static double chosen(const choices *w)
{
    double sum = 0.0;
    for (int t = 0; t < N_THINGS; t++) {
        sum += 1.5 * (!w->big[t] || w->at[t][0]);
        if (w->at[t][0] + w->at[t][1] + w->at[t][2] != 1) {
            return -INFINITY;
        }
    }
    for (int p = 0; p < N_PLACES; p++) {
        sum += 0.7 * ((w->at[0][p] && w->at[1][p]) || w->near[p][0]);
        if (w->near[0][p] + w->near[1][p] + w->near[2][p] != 1) {
            return -INFINITY;
        }
    }
    return sum;
}

static bool *choice_of(choices *w, const char *name)
{
    int t = name[3] - 'A';
    int p = 0;
    if (name[0] == 'B') { /* Big(A) */
        return &w->big[name[4] - 'A'];
    }
    if (name[0] == 'A') { /* At(A,X) */
        p = name[5] - 'X';
        assert_true(t >= 0 && t < N_THINGS && p >= 0 && p < N_PLACES);
        return &w->at[t][p];
    }
    t = name[5] - 'X'; /* Near(X,Y) */
    p = name[7] - 'X';
    assert_true(t >= 0 && t < N_PLACES && p >= 0 && p < N_PLACES);
    return &w->near[t][p];
}

/* @param n_variables number of variables that facts leave. */
static void check_choices(const char *database, const choices *seen, uint32_t n_variables)
{
    gbs_model *model = NULL;
    gbs_ground_report report;
    gbs_error err = {GBS_OK, ""};
    uint32_t state[MOST_ATOMS];
    double constant = NAN;
    uint32_t n_worlds = 0;
    if (ground("thing = {A, B}\nplace = {X, Y, Z}\nAt(thing, place!)\nNear(place!, place)\n"
               "Big(thing)\n1.5 Big(t) => At(t,X)\n0.7 At(A,p) ^ At(B,p) v Near(p,X)\n",
               database, "At,Near,Big", &model, &report, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(gbs_model_n_variables(model), n_variables);
    assert_int_equal(gbs_model_n_factors(model), report.n_factors);
    assert_true(report.n_atoms == n_variables);
    for (uint32_t bits = 0; bits < UINT32_C(1) << n_variables; bits++) {
        choices w = *seen;
        for (uint32_t v = 0; v < n_variables; v++) {
            state[v] = bits >> v & 1;
            *choice_of(&w, gbs_model_variable_name(model, v)) = state[v] != 0;
        }
        const double expected = chosen(&w);
        const double found = gbs_model_log_density(model, state);
        assert_int_equal(isinf(expected) != 0, isinf(found) != 0);
        if (isfinite(found)) {
            constant = isnan(constant) ? found - expected : constant;
            assert_true(fabs(found - expected - constant) < 1e-12);
            n_worlds++;
        }
    }
    assert_true(n_worlds > 0);
    gbs_model_free(model);
}

static void test_choices(void **unused)
{
    (void)unused;
    check_choices("", &(choices){0}, 17);
    /* one value is out; another is known, so its rivals are; the last one left is forced */
    check_choices("!At(A,Z)\n", &(choices){0}, 16);
    check_choices("At(A,Y)\nNear(X,Y)\n!Near(X,Z)\n!Near(Y,Z)\nBig(B)\n",
                  &(choices){.at = {{false, true, false}},
                             .near = {{false, true, false}},
                             .big = {false, true}},
                  8);
}

/* A weight for each constant, merged groundings. */
static void test_weights(void **unused)
{
    gbs_model *model = NULL;
    gbs_ground_report report;
    gbs_error err = {GBS_OK, ""};
    double feature = 0.0;
    (void)unused;
    assert_int_equal(ground("P(t)\nQ(t, u)\n0.5 Q(x,y) => P(x)\n2 P(+x) ^ P(A)\n",
                            "Q(A,U)\nQ(A,V)\nQ(B,U)\n", "P", &model, &report, &err),
                     GBS_OK);
    assert_int_equal(gbs_model_n_weights(model), 3);
    assert_int_equal(report.n_merged, 1);
    assert_int_equal(report.n_groundings, 5);
    assert_true(report.n_instances == 6.0); /* 2 x 2 and 2 */
    assert_int_equal(gbs_model_tied_weight(model, 0, &feature), 0);
    assert_true(feature == 2.0);
    assert_string_equal(gbs_model_variable_name(model, 0), "P(A)");
    assert_int_equal(gbs_model_tied_weight(model, 3, &feature), 2);
    gbs_model_free(model);
}

/* All factors of a formula have equal numbers of groundings, and clauses are long. */
static void test_many(void **unused)
{
    enum { N_CONSTANTS = 300 };
    char database[8000] = "";
    size_t n = 0;
    gbs_model *model = NULL;
    gbs_ground_report report;
    gbs_error err = {GBS_OK, ""};
    double feature = 0.0;
    (void)unused;
    for (int k = 0; k < N_CONSTANTS; k++) {
        n += (size_t)snprintf(database + n, sizeof database - n, "R(A%d)\n", k);
    }
    assert_int_equal(ground("P(t)\nQ(t)\nR(t)\n0.5 P(x) v !R(y)\n0.25 EXIST y (P(y) v Q(x))\n"
                            "P(x) v P(y).\n-2 Q(x) ^ P(y)\n",
                            database, "P,Q", &model, &report, &err),
                     GBS_OK);
    assert_int_equal(gbs_model_n_factors(model), 2 * N_CONSTANTS +
                                                     N_CONSTANTS * (N_CONSTANTS + 1) / 2 +
                                                     N_CONSTANTS * N_CONSTANTS);
    assert_int_equal(report.n_merged, N_CONSTANTS * (N_CONSTANTS - 1) * 3 / 2);
    for (size_t f = 0; f < N_CONSTANTS; f++) {
        assert_int_equal(gbs_model_tied_weight(model, f, &feature), 0);
        assert_true(feature == N_CONSTANTS);
        assert_int_equal(gbs_model_tied_weight(model, N_CONSTANTS + f, &feature), 1);
        assert_true(feature == 1.0);
    }
    gbs_model_free(model);
}

/* Four names share a prefix. Their other words are {blum, a} twice, {blum, avrim}, and {cohen}. */
static void test_similarity(void **unused)
{
    static const double share[4][4] = {
        {100, 100, 33, 0}, {100, 100, 33, 0}, {33, 33, 100, 0}, {0, 0, 0, 100}};
    static const char *const name[4] = {"Au_a_blum_", "Au_Blum_a", "Au_avrim_blum", "Au_cohen"};
    const gbs_ground_options options = {
        .size = sizeof options, .query_predicates = "Same", .similarity = "Score"};
    const char *program = "Author(a)\nSame(a,a)\nScore0(a,a)\nScore20(a,a)\nScore100(a,a)\n"
                          "1 Score0(x,y) => Same(x,y)\n2 Score20(x,y) => Same(x,y)\n"
                          "4 Score100(x,y) => Same(x,y)\n";
    char database[200];
    gbs_model *model = NULL;
    gbs_ground_report report = {.size = sizeof report};
    gbs_error err = {GBS_OK, ""};
    (void)unused;
    (void)snprintf(database, sizeof database, "Author(%s)\nAuthor(%s)\nAuthor(%s)\nAuthor(%s)\n",
                   name[0], name[1], name[2], name[3]);
    if (gbs_ground_memory("p", program, strlen(program), "d", database, strlen(database), &options,
                          NULL, &model, &report, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(report.n_similar, 16);
    assert_int_equal(gbs_model_n_factors(model), 16);
    for (uint32_t a = 0; a < 4; a++) {
        for (uint32_t b = 0; b < 4; b++) {
            char text[80];
            uint32_t id = 0;
            uint32_t state[16] = {0};
            (void)snprintf(text, sizeof text, "Same(%s,%s)", name[a], name[b]);
            assert_int_equal(gbs_model_find_variable(model, text, &id, &err), GBS_OK);
            const double none = gbs_model_log_density(model, state);
            state[id] = 1;
            const double one = gbs_model_log_density(model, state);
            assert_true(one - none == (share[a][b] > 50 ? 4.0 : share[a][b] > 20 ? 2.0 : 1.0));
        }
    }
    gbs_model_free(model);
}

static void test_similarity_refused(void **unused)
{
    static const struct {
        const char *program, *database, *similarity, *text;
    } bad[] = {
        {"A(a)\nS0(a,b)\n1 A(x)\n", "A(X)\n", "S", "p:2:1: "},
        {"A(a)\nS0(a,a)\nS100(b,b)\n1 A(x)\n", "A(X)\n", "S", "p:3:1: "},
        {"A(a)\nS0(a,a)\n1 A(x)\n", "A(X)\nS0(X,X)\n", "S", "p:2:1: "},
        {"A(a)\nS0(a,a)\n1 A(x)\n", "A(X)\n", "T", "predicates 'T'"},
        {"A(a)\nS0(a,a)\n1 A(x)\n", "A(X)\n", "S,", "predicates"},
        {"A(a)\nS101(a,a)\n1 A(x)\n", "A(X)\n", "S", "predicates 'S'"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const gbs_ground_options options = {
            .size = sizeof options, .query_predicates = "A", .similarity = bad[i].similarity};
        gbs_model *model = NULL;
        gbs_error err = {GBS_OK, ""};
        assert_true(gbs_ground_memory("p", bad[i].program, strlen(bad[i].program), "d",
                                      bad[i].database, strlen(bad[i].database), &options, NULL,
                                      &model, NULL, &err) < 0);
        if (strstr(err.message, bad[i].text) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", bad[i].text, err.message);
        }
    }
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void refuse(const char *program, const char *database, const char *query, const char *text)
{
    gbs_model *model = NULL;
    gbs_ground_report report = {.n_facts = 77};
    gbs_error err = {GBS_OK, ""};
    assert_true(ground(program, database, query, &model, &report, &err) < 0);
    assert_null(model);
    assert_int_equal(report.n_facts, 77);
    if (strstr(err.message, text) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", text, err.message);
    }
}

static void test_refused(void **unused)
{
    (void)unused;
    refuse("P(t)\nP(x).\n", "!P(A)\n", NULL, "p.mln");
    refuse("P(t)\n\nP(x).\n", "!P(A)\n", "P", "p.mln:3:1: ");
    refuse("P(t)\n1 P(x) v Q(x)\n", "", NULL, "p.mln:2:10: ");
    refuse("P(t)\n1 P(x) v P(y\n", "", NULL, "p.mln:2:13: ");
    refuse("P(t)\n1 P(x).\n", "", NULL, "p.mln:2:7: ");
    refuse("P(t)\n1 P(x) => P(y) => P(z)\n", "", NULL, "p.mln:2:16: ");
    refuse("P(t)\n1 EXIST x P(x) v P(y)\n", "", NULL, "parentheses");
    refuse("P(t)\n1 x = y\n", "", NULL, "p.mln:2:3: ");
    refuse("P(t)\nR(u)\n1 x = y v P(x) v R(y)\n", "", NULL, "p.mln:3:1: ");
    refuse("P(t!!)\n1 P(x)\n", "", NULL, "p.mln:1:5: ");
    refuse("P(!t)\n1 P(x)\n", "", NULL, "p.mln:1:3: ");
    refuse("P(t!,u!)\n1 P(x,y)\n", "", NULL, "p.mln:1:7: ");
    refuse("P(t!,u)\n1 P(x,y)\n", "P(A,B)\nP(C,D)\nP(E,B)\n", "P", "d.db:3:1: ");
    refuse("Q(t)\nP(t!)\n1 P(x)\n", "!P(A)\n!P(B)\n", "P", "p.mln:2:1: ");
    refuse("Q(t)\nP(t!)\n1 P(x)\n", "", "P", "d.db:1:1: ");
    refuse("P(t)\n1 P(x)\n", "", NULL, "d.db:1:1: ");
    refuse("P(t)\nQ(t,u!)\n1 P(x) v Q(x,y)\n", "Q(A,U)\nP(B)\n", "P", "p.mln:2:1: ");
    refuse("P(t)\nR(u)\n1 P(x) v R(x)\n", "", NULL, "one type");
    refuse("t = {A}\nP(t)\n1 P(x)\n", "P(B)\n", "P", "d.db:1:3: ");
    refuse("P(t)\n1 P(x)\n", "P(A)\n!P(A)\n", "P", "d.db:2:2: ");
    refuse("P(t)\n1 P(x)\n", "R(A)\n", "P", "d.db:1:1: ");
    refuse("P(t)\n1 P(x)\n", "P(A) P(B)\n", "P", "d.db:1:6: ");
    refuse("P(t)\n1 P(x)\n", "P(A)\n", NULL, "every predicate");
    refuse("P(t)\n1 P(x)\n", "P(A)\n", "R", "predicate 'R'");
    refuse("P(t)\n1e300 P(x)\n", "", NULL, "p.mln:2:1: ");
    refuse("P(t)\n", "", NULL, "a formula");
    refuse("", "", NULL, "a formula");
}

static void test_stopped(void **unused)
{
    char database[8000] = "";
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    const char *program = "P(t)\nR(t,t)\n1 !P(x) v !P(y) v !P(z) v R(x,z)\n";
    gbs_ground_options options = {.size = sizeof options, .time_s = 1e-9};
    size_t n = 0;
    (void)unused;
    for (int k = 0; k < 300; k++) {
        n += (size_t)snprintf(database + n, sizeof database - n, "P(A%d)\n", k);
    }
    assert_int_equal(gbs_ground_memory("p", program, strlen(program), "d", database, n, &options,
                                       NULL, &model, NULL, &err),
                     GBS_ERR_STOPPED);
    options.time_s = 0.0;
    options.memory_limit = 1;
    assert_int_equal(gbs_ground_memory("p", program, strlen(program), "d", database, n, &options,
                                       NULL, &model, NULL, &err),
                     GBS_ERR_LIMIT);
    assert_null(model);
}

static void test_out_of_memory(void **unused)
{
    gbs_status status = GBS_ERR_MEMORY;
    gbs_model *model = NULL;
    gbs_ground_report report;
    gbs_error err = {GBS_OK, ""};
    (void)unused;
    for (uint64_t n = 0; status < 0; n++) {
        assert_int_equal(status, GBS_ERR_MEMORY);
        assert_null(model);
        gbsi_alloc_fail_after(n);
        status = ground("P(t)\nF(t,t)\nC(t,u!)\n1 F(x,y) => (P(x) <=> P(y))\n"
                        "2 EXIST y (P(y) ^ F(x,y))\n1 C(x,U) v C(x,V)\n",
                        "F(A,B)\nF(B,A)\nF(B,C)\nC(A,U)\n", "P,C", &model, &report, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smokers),      cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_quantified),   cmocka_unit_test(test_choices),
        cmocka_unit_test(test_weights),      cmocka_unit_test(test_many),
        cmocka_unit_test(test_similarity),   cmocka_unit_test(test_similarity_refused),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
