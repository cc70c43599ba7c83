/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the conflict graph, which has an edge between any two variables that share a factor. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/plural.h"
#include "models/formats.h"
#include "store/model.h"
#include "text/lines.h"
#include "text/output.h"

typedef struct conflicts {
    const gbs_model *model;
    size_t *start;  /* [n_variables + 1] index of each variable's first factor in `factor` */
    size_t *factor; /* numbers of the factors of each variable */
    /* [n_variables] 1 + the last variable whose list of neighbours got this variable */
    uint32_t *mark;
} conflicts;

static void free_conflicts(conflicts *c)
{
    GBSI_FREE(c->start, c->factor, c->mark);
}

/* Refuses a model with too many pairs. The number of pairs is at most the sum of n^2 over the
 * factors, where n is the number of variables of a factor. */
static gbs_status check_pairs(const gbs_model *model, gbs_error *err)
{
    const size_t most = (size_t)1 << 33;
    const gbsi_factors *factors = &model->factors;
    size_t pairs = 0;
    for (size_t f = 0; f < factors->n_factors; f++) {
        size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
        size_t square = 0;
        if (!gbsi_mul_size(n, n, &square) || !gbsi_add_size(pairs, square, &pairs) ||
            pairs > most) {
            return gbsi_fail(
                err, GBS_ERR_LIMIT,
                "factor %zu has %zu variable%s: the file would need more than %zu edges", f, n,
                gbsi_plural(n), most / 2);
        }
    }
    return GBS_OK;
}

static gbs_status make_conflicts(const gbs_model *model, conflicts *c, gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    const uint32_t n = model->n_variables;
    const size_t n_entries = factors->scope_start[factors->n_factors];
    *c = (conflicts){.model = model};
    c->start = gbsi_alloc_array_zero((size_t)n + 1, sizeof *c->start);
    c->factor = gbsi_alloc_array(n_entries, sizeof *c->factor);
    c->mark = gbsi_alloc_array_zero(n, sizeof *c->mark);
    GBSI_PASS(GBSI_HAVE(err, "conflict graph", c->start, c->factor, c->mark));
    for (size_t i = 0; i < n_entries; i++) {
        c->start[factors->scope[i]]++;
    }
    size_t sum = 0;
    for (uint32_t v = 0; v <= n; v++) {
        /* start[v] is now the end of the part of v, and the loop below moves it to the beginning */
        sum += c->start[v];
        c->start[v] = sum;
    }
    for (size_t f = factors->n_factors; f-- > 0;) {
        for (size_t i = factors->scope_start[f]; i < factors->scope_start[f + 1]; i++) {
            c->factor[--c->start[factors->scope[i]]] = f;
        }
    }
    return GBS_OK;
}

static void write_edge(gbs_output *output, uint32_t v, uint32_t u)
{
    gbsi_output_text(output, "e ");
    gbsi_output_uint(output, (uint64_t)v + 1);
    gbsi_output_text(output, " ");
    gbsi_output_uint(output, (uint64_t)u + 1);
    gbsi_output_text(output, "\n");
}

/* Goes through the pairs of v and a larger variable in one factor, and skips pairs of earlier
 * factors.
 * @param output NULL if the pairs are only counted.
 * @return the number of pairs. */
static uint64_t go_through_factor(conflicts *c, uint32_t v, size_t f, gbs_output *output)
{
    const gbsi_factors *factors = &c->model->factors;
    uint64_t n_edges = 0;
    for (size_t i = factors->scope_start[f]; i < factors->scope_start[f + 1]; i++) {
        uint32_t u = factors->scope[i];
        if (u <= v || c->mark[u] == v + 1) {
            continue;
        }
        c->mark[u] = v + 1;
        n_edges++;
        if (output != NULL) {
            write_edge(output, v, u);
        }
    }
    return n_edges;
}

/* Goes once through each pair, beginning with pairs of the smallest variable.
 * @param output NULL if the pairs are only counted.
 * @return the number of pairs. */
static uint64_t go_through(conflicts *c, gbs_output *output)
{
    const uint32_t n = c->model->n_variables;
    uint64_t n_edges = 0;
    for (uint32_t v = 0; v < n; v++) {
        c->mark[v] = 0;
    }
    for (uint32_t v = 0; v < n; v++) {
        for (size_t k = c->start[v]; k < c->start[v + 1]; k++) {
            n_edges += go_through_factor(c, v, c->factor[k], output);
        }
    }
    return n_edges;
}

/* Whether the model is a graph to colour: equal numbers of states, and only factors that forbid
 * equal states. */
static bool is_coloring(const gbs_model *model)
{
    for (uint32_t v = 1; v < model->n_variables; v++) {
        if (model->arity[v] != model->arity[0]) {
            return false;
        }
    }
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        if (model->factors.kind[f] != GBS_FACTOR_POTTS || model->factors.weight[f] != -INFINITY) {
            return false;
        }
    }
    return model->n_variables != 0;
}

static void tell_loss(const gbs_model *model, const gbs_output *output,
                      const gbs_write_options *options)
{
    char message[512];
    if (options->warn == NULL) {
        return;
    }
    if (is_coloring(model)) {
        (void)snprintf(message, sizeof message,
                       "%.200s: the number of colours, %u, is not in the file: read it with "
                       "--colors %u",
                       gbsi_output_name(output), model->arity[0], model->arity[0]);
    } else {
        (void)snprintf(message, sizeof message,
                       "%.200s: wrote which variables share a factor; lost what the factors say "
                       "and the numbers of states, which col files cannot hold",
                       gbsi_output_name(output));
    }
    options->warn(options->context, message);
}

gbs_status gbsi_col_write(const gbs_model *model, gbs_output *output,
                          const gbs_write_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    conflicts c = {0};
    GBSI_TRY(check_pairs(model, err));
    GBSI_TRY(make_conflicts(model, &c, err));
    gbsi_output_text(output, "p edge ");
    gbsi_output_uint(output, model->n_variables);
    gbsi_output_text(output, " ");
    gbsi_output_uint(output, go_through(&c, NULL));
    gbsi_output_text(output, "\n");
    (void)go_through(&c, output);
    tell_loss(model, output, options);
    gbsi_tell_most_variables(options, output, model->n_variables);

cleanup:
    free_conflicts(&c);
    return status;
}
