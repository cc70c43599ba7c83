/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/quench.h"

#include "base/memory.h"

static gbs_status take_memory(const gbsi_conditioned *model, uint64_t seed, gbsi_watch *watch,
                              gbsi_quench *q, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = model->n_variables;
    GBSI_TRY(gbsi_blocks_new(model, 0, seed, GBSI_BLOCK_PLANS, watch, &q->blocks, err));
    if (q->blocks == NULL) {
        return GBS_OK;
    }
    GBSI_TRY(gbsi_block_lanes_new(q->blocks, gbsi_simd_level(), &q->lanes, err));
    q->x = gbsi_alloc_lanes(n * GBSI_BLOCK_LANES, sizeof *q->x);
    q->one = gbsi_alloc_array(n, sizeof *q->one);
    if (q->x == NULL || q->one == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "quench", n * (GBSI_BLOCK_LANES + 1) * sizeof *q->x));
    }
    gbsi_block_cool(q->lanes);

cleanup:
    return status;
}

gbs_status gbsi_quench_new(const gbsi_conditioned *model, uint64_t seed, gbsi_watch *watch,
                           gbsi_quench **out, gbs_error *err)
{
    *out = NULL;
    gbsi_quench *q = gbsi_alloc_zero(sizeof *q);
    if (q == NULL) {
        return gbsi_no_memory(err, "quench", sizeof *q);
    }
    const gbs_status status = take_memory(model, seed, watch, q, err);
    if (status == GBS_OK && q->blocks != NULL) {
        *out = q;
        return GBS_OK;
    }
    gbsi_quench_free(q);
    return status == GBS_ERR_LIMIT ? GBS_OK : status;
}

void gbsi_quench_free(gbsi_quench *quench)
{
    if (quench == NULL) {
        return;
    }
    gbsi_block_lanes_free(quench->lanes);
    gbsi_blocks_free(quench->blocks);
    gbsi_free(quench->x);
    gbsi_free(quench->one);
    gbsi_free(quench);
}

void gbsi_quench_set(gbsi_quench *quench, uint32_t lane, const uint32_t *x)
{
    for (uint32_t v = 0; v < quench->blocks->model->n_variables; ++v) {
        quench->x[(size_t)v * GBSI_BLOCK_LANES + lane] = x[v];
    }
}

void gbsi_quench_get(const gbsi_quench *quench, uint32_t lane, uint32_t *x)
{
    for (uint32_t v = 0; v < quench->blocks->model->n_variables; ++v) {
        x[v] = quench->x[(size_t)v * GBSI_BLOCK_LANES + lane];
    }
}

/* @return whether a lane's log density rose. */
static bool weigh(gbsi_quench *q)
{
    bool rose = false;
    for (uint32_t lane = 0; lane < GBSI_BLOCK_LANES; ++lane) {
        gbsi_quench_get(q, lane, q->one);
        const double density = gbsi_conditioned_log_density(q->blocks->model, q->one);
        rose |= density > q->density[lane];
        q->density[lane] = density;
    }
    return rose;
}

void gbsi_quench_run(gbsi_quench *q, gbsi_watch *watch)
{
    (void)weigh(q);
    do {
        for (uint32_t plan = 0; plan < q->blocks->n_plans; ++plan) {
            gbsi_block_maximise(q->lanes, plan, q->x);
            if (gbsi_watch_spend(watch, (uint64_t)(q->blocks->plan[plan].operations / 4.0))) {
                (void)weigh(q);
                return;
            }
        }
    } while (weigh(q));
}

uint64_t gbsi_quench_anneal(gbsi_quench *q, const gbsi_quench_schedule *schedule, gbsi_watch *watch)
{
    const uint32_t n_plans = q->blocks->n_plans;
    const uint64_t n = (schedule->n_draws + n_plans - 1) / n_plans;
    float beta[GBSI_BLOCK_LANES];
    gbsi_block_draw draw = {.seed = schedule->seed,
                            .pass = schedule->pass,
                            .chain = schedule->chain,
                            .purpose = GBSI_PURPOSE_BLOCK};
    for (uint64_t t = 1; t <= n && !gbsi_watch_stopped(watch); ++t) {
        const double tau = schedule->tau0 * (1.0 - (double)(t - 1) / (double)n);
        for (uint32_t lane = 0; lane < GBSI_BLOCK_LANES; ++lane) {
            beta[lane] = (float)(1.0 / tau);
        }
        gbsi_block_heat(q->lanes, beta);
        for (uint32_t plan = 0; plan < n_plans; ++plan) {
            gbsi_block_up(q->lanes, plan, q->x);
            gbsi_block_down(q->lanes, &draw, q->x, q->x);
            ++draw.pass;
            (void)gbsi_watch_spend(watch, (uint64_t)(q->blocks->plan[plan].operations / 4.0));
        }
    }
    gbsi_block_cool(q->lanes);
    return draw.pass - schedule->pass;
}

double gbsi_quench_operations(const gbsi_quench *quench)
{
    return gbsi_blocks_operations(quench->blocks) * quench->blocks->n_plans;
}
