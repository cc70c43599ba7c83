/* SPDX-License-Identifier: Apache-2.0 */
/* Texts and their numbers, in the order in which they came. */
#ifndef GBSI_CRF_DICTIONARY_H
#define GBSI_CRF_DICTIONARY_H

#include "text/common.h"

#define GBSI_NOT_THERE UINT32_MAX

/* Zero-initialise. Texts may hold any bytes; each is followed by a 0. */
typedef struct gbsi_dictionary {
    gbsi_name_map map;
    const char **text; /* [n] */
    size_t *length;    /* [n] bytes */
    uint32_t n;
    size_t text_capacity, length_capacity;
    char **block; /* [n_blocks] memory of the texts, which never moves */
    size_t n_blocks, block_capacity;
    size_t used, size; /* bytes of the last block */
} gbsi_dictionary;

/* The number of a text, which is added if it is new. */
gbs_status gbsi_dictionary_add(gbsi_dictionary *d, const char *at, size_t n, uint32_t *number,
                               gbs_error *err);
/* @return GBSI_NOT_THERE if it is not. */
uint32_t gbsi_dictionary_find(const gbsi_dictionary *d, const char *at, size_t n);
void gbsi_dictionary_free(gbsi_dictionary *d);

#endif
