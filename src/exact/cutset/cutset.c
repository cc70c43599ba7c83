/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses a cutset by counted work: the table entries of the remaining variables times the number
 * of cases. */
#include "cutset/cutset.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "condition/propagate.h"
#include "simd/math.h"

/* Limit on the number of chosen variables. The cutset may have more variables, whose states follow
 * from the chosen ones */
#define MOST_VARIABLES 32u
#define FEW_CASES      16.0 /* a cutset of at most this number of cases is always allowed */
#define MOST_CASES     0x1p13
#define MOST_SCOPE     (UINT64_C(1) << 16) /* most states of a factor that is cut */
#define MOST_SAVED     256.0 /* largest ratio by which hard zeros are expected to reduce the work */
#define PATIENCE       4u    /* largest number of successive choices that do not lower the work */
#define TRIAL_STEPS    (UINT64_C(1) << 24) /* limit on steps of a search for an order */
#define TRIAL_SHARE    32.0 /* a search takes at most most_entries / TRIAL_SHARE steps */

typedef struct choosing {
    const gbsi_components *components;
    uint32_t component;
    const gbsi_cutset_limits *limits;
    double most_entries; /* limit on the table entries of all cases together */
    gbsi_propagation *hard;
    gbsi_propagator *domain;
    gbsi_cases cases;
    uint8_t *left_out; /* [whole variables] 1: the variable is in the cutset */
    uint8_t *barred;   /* [whole variables] 1: the variable must not be chosen, because one of its
                          factors is too large */
    double
        *n_states; /* [whole variables] remaining states of the variable, summed over the cases */
    double *gain; /* [whole variables] number of table entries that the cliques lose if the variable
                     is removed */
    uint32_t *local; /* [whole variables] number of the variable in the model of the rest */
} choosing;

/* The rest of the component, which is the model without the cutset, with an elimination order. */
typedef struct trial {
    gbsi_conditioned *rest;
    gbsi_exact_plan *plan;
    double entries; /* table entries of all cases together */
} trial;

static void trial_free(trial *t)
{
    gbsi_exact_plan_free(t->plan);
    gbsi_conditioned_free(t->rest);
    *t = (trial){0};
}

static void cases_free(gbsi_cases *cases)
{
    GBSI_FREE(cases->variable, cases->state);
    *cases = (gbsi_cases){0};
}

/* ---- cases --------------------------------------------------------------------------------- */

/* Allocates room for `most` cases; none is stored yet. */
static gbs_status cases_new(uint32_t n_variables, size_t most, gbsi_cases *cases, gbs_error *err)
{
    const size_t bytes = n_variables * sizeof *cases->state; /* number of bytes of one case */
    *cases = (gbsi_cases){.n_variables = n_variables};
    cases->variable = gbsi_alloc_array(n_variables, sizeof *cases->variable);
    cases->state = gbsi_alloc_array(most, bytes);
    if (cases->variable == NULL || cases->state == NULL) {
        cases_free(cases);
        return gbsi_no_memory(err, "cutset", most * bytes);
    }
    return GBS_OK;
}

static gbs_status copy_cases(const gbsi_cases *from, gbsi_cases *to, gbs_error *err)
{
    const size_t bytes = from->n_variables * sizeof *from->state;
    const gbs_status status = cases_new(from->n_variables, from->n, to, err);
    if (status == GBS_OK) {
        memcpy(to->variable, from->variable, bytes);
        memcpy(to->state, from->state, from->n * bytes);
        to->n = from->n;
    }
    return status;
}

static gbs_status look(const choosing *s, gbs_error *err)
{
    return gbsi_watch_work(s->limits->watch, 64 * (uint64_t)s->components->largest,
                           "looking for a cutset", err);
}

/* Propagates the states of a case, so that s->domain holds the remaining states of all variables.
 * If the watch stops the propagation, the domains are undefined. */
static void enter_case(const choosing *s, size_t at)
{
    const gbsi_cases *c = &s->cases;
    gbsi_propagator_undo(s->domain, 0);
    for (uint32_t k = 0; k < c->n_variables; ++k) {
        (void)gbsi_propagator_assign(s->domain, c->variable[k], c->state[at * c->n_variables + k]);
    }
    (void)gbsi_propagator_run(s->domain);
}

