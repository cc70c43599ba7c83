/* SPDX-License-Identifier: Apache-2.0 */
/* Reads results that this library wrote as JSON, and the names in archives of arrays. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answers/result_table.h"
#include "base/memory.h"
#include "decimal/decimal.h"
#include "text/json_text.h"

enum { MOST_LEVELS = 64 }; /* of values within values that are skipped */

/* Skips blanks. A token may be as long as the file, so that peeking at each would take quadratic
 * time. @return the character that follows, or 0 at the end. */
static char look(gbsi_table *r)
{
    gbsi_text *t = r->text;
    while (t->at < t->end && gbsi_is_blank(*t->at)) {
        t->at++;
    }
    return (char)(t->at < t->end ? *t->at : 0);
}

static gbs_status json_expect(gbsi_table *r, char c, gbs_error *err)
{
    const char expected[4] = {'\'', c, '\'', 0};
    if (look(r) != c || r->text->at == r->text->end) {
        return gbsi_text_unexpected(r->text, gbsi_text_peek(r->text), expected, err);
    }
    r->text->at++;
    return GBS_OK;
}

/* Moves behind the next token if it is c. @return whether it was c. */
static bool json_has(gbsi_table *r, char c)
{
    if (look(r) != c) {
        return false;
    }
    r->text->at++;
    return true;
}

static gbs_status json_string(gbsi_table *r, gbs_error *err)
{
    GBSI_PASS(json_expect(r, '"', err));
    gbsi_text *t = r->text;
    const char *begin = t->at - 1;
    r->n = 0;
    while (t->at < t->end && *t->at != '"') {
        if (*t->at != '\\') {
            r->field[r->n++] = *t->at++;
            continue;
        }
        const char *escape = t->at++;
        if (!gbsi_json_escape(&t->at, t->end, r->field, &r->n)) {
            return gbsi_text_unexpected(t, (gbsi_token){escape, t->end - escape > 1 ? 2 : 1},
                                        "an escape of JSON", err);
        }
    }
    GBSI_PASS(json_expect(r, '"', err));
    r->shown = (gbsi_token){begin, (size_t)(t->at - begin)};
    return GBS_OK;
}

/* Reads a number or a word such as null, as text. */
static gbs_status json_word(gbsi_table *r, gbs_error *err)
{
    gbsi_text *t = r->text;
    (void)look(r);
    const char *begin = t->at;
    r->n = 0;
    while (t->at < t->end && !gbsi_is_blank(*t->at) && strchr(",]}[{:\"", *t->at) == NULL) {
        r->field[r->n++] = *t->at++;
    }
    r->shown = (gbsi_token){begin, r->n};
    return r->n > 0 ? GBS_OK : gbsi_text_unexpected(t, gbsi_text_peek(t), "a value", err);
}

/* Skips a value of any kind. Results have members that this reader does not use. */
static gbs_status json_skip(gbsi_table *r, gbs_error *err)
{
    size_t depth = 0;
    do {
        const char c = look(r);
        if (c == '"') {
            GBSI_PASS(json_string(r, err));
        } else if ((c == '[' || c == '{') && depth == MOST_LEVELS) {
            return gbsi_text_unexpected(r->text, (gbsi_token){r->text->at, 1},
                                        "at most 64 levels of values within values", err);
        } else if (c == '[' || c == '{') {
            r->text->at++;
            depth++;
        } else if (depth > 0 && c != 0 && strchr(",:]}", c) != NULL) {
            r->text->at++;
            depth -= c == ']' || c == '}';
        } else {
            GBSI_PASS(json_word(r, err));
        }
    } while (depth > 0);
    return GBS_OK;
}

/* Reads [ value, value, ... ]; take() reads each value. */
static gbs_status json_array(gbsi_table *r, gbs_status (*take)(gbsi_table *, gbs_error *),
                             gbs_error *err)
{
    GBSI_PASS(json_expect(r, '[', err));
    if (json_has(r, ']')) {
        return GBS_OK;
    }
    do {
        GBSI_PASS(take(r, err));
    } while (json_has(r, ','));
    return json_expect(r, ']', err);
}

