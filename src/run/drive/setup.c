/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a run from a gbs_run_setup, which has a model, or a rank's share of a model. */
#include "base/sized.h"
#include "drive/runners.h"

/* Refuses a setup whose fields cannot be combined. */
static gbs_status check_setup(const gbs_run_setup *s, gbs_error *err)
{
    const char *why = NULL;
    if (s->task != GBS_RUN_MARGINALS && s->task != GBS_RUN_DRAWS) {
        why = "task is neither GBS_RUN_MARGINALS nor GBS_RUN_DRAWS";
    } else if (s->query == NULL && s->n_query > 0) {
        why = "query is NULL, but n_query is not 0";
    } else if (s->query != NULL && s->task == GBS_RUN_DRAWS) {
        why = "query is for marginals, and task is GBS_RUN_DRAWS: draws have all variables";
    } else if (s->share == NULL && s->partition != NULL) {
        why = "partition is for a share, and share is NULL";
    } else if (s->share == NULL && s->model == NULL) {
        why = "model and share are NULL: a run needs one of them";
    } else if (s->share != NULL && (s->model != NULL || s->evidence != NULL)) {
        why = "share has its own model and evidence: leave model and evidence NULL";
    } else if (s->share != NULL && s->query != NULL) {
        why = "query is for whole models: leave it NULL where there is a share";
    } else if (s->share != NULL && s->ranks == NULL) {
        why = "share is of several ranks, and ranks is NULL";
    } else if (s->observables != 0 && s->observables != 1) {
        why = "observables is neither 0 nor 1";
    } else if (s->observables != 0 && s->ranks != NULL && s->ranks->n_ranks > 1) {
        why = "observables need all chains and the whole model in one process, and ranks is set";
    }
    return why == NULL ? GBS_OK : gbsi_fail(err, GBS_ERR_ARGUMENT, "gbs_run_setup: %s", why);
}

gbs_status gbs_run_new_with(const gbs_run_setup *setup, gbs_run **out, gbs_error *err)
{
    GBSI_NEED(setup, out);
    GBSI_IN_STRUCT(setup, gbs_run_setup);
    GBSI_PASS(check_setup(setup, err));
    return setup->share == NULL ? gbsi_run_new_of_model(setup, out, err)
                                : gbsi_run_new_of_share(setup, out, err);
}

gbs_status gbs_run_new(const gbs_model *model, const gbs_evidence *evidence,
                       const gbs_run_options *options, gbs_run **out, gbs_error *err)
{
    GBSI_NEED(model, out);
    return gbs_run_new_with(
        &(gbs_run_setup){.model = model, .evidence = evidence, .options = options}, out, err);
}
