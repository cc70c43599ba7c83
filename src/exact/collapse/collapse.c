/* SPDX-License-Identifier: Apache-2.0 */
/* Sums out variables, cheapest first [M45]. The cost of v is the number of joint states of v and
 * its neighbours. An elimination changes only the costs of the neighbours. Variables wait in lists,
 * one for each cost. A star or a long chain is therefore eliminated in linear time.
 *
 * The largest logarithm of a row is subtracted before a sum, so that couplings of any size fit. */
#include "collapse/collapse_inside.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simd/math.h"

/* A new piece is multiplied into an earlier piece if possible. At most this number of pieces of a
 * variable are tried. */
enum { MOST_HOSTS = 8 };

/* Lists of variables by the cost of their elimination. */
typedef struct queue {
    uint32_t *first; /* [most + 1] first variable in the list of each cost; GBSI_NONE if the list is
                        empty */
    uint32_t *next;  /* [n_variables] the variable after each variable in its list */
    uint32_t *last;  /* [n_variables] the variable before each variable in its list; GBSI_NONE for
                        the first one */
    uint32_t *cost;  /* [n_variables] cost of each variable, which is the number of entries of its
                        elimination; 0 if the cost is more than allowed, or if the variable is
                        eliminated */
} queue;

/* ---- pieces -------------------------------------------------------------------------------- */

/* Returns the log-weight of a piece at given states of its variables. @param at states of the
 * piece's variables, in the order of its scope. */
static double piece_value(const gbsi_shrinking *s, uint32_t piece, const uint32_t *at)
{
    const gbsi_piece *p = &s->piece[piece];
    if (!p->made) {
        return gbsi_factor_value_at(&s->model->factors, s->model->arity, piece, at);
    }
    const uint32_t *scope = gbsi_piece_scope(s, piece);
    size_t entry = 0;
    for (uint32_t i = 0; i < p->n; ++i) {
        entry = entry * s->model->arity[scope[i]] + at[i];
    }
    return s->value[p->value + entry];
}

void gbsi_piece_add(const gbsi_shrinking *s, uint32_t piece, uint32_t n, const uint32_t *variable,
                    double *table)
{
    const uint32_t *scope = gbsi_piece_scope(s, piece);
    uint32_t axis[GBSI_PIECE_VARIABLES] = {
        0}; /* index, in the table, of each variable of the piece */
    uint32_t digit[GBSI_PIECE_VARIABLES] = {0};
    uint32_t at[GBSI_PIECE_VARIABLES];
    for (uint32_t i = 0; i < s->piece[piece].n; ++i) {
        while (variable[axis[i]] != scope[i]) {
            ++axis[i];
        }
    }
    for (size_t entry = 0;; ++entry) {
        for (uint32_t i = 0; i < s->piece[piece].n; ++i) {
            at[i] = digit[axis[i]];
        }
        table[entry] += piece_value(s, piece, at);
        uint32_t k = n;
        while (k > 0 && ++digit[k - 1] == s->model->arity[variable[k - 1]]) {
            digit[--k] = 0;
        }
        if (k == 0) {
            return;
        }
    }
}

static size_t n_entries(const gbsi_shrinking *s, uint32_t n, const uint32_t *variable)
{
    size_t entries = 1;
    for (uint32_t i = 0; i < n; ++i) {
        entries *= s->model->arity[variable[i]];
    }
    return entries;
}

