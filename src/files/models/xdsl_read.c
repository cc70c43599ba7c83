/* SPDX-License-Identifier: Apache-2.0 */
/* Reads GeNIe's XDSL. The element <smile><nodes> contains chance nodes with tables (cpt), nodes
 * with one state for each row (deterministic), and noisy nodes (noisymax). A noisy node becomes a
 * table unless the table would be long. In a table the first parent runs slowest and the child runs
 * fastest, as in the model. A parent may be declared after its children, so only the positions of
 * rows are noted until all nodes are known. The elements under <extensions> describe the display
 * and are ignored. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "decimal/decimal.h"
#include "models/bif.h"
#include "models/formats.h"
#include "text/xml.h"

/* Number of entries (32 MiB of doubles) that tables of noisy nodes may fill, in addition to one
 * entry for each byte of the file. */
static const size_t NOISY_ENTRIES = (size_t)1 << 22;

typedef enum kind { CPT, DETERMINISTIC, NOISY_MAX, N_KINDS } kind;

/* Position in the file of words that are read once all nodes are known. */
typedef struct words {
    size_t first, n; /* index of the first piece, and number of pieces */
    const char *end; /* position of the element's end tag; NULL if the element is missing */
} words;

typedef struct node {
    kind kind;
    gbsi_bif_token child;
    size_t first_parent, n_parents;
    gbsi_token parents; /* text of the element <parents> in the file */
    words rows;         /* words of <probabilities>, <resultingstates> or <parameters> */
    words strengths;    /* words that give the strengths of the states of a noisy node's parents */
} node;

static const struct {
    /* name of the element, and name of its child element that contains the rows */
    const char *name, *rows;
} kinds[N_KINDS] = {
    [CPT] = {"cpt", "probabilities"},
    [DETERMINISTIC] = {"deterministic", "resultingstates"},
    [NOISY_MAX] = {"noisymax", "parameters"},
};

/* Kinds of the innermost open element, in the order of their depth. */
typedef enum level { DOCUMENT, SMILE, NODES, NODE, IN_NODE } level;

typedef struct xdsl_reader {
    gbsi_text *text;
    gbsi_bif_tables tables;
    level at;
    /* number of open elements that are ignored, because the outermost of them is ignored */
    int n_ignored;
    size_t n_unknown;   /* number of elements of <smile> other than <nodes> and <extensions> */
    gbsi_token unknown; /* tag of the first element that is counted in n_unknown */
    gbsi_token tag;     /* tag of the open element */
    /* list to which words of the open element are added; NULL if the element contains no rows */
    words *rows;
    bool in_parents; /* the open element is <parents>, whose text is copied to names + ids */
    size_t ids;
    bool has_parents; /* the element <parents> of the open node was read */
    node now;         /* the open node */
    void *nodes;      /* node [n_nodes] */
    size_t node_capacity, n_nodes;
    void *parents; /* gbsi_bif_token [n_parents]: names of the parents of all nodes */
    size_t parent_capacity, n_parents;
    void *pieces; /* gbsi_token [n_pieces] */
    size_t piece_capacity, n_pieces;
    char *names; /* decoded names; the buffer is as large as the file, so names never move */
    size_t n_bytes;
} xdsl_reader;

/* ---- tags ------------------------------------------------------------------------------------ */

/* Copies a name from an attribute, because the attribute is not valid after the handler returns. */
static gbs_status take_id(xdsl_reader *r, gbsi_token tag, const char *const *attributes,
                          gbsi_bif_token *name, gbs_error *err)
{
    for (; *attributes != NULL && strcmp(attributes[0], "id") != 0; attributes += 2) {
    }
    if (*attributes == NULL || attributes[1][0] == 0) {
        return gbsi_text_unexpected(r->text, tag, "an id", err);
    }
    const size_t n = strlen(attributes[1]);
    if (n > (size_t)(r->text->end - r->text->begin) - r->n_bytes) {
        /* a default attribute would give several elements the same id */
        return gbsi_text_unexpected(r->text, tag, "an id in the tag, not one by default", err);
    }
    memcpy(r->names + r->n_bytes, attributes[1], n);
    *name = (gbsi_bif_token){.kind = 'w', .text = {r->names + r->n_bytes, n}, .shown = tag};
    r->n_bytes += n;
    return GBS_OK;
}

