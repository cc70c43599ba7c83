/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "search/anneal.h"

enum { NUMBER = 8 };

static size_t n_lanes(const gbsi_search *s)
{
    return (size_t)s->run->task.problem.part->n_variables * GBSI_BLOCK_LANES;
}

gbs_status gbsi_search_consider(gbsi_search *s, double density, gbs_error *err)
{
    if (!(density > s->at.best)) {
        return GBS_OK;
    }
    s->at.best = density;
    memcpy(s->best_x, s->x, s->run->task.problem.part->n_variables * sizeof *s->x);
    gbsi_part_user_state(s->run->task.problem.part, s->x, s->state);
    return s->callbacks->improve == NULL
               ? GBS_OK
               : s->callbacks->improve(s->callbacks->context, s->at.best + s->at.offset, s->state,
                                       err);
}

gbs_status gbsi_search_plan(gbsi_search *s, gbs_error *err)
{
    s->may_quench = false;
    gbsi_drive_go_on(&s->drive, false);
    return gbsi_quench_new(s->run->task.problem.part, s->at.tau0, s->run->task.options.seed,
                           &s->drive.watch, &s->quench, err);
}

gbs_status gbsi_search_save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_search *s = object;
    const gbsi_search_standing *at = s->raising ? &s->kept : &s->at;
    GBSI_PASS(gbsi_put_numbers(sink, at, sizeof *at / NUMBER, NUMBER, err));
    GBSI_PASS(gbsi_put_numbers(sink, s->state, s->run->task.problem.model->n_variables,
                               sizeof *s->state, err));
    GBSI_PASS(gbsi_put_numbers(sink, s->raising ? s->kept_x : s->best_x,
                               s->run->task.problem.part->n_variables, sizeof *s->best_x, err));
    if (at->stage == GBSI_STAGE_COOL) {
        GBSI_PASS(gbsi_put_numbers(sink, s->raising ? s->kept_lanes : s->quench->x, n_lanes(s),
                                   sizeof *s->kept_lanes, err));
    }
    return GBS_OK;
}

/* Loads states, and checks their range because they are used as indices. @param lanes number of
 * states of each variable. */
static gbs_status take_states(const gbsi_source *source, uint32_t *x, size_t n, size_t lanes,
                              const uint32_t *arity, gbs_error *err)
{
    GBSI_PASS(gbsi_take_numbers(source, x, n * lanes, sizeof *x, err));
    for (size_t i = 0; i < n * lanes; ++i) {
        if (x[i] >= arity[i / lanes]) {
            return gbsi_fail(err, GBS_ERR_FORMAT, "the saved search is damaged: state %u of %u",
                             x[i], arity[i / lanes]);
        }
    }
    return GBS_OK;
}

gbs_status gbsi_search_load(void *object, const gbsi_source *source, gbs_error *err)
{
    gbsi_search *s = object;
    const gbs_model *model = s->run->task.problem.model;
    const gbsi_conditioned *part = s->run->task.problem.part;
    GBSI_PASS(gbsi_take_numbers(source, &s->at, sizeof s->at / NUMBER, NUMBER, err));
    if (s->at.stage > GBSI_STAGE_OVER) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "the saved search is damaged: no such stage");
    }
    if (s->at.bound_rounds > GBSI_MOST_BOUND_ROUNDS || isnan(s->at.upper)) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "the saved search is damaged: no such upper bound");
    }
    GBSI_PASS(take_states(source, s->state, model->n_variables, 1, model->arity, err));
    GBSI_PASS(take_states(source, s->best_x, part->n_variables, 1, part->arity, err));
    gbsi_part_user_state(part, s->best_x, s->state);
    if (s->at.has_plans != 0) {
        GBSI_PASS(gbsi_search_plan(s, err));
    }
    if (s->quench == NULL && (s->at.has_plans != 0 || s->at.stage == GBSI_STAGE_COOL)) {
        GBSI_PASS(s->drive.stop != GBSI_GO_ON
                      ? gbsi_stopped_early(&s->drive, "planning blocks", err)
                      : gbsi_fail(err, GBS_ERR_LIMIT,
                                  "the blocks of the checkpoint's search do not fit the memory "
                                  "limit"));
    }
    if (s->at.stage == GBSI_STAGE_COOL) {
        GBSI_PASS(take_states(source, s->quench->x, part->n_variables, GBSI_BLOCK_LANES,
                              part->arity, err));
    }
    return GBS_OK;
}

gbs_status gbsi_search_keep(gbsi_search *s, gbs_error *err)
{
    const bool ends = s->drive.stop != GBSI_GO_ON;
    if (s->closed) {
        return GBS_OK;
    }
    s->closed = ends;
    s->run->checkpoints.best = (s->raising ? s->kept.best : s->at.best) + s->at.offset;
    return gbsi_run_keep(s->run, &s->drive, ends ? GBSI_AFTER_PASSES : GBSI_AFTER_PASS, err);
}

void gbsi_search_mark(gbsi_search *s)
{
    if (s->kept_x != NULL) {
        s->kept = s->at;
        memcpy(s->kept_x, s->best_x, s->run->task.problem.part->n_variables * sizeof *s->kept_x);
        memcpy(s->kept_lanes, s->quench->x, n_lanes(s) * sizeof *s->kept_lanes);
        s->raising = true;
    }
}
