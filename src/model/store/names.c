/* SPDX-License-Identifier: Apache-2.0 */
/* Names of variables and labels of states: order, look-up, similar names, texts for messages. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "base/watch.h"
#include "store/builder.h"

enum {
    N_SUGGESTIONS = 3,
    MAX_SUGGESTED_LENGTH = 63, /* names longer than this are never suggested */
    MAX_SCOPE_NAMES = 8,
};

static bool text_before(const char *text, const size_t *offset, uint32_t a, uint32_t b)
{
    const int order = strcmp(text + offset[a], text + offset[b]);
    return order < 0 || (order == 0 && a < b);
}

/* Sorts by a bottom-up merge sort, because there is no portable way to pass the texts to the
 * comparison function of qsort(). */
void gbsi_sort_by_text(const char *text, const size_t *offset, uint32_t *id, uint32_t *scratch,
                       size_t n)
{
    uint32_t *from = id;
    uint32_t *to = scratch;
    gbsi_watch *watch = gbsi_watch_current();
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t start = 0; start < n && !gbsi_watch_stopped(watch); start += 2 * width) {
            const size_t middle = n - start < width ? n : start + width;
            const size_t end = n - start < 2 * width ? n : start + 2 * width;
            size_t a = start;
            size_t b = middle;
            for (size_t i = start; i < end; ++i) {
                const bool left =
                    b >= end || (a < middle && !text_before(text, offset, from[b], from[a]));
                to[i] = left ? from[a++] : from[b++];
                (void)gbsi_watch_spend(watch, 16);
            }
        }
        if (gbsi_watch_stopped(watch)) {
            break; /* `from` has all names, not yet fully sorted */
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != id && n > 0) {
        memcpy(id, from, n * sizeof *id);
    }
}

gbs_status gbsi_model_index_names(gbs_model *model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *by_name = NULL;
    uint32_t *scratch = NULL;
    uint32_t n_named = 0;
    for (uint32_t v = 0; model->name != NULL && v < model->n_variables; ++v) {
        n_named += model->name[v] != SIZE_MAX;
    }
    if (n_named == 0) {
        return GBS_OK;
    }
    by_name = gbsi_alloc_array(n_named, sizeof *by_name);
    scratch = gbsi_alloc_array(n_named, sizeof *scratch);
    GBSI_TRY(GBSI_HAVE(err, "model", by_name, scratch));
    uint32_t i = 0;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        if (model->name[v] != SIZE_MAX) {
            by_name[i++] = v;
        }
    }
    gbsi_sort_by_text(model->text, model->name, by_name, scratch, n_named);
    GBSI_TRY(gbsi_watch_work(gbsi_watch_current(), n_named, "indexing names", err));
    GBSI_TRY(gbsi_check_name_order(model, by_name, n_named, err));
    model->by_name = by_name;
    model->n_named = n_named;
    by_name = NULL;

cleanup:
    GBSI_FREE(by_name, scratch);
    return status;
}

/* ---- texts for messages -------------------------------------------------------------------- */

const char *gbsi_variable_text(const gbs_model *model, uint32_t variable, char *text, size_t size)
{
    const char *name = gbs_model_variable_name(model, variable);
    if (name != NULL) {
        (void)snprintf(text, size, "%s", name);
    } else {
        (void)snprintf(text, size, "%u", (unsigned)variable);
    }
    return text;
}

const char *gbsi_state_text(const gbs_model *model, uint32_t variable, uint32_t state, char *text,
                            size_t size)
{
    const char *label = gbs_model_state_label(model, variable, state);
    if (label != NULL) {
        (void)snprintf(text, size, "%s", label);
    } else {
        (void)snprintf(text, size, "%u", (unsigned)state);
    }
    return text;
}

const char *gbsi_scope_text(const gbs_model *model, size_t factor, char *text, size_t size)
{
    const size_t start = model->factors.scope_start[factor];
    const size_t n = model->factors.scope_start[factor + 1] - start;
    size_t used = (size_t)snprintf(text, size, "(");
    for (size_t i = 0; i < n && i < MAX_SCOPE_NAMES; ++i) {
        char name[64];
        (void)gbsi_variable_text(model, model->factors.scope[start + i], name, sizeof name);
        const int more = snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ", name);
        if (more < 0 || (size_t)more >= size - used) {
            return text;
        }
        used += (size_t)more;
    }
    (void)snprintf(text + used, size - used, n > MAX_SCOPE_NAMES ? ", ...)" : ")");
    return text;
}

