/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the user the estimates of one variable after another. If ranks share the model, the
 * marginals are gathered for a window of variables at a time, and no rank ever holds all of them.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "chains/run.h"

/* Number of variables in a window. */
#define WINDOW 4096u

enum { P, MCSE, ESS, RHAT, N_VALUES };

/* Records of variables, in which ranks send their estimates to rank 0. A record has the number of
 * the variable, its number of states, and then the requested rows of estimates as doubles. */
typedef struct bringing {
    const gbs_run *run;
    unsigned from, to; /* range of the requested rows (P, MCSE, ...), without row `to` */
    uint32_t
        next; /* first variable of the share that has not been sent; it goes into the next window */
    unsigned char *own, *all;
    size_t n_own, own_capacity, all_capacity;
    size_t *at;  /* [WINDOW] start of the record of each variable in `all` */
    double *row; /* [N_VALUES][largest arity] rows of estimates of one variable */
} bringing;

static size_t row_bytes(const bringing *b, uint32_t arity)
{
    return (size_t)(b->to - b->from) * arity * sizeof(double);
}

static size_t record_bytes(const bringing *b, uint32_t arity)
{
    return 2 * sizeof(uint32_t) + row_bytes(b, arity);
}

/* @param at start of the first row in the record. @return the row; NULL if the caller does not need
 * the row. */
static double *row_of(const bringing *b, double *at, unsigned row, uint32_t arity)
{
    return row >= b->from && row < b->to ? at + (size_t)row * arity : NULL;
}

static gbs_status put_record(bringing *b, uint32_t variable, uint32_t arity, gbs_error *err)
{
    const uint32_t head[2] = {variable, arity};
    void *pointer = b->own;
    const gbs_status status = gbsi_reserve(&pointer, &b->own_capacity,
                                           b->n_own + record_bytes(b, arity), 1, "marginals", err);
    b->own = pointer;
    if (status >= 0) {
        memcpy(b->own + b->n_own, head, sizeof head);
        memcpy(b->own + b->n_own + sizeof head, b->row + (size_t)b->from * arity,
               row_bytes(b, arity));
        b->n_own += record_bytes(b, arity);
    }
    return status;
}

/* Writes the estimates of an own variable to b->row, with one entry for each of the user's states.
 */
static void estimate(bringing *b, uint32_t u, double *scratch)
{
    const gbs_run *run = b->run;
    const gbs_share *share = run->task.shared.share;
    const gbsi_conditioned *part = share->part;
    const uint32_t k = part->arity[u];
    const uint32_t arity = share->user_arity[u];
    for (uint32_t a = 0; a < arity; ++a) {
        b->row[P * arity + a] = b->row[MCSE * arity + a] = 0.0;
        b->row[ESS * arity + a] = b->row[RHAT * arity + a] = NAN;
    }
    gbsi_estimate_slot(run->sampling.estimates.estimate, run->sampling.engine.plan->slot_of[u],
                       row_of(b, scratch, P, k), row_of(b, scratch, MCSE, k),
                       row_of(b, scratch, ESS, k), row_of(b, scratch, RHAT, k));
    for (uint32_t i = b->from * k; i < b->to * k; ++i) {
        b->row[i / k * arity + gbsi_conditioned_states(part, u)[i % k]] = scratch[i];
    }
}

static gbs_status put_fixed(bringing *b, uint32_t i, gbs_error *err)
{
    const gbs_share *share = b->run->task.shared.share;
    const uint32_t arity = share->fixed_arity[i];
    for (uint32_t a = 0; a < arity; ++a) {
        b->row[P * arity + a] = a == share->fixed_state[i];
        b->row[MCSE * arity + a] = 0.0;
        b->row[ESS * arity + a] = b->row[RHAT * arity + a] = NAN;
    }
    return put_record(b, share->fixed_variable[i], arity, err);
}

/* Writes the records of own variables below `end` to the window. On rank 0, also writes the records
 * of fixed variables. @param fixed in and out: index in share->fixed_variable of the next fixed
 * variable. */
