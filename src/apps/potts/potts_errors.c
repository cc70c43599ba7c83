/* SPDX-License-Identifier: Apache-2.0 */
/* Standard errors of a dense Potts model at the maximum of its pseudo-likelihood: the sandwich of
 * [M61], in the zero-sum gauge [M62]. Free parameters are the coordinates of fields and couplings
 * in an orthonormal basis Q of the vectors whose entries sum to zero: h_i = Q eta_i and J_ij = Q
 * Omega_ij Q^T. The result has the same bits on any number of threads: one thread computes the
 * derivatives of a site, and one thread adds up a table over all rows, in their order. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "learn/equations.h"
#include "options/questions.h"
#include "potts/potts.h"
#include "simd/dispatch.h"
#include "simd/math.h"
#include "store/model.h"

#define PIVOT 1e-10 /* share of a diagonal entry below which a pivot counts as zero */

enum { LANES = 8 }; /* number of rows whose equations are solved together */

typedef struct errors {
    gbsi_potts potts;
    gbsi_work work;
    double l2;
    bool alone;     /* true: each site is learnt alone (ASYMMETRIC); false: all sites together */
    size_t q, k;    /* number q of states of a site; number k = q - 1 of coordinates of its field */
    size_t n_theta; /* number of coordinates of all fields and all pairs */
    size_t n_site;  /* number of coordinates of one site: of its field and of its pairs */
    size_t n_matrix; /* number of rows of a matrix: n_site if each site is learnt alone, else
                        n_theta */
    uint64_t probes; /* number of probes; 0: errors are computed from a matrix */
    double *basis;   /* [q][k] basis Q */
    double *x;       /* [potts.n] parameters of the model */
    double *rest;    /* [rows][n_sites][k] Q^T (e_x - p), the derivative of ln p(x_i) by eta_i */
    double *matrix;  /* [n_sites or 1][n_matrix][n_matrix] information, then its Cholesky root */
    /* [members][n_site][n_site] matrix of a site, if all sites are learnt together */
    double *local;
    double *scratch;  /* [members][n_scratch] scratch memory in which a row is added */
    size_t n_scratch; /* number of entries of scratch memory: (k + 1) n_site + k^2 */
    double *solution; /* [members][2 n_theta][LANES] right sides of rows, and the solutions */
    double *mean;     /* [potts.n] mean over rows of the row's contribution to each parameter */
    double *square;   /* [potts.n] sum over rows of the squares of these contributions */
    uint32_t first_site;
    size_t first_row;
    _Atomic bool open; /* whether a matrix is singular */
    _Atomic size_t next;
} errors;

static void errors_free(errors *e)
{
    double *const arrays[] = {e->basis,   e->x,        e->rest, e->matrix, e->local,
                              e->scratch, e->solution, e->mean, e->square};
    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; ++a) {
        gbsi_free(arrays[a]);
    }
    gbsi_potts_free(&e->potts);
}

static bool stops(errors *e, uint32_t member, uint64_t n_operations)
{
    return member == 0 ? gbsi_watch_spend(&e->work.watch, n_operations)
                       : gbsi_watch_stopped(&e->work.watch);
}

static bool is_stopped(void *context)
{
    return gbsi_watch_stopped(context);
}

/* ---- coordinates ----------------------------------------------------------------------------- */

/* Fills Helmert's basis: column c has c + 1 equal entries, and one entry that makes the sum zero.
 */
static void fill_basis(const errors *e)
{
    for (size_t c = 0; c < e->k; ++c) {
        const double length = gbsi_sqrt((double)(c + 1) * (double)(c + 2));
        for (size_t a = 0; a < e->q; ++a) {
            e->basis[a * e->k + c] = a <= c       ? 1.0 / length
                                     : a == c + 1 ? -(double)(c + 1) / length
                                                  : 0.0;
        }
    }
}

/* @return the offset of the coordinates of the pair i < j. */
static size_t pair_of(const errors *e, size_t i, size_t j)
{
    const size_t pair = i * (2 * (size_t)e->potts.n_sites - i - 1) / 2 + (j - i - 1);
    return e->potts.n_sites * e->k + pair * e->k * e->k;
}

