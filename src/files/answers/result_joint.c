/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a joint table as one variable whose states are the joint states. The name of this variable
 * lists the variables of the table, sorted by name, and the labels of its states list their states
 * in the same order. Two tables that list their variables in different orders can therefore be
 * compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/result_table.h"
#include "base/memory.h"

typedef struct named {
    const char *name;
    size_t at;
} named;

static const char *text_at(const gbsi_texts *texts, size_t i)
{
    return (const char *)texts->pool + ((const size_t *)texts->at)[i];
}

void gbsi_table_joint_begin(gbsi_table *r)
{
    r->names.n = r->names.n_bytes = 0;
    r->states.n = r->states.n_bytes = 0;
}

gbs_status gbsi_table_joint_add(gbsi_table *r, gbsi_texts *to, gbs_error *err)
{
    GBSI_PASS(
        gbsi_reserve(&to->pool, &to->pool_capacity, to->n_bytes + r->n + 1, 1, r->text->name, err));
    GBSI_PASS(
        gbsi_reserve(&to->at, &to->at_capacity, to->n + 1, sizeof(size_t), r->text->name, err));
    ((size_t *)to->at)[to->n++] = to->n_bytes;
    memcpy((char *)to->pool + to->n_bytes, r->field, r->n);
    to->n_bytes += r->n;
    ((char *)to->pool)[to->n_bytes++] = 0;
    return GBS_OK;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const named *)left)->name, ((const named *)right)->name);
}

/* Adds a text to r->joined, behind n bytes, as a field of CSV. @return the number of bytes. */
static size_t put_field(gbsi_table *r, size_t n, const char *text)
{
    char *to = r->joined;
    const bool quoted = strpbrk(text, ",\"") != NULL;
    if (n > 0) {
        to[n++] = ',';
    }
    if (quoted) {
        to[n++] = '"';
    }
    for (; *text != 0; text++) {
        to[n++] = *text;
        if (*text == '"') {
            to[n++] = '"';
        }
    }
    if (quoted) {
        to[n++] = '"';
    }
    return n;
}

/* Joins one text for each variable, in the order of the variables' names, and passes the result to
 * add(). @param picked see gbsi_table_joint_label(). */
static gbs_status add_joined(gbsi_table *r, const gbsi_texts *from, const size_t *picked,
                             gbsi_table_add *add, gbs_error *err)
{
    const named *order = r->order;
    size_t n_bytes = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->names.n; i++) {
        /* at most two characters for each character, a pair of quotes and a comma */
        n_bytes += 2 * strlen(text_at(from, picked == NULL ? i : picked[i])) + 3;
    }
    GBSI_PASS(gbsi_reserve(&r->joined, &r->joined_capacity, n_bytes + 1, 1, r->text->name, err));
    for (size_t i = 0; i < r->names.n; i++) {
        const size_t at = order[i].at;
        n = put_field(r, n, text_at(from, picked == NULL ? at : picked[at]));
    }
    return gbsi_table_add_text(r, add, r->joined, n, err);
}

gbs_status gbsi_table_joint_name(gbsi_table *r, gbs_error *err)
{
    GBSI_PASS(gbsi_reserve(&r->order, &r->order_capacity, r->names.n + 1, sizeof(named),
                           r->text->name, err));
    named *order = r->order;
    for (size_t i = 0; i < r->names.n; i++) {
        order[i] = (named){text_at(&r->names, i), i};
    }
    qsort(order, r->names.n, sizeof *order, by_name);
    for (size_t i = 1; i < r->names.n; i++) {
        if (by_name(&order[i - 1], &order[i]) == 0) {
            char expected[160];
            (void)snprintf(expected, sizeof expected, "variable %.80s once in a joint table",
                           order[i].name);
            return gbsi_text_unexpected(r->text, r->shown, expected, err);
        }
    }
    return add_joined(r, &r->names, NULL, gbsi_table_add_variable, err);
}

gbs_status gbsi_table_joint_label(gbsi_table *r, const size_t *picked, gbs_error *err)
{
    return add_joined(r, &r->states, picked, gbsi_table_add_label, err);
}
