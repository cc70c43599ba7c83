/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lists of variables, which are separated by ','. The items of a list are names, patterns of
 * names, 0-based numbers (if no variable has the number as its name) and ranges of numbers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "draws/kept_draws.h"

/* Reads a range such as "3-7". @return 1 if the text is a range of numbers, even if the model does
 * not have such variables. */
static int parse_range(const char *text, uint64_t *first, uint64_t *last)
{
    char left[32];
    const char *dash = strchr(text, '-');
    const size_t n = dash == NULL ? sizeof left : (size_t)(dash - text);
    if (n >= sizeof left) {
        return 0;
    }
    memcpy(left, text, n);
    left[n] = '\0';
    return cli_parse_uint(left, first) && cli_parse_uint(dash + 1, last);
}

/* The option and list as typed, for messages. */
typedef struct typed {
    const char *option; /* "--monitor" */
    const char *list;
    const gbs_model *model;
} typed;

static int add(cli_selection *s, uint8_t *seen, const typed *t, uint32_t variable)
{
    char text[32];
    if (seen[variable]) {
        return cli_error(CLI_USAGE, "%s: variable %s is named twice", t->option,
                         cli_variable_text(t->model, variable, "", text));
    }
    seen[variable] = 1;
    s->variable[s->n++] = variable;
    return CLI_DONE;
}

