/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the network of a run, with the probabilities in its nodes. After a query the network has
 * the queried variables, and those that share a factor with one of them, by name only. */
#include <stdio.h>

#include "base/memory.h"
#include "drawings/network.h"
#include "report/page.h"

typedef struct reader {
    gbsi_page *page;
    gbsi_drawn_node *node; /* [n] */
    size_t *begin;         /* [factors + 1] */
    uint32_t *scope;       /* [entries] */
    size_t *last;          /* [n] last factor that a node was read in, counted from 1 */
    gbsi_network network;
} reader;

static size_t count_entries(const gbsi_json *factors)
{
    size_t n = 0;
    for (const gbsi_json *f = gbsi_json_first(factors); f != NULL; f = gbsi_json_next(factors, f)) {
        n += f->n;
    }
    return n;
}

/* Reads the position of a node. @return UINT32_MAX after a failure. */
static uint32_t position(const reader *r, const gbsi_json *value)
{
    const double x = value->number;
    if (value->kind == GBSI_JSON_NUMBER && x >= 0.0 && x < (double)r->network.n_nodes &&
        x == (double)(uint32_t)x) {
        return (uint32_t)x;
    }
    gbsi_page_refuse(r->page, value, "the position of a variable that is drawn");
    return UINT32_MAX;
}

static void read_factors(reader *r, const gbsi_json *factors)
{
    size_t n = 0;
    size_t k = 0;
    for (const gbsi_json *f = gbsi_json_first(factors); f != NULL; f = gbsi_json_next(factors, f)) {
        if (f->kind != GBSI_JSON_ARRAY) {
            gbsi_page_refuse(r->page, f, "an array of positions");
            return;
        }
        k++;
        for (const gbsi_json *e = gbsi_json_first(f); e != NULL; e = gbsi_json_next(f, e)) {
            const uint32_t v = position(r, e);
            if (v == UINT32_MAX) {
                return;
            }
            if (r->last[v] == k) {
                gbsi_page_refuse(r->page, e, "each variable once in a factor");
                return;
            }
            r->last[v] = k;
            r->scope[n++] = v;
        }
        r->begin[k] = n;
    }
    r->network.n_scopes = k;
}

static void read_observed(const reader *r, const gbsi_json *observed)
{
    for (const gbsi_json *e = gbsi_json_first(observed); e != NULL;
         e = gbsi_json_next(observed, e)) {
        const uint32_t v = position(r, e);
        if (v == UINT32_MAX) {
            return;
        }
        r->node[v].observed = true;
    }
}

static void read_nodes(const reader *r, const gbsi_json *shown, const gbsi_json *others)
{
    uint32_t v = 0;
    for (const gbsi_json *s = gbsi_json_first(shown); s != NULL; s = gbsi_json_next(shown, s)) {
        gbsi_drawn_node *node = &r->node[v];
        const gbsi_json *states = gbsi_page_array(r->page, s, "states");
        const char *name = gbsi_page_string(r->page, s, "name");
        const double arity = gbsi_page_real(r->page, s, "arity");
        *node = (gbsi_drawn_node){.id = v++, .name = name == NULL ? "" : name, .answered = true};
        for (const gbsi_json *a = gbsi_json_first(states);
             a != NULL && node->n_states < GBSI_DRAWN_STATES; a = gbsi_json_next(states, a)) {
            const char *label = gbsi_page_string(r->page, a, "state");
            node->state[node->n_states++] =
                (gbsi_drawn_state){label == NULL ? "" : label, gbsi_page_real(r->page, a, "p"),
                                   gbsi_page_real(r->page, a, "mcse")};
        }
        node->n_more = arity > node->n_states && arity < 1e9 ? (uint32_t)arity - node->n_states : 0;
    }
    for (const gbsi_json *o = gbsi_json_first(others); o != NULL; o = gbsi_json_next(others, o)) {
        if (o->kind != GBSI_JSON_STRING) {
            gbsi_page_refuse(r->page, o, "the name of a variable");
            return;
        }
        r->node[v] = (gbsi_drawn_node){.id = v, .name = o->text};
        v++;
    }
}

static void put_drawing(reader *r, const gbsi_json *graph)
{
    gbsi_page *page = r->page;
    bool seen = false;
    bool unasked = false;
    for (size_t v = 0; v < r->network.n_nodes; v++) {
        seen |= r->node[v].observed;
        unasked |= !r->node[v].answered;
    }
    gbsi_page_put(page, "<figure class=\"network\">\n");
    const gbs_status status = gbsi_network_svg(&r->network, page->out, page->err);
    if (status == GBS_ERR_MEMORY || status == GBS_ERR_LIMIT) {
        page->status = status;
    } else if (status < 0) {
        gbsi_page_refuse(page, graph, "a graph without directed cycles that can be drawn");
    }
    gbsi_page_put(page, "<figcaption>");
    gbsi_page_put(page, r->network.directed ? "The network, with an arrow from each parent to its "
                                              "child."
                                            : "The model, with a line between two variables of a "
                                              "factor.");
    if (unasked) {
        gbsi_page_put(page,
                      " The page has no probabilities of a variable whose box has a name only: "
                      "the variable was not asked for, and shares a factor with one that was.");
    }
    gbsi_page_put(page, seen ? " Observed variables have a thick frame.</figcaption>\n</figure>\n"
                             : "</figcaption>\n</figure>\n");
}

void gbsi_page_network(gbsi_page *page, const gbsi_json *marginals)
{
    const gbsi_json *graph = gbsi_page_object(page, marginals, "network");
    const gbsi_json *shown = gbsi_page_array(page, marginals, "shown");
    const gbsi_json *factors = gbsi_page_array(page, graph, "factors");
    const gbsi_json *others = gbsi_page_array(page, graph, "others");
    if (graph == NULL || shown == NULL || shown->n == 0 || page->status < 0) {
        return;
    }
    reader r = {.page = page};
    char id[24];
    (void)snprintf(id, sizeof id, "f%u", ++page->n_figures);
    const size_t n_nodes = shown->n + (others == NULL ? 0 : others->n);
    r.node = gbsi_alloc_array_zero(n_nodes, sizeof *r.node);
    r.last = gbsi_alloc_array_zero(n_nodes, sizeof *r.last);
    r.begin = gbsi_alloc_array_zero((factors == NULL ? 0 : factors->n) + 1, sizeof *r.begin);
    r.scope = gbsi_alloc_array(count_entries(factors), sizeof *r.scope);
    const gbs_status status =
        GBSI_HAVE(page->err, "drawing of the network", r.node, r.last, r.begin, r.scope);
    if (status < 0) {
        page->status = status;
    } else {
        r.network = (gbsi_network){.title = "The network and its marginals",
                                   .id = id,
                                   .directed = gbsi_page_is(page, graph, "directed"),
                                   .n_nodes = n_nodes,
                                   .node = r.node,
                                   .begin = r.begin,
                                   .scope = r.scope};
        read_nodes(&r, shown, others);
        read_factors(&r, factors);
        read_observed(&r, gbsi_page_array(page, graph, "observed"));
        if (page->status >= 0) {
            put_drawing(&r, graph);
        }
    }
    GBSI_FREE(r.node, r.last, r.begin, r.scope);
}
