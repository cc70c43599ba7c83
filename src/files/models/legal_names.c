/* SPDX-License-Identifier: Apache-2.0 */
/* Makes legal names for a format that does not allow every name. Legal names are not changed.
 * Different names stay different, because a number is added to a name that would become equal to
 * another name. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "models/tables.h"
#include "store/model.h"
#include "text/common.h"
#include "text/output.h"
#include "text/text.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void gbsi_legal_identifier(const char *name, char prefix, bool underscore_first, char *legal)
{
    if (!is_letter(name[0]) && !(underscore_first && name[0] == '_')) {
        *legal++ = prefix;
    }
    for (size_t n = strlen(name); n > 0;) {
        const size_t length = gbsi_utf8_length(name, n);
        const bool fits = is_letter(*name) || (*name >= '0' && *name <= '9');
        *legal++ = (char)(fits ? *name : '_');
        name += length == 0 ? 1 : length;
        n -= length == 0 ? 1 : length;
    }
    *legal = 0;
}

typedef struct namer {
    gbsi_names *names;
    gbsi_legal *make;
    /* names of variables under the key UINT32_MAX, labels of states under the variable's number */
    gbsi_name_map taken;
    char *legal; /* legal form of the current name, with room for a further number */
    size_t n_changed;
    const char *from, *to; /* first name that was changed, and its new form */
} namer;

#define NUMBER_BYTES \
    24 /* number of bytes for the number that makes a name unique and the text that a rule adds */

/* Writes the legal form of a name into n->legal.
 * @return whether the legal form differs from the name. */
static bool make_legal(namer *n, const char *name, bool is_state, gbs_status *status,
                       gbs_error *err)
{
    const size_t room = strlen(name) + NUMBER_BYTES;
    char *larger = gbsi_realloc_array(n->legal, room, 1);
    if (larger == NULL) {
        *status = gbsi_no_memory(err, "names", room);
        return false;
    }
    n->legal = larger;
    n->make(name, is_state, n->legal);
    return strcmp(n->legal, name) != 0;
}

/* Changes *name, which is not legal, to a legal form that no other name has. */
static gbs_status rename_one(namer *n, uint32_t owner, const char **name, bool is_state,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (!make_legal(n, *name, is_state, &status, err)) {
        return status;
    }
    const size_t length = strlen(n->legal);
    bool added = false;
    char *kept = gbsi_alloc(length + NUMBER_BYTES);
    GBSI_PASS(GBSI_HAVE(err, "names", kept));
    memcpy(kept, n->legal, length + 1);
    for (unsigned k = 2; !added && status >= 0; k++) {
        status = gbsi_name_map_add(&n->taken, owner, kept, strlen(kept), 0, &added, err);
        if (!added) {
            (void)snprintf(kept + length, NUMBER_BYTES, "_%u", k);
        }
    }
    if (status < 0) {
        gbsi_free(kept);
        return status;
    }
    n->from = n->n_changed == 0 ? *name : n->from;
    n->to = n->n_changed++ == 0 ? kept : n->to;
    GBSI_TRY(gbsi_reserve(&n->names->owned, &n->names->capacity, n->names->n_owned + 1,
                          sizeof(char *), "names", err));
    ((char **)n->names->owned)[n->names->n_owned++] = kept;
    *name = kept;
    return GBS_OK;

cleanup:
    gbsi_free(kept);
    return status;
}

/* Gives legal forms to the names of a list that are not legal. */
static gbs_status name_all(namer *n, uint32_t owner, const char **name, size_t n_names,
                           bool is_state, gbs_error *err)
{
    gbs_status status = GBS_OK;
    size_t n_illegal = 0;
    for (size_t i = 0; i < n_names; i++) {
        n_illegal += make_legal(n, name[i], is_state, &status, err);
        GBSI_TRY(status);
    }
    for (size_t i = 0; i < n_names && n_illegal > 0; i++) {
        bool added = false;
        if (!make_legal(n, name[i], is_state, &status, err) && status >= 0) {
            status = gbsi_name_map_add(&n->taken, owner, name[i], strlen(name[i]), 0, &added, err);
        }
        GBSI_TRY(status);
    }
    for (size_t i = 0; i < n_names && n_illegal > 0; i++) {
        GBSI_TRY(rename_one(n, owner, &name[i], is_state, err));
    }

cleanup:
    return status;
}

