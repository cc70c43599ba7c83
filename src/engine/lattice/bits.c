/* SPDX-License-Identifier: Apache-2.0 */
#include "lattice/bits.h"

#include <assert.h>

#include "base/memory.h"
#include "estimate/estimate.h"
#include "lattice/averages.h"
#include "lattice/lattice.h"
#include "lattice/packed.h"

/* Nanoseconds that a core (AVX-512, 2.1 GHz) takes to update a site, with traces of energy and
 * magnetisation: rows lattice/cache and lattice-chains/cache of docs/performance.md. */
#define SITE   0.33
#define PACKED 0.4

/* Number of operations between two looks at the watch. */
#define BETWEEN_LOOKS 3.0e7

typedef struct bits {
    gbsi_spin_chains *chains;
    double site; /* nanoseconds of an update of a site */
    double between_looks;
    uint64_t n_passes;
    /* the pass in progress */
    gbsi_pass_job job;
    uint32_t next_batch;
    bool is_cut;      /* whether the pass was stopped in batch next_batch - 1 */
    uint64_t cut;     /* number of parts of batch next_batch - 1 that were done */
    double n_updates; /* number of updates of all chains together in the parts of the pass that were
                         done */
} bits;

_Static_assert(GBSI_LATTICE_KEPT == GBSI_PASSES_HELD && GBSI_LATTICE_ROW_SLOTS == GBSI_SLOTS_HELD,
               "what is kept is taken in time, a row of lanes at once");

static bool counts(const gbs_run_options *options)
{
    return options->estimator == GBS_ESTIMATOR_COUNT;
}

