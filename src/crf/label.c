/* SPDX-License-Identifier: Apache-2.0 */
/* The most probable labels of sequences, and probabilities of labels. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "crf/chain.h"
#include "crf/work.h"
#include "simd/math.h"

typedef struct labelling labelling;

/* One thread's. */
typedef struct labeller {
    labelling *all;
    gbsi_chain chain;
    double *alpha, *beta, *after;   /* [most_tokens][L] */
    size_t bad_sequence, bad_token; /* the first whose sums a double cannot hold; or SIZE_MAX */
} labeller;

struct labelling {
    const gbs_crf *crf;
    const gbs_sequences *data;
    gbsi_work work;
    gbsi_features features;
    gbsi_pairs pairs;
    labeller *labeller; /* [members] */
    _Atomic size_t next;
    uint32_t *label;   /* [n_tokens] */
    double *posterior; /* [n_tokens][L] or NULL */
    double *log_p;     /* [n] or NULL */
};

static bool wants_sums(const labelling *l)
{
    return l->posterior != NULL || l->log_p != NULL;
}

static void label_sequence(labeller *own, size_t s)
{
    labelling *l = own->all;
    const size_t n_labels = l->crf->labels.n;
    const size_t first = l->data->first[s];
    double log_z = 0.0;
    gbsi_chain_take(&own->chain, first, l->data->first[s + 1]);
    gbsi_chain_best(&own->chain, l->label + first);
    if (!wants_sums(l) || gbsi_watch_stopped(&l->work.watch)) {
        return;
    }
    const size_t bad = gbsi_chain_sum(&own->chain, own->alpha, own->beta, own->after, &log_z);
    if (bad < own->chain.n) {
        if (s < own->bad_sequence) {
            own->bad_sequence = s;
            own->bad_token = first + bad;
        }
        return;
    }
    if (l->log_p != NULL) {
        l->log_p[s] = gbsi_chain_score(&own->chain, l->label + first) - log_z;
    }
    for (size_t i = 0; l->posterior != NULL && i < own->chain.n * n_labels; i++) {
        l->posterior[first * n_labels + i] = own->alpha[i] * own->beta[i];
    }
}

static void label_share(void *context, uint32_t member)
{
    labelling *l = context;
    size_t s = 0;
    while ((s = l->next++) < l->data->n && !gbsi_watch_stopped(&l->work.watch)) {
        label_sequence(&l->labeller[member], s);
        if (member == 0) {
            l->work.progress.pass = l->data->first[s + 1];
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
    gbs_status status = GBS_OK;
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
    GBSI_TRY(gbsi_pairs_new(l->crf, &l->features, wants_sums(l), &l->pairs, err));
    for (uint32_t i = 0; i < n_members; i++) {
        labeller *own = &l->labeller[i];
        own->all = l;
        own->bad_sequence = SIZE_MAX;
        own->chain = (gbsi_chain){.crf = l->crf,
                                  .features = &l->features,
                                  .pairs = &l->pairs,
                                  .weight = l->crf->weight,
                                  .watch = &l->work.watch,
                                  .spends = i == 0};
        GBSI_TRY(gbsi_chain_new(&own->chain, most, err));
        own->alpha = wants_sums(l) ? gbsi_alloc_array(most, row) : NULL;
        own->beta = wants_sums(l) ? gbsi_alloc_array(most, row) : NULL;
        own->after = wants_sums(l) ? gbsi_alloc_array(most, row) : NULL;
        if (wants_sums(l) && (own->alpha == NULL || own->beta == NULL || own->after == NULL)) {
            return gbsi_no_memory(err, "a sequence", 3 * most * row);
        }
    }

cleanup:
    return status;
}

static void labelling_free(labelling *l)
{
    const uint32_t n_members = l->labeller == NULL ? 0 : gbsi_pool_size(l->work.pool);
    for (uint32_t i = 0; i < n_members; i++) {
        gbsi_chain_free(&l->labeller[i].chain);
        gbsi_free(l->labeller[i].alpha);
        gbsi_free(l->labeller[i].beta);
        gbsi_free(l->labeller[i].after);
    }
    gbsi_free(l->labeller);
    gbsi_free(l->label);
    gbsi_free(l->posterior);
    gbsi_free(l->log_p);
    gbsi_pairs_free(&l->pairs);
    gbsi_features_free(&l->features);
    gbsi_work_end(&l->work);
}

/* The first sequence whose probabilities cannot be computed, whichever thread met it. */
static gbs_status check_sums(const labelling *l, gbs_error *err)
{
    size_t bad = SIZE_MAX;
    size_t token = 0;
    for (uint32_t i = 0; i < gbsi_pool_size(l->work.pool); i++) {
        if (l->labeller[i].bad_sequence < bad) {
            bad = l->labeller[i].bad_sequence;
            token = l->labeller[i].bad_token;
        }
    }
    return bad == SIZE_MAX
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                           "%s:%" PRIu64
                           ": log-weights at this token differ by more than %g, too much for "
                           "probabilities; the most probable labels can be had without them",
                           l->data->name, l->data->line[token], GBSI_MOST_SPAN);
}

static gbs_status label_all(labelling *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (uint32_t c = 0; c < l->pairs.n; c++) {
        gbsi_pairs_fill(&l->pairs, c, l->crf, &l->features, l->crf->weight);
        if (gbsi_watch_spend(&l->work.watch, (uint64_t)l->crf->labels.n * l->crf->labels.n * 8)) {
            break;
        }
    }
    l->work.progress.passes = l->data->n_tokens;
    gbsi_pool_run(l->work.pool, label_share, l);
    if (gbsi_watch_stopped(&l->work.watch)) {
        return gbsi_watch_fail(err, "labelling");
    }
    GBSI_TRY(check_sums(l, err));

cleanup:
    return status;
}

gbs_status gbs_crf_label(const gbs_crf *crf, const gbs_sequences *data,
                         const gbs_label_options *options, const gbs_run_callbacks *callbacks,
                         uint32_t *label, double *posterior, double *log_p, gbs_error *err)
{
    GBSI_NEED(crf);
    GBSI_NEED(data);
    GBSI_NEED(label);
    GBSI_IN_STRUCT(options, gbs_label_options);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    gbs_status status = GBS_OK;
    labelling l = {.crf = crf, .data = data};
    GBSI_TRY(gbsi_work_begin(&l.work, options, callbacks,
                             gbsi_crf_bytes(crf) + gbsi_sequences_bytes(data), err));
    GBSI_TRY(gbsi_features_find(&crf->templates, &crf->features, NULL, data, &l.features,
                                &l.work.watch, err));
    GBSI_TRY(take_memory(&l, posterior != NULL, log_p != NULL, err));
    GBSI_TRY(label_all(&l, err));
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
