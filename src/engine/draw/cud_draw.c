/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing method cud: a whole period of a small shift register drives the chains, in place of
 * independent random numbers [M25]. Tribble (2007), Chen, Matsumoto, Nishimura & Owen (2012),
 * Yamashita & Suzuki (2019) section 7.
 *
 * A sweep of N updates takes N numbers of the register's sequence, whose period is P: number n
 * drives the update at position n mod N of the sweep floor(n / N). Over P sweeps the update at
 * position i takes the numbers i, i + N, i + 2 N, ... If gcd(N, P) = 1, these are all P different
 * numbers of the period. If gcd(N, P) = b > 1, the update would get P / b different numbers, each b
 * times. The register therefore skips one number after every P / b sweeps. */
#include "draw/cud_draw.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "rng/philox.h"

/* ---- options ------------------------------------------------------------------------------- */

const char *const gbsi_cud_options[] = {"cud-bits", "cud-offset", "cud-scheme", NULL};

/* For a run without --sweeps: least and largest number of bits of the register, and the standard
 * error that the run aims for. */
#define LEAST_AUTO_BITS 10u
#define MOST_AUTO_BITS  24u
#define AUTO_TARGET     0.005

/* Number of bits of the register whose period is `sweeps`; 0 if no register has this period. */
static uint32_t bits_of_sweeps(uint64_t sweeps)
{
    for (uint32_t m = GBSI_CUD_LEAST_BITS; m <= GBSI_CUD_MOST_BITS; ++m) {
        if (gbsi_cud_period(m) == sweeps) {
            return m;
        }
    }
    return 0;
}

static gbs_status refuse_sweeps(uint64_t sweeps, gbs_error *err)
{
    uint32_t m = GBSI_CUD_LEAST_BITS;
    while (m < GBSI_CUD_MOST_BITS && gbsi_cud_period(m + 1) <= sweeps) {
        ++m;
    }
    const uint64_t above = gbsi_cud_period(m < GBSI_CUD_MOST_BITS ? m + 1 : m);
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "--draw cud needs a whole period of 2^M - 1 sweeps, found %" PRIu64
                     ": try --sweeps %" PRIu64 " or --sweeps %" PRIu64,
                     sweeps, gbsi_cud_period(m), above);
}

/* Number of bits for which the mean of independent draws of a fair coin, over all sweeps and
 * chains, has half the requested standard error. Half the error is aimed for, because the draws of
 * a run are correlated. */
static uint32_t bits_of_target(const gbs_run_options *options)
{
    const double target = options->target_error > 0.0 ? options->target_error : AUTO_TARGET;
    uint32_t m = LEAST_AUTO_BITS;
    while (m < MOST_AUTO_BITS &&
           (double)gbsi_cud_period(m) * (double)options->chains < 1.0 / (target * target)) {
        ++m;
    }
    return m;
}

gbs_status gbsi_cud_draw_settle(gbs_run_options *options, char *warning, gbs_error *err)
{
    uint32_t m = (uint32_t)options->cud_bits;
    if (m != 0 && m < GBSI_CUD_LEAST_BITS) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "--cud-bits: found %" PRIu32 ", expected %u to %u",
                         m, GBSI_CUD_LEAST_BITS, GBSI_CUD_MOST_BITS);
    }
    if (options->sweeps > 0) {
        const uint32_t given = bits_of_sweeps(options->sweeps);
        if (given == 0) {
            return refuse_sweeps(options->sweeps, err);
        }
        if (m != 0 && m != given) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "--cud-bits: %" PRIu32 " bits have a period of %" PRIu64
                             " sweeps, not %" PRIu64 "; give one of --cud-bits and --sweeps",
                             m, gbsi_cud_period(m), options->sweeps);
        }
        m = given;
    } else if (m == 0) {
        m = bits_of_target(options);
    }
    const uint64_t period = gbsi_cud_period(m);
    const uint64_t offset =
        options->cud_offset; /* 0 stands for an offset chosen by the number of variables */
    if (offset != 0 && (offset >= period || gbsi_gcd(offset, period) != 1)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--cud-offset: found %" PRIu64
                         ", expected a number below the period %" PRIu64
                         " without a common divisor, so that every word is used",
                         offset, period);
    }
    if (offset != 0 && 2 * offset < m) {
        (void)snprintf(warning, GBSI_WARNING_SIZE,
                       "--cud-offset %" PRIu64 " is below half of --cud-bits: successive numbers "
                       "share most of their bits, which can spoil the answer",
                       offset);
    }
    options->cud_bits = m;
    options->sweeps = period;
    return GBS_OK;
}

