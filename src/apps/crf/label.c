/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the most probable labels of sequences, and probabilities of labels. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "crf/crf_chain.h"
#include "crf/model.h"
#include "options/options.h"
#include "rng/philox.h"
#include "simd/math.h"

typedef struct labelling labelling;

/* The state of one thread. */
typedef struct labeller {
    labelling *all;
    gbsi_crf_chain chain;
    double *alpha, *beta, *after; /* [most_tokens][L] results of gbsi_crf_chain_sum() */
    uint32_t *table;              /* [n_combinations] scratch for factor graphs */
    gbs_label_report report;      /* report on the thread's sequences */
    size_t failed;                /* this thread's first sequence that failed, or SIZE_MAX */
    gbs_status status;            /* status of this failure */
    gbs_error err;
} labeller;

struct labelling {
    const gbs_crf *crf;
    const gbs_sequences *data;
    gbs_run_options run; /* options of the search for the labels of a sequence */
    gbsi_work work;
    gbsi_features features;
    gbsi_crf_pairs pairs;
    labeller *labeller; /* [members] state of each thread */
    _Atomic size_t next;
    /* first sequence that failed on any thread; later sequences need no labels */
    _Atomic size_t first_failed;
    uint32_t *label;   /* [n_tokens] labels */
    double *posterior; /* [n_tokens][L] probabilities of labels, or NULL */
    double *log_p;     /* [n] log-probabilities of sequences, or NULL */
};

static bool wants_sums(const labelling *l)
{
    return l->posterior != NULL || l->log_p != NULL;
}

/* Labels a sequence by Viterbi's algorithm and the forward-backward algorithm. */
static gbs_status label_chain(labeller *own, size_t s)
{
    labelling *l = own->all;
    const size_t n_labels = l->crf->labels.n;
    const size_t first = l->data->first[s];
    double log_z = 0.0;
    gbsi_crf_chain_best(&own->chain, l->label + first);
    if (!wants_sums(l) || gbsi_watch_stopped(&l->work.watch)) {
        return GBS_OK;
    }
    const size_t bad = gbsi_crf_chain_sum(&own->chain, own->alpha, own->beta, own->after, &log_z);
    if (bad < own->chain.n) {
        return gbsi_fail(&own->err, GBS_ERR_UNSUPPORTED,
                         "%s:%" PRIu64
                         ": log-weights at this token differ by more than %g, too much for "
                         "probabilities; the most probable labels can be had without them",
                         l->data->name, l->data->line[first + bad], GBSI_MOST_SPAN);
    }
    if (l->log_p != NULL) {
        l->log_p[s] = gbsi_crf_chain_score(&own->chain, l->label + first) - log_z;
    }
    for (size_t i = 0; l->posterior != NULL && i < own->chain.n * n_labels; i++) {
        l->posterior[first * n_labels + i] = own->alpha[i] * own->beta[i];
    }
    return GBS_OK;
}

/* Labels a sequence by junction trees or sampling. Each sequence has its own random numbers. */
static gbs_status label_graph(labeller *own, size_t s)
{
    const labelling *l = own->all;
    const size_t first = l->data->first[s];
    gbs_run_options run = l->run;
    gbsi_found found = {.label = l->label + first,
                        .posterior =
                            l->posterior == NULL ? NULL : l->posterior + first * l->crf->labels.n,
                        .log_p = l->log_p == NULL ? NULL : l->log_p + s};
    uint32_t word[4];
    gbsi_philox(run.seed, (uint32_t)(s >> 32), 0, (uint32_t)s, GBSI_PURPOSE_ROW, word);
    run.seed = (uint64_t)word[0] << 32 | word[1];
    const gbs_status status =
        gbsi_search_sequence(&own->chain, s, own->table, &run, &found, &own->err);
    own->report.n_proved += found.proved;
    own->report.n_unconverged += !found.converged;
    own->report.updates += found.updates;
    /* a search that proves its answer may end before its own watch looks at the clock */
    (void)gbsi_watch_ask(&own->all->work.watch);
    return status;
}

static bool is_chain(const labelling *l, size_t s)
{
    const gbsi_features *f = &l->features;
    return l->run.method != GBS_METHOD_SAMPLE &&
           (f->link_begin == NULL || f->link_begin[s] == f->link_begin[s + 1]);
}

