/* SPDX-License-Identifier: Apache-2.0 */
/* Grounds a program: reads the files and builds the model. */
#include "gibbsite/ground.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/sized.h"
#include "ground/grounding.h"
#include "options/questions.h"

#define PROGRESS_S 0.1
#define PARTS      1000 /* number of parts of a formula that reports of progress count */

/* The state of one call of the public functions. */
typedef struct call {
    gbs_ground_options options;
    gbs_run_callbacks callbacks;
    gbs_progress progress;
    double begun_s, told_s;
    gbsi_text program, database;
    gbsi_grounding grounding;
} call;

static bool look(void *context)
{
    call *c = context;
    const double now_s = gbsi_clock_s();
    if (c->callbacks.progress == NULL || now_s - c->told_s < PROGRESS_S) {
        return false;
    }
    c->told_s = now_s;
    c->progress.elapsed_s = now_s - c->begun_s;
    c->progress.pass = (uint64_t)(PARTS * (c->grounding.n_done + c->grounding.within));
    c->progress.passes = (uint64_t)PARTS * c->grounding.program.n_formulas;
    return c->callbacks.progress(c->callbacks.context, &c->progress) != 0;
}

/* ---- facts ---------------------------------------------------------------------------------- */

/* A fact that was read. The codes of atoms are known only when all constants are known; facts are
 * kept until then. */
typedef struct fact {
    gbsi_token place;
    uint32_t predicate;
    bool holds;
    size_t first; /* index of the fact's first constant in `constant` */
} fact;

typedef struct facts {
    gbsi_grounding *g;
    fact *fact;
    uint32_t *constant;
    size_t n, capacity, n_constants, constant_capacity;
} facts;

static gbs_status keep_fact(void *context, uint32_t predicate, const uint32_t *constant, bool holds,
                            gbsi_token place, gbs_error *err)
{
    facts *f = context;
    const uint32_t n = f->g->program.predicate[predicate].n_arguments;
    if (gbsi_watch_spend(&f->g->watch, 64)) {
        return gbsi_watch_fail(err, "reading facts");
    }
    GBSI_PASS(gbsi_reserve((void **)(void *)&f->fact, &f->capacity, f->n + 1, sizeof *f->fact,
                           "facts", err));
    GBSI_PASS(gbsi_reserve((void **)(void *)&f->constant, &f->constant_capacity, f->n_constants + n,
                           sizeof *f->constant, "facts", err));
    memcpy(f->constant + f->n_constants, constant, n * sizeof *constant);
    f->fact[f->n++] = (fact){place, predicate, holds, f->n_constants};
    f->n_constants += n;
    return GBS_OK;
}

/* @return whether number_atoms() counts the atoms of q that have no fact as open. Atoms of choices
 * are counted in choices.c. */
static bool counts(const gbsi_predicate *q)
{
    return q->open && q->one == GBSI_GROUND_NO_ONE;
}

/* Gives a code to every possible ground atom. */
static gbs_status number_atoms(gbsi_grounding *g, gbs_error *err)
{
    double sum = 0.0;
    uint64_t first = 0;
    for (uint32_t id = 0; id < g->program.n_predicates; id++) {
        gbsi_predicate *q = &g->program.predicate[id];
        uint64_t n = 1;
        double size = 1.0;
        q->stride = 1;
        for (uint32_t k = 0; k < q->n_arguments; k++) {
            n *= g->program.type[q->type[k]].n;
            size *= g->program.type[q->type[k]].n;
            q->stride *= k > q->one ? g->program.type[q->type[k]].n : 1;
        }
        sum += size;
        if (!(sum < 4e18)) {
            return gbsi_text_fail(g->program.text, q->name, err,
                                  "found a predicate with which there are more than 4e18 ground "
                                  "atoms, expected fewer constants or arguments");
        }
        q->first = first;
        first += n;
        g->report.n_atoms += counts(q) ? size : 0.0;
    }
    return GBS_OK;
}