static gbs_status put_window(bringing *b, uint64_t end, uint32_t *fixed, double *scratch,
                             gbs_error *err)
{
    const gbs_share *share = b->run->task.shared.share;
    const gbsi_conditioned *part = share->part;
    b->n_own = 0;
    for (; b->next < part->n_variables && part->user_variable[b->next] < end; ++b->next) {
        if (share->own[b->next] != 0) {
            estimate(b, b->next, scratch);
            GBSI_PASS(put_record(b, part->user_variable[b->next], share->user_arity[b->next], err));
        }
    }
    for (; *fixed < share->n_fixed && share->fixed_variable[*fixed] < end; ++*fixed) {
        GBSI_PASS(put_fixed(b, *fixed, err));
    }
    return GBS_OK;
}

/* Passes the records of a window to the user's callback, in the order of their variables. Called on
 * rank 0. */
static gbs_status give_window(bringing *b, uint64_t first, uint64_t end, gbs_on_marginal *on,
                              void *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t head[2];
    size_t at = 0;
    for (uint64_t i = first; i < end; ++i) {
        memcpy(head, b->all + at, sizeof head);
        assert(head[0] >= first &&
               head[0] < end); /* the window has each of its variables exactly once */
        b->at[head[0] - first] = at;
        at += record_bytes(b, head[1]);
    }
    for (uint64_t v = first; v < end && status >= 0; ++v) {
        const unsigned char *record = b->all + b->at[v - first];
        memcpy(head, record, sizeof head);
        assert(head[0] == v);
        const uint32_t k = head[1];
        memcpy(b->row + (size_t)b->from * k, record + sizeof head, row_bytes(b, k));
        status = on(context, head[0], k, row_of(b, b->row, P, k), row_of(b, b->row, MCSE, k),
                    row_of(b, b->row, ESS, k), row_of(b, b->row, RHAT, k), err);
    }
    return status;
}

static gbs_status bring(bringing *b, gbs_on_marginal *on, void *context, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_run *run = b->run;
    const gbsi_share_facts *facts = &run->task.shared.share->facts;
    const uint64_t n = facts->n_user_variables;
    uint32_t fixed = 0;
    double *scratch = gbsi_alloc_array(N_VALUES * facts->max_arity, sizeof *scratch);
    b->row = gbsi_alloc_array(N_VALUES * facts->max_user_arity, sizeof *b->row);
    b->at = gbsi_alloc_array(WINDOW, sizeof *b->at);
    GBSI_TRY(GBSI_HAVE(err, "marginals", scratch, b->row, b->at));
    for (uint64_t first = 0; first < n; first += WINDOW) {
        const uint64_t end = n - first < WINDOW ? n : first + WINDOW;
        uint64_t turn = first; /* other ranks wait for rank 0, because their messages would
                                  otherwise accumulate there */
        GBSI_TRY(run->task.ranks->broadcast(run->task.ranks->context, 0, &turn, sizeof turn, err));
        GBSI_TRY(put_window(b, end, &fixed, scratch, err));
        GBSI_TRY(
            gbsi_shared_gather(run->task.ranks, b->own, b->n_own, &b->all, &b->all_capacity, err));
        if (run->task.ranks->rank == 0) {
            GBSI_TRY(give_window(b, first, end, on, context, err));
        }
    }
cleanup:
    gbsi_free(scratch);
    return status;
}

/* Gives rows `from` to `to` - 1 of every variable to the callback; the pointers of all other rows
 * are NULL. */
static gbs_status each_row(const gbs_run *run, unsigned from, unsigned to, gbs_on_marginal *on,
                           void *context, gbs_error *err)
{
    bringing b = {.run = run, .from = from, .to = to};
    const gbs_status status = bring(&b, on, context, err);
    GBSI_FREE(b.own, b.all, b.at, b.row);
    return status;
}

