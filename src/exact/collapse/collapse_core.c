/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the model that remains after variables are summed out, and draws the summed variables
 * again. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "collapse/collapse_inside.h"
#include "rng/words.h"

/* The search for a piece that contains all variables of another piece looks at most at this number
 * of pieces of a variable. */
enum { MOST_HOSTS = 64 };

/* ---- factors within factors ---------------------------------------------------------------- */

static bool holds_all(const gbsi_shrinking *s, uint32_t host, uint32_t guest)
{
    const uint32_t *in = gbsi_piece_scope(s, host);
    const uint32_t *scope = gbsi_piece_scope(s, guest);
    for (uint32_t i = 0; i < s->piece[guest].n; ++i) {
        uint32_t k = 0;
        while (k < s->piece[host].n && in[k] != scope[i]) {
            ++k;
        }
        if (k == s->piece[host].n) {
            return false;
        }
    }
    return true;
}

/* Whether other pieces may be multiplied into a piece. A table of the model must have three
 * variables or more, because a table of two variables may be a coupling, for which kernels are
 * faster. */
static bool may_host(const gbsi_shrinking *s, uint32_t piece)
{
    const gbsi_piece *p = &s->piece[piece];
    return p->made || (p->n > 2 && s->model->factors.kind[piece] == GBS_FACTOR_TABLE);
}

/* Returns a link to a piece into which the piece `guest` can be multiplied; GBSI_NONE if there is
 * none. */
static uint32_t find_host(const gbsi_shrinking *s, uint32_t guest)
{
    uint32_t link = s->head[gbsi_piece_scope(s, guest)[0]];
    for (int i = 0; i < MOST_HOSTS && link != GBSI_NONE; ++i, link = s->link[link].next) {
        const uint32_t host = s->link[link].piece;
        if (host != guest && !s->piece[host].gone && may_host(s, host) &&
            holds_all(s, host, guest)) {
            return link;
        }
    }
    return GBSI_NONE;
}

/* Copies a factor of the model into a made piece, which takes the place of the factor in all lists.
 */
static gbs_status take_over(gbsi_shrinking *s, uint32_t piece, uint32_t *made, gbs_error *err)
{
    GBSI_PASS(gbsi_piece_make(s, s->piece[piece].n, gbsi_piece_scope(s, piece), made, err));
    gbsi_piece_add(s, piece, s->piece[piece].n, gbsi_piece_scope(s, piece),
                   s->value + s->piece[*made].value);
    s->piece[piece].gone = true;
    for (uint32_t i = 0; i < s->piece[piece].n; ++i) {
        uint32_t link = s->head[gbsi_piece_scope(s, piece)[i]];
        while (s->link[link].piece != piece) {
            link = s->link[link].next;
        }
        s->link[link].piece = *made;
    }
    return GBS_OK;
}

static gbs_status absorb(gbsi_shrinking *s, gbs_error *err)
{
    for (uint32_t guest = 0; guest < s->n_pieces; ++guest) {
        const uint32_t link =
            s->piece[guest].gone || s->piece[guest].wide ? GBSI_NONE : find_host(s, guest);
        if (link == GBSI_NONE) {
            continue;
        }
        uint32_t host = s->link[link].piece;
        if (!s->piece[host].made) {
            GBSI_PASS(take_over(s, host, &host, err));
        }
        gbsi_piece_add(s, guest, s->piece[host].n, gbsi_piece_scope(s, host),
                       s->value + s->piece[host].value);
        s->piece[guest].gone = true;
    }
    for (uint32_t i = 0; i < s->n_pieces; ++i) {
        const double most = s->piece[i].gone || !s->piece[i].made ? 0.0 : gbsi_piece_scale(s, i);
        if (most == -INFINITY) {
            return gbsi_fail(err, GBS_ERR_IMPOSSIBLE, "no state has positive weight");
        }
        s->log_constant += most;
    }
    return GBS_OK;
}

/* ---- the core ------------------------------------------------------------------------------ */

/* Sizes of the arrays of the core. */
typedef struct sizes {
    gbsi_part_sizes part;
    uint32_t *table; /* [tables of the model] number in the core of each table of the model;
                        GBSI_NONE if the table is not in the core */
} sizes;