gbs_status gbsi_fact_add(gbsi_grounding *g, uint32_t predicate, const uint32_t *constant,
                         bool holds, gbsi_token place, gbs_error *err)
{
    gbsi_predicate *q = &g->program.predicate[predicate];
    const uint32_t value = holds ? GBSI_ATOM_TRUE : GBSI_ATOM_FALSE;
    uint64_t code = 0;
    for (uint32_t k = 0; k < q->n_arguments; k++) {
        code = code * g->program.type[q->type[k]].n + constant[k];
    }
    code += q->first;
    const uint32_t *known = gbsi_atoms_find(&g->atoms, code);
    if (known != NULL && *known != value) {
        return gbsi_text_fail(g->program.database, place, err,
                              "found the opposite of a fact above, expected one of the two");
    }
    if (known != NULL) {
        return GBS_OK;
    }
    GBSI_PASS(gbsi_atoms_add(&g->atoms, code, value, err));
    g->report.n_facts++;
    g->report.n_atoms -= counts(q);
    if (holds && q->one != GBSI_GROUND_NO_ONE) {
        GBSI_PASS(gbsi_choice_made(g, q, code, place, err));
    }
    if (holds) {
        const size_t at = (size_t)q->n_true * q->n_arguments;
        GBSI_PASS(gbsi_reserve((void **)(void *)&q->tuple, &q->tuple_capacity, at + q->n_arguments,
                               sizeof *q->tuple, "facts", err));
        memcpy(q->tuple + at, constant, q->n_arguments * sizeof *constant);
        q->n_true++;
    }
    return GBS_OK;
}

/* ---- query predicates ----------------------------------------------------------------------- */

static gbs_status open_named(gbsi_program *p, const char *names, gbs_error *err)
{
    for (const char *at = names;; at++) {
        const size_t n = strcspn(at, ",");
        uint32_t id = 0;
        if (!gbsi_name_map_find(&p->predicates, 0, at, n, &id)) {
            char shown[GBSI_SHOWN];
            return gbsi_fail(err, GBS_ERR_FORMAT,
                             "%s: found the query predicate %s, expected one that the program "
                             "declares",
                             p->text->name, gbsi_token_show((gbsi_token){at, n}, shown));
        }
        p->predicate[id].open = true;
        at += n;
        if (*at == '\0') {
            return GBS_OK;
        }
    }
}

static gbs_status open_predicates(gbsi_program *p, const char *names, gbs_error *err)
{
    uint32_t n_open = 0;
    if (names != NULL) {
        return open_named(p, names, err);
    }
    for (uint32_t id = 0; id < p->n_predicates; id++) {
        gbsi_predicate *q = &p->predicate[id];
        q->open = p->closes ? !q->closed : q->n_facts == 0;
        n_open += q->open;
    }
    if (n_open == 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: found %s every predicate of %s, expected the names of the query "
                         "predicates",
                         p->database->name, p->closes ? "a '*' before" : "facts of", p->text->name);
    }
    return GBS_OK;
}

/* ---- constants ------------------------------------------------------------------------------ */

/* @return a free variable of the formula whose type has no constants; UINT32_MAX if there is none.
 */
static uint32_t empty_variable(const gbsi_program *p, const gbsi_logic_formula *f)
{
    for (uint32_t v = 0; v < f->n_variables; v++) {
        if ((f->bound >> v & 1) == 0 && p->type[f->type[v]].n == 0) {
            return v;
        }
    }
    return UINT32_MAX;
}

/* Refuses a database that leaves every formula without groundings. */
static gbs_status check_constants(const gbsi_program *p, gbs_error *err)
{
    for (uint32_t i = 0; i < p->n_formulas; i++) {
        if (empty_variable(p, &p->formula[i]) == UINT32_MAX) {
            return GBS_OK;
        }
    }
    if (p->n_formulas == 0) {
        return GBS_OK;
    }
    const gbsi_logic_formula *f = &p->formula[0];
    const gbsi_token name = p->type[f->type[empty_variable(p, f)]].name;
    char shown[GBSI_SHOWN];
    return gbsi_text_fail(p->database, (gbsi_token){p->database->end, 0}, err,
                          "found the end of the file and no constant of type %s, expected facts "
                          "that name one (or a list of its constants in %s): no formula has a "
                          "grounding",
                          gbsi_token_show(name, shown), p->text->name);
}

