/* SPDX-License-Identifier: Apache-2.0 */
/* The sequence scan visits the variables that a scan file lists, in every pass. The file uses the
 * user's numbering. Variables that are observed, implied or in another part of the model are
 * skipped. An update of a variable drawn uniformly is the entry GBSI_NONE; bounds follow it, and
 * gbsi_options_check() refuses it for chains. */
#include <inttypes.h>

#include "base/memory.h"
#include "scan/registry.h"

static gbs_status check_ids(const gbs_run_options *options, uint32_t n_user, gbs_error *err)
{
    if (options->sequence == NULL && options->sequence_length > 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "scan: a sequence of %zu variables is NULL",
                         options->sequence_length);
    }
    for (size_t t = 0; t < options->sequence_length; t++) {
        if (options->sequence[t] >= n_user && options->sequence[t] != GBS_STEP_UNIFORM) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "scan: entry %zu is variable %" PRIu32 ", the model has %" PRIu32
                             " variables",
                             t, options->sequence[t], n_user);
        }
    }
    return GBS_OK;
}

/* Copies the variables of the sequence that are free. @param seen [n_variables] in: zeros; out: 1
 * for each variable that occurs. @return whether some variable occurs twice. */
static bool keep_free(const gbsi_conditioned *model, const gbs_run_options *options,
                      gbsi_fixed *fixed, uint8_t *seen)
{
    bool twice = false;
    fixed->n = 0;
    for (size_t t = 0; t < options->sequence_length; t++) {
        const uint32_t user = options->sequence[t];
        if (user == GBS_STEP_UNIFORM && model->n_variables > 0) {
            fixed->variable[fixed->n++] = GBSI_NONE;
        }
        const uint32_t v = user == GBS_STEP_UNIFORM ? GBSI_NONE : model->free_variable[user];
        if (v == GBSI_NONE) {
            continue;
        }
        twice = twice || seen[v];
        seen[v] = 1;
        fixed->variable[fixed->n++] = v;
    }
    return twice;
}

static gbs_status check_complete(const gbsi_conditioned *model, const uint8_t *seen, gbs_error *err)
{
    for (uint32_t v = 0; v < model->n_variables; v++) {
        if (seen[v]) {
            continue;
        }
        const uint32_t user = model->user_variable[v];
        const char *name = gbs_model_variable_name(model->model, user);
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "the scan omits variable %" PRIu32 "%s%s%s: every free variable must occur, "
            "unless --partial-scan is given",
            user, name == NULL ? "" : " (", name == NULL ? "" : name, name == NULL ? "" : ")");
    }
    return GBS_OK;
}

static gbs_status sequence_init(const gbsi_graph *graph, const gbs_run_options *options,
                                gbsi_watch *watch, void **state, unsigned *traits, gbs_error *err)
{
    (void)watch;
    gbs_status status = GBS_OK;
    const gbsi_conditioned *model = graph->model;
    gbsi_fixed *fixed = NULL;
    uint8_t *seen = NULL;
    GBSI_TRY(check_ids(options, model->model->n_variables, err));
    GBSI_TRY(gbsi_fixed_new(options->sequence_length, &fixed, err));
    seen = gbsi_alloc_array_zero(model->n_variables, sizeof *seen);
    GBSI_TRY(GBSI_HAVE(err, "scan", seen));
    const bool twice = keep_free(model, options, fixed, seen);
    if (!options->partial_scan) {
        GBSI_TRY(check_complete(model, seen, err));
    }
    if (twice || memchr(seen, 0, model->n_variables) != NULL) {
        *traits &= ~GBSI_SCAN_EACH_ONCE;
    }
    *state = fixed;
    fixed = NULL;

cleanup:
    gbsi_free(seen);
    gbsi_fixed_free(fixed);
    return status;
}

const gbsi_scan gbsi_scan_sequence = {
    .name = "sequence",
    .reference = "He, De Sa, Mitliagkas & Re (2016), Scan order in Gibbs sampling: models in which "
                 "it matters and bounds on how much, NIPS 29",
    .traits = GBSI_SCAN_REPEATS | GBSI_SCAN_EACH_ONCE | GBSI_SCAN_READS,
    .init = sequence_init,
    .next_pass = gbsi_fixed_next_pass,
    .free = gbsi_fixed_free,
};