/* @return the index of coordinate t of site i among all coordinates. The coordinates of site i are
 * the k coordinates of eta_i and then, for every other site j, the k^2 coordinates of Omega_ij. The
 * order is by the coordinate d of j first, then by the coordinate c of i. */
static size_t place_of(const errors *e, size_t i, size_t t)
{
    const size_t c = t % e->k;
    const size_t block = t / e->k;
    if (block == 0) {
        return i * e->k + c;
    }
    const size_t other = (block - 1) / e->k;
    const size_t d = (block - 1) % e->k;
    const size_t j = other + (other >= i);
    return i < j ? pair_of(e, i, j) + c * e->k + d : pair_of(e, j, i) + d * e->k + c;
}

/* Computes phi of a row. The coordinates enter ln p(x_i) only as eta_i phi_0 + sum over j and d of
 * Omega_ij(., d) phi_jd, where phi_0 = 1 and phi_jd = Q(x_j, d). @param phi [n_site / k] out. */
static void find_features(const errors *e, const uint8_t *x, size_t i, double *phi)
{
    *phi++ = 1.0;
    for (size_t j = 0; j < e->potts.n_sites; ++j) {
        if (j != i) {
            memcpy(phi, e->basis + x[j] * e->k, e->k * sizeof *phi);
            phi += e->k;
        }
    }
}

/* ---- second derivatives ---------------------------------------------------------------------- */

/* Computes Q^T (e_x - p) and Q^T (diag p - p p^T) Q. @param p [q] probabilities that sum to `sum`.
 */
static void find_moments(const errors *e, const double *p, double sum, uint8_t x, double *rest,
                         double *covariance)
{
    const size_t k = e->k;
    memset(rest, 0, k * sizeof *rest);
    memset(covariance, 0, k * k * sizeof *covariance);
    for (size_t a = 0; a < e->q; ++a) {
        for (size_t c = 0; c < k; ++c) {
            rest[c] += p[a] / sum * e->basis[a * k + c];
        }
    }
    for (size_t a = 0; a < e->q; ++a) {
        for (size_t c = 0; c < k; ++c) {
            const double away = p[a] / sum * (e->basis[a * k + c] - rest[c]);
            for (size_t d = 0; d < k; ++d) {
                covariance[c * k + d] += away * (e->basis[a * k + d] - rest[d]);
            }
        }
    }
    for (size_t c = 0; c < k; ++c) {
        rest[c] = e->basis[x * k + c] - rest[c];
    }
}

/* Adds weight times the Kronecker product of phi phi^T and `covariance` to h, lower triangle.
 * @param room [(k + 1) n_site] */
static void add_row(const errors *e, const double *phi, const double *covariance, double weight,
                    double *h, double *room)
{
    const size_t k = e->k;
    const size_t n = e->n_site;
    for (size_t c = 0; c < k; ++c) {
        for (size_t t = 0; t < n; ++t) {
            room[c * n + t] = weight * phi[t / k] * covariance[c * k + t % k];
        }
    }
    for (size_t t = 0; t < n; ++t) {
        const double *from = room + t % k * n;
        const double factor = phi[t / k];
        for (size_t u = 0; u <= t; ++u) {
            h[t * n + u] += factor * from[u];
        }
    }
}

/* @return the second derivative of the penalty by coordinate t. The penalty is l/2 |Omega|^2 for
 * each pair, where l is l2, or l2/2 if each site is learnt alone. The gauge of least penalty moves
 * a part of h_i into the J_ij. The penalty of a field is therefore
 *     l2/2 |eta_i|^2 / (1 + (n_sites - 1) l2 / (q l)). */
static double penalty_of(const errors *e, size_t t)
{
    const double of_pair = e->alone ? 0.5 * e->l2 : e->l2;
    const double others = (double)(e->potts.n_sites - 1) / (double)e->q;
    return t >= e->k ? of_pair : e->l2 / (1.0 + others * (e->alone ? 2.0 : 1.0));
}