/* ---- warnings ------------------------------------------------------------------------------- */

GBSI_PRINTF(2, 3)
static void warn(gbs_ground_report *report, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(report->warning[report->n_warnings++], sizeof report->warning[0], format,
                    arguments);
    va_end(arguments);
}

/* Warns of constants of the database that may be misspelt: formulas are grounded over such
 * constants, too. */
static void warn_of_constants(gbsi_grounding *g)
{
    uint32_t n = 0;
    const gbsi_logic_type *first = NULL;
    for (uint32_t t = 0; t < g->program.n_types; t++) {
        const gbsi_logic_type *type = &g->program.type[t];
        if (!type->declared && type->n_in_program > 0 && type->n > type->n_in_program) {
            first = first == NULL ? type : first;
            n += type->n - type->n_in_program;
        }
    }
    if (n > 0) {
        char name[GBSI_SHOWN];
        char shown[GBSI_SHOWN];
        warn(&g->report,
             "types without a list, of which the program names some constants, get %" PRIu32
             " more from the database, %s of type %s first",
             n, gbsi_token_show(first->constant[first->n_in_program], shown),
             gbsi_token_show(first->name, name));
    }
}

static void warn_of_files(gbsi_grounding *g)
{
    const gbsi_program *p = &g->program;
    if (p->n_unweighted > 0) {
        warn(&g->report,
             "formulas with neither a weight nor a period: %" PRIu32
             ", which have weight 0 until 'gibbsite learn weights' learns it",
             p->n_unweighted);
    }
    warn_of_constants(g);
}

/* ---- the call ------------------------------------------------------------------------------- */

static gbs_status read_files(call *c, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_grounding *g = &c->grounding;
    facts f = {.g = g};
    GBSI_TRY(gbsi_program_read(&g->program, &c->program, err));
    GBSI_TRY(gbsi_database_read(&g->program, &c->database, keep_fact, &f, err));
    warn_of_files(g);
    GBSI_TRY(check_constants(&g->program, err));
    GBSI_TRY(open_predicates(&g->program, c->options.query_predicates, err));
    GBSI_TRY(number_atoms(g, err));
    for (size_t i = 0; i < f.n; i++) {
        GBSI_TRY(gbsi_watch_spend(&g->watch, 16) ? gbsi_watch_fail(err, "reading facts") : GBS_OK);
        const fact *one = &f.fact[i];
        GBSI_TRY(
            gbsi_fact_add(g, one->predicate, f.constant + one->first, one->holds, one->place, err));
    }
    GBSI_TRY(gbsi_similar_facts(g, c->options.similarity, err));
    GBSI_TRY(gbsi_index_facts(&g->program, err));

cleanup:
    GBSI_FREE(f.fact, f.constant);
    return status;
}

static gbs_status ground(call *c, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_grounding *g = &c->grounding;
    GBSI_TRY(read_files(c, err));
    GBSI_TRY(gbs_builder_new(&g->builder, err));
    for (int hard = 0; hard < 2; hard++) { /* hard formulas come last: factors after the last tied
                                              factor take less memory */
        for (uint32_t i = 0; i < g->program.n_formulas; i++) {
            if ((isinf(g->program.formula[i].weight) != 0) == (hard != 0)) {
                GBSI_TRY(gbsi_ground_formula(g, &g->program.formula[i], err));
                g->n_done++;
            }
        }
    }
    GBSI_TRY(gbsi_ground_choices(g, err));
    g->report.n_formulas = g->program.n_formulas;
    g->report.n_variables = g->n_variables;
    gbsi_watch *nobody = gbsi_watch_enter(&g->watch);
    status = gbs_builder_build(g->builder, model, err);
    gbsi_watch_leave(nobody);
    if (status == GBS_ERR_STOPPED) {
        status = gbsi_watch_fail(err, "grounding");
    }

cleanup:
    return status;
}