static void label_sequence(labeller *own, size_t s)
{
    labelling *l = own->all;
    gbsi_crf_chain_take(&own->chain, l->data->first[s], l->data->first[s + 1]);
    const bool chain = is_chain(l, s);
    own->report.n_proved += chain;
    const gbs_status status = chain ? label_chain(own, s) : label_graph(own, s);
    if (status < 0) {
        size_t before = l->first_failed;
        own->failed = s;
        own->status = status;
        while (s < before && !atomic_compare_exchange_weak(&l->first_failed, &before, s)) {
        }
    }
}

static void label_share(void *context, uint32_t member)
{
    labelling *l = context;
    labeller *own = &l->labeller[member];
    size_t s = 0;
    while ((s = l->next++) < l->data->n && s < l->first_failed &&
           !gbsi_watch_stopped(&l->work.watch)) {
        label_sequence(own, s);
        if (member == 0) {
            l->work.progress.pass = l->data->first[s + 1];
        }
        if (own->status < 0) {
            return;
        }
    }
}

static size_t longest_of(const gbs_sequences *data)
{
    size_t longest = 0;
    for (size_t s = 0; s < data->n; s++) {
        const size_t n = data->first[s + 1] - data->first[s];
        longest = n > longest ? n : longest;
    }
    return longest;
}

static gbs_status take_memory(labelling *l, bool posterior, bool log_p, gbs_error *err)
{
    const size_t n_labels = l->crf->labels.n;
    const size_t most = longest_of(l->data);
    const uint32_t n_members = gbsi_pool_size(l->work.pool);
    const size_t row = n_labels * sizeof(double);
    l->label = gbsi_alloc_array(l->data->n_tokens, sizeof *l->label);
    l->posterior = posterior ? gbsi_alloc_array(l->data->n_tokens, row) : NULL;
    l->log_p = log_p ? gbsi_alloc_array(l->data->n, sizeof *l->log_p) : NULL;
    l->labeller = gbsi_alloc_array_zero(n_members, sizeof *l->labeller);
    if (l->label == NULL || (posterior && l->posterior == NULL) || (log_p && l->log_p == NULL) ||
        l->labeller == NULL) {
        return gbsi_no_memory(err, "labels",
                              l->data->n_tokens * (posterior ? row : sizeof *l->label));
    }
    GBSI_PASS(gbsi_crf_pairs_new(l->crf, &l->features, wants_sums(l), &l->pairs, err));
    for (uint32_t i = 0; i < n_members; i++) {
        labeller *own = &l->labeller[i];
        own->all = l;
        own->failed = SIZE_MAX;
        own->chain = (gbsi_crf_chain){.crf = l->crf,
                                      .features = &l->features,
                                      .pairs = &l->pairs,
                                      .weight = l->crf->weight,
                                      .watch = &l->work.watch,
                                      .spends = i == 0};
        GBSI_PASS(gbsi_crf_chain_new(&own->chain, most, err));
        own->table = gbsi_alloc_array(l->features.n_combinations, sizeof *own->table);
        GBSI_PASS(GBSI_HAVE(err, "a sequence", own->table));
        memset(own->table, 0xff, l->features.n_combinations * sizeof *own->table);
        own->alpha = wants_sums(l) ? gbsi_alloc_array(most, row) : NULL;
        own->beta = wants_sums(l) ? gbsi_alloc_array(most, row) : NULL;
        own->after = wants_sums(l) ? gbsi_alloc_array(most, row) : NULL;
        if (wants_sums(l) && (own->alpha == NULL || own->beta == NULL || own->after == NULL)) {
            return gbsi_no_memory(err, "a sequence", 3 * most * row);
        }
    }
    return GBS_OK;
}

static void labelling_free(labelling *l)
{
    const uint32_t n_members = l->labeller == NULL ? 0 : gbsi_pool_size(l->work.pool);
    for (uint32_t i = 0; i < n_members; i++) {
        gbsi_crf_chain_free(&l->labeller[i].chain);
        GBSI_FREE(l->labeller[i].alpha, l->labeller[i].beta, l->labeller[i].after,
                  l->labeller[i].table);
    }
    GBSI_FREE(l->labeller, l->label, l->posterior, l->log_p);
    gbsi_crf_pairs_free(&l->pairs);
    gbsi_features_free(&l->features);
    gbsi_work_end(&l->work);
}

