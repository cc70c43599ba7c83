/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the readers of Bayesian networks with names share, such as BIF and XMLBIF. */
#ifndef GBSI_MODELS_BIF_H
#define GBSI_MODELS_BIF_H

#include "models/tables.h"
#include "text/common.h"
#include "text/text.h"

/* ---- bif_lexer.c --------------------------------------------------------------------------- */

/* Tokens of BIF 0.15. The characters that end a word depend on its place. State names may be any
 * run of characters, such as <5 or [1-2], and numbers inside parentheses are names. */

typedef enum gbsi_bif_place {
    GBSI_BIF_PLAIN,  /* '|' separates like ',' */
    GBSI_BIF_TYPE,   /* as GBSI_BIF_PLAIN, but '[' and ']' are tokens, as in type discrete[2] */
    GBSI_BIF_STATE,  /* '|', '[' and ']' are letters */
    GBSI_BIF_NUMBER, /* as GBSI_BIF_PLAIN, but a comment may follow without a blank before it */
} gbsi_bif_place;

typedef struct gbsi_bif_token {
    char kind;        /* 'w' word, 'q' quoted, 0 end of file, or one of {}();[] */
    gbsi_token text;  /* text without quotes; empty at the end of the file */
    gbsi_token shown; /* text with quotes, for messages */
} gbsi_bif_token;

/* Skips blanks, commas and comments. Fails on an unclosed comment or quotation, and on an empty
 * name in quotes. A comment may follow a word without a blank: "/" "*" always, "//" only before
 * a blank, a quote or the end. */
gbs_status gbsi_bif_next(gbsi_text *text, gbsi_bif_place place, gbsi_bif_token *token,
                         gbs_error *err);
/* Reads a token as gbsi_bif_next() does, and fails unless it has the given kind, such as '{'. */
gbs_status gbsi_bif_expect(gbsi_text *text, gbsi_bif_place place, char kind, gbs_error *err);
/* Reads a word or a quoted name. @param expected what the name stands for, for the message. */
gbs_status gbsi_bif_name(gbsi_text *text, gbsi_bif_place place, const char *expected,
                         gbsi_token *name, gbs_error *err);
/* Moves from behind the word property to the next semicolon outside quotes. */
gbs_status gbsi_bif_skip_property(gbsi_text *text, gbs_error *err);
/* Whether the token is `word` in any letter case. @param word in small letters. */
bool gbsi_bif_is_word(const gbsi_bif_token *token, const char *word);

/* ---- bif_network.c ------------------------------------------------------------------------- */

/* A BIF file is read twice, because a probability block may stand before the variables that it
 * uses. The functions below read the declarations. The second time bif_tables.c reads the
 * tables. */

typedef struct gbsi_bif_variable {
    gbsi_token name;
    gbsi_token shown;   /* position of its name in the file */
    size_t first_state; /* index in `state` of its first state */
    uint32_t n_states;
} gbsi_bif_variable;

typedef struct gbsi_bif_network {
    void *variable; /* gbsi_bif_variable [n_variables] */
    size_t variable_capacity;
    uint32_t n_variables;
    void *state; /* gbsi_token [n_states]: names of the states of all variables */
    size_t state_capacity;
    size_t n_states;
    void *block; /* const char * [n_blocks]: place in each block behind the word probability */
    size_t block_capacity;
    size_t n_blocks;
    gbsi_name_map names; /* variables under GBSI_BIF_VARIABLES, states under their variable */
    /* a variable has blanks or commas in its name, and the name is not in quotes */
    bool has_long_names;
    bool is_open; /* the network block was never closed, so a '}' may stand at the end */
    void *word;   /* for bif_names.c: words of the list that is being read */
    size_t word_capacity;
    size_t n_words;
} gbsi_bif_network;

#define GBSI_BIF_VARIABLES UINT32_MAX

/* These functions add a variable without states, the next state of a variable, and the place
 * where a table begins. Each name must be new. */
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

/* Reads names with blanks and commas that stand without quotes. */

/* Reads the name of a variable and the '{' behind it. */
gbs_status gbsi_bif_read_variable(gbsi_text *text, gbsi_bif_network *network, gbsi_bif_token *name,
                                  gbs_error *err);
/* Reads the n states of a variable and the '}' behind them. @param count place of the number n
 * in the text. */
gbs_status gbsi_bif_read_states(gbsi_text *text, gbsi_bif_network *network, uint32_t variable,
                                gbsi_token count, size_t n, gbs_error *err);

/* @return the text before the last ')' that precedes the next `stop`, empty if there is no ')'. */
gbsi_token gbsi_bif_inside(const gbsi_text *text, char stop);
/* Finds the only way to cut text into declared names: one state of each owner, or any number of
 * variables if owner is NULL. Refuses text that can be cut in several ways, and names its place.
 * @param among text that is cut.
 * @param place token that the message names.
 * @param separators characters at which the text may be cut.
 * @param id out: [*n] numbers of the names; caller frees.
 * @param n out: number of names, 0 if there is no way to cut the text. */
