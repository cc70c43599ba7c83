/* SPDX-License-Identifier: Apache-2.0 */
/*
 * -e NAME=STATE,NAME=STATE. The plain reading cuts at ',' and then at the first '='; "=3=1" is
 * state 1 of the variable named "3". Names and labels may hold '=' and ',' themselves: if one of
 * the model's does and the plain reading fails, the cuts are searched so that all parts are known.
 */
#include <stdlib.h>
#include <string.h>

#include "job.h"

/* Text [from, to) as a string. @return NULL without memory. */
static char *part(const char *from, const char *to)
{
    size_t n = (size_t)(to - from);
    char *text = malloc(n + 1);
    if (text != NULL) {
        memcpy(text, from, n);
        text[n] = '\0';
    }
    return text;
}

typedef struct finding {
    uint32_t variable, state;
} finding;

/* Look one NAME=STATE up: NAME is [from, equals), STATE is (equals, to). */
static gbs_status look_up(const gbs_model *model, const char *from, const char *equals,
                          const char *to, finding *found, gbs_error *err)
{
    char *name = part(from, equals);
    char *label = part(equals + 1, to);
    gbs_status status = GBS_ERR_MEMORY;
    if (name != NULL && label != NULL) {
        status = gbs_model_find_variable(model, name, &found->variable, err);
        if (status >= 0) {
            status = gbs_model_find_state(model, found->variable, label, &found->state, err);
        }
    }
    free(name);
    free(label);
    return status;
}

/* The plain reading. @return exit status; says nothing if quiet is set. */
static int plain(const gbs_model *model, const char *list, finding *found, size_t *n, int quiet)
{
    *n = 0;
    for (const char *at = list;;) {
        const char *to = at + strcspn(at, ",");
        const char *equals = at < to ? memchr(at + 1, '=', (size_t)(to - at) - 1) : NULL;
        gbs_error err = {GBS_OK, ""};
        if (equals == NULL || equals + 1 == to) {
            return quiet ? CLI_USAGE
                         : cli_error(CLI_USAGE, "-e %s: expected NAME=STATE, found '%.*s'", list,
                                     (int)(to - at), at);
        }
        gbs_status status = look_up(model, at, equals, to, &found[*n], &err);
        if (status < 0) {
            return quiet ? CLI_USAGE : cli_fail(status, &err);
        }
        (*n)++;
        if (*to == '\0') {
            return CLI_DONE;
        }
        at = to + 1;
    }
}

/* Search the cuts from at on. @param failed [length of list] places known to lead nowhere. */
static int search(const gbs_model *model, const char *list, size_t at, unsigned char *failed,
                  finding *found, size_t *n)
{
    gbs_error err = {GBS_OK, ""};
    const char *from = list + at;
    if (*from == '\0' || failed[at]) {
        return 0;
    }
    for (const char *equals = strchr(from + 1, '='); equals != NULL;
         equals = strchr(equals + 1, '=')) {
        const char *to = equals;
        do {
            to = to + 1 + strcspn(to + 1, ",");
            if (look_up(model, from, equals, to, &found[*n], &err) >= 0) {
                (*n)++;
                if (*to == '\0' || search(model, list, (size_t)(to + 1 - list), failed, found, n)) {
                    return 1;
                }
                (*n)--;
            }
        } while (*to != '\0');
    }
    failed[at] = 1;
    return 0;
}

/* Whether any name or label holds '=' or ','. */
static int has_awkward_names(const gbs_model *model)
{
    for (uint32_t v = 0; v < gbs_model_n_variables(model); v++) {
        const char *name = gbs_model_variable_name(model, v);
        if (name != NULL && strpbrk(name, "=,") != NULL) {
            return 1;
        }
        for (uint32_t a = 0; a < gbs_model_arity(model, v); a++) {
            const char *label = gbs_model_state_label(model, v, a);
            if (label == NULL) {
                break;
            }
            if (strpbrk(label, "=,") != NULL) {
                return 1;
            }
        }
    }
    return 0;
}

int cli_observe_list(const gbs_model *model, gbs_evidence *evidence, const char *list)
{
    size_t length = strlen(list);
    size_t n = 0;
    finding *found = calloc(length + 1, sizeof *found);
    unsigned char *failed = calloc(length + 1, 1);
    if (found == NULL || failed == NULL) {
        free(found);
        free(failed);
        return cli_error(CLI_FAILED, "out of memory");
    }
    int status = plain(model, list, found, &n, 1);
    if (status != CLI_DONE) {
        n = 0;
        status = has_awkward_names(model) && search(model, list, 0, failed, found, &n)
                     ? CLI_DONE
                     : plain(model, list, found, &n, 0);
    }
    for (size_t i = 0; i < n && status == CLI_DONE; i++) {
        gbs_error err = {GBS_OK, ""};
        gbs_status done = gbs_evidence_observe(evidence, found[i].variable, found[i].state, &err);
        status = done < 0 ? cli_fail(done, &err) : CLI_DONE;
    }
    free(found);
    free(failed);
    return status;
}
