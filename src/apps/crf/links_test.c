/* SPDX-License-Identifier: Apache-2.0 */
/* Compares labels, probabilities and gradients with links between tokens with enumeration; features
 * are written by hand. Tests learning by sampled gradients, models that are written and read, and
 * refusals. */
#include "crf/gradient.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_random.h"

enum { N_SENTENCES = 30, LONGEST = 6, L = 3, MOST = 1 << 14 };

/* Tokens are linked by equal words that begin with a capital. */
static const char templates[] = "u:%x[0,0]\nb\n=%m[0,0,\"^\\u.*$\"]\ns\ns<%x[-1,0]\n";

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

static gbs_sequences *make_data(void)
{
    static const char *const words[] = {"Ant", "Bee", "c"};
    static const char *const labels[] = {"O", "B-X", "I-X"};
    gbs_sequences *data = NULL;
    uint64_t seed = 3;
    char text[MOST];
    size_t n = 0;
    for (uint32_t s = 0; s < N_SENTENCES; s++) {
        const uint32_t kind = (uint32_t)(next_random(&seed) % 3); /* of "Ant", all of them */
        for (uint32_t t = 0; t < 1 + s % LONGEST; t++) {
            const uint32_t word = (uint32_t)(next_random(&seed) % 3);
            const uint32_t other = (uint32_t)(next_random(&seed) % 3);
            const bool usual = next_random(&seed) % 4 > 0;
            const uint32_t y = usual && word == 0 ? kind : other;
            n += (size_t)snprintf(text + n, MOST - n, "%s %s\n", words[word], labels[y]);
        }
        text[n++] = '\n';
    }
    ok(gbs_sequences_read_memory("d", text, n, &data, NULL));
    return data;
}

typedef struct problem {
    gbs_crf *crf; /* with random weights */
    gbs_sequences *data;
    gbsi_features features;
    uint32_t *truth;
    gbsi_work work;
    gbsi_gradient gradient;
} problem;

static void problem_init(problem *p, uint64_t threads)
{
    const gbs_label_options options = {.size = sizeof options, .threads = threads};
    uint64_t seed = 11;
    gbsi_text text;
    *p = (problem){.data = make_data(), .crf = gbsi_alloc_zero(sizeof *p->crf)};
    assert_non_null(p->crf);
    p->crf->templates.style = GBS_TEMPLATES_WAPITI;
    for (const char *at = templates; *at != '\0'; at = strchr(at, '\n') + 1) {
        const gbsi_token line = {at, (size_t)(strchr(at, '\n') - at)};
        const gbsi_input input = {.name = "t", .bytes = at, .n = line.n};
        ok(gbsi_text_open(&text, &input, NULL, NULL));
        ok(gbsi_templates_add(&p->crf->templates, &text, line, NULL));
    }
    p->truth = gbsi_alloc_array(p->data->n_tokens, sizeof *p->truth);
    for (size_t t = 0; t < p->data->n_tokens; t++) {
        const char *label = gbs_sequences_text(p->data, t, 1);
        ok(gbsi_dictionary_add(&p->crf->labels, label, strlen(label), &p->truth[t], NULL));
    }
    ok(gbsi_work_begin(&p->work, &options, NULL, 0, NULL));
    ok(gbsi_features_find(&p->crf->templates, NULL, &p->crf->features, p->data, &p->features,
                          &p->work.watch, NULL));
    ok(gbsi_crf_number_weights(p->crf, NULL));
    p->crf->weight = gbsi_alloc_array(p->crf->n_weights, sizeof(double));
    for (uint64_t i = 0; i < p->crf->n_weights; i++) {
        p->crf->weight[i] = (double)(next_random(&seed) % 2001) / 1000.0 - 1.0;
    }
    ok(gbsi_gradient_new(p->crf, p->data, &p->features, p->truth, &p->work, &p->gradient, NULL));
}

