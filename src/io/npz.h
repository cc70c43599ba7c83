/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of an archive writer, for tests. */
#ifndef GBSI_IO_NPZ_H
#define GBSI_IO_NPZ_H

#include "gibbsite/arrays.h"
#include "io/zip.h"

struct gbs_npz_writer {
    gbsi_zip_writer zip;
    gbsi_crc32_tables tables;
    uint32_t crc; /* of the array at hand */
};

#endif