gbs_status gbsi_shared_each_marginal(const gbs_run *run, gbs_on_marginal *on, void *context,
                                     gbs_error *err)
{
    if (!run->report.answering || gbsi_estimate_n_passes(run->sampling.estimates.estimate) == 0) {
        return gbsi_fail(err, GBS_ERR_STATE, "no draw was kept: there is nothing to estimate from");
    }
    return each_row(run, P, N_VALUES, on, context, err);
}

/* ---- the marginals of all variables, on rank 0 ---- */

typedef struct keeping {
    double *value; /* [N_VALUES][n] */
    size_t n, at;
} keeping;

static gbs_status keep_one(void *context, uint32_t variable, uint32_t arity, const double *p,
                           const double *mcse, const double *ess, const double *rhat,
                           gbs_error *err)
{
    keeping *k = context;
    const double *row[N_VALUES] = {p, mcse, ess, rhat};
    (void)variable;
    (void)err;
    assert(k->at + arity <= k->n);
    for (size_t i = 0; i < N_VALUES; ++i) {
        memcpy(k->value + i * k->n + k->at, row[i], arity * sizeof *p);
    }
    k->at += arity;
    return GBS_OK;
}

gbs_status gbs_run_gather_marginals(gbs_run *run, gbs_error *err)
{
    GBSI_NEED(run);
    if (!gbsi_runner_shares(run->task.plain)) {
        return GBS_OK;
    }
    keeping k = {.n = run->task.ranks->rank == 0 ? run->task.shared.share->facts.n_user_states : 0};
    k.value = gbsi_alloc_array(k.n, N_VALUES * sizeof *k.value);
    GBSI_PASS(GBSI_HAVE(err, "marginals", k.value));
    const gbs_status status = gbsi_shared_each_marginal(run, keep_one, &k, err);
    if (status < 0 || run->task.ranks->rank > 0) {
        gbsi_free(k.value);
        return status;
    }
    gbsi_free(run->task.shared.told);
    run->task.shared.told = k.value;
    return GBS_OK;
}

gbs_status gbsi_shared_marginals(const gbs_run *run, double *p, double *mcse, double *ess,
                                 double *rhat, gbs_error *err)
{
    double *out[N_VALUES] = {p, mcse, ess, rhat};
    const size_t n = run->task.shared.share->facts.n_user_states;
    if (run->task.shared.told == NULL) {
        return gbsi_fail(err, GBS_ERR_STATE,
                         "the model is on several ranks: gbs_run_gather_marginals() comes first, "
                         "and only rank 0 has marginals then");
    }
    for (size_t i = 0; i < N_VALUES; ++i) {
        if (out[i] != NULL) {
            memcpy(out[i], run->task.shared.told + i * n, n * sizeof *p);
        }
    }
    return GBS_OK;
}

/* ---- the digest ---------------------------------------------------------------------------- */

static gbs_status digest_one(void *context, uint32_t variable, uint32_t arity, const double *p,
                             const double *mcse, const double *ess, const double *rhat,
                             gbs_error *err)
{
    const double *row = p != NULL ? p : mcse;
    (void)variable;
    (void)ess;
    (void)rhat;
    (void)err;
    for (uint32_t a = 0; a < arity; ++a) {
        const double told = isnan(row[a])
                                ? (double)NAN
                                : row[a]; /* a NaN of any sign or bits becomes one fixed NaN */
        gbsi_digest_f64(context, &told, 1);
    }
    return GBS_OK;
}

/* Makes the digest. It needs the probabilities of all variables before their errors, and the rows
 * are therefore gathered one after the other. */
gbs_status gbsi_shared_digest(gbs_run *run, char *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_digest *digest = NULL;
    GBSI_TRY(gbsi_digest_new(&digest, err));
    GBSI_TRY(each_row(run, P, P + 1, digest_one, digest, err));
    GBSI_TRY(each_row(run, MCSE, MCSE + 1, digest_one, digest, err));
    if (run->task.ranks->rank == 0) {
        gbsi_digest_text(digest, text);
    }
    GBSI_TRY(run->task.ranks->broadcast(run->task.ranks->context, 0, text, 33, err));
cleanup:
    gbsi_digest_free(digest);
    return status;
}
