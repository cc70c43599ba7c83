/* SPDX-License-Identifier: Apache-2.0 */
/* A junction tree that grows variable by variable, and from which the last variable can be removed:
 * algorithm 5 of Gonzalez, Low, Gretton & Guestrin (2011), corrected [M35]. Variables are numbered
 * in the order in which they are added, and eliminated in reverse order. A clique consists of its
 * own variable and its separator, whose variables were added earlier. The parent of a clique is the
 * clique of the latest variable in the separator. */
#ifndef GBSI_SPLASH_SPLASH_TREE_H
#define GBSI_SPLASH_SPLASH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define GBSI_SPLASH_WIDTH 16u /* largest number of variables of a separator */
/* limit on the number of rows (joint states) of all separators of a tree together */
#define GBSI_SPLASH_ROWS (UINT32_C(1) << 18)
/* largest number of states of a clique other than the root */
#define GBSI_SPLASH_TABLE (UINT32_C(1) << 20)

typedef struct gbsi_growth_clique {
    uint32_t slot;  /* slot of the clique's own variable */
    uint32_t arity; /* number of states of the own variable */
    uint32_t n_separator;
    uint32_t n_rows; /* number of joint states of the separator */
    /* index of the own variable's first share; shares have the order of gbsi_potentials.many */
    uint32_t first_share;
} gbsi_growth_clique;

/* A pair of a variable of the splash and a long factor that contains the variable. The shares of a
 * factor form a linked list in the order in which the factor's variables were added. The scope of
 * the factor therefore need not be searched for variables of the splash. */
typedef struct gbsi_growth_share {
    uint32_t variable; /* number of the variable in the splash */
    uint32_t at;       /* position of the variable in the scope of the factor */
    uint32_t before;   /* previous share of the factor; UINT32_MAX for the first share */
    bool is_last;      /* whether this is the latest share of the factor */
} gbsi_growth_share;

typedef struct gbsi_growth {
    uint32_t width, most; /* width: largest number of variables of a separator; most: largest number
                             of variables of the tree */
    uint32_t n;
    uint32_t n_rows;            /* number of rows of all separators together */
    gbsi_growth_clique *clique; /* [most] cliques in the order in which they were added */
    uint32_t *separator;        /* [most][width] earlier variables of each clique, ascending */
    uint32_t n_journal;
    uint32_t *journal; /* [most][width + 2] number and old separator of each clique that the latest
                          extension changed */
    uint32_t n_shares;
    size_t share_capacity;
    gbsi_growth_share *share;
    /* whether growth ended because the splash took a variable next to a fresh splash */
    bool clashed;
} gbsi_growth;

gbs_status gbsi_growth_init(gbsi_growth *growth, uint32_t width, uint32_t most, gbs_error *err);
void gbsi_growth_free(gbsi_growth *growth); /* frees the arrays, not the struct */
uint64_t gbsi_growth_bytes(uint32_t width, uint32_t most);

static inline const uint32_t *gbsi_growth_separator(const gbsi_growth *growth, uint32_t i)
{
    return growth->separator + (size_t)i * growth->width;
}

/* Returns the parent of clique i, which is the latest variable of its separator; UINT32_MAX if the
 * separator is empty. */
static inline uint32_t gbsi_growth_parent(const gbsi_growth *growth, uint32_t i)
{
    const uint32_t m = growth->clique[i].n_separator;
    return m == 0 ? UINT32_MAX : gbsi_growth_separator(growth, i)[m - 1];
}

/* Adds a variable whose neighbours are n earlier variables. The time is proportional to the width
 * times the length of the path from the new clique to the root [M35]. @param earlier [n] in
 * ascending order. @return false if a limit would be exceeded; the tree is then unchanged. */
bool gbsi_growth_extend(gbsi_growth *growth, uint32_t slot, uint32_t arity, uint32_t n,
                        const uint32_t *earlier);

#endif
