/* SPDX-License-Identifier: Apache-2.0 */
/* Divides a model among ranks: conditions it on the evidence, gives every variable to a rank, and
 * makes the schedule that a run of one process would have. */
#include "drive/partition.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/digest.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "chains/run_options.h"
#include "drive/run_memory.h"
#include "plan/compile.h"
#include "ranks/share_run.h"
#include "reference/enumerate.h"

void gbs_partition_free(gbs_partition *p)
{
    if (p != NULL) {
        gbsi_schedule_free(&p->schedule);
        gbs_run_free(p->run);
        gbsi_deal_free(&p->deal);
        if (p->lattice != NULL) {
            gbsi_share_lattice_free(p->lattice);
            gbsi_free(p->lattice);
        }
        GBSI_FREE(p->owner, p->start, p);
    }
}

/* ---- what is refused ----------------------------------------------------------------------- */

static gbs_status refuse(const char *option, const char *why, gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED, "a model on several ranks: %s: %s", option, why);
}

gbs_status gbsi_share_options(const gbs_run_options *options, gbs_run_options *out, gbs_error *err)
{
    GBSI_PASS(gbsi_options_take(options, out, err));
    if (out->method != GBS_METHOD_AUTO && out->method != GBS_METHOD_SAMPLE) {
        return refuse("--method", "only sample", err);
    }
    if (out->lattice == GBS_LATTICE_ALWAYS) {
        return refuse("--lattice always", "spins with one bit each are on one process", err);
    }
    if (out->temper > GBS_TEMPER_OFF) {
        return refuse("--temper", "ladders of temperatures need the whole model on every rank",
                      err);
    }
    if (out->scan == GBS_SCAN_AUTO) {
        return refuse("--scan auto", "its pilot run may choose splashes: name a scan", err);
    }
    if (out->estimator == GBS_ESTIMATOR_TRACES) {
        return refuse("--estimator traces", "use count or rao-blackwell", err);
    }
    if (out->certified > 0.0 || out->restarts || out->partial_scan || out->start != NULL) {
        return refuse(out->start != NULL     ? "--start"
                      : out->certified > 0.0 ? "--certified"
                      : out->partial_scan    ? "--partial-scan"
                                             : "--restarts",
                      "needs the whole model in one process", err);
    }
    if ((gbsi_draw_traits(out) & GBSI_DRAW_THRESHOLD) != 0 &&
        out->threshold == GBS_THRESHOLD_AUTO) {
        return refuse("--threshold auto", "trial runs are on one process: give a number", err);
    }
    if (out->locking == GBS_LOCKING_BLANKET) {
        return refuse("--locking blanket", "threads would decide what splashes draw", err);
    }
    out->method = GBS_METHOD_SAMPLE;
    out->lattice = GBS_LATTICE_NEVER;
    return GBS_OK;
}

gbs_status gbsi_share_check_scan(const gbsi_engine *engine, gbs_error *err)
{
    if ((engine->scan_traits & GBSI_SCAN_CLUSTERS) != 0) {
        return refuse("--scan cluster or wolff", "clusters cross the parts of a model", err);
    }
    return (engine->scan_traits & GBSI_SCAN_AT_ONCE) == 0
               ? GBS_OK
               : refuse("--scan synchronous",
                        "a model of more than two colours, and a draw other than random, are on "
                        "one process",
                        err);
}

static gbs_status check_scan(const gbs_partition *p, uint32_t n_ranks, gbs_error *err)
{
    const gbs_run *run = p->run;
    if (run->task.problem.part == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "a model on several ranks: evidence fixes every variable");
    }
    if (n_ranks == 0 || n_ranks > run->task.problem.part->n_variables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "a model on several ranks: %u rank%s for %u sampled variable%s", n_ranks,
                         gbsi_plural(n_ranks), run->task.problem.part->n_variables,
                         gbsi_plural(run->task.problem.part->n_variables));
    }
    if ((run->sampling.engine.scan_traits & (GBSI_SCAN_REPEATS | GBSI_SCAN_BLOCKS)) == 0) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "a model on several ranks: scan %s has other updates in every pass: use "
                         "--scan %s, systematic, splash or a file",
                         run->sampling.engine.scan->name, gbsi_scan_base_name());
    }
    if (run->task.problem.graph != run->task.problem.whole_graph) {
        return refuse("--draw", "keys beyond the neighbours of a variable see the whole model",
                      err);
    }
    return gbsi_share_check_scan(&run->sampling.engine, err);
}

