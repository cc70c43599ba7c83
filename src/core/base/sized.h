/* SPDX-License-Identifier: Apache-2.0 */
/* Structs shared with callers that may be compiled against another version of the library. The
 * first field is the size of the struct in the caller's version. New versions only append fields,
 * and no struct ends in padding. */
#ifndef GBSI_BASE_SIZED_H
#define GBSI_BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* The first lines of a public function that reads the caller's struct of options or callbacks
 * (GBSI_IN_STRUCT), or fills in the caller's report (GBSI_OUT_STRUCT). The macros use a variable
 * `err` of the caller. */
#define GBSI_IN_STRUCT(given, type)                                \
    do {                                                           \
        if (gbsi_struct_in(given, sizeof(type), #type, err) < 0) { \
            return GBS_ERR_ARGUMENT;                               \
        }                                                          \
    } while (0)
#define GBSI_OUT_STRUCT(given, type)                                \
    do {                                                            \
        if (gbsi_struct_out(given, sizeof(type), #type, err) < 0) { \
            return GBS_ERR_ARGUMENT;                                \
        }                                                           \
    } while (0)

/* Checks that a struct filled in by a caller can be read as this version's struct.
 * @param given may be NULL; a given->size of 0 stands for the size of the struct in its first
 * version.
 * @param size sizeof of this version's struct. @param what name of the struct, "gbs_...".
 * @return GBS_ERR_ARGUMENT if given is smaller, or has non-zero bytes beyond size. */
gbs_status gbsi_struct_in(const void *given, size_t size, const char *what, gbs_error *err);

/* Checks that a caller's struct has room for a report, and zeroes its bytes beyond size.
 * @param given may be NULL. @return GBS_ERR_ARGUMENT if given is smaller than size. */
gbs_status gbsi_struct_out(void *given, size_t size, const char *what, gbs_error *err);

/* Returns whether some byte of the struct beyond its first `known` bytes is not zero, which means
 * that a field of a later version is set. */
bool gbsi_struct_has_more(const void *given, size_t known, size_t size);

/* Copies a report into the caller's struct, which gbsi_struct_out() checked; given->size stays.
 * @param given may be NULL. */
void gbsi_struct_give(void *given, const void *own, size_t size);

#endif