static gbsi_spin_keep keep_of(const gbs_run_options *options)
{
    return options->estimator == GBS_ESTIMATOR_RAO_BLACKWELL ? GBSI_SPIN_KEEP_NEIGHBOURS
           : counts(options)                                 ? GBSI_SPIN_KEEP_VISITS
                                                             : GBSI_SPIN_KEEP_NOTHING;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static uint8_t *visits_of(void *context, uint32_t chain)
{
    size_t stride = 0;
    return gbsi_estimate_visits(context, chain, &stride);
}

static void sum_kept(void *context, uint32_t chain, uint32_t first, uint32_t n, float *sum)
{
    const gbsi_spin_chains *chains = context;
    chains->form->average(chains, chain, first, n, sum);
}

static void forget_kept(void *context)
{
    ((gbsi_spin_chains *)context)->n_counted = 0;
}

/* Passes the visits or conditionals that are kept of passes to the estimate. Averaged conditionals
 * are not copied: the estimate calls sum_kept() for them. Visits are bytes in lanes, in the layout
 * of the estimate's groups. */
static void fetch(void *state, struct gbsi_estimate *estimate)
{
    gbsi_spin_chains *chains = ((bits *)state)->chains;
    if (chains->keep == GBSI_SPIN_KEEP_NEIGHBOURS) {
        gbsi_estimate_hold(estimate, &(gbsi_held){chains, sum_kept, forget_kept});
        return;
    }
    const uint32_t stride = chains->n_chains >= 8 ? GBSI_LANES : 1;
    chains->form->take_visits(chains, stride, visits_of, estimate);
}

static gbs_status begin(void *state, const gbsi_pass_job *job, gbs_error *err)
{
    bits *b = state;
    (void)err;
    b->job = *job;
    b->next_batch = 0;
    b->is_cut = false;
    b->n_updates = 0.0;
    gbsi_spin_chains_begin(b->chains, job->estimate != NULL);
    if (job->estimate != NULL && b->chains->keep == GBSI_SPIN_KEEP_NEIGHBOURS) {
        fetch(b, job->estimate);
    }
    return GBS_OK;
}

/* Runs a batch of a long pass in parts, and asks the watch between them. */
static void run_in_parts(bits *b, uint32_t n_batches)
{
    const gbsi_spin_form *form = b->chains->form;
    const uint32_t batch = b->next_batch++;
    double updates = 0.0;
    const uint64_t n = form->n_parts(b->chains, batch, &updates);
    const double most = b->between_looks / (b->site * updates);
    const uint64_t step = most < 1.0 ? 1 : most < (double)n ? (uint64_t)most : n;
    for (uint64_t part = 0; part < n && !b->is_cut; part += step) {
        const uint64_t end = n - part < step ? n : part + step;
        const double n_updates = updates * (double)(end - part);
        form->run_parts(b->chains, b->job.pass, b->job.estimate != NULL, batch, part, end);
        b->n_updates += n_updates;
        b->cut = end;
        b->is_cut = (end < n || batch + 1 < n_batches) &&
                    gbsi_watch_spend(b->job.watch, (uint64_t)(b->site * n_updates));
    }
}

static bool is_long(const bits *b)
{
    return b->site * b->chains->spins->n_sites * b->chains->n_chains > b->between_looks;
}

static gbs_status batch(void *state, uint32_t most, bool *more, gbs_error *err)
{
    bits *b = state;
    gbsi_spin_chains *chains = b->chains;
    const uint32_t n = chains->form->n_batches(chains);
    const uint32_t end = n - b->next_batch < most ? n : b->next_batch + most;
    (void)err;
    if (!is_long(b)) {
        chains->form->run(chains, b->job.pass, b->job.estimate != NULL, b->next_batch, end);
        b->next_batch = end;
    }
    while (b->next_batch < end && !b->is_cut) {
        run_in_parts(b, n);
    }
    *more = b->next_batch < n && !b->is_cut;
    return GBS_OK;
}

/* Chains count visits in their own counters until the estimate reads the counts. If a pass was cut
 * short, the current states of sites that were not updated are counted as well. Counting in the
 * chains takes less time than a loop over all counts of the estimate in each pass. */
static gbs_status end(void *state, gbs_error *err)
{
    bits *b = state;
    (void)err;
    gbsi_spin_chains_add_up(b->chains);
    ++b->n_passes;
    if (b->is_cut && b->job.estimate != NULL && b->chains->visits != NULL) {
        b->chains->form->count_rest(b->chains, b->next_batch - 1, b->cut);
    }
    if (b->job.estimate != NULL && gbsi_estimate_due(b->job.estimate)) {
        fetch(b, b->job.estimate);
    }
    return b->is_cut ? GBS_STOPPED : GBS_OK;
}

/* Number of updates of a chain in the pass. After a pass that was cut short this is the mean over
 * chains, whose numbers differ. */
static uint64_t n_updates(const void *state)
{
    const bits *b = state;
    const uint64_t n = b->chains->spins->n_sites;
    const double done = b->n_updates / b->chains->n_chains;
    return !b->is_cut || done >= (double)n ? n : done < 1.0 ? 1 : (uint64_t)done;
}

static double operations(void *state, uint32_t n_chains)
{
    const bits *b = state;
    return b->site * b->chains->spins->n_sites * n_chains * (double)b->n_passes;
}

static double least_of_sites(const gbsi_pass_setting *setting)
{
    const gbsi_lattice *lattice = setting->compiled;
    return SITE * lattice->spins.n_sites * setting->n_chains;
}

static double least_of_packed(const gbsi_pass_setting *setting)
{
    const gbsi_packed *packed = setting->compiled;
    return PACKED * packed->spins.n_sites * setting->n_chains;
}

void gbsi_bits_look_every(void *state, double operations)
{
    ((bits *)state)->between_looks = operations;
}

/* ---- states ---------------------------------------------------------------------------------- */

static void set(void *state, uint32_t chain, const uint32_t *x)
{
    gbsi_spin_chains *chains = ((bits *)state)->chains;
    chains->form->set(chains, chain, x);
}

static void get(const void *state, uint32_t chain, uint32_t *x)
{
    const gbsi_spin_chains *chains = ((const bits *)state)->chains;
    chains->form->get(chains, chain, x);
}

static double log_density(const void *state, uint32_t chain)
{
    const gbsi_spin_chains *chains = ((const bits *)state)->chains;
    return gbsi_spins_log_density(chains->spins, &chains->sums[chain]);
}

const gbsi_spin_chains *gbsi_bits_chains(const void *state)
{
    return ((const bits *)state)->chains;
}

/* Calls each() for every saved array of the chains; each() saves or loads the array. */
static gbs_status walk(const bits *b,
                       gbs_status (*each)(void *context, void *number, size_t n, size_t size,
                                          gbs_error *err),
                       void *context, gbs_error *err)
{
    gbsi_spin_chains *c = b->chains;
    _Static_assert(sizeof *c->sums == (GBSI_SPIN_GROUPS + GBSI_SPIN_FIELDS) * sizeof(int64_t),
                   "sums are numbers one after the other");
    GBSI_PASS(each(context, c->state, c->n_state, sizeof *c->state, err));
    GBSI_PASS(each(context, c->sums, c->n_chains * sizeof *c->sums / 8, 8, err));
    GBSI_PASS(each(context, &c->n_counted, 1, sizeof c->n_counted, err));
    if (c->visits != NULL) {
        GBSI_PASS(each(context, c->visits, c->n_visits, sizeof *c->visits, err));
    }
    return GBS_OK;
}

static gbs_status put(void *context, void *number, size_t n, size_t size, gbs_error *err)
{
    return gbsi_put_numbers(context, number, n, size, err);
}

static gbs_status take(void *context, void *number, size_t n, size_t size, gbs_error *err)
{
    return gbsi_take_numbers(context, number, n, size, err);
}

static gbs_status save(const void *state, const gbsi_sink *sink, gbs_error *err)
{
    gbsi_sink to = *sink;
    return walk(state, put, &to, err);
}

static gbs_status load(void *state, const gbsi_source *source, gbs_error *err)
{
    gbsi_source from = *source;
    const gbs_status status = walk(state, take, &from, err);
    const gbsi_spin_chains *c = ((const bits *)state)->chains;
    const uint32_t most =
        c->keep == GBSI_SPIN_KEEP_NEIGHBOURS ? GBSI_LATTICE_KEPT : GBSI_SPIN_MOST_COUNTED;
    if (status >= 0 && c->n_counted > most) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "spins: the saved counters hold too many passes");
    }
    return status;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void free_bits(void *state)
{
    bits *b = state;
    if (b != NULL) {
        gbsi_spin_chains_free(b->chains);
        gbsi_free(b);
    }
}

