/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a grounding, and the functions that the files of this folder share. */
#ifndef GBSI_GROUND_GROUNDING_H
#define GBSI_GROUND_GROUNDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/watch.h"
#include "gibbsite/ground.h"
#include "ground/program.h"

/* ---- atoms.c -------------------------------------------------------------------------------- */

/* A hash map from numbers of 64 bits, such as the code of a ground atom, to numbers of 32 bits. */
/* A hash table with open addressing, at most half full. Zero-initialise. */
typedef struct gbsi_atoms {
    uint64_t *key; /* [n_slots] key plus one; 0: the slot is empty */
    uint32_t *value;
    size_t n_slots; /* a power of 2, or 0 */
    size_t n;
} gbsi_atoms;

/* @return the value of a key; NULL if the table lacks the key. The pointer is valid until the next
 * key is added. */
uint32_t *gbsi_atoms_find(const gbsi_atoms *atoms, uint64_t key);
/* @param key less than UINT64_MAX, and not in the table yet. */
gbs_status gbsi_atoms_add(gbsi_atoms *atoms, uint64_t key, uint32_t value, gbs_error *err);
void gbsi_atoms_clear(gbsi_atoms *atoms); /* empties the table and keeps its memory */
void gbsi_atoms_free(gbsi_atoms *atoms);

/* ---- grounding.c ---------------------------------------------------------------------------- */

/* The values of ground atoms that facts decide. Such atoms are not variables of the model. */
#define GBSI_ATOM_TRUE  UINT32_MAX
#define GBSI_ATOM_FALSE (UINT32_MAX - 1)

/* The residue of a formula: the formula that remains after substituting constants for its variables
 * and evidence for its atoms. */
typedef enum gbsi_residue_op {
    GBSI_RESIDUE_FALSE,
    GBSI_RESIDUE_TRUE,
    GBSI_RESIDUE_LITERAL, /* the member `literal` is 2 times the number of the variable, plus 1 if
                             the literal is negated */
    GBSI_RESIDUE_AND,     /* conjunction of a list of children */
    GBSI_RESIDUE_OR,
    GBSI_RESIDUE_XOR, /* exclusive or of two children */
} gbsi_residue_op;

typedef struct gbsi_residue {
    gbsi_residue_op op;
    uint32_t literal;
    size_t child, next; /* indices of the first child and of the next part of the parent's list;
                           SIZE_MAX: none */
} gbsi_residue;

/* A logical factor of the formula that is being grounded, without its literals. */
typedef struct gbsi_ground_factor {
    gbs_logical_function function;
    uint32_t n;
    uint32_t weight; /* number of the weight; UINT32_MAX: the factor is hard */
} gbsi_ground_factor;

typedef struct gbsi_grounding {
    gbsi_program program;
    gbsi_atoms atoms;  /* maps the code of an atom to its variable, or to its value true or false */
    gbsi_atoms chosen; /* code of the first atom of each choice (choices.c) with a true fact */
    uint32_t n_variables;
    gbs_builder *builder;
    void *name; /* characters of the name of the atom that was named last */
    size_t name_capacity;
    gbsi_watch watch;
    gbs_ground_report report;

    /* The formula that is being grounded. */
    uint32_t n_done; /* number of formulas that are grounded already */
    double within;   /* share of the formula that is done, roughly */
    const gbsi_logic_formula *formula;
    uint32_t binding[GBSI_GROUND_MOST_VARIABLES]; /* constant of each variable; UINT32_MAX: the
                                                     variable is free */
    gbsi_residue *residue;
    size_t n_residues, residue_capacity;
    uint32_t *literal; /* literals of the factor that is being made, followed by scratch memory */
    size_t n_literals, literal_capacity;
    uint32_t longest;    /* number of literals of the longest factor so far */
    size_t first_factor; /* number of the builder's first factor that belongs to this formula */
    uint32_t *slot; /* [n_slots] hash table with open addressing, by the content of factors: number
                       of the factor, counted from first_factor */
    uint8_t *tag;   /* [n_slots] part of the factor's hash; 0: the slot is empty */
    size_t n_slots, n_used;
    double expected;    /* approximate number of factors of this formula; 0: not known */
    gbsi_atoms weights; /* number of the weight for each binding of the variables marked '+' */
} gbsi_grounding;

/* ---- ground.c ---------------------------------------------------------------------------- */

/* Adds a fact. @param constant a constant for each argument. @param place position of the fact in
 * the database, for messages. */
gbs_status gbsi_fact_add(gbsi_grounding *g, uint32_t predicate, const uint32_t *constant,
                         bool holds, gbsi_token place, gbs_error *err);

/* ---- similar.c --------------------------------------------------------------------------- */

/* Adds the facts of similarity predicates. @param names names of predicates, separated by ','; NULL
 * if there are none. */
gbs_status gbsi_similar_facts(gbsi_grounding *g, const char *names, gbs_error *err);

/* ---- join.c: the groundings that evidence does not decide -------------------------------- */

gbs_status gbsi_ground_formula(gbsi_grounding *g, const gbsi_logic_formula *formula,
                               gbs_error *err);
/* Builds the indexes of the true facts, after all facts have been read. */
gbs_status gbsi_index_facts(gbsi_program *program, gbs_error *err);

/* ---- residue.c --------------------------------------------------------------------------- */

/* @return the value of a ground atom whose arguments are all bound; GBSI_ATOM_NEW if the atom is
 * open and is not a variable yet. @param code out: the code of the atom. */
#define GBSI_ATOM_NEW (UINT32_MAX - 2)
uint32_t gbsi_atom_value(const gbsi_grounding *g, const gbsi_logic_node *atom, uint64_t *code);
/* @return the value that gbsi_atom_value() returns, for the atom of a predicate and its constants.
 */
uint32_t gbsi_value_of(const gbsi_grounding *g, uint32_t predicate, const uint32_t *constant,
                       uint64_t *code);
/* Makes a variable of an atom whose value is GBSI_ATOM_NEW. */
gbs_status gbsi_variable_new(gbsi_grounding *g, uint32_t predicate, const uint32_t *constant,
                             uint64_t code, uint32_t *variable, gbs_error *err);
/* Finds the residue of a formula under g->binding. @param root out: index of the residue in
 * g->residue. */
gbs_status gbsi_residue_of(gbsi_grounding *g, uint32_t node, bool negated, size_t *root,
                           gbs_error *err);

/* ---- choices.c: arguments of which exactly one value holds -------------------------------- */

/* @return the code of the first atom of a choice. @param code code of any atom of the choice. */
uint64_t gbsi_choice_of(const gbsi_grounding *g, const gbsi_predicate *q, uint64_t code);
/* Notes a true fact, which must be the first of its choice. */
gbs_status gbsi_choice_made(gbsi_grounding *g, const gbsi_predicate *q, uint64_t code,
                            gbsi_token place, gbs_error *err);
/* Adds the factors of all choices that facts leave open. */
gbs_status gbsi_ground_choices(gbsi_grounding *g, gbs_error *err);

/* ---- factors.c --------------------------------------------------------------------------- */

/* Begins the factors of a formula.
 * @param expected approximate number of factors; 0 if it is not known. */
void gbsi_factors_begin(gbsi_grounding *g, double expected);
/* Gives the factor of one grounding's residue to the builder. If the builder has an equal factor,
 * the function counts one more grounding of that factor instead. */
gbs_status gbsi_factor_of(gbsi_grounding *g, size_t root, gbs_error *err);

#endif
