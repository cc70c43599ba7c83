/* SPDX-License-Identifier: Apache-2.0 */
#include "search/quench.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "condition/soften.h"

/* The penalty of a violated zero, in units of tau0. With a smaller penalty, states that violate a
 * zero become the most probable; with a much larger one, blocks seldom cross a zero. Values of 12
 * to 20 found the same states. */
#define PENALTY 15.0
#define FIRM    1000.0

/* The model by which states are compared. It has no zeros, which makes all differences of log
 * densities finite. */
static const gbsi_conditioned *firm(const gbsi_quench *q)
{
    return q->firm != NULL ? q->firm : q->model;
}

static gbs_status take_memory(const gbsi_conditioned *model, double tau0, uint64_t seed,
                              gbsi_watch *watch, gbsi_quench *q, gbs_error *err)
{
    const size_t n = model->n_variables;
    q->model = model;
    if (memchr(model->has_zeros, 1, model->factors.n_factors) != NULL) {
        GBSI_PASS(gbsi_soften(model, INFINITY, PENALTY * tau0, &q->soft, err));
        GBSI_PASS(gbsi_soften(model, INFINITY, FIRM * tau0, &q->firm, err));
    }
    GBSI_PASS(gbsi_blocks_new(q->soft != NULL ? q->soft : model, 0, seed, GBSI_BLOCK_PLANS, watch,
                              &q->blocks, err));
    if (q->blocks == NULL) {
        return GBS_OK;
    }
    GBSI_PASS(gbsi_block_lanes_new(q->blocks, gbsi_simd_level(), &q->lanes, err));
    q->x = gbsi_alloc_lanes(n * GBSI_BLOCK_LANES, sizeof *q->x);
    q->one = gbsi_alloc_array(n, sizeof *q->one);
    q->other = gbsi_alloc_array(n, sizeof *q->other);
    GBSI_PASS(GBSI_HAVE(err, "quench", q->x, q->one, q->other));
    return gbsi_crossover_init(&q->crossover, firm(q), err);
}

gbs_status gbsi_quench_new(const gbsi_conditioned *model, double tau0, uint64_t seed,
                           gbsi_watch *watch, gbsi_quench **out, gbs_error *err)
{
    *out = NULL;
    gbsi_quench *q = gbsi_alloc_zero(sizeof *q);
    GBSI_PASS(GBSI_HAVE(err, "quench", q));
    const gbs_status status = take_memory(model, tau0, seed, watch, q, err);
    if (status == GBS_OK && q->blocks != NULL) {
        *out = q;
        return GBS_OK;
    }
    gbsi_quench_free(q);
    return status == GBS_ERR_LIMIT || status == GBS_ERR_STOPPED ? GBS_OK : status;
}

void gbsi_quench_free(gbsi_quench *quench)
{
    if (quench == NULL) {
        return;
    }
    gbsi_block_lanes_free(quench->lanes);
    gbsi_blocks_free(quench->blocks);
    gbsi_softened_free(quench->soft);
    gbsi_softened_free(quench->firm);
    GBSI_FREE(quench->x, quench->one, quench->other);
    gbsi_crossover_free(&quench->crossover);
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

/* Updates the largest log density that each lane has had. @return whether the log density of some
 * lane rose by more than rounding. Without this margin, maximisation could cycle among equal
 * states. */
static bool weigh(gbsi_quench *q, const gbsi_conditioned *model, double most[GBSI_BLOCK_LANES])
{
    bool rose = false;
    for (uint32_t lane = 0; lane < GBSI_BLOCK_LANES; ++lane) {
        gbsi_quench_get(q, lane, q->one);
        const double density = gbsi_conditioned_log_density(model, q->one);
        if (density > most[lane] + 1e-12 * fabs(most[lane])) {
            most[lane] = density;
            rose = true;
        }
    }
    return rose;
}

/* Raises the states of all lanes under the weights of one model, by maximising over blocks.
 * @return the number of operations left. */
static double raise_lanes(gbsi_quench *q, const gbsi_conditioned *model, double operations,
                          gbsi_watch *watch)
{
    double most[GBSI_BLOCK_LANES];
    for (uint32_t lane = 0; lane < GBSI_BLOCK_LANES; ++lane) {
        most[lane] = -DBL_MAX;
    }
    gbsi_block_cool(q->lanes, model);
    while (weigh(q, model, most) && operations > 0.0) {
        for (uint32_t i = 0; i < q->blocks->n_plans && operations > 0.0; ++i) {
            gbsi_block_maximise(q->lanes, i, q->x);
            operations -= q->blocks->plan[i].operations;
            if (gbsi_watch_spend(watch, (uint64_t)(q->blocks->plan[i].operations / 4.0))) {
                return 0.0;
            }
        }
    }
    return operations;
}

static uint32_t best_lane(gbsi_quench *q)
{
    uint32_t best = 0;
    double most = -INFINITY;
    for (uint32_t lane = 0; lane < GBSI_BLOCK_LANES; ++lane) {
        gbsi_quench_get(q, lane, q->one);
        const double density = gbsi_conditioned_log_density(firm(q), q->one);
        best = density > most ? lane : best;
        most = density > most ? density : most;
    }
    return best;
}

/* Combines lanes by crossover. @return whether the best lane rose. */
static bool combine(gbsi_quench *q)
{
    const uint32_t best = best_lane(q);
    bool rose = false;
    gbsi_quench_get(q, best, q->one);
    for (uint32_t lane = 0; lane < GBSI_BLOCK_LANES; ++lane) {
        gbsi_quench_get(q, lane, q->other);
        rose |= gbsi_crossover_take(&q->crossover, q->one, q->other);
    }
    gbsi_quench_set(q, best, q->one);
    return rose;
}

void gbsi_quench_run(gbsi_quench *q, double operations, gbsi_watch *watch)
{
    double left = operations;
    if (q->soft != NULL) {
        left = 0.5 * operations + raise_lanes(q, q->soft, 0.5 * operations, watch);
    }
    left = raise_lanes(q, firm(q), left, watch);
    if (combine(q)) {
        (void)raise_lanes(q, firm(q), left, watch);
    }
    for (uint32_t lane = 0; lane < GBSI_BLOCK_LANES; ++lane) {
        gbsi_quench_get(q, lane, q->one);
        q->density[lane] = gbsi_conditioned_log_density(q->model, q->one);
    }
}

uint64_t gbsi_quench_steps(const gbsi_quench *q, uint64_t n_draws)
{
    return (n_draws + q->blocks->n_plans - 1) / q->blocks->n_plans;
}

uint64_t gbsi_quench_cool(gbsi_quench *q, const gbsi_quench_schedule *schedule, uint64_t t,
                          gbsi_watch *watch)
{
    const uint32_t n_plans = q->blocks->n_plans;
    const uint64_t n = gbsi_quench_steps(q, schedule->n_draws);
    const double tau = schedule->tau0 * (1.0 - (double)(t - 1) / (double)n);
    float beta[GBSI_BLOCK_LANES];
    gbsi_block_draw draw = {.seed = schedule->seed,
                            .pass = schedule->pass + (t - 1) * n_plans,
                            .chain = schedule->chain,
                            .purpose = GBSI_PURPOSE_BLOCK};
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
    return n_plans;
}

double gbsi_quench_operations(const gbsi_quench *quench)
{
    return gbsi_blocks_operations(quench->blocks) * quench->blocks->n_plans;
}
