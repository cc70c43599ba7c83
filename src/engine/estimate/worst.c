/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the largest standard error, the smallest effective size and the largest R-hat of all slots.
 * Threads share the slots, and ranks share slots or chains. The result does not depend on the order
 * in which the results of threads and ranks are combined. */
#include <math.h>

#include "base/memory.h"
#include "estimate/estimate_internal.h"
#include "simd/math.h"

/* The largest values so far, as a heap with the smallest of them on top. */
typedef struct largest {
    double *value;
    size_t n, capacity;
} largest;

static void sink(largest *l, size_t i)
{
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < l->n; child++) {
            least = l->value[child] < l->value[least] ? child : least;
        }
        if (least == i) {
            return;
        }
        const double swapped = l->value[i];
        l->value[i] = l->value[least];
        l->value[least] = swapped;
        i = least;
    }
}

static void drop_least(largest *l)
{
    l->value[0] = l->value[--l->n];
    sink(l, 0);
}

static void offer(largest *l, double value)
{
    if (l->n == l->capacity) {
        if (value > l->value[0]) {
            l->value[0] = value;
            sink(l, 0);
        }
        return;
    }
    size_t i = l->n++;
    while (i > 0 && l->value[(i - 1) / 2] > value) {
        l->value[i] = l->value[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    l->value[i] = value;
}

/* Smallest number of cells for which several threads share the work. With fewer cells one thread
 * finishes before the others have woken up. */
#define LEAST_SHARED 4096u

/* Number of the largest standard errors that a tally keeps. If there are more than 10^5 values, one
 * in 10^4 is ignored, so that the smallest of the kept values is the 99.99 % quantile. */
static size_t rank_of(size_t n)
{
    return n > 100000 ? n / 10000 + 1 : 1;
}

typedef struct tally {
    gbsi_estimate_worst worst;
    largest errors;
    size_t n_errors;
    bool unclaimed; /* whether some cell of a slot that moved has no standard error */
} tally;

/* Update an extreme with a value. The extreme is NAN until the first value that is not NAN. */
static void see_extremes(gbsi_estimate_worst *worst, double rhat, double ess)
{
    if (rhat > worst->max_rhat || isnan(worst->max_rhat)) {
        worst->max_rhat = rhat;
    }
    if (ess < worst->min_ess || isnan(worst->min_ess)) {
        worst->min_ess = ess;
    }
}

static void tally_error(tally *t, double mcse)
{
    if (isnan(mcse)) {
        t->unclaimed = true;
    } else {
        offer(&t->errors, mcse);
        t->n_errors++;
    }
}

/* Ratio between the two estimates of a variance that chance alone hardly reaches. Batch means treat
 * every batch as a new visit to a mode. If chains make few visits that are longer than a batch, the
 * error from batch means is therefore too small. Chains are independent even if visits are long. If
 * the variance from the means of chains exceeds BEYOND_CHANCE times the variance from batches, the
 * variance from chains is used. The variance from chains is doubled, because the standard deviation
 * of the lengths of visits is about their mean. [M8] */
#define BEYOND_CHANCE 3.5

static double honest_error(const gbsi_cell_summary *s)
{
    const bool few_visits = s->between > BEYOND_CHANCE * s->mcse * s->mcse;
    return few_visits ? gbsi_sqrt(2.0 * s->between) : s->mcse;
}

static void tally_slot(const gbsi_estimate *e, uint32_t slot, tally *t)
{
    gbsi_estimate_worst *worst = &t->worst;
    if (gbsi_estimate_updates(e, slot) == 0) {
        worst->n_unvisited++;
        return;
    }
    if (gbsi_is_constant(e, slot)) {
        worst->n_constant++;
        return;
    }
    for (size_t cell = gbsi_offset(&e->cell_start, slot);
         cell < gbsi_offset(&e->cell_start, slot + (size_t)1); cell++) {
        const gbsi_cell_summary s = gbsi_summarise_cell(e, slot, cell);
        tally_error(t, honest_error(&s));
        see_extremes(worst, s.rhat, s.ess);
    }
}

/* Tallies slots whose sums chains hold. */
static void tally_row(const gbsi_estimate *e, uint32_t first, tally *t)
{
    gbsi_held_row row;
    gbsi_estimate_held_row(e, first, &row);
    for (uint32_t i = 0; i < GBSI_SLOTS_HELD; i++) {
        if (row.constant[i]) {
            t->worst.n_constant++;
            continue;
        }
        tally_error(t, row.mcse[i]);
        see_extremes(&t->worst, row.rhat[i], gbsi_effective_size(e, row.p[i], row.mcse[i]));
    }
}

/* Merges one tally into another. */
static void merge(tally *t, const tally *part)
{
    gbsi_estimate_worst *worst = &t->worst;
    for (size_t i = 0; i < part->errors.n; i++) {
        offer(&t->errors, part->errors.value[i]);
    }
    t->n_errors += part->n_errors;
    t->unclaimed = t->unclaimed || part->unclaimed;
    worst->n_constant += part->worst.n_constant;
    worst->n_unvisited += part->worst.n_unvisited;
    see_extremes(worst, part->worst.max_rhat, part->worst.min_ess);
}

static tally empty_tally(double *value, size_t capacity)
{
    return (tally){.worst = {NAN, NAN, NAN, 0, 0},
                   .errors = {.value = value, .capacity = capacity}};
}

/* ---- ranks ---- */

/* Indices in a tally that is written as an array of doubles. In this form a rank sends its tally.
 * Counts are far below 2^53, so that doubles hold them exactly. */
enum { MAX_RHAT, MIN_ESS, N_CONSTANT, N_UNVISITED, N_ERRORS, UNCLAIMED, N_LARGEST, N_NUMBERS };

static void write_tally(const tally *t, double *number)
{
    number[MAX_RHAT] = t->worst.max_rhat;
    number[MIN_ESS] = t->worst.min_ess;
    number[N_CONSTANT] = (double)t->worst.n_constant;
    number[N_UNVISITED] = (double)t->worst.n_unvisited;
    number[N_ERRORS] = (double)t->n_errors;
    number[UNCLAIMED] = t->unclaimed;
    number[N_LARGEST] = (double)t->errors.n;
    for (size_t i = 0; i < t->errors.n; i++) {
        number[N_NUMBERS + i] = t->errors.value[i];
    }
}

/* Reads a tally from doubles. @param number borrowed while the tally is in use. */
static tally read_tally(double *number)
{
    tally t = empty_tally(number + N_NUMBERS, (size_t)number[N_LARGEST]);
    t.worst.max_rhat = number[MAX_RHAT];
    t.worst.min_ess = number[MIN_ESS];
    t.worst.n_constant = (uint64_t)number[N_CONSTANT];
    t.worst.n_unvisited = (uint64_t)number[N_UNVISITED];
    t.n_errors = (size_t)number[N_ERRORS];
    t.unclaimed = number[UNCLAIMED] != 0;
    t.errors.n = t.errors.capacity;
    return t;
}

/* Combines the tallies of all ranks, on every rank. */
static gbs_status add_ranks(const gbs_ranks *ranks, tally *t, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = N_NUMBERS + t->errors.capacity;
    double *own = gbsi_alloc_array_zero(n, sizeof *own);
    double *all = gbsi_alloc_array(n * ranks->n_ranks, sizeof *all);
    size_t *n_of = gbsi_alloc_array(ranks->n_ranks, sizeof *n_of);
    GBSI_TRY(GBSI_HAVE(err, "worst estimate", own, all, n_of));
    for (uint32_t rank = 0; rank < ranks->n_ranks; rank++) {
        n_of[rank] = n * sizeof *own;
    }
    write_tally(t, own);
    GBSI_TRY(ranks->gather(ranks->context, own, n * sizeof *own, all, n_of, err));
    GBSI_TRY(ranks->broadcast(ranks->context, 0, all, n * ranks->n_ranks * sizeof *all, err));
    *t = empty_tally(t->errors.value, t->errors.capacity);
    for (uint32_t rank = 0; rank < ranks->n_ranks; rank++) {
        const tally part = read_tally(all + n * rank);
        merge(t, &part);
    }
cleanup:
    GBSI_FREE(own, all, n_of);
    return status;
}

/* ---- threads ---- */

typedef struct tally_job {
    const gbsi_estimate *e;
    const uint8_t
        *own; /* [slots] 1 if the slot is included in the tally; NULL if all slots are included */
    tally *tally; /* [n_members] */
    uint32_t n_members;
} tally_job;

static void tally_share(void *context, uint32_t member)
{
    const tally_job *job = context;
    uint64_t first = 0;
    uint64_t end = 0;
    const bool held = job->e->shape.held && gbsi_estimate_n_passes(job->e) > 0;
    gbsi_pool_share(job->e->shape.n_slots, held ? GBSI_SLOTS_HELD : 64, member, job->n_members,
                    &first, &end);
    for (; held && first < end; first += GBSI_SLOTS_HELD) {
        tally_row(job->e, (uint32_t)first, &job->tally[member]);
    }
    for (uint64_t slot = first; slot < end; slot++) {
        if (job->own == NULL || job->own[slot] != 0) {
            tally_slot(job->e, (uint32_t)slot, &job->tally[member]);
        }
    }
}

gbs_status gbsi_estimate_find_worst(const gbsi_estimate *e, gbsi_pool *pool,
                                    gbsi_estimate_worst *worst, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_estimate *summed = e->spread == NULL ? e : e->spread->share;
    const gbs_ranks *ranks = e->spread == NULL ? e->shape.ranks : e->spread->ranks;
    const size_t capacity = rank_of(e->shape.own == NULL ? e->n_cells : e->shape.n_all_cells);
    const bool shared = summed->n_cells >= LEAST_SHARED;
    tally_job job = {
        .e = summed, .own = e->shape.own, .n_members = shared ? gbsi_pool_size(pool) : 1};
    job.tally = gbsi_alloc_array(job.n_members, sizeof *job.tally);
    double *value = gbsi_alloc_array(job.n_members * capacity, sizeof *value);
    GBSI_TRY(GBSI_HAVE(err, "worst estimate", job.tally, value));
    if (e->spread != NULL) {
        GBSI_TRY(gbsi_spread_bring(e, false, err));
    }
    for (uint32_t member = 0; member < job.n_members; member++) {
        job.tally[member] = empty_tally(value + member * capacity, capacity);
    }
    gbsi_pool_run(shared ? pool : NULL, tally_share, &job);
    tally *t = &job.tally[0];
    for (uint32_t member = 1; member < job.n_members; member++) {
        merge(t, &job.tally[member]);
    }
    if (ranks != NULL) {
        GBSI_TRY(add_ranks(ranks, t, err));
    }
    /* the capacity also counted cells without a standard error; without these cells, fewer values
     * may be ignored */
    while (t->errors.n > rank_of(t->n_errors)) {
        drop_least(&t->errors);
    }
    if (!t->unclaimed && t->n_errors > 0) {
        t->worst.max_mcse = t->errors.value[0];
    }
    t->worst.n_constant -= e->shape.n_padding; /* padding slots have held sums of 0 */
    *worst = t->worst;
cleanup:
    GBSI_FREE(job.tally, value);
    return status;
}

double gbsi_most_deviations(size_t n)
{
    return gbsi_sqrt(2.0 * gbsi_log((double)n + 1.0)) + 2.0;
}

double gbsi_known_square(double error)
{
    return isnan(error) ? 0.0 : error * error;
}
