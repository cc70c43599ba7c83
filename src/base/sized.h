/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of callers, which may have been compiled with another version: the first field is the
 * caller's sizeof, fields are only ever appended, and none ends in padding. */
#ifndef GBSI_BASE_SIZED_H
#define GBSI_BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* The first lines of a public function that takes a struct of options or callbacks, or fills a
 * report in. Need an `err`. */
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

/* Whether a struct that a caller filled in can be read as ours of so many bytes.
 * @param given NULL is fine; a size of 0 stands for the struct of version 0.2. @param what
 * "gbs_..."
 * @return GBS_ERR_ARGUMENT for a smaller one, and for anything but zeros behind ours. */
gbs_status gbsi_struct_in(const void *given, size_t size, const char *what, gbs_error *err);

/* Whether a struct that we fill in has room; what is behind ours becomes zero.
 * @param given NULL is fine. @return GBS_ERR_ARGUMENT for a smaller one. */
gbs_status gbsi_struct_out(void *given, size_t size, const char *what, gbs_error *err);

/* Whether any byte behind the known ones is not zero: a field of a later version is set. */
bool gbsi_struct_has_more(const void *given, size_t known, size_t size);

/* Copies ours into a struct that was found to have room; its size stays. NULL is fine. */
void gbsi_struct_give(void *given, const void *own, size_t size);

#endif