/* Checks the support. If it is not proved that updates of single variables cross all hard zeros, a
 * single process starts a pilot, which may choose splashes. Ranks that share a model have no pilot.
 */
static gbs_status check_support(gbs_partition *p, bool named, gbs_error *err)
{
    gbs_run *run = p->run;
    run->task.problem.support = GBSI_SUPPORT_CONNECTED;
    if (run->report.public.has_zeros) {
        GBSI_PASS(gbsi_components_support(run->task.problem.components, run->task.problem.exact,
                                          NULL, GBSI_ENUMERATE_AUTO_STATES,
                                          &run->task.problem.support, err));
    }
    if (run->task.problem.support != GBSI_SUPPORT_CONNECTED && !named) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "a model on several ranks: updates of single variables were not shown to "
                         "cross all hard zeros, and pilot runs are on one process: name a scan "
                         "(--scan %s) to go on with it",
                         gbsi_scan_base_name());
    }
    return GBS_OK;
}

/* ---- facts --------------------------------------------------------------------------------- */

/* Sets facts.partition, which identifies the partition: the first 64 bits of a digest of the model,
 * the evidence, the scan and the owners. */
static gbs_status take_number(gbs_partition *p, gbs_error *err)
{
    const gbsi_conditioned *part = p->run->task.problem.part;
    char text[33];
    gbsi_digest *digest = NULL;
    GBSI_PASS(gbsi_digest_new(&digest, err));
    gbsi_digest_bytes(digest, gbs_model_digest(p->run->task.problem.model), sizeof text - 1);
    gbsi_digest_u32(digest, p->schedule.slot, p->schedule.n_places);
    gbsi_digest_u32(digest, p->owner, part->n_variables);
    gbsi_digest_u32(digest, part->user_variable, part->n_variables);
    for (uint32_t v = 0; v < part->n_variables; ++v) {
        gbsi_digest_u32(digest, gbsi_conditioned_states(part, v), part->arity[v]);
    }
    gbsi_digest_text(digest, text);
    text[16] = '\0';
    p->facts.partition = strtoull(text, NULL, 16);
    gbsi_digest_free(digest);
    return GBS_OK;
}

static bool has_names(const gbs_model *model)
{
    return model->name != NULL || model->label != NULL;
}

static uint64_t count_runs(const gbsi_plan *plan)
{
    uint64_t n = 0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        n += slot == 0 || gbsi_plan_arity(plan, slot) != gbsi_plan_arity(plan, slot - 1);
    }
    return n;
}

/* Stores a digest as two numbers of 8 bytes. @param text [33] a digest, or "". */
static void keep_digest(const char *text, uint64_t out[2])
{
    char half[17] = "";
    for (size_t i = 0; i < 2; ++i) {
        memcpy(half, text + (text[0] == '\0' ? 0 : i * 16), text[0] == '\0' ? 1 : 16);
        out[i] = strtoull(half, NULL, 16);
    }
}

static uint64_t count_cells(const gbsi_conditioned *part)
{
    uint64_t n = 0;
    for (uint32_t v = 0; v < part->n_variables; ++v) {
        n += part->arity[v] == 2 ? 1 : part->arity[v];
    }
    return n;
}

