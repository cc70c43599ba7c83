/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of .gbm files for the reader and the writer, see docs/gbm.md. A file has a header of
 * counts, the table of sections, the sections, and a checksum. The counts determine the place of
 * every part. */
#ifndef GBSI_MODELS_GBM_H
#define GBSI_MODELS_GBM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "gibbsite/model.h"

#define GBSI_GBM_VERSION      2u  /* newest version of the format */
#define GBSI_GBM_ALIGN        64u /* alignment of every section, in bytes */
#define GBSI_GBM_HEADER_BYTES 128u
#define GBSI_GBM_ENTRY_BYTES  32u /* number of bytes of an entry in the table of sections */
#define GBSI_GBM_NAME_BYTES   16u /* number of bytes of the name in an entry */
#define GBSI_GBM_DIGEST_BYTES 32u /* number of hexadecimal digits of the checksum */

extern const unsigned char gbsi_gbm_magic[8];

enum {
    GBSI_GBM_DIRECTED = 1 << 0, /* the model is a Bayesian network */
    GBSI_GBM_LABELS = 1 << 1,   /* some states have labels */
};

/* Contents of the header. In the file, the flags are at byte 12 and the counts begin at byte 24. */
typedef struct gbsi_gbm_counts {
    uint32_t flags;
    uint64_t n_variables, n_states; /* n_states: number of states of all variables together */
    uint64_t n_factors, n_scope;    /* n_scope: sum of the lengths of all scopes */
    uint64_t n_tables, n_entries;   /* n_entries: number of entries of all tables together */
    uint64_t n_logical;             /* number of logical descriptions */
    /* number of variables with a name; number of bytes of names and labels */
    uint64_t n_named, n_text;
    uint64_t n_weights; /* number of weights to which factors are tied, in version 2 */
} gbsi_gbm_counts;

#define GBSI_GBM_FLAGS_AT      12u
#define GBSI_GBM_FILE_BYTES_AT 16u
#define GBSI_GBM_COUNTS_AT     24u /* position of nine counts, which have the order of the struct */
#define GBSI_GBM_N_COUNTS      9u
#define GBSI_GBM_N_SECTIONS_AT 96u
#define GBSI_GBM_N_WEIGHTS_AT  104u
#define GBSI_GBM_ZEROS_AT      112u /* the rest of the header from this byte on consists of zeros */

typedef enum gbsi_gbm_section {
    GBSI_GBM_ARITY,
    GBSI_GBM_STATE_OFFSET,
    GBSI_GBM_KIND,
    GBSI_GBM_SCOPE_START,
    GBSI_GBM_SCOPE,
    GBSI_GBM_LITERAL,
    GBSI_GBM_WEIGHT,
    GBSI_GBM_AUX,
    GBSI_GBM_TABLE_START,
    GBSI_GBM_TABLE,
    GBSI_GBM_LOGICAL,
    GBSI_GBM_TEXT,
    GBSI_GBM_NAME,
    GBSI_GBM_LABEL,
    GBSI_GBM_BY_NAME,
    GBSI_GBM_WEIGHT_VALUE,
    GBSI_GBM_WEIGHT_FIXED,
    GBSI_GBM_WEIGHT_NUMBER,
    GBSI_GBM_FEATURE,
    GBSI_GBM_N_SECTIONS,
} gbsi_gbm_section;

/* Positions of all parts of a file. The table of sections follows the header, and the checksum
 * follows the last section. Gaps up to the next multiple of 64 are filled with zeros. */
typedef struct gbsi_gbm_layout {
    bool present[GBSI_GBM_N_SECTIONS];
    uint64_t offset[GBSI_GBM_N_SECTIONS]; /* position of each section in the file, in bytes */
    uint64_t bytes[GBSI_GBM_N_SECTIONS];
    uint64_t n_sections;
    uint64_t digest_at; /* position of the checksum, which covers all bytes before this position */
    uint64_t file_bytes;
} gbsi_gbm_layout;

/* Computes the layout. @return false if the file would have more than 2^63 bytes. */
bool gbsi_gbm_lay_out(const gbsi_gbm_counts *counts, gbsi_gbm_layout *layout);

/* @return the first version of the format that can store the whole model. Files are written in this
 *   version. */
uint32_t gbsi_gbm_version_of(const gbs_model *model);

/* Writes a section's entry in the table of sections.
 * @param entry out: [GBSI_GBM_ENTRY_BYTES] bytes of the entry. */
void gbsi_gbm_entry(const gbsi_gbm_layout *layout, gbsi_gbm_section section, unsigned char *entry);

/* Writes a file of n variables of one arity, without names and factors. No array over the variables
 * is allocated. */
gbs_status gbsi_gbm_write_alike(uint32_t n, uint32_t arity, const char *path, gbs_error *err);

/* Checks that arrays have the same layout in memory as in the file, because arrays are used in
 * place.
 * @return GBS_ERR_UNSUPPORTED on a machine that is big-endian or whose size_t does not have 64
 *   bits. */
gbs_status gbsi_gbm_check_host(const char *name, gbs_error *err);

#endif