/* Computes minus the second derivatives of one site, and e->rest of all rows. */
static void find_site(errors *e, uint32_t member, uint32_t i, double *h)
{
    gbsi_potts *p = &e->potts;
    double *block = p->scratch + 3 * member * p->n_block;
    double *room = e->scratch + member * e->n_scratch;
    double *phi = room + e->k * e->n_site;
    double *covariance = phi + e->n_site;
    double weight[GBSI_POTTS_MOST_WIDTH];
    const gbsi_potts_site site = {.n_sites = p->n_sites,
                                  .n_states = p->n_states,
                                  .width = p->width,
                                  .site = i,
                                  .block = block};
    memset(block, 0, p->n_block * sizeof *block);
    gbsi_potts_gather(p, e->x, i, block);
    memset(h, 0, e->n_site * e->n_site * sizeof *h);
    for (size_t b = 0; b < p->rows->n; ++b) {
        const uint8_t *x = gbsi_row(p->rows, b);
        const double sum = gbsi_potts_conditional(&site, x, weight);
        find_moments(e, weight, sum, x[i], e->rest + (b * p->n_sites + i) * e->k, covariance);
        find_features(e, x, i, phi);
        add_row(e, phi, covariance, p->rows->weight[b], h, room);
        if (stops(e, member, e->n_site * (e->n_site / 8 + e->k + 8))) {
            return;
        }
    }
}

static void find_sites(void *context, uint32_t member)
{
    errors *e = context;
    const uint32_t i = e->first_site + member;
    const size_t n = e->n_site;
    gbsi_watch other = {.look = is_stopped, .context = &e->work.watch};
    if (i >= e->potts.n_sites) {
        return;
    }
    double *h = e->alone ? e->matrix + i * n * n : e->local + member * n * n;
    find_site(e, member, i, h);
    for (size_t t = 0; e->alone && t < n; ++t) {
        h[t * n + t] += penalty_of(e, t);
    }
    if (e->alone && !gbsi_watch_stopped(&e->work.watch) &&
        !gbsi_cholesky(h, n, 0.0, PIVOT, h, member == 0 ? &e->work.watch : &other)) {
        e->open = true;
    }
}

/* Adds the matrix of one site to the matrix of all sites. */
static void add_site(const errors *e, uint32_t i, const double *h)
{
    const size_t n = e->n_site;
    for (size_t t = 0; t < n; ++t) {
        const size_t to = place_of(e, i, t);
        for (size_t u = 0; u <= t; ++u) {
            const size_t at = place_of(e, i, u);
            e->matrix[(to > at ? to : at) * e->n_theta + (to > at ? at : to)] += h[t * n + u];
        }
    }
}

static gbs_status find_roots(errors *e, gbs_error *err)
{
    const uint32_t members = gbsi_pool_size(e->work.pool);
    for (e->first_site = 0; e->first_site < e->potts.n_sites; e->first_site += members) {
        gbsi_pool_run(e->work.pool, find_sites, e);
        for (uint32_t m = 0; !e->alone && m < members && e->first_site + m < e->potts.n_sites;
             ++m) {
            add_site(e, e->first_site + m, e->local + m * e->n_site * e->n_site);
        }
        if (gbsi_watch_spend(&e->work.watch, members * e->n_site * e->n_site)) {
            return gbsi_watch_fail(err, "finding standard errors");
        }
    }
    for (size_t t = 0; !e->alone && t < e->n_theta; ++t) {
        e->matrix[t * e->n_theta + t] += penalty_of(e, t < e->potts.n_sites * e->k ? 0 : e->k);
    }
    if (!e->alone && !gbsi_cholesky(e->matrix, e->n_theta, 0.0, PIVOT, e->matrix, &e->work.watch)) {
        e->open = true;
    }
    return gbsi_watch_stopped(&e->work.watch) ? gbsi_watch_fail(err, "finding standard errors")
           : e->open                          ? gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                                                          "standard errors: the rows do not determine every parameter")
                                              : GBS_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* x becomes the solution y of root root^T y = x, for LANES right sides. @param x [n][LANES] */
static void solve(const double *root, size_t n, double *x)
{
    for (size_t i = 0; i < n; ++i) {
        double *own = x + i * LANES;
        for (size_t j = 0; j < i; ++j) {
            for (size_t l = 0; l < LANES; ++l) {
                own[l] -= root[i * n + j] * x[j * LANES + l];
            }
        }
        for (size_t l = 0; l < LANES; ++l) {
            own[l] /= root[i * n + i];
        }
    }
    for (size_t i = n; i-- > 0;) {
        const double *own = x + i * LANES;
        for (size_t l = 0; l < LANES; ++l) {
            x[i * LANES + l] /= root[i * n + i];
        }
        for (size_t j = 0; j < i; ++j) {
            for (size_t l = 0; l < LANES; ++l) {
                x[j * LANES + l] -= root[i * n + j] * own[l];
            }
        }
    }
}