static void problem_free(problem *p)
{
    gbsi_gradient_free(&p->gradient);
    gbsi_features_free(&p->features);
    gbsi_free(p->truth);
    gbsi_work_end(&p->work);
    gbs_crf_free(p->crf);
    gbs_sequences_free(p->data);
}

/* ---- by hand -------------------------------------------------------------------------------- */

/* Counts the features of a labelling: count[i] of weight i. */
typedef struct counting {
    const problem *p;
    double *count;
    double sign;
} counting;

static void add(const counting *c, const char *kind, const char *text, uint32_t pair)
{
    char feature[40];
    (void)snprintf(feature, sizeof feature, "%s%s", kind, text);
    const gbs_crf *crf = c->p->crf;
    const uint32_t f = gbsi_dictionary_find(&crf->features, feature, strlen(feature));
    assert_true(f < crf->features.n);
    c->count[(kind[0] == 'u' ? crf->unigram[f] : crf->bigram[f]) + pair] += c->sign;
}

static void count_features(const counting *c, size_t s, const uint32_t *y)
{
    const gbs_sequences *data = c->p->data;
    const size_t first = data->first[s];
    const size_t end = data->first[s + 1];
    for (size_t v = first; v < end; v++) {
        const char *word = gbs_sequences_text(data, v, 0);
        const uint32_t y_v = y[v - first];
        add(c, "u:", word, y_v);
        if (v > first) {
            add(c, "b", "", y[v - first - 1] * L + y_v);
        }
        for (size_t u = first; u < v; u++) {
            if (word[0] == 'c' || strcmp(word, gbs_sequences_text(data, u, 0)) != 0) {
                continue;
            }
            const uint32_t pair = y[u - first] * L + y_v;
            const char *before_u = u == first ? "_x-1" : gbs_sequences_text(data, u - 1, 0);
            const char *before_v = gbs_sequences_text(data, v - 1, 0);
            add(c, "s", "", pair);
            add(c, "s<", before_u, pair);
            if (strcmp(before_u, before_v) != 0) { /* features of both tokens count once */
                add(c, "s<", before_v, pair);
            }
        }
    }
}

static double score(const problem *p, size_t s, const uint32_t *y, double *count)
{
    const counting c = {p, count, 1.0};
    double sum = 0.0;
    memset(count, 0, p->crf->n_weights * sizeof *count);
    count_features(&c, s, y);
    for (uint64_t i = 0; i < p->crf->n_weights; i++) {
        sum += count[i] * p->crf->weight[i];
    }
    return sum;
}

/* Sums over all labellings of a sequence. */
typedef struct answer {
    uint32_t best[LONGEST];
    double p[LONGEST][L], largest, log_z;
} answer;

/* @param expected [n_weights] += the expected counts of features, or NULL. */
static answer enumerate(const problem *p, size_t s, double *expected)
{
    const uint64_t n_weights = p->crf->n_weights;
    const size_t n = p->data->first[s + 1] - p->data->first[s];
    double *count = calloc(n_weights, sizeof *count);
    double *sum = calloc(n_weights, sizeof *sum);
    answer a = {.largest = -INFINITY};
    double total = 0.0;
    uint32_t n_states = 1;
    assert_true(count != NULL && sum != NULL);
    for (size_t t = 0; t < n; t++) {
        n_states *= L;
    }
    for (uint32_t i = 0; i < n_states; i++) {
        uint32_t y[LONGEST];
        for (uint32_t t = 0, rest = i; t < n; t++, rest /= L) {
            y[t] = rest % L;
        }
        const double of = score(p, s, y, count);
        const double weight = exp(of);
        total += weight;
        for (size_t t = 0; t < n; t++) {
            a.p[t][y[t]] += weight;
        }
        for (uint64_t k = 0; k < n_weights; k++) {
            sum[k] += weight * count[k];
        }
        if (of > a.largest) {
            a.largest = of;
            memcpy(a.best, y, sizeof y);
        }
    }
    a.log_z = log(total);
    for (size_t i = 0; i < n * L; i++) {
        a.p[i / L][i % L] /= total;
    }
    for (uint64_t k = 0; expected != NULL && k < n_weights; k++) {
        expected[k] += sum[k] / total;
    }
    free(count);
    free(sum);
    return a;
}

