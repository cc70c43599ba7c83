/* SPDX-License-Identifier: Apache-2.0 */
/* Reads graphs to colour in DIMACS format: "p edge N M", then "e i j", numbered from 1. A state of
 * the model gives each vertex one of --colors colours. Adjacent vertices have different colours,
 * and all such colourings are equally likely. */
#include <math.h>

#include "base/memory.h"
#include "base/plural.h"
#include "models/couplings.h"
#include "models/formats.h"
#include "text/lines.h"

typedef struct col_reader {
    gbsi_text *text;
    bool told; /* the file has a p line */
    uint32_t n_variables;
    uint64_t n_declared; /* number of edges in the p line */
    gbsi_token place;    /* token of `n_declared` in the p line */
    gbsi_edges edges;
} col_reader;

static gbs_status read_problem(col_reader *r, gbsi_text *line, gbsi_token p, gbs_error *err)
{
    uint64_t n = 0;
    if (r->told) {
        return gbsi_text_fail(line, p, err, "found a second p line, expected one");
    }
    gbsi_token word = gbsi_text_next(line);
    if (!gbsi_token_is(word, "edge") && !gbsi_token_is(word, "col")) {
        return gbsi_line_unexpected(line, word, "edge or col", err);
    }
    gbsi_token place = gbsi_text_peek(line);
    GBSI_PASS(gbsi_line_integer(line, "the number of vertices", UINT64_MAX, &n, err));
    GBSI_PASS(gbsi_check_variables(r->text, place, n, err));
    r->place = gbsi_text_peek(line);
    GBSI_PASS(gbsi_line_integer(line, "the number of edges", UINT64_MAX, &r->n_declared, err));
    GBSI_PASS(gbsi_line_expect_end(line, "the number of edges", err));
    r->n_variables = (uint32_t)n;
    r->told = true;
    return GBS_OK;
}

static gbs_status read_vertex(const col_reader *r, gbsi_text *line, uint64_t *vertex,
                              gbs_error *err)
{
    gbsi_token token = gbsi_text_peek(line);
    gbs_status status = gbsi_line_integer(line, "a vertex from 1", r->n_variables, vertex, err);
    if (status == GBS_OK && *vertex == 0) {
        return gbsi_text_unexpected(line, token, "a vertex from 1", err);
    }
    return status;
}

static gbs_status read_edge(col_reader *r, gbsi_text *line, gbsi_token e, gbs_error *err)
{
    uint64_t i = 0;
    uint64_t j = 0;
    if (!r->told) {
        return gbsi_text_unexpected(line, e, "the line p edge N M before the edges", err);
    }
    GBSI_PASS(read_vertex(r, line, &i, err));
    GBSI_PASS(read_vertex(r, line, &j, err));
    if (i == j) {
        return gbsi_text_fail(line, e, err,
                              "found an edge of vertex %llu with itself, expected two vertices",
                              (unsigned long long)i);
    }
    GBSI_PASS(gbsi_line_expect_end(line, "an edge", err));
    return gbsi_edges_add(&r->edges, (uint32_t)i - 1, (uint32_t)j - 1, 0, err);
}

static gbs_status read_lines(col_reader *r, gbs_error *err)
{
    gbsi_text line;
    while (gbsi_line_next(r->text, &line)) {
        gbsi_token token = gbsi_text_next(&line);
        if (token.at[0] == 'c') {
            continue;
        }
        if (gbsi_token_is(token, "e")) {
            GBSI_PASS(read_edge(r, &line, token, err));
        } else if (gbsi_token_is(token, "p")) {
            GBSI_PASS(read_problem(r, &line, token, err));
        } else {
            return gbsi_text_unexpected(&line, token, "a line beginning with c, p or e", err);
        }
    }
    if (!r->told) {
        return gbsi_text_unexpected(r->text, gbsi_text_next(r->text), "p edge N M", err);
    }
    return GBS_OK;
}

/* Joins repeated edges. Files list an edge once, or once from each end. In either case the number
 * in the p line may count each edge once or twice. */
static gbs_status join_edges(col_reader *r, gbs_error *err)
{
    gbsi_repeats repeats;
    GBSI_PASS(gbsi_edges_sum(&r->edges, r->n_variables, false, &repeats, err));
    const size_t n_listed = r->edges.n;
    const size_t n_distinct = n_listed - repeats.n;
    const uint64_t n = r->n_declared;
    if (n != n_listed && n != n_distinct && (n % 2 != 0 || n / 2 != n_distinct)) {
        GBSI_PASS(gbsi_text_deviation(r->text, r->place, err,
                                      "found %llu as the number of edges, expected that of the e "
                                      "lines, %zu, or of distinct edges, %zu",
                                      (unsigned long long)n, n_listed, n_distinct));
    } else if (n != n_listed && n != n_distinct) {
        gbsi_text_warn(r->text,
                       "%llu edge%s announced: each of %zu edge%s is counted in both directions",
                       (unsigned long long)n, gbsi_plural_of(n, " is", "s are"), n_distinct,
                       gbsi_plural(n_distinct));
    }
    if (repeats.n != 0) {
        gbsi_text_warn(r->text, "%zu edge%s left out", repeats.n,
                       gbsi_plural_of(repeats.n, " repeats an earlier one and was",
                                      "s repeat earlier ones and were"));
    }
    return GBS_OK;
}

static gbs_status add_factors(const col_reader *r, gbs_builder *builder, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_edge *edge = r->edges.edge;
    uint32_t *arity = gbsi_alloc_array(r->n_variables, sizeof *arity);
    GBSI_PASS(GBSI_HAVE(err, r->text->name, arity));
    for (uint32_t v = 0; v < r->n_variables; v++) {
        arity[v] = r->text->options->states;
    }
    GBSI_TRY(gbs_builder_add_variables(builder, r->n_variables, arity, NULL, err));
    for (size_t e = 0; e < r->edges.n; e++) {
        if (edge[e].i != GBS_NO_PAIR) {
            bool ordered = edge[e].i < edge[e].j;
            GBSI_TRY(gbs_builder_add_potts(builder, ordered ? edge[e].i : edge[e].j,
                                           ordered ? edge[e].j : edge[e].i, -INFINITY, err));
        }
    }

cleanup:
    gbsi_free(arity);
    return status;
}

gbs_status gbsi_col_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    col_reader r = {.text = text};
    const uint32_t n_colors = text->options->states;
    if (n_colors == 0 || n_colors > GBS_MAX_ARITY) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         n_colors == 0
                             ? "%s: colouring a graph needs a number of colours: give --colors K"
                             : "%s: too many colours, expected at most 65535",
                         text->name);
    }
    GBSI_TRY(read_lines(&r, err));
    GBSI_TRY(join_edges(&r, err));
    GBSI_TRY(gbs_builder_new(&builder, err));
    status = add_factors(&r, builder, err);
    GBSI_TRY(gbsi_text_blame(text, r.place, status, err));
    status = gbsi_text_blame(text, r.place, gbs_builder_build(builder, model, err), err);

cleanup:
    gbs_builder_free(builder);
    gbsi_edges_free(&r.edges);
    return status;
}
