/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors of a dense Potts model by random signs [M73]. Conjugate gradients find H^-1 v
 * from products of H with vectors; a product costs 1.5 times as much as a gradient. Results have
 * the same bits on any number of threads. */
#include "potts/potts.h"

#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "learn/equations.h"
#include "learn/probes.h"
#include "simd/math.h"
#include "store/model.h"

/* sqrt(1/2): each half of a coupling has half of the coupling's penalty */
#define HALF 0.70710678118654752440

enum {
    VECTORS = 4,
    PULL = 3
}; /* VECTORS: number of vectors of conjugate gradients; PULL: stream of the random signs of the
      penalty */

typedef struct probes {
    gbsi_potts *potts;
    const double *x;
    double l2;
    bool alone; /* true: each site is learnt alone (ASYMMETRIC); false: all sites together */
    bool pull;  /* true: the error that is due to the penalty; false: the error that is due to the
                   rows */
    uint64_t probe; /* number of the current probe */
    uint64_t seed;
    double lost;    /* number of free parameters of a site */
    double *weight; /* [rows] factors of the rows in the current probe */
    double *room;   /* vectors of conjugate gradients: [VECTORS][n], or [members][VECTORS +
                       1][n_block] if each site is learnt alone */
    double *y;      /* [n] H^-1 v of the current probe in the zero-sum gauge */
    _Atomic uint32_t next;
    _Atomic bool open; /* whether conjugate gradients ended without a solution */
} probes;

/* The data that a step of one site's conjugate gradients needs. */
typedef struct one_site {
    const probes *p;
    gbsi_potts_site site;
    uint32_t member;
} one_site;

static void probes_free(probes *p)
{
    GBSI_FREE(p->weight, p->room);
}

/* ---- the penalty ----------------------------------------------------------------------------- */

/* Draws n random signs times sqrt(l2). This is the gradient of the penalty l2/2 |x|^2 at a draw x
 * from the prior whose log-density is minus the penalty. */
static void draw_pull(const probes *p, uint32_t site, size_t n, double *r)
{
    const double root = gbsi_sqrt(p->l2);
    gbsi_probe_signs(p->seed, p->probe, PULL + site, n, r);
    for (size_t k = 0; k < n; ++k) {
        r[k] *= root;
    }
}

/* ---- all sites together ---------------------------------------------------------------------- */

static bool multiply_together(void *context, const double *d, double *product)
{
    const probes *p = context;
    gbsi_potts_product(p->potts, p->x, d, p->l2, product);
    return !gbsi_watch_stopped(&p->potts->work->watch);
}

static void solve_together(probes *p)
{
    gbsi_potts *t = p->potts;
    const gbsi_conjugate c = {.n = t->n,
                              .y = p->y,
                              .r = p->room,
                              .d = p->room + t->n,
                              .product = p->room + 2 * t->n,
                              .left = GBSI_CONJUGATE_LEFT,
                              .multiply = multiply_together,
                              .context = p};
    if (p->pull) {
        draw_pull(p, 0, t->n, c.r);
    } else {
        gbsi_potts_scores(t, p->x, p->weight, c.r);
    }
    p->open = !gbsi_conjugate_solve(&c);
    gbsi_potts_to_gauge(t, p->y);
}

/* ---- each site alone ------------------------------------------------------------------------- */

/* @return the penalty of an element of a block. The two halves of a coupling together have the
 * penalty of one coupling. */
static double penalty_of(const one_site *s, size_t k)
{
    const size_t row = (size_t)s->p->potts->n_states * s->p->potts->width;
    return k / row == s->site.site ? s->p->l2 : 0.5 * s->p->l2;
}

/* Draws the pull of the penalty on the block of a site, in the order of a block without padding;
 * the padding stays zero. @param sign [n_block] scratch. */
static void draw_site_pull(const one_site *s, double *sign, double *r)
{
    const gbsi_potts *t = s->p->potts;
    const size_t q = t->n_states;
    draw_pull(s->p, s->site.site, t->n_sites * q * q, sign);
    memset(r, 0, t->n_block * sizeof *r);
    for (size_t row = 0; row < t->n_sites * q;
         ++row) { /* a site's coupling to itself is replaced by one row, the field */
        const bool own = row / q == s->site.site;
        for (size_t a = 0; a < q && !(own && row % q > 0); ++a) {
            r[row * t->width + a] = sign[row * q + a] * (own ? 1.0 : HALF);
        }
    }
}

static bool multiply_site(void *context, const double *d, double *product)
{
    one_site *s = context;
    s->site.along = d;
    s->site.slope = product;
    s->site.weight = NULL;
    const bool whole = gbsi_potts_sum_rows(s->p->potts, s->member, &s->site);
    for (size_t k = 0; k < s->p->potts->n_block; ++k) {
        product[k] += penalty_of(s, k) * d[k];
    }
    return whole;
}