/* ---- similar names ------------------------------------------------------------------------- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Computes the edit distance (Levenshtein 1966) one row at a time, ignoring upper and lower
 * case. @return SIZE_MAX if a name is too long to be suggested. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[MAX_SUGGESTED_LENGTH + 1];
    const size_t n_a = strlen(a);
    const size_t n_b = strlen(b);
    if (n_a > MAX_SUGGESTED_LENGTH || n_b > MAX_SUGGESTED_LENGTH) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= n_b; ++j) {
        row[j] = j;
    }
    for (size_t i = 1; i <= n_a; ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n_b; ++j) {
            const size_t replaced = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
            const size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replaced < shorter ? replaced : shorter;
        }
    }
    return row[n_b];
}

typedef struct suggestions {
    const char *wanted;
    size_t n;
    size_t distance[N_SUGGESTIONS];
    const char *name[N_SUGGESTIONS]; /* the nearest name comes first; names at equal distance are in
                                        the order in which they were found */
} suggestions;

static void consider(suggestions *s, const char *name)
{
    size_t distance = edit_distance(s->wanted, name);
    const size_t n = strlen(s->wanted);
    if (n > 1 && strncmp(name, s->wanted, n) == 0 && name[n] == '(' &&
        strlen(name) <=
            MAX_SUGGESTED_LENGTH) { /* the name is a ground atom of the predicate `wanted` */
        distance = 1;
    }
    if (distance > 1 + strlen(s->wanted) / 3) {
        return;
    }
    size_t place = s->n < N_SUGGESTIONS ? s->n++ : N_SUGGESTIONS;
    while (place > 0 && s->distance[place - 1] > distance) {
        if (place < N_SUGGESTIONS) {
            s->distance[place] = s->distance[place - 1];
            s->name[place] = s->name[place - 1];
        }
        --place;
    }
    if (place < N_SUGGESTIONS) {
        s->distance[place] = distance;
        s->name[place] = name;
    }
}

/* Writes "; near: a, b", or nothing if there are no suggestions. */
static void suggestions_text(const suggestions *s, char text[256])
{
    text[0] = 0;
    size_t used = 0;
    for (size_t i = 0; i < s->n; ++i) {
        used += (size_t)snprintf(text + used, 256 - used, "%s%s", i == 0 ? "; did you mean " : ", ",
                                 s->name[i]);
    }
    assert(used < 256);
}

/* ---- look-up ------------------------------------------------------------------------------- */

/* Returns whether the text has only digits; *value saturates. */
static bool all_digits(const char *text, uint64_t *value)
{
    *value = 0;
    if (*text == 0) {
        return false;
    }
    for (; *text != 0; ++text) {
        if (*text < '0' || *text > '9') {
            return false;
        }
        if (*value < UINT64_MAX / 16) {
            *value = *value * 10 + (uint64_t)(*text - '0');
        }
    }
    return true;
}

static uint32_t find_name(const gbs_model *model, const char *name)
{
    uint32_t low = 0;
    uint32_t high = model->n_named;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = strcmp(model->text + model->name[model->by_name[middle]], name);
        if (order == 0) {
            return model->by_name[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return GBSI_NONE;
}

/* Returns whether a text has the form of a ground atom of a Markov logic program, such as
 * Cancer(Bob). */
static bool is_atom(const char *text)
{
    const char *open = strchr(text, '(');
    const size_t n = strlen(text);
    return open != NULL && open > text && text[n - 1] == ')';
}

/* Returns whether some variable has the name of a ground atom; true also for a model without
 * variables. */
static bool has_atoms(const gbs_model *model)
{
    for (uint32_t i = 0; i < model->n_named; ++i) {
        if (is_atom(model->text + model->name[i])) {
            return true;
        }
    }
    return model->n_variables == 0;
}

static gbs_status no_such_variable(const gbs_model *model, const char *name, gbs_error *err)
{
    char near[256];
    suggestions s = {.wanted = name};
    const char *atom = is_atom(name) && has_atoms(model)
                           ? ". A ground atom that is open but in no factor is not a variable: "
                             "its probability is 1/2"
                           : "";
    if (model->n_variables == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "there is no variable \"%.200s\": the model has no variables%s", name,
                         atom);
    }
    if (model->n_named == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "there is no variable \"%.200s\": the variables of this model have no "
                         "names, give an index below %u",
                         name, (unsigned)model->n_variables);
    }
    for (uint32_t i = 0; i < model->n_named; ++i) {
        consider(&s, model->text + model->name[model->by_name[i]]);
    }
    suggestions_text(&s, near);
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "there is no variable \"%.200s\"%s%s", name, near,
                     atom);
}

