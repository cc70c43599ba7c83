/* SPDX-License-Identifier: Apache-2.0 */
/* Products of the matrix H of second derivatives of the objective with vectors. Products are exact
 * for the pseudo-likelihood, and differences of two gradients for the likelihood. Conjugate
 * gradients are preconditioned by the diagonal of H (Jacobi), or by an estimate of this diagonal.
 */
#include "weights/products.h"

#include <string.h>

#include "base/memory.h"
#include "learn/equations.h"
#include "learn/probes.h"
#include "rng/philox.h"
#include "simd/math.h"

#define STEP_LEFT \
    0.01 /* largest residual of the equations of a step, as a share of the gradient's length */
#define DETERMINED \
    1e-6 /* largest residual of the equations in is_determined(), as a share of the right side */
/* share of the largest curvature below which a curvature counts as 0 */
#define FLAT                1e-10
#define FLAT_OF_DIFFERENCES 1e-6 /* value of FLAT for approximate second derivatives */

enum { VECTORS = 4 }; /* y, r, d, product */

gbs_status gbsi_products_init(gbsi_products *products, gbs_error *err)
{
    gbsi_products *p = products;
    p->room = gbsi_alloc_array(VECTORS + 1, p->n * sizeof *p->room);
    p->factor = gbsi_alloc_array(p->data->n_distinct, sizeof *p->factor);
    return GBSI_HAVE(err, "second derivatives", p->room, p->factor);
}

void gbsi_products_free(gbsi_products *products)
{
    GBSI_FREE(products->room, products->factor);
}

static bool multiply(void *context, const double *d, double *product)
{
    gbsi_products *p = context;
    p->status = p->likelihood == NULL
                    ? gbsi_pseudo_product(p->pseudo, p->w, d, product, p->err)
                    : gbsi_likelihood_product(p->likelihood, p->w, d, product, p->err);
    for (size_t k = 0; k < p->n; ++k) {
        product[k] += p->l2 * d[k];
    }
    return p->status >= 0;
}

/* Computes the diagonal of H at w. Entries that are 0 are replaced by 1. */
static gbs_status find_diagonal(gbsi_products *p, gbs_error *err)
{
    p->diagonal = p->room + VECTORS * p->n;
    GBSI_PASS(p->likelihood == NULL
                  ? gbsi_pseudo_diagonal(p->pseudo, p->w, p->diagonal, err)
                  : gbsi_likelihood_diagonal(p->likelihood, p->w, p->diagonal, err));
    for (size_t k = 0; k < p->n; ++k) {
        p->diagonal[k] = p->diagonal[k] + p->l2 > 0.0 ? p->diagonal[k] + p->l2 : 1.0;
    }
    return GBS_OK;
}

static gbsi_conjugate equations(gbsi_products *p, double left)
{
    return (gbsi_conjugate){.n = p->n,
                            .y = p->room,
                            .r = p->room + p->n,
                            .d = p->room + 2 * p->n,
                            .product = p->room + 3 * p->n,
                            .diagonal = p->diagonal,
                            .left = left,
                            .flat = p->likelihood == NULL ? FLAT : FLAT_OF_DIFFERENCES,
                            .multiply = multiply,
                            .context = p};
}

gbs_status gbsi_products_step(gbsi_products *products, const double *gradient, double *step,
                              gbs_error *err)
{
    gbsi_products *p = products;
    p->err = err;
    GBSI_PASS(find_diagonal(p, err));
    const gbsi_conjugate c = equations(p, STEP_LEFT);
    memcpy(c.r, gradient, p->n * sizeof *gradient);
    (void)gbsi_conjugate_solve(
        &c); /* the direction increases the objective even if the solver did not converge */
    GBSI_PASS(p->status);
    memcpy(step, c.y, p->n * sizeof *step);
    return GBS_OK;
}

/* ---- standard errors ------------------------------------------------------------------------- */

/* @return whether H determines all directions. A random vector has a part in every direction, and
 * equations with this right side cannot be solved if H is 0 along some direction. The part along
 * one of n directions is of size 1 / sqrt(n), far above DETERMINED. */
static bool is_determined(gbsi_products *p)
{
    const gbsi_conjugate c = equations(p, DETERMINED);
    uint32_t word[4];
    for (size_t k = 0; k < p->n; ++k) {
        gbsi_philox(p->seed, 0, 1, (uint32_t)k, GBSI_PURPOSE_PROBE, word);
        c.r[k] = 2.0 * gbsi_uniform(word[0], word[1]) - 1.0;
        c.r[k] *= p->diagonal == NULL ? 1.0 : gbsi_sqrt(p->diagonal[k]);
    }
    return gbsi_conjugate_solve(&c);
}

static bool solve(void *context, uint64_t probe, double *y)
{
    gbsi_products *p = context;
    gbsi_conjugate c = equations(p, GBSI_CONJUGATE_LEFT);
    c.y = y;
    gbsi_probe_rows(p->seed, probe, p->data->weight, p->data->n_distinct, 1.0, p->factor);
    p->status = p->likelihood == NULL
                    ? gbsi_pseudo_scores(p->pseudo, p->w, p->factor, c.r, p->err)
                    : gbsi_likelihood_scores(p->likelihood, p->w, p->factor, c.r, p->err);
    return p->status >= 0 && gbsi_conjugate_solve(&c);
}

gbs_status gbsi_products_errors(gbsi_products *products, uint64_t count, double *error, bool *known,
                                gbs_error *err)
{
    gbsi_products *p = products;
    const gbsi_probes probes = {
        .n = p->n, .count = count, .work = p->work, .context = p, .solve = solve};
    p->err = err;
    *known = false;
    GBSI_PASS(find_diagonal(p, err));
    if (is_determined(p)) {
        GBSI_PASS(gbsi_probe_errors(&probes, error, err));
        *known = true;
    }
    return p->status;
}
