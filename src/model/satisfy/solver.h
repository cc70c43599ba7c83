/* SPDX-License-Identifier: Apache-2.0 */
/* The clause-learning search, for the files of this folder only.
 *
 * A variable of two states has one Boolean, which is true in state 1. A variable of K > 2 states
 * has one Boolean per state; exactly one of them is true. One clause requires at least one of them.
 * When one of them becomes true, the search makes the others false, without clauses.
 *
 * Literal 2 b is true if Boolean b is true, and literal 2 b + 1 is its negation. */
#ifndef GBSI_SATISFY_SOLVER_H
#define GBSI_SATISFY_SOLVER_H

#include "satisfy/satisfy.h"

#define GBSI_NO_LITERAL UINT32_MAX

/* Names of what a conflict follows from, for proofs: a number times 4 plus one of the tags. */
enum { GBSI_PROOF_FACTOR = 0, GBSI_PROOF_LEARNT = 1, GBSI_PROOF_ROOT = 2 };
#define GBSI_PROOF_NONE    UINT32_MAX        /* follows from the states of a variable alone */
#define GBSI_PROOF_NUMBERS ((size_t)1 << 28) /* upper bound of the numbers */

typedef enum gbsi_reason_kind {
    GBSI_BY_NOTHING,    /* a decision, or a unit clause, whose name is in `proof` */
    GBSI_BY_CLAUSE,     /* `at` is the place of the clause */
    GBSI_BY_LITERAL,    /* the literal `at` is true */
    GBSI_BY_CONSTRAINT, /* `at` is the number of the constraint */
} gbsi_reason_kind;

/* Why a literal is true, or why a conflict exists. */
typedef struct gbsi_reason {
    uint32_t kind;
    uint32_t at;
    uint32_t proof; /* name for proofs, of a unit clause and of GBSI_BY_LITERAL */
} gbsi_reason;

/* A clause in `arena` is a header of GBSI_CLAUSE_HEAD words and its literals; the first two
 * literals are watched. */
enum { GBSI_CLAUSE_SIZE, GBSI_CLAUSE_LEVELS, GBSI_CLAUSE_PROOF, GBSI_CLAUSE_HEAD };
/* GBSI_CLAUSE_LEVELS is 0 for clauses of the model. For a learnt clause, it is the number of
 * decision levels among its literals when it was learnt (Audemard & Simon 2009, IJCAI-21:399-404).
 */

typedef struct gbsi_watched {
    uint32_t clause;
    uint32_t other; /* some other literal of the clause; if it is true, the clause is satisfied */
} gbsi_watched;

typedef struct gbsi_list {
    void *at;
    size_t n, capacity;
} gbsi_list;

typedef enum gbsi_constraint_kind {
    GBSI_CONSTRAINT_COUNT,  /* at least `least` and at most `most` literals are true */
    GBSI_CONSTRAINT_PARITY, /* an odd number of literals is true if `least` is 1, else an even one
                             */
    GBSI_CONSTRAINT_ROWS,   /* the states of the variables are one of the rows of a table */
} gbsi_constraint_kind;

typedef struct gbsi_constraint {
    uint8_t kind;
    uint8_t queued;
    uint32_t proof;
    uint32_t n;   /* number of literals, or of variables of the rows */
    size_t start; /* first literal in `pool`; for rows, the first variable, as a part's number */
    uint32_t least, most;
    uint32_t n_true, n_false; /* numbers of literals that are processed: see `n_counted` */
    uint32_t rows;            /* number of the rows */
    size_t support;           /* first element in `support` */
} gbsi_constraint;

/* The combinations of states that a table allows. Factors with one table share its rows. */
typedef struct gbsi_rows {
    uint32_t table;
    uint32_t n_places; /* number of variables */
    size_t n_rows;
    uint16_t *state;     /* [n_rows][n_places] */
    size_t *value_first; /* [n_places + 1] first value of each place; values are pairs of a place
                            and a state */
    size_t *row_start;   /* [values + 1] offsets of the values in `row` */
    uint32_t *row;       /* rows that contain each value */
} gbsi_rows;

