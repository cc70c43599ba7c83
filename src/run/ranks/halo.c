/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks/share_run.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

/* ---- values -------------------------------------------------------------------------------- */

/* Number of bytes of the states of one variable in one group. */
static size_t group_bytes(const gbsi_halo *h)
{
    return h->bits ? sizeof(uint16_t) : h->executor->lanes * h->wire_bytes;
}

/* Packs sixteen binary states: the state of lane i becomes bit i of a little-endian number. */
static void pack_bits(const uint8_t *state, unsigned char *out)
{
    unsigned bits = 0;
    for (unsigned lane = 0; lane < GBSI_LANES; ++lane) {
        assert(state[lane] <= 1);
        bits |= (unsigned)state[lane] << lane;
    }
    out[0] = (unsigned char)bits;
    out[1] = (unsigned char)(bits >> 8);
}

static void unpack_bits(const unsigned char *in, uint8_t *state)
{
    const unsigned bits = in[0] | (unsigned)in[1] << 8;
    for (unsigned lane = 0; lane < GBSI_LANES; ++lane) {
        state[lane] = bits >> lane & 1u;
    }
}

/* Copy the states of some lanes to a message, and from a message. A state takes 2 bytes,
 * little-endian, if some variable of the whole model needs 2 bytes for its states. */
static void put_states(const gbsi_halo *h, const void *state, unsigned char *out)
{
    for (uint32_t lane = 0; lane < h->executor->lanes; ++lane) {
        const uint32_t value = gbsi_state_at(state, lane, h->executor->plan->value_bytes);
        for (size_t b = 0; b < h->wire_bytes; ++b) {
            *out++ = (unsigned char)(value >> 8 * b);
        }
    }
}

static void take_states(const gbsi_halo *h, const unsigned char *in, void *state)
{
    for (uint32_t lane = 0; lane < h->executor->lanes; ++lane, in += h->wire_bytes) {
        const unsigned value = in[0] | (h->wire_bytes == 2 ? (unsigned)in[1] << 8 : 0);
        if (h->executor->plan->value_bytes == 1) {
            ((uint8_t *)state)[lane] = (uint8_t)value;
        } else {
            ((uint16_t *)state)[lane] = (uint16_t)value;
        }
    }
}

/* Packs the states of slots [first, end) of a list, group by group. @return the end of the packed
 * bytes. */
static unsigned char *pack(const gbsi_halo *h, const uint32_t *slot, size_t n, unsigned char *out)
{
    const gbsi_executor *x = h->executor;
    const size_t bytes = (size_t)x->lanes * x->plan->value_bytes;
    for (uint32_t g = 0; g < x->n_groups; ++g) {
        const unsigned char *state = x->group[g].state;
        for (size_t i = 0; i < n; ++i, out += group_bytes(h)) {
            if (h->bits) {
                pack_bits(state + slot[i] * bytes, out);
            } else {
                put_states(h, state + slot[i] * bytes, out);
            }
        }
    }
    return out;
}

/* Stores a tile of received states. The counters of long factors are updated first, because they
 * need the old states. */
static void store(const gbsi_halo *h, uint32_t g, const uint32_t *slot, uint32_t n)
{
    const gbsi_executor *x = h->executor;
    const size_t bytes = (size_t)x->lanes * x->plan->value_bytes;
    const gbsi_tile tile = {.value_bytes = (uint8_t)x->plan->value_bytes,
                            .lanes = (uint8_t)x->lanes,
                            .n_places = n,
                            .slot = slot,
                            .value = h->value};
    unsigned char *state = x->group[g].state;
    assert(n <= GBSI_TILE_ROWS);
    if (x->group[g].counter != NULL) {
        gbsi_counters_commit(x->plan, &x->group[g], &tile);
    }
    for (uint32_t i = 0; i < n; ++i) {
        memcpy(state + slot[i] * bytes, (const unsigned char *)h->value + i * bytes, bytes);
    }
}

static const unsigned char *unpack(const gbsi_halo *h, const uint32_t *slot, size_t n,
                                   const unsigned char *in)
{
    const gbsi_executor *x = h->executor;
    const size_t bytes = (size_t)x->lanes * x->plan->value_bytes;
    for (uint32_t g = 0; g < x->n_groups; ++g) {
        for (size_t done = 0; done < n;) {
            const uint32_t now = n - done < GBSI_TILE_ROWS ? (uint32_t)(n - done) : GBSI_TILE_ROWS;
            unsigned char *value = h->value;
            for (uint32_t i = 0; i < now; ++i, value += bytes, in += group_bytes(h)) {
                if (h->bits) {
                    unpack_bits(in, value);
                } else {
                    take_states(h, in, value);
                }
            }
            store(h, g, slot + done, now);
            done += now;
        }
    }
    return in;
}

/* ---- batches ------------------------------------------------------------------------------- */

typedef struct list {
    const uint32_t *slot;
    size_t n;
} list;

