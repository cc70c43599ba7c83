/* SPDX-License-Identifier: Apache-2.0 */
/* A program of Markov logic and its database after reading: types with their constants, predicates,
 * formulas and facts. Texts are borrowed from the files. */
#ifndef GBSI_GROUND_PROGRAM_H
#define GBSI_GROUND_PROGRAM_H

#include "text/common.h"
#include "text/text.h"

#define GBSI_GROUND_MOST_ARGUMENTS 16
#define GBSI_GROUND_MOST_VARIABLES 32  /* largest number of variables of a formula */
#define GBSI_GROUND_MOST_DEPTH     100 /* greatest depth of nested formulas */
#define GBSI_GROUND_NO_ONE         UINT32_MAX

typedef struct gbsi_logic_type {
    gbsi_token name;
    gbsi_token *constant; /* [n] constants of the type, in the order in which the files name them */
    size_t capacity;
    uint32_t n;
    uint32_t n_in_program; /* number of constants in the program; the other constants are in the
                              database alone */
    bool declared;         /* whether a statement `type = {...}` lists all constants of the type */
} gbsi_logic_type;

typedef struct gbsi_predicate {
    gbsi_token name;
    uint32_t n_arguments;
    uint32_t type[GBSI_GROUND_MOST_ARGUMENTS];
    uint32_t one;    /* number of the argument marked '!', for which exactly one value holds;
                        GBSI_GROUND_NO_ONE if no argument is marked */
    uint64_t stride; /* distance between codes of atoms whose argument `one` differs by one */
    uint64_t first;  /* code of the predicate's first atom */
    bool open; /* the predicate's atoms are variables of the model unless the database decides them
                */
    bool closed;     /* declared with a leading '*': the predicate is open only if it is a query
                        predicate */
    bool function;   /* the predicate's last argument is the value of a function, marked '!' in the
                        declaration */
    size_t n_facts;  /* number of true and false facts */
    uint32_t *tuple; /* [n_true][n_arguments] constants of the true facts */
    size_t tuple_capacity;
    uint32_t n_true;
    /* [n_arguments][constants + 1] where the facts of each constant begin in `fact` */
    uint32_t **start;
    uint32_t **fact; /* [n_arguments][n_true] numbers of true facts, sorted by the constant of the
                        argument */
} gbsi_predicate;

typedef enum gbsi_logic_op {
    GBSI_LOGIC_ATOM,
    GBSI_LOGIC_EQUAL, /* compares two terms */
    GBSI_LOGIC_NOT,   /* negates `left` */
    GBSI_LOGIC_AND,
    GBSI_LOGIC_OR,
    GBSI_LOGIC_IFF,
    GBSI_LOGIC_EXIST, /* quantifies the variable whose number is in `predicate`; `left` is the body
                       */
    GBSI_LOGIC_FORALL,
} gbsi_logic_op;

typedef struct gbsi_logic_node {
    gbsi_logic_op op;
    uint32_t left, right;
    uint32_t predicate;
    size_t first_term; /* index of the node's first term in program->term */
} gbsi_logic_node;

typedef struct gbsi_logic_formula {
    gbsi_token place; /* first token of the formula */
    double weight;    /* weight of the formula; infinite if the formula must hold */
    uint32_t root;
    uint32_t n_variables;
    uint32_t type[GBSI_GROUND_MOST_VARIABLES]; /* types of variables; UINT32_MAX: unknown yet */
    uint32_t bound;                            /* bit v: whether a quantifier binds variable v */
    uint32_t plus; /* bit v: whether variable v is marked '+', so that each of its constants has its
                      own weight */
} gbsi_logic_formula;

typedef struct gbsi_program {
    const gbsi_text *text;     /* text of the program, for messages */
    const gbsi_text *database; /* text of the database */
    gbsi_logic_type *type;
    gbsi_predicate *predicate;
    gbsi_logic_node *node;
    gbsi_logic_formula *formula;
    int64_t *term; /* terms: the number of a variable, or ~ the number of a constant */
    char **made;   /* texts of constants that are in no file */
    size_t type_capacity, predicate_capacity, node_capacity, formula_capacity, term_capacity,
        made_capacity;
    uint32_t n_types, n_predicates, n_nodes, n_formulas, n_made;
    uint32_t n_ranged;     /* number of constants that ranges have added so far */
    uint32_t n_unweighted; /* number of formulas without weight and without period */
    /* whether any predicate is marked '*'; predicates without the mark are then open */
    bool closes;
    size_t n_terms;
    gbsi_name_map types, predicates,
        constants; /* names of constants are looked up within their type */
} gbsi_program;

gbs_status gbsi_program_read(gbsi_program *program, const gbsi_text *text, gbs_error *err);
void gbsi_program_free(gbsi_program *program);

/* Finds the number of a constant of a type. A new constant is added to the type; this is an error
 * if the type was declared with a list of other constants. */
gbs_status gbsi_program_constant(gbsi_program *program, const gbsi_text *text, uint32_t type,
                                 gbsi_token name, uint32_t *constant, gbs_error *err);
/* ---- tokens.c ------------------------------------------------------------------------------- */

/* @return the next name, number or sign; the empty token at the end of the text. Comments count
 * as blanks. */
gbsi_token gbsi_logic_next(gbsi_text *text);
gbsi_token gbsi_logic_peek(const gbsi_text *text);
bool gbsi_logic_is_name(gbsi_token token);
/* Reads this word, or fails with a message that says what was expected. */
gbs_status gbsi_logic_take(gbsi_text *text, const char *word, const char *expected, gbs_error *err);
typedef enum gbsi_logic_sign {
    GBSI_SIGN_AND,
    GBSI_SIGN_OR,
    GBSI_SIGN_IMPLIES,
    GBSI_SIGN_IFF,
    GBSI_SIGN_LIST, /* a comma that means "and" */
} gbsi_logic_sign;
bool gbsi_logic_is_sign(gbsi_token token, gbsi_logic_sign sign);
/* Finds the next statement, without the blanks and comments around it. A statement is a line; it
 * includes the next line if a parenthesis is open or a sign joins the two lines. `whole` moves to
 * the end of the statement. @return false after the last statement. */
bool gbsi_logic_statement(gbsi_text *whole, gbsi_text *line);
/* Takes a weight from the front of a line: a number, or an expression such as log(0.9/0.1). */
bool gbsi_logic_weight(gbsi_text *line, double *weight);

/* Reads the formula of a line into the program. */
gbs_status gbsi_formula_read(gbsi_program *program, gbsi_text *line, gbsi_logic_formula *formula,
                             gbs_error *err);

/* Reads facts. @param fact function that is called with each fact. */
typedef gbs_status gbsi_fact_told(void *context, uint32_t predicate, const uint32_t *constant,
                                  bool holds, gbsi_token place, gbs_error *err);
gbs_status gbsi_database_read(gbsi_program *program, const gbsi_text *text, gbsi_fact_told *told,
                              void *context, gbs_error *err);

#endif
