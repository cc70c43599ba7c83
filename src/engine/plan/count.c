/* SPDX-License-Identifier: Apache-2.0 */
/* If all couplings of a slot are equal to w, a kernel counts the number c of neighbours in a state
 * and reads the log-weight w c from a table indexed by c. Such tables are made only if most slots
 * of a class have equal couplings. The reason is that a slice with slots of the two kinds takes the
 * work of the two kinds together. Two factors of the same two variables count as two neighbours
 * here, which gives the right sum. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "plan/compile.h"

/* Sizes of a cache by which slots with equal tables share one table. If the place of a new table in
 * the cache is taken, the new table replaces the old one. At worst a table is then made twice. */
#define MOST_COUNTED 255u
#define N_CACHED     1024u
#define MOST_TABLES  65536u

typedef struct gbsi_count_table {
    double coupling;
    uint32_t n, type; /* number of neighbours, and type of the slot */
    uint32_t base;
    bool used;
} count_table;

static bool one_coupling(const gbsi_compile *c, uint32_t slot)
{
    const gbsi_profile *p = &c->profile[c->plan->variable_of[slot]];
    return p->n_pairs <= MOST_COUNTED && (p->needs & GBSI_NEEDS_COUPLINGS) == 0;
}

static size_t hash_count_table(const count_table *key)
{
    uint64_t bits = 0;
    memcpy(&bits, &key->coupling, sizeof bits);
    bits = (bits ^ key->n ^ (uint64_t)key->type << 16) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(bits >> 32) % N_CACHED;
}

/* Makes a table with pool[base + i] = J i; for POTTS, the maximum over i is subtracted. */
static gbs_status make_count_table(gbsi_compile *c, count_table *key, gbsi_class class_id,
                                   unsigned form, gbs_error *err)
{
    const double all = key->coupling * key->n;
    const double top = class_id == GBSI_CLASS_POTTS && all > 0.0 ? all : 0.0;
    size_t base = 0;
    GBSI_PASS(gbsi_pool_take(c, form, key->n + 1u, &base, err));
    for (uint32_t i = 0; i <= key->n; ++i) {
        gbsi_pool_put(c, form, base + i, key->coupling * i - top);
    }
    ++c->n_count_tables;
    key->base = (uint32_t)base;
    key->used = true;
    return GBS_OK;
}

static gbs_status store_by_count(gbsi_compile *c, uint32_t slot, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    const gbsi_profile *p = &c->profile[plan->variable_of[slot]];
    count_table key = {
        .coupling = p->n_pairs == 0 ? 0.0 : p->coupling, .n = p->n_pairs, .type = p->type};
    count_table *cached = &c->count_table[hash_count_table(&key)];
    if (!cached->used || cached->n != key.n || cached->coupling != key.coupling ||
        cached->type != key.type) {
        if (c->n_count_tables == MOST_TABLES) {
            return GBS_OK; /* with so many different tables, sharing saves no memory */
        }
        GBSI_PASS(make_count_table(c, &key, gbsi_plan_class(plan, slot), gbsi_plan_form(plan, slot),
                                   err));
        *cached = key;
    }
    plan->by_count[slot] = cached->base;
    return GBS_OK;
}

/* Whether a slot gets a table by count, if its class uses such tables. */
static bool is_counted(const gbsi_compile *c, uint32_t slot)
{
    const uint8_t *known = c->options.by_count;
    return known != NULL ? known[c->plan->variable_of[slot]] != 0 : one_coupling(c, slot);
}

/* Decides for each class whether its slots get tables by count. */
static void choose(const gbsi_compile *c, bool *counted)
{
    size_t n_rows[GBSI_N_CLASSES] = {0};
    size_t n_counted[GBSI_N_CLASSES] = {0};
    for (uint32_t s = 0; s < c->plan->n_slots; ++s) {
        const gbsi_class class_id = gbsi_plan_class(c->plan, s);
        ++n_rows[class_id];
        n_counted[class_id] += gbsi_has_couplings(class_id) && one_coupling(c, s);
    }
    for (unsigned k = 0; k < GBSI_N_CLASSES; ++k) {
        const bool known = c->options.by_count != NULL && gbsi_has_couplings((gbsi_class)k);
        counted[k] = known || (n_counted[k] > 0 && 2 * n_counted[k] >= n_rows[k]);
    }
}

gbs_status gbsi_count_neighbours(gbsi_compile *c, gbs_error *err)
{
    gbsi_plan *plan = c->plan;
    gbs_status status = GBS_OK;
    bool counted[GBSI_N_CLASSES];
    choose(c, counted);
    if (!counted[GBSI_CLASS_ISING] && !counted[GBSI_CLASS_POTTS]) {
        return GBS_OK;
    }
    plan->by_count = gbsi_alloc_array(plan->n_slots, sizeof *plan->by_count);
    c->count_table = gbsi_alloc_array_zero(N_CACHED, sizeof *c->count_table);
    GBSI_PASS(GBSI_HAVE(err, "plan", plan->by_count, c->count_table));
    for (uint32_t s = 0; s < plan->n_slots && status == GBS_OK; ++s) {
        plan->by_count[s] = GBSI_NONE;
        if (counted[gbsi_plan_class(plan, s)] && is_counted(c, s)) {
            status = store_by_count(c, s, err);
        }
    }
    return status;
}
