/* SPDX-License-Identifier: Apache-2.0 */
/* Logical factors [M5]: weight * phi. phi depends on the literals only through the number of true
 * body literals and the value of the head. The numbers of the functions are the numbers in
 * DimmWitted.
 */
#include "store/factors.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "simd/math.h"

bool gbsi_logical_known(unsigned function)
{
    return function <= GBS_LOGICAL_IS_TRUE ||
           (function >= GBS_LOGICAL_LINEAR && function <= GBS_LOGICAL_LOGICAL) ||
           function == GBS_LOGICAL_AND_CATEGORICAL || function == GBS_LOGICAL_IMPLY_MLN ||
           function == GBS_LOGICAL_CLAUSE || function == GBS_LOGICAL_PARITY ||
           gbsi_logical_is_cardinality(function);
}

bool gbsi_logical_same(const gbsi_logical *a, const gbsi_logical *b)
{
    return a->function == b->function && a->head == b->head && a->k == b->k &&
           a->n_body == b->n_body && a->n_body_true == b->n_body_true;
}

bool gbsi_logical_is_cardinality(unsigned function)
{
    return function >= GBS_LOGICAL_AT_LEAST && function <= GBS_LOGICAL_EXACTLY;
}

void gbsi_logical_range(const gbsi_logical *logical, uint32_t *least, uint32_t *most)
{
    assert(gbsi_logical_is_cardinality(logical->function));
    *least = logical->function == GBS_LOGICAL_AT_MOST ? 0 : logical->k;
    *most = logical->function == GBS_LOGICAL_AT_LEAST ? logical->n_body + 1 : logical->k;
}

static bool is_cardinality(const gbsi_factors *f, size_t i)
{
    return f->kind[i] == GBS_FACTOR_LOGICAL &&
           gbsi_logical_is_cardinality(f->logical[f->aux[i]].function);
}

bool gbsi_are_cardinalities_alike(const gbsi_factors *factors, size_t f, size_t g)
{
    const size_t *start = factors->scope_start;
    const size_t n = start[f + 1] - start[f];
    if (!is_cardinality(factors, f) || !is_cardinality(factors, g) ||
        start[g + 1] - start[g] != n) {
        return false;
    }
    const gbsi_logical *a = &factors->logical[factors->aux[f]];
    const gbsi_logical *b = &factors->logical[factors->aux[g]];
    const size_t bytes = n * sizeof *factors->scope;
    return a->head == b->head && a->n_body == b->n_body && a->n_body_true == b->n_body_true &&
           memcmp(factors->scope + start[f], factors->scope + start[g], bytes) == 0 &&
           memcmp(factors->literal + start[f], factors->literal + start[g], bytes) == 0;
}

uint32_t gbsi_count_cardinalities(const gbsi_factors *factors, size_t f)
{
    size_t end = f + 1;
    while (end < factors->n_factors && gbsi_are_cardinalities_alike(factors, f, end)) {
        ++end;
    }
    return (uint32_t)(end - f);
}

bool gbsi_logical_may_be_hard(unsigned function)
{
    return gbsi_logical_known(function) && function != GBS_LOGICAL_IMPLY_NATURAL &&
           function != GBS_LOGICAL_LINEAR && function != GBS_LOGICAL_RATIO;
}

/* Returns the sum over the body of (not l_i or h); without a body, h. */
static double linear(uint32_t n_body, uint32_t n_true, bool head)
{
    if (n_body == 0) {
        return head ? 1.0 : 0.0;
    }
    return head ? (double)n_body : (double)(n_body - n_true);
}

static double phi(const gbsi_logical *logical, uint32_t n_true, bool head)
{
    const uint32_t n_body = logical->n_body;
    const bool body = n_true == n_body; /* an empty body counts as true */
    switch (logical->function) {
    case GBS_LOGICAL_IMPLY_NATURAL:
        return !body ? 0.0 : head ? 1.0 : -1.0;
    case GBS_LOGICAL_OR:
        return n_true > 0 || head ? 1.0 : -1.0;
    case GBS_LOGICAL_AND:
    case GBS_LOGICAL_IS_TRUE:
        return body && head ? 1.0 : -1.0;
    case GBS_LOGICAL_EQUAL:
        return (head ? body : n_true == 0) ? 1.0 : -1.0;
    case GBS_LOGICAL_LINEAR:
        return linear(n_body, n_true, head);
    case GBS_LOGICAL_RATIO:
        return gbsi_log2(1.0 + linear(n_body, n_true, head));
    case GBS_LOGICAL_LOGICAL:
        return linear(n_body, n_true, head) > 0.0 ? 1.0 : 0.0;
    case GBS_LOGICAL_AND_CATEGORICAL:
        return body && head ? 1.0 : 0.0;
    case GBS_LOGICAL_IMPLY_MLN:
        return body && !head ? 0.0 : 1.0;
    case GBS_LOGICAL_PARITY:
        return (n_true + head) % 2 != 0 ? 1.0 : 0.0;
    case GBS_LOGICAL_AT_LEAST:
        return n_true + head >= logical->k ? 1.0 : 0.0;
    case GBS_LOGICAL_AT_MOST:
        return n_true + head <= logical->k ? 1.0 : 0.0;
    case GBS_LOGICAL_EXACTLY:
        return n_true + head == logical->k ? 1.0 : 0.0;
    default:
        assert(logical->function == GBS_LOGICAL_CLAUSE);
        return n_true > 0 || head ? 1.0 : 0.0;
    }
}

double gbsi_logical_value(const gbsi_logical *logical, double weight, uint32_t n_body_true,
                          bool head)
{
    assert(n_body_true <= logical->n_body);
    const double value = phi(logical, n_body_true, head);
    if (weight == INFINITY) { /* every function that may be hard has the maximum value 1 */
        return value == 1.0 ? 0.0 : -INFINITY;
    }
    return weight * value;
}

bool gbsi_logical_constant(const gbsi_logical *logical, double weight, uint32_t n_scope,
                           double *value)
{
    const bool free_head = logical->head == GBSI_HEAD_FREE;
    const uint32_t n_free = n_scope - (free_head ? 1u : 0u);
    const bool first_head = logical->head == GBSI_HEAD_TRUE;
    *value = gbsi_logical_value(logical, weight, logical->n_body_true, first_head);
    for (uint32_t k = 0; k <= n_free; ++k) {
        const uint32_t n_true = logical->n_body_true + k;
        if (gbsi_logical_value(logical, weight, n_true, first_head) != *value ||
            (free_head && gbsi_logical_value(logical, weight, n_true, true) != *value)) {
            return false;
        }
    }
    return true;
}