/* Returns the failure of the first sequence that failed on any thread. */
static gbs_status first_failure(const labelling *l, gbs_error *err)
{
    for (uint32_t i = 0; i < gbsi_pool_size(l->work.pool); i++) {
        const labeller *own = &l->labeller[i];
        if (own->status < 0 && own->failed == l->first_failed) {
            if (err != NULL) {
                *err = own->err;
            }
            return own->status;
        }
    }
    return GBS_OK;
}

/* @return the number of tokens without a feature of single labels; 0 if no template makes such
 * features. */
static uint64_t count_unseen(const labelling *l)
{
    uint64_t n = 0;
    bool makes = false;
    for (size_t k = 0; k < l->crf->templates.n; k++) {
        makes = makes || gbsi_has_unigram(l->crf->templates.of[k].line[0]);
    }
    for (size_t t = 0; makes && t < l->data->n_tokens; t++) {
        n += l->features.begin[t] == l->features.begin[t + 1];
    }
    return n;
}

static void sum_reports(const labelling *l, gbs_label_report *report)
{
    for (uint32_t i = 0; i < gbsi_pool_size(l->work.pool); i++) {
        const gbs_label_report *r = &l->labeller[i].report;
        report->n_proved += r->n_proved;
        report->n_unconverged += r->n_unconverged;
        report->updates += r->updates;
    }
    report->n_unseen = count_unseen(l);
    report->n_links = l->features.n_links;
    report->seconds = gbsi_clock_s() - l->work.begun_s;
}

static gbs_status label_all(labelling *l, gbs_error *err)
{
    for (uint32_t c = 0; c < l->pairs.n; c++) {
        gbsi_crf_pairs_fill(&l->pairs, c, l->crf, &l->features, l->crf->weight);
        if (gbsi_watch_spend(&l->work.watch, (uint64_t)l->crf->labels.n * l->crf->labels.n * 8)) {
            break;
        }
    }
    l->work.progress.passes = l->data->n_tokens;
    gbsi_pool_run(l->work.pool, label_share, l);
    if (gbsi_watch_stopped(&l->work.watch)) {
        return gbsi_watch_fail(err, "labelling");
    }
    return first_failure(l, err);
}

/* Sets the options of the searches. Each search uses one thread; all searches together keep the
 * limits of the whole run. */
static gbs_status take_search(labelling *l, const gbs_run_options *run, gbs_error *err)
{
    GBSI_PASS(gbsi_options_take(run, &l->run, err));
    if (gbsi_options_approximate(&l->run)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--method: to find labels, choose auto, exact or sample");
    }
    l->run.threads = 1;
    l->run.time_s = 0.0;
    l->run.memory_limit = 0;
    return GBS_OK;
}

gbs_status gbs_crf_label(const gbs_crf *crf, const gbs_sequences *data,
                         const gbs_label_options *options, const gbs_run_callbacks *callbacks,
                         uint32_t *label, double *posterior, double *log_p,
                         gbs_label_report *report, gbs_error *err)
{
    GBSI_NEED(crf, data, label);
    GBSI_IN_STRUCT(options, gbs_label_options);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_OUT_STRUCT(report, gbs_label_report);
    gbs_status status = GBS_OK;
    gbs_label_report found = {0};
    labelling l = {.crf = crf, .data = data, .first_failed = SIZE_MAX};
    GBSI_TRY(take_search(&l, options == NULL ? NULL : options->run, err));
    GBSI_TRY(gbsi_work_begin(&l.work, options, callbacks,
                             gbsi_crf_bytes(crf) + gbsi_sequences_bytes(data), err));
    GBSI_TRY(gbsi_features_find(&crf->templates, &crf->features, NULL, data, &l.features,
                                &l.work.watch, err));
    GBSI_TRY(take_memory(&l, posterior != NULL, log_p != NULL, err));
    GBSI_TRY(label_all(&l, err));
    sum_reports(&l, &found);
    gbsi_struct_give(report, &found, sizeof found);
    memcpy(label, l.label, data->n_tokens * sizeof *label);
    if (posterior != NULL) {
        memcpy(posterior, l.posterior, data->n_tokens * crf->labels.n * sizeof *posterior);
    }
    if (log_p != NULL) {
        memcpy(log_p, l.log_p, data->n * sizeof *log_p);
    }

cleanup:
    labelling_free(&l);
    return status;
}
