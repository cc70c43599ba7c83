/* SPDX-License-Identifier: Apache-2.0 */
/* Saves ladders as a part of a checkpoint (docs/checkpoint.md, "ladders"). The part has the adapted
 * ladder, the progress of burn-in or sampling, the states of the chains, and the counts. */
#include "ladders/tempered_inside.h"

/* Numbers that describe the progress of ladders, in the order of the file. */
typedef struct standing {
    gbsi_found_before found;
    uint64_t n_levels, n_ladders, iteration, round, in_round;
    uint64_t has_blocks, uses_blocks, keeps;
    uint64_t drop_at, n_given, n_cold, n_valid;
    double penalty;
} standing;

enum { NUMBER = 8 };
/* The numbers of passes, which key random numbers, are below 2^56. */
#define MOST_ITERATIONS (UINT64_C(1) << 48)

static gbs_status save_burn_in(const gbsi_tempered *t, const gbsi_sink *sink, gbs_error *err)
{
    GBSI_PASS(gbsi_overlap_save(t->overlap, sink, err));
    return gbsi_overlap_save(t->overlap_of_sweeps, sink, err);
}

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_tempered *t = object;
    const standing s = {.found = t->found,
                        .n_levels = t->exchange->n_levels,
                        .n_ladders = t->exchange->n_ladders,
                        .iteration = t->iteration,
                        .round = t->round,
                        .in_round = t->in_round,
                        .has_blocks = t->blocks.plans != NULL,
                        .uses_blocks = t->blocks.used,
                        .keeps = t->means != NULL,
                        .drop_at = t->drop_at,
                        .n_given = t->n_given,
                        .n_cold = t->n_cold,
                        .n_valid = t->n_valid,
                        .penalty = t->penalty};
    GBSI_PASS(gbsi_put_numbers(sink, &s, sizeof s / NUMBER, NUMBER, err));
    GBSI_PASS(gbsi_exchange_save(t->exchange, sink, err));
    GBSI_PASS(gbsi_executor_save(&t->executor, sink, err));
    if (t->ratios != NULL) {
        GBSI_PASS(gbsi_ratios_save(t->ratios, sink, err));
    }
    return t->means != NULL ? gbsi_means_save(t->means, sink, err) : save_burn_in(t, sink, err);
}

gbs_status gbsi_tempered_save(const gbsi_tempered *t, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_put_sealed(sink, t, save, err);
}

/* Makes the plans of blocks, which follow from the model; the memory limit decides whether the
 * plans fit. */
static gbs_status take_blocks(gbsi_tempered *t, const standing *s, gbs_error *err)
{
    if (s->has_blocks != 0 && t->blocks.plans == NULL) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "the blocks of the checkpoint's ladders do not fit the memory limit");
    }
    if (s->has_blocks == 0) {
        gbsi_tempered_free_blocks(t);
    }
    t->blocks.used = s->has_blocks != 0 && s->uses_blocks != 0;
    return GBS_OK;
}

typedef struct taker {
    gbsi_tempered *tempered;
    gbsi_pool *pool;
} taker;

static gbs_status load(void *object, const gbsi_source *source, gbs_error *err)
{
    const taker *into = object;
    gbsi_tempered *t = into->tempered;
    standing s;
    GBSI_PASS(gbsi_take_numbers(source, &s, sizeof s / NUMBER, NUMBER, err));
    if (s.n_levels > UINT32_MAX || s.n_ladders > UINT32_MAX || s.round > GBSI_TEMPERED_ROUNDS ||
        s.iteration >= MOST_ITERATIONS) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "the saved ladders are damaged");
    }
    GBSI_PASS(gbsi_tempered_reshape(t, into->pool, (uint32_t)s.n_levels, (uint32_t)s.n_ladders,
                                    s.penalty, err));
    GBSI_PASS(take_blocks(t, &s, err));
    t->found = s.found;
    t->iteration = s.iteration;
    t->round = s.round;
    t->in_round = s.in_round;
    t->drop_at = s.drop_at;
    t->n_given = s.n_given;
    t->n_cold = s.n_cold;
    t->n_valid = s.n_valid;
    GBSI_PASS(gbsi_exchange_load(t->exchange, source, err));
    GBSI_PASS(gbsi_executor_load(&t->executor, source, err));
    gbsi_tempered_set_temperatures(t);
    if (t->ratios != NULL) {
        GBSI_PASS(gbsi_ratios_load(t->ratios, source, err));
    }
    if (s.keeps != 0 && t->ratios != NULL && t->ratios->n_rows == 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "the saved ladders are damaged: nothing was learnt");
    }
    if (s.keeps != 0) {
        GBSI_PASS(gbsi_tempered_take_means(t, err));
        GBSI_PASS(gbsi_means_load(t->means, source, err));
    } else {
        GBSI_PASS(gbsi_overlap_load(t->overlap, source, err));
        GBSI_PASS(gbsi_overlap_load(t->overlap_of_sweeps, source, err));
    }
    return GBS_OK;
}

gbs_status gbsi_tempered_load(gbsi_tempered *t, gbsi_pool *pool, const gbsi_source *source,
                              gbs_error *err)
{
    taker into = {t, pool};
    return gbsi_take_sealed(source, &into, load, "ladders", err);
}
