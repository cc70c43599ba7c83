/* SPDX-License-Identifier: Apache-2.0 */
/* A program is a grown splash in the form that loops over chains use. It lists, for each clique,
 * the tables whose product is the table of the clique, and the order in which the clique's states
 * are walked. All chains share the program. */
#ifndef GBSI_SPLASH_PROGRAM_H
#define GBSI_SPLASH_PROGRAM_H

#include <stdatomic.h>

#include "splash/potentials.h"
#include "splash/splash_tree.h"

typedef enum gbsi_operand_kind {
    GBSI_SPLASH_LINK, /* a table of the pool, equal for all chains */
    /* the table of a long factor given the states outside, with entries for sixteen chains */
    GBSI_SPLASH_MANY,
    GBSI_SPLASH_MESSAGE, /* the message of a child, with entries for sixteen chains */
} gbsi_operand_kind;

/* Least number of entries that threads share: of the table of one clique, or of all smaller cliques
 * of one level of the tree. */
#define GBSI_SPLASH_SHARED (UINT32_C(1) << 15)

/* A table over the clique's own variable, which is the fastest, and some variables of its
 * separator. */
typedef struct gbsi_splash_operand {
    uint8_t kind;
    /* the place at which the operand is read depends only on the states of this number of first
     * axes */
    uint8_t depth;
    uint32_t at;    /* index of the operand's first entry */
    uint32_t child; /* MESSAGE: the child; else GBSI_NONE */
    /* MANY: number of the long factor in the program; else GBSI_NONE */
    uint32_t number;
    float least; /* LINK: smallest weight that is not 0 */
    /* stride of each axis; 0 for an axis that the operand lacks, and for the last axis */
    uint32_t stride[GBSI_SPLASH_WIDTH + 1];
} gbsi_splash_operand;

/* A clique. Its axes are the variables of the separator, slowest first. An axis on which few
 * operands depend comes last, because most steps of the walk are along the last axes. In messages,
 * the variables of a separator are always in ascending order. */
typedef struct gbsi_splash_clique {
    uint32_t slot, arity;
    uint32_t n_axes, n_rows;
    uint32_t level;   /* number of cliques above it in the tree; set by gbsi_splash_find_levels() */
    uint32_t message; /* number of the message's first row */
    uint32_t base;    /* index, in gbsi_splash_work.base, of the weights from factors with no other
                         variable inside */
    uint32_t first_operand, n_operands;
    uint32_t first_outer, n_outer;        /* links to variables outside */
    uint32_t first_given, n_given;        /* long factors with no other variable inside */
    uint32_t variable[GBSI_SPLASH_WIDTH]; /* for each axis: number of its variable in the splash */
    uint32_t axis_arity[GBSI_SPLASH_WIDTH];
    uint32_t row_stride[GBSI_SPLASH_WIDTH];
} gbsi_splash_clique;

/* A long factor, with its variables inside the splash in ascending order. The last of these
 * variables is the clique's own variable, which varies fastest. */
typedef struct gbsi_splash_many {
    size_t factor;
    uint32_t at, n_entries;
    uint32_t n_inside;
    uint32_t inside[GBSI_SPLASH_WIDTH + 1];
    uint32_t place[GBSI_SPLASH_WIDTH + 1]; /* place of each variable in the scope */
} gbsi_splash_many;

typedef struct gbsi_splash_outer {
    uint32_t slot, table;
} gbsi_splash_outer;

typedef struct gbsi_splash_program {
    /* number of cliques, one per variable, in the order in which the variables were added */
    uint32_t n;
    gbsi_splash_clique *clique;
    gbsi_splash_operand *operand;
    gbsi_splash_outer *outer;
    gbsi_splash_many *many;
    uint32_t n_operands, n_outer, n_many;
    uint32_t n_rows, n_base, n_many_entries;
    uint32_t largest;   /* number of states of the largest clique */
    uint64_t n_entries; /* number of entries of all cliques */
    uint64_t n_given;   /* number of entries of long factors with one variable inside, and of their
                           scopes */
    /* number of long factors with several variables inside, plus the number of entries of the
     * cliques to which these factors belong */
    uint64_t n_shared;
    bool precise;                /* whether some variable needs sums in double */
    gbsi_splash_operand *sorted; /* scratch */
    uint32_t *by_level;          /* [n] cliques by level, the root's first */
    uint32_t *level_end;         /* [n_levels] end of each level in by_level */
    uint32_t n_levels;
    size_t by_level_capacity, level_end_capacity;
    size_t clique_capacity, operand_capacity, sorted_capacity, outer_capacity, many_capacity;
} gbsi_splash_program;

/* The splash of the round to which each slot belongs, and the number of the slot among the
 * variables of its splash. */
typedef struct gbsi_ownership {
    _Atomic uint32_t *owner; /* [n] tag of the splash that owns each slot */
    /* [n_long] tag of the only splash of the round that has variables of the factor */
    _Atomic uint32_t *of_long;
    uint32_t *number; /* [n] number in the splash; valid if the owner is a splash of the round */
} gbsi_ownership;

gbs_status gbsi_splash_build(const gbsi_potentials *potentials, const gbsi_growth *growth,
                             const gbsi_ownership *own, uint32_t tag, gbsi_splash_program *program,
                             gbs_error *err);
static inline uint64_t gbsi_splash_entries(const gbsi_splash_clique *c)
{
    return (uint64_t)c->n_rows * c->arity;
}

/* First place of a level in by_level. */
static inline uint32_t gbsi_splash_level_begin(const gbsi_splash_program *program, uint32_t level)
{
    return level == 0 ? 0 : program->level_end[level - 1];
}

/* Sets by_level, level_end and n_levels, and the level of each clique. */
gbs_status gbsi_splash_find_levels(gbsi_splash_program *program, gbs_error *err);
/* Number of entries of those cliques of a level whose tables are too small to be shared; 0 if the
 * level has fewer than two such cliques. */
uint64_t gbsi_splash_level_entries(const gbsi_splash_program *program, uint32_t level);
void gbsi_splash_program_free(gbsi_splash_program *program); /* frees the arrays, not the struct */

#endif
