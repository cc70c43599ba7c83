/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file, either mapped or in memory aligned to 64 bytes, for use without a copy. */
#ifndef GBSI_BASE_MAPPING_H
#define GBSI_BASE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gbsi_mapping {
    char *bytes; /* [n] bytes of the file, read-only; NULL if the mapping is empty */
    size_t n;
    bool mapped; /* false if `bytes` came from gbsi_alloc_lanes() */
} gbsi_mapping;

/* Maps the first n > 0 bytes of an open file. The file may be closed afterwards, but must stay
 * unchanged: reading bytes that were cut off the file later raises SIGBUS. @return false if the
 * system refuses. */
bool gbsi_mapping_new(int fd, size_t n, gbsi_mapping *mapping);

/* Tells the system that the mapped bytes will rarely be read; pages of the mapping then take no
 * memory until they are read. */
void gbsi_mapping_rest(const gbsi_mapping *mapping);

void gbsi_mapping_free(gbsi_mapping *mapping); /* frees the bytes and zeroes the struct */

#endif
