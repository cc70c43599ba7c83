/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file where they can be used in place: mapped, or in memory aligned to 64 bytes. */
#ifndef GBSI_BASE_MAPPING_H
#define GBSI_BASE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gbsi_mapping {
    char *bytes; /* [n] not to be written to; NULL: nothing there */
    size_t n;
    bool mapped; /* else from gbsi_alloc_lanes() */
} gbsi_mapping;

/* The first n > 0 bytes of an open file; false if the system will not. The file may be closed, but
 * must stay as it is: bytes cut off it later are a SIGBUS when they are looked at. */
bool gbsi_mapping_new(int fd, size_t n, gbsi_mapping *mapping);

/* A file that will rarely be looked at: its pages take no memory until they are. */
void gbsi_mapping_rest(const gbsi_mapping *mapping);

void gbsi_mapping_free(gbsi_mapping *mapping); /* zeroes the struct */

#endif
