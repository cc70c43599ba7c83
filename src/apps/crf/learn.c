/* SPDX-License-Identifier: Apache-2.0 */
/* Learns a model from labelled column data [M60]. */
#include "gibbsite/crf.h"

#include "base/plural.h"
#include "config.h"

#ifdef GBSI_HAVE_LBFGS

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "crf/gradient.h"
#include "learn/climb.h"
#include "options/questions.h"
#include "simd/math.h"

/* the weights count as converged if the last steps changed them by at most this share */
#define MOST_MOVE 0.02

typedef struct learning {
    gbs_crf_learn_options options;
    const gbs_sequences *data;
    gbsi_work work;
    gbs_crf *crf;
    gbsi_features features;
    uint32_t *truth; /* [n_tokens] true labels */
    gbsi_gradient gradient;
    double *weight; /* [n_weights] weights at which L-BFGS evaluates the objective */
    gbs_crf_learn_report report;
} learning;

/* ---- the model without weights ------------------------------------------------------------- */

/* Reads the lines of templates. Lines that begin with '#' are comments; in Wapiti's templates, the
 * text after any '#' is a comment, too. */
static gbs_status read_lines(gbsi_templates *templates, gbsi_text *text, gbs_error *err)
{
    while (text->at < text->end) {
        const char *begin = text->at;
        const char *newline = memchr(begin, '\n', gbsi_text_left(text));
        const char *end = newline == NULL ? text->end : newline;
        text->at = newline == NULL ? text->end : newline + 1;
        const char *mark = end > begin ? memchr(begin, '#', (size_t)(end - begin)) : NULL;
        if (mark != NULL && (mark == begin || templates->style == GBS_TEMPLATES_WAPITI)) {
            end = mark;
        }
        while (end > begin && gbsi_is_blank(end[-1])) {
            end--;
        }
        if (end > begin) {
            GBSI_PASS(gbsi_templates_add(templates, text,
                                         (gbsi_token){begin, (size_t)(end - begin)}, err));
        }
    }
    if (templates->n == 0) {
        return gbsi_text_fail(text, (gbsi_token){text->end, 0}, err,
                              "found no templates, expected some");
    }
    return gbsi_templates_check(templates, text, (gbsi_token){text->end, 0}, err);
}

static gbs_status read_templates(learning *l, const char *path, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    GBSI_TRY(gbsi_input_read_text(path, &input, err));
    GBSI_TRY(gbsi_text_open(&text, &input, NULL, err));
    GBSI_TRY(read_lines(&l->crf->templates, &text, err));
    if (l->crf->templates.n_columns >= l->data->n_columns) {
        status =
            gbsi_fail(err, GBS_ERR_FORMAT,
                      "%s: the templates name column %" PRIu32 ", expected one before the last "
                      "of the %" PRIu32 " column%s of %s, which holds the labels",
                      path, l->crf->templates.n_columns - 1, l->data->n_columns,
                      gbsi_plural(l->data->n_columns), l->data->name);
    }

cleanup:
    gbsi_input_free(&input);
    return status;
}

static gbs_status find_labels(learning *l, gbs_error *err)
{
    const gbs_sequences *data = l->data;
    l->truth = gbsi_alloc_array(data->n_tokens, sizeof *l->truth);
    GBSI_PASS(GBSI_HAVE(err, "labels", l->truth));
    for (size_t t = 0; t < data->n_tokens; t++) {
        const char *text = gbs_sequences_text(data, t, data->n_columns - 1);
        GBSI_PASS(gbsi_dictionary_add(&l->crf->labels, text, strlen(text), &l->truth[t], err));
    }
    if (l->crf->labels.n > GBS_MAX_ARITY) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "%s: found %" PRIu32 " label%s, the limit is %u",
                         data->name, l->crf->labels.n, gbsi_plural(l->crf->labels.n),
                         GBS_MAX_ARITY);
    }
    return GBS_OK;
}

/* Keeps the features whose count is at least `least`, in their order. @param count [features.n]. */
static gbs_status keep_features(gbsi_dictionary *features, const uint64_t *count, uint64_t least,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_dictionary kept = {0};
    uint32_t number = 0;
    for (uint32_t f = 0; f < features->n; f++) {
        if (count[f] >= least) {
            GBSI_TRY(
                gbsi_dictionary_add(&kept, features->text[f], features->length[f], &number, err));
        }
    }
    gbsi_dictionary_free(features);
    *features = kept;
    kept = (gbsi_dictionary){0};

cleanup:
    gbsi_dictionary_free(&kept);
    return status;
}