static gbs_status take_probability(gbsi_table *r, gbs_error *err)
{
    GBSI_PASS(json_word(r, err));
    return gbsi_table_add_probability(r, err);
}

static gbs_status take_error(gbsi_table *r, gbs_error *err)
{
    GBSI_PASS(json_word(r, err));
    return gbsi_table_add_error(r, err);
}

/* Reads the number of a state in a result of map, and keeps the number as a label, as in CSV. */
static gbs_status take_state(gbsi_table *r, gbs_error *err)
{
    uint64_t number = 0;
    bool too_large = false;
    GBSI_PASS(json_word(r, err));
    if (!gbsi_integer_read(r->field, r->n, GBS_MAX_ARITY - 1, &number, &too_large)) {
        return gbsi_text_unexpected(r->text, r->shown, "the number of a state", err);
    }
    GBSI_PASS(gbsi_table_add_label(r, err));
    r->n_variables++;
    return GBS_OK;
}

static gbs_status take_label(gbsi_table *r, gbs_error *err)
{
    GBSI_PASS(json_string(r, err));
    return gbsi_table_add_label(r, err);
}

/* For a variable without labels, makes labels from the numbers of its states. */
static gbs_status number_labels(gbsi_table *r, size_t n_states, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (size_t i = 0; i < n_states && status >= 0; i++) {
        status = gbsi_table_add_number(r, gbsi_table_add_label, i, err);
    }
    return status;
}

static gbs_status take_integer(gbsi_table *r, uint64_t most, const char *expected, uint64_t *number,
                               gbs_error *err)
{
    bool too_large = false;
    GBSI_PASS(json_word(r, err));
    return gbsi_integer_read(r->field, r->n, most, number, &too_large)
               ? GBS_OK
               : gbsi_text_unexpected(r->text, r->shown, expected, err);
}

/* Reads { "id": ..., "name": ..., "states": [...], "probability": [...], ... }. A variable without
 * a name gets its number as name. */
static gbs_status take_variable(gbsi_table *r, gbs_error *err)
{
    const size_t n_labels = r->n_labels;
    const size_t n_p = r->n_p;
    uint64_t id = UINT64_MAX;
    bool named = false;
    GBSI_PASS(json_expect(r, '{', err));
    do {
        GBSI_PASS(json_string(r, err));
        const bool number = gbsi_table_is(r, "id");
        const bool name = gbsi_table_is(r, "name");
        const bool labels = gbsi_table_is(r, "states");
        const bool probability = gbsi_table_is(r, "probability");
        const bool error = gbsi_table_is(r, "mcse");
        GBSI_PASS(json_expect(r, ':', err));
        if (probability && !named && id != UINT64_MAX) {
            GBSI_PASS(gbsi_table_add_number(r, gbsi_table_add_variable, id, err));
            named = true;
        }
        if (number) {
            GBSI_PASS(take_integer(r, UINT32_MAX - 1, "the number of a variable", &id, err));
        } else if (name && !named) {
            GBSI_PASS(json_string(r, err));
            GBSI_PASS(gbsi_table_add_variable(r, err));
            named = true;
        } else if (labels && r->n_labels == n_labels) {
            GBSI_PASS(json_array(r, take_label, err));
        } else if (probability && named) {
            GBSI_PASS(json_array(r, take_probability, err));
        } else if (error && named) {
            GBSI_PASS(json_array(r, take_error, err));
        } else {
            GBSI_PASS(json_skip(r, err));
        }
    } while (json_has(r, ','));
    GBSI_PASS(json_expect(r, '}', err));
    const gbsi_token end = {r->text->at - 1, 1};
    if (!named || r->n_p == n_p) {
        return gbsi_text_unexpected(r->text, end, "a name and then probabilities", err);
    }
    if (r->n_labels > n_labels && r->n_labels - n_labels != r->n_p - n_p) {
        return gbsi_text_unexpected(r->text, end, "as many probabilities as states", err);
    }
    return r->n_labels > n_labels ? GBS_OK : number_labels(r, r->n_p - n_p, err);
}

