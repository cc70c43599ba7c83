/* SPDX-License-Identifier: Apache-2.0 */
/* Reads evidence as a person types it. A list is cut at ',', an item at '=' or '!=', and a set of
 * states at '|'. Blanks between the parts are ignored. Names and labels may contain these
 * characters. The reader first cuts at every ',' and at the first '=' of each item. If this leaves
 * a name or a label unknown, the reader searches for cuts after which all parts are known. */
#include <string.h>

#include "answers/evidence_set.h"
#include "base/memory.h"
#include "decimal/decimal.h"
#include "store/builder.h"
#include "tables/sheet.h"
#include "text/lines.h"

typedef struct reader {
    const gbs_model *model;
    const char *list;
    double *weight; /* [largest arity] weights of the states in the item read last */
    char *part;     /* [length of list + 1] name or label that was looked up last */
    bool weighs;    /* whether the item gives states with likelihoods: STATE:NUMBER */
    bool plain; /* true once the reader has found that no name or label contains a cut character */
    gbs_error *err; /* NULL during a search for cuts, whose messages are never shown */
    size_t
        most; /* largest number of cut characters in a list for which a search for cuts is made */
} reader;

typedef struct span {
    size_t from, to; /* the span is list[from .. to) */
} span;

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

static span trimmed(const reader *r, span s)
{
    while (s.from < s.to && blank(r->list[s.from])) {
        ++s.from;
    }
    while (s.from < s.to && blank(r->list[s.to - 1])) {
        --s.to;
    }
    return s;
}

static const char *text_of(const reader *r, span s)
{
    memcpy(r->part, r->list + s.from, s.to - s.from);
    r->part[s.to - s.from] = '\0';
    return r->part;
}

/* @return the span without a pair of quotes around it. */
static span unquoted(const reader *r, span s)
{
    const bool quoted = s.to > s.from + 1 && r->list[s.from] == '"' && r->list[s.to - 1] == '"';
    return (span){s.from + quoted, s.to - quoted};
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Finds a variable. A name may begin or end with blanks; the reader first looks up the text without
 * these blanks. If the model does not have a name in quotes, the reader looks up the text without
 * the quotes. */
static bool knows_variable(const reader *r, span all, uint32_t *variable, gbs_error *err)
{
    const span s = trimmed(r, all);
    if (s.from == s.to) {
        (void)gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: expected the name of a variable", r->list);
        return false;
    }
    return (s.to - s.from < all.to - all.from &&
            gbs_model_find_variable(r->model, text_of(r, s), variable, NULL) < 0 &&
            gbs_model_find_variable(r->model, text_of(r, all), variable, NULL) >= 0) ||
           (unquoted(r, s).from > s.from &&
            gbs_model_find_variable(r->model, text_of(r, s), variable, NULL) >= 0) ||
           gbs_model_find_variable(r->model, text_of(r, unquoted(r, s)), variable, err) >= 0;
}

/* Finds a state whose label is a whole number that was typed with a point or an exponent: 1.0 or
 * 1e0 for 1, as programs write numbers of a column with missing values. */
static bool knows_number(const reader *r, span s, uint32_t variable, uint32_t *state)
{
    char whole[GBSI_WHOLE];
    const char *text = text_of(r, s);
    return gbsi_whole_text(text, s.to - s.from, whole) &&
           gbs_model_find_state(r->model, variable, whole, state, NULL) >= 0;
}

static bool knows_state(const reader *r, span all, uint32_t variable, uint32_t *state,
                        gbs_error *err)
{
    const span s = trimmed(r, all);
    if (s.from == s.to) {
        (void)gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: expected a state after '=' and '|'", r->list);
        return false;
    }
    return (s.to - s.from < all.to - all.from &&
            gbs_model_find_state(r->model, variable, text_of(r, s), state, NULL) < 0 &&
            gbs_model_find_state(r->model, variable, text_of(r, all), state, NULL) >= 0) ||
           (unquoted(r, s).from > s.from &&
            gbs_model_find_state(r->model, variable, text_of(r, s), state, NULL) >= 0) ||
           gbs_model_find_state(r->model, variable, text_of(r, unquoted(r, s)), state, NULL) >= 0 ||
           knows_number(r, unquoted(r, s), variable, state) ||
           gbs_model_find_state(r->model, variable, text_of(r, unquoted(r, s)), state, err) >= 0;
}

static bool reads_number(const reader *r, span s, double *number)
{
    s = trimmed(r, s);
    return gbsi_decimal_read(r->list + s.from, s.to - s.from, number) != GBSI_DECIMAL_BAD;
}

/* Reads STATE or STATE:NUMBER into weight[]. */
static bool reads_state(const reader *r, span s, uint32_t variable, gbs_error *err)
{
    uint32_t state = 0;
    double number = 1.0;
    if (r->weighs) {
        size_t colon = s.to;
        while (colon > s.from && r->list[colon - 1] != ':') {
            --colon;
        }
        if (colon == s.from || !reads_number(r, (span){colon, s.to}, &number)) {
            (void)gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: expected STATE:NUMBER, found '%.200s'",
                            r->list, text_of(r, trimmed(r, s)));
            return false;
        }
        s.to = colon - 1;
    }
    if (!knows_state(r, s, variable, &state, err)) {
        return false;
    }
    if (r->weight[state] != 0.0) {
        (void)gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: state '%.200s' is named twice", r->list,
                        text_of(r, trimmed(r, s)));
        return false;
    }
    r->weight[state] = number;
    return true;
}