static void count_states(const choosing *s)
{
    const gbsi_components *c = s->components;
    for (size_t i = c->variable_start[s->component]; i < c->variable_start[s->component + 1]; ++i) {
        s->n_states[c->variable[i]] += s->domain->size[c->variable[i]];
    }
}

/* Adds to `longer` the case `at` extended by v in state a, unless propagation rules the extended
 * case out. */
static void try_case(const choosing *s, size_t at, uint32_t v, uint32_t a, gbsi_cases *longer)
{
    const gbsi_cases *c = &s->cases;
    const size_t mark = gbsi_propagator_mark(s->domain);
    if (gbsi_propagator_assign(s->domain, v, a) && gbsi_propagator_run(s->domain) == SIZE_MAX) {
        uint32_t *to = longer->state + longer->n++ * longer->n_variables;
        memcpy(to, c->state + at * c->n_variables, c->n_variables * sizeof *to);
        to[c->n_variables] = a;
        count_states(s);
    }
    gbsi_propagator_undo(s->domain, mark);
}

/* Returns the largest number of cases. For this limit, a case counts as at least 2^16 table
 * entries, which take about a millisecond. */
static double most_cases(const choosing *s)
{
    const double most = s->most_entries * 0x1p-16;
    return most < FEW_CASES ? FEW_CASES : most < MOST_CASES ? most : MOST_CASES;
}

/* Adds a variable to the cutset. @param done out: false if there are too many cases. */
static gbs_status extend(choosing *s, uint32_t v, bool *done, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_cases *c = &s->cases;
    const size_t most = c->n * s->components->model->arity[v];
    gbsi_cases longer = {0};
    *done = s->n_states[v] <= most_cases(s);
    if (!*done) {
        return GBS_OK;
    }
    GBSI_TRY(cases_new(c->n_variables + 1, most, &longer, err));
    memcpy(longer.variable, c->variable, c->n_variables * sizeof *c->variable);
    longer.variable[c->n_variables] = v;
    memset(s->n_states, 0, s->components->model->n_variables * sizeof *s->n_states);
    for (size_t i = 0; i < c->n; ++i) {
        enter_case(s, i);
        for (uint32_t a = gbsi_propagator_next(s->domain, v, 0); a != GBSI_NONE;
             a = gbsi_propagator_next(s->domain, v, a + 1)) {
            try_case(s, i, v, a, &longer);
        }
        GBSI_TRY(look(s, err));
    }
    s->left_out[v] = 1;
    cases_free(&s->cases);
    s->cases = longer;
    longer = (gbsi_cases){0};

cleanup:
    cases_free(&longer);
    return status;
}

/* ---- the gain of a variable ----------------------------------------------------------------- */

/* Computes, for every variable v, the sum over the cliques that contain v of the entries that a
 * clique loses if v is removed.
 * @param to_whole [variables of the elimination] number of each variable in the whole model; NULL
 * if the numbers are equal.
 * @param position, covered scratch, [variables of the elimination] each. */
static void count_gains(choosing *s, const gbsi_elimination *e, const uint32_t *arity,
                        const gbsi_elimination_part *part, const uint32_t *to_whole,
                        uint32_t *position, uint8_t *covered)
{
    const uint32_t end = part->first + part->n_variables;
    for (uint32_t at = part->first; at < end; ++at) {
        position[e->order[at]] = at;
    }
    (void)gbsi_elimination_tree(e, arity, part->first, end, position, NULL, covered);
    for (uint32_t at = part->first; at < end; ++at) {
        double entries = arity[e->order[at]];
        if (covered[at - part->first] != 0) {
            continue;
        }
        for (size_t k = e->clique_start[at]; k < e->clique_start[at + (size_t)1]; ++k) {
            entries *= arity[e->clique[k]];
        }
        for (size_t k = e->clique_start[at]; k <= e->clique_start[at + (size_t)1]; ++k) {
            const bool last = k == e->clique_start[at + (size_t)1];
            const uint32_t u = last ? e->order[at] : e->clique[k];
            const uint32_t v = to_whole == NULL ? u : to_whole[u];
            if (v < s->components->model->n_variables) { /* otherwise v is a chain variable, which
                                                            is not in the whole model */
                s->gain[v] += entries * (1.0 - 1.0 / arity[u]);
            }
        }
    }
}