/* -ln P(truth) + l2/2 |weight|^2 and its gradient. */
static double exact_gradient(const problem *p, double l2, double *out)
{
    const counting c = {p, out, -1.0};
    double *count = calloc(p->crf->n_weights, sizeof *count);
    double objective = 0.0;
    assert_non_null(count);
    memset(out, 0, p->crf->n_weights * sizeof *out);
    for (size_t s = 0; s < p->data->n; s++) {
        const uint32_t *truth = p->truth + p->data->first[s];
        objective += enumerate(p, s, out).log_z - score(p, s, truth, count);
        count_features(&c, s, truth);
    }
    for (uint64_t i = 0; i < p->crf->n_weights; i++) {
        objective += 0.5 * l2 * p->crf->weight[i] * p->crf->weight[i];
        out[i] += l2 * p->crf->weight[i];
    }
    free(count);
    return objective;
}

/* ---- labels ---------------------------------------------------------------------------------- */

typedef struct labelled {
    uint32_t label[N_SENTENCES * LONGEST];
    double p[N_SENTENCES * LONGEST * L], log_p[N_SENTENCES];
    gbs_label_report report;
} labelled;

static labelled label_all(const problem *p, const gbs_run_options *run, uint64_t threads)
{
    const gbs_label_options options = {.size = sizeof options, .threads = threads, .run = run};
    labelled l = {.report = {.size = sizeof l.report}};
    ok(gbs_crf_label(p->crf, p->data, &options, NULL, l.label, l.p, l.log_p, &l.report, NULL));
    return l;
}

static void labels_against_enumeration(void **state)
{
    (void)state;
    problem p;
    problem_init(&p, 1);
    const labelled l = label_all(&p, NULL, 1);
    for (size_t s = 0; s < p.data->n; s++) {
        const size_t first = p.data->first[s];
        const size_t n = p.data->first[s + 1] - first;
        const answer a = enumerate(&p, s, NULL);
        assert_memory_equal(l.label + first, a.best, n * sizeof a.best[0]);
        assert_true(fabs(l.log_p[s] - (a.largest - a.log_z)) < 1e-11);
        for (size_t i = 0; i < n * L; i++) {
            assert_true(fabs(l.p[first * L + i] - a.p[i / L][i % L]) < 1e-11);
        }
    }
    assert_int_equal(l.report.n_proved, N_SENTENCES);
    assert_int_equal(l.report.n_unconverged, 0);
    assert_true(l.report.n_links > 20 && l.report.n_links == p.features.n_links);
    problem_free(&p);
}

/* Annealed and herded sampling find the best labels of such short sequences, and probabilities are
 * near the exact ones. */
static void labels_by_sampling(void **state)
{
    (void)state;
    static const gbs_draw_kind draws[] = {GBS_DRAW_RANDOM, GBS_DRAW_HERDED};
    problem p;
    problem_init(&p, 1);
    for (size_t d = 0; d < 2; d++) {
        gbs_run_options run = gbs_run_options_default();
        run.method = GBS_METHOD_SAMPLE;
        run.draw = (int32_t)draws[d];
        run.sweeps = 2000;
        run.block_time = 0.0;
        const labelled l = label_all(&p, &run, 1);
        const labelled again = label_all(&p, &run, 3);
        assert_memory_equal(l.label, again.label, p.data->n_tokens * sizeof l.label[0]);
        assert_memory_equal(l.p, again.p, p.data->n_tokens * L * sizeof l.p[0]);
        assert_int_equal(l.report.updates, again.report.updates);
        assert_int_equal(l.report.n_proved, again.report.n_proved); /* by upper bounds */
        for (size_t s = 0; s < p.data->n; s++) {
            const size_t first = p.data->first[s];
            const size_t n = p.data->first[s + 1] - first;
            const answer a = enumerate(&p, s, NULL);
            assert_memory_equal(l.label + first, a.best, n * sizeof a.best[0]);
            for (size_t i = 0; i < n * L; i++) { /* 32 000 draws: errors of 0.003 */
                assert_true(fabs(l.p[first * L + i] - a.p[i / L][i % L]) < 0.02);
            }
        }
    }
    problem_free(&p);
}