/* Counts the tokens that have each feature, and drops rare features. */
static gbs_status drop_rare(learning *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_features *f = &l->features;
    uint64_t *count = gbsi_alloc_array_zero(l->crf->features.n, sizeof *count);
    GBSI_PASS(GBSI_HAVE(err, "features", count));
    for (size_t i = 0; i < f->n; i++) {
        count[f->feature[i]]++;
    }
    for (size_t t = 0; t < l->data->n_tokens; t++) {
        const uint32_t c = f->combination[t];
        for (size_t i = f->combination_begin[c]; i < f->combination_begin[c + 1]; i++) {
            const uint32_t feature = f->combination_feature[i];
            count[feature] += l->crf->features.text[feature][0] != '*'; /* counted above */
        }
    }
    for (size_t i = 0; i < f->n_links; i++) {
        const uint32_t c = f->link[i].combination;
        for (size_t k = f->combination_begin[c]; k < f->combination_begin[c + 1]; k++) {
            count[f->combination_feature[k]]++;
        }
    }
    GBSI_TRY(keep_features(&l->crf->features, count, l->options.least_count, err));
    gbsi_features_free(&l->features);
    GBSI_TRY(gbsi_features_find(&l->crf->templates, &l->crf->features, NULL, l->data, &l->features,
                                &l->work.watch, err));

cleanup:
    gbsi_free(count);
    return status;
}

static gbs_status find_features(learning *l, gbs_error *err)
{
    gbs_crf *crf = l->crf;
    GBSI_PASS(gbsi_features_find(&crf->templates, &crf->features, &crf->features, l->data,
                                 &l->features, &l->work.watch, err));
    if (l->options.least_count > 1) {
        GBSI_PASS(drop_rare(l, err));
    }
    GBSI_PASS(gbsi_crf_number_weights(crf, err));
    crf->weight = gbsi_alloc_array_zero(crf->n_weights, sizeof *crf->weight);
    l->weight = gbsi_alloc_lanes(crf->n_weights + GBSI_CLIMB_PADDING, sizeof *l->weight);
    GBSI_PASS(GBSI_HAVE(err, "weights", crf->weight, l->weight));
    if (crf->n_weights == 0 || crf->n_weights > INT_MAX - 16) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "found %" PRIu64 " weight%s to learn, expected 1 to 2^31 - 17",
                         crf->n_weights, gbsi_plural(crf->n_weights));
    }
    return GBS_OK;
}

/* ---- weights ------------------------------------------------------------------------------- */

static double evaluate(void *context, const double *weight, double *out)
{
    learning *l = context;
    l->report.evaluations++;
    return gbsi_gradient_at(&l->gradient, weight, l->options.l2, out);
}

static double length_of(const double *slope, uint64_t n)
{
    double square = 0.0;
    for (uint64_t i = 0; i < n; i++) {
        square += slope[i] * slope[i];
    }
    return gbsi_sqrt(square);
}

static void tell_point(const learning *l, uint64_t iteration, double objective, double gradient)
{
    const gbs_learn_point point = {.size = sizeof point,
                                   .iteration = iteration,
                                   .objective = objective,
                                   .gradient = gradient,
                                   .held_out = (double)NAN};
    if (l->options.point != NULL) {
        l->options.point(l->options.point_context, &point);
    }
}

/* Tells the caller about a step along a sampled gradient. The number of the first such step follows
 * the number of the last iteration of L-BFGS. */
static void tell_step(void *context, const double *slope)
{
    const learning *l = context;
    tell_point(l, l->report.iterations + l->work.progress.pass, (double)NAN,
               length_of(slope, l->crf->n_weights));
}

/* Called after each iteration of L-BFGS. The weights of this iteration are the result until the
 * next iteration ends. */
