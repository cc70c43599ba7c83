/* SPDX-License-Identifier: Apache-2.0 */
/* Reads observations in XMLBIF. An observation is the element <OBSERVED> of SamIam, or <OBS> of
 * AISpace, inside a variable. The element has the number or the label of the state. The number is
 * an index into the states that the file lists for the variable in <OUTCOME> or <VALUE>. If the
 * file lists no states, the number is an index into the states of the model. -1 and an empty
 * element mean that nothing was observed. */
#include <string.h>

#include "answers/evidence_set.h"
#include "base/memory.h"
#include "decimal/decimal.h"
#include "store/model.h"
#include "text/xml.h"

typedef struct reader {
    gbsi_evidence_set *set;
    int depth;       /* number of open elements */
    int variable_at; /* depth of the open variable, 0 if none is open */
    bool collects;   /* the open element is a name, an outcome or an observation */
    bool is_name, is_outcome;
    gbsi_xml_names names;
    gbsi_token name, observed; /* name and observation of the open variable */
    const char *place;         /* place of the variable's observation */
    void *outcome;             /* gbsi_token [n_outcomes] states of the open variable in the file */
    size_t outcome_capacity, n_outcomes;
} reader;

static gbs_status on_start(void *context, gbsi_token tag, const char *name,
                           const char *const *attributes, gbs_error *err)
{
    reader *r = context;
    (void)attributes;
    (void)err;
    r->depth++;
    if (r->variable_at == 0 && strcmp(name, "VARIABLE") == 0) {
        r->variable_at = r->depth;
        r->name = r->observed = (gbsi_token){0};
        r->n_outcomes = 0;
    }
    r->is_name = strcmp(name, "NAME") == 0;
    r->is_outcome = strcmp(name, "OUTCOME") == 0 || strcmp(name, "VALUE") == 0;
    const bool is_observation = strcmp(name, "OBSERVED") == 0 || strcmp(name, "OBS") == 0;
    r->collects = r->variable_at != 0 && r->depth == r->variable_at + 1 &&
                  (r->is_name || r->is_outcome || is_observation);
    if (r->collects) {
        r->place = is_observation ? tag.at : r->place;
        gbsi_xml_begin_name(&r->names);
    }
    return GBS_OK;
}

static gbs_status on_data(void *context, gbsi_token shown, gbsi_token meant, bool literal,
                          gbs_error *err)
{
    reader *r = context;
    (void)shown;
    (void)err;
    if (r->collects) {
        gbsi_xml_add_name(&r->names, meant, literal);
    }
    return GBS_OK;
}

static bool find_label(const gbs_model *model, uint32_t variable, gbsi_token text, uint32_t *state)
{
    for (uint32_t a = 0; a < model->arity[variable]; a++) {
        const char *label = gbs_model_state_label(model, variable, a);
        if (label != NULL && gbsi_token_is(text, label)) {
            *state = a;
            return true;
        }
    }
    return false;
}

static gbs_status refuse(const reader *r, gbsi_token text, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    return gbsi_text_fail(&r->set->text, (gbsi_token){r->place, 1}, err,
                          "found the observation %s, expected the number or the label of one state",
                          gbsi_token_show(text, shown));
}

/* Finds the state with a number. If both the file and the model have labels, the number is the
 * index of an outcome in the file, and the label of this outcome gives the state. */
static gbs_status find_number(const reader *r, uint32_t variable, uint64_t number, uint32_t *state,
                              gbs_error *err)
{
    const gbs_model *model = r->set->model;
    char shown[2][GBSI_SHOWN];
    if (r->n_outcomes == 0 || gbs_model_state_label(model, variable, 0) == NULL) {
        *state = (uint32_t)number;
        return number < model->arity[variable] ? GBS_OK : refuse(r, r->observed, err);
    }
    const gbsi_token label = ((const gbsi_token *)r->outcome)[number];
    if (find_label(model, variable, label, state)) {
        return GBS_OK;
    }
    return gbsi_text_fail(
        &r->set->text, (gbsi_token){r->place, 1}, err,
        "found the observation %s, which is the outcome %s in this file, expected "
        "an outcome that is a state of the model too",
        gbsi_token_show(r->observed, shown[0]), gbsi_token_show(label, shown[1]));
}

/* Finds the state by its label, or else by its number. If the text is both the label of a state and
 * the number of another state, a warning says that the label is used. */
