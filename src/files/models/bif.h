/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the readers of BIF, XMLBIF and other formats of Bayesian networks share. */
#ifndef GBSI_MODELS_BIF_H
#define GBSI_MODELS_BIF_H

#include "models/tables.h"
#include "text/common.h"
#include "text/text.h"

/* ---- bif_lexer.c --------------------------------------------------------------------------- */

/* Tokens of BIF 0.15. The characters that end a word depend on its place. A state name may be any
 * run of characters, such as <5 or [1-2]. Numbers inside parentheses are names. */

typedef enum gbsi_bif_place {
    GBSI_BIF_PLAIN,  /* '|' separates words like ',' */
    GBSI_BIF_TYPE,   /* like GBSI_BIF_PLAIN, but '[' and ']' are tokens, as in type discrete[2] */
    GBSI_BIF_STATE,  /* '|', '[' and ']' are letters */
    GBSI_BIF_NUMBER, /* like GBSI_BIF_PLAIN, but a comment may follow a word without a blank */
} gbsi_bif_place;

typedef struct gbsi_bif_token {
    /* 'w' for a word, 'q' for quoted text, 0 at the end of the file, or one of {}();[] */
    char kind;
    gbsi_token text;  /* the token without its quotes; empty at the end of the file */
    gbsi_token shown; /* the token with its quotes, for messages */
} gbsi_bif_token;

/* Skips blanks, commas and comments. Fails on an unclosed comment or quotation, and on an empty
 * name in quotes. A comment may follow a word without a blank. "/" "*" always begins a comment
 * there, and "//" does so only before a blank, a quote or the end of the text. */
gbs_status gbsi_bif_next(gbsi_text *text, gbsi_bif_place place, gbsi_bif_token *token,
                         gbs_error *err);
/* Reads a token as gbsi_bif_next() does, and fails unless the token has the kind `kind`, such as
 * '{'. */
gbs_status gbsi_bif_expect(gbsi_text *text, gbsi_bif_place place, char kind, gbs_error *err);
/* Reads a word or a quoted name.
 * @param expected description of the name in the message, such as "a variable". */
gbs_status gbsi_bif_name(gbsi_text *text, gbsi_bif_place place, const char *expected,
                         gbsi_token *name, gbs_error *err);
/* Moves from behind the word "property" to the next semicolon outside quotes. */
gbs_status gbsi_bif_skip_property(gbsi_text *text, gbs_error *err);
/* Whether the token is `word` in any letter case. @param word word in small letters. */
bool gbsi_bif_is_word(const gbsi_bif_token *token, const char *word);

/* ---- bif_network.c ------------------------------------------------------------------------- */

/* A BIF file is read twice, because a probability block may stand before the variables that it
 * uses. The functions below read the declarations first. bif_tables.c then reads the tables. */

typedef struct gbsi_bif_variable {
    gbsi_token name;
    gbsi_token shown;   /* the variable's name in the file, for messages */
    size_t first_state; /* index of the variable's first state in `state` */
    uint32_t n_states;
} gbsi_bif_variable;

typedef struct gbsi_bif_network {
    void *variable; /* gbsi_bif_variable [n_variables] */
    size_t variable_capacity;
    uint32_t n_variables;
    void *state; /* gbsi_token [n_states]: names of the states of all variables */
    size_t state_capacity;
    size_t n_states;
    void *block; /* const char * [n_blocks]: position behind the word "probability" in each block */
    size_t block_capacity;
    size_t n_blocks;
    /* names of variables under the key GBSI_BIF_VARIABLES, names of states under the variable's
     * number */
    gbsi_name_map names;
    /* a variable has blanks or commas in its name, and the name is not in quotes */
    bool has_long_names;
    bool is_open; /* the network block has no '}', which may thus follow at the end of the file */
    void *word;   /* words of the list that bif_names.c reads */
    size_t word_capacity;
    size_t n_words;
} gbsi_bif_network;