/* What a draw restores, so that its result does not depend on earlier draws. */
typedef struct gbsi_solver_base {
    uint32_t *arena;
    size_t arena_length, n_learnt;
    size_t trail_length;
    uint64_t *activity;
    uint64_t bump;
    uint32_t *state; /* [n_variables] first state */
} gbsi_solver_base;

struct gbsi_satisfier {
    gbsi_hard_part part;
    gbsi_watch *watch;
    bool failed;       /* whether a request for memory failed */
    bool proves;       /* whether the search writes its proof */
    bool contradicted; /* whether the clauses contradict one another without any decision */
    uint64_t spent;    /* number of operations until now */

    uint32_t n_booleans;
    uint32_t *first;     /* [n_variables + 1] first Boolean of each variable of the part */
    uint32_t *variable;  /* [n_booleans] the part's number of each Boolean's variable */
    uint32_t *preferred; /* [n_variables] state that the next decision prefers */

    int8_t *value;       /* [literals] 1 if true, -1 if false, 0 if open */
    uint32_t *level;     /* [n_booleans] */
    uint32_t *position;  /* [n_booleans] place in `trail` */
    gbsi_reason *reason; /* [n_booleans] */
    uint32_t *trail;     /* [n_booleans] true literals, in the order in which they became true */
    size_t trail_length;
    size_t n_propagated;   /* number of literals of the trail that were processed */
    uint32_t *level_start; /* [levels] */
    uint32_t n_levels;

    gbsi_list arena;    /* uint32_t */
    gbsi_list *watched; /* [literals] gbsi_watched: clauses that watch the literal */
    size_t n_learnt;    /* number of learnt clauses in `arena` */

    gbsi_list constraint; /* gbsi_constraint */
    gbsi_list pool;       /* uint32_t */
    gbsi_list rows;       /* gbsi_rows */
    uint32_t *rows_of; /* [n_tables] number of the rows of each table; GBSI_NONE if absent. NULL if
                          no table has rows */
    gbsi_list support; /* uint32_t: for each value of a constraint, the row that supported it */
    size_t *occurs_start; /* [literals + 1] offsets in `occurs` */
    uint32_t *occurs;     /* constraints that contain the literal */
    gbsi_list queue;      /* uint32_t: constraints to propagate */
    size_t queue_head;
    gbsi_list differ;      /* triples of uint32_t: two variables that must differ, and a name */
    size_t *differs_start; /* [n_variables + 1] offsets in `differs` */
    uint32_t *differs;     /* pairs: the other variable, and the name of the factor for proofs */

    gbsi_reason conflict; /* GBSI_BY_LITERAL: `at` and `conflict_with` contradict each other */
    uint32_t conflict_with;
    gbsi_list reasons;    /* uint32_t: the literals of gbsi_solver_reason() */
    gbsi_list learnt;     /* uint32_t: the clause that is being learnt */
    uint8_t *seen;        /* [n_booleans] */
    uint32_t *level_seen; /* [n_booleans + 1] number of the last clause that counted the level */
    uint32_t n_analyzed;  /* number of clauses learnt until now */
    uint8_t *marked;      /* [literals] scratch of explanations; zero between calls */

    uint64_t *activity; /* [n_booleans] */
    uint64_t bump;
    uint32_t *heap; /* open Booleans, and others; the most active one first */
    uint32_t heap_length;
    uint32_t *heap_place; /* [n_booleans] place in `heap`; GBSI_NONE if absent */

    gbsi_list proof;       /* uint32_t: names of what each learnt clause follows from */
    gbsi_list proof_start; /* size_t: offsets of the learnt clauses in `proof` */

    gbsi_solver_base base;
};

static inline uint32_t *gbsi_words_at(const gbsi_list *list)
{
    return list->at;
}

/* Returns the literal "variable i of the part is in this state". */
static inline uint32_t gbsi_literal(const gbsi_satisfier *s, uint32_t i, uint32_t state)
{
    return s->first[i + 1] - s->first[i] == 1 ? 2 * s->first[i] + (state == 0)
                                              : 2 * (s->first[i] + state);
}

static inline uint32_t gbsi_part_arity(const gbsi_satisfier *s, uint32_t i)
{
    return s->part.arity[s->part.variable[i]];
}

/* ---- solver.c: assignments, clauses ---------------------------------------------------------- */