static void graph_of_a_sequence(void **state)
{
    (void)state;
    problem p;
    problem_init(&p, 1);
    double *count = calloc(p.crf->n_weights, sizeof *count);
    for (size_t s = 0; s < p.data->n; s++) {
        const size_t first = p.data->first[s];
        gbs_model *graph = NULL;
        ok(gbs_crf_model(p.crf, p.data, s, &graph, NULL));
        assert_int_equal(gbs_model_n_variables(graph), p.data->first[s + 1] - first);
        assert_string_equal(gbs_model_state_label(graph, 0, 1), gbs_crf_label_name(p.crf, 1));
        assert_true(fabs(gbs_model_log_density(graph, p.truth + first) -
                         score(&p, s, p.truth + first, count)) < 1e-12);
        gbs_model_free(graph);
    }
    gbs_model *none = NULL;
    assert_int_equal(gbs_crf_model(p.crf, p.data, N_SENTENCES, &none, NULL), GBS_ERR_ARGUMENT);
    free(count);
    problem_free(&p);
}

/* ---- gradients ------------------------------------------------------------------------------- */

static void pseudo_against_differences(void **state)
{
    (void)state;
    problem p;
    const double h = 1e-5;
    problem_init(&p, 2);
    const size_t n = p.crf->n_weights;
    double *weight = p.crf->weight;
    double *out = calloc(2 * n, sizeof *out);
    gbsi_gradient_turn(&p.gradient, GBSI_PSEUDO);
    (void)gbsi_gradient_at(&p.gradient, weight, 0.3, out);
    for (size_t i = 0; i < n; i++) {
        const double at = weight[i];
        weight[i] = at + h;
        const double above = gbsi_gradient_at(&p.gradient, weight, 0.3, out + n);
        weight[i] = at - h;
        const double below = gbsi_gradient_at(&p.gradient, weight, 0.3, out + n);
        weight[i] = at;
        assert_true(fabs(out[i] - (above - below) / (2.0 * h)) < 1e-6);
    }
    free(out);
    problem_free(&p);
}

/* The mean of sampled gradients, within its standard errors from means of batches. */
static void contrast_against_enumeration(void **state)
{
    (void)state;
    enum { BATCHES = 40, SWEEPS = 100 };
    problem p;
    problem_init(&p, 1);
    const size_t n = p.crf->n_weights;
    double *out = calloc(4 * n, sizeof *out);
    double *exact = out + n;
    double *mean = out + 2 * n;
    double *square = out + 3 * n;
    double z2 = 0.0;
    (void)exact_gradient(&p, 0.3, exact);
    p.gradient.seed = 5;
    gbsi_gradient_turn(&p.gradient, GBSI_CONTRAST);
    for (int batch = 0; batch <= BATCHES; batch++) {
        double *of_batch = calloc(n, sizeof *of_batch);
        for (int k = 0; k < SWEEPS; k++) {
            (void)gbsi_gradient_at(&p.gradient, p.crf->weight, 0.3, out);
            for (size_t i = 0; i < n; i++) {
                of_batch[i] += out[i] / SWEEPS;
            }
        }
        for (size_t i = 0; i < n && batch > 0; i++) { /* the first is burn-in */
            mean[i] += of_batch[i] / BATCHES;
            square[i] += of_batch[i] * of_batch[i] / BATCHES;
        }
        free(of_batch);
    }
    for (size_t i = 0; i < n; i++) {
        const double error = sqrt(fmax(square[i] - mean[i] * mean[i], 0.0) / (BATCHES - 1));
        const double away = mean[i] - exact[i];
        assert_true(fabs(away) < 5.0 * error + 1e-9);
        z2 += error > 1e-9 ? away * away / (error * error) / (double)n : 0.0;
    }
    assert_true(z2 > 0.3 && z2 < 2.0);
    free(out);
    problem_free(&p);
}