#define GBSI_BIF_VARIABLES UINT32_MAX

/* These functions add a variable without states, the next state of a variable, and the position
 * where a probability block begins. They fail if the name exists already. */
gbs_status gbsi_bif_add_variable(gbsi_text *text, gbsi_bif_network *network,
                                 const gbsi_bif_token *name, gbs_error *err);
gbs_status gbsi_bif_add_state(gbsi_text *text, gbsi_bif_network *network, uint32_t variable,
                              const gbsi_bif_token *token, gbs_error *err);
gbs_status gbsi_bif_add_block(const gbsi_text *text, gbsi_bif_network *network, const char *at,
                              gbs_error *err);

/* Reads the declarations of the whole text. The network must be initialised with zeros, and
 * freed even after a failure. */
gbs_status gbsi_bif_declare(gbsi_text *text, gbsi_bif_network *network, gbs_error *err);
void gbsi_bif_network_free(gbsi_bif_network *network);

const gbsi_bif_variable *gbsi_bif_variable_at(const gbsi_bif_network *network, uint32_t variable);
const char *gbsi_bif_block_at(const gbsi_bif_network *network, size_t block);
gbsi_token gbsi_bif_state_at(const gbsi_bif_network *network, uint32_t variable, uint32_t state);

/* ---- bif_names.c --------------------------------------------------------------------------- */

/* Reads names that contain blanks and commas but have no quotes. */

/* Reads the name of a variable and the '{' behind it. */
gbs_status gbsi_bif_read_variable(gbsi_text *text, gbsi_bif_network *network, gbsi_bif_token *name,
                                  gbs_error *err);
/* Reads the n states of a variable and the '}' behind them.
 * @param count token of the number n in the text. */
gbs_status gbsi_bif_read_states(gbsi_text *text, gbsi_bif_network *network, uint32_t variable,
                                gbsi_token count, size_t n, gbs_error *err);

/* @return the text from here to the last ')' before the next character `stop`; an empty text if
 *   there is no such ')'. */
gbsi_token gbsi_bif_inside(const gbsi_text *text, char stop);
/* Finds the only way to cut text into declared names. The names are one state of each variable
 * owner[0 .. n_names), or any number of variables if owner is NULL. Text that can be cut in several
 * ways is refused, with its place in the message.
 * @param among text to be cut.
 * @param place token that the message names.
 * @param separators characters at which the text may be cut.
 * @param id out: [*n] numbers of the states or variables; the caller frees the array.
 * @param n out: number of names, 0 if there is no way to cut the text. */
gbs_status gbsi_bif_find_names(const gbsi_text *text, const gbsi_bif_network *network,
                               gbsi_token among, gbsi_token place, const char *separators,
                               const uint32_t *owner, size_t n_names, uint32_t **id, size_t *n,
                               gbs_error *err);
/* ---- bif_tables.c -------------------------------------------------------------------------- */

/* Functions that readers of Bayesian networks share. Once the network is declared, these functions
 * turn its tables into factors of a model one by one. A table is an array over (parents..., child),
 * in which the child runs fastest. */

typedef struct gbsi_bif_tables {
    gbsi_text *text;
    const char *what; /* word for a table in messages of this format, such as "probability block" */
    size_t n_spare;   /* number of entries that the file may still leave to default values */
    gbsi_bif_network network;
    gbs_builder *builder;
    gbsi_equal_tables *share;
    size_t *seen;     /* [n_variables] 1 + number of the last table that names the variable */
    uint8_t *defined; /* [n_variables] 1 if the variable has a table */
    size_t n_underflow;
    gbsi_columns columns;
    /* Data of the table that is being read. */
    size_t n_begun; /* number of tables begun until now, with the current one */
    gbsi_bif_token child;
    /* uint32_t [n_scope]: the child, then the parents; the order is reversed for the factor */
    void *scope;
    size_t scope_capacity;
    uint32_t n_scope;
    uint32_t arity; /* number of states of the child */
    size_t n_rows;  /* number of joint states of the parents */
    void *value;    /* double: [n_rows * arity] entries, then room for a row of [arity] entries */
    size_t value_capacity;
    /* double [n_rows * arity] entries in the order of the file, if this order differs from the
     * model's */
    void *turned;
    size_t turned_capacity;
} gbsi_bif_tables;