static gbs_status find_state(const reader *r, uint32_t variable, uint32_t *state, gbs_error *err)
{
    const gbsi_token text = r->observed;
    const uint64_t n = r->n_outcomes > 0 ? r->n_outcomes : r->set->model->arity[variable];
    char shown[GBSI_SHOWN];
    uint64_t number = 0;
    uint32_t other = 0;
    bool too_large = false;
    const bool has_number = gbsi_integer_read(text.at, text.n, n - 1, &number, &too_large);
    if (!find_label(r->set->model, variable, text, state)) {
        return has_number ? find_number(r, variable, number, state, err) : refuse(r, text, err);
    }
    if (has_number && find_number(r, variable, number, &other, NULL) >= 0 && other != *state) {
        gbsi_text_warn(&r->set->text,
                       "the observation %s is the label of state %u and the number of another: it "
                       "is taken for the label",
                       gbsi_token_show(text, shown), (unsigned)*state);
    }
    return GBS_OK;
}

static gbs_status add_outcome(reader *r, gbs_error *err)
{
    GBSI_PASS(gbsi_reserve(&r->outcome, &r->outcome_capacity, r->n_outcomes + 1, sizeof(gbsi_token),
                           r->set->name, err));
    ((gbsi_token *)r->outcome)[r->n_outcomes++] = gbsi_xml_end_name(&r->names);
    return GBS_OK;
}

static gbs_status end_variable(reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_observation o = {.place = r->place};
    char *name = NULL;
    if (r->observed.n == 0) {
        return GBS_OK;
    }
    name = gbsi_alloc_zero(r->name.n + 1);
    GBSI_PASS(GBSI_HAVE(err, r->set->name, name));
    if (r->name.n > 0) {
        memcpy(name, r->name.at, r->name.n);
    }
    if (!gbsi_find_name(r->set->model, name, &o.variable)) {
        char shown[GBSI_SHOWN];
        GBSI_TRY(gbsi_text_fail(&r->set->text, (gbsi_token){r->place, 1}, err,
                                "found an observation of %s, expected a variable of the model",
                                gbsi_token_show(r->name, shown)));
    }
    GBSI_TRY(find_state(r, o.variable, &o.state, err));
    status = gbsi_evidence_set_add(r->set, o, err);

cleanup:
    gbsi_free(name);
    return status;
}

/* Keeps the observation whose element ends, unless the element is empty or -1. Refuses a second,
 * different observation of the same variable. */
static gbs_status end_observation(reader *r, gbs_error *err)
{
    const gbsi_token text = gbsi_xml_end_name(&r->names);
    const gbsi_token before = r->observed;
    char shown[2][GBSI_SHOWN];
    if (text.n == 0 || gbsi_token_is(text, "-1")) {
        return GBS_OK;
    }
    if (before.n > 0 && (text.n != before.n || memcmp(text.at, before.at, text.n) != 0)) {
        return gbsi_text_fail(&r->set->text, (gbsi_token){r->place, 1}, err,
                              "found the observation %s behind %s, expected one of a variable",
                              gbsi_token_show(text, shown[0]), gbsi_token_show(before, shown[1]));
    }
    r->observed = text;
    return GBS_OK;
}

static gbs_status on_end(void *context, gbsi_token tag, gbs_error *err)
{
    reader *r = context;
    (void)tag;
    if (r->collects && r->is_name) {
        r->name = gbsi_xml_end_name(&r->names);
    } else if (r->collects && r->is_outcome) {
        GBSI_PASS(add_outcome(r, err));
    } else if (r->collects) {
        GBSI_PASS(end_observation(r, err));
    }
    r->collects = false;
    const bool ends = r->depth-- == r->variable_at;
    r->variable_at = ends ? 0 : r->variable_at;
    return ends ? end_variable(r, err) : GBS_OK;
}

gbs_status gbsi_evidence_read_xml(gbsi_evidence_set *set, gbs_error *err)
{
    static const gbsi_xml_handlers handlers = {on_start, on_data, on_end};
    gbs_status status = GBS_OK;
    reader r = {.set = set};
    GBSI_TRY(gbsi_xml_names_init(&r.names, &set->text, err));
    GBSI_TRY(gbsi_evidence_set_begin(set, err));
    GBSI_TRY(gbsi_xml_parse(&set->text, &handlers, &r, err));
    if (set->n_observations == 0) {
        status =
            gbsi_text_fail(&set->text, (gbsi_token){set->text.begin, 0}, err,
                           "found no observation, expected <OBSERVED> or <OBS> in a <VARIABLE>");
    }

cleanup:
    gbsi_xml_names_free(&r.names);
    gbsi_free(r.outcome);
    return status;
}