static gbs_status count_all_gains(choosing *s, const gbsi_elimination *e, const uint32_t *arity,
                                  const uint32_t *to_whole, uint32_t first_part, uint32_t end_part,
                                  gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *position = gbsi_alloc_array(e->n_variables, sizeof *position);
    uint8_t *covered = gbsi_alloc_array(e->n_variables, 1);
    GBSI_TRY(GBSI_HAVE(err, "cutset", position, covered));
    memset(position, 0xff, e->n_variables * sizeof *position);
    memset(s->gain, 0, s->components->model->n_variables * sizeof *s->gain);
    for (uint32_t p = first_part; p < end_part; ++p) {
        count_gains(s, e, arity, &e->part[p], to_whole, position, covered);
    }

cleanup:
    GBSI_FREE(position, covered);
    return status;
}

/* Returns the variable with the largest ratio between the decrease of ln(entries) and the increase
 * of ln(number of cases). Of several variables with this ratio, the first is returned; GBSI_NONE if
 * no variable lowers ln(entries).
 * @param entries number of table entries of one case. */
static uint32_t best_variable(const choosing *s, double entries)
{
    const gbsi_components *c = s->components;
    uint32_t best = GBSI_NONE;
    double most = 0.0;
    for (size_t i = c->variable_start[s->component]; i < c->variable_start[s->component + 1]; ++i) {
        const uint32_t v = c->variable[i];
        if (s->left_out[v] != 0 || s->barred[v] != 0 || s->gain[v] <= 0.0) {
            continue;
        }
        const double lowers = gbsi_log2(entries / (entries - s->gain[v]));
        const double adds = gbsi_log2(s->n_states[v] / (double)s->cases.n);
        const double worth =
            lowers / (adds + 0x1p-20); /* the summand avoids a division by 0 if v adds no case */
        if (worth > most) {
            most = worth;
            best = v;
        }
    }
    return best;
}

static bool is_implied(const choosing *s, uint32_t v)
{
    return s->left_out[v] == 0 && s->barred[v] == 0 && s->n_states[v] == (double)s->cases.n;
}

/* Adds to the cutset the variables that have only one state left in every case. Such variables add
 * no cases. */
static gbs_status add_implied(choosing *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_components *of = s->components;
    const gbsi_cases *c = &s->cases;
    const size_t end = of->variable_start[s->component + 1];
    gbsi_cases longer = {0};
    uint32_t n = c->n_variables;
    for (size_t i = of->variable_start[s->component]; i < end; ++i) {
        n += is_implied(s, of->variable[i]);
    }
    GBSI_TRY(cases_new(n, c->n, &longer, err));
    memcpy(longer.variable, c->variable, c->n_variables * sizeof *c->variable);
    n = c->n_variables;
    for (size_t i = of->variable_start[s->component]; i < end; ++i) {
        if (is_implied(s, of->variable[i])) {
            longer.variable[n++] = of->variable[i];
        }
    }
    for (size_t i = 0; i < c->n; ++i) {
        uint32_t *to = longer.state + longer.n++ * longer.n_variables;
        enter_case(s, i);
        GBSI_TRY(look(s, err));
        for (uint32_t k = 0; k < n; ++k) {
            to[k] = gbsi_propagator_next(s->domain, longer.variable[k], 0);
            assert(s->domain->size[longer.variable[k]] == 1); /* only one state is left */
        }
    }
    for (uint32_t k = c->n_variables; k < n; ++k) {
        s->left_out[longer.variable[k]] = 1;
    }
    cases_free(&s->cases);
    s->cases = longer;
    longer = (gbsi_cases){0};

cleanup:
    cases_free(&longer);
    return status;
}

/* Adds the best variable to the cutset, and the variables whose states follow from it. @param done
 * out: false if no variable can be added, or there are too many cases. */
