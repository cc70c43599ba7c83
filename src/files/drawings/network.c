/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a network: sizes of the nodes, then the layout, then lines, arrows, boxes and bars. */
#include "drawings/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/extremes.h"
#include "base/memory.h"
#include "base/plural.h"
#include "drawings/layout.h"
#include "drawings/pen.h"
#include "text/output.h"

enum {
    MOST_NODES = 2000,
    MOST_ENTRIES = 20000,
    NAME_LENGTH = 28, /* characters that are shown of a name, and of a label */
    LABEL_LENGTH = 18,
};

#define MARGIN     14.0
#define PADDING    9.0
#define NAME_SIZE  12.0
#define BROAD      1.12 /* allowance for fonts that are broader than the estimate, and for bold text */
#define HEAD       26.0 /* height of a box without bars */
#define ROW        15.0
#define BAR        64.0
#define BAR_HEIGHT 9.0
#define COLUMN_GAP 7.0
#define SQUARE     11.0
#define PORT_GAP   13.0 /* distance of the arrows at a box */
#define ARROW      4.0  /* half the width of an arrow */

typedef struct canvas {
    const gbsi_network *network;
    size_t n_squares;
    uint32_t *square; /* [n_squares] the scope that each square stands for */
    gbsi_layout layout;
    double *port; /* [n_edges] x at which each edge reaches its lower node */
} canvas;

/* ---- states ---------------------------------------------------------------------------------- */