static gbs_status refuse_node(const xdsl_reader *r, gbsi_token tag, const char *name,
                              gbs_error *err)
{
    return gbsi_text_unsupported(
        r->text, tag, err,
        "found <%.40s>, expected <cpt>, <deterministic> or <noisymax>: other "
        "nodes are not supported",
        name);
}

static gbs_status start_node(xdsl_reader *r, gbsi_token tag, const char *name,
                             const char *const *attributes, gbs_error *err)
{
    kind k = CPT;
    while (k < N_KINDS && strcmp(name, kinds[k].name) != 0) {
        k++;
    }
    if (k == N_KINDS) {
        return refuse_node(r, tag, name, err);
    }
    r->now = (node){.kind = k, .first_parent = r->n_parents};
    r->has_parents = false;
    r->at = NODE;
    GBSI_PASS(take_id(r, tag, attributes, &r->now.child, err));
    for (size_t i = 0; i < r->now.child.text.n; i++) {
        r->tables.network.has_long_names |= r->now.child.text.at[i] == ' ';
    }
    GBSI_PASS(gbsi_bif_add_block(r->text, &r->tables.network, tag.at, err));
    return gbsi_bif_add_variable(r->text, &r->tables.network, &r->now.child, err);
}

static gbs_status start_in_node(xdsl_reader *r, gbsi_token tag, const char *name,
                                const char *const *attributes, gbs_error *err)
{
    gbs_status status = GBS_OK;
    words *rows = strcmp(name, kinds[r->now.kind].rows) == 0                   ? &r->now.rows
                  : r->now.kind == NOISY_MAX && strcmp(name, "strengths") == 0 ? &r->now.strengths
                                                                               : NULL;
    r->at = IN_NODE;
    r->tag = tag;
    if (rows != NULL && rows->end == NULL) {
        *rows = (words){.first = r->n_pieces};
        r->rows = rows;
    } else if (strcmp(name, "parents") == 0 && !r->has_parents) {
        r->in_parents = r->has_parents = true;
        r->ids = r->n_bytes;
    } else if (strcmp(name, "state") == 0) {
        gbsi_bif_token state;
        GBSI_TRY(take_id(r, tag, attributes, &state, err));
        status = gbsi_bif_add_state(r->text, &r->tables.network, r->tables.network.n_variables - 1,
                                    &state, err);
    } else if (strcmp(name, "property") == 0) {
        r->at = NODE;
        r->n_ignored = 1;
    } else {
        char expected[96];
        (void)snprintf(expected, sizeof expected, "<state>, <parents>, <%s> or </%s>, each in turn",
                       kinds[r->now.kind].rows, kinds[r->now.kind].name);
        status = gbsi_text_unexpected(r->text, tag, expected, err);
    }

cleanup:
    return status;
}

static gbs_status on_start(void *context, gbsi_token tag, const char *name,
                           const char *const *attributes, gbs_error *err)
{
    xdsl_reader *r = context;
    if (r->n_ignored > 0) {
        r->n_ignored++;
        return GBS_OK;
    }
    switch (r->at) {
    case DOCUMENT:
        if (strcmp(name, "smile") != 0) {
            return gbsi_text_unexpected(r->text, tag, "<smile>", err);
        }
        r->at = SMILE;
        return GBS_OK;
    case SMILE:
        if (strcmp(name, "dynamic") == 0) {
            return gbsi_text_unsupported(
                r->text, tag, err,
                "found <dynamic>, expected <nodes> or <extensions>: networks in "
                "time are not supported");
        }
        if (strcmp(name, "nodes") == 0) {
            r->at = NODES;
        } else {
            const bool display = strcmp(name, "extensions") == 0;
            r->unknown = !display && r->n_unknown == 0 ? tag : r->unknown;
            r->n_unknown += !display;
            r->n_ignored = 1;
        }
        return GBS_OK;
    case NODES:
        return start_node(r, tag, name, attributes, err);
    case NODE:
        return start_in_node(r, tag, name, attributes, err);
    case IN_NODE:
        break;
    }
    return gbsi_text_unexpected(r->text, tag, "an end tag", err);
}