static gbsi_share_facts number_facts(const gbs_partition *p, uint32_t n_ranks)
{
    const gbs_run *run = p->run;
    const gbs_model *model = run->task.problem.model;
    const gbsi_conditioned *part = run->task.problem.part;
    const gbsi_plan *plan = run->sampling.engine.plan;
    return (gbsi_share_facts){
        .n_ranks = n_ranks,
        .n_user_variables = model->n_variables,
        .n_user_states = model->state_offset[model->n_variables],
        .max_user_arity = gbsi_largest(model->arity, model->n_variables),
        .n_free = part->n_variables,
        .n_factors = part->factors.n_factors,
        .n_states = part->state_offset[part->n_variables],
        .n_cells = count_cells(part),
        .max_arity = plan->max_arity,
        .n_components = run->report.public.n_components,
        .n_colors = run->report.public.n_colors,
        .n_places = p->schedule.n_places,
        .n_batches = p->schedule.n_batches,
        .n_precise = plan->n_noisy > 0 ? 0 : plan->n_of_class[GBSI_CLASS_PRECISE],
        .scan = (uint64_t)run->task.options.scan,
        .each_once = (run->sampling.engine.scan_traits & GBSI_SCAN_EACH_ONCE) != 0,
        .has_zeros = run->report.public.has_zeros != 0,
        .support = run->task.problem.support,
        .searched = run->report.public.has_zeros || part->cpt != NULL,
        .named = has_names(model),
        .log_constant = part->log_constant,
        .density_units = plan->density_units};
}

static gbsi_share_facts facts_of(const gbs_partition *p, uint32_t n_ranks)
{
    const gbs_run *run = p->run;
    gbsi_share_facts facts = number_facts(p, n_ranks);
    facts.n_runs = count_runs(run->sampling.engine.plan);
    keep_digest(gbs_model_digest(run->task.problem.model), facts.model);
    keep_digest(run->checkpoints.input[GBSI_INPUT_EVIDENCE], facts.evidence);
    keep_digest(run->checkpoints.input[GBSI_INPUT_SCAN], facts.sequence);
    return facts;
}

/* ---- made ---------------------------------------------------------------------------------- */

/* Makes one batch for each turn; the batch has all variables of the ranks that have this turn. */
static gbs_status list_turns(gbs_partition *p, const gbsi_sequence *sequence, uint32_t n_ranks,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *turn = gbsi_alloc_array(n_ranks, sizeof *turn);
    uint32_t *batch = gbsi_alloc_array(sequence->n, sizeof *batch);
    GBSI_TRY(GBSI_HAVE(err, "partition", turn, batch));
    GBSI_TRY(
        gbsi_turns_of_ranks(&p->run->task.problem.part->factors, p->owner, n_ranks, turn, err));
    for (size_t t = 0; t < sequence->n; ++t) {
        batch[t] = turn[p->owner[sequence->variable[t]]];
    }
    GBSI_TRY(gbsi_plan_batches(p->run->sampling.engine.plan, sequence->variable, batch, sequence->n,
                               &p->schedule, err));
cleanup:
    GBSI_FREE(turn, batch);
    return status;
}

/* Makes the schedule. Its batches have the places of a pass, or turns if the scan draws blocks. */
static gbs_status list_places(gbs_partition *p, uint32_t n_ranks, gbs_error *err)
{
    gbsi_sequence sequence = {0};
    gbs_run *run = p->run;
    GBSI_PASS(
        run->sampling.engine.scan->next_pass(run->sampling.engine.scan_state, 0, &sequence, err));
    p->schedule.wants_position = true;
    if ((run->sampling.engine.scan_traits & GBSI_SCAN_BLOCKS) != 0) {
        GBSI_PASS(list_turns(p, &sequence, n_ranks, err));
    } else {
        GBSI_PASS(gbsi_plan_level(run->sampling.engine.plan, sequence.variable, sequence.n,
                                  &p->schedule, err));
    }
    gbsi_free(p->schedule.scratch);
    p->schedule.scratch = NULL;
    p->schedule.scratch_capacity = 0;
    return GBS_OK;
}

/* Frees data of the run that no share needs: the graph, the components, the sequence, and the
 * neighbourhoods of the plan. */
static void forget(gbsi_problem *problem, gbsi_engine *engine)
{
    if (problem->graph != problem->whole_graph) {
        gbsi_graph_free(problem->graph);
    }
    gbsi_graph_free(problem->whole_graph);
    gbsi_problem_forget_components(problem);
    problem->graph = problem->whole_graph = NULL;
    engine->scan->free(engine->scan_state);
    engine->scan_state = NULL;
    gbsi_plan_keep_slots(engine->plan);
}

