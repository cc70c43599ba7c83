/* SPDX-License-Identifier: Apache-2.0 */
/* Reads observations that programs keep in XMLBIF: the element <OBSERVED> of SamIam or <OBS> of
 * AISpace inside a variable. The state is given by its number or its label. -1 and an empty
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
    bool collects;   /* the open element is a name or an observation */
    bool is_name;
    gbsi_xml_names names;
    gbsi_token name, observed; /* name and observation of the open variable */
    const char *place;         /* place of the variable's observation */
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
    }
    r->is_name = strcmp(name, "NAME") == 0;
    r->collects = r->variable_at != 0 && r->depth == r->variable_at + 1 &&
                  (r->is_name || strcmp(name, "OBSERVED") == 0 || strcmp(name, "OBS") == 0);
    if (r->collects) {
        r->place = r->is_name ? r->place : tag.at;
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

/* Finds the state by its label, or else by its number. If text is both a label and another
 * state's number, a warning says so. */
static gbs_status find_state(const reader *r, uint32_t variable, uint32_t *state, gbs_error *err)
{
    const gbs_model *model = r->set->model;
    const gbsi_token text = r->observed;
    const uint32_t arity = model->arity[variable];
    char shown[GBSI_SHOWN];
    uint64_t number = 0;
    bool too_large = false;
    const bool has_number = gbsi_integer_read(text.at, text.n, arity - 1, &number, &too_large);
    uint32_t a = 0;
    while (a < arity && (gbs_model_state_label(model, variable, a) == NULL ||
                         !gbsi_token_is(text, gbs_model_state_label(model, variable, a)))) {
        a++;
    }
    if (a < arity && has_number && number != a) {
        gbsi_text_warn(&r->set->text,
                       "the observation %s is the label of state %u and the number of another: it "
                       "is taken for the label",
                       gbsi_token_show(text, shown), (unsigned)a);
    }
    if (a == arity && !has_number) {
        return gbsi_text_fail(&r->set->text, (gbsi_token){r->place, 1}, err,
                              "found the observation %s, expected the number or the label of one "
                              "state",
                              gbsi_token_show(text, shown));
    }
    *state = a < arity ? a : (uint32_t)number;
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
    return status;
}