/* ---- learning -------------------------------------------------------------------------------- */

static gbs_status learn(const char *text, const gbs_sequences *data,
                        const gbs_crf_learn_options *options, gbs_crf **crf,
                        gbs_crf_learn_report *report, gbs_error *err)
{
    char path[] = "/tmp/links_test_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(file);
    const gbs_status status =
        gbs_crf_learn(path, GBS_TEMPLATES_WAPITI, data, options, NULL, crf, report, err);
    (void)remove(path);
    return status;
}

/* Skips the test if this library cannot learn. */
static void need_lbfgs(void)
{
    gbs_sequences *data = make_data();
    gbs_crf *crf = NULL;
    gbs_error err = {0};
    const gbs_status status = learn("u:%x[0,0]\n", data, NULL, &crf, NULL, &err);
    gbs_crf_free(crf);
    gbs_sequences_free(data);
    if (status == GBS_ERR_UNSUPPORTED) {
        skip();
    }
    ok(status);
}

static double norm(const double *x, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

/* At the learnt weights the gradient of the likelihood, by enumeration, is much smaller than at the
 * weights of the pseudo-likelihood and of chains. The likelihood is the largest of the three. */
static void sampled_gradients_lead_to_the_maximum(void **state)
{
    (void)state;
    need_lbfgs();
    static const gbs_crf_objective objectives[] = {GBS_CRF_AUTO, GBS_CRF_PSEUDO};
    static const uint64_t threads[] = {1, 3};
    double objective[2];
    double slope[2];
    problem p;
    problem_init(&p, 1);
    const size_t n = p.crf->n_weights;
    double *out = calloc(n, sizeof *out);
    for (size_t k = 0; k < 2; k++) {
        gbs_crf *crf[2] = {NULL, NULL};
        gbs_crf_learn_report report = {.size = sizeof report};
        for (size_t i = 0; i < 2; i++) {
            const gbs_crf_learn_options options = {.size = sizeof options,
                                                   .l2 = 1.0,
                                                   .objective = objectives[k],
                                                   .steps =
                                                       objectives[k] == GBS_CRF_PSEUDO ? 0 : 4000,
                                                   .seed = 7,
                                                   .threads = threads[i]};
            ok(learn(templates, p.data, &options, &crf[i], &report, NULL));
        }
        assert_int_equal(crf[0]->n_weights, n);
        assert_memory_equal(crf[0]->weight, crf[1]->weight, n * sizeof(double));
        assert_int_equal(report.n_links, p.features.n_links);
        memcpy(p.crf->weight, crf[0]->weight, n * sizeof(double));
        objective[k] = exact_gradient(&p, 1.0, out);
        slope[k] = norm(out, n);
        gbs_crf_free(crf[0]);
        gbs_crf_free(crf[1]);
    }
    assert_true(slope[0] < 0.25 * slope[1]);
    assert_true(objective[0] < objective[1]);
    free(out);
    problem_free(&p);
}

/* A few steps hardly move the weights, but this does not show convergence. One step is enough for a
 * model that is not empty. */
static void few_steps_are_not_enough(void **state)
{
    (void)state;
    static const uint64_t steps[] = {1, 10, 40, 4000};
    problem p;
    problem_init(&p, 1);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const gbs_crf_learn_options options = {
            .size = sizeof options, .l2 = 1.0, .steps = steps[i], .seed = 7, .threads = 1};
        gbs_crf *crf = NULL;
        gbs_crf_learn_report report = {.size = sizeof report};
        ok(learn(templates, p.data, &options, &crf, &report, NULL));
        assert_true(norm(crf->weight, crf->n_weights) > 0.1);
        assert_int_equal(report.converged, steps[i] == 4000);
        gbs_crf_free(crf);
    }
    problem_free(&p);
}