static gbs_status choose(choosing *s, double entries, bool *done, gbs_error *err)
{
    const uint32_t v = best_variable(s, entries);
    *done = false;
    if (v != GBSI_NONE) {
        GBSI_PASS(extend(s, v, done, err));
    }
    if (*done) {
        GBSI_PASS(add_implied(s, err));
    }
    return GBS_OK;
}

/* ---- the rest ------------------------------------------------------------------------------ */

static gbs_status plan_rest(choosing *s, trial *t, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_graph *graph = NULL;
    const double steps = s->most_entries / TRIAL_SHARE;
    const gbsi_exact_limits limits = {
        .entries = s->most_entries < (double)GBSI_MOST_ENTRIES ? (uint64_t)s->most_entries
                                                               : GBSI_MOST_ENTRIES,
        .steps = steps < (double)TRIAL_STEPS ? 1 + (uint64_t)steps : TRIAL_STEPS,
        .bytes = s->limits->bytes,
        .up_only = s->limits->up_only,
        .maximise = s->limits->maximise,
        .watch = s->limits->watch};
    GBSI_TRY(
        gbsi_components_extract(s->components, s->component, s->left_out, s->local, &t->rest, err));
    GBSI_TRY(gbsi_graph_new(t->rest, NULL, &graph, err));
    GBSI_TRY(gbsi_exact_plan_new(t->rest, graph, &limits, &t->plan, err));
    t->entries = 0.0;
    for (uint32_t p = 0; p < t->plan->elimination->n_parts; ++p) {
        t->entries += (double)t->plan->elimination->part[p].entries;
    }
    t->entries *= (double)s->cases.n;

cleanup:
    gbsi_graph_free(graph);
    return status;
}

static gbs_status gains_of_rest(choosing *s, const trial *t, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_components *c = s->components;
    uint32_t *to_whole = gbsi_alloc_array(t->rest->n_variables, sizeof *to_whole);
    GBSI_PASS(GBSI_HAVE(err, "cutset", to_whole));
    for (size_t i = c->variable_start[s->component]; i < c->variable_start[s->component + 1]; ++i) {
        if (s->left_out[c->variable[i]] == 0) {
            to_whole[s->local[c->variable[i]]] = c->variable[i];
        }
    }
    status = count_all_gains(s, t->plan->elimination, t->rest->arity, to_whole, 0,
                             t->plan->elimination->n_parts, err);
    gbsi_free(to_whole);
    return status;
}

/* Whether each component of the rest has an order, and no component has a long factor, whose chain
 * would have to be built again for each case. */
static bool is_planned(const trial *t)
{
    bool done = t->plan->chains == NULL;
    for (uint32_t p = 0; p < t->plan->elimination->n_parts; ++p) {
        done = done && t->plan->elimination->part[p].end == GBSI_ELIMINATION_DONE;
    }
    return done;
}

/* ---- the search ---------------------------------------------------------------------------- */

static void choosing_free(choosing *s)
{
    gbsi_propagator_free(s->domain);
    gbsi_propagation_free(s->hard);
    cases_free(&s->cases);
    GBSI_FREE(s->left_out, s->barred, s->n_states, s->gain, s->local);
}

static void bar_large_factors(choosing *s)
{
    const gbsi_components *c = s->components;
    const gbsi_factors *f = &c->model->factors;
    for (size_t i = c->factor_start[s->component]; i < c->factor_start[s->component + 1]; ++i) {
        const size_t first = f->scope_start[c->factor[i]];
        const size_t end = f->scope_start[c->factor[i] + 1];
        uint64_t n = 1;
        for (size_t k = first; k < end; ++k) {
            n = gbsi_saturating_mul(n, c->model->arity[f->scope[k]]);
        }
        for (size_t k = first; k < end && (n > MOST_SCOPE || end - first > GBSI_CUT_SCOPE); ++k) {
            s->barred[f->scope[k]] = 1;
        }
    }
}