gbs_status gbs_model_find_variable(const gbs_model *model, const char *text, uint32_t *variable,
                                   gbs_error *err)
{
    GBSI_NEED(model, text, variable);
    uint64_t index = 0;
    uint32_t found = find_name(model, text);
    if (found == GBSI_NONE && all_digits(text + (text[0] == '#'), &index)) {
        if (index >= model->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "variable %.40s: the model has %u variable%s, counted from 0", text,
                             (unsigned)model->n_variables, gbsi_plural(model->n_variables));
        }
        *variable = (uint32_t)index;
        return GBS_OK;
    }
    const char *name = text + (text[0] == '=');
    found = found == GBSI_NONE ? find_name(model, name) : found;
    if (found == GBSI_NONE) {
        return no_such_variable(model, name, err);
    }
    *variable = found;
    return GBS_OK;
}

static uint32_t find_label(const gbs_model *model, uint32_t variable, const char *label)
{
    for (uint32_t a = 0; a < model->arity[variable]; ++a) {
        const char *known = gbs_model_state_label(model, variable, a);
        if (known != NULL && strcmp(known, label) == 0) {
            return a;
        }
    }
    return GBSI_NONE;
}

/* Writes a text such as "dry, wet" for up to six labelled states, otherwise "". */
static void labels_text(const gbs_model *model, uint32_t variable, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (uint32_t a = 0; a < model->arity[variable] && model->arity[variable] <= 6; ++a) {
        const char *label = gbs_model_state_label(model, variable, a);
        const size_t room = size - used;
        const int n =
            label == NULL ? -1 : snprintf(text + used, room, "%s%s", a == 0 ? "" : ", ", label);
        if (n < 0 || (size_t)n >= room) {
            text[0] = 0;
            return;
        }
        used += (size_t)n;
    }
}

static gbs_status no_such_state(const gbs_model *model, uint32_t variable, const char *text,
                                gbs_error *err)
{
    char near[256];
    char name[128];
    char labels[200];
    suggestions s = {.wanted = text[0] == '=' ? text + 1 : text};
    gbsi_variable_text(model, variable, name, sizeof name);
    labels_text(model, variable, labels, sizeof labels);
    uint64_t index = 0;
    if (labels[0] != 0) {
        const bool number = all_digits(text, &index) && index < model->arity[variable];
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "variable %s has no state \"%.200s\": its states are %s%s%s%s", name, text,
                         labels, number ? "; state number " : "", number ? text : "",
                         number ? " is typed with # before it" : "");
    }
    for (uint32_t a = 0; a < model->arity[variable]; ++a) {
        const char *label = gbs_model_state_label(model, variable, a);
        if (label != NULL) {
            consider(&s, label);
        }
    }
    suggestions_text(&s, near);
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "variable %s has no state \"%.200s\": it has %u state%s, counted from 0%s",
                     name, text, (unsigned)model->arity[variable],
                     gbsi_plural(model->arity[variable]), near);
}

gbs_status gbs_model_find_state(const gbs_model *model, uint32_t variable, const char *text,
                                uint32_t *state, gbs_error *err)
{
    GBSI_NEED(model, text, state);
    if (variable >= model->n_variables) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT, "variable %u: the model has %u variable%s, counted from 0",
            (unsigned)variable, (unsigned)model->n_variables, gbsi_plural(model->n_variables));
    }
    uint64_t index = 0;
    uint32_t found = find_label(model, variable, text);
    if (found == GBSI_NONE && text[0] == '=') {
        found = find_label(model, variable, text + 1);
    }
    const bool labelled = gbs_model_state_label(model, variable, 0) != NULL;
    const char *digits = text[0] == '#' ? text + 1 : labelled ? "" : text;
    if (found == GBSI_NONE && all_digits(digits, &index) && index < model->arity[variable]) {
        found = (uint32_t)index;
    }
    if (found == GBSI_NONE) {
        return no_such_state(model, variable, text, err);
    }
    *state = found;
    return GBS_OK;
}

bool gbsi_find_name(const gbs_model *model, const char *name, uint32_t *variable)
{
    uint32_t low = 0;
    uint32_t high = model->n_named;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(gbs_model_variable_name(model, model->by_name[middle]), name);
        if (order == 0) {
            *variable = model->by_name[middle];
            return true;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return false;
}