/* ---- joint tables ---------------------------------------------------------------------------- */

static gbs_status joint_name(gbsi_table *r, gbs_error *err)
{
    return gbsi_table_joint_add(r, &r->names, err);
}

static gbs_status joint_state(gbsi_table *r, gbs_error *err)
{
    return gbsi_table_joint_add(r, &r->states, err);
}

static gbs_status take_joint_state(gbsi_table *r, gbs_error *err)
{
    GBSI_PASS(json_string(r, err));
    return joint_state(r, err);
}

/* Reads { "id": ..., "name": ..., "states": [...] or "n_states": ... }, a variable of a joint
 * table. */
static gbs_status take_joint_variable(gbsi_table *r, gbs_error *err)
{
    uint64_t id = 0;
    uint64_t n_states = 0;
    const size_t i = r->names.n;
    const size_t n_labels = r->states.n;
    GBSI_PASS(
        gbsi_reserve(&r->first, &r->first_capacity, i + 2, sizeof(size_t), r->text->name, err));
    ((size_t *)r->first)[i] = n_labels;
    GBSI_PASS(json_expect(r, '{', err));
    do {
        GBSI_PASS(json_string(r, err));
        const bool name = gbsi_table_is(r, "name");
        const bool labels = gbsi_table_is(r, "states");
        const bool number = gbsi_table_is(r, "id");
        const bool count = gbsi_table_is(r, "n_states");
        GBSI_PASS(json_expect(r, ':', err));
        if (name && r->names.n == i) {
            GBSI_PASS(json_string(r, err));
            GBSI_PASS(joint_name(r, err));
        } else if (labels && r->states.n == n_labels) {
            GBSI_PASS(json_array(r, take_joint_state, err));
        } else if (number || count) {
            GBSI_PASS(take_integer(r, number ? UINT32_MAX - 1 : GBS_MAX_ARITY,
                                   number ? "the number of a variable" : "a number of states",
                                   number ? &id : &n_states, err));
        } else {
            GBSI_PASS(json_skip(r, err));
        }
    } while (json_has(r, ','));
    GBSI_PASS(json_expect(r, '}', err));
    GBSI_PASS(r->names.n > i ? GBS_OK : gbsi_table_add_number(r, joint_name, id, err));
    for (uint64_t a = 0; r->states.n == n_labels + a && a < n_states; a++) {
        GBSI_PASS(gbsi_table_add_number(r, joint_state, a, err));
    }
    ((size_t *)r->first)[i + 1] = r->states.n;
    return GBS_OK;
}

/* Adds the labels of all joint states. The last variable varies fastest from row to row.
 * @param end for the message, the end of the table. */
static gbs_status label_rows(gbsi_table *r, size_t n_rows, gbsi_token end, gbs_error *err)
{
    const size_t n = r->names.n;
    const size_t *first = r->first;
    size_t expected = n > 0 ? 1 : 0;
    for (size_t i = 0; i < n && expected <= n_rows; i++) {
        expected *= first[i + 1] - first[i]; /* at most 2^16 times n_rows */
    }
    if (expected == 0 || expected != n_rows) {
        return gbsi_text_unexpected(r->text, end, "as many probabilities as joint states", err);
    }
    GBSI_PASS(gbsi_reserve(&r->picked, &r->picked_capacity, n, sizeof(size_t), r->text->name, err));
    size_t *picked = r->picked;
    for (size_t row = 0; row < n_rows; row++) {
        size_t rest = row;
        for (size_t i = n; i-- > 0;) {
            picked[i] = first[i] + rest % (first[i + 1] - first[i]);
            rest /= first[i + 1] - first[i];
        }
        GBSI_PASS(gbsi_table_joint_label(r, picked, err));
    }
    return GBS_OK;
}