gbs_status gbsi_piece_make(gbsi_shrinking *s, uint32_t n, const uint32_t *variable, uint32_t *piece,
                           gbs_error *err)
{
    const size_t entries = n_entries(s, n, variable);
    if (s->n_pieces >= GBSI_NONE) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "collapse: more than %u factors", GBSI_NONE);
    }
    GBSI_PASS(gbsi_reserve((void **)(void *)&s->piece, &s->room_piece, s->n_pieces + 1,
                           sizeof *s->piece, "collapse", err));
    GBSI_PASS(gbsi_reserve((void **)(void *)&s->scope, &s->room_scope, s->n_scope + n,
                           sizeof *s->scope, "collapse", err));
    GBSI_PASS(gbsi_reserve((void **)(void *)&s->value, &s->room_value, s->n_values + entries,
                           sizeof *s->value, "collapse", err));
    s->piece[s->n_pieces] =
        (gbsi_piece){.made = true, .n = n, .scope = s->n_scope, .value = s->n_values};
    for (uint32_t i = 0; i < n; ++i) {
        s->scope[s->n_scope + i] = variable[i];
    }
    memset(s->value + s->n_values, 0, entries * sizeof *s->value);
    s->n_scope += n;
    s->n_values += entries;
    *piece = (uint32_t)s->n_pieces++;
    return GBS_OK;
}

double gbsi_piece_scale(gbsi_shrinking *s, uint32_t piece)
{
    const gbsi_piece *p = &s->piece[piece];
    const size_t n = n_entries(s, p->n, gbsi_piece_scope(s, piece));
    double *value = s->value + p->value;
    double most = -INFINITY;
    for (size_t i = 0; i < n; ++i) {
        most = value[i] > most ? value[i] : most;
    }
    for (size_t i = 0; most > -INFINITY && i < n; ++i) {
        value[i] -= most;
    }
    return most;
}

static gbs_status list_piece(gbsi_shrinking *s, uint32_t piece, gbs_error *err)
{
    const gbsi_piece *p = &s->piece[piece];
    const uint32_t *scope = gbsi_piece_scope(s, piece);
    if (s->n_links + p->n >= GBSI_NONE) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "collapse: factors have more than %u variables",
                         GBSI_NONE);
    }
    GBSI_PASS(gbsi_reserve((void **)(void *)&s->link, &s->room_link, s->n_links + p->n,
                           sizeof *s->link, "collapse", err));
    for (uint32_t i = 0; i < p->n; ++i) {
        s->link[s->n_links] = (gbsi_piece_link){piece, s->head[scope[i]]};
        s->head[scope[i]] = (uint32_t)s->n_links++;
    }
    return GBS_OK;
}

/* ---- neighbours and costs ------------------------------------------------------------------ */

/* Lists the neighbours of v, ascending, and removes pieces that are gone from the list of v.
 * @return the number of joint states of v and its neighbours; 0 if this is more than allowed. */
static uint32_t neighbours(gbsi_shrinking *s, uint32_t v, uint32_t *n,
                           uint32_t neighbour[GBSI_PIECE_VARIABLES])
{
    uint32_t entries = s->model->arity[v];
    uint32_t *from = &s->head[v];
    *n = 0;
    while (*from != GBSI_NONE) {
        const uint32_t piece = s->link[*from].piece;
        if (s->piece[piece].gone) {
            *from = s->link[*from].next;
            continue;
        }
        const uint32_t *scope = gbsi_piece_scope(s, piece);
        for (uint32_t i = 0; i < s->piece[piece].n; ++i) {
            uint32_t k = *n;
            while (k > 0 && neighbour[k - 1] > scope[i]) {
                --k;
            }
            if (scope[i] == v || (k > 0 && neighbour[k - 1] == scope[i])) {
                continue;
            }
            entries = entries > s->most / s->model->arity[scope[i]]
                          ? s->most + 1
                          : entries * s->model->arity[scope[i]];
            if (entries > s->most) {
                return 0;
            }
            memmove(neighbour + k + 1, neighbour + k, (*n - k) * sizeof *neighbour);
            neighbour[k] = scope[i];
            ++*n;
        }
        from = &s->link[*from].next;
    }
    return entries <= s->most ? entries : 0;
}

