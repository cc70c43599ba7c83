/* SPDX-License-Identifier: Apache-2.0 */
/* A BIF file is read twice: first what it declares (here), then the tables, since a probability
 * block may stand before the variables it uses. */
#ifndef GBSI_IO_BIF_NETWORK_H
#define GBSI_IO_BIF_NETWORK_H

#include "io/bif_lexer.h"
#include "io/name_map.h"

typedef struct gbsi_bif_variable {
    gbsi_token name;
    gbsi_token shown;   /* where it stands in the file */
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

#endif