static list list_of(const gbsi_halo *h, const gbsi_share_lists *lists, uint32_t batch, uint32_t j)
{
    const size_t i = (size_t)batch * h->share->n_neighbours + j;
    return (list){lists->slot + lists->start[i], lists->start[i + 1] - lists->start[i]};
}

/* Makes the messages of a batch. @param out true: messages to send; false: messages to receive.
 * @return the number of messages. */
static size_t make_messages(gbsi_halo *h, uint32_t batch, bool out, gbs_message *message)
{
    const gbsi_share_lists *lists = out ? &h->share->out : &h->share->in;
    unsigned char *bytes = out ? h->out : h->in;
    size_t n = 0;
    for (uint32_t j = 0; j < h->share->n_neighbours; ++j) {
        const list values = list_of(h, lists, batch, j);
        if (values.n > 0) {
            message[n] = (gbs_message){
                .rank = h->share->neighbour[j], .bytes = bytes, .n = values.n * h->value_bytes};
            bytes = out ? pack(h, values.slot, values.n, bytes) : bytes + values.n * h->value_bytes;
            assert(bytes == (unsigned char *)message[n].bytes +
                                message[n].n); /* the message has no room for more states */
            n++;
            h->n_messages += out;
            h->n_bytes += out ? values.n * h->value_bytes : 0;
        }
    }
    return n;
}

static gbs_status send_off(gbsi_halo *h, uint32_t batch, gbs_error *err)
{
    gbs_message *out = h->message;
    gbs_message *in = h->message + h->share->n_neighbours;
    const size_t n_out = make_messages(h, batch, true, out);
    const size_t n_in = make_messages(h, batch, false, in);
    return n_out + n_in == 0 ? GBS_OK
                             : h->ranks->begin(h->ranks->context, out, n_out, in, n_in, err);
}

static gbs_status take_in(gbsi_halo *h, uint32_t batch, gbs_error *err)
{
    const unsigned char *in = h->in;
    const gbs_status status = h->ranks->finish(h->ranks->context, err);
    for (uint32_t j = 0; status >= 0 && j < h->share->n_neighbours; ++j) {
        const list values = list_of(h, &h->share->in, batch, j);
        const unsigned char *end = in + values.n * h->value_bytes;
        in = unpack(h, values.slot, values.n, in);
        assert(in == end); /* every byte of the received message was used */
        (void)end;
    }
    return status;
}

static gbs_status after_batch(void *context, uint32_t batch, gbs_error *err)
{
    gbsi_halo *h = context;
    const double begun_s = gbsi_clock_s();
    const gbs_status status =
        batch % 2 == 0 ? send_off(h, batch / 2, err) : take_in(h, batch / 2, err);
    h->exchange_s += gbsi_clock_s() - begun_s;
    return status;
}

/* ---- life ---------------------------------------------------------------------------------- */

/* The largest number of values in the messages of one batch, over all neighbours together. */
static size_t most_values(const gbs_share *share, const gbsi_share_lists *lists)
{
    size_t most = 0;
    for (uint64_t b = 0; b < share->facts.n_batches; ++b) {
        const size_t *start = lists->start + b * share->n_neighbours;
        const size_t n = start[share->n_neighbours] - start[0];
        most = n > most ? n : most;
    }
    return most;
}

uint64_t gbsi_halo_bytes(const gbs_share *share, uint32_t n_chains)
{
    const uint64_t n = most_values(share, &share->out) + most_values(share, &share->in);
    return n * gbsi_groups_of(n_chains) * gbsi_lanes_of(n_chains) * 2 +
           share->n_neighbours * 2 * sizeof(gbs_message) + GBSI_TILE_ROWS * GBSI_LANES * 2;
}

gbs_status gbsi_halo_init(gbsi_halo *h, const gbs_share *share, const gbs_ranks *ranks,
                          gbsi_executor *x, gbs_error *err)
{
    assert(ranks->rank == share->rank && x->plan->n_slots == share->part->n_variables);
    *h = (gbsi_halo){.share = share, .ranks = ranks, .executor = x};
    h->bits = x->lanes == GBSI_LANES && share->facts.max_arity == 2;
    h->wire_bytes = share->facts.max_arity <= 256 ? 1 : 2;
    h->value_bytes = group_bytes(h) * x->n_groups;
    const size_t n_out = most_values(share, &share->out) * h->value_bytes;
    const size_t n_in = most_values(share, &share->in) * h->value_bytes;
    h->out = gbsi_alloc(n_out);
    h->in = gbsi_alloc(n_in);
    h->message = gbsi_alloc_array(2 * (size_t)share->n_neighbours, sizeof *h->message);
    h->value = gbsi_alloc_lanes((size_t)GBSI_TILE_ROWS * x->lanes, x->plan->value_bytes);
    GBSI_PASS(GBSI_HAVE(err, "messages", h->out, h->in, h->message, h->value));
    x->hook = (gbsi_batch_hook){after_batch, h};
    return GBS_OK;
}

void gbsi_halo_free(gbsi_halo *h)
{
    GBSI_FREE(h->out, h->in, h->message, h->value);
    *h = (gbsi_halo){0};
}