static void enqueue(queue *q, uint32_t v, uint32_t cost)
{
    if (q->cost[v] != 0) {
        if (q->last[v] == GBSI_NONE) {
            q->first[q->cost[v]] = q->next[v];
        } else {
            q->next[q->last[v]] = q->next[v];
        }
        if (q->next[v] != GBSI_NONE) {
            q->last[q->next[v]] = q->last[v];
        }
    }
    q->cost[v] = cost;
    if (cost != 0) {
        q->next[v] = q->first[cost];
        q->last[v] = GBSI_NONE;
        if (q->next[v] != GBSI_NONE) {
            q->last[q->next[v]] = v;
        }
        q->first[cost] = v;
    }
}

/* Whether v must stay, because it is in a factor of many entries. */
static bool is_held(const gbsi_shrinking *s, uint32_t v)
{
    return s->collapse->core_variable[v] == 0;
}

/* ---- one elimination ----------------------------------------------------------------------- */

/* Makes room for p(v | neighbours), which the elimination of v stores for its n neighbours. */
static gbs_status keep_conditional(gbsi_shrinking *s, uint32_t v, uint32_t n,
                                   const uint32_t *neighbour, double **p, gbs_error *err)
{
    gbsi_collapse *c = s->collapse;
    const size_t e = c->n_eliminated;
    const size_t scope = c->scope_start[e];
    const size_t entries = n_entries(s, n, neighbour) * s->model->arity[v];
    GBSI_PASS(gbsi_reserve((void **)(void *)&c->scope, &s->room_kept_scope, scope + n,
                           sizeof *c->scope, "collapse", err));
    GBSI_PASS(gbsi_reserve((void **)(void *)&c->p, &s->room_kept_p, c->p_start[e] + entries,
                           sizeof *c->p, "collapse", err));
    for (uint32_t i = 0; i < n; ++i) {
        c->scope[scope + i] = neighbour[i];
    }
    c->variable[e] = v;
    c->scope_start[e + 1] = scope + n;
    c->p_start[e + 1] = c->p_start[e] + entries;
    c->core_variable[v] = GBSI_NONE;
    *p = c->p + c->p_start[e];
    ++c->n_eliminated;
    return GBS_OK;
}

/* Turns a row of log-weights into p(v | n). @return ln of the sum of the weights, which is one
 * entry of psi_new. */
static double sum_row(double *p, uint32_t arity)
{
    double most = -INFINITY;
    double total = 0.0;
    for (uint32_t k = 0; k < arity; ++k) {
        most = p[k] > most ? p[k] : most;
    }
    for (uint32_t k = 0; k < arity; ++k) {
        p[k] = most > -INFINITY ? gbsi_exp(p[k] - most) : 1.0;
        total += p[k];
    }
    assert(total >= 1.0); /* the largest term is 1 */
    for (uint32_t k = 0; k < arity; ++k) {
        p[k] /= total;
    }
    return most > -INFINITY ? most + gbsi_log(total) : -INFINITY;
}

/* Whether the scope of a made piece contains all of n variables, which must be ascending. */
static bool holds_all(const gbsi_shrinking *s, uint32_t piece, uint32_t n, const uint32_t *variable)
{
    const gbsi_piece *p = &s->piece[piece];
    const uint32_t *scope = gbsi_piece_scope(s, piece);
    uint32_t found = 0;
    for (uint32_t i = 0; i < p->n && found < n; ++i) {
        found += scope[i] == variable[found];
    }
    return p->made && !p->gone && found == n;
}

/* Multiplies the newest piece, `piece`, into an earlier piece if possible; otherwise adds the
 * newest piece to the lists of its variables. */
static gbs_status settle(gbsi_shrinking *s, uint32_t piece, gbs_error *err)
{
    const gbsi_piece *p = &s->piece[piece];
    const uint32_t *scope = gbsi_piece_scope(s, piece);
    uint32_t link = s->head[scope[0]];
    for (int i = 0; i < MOST_HOSTS && link != GBSI_NONE; ++i, link = s->link[link].next) {
        const uint32_t host = s->link[link].piece;
        if (holds_all(s, host, p->n, scope)) {
            gbsi_piece_add(s, piece, s->piece[host].n, gbsi_piece_scope(s, host),
                           s->value + s->piece[host].value);
            s->n_values = p->value;
            s->n_scope = p->scope;
            --s->n_pieces;
            return GBS_OK;
        }
    }
    return list_piece(s, piece, err);
}

