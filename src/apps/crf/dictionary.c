/* SPDX-License-Identifier: Apache-2.0 */
#include "crf/model.h"

#include <string.h>

#include "base/memory.h"

#define BLOCK ((size_t)1 << 16) /* bytes of a block of memory for texts */

/* Allocates n bytes of memory that never moves. */
static gbs_status take(gbsi_dictionary *d, size_t n, char **at, gbs_error *err)
{
    if (d->n_blocks == 0 || d->size - d->used < n) {
        const size_t size = n > BLOCK ? n : BLOCK;
        GBSI_PASS(gbsi_reserve((void **)&d->block, &d->block_capacity, d->n_blocks + 1,
                               sizeof *d->block, "texts", err));
        char *block = gbsi_alloc(size);
        GBSI_PASS(GBSI_HAVE(err, "texts", block));
        d->block[d->n_blocks++] = block;
        d->used = 0;
        d->size = size;
    }
    *at = d->block[d->n_blocks - 1] + d->used;
    d->used += n;
    return GBS_OK;
}

gbs_status gbsi_dictionary_add(gbsi_dictionary *d, const char *at, size_t n, uint32_t *number,
                               gbs_error *err)
{
    char *text = NULL;
    bool added = false;
    *number = gbsi_dictionary_find(d, at, n);
    if (*number != GBSI_NOT_THERE) {
        return GBS_OK;
    }
    if (d->n == GBSI_NOT_THERE) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "found more than %u texts", GBSI_NOT_THERE);
    }
    GBSI_PASS(gbsi_reserve((void **)&d->text, &d->text_capacity, (size_t)d->n + 1, sizeof *d->text,
                           "texts", err));
    GBSI_PASS(gbsi_reserve((void **)&d->length, &d->length_capacity, (size_t)d->n + 1,
                           sizeof *d->length, "texts", err));
    GBSI_PASS(take(d, n + 1, &text, err));
    memcpy(text, at, n);
    text[n] = '\0';
    GBSI_PASS(gbsi_name_map_add(&d->map, 0, text, n, d->n, &added, err));
    d->text[d->n] = text;
    d->length[d->n] = n;
    *number = d->n++;
    return GBS_OK;
}

uint32_t gbsi_dictionary_find(const gbsi_dictionary *d, const char *at, size_t n)
{
    uint32_t number = GBSI_NOT_THERE;
    return d->n > 0 && gbsi_name_map_find(&d->map, 0, at, n, &number) ? number : GBSI_NOT_THERE;
}

void gbsi_dictionary_free(gbsi_dictionary *d)
{
    gbsi_name_map_free(&d->map);
    for (size_t i = 0; i < d->n_blocks; i++) {
        gbsi_free(d->block[i]);
    }
    GBSI_FREE(d->block, d->text, d->length);
    *d = (gbsi_dictionary){0};
}
