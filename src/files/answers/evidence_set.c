/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of evidence as a set of one or more samples. */
#include "answers/evidence_set.h"

#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "pictures/image_file.h"
#include "store/builder.h"
#include "store/model.h"
#include "text/common.h"

static const gbs_read_options default_options = {0};

/* ---- reading ----------------------------------------------------------------------------- */

/* Reads "NAME=STATE" as a person types it. The states must be known and must not contradict one
 * another. */
static gbs_status read_typed(gbsi_evidence_set *set, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_evidence *alone = NULL;
    set->is_typed = true;
    GBSI_TRY(gbsi_evidence_set_begin(set, err));
    GBSI_TRY(gbs_evidence_new(set->model, &alone, err));
    status = gbsi_evidence_add_lines(alone, &set->text, err);

cleanup:
    gbs_evidence_free(alone);
    return status;
}

/* Chooses the reader of a file. Pictures are recognised by their first bytes, and XMLBIF and the
 * other forms by their content. The form "tab" is recognised by the file name extension .tab. If
 * the options name a form, the reader of this form is used instead. */
static gbs_status read_format(gbsi_evidence_set *set, const char *path,
                              const gbs_read_options *options, gbs_error *err)
{
    const char *format = options->evidence_format;
    bool tab = format == NULL ? gbsi_has_ending(path, ".tab") : strcmp(format, "tab") == 0;
    set->text.name = set->input.name;
    if (format == NULL && gbsi_is_image(&set->input)) {
        return gbsi_evidence_read_image(set, options, err);
    }
    GBSI_PASS(gbsi_input_decode(&set->input, options, err));
    GBSI_PASS(gbsi_text_open(&set->text, &set->input, options, err));
    const gbsi_token first = gbsi_text_peek(&set->text);
    const bool is_xml = first.n > 0 && first.at[0] == '<';
    if (format != NULL && strcmp(format, "xmlbif") == 0 && !is_xml) {
        return gbsi_text_unexpected(&set->text, first,
                                    "XMLBIF, the only format of models whose observations are read",
                                    err);
    }
    const bool xml = is_xml && (format == NULL || strcmp(format, "xmlbif") == 0);
    const bool typed = format == NULL ? !tab && !xml && gbsi_evidence_is_typed(&set->text)
                                      : strcmp(format, "names") == 0;
    return tab     ? gbsi_evidence_read_tab(set, err)
           : xml   ? gbsi_evidence_read_xml(set, err)
           : typed ? read_typed(set, err)
                   : gbsi_evidence_read_uai(set, err);
}

gbs_status gbsi_evidence_set_read(const gbs_model *model, const char *path,
                                  const gbs_read_options *options, gbsi_evidence_set **set,
                                  gbs_error *err)
{
    GBSI_NEED(model, path, set);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbs_status status = GBS_OK;
    size_t n = strlen(path) + 1;
    options = options == NULL ? &default_options : options;
    gbsi_evidence_set *made = gbsi_alloc_zero(sizeof *made);
    GBSI_PASS(GBSI_HAVE(err, path, made));
    made->model = model;
    GBSI_TRY(gbsi_input_read_text(path, &made->input, err));
    made->name = gbsi_alloc(n);
    GBSI_TRY(GBSI_HAVE(err, path, made->name));
    memcpy(made->name, path, n);
    GBSI_TRY(read_format(made, path, options, err));
    if (strcmp(path, "-") != 0) {
        made->text.name = made->name; /* the caller owns path and options */
    }
    made->text.options = &default_options;
    *set = made;
    made = NULL;

cleanup:
    gbsi_evidence_set_free(made);
    return status;
}

void gbsi_evidence_set_free(gbsi_evidence_set *set)
{
    if (set != NULL) {
        gbsi_input_free(&set->input);
        GBSI_FREE(set->name, set->start, set->observation, set);
    }
}

/* ---- using ------------------------------------------------------------------------------- */

size_t gbsi_evidence_set_size(const gbsi_evidence_set *set)
{
    return set == NULL ? 0 : set->n_samples;
}

/* Checks that an observation agrees with the earlier evidence. All observations are checked before
 * the first one is added, so that a failure changes nothing. */
static gbs_status check_agreement(const gbsi_evidence_set *set, const gbsi_observation *o,
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
    char name[128];
    return gbsi_text_fail(&set->text, (gbsi_token){o->place, 1}, err,
                          "found variable %s observed in state %u, but it was observed in state %u "
                          "already",
                          gbsi_variable_text(set->model, o->variable, name, sizeof name), o->state,
                          before);
}

/* Adds the typed observations to a copy of the evidence, and exchanges the copy for the evidence at
 * the end. A failure therefore leaves the evidence unchanged. */
static gbs_status observe_typed(const gbsi_evidence_set *set, gbs_evidence *evidence,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_evidence *changed = NULL;
    GBSI_TRY(gbsi_evidence_copy(set->model, evidence, &changed, err));
    GBSI_TRY(gbsi_evidence_add_lines(changed, &set->text, err));
    const gbs_evidence before = *evidence;
    *evidence = *changed;
    *changed = before;

cleanup:
    gbs_evidence_free(changed);
    return status;
}

gbs_status gbsi_evidence_set_observe(const gbsi_evidence_set *set, size_t index,
                                     gbs_evidence *evidence, gbs_error *err)
{
    GBSI_NEED(set, evidence);
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
    if (set->is_typed) {
        return observe_typed(set, evidence, err);
    }
    size_t end = index + 1 < set->n_samples ? start[index + 1] : set->n_observations;
    for (size_t i = start[index]; i < end; i++) {
        GBSI_PASS(check_agreement(set, &observation[i], evidence, err));
    }
    for (size_t i = start[index]; i < end; i++) {
        /* Readers have checked the state, and the loop above has checked that nothing
         * contradicts the state. */
        GBSI_PASS(
            gbs_evidence_observe(evidence, observation[i].variable, observation[i].state, err));
    }
    return GBS_OK;
}

gbs_status gbs_evidence_count(const gbs_model *model, const char *path,
                              const gbs_read_options *options, size_t *n, gbs_error *err)
{
    GBSI_NEED(model, path, n);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbsi_evidence_set *set = NULL;
    gbs_status status = gbsi_evidence_set_read(model, path, options, &set, err);
    if (set != NULL) {
        *n = set->n_samples;
    }
    gbsi_evidence_set_free(set);
    return status;
}

gbs_status gbs_evidence_read(gbs_evidence *evidence, const char *path, uint32_t index,
                             const gbs_read_options *options, gbs_error *err)
{
    GBSI_NEED(evidence, path);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbsi_evidence_set *set = NULL;
    gbs_status status = gbsi_evidence_set_read(evidence->model, path, options, &set, err);
    if (set != NULL) {
        status = gbsi_evidence_set_observe(set, index, evidence, err);
    }
    gbsi_evidence_set_free(set);
    return status;
}