/* Reads { "variables": [...], "probability": [...], "mcse": [...], ... }, a joint table. */
static gbs_status take_joint(gbsi_table *r, gbs_error *err)
{
    const size_t n_p = r->n_p;
    bool named = false;
    gbsi_table_joint_begin(r);
    GBSI_PASS(json_expect(r, '{', err));
    do {
        GBSI_PASS(json_string(r, err));
        const bool variables = gbsi_table_is(r, "variables");
        const bool probability = gbsi_table_is(r, "probability");
        const bool error = gbsi_table_is(r, "mcse");
        GBSI_PASS(json_expect(r, ':', err));
        if (variables && !named) {
            named = true;
            GBSI_PASS(json_array(r, take_joint_variable, err));
            GBSI_PASS(gbsi_table_joint_name(r, err));
        } else if (named && probability && r->n_p == n_p) {
            GBSI_PASS(json_array(r, take_probability, err));
        } else if (named && error) {
            GBSI_PASS(json_array(r, take_error, err));
        } else {
            GBSI_PASS(json_skip(r, err));
        }
    } while (json_has(r, ','));
    GBSI_PASS(json_expect(r, '}', err));
    return label_rows(r, r->n_p - n_p, (gbsi_token){r->text->at - 1, 1}, err);
}

/* ---- any result ------------------------------------------------------------------------------ */

/* Reads a number. null means that the number is not known. */
static gbs_status take_number(gbsi_table *r, double *number, gbs_error *err)
{
    GBSI_PASS(json_word(r, err));
    if (gbsi_decimal_read(r->field, r->n, number) == GBSI_DECIMAL_BAD) {
        *number = (double)NAN;
    }
    return GBS_OK;
}

/* Refuses results of a later version, whose members may mean something else. Results without a
 * schema, or with one of another program, are read. */
static gbs_status check_schema(const gbsi_table *r, gbs_error *err)
{
    static const char *const known[] = {"marginals/1", "marginals/2", "joints/1", "map/1",
                                        "logz/1"};
    const char *slash = memchr(r->field, '/', r->n);
    const char *family = NULL;
    for (size_t i = 0; slash != NULL && i < sizeof known / sizeof known[0]; i++) {
        const size_t n = (size_t)(slash - r->field) + 1;
        if (gbsi_table_is(r, known[i])) {
            return GBS_OK;
        }
        family = strncmp(known[i], r->field, n) == 0 ? known[i] : family;
    }
    return family == NULL ? GBS_OK : gbsi_text_unexpected(r->text, r->shown, family, err);
}

/* Reads a result in JSON.
 * @param log_z, error out: set for results of logz only. */
gbs_status gbsi_result_read_json(gbsi_table *r, bool *is_map, double *log_density, double *log_z,
                                 double *error, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool found = false;
    bool is_log_z = false;
    bool is_joints = false;
    GBSI_TRY(json_expect(r, '{', err));
    do {
        GBSI_TRY(json_string(r, err));
        const bool map = gbsi_table_is(r, "state");
        const bool marginals = gbsi_table_is(r, "variables");
        const bool density = gbsi_table_is(r, "log_density");
        const bool schema = gbsi_table_is(r, "schema");
        const bool value = gbsi_table_is(r, "log_z");
        const bool uncertain = gbsi_table_is(r, "error");
        const bool joints = is_joints && gbsi_table_is(r, "tables");
        GBSI_TRY(json_expect(r, ':', err));
        if (joints && !found) {
            found = true;
            GBSI_TRY(json_array(r, take_joint, err));
        } else if ((map || marginals) && !found) {
            found = true;
            *is_map = map;
            GBSI_TRY(json_array(r, map ? take_state : take_variable, err));
        } else if (is_log_z && (value || uncertain)) {
            GBSI_TRY(take_number(r, value ? log_z : error, err));
            found = found || (value && !isnan(*log_z));
        } else {
            GBSI_TRY(json_skip(r, err));
        }
        if (schema) {
            GBSI_TRY(check_schema(r, err));
        }
        is_joints = is_joints || (schema && gbsi_table_is(r, "joints/1"));
        is_log_z = is_log_z || (schema && r->n > 5 && memcmp(r->field, "logz/", 5) == 0);
        if (density && gbsi_decimal_read(r->field, r->n, log_density) == GBSI_DECIMAL_BAD) {
            *log_density = NAN;
        }
    } while (json_has(r, ','));
    GBSI_TRY(json_expect(r, '}', err));
    if (!found) {
        const gbsi_token end = {r->text->end, 0};
        status = gbsi_text_unexpected(r->text, end,
                                      is_log_z ? "a \"log_z\" that is known"
                                               : "marginals, joint tables, a state or ln Z",
                                      err);
    }

cleanup:
    return status;
}

