/* SPDX-License-Identifier: Apache-2.0 */
/* Computes CRC-32 eight bytes at a time, with a separate table for each of the eight ("slicing by
 * eight": Kounavis & Berry (2005), ISCC 855-862). */
#include "text/packing.h"

void gbsi_crc32_init(gbsi_crc32_tables *tables)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ ((crc & 1) != 0 ? UINT32_C(0xedb88320) : 0);
        }
        tables->table[0][b] = crc;
    }
    for (int k = 1; k < 8; k++) {
        for (uint32_t b = 0; b < 256; b++) {
            const uint32_t before = tables->table[k - 1][b];
            tables->table[k][b] = before >> 8 ^ tables->table[0][before & 255];
        }
    }
}

uint32_t gbsi_crc32(const gbsi_crc32_tables *tables, uint32_t crc, const void *bytes, size_t n)
{
    const uint32_t(*table)[256] = tables->table;
    const uint8_t *at = bytes;
    crc = ~crc;
    for (; n >= 8; n -= 8, at += 8) {
        const uint32_t low = crc ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                                    (uint32_t)at[3] << 24);
        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^
              table[4][low >> 24] ^ table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^
              table[0][at[7]];
    }
    for (; n > 0; n--, at++) {
        crc = crc >> 8 ^ table[0][(crc ^ *at) & 255];
    }
    return ~crc;
}