/* @return whether a name matches a pattern, in which '*' matches any characters of one argument. */
static int is_like(const char *name, const char *pattern)
{
    /* position in the pattern after the last '*', to return to after a mismatch */
    const char *resume = NULL;
    const char *taken =
        NULL; /* position in the name up to which the last '*' has taken characters */
    while (*name != '\0') {
        if (*pattern == '*') {
            resume = ++pattern;
            taken = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (resume != NULL && strchr("(,)", *taken) == NULL) {
            pattern = resume;
            name = ++taken;
        } else {
            return 0;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

/* Adds all variables whose names match a pattern, except variables that another item has already
 * added. */
static int add_pattern(cli_selection *s, uint8_t *seen, const typed *t, const char *pattern)
{
    int found = 0;
    for (uint32_t v = 0; v < gbs_model_n_variables(t->model); v++) {
        const char *name = gbs_model_variable_name(t->model, v);
        if (name != NULL && is_like(name, pattern)) {
            found = 1;
            if (!seen[v]) {
                seen[v] = 1;
                s->variable[s->n++] = v;
            }
        }
    }
    return found ? CLI_DONE
                 : cli_error(CLI_USAGE, "%s %s: no variable has such a name", t->option, pattern);
}

/* Removes the blanks after each ',' in the name of a ground atom such as "Friends(Anna, Bob)",
 * since names in models have no such blanks. */
static void close_up(char *item)
{
    char *to = item;
    for (const char *from = item; *from != '\0'; from++) {
        if (*from != ' ' || to == item || to[-1] != ',') {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static int add_item(cli_selection *s, uint8_t *seen, const typed *t, char *item)
{
    const uint32_t n = gbs_model_n_variables(t->model);
    uint64_t first = 0;
    uint64_t last = 0;
    gbs_error err = {GBS_OK, ""};
    if (!parse_range(item, &first, &last)) {
        uint32_t variable = 0;
        gbs_status status = gbs_model_find_variable(t->model, item, &variable, &err);
        if (status < 0 && strchr(item, '(') != NULL && strstr(item, ", ") != NULL) {
            close_up(item);
            status = gbs_model_find_variable(t->model, item, &variable, &err);
        }
        if (status < 0 && strchr(item, '*') != NULL) {
            return add_pattern(s, seen, t, item);
        }
        if (status < 0 && cli_probability_typed(t->option, t->list, 0) != CLI_DONE) {
            return CLI_USAGE;
        }
        if (status == GBS_ERR_ARGUMENT && strpbrk(item, " ;") != NULL) {
            return cli_error(CLI_USAGE, "%s; commas separate names", err.message);
        }
        return status < 0 ? cli_fail(status, &err) : add(s, seen, t, variable);
    }
    for (uint32_t v = 0; v < n; v++) {
        uint64_t number = 0;
        const char *name = gbs_model_variable_name(t->model, v);
        if (name != NULL && cli_parse_uint(name, &number) && number != v && number >= first &&
            number <= last) {
            return cli_error(CLI_USAGE,
                             "%s %s: variables have numbers for names, %s that of variable %" PRIu32
                             ": list names, or numbers behind a #, as in #0,#1",
                             t->option, item, name, v);
        }
    }
    if (first > last || last >= n) {
        return n == 1
                   ? cli_error(CLI_USAGE, "%s %s: the model has variable 0 alone", t->option, item)
                   : cli_error(CLI_USAGE, "%s %s: the model has variables 0 to %ld", t->option,
                               item, (long)n - 1);
    }
    int status = CLI_DONE;
    for (uint64_t v = first; v <= last && status == CLI_DONE; v++) {
        status = add(s, seen, t, (uint32_t)v);
    }
    return status;
}

/* @return whether item[0 .. end) is the name of a variable. */
static int is_known(const gbs_model *model, char *item, char *end)
{
    uint32_t variable = 0;
    const char kept = *end;
    *end = '\0';
    const int known = gbs_model_find_variable(model, item, &variable, NULL) == GBS_OK;
    *end = kept;
    return known;
}

/* @return the ',' after the item, or NULL. Names may contain commas: the item ends after the
 *         shortest known name or, if it begins with '=', after the longest. A comma inside
 *         parentheses belongs to a ground atom, known or not. */
static char *item_end(const gbs_model *model, char *item)
{
    char *known = NULL;
    char *outside = NULL; /* first comma outside of parentheses */
    int open = 0;
    for (char *c = item;; c++) {
        open += (*c == '(') - (*c == ')');
        if (*c != ',' && *c != '\0') {
            continue;
        }
        outside = outside == NULL && (open <= 0 || strchr(c, ')') == NULL) ? c : outside;
        if ((known == NULL || item[0] == '=') && is_known(model, item, c)) {
            known = c;
        }
        if (*c == '\0' || (known != NULL && item[0] != '=')) {
            break;
        }
    }
    char *end = known != NULL ? known : outside;
    return end == NULL || *end == '\0' ? NULL : end;
}

static int add_list(cli_selection *s, uint8_t *seen, const typed *t, const char *list)
{
    int status = CLI_DONE;
    uint32_t variable = 0;
    char *copy = strdup(list);
    CLI_PASS(CLI_HAVE(copy));
    for (char *item = copy; item != NULL && status == CLI_DONE;) {
        char *comma = item_end(t->model, item);
        if (comma != NULL) {
            *comma = '\0';
        }
        if (gbs_model_find_variable(t->model, item, &variable, NULL) < 0) {
            item += strspn(item, " "); /* skips the blank in "a, b" */
        }
        status = item[0] == '\0' ? cli_error(CLI_USAGE, "%s %s: an item is empty", t->option, list)
                                 : add_item(s, seen, t, item);
        item = comma != NULL ? comma + 1 : NULL;
    }
    free(copy);
    return status;
}

/* Prints which variable a number in a text means, if the number is the name of a variable with
 * another index.
 * @return whether such a number was found and reported. */
static int tell_number(const cli_job *job, const char *text)
{
    static const char ends[] = " ,=!|:@";
    for (const char *at = text; text != NULL && *at != '\0';) {
        char word[16];
        uint64_t number = 0;
        uint32_t v = 0;
        const size_t n = strcspn(at, ends);
        (void)snprintf(word, sizeof word, "%.*s", (int)(n < 15 ? n : 15), at);
        const int is_name =
            at == text || strchr(" ,", at[-1]) != NULL; /* excludes the 1 of "=1", and states */
        if (is_name && n > 0 && n < sizeof word && word[strspn(word, "0123456789")] == '\0' &&
            cli_parse_uint(word, &number) && number < gbs_model_n_variables(job->model) &&
            gbs_model_find_variable(job->model, word, &v, NULL) >= 0 && v != number) {
            cli_note(job->arguments,
                     "%s stands for the variable called so; #%s is the one with that number", word,
                     word);
            return 1;
        }
        at += n;
        at += strspn(at, ends);
    }
    return 0;
}

void cli_tell_numbers(const cli_job *job)
{
    const cli_arguments *a = job->arguments;
    const char *const text[] = {a->query, a->monitor, a->targets, a->focus, a->likelihood};
    int told = 0;
    for (int i = 0; i < a->n_evidence && !told; i++) {
        told = tell_number(job, a->evidence[i]);
    }
    for (int i = 0; i < a->n_joints && !told; i++) {
        told = tell_number(job, a->joint[i]);
    }
    for (int i = 0; i < a->n_targets && !told; i++) {
        told = tell_number(job, a->target[i]);
    }
    for (size_t i = 0; i < sizeof text / sizeof text[0] && !told; i++) {
        told = tell_number(job, text[i]);
    }
}

int cli_select(const gbs_model *model, const char *option, const char *list,
               cli_selection *selection)
{
    const typed t = {option, list, model};
    const uint32_t n = gbs_model_n_variables(model);
    cli_selection s = {NULL, 0, list == NULL};
    int status = CLI_DONE;
    uint8_t *seen = calloc((size_t)n + 1, 1);
    s.variable = calloc((size_t)n + 1, sizeof *s.variable);
    if (seen == NULL || s.variable == NULL) {
        status = cli_error(CLI_FAILED, "out of memory: %u variables", n);
    } else if (list != NULL) {
        status = add_list(&s, seen, &t, list);
    } else {
        for (; s.n < n; s.n++) {
            s.variable[s.n] = s.n;
        }
    }
    free(seen);
    if (status != CLI_DONE) {
        cli_selection_free(&s);
        return status;
    }
    *selection = s;
    return CLI_DONE;
}

/* Adds every variable that the scan visits, without repetition and in ascending order. */
static int add_visited(const cli_job *job, uint8_t *seen, cli_selection *s)
{
    for (size_t t = 0; t < job->sequence_length; t++) {
        seen[job->sequence[t]] = 1;
    }
    for (uint32_t v = 0; v < gbs_model_n_variables(job->model); v++) {
        if (seen[v]) {
            s->variable[s->n++] = v;
        }
    }
    return CLI_DONE;
}

/* Checks that the scan visits the variables that the user asked for. */
static int check_visited(const cli_job *job, uint8_t *seen, const cli_selection *s)
{
    char text[32];
    for (size_t t = 0; t < job->sequence_length; t++) {
        seen[job->sequence[t]] = 1;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (!seen[s->variable[i]]) {
            return cli_error(CLI_USAGE, "--monitor: the scan never visits %s",
                             cli_variable_text(job->model, s->variable[i], "", text));
        }
    }
    return CLI_DONE;
}

int cli_select_drawn(const cli_job *job, const char *list, cli_selection *selection)
{
    const uint32_t n = gbs_model_n_variables(job->model);
    const cli_arguments *arguments = job->arguments;
    if (list == NULL && arguments->targets != NULL) {
        return cli_select(job->model, "--target", arguments->targets, selection);
    }
    if (!arguments->run.partial_scan) {
        return cli_select(job->model, "--monitor", list, selection);
    }
    cli_selection s = {NULL, 0, 0};
    uint8_t *seen = calloc((size_t)n + 1, 1);
    int status = seen == NULL ? cli_error(CLI_FAILED, "out of memory: %u variables", n) : CLI_DONE;
    if (status == CLI_DONE && list != NULL) {
        status = cli_select(job->model, "--monitor", list, &s);
        status = status == CLI_DONE ? check_visited(job, seen, &s) : status;
    } else if (status == CLI_DONE) {
        s.variable = calloc((size_t)n + 1, sizeof *s.variable);
        status = s.variable == NULL ? cli_error(CLI_FAILED, "out of memory: %u variables", n)
                                    : add_visited(job, seen, &s);
    }
    free(seen);
    if (status != CLI_DONE) {
        cli_selection_free(&s);
        return status;
    }
    *selection = s;
    return CLI_DONE;
}

const char *cli_query_file(const char *query)
{
    return query != NULL && query[0] == '@' ? query + 1 : NULL;
}

int cli_select_query(const cli_job *job, const char *query, cli_selection *selection)
{
    gbs_error err = {GBS_OK, ""};
    uint32_t *variable = NULL;
    size_t n = 0;
    const char *path = cli_query_file(query);
    if (path == NULL) {
        return cli_select(job->model, "--query", query, selection);
    }
    gbs_status status = gbsi_query_read(path, job->model, &job->read, &variable, &n, &err);
    if (status < 0) {
        return cli_fail_input(status, &err);
    }
    selection->variable = calloc(n + 1, sizeof *variable);
    if (selection->variable == NULL) {
        gbs_free(variable);
        return cli_error(CLI_FAILED, "out of memory: %zu variables", n);
    }
    memcpy(selection->variable, variable, n * sizeof *variable);
    selection->n = (uint32_t)n;
    selection->all = 0;
    gbs_free(variable);
    return CLI_DONE;
}

void cli_selection_free(cli_selection *selection)
{
    free(selection->variable);
    memset(selection, 0, sizeof *selection);
}