/* ---- state ----------------------------------------------------------------------------------- */

/* Number of chains, including chains that pad the last group. */
static size_t chains_held(const gbsi_draw_job *job)
{
    return (size_t)job->lanes * job->n_groups;
}

gbs_status gbsi_cud_draw_bytes(const gbsi_draw_job *job, uint64_t *n, gbs_error *err)
{
    (void)err;
    *n = sizeof(gbsi_cud_draw) +
         (uint64_t)job->plan->n_slots * (chains_held(job) + 1) * sizeof(uint32_t);
    return GBS_OK;
}

/* Cranley & Patterson (1976), SIAM J. Numer. Anal. 13(6):904-914: one uniform number per variable
 * and chain is added modulo 1 to all driving numbers. This number stays constant during the run. */
static void draw_shifts(gbsi_cud_draw *d, const gbsi_draw_job *job)
{
    const gbsi_plan *plan = job->plan;
    const uint32_t lanes = job->lanes;
    const size_t n_chains = chains_held(job);
    for (size_t chain = 0; chain < n_chains; ++chain) {
        uint32_t *shift = d->shift + chain / lanes * d->n_slots * lanes + chain % lanes;
        for (size_t slot = 0; slot < d->n_slots; ++slot) {
            const uint32_t variable = plan->model->user_variable[plan->variable_of[slot]];
            shift[slot * lanes] = gbsi_word(job->options->seed, job->first_chain + (uint32_t)chain,
                                            0, variable, GBSI_PURPOSE_CUD_SHIFT);
        }
    }
}

gbs_status gbsi_cud_draw_init(const gbsi_draw_job *job, void **state, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbs_run_options *options = job->options;
    const uint32_t m = (uint32_t)options->cud_bits;
    gbsi_cud_draw *d = gbsi_alloc_zero(sizeof *d);
    GBSI_PASS(GBSI_HAVE(err, "cud", d));
    const gbs_cud_scheme scheme = (gbs_cud_scheme)options->cud_scheme;
    const uint64_t polynomial = gbsi_cud_polynomial(m);
    d->n_slots = job->plan->n_slots;
    d->n_places = job->plan->n_sampled; /* every variable takes one number in a pass */
    gbsi_cud_init(&d->sequence, scheme, m, polynomial,
                  options->cud_offset != 0
                      ? options->cud_offset
                      : gbsi_cud_offset_for(scheme, m, polynomial, d->n_places));
    d->n_blocks = gbsi_gcd(d->n_places, d->sequence.period);
    d->next = UINT64_MAX;
    d->driving = gbsi_alloc_lanes(d->n_places, sizeof *d->driving);
    d->shift = gbsi_alloc_lanes(d->n_slots * chains_held(job), sizeof *d->shift);
    GBSI_TRY(GBSI_HAVE(err, "cud", d->driving, d->shift));
    draw_shifts(d, job);
    *state = d;
    d = NULL;

cleanup:
    gbsi_cud_draw_free(d);
    return status;
}

void gbsi_cud_draw_free(void *state)
{
    gbsi_cud_draw *d = state;
    if (d != NULL) {
        GBSI_FREE(d->driving, d->shift, d);
    }
}

/* Computes the driving numbers of a sweep, in the order of the updates. */
gbs_status gbsi_cud_draw_begin_pass(void *state, const struct gbsi_schedule *schedule,
                                    const struct gbsi_group *group, uint64_t pass, gbs_error *err)
{
    gbsi_cud_draw *d = state;
    const uint64_t period = d->sequence.period;
    const uint64_t per_block = period / d->n_blocks; /* number of sweeps */
    const uint64_t sweep = pass % period;            /* the numbers repeat after `period` sweeps */
    const uint64_t n = (sweep % per_block * (d->n_places % period) + sweep / per_block) % period;
    (void)schedule;
    (void)group;
    (void)err;
    if (n != d->next) {
        d->word = gbsi_cud_word(&d->sequence, n);
    }
    uint32_t word = d->word;
    for (uint64_t i = 0; i < d->n_places; ++i) {
        d->driving[i] = word;
        word = gbsi_cud_next(&d->sequence, word);
    }
    d->word = word;
    d->next = (n + d->n_places) % period;
    return GBS_OK;
}