static void grounding_free(gbsi_grounding *g)
{
    gbs_builder_free(g->builder);
    gbsi_program_free(&g->program);
    gbsi_atoms_free(&g->atoms);
    gbsi_atoms_free(&g->chosen);
    gbsi_atoms_free(&g->weights);
    GBSI_FREE(g->name, g->residue, g->slot, g->tag, g->literal);
}

static gbs_status run_call(const gbsi_input input[2], const gbs_ground_options *options,
                           const gbs_run_callbacks *callbacks, gbs_model **model,
                           gbs_ground_report *report, gbs_error *err)
{
    gbsi_budget budget;
    gbs_model *made = NULL;
    call c = {.begun_s = gbsi_clock_s(), .options = *options};
    gbs_status status = GBS_OK;
    if (callbacks != NULL) {
        c.callbacks.context = callbacks->context;
        c.callbacks.progress = callbacks->progress;
    }
    c.progress.size = sizeof c.progress;
    c.grounding.watch = gbsi_watch_of(look, &c, c.begun_s, c.options.time_s);
    gbsi_budget_init(
        &budget, c.options.memory_limit != 0 ? c.options.memory_limit : gbsi_default_memory_limit(),
        gbsi_process_bytes());
    gbsi_budget *before = gbsi_budget_enter(&budget);
    GBSI_TRY(gbsi_text_open(&c.program, &input[0], NULL, err));
    GBSI_TRY(gbsi_text_open(&c.database, &input[1], NULL, err));
    GBSI_TRY(ground(&c, &made, err));
    *model = made;
    gbsi_struct_give(report, &c.grounding.report, sizeof c.grounding.report);

cleanup:
    grounding_free(&c.grounding);
    gbsi_budget_leave(before);
    return status;
}

gbs_status gbs_ground(const char *program, const char *database, const gbs_ground_options *options,
                      const gbs_run_callbacks *callbacks, gbs_model **model,
                      gbs_ground_report *report, gbs_error *err)
{
    GBSI_NEED(program, database, model);
    gbs_ground_options taken;
    if (gbsi_question_settle("ground", options, &taken, err) < 0) {
        return GBS_ERR_ARGUMENT;
    }
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_OUT_STRUCT(report, gbs_ground_report);
    gbsi_input input[2] = {{0}, {0}};
    gbs_status status = gbsi_input_read_text(program, &input[0], err);
    if (status >= 0) {
        status = gbsi_input_read_text(database, &input[1], err);
        if (status >= 0) {
            status = run_call(input, &taken, callbacks, model, report, err);
            gbsi_input_free(&input[1]);
        }
        gbsi_input_free(&input[0]);
    }
    return status;
}

gbs_status gbs_ground_memory(const char *program_name, const void *program, size_t program_bytes,
                             const char *database_name, const void *database, size_t database_bytes,
                             const gbs_ground_options *options, const gbs_run_callbacks *callbacks,
                             gbs_model **model, gbs_ground_report *report, gbs_error *err)
{
    GBSI_NEED(program_name, program, database_name, database, model);
    gbs_ground_options taken;
    if (gbsi_question_settle("ground", options, &taken, err) < 0) {
        return GBS_ERR_ARGUMENT;
    }
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    GBSI_OUT_STRUCT(report, gbs_ground_report);
    gbsi_input input[2] = {{0}, {0}};
    gbs_status status = gbsi_input_memory(program_name, program, program_bytes, &input[0], err);
    if (status >= 0) {
        status = gbsi_input_memory(database_name, database, database_bytes, &input[1], err);
        if (status >= 0) {
            status = run_call(input, &taken, callbacks, model, report, err);
            gbsi_input_free(&input[1]);
        }
        gbsi_input_free(&input[0]);
    }
    return status;
}
