/* SPDX-License-Identifier: Apache-2.0 */
#include "text/common.h"

#include <string.h>

#include "text/output.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool gbsi_equal_any_case(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (lower(a[i]) != lower(b[i])) {
            return false;
        }
    }
    return true;
}

bool gbsi_ends_in(const char *text, size_t n, const char *ending, size_t m)
{
    return n > m && gbsi_equal_any_case(text + n - m, ending, m);
}

size_t gbsi_unpacked_length(const char *path)
{
    static const char *const packings[] = {".gz", ".zst", ".xz", ".bz2"};
    const size_t n = path == NULL ? 0 : strlen(path);
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        const size_t m = strlen(packings[i]);
        if (gbsi_ends_in(path, n, packings[i], m)) {
            return n - m;
        }
    }
    return n;
}

bool gbsi_has_ending(const char *path, const char *ending)
{
    return gbsi_ends_in(path, gbsi_unpacked_length(path), ending, strlen(ending));
}
