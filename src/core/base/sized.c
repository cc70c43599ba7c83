/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sized.h"

#include <string.h>

static size_t size_of(const void *given)
{
    size_t size = 0;
    memcpy(&size, given, sizeof size);
    return size;
}

static gbs_status too_small(size_t found, size_t size, const char *what, gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "%s.size: found %zu, expected %zu: set it to sizeof(%s)", what, found, size,
                     what);
}

bool gbsi_struct_has_more(const void *given, size_t known, size_t size)
{
    for (size_t i = known; i < size; ++i) {
        if (((const char *)given)[i] != 0) {
            return true;
        }
    }
    return false;
}

gbs_status gbsi_struct_in(const void *given, size_t size, const char *what, gbs_error *err)
{
    const size_t found = given == NULL ? 0 : size_of(given);
    if (found != 0 && found < size) {
        return too_small(found, size, what, err);
    }
    if (gbsi_struct_has_more(given, size, found)) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "%s.size: found %zu, this version knows %zu, and a later field is not zero", what,
            found, size);
    }
    return GBS_OK;
}

gbs_status gbsi_struct_out(void *given, size_t size, const char *what, gbs_error *err)
{
    const size_t found = given == NULL ? size : size_of(given);
    if (found < size) {
        return too_small(found, size, what, err);
    }
    if (found > size) {
        memset((char *)given + size, 0, found - size);
    }
    return GBS_OK;
}

void gbsi_struct_give(void *given, const void *own, size_t size)
{
    if (given != NULL) {
        memcpy((char *)given + sizeof(size_t), (const char *)own + sizeof(size_t),
               size - sizeof(size_t));
    }
}