/* Reads STATE|STATE|... At each place, the longest known label is tried first. */
static bool reads_states(const reader *r, span s, uint32_t variable, gbs_error *err)
{
    size_t from = s.from;
    while (from <= s.to) {
        size_t to = s.to;
        while (!reads_state(r, (span){from, to}, variable, NULL)) {
            do {
                --to;
            } while (to > from && r->list[to] != '|');
            if (to <= from) { /* no label is known: the message names the shortest candidate */
                const char *bar = memchr(r->list + from, '|', s.to - from);
                const size_t end = bar == NULL ? s.to : (size_t)(bar - r->list);
                return reads_state(r, (span){from, end}, variable, err);
            }
        }
        from = to + 1;
    }
    return true;
}

/* ---- items ----------------------------------------------------------------------------------- */

static void forget_weights(const reader *r, uint32_t variable)
{
    memset(r->weight, 0, r->model->arity[variable] * sizeof *r->weight);
}

/* Reads one VARIABLE=STATES or VARIABLE!=STATES. `equals` is the index of the '=' at which the item
 * is cut. */
static bool reads_cut(const reader *r, span s, size_t equals, uint32_t *variable, gbs_error *err)
{
    const span states = {equals + 1, s.to};
    const bool denied = !r->weighs && equals > s.from && r->list[equals - 1] == '!';
    if (knows_variable(r, (span){s.from, equals}, variable, denied ? NULL : err)) {
        forget_weights(r, *variable);
        if (reads_states(r, states, *variable, denied ? NULL : err)) {
            return true;
        }
    }
    if (!denied || !knows_variable(r, (span){s.from, equals - 1}, variable, err)) {
        return false;
    }
    forget_weights(r, *variable);
    if (!reads_states(r, states, *variable, err)) {
        return false;
    }
    for (uint32_t a = 0; a < r->model->arity[*variable]; ++a) {
        r->weight[a] = 1.0 - r->weight[a];
    }
    return true;
}

/* Reads one item. A name may begin with '='.
 * @param all true: any '=' may be the cut; false: only the first one. */
static bool reads_item(const reader *r, span whole, bool all, uint32_t *variable, gbs_error *err)
{
    const span s = trimmed(r, whole);
    size_t equals = s.from;
    do {
        const char *found =
            equals + 1 >= s.to ? NULL : memchr(r->list + equals + 1, '=', s.to - equals - 1);
        equals = found == NULL ? s.to : (size_t)(found - r->list);
        const span states = trimmed(r, (span){equals + 1 < s.to ? equals + 1 : s.to, s.to});
        if (equals == s.to || states.from == states.to) {
            (void)gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: expected NAME=STATE, found '%.200s'",
                            r->list, text_of(r, s));
            return false;
        }
        if (reads_cut(r, whole, equals, variable, err)) {
            return true;
        }
    } while (all);
    return false;
}

