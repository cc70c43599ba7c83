/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 of ZIP (ISO 3309: polynomial 0xedb88320 with the bits reversed). */
#ifndef GBSI_IO_CRC32_H
#define GBSI_IO_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* table[k][b]: what byte b does to the sum k bytes later. */
typedef struct gbsi_crc32_tables {
    uint32_t table[8][256];
} gbsi_crc32_tables;

void gbsi_crc32_init(gbsi_crc32_tables *tables);

/* @param crc of what came before, 0 at the start. */
uint32_t gbsi_crc32(const gbsi_crc32_tables *tables, uint32_t crc, const void *bytes, size_t n);

#endif
