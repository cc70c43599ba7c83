/* SPDX-License-Identifier: Apache-2.0 */
/* Bayesian networks with names: functions that the readers of BIF and XMLBIF share. */
#ifndef GBSI_MODELS_BIF_H
#define GBSI_MODELS_BIF_H

#include "models/tables.h"
#include "text/common.h"
#include "text/text.h"

/* ---- bif_lexer.c --------------------------------------------------------------------------- */

/* Tokens of BIF 0.15. The characters that end a word depend on its place: state names may be any
 * run of characters such as <5 or [1-2], and inside parentheses numbers are names. */

typedef enum gbsi_bif_place {
    GBSI_BIF_PLAIN,  /* '|' separates like ',' */
    GBSI_BIF_TYPE,   /* also makes '[' and ']' tokens, as in type discrete[2] */
    GBSI_BIF_STATE,  /* '|', '[' and ']' are letters */
    GBSI_BIF_NUMBER, /* like PLAIN, but a comment may follow without a blank before it */
} gbsi_bif_place;

typedef struct gbsi_bif_token {
    char kind;        /* 'w' word, 'q' quoted, 0 end of file, or one of {}();[] */
    gbsi_token text;  /* text without quotes; empty at the end of the file */
    gbsi_token shown; /* for messages: with quotes */
} gbsi_bif_token;

/* Skips blanks, commas and comments. Fails on an unclosed comment or quotation, and on an empty
 * name in quotes. A comment may be glued to a word: "/" "*" always, "//" where a blank, a quote or
 * the end follows.
 */
gbs_status gbsi_bif_next(gbsi_text *text, gbsi_bif_place place, gbsi_bif_token *token,
                         gbs_error *err);
/* Reads a token as gbsi_bif_next() does, and fails unless it has the given kind, such as '{'. */
gbs_status gbsi_bif_expect(gbsi_text *text, gbsi_bif_place place, char kind, gbs_error *err);
/* Reads a word or a quoted name. @param expected the kind of thing it names, for the message. */
gbs_status gbsi_bif_name(gbsi_text *text, gbsi_bif_place place, const char *expected,
                         gbsi_token *name, gbs_error *err);
/* After the word property: on to the next semicolon that stands in no quotes. */
gbs_status gbsi_bif_skip_property(gbsi_text *text, gbs_error *err);
/* Whether it is that word in letters of any case; word in small ones. */
bool gbsi_bif_is_word(const gbsi_bif_token *token, const char *word);

/* ---- bif_network.c ------------------------------------------------------------------------- */

/* A BIF file is read twice: first its declarations (here), then the tables, because a probability
 * block may stand before the variables it uses. */

typedef struct gbsi_bif_variable {
    gbsi_token name;
    gbsi_token shown;   /* position of its name in the file */
    size_t first_state; /* into states */
    uint32_t n_states;
} gbsi_bif_variable;

typedef struct gbsi_bif_network {
    void *variable; /* gbsi_bif_variable [n_variables] */
    size_t variable_capacity;
    uint32_t n_variables;
    void *state; /* gbsi_token [n_states]: the names of all variables' states */
    size_t state_capacity;
    size_t n_states;
    void *block; /* const char * [n_blocks]: behind the word probability of each block */
    size_t block_capacity;
    size_t n_blocks;
    gbsi_name_map names; /* variables under GBSI_BIF_VARIABLES, states under their variable */
    bool has_long_names; /* a variable has blanks or commas in its name without quotes around it */
    bool is_open;        /* the network block was never closed: a '}' may stand at the end */
    void *word;          /* bif_names.c: the words of the list being read */
    size_t word_capacity;
    size_t n_words;
} gbsi_bif_network;

#define GBSI_BIF_VARIABLES UINT32_MAX

/* A variable without states yet, the next state of one, a place where a table begins: what the
 * readers of networks add. Each name once. */
gbs_status gbsi_bif_add_variable(gbsi_text *text, gbsi_bif_network *network,
                                 const gbsi_bif_token *name, gbs_error *err);
gbs_status gbsi_bif_add_state(gbsi_text *text, gbsi_bif_network *network, uint32_t variable,
                              const gbsi_bif_token *token, gbs_error *err);
gbs_status gbsi_bif_add_block(const gbsi_text *text, gbsi_bif_network *network, const char *at,
                              gbs_error *err);

/* Reads the declarations of the whole text. Zero-initialise the network; free it also on failure.
 */
gbs_status gbsi_bif_declare(gbsi_text *text, gbsi_bif_network *network, gbs_error *err);
void gbsi_bif_network_free(gbsi_bif_network *network);

const gbsi_bif_variable *gbsi_bif_variable_at(const gbsi_bif_network *network, uint32_t variable);
const char *gbsi_bif_block_at(const gbsi_bif_network *network, size_t block);
gbsi_token gbsi_bif_state_at(const gbsi_bif_network *network, uint32_t variable, uint32_t state);

/* ---- bif_names.c --------------------------------------------------------------------------- */

/* Names with blanks and commas that stand without quotes. */

/* The name of a variable up to its '{', which is read as well. */
gbs_status gbsi_bif_read_variable(gbsi_text *text, gbsi_bif_network *network, gbsi_bif_token *name,
                                  gbs_error *err);
/* The n states of a variable up to '}', which is read as well. @param count the place of n in the
 * text. */