/* Eliminates v: computes psi_new(n) = sum_v prod_{f in B_v} psi_f(v, n), and stores p(v | n). */
static gbs_status eliminate(gbsi_shrinking *s, uint32_t v, gbs_error *err)
{
    uint32_t clique[GBSI_PIECE_VARIABLES + 1];
    uint32_t n = 0;
    uint32_t message = 0;
    double *p = NULL;
    const uint32_t entries = neighbours(s, v, &n, clique);
    const uint32_t arity = s->model->arity[v];
    assert(entries != 0);
    clique[n] = v;
    GBSI_PASS(gbsi_piece_make(s, n, clique, &message, err));
    GBSI_PASS(keep_conditional(s, v, n, clique, &p, err));
    memset(p, 0, entries * sizeof *p);
    for (uint32_t link = s->head[v]; link != GBSI_NONE; link = s->link[link].next) {
        gbsi_piece_add(s, s->link[link].piece, n + 1, clique, p);
        s->piece[s->link[link].piece].gone = true;
    }
    s->head[v] = GBSI_NONE;
    double *psi_new = s->value + s->piece[message].value;
    for (uint32_t r = 0; r < entries / arity; ++r) {
        psi_new[r] = sum_row(p + (size_t)r * arity, arity);
    }
    const double constant = gbsi_piece_scale(s, message);
    if (constant == -INFINITY) {
        return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                         "no state has positive weight: none of variable %u and its neighbours",
                         s->model->user_variable[v]);
    }
    s->log_constant += constant;
    if (n == 0) {
        --s->n_pieces;
        --s->n_values;
    } else {
        GBSI_PASS(settle(s, message, err));
    }
    return GBS_OK;
}

/* ---- all eliminations ----------------------------------------------------------------------- */

/* Makes a piece of each factor, and adds the pieces of few entries to the lists of their variables.
 * Variables of larger factors are marked to stay. */
static gbs_status list_factors(gbsi_shrinking *s, gbs_error *err)
{
    const gbsi_factors *f = &s->model->factors;
    memset(s->head, 0xff, s->model->n_variables * sizeof *s->head);
    memset(s->collapse->core_variable, 0xff,
           s->model->n_variables * sizeof *s->collapse->core_variable);
    if (f->n_factors >= GBSI_NONE) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "collapse: more than %u factors", GBSI_NONE);
    }
    for (size_t i = f->n_factors; i-- > 0;) { /* the loop adds pieces at the heads of the lists and
                                                 goes backwards, so that the lists ascend */
        const uint32_t *scope = f->scope + f->scope_start[i];
        const size_t n = f->scope_start[i + 1] - f->scope_start[i];
        size_t entries = 1;
        for (size_t k = 0; k < n && entries <= s->most; ++k) {
            entries *= s->model->arity[scope[k]];
        }
        s->piece[i] =
            (gbsi_piece){.n = (uint32_t)n, .scope = f->scope_start[i], .wide = entries > s->most};
        if (entries <= s->most) {
            GBSI_PASS(list_piece(s, (uint32_t)i, err));
            continue;
        }
        for (size_t k = 0; k < n; ++k) {
            s->collapse->core_variable[scope[k]] = 0; /* is_held() reads this member */
        }
    }
    return GBS_OK;
}

static void weigh(gbsi_shrinking *s, queue *q, uint32_t v)
{
    uint32_t neighbour[GBSI_PIECE_VARIABLES];
    uint32_t n = 0;
    enqueue(q, v, is_held(s, v) ? 0 : neighbours(s, v, &n, neighbour));
}