/* Makes room for n more elements. @return false, with `failed` set, if memory is used up. */
bool gbsi_solver_room(gbsi_satisfier *s, gbsi_list *list, size_t n, size_t size);
bool gbsi_solver_push(gbsi_satisfier *s, gbsi_list *list, uint32_t word);
/* Counts operations. @return whether the watch stopped the search. */
bool gbsi_solver_spend(gbsi_satisfier *s, uint64_t n_operations);
/* Makes a literal true. @return false, with the conflict stored, if it is false. */
bool gbsi_solver_imply(gbsi_satisfier *s, uint32_t literal, gbsi_reason reason);
/* Adds a clause, which must have two or more literals. @return its place in the arena. */
uint32_t gbsi_solver_add(gbsi_satisfier *s, const uint32_t *literal, uint32_t n, uint32_t levels,
                         uint32_t proof);
/* Watches the first two literals of a clause. */
void gbsi_solver_watch_clause(gbsi_satisfier *s, uint32_t clause);
/* Adds a reason for a conflict that has no literals. */
void gbsi_solver_contradict(gbsi_satisfier *s, uint32_t proof);
/* Propagates to the fixed point. @return false, with the conflict stored, if there is one. */
bool gbsi_solver_propagate(gbsi_satisfier *s);
void gbsi_solver_undo(gbsi_satisfier *s, uint32_t level);

/* ---- encode.c: factors to clauses and constraints -------------------------------------------- */

/* Adds all factors of the part. */
void gbsi_solver_encode(gbsi_satisfier *s);
/* Adds a clause of the model; a clause of one literal makes the literal true. Literals may repeat.
 */
void gbsi_solver_clause(gbsi_satisfier *s, const uint32_t *literal, uint32_t n, uint32_t proof);

/* ---- tables.c -------------------------------------------------------------------------------- */

/* Adds a table, as clauses or as rows. */
void gbsi_solver_table(gbsi_satisfier *s, size_t factor, uint32_t proof);
bool gbsi_propagate_rows(gbsi_satisfier *s, uint32_t constraint);
void gbsi_explain_rows(gbsi_satisfier *s, uint32_t constraint, uint32_t literal, uint32_t before);
void gbsi_solver_free_rows(gbsi_list *rows);

/* ---- counts.c -------------------------------------------------------------------------------- */

bool gbsi_propagate_counts(gbsi_satisfier *s, uint32_t constraint);
/* Appends to `reasons` the false literals from which the constraint implied `literal`, or from
 * which the conflict follows (GBSI_NO_LITERAL).
 * @param before only literals at earlier places of the trail are reasons. */
void gbsi_explain_counts(gbsi_satisfier *s, uint32_t constraint, uint32_t literal, uint32_t before);

/* ---- analyze.c ------------------------------------------------------------------------------- */

/* Finds the false literals that, with `literal`, form a clause that the reason implies. @param
 * literal GBSI_NO_LITERAL: the stored conflict. @param n out. @return [n] */
const uint32_t *gbsi_solver_reason(gbsi_satisfier *s, uint32_t literal, uint32_t *n,
                                   uint32_t *proof);
/* Learns a clause from the stored conflict, into `learnt`; its first literal becomes true after the
 * return to a level. @param proof out: name of the clause. @return this level. */
uint32_t gbsi_solver_analyze(gbsi_satisfier *s, uint32_t *n_levels, uint32_t *proof);
/* Writes what the stored conflict, which needs no decision, follows from. */
void gbsi_solver_end_proof(gbsi_satisfier *s);

/* ---- heap.c ---------------------------------------------------------------------------------- */

void gbsi_heap_insert(gbsi_satisfier *s, uint32_t boolean);
void gbsi_heap_raise(gbsi_satisfier *s, uint32_t boolean);
uint32_t gbsi_heap_pop(gbsi_satisfier *s);

/* ---- search.c -------------------------------------------------------------------------------- */

/* Searches until the operations exceed `limit`. */
gbsi_satisfied gbsi_solver_search(gbsi_satisfier *s, uint64_t limit);
gbs_status gbsi_solver_make(const gbsi_hard_part *part, gbsi_watch *watch, bool proves,
                            gbsi_satisfier **satisfier, gbs_error *err);

#endif
