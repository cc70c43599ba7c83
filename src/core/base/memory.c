/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/budget.h"
#include "gibbsite/io.h"

#define LARGE_PAGE  ((size_t)2 << 20)
#define LEAST_LARGE ((size_t)4 << 20)

/* number of requests that succeed before the test hook makes requests fail; UINT64_MAX: no request
 * fails */
static _Atomic uint64_t requests_left = UINT64_MAX;

void gbsi_alloc_fail_after(uint64_t n)
{
    atomic_store(&requests_left, n);
}

static bool may_allocate(void)
{
    uint64_t left = atomic_load_explicit(&requests_left, memory_order_relaxed);
    if (left == UINT64_MAX) {
        return true;
    }
    if (left == 0) {
        return false;
    }
    atomic_store(&requests_left, left - 1);
    return true;
}

bool gbsi_mul_size(uint64_t a, uint64_t b, size_t *product)
{
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *product = (size_t)(a * b);
    return true;
}

bool gbsi_add_size(size_t a, size_t b, size_t *sum)
{
    if (a > SIZE_MAX - b) {
        return false;
    }
    *sum = a + b;
    return true;
}

/* Asks for pages of 2 MiB where the system has them, because large arrays are accessed at random
 * places. */
static void *in_large_pages(void *pointer, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t first = ((uintptr_t)pointer + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    const uintptr_t end = ((uintptr_t)pointer + bytes) / LARGE_PAGE * LARGE_PAGE;
    if (pointer != NULL && bytes >= LEAST_LARGE && first < end) {
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
    }
#else
    (void)bytes;
#endif
    return pointer;
}

/* Returns the number of bytes that the C library allocated for a block, which free() will give
 * back. */
static size_t usable(void *pointer)
{
#ifdef __GLIBC__
    return pointer == NULL ? 0 : malloc_usable_size(pointer);
#else
    (void)pointer;
    return 0; /* the size of the block is unknown, so a budget can limit only each single request */
#endif
}

/* The number of bytes of this thread's last request that failed. */
static _Thread_local size_t last_failed;

static void *noted(void *pointer, size_t bytes)
{
    last_failed = pointer == NULL ? bytes : last_failed;
    return pointer;
}

/* Corrects the budget after a request: subtracts the bytes that were reserved for the request, and
 * adds the size of the allocated block. The block may be NULL. */
static void *counted(void *pointer, size_t bytes)
{
    gbsi_budget_give(bytes);
    gbsi_budget_count(usable(pointer));
    return in_large_pages(pointer, bytes);
}

void *gbsi_alloc(uint64_t wanted)
{
    const size_t bytes = (size_t)wanted == wanted ? (size_t)wanted : SIZE_MAX;
    const bool granted = may_allocate() && gbsi_budget_take(bytes);
    return noted(granted ? counted(malloc(bytes == 0 ? 1 : bytes), bytes) : NULL, bytes);
}

void *gbsi_alloc_zero(uint64_t wanted)
{
    const size_t bytes = (size_t)wanted == wanted ? (size_t)wanted : SIZE_MAX;
    const bool granted = may_allocate() && gbsi_budget_take(bytes);
    return noted(granted ? counted(calloc(bytes == 0 ? 1 : bytes, 1), bytes) : NULL, bytes);
}

void *gbsi_alloc_array(uint64_t n, uint64_t size)
{
    size_t bytes = 0;
    return gbsi_mul_size(n, size, &bytes) ? gbsi_alloc(bytes) : noted(NULL, SIZE_MAX);
}

void *gbsi_alloc_array_zero(uint64_t n, uint64_t size)
{
    size_t bytes = 0;
    return gbsi_mul_size(n, size, &bytes) ? gbsi_alloc_zero(bytes) : noted(NULL, SIZE_MAX);
}

void *gbsi_realloc_array(void *pointer, uint64_t n, uint64_t size)
{
    size_t bytes = SIZE_MAX;
    if (!gbsi_mul_size(n, size, &bytes) || !may_allocate()) {
        return noted(NULL, bytes);
    }
    const size_t before = usable(pointer);
    if (bytes > before && !gbsi_budget_take(bytes - before)) {
        return noted(NULL, bytes);
    }
    void *grown = realloc(pointer, bytes == 0 ? 1 : bytes);
    if (bytes > before) {
        gbsi_budget_give(bytes - before);
    }
    if (grown != NULL) {
        gbsi_budget_give(before);
        gbsi_budget_count(usable(grown));
    }
    return noted(grown, bytes);
}

void *gbsi_alloc_lanes(uint64_t n, uint64_t size)
{
    const size_t line = 64;
    size_t bytes = SIZE_MAX;
    if (!gbsi_mul_size(n, size, &bytes) || bytes > SIZE_MAX - 2 * line || !may_allocate()) {
        return noted(NULL, bytes);
    }
    bytes = (bytes + 2 * line - 1) / line * line;
    void *pointer = gbsi_budget_take(bytes) ? counted(aligned_alloc(line, bytes), bytes) : NULL;
    if (pointer != NULL) {
        memset(pointer, 0, bytes);
    }
    return noted(pointer, bytes);
}

void gbsi_free(void *pointer)
{
    gbsi_budget_give(usable(pointer));
    free(pointer);
}

void gbsi_free_each(size_t n, void *const pointer[])
{
    for (size_t i = 0; i < n; ++i) {
        gbsi_free(pointer[i]);
    }
}

void gbs_free(void *pointer)
{
    free(pointer);
}

void gbsi_bytes_text(double bytes, char text[16])
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned u = 0;
    while (bytes >= 1024.0 && u < 6) {
        bytes /= 1024.0;
        ++u;
    }
    gbsi_say(text, 16, u == 0 ? "%.0f %s" : "%.1f %s", bytes, unit[u]);
}