static gbs_status deal(gbs_partition *p, uint32_t n_ranks, gbs_error *err)
{
    const gbsi_deal_source source = {.part = p->run->task.problem.part,
                                     .plan = p->run->sampling.engine.plan,
                                     .schedule = &p->schedule,
                                     .owner = p->owner,
                                     .n_ranks = n_ranks};
    forget(&p->run->task.problem, &p->run->sampling.engine);
    return gbsi_deal_init(&p->deal, &source, err);
}

gbs_status gbsi_partition_begin(const gbs_model *model, const gbs_evidence *evidence,
                                const gbs_run_options *options, uint32_t n_ranks, gbs_parts parts,
                                gbs_partition **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run_options taken;
    if (gbs_parts_name(parts) == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "parts: found a number that is no gbs_parts");
    }
    gbs_partition *p = gbsi_alloc_zero(sizeof *p);
    GBSI_PASS(GBSI_HAVE(err, "partition", p));
    GBSI_TRY(gbsi_share_options(options, &taken, err));
    GBSI_TRY(gbsi_run_begin(model, &taken, &p->run, err));
    p->run->task.purpose.divides = true;
    GBSI_TRY(gbsi_run_prepare(p->run, evidence, err));
    GBSI_TRY(
        gbsi_run_note_inputs(&p->run->task.problem, &p->run->checkpoints, evidence, &taken, err));
    GBSI_TRY(check_scan(p, n_ranks, err));
    GBSI_TRY(check_support(p, gbsi_scan_choice_of(taken.scan) == GBSI_CHOICE_NAMED, err));
    p->owner = gbsi_alloc_array(p->run->task.problem.part->n_variables, sizeof *p->owner);
    if (p->owner == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "partition",
                                p->run->task.problem.part->n_variables * sizeof *p->owner));
    }
    GBSI_TRY(gbsi_partition(p->run->task.problem.graph, n_ranks, (gbsi_partition_kind)parts, NULL,
                            p->owner, &p->kind, err));
    *out = p;
    p = NULL;
cleanup:
    if (p != NULL && p->run != NULL) {
        gbsi_run_leave(&p->run->budget);
    }
    if (status >= 0) {
        gbsi_run_leave(&(*out)->run->budget);
    }
    gbs_partition_free(p);
    return status;
}

gbs_status gbsi_partition_end(gbs_partition *p, uint32_t n_ranks, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_run_enter(&p->run->budget);
    gbsi_mapping_rest(
        &p->run->task.problem.model->mapping); /* the slots of variables depend on the graph */
    GBSI_TRY(list_places(p, n_ranks, err));
    p->facts = facts_of(p, n_ranks);
    GBSI_TRY(take_number(p, err));
    GBSI_TRY(deal(p, n_ranks, err));
cleanup:
    gbsi_run_leave(&p->run->budget);
    return status;
}

gbs_status gbs_partition_new(const gbs_model *model, const gbs_evidence *evidence,
                             const gbs_run_options *options, uint32_t n_ranks, gbs_parts parts,
                             gbs_partition **partition, gbs_error *err)
{
    GBSI_NEED(model, partition);
    gbs_status status = GBS_OK;
    gbs_partition *p = NULL;
    GBSI_TRY(gbsi_partition_begin(model, evidence, options, n_ranks, parts, &p, err));
    GBSI_TRY(gbsi_partition_end(p, n_ranks, err));
    *partition = p;
    p = NULL;
cleanup:
    gbs_partition_free(p);
    return status;
}

static gbs_status new_of_grid(const gbsi_grid_model *grid, uint32_t n_ranks, gbs_partition **out,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    gbs_partition *p = gbsi_alloc_zero(sizeof *p);
    GBSI_TRY(GBSI_HAVE(err, "partition", p));
    p->lattice = gbsi_alloc_zero(sizeof *p->lattice);
    GBSI_TRY(GBSI_HAVE(err, "partition", p->lattice));
    GBSI_TRY(
        gbsi_share_lattice_init(p->lattice, grid, n_ranks, gbsi_scan_with(GBSI_SCAN_BASE), err));
    p->kind = GBSI_PARTITION_BISECTION;
    p->facts = p->lattice->facts;
    *out = p;
    p = NULL;
cleanup:
    gbs_partition_free(p);
    gbsi_budget_leave(before);
    return status;
}

