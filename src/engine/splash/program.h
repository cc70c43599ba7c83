/* SPDX-License-Identifier: Apache-2.0 */
/* A grown splash in the form that the loops over chains use: the tables whose product each clique
 * is, and the order in which its states are walked. All chains share it. */
#ifndef GBSI_SPLASH_PROGRAM_H
#define GBSI_SPLASH_PROGRAM_H

#include <stdatomic.h>

#include "splash/potentials.h"
#include "splash/splash_tree.h"

typedef enum gbsi_operand_kind {
    GBSI_SPLASH_LINK,    /* a number of the pool, equal for all chains */
    GBSI_SPLASH_MANY,    /* a long factor, given the variables outside: sixteen chains an entry */
    GBSI_SPLASH_MESSAGE, /* the message of a child: sixteen chains an entry */
} gbsi_operand_kind;

/* A table over the clique's own variable, fastest, and some of its separator. */
typedef struct gbsi_splash_operand {
    uint8_t kind;
    uint8_t depth;                          /* how many axes have to be fixed to read it */
    uint32_t at;                            /* its first entry */
    uint32_t child;                         /* MESSAGE: whose; else GBSI_NONE */
    uint32_t number;                        /* MANY: of the program's; else GBSI_NONE */
    float least;                            /* LINK: smallest weight that is not 0 */
    uint32_t stride[GBSI_SPLASH_WIDTH + 1]; /* by axis, 0 for an axis that the operand lacks; the
                                               last is 0 */
} gbsi_splash_operand;

/* Axes are the separator, slowest first: those that fewest operands have come last, where most of
 * the walking is. Messages are stored by variables ascending, whatever the walk. */
typedef struct gbsi_splash_clique {
    uint32_t slot, arity;
    uint32_t n_axes, n_rows;
    uint32_t message; /* its first row */
    uint32_t base;    /* first entry of what factors with the outside say */
    uint32_t first_operand, n_operands;
    uint32_t first_outer, n_outer;        /* links to variables outside */
    uint32_t first_given, n_given;        /* long factors that have no other variable inside */
    uint32_t variable[GBSI_SPLASH_WIDTH]; /* number in the splash of the variable of each axis */
    uint32_t axis_arity[GBSI_SPLASH_WIDTH];
    uint32_t row_stride[GBSI_SPLASH_WIDTH];
} gbsi_splash_clique;

/* A long factor: its variables inside, ascending, the last the clique's own and fastest. */
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
    uint32_t n; /* cliques = variables, in the order they came */
    gbsi_splash_clique *clique;
    gbsi_splash_operand *operand;
    gbsi_splash_outer *outer;
    gbsi_splash_many *many;
    uint32_t n_operands, n_outer, n_many;
    uint32_t n_rows, n_base, n_many_entries;
    uint32_t largest;   /* states of a clique */
    uint64_t n_entries; /* of all cliques */
    uint64_t n_given;   /* entries and scopes of long factors with one variable inside */
    uint64_t n_shared;  /* the number of factors with several variables inside, and the entries of
                           the cliques that have them */
    bool precise;       /* some variable needs double */
    gbsi_splash_operand *sorted; /* scratch */
    size_t clique_capacity, operand_capacity, sorted_capacity, outer_capacity, many_capacity;
} gbsi_splash_program;

/* The splash of the round that each slot is in, and its number among the variables of the
 * splash. */
typedef struct gbsi_ownership {
    _Atomic uint32_t *owner; /* [n] tag */
    _Atomic uint32_t
        *of_long;     /* [n_long] tag of the only splash that has variables of the factor */
    uint32_t *number; /* [n] valid where the tag is the splash's */
} gbsi_ownership;

gbs_status gbsi_splash_build(const gbsi_potentials *potentials, const gbsi_growth *growth,
                             const gbsi_ownership *own, uint32_t tag, gbsi_splash_program *program,
                             gbs_error *err);
void gbsi_splash_program_free(gbsi_splash_program *program); /* what build took */

#endif
