/* SPDX-License-Identifier: Apache-2.0 */
/* A state by decimation of loopy belief propagation (Montanari, Ricci-Tersenghi & Semerjian 2007,
 * Solving constraint satisfaction problems through belief propagation-guided decimation, Allerton
 * conference) [M81]. The variables whose marginals are closest to one state get this state. Hard
 * zeros then rule out states of other variables, and the messages are computed again. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "chains/run_options.h"
#include "condition/propagate.h"
#include "search/anneal.h"
#include "trees/decompose.h"
#include "variational/belief.h"

#define FIRST_ROUNDS 100u /* rounds before the first variable is decided */
#define ROUNDS       8u   /* rounds after each step */
#define STEP         16u  /* each step decides one of so many variables */
/* Nanoseconds that the guess may take even if the sweeps have taken less. */
#define LEAST_NS 3e8

/* A free variable and its most probable state. */
typedef struct decision {
    double p;
    uint32_t variable, state;
} decision;

typedef struct guess {
    const gbsi_conditioned *part; /* borrowed */
    gbsi_conditioned *chained;    /* `part` with chains for long factors; NULL if none is long */
    gbsi_watch *watch;
    gbsi_propagation *propagation;
    gbsi_propagator *domains;
    gbsi_belief *messages;
    double *p;          /* [states of `chained` or `part`] */
    decision *decision; /* [n_variables] */
} guess;

static void guess_free(guess *g)
{
    gbsi_belief_free(g->messages);
    gbsi_propagator_free(g->domains);
    gbsi_propagation_free(g->propagation);
    gbsi_conditioned_free(g->chained);
    GBSI_FREE(g->p, g->decision);
}

static const gbsi_conditioned *used_model(const guess *g)
{
    return g->chained != NULL ? g->chained : g->part;
}

static gbs_status guess_begin(guess *g, uint64_t limit, gbs_error *err)
{
    const gbsi_conditioned *part = g->part;
    const gbsi_conditioned *used = used_model(g);
    if (gbsi_belief_bytes(used) > limit) {
        return GBS_ERR_LIMIT;
    }
    GBSI_PASS(gbsi_propagation_new(&part->factors, part->arity, part->n_variables, part->has_zeros,
                                   g->watch, &g->propagation, err));
    GBSI_PASS(gbsi_propagator_new(g->propagation, true, &g->domains, err));
    GBSI_PASS(gbsi_belief_new(used, g->watch, &g->messages, err));
    g->domains->watch = g->watch;
    g->p = gbsi_alloc_array(used->state_offset[used->n_variables], sizeof *g->p);
    g->decision = gbsi_alloc_array(part->n_variables, sizeof *g->decision);
    return GBSI_HAVE(err, "belief propagation", g->p, g->decision);
}

/* Orders decisions by falling probability, and equal ones by variable. */
static int compare(const void *a, const void *b)
{
    const decision *x = a;
    const decision *y = b;
    return x->p != y->p ? (x->p < y->p ? 1 : -1)
                        : (x->variable > y->variable) - (x->variable < y->variable);
}

/* Lists the free variables, the most decided first. @return their number. */
static uint32_t list_decisions(guess *g)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < g->part->n_variables; ++v) {
        const double *p = g->p + g->part->state_offset[v];
        decision best = {.p = -1.0, .variable = v};
        for (uint32_t a = 0; g->domains->size[v] > 1 && a < g->part->arity[v]; ++a) {
            if (gbsi_propagator_has(g->domains, v, a) && p[a] > best.p) {
                best.p = p[a];
                best.state = a;
            }
        }
        if (g->domains->size[v] > 1) {
            g->decision[n++] = best;
        }
    }
    qsort(g->decision, n, sizeof *g->decision, compare);
    return n;
}

/* Sets a variable to a state; if hard zeros forbid this, rules out the state. @return false if
 * nothing is left. */
