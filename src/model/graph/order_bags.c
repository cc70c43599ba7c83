/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the tree of bags, which the search changes in small steps. Free slots and free links
 * are kept in lists. The members of all bags are in one array, which is compacted when it is full.
 * A binary tree of sums is used to draw a random bag. A change costs time proportional to the sizes
 * of the changed bags, plus the logarithm of the number of bags. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "graph/order_search_inside.h"
#include "simd/math.h"

static const char what[] = "elimination order";

/* Returns the number of slots for bags. There are at most as many maximal cliques as vertices; the
 * bags of a region are added before all bags that lie inside another one are removed. */
static uint32_t count_slots(uint32_t n)
{
    return n + MOST_REGION;
}

static uint32_t count_leaves(uint32_t n)
{
    uint32_t n_leaves = 1;
    while (n_leaves < count_slots(n)) {
        n_leaves *= 2;
    }
    return n_leaves;
}

uint64_t gbsi_bags_bytes(uint32_t n, uint64_t n_members)
{
    return count_slots(n) * (sizeof(bag) + 2 * sizeof(bag_link)) +
           2 * (uint64_t)count_leaves(n) * sizeof(double) +
           /* twice the largest number of elements in use, because the old array still exists while
              the new one is filled */
           4 * (n_members + MOST_REGION * MOST_REGION) * sizeof(uint32_t);
}

gbs_status gbsi_bags_init(bags *b, uint32_t n, size_t n_members, gbs_error *err)
{
    *b = (bags){.most_slots = count_slots(n), .free_slot = GBSI_NONE, .free_link = GBSI_NONE};
    b->most_links = 2 * b->most_slots;
    b->n_leaves = count_leaves(n);
    b->capacity = 2 * (n_members + MOST_REGION);
    b->bag = gbsi_alloc_array(b->most_slots, sizeof *b->bag);
    b->link = gbsi_alloc_array(b->most_links, sizeof *b->link);
    b->member = gbsi_alloc_array(b->capacity, sizeof *b->member);
    b->root = gbsi_alloc_array_zero(2 * (size_t)b->n_leaves, sizeof *b->root);
    GBSI_PASS(GBSI_HAVE(err, what, b->bag, b->link, b->member, b->root));
    return GBS_OK;
}

void gbsi_bags_free(bags *b)
{
    GBSI_FREE(b->bag, b->link, b->member, b->root);
}

gbs_status gbsi_bags_reserve(bags *b, size_t n, gbs_error *err)
{
    size_t used = 0;
    if (b->n_members + n <= b->capacity) {
        return GBS_OK;
    }
    const size_t capacity = 2 * (b->n_alive + n);
    uint32_t *member = gbsi_alloc_array(capacity, sizeof *member);
    GBSI_PASS(GBSI_HAVE(err, what, member));
    for (uint32_t i = 0; i < b->n_slots; ++i) {
        bag *x = &b->bag[i];
        if (x->entries > 0.0) {
            memcpy(member + used, b->member + x->first, x->n * sizeof *member);
            x->first = used;
            used += x->n;
        }
    }
    assert(used == b->n_alive);
    gbsi_free(b->member);
    b->member = member;
    b->n_members = used;
    b->capacity = capacity;
    return GBS_OK;
}

/* ---- the sums ------------------------------------------------------------------------------ */

static void weigh(bags *b, uint32_t slot, double entries)
{
    size_t i = (size_t)b->n_leaves + slot;
    b->root[i] = gbsi_sqrt(gbsi_sqrt(entries));
    for (i /= 2; i > 0; i /= 2) {
        b->root[i] = b->root[2 * i] + b->root[2 * i + 1];
    }
}

uint32_t gbsi_bags_pick(const bags *b, double u)
{
    size_t i = 1;
    double left = u * b->root[1];
    while (i < b->n_leaves) {
        i *= 2;
        if (left >= b->root[i] && b->root[i + 1] > 0.0) {
            left -= b->root[i];
            ++i;
        }
    }
    return (uint32_t)(i - b->n_leaves);
}

double gbsi_bags_entries(const bags *b)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < b->n_slots; ++i) {
        sum += b->bag[i].entries;
    }
    return sum;
}

/* ---- bags ---------------------------------------------------------------------------------- */

uint32_t gbsi_bags_add(bags *b, uint32_t n, double entries)
{
    uint32_t at = b->free_slot;
    if (at == GBSI_NONE) {
        assert(b->n_slots < b->most_slots);
        at = b->n_slots++;
    } else {
        b->free_slot = b->bag[at].link;
    }
    assert(b->n_members + n <= b->capacity);
    b->bag[at] = (bag){.first = b->n_members, .n = n, .link = GBSI_NONE, .entries = entries};
    ++b->n_bags;
    b->n_members += n;
    b->n_alive += n;
    weigh(b, at, entries);
    return at;
}

static void list(bags *b, uint32_t id, uint32_t from, uint32_t to)
{
    const uint32_t next = b->bag[from].link;
    b->link[id] = (bag_link){.to = to, .next = next, .before = GBSI_NONE};
    if (next != GBSI_NONE) {
        b->link[next].before = id;
    }
    b->bag[from].link = id;
}

static void unlist(bags *b, uint32_t id)
{
    const bag_link *l = &b->link[id];
    if (l->before == GBSI_NONE) {
        b->bag[b->link[id ^ 1u].to].link = l->next;
    } else {
        b->link[l->before].next = l->next;
    }
    if (l->next != GBSI_NONE) {
        b->link[l->next].before = l->before;
    }
}

void gbsi_bags_join(bags *b, uint32_t x, uint32_t y)
{
    uint32_t id = b->free_link;
    if (id == GBSI_NONE) {
        id = b->n_links;
        b->n_links += 2;
        assert(b->n_links <= b->most_links);
    } else {
        b->free_link = b->link[id].next;
    }
    list(b, id, x, y);
    list(b, id + 1, y, x);
}

static void cut(bags *b, uint32_t id)
{
    unlist(b, id);
    unlist(b, id ^ 1u);
    id &= ~1u;
    b->link[id].next = b->free_link;
    b->free_link = id;
}

void gbsi_bags_remove(bags *b, uint32_t at)
{
    bag *x = &b->bag[at];
    while (x->link != GBSI_NONE) {
        cut(b, x->link);
    }
    --b->n_bags;
    b->n_alive -= x->n;
    x->entries = 0.0;
    x->link = b->free_slot;
    b->free_slot = at;
    weigh(b, at, 0.0);
}

void gbsi_bags_merge(bags *b, uint32_t keep, uint32_t drop)
{
    while (b->bag[drop].link != GBSI_NONE) {
        const uint32_t id = b->bag[drop].link;
        const uint32_t to = b->link[id].to;
        if (to == keep) {
            cut(b, id);
        } else {
            unlist(b, id);
            b->link[id ^ 1u].to = keep;
            list(b, id, keep, to);
        }
    }
    gbsi_bags_remove(b, drop);
}