gbs_status gbsi_no_memory(gbs_error *err, const char *what, uint64_t bytes)
{
    gbsi_budget *budget = gbsi_budget_current();
    const size_t refused = budget == NULL ? 0 : atomic_exchange(&budget->refused, 0);
    char limit[16];
    char held[16];
    if (refused == 0) {
        return gbsi_fail(err, GBS_ERR_MEMORY, "%s: out of memory, asked for %" PRIu64 " bytes",
                         what, bytes);
    }
    const int64_t taken = (int64_t)budget->limit - budget->room + atomic_load(&budget->held);
    gbsi_bytes_text((double)budget->limit, limit);
    gbsi_bytes_text(taken > 0 ? (double)taken : 0.0, held);
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "%s: %zu bytes more would exceed the memory limit of %s, of which %s are in "
                     "use: try a larger --memory-limit",
                     what, refused, limit, held);
}

gbs_status gbsi_have(gbs_error *err, const char *what, size_t n, const void *const pointer[])
{
    for (size_t i = 0; i < n; ++i) {
        if (pointer[i] == NULL) {
            return gbsi_no_memory(err, what, last_failed);
        }
    }
    return GBS_OK;
}

uint64_t gbsi_rooms_bytes(const gbsi_room *arrays, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; ++i) {
        size_t own = 0;
        if (!gbsi_mul_size(arrays[i].n, arrays[i].size, &own) || !gbsi_add_size(sum, own, &sum)) {
            return UINT64_MAX;
        }
    }
    return sum;
}

gbs_status gbsi_rooms_take(const gbsi_room *arrays, size_t n, const char *what, gbs_error *err)
{
    for (size_t i = 0; i < n; ++i) {
        void *memory = arrays[i].alloc(arrays[i].n, arrays[i].size);
        GBSI_PASS(GBSI_HAVE(err, what, memory));
        memcpy(arrays[i].pointer, &memory, sizeof memory);
    }
    return GBS_OK;
}

void gbsi_rooms_free(const gbsi_room *arrays, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        void *memory = NULL;
        memcpy(&memory, arrays[i].pointer, sizeof memory);
        gbsi_free(memory);
    }
}

void gbsi_rooms_shrink(const gbsi_room *arrays, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        void *memory = NULL;
        memcpy(&memory, arrays[i].pointer, sizeof memory);
        const uint64_t kept = arrays[i].n > 0 ? arrays[i].n : 1;
        void *less = memory == NULL ? NULL : gbsi_realloc_array(memory, kept, arrays[i].size);
        if (less != NULL) {
            memcpy(arrays[i].pointer, &less, sizeof less);
        }
    }
}

gbs_status gbsi_reserve(void **pointer, size_t *capacity, uint64_t n, size_t size, const char *what,
                        gbs_error *err)
{
    if (n <= *capacity) {
        return GBS_OK;
    }
    uint64_t wanted = *capacity < 8 ? 8 : *capacity;
    while (wanted < n) {
        wanted = wanted > SIZE_MAX / 2 ? n : wanted * 2;
    }
    void *grown = gbsi_realloc_array(*pointer, wanted, size);
    /* try again with a smaller capacity */
    if (grown == NULL && gbsi_budget_refused() && n < SIZE_MAX / 2) {
        wanted = n + n / 8;
        grown = gbsi_realloc_array(*pointer, wanted, size);
    }
    GBSI_PASS(GBSI_HAVE(err, what, grown));
    *pointer = grown;
    *capacity = (size_t)wanted;
    return GBS_OK;
}