static gbs_status observe(const reader *r, gbs_evidence *evidence, uint32_t variable)
{
    uint32_t n = 0;
    uint32_t last = 0;
    for (uint32_t a = 0; a < r->model->arity[variable]; ++a) {
        if (r->weight[a] != 0.0) {
            last = a;
            ++n;
        }
    }
    return n == 1 && !r->weighs ? gbs_evidence_observe(evidence, variable, last, r->err)
                                : gbs_evidence_likelihood(evidence, variable, r->weight, r->err);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static size_t comma_after(const reader *r, size_t at)
{
    return at + strcspn(r->list + at, ",");
}

/* @return the place of the next ',' outside parentheses. */
static size_t comma_outside(const reader *r, size_t at)
{
    int depth = 0;
    for (; r->list[at] != '\0' && (r->list[at] != ',' || depth > 0); ++at) {
        depth += r->list[at] == '(' ? 1 : r->list[at] == ')' ? -1 : 0;
    }
    return at;
}

typedef size_t next_cut(const reader *r, size_t at);

/* Reads a list of items. cut() returns the index at which each item ends.
 * @param evidence NULL: only checks that all names and states are known. */
static gbs_status read_plainly(const reader *r, next_cut *cut, gbs_evidence *evidence)
{
    size_t to = 0;
    for (size_t from = 0;; from = to + 1) {
        uint32_t variable = 0;
        to = cut(r, from);
        if (!reads_item(r, (span){from, to}, false, &variable, r->err)) {
            return GBS_ERR_ARGUMENT;
        }
        const gbs_status status = evidence == NULL ? GBS_OK : observe(r, evidence, variable);
        if (status < 0 || r->list[to] == '\0') {
            return status;
        }
    }
}

/* For each index of the list, finds the end of an item that would begin there. The end is chosen
 * such that all names and states in the item and in all later items are known. Indices are treated
 * from the last to the first.
 * @param end out: [length of list + 1] index at which the item ends; SIZE_MAX if no end makes all
 *   names and states known. */
static void search_cuts(const reader *r, size_t *end)
{
    for (size_t from = strlen(r->list) + 1; from-- > 0;) {
        end[from] = SIZE_MAX;
        if (from > 0 && r->list[from - 1] != ',') {
            continue;
        }
        for (size_t to = comma_after(r, from); end[from] == SIZE_MAX; to = comma_after(r, to + 1)) {
            uint32_t variable = 0;
            const bool last = r->list[to] == '\0';
            if ((last || end[to + 1] != SIZE_MAX) &&
                reads_item(r, (span){from, to}, true, &variable, NULL)) {
                end[from] = to;
            }
            if (last) {
                break;
            }
        }
    }
}

/* Whether any name or label contains a character at which text is cut. */
static bool has_awkward_names(const gbs_model *model)
{
    static const char cuts[] = "=,|!: ";
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        const char *name = gbs_model_variable_name(model, v);
        if (name != NULL && strpbrk(name, cuts) != NULL) {
            return true;
        }
        for (uint32_t a = 0; a < model->arity[v]; ++a) {
            const char *label = gbs_model_state_label(model, v, a);
            if (label == NULL) {
                break;
            }
            if (strpbrk(label, cuts) != NULL) {
                return true;
            }
        }
    }
    return false;
}

static size_t count_cuts(const char *list)
{
    size_t n = 0;
    for (; *list != '\0'; ++list) {
        n += strchr("=,|", *list) != NULL;
    }
    return n;
}

static gbs_status read_list(reader *r, gbs_evidence *evidence)
{
    gbs_error *err = r->err;
    r->err = NULL;
    const bool known = read_plainly(r, comma_after, NULL) == GBS_OK;
    r->err = err;
    r->plain = r->plain || (!known && !has_awkward_names(r->model));
    if (known || r->plain || count_cuts(r->list) > r->most) {
        return read_plainly(r, comma_after, evidence);
    }
    const size_t n = strlen(r->list) + 1;
    size_t *end = gbsi_alloc_array(n, sizeof *end);
    GBSI_PASS(GBSI_HAVE(err, "evidence", end));
    search_cuts(r, end);
    /* Commas in names are mostly inside parentheses. The message is therefore about items that are
     * cut at the other commas. */
    gbs_status status = end[0] == SIZE_MAX ? read_plainly(r, comma_outside, evidence) : GBS_OK;
    for (size_t at = 0; end[0] != SIZE_MAX && at < n && status >= 0; at = end[at] + 1) {
        uint32_t variable = 0;
        (void)reads_item(r, (span){at, end[at]}, true, &variable, NULL);
        status = observe(r, evidence, variable);
    }
    gbsi_free(end);
    return status;
}