static gbs_status on_data(void *context, gbsi_token shown, gbsi_token meant, bool literal,
                          gbs_error *err)
{
    xdsl_reader *r = context;
    (void)literal;
    if (r->n_ignored > 0) {
        return GBS_OK;
    }
    if (r->rows != NULL) {
        GBSI_PASS(gbsi_reserve(&r->pieces, &r->piece_capacity, r->n_pieces + 1, sizeof shown,
                               r->text->name, err));
        gbsi_token *last = (gbsi_token *)r->pieces + r->n_pieces - 1;
        if (r->n_pieces > r->rows->first && last->at + last->n == shown.at) {
            last->n += shown.n; /* expat may deliver a word in two pieces */
        } else {
            ((gbsi_token *)r->pieces)[r->n_pieces++] = shown;
        }
        return GBS_OK;
    }
    for (size_t i = 0; i < meant.n; i++) {
        if (!gbsi_is_blank(meant.at[i]) && !r->in_parents) {
            return gbsi_text_unexpected(r->text, gbsi_text_at(r->text, shown.at), "a tag", err);
        }
    }
    if (r->in_parents) {
        if (meant.n > (size_t)(r->text->end - r->text->begin) - r->n_bytes) {
            return gbsi_text_unexpected(r->text, shown, "parents whose names the file has", err);
        }
        memcpy(r->names + r->n_bytes, meant.at, meant.n);
        r->n_bytes += meant.n;
    }
    return GBS_OK;
}

/* Adds the ids in <parents>, which are separated by blanks, to the parents of the node. */
static gbs_status take_parents(xdsl_reader *r, gbs_error *err)
{
    gbsi_text ids = {.at = r->names + r->ids, .end = r->names + r->n_bytes};
    r->now.parents = (gbsi_token){r->names + r->ids, r->n_bytes - r->ids};
    for (;;) {
        const gbsi_token id = gbsi_text_next(&ids);
        if (id.n == 0) {
            break;
        }
        GBSI_PASS(gbsi_reserve(&r->parents, &r->parent_capacity, r->n_parents + 1,
                               sizeof(gbsi_bif_token), r->text->name, err));
        ((gbsi_bif_token *)r->parents)[r->n_parents++] =
            (gbsi_bif_token){.kind = 'w', .text = id, .shown = r->tag};
    }
    return GBS_OK;
}

static gbs_status end_node(xdsl_reader *r, gbsi_token tag, gbs_error *err)
{
    const gbsi_bif_network *network = &r->tables.network;
    const bool stateless = gbsi_bif_variable_at(network, network->n_variables - 1)->n_states == 0;
    if (stateless || r->now.rows.end == NULL ||
        (r->now.kind == NOISY_MAX && r->now.strengths.end == NULL)) {
        return gbsi_text_fail(r->text, tag, err, "found the end of a node without <%s>",
                              stateless                 ? "state"
                              : r->now.rows.end == NULL ? kinds[r->now.kind].rows
                                                        : "strengths");
    }
    r->now.n_parents = r->n_parents - r->now.first_parent;
    GBSI_PASS(gbsi_reserve(&r->nodes, &r->node_capacity, r->n_nodes + 1, sizeof r->now,
                           r->text->name, err));
    ((node *)r->nodes)[r->n_nodes++] = r->now;
    return GBS_OK;
}