static size_t entries_of(const gbsi_shrinking *s, uint32_t piece)
{
    size_t entries = 1;
    for (uint32_t i = 0; i < s->piece[piece].n; ++i) {
        entries *= s->model->arity[gbsi_piece_scope(s, piece)[i]];
    }
    return entries;
}

static void number_variables(const gbsi_shrinking *s, sizes *z)
{
    gbsi_collapse *c = s->collapse;
    memset(c->core_variable, 0, s->model->n_variables * sizeof *c->core_variable);
    for (uint32_t e = 0; e < c->n_eliminated; ++e) {
        c->core_variable[c->variable[e]] = GBSI_NONE;
    }
    for (uint32_t v = 0; v < s->model->n_variables; ++v) {
        if (c->core_variable[v] != GBSI_NONE) {
            c->core_variable[v] = z->part.n_variables++;
            z->part.n_states += s->model->arity[v];
        }
    }
}

static void count(const gbsi_shrinking *s, sizes *z)
{
    const gbsi_factors *f = &s->model->factors;
    memset(z->table, 0xff, f->n_tables * sizeof *z->table);
    for (uint32_t i = 0; i < s->n_pieces; ++i) {
        const gbsi_piece *p = &s->piece[i];
        if (p->gone) {
            continue;
        }
        ++z->part.n_factors;
        z->part.n_scope += p->n;
        z->part.logical |= !p->made && f->kind[i] == GBS_FACTOR_LOGICAL;
        if (p->made) {
            ++z->part.n_tables;
            z->part.n_entries += entries_of(s, i);
        } else if (gbsi_has_table(f->kind[i]) && z->table[f->aux[i]] == GBSI_NONE) {
            z->table[f->aux[i]] = 0;
            ++z->part.n_tables;
            z->part.n_entries += f->table_start[f->aux[i] + (size_t)1] - f->table_start[f->aux[i]];
        }
    }
}

/* Writes the table of factor i to the core, unless the table is one of the model that the core
 * already has.
 * @return the number of the table in the core. */
static uint32_t copy_table(const gbsi_shrinking *s, const sizes *z, gbsi_factors *to, uint32_t i)
{
    const gbsi_factors *from = &s->model->factors;
    const size_t first = to->table_start[to->n_tables];
    size_t n = 0;
    if (s->piece[i].made) {
        n = entries_of(s, i);
        memcpy(to->table + first, s->value + s->piece[i].value, n * sizeof *to->table);
    } else {
        const uint32_t table = from->aux[i];
        if (z->table[table] != GBSI_NONE) {
            return z->table[table];
        }
        z->table[table] = (uint32_t)to->n_tables;
        n = from->table_start[table + (size_t)1] - from->table_start[table];
        memcpy(to->table + first, from->table + from->table_start[table], n * sizeof *to->table);
    }
    assert(to->n_tables < z->part.n_tables);
    to->table_start[to->n_tables + 1] = first + n;
    return (uint32_t)to->n_tables++;
}

static void copy_factors(const gbsi_shrinking *s, const sizes *z, gbsi_conditioned *core)
{
    const gbsi_factors *from = &s->model->factors;
    gbsi_factors *to = &core->factors;
    memset(z->table, 0xff, from->n_tables * sizeof *z->table);
    to->scope_start[0] = 0;
    to->table_start[0] = 0;
    for (uint32_t i = 0; i < s->n_pieces; ++i) {
        const gbsi_piece *p = &s->piece[i];
        if (p->gone) {
            continue;
        }
        const size_t f = to->n_factors++;
        const size_t start = to->scope_start[f];
        to->kind[f] = p->made ? GBS_FACTOR_TABLE : from->kind[i];
        for (uint32_t k = 0; k < p->n; ++k) {
            to->scope[start + k] = s->collapse->core_variable[gbsi_piece_scope(s, i)[k]];
            assert(to->scope[start + k] !=
                   GBSI_NONE); /* a factor of the core has only variables of the core */
        }
        if (!p->made && to->literal != NULL) {
            memcpy(to->literal + start, from->literal + p->scope, p->n * sizeof *to->literal);
        }
        to->scope_start[f + 1] = start + p->n;
        to->weight[f] = p->made ? 0.0 : from->weight[i];
        to->aux[f] = gbsi_has_table(to->kind[f]) ? copy_table(s, z, to, i) : from->aux[i];
        core->origin[f] = p->made ? SIZE_MAX : gbsi_conditioned_origin(s->model, i);
        core->has_zeros[f] = gbsi_factor_has_zeros(to, f);
    }
    if (z->part.logical) {
        gbsi_conditioned_take_logical(s->model, core);
    }
}