/* Computes the derivatives of ln p(x_i) by the coordinates of site i for LANES rows; lanes after
 * the last row are zero. @param g [n_site][LANES] out. */
static void find_gradients(const errors *e, uint32_t i, size_t row, double *phi, double *g)
{
    const gbsi_potts *p = &e->potts;
    memset(g, 0, e->n_site * LANES * sizeof *g);
    for (size_t l = 0; l < LANES && row + l < p->rows->n; ++l) {
        const double *rest = e->rest + ((row + l) * p->n_sites + i) * e->k;
        find_features(e, gbsi_row(p->rows, row + l), i, phi);
        for (size_t t = 0; t < e->n_site; ++t) {
            g[t * LANES + l] = phi[t / e->k] * rest[t % e->k];
        }
    }
}

/* Adds up the contributions H^-1 g of some rows to every coordinate. If each site is learnt alone,
 * the contribution is H^-1 g of each site, with half the weight for couplings. */
static void solve_rows(void *context, uint32_t member)
{
    errors *e = context;
    const size_t row = e->first_row + member * (size_t)LANES;
    double *sum = e->solution + member * 2 * e->n_theta * LANES;
    double *g = sum + e->n_theta * LANES;
    double *phi = e->scratch + member * e->n_scratch;
    memset(sum, 0, e->n_theta * LANES * sizeof *sum);
    for (uint32_t i = 0; i < e->potts.n_sites && row < e->potts.rows->n; ++i) {
        find_gradients(e, i, row, phi, g);
        if (e->alone) {
            solve(e->matrix + i * e->n_site * e->n_site, e->n_site, g);
        }
        for (size_t t = 0; t < e->n_site; ++t) {
            const double share = e->alone && t >= e->k ? 0.5 : 1.0;
            double *to = sum + place_of(e, i, t) * LANES;
            for (size_t l = 0; l < LANES; ++l) {
                to[l] += share * g[t * LANES + l];
            }
        }
        if (stops(e, member, (e->alone ? 2 * e->n_site : 8) * e->n_site)) {
            return;
        }
    }
    if (!e->alone) {
        solve(e->matrix, e->n_theta, sum);
        (void)stops(e, member, 2 * e->n_theta * e->n_theta);
    }
}

/* Adds one row to the sums of a table whose first entry is parameter `at`: Q y, or Q y Q^T.
 * @param y [k] or [k][k] coordinates, each LANES apart. */
static void add_entries(const errors *e, size_t at, bool pair, const double *y, double weight)
{
    const size_t k = e->k;
    double turned[GBS_MAX_SITE_STATES];
    for (size_t a = 0; a < e->q; ++a) {
        for (size_t d = 0; d < (pair ? k : 1); ++d) {
            turned[d] = 0.0;
            for (size_t c = 0; c < k; ++c) {
                turned[d] += e->basis[a * k + c] * y[(pair ? c * k + d : c) * LANES];
            }
        }
        for (size_t b = 0; b < (pair ? e->q : 1); ++b, ++at) {
            double value = pair ? 0.0 : turned[0];
            for (size_t d = 0; pair && d < k; ++d) {
                value += turned[d] * e->basis[b * k + d];
            }
            e->mean[at] += weight * value;
            e->square[at] += weight * value * value;
        }
    }
}

/* Adds up the tables of a site and of its pairs with later sites, over the rows of all members. */
static void add_site_entries(const errors *e, size_t i)
{
    const gbsi_potts *p = &e->potts;
    const size_t n_rows = gbsi_pool_size(e->work.pool) * (size_t)LANES;
    for (size_t r = 0; r < n_rows && e->first_row + r < p->rows->n; ++r) {
        const double *y = e->solution + r / LANES * 2 * e->n_theta * LANES + r % LANES;
        const double weight = p->rows->weight[e->first_row + r];
        add_entries(e, i * e->q, false, y + i * e->k * LANES, weight);
        for (size_t j = i + 1; j < p->n_sites; ++j) {
            add_entries(e, gbsi_potts_pair(p, i, j), true, y + pair_of(e, i, j) * LANES, weight);
        }
    }
}

