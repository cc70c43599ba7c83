/* SPDX-License-Identifier: Apache-2.0 */
#include "sparse/sparse_trie.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

gbs_status gbsi_trie_init(gbsi_trie *rows, uint32_t n_axes, const uint32_t *arity, gbs_error *err)
{
    *rows = (gbsi_trie){.level = gbsi_alloc_array(n_axes, sizeof *rows->level)};
    if (rows->level == NULL) {
        return gbsi_no_memory(err, "sparse tables", n_axes * sizeof *rows->level);
    }
    for (; rows->n_axes < n_axes; ++rows->n_axes) {
        rows->level[rows->n_axes] = (gbsi_trie_level){.arity = arity[rows->n_axes]};
    }
    return GBS_OK;
}

void gbsi_trie_free(gbsi_trie *rows)
{
    for (uint32_t k = 0; k < rows->n_axes; ++k) {
        gbsi_free(rows->level[k].next);
    }
    gbsi_free(rows->level);
    *rows = (gbsi_trie){0};
}

static gbs_status add_node(gbsi_trie_level *level, gbs_error *err)
{
    void *next = level->next;
    const size_t n = (size_t)level->n * level->arity;
    const gbs_status status = gbsi_reserve(&next, &level->capacity, n + level->arity,
                                           sizeof *level->next, "sparse tables", err);
    if (status == GBS_OK) {
        level->next = next;
        memset(level->next + n, 0, level->arity * sizeof *level->next);
        level->n++;
    }
    return status;
}

gbs_status gbsi_trie_add(gbsi_trie *rows, const uint32_t *x, uint32_t shared, gbs_error *err)
{
    if (rows->n_axes == 0) {
        rows->n = 1;
        return GBS_OK;
    }
    if (rows->n == UINT32_MAX - 1) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "sparse tables: too many nonzero entries");
    }
    for (uint32_t k = rows->n == 0 ? 0 : shared + 1; k < rows->n_axes; ++k) {
        GBSI_PASS(add_node(&rows->level[k], err));
    }
    for (uint32_t k = rows->n == 0 ? 0 : shared; k < rows->n_axes; ++k) {
        gbsi_trie_level *level = &rows->level[k];
        const bool last = k + 1 == rows->n_axes;
        assert(x[k] < level->arity);
        assert(level->next[(size_t)(level->n - 1) * level->arity + x[k]] ==
               0); /* rows are added in ascending order */
        level->next[(size_t)(level->n - 1) * level->arity + x[k]] =
            last ? rows->n + 1 : rows->level[k + 1].n;
    }
    ++rows->n;
    return GBS_OK;
}

/* Every node has at least one node below it. The nodes of the next level below node i therefore
 * have numbers of at least i. For this reason, alive[i] has already been read when it is
 * overwritten. */
void gbsi_trie_keep(gbsi_trie *rows, uint8_t *alive)
{
    uint32_t n_below = 0;
    if (rows->n_axes == 0) {
        rows->n = rows->n > 0 && alive[0] != 0;
        return;
    }
    for (uint32_t k = rows->n_axes; k-- > 0;) {
        gbsi_trie_level *level = &rows->level[k];
        uint32_t n_kept = 0;
        n_below = 0;
        for (uint32_t i = 0; i < level->n; ++i) {
            const uint32_t *from = level->next + (size_t)i * level->arity;
            uint32_t *to = level->next + (size_t)n_kept * level->arity;
            const uint32_t n_before = n_below;
            for (uint32_t a = 0; a < level->arity; ++a) {
                to[a] = from[a] != 0 && alive[from[a] - 1] != 0 ? ++n_below : 0;
            }
            alive[i] = n_below > n_before;
            n_kept += alive[i];
        }
        rows->n = k + 1 == rows->n_axes ? n_below : rows->n;
        assert(n_kept <= level->n &&
               n_kept <= n_below); /* every kept node has at least one row below it */
        level->n = n_kept;
        const size_t n = (size_t)n_kept * level->arity;
        void *less = n > 0 ? gbsi_realloc_array(level->next, n, sizeof *level->next) : NULL;
        level->next = less != NULL ? less : level->next;
        level->capacity = less != NULL ? n : level->capacity;
    }
}

uint32_t gbsi_trie_most(const gbsi_trie *rows)
{
    uint32_t most = rows->n;
    for (uint32_t k = 0; k < rows->n_axes; ++k) {
        most = rows->level[k].n > most ? rows->level[k].n : most;
    }
    return most;
}

uint64_t gbsi_trie_bytes(const gbsi_trie *rows)
{
    uint64_t bytes = sizeof *rows + rows->n_axes * sizeof *rows->level;
    for (uint32_t k = 0; k < rows->n_axes; ++k) {
        bytes += rows->level[k].capacity * sizeof *rows->level[k].next;
    }
    return bytes;
}