static gbs_status new_bits(double site, void **state, gbs_error *err)
{
    bits *b = gbsi_alloc_zero(sizeof *b);
    GBSI_PASS(GBSI_HAVE(err, "lattice", b));
    b->site = site;
    b->between_looks = BETWEEN_LOOKS;
    *state = b;
    return GBS_OK;
}

static gbs_status prepare_sites(const gbsi_pass_setting *s, void **state, gbs_error *err)
{
    GBSI_PASS(new_bits(SITE, state, err));
    bits *b = *state;
    return gbsi_lattice_chains_new(s->compiled, s->n_chains, s->options->seed, keep_of(s->options),
                                   s->level, s->pool, &b->chains, err);
}

static gbs_status prepare_packed(const gbsi_pass_setting *s, void **state, gbs_error *err)
{
    GBSI_PASS(new_bits(PACKED, state, err));
    bits *b = *state;
    return gbsi_packed_chains_new(s->compiled, s->n_chains, s->options->seed, counts(s->options),
                                  s->level, s->pool, &b->chains, err);
}

static uint64_t bytes_of_sites(const gbsi_pass_setting *s)
{
    return gbsi_lattice_chains_bytes(s->compiled, s->n_chains, s->n_threads, keep_of(s->options));
}

static uint64_t bytes_of_packed(const gbsi_pass_setting *s)
{
    return gbsi_packed_chains_bytes(s->compiled, s->n_chains, s->n_threads, counts(s->options));
}

#define SHARED_BY_BOTH                                                                            \
    .traits = GBSI_PASS_OWNS, .begin = begin, .batch = batch, .end = end, .n_updates = n_updates, \
    .operations = operations, .set = set, .get = get, .log_density = log_density, .fetch = fetch, \
    .save = save, .load = load, .free = free_bits

const gbsi_pass gbsi_pass_sites = {.name = "sites",
                                   .bytes = bytes_of_sites,
                                   .prepare = prepare_sites,
                                   .least_operations = least_of_sites,
                                   SHARED_BY_BOTH};

const gbsi_pass gbsi_pass_packed = {.name = "packed",
                                    .bytes = bytes_of_packed,
                                    .prepare = prepare_packed,
                                    .least_operations = least_of_packed,
                                    SHARED_BY_BOTH};