gbs_status gbsi_bif_read_states(gbsi_text *text, gbsi_bif_network *network, uint32_t variable,
                                gbsi_token count, size_t n, gbs_error *err);

/* @return the text before the last ')' in front of the next `stop`; empty without a ')'. */
gbsi_token gbsi_bif_inside(const gbsi_text *text, char stop);
/* Finds the only way to cut text into declared names: one state of each owner, or, if owner is
 * NULL, any number of variables. Refuses, at a place, text that can be cut in several ways.
 * @param separators characters at which the text may be cut. @param id out: [*n] the names by their
 * numbers, caller frees. @param n out: number of ways to read it; 0: none. */
gbs_status gbsi_bif_find_names(const gbsi_text *text, const gbsi_bif_network *network,
                               gbsi_token among, gbsi_token place, const char *separators,
                               const uint32_t *owner, size_t n_names, uint32_t **id, size_t *n,
                               gbs_error *err);
/* ---- bif_tables.c -------------------------------------------------------------------------- */

/* Functions that readers of Bayesian networks share: once the network is declared, tables over
 * (parents..., child), the child fastest, become a model one by one. */

typedef struct gbsi_bif_tables {
    gbsi_text *text;
    const char *what; /* word that the format uses for a table, in messages: "probability block" */
    size_t n_spare;   /* entries that the file may leave to a default */
    gbsi_bif_network network;
    gbs_builder *builder;
    gbsi_equal_tables *share;
    size_t *seen;     /* [n_variables] 1 + the last table that named the variable */
    uint8_t *defined; /* [n_variables] 1: has a table */
    size_t n_underflow;
    gbsi_columns columns;
    /* the table being read */
    size_t n_begun; /* number of the tables read until now, including this one */
    gbsi_bif_token child;
    void *scope; /* uint32_t [n_scope]: child first, then parents; turned round at the end */
    size_t scope_capacity;
    uint32_t n_scope;
    uint32_t arity; /* of the child */
    size_t n_rows;  /* states of the parents */
    void *value;    /* double [n_rows * arity], then room for a row [arity] */
    size_t value_capacity;
    void *turned; /* double [n_rows * arity] as the file has them, where in another order */
    size_t turned_capacity;
} gbsi_bif_tables;

/* Prepares tables; they must be freed also on failure. text is borrowed, and `what` must be a
 * string constant. */
gbs_status gbsi_bif_tables_init(gbsi_bif_tables *tables, gbsi_text *text, const char *what,
                                gbs_error *err);
void gbsi_bif_tables_free(gbsi_bif_tables *tables);

/* To be called once the network is declared: adds its variables, names and states. */
gbs_status gbsi_bif_tables_begin(gbsi_bif_tables *tables, gbs_error *err);

/* A table: its child, its parents, then room for its values (GBS_ERR_LIMIT where the rest of the
 * file and the spare entries cannot fill it). */
gbs_status gbsi_bif_table_child(gbsi_bif_tables *tables, const gbsi_bif_token *name,
                                gbs_error *err);
gbs_status gbsi_bif_table_parent(gbsi_bif_tables *tables, const gbsi_bif_token *name,
                                 gbs_error *err);
/* The variables of a table, of which the first is its child, where they can be found so. */
gbs_status gbsi_bif_table_names(gbsi_bif_tables *tables, gbsi_token among, gbsi_token place,
                                const char *separators, bool *found, gbs_error *err);
gbs_status gbsi_bif_table_size(gbsi_bif_tables *tables, gbs_error *err);
gbs_status gbsi_bif_table_too_large(const gbsi_bif_tables *tables, gbs_error *err);
/* Reads one value of a table from text: finite and not negative. */
gbs_status gbsi_bif_table_value(gbsi_bif_tables *tables, const gbsi_bif_token *token, double *value,
                                gbs_error *err);
/* To be called when value[] holds a whole table in that order of the file. It turns the table into
 * the order of the model. */
gbs_status gbsi_bif_table_turn(gbsi_bif_tables *tables, unsigned order, gbs_error *err);
/* To be called when value[0 .. n_rows * arity) is filled: checks its columns and adds a factor. */
gbs_status gbsi_bif_table_add(gbsi_bif_tables *tables, gbs_error *err);

/* Whether a noisy node should be a noisy factor: it is too long for a table. */
bool gbsi_bif_table_is_noisy(const gbsi_bif_tables *tables);
/* Adds the factor of such a node, whose first state is the strongest effect.
 * @param p [n_columns][states] a distribution for each state of each parent, then the leak;
 * changed. */
gbs_status gbsi_bif_table_add_noisy(gbsi_bif_tables *tables, size_t n_columns, double *p,
                                    gbs_error *err);

/* Every variable has a table, no cycle: the model. */
gbs_status gbsi_bif_tables_build(gbsi_bif_tables *tables, gbs_model **model, gbs_error *err);

uint32_t gbsi_bif_scope_at(const gbsi_bif_tables *tables, uint32_t position);
/* "(a, b)": the states of the parents that a row stands for. */
const char *gbsi_bif_show_row(const gbsi_bif_tables *tables, size_t row, char *text, size_t size);

/* A name that is not ended by 0, for messages only: cut at 64 bytes. */
#define GBSI_BIF_NAME_BYTES 65
const char *gbsi_bif_copy_name(gbsi_token token, char name[GBSI_BIF_NAME_BYTES]);

#endif