size_t gbsi_most_probable(const double *p, size_t arity, uint32_t *state, size_t most)
{
    size_t n = 0;
    for (uint32_t a = 0; a < arity; a++) {
        size_t least = 0;
        if (n < most) {
            state[n++] = a;
            continue;
        }
        for (size_t k = 1; p != NULL && k < n; k++) {
            least = p[state[k]] < p[state[least]] ? k : least;
        }
        if (p != NULL && p[a] > p[state[least]]) {
            memmove(state + least, state + least + 1, (n - 1 - least) * sizeof *state);
            state[n - 1] = a;
        }
    }
    return n;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Copies the first characters of a text, with an ellipsis if any are left out. */
static const char *cut(const char *text, int most, char *shown, size_t size)
{
    size_t n = 0;
    int length = 0;
    for (; text[n] != '\0' && n + 8 < size; n++) {
        if (((unsigned char)text[n] & 0xc0) != 0x80 && ++length > most) {
            break;
        }
    }
    (void)snprintf(shown, size, "%.*s%s", (int)n, text, text[n] == '\0' ? "" : "…");
    return shown;
}

static const char *name_text(const gbsi_drawn_node *node, char shown[NAME_LENGTH * 4 + 8])
{
    return cut(node->name, NAME_LENGTH, shown, NAME_LENGTH * 4 + 8);
}

static const char *label_text(const gbsi_drawn_state *state, char shown[LABEL_LENGTH * 4 + 8])
{
    return cut(state->label, LABEL_LENGTH, shown, LABEL_LENGTH * 4 + 8);
}

/* Writes a probability with its error: "0.1234", or "0.1234 ± 0.0021". */
static const char *number_text(const gbsi_drawn_state *state, char text[48])
{
    const double p = state->p;
    if (!(p >= 0.0)) { /* NaN */
        (void)snprintf(text, 48, "–");
    } else if (p > 0.0 && p < 0.00005) {
        (void)snprintf(text, 48, "< 0.0001");
    } else if (state->error > 0.0) {
        gbsi_say(text, 48, state->error < 0.00005 ? "%.4f ± %.0e" : "%.4f ± %.4f", p, state->error);
    } else {
        gbsi_say(text, 48, "%.4f", p);
    }
    return text;
}

static const char *more_text(const gbsi_drawn_node *node, char text[48])
{
    (void)snprintf(text, 48, "and %u less probable", node->n_more);
    return text;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static double text_width(const char *text, double size)
{
    return BROAD * gbsi_text_width(text, size);
}

static double label_width(const gbsi_drawn_node *node)
{
    char shown[LABEL_LENGTH * 4 + 8];
    double width = 0.0;
    for (uint32_t k = 0; k < node->n_states; k++) {
        const char *text = label_text(&node->state[k], shown);
        width = gbsi_larger(width, text_width(text, GBSI_FONT));
    }
    return width;
}

static double number_width(const gbsi_drawn_node *node)
{
    char text[48];
    double width = 0.0;
    for (uint32_t k = 0; k < node->n_states; k++) {
        const double w = text_width(number_text(&node->state[k], text), GBSI_FONT);
        width = gbsi_larger(width, w);
    }
    return width;
}

static void size_node(const gbsi_drawn_node *node, gbsi_layout_node *place)
{
    char text[48];
    char shown[NAME_LENGTH * 4 + 8];
    double width = text_width(name_text(node, shown), NAME_SIZE);
    place->height = HEAD;
    if (node->answered) {
        const double row = label_width(node) + number_width(node) + BAR + 2.0 * COLUMN_GAP;
        width = gbsi_larger(width, row);
        place->height += ROW * node->n_states + 4.0;
        if (node->n_more > 0) {
            width = gbsi_larger(width, text_width(more_text(node, text), GBSI_FONT));
            place->height += ROW;
        }
    }
    place->width = gbsi_larger(width + 2.0 * PADDING, 44.0);
}

/* ---- the graph ------------------------------------------------------------------------------- */

static uint64_t pair_of(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Lists the edges of all scopes, some of them twice. @param pair [entries] out.
 * @return their number. */
static size_t list_pairs(canvas *c, uint64_t *pair)
{
    const gbsi_network *n = c->network;
    size_t n_pairs = 0;
    for (size_t f = 0; f < n->n_scopes; f++) {
        const uint32_t *scope = n->scope + n->begin[f];
        const size_t length = n->begin[f + 1] - n->begin[f];
        if (n->directed || length == 2) {
            const uint32_t last = length > 0 ? scope[length - 1] : 0;
            for (size_t i = 0; i + 1 < length; i++) {
                const bool flip = !n->directed && scope[i] > last;
                pair[n_pairs++] = flip ? pair_of(last, scope[i]) : pair_of(scope[i], last);
            }
        } else if (length > 2) {
            const uint32_t square = (uint32_t)(n->n_nodes + c->n_squares);
            c->square[c->n_squares++] = (uint32_t)f;
            for (size_t i = 0; i < length; i++) {
                pair[n_pairs++] = pair_of(scope[i], square);
            }
        }
    }
    return n_pairs;
}

static gbs_status make_graph(canvas *c, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_network *n = c->network;
    const size_t n_entries = n->n_scopes == 0 ? 0 : n->begin[n->n_scopes];
    uint64_t *pair = gbsi_alloc_array(n_entries, sizeof *pair);
    c->square = gbsi_alloc_array(n->n_scopes, sizeof *c->square);
    GBSI_TRY(GBSI_HAVE(err, "drawing", pair, c->square));
    const size_t n_pairs = list_pairs(c, pair);
    qsort(pair, n_pairs, sizeof *pair, by_number);
    gbsi_layout *l = &c->layout;
    l->directed = n->directed;
    l->n_nodes = n->n_nodes + c->n_squares;
    GBSI_TRY(gbsi_network_check(l->n_nodes, n_entries, err));
    l->node = gbsi_alloc_array_zero(l->n_nodes, sizeof *l->node);
    l->edge = gbsi_alloc_array_zero(n_pairs, sizeof *l->edge);
    c->port = gbsi_alloc_array(n_pairs, sizeof *c->port);
    GBSI_TRY(GBSI_HAVE(err, "drawing", l->node, l->edge, c->port));
    for (size_t i = 0; i < n_pairs; i++) {
        if (i == 0 || pair[i] != pair[i - 1]) {
            l->edge[l->n_edges].from = (uint32_t)(pair[i] >> 32);
            l->edge[l->n_edges++].to = (uint32_t)pair[i];
        }
    }
    for (size_t v = 0; v < l->n_nodes; v++) {
        if (v < n->n_nodes) {
            size_node(&n->node[v], &l->node[v]);
        } else {
            l->node[v].width = l->node[v].height = SQUARE;
        }
    }

cleanup:
    gbsi_free(pair);
    return status;
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* An edge that reaches a node, and the place it comes from. */
typedef struct arrival {
    uint32_t to;
    double x;
    size_t edge;
} arrival;

static int from_the_left(const void *a, const void *b)
{
    const arrival *x = a;
    const arrival *y = b;
    if (x->to != y->to) {
        return x->to < y->to ? -1 : 1;
    }
    if (x->x != y->x) {
        return x->x < y->x ? -1 : 1;
    }
    return (x->edge > y->edge) - (x->edge < y->edge);
}

/* Spreads the edges that reach a node over its upper side, in the order of the places they come
 * from. */
static gbs_status spread(canvas *c, gbs_error *err)
{
    const gbsi_layout *l = &c->layout;
    arrival *sorted = gbsi_alloc_array(l->n_edges, sizeof *sorted);
    GBSI_PASS(GBSI_HAVE(err, "drawing", sorted));
    for (size_t e = 0; e < l->n_edges; e++) {
        const gbsi_layout_edge *edge = &l->edge[e];
        const double x = edge->n > 0 ? l->bend[edge->first + edge->n - 1].x : l->node[edge->from].x;
        sorted[e] = (arrival){edge->to, x, e};
    }
    qsort(sorted, l->n_edges, sizeof *sorted, from_the_left);
    for (size_t i = 0, end = 0; i < l->n_edges; i = end) {
        const gbsi_layout_node *node = &l->node[sorted[i].to];
        while (end < l->n_edges && sorted[end].to == sorted[i].to) {
            end++;
        }
        const double n = (double)(end - i);
        const double gap = gbsi_smaller(PORT_GAP, gbsi_larger(node->width - 16.0, 0.0) / n);
        for (size_t k = i; k < end; k++) {
            c->port[sorted[k].edge] = node->x + gap * ((double)(k - i) - 0.5 * (n - 1.0));
        }
    }
    gbsi_free(sorted);
    return GBS_OK;
}

static void put_curve(gbs_output *output, double x0, double y0, double x1, double y1)
{
    const double middle = 0.5 * (y0 + y1);
    gbsi_put(output, "C%s %s %s %s %s %s", N(x0), N(middle), N(x1), N(middle), N(x1), N(y1));
}

static void put_edge(const canvas *c, size_t e, gbs_output *output)
{
    const gbsi_layout *l = &c->layout;
    const gbsi_layout_edge *edge = &l->edge[e];
    const gbsi_layout_node *from = &l->node[edge->from];
    const gbsi_layout_node *to = &l->node[edge->to];
    const double top = to->y - 0.5 * to->height;
    double x = from->x;
    double y = edge->start;
    gbsi_put(output, "<path class=\"edge\" d=\"M%s %sV%s", N(x), N(from->y + 0.5 * from->height),
             N(y));
    for (size_t i = 0; i < edge->n; i++) {
        const gbsi_bend *bend = &l->bend[edge->first + i];
        put_curve(output, x, y, bend->x, bend->top);
        gbsi_put(output, "V%s", N(bend->bottom));
        x = bend->x;
        y = bend->bottom;
    }
    put_curve(output, x, y, c->port[e], edge->finish);
    gbsi_put(output, "V%s\"/>\n", N(top));
    if (c->network->directed) { /* every edge reaches its child from above */
        gbsi_put(output, "<path class=\"arrow\" d=\"M%s %sl%s -8h%sz\"/>\n", N(c->port[e]), N(top),
                 N(-ARROW), N(2.0 * ARROW));
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static double within(double p)
{
    return p > 0.0 ? gbsi_smaller(p, 1.0) : 0.0; /* NaN becomes 0 */
}

/* Writes a bar for a probability, with a whisker of two standard errors on either side. */
static void put_bar(gbs_output *output, const gbsi_drawn_state *state, double x, double y)
{
    const double middle = y + 0.5 * BAR_HEIGHT;
    gbsi_put(output,
             "<rect class=\"rail\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>"
             "<rect class=\"bar\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>",
             N(x), N(y), N(BAR), N(BAR_HEIGHT), N(x), N(y), N(BAR * within(state->p)),
             N(BAR_HEIGHT));
    if (state->error > 0.0) {
        const double low = x + BAR * within(state->p - 2.0 * state->error);
        const double high = x + BAR * within(state->p + 2.0 * state->error);
        gbsi_put(output, "<path class=\"whisker\" d=\"M%s %sH%sM%s %sv4M%s %sv4\"/>", N(low),
                 N(middle), N(high), N(low), N(middle - 2.0), N(high), N(middle - 2.0));
    }
    gbsi_output_text(output, "\n");
}

/* Writes the text that appears while the pointer is on a node: names and labels as a whole. */
static void put_hint(gbs_output *output, const gbsi_drawn_node *node)
{
    char text[48];
    gbsi_output_text(output, "<title>");
    gbsi_put_escaped(output, node->name);
    gbsi_output_text(output, node->observed ? ", observed:" : ":");
    for (uint32_t k = 0; k < node->n_states; k++) {
        gbsi_output_text(output, node->answered ? "\n" : k > 0 ? ", " : " ");
        gbsi_put_escaped(output, node->state[k].label);
        if (node->answered) {
            gbsi_output_text(output, " ");
            gbsi_put_escaped(output, number_text(&node->state[k], text));
        }
    }
    if (node->n_more > 0) {
        gbsi_put(output, node->answered ? "\nand %u less probable" : ", and %u more", node->n_more);
    }
    gbsi_output_text(output, "</title>\n");
}

static void put_rows(gbs_output *output, const gbsi_drawn_node *node, double left, double y)
{
    char text[48];
    char shown[LABEL_LENGTH * 4 + 8];
    const double bar = left + label_width(node) + COLUMN_GAP;
    for (uint32_t k = 0; k < node->n_states; k++, y += ROW) {
        gbsi_put_text(output, "label", left, y + 9.0, label_text(&node->state[k], shown));
        put_bar(output, &node->state[k], bar, y);
        gbsi_put_text(output, "number", bar + BAR + COLUMN_GAP, y + 9.0,
                      number_text(&node->state[k], text));
    }
    if (node->n_more > 0) {
        gbsi_put_text(output, "soft", left, y + 9.0, more_text(node, text));
    }
}

static void put_node(const gbsi_drawn_node *node, const gbsi_layout_node *place, gbs_output *output)
{
    char shown[NAME_LENGTH * 4 + 8];
    const double left = place->x - 0.5 * place->width;
    const double top = place->y - 0.5 * place->height;
    gbsi_put(output, "<g class=\"variable%s\" data-variable=\"%u\">", node->observed ? " seen" : "",
             node->id);
    put_hint(output, node);
    gbsi_put(output,
             "<rect class=\"box\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"6\"/>\n",
             N(left), N(top), N(place->width), N(place->height));
    gbsi_put_text(output, "name", place->x, top + 17.0, name_text(node, shown));
    if (node->answered) {
        put_rows(output, node, left + PADDING, top + HEAD);
    }
    gbsi_output_text(output, "</g>\n");
}

static void put_square(const canvas *c, size_t i, gbs_output *output)
{
    const gbsi_network *n = c->network;
    const gbsi_layout_node *place = &c->layout.node[n->n_nodes + i];
    const size_t f = c->square[i];
    gbsi_output_text(output, "<g class=\"factor\"><title>factor of ");
    for (size_t k = n->begin[f]; k < n->begin[f + 1]; k++) {
        gbsi_output_text(output, k > n->begin[f] ? ", " : "");
        gbsi_put_escaped(output, n->node[n->scope[k]].name);
    }
    gbsi_put(output,
             "</title><rect class=\"square\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/></g>\n",
             N(place->x - 0.5 * SQUARE), N(place->y - 0.5 * SQUARE), N(SQUARE), N(SQUARE));
}

/* ---- the page -------------------------------------------------------------------------------- */

/* Writes the style sheet. Its rules apply inside the drawing only, because a page or a notebook may
 * contain several drawings. Each colour is there twice, first for readers without variables. */
static void put_style(gbs_output *output)
{
    static const struct {
        const char *what, *property, *color, *variable, *other;
    } rules[] = {
        {"text", "fill", "#1c1c1c", "ink", ""},
        {".soft", "fill", "#595959", "soft", ""},
        {".paper", "fill", "#ffffff", "paper", ""},
        {".box", "fill", "#ffffff", "paper", ""},
        {".box", "stroke", "#595959", "soft", ""},
        {".seen .box", "stroke", "#d55e00", "c1", ";stroke-width:2.2"},
        {".edge", "stroke", "#767676", "c7", ";fill:none;stroke-width:1.3"},
        {".arrow", "fill", "#767676", "c7", ""},
        {".square", "fill", "#595959", "soft", ""},
        {".rail", "fill", "#e3e3e3", "grid", ""},
        {".bar", "fill", "#0072b2", "c0", ""},
        {".seen .bar", "fill", "#d55e00", "c1", ""},
        {".whisker", "stroke", "#1c1c1c", "ink", ";fill:none;stroke-width:1.3"},
    };
    gbsi_output_text(output, "<style>\n");
    gbsi_put_palette(output, ".gibbsite-network");
    gbsi_output_text(output,
                     ".gibbsite-network text{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;"
                     "font-size:11px}\n.gibbsite-network .name{font-size:12px;font-weight:bold;"
                     "text-anchor:middle}\n");
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        gbsi_put(output, ".gibbsite-network %s{%s:%s;%s:var(--%s)%s}\n", rules[i].what,
                 rules[i].property, rules[i].color, rules[i].property, rules[i].variable,
                 rules[i].other);
    }
    gbsi_output_text(output, "</style>\n");
}

/* Writes the start of an element, with an id if the drawing has a prefix of ids. */
static void put_start(gbs_output *output, const char *element, const char *prefix, const char *id)
{
    if (prefix == NULL) {
        gbsi_put(output, "<%s>", element);
    } else {
        gbsi_put(output, "<%s id=\"%s%s\">", element, prefix, id);
    }
}

static void put_head(const canvas *c, gbs_output *output, double width, double height)
{
    const gbsi_network *n = c->network;
    gbsi_put(output,
             "<svg %sclass=\"gibbsite-network\" width=\"%s\" height=\"%s\" viewBox=\"0 0 %s %s\" ",
             n->id != NULL ? "" : "xmlns=\"http://www.w3.org/2000/svg\" ", N(width), N(height),
             N(width), N(height));
    if (n->id != NULL) {
        gbsi_put(output, "role=\"img\" aria-labelledby=\"%stitle %sdescription\">\n", n->id, n->id);
    } else {
        gbsi_output_text(output, "role=\"img\">\n");
    }
    put_start(output, "title", n->id, "title");
    gbsi_put_escaped(output, n->title);
    gbsi_output_text(output, "</title>\n");
    put_start(output, "desc", n->id, "description");
    gbsi_put(output, "%zu variable%s, %zu edge%s", n->n_nodes, gbsi_plural(n->n_nodes),
             c->layout.n_edges, gbsi_plural(c->layout.n_edges));
    if (c->n_squares > 0) {
        gbsi_put(output, ", %zu factor%s of three or more variables", c->n_squares,
                 gbsi_plural(c->n_squares));
    }
    gbsi_output_text(output, "</desc>\n");
    put_style(output);
    gbsi_put(output, "<rect class=\"paper\" width=\"%s\" height=\"%s\"/>\n", N(width), N(height));
}

static void put_all(const canvas *c, gbs_output *output)
{
    const gbsi_network *n = c->network;
    const bool empty = n->n_nodes == 0;
    put_head(c, output, 2.0 * MARGIN + (empty ? 140.0 : c->layout.width),
             2.0 * MARGIN + (empty ? 14.0 : c->layout.height));
    gbsi_put(output, "<g transform=\"translate(%s %s)\">\n", N(MARGIN), N(MARGIN));
    if (empty) {
        gbsi_put_text(output, "soft", 0.0, 11.0, "a model without variables");
    }
    for (size_t e = 0; e < c->layout.n_edges; e++) {
        put_edge(c, e, output);
    }
    for (size_t v = 0; v < n->n_nodes; v++) {
        put_node(&n->node[v], &c->layout.node[v], output);
    }
    for (size_t i = 0; i < c->n_squares; i++) {
        put_square(c, i, output);
    }
    gbsi_output_text(output, "</g>\n</svg>\n");
}

gbs_status gbsi_network_check(size_t n_nodes, size_t n_entries, gbs_error *err)
{
    if (n_nodes > MOST_NODES) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "a drawing of %zu nodes, at most %d are drawn: nothing could be seen",
                         n_nodes, MOST_NODES);
    }
    if (n_entries > MOST_ENTRIES) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "a drawing of factors with %zu variables in all, at most %d are drawn: "
                         "nothing could be seen",
                         n_entries, MOST_ENTRIES);
    }
    return GBS_OK;
}

gbs_status gbsi_network_svg(const gbsi_network *network, gbs_output *output, gbs_error *err)
{
    gbs_status status = GBS_OK;
    canvas c = {.network = network};
    GBSI_TRY(make_graph(&c, err));
    GBSI_TRY(gbsi_layout_compute(&c.layout, err));
    GBSI_TRY(spread(&c, err));
    put_all(&c, output);

cleanup:
    GBSI_FREE(c.square, c.layout.node, c.layout.edge, c.layout.bend, c.port);
    return status;
}