static void written_and_read(void **state)
{
    (void)state;
    problem p;
    char path[] = "/tmp/links_test_XXXXXX";
    const int file = mkstemp(path);
    gbs_crf *read = NULL;
    assert_true(file >= 0);
    (void)close(file);
    problem_init(&p, 1);
    ok(gbs_crf_write(p.crf, path, NULL));
    ok(gbs_crf_read(path, &read, NULL));
    assert_int_equal(read->n_weights, p.crf->n_weights);
    assert_memory_equal(read->weight, p.crf->weight, read->n_weights * sizeof(double));
    const labelled a = label_all(&p, NULL, 1);
    gbs_crf *own = p.crf;
    p.crf = read;
    const labelled b = label_all(&p, NULL, 1);
    p.crf = own;
    assert_memory_equal(a.p, b.p, p.data->n_tokens * L * sizeof a.p[0]);
    gbs_crf_free(read);
    problem_free(&p);
    (void)remove(path);
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *templates, *message; /* a part of it */
    } cases[] = {
        {"u\n=%x[0,0]\n",
         ":3:1: found templates that begin with =, which link tokens, expected also"},
        {"u\ns%x[0,0]\n", ":3:1: found templates that begin with s, of features of linked tokens"},
        {"u\n-\n", ":2:1: found '-', expected a template, which begins with u, b, *, s or ="}};
    gbs_sequences *data = make_data();
    need_lbfgs();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbs_crf *crf = NULL;
        gbs_error err = {0};
        assert_int_equal(learn(cases[i].templates, data, NULL, &crf, NULL, &err), GBS_ERR_FORMAT);
        assert_non_null(strstr(err.message, cases[i].message));
    }
    const gbs_crf_learn_options l1 = {.size = sizeof l1, .l1 = 1.0};
    gbs_crf *crf = NULL;
    assert_int_equal(learn(templates, data, &l1, &crf, NULL, NULL), GBS_ERR_ARGUMENT);
    gbs_sequences_free(data);
}

static void memory_fails(void **state)
{
    (void)state;
    problem p;
    problem_init(&p, 1);
    gbs_run_options run = gbs_run_options_default();
    const gbs_label_options options = {.size = sizeof options, .threads = 1, .run = &run};
    const gbs_crf_learn_options steps = {
        .size = sizeof steps, .threads = 1, .iterations = 2, .steps = 2};
    gbs_status status = GBS_ERR_MEMORY;
    labelled *l = calloc(1, sizeof *l);
    need_lbfgs();
    for (uint64_t n = 0; status == GBS_ERR_MEMORY; n += 1 + n / 8) {
        gbs_error err = {0};
        gbsi_alloc_fail_after(n);
        status = gbs_crf_label(p.crf, p.data, &options, NULL, l->label, l->p, NULL, NULL, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
    }
    ok(status);
    status = GBS_ERR_MEMORY;
    for (uint64_t n = 0; status == GBS_ERR_MEMORY; n++) {
        gbs_crf *crf = NULL;
        gbs_error err = {0};
        gbsi_alloc_fail_after(n);
        status = learn(templates, p.data, &steps, &crf, NULL, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true((status == GBS_OK) == (crf != NULL));
        gbs_crf_free(crf);
    }
    ok(status);
    free(l);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_against_enumeration),
        cmocka_unit_test(labels_by_sampling),
        cmocka_unit_test(graph_of_a_sequence),
        cmocka_unit_test(pseudo_against_differences),
        cmocka_unit_test(contrast_against_enumeration),
        cmocka_unit_test(sampled_gradients_lead_to_the_maximum),
        cmocka_unit_test(few_steps_are_not_enough),
        cmocka_unit_test(written_and_read),
        cmocka_unit_test(refused),
        cmocka_unit_test(memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