static void add_all_entries(void *context, uint32_t member)
{
    errors *e = context;
    size_t i = 0;
    while ((i = e->next++) < e->potts.n_sites && !stops(e, member, e->potts.n_sites * e->q * 64)) {
        add_site_entries(e, i);
    }
}

/* ---- what the rows do not tell --------------------------------------------------------------- */

/* Finds the parameters that the rows do not bound, and adds the error that is due to the penalty to
 * their errors [M62]. */
static gbs_status add_pull(errors *e, const gbs_potts_options *o, const uint8_t *unseen,
                           double *error, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t n = e->probes > 0 ? e->probes : (uint64_t)GBS_USUAL_POTTS_PROBES;
    double *pull = gbsi_alloc_array(e->potts.n, sizeof *pull);
    GBSI_PASS(GBSI_HAVE(err, "standard errors", pull));
    GBSI_TRY(gbsi_potts_probe_errors(&e->potts, e->x, o, n, true, pull, err));
    for (size_t k = 0; k < e->potts.n; ++k) {
        error[k] = unseen[k] ? gbsi_sqrt(error[k] * error[k] + pull[k] * pull[k]) : error[k];
    }

cleanup:
    gbsi_free(pull);
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

static gbs_status check(const errors *e, const gbs_model *model, const gbs_rows *rows,
                        const gbs_potts_options *o, gbs_error *err)
{
    if (rows->n_sites != model->n_variables || rows->n_states != model->arity[0] || rows->n == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found %zu row%s of %" PRIu32 " site%s with %" PRIu32
                         " state%s, expected some of %" PRIu32 " with %" PRIu32,
                         rows->n, gbsi_plural(rows->n), rows->n_sites, gbsi_plural(rows->n_sites),
                         rows->n_states, gbsi_plural(rows->n_states), model->n_variables,
                         model->arity[0]);
    }
    if (o->l1 > 0.0) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "standard errors are not those of weights that l1 holds at 0: found l1 %g",
                         o->l1);
    }
    if (o->method == GBS_POTTS_PCD) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "standard errors are those of a maximum of the pseudo-likelihood: found "
                         "one of persistent chains");
    }
    if (!(gbs_rows_weight(rows) > (double)e->n_site)) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "standard errors: found rows of weight %.6g, expected more than the %zu "
                         "free parameters of a site",
                         gbs_rows_weight(rows), e->n_site);
    }
    return gbsi_simd_check(err);
}

static void set_sizes(errors *e, const gbs_model *model, const gbs_potts_options *o)
{
    const size_t n = model->n_variables;
    e->l2 = o->l2;
    e->alone = o->method == GBS_POTTS_ASYMMETRIC;
    e->q = model->arity[0];
    e->k = e->q - 1;
    e->n_theta = n * e->k + n * (n - 1) / 2 * e->k * e->k;
    e->n_site = e->k + (n - 1) * e->k * e->k;
    e->n_matrix = e->alone ? e->n_site : e->n_theta;
    e->n_scratch = (e->k + 1) * e->n_site + e->k * e->k;
    e->probes = gbs_potts_probes(model, o);
}

static gbs_status take_memory(errors *e, gbs_error *err)
{
    const size_t members = gbsi_pool_size(e->work.pool);
    const size_t sites = e->potts.n_sites;
    const struct {
        double **to;
        size_t n, m;
    } arrays[] = {{&e->basis, e->q, e->k},
                  {&e->rest, e->potts.rows->n * sites, e->k},
                  {&e->matrix, e->alone ? sites : 1, e->n_matrix * e->n_matrix},
                  {&e->local, e->alone ? 1 : members, e->alone ? 1 : e->n_site * e->n_site},
                  {&e->scratch, members, e->n_scratch},
                  {&e->solution, members, 2 * e->n_theta * LANES},
                  {&e->mean, e->potts.n, 1},
                  {&e->square, e->potts.n, 1}};
    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; ++a) {
        *arrays[a].to = gbsi_alloc_array_zero(arrays[a].n, arrays[a].m * sizeof(double));
        if (*arrays[a].to == NULL) {
            return gbsi_no_memory(err, "standard errors",
                                  arrays[a].n * arrays[a].m * sizeof(double));
        }
    }
    return GBS_OK;
}