static bool decide(guess *g, decision d)
{
    const size_t mark = gbsi_propagator_mark(g->domains);
    if (!gbsi_propagator_has(g->domains, d.variable, d.state) ||
        g->domains->size[d.variable] == 1) {
        return true; /* an earlier decision of this step has decided the variable */
    }
    if (gbsi_propagator_assign(g->domains, d.variable, d.state) &&
        gbsi_propagator_run(g->domains) == SIZE_MAX) {
        return true;
    }
    gbsi_propagator_undo(g->domains, mark);
    return gbsi_propagator_remove(g->domains, d.variable, d.state) &&
           gbsi_propagator_run(g->domains) == SIZE_MAX;
}

static void tell_messages(guess *g)
{
    for (uint32_t v = 0; v < g->part->n_variables; ++v) {
        for (uint32_t a = 0; a < g->part->arity[v]; ++a) {
            if (!gbsi_propagator_has(g->domains, v, a)) {
                gbsi_belief_rule_out(g->messages, v, a);
            }
        }
    }
}

/* Decides all variables. @return false if hard zeros leave no state, or if the watch stopped. */
static bool decide_all(guess *g)
{
    for (uint32_t i = 0; i < FIRST_ROUNDS && !gbsi_watch_stopped(g->watch); ++i) {
        (void)gbsi_belief_round(g->messages, gbsi_belief_damping(i));
    }
    for (;;) {
        if (gbsi_watch_stopped(g->watch) || gbsi_belief_marginals(g->messages, g->p, NULL) < 0) {
            return false;
        }
        const uint32_t n = list_decisions(g);
        if (n == 0) {
            return true;
        }
        for (uint32_t i = 0; i < 1 + (n - 1) / STEP; ++i) {
            if (!decide(g, g->decision[i])) {
                return false;
            }
        }
        tell_messages(g);
        for (uint32_t i = 0; i < ROUNDS && !gbsi_watch_stopped(g->watch); ++i) {
            (void)gbsi_belief_round(g->messages, gbsi_belief_damping(FIRST_ROUNDS + i));
        }
    }
}

/* Returns the approximate nanoseconds of the rounds: a step leaves 1 - 1 / STEP of the variables,
 * so that there are about STEP (1 + ln n) steps. */
static double operations_of(const gbsi_conditioned *model)
{
    double steps = STEP;
    for (uint32_t n = model->n_variables; n > 1; n /= 2) {
        steps += 0.7 * STEP;
    }
    return (FIRST_ROUNDS + ROUNDS * steps) * gbsi_belief_operations(model);
}

gbs_status gbsi_search_guess(gbsi_search *s, double operations, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *part = s->run->task.problem.part;
    guess g = {.part = part, .watch = &s->drive.watch};
    bool found = false;
    if (s->at.has_guessed != 0 || s->drive.stop != GBSI_GO_ON) {
        return GBS_OK;
    }
    gbsi_drive_go_on(&s->drive, false);
    GBSI_TRY(gbsi_decompose(part, false, &g.chained, err));
    if (operations_of(used_model(&g)) <= (operations > LEAST_NS ? operations : LEAST_NS)) {
        status = guess_begin(&g, gbsi_options_memory_limit(&s->run->task.options) / 4, err);
        found = status >= 0 && decide_all(&g);
        s->at.has_guessed = s->drive.stop == GBSI_GO_ON;
    }
    if (found) {
        for (uint32_t v = 0; v < part->n_variables; ++v) {
            s->x[v] = gbsi_propagator_next(g.domains, v, 0);
        }
        GBSI_TRY(gbsi_search_consider(s, gbsi_conditioned_log_density(part, s->x), err));
    }
    /* a search goes on without a guess if belief propagation does not fit */
    status = status == GBS_ERR_LIMIT || status == GBS_ERR_UNSUPPORTED || status == GBS_ERR_STOPPED
                 ? GBS_OK
                 : status;

cleanup:
    guess_free(&g);
    return status;
}