static bool advance(void *context, const gbsi_climb_point *at)
{
    learning *l = context;
    memcpy(l->crf->weight, at->x, l->crf->n_weights * sizeof *at->x);
    l->report.iterations = at->iteration;
    l->report.objective = at->objective;
    l->report.gradient_norm = length_of(at->gradient, l->crf->n_weights);
    l->work.progress.pass = at->iteration;
    if (!gbsi_watch_stopped(&l->work.watch)) {
        tell_point(l, l->report.iterations, at->objective, l->report.gradient_norm);
    }
    return !gbsi_watch_stopped(&l->work.watch);
}

static gbs_status optimise(learning *l, gbs_error *err)
{
    gbsi_climb climb = {.n = l->crf->n_weights,
                        .iterations = l->options.iterations,
                        .window = GBSI_CLIMB_WINDOW,
                        .tolerance = l->options.tolerance,
                        .l1 = l->options.l1,
                        .context = l,
                        .evaluate = evaluate,
                        .advance = advance};
    if (!gbsi_climb_run(&climb, l->weight)) {
        return gbsi_no_memory(err, "L-BFGS", gbsi_climb_bytes(climb.n));
    }
    if (l->report.iterations == 0) {
        l->report.objective = climb.objective;
    }
    l->report.converged = climb.converged;
    if (!gbsi_watch_stopped(&l->work.watch)) {
        return GBS_OK;
    }
    return l->report.iterations > 0 ? GBS_STOPPED : gbsi_watch_fail(err, "learning");
}

/* Optimises a model with links: by L-BFGS on the pseudo-likelihood, or along sampled gradients that
 * start from the best weights without links. */
static gbs_status optimise_links(learning *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const bool pseudo = l->options.objective == GBS_CRF_PSEUDO;
    if (!pseudo && l->options.l1 > 0.0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "l1 is for objectives without sampled gradients: with links in the "
                         "templates choose the pseudo-likelihood, or l2 alone");
    }
    gbsi_gradient_turn(&l->gradient, pseudo ? GBSI_PSEUDO : GBSI_EXACT);
    GBSI_TRY(optimise(l, err));
    if (pseudo || status == GBS_STOPPED) {
        return status;
    }
    l->gradient.seed = l->options.seed;
    l->work.progress.pass = 0;
    l->work.progress.passes = l->options.steps;
    GBSI_TRY(gbsi_contrast(&l->gradient, l->options.l2, l->options.steps, l->crf->weight,
                           &l->report.change, tell_step, l, err));
    l->report.steps = l->options.steps;
    l->report.converged = l->report.change <= MOST_MOVE;
    gbsi_gradient_turn(&l->gradient, GBSI_PSEUDO);
    l->report.objective = gbsi_gradient_at(&l->gradient, l->crf->weight, l->options.l2, l->weight);

cleanup:
    return status;
}

/* ---- the result ---------------------------------------------------------------------------- */

/* Leaves out features whose weights are all 0. */
static gbs_status drop_zeros(gbs_crf *crf, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t n_labels = crf->labels.n;
    const uint32_t n = crf->features.n;
    uint64_t *count = gbsi_alloc_array_zero(n, sizeof *count);
    uint64_t n_weights = 0;
    GBSI_PASS(GBSI_HAVE(err, "features", count));
    for (uint32_t f = 0; f < n; f++) { /* the weights of a feature are adjacent */
        const bool single = crf->unigram[f] != GBSI_NO_WEIGHT;
        const bool pairs = crf->bigram[f] != GBSI_NO_WEIGHT;
        const double *weight = crf->weight + (single ? crf->unigram[f] : crf->bigram[f]);
        const uint64_t n_own = (single ? n_labels : 0) + (pairs ? n_labels * n_labels : 0);
        for (uint64_t i = 0; i < n_own; i++) {
            count[f] += weight[i] != 0.0;
        }
        if (count[f] > 0) {
            memmove(crf->weight + n_weights, weight, n_own * sizeof *weight);
            n_weights += n_own;
        }
    }
    GBSI_TRY(keep_features(&crf->features, count, 1, err));
    GBSI_TRY(gbsi_crf_number_weights(crf, err));

cleanup:
    gbsi_free(count);
    return status;
}