/* Computes V = W / (W - n_site) times the sum over rows of the squared deviations of the
 * contributions from their mean. @param error [n] out. */
static gbs_status add_rows(errors *e, double *error, gbs_error *err)
{
    const double weight = gbs_rows_weight(e->potts.rows);
    const size_t at_once = gbsi_pool_size(e->work.pool) * (size_t)LANES;
    for (e->first_row = 0; e->first_row < e->potts.rows->n; e->first_row += at_once) {
        gbsi_pool_run(e->work.pool, solve_rows, e);
        e->next = 0;
        gbsi_pool_run(e->work.pool, add_all_entries, e);
        if (gbsi_watch_stopped(&e->work.watch)) {
            return gbsi_watch_fail(err, "finding standard errors");
        }
    }
    for (size_t a = 0; a < e->potts.n; ++a) {
        const double sum = e->square[a] - e->mean[a] * e->mean[a] / weight;
        error[a] = gbsi_sqrt((sum > 0.0 ? sum : 0.0) * weight / (weight - (double)e->n_site));
    }
    return GBS_OK;
}

static gbs_status find_errors(errors *e, const gbs_potts_options *o, double *error, uint8_t *unseen,
                              gbs_error *err)
{
    gbs_potts_options of_probes = *o;
    of_probes.l2 = e->l2;
    if (e->probes > 0) {
        GBSI_PASS(
            gbsi_potts_probe_errors(&e->potts, e->x, &of_probes, e->probes, false, error, err));
    } else {
        GBSI_PASS(take_memory(e, err));
        fill_basis(e);
        GBSI_PASS(find_roots(e, err));
        GBSI_PASS(add_rows(e, error, err));
    }
    if (gbsi_potts_unseen(&e->potts, &e->work.watch, unseen)) {
        GBSI_PASS(add_pull(e, &of_probes, unseen, error, err));
    }
    if (gbsi_watch_stopped(&e->work.watch)) {
        GBSI_PASS(gbsi_watch_fail(err, "finding standard errors"));
    }
    return GBS_OK;
}

gbs_status gbs_potts_errors(const gbs_model *model, const gbs_rows *rows,
                            const gbs_potts_options *options, const gbs_run_callbacks *callbacks,
                            double *error, uint8_t *unseen, gbs_error *err)
{
    GBSI_NEED(model, rows, error);
    GBSI_IN_STRUCT(callbacks, gbs_run_callbacks);
    gbs_status status = GBS_OK;
    errors e = {0};
    double *found = NULL;
    uint8_t *open = NULL;
    gbs_potts_options o;
    GBSI_TRY(gbsi_question_settle("learn potts", options, &o, err));
    const gbs_label_options work = {.size = sizeof work,
                                    .time_s = o.time_s,
                                    .threads = o.threads,
                                    .memory_limit = o.memory_limit};
    GBSI_TRY(gbsi_potts_check_model(model, err));
    set_sizes(&e, model, &o);
    GBSI_TRY(check(&e, model, rows, &o, err));
    GBSI_TRY(gbsi_work_begin(&e.work, &work, callbacks, gbs_model_bytes(model), err));
    GBSI_TRY(gbsi_potts_init(rows, &e.work, &e.potts, err));
    GBSI_TRY(gbsi_potts_take_memory(&e.potts, true, err));
    e.x = gbsi_alloc_array(e.potts.n, sizeof *e.x);
    found = gbsi_alloc_array(e.potts.n, sizeof *found);
    open = gbsi_alloc_array(e.potts.n, sizeof *open);
    GBSI_TRY(GBSI_HAVE(err, "standard errors", e.x, found, open));
    (void)gbsi_potts_read(model, e.x);
    GBSI_TRY(find_errors(&e, &o, found, open, err));
    memcpy(error, found, e.potts.n * sizeof *error);
    if (unseen != NULL) {
        memcpy(unseen, open, e.potts.n * sizeof *open);
    }

cleanup:
    GBSI_FREE(found, open);
    errors_free(&e);
    gbsi_work_end(&e.work);
    return status;
}
