/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of .gbm files, docs/gbm.md, shared by reader and writer: a header of counts, from
 * which all that follows has its place, the table of sections, the sections, a checksum. */
#ifndef GBSI_MODELS_GBM_H
#define GBSI_MODELS_GBM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "gibbsite/model.h"

#define GBSI_GBM_VERSION      2u  /* the newest */
#define GBSI_GBM_ALIGN        64u /* of every section */
#define GBSI_GBM_HEADER_BYTES 128u
#define GBSI_GBM_ENTRY_BYTES  32u /* bytes of an entry in the table of sections */
#define GBSI_GBM_NAME_BYTES   16u /* of an entry */
#define GBSI_GBM_DIGEST_BYTES 32u /* the checksum: hexadecimal digits, as gbsi_digest_text() */

extern const unsigned char gbsi_gbm_magic[8];

enum {
    GBSI_GBM_DIRECTED = 1 << 0, /* a Bayesian network */
    GBSI_GBM_LABELS = 1 << 1,   /* some states have labels */
};

/* The header in memory: what stands in the file from byte 12 and 24 on. */
typedef struct gbsi_gbm_counts {
    uint32_t flags;
    uint64_t n_variables, n_states; /* states of all variables together */
    uint64_t n_factors, n_scope;    /* scopes together */
    uint64_t n_tables, n_entries;   /* entries of all tables together */
    uint64_t n_logical;             /* descriptions */
    uint64_t n_named, n_text;       /* variables with a name; bytes of names and labels */
    uint64_t n_weights;             /* number of weights that factors are tied to; version 2 */
} gbsi_gbm_counts;

#define GBSI_GBM_FLAGS_AT      12u
#define GBSI_GBM_FILE_BYTES_AT 16u
#define GBSI_GBM_COUNTS_AT     24u /* nine counts, in the order of the struct */
#define GBSI_GBM_N_COUNTS      9u
#define GBSI_GBM_N_SECTIONS_AT 96u
#define GBSI_GBM_N_WEIGHTS_AT  104u
#define GBSI_GBM_ZEROS_AT      112u /* to the end of the header */

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

/* The positions of all parts of a file. The table of sections follows the header, the checksum
 * the last section; up to the next multiple of 64 there are zeros. */
typedef struct gbsi_gbm_layout {
    bool present[GBSI_GBM_N_SECTIONS];
    uint64_t offset[GBSI_GBM_N_SECTIONS]; /* bytes from the start of the file */
    uint64_t bytes[GBSI_GBM_N_SECTIONS];
    uint64_t n_sections;
    uint64_t digest_at; /* the checksum is of all bytes before it */
    uint64_t file_bytes;
} gbsi_gbm_layout;

/* @return false if that would be more than 2^63 bytes. */
bool gbsi_gbm_lay_out(const gbsi_gbm_counts *counts, gbsi_gbm_layout *layout);

/* The first version that can hold all of a model; files are written in this version. */
uint32_t gbsi_gbm_version_of(const gbs_model *model);

/* The section's entry in the table. @param entry [GBSI_GBM_ENTRY_BYTES], out. */
void gbsi_gbm_entry(const gbsi_gbm_layout *layout, gbsi_gbm_section section, unsigned char *entry);

/* A file of n variables of one arity without names and factors, written without an array of them.
 */
gbs_status gbsi_gbm_write_alike(uint32_t n, uint32_t arity, const char *path, gbs_error *err);

/* Arrays are used as they lie in the file: GBS_ERR_UNSUPPORTED on a machine where they lie
 * otherwise (big-endian, or sizes of other than 64 bits). */
gbs_status gbsi_gbm_check_host(const char *name, gbs_error *err);

#endif