gbs_status gbsi_bif_find_names(const gbsi_text *text, const gbsi_bif_network *network,
                               gbsi_token among, gbsi_token place, const char *separators,
                               const uint32_t *owner, size_t n_names, uint32_t **id, size_t *n,
                               gbs_error *err);
/* ---- bif_tables.c -------------------------------------------------------------------------- */

/* Functions that readers of Bayesian networks share. Once the network is declared, they turn
 * tables over (parents..., child), the child fastest, into factors of a model one by one. */

typedef struct gbsi_bif_tables {
    gbsi_text *text;
    const char *what; /* word that the format uses for a table, for messages: "probability block" */
    size_t n_spare;   /* number of entries that the file may leave to a default */
    gbsi_bif_network network;
    gbs_builder *builder;
    gbsi_equal_tables *share;
    size_t *seen;     /* [n_variables] 1 + the last table that names the variable */
    uint8_t *defined; /* [n_variables] 1 if the variable has a table */
    size_t n_underflow;
    gbsi_columns columns;
    /* The table that is being read. */
    size_t n_begun; /* number of tables begun until now, including this one */
    gbsi_bif_token child;
    void *scope; /* uint32_t [n_scope]: the child, then the parents; reversed at the end */
    size_t scope_capacity;
    uint32_t n_scope;
    uint32_t arity; /* number of states of the child */
    size_t n_rows;  /* number of states of all parents together */
    void *value;    /* double [n_rows * arity] entries, then room for a row [arity] */
    size_t value_capacity;
    /* double [n_rows * arity] entries in the order of the file, if this is another order */
    void *turned;
    size_t turned_capacity;
} gbsi_bif_tables;

/* Prepares the tables, which must be freed even after a failure.
 * @param text borrowed.
 * @param what must be a string constant. */
gbs_status gbsi_bif_tables_init(gbsi_bif_tables *tables, gbsi_text *text, const char *what,
                                gbs_error *err);
void gbsi_bif_tables_free(gbsi_bif_tables *tables);

/* Adds the variables of the network with their names and states. To be called once the network
 * is declared. */
gbs_status gbsi_bif_tables_begin(gbsi_bif_tables *tables, gbs_error *err);

/* These functions begin a table: its child, then its parents, then room for its values.
 * gbsi_bif_table_size() fails with GBS_ERR_LIMIT if the rest of the file and the spare entries
 * cannot fill the table. */
gbs_status gbsi_bif_table_child(gbsi_bif_tables *tables, const gbsi_bif_token *name,
                                gbs_error *err);
gbs_status gbsi_bif_table_parent(gbsi_bif_tables *tables, const gbsi_bif_token *name,
                                 gbs_error *err);
/* Finds the variables of a table in the text `among`, if it can be cut into declared names. The
 * first variable is the child.
 * @param found out: whether the text could be cut. */
gbs_status gbsi_bif_table_names(gbsi_bif_tables *tables, gbsi_token among, gbsi_token place,
                                const char *separators, bool *found, gbs_error *err);
gbs_status gbsi_bif_table_size(gbsi_bif_tables *tables, gbs_error *err);
gbs_status gbsi_bif_table_too_large(const gbsi_bif_tables *tables, gbs_error *err);
/* Reads one value of a table, which must be finite and not negative. */
gbs_status gbsi_bif_table_value(gbsi_bif_tables *tables, const gbsi_bif_token *token, double *value,
                                gbs_error *err);
/* Turns a table from the order of the file into the order of the model. To be called when
 * value[] holds the whole table. */
gbs_status gbsi_bif_table_turn(gbsi_bif_tables *tables, unsigned order, gbs_error *err);
/* Checks the columns of the table and adds a factor. To be called when value[0 .. n_rows *
 * arity) is filled. */
gbs_status gbsi_bif_table_add(gbsi_bif_tables *tables, gbs_error *err);

/* Whether a noisy node should become a noisy factor, because its table would be too long. */
bool gbsi_bif_table_is_noisy(const gbsi_bif_tables *tables);
/* Adds the factor of a noisy node, whose first state is the strongest effect.
 * @param p [n_columns][states] a distribution for each state of each parent, then the leak;
 *   changed by the call. */
gbs_status gbsi_bif_table_add_noisy(gbsi_bif_tables *tables, size_t n_columns, double *p,
                                    gbs_error *err);

/* Makes the model. Fails if a variable has no table or the network has a cycle. */
gbs_status gbsi_bif_tables_build(gbsi_bif_tables *tables, gbs_model **model, gbs_error *err);

uint32_t gbsi_bif_scope_at(const gbsi_bif_tables *tables, uint32_t position);
/* Writes the states of the parents that a row stands for: "(a, b)". */
const char *gbsi_bif_show_row(const gbsi_bif_tables *tables, size_t row, char *text, size_t size);

/* Copies a name that is not ended by 0, for messages. The copy is cut at 64 bytes. */
#define GBSI_BIF_NAME_BYTES 65
const char *gbsi_bif_copy_name(gbsi_token token, char name[GBSI_BIF_NAME_BYTES]);

#endif
