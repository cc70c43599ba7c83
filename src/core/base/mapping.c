/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mapping.h"

#include <sys/mman.h>

#include "base/budget.h"
#include "base/memory.h"

bool gbsi_mapping_new(int fd, size_t n, gbsi_mapping *mapping)
{
    if (!gbsi_budget_take(n)) {
        return false;
    }
    void *bytes = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        gbsi_budget_give(n);
        return false;
    }
    *mapping = (gbsi_mapping){.bytes = bytes, .n = n, .mapped = true};
    return true;
}

void gbsi_mapping_rest(const gbsi_mapping *mapping)
{
#ifdef MADV_DONTNEED
    if (mapping->mapped) {
        (void)madvise(mapping->bytes, mapping->n, MADV_DONTNEED);
    }
#else
    (void)mapping;
#endif
}

void gbsi_mapping_free(gbsi_mapping *mapping)
{
    if (mapping->mapped) {
        gbsi_budget_give(mapping->n);
        (void)munmap(mapping->bytes, mapping->n);
    } else {
        gbsi_free(mapping->bytes);
    }
    *mapping = (gbsi_mapping){0};
}
