/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks_check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#define MOST_RANKS 8
#define LENGTH     300 /* of what is sent, more than one piece for a table that sends pieces */

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            return gbsi_fail(err, GBS_ERR_STATE, "%s:%d: rank %u of %u: not so: %s", __FILE__, \
                             __LINE__, ranks->rank, ranks->n_ranks, #condition);               \
        }                                                                                      \
    } while (0)

#define PASS(call)                      \
    do {                                \
        const gbs_status said = (call); \
        if (said < 0) {                 \
            return said;                \
        }                               \
    } while (0)

static gbs_status check_combine(const gbs_ranks *ranks, gbs_error *err)
{
    const uint64_t n = ranks->n_ranks;
    const uint64_t pairs = n * (n - 1) / 2;
    uint64_t u[LENGTH];
    double f[LENGTH];
    for (size_t k = 0; k < LENGTH; ++k) {
        u[k] = ranks->rank * UINT64_C(0x100000001) + k;
        f[k] = -(double)ranks->rank - (double)k;
    }
    PASS(ranks->combine(ranks->context, GBS_COMBINE_SUM_U64, u, LENGTH, err));
    PASS(ranks->combine(ranks->context, GBS_COMBINE_SUM_F64, f, LENGTH, err));
    for (size_t k = 0; k < LENGTH; ++k) {
        CHECK(u[k] == pairs * UINT64_C(0x100000001) + n * k);
        CHECK(f[k] == -(double)pairs - (double)(n * k));
        u[k] = k % n == ranks->rank ? UINT64_MAX - k : 0;
        f[k] = k % n == ranks->rank ? -(double)k : -1e300;
    }
    PASS(ranks->combine(ranks->context, GBS_COMBINE_MAX_U64, u, LENGTH, err));
    PASS(ranks->combine(ranks->context, GBS_COMBINE_MAX_F64, f, LENGTH, err));
    for (size_t k = 0; k < LENGTH; ++k) {
        CHECK(u[k] == UINT64_MAX - k);
        CHECK(f[k] == -(double)k);
    }
    PASS(ranks->combine(ranks->context, GBS_COMBINE_SUM_U64, u, 0, err));
    return GBS_OK;
}

static unsigned char byte_of(uint32_t rank, size_t k)
{
    return (unsigned char)(rank * 37 + k % 251);
}

static gbs_status check_broadcast(const gbs_ranks *ranks, gbs_error *err)
{
    unsigned char bytes[LENGTH];
    for (uint32_t from = 0; from < ranks->n_ranks; ++from) {
        for (size_t k = 0; k < LENGTH; ++k) {
            bytes[k] = ranks->rank == from ? byte_of(from, k) : 0;
        }
        PASS(ranks->broadcast(ranks->context, from, bytes, LENGTH, err));
        for (size_t k = 0; k < LENGTH; ++k) {
            CHECK(bytes[k] == byte_of(from, k));
        }
    }
    PASS(ranks->broadcast(ranks->context, 0, NULL, 0, err));
    return GBS_OK;
}

/* The last rank has the most, the first nothing. */
static gbs_status check_gather(const gbs_ranks *ranks, gbs_error *err)
{
    static unsigned char all[MOST_RANKS * LENGTH];
    unsigned char own[LENGTH];
    size_t n_of[MOST_RANKS] = {0};
    for (uint32_t rank = 0; rank < ranks->n_ranks; ++rank) {
        n_of[rank] = rank * (size_t)LENGTH / MOST_RANKS;
    }
    for (size_t k = 0; k < LENGTH; ++k) {
        own[k] = byte_of(ranks->rank, k);
    }
    const bool first = ranks->rank == 0;
    PASS(ranks->gather(ranks->context, own, n_of[ranks->rank], first ? all : NULL,
                       first ? n_of : NULL, err));
    const unsigned char *at = all;
    for (uint32_t rank = 0; first && rank < ranks->n_ranks; ++rank) {
        for (size_t k = 0; k < n_of[rank]; ++k) {
            CHECK(at[k] == byte_of(rank, k));
        }
        at += n_of[rank];
    }
    return GBS_OK;
}

/* Everyone sends to everyone, itself too, a length of its own. */
static gbs_status check_all_to_all(const gbs_ranks *ranks, gbs_error *err)
{
    const uint32_t n = ranks->n_ranks;
    const uint32_t own = ranks->rank;
    unsigned char sent[MOST_RANKS][LENGTH];
    unsigned char got[MOST_RANKS][LENGTH];
    gbs_message out[MOST_RANKS];
    gbs_message in[MOST_RANKS];
    for (uint32_t other = 0; other < n; ++other) {
        for (size_t k = 0; k < LENGTH; ++k) {
            sent[other][k] = byte_of(own * n + other, k);
        }
        out[other] = (gbs_message){other, sent[other], LENGTH - 3 * own - other};
        in[n - 1 - other] = (gbs_message){other, got[other], LENGTH - 3 * other - own};
    }
    PASS(ranks->begin(ranks->context, out, n, in, n, err));
    PASS(ranks->finish(ranks->context, err));
    for (uint32_t other = 0; other < n; ++other) {
        for (size_t k = 0; k < LENGTH - 3 * other - own; ++k) {
            CHECK(got[other][k] == byte_of(other * n + own, k));
        }
    }
    return GBS_OK;
}

/* A number goes from the first to the last, who alone know nothing of one side. */
static gbs_status check_line(const gbs_ranks *ranks, gbs_error *err)
{
    for (uint64_t round = 0; round < 20; ++round) {
        uint64_t number = round;
        uint64_t added = 0;
        const gbs_message in = {ranks->rank - 1, &number, sizeof number};
        const gbs_message out = {ranks->rank + 1, &added, sizeof added};
        const size_t n_in = ranks->rank > 0;
        const size_t n_out = ranks->rank + 1 < ranks->n_ranks;
        PASS(ranks->begin(ranks->context, NULL, 0, &in, n_in, err));
        PASS(ranks->finish(ranks->context, err));
        CHECK(number == round + ranks->rank);
        added = number + 1;
        PASS(ranks->begin(ranks->context, &out, n_out, NULL, 0, err));
        PASS(ranks->finish(ranks->context, err));
    }
    PASS(ranks->finish(ranks->context, err));
    return GBS_OK;
}

gbs_status test_ranks_check(const gbs_ranks *ranks, gbs_error *err)
{
    CHECK(ranks->rank < ranks->n_ranks && ranks->n_ranks <= MOST_RANKS);
    PASS(check_combine(ranks, err));
    PASS(check_broadcast(ranks, err));
    PASS(check_gather(ranks, err));
    PASS(check_all_to_all(ranks, err));
    PASS(check_line(ranks, err));
    return GBS_OK;
}