/* ---- names in archives of arrays ------------------------------------------------------------- */

/* Reads an array whose values take() reads, or null. */
static gbs_status array_or_null(gbsi_table *r, gbs_status (*take)(gbsi_table *, gbs_error *),
                                gbs_error *err)
{
    return look(r) == '[' ? json_array(r, take, err) : json_skip(r, err);
}

/* Reads the name of the next variable, or null. */
static gbs_status take_name_or_null(gbsi_table *r, gbs_error *err)
{
    if (look(r) == '"') {
        GBSI_PASS(json_string(r, err));
        return gbsi_table_add_variable(r, err);
    }
    GBSI_PASS(json_word(r, err));
    return r->n_variables < r->arrays->n
               ? gbsi_table_add_number(r, gbsi_table_add_variable, r->arrays->id[r->n_variables],
                                       err)
               : gbsi_text_unexpected(r->text, r->shown, "no more names", err);
}

/* Reads the labels of the next variable, or null. */
static gbs_status take_labels_or_null(gbsi_table *r, gbs_error *err)
{
    const size_t *offset = r->arrays->offset;
    if (r->n_labelled == r->arrays->n) {
        return gbsi_text_unexpected(r->text, gbsi_text_peek(r->text), "no more labels", err);
    }
    const size_t n_labels = r->n_labels;
    const size_t n_states = offset[r->n_labelled + 1] - offset[r->n_labelled];
    r->n_labelled++;
    GBSI_PASS(array_or_null(r, take_label, err));
    if (r->n_labels == n_labels) {
        return number_labels(r, n_states, err);
    }
    return r->n_labels - n_labels == n_states
               ? GBS_OK
               : gbsi_text_unexpected(r->text, (gbsi_token){r->text->at - 1, 1},
                                      "as many labels as states", err);
}

gbs_status gbsi_result_read_meta(gbsi_table *r, gbs_error *err)
{
    GBSI_PASS(json_expect(r, '{', err));
    do {
        GBSI_PASS(json_string(r, err));
        const bool names = gbsi_table_is(r, "names");
        const bool labels = gbsi_table_is(r, "states");
        GBSI_PASS(json_expect(r, ':', err));
        if (names && r->n_variables == 0) {
            GBSI_PASS(array_or_null(r, take_name_or_null, err));
        } else if (labels && r->n_labelled == 0) {
            GBSI_PASS(array_or_null(r, take_labels_or_null, err));
        } else {
            GBSI_PASS(json_skip(r, err));
        }
    } while (json_has(r, ','));
    GBSI_PASS(json_expect(r, '}', err));
    const gbsi_token end = {r->text->at - 1, 1};
    const gbsi_result_arrays *a = r->arrays;
    if ((r->n_variables > 0 && r->n_variables != a->n) ||
        (r->n_labelled > 0 && r->n_labelled != a->n)) {
        return gbsi_text_unexpected(r->text, end, "as many names and labels as variables", err);
    }
    return gbsi_table_number_rest(r, err);
}