/* Initialises the struct, which must be freed even after a failure.
 * @param text text of the file, borrowed.
 * @param what value of the member `what`, which must be a string constant. */
gbs_status gbsi_bif_tables_init(gbsi_bif_tables *tables, gbsi_text *text, const char *what,
                                gbs_error *err);
void gbsi_bif_tables_free(gbsi_bif_tables *tables);

/* Adds the variables of the network with their names and states. Must be called once the network is
 * declared. */
gbs_status gbsi_bif_tables_begin(gbsi_bif_tables *tables, gbs_error *err);

/* These functions begin a table. They must be called in this order: the child, each parent, the
 * size, which allocates the values. gbsi_bif_table_size() fails with GBS_ERR_LIMIT if the rest of
 * the file and the spare entries cannot fill the table. */
gbs_status gbsi_bif_table_child(gbsi_bif_tables *tables, const gbsi_bif_token *name,
                                gbs_error *err);
gbs_status gbsi_bif_table_parent(gbsi_bif_tables *tables, const gbsi_bif_token *name,
                                 gbs_error *err);
/* Finds the variables of a table in the text `among`, if this text can be cut into declared names.
 * The first variable is the child.
 * @param found out: whether the text could be cut. */
gbs_status gbsi_bif_table_names(gbsi_bif_tables *tables, gbsi_token among, gbsi_token place,
                                const char *separators, bool *found, gbs_error *err);
gbs_status gbsi_bif_table_size(gbsi_bif_tables *tables, gbs_error *err);
gbs_status gbsi_bif_table_too_large(const gbsi_bif_tables *tables, gbs_error *err);
/* Reads one value of a table, which must be finite and not negative. */
gbs_status gbsi_bif_table_value(gbsi_bif_tables *tables, const gbsi_bif_token *token, double *value,
                                gbs_error *err);
/* Reorders a table from the order of the file to the order of the model. Must be called when
 * value[] has all entries of the table. */
gbs_status gbsi_bif_table_turn(gbsi_bif_tables *tables, unsigned order, gbs_error *err);
/* Checks the columns of the table and adds a factor. Must be called when value[0 .. n_rows * arity)
 * is filled. */
gbs_status gbsi_bif_table_add(gbsi_bif_tables *tables, gbs_error *err);

/* Whether a noisy node should become a noisy factor, because the node's table would be too long. */
bool gbsi_bif_table_is_noisy(const gbsi_bif_tables *tables);
/* Adds the factor of a noisy node, whose first state is the strongest effect.
 * @param p [n_columns][states] a distribution for each state of each parent, then the distribution
 *   of the leak. The call changes the array. */
gbs_status gbsi_bif_table_add_noisy(gbsi_bif_tables *tables, size_t n_columns, double *p,
                                    gbs_error *err);

/* Makes the model. Fails if a variable has no table or the network has a cycle. */
gbs_status gbsi_bif_tables_build(gbsi_bif_tables *tables, gbs_model **model, gbs_error *err);

uint32_t gbsi_bif_scope_at(const gbsi_bif_tables *tables, uint32_t position);
/* Writes the names of the parents' states in a row into `text`, as in "(a, b)". */
const char *gbsi_bif_show_row(const gbsi_bif_tables *tables, size_t row, char *text, size_t size);

/* Copies a name for a message and ends the copy by 0. The copy is cut at 64 bytes. */
#define GBSI_BIF_NAME_BYTES 65
const char *gbsi_bif_copy_name(gbsi_token token, char name[GBSI_BIF_NAME_BYTES]);

#endif
