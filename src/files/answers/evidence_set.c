/* SPDX-License-Identifier: Apache-2.0 */
/* Files of evidence as sets of samples: one, or as many as the file holds. */
#include "answers/evidence_set.h"

#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "pictures/image_file.h"
#include "store/model.h"
#include "text/common.h"

static const gbs_read_options default_options = {0};

gbs_status gbsi_evidence_set_begin(gbs_evidence_set *set, gbs_error *err)
{
    gbs_status status = gbsi_reserve(&set->start, &set->start_capacity, set->n_samples + 1,
                                     sizeof(size_t), set->name, err);
    if (status == GBS_OK) {
        ((size_t *)set->start)[set->n_samples++] = set->n_observations;
    }
    return status;
}

gbs_status gbsi_evidence_set_add(gbs_evidence_set *set, gbsi_observation observation,
                                 gbs_error *err)
{
    gbs_status status = gbsi_reserve(&set->observation, &set->observation_capacity,
                                     set->n_observations + 1, sizeof observation, set->name, err);
    if (status == GBS_OK) {
        ((gbsi_observation *)set->observation)[set->n_observations++] = observation;
    }
    return status;
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Pictures are recognised by their first bytes, "tab" by the format named in the options, and the
 * two UAI forms by their content. */
static gbs_status read_format(gbs_evidence_set *set, const char *path,
                              const gbs_read_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const char *format = options->evidence_format;
    bool tab = format == NULL ? gbsi_has_ending(path, ".tab") : strcmp(format, "tab") == 0;
    set->text.name = set->input.name;
    if (format == NULL && gbs_image_recognise(set->input.bytes, set->input.n)) {
        return gbsi_evidence_read_image(set, options, err);
    }
    GBSI_TRY(gbsi_text_open(&set->text, &set->input, options, err));
    status = tab ? gbsi_evidence_read_tab(set, err) : gbsi_evidence_read_uai(set, err);

cleanup:
    return status;
}

gbs_status gbs_evidence_set_read(const gbs_model *model, const char *path,
                                 const gbs_read_options *options, gbs_evidence_set **set,
                                 gbs_error *err)
{
    GBSI_NEED(model);
    GBSI_NEED(path);
    GBSI_NEED(set);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbs_status status = GBS_OK;
    size_t n = strlen(path) + 1;
    options = options == NULL ? &default_options : options;
    gbs_evidence_set *made = gbsi_alloc_zero(sizeof *made);
    if (made == NULL) {
        return gbsi_no_memory(err, path, sizeof *made);
    }
    made->model = model;
    GBSI_TRY(gbsi_input_read_text(path, &made->input, err));
    made->name = gbsi_alloc(n);
    if (made->name == NULL) {
        status = gbsi_no_memory(err, path, n);
        goto cleanup;
    }
    memcpy(made->name, path, n);
    GBSI_TRY(read_format(made, path, options, err));
    if (strcmp(path, "-") != 0) {
        made->text.name = made->name; /* path and options are the caller's */
    }
    made->text.options = &default_options;
    *set = made;
    made = NULL;

cleanup:
    gbs_evidence_set_free(made);
    return status;
}

void gbs_evidence_set_free(gbs_evidence_set *set)
{
    if (set != NULL) {
        gbsi_input_free(&set->input);
        gbsi_free(set->name);
        gbsi_free(set->start);
        gbsi_free(set->observation);
        gbsi_free(set);
    }
}

/* ---- using ------------------------------------------------------------------------------- */

size_t gbs_evidence_set_size(const gbs_evidence_set *set)
{
    return set == NULL ? 0 : set->n_samples;
}

/* Against what was observed before, so that nothing is half done. */
static gbs_status check_agreement(const gbs_evidence_set *set, const gbsi_observation *o,
                                  const gbs_evidence *evidence, gbs_error *err)
{
    uint32_t before = 0;
    if (gbs_evidence_state(evidence, o->variable, &before) == 0 || before == o->state) {
        return GBS_OK;
    }
    if (o->place == NULL) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: found pixel %u in state %u, but its variable was observed in state "
                         "%u already",
                         set->text.name, o->variable, o->state, before);
    }
    return gbsi_text_fail(&set->text, (gbsi_token){o->place, 1}, err,
                          "found variable %u observed in state %u, but it was observed in state %u "
                          "already",
                          o->variable, o->state, before);
}

gbs_status gbs_evidence_set_observe(const gbs_evidence_set *set, size_t index,
                                    gbs_evidence *evidence, gbs_error *err)
{
    GBSI_NEED(set);
    GBSI_NEED(evidence);
    gbs_status status = GBS_OK;
    const size_t *start = set->start;
    const gbsi_observation *observation = set->observation;
    if (evidence->model != set->model) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: read for another model", set->text.name);
    }
    if (index >= set->n_samples) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: evidence sample %zu is asked for, the file has %zu (counted from 0)",
                         set->text.name, index, set->n_samples);
    }
    size_t end = index + 1 < set->n_samples ? start[index + 1] : set->n_observations;
    for (size_t i = start[index]; i < end; i++) {
        GBSI_TRY(check_agreement(set, &observation[i], evidence, err));
    }
    for (size_t i = start[index]; i < end; i++) {
        /* Readers have checked the state, and the loop above that nothing contradicts it. */
        GBSI_TRY(
            gbs_evidence_observe(evidence, observation[i].variable, observation[i].state, err));
    }

cleanup:
    return status;
}

gbs_status gbs_evidence_count(const gbs_model *model, const char *path,
                              const gbs_read_options *options, size_t *n, gbs_error *err)
{
    GBSI_NEED(model);
    GBSI_NEED(path);
    GBSI_NEED(n);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbs_evidence_set *set = NULL;
    gbs_status status = gbs_evidence_set_read(model, path, options, &set, err);
    if (set != NULL) {
        *n = set->n_samples;
    }
    gbs_evidence_set_free(set);
    return status;
}

gbs_status gbs_evidence_read(gbs_evidence *evidence, const char *path, uint32_t index,
                             const gbs_read_options *options, gbs_error *err)
{
    GBSI_NEED(evidence);
    GBSI_NEED(path);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbs_evidence_set *set = NULL;
    gbs_status status = gbs_evidence_set_read(evidence->model, path, options, &set, err);
    if (set != NULL) {
        status = gbs_evidence_set_observe(set, index, evidence, err);
    }
    gbs_evidence_set_free(set);
    return status;
}
