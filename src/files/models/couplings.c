/* SPDX-License-Identifier: Apache-2.0 */
#include "models/couplings.h"

#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "decimal/decimal.h"
#include "text/output.h"

static gbs_status diagonal_of(const char *word, gbsi_diagonal *diagonal, gbs_error *err)
{
    static const char *const names[] = {"field", "ignore", "error"};
    *diagonal = GBSI_DIAGONAL_FIELD;
    for (unsigned i = 0; word != NULL && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(word, names[i]) == 0) {
            *diagonal = (gbsi_diagonal)i;
            return GBS_OK;
        }
    }
    return word == NULL
               ? GBS_OK
               : gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "diagonal '%.100s' is not known, expected field, ignore or error", word);
}

gbs_status gbsi_couplings_begin(gbsi_couplings *c, gbsi_text *text, gbsi_convention own,
                                const char *comments, gbs_error *err)
{
    *c = (gbsi_couplings){.text = text, .first = *text, .comments = comments};
    GBSI_PASS(gbsi_convention_of(text->options->convention, own, &c->convention, err));
    return diagonal_of(text->options->diagonal, &c->diagonal, err);
}

void gbsi_couplings_free(gbsi_couplings *c)
{
    gbsi_edges_free(&c->edges);
}

gbs_status gbsi_couplings_add(gbsi_couplings *c, const gbsi_text *line, gbsi_token place,
                              uint64_t i, uint64_t j, double value, gbs_error *err)
{
    bool dropped = i == j && c->diagonal == GBSI_DIAGONAL_IGNORE;
    if (i == j && c->diagonal == GBSI_DIAGONAL_ERROR) {
        return gbsi_text_fail(line, place, err,
                              "found an entry on the diagonal, expected none (--diagonal error)");
    }
    if (i == j && !dropped && c->convention == GBSI_MAXCUT && value != 0) {
        return gbsi_text_fail(line, place, err,
                              "found a field, but a cut has no fields; expected another "
                              "--convention than maxcut, or --diagonal ignore");
    }
    /* A dropped entry is kept with GBS_NO_PAIR, because messages find an entry in the file by its
     * index in the list. */
    return gbsi_edges_add(&c->edges, dropped ? GBS_NO_PAIR : (uint32_t)i, (uint32_t)j, value, err);
}

gbsi_token gbsi_couplings_place(const gbsi_couplings *c, size_t e)
{
    gbsi_text text = c->first;
    gbsi_text line;
    while (gbsi_line_next(&text, &line)) {
        gbsi_token token = gbsi_text_peek(&line);
        if (strchr(c->comments, token.at[0]) == NULL && e-- == 0) {
            return token;
        }
    }
    return gbsi_text_peek(&c->first);
}

/* Writes the first two words of an entry, such as "2 1", into `text`. */
static void pair_text(const gbsi_couplings *c, size_t e, char text[64])
{
    gbsi_text line = c->first;
    line.at = gbsi_couplings_place(c, e).at;
    gbsi_token i = gbsi_text_next(&line);
    gbsi_token j = gbsi_text_next(&line);
    (void)snprintf(text, 64, "%.*s %.*s", (int)(i.n < 24 ? i.n : 24), i.at,
                   (int)(j.n < 24 ? j.n : 24), j.at);
}

static gbs_status refuse_repeats(const gbsi_couplings *c, const gbsi_repeats *repeats,
                                 gbs_error *err)
{
    char entry[64];
    char of[64];
    if (repeats->n == 0) {
        return GBS_OK;
    }
    pair_text(c, repeats->entry, entry);
    pair_text(c, repeats->of, of);
    return gbsi_text_deviation(c->text, gbsi_couplings_place(c, repeats->entry), err,
                               "found %s after %s: %zu %s an earlier entry, expected each entry "
                               "once (--lenient adds them up)",
                               entry, of, repeats->n,
                               gbsi_plural_of(repeats->n, "entry repeats", "entries repeat"));
}

gbs_status gbsi_refuse_mirror(const gbsi_text *text, gbsi_token place, double one, double other,
                              gbs_error *err)
{
    char a[32];
    char b[32];
    (void)gbsi_format_double(one, a);
    (void)gbsi_format_double(other, b);
    return gbsi_text_fail(text, place, err,
                          "found %s across the diagonal from %s, expected one value for a coupling",
                          b, a);
}

static gbs_status join_entries(gbsi_couplings *c, gbsi_pairing pairing, gbs_error *err)
{
    gbsi_repeats repeats;
    bool mirror = pairing == GBSI_PAIR_MIRROR;
    GBSI_PASS(gbsi_edges_sum(&c->edges, c->n_variables, mirror, &repeats, err));
    GBSI_PASS(refuse_repeats(c, &repeats, err));
    if (!mirror) {
        return GBS_OK;
    }
    GBSI_PASS(gbsi_edges_fold(&c->edges, c->n_variables, &repeats, err));
    if (repeats.n != 0) {
        const gbsi_edge *edge = c->edges.edge;
        return gbsi_refuse_mirror(c->text, gbsi_couplings_place(c, repeats.entry),
                                  edge[repeats.of].value, edge[repeats.entry].value, err);
    }
    return GBS_OK;
}

gbs_status gbsi_couplings_build(gbsi_couplings *c, gbsi_pairing pairing, bool binary,
                                gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_spin_list spins = {0};
    GBSI_TRY(join_entries(c, pairing, err));
    GBSI_TRY(gbsi_spin_list_init(&spins, c->n_variables, err));
    spins.constant = c->constant;
    spins.edges = c->edges;
    c->edges = (gbsi_edges){0};
    gbsi_edge *edge = spins.edges.edge;
    for (size_t e = 0; e < spins.edges.n; e++) {
        if (edge[e].i != GBS_NO_PAIR && edge[e].i == edge[e].j) {
            spins.field[edge[e].i] = edge[e].value;
            edge[e].i = GBS_NO_PAIR;
        }
    }
    status = gbsi_spin_list_build(&spins, binary, gbsi_convention_sign(c->convention), model, err);
    GBSI_TRY(gbsi_text_blame(c->text, gbsi_text_peek(&c->first), status, err));
    if (c->n_underflow != 0) {
        gbsi_text_warn(c->text, "%zu value%s too small for a double and became zero",
                       c->n_underflow, gbsi_plural_of(c->n_underflow, " is", "s are"));
    }

cleanup:
    gbsi_spin_list_free(&spins);
    return status;
}

void gbsi_tell_constant(const gbs_write_options *options, const gbs_output *output,
                        const char *format, double constant)
{
    if (options->warn == NULL || constant == 0) {
        return;
    }
    char message[512];
    char value[32];
    (void)gbsi_format_double(constant, value);
    (void)snprintf(message, sizeof message,
                   "%.200s: lost a constant of the log-density, %s, which %s files cannot hold",
                   gbsi_output_name(output), value, format);
    options->warn(options->context, message);
}
