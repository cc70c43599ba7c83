/* SPDX-License-Identifier: Apache-2.0 */
/* Reads binary records of a DimmWitted factor graph. The records are big-endian and follow one
 * another without padding. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "models/dimmwitted.h"

enum {
    WEIGHT_BYTES = 17,
    VARIABLE_BYTES = 27,
    DOMAIN_BYTES = 16, /* bytes of a domain without values; each value adds 16 */
    FACTOR_BYTES = 26, /* bytes of a factor without variables; each variable adds 16 */
    PAIR_BYTES = 16,
};

const size_t gbsi_dw_record_bytes[GBSI_DW_N_KINDS] = {
    [GBSI_DW_WEIGHTS] = WEIGHT_BYTES, [GBSI_DW_VARIABLES] = VARIABLE_BYTES};

typedef struct cursor {
    gbsi_dw_graph *graph;
    const gbsi_input *input;
    const char *at;
    const char *record; /* start of the current record */
    /* `first`: uint64_t variables of a factor, or values of a domain. `second`: uint64_t equalTo of
     * a factor, or double truthiness of a domain. */
    void *first, *second;
    size_t first_capacity, second_capacity;
} cursor;

static uint64_t take(cursor *c, unsigned n_bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n_bytes; i++) {
        value = value << 8 | (unsigned char)*c->at++;
    }
    return value;
}

static double take_double(cursor *c)
{
    const uint64_t bits = take(c, 8);
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static size_t left(const cursor *c)
{
    return c->input->n - (size_t)(c->at - c->input->bytes);
}

static gbs_status fail_at(const cursor *c, const char *at, gbs_error *err, const char *found,
                          uint64_t number, const char *expected)
{
    return gbsi_fail(err, GBS_ERR_FORMAT, "%s: byte %zu: found %s %" PRIu64 ", expected %s",
                     c->input->name, (size_t)(at - c->input->bytes), found, number, expected);
}

/* Checks that the file has the n bytes that the current record still needs. */
static gbs_status need(const cursor *c, size_t n, const char *what, gbs_error *err)
{
    const size_t from_record = (size_t)(c->at - c->record);
    if (left(c) >= n) {
        return GBS_OK;
    }
    return gbsi_fail(err, GBS_ERR_FORMAT,
                     "%s: byte %zu: found the end of the file after %zu bytes of %s, expected %zu",
                     c->input->name, (size_t)(c->record - c->input->bytes), from_record + left(c),
                     what, from_record + n);
}

/* Adds the place in the file to the beginning of the message about a record.
 * @param offset position of the faulty field in the record. */
static gbs_status blame(const cursor *c, size_t offset, gbs_status status, gbs_error *err)
{
    if (status != GBS_ERR_ARGUMENT && status != GBS_ERR_LIMIT) {
        return status;
    }
    status = status == GBS_ERR_ARGUMENT ? GBS_ERR_FORMAT : status;
    if (err != NULL) {
        const gbs_error inner = *err;
        const size_t place = (size_t)(c->record - c->input->bytes) + offset;
        (void)gbsi_fail(err, status, "%s: byte %zu: %s", c->input->name, place, inner.message);
    }
    return status;
}

static gbs_status read_weight(cursor *c, gbs_error *err)
{
    static const size_t offset[] = {0, 8, 9};
    gbs_status status = GBS_OK;
    GBSI_TRY(need(c, WEIGHT_BYTES, "a weight", err));
    const uint64_t id = take(c, 8);
    const uint64_t fixed = take(c, 1);
    const double value = take_double(c);
    status = gbsi_dw_add_weight(c->graph, id, fixed, value, err);
    return blame(c, offset[c->graph->field], status, err);

cleanup:
    return status;
}

static gbs_status read_variable(cursor *c, gbs_error *err)
{
    static const size_t offset[] = {0, 8, 9, 17, 19};
    gbs_status status = GBS_OK;
    GBSI_TRY(need(c, VARIABLE_BYTES, "a variable", err));
    const uint64_t id = take(c, 8);
    const uint64_t role = take(c, 1);
    const uint64_t initial = take(c, 8);
    const uint64_t type = take(c, 2);
    const uint64_t cardinality = take(c, 8);
    status = gbsi_dw_add_variable(c->graph, id, role, initial, type, cardinality, err);
    return blame(c, offset[c->graph->field], status, err);

cleanup:
    return status;
}

static gbs_status reserve_pairs(cursor *c, size_t n, gbs_error *err)
{
    gbs_status status =
        gbsi_reserve(&c->first, &c->first_capacity, n, sizeof(uint64_t), c->input->name, err);
    return status < 0 ? status
                      : gbsi_reserve(&c->second, &c->second_capacity, n, sizeof(uint64_t),
                                     c->input->name, err);
}

static gbs_status read_domain(cursor *c, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(need(c, DOMAIN_BYTES, "a domain", err));
    const uint64_t id = take(c, 8);
    const uint64_t n = take(c, 8);
    if (n > left(c) / PAIR_BYTES) {
        return fail_at(c, c->at - 8, err, "cardinality", n,
                       "no more values than the rest of the file holds");
    }
    GBSI_TRY(reserve_pairs(c, n, err));
    for (size_t i = 0; i < n; i++) {
        ((uint64_t *)c->first)[i] = take(c, 8);
        ((double *)c->second)[i] = take_double(c);
    }
    status = gbsi_dw_add_domain(c->graph, id, n, c->first, c->second, err);
    return blame(c, 8 * c->graph->field, status, err);

cleanup:
    return status;
}

static gbs_status read_factor(cursor *c, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(need(c, FACTOR_BYTES, "a factor", err));
    const uint64_t function = take(c, 2);
    const uint64_t n = take(c, 8);
    if (n == 0 || n > GBS_MAX_ARITY) {
        return fail_at(c, c->at - 8, err, "arity", n, "1 to 65535");
    }
    GBSI_TRY(need(c, (size_t)n * PAIR_BYTES + PAIR_BYTES, "a factor", err));
    GBSI_TRY(reserve_pairs(c, n, err));
    for (size_t i = 0; i < n; i++) {
        ((uint64_t *)c->first)[i] = take(c, 8);
        ((uint64_t *)c->second)[i] = take(c, 8);
    }
    const uint64_t weight = take(c, 8);
    const double feature = take_double(c);
    status = gbsi_dw_add_factor(c->graph, function, (uint32_t)n, c->first, c->second, weight,
                                feature, err);
    const size_t field = c->graph->field;
    return blame(c, field < 2 ? 2 * field : 10 + 8 * (field - 2), status, err);

cleanup:
    return status;
}

gbs_status gbsi_dw_read_records(gbsi_dw_graph *graph, gbsi_dw_kind kind, const gbsi_input *input,
                                gbs_error *err)
{
    static gbs_status (*const read[GBSI_DW_N_KINDS])(cursor *, gbs_error *) = {
        [GBSI_DW_WEIGHTS] = read_weight,
        [GBSI_DW_VARIABLES] = read_variable,
        [GBSI_DW_FACTORS] = read_factor,
        [GBSI_DW_DOMAINS] = read_domain};
    gbs_status status = GBS_OK;
    cursor c = {.graph = graph, .input = input, .at = input->bytes};
    while (left(&c) > 0) {
        c.record = c.at;
        GBSI_TRY(read[kind](&c, err));
    }

cleanup:
    GBSI_FREE(c.first, c.second);
    return status;
}
