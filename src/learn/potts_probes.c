/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors of a dense Potts model by random signs [M73]. With G the covariance of the
 * gradient that the rows tell, a sum of their gradients with random signs is a vector v of that
 * covariance, and H^-1 v one of the sandwich's, H^-1 G H^-1: its squares estimate the variances of
 * all parameters at once. H^-1 v is found by conjugate gradients, from products that cost half as
 * much again as a gradient. The same bits on any number of threads. */
#include "learn/potts_probes.h"

#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "learn/conjugate.h"
#include "model/model.h"
#include "rng/philox.h"
#include "simd/math.h"

enum { VECTORS = 4 }; /* of conjugate gradients */

typedef struct probes {
    gbsi_potts *potts;
    const double *x;
    double l2;
    bool alone;     /* each site, ASYMMETRIC; else all together */
    double *weight; /* [rows] of a probe */
    double *room;   /* together [VECTORS][n], else [members][VECTORS + 1][n_block] */
    double *y;      /* [n] H^-1 v in the zero-sum gauge */
    _Atomic uint32_t next;
    _Atomic bool open; /* whether conjugate gradients ended without a solution */
} probes;

/* What a step of a site's conjugate gradients needs. */
typedef struct one_site {
    const probes *p;
    gbsi_potts_site site;
    uint32_t member;
} one_site;

static void probes_free(probes *p)
{
    gbsi_free(p->weight);
    gbsi_free(p->room);
    gbsi_free(p->y);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* c_b = sqrt(W / (W - d)) (s_b sqrt(w_b) - w_b / W sum of s sqrt(w)), s = -1, +1 [M73]; W is the
 * weight of all rows, d the number of free parameters of a site. */
static void draw_signs(const probes *p, uint64_t seed, uint64_t probe)
{
    const gbs_rows *rows = p->potts->rows;
    const double weight = gbs_rows_weight(rows);
    const double k = rows->n_states - 1.0;
    const double scale = gbsi_sqrt(weight / (weight - k - (rows->n_sites - 1.0) * k * k));
    uint32_t word[4];
    double sum = 0.0;
    for (size_t b = 0; b < rows->n; ++b) {
        if (b % 128 == 0) {
            gbsi_philox(seed, (uint32_t)probe, 0, (uint32_t)(b / 128), GBSI_PURPOSE_PROBE, word);
        }
        const double root = gbsi_sqrt(rows->weight[b]);
        p->weight[b] = (word[b % 128 / 32] >> b % 32 & 1) != 0 ? root : -root;
        sum += p->weight[b];
    }
    for (size_t b = 0; b < rows->n; ++b) {
        p->weight[b] = scale * (p->weight[b] - sum / weight * rows->weight[b]);
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
                              .multiply = multiply_together,
                              .context = p};
    gbsi_potts_scores(t, p->x, p->weight, c.r);
    p->open = !gbsi_conjugate_solve(&c);
    gbsi_potts_to_gauge(t, p->y);
}

/* ---- each site alone ------------------------------------------------------------------------- */

/* The penalty of an element of a block: a pair's two halves have that of one coupling. */
static double penalty_of(const one_site *s, size_t k)
{
    const size_t row = (size_t)s->p->potts->n_states * s->p->potts->width;
    return k / row == s->site.site ? s->p->l2 : 0.5 * s->p->l2;
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
                                  .multiply = multiply_site,
                                  .context = &s};
        memset(block, 0, t->n_block * sizeof *block);
        gbsi_potts_gather(t, p->x, i, block);
        s.site.slope = c.r;
        s.site.weight = p->weight;
        if (!gbsi_potts_sum_rows(t, member, &s.site) || !gbsi_conjugate_solve(&c)) {
            p->open = true;
        }
        gbsi_potts_centre_block(t, i, c.y);
        gbsi_potts_scatter(t, c.y, i);
    }
}

/* A coupling is the mean of its halves. */
static void solve_alone(probes *p)
{
    gbsi_potts *t = p->potts;
    t->gradient = p->y; /* where blocks are scattered to */
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
    const size_t of_site = k + others * k * k; /* free parameters */
    const size_t of_all = model->n_variables * k + model->n_variables * others / 2 * k * k;
    const size_t n = o->method == GBS_POTTS_ASYMMETRIC ? of_site : of_all;
    return o->probes > 0 ? o->probes : n > GBS_MAX_POTTS_ERRORS ? GBS_USUAL_POTTS_PROBES : 0;
}

/* ---- the call -------------------------------------------------------------------------------- */

static gbs_status take_memory(probes *p, gbs_error *err)
{
    const gbsi_potts *t = p->potts;
    const size_t members = gbsi_pool_size(t->work->pool);
    const size_t n_room =
        p->alone ? members * (VECTORS + 1) * t->n_block : (VECTORS - 1) * t->n; /* y is apart */
    p->weight = gbsi_alloc_array(t->rows->n, sizeof *p->weight);
    p->room = gbsi_alloc_array_zero(n_room, sizeof *p->room);
    p->y = gbsi_alloc_array_zero(t->n, sizeof *p->y);
    return p->weight == NULL || p->room == NULL || p->y == NULL
               ? gbsi_no_memory(err, "standard errors", (n_room + t->n) * sizeof *p->room)
               : GBS_OK;
}

gbs_status gbsi_potts_probe_errors(gbsi_potts *potts, const double *x,
                                   const gbs_potts_options *options, uint64_t n, double *error,
                                   gbs_error *err)
{
    gbs_status status = GBS_OK;
    probes p = {.potts = potts,
                .x = x,
                .l2 = options->l2,
                .alone = options->method == GBS_POTTS_ASYMMETRIC};
    GBSI_TRY(take_memory(&p, err));
    memset(error, 0, potts->n * sizeof *error);
    potts->work->progress.passes = n;
    for (uint64_t probe = 0; probe < n; ++probe) {
        potts->work->progress.pass = probe;
        draw_signs(&p, options->seed, probe);
        (p.alone ? solve_alone : solve_together)(&p);
        if (gbsi_watch_stopped(&potts->work->watch)) {
            GBSI_TRY(gbsi_watch_fail(err, "finding standard errors"));
        }
        if (p.open) {
            GBSI_TRY(gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                               "standard errors: conjugate gradients have not converged, expected "
                               "rows and a penalty that determine every parameter"));
        }
        for (size_t k = 0; k < potts->n; ++k) {
            error[k] += p.y[k] * p.y[k] / (double)n;
        }
    }
    for (size_t k = 0; k < potts->n; ++k) {
        error[k] = gbsi_sqrt(error[k]);
    }

cleanup:
    probes_free(&p);
    return status;
}