/* Makes the empty cutset, which has one case. */
static gbs_status begin(choosing *s, gbs_error *err)
{
    const gbsi_conditioned *whole = s->components->model;
    const size_t n = whole->n_variables;
    GBSI_PASS(gbsi_propagation_new(&whole->factors, whole->arity, whole->n_variables,
                                   whole->has_zeros, s->limits->watch, &s->hard, err));
    GBSI_PASS(gbsi_propagator_new(s->hard, true, &s->domain, err));
    s->domain->watch = s->limits->watch;
    GBSI_PASS(look(s, err));
    s->left_out = gbsi_alloc_array_zero(n, 1);
    s->barred = gbsi_alloc_array_zero(n, 1);
    s->n_states = gbsi_alloc_array_zero(n, sizeof *s->n_states);
    s->gain = gbsi_alloc_array(n, sizeof *s->gain);
    s->local = gbsi_alloc_array(n, sizeof *s->local);
    GBSI_PASS(cases_new(0, 1, &s->cases, err)); /* room for the only case of an empty cutset */
    s->cases.n = 1;
    GBSI_PASS(GBSI_HAVE(err, "cutset", s->left_out, s->barred, s->n_states, s->gain, s->local));
    count_states(s);
    bar_large_factors(s);
    return GBS_OK;
}

/* Adds variables to the cutset as long as more variables lower the work.
 * @param best, best_cases out: the trial with the least work, and its cases; best->plan is NULL if
 * no trial succeeded. */
static gbs_status search(choosing *s, double entries, trial *best, gbsi_cases *best_cases,
                         gbs_error *err)
{
    gbs_status status = GBS_OK;
    trial t = {0};
    uint32_t n_vain = 0;
    for (uint32_t n = 0; n < MOST_VARIABLES && n_vain < PATIENCE; ++n) {
        bool done = false;
        GBSI_TRY(choose(s, entries, &done, err));
        if (!done || s->cases.n == 0) {
            break;
        }
        trial_free(&t);
        GBSI_TRY(plan_rest(s, &t, err));
        if (!is_planned(&t)) {
            break;
        }
        GBSI_TRY(gains_of_rest(s, &t, err));
        entries = t.entries / (double)s->cases.n;
        ++n_vain;
        if (best->plan == NULL || t.entries < best->entries) {
            n_vain = 0;
            trial_free(best);
            cases_free(best_cases);
            GBSI_TRY(copy_cases(&s->cases, best_cases, err));
            *best = t;
            t = (trial){0};
        }
    }

cleanup:
    trial_free(&t);
    return status;
}

/* Numbers the variables outside the cutset, as gbsi_components_extract() does. */
static void number_rest(const gbsi_cutset *c)
{
    const gbsi_components *of = c->components;
    uint32_t n = 0;
    memset(c->local, 0, of->model->n_variables * sizeof *c->local);
    for (uint32_t k = 0; k < c->cases.n_variables; ++k) {
        c->local[c->cases.variable[k]] = GBSI_NONE;
    }
    for (size_t i = of->variable_start[c->component]; i < of->variable_start[c->component + 1];
         ++i) {
        uint32_t *local = &c->local[of->variable[i]];
        *local = *local == GBSI_NONE ? GBSI_NONE : n++;
    }
    assert(n == c->rest->n_variables);
}

/* Makes the cutset of the best trial and its tree, if they are within the limits; otherwise *out
 * stays NULL. */
