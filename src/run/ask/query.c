/* SPDX-License-Identifier: Apache-2.0 */
/* Answers a question in one call: takes evidence and variables by name, makes a run, and gives the
 * marginals asked for. */
#include "gibbsite/query.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "chains/run.h"
#include "gibbsite/io.h"
#include "store/model.h"

/* ---- names ----------------------------------------------------------------------------------- */

/* Finds the variable that the first part of `list` names, and sets *used to the length of this
 * part. A name may contain commas: if the text before the first comma is not the name of a
 * variable, the text before the next comma is tried. @param part [length of list
 * + 1] scratch */
static gbs_status find_first(const gbs_model *model, const char *list, char *part,
                             uint32_t *variable, size_t *used, gbs_error *err)
{
    gbs_status first = GBS_OK;
    for (size_t n = strcspn(list, ",");; n += 1 + strcspn(list + n + 1, ",")) {
        size_t from = 0;
        size_t to = n;
        while (from < to && (list[from] == ' ' || list[from] == '\t')) {
            ++from;
        }
        while (to > from && (list[to - 1] == ' ' || list[to - 1] == '\t')) {
            --to;
        }
        memcpy(part, list + from, to - from);
        part[to - from] = '\0';
        gbs_error *said =
            first < 0 ? NULL : err; /* the message names the text up to the first comma */
        const gbs_status status =
            from == to
                ? gbsi_fail(said, GBS_ERR_ARGUMENT, "%s: expected the name of a variable", list)
                : gbs_model_find_variable(model, part, variable, said);
        if (status >= 0) {
            *used = n;
            return GBS_OK;
        }
        first = status;
        if (list[n] == '\0') {
            return first;
        }
    }
}

static gbs_status add_names(gbs_answer *a, const gbs_model *model, const char *names, uint8_t *seen,
                            char *part, gbs_error *err)
{
    for (const char *at = names;; ++at) {
        uint32_t v = 0;
        size_t used = 0;
        GBSI_PASS(find_first(model, at, part, &v, &used, err));
        if (seen[v]) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: variable %u is named twice", names,
                             (unsigned)v);
        }
        seen[v] = 1;
        a->variable[a->n_variables++] = v;
        at += used;
        if (*at == '\0') {
            return GBS_OK;
        }
    }
}

/* Sets the members `variable` and `n_variables`. */
static gbs_status choose(gbs_answer *a, const gbs_model *model, const char *names, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = model->n_variables;
    const size_t length = names == NULL ? 0 : strlen(names);
    uint8_t *seen = gbsi_alloc_zero((size_t)n + 1);
    char *part = gbsi_alloc(length + 1);
    a->variable = gbsi_alloc_array((size_t)n + 1, sizeof *a->variable);
    GBSI_TRY(GBSI_HAVE(err, "query", seen, part, a->variable));
    if (names != NULL) {
        GBSI_TRY(add_names(a, model, names, seen, part, err));
    }
    for (uint32_t v = 0; names == NULL && v < n; ++v) {
        a->variable[a->n_variables++] = v;
    }

cleanup:
    GBSI_FREE(seen, part);
    return status;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* Copies the states of the queried variables out of an array over all states. @param picked out: a
 * new array. */
static gbs_status pick(const gbs_answer *a, const gbs_model *model, const double *all,
                       double **picked, gbs_error *err)
{
    const size_t n = a->offset[a->n_variables];
    *picked = gbsi_alloc_array(n + 1, sizeof **picked);
    if (*picked == NULL) {
        return gbsi_no_memory(err, "query", n * sizeof **picked);
    }
    for (uint32_t i = 0; i < a->n_variables; ++i) {
        memcpy(*picked + a->offset[i], all + model->state_offset[a->variable[i]],
               model->arity[a->variable[i]] * sizeof **picked);
    }
    return GBS_OK;
}

static gbs_status collect(gbs_answer *a, const gbs_model *model, gbs_run *run, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = gbs_model_state_offsets(model)[model->n_variables];
    gbsi_run_enter(&run->budget); /* the arrays count towards the memory limit of the run */
    double *all = gbsi_alloc_array(4 * n + 1, sizeof *all); /* p, mcse, ess, rhat */
    a->offset = gbsi_alloc_array((size_t)a->n_variables + 1, sizeof *a->offset);
    GBSI_TRY(GBSI_HAVE(err, "query", all, a->offset));
    a->offset[0] = 0;
    for (uint32_t i = 0; i < a->n_variables; ++i) {
        a->offset[i + 1] = a->offset[i] + model->arity[a->variable[i]];
    }
    GBSI_TRY(gbs_run_marginals(run, all, all + n, all + 2 * n, all + 3 * n, err));
    GBSI_TRY(pick(a, model, all, &a->p, err));
    GBSI_TRY(pick(a, model, all + n, &a->mcse, err));
    GBSI_TRY(pick(a, model, all + 2 * n, &a->ess, err));
    GBSI_TRY(pick(a, model, all + 3 * n, &a->rhat, err));

cleanup:
    gbsi_free(all);
    gbsi_run_leave(&run->budget);
    return status;
}

static void conclude(gbs_answer *a, const gbs_model *model, const gbs_report *report)
{
    a->exact = strcmp(report->method, "exact") == 0;
    a->converged = report->converged;
    a->log_evidence = gbs_model_is_normalized(model) ? report->log_z : NAN;
    memcpy(a->verdict, report->verdict, sizeof a->verdict);
}

static gbs_status answer_query(const gbs_model *model, const char *evidence, const char *names,
                               const gbs_run_options *options, gbs_answer *a, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_status ended = GBS_OK;
    gbs_evidence *given = NULL;
    gbs_run *run = NULL;
    GBSI_TRY(choose(a, model, names, err));
    GBSI_TRY(gbs_evidence_new(model, &given, err));
    if (evidence != NULL && evidence[0] != '\0') {
        GBSI_TRY(gbs_evidence_add(given, evidence, err));
    }
    const gbs_run_setup setup = {.model = model,
                                 .evidence = given,
                                 .options = options,
                                 .query = names == NULL ? NULL : a->variable,
                                 .n_query = names == NULL ? 0 : a->n_variables};
    GBSI_TRY(gbs_run_new_with(&setup, &run, err));
    GBSI_TRY(gbs_run_execute(run, NULL, err));
    ended = status;
    GBSI_TRY(collect(a, model, run, err));
    conclude(a, model, gbs_run_report(run));
    status = ended;

cleanup:
    gbs_run_free(run);
    gbs_evidence_free(given);
    return status;
}

gbs_status gbs_query(const gbs_model *model, const char *evidence, const char *names,
                     const gbs_run_options *options, gbs_answer *answer, gbs_error *err)
{
    GBSI_NEED(model, answer);
    GBSI_OUT_STRUCT(answer, gbs_answer);
    gbs_answer own = {.size = sizeof own};
    const gbs_status status = answer_query(model, evidence, names, options, &own, err);
    if (status < 0) {
        gbs_answer_free(&own);
    } else {
        gbsi_struct_give(answer, &own, sizeof own);
    }
    return status;
}

void gbs_answer_free(gbs_answer *answer)
{
    if (answer != NULL) {
        GBSI_FREE(answer->variable, answer->offset, answer->p, answer->mcse, answer->ess,
                  answer->rhat);
        *answer = (gbs_answer){.size = answer->size};
    }
}