static void solve_sites(void *context, uint32_t member)
{
    probes *p = context;
    gbsi_potts *t = p->potts;
    double *block = p->room + member * (VECTORS + 1) * t->n_block;
    uint32_t i = 0;
    while ((i = p->next++) < t->n_sites && !p->open && !gbsi_watch_stopped(&t->work->watch)) {
        one_site s = {.p = p, .site = {.site = i, .block = block}, .member = member};
        const gbsi_conjugate c = {.n = t->n_block,
                                  .y = block + t->n_block,
                                  .r = block + 2 * t->n_block,
                                  .d = block + 3 * t->n_block,
                                  .product = block + 4 * t->n_block,
                                  .left = GBSI_CONJUGATE_LEFT,
                                  .multiply = multiply_site,
                                  .context = &s};
        memset(block, 0, t->n_block * sizeof *block);
        gbsi_potts_gather(t, p->x, i, block);
        s.site.slope = c.r;
        s.site.weight = p->weight;
        if (p->pull) {
            draw_site_pull(&s, c.d, c.r);
        } else if (!gbsi_potts_sum_rows(t, member, &s.site)) {
            p->open = true;
        }
        if (!p->open && !gbsi_conjugate_solve(&c)) {
            p->open = true;
        }
        gbsi_potts_centre_block(t, i, c.y);
        gbsi_potts_scatter(t, c.y, i);
    }
}

/* Solves the equations of each site alone. The result for a coupling is the mean of its two halves.
 */
static void solve_alone(probes *p)
{
    gbsi_potts *t = p->potts;
    t->gradient = p->y; /* array into which blocks are scattered */
    p->next = 0;
    gbsi_pool_run(t->work->pool, solve_sites, p);
    for (size_t k = (size_t)t->n_sites * t->n_states; k < t->n; ++k) {
        p->y[k] = 0.5 * (p->y[k] + t->other[k]);
    }
}

uint64_t gbs_potts_probes(const gbs_model *model, const gbs_potts_options *options)
{
    const gbs_potts_options usual = {0};
    const gbs_potts_options *o = options == NULL ? &usual : options;
    if (model == NULL || gbsi_potts_check_model(model, NULL) < 0 ||
        gbsi_struct_in(options, sizeof *options, "gbs_potts_options", NULL) < 0) {
        return 0;
    }
    const size_t k = model->arity[0] - 1;
    const size_t others = model->n_variables - 1;
    const size_t of_site = k + others * k * k; /* number of free parameters of a site */
    const size_t of_all = model->n_variables * k + model->n_variables * others / 2 * k * k;
    const size_t n = o->method == GBS_POTTS_ASYMMETRIC ? of_site : of_all;
    return o->probes > 0 ? o->probes : n > GBS_MAX_POTTS_ERRORS ? GBS_USUAL_POTTS_PROBES : 0;
}

/* ---- the call -------------------------------------------------------------------------------- */

static gbs_status take_memory(probes *p, gbs_error *err)
{
    const gbsi_potts *t = p->potts;
    const size_t members = gbsi_pool_size(t->work->pool);
    const size_t n_room = p->alone
                              ? members * (VECTORS + 1) * t->n_block
                              : (VECTORS - 1) * t->n; /* y has memory of its own, outside `room` */
    p->weight = gbsi_alloc_array(t->rows->n, sizeof *p->weight);
    p->room = gbsi_alloc_array_zero(n_room, sizeof *p->room);
    return GBSI_HAVE(err, "standard errors", p->weight, p->room);
}

static bool solve(void *context, uint64_t probe, double *y)
{
    probes *p = context;
    const gbs_rows *rows = p->potts->rows;
    p->y = y;
    p->probe = probe;
    gbsi_probe_rows(p->seed, probe, rows->weight, rows->n, p->lost, p->weight);
    (p->alone ? solve_alone : solve_together)(p);
    return !p->open;
}

gbs_status gbsi_potts_probe_errors(gbsi_potts *potts, const double *x,
                                   const gbs_potts_options *options, uint64_t n, bool pull,
                                   double *error, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const double k = potts->n_states - 1.0;
    probes p = {.potts = potts,
                .x = x,
                .l2 = options->l2,
                .alone = options->method == GBS_POTTS_ASYMMETRIC,
                .pull = pull,
                .seed = options->seed,
                .lost = k + (potts->n_sites - 1.0) * k * k};
    const gbsi_probes of_signs = {
        .n = potts->n, .count = n, .work = potts->work, .context = &p, .solve = solve};
    GBSI_TRY(take_memory(&p, err));
    GBSI_TRY(gbsi_probe_errors(&of_signs, error, err));

cleanup:
    probes_free(&p);
    return status;
}
