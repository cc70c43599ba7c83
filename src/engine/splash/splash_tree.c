/* SPDX-License-Identifier: Apache-2.0 */
#include "splash/splash_tree.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

uint64_t gbsi_growth_bytes(uint32_t width, uint32_t most)
{
    return (uint64_t)most *
           (sizeof(gbsi_growth_clique) + (2 * (uint64_t)width + 2) * sizeof(uint32_t));
}

gbs_status gbsi_growth_init(gbsi_growth *growth, uint32_t width, uint32_t most, gbs_error *err)
{
    assert(width <= GBSI_SPLASH_WIDTH);
    *growth = (gbsi_growth){.width = width, .most = most};
    growth->clique = gbsi_alloc_array(most, sizeof *growth->clique);
    growth->separator = gbsi_alloc_array(most, width * sizeof *growth->separator);
    growth->journal = gbsi_alloc_array(most, (width + 2) * sizeof *growth->journal);
    if (growth->clique == NULL || growth->separator == NULL || growth->journal == NULL) {
        gbsi_growth_free(growth);
        return gbsi_no_memory(err, "splash", (size_t)gbsi_growth_bytes(width, most));
    }
    return GBS_OK;
}

void gbsi_growth_free(gbsi_growth *growth)
{
    GBSI_FREE(growth->clique, growth->separator, growth->journal, growth->share);
    *growth = (gbsi_growth){0};
}

static uint32_t *separator_of(gbsi_growth *g, uint32_t i)
{
    return g->separator + (size_t)i * g->width;
}

/* Returns the number of rows of a separator; 0 if its clique, or all cliques together, would be too
 * large. */
static uint32_t count_rows(const gbsi_growth *g, uint32_t i)
{
    const uint32_t *separator = gbsi_growth_separator(g, i);
    uint64_t rows = 1;
    for (uint32_t j = 0; j < g->clique[i].n_separator; ++j) {
        rows *= g->clique[separator[j]].arity;
        if (rows * g->clique[i].arity > GBSI_SPLASH_TABLE) {
            return 0;
        }
    }
    return (uint32_t)rows;
}

static bool take_rows(gbsi_growth *g, uint32_t i)
{
    const uint32_t rows = count_rows(g, i);
    const uint32_t others = g->n_rows - g->clique[i].n_rows;
    if (rows == 0 || rows > GBSI_SPLASH_ROWS - others) {
        return false;
    }
    g->n_rows = others + rows;
    g->clique[i].n_rows = rows;
    return true;
}

static void write_journal(gbsi_growth *g, uint32_t i)
{
    assert(g->n_journal < g->most);
    uint32_t *entry = g->journal + (size_t)g->n_journal++ * (g->width + 2);
    entry[0] = i;
    entry[1] = g->clique[i].n_separator;
    memcpy(entry + 2, gbsi_growth_separator(g, i), entry[1] * sizeof *entry);
}

/* Undoes the changes that the extension by variable number growth->n made. */
static void roll_back(gbsi_growth *g)
{
    while (g->n_journal > 0) {
        const uint32_t *entry = g->journal + (size_t)--g->n_journal * (g->width + 2);
        gbsi_growth_clique *clique = &g->clique[entry[0]];
        clique->n_separator = entry[1];
        memcpy(separator_of(g, entry[0]), entry + 2, entry[1] * sizeof *entry);
        g->n_rows -= clique->n_rows;
        clique->n_rows = count_rows(g, entry[0]);
        assert(clique->n_rows >
               0); /* the tree had this separator before, so that its rows are within the limits */
        g->n_rows += clique->n_rows;
    }
    g->n_rows -= g->clique[g->n].n_rows;
}

/* Lists the members of the ascending set `from` that are not in the ascending set `other`.
 * @return the number of these variables. */
static uint32_t subtract(const uint32_t *from, uint32_t n, const uint32_t *other, uint32_t n_other,
                         uint32_t *out)
{
    uint32_t n_out = 0;
    uint32_t j = 0;
    for (uint32_t i = 0; i < n; ++i) {
        while (j < n_other && other[j] < from[i]) {
            ++j;
        }
        if (j == n_other || other[j] != from[i]) {
            out[n_out++] = from[i];
        }
    }
    return n_out;
}

/* Merges two disjoint ascending sets into the first one. */
static void merge(uint32_t *into, uint32_t n, const uint32_t *other, uint32_t n_other)
{
    while (n_other > 0) {
        if (n > 0 && into[n - 1] > other[n_other - 1]) {
            into[n + n_other - 1] = into[n - 1];
            --n;
        } else {
            into[n + n_other - 1] = other[n_other - 1];
            --n_other;
        }
    }
}

/* Passes variables up the path of parents: a clique gives its parent the separator variables that
 * the parent lacks. A new parent needs the whole separator; the old parent needs only the variables
 * that were added now. Lines 9 and 11 of the algorithm in the paper mix up the clique and its
 * parent. */
static bool pass_on(gbsi_growth *g, uint32_t i)
{
    uint32_t handed[GBSI_SPLASH_WIDTH];
    uint32_t n_handed = g->clique[i].n_separator;
    uint32_t v = gbsi_growth_parent(g, i);
    memcpy(handed, gbsi_growth_separator(g, i), n_handed * sizeof *handed);
    while (v != UINT32_MAX && n_handed > 0) {
        uint32_t fresh[GBSI_SPLASH_WIDTH];
        gbsi_growth_clique *clique = &g->clique[v];
        uint32_t *separator = separator_of(g, v);
        const uint32_t parent = gbsi_growth_parent(g, v);
        assert(handed[n_handed - 1] == v);
        const uint32_t n_fresh =
            subtract(handed, n_handed - 1, separator, clique->n_separator, fresh);
        if (n_fresh == 0) {
            return true;
        }
        if (clique->n_separator + n_fresh > g->width) {
            return false;
        }
        write_journal(g, v);
        merge(separator, clique->n_separator, fresh, n_fresh);
        clique->n_separator += n_fresh;
        if (!take_rows(g, v)) {
            return false;
        }
        const uint32_t next = gbsi_growth_parent(g, v);
        n_handed = next == parent ? n_fresh : clique->n_separator;
        memcpy(handed, next == parent ? fresh : separator, n_handed * sizeof *handed);
        v = next;
        if (next == parent) { /* the parent is the latest variable of the whole separator, not only
                                 of its new part */
            handed[n_handed++] = v;
        }
    }
    return true;
}

bool gbsi_growth_extend(gbsi_growth *growth, uint32_t slot, uint32_t arity, uint32_t n,
                        const uint32_t *earlier)
{
    const uint32_t i = growth->n;
    if (n > growth->width || i == growth->most) {
        return false;
    }
    /* neighbours have smaller numbers than the new variable */
    assert(n == 0 || earlier[n - 1] < i);
    growth->n_journal = 0;
    growth->clique[i] = (gbsi_growth_clique){.slot = slot, .arity = arity, .n_separator = n};
    memcpy(separator_of(growth, i), earlier, n * sizeof *earlier);
    if (!(n == 0 && i == 0) && !take_rows(growth, i)) {
        return false;
    }
    if (i == 0) {
        /* a root may have any number of states */
        growth->n_rows = growth->clique[0].n_rows = 1;
    }
    if (!pass_on(growth, i)) {
        roll_back(growth);
        return false;
    }
    ++growth->n;
    assert(growth->n <= growth->most && (growth->n == 1 || growth->n_rows <= GBSI_SPLASH_ROWS));
    return true;
}