static gbs_status eliminate_all(gbsi_shrinking *s, queue *q, gbs_error *err)
{
    const gbsi_collapse *c = s->collapse;
    memset(q->first, 0xff, (s->most + 1) * sizeof *q->first);
    for (uint32_t v = s->model->n_variables;
         v-- > 0;) { /* the loop goes backwards, so that the lowest variable comes first among equal
                        costs */
        weigh(s, q, v);
    }
    for (uint32_t cost = 2; cost <= s->most; ++cost) {
        while (q->first[cost] != GBSI_NONE) {
            const uint32_t v = q->first[cost];
            enqueue(q, v, 0);
            GBSI_PASS(eliminate(s, v, err));
            if (gbsi_watch_spend(s->watch, 16 * (uint64_t)cost)) {
                GBSI_PASS(gbsi_watch_fail(err, "collapse"));
            }
            const size_t e = c->n_eliminated - 1;
            for (size_t i = c->scope_start[e]; i < c->scope_start[e + 1]; ++i) {
                weigh(s, q, c->scope[i]);
                const uint32_t least = q->cost[c->scope[i]];
                cost = least != 0 && least < cost ? least : cost;
            }
        }
    }
    return GBS_OK;
}

static gbs_status queue_init(queue *q, uint32_t n, uint32_t most, gbs_error *err)
{
    q->first = gbsi_alloc_array((size_t)most + 1, sizeof *q->first);
    q->next = gbsi_alloc_array(n, sizeof *q->next);
    q->last = gbsi_alloc_array(n, sizeof *q->last);
    q->cost = gbsi_alloc_array_zero(n, sizeof *q->cost);
    return GBSI_HAVE(err, "collapse", q->first, q->next, q->last, q->cost);
}

static gbs_status shrinking_init(gbsi_shrinking *s, gbs_error *err)
{
    const size_t n = s->model->n_variables;
    gbsi_collapse *c = s->collapse;
    s->n_pieces = s->model->factors.n_factors;
    s->room_piece = s->n_pieces;
    s->piece = gbsi_alloc_array(s->n_pieces, sizeof *s->piece);
    s->head = gbsi_alloc_array(n, sizeof *s->head);
    c->model = s->model;
    c->core_variable = gbsi_alloc_array(n, sizeof *c->core_variable);
    c->variable = gbsi_alloc_array(n, sizeof *c->variable);
    c->scope_start = gbsi_alloc_array_zero(n + 1, sizeof *c->scope_start);
    c->p_start = gbsi_alloc_array_zero(n + 1, sizeof *c->p_start);
    return GBSI_HAVE(err, "collapse", s->piece, s->head, c->core_variable, c->variable,
                     c->scope_start, c->p_start);
}

gbs_status gbsi_collapse_new(const gbsi_conditioned *model, uint32_t entries, gbsi_watch *watch,
                             gbsi_collapse **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    queue q = {0};
    gbsi_shrinking s = {.model = model, .most = entries, .watch = watch};
    assert(entries <= GBSI_COLLAPSE_MOST);
    s.collapse = gbsi_alloc_zero(sizeof *s.collapse);
    GBSI_PASS(GBSI_HAVE(err, "collapse", s.collapse));
    GBSI_TRY(queue_init(&q, model->n_variables, entries, err));
    GBSI_TRY(shrinking_init(&s, err));
    GBSI_TRY(list_factors(&s, err));
    GBSI_TRY(eliminate_all(&s, &q, err));
    GBSI_TRY(gbsi_collapse_core(&s, err));
    *out = s.collapse;
    s.collapse = NULL;

cleanup:
    GBSI_FREE(q.first, q.next, q.last, q.cost, s.piece, s.link, s.head, s.scope, s.value);
    gbsi_collapse_free(s.collapse);
    return status;
}

void gbsi_collapse_free(gbsi_collapse *collapse)
{
    if (collapse == NULL) {
        return;
    }
    gbsi_conditioned_free(collapse->core);
    GBSI_FREE(collapse->core_variable, collapse->variable, collapse->scope_start, collapse->scope,
              collapse->p_start, collapse->p, collapse);
}