gbs_status gbs_partition_new_of_ising(const gbs_generate_ising_options *lattice, uint32_t n_ranks,
                                      gbs_partition **partition, gbs_error *err)
{
    GBSI_NEED(lattice, partition);
    gbsi_grid_model grid;
    const gbs_status status = gbsi_grid_of_ising(lattice, &grid, err);
    return status < 0 ? status : new_of_grid(&grid, n_ranks, partition, err);
}

gbs_status gbs_partition_new_of_potts(const gbs_generate_potts_options *lattice, uint32_t n_ranks,
                                      gbs_partition **partition, gbs_error *err)
{
    GBSI_NEED(lattice, partition);
    gbsi_grid_model grid;
    const gbs_status status = gbsi_grid_of_potts(lattice, &grid, err);
    return status < 0 ? status : new_of_grid(&grid, n_ranks, partition, err);
}

gbs_status gbs_partition_find_starts(gbs_partition *p, uint32_t n_chains, gbs_error *err)
{
    GBSI_NEED(p);
    if (p->facts.searched == 0) {
        return GBS_OK;
    }
    gbs_status status = GBS_OK;
    const gbsi_conditioned *part = p->run->task.problem.part;
    const size_t n = part->n_variables;
    const bool splits = (p->run->sampling.engine.scan_traits & GBSI_SCAN_SPLITS) != 0;
    const size_t n_starts = (splits ? 2 : 1) * (size_t)n_chains;
    gbsi_starter *starter = NULL;
    uint32_t *x = NULL;
    gbsi_free(p->start);
    p->facts.n_starts = 0;
    x = gbsi_alloc_array(n, sizeof *x);
    p->start = gbsi_alloc_array(n_starts * n, sizeof *p->start);
    GBSI_TRY(GBSI_HAVE(err, "starts", x, p->start));
    GBSI_TRY(gbsi_starter_new(part, p->run->task.options.seed, NULL, &starter, err));
    for (size_t chain = 0; chain < n_starts; ++chain) {
        GBSI_TRY(gbsi_starter_draw(starter, (uint32_t)chain, 0, x, err));
        for (size_t v = 0; v < n; ++v) {
            p->start[chain * n + v] = (uint16_t)x[v];
        }
    }
    p->facts.n_starts = n_starts;
    p->facts.seed = p->run->task.options.seed;
cleanup:
    gbsi_starter_free(starter);
    gbsi_free(x);
    return status;
}

gbs_status gbs_partition_share(const gbs_partition *p, uint32_t rank, gbs_share **share,
                               gbs_error *err)
{
    GBSI_NEED(p, share);
    if (rank >= p->facts.n_ranks) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "rank %u of %u", rank, (unsigned)p->facts.n_ranks);
    }
    if (p->lattice != NULL) {
        gbsi_budget budget;
        gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
        const gbs_status status = gbsi_share_of_lattice(p->lattice, rank, share, err);
        gbsi_budget_leave(before);
        return status;
    }
    const gbsi_share_source source = {.part = p->run->task.problem.part,
                                      .plan = p->run->sampling.engine.plan,
                                      .deal = &p->deal,
                                      .schedule = &p->schedule,
                                      .owner = p->owner,
                                      .start = p->start,
                                      .facts = p->facts};
    return gbsi_share_make(&source, rank, share, err);
}

const char *gbs_parts_name(gbs_parts parts)
{
    _Static_assert((int)GBS_PARTS_INTERVALS == (int)GBSI_PARTITION_INTERVALS, "the same rules");
    return (unsigned)parts < (unsigned)GBSI_N_PARTITION_KINDS
               ? gbsi_partition_name((gbsi_partition_kind)parts)
               : NULL;
}

const char *gbs_partition_kind(const gbs_partition *p)
{
    return p == NULL ? NULL : gbsi_partition_name(p->kind);
}