/* @param n length of the longest list that will be read. */
static gbs_status begin(reader *r, const gbs_model *model, size_t n, gbs_error *err)
{
    uint32_t most = 1;
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        most = model->arity[v] > most ? model->arity[v] : most;
    }
    r->model = model;
    r->err = err;
    r->weight = gbsi_alloc_array(most, sizeof *r->weight);
    r->part = gbsi_alloc_array(n + 1, 1);
    return GBSI_HAVE(err, "evidence", r->weight, r->part);
}

static void end(reader *r)
{
    GBSI_FREE(r->weight, r->part);
}

static gbs_status add(gbs_evidence *evidence, const char *list, bool weighs, gbs_error *err)
{
    GBSI_NEED(evidence, list);
    gbs_status status = GBS_OK;
    reader r = {.list = list, .weighs = weighs, .most = SIZE_MAX};
    GBSI_TRY(begin(&r, evidence->model, strlen(list), err));
    status = read_list(&r, evidence);

cleanup:
    end(&r);
    return status;
}

gbs_status gbs_evidence_add(gbs_evidence *evidence, const char *list, gbs_error *err)
{
    return add(evidence, list, false, err);
}

gbs_status gbs_evidence_add_likelihood(gbs_evidence *evidence, const char *list, gbs_error *err)
{
    return add(evidence, list, true, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

bool gbsi_evidence_is_typed(const gbsi_text *text)
{
    const size_t n = (size_t)(text->end - text->begin);
    return memchr(text->begin, '=', n) != NULL || memchr(text->begin, ':', n) != NULL;
}

/* Whether all characters of a line are printable. Lines with other characters are refused, because
 * messages repeat typed text unchanged. */
static bool is_printable(gbsi_token line)
{
    size_t n = 1;
    for (size_t i = 0; i < line.n && n > 0; i += n) {
        const bool control = gbsi_is_control(line.at + i, line.n - i) && line.at[i] != '\t';
        n = control ? 0 : gbsi_utf8_length(line.at + i, line.n - i);
    }
    return n > 0;
}

/* Cuts off a comment behind an item. The comment begins with a '#' that follows a blank and
 * precedes no digit, because #1 is the number of a state. If all names and labels in a line are
 * known without a cut, the line stays whole. */
static void cut_comment(reader *r, char *list)
{
    gbs_error *err = r->err;
    char *hash = strstr(list, " #");
    while (hash != NULL && hash[2] >= '0' && hash[2] <= '9') {
        hash = strstr(hash + 2, " #");
    }
    r->err = NULL;
    if (hash != NULL && read_plainly(r, comma_after, NULL) < 0) {
        *hash = '\0';
    }
    r->err = err;
}

gbs_status gbsi_evidence_add_lines(gbs_evidence *evidence, const gbsi_text *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_text rest = *text;
    gbsi_text line;
    reader r = {.most = 128}; /* the time of a search grows with the cube of the length */
    const size_t n = (size_t)(text->end - text->begin);
    char *list = gbsi_alloc(n + 1);
    GBSI_TRY(GBSI_HAVE(err, text->name, list));
    rest.at = text->begin;
    r.list = list;
    GBSI_TRY(begin(&r, evidence->model, n, err));
    while (gbsi_line_next(&rest, &line)) {
        size_t length = gbsi_text_left(&line);
        while (gbsi_is_blank(line.at[length - 1])) {
            /* the loop ends because the line is not blank */
            --length;
        }
        if (line.at[0] == '#') {
            continue;
        }
        const gbsi_token item = {line.at, length};
        if (!is_printable(item)) {
            GBSI_TRY(gbsi_text_unexpected(text, item, "NAME=STATE in UTF-8", err));
        }
        for (size_t i = 0; i < length; ++i) {
            list[i] = line.at[i] == '\t' ? ' ' : line.at[i];
        }
        list[length] = '\0';
        cut_comment(&r, list);
        status = read_list(&r, evidence);
        GBSI_TRY(gbsi_text_blame(text, item, status, err));
    }

cleanup:
    end(&r);
    gbsi_free(list);
    return status;
}