gbs_status gbsi_collapse_core(gbsi_shrinking *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    sizes z = {0};
    gbsi_conditioned *core = gbsi_alloc_zero(sizeof *core);
    z.table = gbsi_alloc_array(s->model->factors.n_tables, sizeof *z.table);
    GBSI_TRY(GBSI_HAVE(err, "collapse", core, z.table));
    core->model = s->model->model;
    GBSI_TRY(absorb(s, err));
    number_variables(s, &z);
    count(s, &z);
    GBSI_TRY(gbsi_conditioned_reserve(s->model, &z.part, core, err));
    gbsi_conditioned_take_variables(s->model, s->collapse->core_variable, core);
    core->log_constant += s->log_constant;
    copy_factors(s, &z, core);
    assert(core->factors.n_factors == z.part.n_factors &&
           core->factors.n_tables == z.part.n_tables);
    assert(core->factors.scope_start[z.part.n_factors] == z.part.n_scope);
    s->collapse->core = core;
    core = NULL;

cleanup:
    gbsi_free(z.table);
    gbsi_conditioned_free(core);
    return status;
}

/* ---- drawing what was summed out ------------------------------------------------------------ */

/* Philox makes four words at a time; the draw of one eliminated variable takes two. */
size_t gbsi_recovery_words(const gbsi_collapse *collapse)
{
    return ((size_t)collapse->n_eliminated + 1) / 2 * 4 * GBSI_COLLAPSE_LANES;
}

/* Returns the first state at which the running sum of p(v | n) exceeds u. */
static uint32_t draw(const double *p, uint32_t arity, double u)
{
    double sum = p[0];
    uint32_t state = 0;
    while (state + 1 < arity && !(u < sum)) {
        sum += p[++state];
    }
    while (p[state] == 0.0) { /* because of rounding, the sum of all states may be below 1 */
        assert(state > 0);    /* some state has a positive weight */
        --state;
    }
    return state;
}

void gbsi_collapse_recover(const gbsi_collapse *collapse, const gbsi_recovery *r)
{
    const gbsi_conditioned *model = collapse->model;
    const uint32_t lanes = GBSI_COLLAPSE_LANES;
    gbsi_words_of(r->level)->lanes16(r->seed, r->chain, r->pass, 0,
                                     (collapse->n_eliminated + 1) / 2, GBSI_PURPOSE_RECOVER,
                                     r->word);
    for (uint32_t e = collapse->n_eliminated; e-- > 0;) {
        const uint32_t v = collapse->variable[e];
        const uint32_t arity = model->arity[v];
        const uint32_t *word = r->word + (size_t)e * 2 * lanes;
        size_t row[GBSI_COLLAPSE_LANES] = {0};
        for (size_t i = collapse->scope_start[e]; i < collapse->scope_start[e + 1]; ++i) {
            const uint32_t n = collapse->scope[i];
            for (uint32_t l = 0; l < lanes; ++l) {
                row[l] = row[l] * model->arity[n] + r->x[(size_t)n * lanes + l];
            }
        }
        for (uint32_t l = 0; l < lanes; ++l) {
            const double *p = collapse->p + collapse->p_start[e] + row[l] * arity;
            r->x[(size_t)v * lanes + l] = draw(p, arity, gbsi_uniform(word[l], word[lanes + l]));
            for (uint32_t k = 0; r->p != NULL && k < arity; ++k) {
                r->p[(model->state_offset[v] + k) * lanes + l] += r->weight[l] * p[k];
            }
        }
    }
}