static gbs_status make_cutset(const choosing *s, trial *best, gbsi_cases *cases, gbsi_cutset **out,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_cutset_limits *limits = s->limits;
    const uint32_t n_parts = best->plan->elimination->n_parts;
    const size_t n = s->components->model->n_variables;
    uint8_t *all = gbsi_alloc_array(n_parts, 1);
    gbsi_cutset *c = gbsi_alloc_zero(sizeof *c);
    GBSI_TRY(GBSI_HAVE(err, "cutset", all, c));
    memset(all, 1, n_parts);
    c->components = s->components;
    c->component = s->component;
    c->local = gbsi_alloc_array(n, sizeof *c->local);
    GBSI_TRY(GBSI_HAVE(err, "cutset", c->local));
    GBSI_TRY(gbsi_exact_plan_tree(best->plan, all, &c->tree, err));
    c->entries = best->entries;
    c->cases = *cases;
    *cases = (gbsi_cases){0};
    c->rest = best->rest;
    best->rest = NULL;
    number_rest(c);
    const uint64_t own = gbsi_conditioned_bytes(c->rest) + n * 3 * sizeof *c->local +
                         c->cases.n * c->cases.n_variables * sizeof *c->cases.state +
                         2 * c->rest->state_offset[c->rest->n_variables] * sizeof(double);
    const uint64_t left = limits->bytes > own ? limits->bytes - own : 0;
    c->keep = gbsi_exact_keep(c->tree, limits->up_only, left);
    c->bytes = gbsi_saturating_add(own, gbsi_exact_bytes(c->tree, c->keep));
    if (c->bytes <= limits->bytes && c->entries * gbsi_exact_entry_ns(c->keep) <= limits->ns) {
        *out = c;
        c = NULL;
    }

cleanup:
    gbsi_free(all);
    gbsi_cutsets_free(c);
    return status;
}

/* Whether hard zeros may save enough work. Without hard zeros, all cases together take as much work
 * as one tree. */
static bool is_hopeful(const choosing *s, const gbsi_elimination_part *part)
{
    return s->components->has_zeros[s->component] != 0 && part->end == GBSI_ELIMINATION_DONE &&
           (double)part->entries <= MOST_SAVED * s->most_entries;
}

/* Looks for a cutset of one component. @param out NULL if no cutset within the limits was found. */
static gbs_status new_cutset(const gbsi_components *components, uint32_t component,
                             const gbsi_exact_plan *plan, const gbsi_cutset_limits *limits,
                             gbsi_cutset **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_elimination_part *part = &plan->elimination->part[component];
    const gbsi_keep least = limits->up_only ? GBSI_KEEP_STACK : GBSI_KEEP_TABLES;
    choosing s = {.components = components,
                  .component = component,
                  .limits = limits,
                  .most_entries = limits->ns / gbsi_exact_entry_ns(least)};
    trial best = {0};
    gbsi_cases cases = {0};
    *out = NULL;
    if (!is_hopeful(&s, part)) {
        return GBS_OK;
    }
    GBSI_TRY(begin(&s, err));
    GBSI_TRY(count_all_gains(&s, plan->elimination, gbsi_exact_plan_model(plan)->arity, NULL,
                             component, component + 1, err));
    GBSI_TRY(search(&s, (double)part->entries, &best, &cases, err));
    if (best.plan != NULL) {
        GBSI_TRY(make_cutset(&s, &best, &cases, out, err));
    }

cleanup:
    trial_free(&best);
    cases_free(&cases);
    choosing_free(&s);
    return status;
}

gbs_status gbsi_cutsets_new(const gbsi_components *components, const gbsi_exact_plan *plan,
                            const gbsi_cutset_limits *limits, const uint8_t *take,
                            gbsi_cutset **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_cutset_limits left = *limits;
    gbsi_cutset *first = NULL;
    gbsi_cutset **end = &first;
    for (uint32_t i = 0; i < components->n; ++i) {
        if (take[i] != 0) {
            continue;
        }
        status = new_cutset(components, i, plan, &left, end, err);
        if (status == GBS_ERR_LIMIT) {
            continue; /* not enough memory for the search */
        }
        GBSI_TRY(status);
        if (*end != NULL) {
            assert((*end)->bytes <= left.bytes);
            left.ns -= (*end)->entries * gbsi_exact_entry_ns((*end)->keep);
            left.bytes -= (*end)->bytes;
            end = &(*end)->next;
        }
    }
    status = GBS_OK;
    *out = first;
    first = NULL;

cleanup:
    gbsi_cutsets_free(first);
    return status;
}

void gbsi_cutsets_free(gbsi_cutset *cutset)
{
    while (cutset != NULL) {
        gbsi_cutset *next = cutset->next;
        cases_free(&cutset->cases);
        gbsi_tree_free(cutset->tree);
        gbsi_conditioned_free(cutset->rest);
        GBSI_FREE(cutset->local, cutset);
        cutset = next;
    }
}