static gbs_status on_end(void *context, gbsi_token tag, gbs_error *err)
{
    xdsl_reader *r = context;
    if (r->n_ignored > 0) {
        r->n_ignored--;
        return GBS_OK;
    }
    if (r->at == NODE) {
        GBSI_PASS(end_node(r, tag, err));
    }
    if (r->rows != NULL) {
        r->rows->n = r->n_pieces - r->rows->first;
        r->rows->end = tag.at;
        r->rows = NULL;
    }
    if (r->in_parents) {
        r->in_parents = false;
        GBSI_PASS(take_parents(r, err));
    }
    r->at = (level)((int)r->at - 1);
    return GBS_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct cursor {
    const xdsl_reader *reader;
    const words *of;
    size_t piece;
    gbsi_text at;
} cursor;

static cursor begin_words(const xdsl_reader *r, const words *of)
{
    return (cursor){.reader = r, .of = of};
}

/* @return the next word; an empty word at the end tag behind the last word. */
static gbsi_token next_word(cursor *c)
{
    for (;;) {
        if (c->at.at != NULL) {
            const gbsi_token word = gbsi_text_next(&c->at);
            if (word.n > 0) {
                return word;
            }
        }
        if (c->piece == c->of->n) {
            return (gbsi_token){c->of->end, 0};
        }
        const gbsi_token piece = ((const gbsi_token *)c->reader->pieces)[c->of->first + c->piece++];
        c->at = (gbsi_text){.at = piece.at, .end = piece.at + piece.n};
    }
}

/* Refuses a word that is no number.
 * @param one, more name of a value and of several values in the message, such as "probability" and
 *   "probabilities".
 * @param i number of values, out of n, that were read before this word. */
static gbs_status refuse_number(const xdsl_reader *r, gbsi_token word, size_t i, size_t n,
                                const char *one, const char *more, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    return gbsi_text_fail(r->text, word, err, "found %s after %zu %s, expected %zu",
                          word.n == 0 ? "the end" : gbsi_token_show(word, shown), i,
                          gbsi_plural_of(i, one, more), n);
}

/* Reads n probabilities. Fails if another word follows. */
static gbs_status read_values(xdsl_reader *r, const words *of, size_t n, double *value,
                              gbs_error *err)
{
    cursor c = begin_words(r, of);
    for (size_t i = 0;; i++) {
        const gbsi_token word = next_word(&c);
        const gbsi_bif_token token = {.kind = 'w', .text = word, .shown = word};
        if ((i == n) != (word.n == 0)) {
            return refuse_number(r, word, i, n, "probability", "probabilities", err);
        }
        if (i == n) {
            return GBS_OK;
        }
        GBSI_PASS(gbsi_bif_table_value(&r->tables, &token, &value[i], err));
    }
    return GBS_OK;
}

/* Reads the name of the child's state in each row. */
static gbs_status read_states(xdsl_reader *r, const words *of, gbs_error *err)
{
    gbsi_bif_tables *t = &r->tables;
    double *value = t->value;
    cursor c = begin_words(r, of);
    memset(value, 0, t->n_rows * t->arity * sizeof *value);
    for (size_t row = 0;; row++) {
        const gbsi_token word = next_word(&c);
        uint32_t state = 0;
        if ((row == t->n_rows) != (word.n == 0)) {
            return refuse_number(r, word, row, t->n_rows, "state", "states", err);
        }
        if (row == t->n_rows) {
            return GBS_OK;
        }
        if (!gbsi_name_map_find(&t->network.names, gbsi_bif_scope_at(t, 0), word.at, word.n,
                                &state)) {
            return gbsi_text_unexpected(r->text, word, "a state of the node", err);
        }
        value[row * t->arity + state] = 1.0;
    }
}

/* ---- noisy nodes ----------------------------------------------------------------------------- */

/* Parameters of a noisy node. They have a column for each state of each parent, and then the column
 * of the leak. */
typedef struct causes {
    size_t n_columns;
    double *p;      /* [n_columns, arity] probability of each effect in each column */
    double *weaker; /* [n_columns, arity + 1] P(effect k or a weaker effect); 0 for k = arity */
    /* [n_columns - 1] numbers of the states of each parent, the strongest state first */
    uint32_t *strength;
    double *turned; /* [n_columns, arity] room in which the columns of a parent are reordered */
} causes;

static uint32_t arity_of(const xdsl_reader *r, uint32_t position)
{
    return gbsi_bif_variable_at(&r->tables.network, gbsi_bif_scope_at(&r->tables, position))
        ->n_states;
}

static const char *show_parent(const xdsl_reader *r, const node *d, uint32_t position,
                               char shown[GBSI_SHOWN])
{
    return gbsi_token_show(
        ((const gbsi_bif_token *)r->parents)[d->first_parent + position - 1].text, shown);
}

/* Reads the numbers of a parent's states, from the strongest to the weakest.
 * @param seen [arity] zeros, which the call changes */
static gbs_status read_order(const xdsl_reader *r, cursor *c, uint32_t arity, bool *seen,
                             uint32_t *order, gbs_error *err)
{
    for (uint32_t a = 0; a < arity; a++) {
        const gbsi_token word = next_word(c);
        uint64_t state = 0;
        bool too_large = false;
        if (word.n == 0 || !gbsi_integer_read(word.at, word.n, arity - 1, &state, &too_large) ||
            seen[state]) {
            return gbsi_text_unexpected(r->text, word,
                                        "each state of a parent once, by its number from 0", err);
        }
        seen[state] = true;
        order[a] = (uint32_t)state;
    }
    return GBS_OK;
}

/* Reads the strengths of states. No published description says whether the numbers are the states
 * in order of strength, or the strength of each state. The two meanings agree if the order is its
 * own inverse. Any other order is refused. */
static gbs_status read_strengths(const xdsl_reader *r, const node *d, uint32_t *strength,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    cursor c = begin_words(r, &d->strengths);
    for (uint32_t i = 1; i < r->tables.n_scope; i++) {
        const uint32_t arity = arity_of(r, i);
        bool *seen = gbsi_alloc_zero(arity * sizeof *seen);
        GBSI_PASS(GBSI_HAVE(err, r->text->name, seen));
        status = read_order(r, &c, arity, seen, strength, err);
        gbsi_free(seen);
        GBSI_TRY(status);
        for (uint32_t a = 0; a < arity; a++) {
            if (strength[strength[a]] != a) {
                char shown[GBSI_SHOWN];
                return gbsi_text_unsupported(
                    r->text, (gbsi_token){d->strengths.end, 0}, err,
                    "found strengths of parent %s that mean another order as states by strength "
                    "than as strengths of the states, expected an order such as 0 2 1",
                    show_parent(r, d, i, shown));
            }
        }
        strength += arity;
    }
    const gbsi_token word = next_word(&c);
    if (word.n > 0) {
        status = gbsi_text_unexpected(r->text, word, "the end of the strengths", err);
    }

cleanup:
    return status;
}

/* Whether a column is (0, ..., 0, 1), which means that the cause has no effect. */
static bool has_no_effect(const double *p, uint32_t arity)
{
    uint32_t k = 0;
    while (k + 1 < arity && p[k] == 0.0) {
        k++;
    }
    return k + 1 == arity && p[k] == 1.0;
}

/* Reorders the columns of each parent by the numbers of its states. In the file the columns are
 * ordered by strength or by number. The weakest state has no effect, so the place of the column
 * without effect shows the order in the file. */
static gbs_status order_columns(const xdsl_reader *r, const node *d, const causes *c,
                                gbs_error *err)
{
    const uint32_t arity = r->tables.arity;
    const uint32_t *order = c->strength;
    double *p = c->p;
    for (uint32_t i = 1; i < r->tables.n_scope; i++) {
        char shown[GBSI_SHOWN];
        const uint32_t n = arity_of(r, i);
        const size_t bytes = n * (size_t)arity * sizeof *p;
        const bool by_strength = has_no_effect(p + (n - 1) * (size_t)arity, arity);
        const bool by_number = has_no_effect(p + order[n - 1] * (size_t)arity, arity);
        for (uint32_t a = 0; a < n; a++) {
            memcpy(c->turned + order[a] * (size_t)arity, p + a * (size_t)arity, arity * sizeof *p);
        }
        if (!by_strength && !by_number) {
            return gbsi_text_fail(r->text, (gbsi_token){d->rows.end, 0}, err,
                                  "found an effect of the weakest state of parent %s, expected 0 "
                                  "... 0 1 as the last of its columns",
                                  show_parent(r, d, i, shown));
        }
        if (by_strength && by_number && memcmp(c->turned, p, bytes) != 0) {
            return gbsi_text_unsupported(r->text, (gbsi_token){d->rows.end, 0}, err,
                                         "found two columns without effect of parent %s, expected "
                                         "one, which tells whether columns stand in the order of "
                                         "strength or by number",
                                         show_parent(r, d, i, shown));
        }
        if (by_strength) {
            memcpy(p, c->turned, bytes);
        }
        p += n * (size_t)arity;
        order += n;
    }
    return GBS_OK;
}

/* Fills a row from the cumulative products of its causes [Diez 1993]: P(effect k or weaker) is the
 * product over the causes of their P(effect k or weaker). Differences of such products are computed
 * as sums of positive terms, so no digits cancel. With B = prod c(k+1) and D = prod c(k) - B over
 * some causes, a further cause gives D' = p(k) (B + D) + c(k+1) D. */
static void fill_noisy_row(const causes *c, const size_t *column, uint32_t n_causes, uint32_t arity,
                           double *value)
{
    for (uint32_t k = 0; k < arity; k++) {
        double below = 1.0;
        double here = 0.0;
        for (uint32_t i = 0; i < n_causes; i++) {
            const double p = c->p[column[i] * arity + k];
            const double weaker = c->weaker[column[i] * (arity + 1) + k + 1];
            here = p * (below + here) + weaker * here;
            below *= weaker;
        }
        value[k] = here;
    }
}

static void fill_noisy(const xdsl_reader *r, const causes *c, size_t *column)
{
    const gbsi_bif_tables *t = &r->tables;
    const uint32_t n_causes = t->n_scope; /* number of causes: the parents and the leak */
    for (size_t row = 0; row < t->n_rows; row++) {
        size_t rest = row;
        size_t end = c->n_columns - 1;
        column[n_causes - 1] = end; /* column of the leak */
        for (uint32_t i = n_causes - 1; i > 0; i--) {
            const uint32_t arity = arity_of(r, i);
            end -= arity;
            column[i - 1] = end + rest % arity;
            rest /= arity;
        }
        fill_noisy_row(c, column, n_causes, t->arity, (double *)t->value + row * t->arity);
    }
}

/* Reads a noisy node. Adds a noisy factor if `whole` is set, and a table otherwise. */
static gbs_status read_noisy(xdsl_reader *r, const node *d, bool whole, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t arity = r->tables.arity;
    causes c = {.n_columns = 1};
    size_t *column = gbsi_alloc_array(r->tables.n_scope, sizeof *column);
    for (uint32_t i = 1; i < r->tables.n_scope; i++) {
        c.n_columns += arity_of(r, i);
    }
    const size_t n = c.n_columns * arity;
    if (n > gbsi_text_left(r->text)) {
        GBSI_TRY(gbsi_bif_table_too_large(&r->tables, err));
    }
    c.p = gbsi_alloc_array(n, sizeof *c.p);
    c.weaker = gbsi_alloc_array(n + c.n_columns, sizeof *c.weaker);
    c.strength = gbsi_alloc_array(c.n_columns, sizeof *c.strength);
    c.turned = gbsi_alloc_array(n, sizeof *c.turned);
    GBSI_TRY(GBSI_HAVE(err, r->text->name, column, c.p, c.weaker, c.strength, c.turned));
    GBSI_TRY(read_strengths(r, d, c.strength, err));
    GBSI_TRY(read_values(r, &d->rows, n, c.p, err));
    for (size_t i = 0; i < n; i++) {
        if (isnan(c.p[i])) {
            GBSI_TRY(gbsi_text_fail(r->text, (gbsi_token){d->rows.end, 0}, err,
                                    "found NA among the parameters of a noisy node, expected "
                                    "probabilities"));
        }
    }
    GBSI_TRY(order_columns(r, d, &c, err));
    for (size_t i = 0; i < c.n_columns; i++) {
        double *weaker = c.weaker + i * (arity + 1);
        weaker[arity] = 0.0;
        for (uint32_t k = arity; k-- > 0;) {
            weaker[k] = weaker[k + 1] + c.p[i * arity + k];
        }
    }
    if (whole) {
        GBSI_TRY(gbsi_bif_table_add_noisy(&r->tables, c.n_columns, c.p, err));
    } else {
        fill_noisy(r, &c, column);
    }

cleanup:
    GBSI_FREE(column, c.p, c.weaker, c.strength, c.turned);
    return status;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Adds the parents of a node. The text of <parents> consists of words or, in files of other
 * programs than GeNIe, of ids that contain blanks. */
static gbs_status add_parents(xdsl_reader *r, const node *d, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_bif_network *network = &r->tables.network;
    const gbsi_bif_token *parent = (const gbsi_bif_token *)r->parents + d->first_parent;
    uint32_t *id = NULL;
    size_t n = 0;
    if (network->has_long_names && d->parents.n > 0) {
        GBSI_TRY(gbsi_bif_find_names(r->text, network, d->parents, d->child.shown, " \t\r\n", NULL,
                                     0, &id, &n, err));
    }
    for (size_t i = 0; i < n; i++) {
        const gbsi_bif_token name = {.kind = 'w',
                                     .text = gbsi_bif_variable_at(network, id[i])->name,
                                     .shown = d->child.shown};
        GBSI_TRY(gbsi_bif_table_parent(&r->tables, &name, err));
    }
    for (size_t i = 0; i < d->n_parents && n == 0; i++) {
        GBSI_TRY(gbsi_bif_table_parent(&r->tables, &parent[i], err));
    }

cleanup:
    gbsi_free(id);
    return status;
}

static gbs_status add_node(xdsl_reader *r, const node *d, gbs_error *err)
{
    const unsigned order = gbsi_table_order(r->text->options, 0);
    GBSI_PASS(gbsi_bif_table_child(&r->tables, &d->child, err));
    GBSI_PASS(add_parents(r, d, err));
    r->text->at = r->text->begin; /* sizes are compared with the bytes of the whole file */
    if (d->kind == NOISY_MAX && gbsi_bif_table_is_noisy(&r->tables)) {
        return read_noisy(r, d, true, err);
    }
    GBSI_PASS(gbsi_bif_table_size(&r->tables, err));
    switch (d->kind) {
    case DETERMINISTIC:
        GBSI_PASS(read_states(r, &d->rows, err));
        GBSI_PASS(gbsi_bif_table_turn(&r->tables, order & GBSI_PARENTS_REVERSED, err));
        break;
    case NOISY_MAX:
        GBSI_PASS(read_noisy(r, d, false, err));
        break;
    default:
        GBSI_PASS(
            read_values(r, &d->rows, r->tables.n_rows * r->tables.arity, r->tables.value, err));
        GBSI_PASS(gbsi_bif_table_turn(&r->tables, order, err));
    }
    return gbsi_bif_table_add(&r->tables, err);
}

gbs_status gbsi_xdsl_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    static const gbsi_xml_handlers handlers = {on_start, on_data, on_end};
    gbs_status status = GBS_OK;
    xdsl_reader r = {.text = text};
    GBSI_TRY(gbsi_bif_tables_init(&r.tables, text, "node", err));
    r.tables.n_spare = NOISY_ENTRIES;
    r.names = gbsi_alloc(gbsi_text_left(text) + 1);
    GBSI_TRY(GBSI_HAVE(err, text->name, r.names));
    GBSI_TRY(gbsi_xml_parse(text, &handlers, &r, err));
    if (r.n_nodes == 0) {
        GBSI_TRY(
            gbsi_text_fail(text, (gbsi_token){text->begin, 0}, err, "found no node, expected one"));
    }
    if (r.n_unknown > 0) {
        char shown[GBSI_SHOWN];
        gbsi_text_warn(text, "skipped %zu element%s beside <nodes> and <extensions>, the first %s",
                       r.n_unknown, gbsi_plural(r.n_unknown), gbsi_token_show(r.unknown, shown));
    }
    GBSI_TRY(gbsi_bif_tables_begin(&r.tables, err));
    for (size_t i = 0; i < r.n_nodes; i++) {
        GBSI_TRY(add_node(&r, (const node *)r.nodes + i, err));
    }
    status = gbsi_bif_tables_build(&r.tables, model, err);

cleanup:
    gbsi_bif_tables_free(&r.tables);
    GBSI_FREE(r.nodes, r.parents, r.pieces, r.names);
    return status;
}
