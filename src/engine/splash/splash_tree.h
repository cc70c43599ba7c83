/* SPDX-License-Identifier: Apache-2.0 */
/* A junction tree that grows variable by variable and can take the last one back: algorithm 5 of
 * Gonzalez, Low, Gretton & Guestrin (2011), corrected [M35]. Variables are numbered as they come
 * and eliminated in reverse. So the members of a clique other than its own variable, the separator,
 * came before that variable; the parent is the latest of the separator. */
#ifndef GBSI_SPLASH_SPLASH_TREE_H
#define GBSI_SPLASH_SPLASH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define GBSI_SPLASH_WIDTH 16u                 /* most variables of a separator */
#define GBSI_SPLASH_ROWS  (UINT32_C(1) << 18) /* states of all separators of a tree, at most */
#define GBSI_SPLASH_TABLE (UINT32_C(1) << 20) /* most states of a clique other than the root */

typedef struct gbsi_growth_clique {
    uint32_t slot;  /* its own variable */
    uint32_t arity; /* of that */
    uint32_t n_separator;
    uint32_t n_rows;      /* states of the separator */
    uint32_t first_share; /* number of the first of its long factors, in the order of
                             gbsi_potentials.many */
} gbsi_growth_clique;

/* A long factor that a variable of the splash is in. The entries of one factor are chained in the
 * order in which its variables came, so that its scope need not be searched for them. */
typedef struct gbsi_growth_share {
    uint32_t variable; /* number in the splash */
    uint32_t at;       /* position in the scope */
    uint32_t before;   /* share of the variable that came before it; UINT32_MAX: it is the first */
    bool is_last;      /* no variable of the factor came later */
} gbsi_growth_share;

typedef struct gbsi_growth {
    uint32_t width, most; /* limits: of separators, of variables */
    uint32_t n;
    uint32_t n_rows;            /* of all separators */
    gbsi_growth_clique *clique; /* [most] cliques in the order in which they were added */
    uint32_t *separator;        /* [most][width] earlier variables of each clique, ascending */
    uint32_t n_journal;
    uint32_t *journal; /* [most][width + 2] cliques as they were: number, separator */
    uint32_t n_shares;
    size_t share_capacity;
    gbsi_growth_share *share;
    bool clashed; /* given up: it took a variable next to a splash settled meanwhile */
} gbsi_growth;

gbs_status gbsi_growth_init(gbsi_growth *growth, uint32_t width, uint32_t most, gbs_error *err);
void gbsi_growth_free(gbsi_growth *growth); /* what init took */
uint64_t gbsi_growth_bytes(uint32_t width, uint32_t most);

static inline const uint32_t *gbsi_growth_separator(const gbsi_growth *growth, uint32_t i)
{
    return growth->separator + (size_t)i * growth->width;
}

/* The latest of a separator; UINT32_MAX of an empty one. */
static inline uint32_t gbsi_growth_parent(const gbsi_growth *growth, uint32_t i)
{
    const uint32_t m = growth->clique[i].n_separator;
    return m == 0 ? UINT32_MAX : gbsi_growth_separator(growth, i)[m - 1];
}

/* Adds a variable that sees the n earlier ones listed (ascending), if the limits allow; else
 * nothing has changed. O(length of the path to the root, width), [M35]. */
bool gbsi_growth_extend(gbsi_growth *growth, uint32_t slot, uint32_t arity, uint32_t n,
                        const uint32_t *earlier);

#endif
