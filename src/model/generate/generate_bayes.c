/* SPDX-License-Identifier: Apache-2.0 */
/* Generator of random Bayesian networks. The number of parents of a variable is drawn from 1 to
 * `parents`; a variable that fewer variables precede has fewer parents. The parents are drawn
 * without replacement from the 2 * parents + 2 variables that precede the variable. Each column of
 * a conditional table is uniform on the simplex. */
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/status.h"
#include "generate/generators.h"
#include "simd/math.h"

enum { MAX_PARENTS = 24 };

/* Largest number of entries of one table, which takes 512 MiB */
#define MAX_ENTRIES ((size_t)1 << 26)

/* Scratch of one network, sized for its largest table. */
typedef struct network {
    const gbs_generate_bayes_options *options;
    gbs_builder *builder;
    uint32_t *arity;    /* [variables] number of states of each variable */
    double *logw;       /* [largest table] log-probabilities of the current table */
    uint64_t n_entries; /* number of entries of all tables before the current one */
} network;

static gbs_status check_bayes(const gbs_generate_bayes_options *o, size_t *largest, gbs_error *err)
{
    if (o->variables == 0 || o->variables > GBS_MAX_VARIABLES) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%u variables, expected 1 to %u",
                         (unsigned)o->variables, GBS_MAX_VARIABLES);
    }
    if (o->parents > MAX_PARENTS) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%u parents, expected 0 to %d",
                         (unsigned)o->parents, (int)MAX_PARENTS);
    }
    if (o->min_states < 1 || o->max_states < o->min_states || o->max_states > GBS_MAX_ARITY) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%u to %u states, expected a range within 1 to %u",
                         (unsigned)o->min_states, (unsigned)o->max_states, GBS_MAX_ARITY);
    }
    const uint32_t most = o->parents < o->variables ? o->parents : o->variables - 1;
    *largest = 1;
    for (uint32_t i = 0; i <= most; ++i) {
        if (!gbsi_mul_size(*largest, o->max_states, largest) || *largest > MAX_ENTRIES) {
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "%u parents of up to %u states: tables of more than %zu entries",
                             (unsigned)o->parents, (unsigned)o->max_states, MAX_ENTRIES);
        }
    }
    return GBS_OK;
}

static double one_uniform(const network *net, gbsi_generate_stream stream, uint64_t index)
{
    double u[2];
    gbsi_generate_uniforms(net->options->seed, stream, index, u);
    return u[0];
}

static uint32_t below(double u, uint32_t n)
{
    return (uint32_t)(u * n); /* the result is below n, because u <= 1 - 2^-53 and n < 2^32 */
}

static gbs_status add_variables(network *net, gbs_error *err)
{
    const gbs_generate_bayes_options *o = net->options;
    for (uint32_t v = 0; v < o->variables; ++v) {
        const double u = one_uniform(net, GBSI_STREAM_ARITY, v);
        net->arity[v] = o->min_states + below(u, o->max_states - o->min_states + 1);
    }
    return gbs_builder_add_variables(net->builder, o->variables, net->arity, NULL, err);
}

/* @param scope out: the parents of v, ascending, then v. @return number of parents. */
static uint32_t choose_scope(const network *net, uint32_t v, uint32_t scope[MAX_PARENTS + 1])
{
    const uint32_t most = net->options->parents;
    const uint32_t reach = 2 * most + 2;
    const uint32_t window = v < reach ? v : reach;
    const uint64_t index = (uint64_t)v * (2 * most + 3);
    uint8_t taken[2 * MAX_PARENTS + 2] = {0};
    uint32_t n = most == 0 ? 0 : 1 + below(one_uniform(net, GBSI_STREAM_PARENTS, index), most);
    n = n < window ? n : window;
    /* sampling without replacement by Floyd's algorithm (Bentley & Floyd 1987, CACM
     * 30(9):754-757) */
    for (uint32_t i = window - n; i < window; ++i) {
        const uint32_t at = below(one_uniform(net, GBSI_STREAM_PARENTS, index + 1 + i), i + 1);
        taken[taken[at] ? i : at] = 1;
    }
    n = 0;
    for (uint32_t i = 0; i < window; ++i) {
        if (taken[i]) {
            scope[n++] = v - window + i;
        }
    }
    scope[n++] = v;
    return n;
}

/* Fills a column that is uniform on the simplex: exponentials -ln u divided by their sum
 * (Dirichlet(1, ..., 1)). The lower bound on the exponentials keeps every probability positive. */
static void fill_column(network *net, uint32_t k, double *logw)
{
    const double least = 0x1p-60;
    double sum = 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        const double u = one_uniform(net, GBSI_STREAM_TABLE, net->n_entries++);
        const double e = -gbsi_log(1.0 - u);
        logw[a] = e < least ? least : e;
        sum += logw[a];
    }
    for (uint32_t a = 0; a < k; ++a) {
        logw[a] = gbsi_log(logw[a] / sum);
    }
}

static gbs_status add_table(network *net, uint32_t v, gbs_error *err)
{
    uint32_t scope[MAX_PARENTS + 1];
    const uint32_t n = choose_scope(net, v, scope);
    const uint32_t k = net->arity[v];
    uint32_t table = 0;
    size_t n_entries = 1;
    for (uint32_t i = 0; i < n; ++i) {
        n_entries *= net->arity[scope[i]];
    }
    for (size_t e = 0; e < n_entries; e += k) {
        fill_column(net, k, &net->logw[e]);
    }
    GBSI_PASS(gbs_builder_add_table(net->builder, n_entries, net->logw, &table, err));
    return gbs_builder_add_table_factor(net->builder, n, scope, table, err);
}

gbs_status gbs_generate_bayes(const gbs_generate_bayes_options *options, gbs_model **model,
                              gbs_error *err)
{
    GBSI_NEED(options);
    GBSI_IN_STRUCT(options, gbs_generate_bayes_options);
    GBSI_NEED(model);
    gbs_status status = GBS_OK;
    network net = {.options = options};
    size_t largest = 0;
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    GBSI_TRY(check_bayes(options, &largest, err));
    net.arity = gbsi_alloc_array(options->variables, sizeof *net.arity);
    net.logw = gbsi_alloc_array(largest, sizeof *net.logw);
    GBSI_TRY(GBSI_HAVE(err, "network", net.arity, net.logw));
    GBSI_TRY(gbs_builder_new(&net.builder, err));
    GBSI_TRY(add_variables(&net, err));
    gbs_builder_set_directed(net.builder);
    for (uint32_t v = 0; v < options->variables; ++v) {
        GBSI_TRY(add_table(&net, v, err));
    }
    GBSI_TRY(gbs_builder_build(net.builder, model, err));

cleanup:
    gbs_builder_free(net.builder);
    GBSI_FREE(net.arity, net.logw);
    gbsi_budget_leave(before);
    return status;
}