/* Collects the names of the model. Unnamed variables get new names, which are copied. */
static gbs_status take_names(gbsi_names *names, const gbs_model *model, gbs_error *err)
{
    char made[GBSI_MADE_NAME];
    for (uint32_t v = 0; v < model->n_variables; v++) {
        GBSI_PASS(gbsi_written_name(model, v, made, &names->variable[v], err));
        if (names->variable[v] == made) {
            const size_t n = strlen(made) + 1;
            GBSI_PASS(gbsi_reserve(&names->owned, &names->capacity, names->n_owned + 1,
                                   sizeof(char *), "names", err));
            char *copy = gbsi_alloc(n);
            GBSI_PASS(GBSI_HAVE(err, "names", copy));
            ((char **)names->owned)[names->n_owned++] = memcpy(copy, made, n);
            names->variable[v] = copy;
        }
        for (uint32_t a = 0; a < model->arity[v]; a++) {
            names->state[model->state_offset[v] + a] = gbs_model_state_label(model, v, a);
        }
    }
    return GBS_OK;
}

static void tell_renamed(const namer *n, const char *format, const gbs_output *output,
                         const gbs_write_options *options)
{
    char from[GBSI_SHOWN];
    char to[GBSI_SHOWN];
    char message[512];
    if (n->n_changed == 0 || options->warn == NULL) {
        return;
    }
    (void)snprintf(message, sizeof message,
                   "%.200s: wrote %zu name%s in another form, as %s files cannot hold %s: %s "
                   "became %s",
                   gbsi_output_name(output), n->n_changed, gbsi_plural(n->n_changed), format,
                   gbsi_plural_of(n->n_changed, "it", "them"),
                   gbsi_token_show((gbsi_token){n->from, strlen(n->from)}, from),
                   gbsi_token_show((gbsi_token){n->to, strlen(n->to)}, to));
    options->warn(options->context, message);
}

gbs_status gbsi_names_init(gbsi_names *names, const gbs_model *model, gbsi_legal *make,
                           const char *format, const gbs_output *output,
                           const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    namer n = {.names = names, .make = make};
    const size_t n_states = model->state_offset[model->n_variables];
    *names = (gbsi_names){.model = model};
    names->variable = gbsi_alloc_array(model->n_variables, sizeof *names->variable);
    names->state = gbsi_alloc_array(n_states, sizeof *names->state);
    GBSI_TRY(GBSI_HAVE(err, "names", names->variable, names->state));
    GBSI_TRY(take_names(names, model, err));
    GBSI_TRY(name_all(&n, UINT32_MAX, names->variable, model->n_variables, false, err));
    for (uint32_t v = 0; v < model->n_variables; v++) {
        const char **state = names->state + model->state_offset[v];
        const size_t n_labels = state[0] == NULL ? 0 : model->arity[v];
        GBSI_TRY(name_all(&n, v, state, n_labels, true, err));
    }
    tell_renamed(&n, format, output, options);

cleanup:
    gbsi_name_map_free(&n.taken);
    gbsi_free(n.legal);
    return status;
}

void gbsi_names_free(gbsi_names *names)
{
    for (size_t i = 0; i < names->n_owned; i++) {
        gbsi_free(((char **)names->owned)[i]);
    }
    GBSI_FREE(names->owned, names->variable, names->state);
}

const char *gbsi_names_state(const gbsi_names *names, uint32_t variable, uint32_t state)
{
    return names->state[names->model->state_offset[variable] + state];
}