static void fill_report(learning *l)
{
    gbs_crf_learn_report *r = &l->report;
    double square = 0.0;
    double sum = 0.0;
    for (uint64_t i = 0; i < l->crf->n_weights; i++) {
        const double w = l->crf->weight[i];
        square += w * w;
        sum += fabs(w);
        r->n_active += w != 0.0;
    }
    r->log_likelihood = 0.5 * l->options.l2 * square + l->options.l1 * sum - r->objective;
    r->n_labels = l->crf->labels.n;
    r->n_features = l->crf->features.n;
    r->n_weights = l->crf->n_weights;
    r->n_links = l->features.n_links;
    r->seconds = gbsi_clock_s() - l->work.begun_s;
}

static gbs_status take_options(learning *l, const gbs_crf_learn_options *options, gbs_error *err)
{
    gbs_crf_learn_options *o = &l->options;
    GBSI_PASS(gbsi_question_settle("learn crf", options, o, err));
    o->l2 = o->l1 == 0.0 && o->l2 == 0.0 ? 1.0 : o->l2;
    return GBS_OK;
}

static uint64_t usual_steps(void)
{
    return gbs_question_find_option(gbs_question_find("learn crf"), "steps")->def;
}

static gbs_status learn(learning *l, const char *templates, gbs_error *err)
{
    gbs_status ended = GBS_OK;
    GBSI_PASS(read_templates(l, templates, err));
    if (!l->crf->templates.links &&
        (l->options.objective != GBS_CRF_AUTO || l->options.steps != usual_steps())) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "an objective and steps are for templates with links between tokens: "
                         "without them the likelihood is exact");
    }
    GBSI_PASS(find_labels(l, err));
    GBSI_PASS(find_features(l, err));
    GBSI_PASS(
        gbsi_gradient_new(l->crf, l->data, &l->features, l->truth, &l->work, &l->gradient, err));
    l->work.progress.passes = l->options.iterations;
    GBSI_PASS(ended = l->features.n_links > 0 ? optimise_links(l, err) : optimise(l, err));
    if (l->options.l1 > 0.0) {
        GBSI_PASS(drop_zeros(l->crf, err));
    }
    fill_report(l);
    return ended;
}

gbs_status gbs_crf_learn(const char *templates, gbs_template_style style, const gbs_sequences *data,
                         const gbs_crf_learn_options *options, const gbs_run_callbacks *callbacks,
                         gbs_crf **crf, gbs_crf_learn_report *report, gbs_error *err)
{
    GBSI_NEED(templates, data, crf);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_OUT_STRUCT(report, gbs_crf_learn_report);
    gbs_status status = GBS_OK;
    learning l = {.data = data};
    if (style != GBS_TEMPLATES_CRFPP && style != GBS_TEMPLATES_WAPITI) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: found style %d, expected a gbs_template_style",
                         __func__, (int)style);
    }
    GBSI_TRY(take_options(&l, options, err));
    const gbs_label_options work = {.size = sizeof work,
                                    .time_s = l.options.time_s,
                                    .threads = l.options.threads,
                                    .memory_limit = l.options.memory_limit};
    GBSI_TRY(gbsi_work_begin(&l.work, &work, callbacks, gbsi_sequences_bytes(data), err));
    l.crf = gbsi_alloc_zero(sizeof *l.crf);
    GBSI_TRY(GBSI_HAVE(err, "a model", l.crf));
    l.crf->templates.style = style;
    GBSI_TRY(learn(&l, templates, err));
    gbsi_struct_give(report, &l.report, sizeof l.report);
    *crf = l.crf;
    l.crf = NULL;

cleanup:
    gbsi_gradient_free(&l.gradient);
    gbsi_features_free(&l.features);
    GBSI_FREE(l.truth, l.weight);
    gbs_crf_free(l.crf);
    gbsi_work_end(&l.work);
    return status;
}

#else

#include "base/sized.h"

gbs_status gbs_crf_learn(const char *templates, gbs_template_style style, const gbs_sequences *data,
                         const gbs_crf_learn_options *options, const gbs_run_callbacks *callbacks,
                         gbs_crf **crf, gbs_crf_learn_report *report, gbs_error *err)
{
    (void)style;
    GBSI_NEED(templates, data, crf);
    GBSI_IN_STRUCT(options, gbs_crf_learn_options);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_OUT_STRUCT(report, gbs_crf_learn_report);
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "built without libLBFGS, which learning needs: install liblbfgs-dev and build "
                     "again");
}

#endif
