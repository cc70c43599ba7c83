/* SPDX-License-Identifier: Apache-2.0 */
/* Reads graphs in the form of G. Rinaldi's generator rudy, such as the G-set. A line "n m" precedes
 * m lines "i j [w]", in which vertices are numbered from 1. */
#include <string.h>

#include "models/couplings.h"
#include "models/formats.h"

static const char comments[] = "#c";

typedef struct rud_reader {
    gbsi_couplings couplings;
    uint64_t n_edges;
    bool commented; /* a warning about comments in the file was given */
} rud_reader;

/* Whether the line is the comment that dimod writes before couplings.
 * @param line copy of the line, which the function reads. */
static bool says_vartype(gbsi_text line)
{
    static const char word[] = "vartype=";
    line.comment = 0;
    for (gbsi_token t = gbsi_text_next(&line); t.n > 0; t = gbsi_text_next(&line)) {
        const size_t hash = t.at[0] == '#';
        if (t.n - hash >= sizeof word - 1 && memcmp(t.at + hash, word, sizeof word - 1) == 0) {
            return true;
        }
    }
    return false;
}

/* Reads the next line. Comments are accepted only in lenient reading, because files of rudy have
 * none.
 * @param found out: false at the end of the file. */
static gbs_status next_line(rud_reader *r, gbsi_text *line, bool *found, gbs_error *err)
{
    gbsi_text *text = r->couplings.text;
    for (*found = gbsi_line_next(text, line); *found; *found = gbsi_line_next(text, line)) {
        gbsi_token token = gbsi_text_peek(line);
        if (strchr(comments, token.at[0]) == NULL) {
            return GBS_OK;
        }
        if (says_vartype(*line)) {
            return gbsi_text_fail(text, token, err,
                                  "found the vartype of a file of dimod, expected the numbers of a "
                                  "graph: name the format, --from coo");
        }
        if (!r->commented) {
            GBSI_PASS(gbsi_text_deviation(text, token, err,
                                          "found a comment, expected numbers only (lenient: "
                                          "skipped)"));
        }
        r->commented = true;
    }
    return GBS_OK;
}

static gbs_status read_head(rud_reader *r, gbs_error *err)
{
    gbsi_couplings *c = &r->couplings;
    gbsi_text line;
    bool found = false;
    uint64_t n = 0;
    GBSI_PASS(next_line(r, &line, &found, err));
    if (!found) {
        return gbsi_text_unexpected(c->text, gbsi_text_next(c->text),
                                    "the numbers of vertices and edges", err);
    }
    gbsi_token place = gbsi_text_peek(&line);
    GBSI_PASS(gbsi_line_integer(&line, "the number of vertices", UINT64_MAX, &n, err));
    GBSI_PASS(gbsi_check_variables(c->text, place, n, err));
    c->n_variables = (uint32_t)n;
    GBSI_PASS(gbsi_line_count(c->text, &line, "the number of edges", 4, &r->n_edges, err));
    GBSI_PASS(gbsi_line_expect_end(&line, "the number of edges", err));
    c->first = *c->text;
    return GBS_OK;
}

static gbs_status read_vertex(const gbsi_couplings *c, gbsi_text *line, uint64_t *vertex,
                              gbs_error *err)
{
    gbsi_token token = gbsi_text_peek(line);
    gbs_status status = gbsi_line_integer(line, "a vertex from 1", c->n_variables, vertex, err);
    if (status == GBS_OK && *vertex == 0) {
        return gbsi_text_unexpected(line, token, "a vertex from 1", err);
    }
    return status;
}

static gbs_status read_edge(gbsi_couplings *c, gbsi_text *line, gbs_error *err)
{
    uint64_t i = 0;
    uint64_t j = 0;
    double weight = 1.0;
    gbsi_token place = gbsi_text_peek(line);
    GBSI_PASS(read_vertex(c, line, &i, err));
    GBSI_PASS(read_vertex(c, line, &j, err));
    if (i == j) {
        return gbsi_text_fail(line, place, err,
                              "found an edge of vertex %llu with itself, expected two vertices",
                              (unsigned long long)i);
    }
    if (gbsi_text_peek(line).n != 0) {
        GBSI_PASS(gbsi_line_number(line, "a finite weight", &weight, &c->n_underflow, err));
    }
    GBSI_PASS(gbsi_line_expect_end(line, "an edge", err));
    return gbsi_couplings_add(c, line, place, i - 1, j - 1, weight, err);
}

static gbs_status read_edges(rud_reader *r, gbs_error *err)
{
    gbsi_text *text = r->couplings.text;
    gbsi_text line;
    bool found = false;
    for (uint64_t e = 0; e < r->n_edges; e++) {
        GBSI_PASS(next_line(r, &line, &found, err));
        if (!found) {
            return gbsi_text_fail(text, gbsi_text_next(text), err,
                                  "found the end of the file, expected edge %llu of %llu",
                                  (unsigned long long)e + 1, (unsigned long long)r->n_edges);
        }
        GBSI_PASS(read_edge(&r->couplings, &line, err));
    }
    GBSI_PASS(next_line(r, &line, &found, err));
    if (found) {
        GBSI_PASS(gbsi_text_expect_end(&line, "the last edge", err));
    }
    return GBS_OK;
}

gbs_status gbsi_rud_read(gbsi_text *text, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    rud_reader r = {0};
    GBSI_TRY(gbsi_couplings_begin(&r.couplings, text, GBSI_RUD_CONVENTION, comments, err));
    GBSI_TRY(read_head(&r, err));
    GBSI_TRY(read_edges(&r, err));
    status = gbsi_couplings_build(&r.couplings, GBSI_PAIR_ONCE, false, model, err);

cleanup:
    gbsi_couplings_free(&r.couplings);
    return status;
}
